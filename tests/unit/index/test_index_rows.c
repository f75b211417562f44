/* Blocks of rows: whatever goes in comes out, in every order; damage is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "index/quads/rows.h"
#include "tests/unit/index/row_blocks.h"

static uint64_t seed = 88172645463325252u;
static uint64_t
random_number(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static oid
random_oid(void)
{
    const uint64_t number = random_number();
    switch (random_number() % 8) {
    case 0:
        return (oid)(1 + number % 5) << OID_INLINE_BITS | (random_number() & OID_INLINE_MASK);
    case 1:
        return oid_stored(number & OID_NUMBER_MAXIMUM, OID_KIND_TYPED);
    default:
        return oid_stored(1 + number % 50, (enum oid_kind)(1 + number % 5));
    }
}

static int
compare(const void *a, const void *b)
{
    return row_compare(a, b);
}

/* A part of the block is the same part of its rows. */
static void
check_range(enum quad_order order, const uint8_t *block, size_t length, const struct row *rows,
            size_t n)
{
    static struct row back[ROWS_BLOCK_MOST];
    const size_t first = random_number() % n, end = first + random_number() % (n - first + 1);
    size_t count;
    bool passed;
    struct reason why;
    assert_int_equal(rows_read_range(order, block, length, &rows[first],
                                     end < n ? &rows[end] : NULL, back, &count, &passed, &why),
                     STATUS_OK);
    assert_int_equal(count, end - first);
    assert_int_equal(passed, end < n);
    assert_memory_equal(back, rows + first, count * sizeof(rows[0]));
}

static void
rows_come_back_in_every_order(void **state)
{
    (void)state;
    static struct row rows[400], back[ROWS_BLOCK_MOST];
    static uint8_t block[BLOCK_MAXIMUM + ROW_BYTES_MOST];
    for (int round = 0; round < 3000; round++) {
        const enum quad_order order = (enum quad_order)(round % ORDER_COUNT);
        for (size_t i = 0; i < 400; i++) {
            for (int place = 0; place < 4; place++) {
                rows[i].place[place] = random_oid();
            }
        }
        qsort(rows, 400, sizeof(rows[0]), compare);
        struct rows_writer writer;
        rows_begin(&writer, order, block, BLOCK_MAXIMUM);
        size_t n = 0;
        while (n < 400 && (n == 0 || row_compare(&rows[n - 1], &rows[n]) < 0) &&
               rows_add(&writer, &rows[n])) {
            n++;
        }
        const size_t length = rows_end(&writer);
        assert_true(length <= BLOCK_MAXIMUM);
        size_t count;
        struct reason why;
        assert_int_equal(rows_read(order, block, length, back, &count, &why), STATUS_OK);
        assert_int_equal(count, n);
        assert_memory_equal(back, rows, n * sizeof(rows[0]));
        /* Cut off: damaged, or (a last row of one byte) without the last row. */
        if (rows_read(order, block, length - 1, back, &count, &why) == STATUS_OK) {
            assert_int_equal(count, n - 1);
        }
        check_range(order, block, length, rows, n);
        block[random_number() % length] ^= 1 << random_number() % 8;
        (void)rows_read(order, block, length, back, &count, &why);
    }
}

enum { ROWS = 400, LONG = 2 * ROWS * ROW_BYTES_MOST };

static size_t
write_block(enum quad_order order, const struct row *rows, size_t n, uint8_t *block, size_t size)
{
    struct rows_writer writer;
    rows_begin(&writer, order, block, size - ROW_BYTES_MOST);
    for (size_t i = 0; i < n; i++) {
        assert_true(rows_add(&writer, &rows[i]));
    }
    return rows_end(&writer);
}

/* Each piece is the block of its rows, and full: the next row has no room in it. */
static void
check_pieces(enum quad_order order, const uint8_t *whole, size_t length, const struct row *rows,
             size_t n, size_t size)
{
    static uint8_t piece[BLOCK_MAXIMUM + ROW_BYTES_MOST], alone[LONG], more[LONG];
    static struct row back[ROWS_BLOCK_MOST];
    struct rows_cutter cutter;
    struct reason why;
    size_t at = 0;
    assert_int_equal(rows_cut_begin(&cutter, order, whole, length, &why), STATUS_OK);
    while (at < n) {
        size_t bytes, count;
        assert_true(cutter.more);
        assert_int_equal(rows_cut(&cutter, piece, size, &bytes, &why), STATUS_OK);
        assert_int_equal(rows_read(order, piece, bytes, back, &count, &why), STATUS_OK);
        assert_true(count > 0 && count <= n - at);
        assert_int_equal(write_block(order, rows + at, count, alone, sizeof(alone)), bytes);
        assert_memory_equal(piece, alone, bytes);
        assert_memory_equal(&cutter.last, &rows[at + count - 1], sizeof(struct row));
        at += count;
        if (at < n) {
            assert_memory_equal(&cutter.first, &rows[at], sizeof(struct row));
            assert_true(write_block(order, rows + at - count, count + 1, more, sizeof(more)) >
                        size);
        }
        assert_true(bytes <= size);
    }
    assert_false(cutter.more);
}

