/* Sorted runs as they are written (queue/storage/run_write.c): what is synced before it is told of,
 * each call that fails, limits of records, and how large runs leave memory. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/system/file.h"
#include "queue/storage/run.h"
#include "tests/unit/open_descriptors.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"

enum { OUT_BYTES = 256 << 10 };

static const struct run_shape of_lanes = {
    .key_length = 8, .filter_length = 8, .block_length = 2048};

/* ---- a disk whose calls fail ---- */

static struct {
    int syncs, fails_at_sync; /* counted from 1; 0: none fails */
    int writes, fails_at_write;
    int strikes, fails_at_strike;
    int reads, fails_at_read;
    bool reads_bytes; /* one at a time */
    int error;
    size_t longest;
    char synced[8]; /* f: a file, d: a folder */
} disk;

int __real_fsync(int descriptor);
int __wrap_fsync(int descriptor);
bool __real_file_write_all(int descriptor, struct slice bytes);
bool __wrap_file_write_all(int descriptor, struct slice bytes);

int
__wrap_fsync(int descriptor)
{
    struct stat about;
    assert_int_equal(fstat(descriptor, &about), 0);
    if (disk.syncs < (int)sizeof disk.synced - 1) {
        disk.synced[disk.syncs] = S_ISDIR(about.st_mode) ? 'd' : 'f';
    }
    if (++disk.syncs == disk.fails_at_sync) {
        errno = disk.error;
        return -1;
    }
    return __real_fsync(descriptor);
}

bool
__wrap_file_write_all(int descriptor, struct slice bytes)
{
    disk.longest = bytes.length > disk.longest ? bytes.length : disk.longest;
    if (++disk.writes == disk.fails_at_write) {
        errno = disk.error;
        return false;
    }
    return __real_file_write_all(descriptor, bytes);
}

ssize_t __real_pread(int descriptor, void *bytes, size_t n, off_t offset);
ssize_t __wrap_pread(int descriptor, void *bytes, size_t n, off_t offset);

ssize_t
__wrap_pread(int descriptor, void *bytes, size_t n, off_t offset)
{
    if (++disk.reads == disk.fails_at_read) {
        errno = disk.error;
        return -1;
    }
    return __real_pread(descriptor, bytes, disk.reads_bytes && n > 1 ? 1 : n, offset);
}

static int
strike(void *context)
{
    (void)context;
    return ++disk.strikes == disk.fails_at_strike ? disk.error : 0;
}

static void
reset_disk(void)
{
    memset(&disk, 0, sizeof disk);
}

static int
setup(void **state)
{
    static char path[SCRATCH_SIZE];
    const int file = scratch_file(path, "test_frontier");
    reset_disk();
    *state = path;
    return file < 0 ? -1 : close(file);
}

static int
teardown(void **state)
{
    reset_disk();
    return unlink(*state);
}

static enum status
write_small(const char *path, struct reason *why)
{
    struct run_writer *writer;
    struct run_totals totals;
    TRY(run_writer_open(&writer, path, &of_lanes, 1, strike, NULL, why));
    assert_int_equal(run_writer_add(writer, SLICE("12345678"), SLICE("value"), false, why),
                     STATUS_OK);
    return run_writer_finish(writer, &totals, why);
}

/* The file, then its name; only then it is told of. Nothing goes on behind a call that failed. */
static void
test_a_run_is_synced_before_it_is_told_of(void **state)
{
    static const struct {
        int strike, write, sync;
        const char *synced;
    } cases[] = {{0, 0, 0, "fd"}, {1, 0, 0, ""},  {2, 0, 0, ""},  {0, 1, 0, ""},
                 {3, 0, 0, ""},   {4, 0, 0, "f"}, {0, 0, 1, "f"}, {0, 0, 2, "fd"}};
    static const int errors[] = {EIO, ENOSPC, EDQUOT};
    const size_t before = open_descriptors();
    const char *path = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t e = 0; e < 3; e++) {
            struct reason why = {""};
            reset_disk();
            disk.fails_at_strike = cases[i].strike;
            disk.fails_at_write = cases[i].write;
            disk.fails_at_sync = cases[i].sync;
            disk.error = errors[e];
            assert_int_equal(write_small(path, &why), i == 0   ? STATUS_OK
                                                      : e == 0 ? STATUS_SYSTEM
                                                               : STATUS_FULL);
            assert_string_equal(disk.synced, cases[i].synced);
            assert_int_equal(open_descriptors(), before);
            if (i > 0) {
                assert_non_null(strstr(why.text, path));
                assert_non_null(strstr(why.text, strerror(errors[e])));
            }
        }
    }
    assert_int_equal(disk.strikes, 4);
    run_writer_drop(NULL);
    struct run_writer *writer;
    struct reason why = {""};
    assert_int_equal(run_writer_open(&writer, "/nowhere/a.run", &of_lanes, 1, NULL, NULL, &why),
                     STATUS_SYSTEM);
    assert_null(writer);
    assert_non_null(strstr(why.text, "cannot write /nowhere/a.run"));
}

