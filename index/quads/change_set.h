/* A change set is what one batch does to the quads: additions and removals, in all six orders. */
#ifndef INDEX_QUADS_CHANGE_SET_H
#define INDEX_QUADS_CHANGE_SET_H

#include <stddef.h>

#include "index/quads/rows.h"

struct quad_change {
    struct quad_oids quad;
    bool removed;
};

/* A document that came (1) or went (-1). */
struct document_change {
    oid graph;
    int step;
};

struct change_set {
    struct quad_change *changes; /* in the order CSPO, each quad at most once */
    size_t count;
    uint32_t *orders[ORDER_COUNT];     /* indexes into changes, sorted */
    struct document_change *documents; /* malloc'd, or NULL */
    size_t document_count;
    uint64_t version; /* set when published: snapshot.h */
    struct change_set *next;
    uint64_t batch; /* the first batch whose changes it holds: memtable.h */
    unsigned users; /* besides the first: change_set_use */
};

/* Takes the array, which must be sorted by graph, subject, predicate, object and hold each quad
 * once. Fewer than 2^32 changes. */
struct change_set *change_set_new(struct quad_change *changes, size_t count);
/* One who frees it more: the writer's, as all that makes and frees sets. */
struct change_set *change_set_use(struct change_set *set);
void change_set_free(struct change_set *set);
/* Makes the set that does what both do, one after the other: of a quad in both it has the newer
 * change. */
struct change_set *change_set_join(const struct change_set *older, const struct change_set *newer);
size_t change_set_bytes(const struct change_set *set);

static inline struct row
change_row(const struct change_set *set, enum quad_order order, size_t i)
{
    return row_of(&set->changes[set->orders[order][i]].quad, order);
}

/* Asks for the memory of change i, which need not be there; it may lie in two lines of the cache.
 */
static inline void
change_prefetch(const struct change_set *set, enum quad_order order, size_t i)
{
    if (i < set->count) {
        const struct quad_change *change = &set->changes[set->orders[order][i]];
        __builtin_prefetch(change);
        __builtin_prefetch(&change->removed);
    }
}

static inline bool
change_removed(const struct change_set *set, enum quad_order order, size_t i)
{
    return set->changes[set->orders[order][i]].removed;
}

/* Index of the first change not before row. */
size_t change_set_find(const struct change_set *set, enum quad_order order, const struct row *row);
/* Does what change_set_find does, for a row that is not before `from` and mostly near it. */
size_t change_set_find_from(const struct change_set *set, enum quad_order order,
                            const struct row *row, size_t from);

#endif
