/* One B+tree, one thread, and one cursor at a time. A put is one transaction, written in bulk. */
#include "metastore/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "store/database.h"

enum {
    LOG_FILE_BYTES = 4 << 20,
    LOG_BUFFER_BYTES = 1 << 20,
    BULK_BYTES = 1 << 20,
    DISK_MARGIN_BYTES = 32 << 20, /* beside disk_reserve: for log files, and pages that split */
    FORMAT_VERSION = 2,
    DISK_POLL_MS = 1000
};

static const char format_key[] = "mformat";
static const char epoch_key[] = "mepoch";

struct meta_store {
    struct database database;
    DB *records;
    uint64_t epoch;
    struct meta_store_options options;
    uint64_t checkpoint_due; /* monotonic ms */
    uint64_t disk_free, disk_seen;
    uint64_t puts, gets, transactions;
    uint8_t *bulk; /* for DB_MULTIPLE_KEY */
    size_t bulk_bytes;
    bool dirty; /* written since the last checkpoint */
};

/* ---- errors ---- */

static bool
disk_is_full(const struct meta_store *store)
{
    uint64_t room;
    return database_room(&store->database, &room, NULL) == STATUS_OK &&
           room < DISK_MARGIN_BYTES / 2;
}

static enum status
fail(struct meta_store *store, int error, struct reason *why, const char *what)
{
    const bool full = error == ENOSPC || error == EDQUOT;
    if (full || (error == DB_RUNRECOVERY && disk_is_full(store))) {
        store->database.broken = true; /* the log may have stopped in the middle of a record */
        return status_fail(why, STATUS_FULL,
                           "%s: %s: the disk is full; nothing that was confirmed is lost, make "
                           "room and start again",
                           store->database.folder, what);
    }
    return database_failed(&store->database, error, why, what);
}

/* ---- open and close ---- */

/* A number of the store's own; 0 when it is not there yet. */
static enum status
read_own(struct meta_store *store, const char *name, uint64_t *number, struct reason *why)
{
    DBT key = database_bytes(slice_string(name));
    DBT value = {0};
    *number = 0;
    const int error = store->records->get(store->records, NULL, &key, &value, 0);
    if (error == DB_NOTFOUND) {
        return STATUS_OK;
    }
    if (error != 0) {
        return fail(store, error, why, "cannot read its own numbers");
    }
    if (value.size != sizeof *number) {
        return status_fail(why, STATUS_CORRUPT, "%s: the number %s is damaged",
                           store->database.folder, name);
    }
    *number = codec_read_u64(value.data);
    return STATUS_OK;
}

static int
write_own(struct meta_store *store, DB_TXN *transaction, const char *name, uint64_t number)
{
    uint8_t bytes[sizeof number];
    codec_write_u64(bytes, number);
    DBT key = database_bytes(slice_string(name));
    DBT value = database_bytes(slice_of((char *)bytes, sizeof bytes));
    return store->records->put(store->records, transaction, &key, &value, 0);
}

/* Checks the format, takes the next epoch. */
static enum status
begin_epoch(struct meta_store *store, struct reason *why)
{
    uint64_t format;
    TRY(read_own(store, format_key, &format, why));
    TRY(read_own(store, epoch_key, &store->epoch, why));
    if (format != FORMAT_VERSION && (format != 0 || store->epoch != 0)) {
        return status_fail(
            why, STATUS_UNSUPPORTED,
            "%s has format %lu and this program reads %d only: begin a new directory, "
            "or use the program that wrote it",
            store->database.folder, (unsigned long)format, FORMAT_VERSION);
    }
    store->epoch++;
    DB_TXN *transaction;
    int error =
        store->database.environment->txn_begin(store->database.environment, NULL, &transaction, 0);
    if (error != 0) {
        return fail(store, error, why, "cannot begin");
    }
    error = write_own(store, transaction, format_key, FORMAT_VERSION);
    if (error == 0) {
        error = write_own(store, transaction, epoch_key, store->epoch);
    }
    if (error != 0) {
        (void)transaction->abort(transaction);
        return fail(store, error, why, "cannot write the epoch");
    }
    error = transaction->commit(transaction, 0);
    return error == 0 ? STATUS_OK : fail(store, error, why, "cannot commit the epoch");
}

void
meta_store_close(struct meta_store *store)
{
    if (store == NULL) {
        return;
    }
    if (store->records != NULL) {
        (void)store->records->close(store->records, store->database.broken ? DB_NOSYNC : 0);
    }
    database_close(&store->database);
    free(store->bulk);
    free(store);
}

