/* Blocks of rows, byte by byte: a second writer, made from index/FORMAT.md alone, says what the
 * bytes must be; blocks made by hand say what is refused. Blocks that are read end where memory
 * ends, so that reading past them is seen. */
#include "tests/unit/index/row_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/codec.h"
#include "index/quads/rows.h"

enum { ROWS = 60, LONG = 1 << 18, EMPTY = 4 };

static uint64_t seed = 4101842887655102017u;
static uint64_t
random_number(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* ---- the format, written a second time ---- */

static const int near_places[ORDER_COUNT][4] = {
    [ORDER_SPOC] = {EMPTY, EMPTY, 0, 0}, [ORDER_POCS] = {EMPTY, EMPTY, 1, 2},
    [ORDER_OCSP] = {EMPTY, 0, 1, EMPTY}, [ORDER_CSPO] = {EMPTY, 0, EMPTY, 0},
    [ORDER_CPOS] = {EMPTY, EMPTY, 0, 0}, [ORDER_OSPC] = {EMPTY, 0, EMPTY, 1}};

static uint64_t
zigzag_difference(oid from, oid to)
{
    const int64_t difference =
        (int64_t)oid_number(to) - (int64_t)(oid_is_stored(from) ? oid_number(from) : 0);
    return difference < 0 ? 2 * (uint64_t)-difference - 1 : 2 * (uint64_t)difference;
}

static void
expect_place(struct buf *block, oid value, oid before, const oid *near)
{
    if (!oid_is_stored(value)) {
        const int64_t less = (int64_t)(value & OID_INLINE_MASK) - (INT64_C(1) << 55);
        codec_put_u8(block, 1);
        codec_put_u8(block, (uint8_t)(value >> 56));
        codec_put_varint(block, less < 0 ? 2 * (uint64_t)-less - 1 : 2 * (uint64_t)less);
        return;
    }
    uint64_t code = zigzag_difference(before, value);
    const bool is_near = near != NULL && zigzag_difference(*near, value) < code;
    code = is_near ? zigzag_difference(*near, value) : code;
    const bool other_kind = oid_kind(value) != oid_kind(before);
    code = other_kind ? code * 8 + oid_kind(value) : code;
    codec_put_varint(block, code * 4 + (is_near ? 2 : 0) + (other_kind ? 1 : 0));
}

static void
expect_row(struct buf *block, enum quad_order order, const struct row *row,
           const struct row *before)
{
    struct buf places;
    int first = 0;
    buf_init(&places, 1 << 10);
    while (row->place[first] == before->place[first]) {
        first++;
    }
    unsigned header = (unsigned)first * 64;
    const oid from = before->place[first], to = row->place[first];
    const int64_t step = (int64_t)oid_number(to) - (int64_t)oid_number(from);
    const bool steps = oid_kind(to) == oid_kind(from) && oid_is_stored(to) && step > 0 && step < 8;
    header += steps ? (unsigned)step : 0;
    for (int i = first; i < 4; i++) {
        const int near = near_places[order][i];
        if (i > first && row->place[i] == before->place[i]) {
            header += 64U >> (i - first);
        } else if (i > first || !steps) {
            expect_place(&places, row->place[i], before->place[i],
                         near == EMPTY ? NULL : &row->place[near]);
        }
    }
    codec_put_u8(block, (uint8_t)header);
    (void)buf_append_slice(block, buf_slice(&places));
    buf_release(&places);
}

static void
expect_block(struct buf *block, enum quad_order order, const struct row *rows, size_t n)
{
    const struct row zeros = {{0}};
    buf_reset(block);
    codec_put_u8(block, 1);
    for (size_t i = 0; i < n; i++) {
        expect_row(block, order, &rows[i], i > 0 ? &rows[i - 1] : &zeros);
    }
}

/* ---- rows by chance, and memory that ends ---- */

static oid
random_oid(void)
{
    const uint64_t number = random_number();
    switch (random_number() % 8) {
    case 0:
        return (oid)(1 + number % OID_INLINE_TYPE_MAXIMUM) << OID_INLINE_BITS |
               (random_number() & OID_INLINE_MASK);
    case 1:
        return oid_stored(OID_NUMBER_MAXIMUM - number % 9, OID_KIND_TYPED);
    default:
        return oid_stored(1 + number % 30, (enum oid_kind)(1 + number % 2));
    }
}

static int
compare(const void *a, const void *b)
{
    return row_compare(a, b);
}

static size_t
random_rows(struct row rows[ROWS])
{
    struct row all[ROWS] = {{{0}}};
    size_t n = 0;
    const size_t most = 1 + random_number() % ROWS;
    for (size_t i = 0; i < most; i++) {
        for (int place = 0; place < 4; place++) {
            const bool same = i > 0 && random_number() % 3 > 0;
            all[i].place[place] = same ? all[i - 1].place[place] : random_oid();
        }
    }
    qsort(all, most, sizeof *all, compare);
    for (size_t i = 0; i < most; i++) {
        if (n == 0 || row_compare(&rows[n - 1], &all[i]) < 0) {
            rows[n++] = all[i];
        }
    }
    return n;
}

/* The bytes again, right before a page that cannot be read. */
static const uint8_t *
at_the_end(const void *bytes, size_t length)
{
    static uint8_t *end = NULL;
    if (end == NULL) {
        uint8_t *memory =
            mmap(NULL, LONG + 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(memory != MAP_FAILED);
        end = memory + LONG;
        assert_int_equal(mprotect(end, 65536, PROT_NONE), 0);
    }
    memcpy(end - length, bytes, length);
    return end - length;
}

/* ---- tests ---- */

static size_t
write_rows(enum quad_order order, const struct row *rows, size_t n, uint8_t *block, size_t size)
{
    struct rows_writer writer;
    rows_begin(&writer, order, block, size);
    for (size_t i = 0; i < n; i++) {
        if (!rows_add(&writer, &rows[i])) {
            assert_int_equal(writer.count, i);
            break;
        }
    }
    return rows_end(&writer);
}

static void
blocks_are_written_as_the_format_says(void **state)
{
    static uint8_t block[LONG];
    static struct row back[ROWS_BLOCK_MOST];
    struct row rows[ROWS];
    struct buf expected, less;
    struct reason why;
    size_t count;
    (void)state;
    buf_init(&expected, LONG);
    buf_init(&less, LONG);
    for (unsigned round = 0; round < 3000; round++) {
        const enum quad_order order = (enum quad_order)(round % ORDER_COUNT);
        const size_t n = random_rows(rows);
        expect_block(&expected, order, rows, n);
        expect_block(&less, order, rows, n - 1);
        /* With just enough room all rows are in it; with a byte less, all but the last. */
        assert_int_equal(write_rows(order, rows, n, block, expected.length), expected.length);
        assert_memory_equal(block, expected.data, expected.length);
        assert_int_equal(rows_read(order, at_the_end(block, expected.length), expected.length, back,
                                   &count, &why),
                         STATUS_OK);
        assert_int_equal(count, n);
        assert_memory_equal(back, rows, n * sizeof *rows);
        assert_int_equal(write_rows(order, rows, n, block, expected.length - 1), less.length);
        assert_memory_equal(block, less.data, less.length);
    }
    buf_release(&expected);
    buf_release(&less);
}

static void
blocks_have_no_more_rows_than_can_be_counted(void **state)
{
    static uint8_t block[LONG];
    static struct row back[ROWS_BLOCK_MOST + 1];
    struct rows_writer writer;
    struct reason why;
    struct row row = {{oid_stored(1, OID_KIND_IRI), oid_stored(1, OID_KIND_IRI),
                       oid_stored(1, OID_KIND_IRI), oid_stored(1, OID_KIND_IRI)}};
    size_t lengths[2] = {0}, count;
    (void)state;
    rows_begin(&writer, ORDER_CSPO, block, LONG - ROW_BYTES_MOST);
    for (unsigned i = 1; i <= UINT16_MAX; i++) {
        row.place[3] = oid_stored(i, OID_KIND_IRI);
        assert_true(rows_add(&writer, &row));
        if (i == ROWS_BLOCK_MOST || i == ROWS_BLOCK_MOST + 1) {
            lengths[i - ROWS_BLOCK_MOST] = (size_t)(writer.at - block);
        }
    }
    row.place[3] = oid_stored(UINT16_MAX + 1, OID_KIND_IRI);
    assert_false(rows_add(&writer, &row));
    assert_int_equal(writer.count, UINT16_MAX);
    assert_int_equal(rows_end(&writer), ROWS_HEADER + 5 + UINT16_MAX - 1);
    /* No more of those that are read are taken than a block can have. */
    assert_int_equal(rows_read(ORDER_CSPO, block, lengths[0], back, &count, &why), STATUS_OK);
    assert_int_equal(count, ROWS_BLOCK_MOST);
    assert_int_equal(rows_read(ORDER_CSPO, block, lengths[1], back, &count, &why), STATUS_CORRUPT);
    assert_int_equal(count, ROWS_BLOCK_MOST);
}

/* Four times number 1 of kind IRI, in the order CSPO: places 1 and 3 are near place 0. */
#define BASE "\x01\x00\x45\x07\x45\x07"
/* It is the same with number 2^56 - 1, and with inline 0 of type 1, in the last place. */
#define BASE_MOST "\x01\x00\x45\x07\x45\xc5\xff\xff\xff\xff\xff\xff\xff\x3f"
#define BASE_INLINE "\x01\x00\x45\x07\x45\x01\x01\x00"

static const struct {
    const char *what, *bytes;
    size_t length, rows; /* 0 rows: refused */
} blocks[] = {
#define BLOCK(what, bytes, rows)             \
    {                                        \
        what, bytes, sizeof(bytes) - 1, rows \
    }
    BLOCK("one row", BASE, 1),
    BLOCK("the greatest number", BASE_MOST, 1),
    BLOCK("an inline value", BASE_INLINE, 1),
    BLOCK("a step", BASE "\xc1", 2),
    BLOCK("the longest step in place 0", BASE "\x3f", 2),
    BLOCK("a greater number", BASE "\xc0\x08", 2),
    BLOCK("the greatest type of inline values", "\x01\x00\x01\x3f\x00\x45\x45\x45", 1),
    BLOCK("a type of inline values too great", "\x01\x00\x01\x40\x00\x45\x45\x45", 0),
    BLOCK("another codec", "\x02\x00\x45\x07\x45\x07", 0),
    BLOCK("no row", "\x01", 0),
    BLOCK("the same row", BASE "\xc0\x00", 0),
    BLOCK("a smaller number", BASE "\xc0\x04", 0),
    BLOCK("no place after the header", BASE "\xc0", 0),
    BLOCK("the last place is not there", BASE "\x81", 0),
    BLOCK("cut off in a varint", BASE "\xc0\x88", 0),
    BLOCK("cut off before the type", BASE "\xc0\x01", 0),
    BLOCK("cut off after the type", BASE "\xc0\x01\x01", 0),
    BLOCK("a varint of eleven bytes", BASE "\xc0\x88\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 0),
    BLOCK("a step from an inline value", BASE_INLINE "\xc1", 0),
    BLOCK("a step past the greatest number", BASE_MOST "\xc1", 0),
};

static void
malformed_blocks_are_refused(void **state)
{
    static struct row rows[ROWS_BLOCK_MOST];
    static uint8_t room[LONG];
    (void)state;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        struct reason why = {""};
        struct rows_writer writer;
        struct rows_cutter cutter;
        size_t count, length;
        const uint8_t *bytes = at_the_end(blocks[i].bytes, blocks[i].length);
        const enum status expected = blocks[i].rows > 0 ? STATUS_OK : STATUS_CORRUPT;
        enum status status = rows_read(ORDER_CSPO, bytes, blocks[i].length, rows, &count, &why);
        if (status != expected || (status == STATUS_OK && count != blocks[i].rows)) {
            fail_msg("%s: %s, %zu rows", blocks[i].what, status_name(status), count);
        }
        assert_true(status == STATUS_OK || strstr(why.text, "block of") != NULL);
        const struct row_change last = {{{OID_STORED * 2 - 1, 1, 1, 1}}, false};
        rows_begin(&writer, ORDER_CSPO, room, LONG - ROW_BYTES_MOST);
        status = rows_splice(bytes, blocks[i].length, &last, 1, &writer, &why);
        if (status != expected) {
            fail_msg("%s, spliced: %s", blocks[i].what, status_name(status));
        }
        status = rows_cut_begin(&cutter, ORDER_CSPO, bytes, blocks[i].length, &why);
        if (status == STATUS_OK) {
            status = rows_cut(&cutter, room, BLOCK_MAXIMUM, &length, &why);
        }
        if (status != expected) {
            fail_msg("%s, cut: %s", blocks[i].what, status_name(status));
        }
    }
    size_t count = 1;
    struct reason why;
    assert_int_equal(rows_read(ORDER_CSPO, NULL, 0, rows, &count, &why), STATUS_OK);
    assert_int_equal(count, 0);
}

/* What lies behind the bound is not looked at, but a row that is malformed is not behind it. */
static void
ranges_end_before_what_is_malformed(void **state)
{
    static struct row rows[ROWS_BLOCK_MOST];
    static const char behind[] = BASE "\xc1\xc1\xc0", within[] = BASE "\x81";
    const oid one = oid_stored(1, OID_KIND_IRI), two = oid_stored(2, OID_KIND_IRI);
    const struct row bound = {{one, one, one, two}}, cut_off = {{one, one, two, one}};
    struct reason why;
    size_t count;
    bool passed;
    (void)state;
    assert_int_equal(rows_read_range(ORDER_CSPO, at_the_end(behind, sizeof behind - 1),
                                     sizeof behind - 1, NULL, &bound, rows, &count, &passed, &why),
                     STATUS_OK);
    assert_int_equal(count, 1);
    assert_true(passed);
    assert_int_equal(rows_read_range(ORDER_CSPO, at_the_end(within, sizeof within - 1),
                                     sizeof within - 1, NULL, &cut_off, rows, &count, &passed,
                                     &why),
                     STATUS_CORRUPT);
    assert_int_equal(count, 1);
    assert_false(passed);
}

static void
what_follows_the_last_change_is_copied_unread(void **state)
{
    static const char old[] = BASE "\xc7\xc0";
    const oid one = oid_stored(1, OID_KIND_IRI);
    struct row_change change = {{{one, one, one, oid_stored(2, OID_KIND_IRI)}}, false};
    static const char expected[] = BASE "\xc1\xc6\xc0";
    uint8_t room[200];
    struct rows_writer writer;
    struct reason why;
    (void)state;
    rows_begin(&writer, ORDER_CSPO, room, sizeof expected - 1);
    assert_int_equal(
        rows_splice(at_the_end(old, sizeof old - 1), sizeof old - 1, &change, 1, &writer, &why),
        STATUS_OK);
    assert_int_equal(rows_end(&writer), sizeof expected - 1);
    assert_memory_equal(room, expected, sizeof expected - 1);
    /* Nothing is written where there is no room for it. */
    for (size_t size = ROWS_HEADER; size < sizeof expected - 1; size++) {
        memset(room, 0xaa, sizeof room);
        rows_begin(&writer, ORDER_CSPO, room, size);
        assert_int_equal(
            rows_splice(at_the_end(old, sizeof old - 1), sizeof old - 1, &change, 1, &writer, &why),
            STATUS_LIMIT);
        assert_true(rows_end(&writer) <= size);
    }
    /* A row that is not there can be removed; then nothing changes. */
    change.removed = true;
    rows_begin(&writer, ORDER_CSPO, room, sizeof old - 1);
    assert_int_equal(
        rows_splice(at_the_end(old, sizeof old - 1), sizeof old - 1, &change, 1, &writer, &why),
        STATUS_OK);
    assert_int_equal(rows_end(&writer), sizeof old - 1);
    assert_memory_equal(room, old, sizeof old - 1);
}

/* Each piece has as many rows as its size has room for, to the byte. */
static void
pieces_are_full(void **state)
{
    static uint8_t whole[LONG], piece[LONG];
    struct row rows[ROWS];
    struct buf expected;
    struct reason why;
    (void)state;
    buf_init(&expected, LONG);
    for (unsigned round = 0; round < 600; round++) {
        const enum quad_order order = (enum quad_order)(round % ORDER_COUNT);
        const size_t n = random_rows(rows);
        expect_block(&expected, order, rows, 1 + random_number() % n);
        size_t size = expected.length;
        size = size < ROW_BYTES_MOST ? ROW_BYTES_MOST : size;
        struct rows_cutter cutter;
        const size_t length = write_rows(order, rows, n, whole, LONG - ROW_BYTES_MOST);
        assert_int_equal(rows_cut_begin(&cutter, order, at_the_end(whole, length), length, &why),
                         STATUS_OK);
        for (size_t at = 0, count; at < n; at += count) {
            size_t bytes;
            for (count = n - at;; count--) {
                expect_block(&expected, order, rows + at, count);
                if (expected.length <= size) {
                    break;
                }
            }
            assert_true(cutter.more);
            assert_memory_equal(&cutter.first, &rows[at], sizeof *rows);
            assert_int_equal(rows_cut(&cutter, piece, size, &bytes, &why), STATUS_OK);
            assert_int_equal(bytes, expected.length);
            assert_memory_equal(piece, expected.data, bytes);
            assert_memory_equal(&cutter.last, &rows[at + count - 1], sizeof *rows);
        }
        assert_false(cutter.more);
    }
    buf_release(&expected);
}

static void
fences_are_as_short_as_can_be(void **state)
{
    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct row left, right;
        uint8_t fence[ROW_KEY_SIZE], keys[2][ROW_KEY_SIZE];
        const unsigned differs = (unsigned)(random_number() % ROW_KEY_SIZE);
        for (int place = 0; place < 4; place++) {
            left.place[place] = right.place[place] = random_number() % 3 ? random_oid() : 1;
        }
        right.place[differs / 8] += UINT64_C(1) << (56 - differs % 8 * 8);
        if (row_compare(&left, &right) >= 0) {
            continue;
        }
        row_key(&left, keys[0]);
        row_key(&right, keys[1]);
        const size_t length = row_fence(&left, &right, fence);
        size_t same = 0;
        while (keys[0][same] == keys[1][same]) {
            same++;
        }
        if (same == ROW_KEY_SIZE - 1) {
            assert_int_equal(length, ROW_KEY_SIZE); /* no key lies between, but left itself */
            assert_memory_equal(fence, keys[0], ROW_KEY_SIZE);
        } else {
            assert_int_equal(length, same + 1);
            assert_memory_equal(fence, keys[1], same + 1);
        }
        assert_true(row_within(&left, fence, length));
        assert_false(row_within(&right, fence, length));
    }
    /* Fences of terms are longer than any key of a row. */
    const struct row row = {{1, 2, 3, 4}};
    uint8_t key[ROW_KEY_SIZE + 1] = {0};
    row_key(&row, key);
    assert_true(row_within(&row, key, ROW_KEY_SIZE + 1));
}

int
row_blocks_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_written_as_the_format_says),
        cmocka_unit_test(blocks_have_no_more_rows_than_can_be_counted),
        cmocka_unit_test(malformed_blocks_are_refused),
        cmocka_unit_test(ranges_end_before_what_is_malformed),
        cmocka_unit_test(what_follows_the_last_change_is_copied_unread),
        cmocka_unit_test(pieces_are_full),
        cmocka_unit_test(fences_are_as_short_as_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
