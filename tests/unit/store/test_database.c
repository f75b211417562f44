/* The opener of Berkeley DB environments: who holds one, what it recovers, and what it refuses. */
#include <dlfcn.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>

#include "base/system/file.h"
#include "store/database.h"
#include "store/page.h"
#include "tests/unit/scratch.h"

static char folder[SCRATCH_SIZE];
static uint64_t room; /* of the disk; 0: as it is */

int __real_statvfs(const char *path, struct statvfs *disk);
int __wrap_statvfs(const char *path, struct statvfs *disk);

int
__wrap_statvfs(const char *path, struct statvfs *disk)
{
    const int result = __real_statvfs(path, disk);
    if (room != 0) {
        disk->f_frsize = 1;
        disk->f_bavail = room;
    }
    return result;
}

typedef int opens(const char *path, int flags, ...);
typedef int renames(const char *from, const char *to);

static opens *opened_by; /* files of Berkeley DB; NULL: by the system */
static renames *renamed_by;

int __real_db_env_set_func_open(opens *function);
int __wrap_db_env_set_func_open(opens *function);
int __real_db_env_set_func_rename(renames *function);
int __wrap_db_env_set_func_rename(renames *function);

int
__wrap_db_env_set_func_open(opens *function)
{
    opened_by = function;
    return __real_db_env_set_func_open(function);
}

int
__wrap_db_env_set_func_rename(renames *function)
{
    renamed_by = function;
    return __real_db_env_set_func_rename(function);
}

/* A lock of another process that is held for so many tries; each pause takes as long as asked. */
static unsigned tries, held_for;
static int held_by; /* what flock says meanwhile; 0: the lock is as it is */
static uint64_t paused_ns;

int __real_flock(int descriptor, int operation);
int __wrap_flock(int descriptor, int operation);
int __real_nanosleep(const struct timespec *pause, struct timespec *left);
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left);
uint64_t __real_clock_monotonic_ms(void);
uint64_t __wrap_clock_monotonic_ms(void);

int
__wrap_flock(int descriptor, int operation)
{
    if (held_by != 0 && tries++ < held_for) {
        errno = held_by;
        return -1;
    }
    return __real_flock(descriptor, operation);
}

int
__wrap_nanosleep(const struct timespec *pause, struct timespec *left)
{
    if (held_by == 0) {
        return __real_nanosleep(pause, left);
    }
    paused_ns += (uint64_t)pause->tv_sec * 1000000000 + (uint64_t)pause->tv_nsec;
    return 0;
}

uint64_t
__wrap_clock_monotonic_ms(void)
{
    return held_by == 0 ? __real_clock_monotonic_ms() : 5000 + paused_ns / 1000000;
}

static struct database_options
options_of(mode_t mode)
{
    return (struct database_options){.folder = folder,
                                     .cache_bytes = 1 << 20,
                                     .log_file_bytes = 1 << 20,
                                     .log_buffer_bytes = 1 << 16,
                                     .file_mode = mode};
}

static enum status
open_database(struct database *database, mode_t mode, struct reason *why)
{
    const struct database_options options = options_of(mode);
    const enum status status = database_hold(database, &options, why);
    return status == STATUS_OK ? database_open(database, &options, why) : status;
}

static int
setup(void **state)
{
    (void)state;
    room = 0;
    return scratch_folder(folder, "test_database") ? 0 : -1;
}

