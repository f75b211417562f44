/* A set of identifiers that is filled once and then looked up often. */
#ifndef INDEX_OID_SET_H
#define INDEX_OID_SET_H

#include <stdlib.h>

#include "base/memory.h"
#include "index/quad_source.h"

struct oid_set {
    oid *slots; /* OID_NONE: free */
    size_t mask;
};

/* most: identifiers that may be added. */
static inline void
oid_set_init(struct oid_set *set, size_t most)
{
    size_t slots = 4;
    while (slots < 2 * most + 2) {
        slots *= 2;
    }
    set->slots = memory_zero(slots, sizeof(*set->slots));
    set->mask = slots - 1;
}

static inline void
oid_set_release(struct oid_set *set)
{
    free(set->slots);
    set->slots = NULL;
}

/* Finds where it is, or would be. */
static inline size_t
oid_set_slot(const struct oid_set *set, oid id)
{
    size_t at = (size_t)(id * UINT64_C(0x9E3779B97F4A7C15) >> 20) & set->mask;
    while (set->slots[at] != OID_NONE && set->slots[at] != id) {
        at = (at + 1) & set->mask;
    }
    return at;
}

static inline void
oid_set_add(struct oid_set *set, oid id)
{
    set->slots[oid_set_slot(set, id)] = id;
}

static inline bool
oid_set_has(const struct oid_set *set, oid id)
{
    return set->slots[oid_set_slot(set, id)] != OID_NONE;
}

#endif