static void
test_records_have_limits(void **state)
{
    const char *path = *state;
    char *value = memory_zero(RUN_VALUE_MAXIMUM + 1, 1);
    static const struct slice keys[] = {SLICE_INIT("1234567"), SLICE_INIT("12345678"),
                                        SLICE_INIT("123456789")};
    struct run_totals totals;
    struct run *run;
    struct run_cursor cursor;
    for (int k = 0; k < 3; k++) {
        for (int more = 0; more < 2; more++) {
            struct run_writer *writer;
            struct reason why = {""};
            const bool fits = k == 1 && more == 0;
            assert_int_equal(run_writer_open(&writer, path, &of_lanes, 1, NULL, NULL, &why),
                             STATUS_OK);
            assert_int_equal(run_writer_add(writer, keys[k],
                                            slice_of(value, RUN_VALUE_MAXIMUM + (size_t)more),
                                            false, &why),
                             fits ? STATUS_OK : STATUS_MISUSE);
            if (!fits) {
                assert_non_null(strstr(why.text, path));
                run_writer_drop(writer);
                continue;
            }
            assert_int_equal(run_writer_finish(writer, &totals, &why), STATUS_OK);
            assert_int_equal(run_open(&run, path, &of_lanes, &why), STATUS_OK);
            run_cursor_init(&cursor);
            assert_int_equal(run_seek(&cursor, run, keys[k], &why), STATUS_OK);
            assert_int_equal(cursor.value.length, RUN_VALUE_MAXIMUM);
            run_cursor_release(&cursor);
            run_close(run);
        }
    }
    free(value);
}

/* A large run leaves memory as it is written, and so does what finds its blocks. */
static void
test_a_large_run_is_written_in_parts(void **state)
{
    enum { RECORDS = 400000 };
    static const struct run_shape small_blocks = {
        .key_length = 16, .filter_length = 4, .block_length = 64};
    const char *path = *state;
    struct reason why = {""};
    struct run_writer *writer;
    struct run_totals totals;
    struct run *run;
    struct run_cursor cursor;
    struct stat about;
    uint8_t key[16] = {0};
    assert_int_equal(run_writer_open(&writer, path, &small_blocks, 1, NULL, NULL, &why), STATUS_OK);
    for (uint32_t i = 0; i < RECORDS; i++) {
        codec_write_u32(key + 4, i * 2654435u / 7);
        codec_write_u32(key + 4, i);
        codec_write_u64(key + 8, (uint64_t)i * 0x9e3779b97f4a7c15u);
        assert_int_equal(run_writer_add(writer, slice_of((char *)key, 16), SLICE("v"), false, &why),
                         STATUS_OK);
    }
    assert_int_equal(run_writer_finish(writer, &totals, &why), STATUS_OK);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(totals.bytes, about.st_size);
    assert_int_equal(totals.records, RECORDS);
    assert_int_equal(totals.prefixes, 1);
    assert_in_range(disk.writes, totals.bytes / (2 * OUT_BYTES), totals.bytes / OUT_BYTES + 1);
    assert_true(disk.longest < 2 * OUT_BYTES);
    assert_int_equal(run_open(&run, path, &small_blocks, &why), STATUS_OK);
    run_cursor_init(&cursor);
    for (uint32_t i = 0; i < RECORDS; i += 997) {
        codec_write_u32(key + 4, i);
        codec_write_u64(key + 8, (uint64_t)i * 0x9e3779b97f4a7c15u);
        assert_int_equal(run_seek(&cursor, run, slice_of((char *)key, 16), &why), STATUS_OK);
        assert_memory_equal(cursor.key, key, 16);
    }
    run_cursor_release(&cursor);
    run_close(run);
}

