/* The engine of the web's size: Berkeley DB for what is small or changes place, and sorted runs
 * (queue/run.h) for what grows with the number of URIs: `seen`, `revisits`, `lanes`, `fetch`.
 * PROTOCOL.md section 5 is its contract. */
#ifndef QUEUE_FRONTIER_H
#define QUEUE_FRONTIER_H

#include "queue/store.h"

extern const struct store_engine store_frontier;

/* For reports and tests. */
struct frontier_figures {
    uint64_t runs, bytes;   /* on disk */
    uint64_t records;       /* in runs; a key may be in several */
    uint64_t run_memory;    /* filters and first keys */
    uint64_t recent_memory; /* records not yet in runs */
    uint64_t written;       /* bytes of runs written since the start */
};
struct frontier_figures frontier_figures(const struct store *store);

#endif
