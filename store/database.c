#include "store/database.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "base/system/log.h"

enum {
    PAGE_BYTES = 4096,
    LOCK_POLL_MS = 10,
    RECOVERY_WANTS = 16 << 20, /* a disk with less is named as the likely reason of failure */
    /* Of an environment that several threads use. The library would make three mutexes for each
     * page that the cache may hold some day, and set each: 30 ms and 15 MB for 256 MB. So chains of
     * pages share mutexes, and it begins with few and makes more when pages come. */
    CHAIN_MUTEXES = 1021,
    FIRST_MUTEXES = 4096
};

/* ---- the checksum ---- */

/* Powers of 33, modulo 2^32. */
static const uint32_t power_1 = 33, power_2 = 1089, power_4 = 1185921;

/* Returns what eight bytes add: the first times 33^7, the last times 1. In pairs, then pairs of
 * pairs; no part overflows into the next: 255 * 34 has 14 bits, that times 1090 has 24. */
static uint32_t
sum_of_eight(const uint8_t *at)
{
    const uint64_t bytes = UINT64_C(0x00FF00FF00FF00FF), words = UINT64_C(0x0000FFFF0000FFFF);
    uint64_t word;
    memcpy(&word, at, sizeof word);
    word = le64toh(word);
    const uint64_t pairs = (word & bytes) * power_1 + (word >> 8 & bytes);
    const uint64_t fours = (pairs & words) * power_2 + (pairs >> 16 & words);
    return (uint32_t)fours * power_4 + (uint32_t)(fours >> 32);
}

uint32_t
database_checksum(const void *unused, const void *bytes, uint32_t length)
{
    const uint32_t power_8 = power_4 * power_4;
    const uint8_t *at = bytes;
    uint32_t sum = 0;
    (void)unused;
    for (; length >= 16; length -= 16, at += 16) {
        const uint32_t first = sum_of_eight(at) * power_8;
        sum = sum * (power_8 * power_8) + first + sum_of_eight(at + 8);
    }
    for (; length > 0; length--) {
        sum = sum * power_1 + *at++;
    }
    return sum;
}

/* ---- failures ---- */

/* Whatever is not as it was written is an invalid argument to some of the library's functions. */
static bool
is_damage(int error)
{
    return error == DB_RUNRECOVERY || error == DB_PAGE_NOTFOUND || error == DB_VERIFY_BAD ||
           error == DB_CHKSUM_FAIL || error == EINVAL;
}

enum status
database_failed(struct database *database, int error, struct reason *why, const char *what)
{
    database->broken |= error == DB_RUNRECOVERY;
    if (is_damage(error)) {
        return status_fail(why, STATUS_CORRUPT, "%s: %s: the database or its log is damaged: %s",
                           database->folder, what, db_strerror(error));
    }
    return status_fail(why, error == ENOSPC || error == EDQUOT ? STATUS_FULL : STATUS_SYSTEM,
                       "%s: %s: %s", database->folder, what, db_strerror(error));
}

static void
report(const DB_ENV *environment, const char *prefix, const char *message)
{
    (void)environment;
    (void)prefix;
    log_error("database", "message=%s", message);
}

enum status
database_room(const struct database *database, uint64_t *bytes, struct reason *why)
{
    struct statvfs disk;
    if (statvfs(database->folder, &disk) != 0) {
        return status_fail_errno(why, "cannot ask for the room on the disk of %s",
                                 database->folder);
    }
    *bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    return STATUS_OK;
}

/* ---- opening ---- */

static enum status
take_lock(struct database *database, uint32_t wait_ms, struct reason *why)
{
    const struct timespec pause = {0, LOCK_POLL_MS * 1000000L};
    const uint64_t deadline = clock_monotonic_ms() + wait_ms;
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/lock", database->folder) >= (int)sizeof path) {
        return status_fail(why, STATUS_MISUSE, "%s: the name is too long", database->folder);
    }
    database->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (database->lock < 0) {
        return status_fail_errno(why, "cannot open %s", path);
    }
    while (flock(database->lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return status_fail_errno(why, "cannot lock %s", path);
        }
        if (clock_monotonic_ms() >= deadline) {
            return status_fail(why, STATUS_DENIED, "%s is in use by another process",
                               database->folder);
        }
        (void)nanosleep(&pause, NULL);
    }
    return STATUS_OK;
}

static void
set_functions(void)
{
    (void)db_env_set_func_open(file_open);
    (void)db_env_set_func_rename(file_rename);
}

