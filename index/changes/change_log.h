/* The change log keeps what the last batches changed, so that others can follow: the tree
 * "changes". FORMAT.md, "Change log".
 *
 * A position is the number of a batch with its stamp, the wall time of its commit: what the
 * partition holds after it. Numbers grow by one per batch. The stamp tells histories apart: after
 * an index was put back from a copy, batches have the same numbers again but other stamps. A batch
 * is in the log wholly or not at all; the oldest go when the log passes its bound. What a batch
 * changed can be read once it is durable, not before. Batches whose changes are gathered
 * (index/quads/memtable.h) are kept beyond the bound, since a start has these changes from here.
 *
 * Threads: the writer appends; readers may be many, one thread each. */
#ifndef INDEX_CHANGES_CHANGE_LOG_H
#define INDEX_CHANGES_CHANGE_LOG_H

#include "index/changes/change_position.h"
#include "index/quads/change_set.h"
#include "index/trees/environment.h"

struct change_log;

/* limit: bytes kept; 0: none. batches: committed so far. statistics: the tree that holds the log's
 * own numbers. */
enum status change_log_open(struct change_log **log, struct environment *environment,
                            struct tree *statistics, uint64_t limit, uint64_t batches,
                            struct reason *why);
void change_log_close(struct change_log *log);

/* ---- the writer: enters and leaves the latch itself ---- */

struct graph_generation {
    oid graph;
    uint64_t generation;
};
/* Tells whether a set of so many changes surely finds room; only such sets may be gathered. */
bool change_log_holds(const struct change_log *log, size_t changes);
/* Batches from this one on are to be kept, whatever the bound; 0: none is. */
void change_log_keep(struct change_log *log, uint64_t batch);
/* The next batch. generations: of all graphs that the set changes, at least, in their order. */
enum status change_log_append(struct change_log *log, struct transaction *transaction,
                              const struct change_set *set,
                              const struct graph_generation *generations, size_t count,
                              struct reason *why);
/* The transaction was committed. */
void change_log_committed(struct change_log *log);

/* ---- any thread ---- */

/* first may be NULL: the oldest number that a reader can go on from. */
void change_log_state(struct change_log *log, struct change_position *last, uint64_t *first);

struct change_reader;
/* Goes on after a position. STALE when what came next is not there any more, or the position is
 * not of this history. */
enum status change_reader_open(struct change_reader **reader, struct change_log *log,
                               const struct change_position *since, struct reason *why);
/* The first batch kept that was written after a moment (wall time, ms); behind the last: none was.
 */
enum status change_log_after(struct change_log *log, uint64_t wall_ms, uint64_t *batch,
                             struct reason *why);
/* Opens a reader that begins with this batch, which is kept. */
enum status change_reader_open_at(struct change_reader **reader, struct change_log *log,
                                  uint64_t batch, struct reason *why);
void change_reader_close(struct change_reader *reader);

struct change_batch {
    struct change_position position, previous;
    uint64_t removed, added;
};
/* The next batch, after all blocks of the one before were read; END when there is none. */
enum status change_reader_batch(struct change_reader *reader, struct change_batch *batch,
                                struct reason *why);
struct change_block {
    struct row rows[BLOCK_MAXIMUM]; /* CSPO, ascending over the blocks of a batch */
    uint64_t generations[BLOCK_MAXIMUM];
    bool removed[BLOCK_MAXIMUM];
    size_t count;
};
/* Its next changes; END after the last. */
enum status change_reader_block(struct change_reader *reader, struct change_block *block,
                                struct reason *why);

/* Reads all of it; *batches gets how many are kept. CORRUPT; STALE when a piece is not there, as
 * it may be while the writer makes room. */
enum status change_log_check(struct change_log *log, uint64_t *batches, struct reason *why);

#endif
