/* Puts and deletes that gather until they are applied together. Copies keys and values. */
#ifndef QUEUE_STORAGE_STORE_BATCH_H
#define QUEUE_STORAGE_STORE_BATCH_H

#include "base/arena.h"
#include "queue/storage/store.h"

struct store_batch {
    struct store_operation **operations;
    size_t count, capacity;
    struct arena memory;
};

void store_batch_init(struct store_batch *batch);
void store_batch_release(struct store_batch *batch);
void store_batch_reset(struct store_batch *batch);
void store_batch_put(struct store_batch *batch, enum store_tree tree, struct slice key,
                     struct slice value);
void store_batch_remove(struct store_batch *batch, enum store_tree tree, struct slice key);
/* Sorts by tree and key; of several operations on one key the last stays. Then apply. */
void store_batch_sort(struct store_batch *batch);

#endif