/* Blocks that do not become smaller are kept as they are. */
static void
test_what_does_not_pack_is_not_packed(void **state)
{
    enum { RECORDS = 200, BYTES = 300 };
    const char *path = *state;
    uint64_t sizes[2][2]; /* of noise, of zeros; plain, packed */
    uint32_t random = 1;
    for (int kind = 0; kind < 4; kind++) {
        const struct run_shape shape = {
            .key_length = 8, .filter_length = 8, .block_length = 1000, .compress = kind % 2 > 0};
        struct reason why = {""};
        struct run_writer *writer;
        struct run_totals totals;
        assert_int_equal(run_writer_open(&writer, path, &shape, RECORDS, NULL, NULL, &why),
                         STATUS_OK);
        for (uint64_t i = 0; i < RECORDS; i++) {
            uint8_t key[8], value[BYTES] = {0};
            codec_write_u64(key, i);
            for (size_t at = 0; at < BYTES && kind < 2; at++) {
                random = random * 1664525u + 1013904223u;
                value[at] = (uint8_t)(random >> 24);
            }
            assert_int_equal(run_writer_add(writer, slice_of((char *)key, 8),
                                            slice_of((char *)value, BYTES), false, &why),
                             STATUS_OK);
        }
        assert_int_equal(run_writer_finish(writer, &totals, &why), STATUS_OK);
        sizes[kind / 2][kind % 2] = totals.bytes;
    }
    assert_true(sizes[0][1] <= sizes[0][0]);
    assert_true(sizes[1][1] < sizes[1][0] / 4);
}

/* ---- runs that cannot be read ---- */

/* Writes one byte of the first block anew, with a checksum that is right again. */
static void
change_block(const char *path, size_t length, size_t at, uint8_t byte)
{
    uint8_t bytes[256];
    const int file = open(path, O_RDWR);
    assert_true(file >= 0 && length <= sizeof bytes);
    assert_int_equal(pread(file, bytes, length, 0), length);
    bytes[at] = byte;
    codec_write_u32(bytes, (uint32_t)crc32(0, bytes + 4, (uInt)(length - 4)));
    assert_int_equal(pwrite(file, bytes, length, 0), length);
    assert_int_equal(close(file), 0);
}

static enum status
seek(const struct run *run, const char *key, struct reason *why)
{
    struct run_cursor cursor;
    run_cursor_init(&cursor);
    const enum status status = run_seek(&cursor, run, slice_string(key), why);
    run_cursor_release(&cursor);
    return status;
}

/* A record says how much of its key the one before has, and how long its value is: both may lie. */
static void
test_records_that_lie_are_damage(void **state)
{
    enum { HEADER = 9, KEY = 8, VALUE = 5, RECORD = 1 + KEY + 1 + VALUE, BLOCK = HEADER + RECORD };
    static const struct {
        size_t at;
        uint8_t byte;
        bool good;
    } cases[] = {
        {HEADER, 0, true},                    /* shared: nothing */
        {HEADER, KEY + 1, false},             /* more than a key has */
        {HEADER, 0x80, false},                /* a number without an end within the key */
        {HEADER + 1 + KEY, VALUE << 1, true}, /* the value's length */
        {HEADER + 1 + KEY, (VALUE + 1) << 1, false},
        {5 + 3, RECORD - 1, false}, /* shorter than the block is */
        {4, 2, false},              /* of no coding that there is */
    };
    const char *path = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run *run;
        struct reason why = {""};
        assert_int_equal(write_small(path, &why), STATUS_OK);
        change_block(path, BLOCK, cases[i].at, cases[i].byte);
        assert_int_equal(run_open(&run, path, &of_lanes, &why), STATUS_OK);
        const enum status status = seek(run, "12345678", &why);
        assert_int_equal(status, cases[i].good ? STATUS_OK : STATUS_CORRUPT);
        assert_true(cases[i].good || strstr(why.text, "is damaged at byte 0;") != NULL);
        run_close(run);
    }
}

