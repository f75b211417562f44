/* The trees of the frontier: what each has in memory and in which runs, and the list of these. The
 * owner's thread changes them; work that is under way reads `frozen` and runs, which stay. */
#ifndef QUEUE_STORAGE_FRONTIER_LAYERS_H
#define QUEUE_STORAGE_FRONTIER_LAYERS_H

#include "base/buf.h"
#include "queue/storage/frontier_engine.h"
#include "queue/storage/run.h"
#include "queue/storage/sorted_map.h"
#include "queue/storage/store_batch.h"

enum { FRONTIER_LAYERS = 4 };

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

/* Appends the name of a run's file. */
void frontier_run_name(const struct layer_kind *kind, uint64_t number, struct buf *name);
/* Adds a run to those of the layer, in that place. */
void frontier_add_run(struct layer *layer, size_t at, const struct held_run *held);
/* Adds or removes a row of the list of runs, by letter and number. */
void frontier_manifest(struct store_batch *batch, const struct layer_kind *kind, uint64_t number,
                       uint8_t level, bool remove);

#endif