static int
configure(DB_ENV *environment, const struct database_options *options)
{
    const uint64_t cache = options->cache_bytes;
    environment->set_errcall(environment, report);
    int error = environment->set_cachesize(environment, (uint32_t)(cache >> 30),
                                           (uint32_t)(cache & ((1u << 30) - 1)), 1);
    if (error == 0 && options->threads) {
        error = environment->set_mp_mtxcount(environment, CHAIN_MUTEXES);
    }
    if (error == 0 && options->threads) {
        error = environment->mutex_set_init(environment, FIRST_MUTEXES);
    }
    if (error == 0) {
        error = environment->set_lg_bsize(environment, options->log_buffer_bytes);
    }
    if (error == 0) {
        error = environment->set_lg_max(environment, options->log_file_bytes);
    }
    if (error == 0) {
        error = environment->log_set_config(environment, DB_LOG_AUTO_REMOVE, 1);
    }
    if (error == 0 && options->no_sync) {
        error = environment->set_flags(environment, DB_TXN_WRITE_NOSYNC, 1);
    }
    return error;
}

enum status
database_hold(struct database *database, const struct database_options *options, struct reason *why)
{
    *database = (struct database){.lock = -1,
                                  .folder = memory_string(options->folder),
                                  .file_mode = options->file_mode,
                                  .threads = options->threads,
                                  .broken = true}; /* until it is open */
    TRY(file_make_folder(database->folder, options->file_mode == 0600 ? 0700 : 0777, why));
    return take_lock(database, options->lock_wait_ms, why);
}

enum status
database_open(struct database *database, const struct database_options *options, struct reason *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint64_t room = 0;
    (void)pthread_once(&once, set_functions);
    int error = db_env_create(&database->environment, 0);
    if (error != 0) {
        database->environment = NULL;
        return database_failed(database, error, why, "cannot make an environment");
    }
    DB_ENV *environment = database->environment;
    error = configure(environment, options);
    if (error == 0) {
        error =
            environment->open(environment, database->folder,
                              DB_CREATE | DB_RECOVER | DB_PRIVATE | DB_INIT_MPOOL | DB_INIT_LOG |
                                  DB_INIT_TXN | (options->threads ? (uint32_t)DB_THREAD : 0),
                              (int)options->file_mode);
    }
    if (error == DB_RUNRECOVERY && database_room(database, &room, NULL) == STATUS_OK &&
        room < RECOVERY_WANTS) {
        return status_fail(why, STATUS_FULL,
                           "cannot recover %s: the disk has only %llu KB left; free some",
                           database->folder, (unsigned long long)room >> 10);
    }
    if (error != 0) {
        return database_failed(database, error, why, "cannot open or recover");
    }
    database->broken = false;
    return STATUS_OK;
}

void
database_close(struct database *database)
{
    DB_ENV *environment = database->environment;
    if (environment != NULL) {
        if (!database->broken) {
            (void)environment->txn_checkpoint(environment, 0, 0, DB_FORCE);
        }
        (void)environment->close(environment, 0);
        database->environment = NULL;
    }
    if (database->lock >= 0) {
        (void)close(database->lock);
        database->lock = -1;
    }
    free(database->folder);
    database->folder = NULL;
}

/* ---- trees ---- */

static enum status
check_pages(struct database *database, DB *tree, const char *file, struct reason *why)
{
    uint32_t bytes = 0;
    const int error = tree->get_pagesize(tree, &bytes);
    if (error != 0) {
        return database_failed(database, error, why, file);
    }
    return bytes == PAGE_BYTES
               ? STATUS_OK
               : status_fail(why, STATUS_UNSUPPORTED,
                             "%s/%s has pages of %u bytes and this program reads those of %d only: "
                             "begin a new directory, or use the program that wrote it",
                             database->folder, file, bytes, PAGE_BYTES);
}

enum status
database_open_tree(struct database *database, DB **opened, const char *file, uint32_t flags,
                   struct reason *why)
{
    DB *tree = NULL;
    char what[64];
    *opened = NULL;
    (void)snprintf(what, sizeof what, "cannot open %s", file);
    int error = db_create(&tree, database->environment, 0);
    if (error != 0) {
        return database_failed(database, error, why, what);
    }
    error = tree->set_flags(tree, DB_CHKSUM);
    if (error == 0) {
        error = tree->set_pagesize(tree, PAGE_BYTES);
    }
    if (error == 0) {
        error = tree->open(tree, NULL, file, NULL, DB_BTREE,
                           flags | (database->threads ? (uint32_t)DB_THREAD : 0),
                           (int)database->file_mode);
    }
    const enum status status = error == 0 ? check_pages(database, tree, file, why)
                                          : database_failed(database, error, why, what);
    if (status != STATUS_OK) {
        (void)tree->close(tree, DB_NOSYNC);
        return status;
    }
    *opened = tree;
    return STATUS_OK;
}
