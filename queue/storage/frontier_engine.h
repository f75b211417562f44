/* The engine holds the queue's records: Berkeley DB for what is small or changes place, and sorted
 * runs (queue/storage/run.h) for what grows with the number of URIs: `seen`, `revisits`, `lanes`,
 * `fetch`. FORMAT.md, "Runs", is its contract. */
#ifndef QUEUE_STORAGE_FRONTIER_ENGINE_H
#define QUEUE_STORAGE_FRONTIER_ENGINE_H

#include "queue/storage/store.h"

struct frontier;

/* These do what the functions of the same names in queue/storage/store.h do. */
enum status frontier_open(struct frontier **frontier, const struct store_options *options,
                          struct reason *why);
void frontier_close(struct frontier *frontier);
uint64_t frontier_epoch(const struct frontier *frontier);
enum status frontier_get(struct frontier *frontier, enum store_tree tree, struct slice key,
                         struct slice *value, struct reason *why);
enum status frontier_scan(struct frontier *frontier, enum store_tree tree, struct slice from,
                          store_visit *visit, void *context, struct reason *why);
enum status frontier_scan_within(struct frontier *frontier, enum store_tree tree, struct slice from,
                                 size_t within, store_visit *visit, void *context,
                                 struct reason *why);
enum status frontier_apply(struct frontier *frontier,
                           const struct store_operation *const *operations, size_t n,
                           struct reason *why);
enum status frontier_tick(struct frontier *frontier, uint64_t *wait_ms, struct reason *why);
enum status frontier_room(struct frontier *frontier, uint64_t *bytes, struct reason *why);
bool frontier_broken(const struct frontier *frontier);

/* These figures are for reports and tests. */
struct frontier_figures {
    uint64_t runs, bytes;   /* on disk */
    uint64_t records;       /* in runs; a key may be in several */
    uint64_t run_memory;    /* filters and first keys */
    uint64_t recent_memory; /* records not yet in runs */
    uint64_t written;       /* bytes of runs written since the start */
};
struct frontier_figures frontier_figures(const struct frontier *frontier);

#endif
