/* Runs whose index or end lies although its checksum is right: none is read, and each is named with
 * the place of the damage (queue/storage/run_read.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/codec.h"
#include "queue/storage/run_format.h"
#include "tests/unit/open_descriptors.h"
#include "tests/unit/queue/queue_suites.h"
#include "tests/unit/scratch.h"

enum { KEY = 8, BLOCK = 64, RECORDS = 3, BYTES = 4096, FOOTER_CHECKED = RUN_FOOTER - 8 };

static const struct run_shape shape = {
    .key_length = KEY, .filter_length = KEY, .block_length = BLOCK};
static const char *const keys[RECORDS] = {"aaaaaaaa", "aaaabbbb", "cccccccc"};

/* A good run of three blocks, and its parts. */
static struct {
    char path[SCRATCH_SIZE];
    uint8_t bytes[BYTES];
    size_t length;
    uint64_t index_at, index_length, filter_at; /* as its end says */
    uint64_t ends[RECORDS];                     /* of its blocks */
} good;

enum { AT_REMOVED = 8, AT_BLOCKS = 24, AT_INDEX = 32, AT_INDEX_LENGTH = 40, AT_FILTER = 48 };
enum { AT_FILTER_BLOCKS = 56, AT_INDEX_CHECK = 64, AT_KEY = 72, AT_FILTER_KEY = 73 };
enum { AT_VERSION = 74, AT_CHECK = 76, AT_MAGIC = 80 };

static uint8_t *
end_of(uint8_t *bytes, size_t length)
{
    return bytes + length - RUN_FOOTER;
}

static size_t written; /* bytes of the file */

