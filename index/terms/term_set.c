#include "index/terms/term_set.h"

#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "rdf/core/vocabulary.h"

enum { FIRST_TABLE = 1024 };

static uint8_t hash_key[crypto_shorthash_KEYBYTES];

static void
choose_key(void)
{
    randombytes_buf(hash_key, sizeof(hash_key));
}

void
term_set_init(struct term_set *set)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose_key);
    *set = (struct term_set){0};
    arena_init(&set->arena, 0);
}

void
term_set_reset(struct term_set *set)
{
    arena_reset(&set->arena);
    set->count = 0;
    if (set->table != NULL) {
        memset(set->table, 0, (set->mask + 1) * sizeof(*set->table));
    }
}

void
term_set_release(struct term_set *set)
{
    arena_release(&set->arena);
    free(set->terms);
    free(set->table);
    *set = (struct term_set){0};
}

size_t
term_set_bytes(const struct term_set *set)
{
    return set->arena.used + set->count * sizeof(*set->terms) +
           (set->table ? (set->mask + 1) * sizeof(*set->table) : 0);
}

struct term
term_normal(const struct term *term)
{
    struct term normal = *term;
    if (term->kind == TERM_LITERAL &&
        (term->language.length > 0 || slice_is(term->datatype, XSD_STRING))) {
        normal.datatype = slice_of(NULL, 0);
    }
    return normal;
}

static uint64_t
hash_slice(struct slice bytes)
{
    uint64_t hash;
    crypto_shorthash((uint8_t *)&hash, (const uint8_t *)(bytes.at ? bytes.at : ""), bytes.length,
                     hash_key);
    return hash;
}

uint64_t
term_hash(const struct term *normal)
{
    uint64_t hash = hash_slice(normal->value) + normal->kind;
    if (normal->kind == TERM_LITERAL && normal->datatype.length > 0) {
        hash = hash * 31 + hash_slice(normal->datatype);
    }
    if (normal->kind == TERM_LITERAL && normal->language.length > 0) {
        hash = hash * 37 + hash_slice(normal->language);
    }
    return hash;
}

static bool
same(const struct term *a, const struct term *b)
{
    return a->kind == b->kind && slice_equal(a->value, b->value) &&
           (a->kind != TERM_LITERAL ||
            (slice_equal(a->datatype, b->datatype) && slice_equal(a->language, b->language)));
}

struct set_term *
term_set_find(const struct term_set *set, const struct term *normal, uint64_t hash)
{
    if (set->table == NULL) {
        return NULL;
    }
    const uint32_t tag = (uint32_t)(hash >> 32);
    for (size_t at = hash & set->mask; set->table[at].index != 0; at = (at + 1) & set->mask) {
        if (set->table[at].tag == tag) {
            struct set_term *candidate = &set->terms[set->table[at].index - 1];
            if (same(&candidate->term, normal)) {
                return candidate;
            }
        }
    }
    return NULL;
}

static void
place(struct term_set *set, uint64_t hash, size_t index)
{
    size_t at = hash & set->mask;
    while (set->table[at].index != 0) {
        at = (at + 1) & set->mask;
    }
    set->table[at] = (struct term_slot){(uint32_t)(hash >> 32), (uint32_t)index + 1};
}

static void
grow_table(struct term_set *set)
{
    const size_t size = set->table ? (set->mask + 1) * 2 : FIRST_TABLE;
    free(set->table);
    set->table = memory_zero(size, sizeof(*set->table));
    memory_prefer_large_pages(set->table, size * sizeof(*set->table));
    set->mask = size - 1;
    for (size_t i = 0; i < set->count; i++) {
        place(set, set->terms[i].hash, i);
    }
}

struct set_term *
term_set_insert(struct term_set *set, const struct term *normal, uint64_t hash)
{
    if (set->table == NULL || set->count >= (set->mask + 1) / 2) {
        grow_table(set);
    }
    if (set->count == set->capacity) {
        set->capacity = set->capacity ? set->capacity * 2 : FIRST_TABLE;
        set->terms = memory_resize(set->terms, set->capacity, sizeof(*set->terms));
        memory_prefer_large_pages(set->terms, set->capacity * sizeof(*set->terms));
    }
    struct set_term *added = &set->terms[set->count++];
    *added = (struct set_term){.term = *normal, .hash = hash};
    (void)term_copy(&set->arena, normal, &added->term);
    place(set, hash, set->count - 1);
    return added;
}

uint32_t
term_set_add_hashed(struct term_set *set, const struct term *normal, uint64_t hash)
{
    const struct set_term *found = term_set_find(set, normal, hash);
    if (found == NULL) {
        found = term_set_insert(set, normal, hash);
    }
    return (uint32_t)(found - set->terms);
}

uint32_t
term_set_add(struct term_set *set, const struct term *term)
{
    const struct term normal = term_normal(term);
    return term_set_add_hashed(set, &normal, term_hash(&normal));
}