static int
teardown(void **state)
{
    char command[SCRATCH_SIZE + 32];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static unsigned
mode_of(const char *name)
{
    char path[SCRATCH_SIZE + 32];
    struct stat file;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(stat(path, &file), 0);
    return (unsigned)file.st_mode & 0777;
}

static void
what_was_committed_is_there_after_it_was_opened_again(void **state)
{
    struct database database;
    struct reason why = {""};
    DB *tree;
    DBT key = database_bytes(SLICE("a")), value = database_bytes(SLICE("1"));
    (void)state;
    for (int start = 0; start < 2; start++) {
        assert_int_equal(open_database(&database, 0600, &why), STATUS_OK);
        assert_false(database.broken);
        assert_int_equal(
            database_open_tree(&database, &tree, "a.db", DB_CREATE | DB_AUTO_COMMIT, &why),
            STATUS_OK);
        if (start == 0) {
            assert_int_equal(tree->put(tree, NULL, &key, &value, 0), 0);
        } else {
            assert_int_equal(tree->get(tree, NULL, &key, &value, 0), 0);
            assert_memory_equal(value.data, "1", 1);
        }
        (void)tree->close(tree, 0);
        database_close(&database);
    }
    assert_int_equal(mode_of("a.db"), 0600);
    assert_int_equal(mode_of("lock"), 0600);
    assert_int_equal(mode_of("log.0000000001"), 0600);
    assert_ptr_equal(opened_by, file_open); /* so that the names outlast a power failure */
    assert_ptr_equal(renamed_by, file_rename);
}

/* A byte that is another in any place of any page is told, without the library. */
static void
damaged_pages_are_told(void **state)
{
    struct database database;
    struct reason why = {""};
    DB *tree;
    DBT key = database_bytes(SLICE("a")), value = database_bytes(SLICE("1"));
    char path[SCRATCH_SIZE + 32];
    static uint8_t bytes[2 * PAGE_MOST];
    (void)state;
    assert_int_equal(open_database(&database, 0600, &why), STATUS_OK);
    assert_int_equal(database_open_tree(&database, &tree, "a.db", DB_CREATE | DB_AUTO_COMMIT, &why),
                     STATUS_OK);
    assert_int_equal(tree->put(tree, NULL, &key, &value, 0), 0);
    (void)tree->close(tree, 0);
    database_close(&database);
    snprintf(path, sizeof path, "%s/a.db", folder);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    const size_t size = page_size_told(bytes);
    assert_true(size >= PAGE_LEAST && length == 2 * size);
    for (uint32_t page = 0; page < 2; page++) {
        uint8_t *at = bytes + page * size;
        const size_t covered = page == 0 ? PAGE_LEAST : size;
        assert_true(page_is_sound(at, size, page));
        assert_false(page_is_sound(at, size, page + 1));
        for (size_t i = 0; i < covered; i++) {
            at[i] ^= 0x10;
            assert_false(page_is_sound(at, size, page));
            at[i] ^= 0x10;
        }
    }
    bytes[12] ^= 1;
    assert_int_equal(page_size_told(bytes), 0);
    bytes[12] ^= 1;
    static const struct {
        uint32_t told;
        bool fits;
    } sizes[] = {{256, false},  {512, true},   {768, false},    {1024, true},
                 {6144, false}, {65536, true}, {131072, false}, {0, false}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memcpy(bytes + 20, &sizes[i].told, sizeof sizes[i].told);
        assert_int_equal(page_size_told(bytes), sizes[i].fits ? sizes[i].told : 0);
    }
    memset(bytes, 0, size);
    assert_true(page_is_sound(bytes, size, 7));
    bytes[size - 1] = 1;
    assert_false(page_is_sound(bytes, size, 7));
}

static void
one_process_holds_it_at_a_time(void **state)
{
    struct database first, second;
    struct reason why = {""};
    (void)state;
    assert_int_equal(open_database(&first, 0666, &why), STATUS_OK);
    assert_int_equal(open_database(&second, 0666, &why), STATUS_DENIED);
    assert_non_null(strstr(why.text, "is in use by another process"));
    assert_true(second.broken);
    database_close(&second);
    database_close(&first);
    assert_int_equal(open_database(&second, 0666, &why), STATUS_OK);
    database_close(&second);
}

/* Who starts while his forerunner still closes waits for it, looking every ten milliseconds; what
 * cannot be locked at all is told at once. */
static void
the_lock_is_waited_for(void **state)
{
    static const struct {
        int error;
        unsigned held_for, tries;
        enum status status;
        const char *said;
    } cases[] = {
        {EWOULDBLOCK, 10, 11, STATUS_OK, ""},
        {EINTR, 3, 4, STATUS_OK, ""},
        {EWOULDBLOCK, 11, 11, STATUS_DENIED, " is in use by another process"},
        {ENOLCK, 1, 1, STATUS_SYSTEM, "cannot lock "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct database_options options = options_of(0600);
        struct database database;
        struct reason why = {""};
        options.lock_wait_ms = 100;
        held_by = cases[i].error;
        held_for = cases[i].held_for;
        tries = 0;
        paused_ns = 0;
        assert_int_equal(database_hold(&database, &options, &why), cases[i].status);
        assert_int_equal(tries, cases[i].tries);
        assert_int_equal(paused_ns, UINT64_C(10000000) * (cases[i].tries - 1));
        assert_non_null(strstr(why.text, cases[i].said));
        held_by = 0;
        database_close(&database);
    }
}

static void
pages_of_another_size_are_refused(void **state)
{
    struct database database;
    struct reason why = {""};
    DB *tree;
    (void)state;
    assert_int_equal(open_database(&database, 0666, &why), STATUS_OK);
    assert_int_equal(db_create(&tree, database.environment, 0), 0);
    assert_int_equal(tree->set_pagesize(tree, 16384), 0);
    assert_int_equal(
        tree->open(tree, NULL, "a.db", NULL, DB_BTREE, DB_CREATE | DB_AUTO_COMMIT, 0666), 0);
    assert_int_equal(tree->close(tree, 0), 0);
    assert_int_equal(database_open_tree(&database, &tree, "a.db", DB_CREATE | DB_AUTO_COMMIT, &why),
                     STATUS_UNSUPPORTED);
    assert_null(tree);
    assert_non_null(strstr(why.text, "/a.db has pages of 16384 bytes"));
    database_close(&database);
}

static void
errors_are_told_apart(void **state)
{
    static const struct {
        int error;
        enum status status;
        bool broken;
    } cases[] = {{EIO, STATUS_SYSTEM, false},
                 {EINVAL, STATUS_CORRUPT, false},
                 {DB_PAGE_NOTFOUND, STATUS_CORRUPT, false},
                 {DB_VERIFY_BAD, STATUS_CORRUPT, false},
                 {DB_CHKSUM_FAIL, STATUS_CORRUPT, false},
                 {ENOSPC, STATUS_FULL, false},
                 {EDQUOT, STATUS_FULL, false},
                 {DB_RUNRECOVERY, STATUS_CORRUPT, true}};
    struct database database;
    struct reason why = {""};
    uint64_t bytes;
    (void)state;
    assert_int_equal(open_database(&database, 0666, &why), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(database_failed(&database, cases[i].error, &why, "cannot do it"),
                         cases[i].status);
        assert_int_equal(database.broken, cases[i].broken);
        assert_non_null(strstr(why.text, ": cannot do it: "));
    }
    room = 4711;
    assert_int_equal(database_room(&database, &bytes, &why), STATUS_OK);
    assert_int_equal(bytes, 4711);
    database_close(&database);
}

/* What the options say is what the library is told. */
static void
options_are_the_librarys(void **state)
{
    struct database database;
    struct reason why = {""};
    (void)state;
    for (int threads = 0; threads < 2; threads++) {
        const struct database_options options = {.folder = folder,
                                                 .cache_bytes = (UINT64_C(1) << 30) + (64 << 20),
                                                 .log_file_bytes = 2 << 20,
                                                 .log_buffer_bytes = 1 << 17,
                                                 .file_mode = 0600,
                                                 .no_sync = threads == 0,
                                                 .threads = threads == 1};
        uint32_t gigabytes, bytes, number, flags;
        int count, on;
        DB *tree;
        assert_int_equal(database_hold(&database, &options, &why), STATUS_OK);
        assert_true(database.broken); /* until it is open */
        assert_int_equal(database_open(&database, &options, &why), STATUS_OK);
        DB_ENV *environment = database.environment;
        assert_int_equal(environment->get_cachesize(environment, &gigabytes, &bytes, &count), 0);
        assert_int_equal(gigabytes, 1);
        assert_in_range(bytes, 64 << 20, 128 << 20); /* the library adds a part */
        assert_int_equal(environment->get_lg_bsize(environment, &number), 0);
        assert_int_equal(number, 1 << 17);
        assert_int_equal(environment->get_lg_max(environment, &number), 0);
        assert_int_equal(number, 2 << 20);
        assert_int_equal(environment->log_get_config(environment, DB_LOG_AUTO_REMOVE, &on), 0);
        assert_int_equal(on, 1);
        assert_int_equal(environment->get_flags(environment, &flags), 0);
        assert_int_equal((flags & DB_TXN_WRITE_NOSYNC) != 0, threads == 0);
        assert_int_equal(environment->get_open_flags(environment, &flags), 0);
        assert_int_equal((flags & DB_THREAD) != 0, threads == 1);
        assert_int_equal(
            database_open_tree(&database, &tree, "a.db", DB_CREATE | DB_AUTO_COMMIT, &why),
            STATUS_OK);
        assert_int_equal(tree->get_open_flags(tree, &flags), 0);
        assert_int_equal((flags & DB_THREAD) != 0, threads == 1);
        assert_int_equal(tree->get_flags(tree, &flags), 0);
        assert_true(flags & DB_CHKSUM);
        if (threads == 1) {
            assert_int_equal(environment->mutex_get_init(environment, &number), 0);
            assert_int_equal(number, 4096);
            assert_int_equal(environment->get_mp_mtxcount(environment, &number), 0);
            assert_int_equal(number, 1021);
        }
        (void)tree->close(tree, 0);
        database_close(&database);
        assert_null(database.environment);
        assert_null(database.folder);
        assert_int_equal(database.lock, -1);
        database_close(&database); /* once more is nothing */
    }
}

/* Who may not read its files may not enter its folder. */
static void
folders_are_as_open_as_their_files(void **state)
{
    static const mode_t modes[][2] = {{0600, 0700}, {0666, 0777}};
    const mode_t before = umask(0);
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char below[SCRATCH_SIZE + 8];
        struct database database;
        struct reason why = {""};
        struct stat info;
        snprintf(below, sizeof below, "%s/%zu", folder, i);
        struct database_options options = options_of(modes[i][0]);
        options.folder = below;
        assert_int_equal(database_hold(&database, &options, &why), STATUS_OK);
        assert_int_equal(stat(below, &info), 0);
        assert_int_equal(info.st_mode & 0777, modes[i][1]);
        database_close(&database);
    }
    (void)umask(before);
}

/* What cannot be a folder, nor a tree, is told; there is no handle then, and nothing is locked. */
static void
what_cannot_be_opened_is_told(void **state)
{
    static char name[2 * PATH_MAX];
    struct database database;
    struct reason why = {""};
    DB *tree;
    char path[SCRATCH_SIZE + 32];
    struct database_options options = options_of(0600);
    (void)state;
    size_t length = (size_t)snprintf(name, sizeof name, "%s", folder);
    while (length <= PATH_MAX - sizeof "/lock") { /* a long way of saying the same */
        length += (size_t)snprintf(name + length, sizeof name - length, "/.");
    }
    options.folder = name;
    assert_true(database_hold(&database, &options, &why) != STATUS_OK);
    database_close(&database);
    assert_int_equal(open_database(&database, 0600, &why), STATUS_OK);
    snprintf(path, sizeof path, "%s/t.db", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    tree = (DB *)&why;
    assert_true(database_open_tree(&database, &tree, "t.db", DB_CREATE | DB_AUTO_COMMIT, &why) !=
                STATUS_OK);
    assert_null(tree);
    assert_non_null(strstr(why.text, "cannot open t.db"));
    assert_int_equal(database_open_tree(&database, &tree, "none.db", DB_AUTO_COMMIT, &why),
                     STATUS_SYSTEM);
    assert_null(tree);
    database_close(&database);
    snprintf(path, sizeof path, "%s/lock", folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    options.folder = folder;
    assert_int_equal(database_hold(&database, &options, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "cannot open "));
    assert_int_equal(database.lock, -1);
    database_close(&database);
    assert_int_equal(rmdir(path), 0);
}

/* What the library has to say of its troubles is in the log. */
static void
the_library_speaks_in_the_log(void **state)
{
    struct database database;
    struct reason why = {""};
    char said[4096] = "";
    int ends[2];
    (void)state;
    assert_int_equal(open_database(&database, 0600, &why), STATUS_OK);
    const int kept = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    database.environment->errx(database.environment, "it hurts %d", 7);
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    assert_true(read(ends[0], said, sizeof said - 1) > 0);
    assert_non_null(strstr(said, "event=database message=\"it hurts 7\""));
    (void)close(kept);
    (void)close(ends[0]);
    (void)close(ends[1]);
    database_close(&database);
}

/* ---- the checksum ---- */

/* Computes the checksum as the library does. */
static uint32_t
sum_by_bytes(const uint8_t *at, size_t n)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum = sum * 33 + at[i];
    }
    return sum;
}

static void
the_checksum_is_the_librarys(void **state)
{
    enum { LONG = 4096, OFFSETS = 9 };
    static uint8_t bytes[LONG + OFFSETS];
    uint32_t random = 1;
    (void)state;
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            random = random * 1664525 + 1013904223;
            bytes[i] = round == 0   ? 0xFF
                       : round == 1 ? (uint8_t)(i % 2 * 0xFF)
                                    : (uint8_t)(random >> 24);
        }
        for (uint32_t n = 0; n <= LONG; n += n < 100 ? 1 : 333) {
            const uint8_t *at = bytes + n % OFFSETS;
            assert_int_equal(database_checksum(NULL, at, n), sum_by_bytes(at, n));
        }
    }
}

/* Shows that the library calls the function: else nobody would notice that it is not used any more.
 */
static void
the_library_calls_it(void **state)
{
    static const char name[] = "__ham_func4";
    (void)state;
    if (dlsym(RTLD_NEXT, name) == NULL) {
        skip(); /* a library of other names */
    }
    assert_true((uintptr_t)dlsym(RTLD_DEFAULT, name) == (uintptr_t)database_checksum);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checksum_is_the_librarys),
        cmocka_unit_test(the_library_calls_it),
        CASE(what_was_committed_is_there_after_it_was_opened_again),
        CASE(damaged_pages_are_told),
        CASE(one_process_holds_it_at_a_time),
        CASE(the_lock_is_waited_for),
        CASE(pages_of_another_size_are_refused),
        CASE(errors_are_told_apart),
        CASE(options_are_the_librarys),
        CASE(folders_are_as_open_as_their_files),
        CASE(what_cannot_be_opened_is_told),
        CASE(the_library_speaks_in_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
