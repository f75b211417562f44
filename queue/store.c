/* Berkeley DB behind queue/store.h.
 *
 * The environment is private to this process: no region files, and, there being one thread, no
 * lock subsystem. A file lock on the folder keeps a second daemon out; a starting one waits for
 * the lock of a dying one. Recovery runs at each open. Writes go through one transaction per
 * batch. Reads happen between batches and see what is committed. Any failure inside a batch
 * aborts it; if the environment itself is damaged (DB_RUNRECOVERY) the store is broken and the
 * process has to start anew. Pages of 4 KiB: a killed process can tear a write(2) only between
 * pages of the page cache.
 */
#include "queue/store.h"

#include <db.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/codec.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"

enum {
    PAGE_BYTES = 4096,
    LOG_FILE_MOST = 4 << 20, /* each start writes zeros to what is left of the latest */
    LOG_FILE_LEAST = 1 << 20,
    LOG_PARTS = 4, /* log files between two checkpoints */
    LOCK_POLL_MS = 10,
    CHECKPOINT_PAUSE_MS = 1000,
    RECOVERY_WANTS = 16 << 20 /* a disk with less is named as the likely reason of failure */
};

struct store {
    struct store_options options;
    char *folder;
    int lock;
    DB_ENV *environment;
    DB *trees[TREE_COUNT];
    uint64_t epoch;
    uint64_t written;       /* bytes of log since the last checkpoint */
    uint64_t checkpoint_at; /* end of the log then */
    uint64_t checkpoint_ms; /* monotonic, of the last one, or of the last attempt */
    uint32_t log_file;      /* bytes of a log file */
    bool failed;            /* the last checkpoint did */
    bool broken;
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

/* Whatever is not as it was written is an invalid argument to some of the library's functions. */
static bool
is_damage(int error)
{
    return error == DB_RUNRECOVERY || error == DB_PAGE_NOTFOUND || error == DB_VERIFY_BAD ||
           error == DB_CHKSUM_FAIL || error == EINVAL;
}

static enum status
fail(struct store *store, int error, struct reason *why, const char *what)
{
    if (error == DB_RUNRECOVERY) {
        store->broken = true;
    }
    if (error == ENOSPC) {
        return status_fail(why, STATUS_FULL,
                           "no room on the disk of %s: %s; free some and it goes on by itself",
                           store->folder, what);
    }
    return is_damage(error)
               ? status_fail(why, STATUS_CORRUPT, "%s: %s: the database or its log is damaged: %s",
                             store->folder, what, db_strerror(error))
               : status_fail(why, STATUS_SYSTEM, "%s: %s: %s", store->folder, what,
                             db_strerror(error));
}

static void
report(const DB_ENV *environment, const char *prefix, const char *message)
{
    (void)environment;
    (void)prefix;
    log_warning("database", "message=%s", message);
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
    if (store->environment->log_stat(store->environment, &log, 0) == 0) {
        end = (uint64_t)log->st_cur_file * store->log_file + log->st_cur_offset;
    }
    free(log);
    return end;
}

/* ---- opening ---- */

static enum status
take_lock(struct store *store, struct reason *why)
{
    const struct timespec pause = {0, LOCK_POLL_MS * 1000000L};
    const uint64_t deadline = clock_monotonic_ms() + store->options.lock_wait_ms;
    struct buf path;
    buf_init(&path, 1 << 16);
    buf_printf(&path, "%s/lock", store->folder);
    store->lock = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    buf_release(&path);
    if (store->lock < 0) {
        return status_fail_errno(why, "cannot open %s/lock", store->folder);
    }
    while (flock(store->lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return status_fail_errno(why, "cannot lock %s", store->folder);
        }
        if (clock_monotonic_ms() >= deadline) {
            return status_fail(why, STATUS_DENIED, "%s belongs to another running daemon",
                               store->folder);
        }
        (void)nanosleep(&pause, NULL);
    }
    return STATUS_OK;
}

/* A log file can be removed only as a whole. */
static uint32_t
log_file_bytes(uint64_t checkpoint_bytes)
{
    const uint64_t wanted = checkpoint_bytes / LOG_PARTS;
    return wanted < LOG_FILE_LEAST  ? LOG_FILE_LEAST
           : wanted > LOG_FILE_MOST ? LOG_FILE_MOST
                                    : (uint32_t)wanted;
}

static enum status
open_environment(struct store *store, struct reason *why)
{
    const uint64_t cache = store->options.cache_bytes;
    struct statvfs disk;
    const uint32_t log_file = store->log_file = log_file_bytes(store->options.checkpoint_bytes);
    int error = db_env_create(&store->environment, 0);
    if (error != 0) {
        store->environment = NULL;
        return fail(store, error, why, "cannot make an environment");
    }
    DB_ENV *environment = store->environment;
    (void)db_env_set_func_open(file_open);
    (void)db_env_set_func_rename(file_rename);
    environment->set_errcall(environment, report);
    error = environment->set_cachesize(environment, (uint32_t)(cache >> 30),
                                       (uint32_t)(cache & ((1u << 30) - 1)), 1);
    if (error == 0) {
        error = environment->set_lg_bsize(environment, log_file / LOG_PARTS / LOG_PARTS);
    }
    if (error == 0) {
        error = environment->set_lg_max(environment, log_file);
    }
    if (error == 0) {
        error = environment->log_set_config(environment, DB_LOG_AUTO_REMOVE, 1);
    }
    if (error == 0 && !store->options.sync) {
        error = environment->set_flags(environment, DB_TXN_WRITE_NOSYNC, 1);
    }
    if (error == 0) {
        error = environment->open(
            environment, store->folder,
            DB_CREATE | DB_INIT_LOG | DB_INIT_MPOOL | DB_INIT_TXN | DB_PRIVATE | DB_RECOVER, 0600);
    }
    if (error == DB_RUNRECOVERY && statvfs(store->folder, &disk) == 0 &&
        disk.f_bavail * disk.f_frsize < RECOVERY_WANTS) {
        return status_fail(
            why, STATUS_FULL, "cannot recover %s: the disk has only %llu KB left; free some",
            store->folder, (unsigned long long)(disk.f_bavail * disk.f_frsize) >> 10);
    }
    /* Files that an earlier process made may have no name for good yet. */
    return error == 0 ? file_sync_folder(store->folder, why)
                      : fail(store, error, why, "cannot open or recover");
}

static enum status
open_tree(struct store *store, enum store_tree tree, struct reason *why)
{
    char name[32];
    DB *db;
    (void)snprintf(name, sizeof name, "%s.db", tree_names[tree]);
    int error = db_create(&db, store->environment, 0);
    if (error != 0) {
        return fail(store, error, why, name);
    }
    store->trees[tree] = db;
    error = db->set_pagesize(db, PAGE_BYTES);
    if (error == 0) {
        error = db->open(db, NULL, name, NULL, DB_BTREE, DB_CREATE | DB_AUTO_COMMIT, 0600);
    }
    return error == 0 ? STATUS_OK : fail(store, error, why, name);
}

static DBT
dbt_of(const void *data, size_t size)
{
    DBT dbt;
    memset(&dbt, 0, sizeof dbt);
    dbt.data = (void *)(uintptr_t)data;
    dbt.size = (uint32_t)size;
    return dbt;
}

/* A store's first act is to raise its epoch, durably, so that whatever an older owner still
 * sends can be told from ours. */
static enum status
raise_epoch(struct store *store, struct reason *why)
{
    uint8_t bytes[8];
    DB *about = store->trees[TREE_ABOUT];
    DBT key = dbt_of("epoch", 5);
    DBT value = dbt_of(NULL, 0);
    int error = about->get(about, NULL, &key, &value, 0);
    if (error == 0 && value.size == sizeof bytes) {
        store->epoch = codec_read_u64(value.data);
    } else if (error != 0 && error != DB_NOTFOUND) {
        return fail(store, error, why, "cannot read the epoch");
    }
    codec_write_u64(bytes, ++store->epoch);
    value = dbt_of(bytes, sizeof bytes);
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
    if (store->environment != NULL) {
        if (!store->broken) {
            (void)store->environment->txn_checkpoint(store->environment, 0, 0, DB_FORCE);
        }
        (void)store->environment->close(store->environment, 0);
    }
    if (store->lock >= 0) {
        (void)close(store->lock);
    }
    free(store->folder);
    free(store);
}

static enum status
open_all(struct store *store, struct reason *why)
{
    TRY(file_make_folder(store->folder, 0700, why));
    TRY(take_lock(store, why));
    TRY(open_environment(store, why));
    for (int tree = 0; tree < TREE_COUNT; tree++) {
        TRY(open_tree(store, (enum store_tree)tree, why));
    }
    TRY(raise_epoch(store, why));
    store->checkpoint_at = log_end(store); /* recovery ends with a checkpoint */
    return STATUS_OK;
}

enum status
store_open(struct store **store_out, const struct store_options *options, struct reason *why)
{
    struct store *store = memory_zero(1, sizeof *store);
    store->options = *options;
    store->folder = memory_string(options->folder);
    store->lock = -1;
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
    DBT key = dbt_of(key_bytes.at, key_bytes.length);
    DBT value = dbt_of(NULL, 0);
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
    DBT key = dbt_of(from.at, from.length);
    DBT value = dbt_of(NULL, 0);
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
    DBT key = dbt_of(operation->key, operation->key_length);
    if (operation->remove) {
        const int error = db->del(db, transaction, &key, 0);
        return error == DB_NOTFOUND ? 0 : error;
    }
    DBT value = dbt_of(operation->value.at, operation->value.length);
    return db->put(db, transaction, &key, &value, 0);
}

static int
apply_all(struct store *store, const struct store_operation *const *operations, size_t n)
{
    DB_TXN *transaction;
    int error = store->environment->txn_begin(store->environment, NULL, &transaction, 0);
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
    store->broken |= error != 0; /* whether it happened only recovery can tell */
    return error;
}

enum status
store_apply(struct store *store, const struct store_operation *const *operations, size_t n,
            struct reason *why)
{
    if (store->broken) {
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
        error = store->environment->txn_checkpoint(store->environment, 0, 0, 0);
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

/* By time, or by bytes, but after a failure not at once again. */
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
    struct statvfs disk;
    if (statvfs(store->folder, &disk) != 0) {
        return status_fail_errno(why, "cannot ask for the room on the disk of %s", store->folder);
    }
    *bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    const uint64_t promised =
        store->written < store->options.cache_bytes ? store->written : store->options.cache_bytes;
    *bytes -= promised < *bytes ? promised : *bytes;
    return STATUS_OK;
}

bool
store_broken(const struct store *store)
{
    return store->broken;
}
