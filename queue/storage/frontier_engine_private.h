/* Inside of the frontier: frontier_engine.c (life, reading, writing), frontier_engine_work.c
 * (records leave memory, runs are merged), frontier_layers.c (what both need).
 *
 * Work (a flush, a merge) reads what nobody changes any more and writes files that nobody knows of
 * yet, so it needs no lock and runs in a thread of its own; what comes of it is installed by the
 * owner's thread, in one transaction. At most one flush and one merge are under way.
 */
#ifndef QUEUE_STORAGE_FRONTIER_ENGINE_PRIVATE_H
#define QUEUE_STORAGE_FRONTIER_ENGINE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "queue/storage/frontier_engine.h"
#include "queue/storage/run.h"
#include "queue/storage/run_merge.h"
#include "queue/storage/store_batch.h"

enum {
    FRONTIER_LAYERS = 4,
    FRONTIER_JOURNAL_MAXIMUM = 1 << 30, /* bytes of a row */
    FRONTIER_FAN = 4,                   /* runs of a level that are merged to one of the next */
    FRONTIER_RUNS_MOST = 40,            /* of a tree; with more, commits wait for merges */
    FRONTIER_RETRY_MS = 1000
};

struct layer_kind {
    enum store_tree tree;
    uint8_t letter; /* in keys on disk */
    struct run_shape shape;
};
extern const struct layer_kind frontier_layers[FRONTIER_LAYERS];

struct held_run {
    struct run *run;
    uint64_t number;
    uint8_t level;
};

/* One tree. */
struct layer {
    const struct layer_kind *kind;
    struct ordered active; /* newest */
    struct ordered frozen; /* root NULL: there is none */
    struct held_run *runs; /* newest first; levels ascend */
    size_t run_count;
    struct run_cursor cursor; /* of get */
};

enum work_kind { WORK_FLUSH, WORK_MERGE, WORK_KINDS };

/* A new run, or none. */
struct work_output {
    uint64_t number; /* 0: none */
    uint8_t level;
    struct run *run; /* NULL: not written yet, or nothing was left */
};

struct work {
    struct frontier *frontier;
    enum work_kind kind;
    bool under_way, threaded;
    pthread_t thread;
    atomic_bool ended;
    struct work_output outputs[FRONTIER_LAYERS];
    /* a merge */
    struct layer *layer;
    struct held_run inputs[MERGE_SOURCES]; /* newest first */
    size_t input_count;
    bool drop_removed;
    enum status status;
    struct reason why;
    uint64_t retry_ms; /* monotonic: not before */
};

struct frontier {
    struct store *below; /* Berkeley DB's */
    struct store_options options;
    char *folder; /* of runs */
    struct layer layers[FRONTIER_LAYERS];
    bool frozen;
    struct merge *merge; /* of scans */
    struct buf value;    /* of get */
    struct buf journal;
    uint64_t journal_first, journal_next; /* rows that exist */
    uint64_t flushed;                     /* rows up to here are in runs */
    uint64_t frozen_end;                  /* the last row of what is frozen */
    uint64_t next_number;                 /* of a run */
    uint64_t written;
    struct work works[WORK_KINDS];
};

/* Appends the name of a run's file. */
void frontier_run_name(const struct layer_kind *kind, uint64_t number, struct buf *name);
void frontier_run_path(const struct frontier *frontier, const struct layer_kind *kind,
                       uint64_t number, struct buf *path);
void frontier_add_run(struct layer *layer, size_t at, const struct held_run *held);
size_t frontier_recent(const struct frontier *frontier); /* bytes of active records */
/* Manifest rows, by letter and number. */
void frontier_manifest(struct store_batch *batch, const struct layer_kind *kind, uint64_t number,
                       uint8_t level, bool remove);

/* Commits the batch and a new row of frontier->journal in one transaction of Berkeley DB. */
enum status frontier_commit(struct frontier *frontier, struct store_batch *batch,
                            struct reason *why);
/* Installs work that has ended, begins what is due; waits for it when memory is at its limit. A
 * full disk is no failure here: it is tried again. */
enum status frontier_advance(struct frontier *frontier, struct reason *why);
/* Waits for work under way and forgets it; what it wrote is removed at the next start. */
void frontier_stop(struct frontier *frontier);

#endif
