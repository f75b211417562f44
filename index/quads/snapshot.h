/* A snapshot is what a reader sees: the index as it was when its snapshot was opened, however long
 * it reads.
 *
 * The trees hold the newest state, and while a batch is being applied a part of it. The batch's
 * changes are published here before the first of them touches a tree. A reader reads rows of
 * the trees and then takes back, newest first, every change set younger than its snapshot:
 * what was added is left out, what was removed is put back. Both are idempotent, so it does not
 * matter how much of the youngest set had been applied where the reader looked. Before that the
 * changes that are gathered for later (memtable.h) are brought in.
 *
 * Invariants: versions grow by one per published set; `committed` is the version that new
 * snapshots get; sets are taken out only by the writer, and never while a
 * reader goes through them (a latch sees to that), when no snapshot is older.
 * When the kept sets pass the memory bound, the oldest snapshots end: reading on is STALE. Held
 * snapshots do not end; who holds one must go on to newer versions after every short step.
 */
#ifndef INDEX_QUADS_SNAPSHOT_H
#define INDEX_QUADS_SNAPSHOT_H

#include "index/quads/memtable.h"

struct snapshots;
struct snapshot;

/* memory: bytes of change sets kept for readers. */
struct snapshots *snapshots_new(size_t memory);
void snapshots_free(struct snapshots *snapshots);

/* Writer. Takes the set. gathered: it goes into CSPO, and into the other trees later: memtable.h.
 */
void snapshots_publish(struct snapshots *snapshots, struct change_set *set, bool gathered);
/* Writer: the published set is in the trees (or, not applied, not at all). flushed: and so is what
 * snapshots_flushing gives. */
void snapshots_end(struct snapshots *snapshots, bool applied, bool flushed);
/* Writer, not between publish and end: all that is gathered is to be brought into the trees, before
 * anything else of it; and that, NULL: nothing is. It is so until it was flushed. */
void snapshots_flush(struct snapshots *snapshots);
const struct change_set *snapshots_flushing(const struct snapshots *snapshots);
/* Writer: it is in all trees, by a transaction that changed nothing else. */
void snapshots_flushed(struct snapshots *snapshots);
/* Writer, at the start, the oldest first: changes that were gathered before it. */
void snapshots_gathered(struct snapshots *snapshots, struct change_set *set);
/* Writer, at the start: no tree but CSPO can be read, and nothing be written, for this reason. */
void snapshots_set_missing(struct snapshots *snapshots, const struct reason *why);
/* Changes gathered, and the first batch that is among them, 0: none. flushed: without what
 * snapshots_flushing gives. */
size_t snapshots_gathered_changes(struct snapshots *snapshots);
uint64_t snapshots_gathered_from(struct snapshots *snapshots, bool flushed);
/* OK when what was gathered before the start could be read. */
enum status snapshots_health(struct snapshots *snapshots, struct reason *why);
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
/* Returns the commit that a snapshot which is opened now would show, or a lower one. */
uint64_t snapshots_committed(struct snapshots *snapshots);
void snapshot_close(struct snapshot *snapshot);

/* Reader, inside the tree's latch still: rows are all rows of the tree in [from, to); makes them
 * those of the snapshot. to NULL: to the end. STALE; CORRUPT when it cannot be known. */
enum status snapshot_restore(struct snapshot *snapshot, enum quad_order order,
                             const struct row *from, const struct row *to, struct row_vector *rows,
                             struct reason *why);

#endif
