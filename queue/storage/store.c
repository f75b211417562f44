/* There is one thread. Writes go through one transaction per batch. Reads happen between batches
 * and see what is committed. Any failure inside a batch aborts it; if the environment itself is
 * damaged (DB_RUNRECOVERY) the store is broken and the process has to start anew. */
#include "queue/storage/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "store/database.h"

enum {
    LOG_FILE_MOST = 4 << 20,
    LOG_FILE_LEAST = 1 << 20,
    LOG_PARTS = 4, /* log files between two checkpoints */
    CHECKPOINT_PAUSE_MS = 1000
};

struct store {
    struct store_options options;
    struct database database;
    DB *trees[TREE_COUNT];
    uint64_t epoch;
    uint64_t written;       /* bytes of log since the last checkpoint */
    uint64_t checkpoint_at; /* end of the log then */
    uint64_t checkpoint_ms; /* monotonic, of the last one, or of the last attempt */
    uint32_t log_file;      /* bytes of a log file */
    bool failed;            /* the last checkpoint did */
};

static const char *const tree_names[] = {
#define X(name, text) text,
    STORE_TREE_MAP(X)
#undef X
};

const char *
store_tree_name(enum store_tree tree)
{
    return tree_names[tree];
}

/* ---- failures ---- */

static enum status
fail(struct store *store, int error, struct reason *why, const char *what)
{
    if (error == ENOSPC) {
        return status_fail(why, STATUS_FULL,
                           "no room on the disk of %s: %s; free some and it goes on by itself",
                           store->database.folder, what);
    }
    return database_failed(&store->database, error, why, what);
}

static int
strike(struct store *store, enum store_point point)
{
    return store->options.fault == NULL ? 0
                                        : store->options.fault(store->options.fault_context, point);
}

/* Bytes of log ever written. */
static uint64_t
log_end(struct store *store)
{
    DB_LOG_STAT *log = NULL;
    uint64_t end = store->checkpoint_at;
    if (store->database.environment->log_stat(store->database.environment, &log, 0) == 0) {
        end = (uint64_t)log->st_cur_file * store->log_file + log->st_cur_offset;
    }
    free(log);
    return end;
}

/* ---- opening ---- */

/* A log file can be removed only as a whole. */
static uint32_t
log_file_bytes(uint64_t checkpoint_bytes)
{
    const uint64_t wanted = checkpoint_bytes / LOG_PARTS;
    return wanted < LOG_FILE_LEAST  ? LOG_FILE_LEAST
           : wanted > LOG_FILE_MOST ? LOG_FILE_MOST
                                    : (uint32_t)wanted;
}

/* A store's first act is to raise its epoch, durably, so that whatever an older owner still
 * sends can be told from ours. */
static enum status
raise_epoch(struct store *store, struct reason *why)
{
    uint8_t bytes[8];
    DB *about = store->trees[TREE_ABOUT];
    DBT key = database_bytes(SLICE("epoch"));
    DBT value = {0};
    int error = about->get(about, NULL, &key, &value, 0);
    if (error == 0 && value.size == sizeof bytes) {
        store->epoch = codec_read_u64(value.data);
    } else if (error != 0 && error != DB_NOTFOUND) {
        return fail(store, error, why, "cannot read the epoch");
    }
    codec_write_u64(bytes, ++store->epoch);
    value = database_bytes(slice_of((char *)bytes, sizeof bytes));
    error = about->put(about, NULL, &key, &value, DB_AUTO_COMMIT);
    return error == 0 ? STATUS_OK : fail(store, error, why, "cannot write the epoch");
}

void
store_close(struct store *store)
{
    if (store == NULL) {
        return;
    }
    for (int tree = 0; tree < TREE_COUNT; tree++) {
        if (store->trees[tree] != NULL) {
            (void)store->trees[tree]->close(store->trees[tree], 0);
        }
    }
    database_close(&store->database);
    free(store);
}

static enum status
open_all(struct store *store, struct reason *why)
{
    const struct database_options options = {.folder = store->options.folder,
                                             .cache_bytes = store->options.cache_bytes,
                                             .log_file_bytes = store->log_file,
                                             .log_buffer_bytes =
                                                 store->log_file / LOG_PARTS / LOG_PARTS,
                                             .lock_wait_ms = store->options.lock_wait_ms,
                                             .file_mode = 0600,
                                             .no_sync = !store->options.sync};
    TRY(database_hold(&store->database, &options, why));
    TRY(database_open(&store->database, &options, why));
    for (int tree = 0; tree < TREE_COUNT; tree++) {
        char name[32];
        (void)snprintf(name, sizeof name, "%s.db", tree_names[tree]);
        TRY(database_open_tree(&store->database, &store->trees[tree], name,
                               DB_CREATE | DB_AUTO_COMMIT, why));
    }
    TRY(raise_epoch(store, why));
    store->checkpoint_at = log_end(store); /* recovery ends with a checkpoint */
    return STATUS_OK;
}

enum status
store_open(struct store **store_out, const struct store_options *options, struct reason *why)
{
    struct store *store = memory_new(sizeof *store);
    store->options = *options;
    store->log_file = log_file_bytes(options->checkpoint_bytes);
    store->checkpoint_ms = clock_monotonic_ms();
    const enum status status = open_all(store, why);
    if (status != STATUS_OK) {
        store_close(store);
        *store_out = NULL;
        return status;
    }
    *store_out = store;
    return STATUS_OK;
}

/* ---- reading ---- */

uint64_t
store_epoch(const struct store *store)
{
    return store->epoch;
}