static void
splicing_gives_the_bytes_of_writing_all(void **state)
{
    (void)state;
    static struct row all[ROWS], rows[ROWS], wanted[ROWS];
    static struct row_change changes[ROWS];
    static uint8_t old[LONG], whole[LONG], spliced[LONG];
    size_t emptied = 0, cut = 0;
    for (int round = 0; round < 10000; round++) {
        const enum quad_order order = (enum quad_order)(round % ORDER_COUNT);
        const size_t most = 2 + random_number() % (round % 2 > 0 ? 4 : ROWS - 1);
        const size_t rarely = 1 + random_number() % 40;
        size_t n = 0, row_count = 0, change_count = 0, wanted_count = 0;
        for (size_t i = 0; i < most; i++) {
            for (int place = 0; place < 4; place++) {
                all[i].place[place] =
                    random_number() % 3 && i > 0 ? all[i - 1].place[place] : random_oid();
            }
        }
        qsort(all, most, sizeof(all[0]), compare);
        for (size_t i = 0; i < most; i++) {
            if (n == 0 || row_compare(&all[n - 1], &all[i]) < 0) {
                all[n++] = all[i];
            }
        }
        for (size_t i = 0; i < n; i++) {
            const bool was = random_number() % 4 > 0, named = random_number() % rarely == 0;
            const bool removed = random_number() % 2;
            if (was) {
                rows[row_count++] = all[i];
            }
            if (named) {
                changes[change_count++] = (struct row_change){all[i], removed};
            }
            if (named ? !removed : was) {
                wanted[wanted_count++] = all[i];
            }
        }
        const size_t length =
            row_count > 0 ? write_block(order, rows, row_count, old, sizeof(old)) : 0;
        const size_t expected = write_block(order, wanted, wanted_count, whole, sizeof(whole));
        struct rows_writer writer;
        struct reason why;
        rows_begin(&writer, order, spliced, sizeof(spliced) - ROW_BYTES_MOST);
        assert_int_equal(rows_splice(old, length, changes, change_count, &writer, &why), STATUS_OK);
        assert_int_equal(rows_end(&writer), expected);
        assert_memory_equal(spliced, whole, expected);
        if (expected > BLOCK_MAXIMUM) {
            check_pieces(order, whole, expected, wanted, wanted_count,
                         BLOCK_MAXIMUM / (1 + random_number() % 2));
            cut++;
        }
        emptied += wanted_count == 0;
        if (wanted_count > 0) {
            rows_begin(&writer, order, spliced, expected - 1);
            assert_int_equal(rows_splice(old, length, changes, change_count, &writer, &why),
                             STATUS_LIMIT);
        }
        if (length > 0) { /* damaged: whatever comes out, it is harmless */
            old[random_number() % length] ^= 1 << random_number() % 8;
            rows_begin(&writer, order, spliced, sizeof(spliced) - ROW_BYTES_MOST);
            (void)rows_splice(old, length, changes, change_count, &writer, &why);
        }
    }
    assert_true(emptied > 10 && cut > 1000);
}

static void
fence_lies_between_its_neighbours(void **state)
{
    (void)state;
    for (int round = 0; round < 100000; round++) {
        struct row pair[2];
        for (int place = 0; place < 4; place++) {
            pair[0].place[place] = random_oid();
            pair[1].place[place] =
                random_number() % 4 ? pair[0].place[place] : pair[0].place[place] + 1;
        }
        if (row_compare(&pair[0], &pair[1]) >= 0) {
            continue;
        }
        uint8_t fence[ROW_KEY_SIZE];
        const size_t length = row_fence(&pair[0], &pair[1], fence);
        assert_true(row_within(&pair[0], fence, length));
        assert_false(row_within(&pair[1], fence, length));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_in_every_order),
        cmocka_unit_test(splicing_gives_the_bytes_of_writing_all),
        cmocka_unit_test(fence_lies_between_its_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + row_blocks_run();
}
