/* Distinct terms in memory, numbered in the order of their first appearance: the terms of a
 * batch, and the lexicon's memory of recent terms. The hash is keyed by chance, so that no
 * document can choose its collisions. Not thread-safe. */
#ifndef INDEX_TERM_SET_H
#define INDEX_TERM_SET_H

#include <stddef.h>

#include "base/arena.h"
#include "index/oid.h"

struct set_term {
    struct term term; /* bytes in the set's arena; datatype xsd:string is left out */
    uint64_t hash;
    oid id;        /* for the set's user; OID_NONE at first */
    bool unwanted; /* the lexicon passes over it */
};

struct term_set {
    struct arena arena;
    struct set_term *terms;
    size_t count, capacity;
    uint32_t *table; /* index + 1, 0: free */
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
/* NULL when it is not there. normal and hash from the functions above. */
struct set_term *term_set_find(const struct term_set *set, const struct term *normal,
                               uint64_t hash);
/* Adds a copy that the caller knows to be new. */
struct set_term *term_set_insert(struct term_set *set, const struct term *normal, uint64_t hash);

#endif