static void
test_a_run_may_be_empty(void **state)
{
    const char *path = *state;
    struct run_writer *writer;
    struct run_totals totals;
    struct run_cursor cursor;
    struct run *run;
    struct reason why = {""};
    assert_int_equal(run_writer_open(&writer, path, &of_lanes, 1, NULL, NULL, &why), STATUS_OK);
    assert_int_equal(run_writer_finish(writer, &totals, &why), STATUS_OK);
    assert_int_equal(totals.records, 0);
    assert_int_equal(run_open(&run, path, &of_lanes, &why), STATUS_OK);
    run_cursor_init(&cursor);
    assert_int_equal(run_seek(&cursor, run, SLICE(""), &why), STATUS_OK);
    assert_true(cursor.ended);
    assert_false(run_may_have(run, SLICE("12345678")));
    run_cursor_release(&cursor);
    run_close(run);
    run_close(NULL);
    run_writer_drop(NULL);
}

/* What is no file, cannot be opened, or becomes shorter while it is open. */
static void
test_files_that_cannot_be_read(void **state)
{
    const char *path = *state;
    char other[SCRATCH_SIZE + 8];
    struct run *run = (struct run *)&other;
    struct reason why = {""};
    snprintf(other, sizeof other, "%s.x", path);
    assert_int_equal(symlink(other, other), 0); /* of itself */
    assert_int_equal(run_open(&run, other, &of_lanes, &why), STATUS_SYSTEM);
    assert_null(run);
    assert_non_null(strstr(why.text, "cannot open "));
    assert_int_equal(unlink(other), 0);
    assert_int_equal(run_open(&run, other, &of_lanes, &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, " is missing; "));
    assert_int_equal(mkdir(other, 0700), 0);
    assert_true(run_open(&run, other, &of_lanes, &why) != STATUS_OK);
    assert_null(run);
    assert_int_equal(rmdir(other), 0);
    assert_int_equal(write_small(path, &why), STATUS_OK);
    const size_t open = open_descriptors();
    assert_int_equal(run_open(&run, path, &of_lanes, &why), STATUS_OK);
    assert_int_equal(run_key_length(run), 8);
    assert_int_equal(truncate(path, 3), 0);
    assert_int_equal(seek(run, "12345678", &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, "is damaged at byte 3;"));
    run_close(run);
    assert_int_equal(open_descriptors(), open);
    assert_int_equal(run_open(&run, path, &of_lanes, &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, "is damaged at byte 0;"));
    assert_int_equal(open_descriptors(), open);
}

/* Each read of a run fails once: that is told, unless it was only interrupted; and a read may bring
 * less than was asked for. */
static void
test_reads_that_fail_are_told(void **state)
{
    const char *path = *state;
    const size_t before = open_descriptors();
    struct reason why = {""};
    assert_int_equal(write_small(path, &why), STATUS_OK);
    for (int interrupted = 0; interrupted < 2; interrupted++) {
        int failed = 0;
        for (bool struck = true; struck; failed += struck) {
            struct run *run;
            reset_disk();
            disk.error = interrupted ? EINTR : EIO;
            disk.fails_at_read = failed + 1;
            enum status status = run_open(&run, path, &of_lanes, &why);
            assert_int_equal(run != NULL, status == STATUS_OK);
            status = status == STATUS_OK ? seek(run, "12345678", &why) : status;
            run_close(run);
            struck = disk.reads >= disk.fails_at_read;
            assert_int_equal(status, struck && !interrupted ? STATUS_SYSTEM : STATUS_OK);
            assert_true(status == STATUS_OK || (strstr(why.text, "cannot read ") != NULL &&
                                                strstr(why.text, " at byte ") != NULL));
        }
        assert_int_equal(failed, 4); /* the end, the index, the filter, and a block */
        assert_int_equal(open_descriptors(), before);
    }
    struct run *run;
    reset_disk();
    disk.reads_bytes = true;
    assert_int_equal(run_open(&run, path, &of_lanes, &why), STATUS_OK);
    assert_int_equal(seek(run, "12345678", &why), STATUS_OK);
    run_close(run);
}

int
run_writes_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_a_run_is_synced_before_it_is_told_of),
        CASE(test_records_have_limits),
        CASE(test_a_large_run_is_written_in_parts),
        CASE(test_what_does_not_pack_is_not_packed),
        CASE(test_records_that_lie_are_damage),
        CASE(test_a_run_may_be_empty),
        CASE(test_files_that_cannot_be_read),
        CASE(test_reads_that_fail_are_told),
    };
    return cmocka_run_group_tests_name("run writes", tests, NULL, NULL);
}
