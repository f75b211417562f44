/* The frontier's engine, for the files that make it up: frontier_engine.c has life, reading and
 * writing; frontier_layers.c the layers and the journal's rows; frontier_engine_work.c what goes on
 * beside. */
#ifndef QUEUE_STORAGE_FRONTIER_ENGINE_STATE_H
#define QUEUE_STORAGE_FRONTIER_ENGINE_STATE_H

#include "queue/storage/frontier_engine_work.h"
#include "queue/storage/frontier_layers.h"
#include "queue/storage/run_merge.h"

enum { FRONTIER_JOURNAL_MAXIMUM = 1 << 30 /* bytes of a row */ };

struct frontier {
    struct store *below; /* Berkeley DB's */
    struct store_options options;
    char *folder; /* of runs */
    struct layer layers[FRONTIER_LAYERS];
    struct merge *merge; /* of scans */
    struct buf value;    /* of get */
    struct frontier_journal {
        struct buf row;       /* the one being made */
        uint64_t first, next; /* rows that exist */
        uint64_t flushed;     /* rows up to here are in runs */
    } journal;
    uint64_t next_number; /* of a run */
    struct frontier_work *work;
};

/* Makes the path of a run's file. */
void frontier_run_path(const struct frontier *frontier, const struct layer_kind *kind,
                       uint64_t number, struct buf *path);
/* Returns the bytes of active records. */
size_t frontier_recent(const struct frontier *frontier);
/* Commits the batch and a new row of the journal in one transaction of Berkeley DB. */
enum status frontier_commit(struct frontier *frontier, struct store_batch *batch,
                            struct reason *why);

#endif
