/* The queue's Berkeley DB: sorted trees of bytes; what they mean is FORMAT.md, "Records", and is
 * nobody's business here. The broker uses it through queue/storage/frontier_engine.h.
 *
 * One writer; not thread-safe. A batch is applied whole or not at all and is durable at OK.
 */
#ifndef QUEUE_STORAGE_STORE_H
#define QUEUE_STORAGE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

#define STORE_TREE_MAP(X)     \
    X(JOBS, "jobs")           \
    X(LATER, "later")         \
    X(BURIED, "buried")       \
    X(SEEN, "seen")           \
    X(REVISITS, "revisits")   \
    X(LANES, "lanes")         \
    X(OUTBOX, "outbox")       \
    X(PEERS, "peers")         \
    X(ORIGINS, "origins")     \
    X(WORKERS, "workers")     \
    X(ABOUT, "about")         \
    X(FETCH, "fetch")         \
    X(RUNS, "runs")           \
    X(JOURNAL, "journal")     \
    X(ESTIMATES, "estimates") \
    X(TROUBLES, "troubles")

enum store_tree {
#define X(name, text) TREE_##name,
    STORE_TREE_MAP(X)
#undef X
        TREE_COUNT
};
const char *store_tree_name(enum store_tree tree);

enum { STORE_KEY_MAXIMUM = 40 };

struct store_operation {
    uint8_t tree; /* enum store_tree */
    uint8_t key_length;
    bool remove; /* of what is not there: no effect */
    uint8_t key[STORE_KEY_MAXIMUM];
    uint32_t order; /* of arrival in the batch */
    struct slice value;
};

/* Tells where a fault may strike; for tests. */
enum store_point { STORE_BEFORE_COMMIT, STORE_AFTER_COMMIT, STORE_CHECKPOINT, STORE_RUN_WRITE };
/* 0, or the errno that the store shall report. May end the process. */
typedef int store_fault(void *context, enum store_point point);

struct store_options {
    const char *folder; /* made when missing */
    uint64_t cache_bytes;
    uint64_t checkpoint_bytes; /* of log */
    uint64_t checkpoint_ms;
    bool sync;             /* false: a crash of the machine may lose the latest batches */
    uint32_t lock_wait_ms; /* how long to wait for another owner to go */
    uint64_t recent_bytes; /* of records in memory before they become runs
                              (queue/storage/frontier_engine.h) */
    bool threads;          /* runs are written and merged beside the owner's thread */
    store_fault *fault;    /* NULL: none */
    void *fault_context;
};

struct store;
/* Key and value live until it returns. False stops the scan. */
typedef bool store_visit(void *context, struct slice key, struct slice value);

enum status store_open(struct store **store, const struct store_options *options,
                       struct reason *why);
void store_close(struct store *store); /* with a checkpoint unless broken */
/* Returns the epoch of this ownership, which is greater than that of any before. */
uint64_t store_epoch(const struct store *store);
/* *value lives until the next call of any function; NOT_FOUND without reason. */
enum status store_get(struct store *store, enum store_tree tree, struct slice key,
                      struct slice *value, struct reason *why);
/* Ascending from the first key that is not less than `from`. */
enum status store_scan(struct store *store, enum store_tree tree, struct slice from,
                       store_visit *visit, void *context, struct reason *why);
/* Scans no further than keys whose first `within` bytes are those of `from`. */
enum status store_scan_within(struct store *store, enum store_tree tree, struct slice from,
                              size_t within, store_visit *visit, void *context, struct reason *why);
/* operations: sorted by tree and key, each key once. FULL: no room, nothing happened. */
enum status store_apply(struct store *store, const struct store_operation *const *operations,
                        size_t n, struct reason *why);
/* Housekeeping when it is due; *wait_ms until the next. */
enum status store_tick(struct store *store, uint64_t *wait_ms, struct reason *why);
/* Bytes that the disk has left for us, less what is promised but not yet written. */
enum status store_room(struct store *store, uint64_t *bytes, struct reason *why);
/* After a failure that only a new start can mend. */
bool store_broken(const struct store *store);

#endif
