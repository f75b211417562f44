/* Sets of predicates in memory, each with how many subjects have exactly these predicates and how
 * many rows with each predicate those subjects have ("characteristic sets": Neumann and Moerkotte,
 * ICDE 2011). A subject counts once in each graph. Numbers are signed, so that a table can hold
 * differences. Not thread-safe. */
#ifndef INDEX_STATISTICS_PREDICATE_SETS_H
#define INDEX_STATISTICS_PREDICATE_SETS_H

#include <stddef.h>

#include "base/map.h"
#include "index/terms/oid.h"

struct predicate_set {
    uint64_t signature; /* a bit for each predicate: a quick "not in it" */
    uint64_t number;    /* for the table's user */
    int64_t subjects;
    size_t first; /* of its places in `predicates` and `rows` */
    size_t count;
};

struct predicate_sets {
    struct predicate_set *sets;
    size_t count, capacity;
    oid *predicates; /* of all sets, each ascending */
    int64_t *rows;
    size_t used, room;
    struct map by_predicates; /* hash -> place in sets */
};

void predicate_sets_release(struct predicate_sets *sets);
/* The set of these predicates, which ascend strictly; NULL when it is not there. */
struct predicate_set *predicate_sets_find(const struct predicate_sets *sets, const oid *predicates,
                                          size_t count);
/* Finds the set, and adds it with zeros when it is not there. The pointer lives until the next one
 * comes. */
struct predicate_set *predicate_sets_add(struct predicate_sets *sets, const oid *predicates,
                                         size_t count);

/* A bit of `signature`. */
static inline uint64_t
predicate_bit(oid predicate)
{
    return UINT64_C(1) << ((oid_number(predicate) * UINT64_C(0x9e3779b97f4a7c15)) >> 58);
}

/* Finds where the set counts rows with the predicate; NULL: it is not in the set. */
int64_t *predicate_set_rows(const struct predicate_sets *sets, const struct predicate_set *set,
                            oid predicate);

#endif