enum status
meta_store_open(struct meta_store **opened, const struct meta_store_options *options,
                struct reason *why)
{
    *opened = NULL;
    struct meta_store *store = memory_new(sizeof *store);
    store->options = *options;
    store->bulk_bytes = BULK_BYTES;
    store->bulk = memory_alloc(store->bulk_bytes);
    const struct database_options settings = {.folder = options->folder,
                                              .cache_bytes = options->cache_bytes,
                                              .log_file_bytes = LOG_FILE_BYTES,
                                              .log_buffer_bytes = LOG_BUFFER_BYTES,
                                              .lock_wait_ms = options->lock_wait_ms,
                                              .file_mode = 0666,
                                              .no_sync = !options->sync};
    enum status status = database_hold(&store->database, &settings, why);
    if (status == STATUS_OK) {
        status = database_open(&store->database, &settings, why);
    }
    if (status == STATUS_OK) {
        status = database_open_tree(&store->database, &store->records, "records.db",
                                    DB_CREATE | DB_AUTO_COMMIT, why);
    }
    if (status == STATUS_OK) {
        status = begin_epoch(store, why);
    }
    if (status != STATUS_OK) {
        store->database.broken = true;
        meta_store_close(store);
        return status;
    }
    store->checkpoint_due = clock_monotonic_ms() + options->checkpoint_ms;
    store->dirty = true;
    *opened = store;
    return STATUS_OK;
}

uint64_t
meta_store_epoch(const struct meta_store *store)
{
    return store->epoch;
}

bool
meta_store_broken(const struct meta_store *store)
{
    return store->database.broken;
}

/* ---- reading ---- */

enum status
meta_store_get(struct meta_store *store, const struct slice *keys, size_t n,
               meta_store_visit *visit, void *context, struct reason *why)
{
    DBC *cursor;
    int error = store->records->cursor(store->records, NULL, &cursor, 0);
    if (error != 0) {
        return fail(store, error, why, "cannot read");
    }
    enum status status = STATUS_OK;
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        DBT key = database_bytes(keys[i]);
        DBT value = {0};
        error = cursor->get(cursor, &key, &value, DB_SET);
        if (error == DB_NOTFOUND) {
            continue;
        }
        if (error != 0) {
            status = fail(store, error, why, "cannot read");
        } else if (!visit(context, i, keys[i], slice_of(value.data, value.size))) {
            break;
        }
    }
    (void)cursor->close(cursor);
    store->gets += n;
    return status;
}

enum status
meta_store_scan(struct meta_store *store, struct slice prefix, struct slice after,
                meta_store_visit *visit, void *context, struct reason *why)
{
    DBC *cursor;
    int error = store->records->cursor(store->records, NULL, &cursor, 0);
    if (error != 0) {
        return fail(store, error, why, "cannot scan");
    }
    const struct slice from = slice_compare(after, prefix) > 0 ? after : prefix;
    DBT key = database_bytes(from);
    DBT value = {0};
    enum status status = STATUS_OK;
    size_t count = 0;
    for (error = cursor->get(cursor, &key, &value, DB_SET_RANGE); error == 0;
         error = cursor->get(cursor, &key, &value, DB_NEXT)) {
        const struct slice found = slice_of(key.data, key.size);
        if (!slice_starts(found, prefix)) {
            break;
        }
        if (after.length > 0 && slice_equal(found, after)) {
            continue;
        }
        if (!visit(context, count++, found, slice_of(value.data, value.size))) {
            break;
        }
    }
    if (error != 0 && error != DB_NOTFOUND) {
        status = fail(store, error, why, "cannot scan");
    }
    (void)cursor->close(cursor);
    return status;
}

/* ---- writing ---- */

static uint64_t
disk_free(struct meta_store *store)
{
    const uint64_t now = clock_monotonic_ms();
    if (store->disk_seen == 0 || now - store->disk_seen >= DISK_POLL_MS ||
        store->disk_free < store->options.disk_reserve * 2 + 4 * (uint64_t)DISK_MARGIN_BYTES) {
        (void)database_room(&store->database, &store->disk_free, NULL);
        store->disk_seen = now;
    }
    return store->disk_free;
}

/* A batch is written to the log and to the tree, a page that splits is logged whole, and Berkeley
 * DB takes the space of a whole log file when it begins one. */
