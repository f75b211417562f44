/* What a reader sees: the index as it was when its snapshot was opened, however long it reads.
 *
 * The trees hold the newest state, and while a batch is being applied a part of it. The batch's
 * changes are published here before the first of them touches a tree. A reader reads rows of
 * the trees and then takes back, newest first, every change set younger than its snapshot:
 * what was added is left out, what was removed is put back. Both are idempotent, so it does not
 * matter how much of the youngest set had been applied where the reader looked.
 *
 * Invariants: versions grow by one per published set; `committed` is the version that new
 * snapshots get; sets are taken out only by the writer, and never while a
 * reader goes through them (a latch sees to that), when no snapshot is older.
 * When the kept sets pass the memory bound, the oldest snapshots end: reading on is STALE. Held
 * snapshots do not end; who holds one must go on to newer versions after every short step.
 */
#ifndef INDEX_QUADS_SNAPSHOT_H
#define INDEX_QUADS_SNAPSHOT_H

#include "index/quads/change_set.h"

struct snapshots;
struct snapshot;

/* memory: bytes of change sets kept for readers. */
struct snapshots *snapshots_new(size_t memory);
void snapshots_free(struct snapshots *snapshots);

/* Writer. Takes the set. */
void snapshots_publish(struct snapshots *snapshots, struct change_set *set);
/* Writer: the published set is in the trees (or, not applied, not at all). */
void snapshots_end(struct snapshots *snapshots, bool applied);
/* Writer: frees what publish and end found nobody to need. It takes
 * milliseconds for large sets. */
void snapshots_tidy(struct snapshots *snapshots);

/* Any thread. */
struct snapshot *snapshot_open(struct snapshots *snapshots);
/* A held one, which can go on: the changes that lead to its next version (they stay until it has
 * gone on), NULL when there are none yet; and to that version. */
struct snapshot *snapshot_hold(struct snapshots *snapshots);
const struct change_set *snapshot_next(const struct snapshot *held);
void snapshot_go_on(struct snapshot *held);
/* Another one of the same version. */
struct snapshot *snapshot_share(const struct snapshot *other);
/* Batches committed before it since the partition was opened. */
uint64_t snapshot_version(const struct snapshot *snapshot);
void snapshot_close(struct snapshot *snapshot);

/* Rows in the order of a tree. */
struct row_vector {
    struct row *rows;
    size_t count, capacity;
};
void row_vector_reserve(struct row_vector *vector, size_t count);
void row_vector_release(struct row_vector *vector);

/* Reader, inside the tree's latch still: rows are all rows of the tree in [from, to); makes them
 * those of the snapshot. to NULL: to the end. */
enum status snapshot_restore(struct snapshot *snapshot, enum quad_order order,
                             const struct row *from, const struct row *to, struct row_vector *rows,
                             struct reason *why);

#endif
