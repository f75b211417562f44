/* Blocks of rows: whatever goes in comes out, in every order; damage is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "index/rows.h"

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

/* The block of all rows. False: they do not fit. */
static bool
write_block(enum quad_order order, const struct row *rows, size_t n, uint8_t *block, size_t *length)
{
    struct rows_writer writer;
    rows_begin(&writer, order, block, BLOCK_MAXIMUM);
    for (size_t i = 0; i < n; i++) {
        if (!rows_add(&writer, &rows[i])) {
            return false;
        }
    }
    *length = rows_end(&writer);
    return true;
}

static void
splicing_gives_the_bytes_of_writing_all(void **state)
{
    (void)state;
    static struct row all[402], rows[402], wanted[402];
    static struct row_change changes[402];
    static uint8_t old[BLOCK_MAXIMUM + ROW_BYTES_MOST], whole[BLOCK_MAXIMUM + ROW_BYTES_MOST],
        spliced[BLOCK_MAXIMUM + ROW_BYTES_MOST];
    size_t fitting = 0, too_large = 0, emptied = 0;
    for (int round = 0; round < 20000; round++) {
        const enum quad_order order = (enum quad_order)(round % ORDER_COUNT);
        const size_t most = 2 + random_number() % (round % 2 > 0 ? 4 : 400);
        const size_t rarely = 1 + random_number() % (round % 5 > 0 ? 40 : 3);
        size_t n = 0, row_count = 0, change_count = 0, wanted_count = 0, length, whole_length;
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
            const bool removed = random_number() % (round % 3 + 1) == 0;
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
        if (row_count == 0 || !write_block(order, rows, row_count, old, &length)) {
            continue;
        }
        const bool fits = write_block(order, wanted, wanted_count, whole, &whole_length);
        struct rows_writer writer;
        struct reason why;
        bool spliced_fits;
        rows_begin(&writer, order, spliced, BLOCK_MAXIMUM);
        assert_int_equal(
            rows_splice(old, length, changes, change_count, &writer, &spliced_fits, &why),
            STATUS_OK);
        assert_int_equal(spliced_fits, fits);
        if (fits) {
            assert_int_equal(rows_end(&writer), whole_length);
            assert_memory_equal(spliced, whole, whole_length);
        }
        fitting += fits;
        too_large += !fits;
        emptied += wanted_count == 0;
        old[random_number() % length] ^= 1 << random_number() % 8;
        rows_begin(&writer, order, spliced, BLOCK_MAXIMUM);
        (void)rows_splice(old, length, changes, change_count, &writer, &spliced_fits, &why);
    }
    assert_true(fitting > 1000 && too_large > 5 && emptied > 10);
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
    return cmocka_run_group_tests(tests, NULL, NULL);
}