static enum status
check_room(struct meta_store *store, const struct meta_pair *pairs, size_t n, struct reason *why)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += pairs[i].key.length + pairs[i].value.length + 64;
    }
    const uint64_t free_bytes = disk_free(store);
    if (free_bytes < store->options.disk_reserve + DISK_MARGIN_BYTES + 4 * bytes) {
        return status_fail(why, STATUS_FULL,
                           "%s: only %lu MB are free; %d MB and metastore.disk_reserve (%lu MB) "
                           "must stay",
                           store->database.folder, (unsigned long)(free_bytes >> 20),
                           DISK_MARGIN_BYTES >> 20,
                           (unsigned long)(store->options.disk_reserve >> 20));
    }
    store->disk_free -= 2 * bytes < free_bytes ? 2 * bytes : free_bytes;
    return STATUS_OK;
}

static void
bulk_room(struct meta_store *store, size_t bytes)
{
    if (bytes > store->bulk_bytes) {
        store->bulk_bytes = (bytes + 4095) / 4096 * 4096;
        store->bulk = memory_resize(store->bulk, store->bulk_bytes, 1);
    }
}

/* Per pair Berkeley DB stores four u32 at the end of the buffer. */
static size_t
bulk_size(const struct meta_pair *pair)
{
    return pair->key.length + pair->value.length + 4 * sizeof(uint32_t);
}

/* Puts as many pairs as fit the bulk buffer in one call; *done grows. */
static int
put_bulk(struct meta_store *store, DB_TXN *transaction, const struct meta_pair *pairs, size_t n,
         size_t *done)
{
    bulk_room(store, bulk_size(&pairs[*done]) + 64);
    DBT bulk = {.data = store->bulk,
                .ulen = (uint32_t)store->bulk_bytes,
                .flags = DB_DBT_USERMEM | DB_DBT_BULK};
    void *at;
    DB_MULTIPLE_WRITE_INIT(at, &bulk);
    size_t used = 2 * sizeof(uint32_t);
    while (*done < n && used + bulk_size(&pairs[*done]) + 16 <= store->bulk_bytes) {
        const struct meta_pair *pair = &pairs[*done];
        uint8_t *key;
        uint8_t *value;
        DB_MULTIPLE_KEY_RESERVE_NEXT(at, &bulk, key, pair->key.length, value, pair->value.length);
        if (key == NULL || value == NULL) {
            return ENOMEM;
        }
        memcpy(key, pair->key.at, pair->key.length);
        if (pair->value.length > 0) {
            memcpy(value, pair->value.at, pair->value.length);
        }
        used += bulk_size(pair);
        ++*done;
    }
    return store->records->put(store->records, transaction, &bulk, NULL, DB_MULTIPLE_KEY);
}

enum status
meta_store_put(struct meta_store *store, const struct meta_pair *pairs, size_t n,
               struct reason *why)
{
    TRY(check_room(store, pairs, n, why));
    DB_TXN *transaction;
    int error =
        store->database.environment->txn_begin(store->database.environment, NULL, &transaction, 0);
    if (error != 0) {
        return fail(store, error, why, "cannot begin");
    }
    for (size_t done = 0; done < n && error == 0;) {
        error = put_bulk(store, transaction, pairs, n, &done);
    }
    if (error != 0) {
        if (transaction->abort(transaction) != 0) {
            store->database.broken = true;
        }
        return fail(store, error, why, "cannot write");
    }
    error = transaction->commit(transaction, 0);
    if (error != 0) {
        store->database.broken = true; /* whether it is durable is known only after recovery */
        return fail(store, error, why, "cannot commit");
    }
    store->puts += n;
    store->transactions++;
    store->dirty = true;
    return STATUS_OK;
}

enum status
meta_store_tick(struct meta_store *store, int *wait_ms, struct reason *why)
{
    const uint64_t now = clock_monotonic_ms();
    const bool due = now >= store->checkpoint_due;
    *wait_ms = -1;
    if (!store->dirty) {
        return STATUS_OK;
    }
    const uint32_t kilobytes = due ? 0 : (uint32_t)(store->options.checkpoint_bytes >> 10);
    const int error =
        store->database.environment->txn_checkpoint(store->database.environment, kilobytes, 0, 0);
    if (error != 0) {
        return fail(store, error, why, "cannot write a checkpoint");
    }
    if (due) {
        store->checkpoint_due = now + store->options.checkpoint_ms;
        store->dirty = false;
    } else {
        *wait_ms = (int)(store->checkpoint_due - now);
    }
    return STATUS_OK;
}

void
meta_store_stats(struct meta_store *store, struct meta_store_stats *stats)
{
    *stats = (struct meta_store_stats){.puts = store->puts,
                                       .gets = store->gets,
                                       .transactions = store->transactions,
                                       .disk_free = disk_free(store),
                                       .epoch = store->epoch};
}
