/* Changes of batches that are committed, but of the six trees only in CSPO: the others get them
 * later, those of many batches at once, since in them nearly each change falls into a block of its
 * own. FORMAT.md, "Gathered changes"; WRITING.md.
 *
 * Readers bring them into what they read of the other trees. That is idempotent, so it does not
 * matter how many of them a tree has already. The change log keeps what is gathered for the next
 * start. Whoever owns the table keeps readers apart from what changes the list of sets; all but
 * memtable_restore are the writer's. */
#ifndef INDEX_QUADS_MEMTABLE_H
#define INDEX_QUADS_MEMTABLE_H

#include "index/quads/change_set.h"

/* A set is joined with the next when that is more than half as large: so each is at least twice as
 * large as the next, and all of them, of fewer than 2^32 changes, find room, with one that is being
 * brought in and one of the batch under way. None is empty, since those would never be joined. */
enum { MEMTABLE_SETS = 36 };

struct memtable {
    struct change_set *sets[MEMTABLE_SETS]; /* the oldest first */
    size_t count;
    bool flushing; /* the first is being brought into the trees */
};

/* Rows in the order of a tree. */
struct row_vector {
    struct row *rows;
    size_t count, capacity;
};
void row_vector_reserve(struct row_vector *vector, size_t count);
void row_vector_release(struct row_vector *vector);

/* Does to rows what the changes [first, last) of a set do, or undoes it. */
void rows_change(const struct change_set *set, enum quad_order order, size_t first, size_t last,
                 bool undo, struct row_vector *rows);

/* rows are those of a tree in [from, to), to NULL: to the end; makes them those with all that is
 * gathered. */
void memtable_restore(const struct memtable *table, enum quad_order order, const struct row *from,
                      const struct row *to, struct row_vector *rows);
/* Changes in the sets from the first on. */
size_t memtable_changes(const struct memtable *table, size_t first);

#endif