enum status
store_get(struct store *store, enum store_tree tree, struct slice key_bytes,
          struct slice *value_out, struct reason *why)
{
    DB *db = store->trees[tree];
    DBT key = database_bytes(key_bytes);
    DBT value = {0};
    const int error = db->get(db, NULL, &key, &value, 0);
    if (error == DB_NOTFOUND) {
        return STATUS_NOT_FOUND;
    }
    if (error != 0) {
        return fail(store, error, why, "cannot read");
    }
    *value_out = slice_of(value.data, value.size);
    return STATUS_OK;
}

enum status
store_scan_within(struct store *store, enum store_tree tree, struct slice from, size_t within,
                  store_visit *visit, void *context, struct reason *why)
{
    DB *db = store->trees[tree];
    DBC *cursor;
    DBT key = database_bytes(from);
    DBT value = {0};
    int error = db->cursor(db, NULL, &cursor, 0);
    if (error != 0) {
        return fail(store, error, why, "cannot scan");
    }
    error = cursor->get(cursor, &key, &value, DB_SET_RANGE);
    while (error == 0 && key.size >= within && memcmp(key.data, from.at, within) == 0 &&
           visit(context, slice_of(key.data, key.size), slice_of(value.data, value.size))) {
        error = cursor->get(cursor, &key, &value, DB_NEXT);
    }
    const int closed = cursor->close(cursor);
    if (error == 0 || error == DB_NOTFOUND) {
        error = closed;
    }
    return error == 0 ? STATUS_OK : fail(store, error, why, "cannot scan");
}

enum status
store_scan(struct store *store, enum store_tree tree, struct slice from, store_visit *visit,
           void *context, struct reason *why)
{
    return store_scan_within(store, tree, from, 0, visit, context, why);
}

/* ---- writing ---- */

static int
apply_one(struct store *store, DB_TXN *transaction, const struct store_operation *operation)
{
    DB *db = store->trees[operation->tree];
    DBT key = database_bytes(slice_of((const char *)operation->key, operation->key_length));
    if (operation->remove) {
        const int error = db->del(db, transaction, &key, 0);
        return error == DB_NOTFOUND ? 0 : error;
    }
    DBT value = database_bytes(operation->value);
    return db->put(db, transaction, &key, &value, 0);
}

static int
apply_all(struct store *store, const struct store_operation *const *operations, size_t n)
{
    DB_TXN *transaction;
    int error =
        store->database.environment->txn_begin(store->database.environment, NULL, &transaction, 0);
    if (error != 0) {
        return error;
    }
    for (size_t i = 0; i < n && error == 0; i++) {
        error = apply_one(store, transaction, operations[i]);
    }
    if (error == 0) {
        error = strike(store, STORE_BEFORE_COMMIT);
    }
    if (error != 0) {
        const int aborted = transaction->abort(transaction);
        return aborted == 0 ? error : DB_RUNRECOVERY;
    }
    error = transaction->commit(transaction, 0);
    store->written = log_end(store) - store->checkpoint_at;
    store->database.broken |= error != 0; /* whether it happened only recovery can tell */
    return error;
}

enum status
store_apply(struct store *store, const struct store_operation *const *operations, size_t n,
            struct reason *why)
{
    if (store->database.broken) {
        return fail(store, DB_RUNRECOVERY, why, "cannot write");
    }
    int error = apply_all(store, operations, n);
    if (error == 0) {
        error = strike(store, STORE_AFTER_COMMIT);
    }
    return error == 0 ? STATUS_OK : fail(store, error, why, "cannot write");
}

/* ---- housekeeping ---- */

static enum status
checkpoint(struct store *store, struct reason *why)
{
    const uint64_t began = clock_monotonic_ms();
    store->checkpoint_ms = began;
    store->failed = true;
    int error = strike(store, STORE_CHECKPOINT);
    if (error == 0) {
        error = store->database.environment->txn_checkpoint(store->database.environment, 0, 0, 0);
    }
    if (error != 0) {
        return fail(store, error, why, "cannot checkpoint");
    }
    log_debug("checkpoint", "bytes=%lu ms=%lu", (unsigned long)store->written,
              (unsigned long)(clock_monotonic_ms() - began));
    store->checkpoint_at = log_end(store);
    store->written = 0;
    store->failed = false;
    return STATUS_OK;
}

/* A checkpoint is due by time or by bytes, but after a failure not at once again. */
enum status
store_tick(struct store *store, uint64_t *wait_ms, struct reason *why)
{
    const uint64_t age = clock_monotonic_ms() - store->checkpoint_ms;
    const bool many = store->written >= store->options.checkpoint_bytes;
    *wait_ms = store->options.checkpoint_ms;
    if (store->written == 0) {
        return STATUS_OK;
    }
    if (age >= store->options.checkpoint_ms ||
        (many && (!store->failed || age >= CHECKPOINT_PAUSE_MS))) {
        return checkpoint(store, why);
    }
    *wait_ms = many ? CHECKPOINT_PAUSE_MS : store->options.checkpoint_ms - age;
    return STATUS_OK;
}

/* Pages that wait in the cache for the next checkpoint will want room, too. */
enum status
store_room(struct store *store, uint64_t *bytes, struct reason *why)
{
    TRY(database_room(&store->database, bytes, why));
    const uint64_t promised =
        store->written < store->options.cache_bytes ? store->written : store->options.cache_bytes;
    *bytes -= promised < *bytes ? promised : *bytes;
    return STATUS_OK;
}

bool
store_broken(const struct store *store)
{
    return store->database.broken;
}