static void
write_all(const void *bytes, size_t length)
{
    written = length;
    FILE *file = fopen(good.path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static int
setup(void **state)
{
    char value[BLOCK];
    struct run_writer *writer;
    struct run_totals totals;
    struct reason why = {""};
    (void)state;
    memset(value, 'v', sizeof value);
    const int file = scratch_file(good.path, "run_lies");
    assert_true(file >= 0);
    (void)close(file);
    assert_int_equal(run_writer_open(&writer, good.path, &shape, RECORDS, NULL, NULL, &why),
                     STATUS_OK);
    for (size_t i = 0; i < RECORDS; i++) {
        assert_int_equal(run_writer_add(writer, slice_string(keys[i]),
                                        slice_of(value, sizeof value), true, &why),
                         STATUS_OK);
    }
    assert_int_equal(run_writer_finish(writer, &totals, &why), STATUS_OK);
    FILE *stream = fopen(good.path, "r");
    assert_non_null(stream);
    good.length = fread(good.bytes, 1, sizeof good.bytes, stream);
    assert_int_equal(fclose(stream), 0);
    const uint8_t *end = end_of(good.bytes, good.length);
    good.index_at = codec_read_u64(end + AT_INDEX);
    good.index_length = codec_read_u64(end + AT_INDEX_LENGTH);
    good.filter_at = codec_read_u64(end + AT_FILTER);
    struct codec_reader reader =
        codec_reader_of(slice_of((const char *)good.bytes + good.index_at, good.index_length));
    for (size_t i = 0; i < RECORDS; i++) {
        const uint64_t shared = codec_get_varint(&reader);
        reader.at += KEY - shared;
        good.ends[i] = (i > 0 ? good.ends[i - 1] : 0) + codec_get_varint(&reader);
    }
    assert_true(codec_at_end(&reader));
    assert_int_equal(good.ends[RECORDS - 1], good.index_at);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    return unlink(good.path);
}

/* Opens what was written, and reads all of it when it is said to be good. */
static void
opens(bool expected, uint64_t damaged_at, const char *name)
{
    const size_t open = open_descriptors();
    struct reason why = {""};
    struct run *run;
    const enum status status = run_open(&run, good.path, &shape, &why);
    if (status != (expected ? STATUS_OK : STATUS_CORRUPT)) {
        fail_msg("%s: %s %s", name, status_name(status), why.text);
    }
    if (!expected) {
        char text[64];
        snprintf(text, sizeof text, "is damaged at byte %llu;", (unsigned long long)damaged_at);
        assert_null(run);
        if (strstr(why.text, text) == NULL) {
            fail_msg("%s: \"%s\" is not in \"%s\"", name, text, why.text);
        }
    } else {
        const struct run_totals totals = run_totals(run);
        struct run_cursor cursor;
        assert_int_equal(totals.records, RECORDS);
        assert_int_equal(totals.prefixes, RECORDS);
        assert_int_equal(totals.bytes, written);
        run_cursor_init(&cursor);
        assert_int_equal(run_seek(&cursor, run, SLICE(""), &why), STATUS_OK);
        for (size_t i = 0; i < RECORDS; i++) {
            assert_false(cursor.ended);
            assert_memory_equal(cursor.key, keys[i], KEY);
            assert_int_equal(run_next(&cursor, &why), STATUS_OK);
        }
        assert_true(cursor.ended);
        run_cursor_release(&cursor);
    }
    run_close(run);
    assert_int_equal(open_descriptors(), open);
}

/* ---- the index ---- */

struct line {
    uint64_t shared; /* bytes of the key before */
    const char *rest;
    int64_t more; /* than the block has, in bytes */
};

/* Writes the run with another index, of which the rest of the file knows. */
static void
write_index(const struct line *lines, size_t n, const char *behind)
{
    struct buf out, index;
    uint8_t *end;
    buf_init(&out, BYTES);
    buf_init(&index, BYTES);
    for (size_t i = 0; i < n; i++) {
        const uint64_t length = good.ends[i] - (i > 0 ? good.ends[i - 1] : 0);
        codec_put_varint(&index, lines[i].shared);
        (void)buf_append_string(&index, lines[i].rest);
        codec_put_varint(&index, length + (uint64_t)lines[i].more);
    }
    (void)buf_append_string(&index, behind);
    (void)buf_append(&out, good.bytes, good.index_at);
    (void)buf_append_slice(&out, buf_slice(&index));
    (void)buf_append(&out, good.bytes + good.filter_at, good.length - good.filter_at);
    end = end_of((uint8_t *)out.data, out.length);
    codec_write_u64(end + AT_INDEX_LENGTH, index.length);
    codec_write_u64(end + AT_FILTER, good.index_at + index.length);
    codec_write_u32(end + AT_INDEX_CHECK,
                    (uint32_t)crc32(0, (const Bytef *)index.data, (uInt)index.length));
    codec_write_u32(end + AT_CHECK, (uint32_t)crc32(0, end, FOOTER_CHECKED));
    write_all(out.data, out.length);
    buf_release(&out);
    buf_release(&index);
}

static void
test_an_index_that_lies_is_damage(void **state)
{
    static const struct {
        const char *name;
        bool good;
        struct line lines[RECORDS];
        const char *behind;
    } cases[] = {
        {"as it is", true, {{0, "aaaaaaaa", 0}, {4, "bbbb", 0}, {0, "cccccccc", 0}}, ""},
        {"nothing shared", true, {{0, "aaaaaaaa", 0}, {0, "aaaabbbb", 0}, {0, "cccccccc", 0}}, ""},
        {"shared with nothing", false, {{1, "aaaaaaa", 0}, {4, "bbbb", 0}, {0, "cccccccc", 0}}, ""},
        {"all is shared", true, {{0, "aaaabbbb", 0}, {8, "", 0}, {0, "cccccccc", 0}}, ""},
        {"too much is shared", false, {{0, "aaaaaaaa", 0}, {9, "", 0}, {0, "cccccccc", 0}}, ""},
        {"far too much", false, {{0, "aaaaaaaa", 0}, {1 << 20, "", 0}, {0, "cccccccc", 0}}, ""},
        {"a key is cut", false, {{0, "aaaaaaaa", 0}, {4, "bbbb", 0}, {0, "cc", 0}}, ""},
        {"a byte behind", false, {{0, "aaaaaaaa", 0}, {4, "bbbb", 0}, {0, "cccccccc", 0}}, "x"},
        {"a block more", false, {{0, "aaaaaaaa", 0}, {4, "bbbb", 0}, {0, "cccccccc", 9}}, ""},
        {"a byte less", false, {{0, "aaaaaaaa", 0}, {4, "bbbb", 0}, {0, "cccccccc", -1}}, ""},
        {"a byte more", false, {{0, "aaaaaaaa", 0}, {4, "bbbb", 1}, {0, "cccccccc", 0}}, ""},
        {"too long", false, {{0, "aaaaaaaa", 3 << 20}, {4, "bbbb", 0}, {0, "cccccccc", 0}}, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_index(cases[i].lines, RECORDS, cases[i].behind);
        opens(cases[i].good, good.index_at, cases[i].name);
    }
}

/* A block has at least a header; what the others have in its place changes nothing. */
static void
test_blocks_have_more_than_a_header(void **state)
{
    struct line lines[RECORDS] = {{0, "aaaaaaaa", 0}, {4, "bbbb", 0}, {0, "cccccccc", 0}};
    const int64_t less = (int64_t)good.ends[0] - RUN_BLOCK_HEADER;
    (void)state;
    lines[0].more = -less;
    lines[1].more = less;
    write_index(lines, RECORDS, "");
    opens(false, good.index_at, "a header alone");
    write_index(lines, RECORDS - 1, ""); /* of a block less than the end says */
    opens(false, good.index_at, "a line is missing");
}

/* ---- the end ---- */

static void
test_an_end_that_lies_is_damage(void **state)
{
    static const struct {
        const char *name;
        size_t at, width;
        int64_t more; /* than it is */
        bool good;
    } cases[] = {
        {"as it is", AT_BLOCKS, 8, 0, true},
        {"more is removed than there is", AT_REMOVED, 8, 1, false},
        {"less is removed", AT_REMOVED, 8, -1, true},
        {"more blocks than lines of two bytes", AT_BLOCKS, 8, 1000, false},
        {"the index is elsewhere", AT_INDEX, 8, 1, false},
        {"the index is before", AT_INDEX, 8, -1, false},
        {"the index is behind the end", AT_INDEX, 8, BYTES, false},
        {"the index is longer", AT_INDEX_LENGTH, 8, 1, false},
        {"the index is longer than all", AT_INDEX_LENGTH, 8, BYTES, false},
        {"the index has a negative length", AT_INDEX_LENGTH, 8, -BYTES, false},
        {"the filter is elsewhere", AT_FILTER, 8, -1, false},
        {"the filter is behind the end", AT_FILTER, 8, BYTES, false},
        {"more of a filter", AT_FILTER_BLOCKS, 8, 1, false},
        {"no filter", AT_FILTER_BLOCKS, 8, -1, false},
        {"a filter whose length is no number", AT_FILTER_BLOCKS, 8, INT64_C(1) << 59, false},
        {"another key", AT_KEY, 1, 1, false},
        {"another key for the filter", AT_FILTER_KEY, 1, -1, false},
        {"an older version", AT_VERSION, 1, -1, false},
        {"a newer version", AT_VERSION, 1, 1, false},
        {"another checksum", AT_CHECK, 1, 1, false},
        {"no run", AT_MAGIC, 1, 1, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[BYTES];
        memcpy(bytes, good.bytes, good.length);
        uint8_t *end = end_of(bytes, good.length), *at = end + cases[i].at;
        if (cases[i].width == 8) {
            codec_write_u64(at, codec_read_u64(at) + (uint64_t)cases[i].more);
        } else {
            *at = (uint8_t)(*at + cases[i].more);
        }
        if (cases[i].at < AT_CHECK) {
            codec_write_u32(end + AT_CHECK, (uint32_t)crc32(0, end, FOOTER_CHECKED));
        }
        write_all(bytes, good.length);
        opens(cases[i].good, good.length - RUN_FOOTER, cases[i].name);
    }
}

/* What is shorter than an end has none. */
static void
test_short_files_are_no_runs(void **state)
{
    (void)state;
    write_all(good.bytes, RUN_FOOTER - 1);
    opens(false, 0, "too short");
    write_all("", 0);
    opens(false, 0, "empty");
    write_all(end_of(good.bytes, good.length), RUN_FOOTER);
    opens(false, 0, "an end alone");
}

int
run_lies_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_an_index_that_lies_is_damage),
        CASE(test_blocks_have_more_than_a_header),
        CASE(test_an_end_that_lies_is_damage),
        CASE(test_short_files_are_no_runs),
    };
    return cmocka_run_group_tests_name("run lies", tests, NULL, NULL);
}
