/* Distinct terms in memory, numbered in the order of their first appearance: the terms of a
 * batch, and the lexicon's memory of recent terms. The hash is keyed by chance, so that no
 * document can choose its collisions. Not thread-safe. */
#ifndef INDEX_TERMS_TERM_SET_H
#define INDEX_TERMS_TERM_SET_H

#include <stddef.h>

#include "base/arena.h"
#include "index/terms/oid.h"

struct set_term {
    struct term term; /* bytes in the set's arena; datatype xsd:string is left out */
    uint64_t hash;
    oid id;        /* for the set's user; OID_NONE at first */
    bool unwanted; /* the lexicon passes over it */
};

/* A place of the hash table: most terms that are not the one are passed over by the tag alone. */
struct term_slot {
    uint32_t tag;   /* the hash's high bits; its low ones choose the place */
    uint32_t index; /* + 1, 0: free */
};

struct term_set {
    struct arena arena;
    struct set_term *terms;
    size_t count, capacity;
    struct term_slot *table;
    size_t mask;
};

void term_set_init(struct term_set *set);
void term_set_reset(struct term_set *set);
void term_set_release(struct term_set *set);
/* Bytes held, about. */
size_t term_set_bytes(const struct term_set *set);

/* The form in which a term is stored and compared: xsd:string without datatype, a language
 * without datatype. */
struct term term_normal(const struct term *term);
uint64_t term_hash(const struct term *normal);
/* The term's index; adds a copy when it is new. */
uint32_t term_set_add(struct term_set *set, const struct term *term);
uint32_t term_set_add_hashed(struct term_set *set, const struct term *normal, uint64_t hash);
/* Asks for the memory that a look for this hash will touch: first of the table, then of the term.
 */
static inline void
term_set_prefetch_slot(const struct term_set *set, uint64_t hash)
{
    if (set->table != NULL) {
        __builtin_prefetch(&set->table[hash & set->mask]);
    }
}
static inline void
term_set_prefetch_term(const struct term_set *set, uint64_t hash)
{
    const uint32_t index = set->table != NULL ? set->table[hash & set->mask].index : 0;
    if (index > 0) {
        __builtin_prefetch(&set->terms[index - 1]);
    }
}
/* NULL when it is not there. normal and hash from the functions above. */
struct set_term *term_set_find(const struct term_set *set, const struct term *normal,
                               uint64_t hash);
/* Adds a copy that the caller knows to be new. */
struct set_term *term_set_insert(struct term_set *set, const struct term *normal, uint64_t hash);

#endif
