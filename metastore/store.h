/* The store holds the records, in Berkeley DB. Values are whole and mean nothing here; merging and
 * the version of records are done above (metastore_service.c).
 *
 * Batches are sorted by key and hold each key once: the caller's duty. Not thread-safe.
 */
#ifndef METASTORE_STORE_H
#define METASTORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

struct meta_store;

struct meta_store_options {
    const char *folder;        /* made when missing */
    uint64_t cache_bytes;      /* of pages in memory */
    uint64_t checkpoint_bytes; /* of log between checkpoints */
    uint64_t checkpoint_ms;    /* the longest time between them */
    uint64_t disk_reserve;     /* puts are refused below this much free disk */
    bool sync;                 /* false: a crash of the machine may lose the last puts */
    uint32_t lock_wait_ms;     /* how long to wait for another owner's lock */
};

struct meta_pair {
    struct slice key, value;
};

struct meta_store_stats {
    uint64_t puts, gets, transactions, disk_free, epoch;
};

/* index: of the key asked for (get), or the count so far (scan). Bytes live until it returns.
 * False stops. */
typedef bool meta_store_visit(void *context, size_t index, struct slice key, struct slice value);

enum status meta_store_open(struct meta_store **store, const struct meta_store_options *options,
                            struct reason *why);
void meta_store_close(struct meta_store *store);
/* Grows with each opening. */
uint64_t meta_store_epoch(const struct meta_store *store);
/* Visits the keys that are there. */
enum status meta_store_get(struct meta_store *store, const struct slice *keys, size_t n,
                           meta_store_visit *visit, void *context, struct reason *why);
/* All or nothing, durable at OK. FULL: no room. */
enum status meta_store_put(struct meta_store *store, const struct meta_pair *pairs, size_t n,
                           struct reason *why);
/* Ascending keys after `after` (exclusive) that start with prefix. */
enum status meta_store_scan(struct meta_store *store, struct slice prefix, struct slice after,
                            meta_store_visit *visit, void *context, struct reason *why);
/* Housekeeping when it is due; milliseconds until the next. */
enum status meta_store_tick(struct meta_store *store, int *wait_ms, struct reason *why);
void meta_store_stats(struct meta_store *store, struct meta_store_stats *stats);
/* True after a failure that only a new start can mend. */
bool meta_store_broken(const struct meta_store *store);

#endif
