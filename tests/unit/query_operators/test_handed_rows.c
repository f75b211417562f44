/* Operators that hand rows on: slices, lookups before a table, unions, options, different rows. */
#include "tests/unit/query_operators/operator_stand.h"

enum { WIDTH = 5 };

static void
give_numbers(struct given *rows, size_t count)
{
    given_init(rows, WIDTH);
    for (oid i = 0; i < count; i++) {
        GIVE(rows, 10 + i, i % 3);
    }
}

static void
slices_have_their_offset_and_limit(void **state)
{
    static const uint64_t bounds[] = {0, 1, 3, 4, 5, 9, 10, 11, UINT64_MAX};
    (void)state;
    for (size_t piece = 1; piece <= 4; piece += 3) {
        for (size_t i = 0; i < 8; i++) {
            for (size_t k = 0; k < 9; k++) {
                const uint64_t offset = bounds[i], limit = bounds[k];
                struct stand stand;
                struct given rows, found;
                stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
                give_numbers(&rows, 10);
                given_init(&found, WIDTH);
                struct operator* slice =
                    slice_new(&stand.run, give_rows(&stand, &rows, piece), offset, limit);
                slice->batch_rows = piece;
                for (int again = 0; again < 2; again++) {
                    const uint64_t left = offset < 10 ? 10 - offset : 0;
                    take_rows(&stand, slice, &found);
                    assert_int_equal(found.count, left < limit ? left : limit);
                    for (size_t at = 0; at < found.count; at++) {
                        assert_memory_equal(given_row(&found, at), given_row(&rows, offset + at),
                                            WIDTH * sizeof(oid));
                    }
                    given_release(&found);
                    operator_reset(slice);
                }
                stand_close(&stand);
                given_release(&rows);
            }
        }
    }
}

/* Rows are looked up until that is as much as was allowed; those of later batches go the other way,
 * also after a reset. */
static void
lookups_come_first(void **state)
{
    static const size_t allowed[] = {0, 1, 3, 4, 6, 7, 100};
    (void)state;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        struct stand stand;
        struct given rows, found;
        struct operator* ways[2], *seeds[2];
        stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
        give_numbers(&rows, 9);
        given_init(&found, WIDTH);
        static const struct slot_pair pairs[2] = {{0, 3}, {0, 4}};
        for (int way = 0; way < 2; way++) {
            seeds[way] = seed_new(&stand.run);
            ways[way] = project_new(&stand.run, seeds[way], &pairs[way], 1);
        }
        struct operator* input = give_rows(&stand, &rows, 3);
        struct operator* first = lookup_first_new(&stand.run, input, ways, seeds, allowed[i]);
        first->batch_rows = 3;
        assert_int_equal(first->inner_count, 2);
        assert_true(first->inner[0] == ways[0] && first->inner[1] == ways[1]);
        take_rows(&stand, first, &found);
        operator_reset(first);
        take_rows(&stand, first, &found);
        assert_int_equal(found.count, 18);
        for (size_t at = 0; at < 18; at++) {
            const oid *row = given_row(&found, at);
            const bool second = at / 3 * 3 >= allowed[i];
            assert_int_equal(row[0], 10 + at % 9);
            assert_int_equal(row[3], second ? 0 : row[0]);
            assert_int_equal(row[4], second ? row[0] : 0);
        }
        stand_close(&stand);
        given_release(&rows);
        given_release(&found);
    }
}

/* Each batch goes through every branch; of an option the rows without a match come after. */
static void
branches_get_each_batch(void **state)
{
    (void)state;
    for (size_t piece = 1; piece <= 5; piece++) {
        struct stand stand;
        struct given rows, found, options;
        struct operator* branches[2], *seeds[3];
        static const struct slot_pair pairs[2] = {{0, 3}, {0, 4}};
        stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
        give_numbers(&rows, 12);
        given_init(&found, WIDTH);
        given_init(&options, WIDTH);
        for (int i = 0; i < 2; i++) {
            seeds[i] = seed_new(&stand.run);
            branches[i] = project_new(&stand.run, seeds[i], &pairs[i], 1);
        }
        struct operator* all =
            union_new(&stand.run, give_rows(&stand, &rows, piece), branches, seeds, 2);
        all->batch_rows = piece;
        /* An option that has two matches for each row with 1 in its second column. */
        GIVE(&options, 0, 1, 0, 21);
        GIVE(&options, 0, 1, 0, 22);
        const struct hash_spec spec = {.mode = HASH_JOIN,
                                       .keys = {{1 << 1}},
                                       .built = {{1 << 1 | 1 << 3}},
                                       .weight = NUMBER_NONE};
        seeds[2] = seed_new(&stand.run);
        struct operator* inner =
            hash_join_new(&stand.run, seeds[2], give_rows(&stand, &options, 1), &spec, 3);
        const struct slots none = {{0}};
        struct operator* option = left_join_new(&stand.run, give_rows(&stand, &rows, piece), inner,
                                                seeds[2], 4, &none, 3);
        for (int again = 0; again < 2; again++) {
            take_rows(&stand, all, &found);
            assert_int_equal(found.count, 24);
            for (size_t from = 0, at = 0; from < 12; from += piece) {
                const size_t count = 12 - from < piece ? 12 - from : piece;
                for (size_t i = 0; i < 2 * count; i++) {
                    const oid *row = given_row(&found, at++), number = 10 + from + i % count;
                    assert_int_equal(row[0], number);
                    assert_int_equal(row[3], i < count ? number : 0);
                    assert_int_equal(row[4], i < count ? 0 : number);
                }
            }
            given_release(&found);
            take_rows(&stand, option, &found);
            assert_int_equal(found.count, 16);
            size_t at = 0;
            for (size_t from = 0; from < 12; from += piece) {
                const size_t to = from + piece < 12 ? from + piece : 12;
                for (int matched = 1; matched >= 0; matched--) {
                    for (size_t i = from; i < to; i++) {
                        for (int k = 0; (i % 3 == 1) == matched && k < 1 + matched; k++) {
                            const oid *row = given_row(&found, at++);
                            assert_int_equal(row[0], 10 + i);
                            assert_int_equal(row[1], i % 3);
                            assert_int_equal(row[3] != 0, matched);
                        }
                    }
                }
            }
            given_release(&found);
            operator_reset(all);
            operator_reset(option);
        }
        stand_close(&stand);
        given_release(&rows);
        given_release(&options);
    }
}

/* Each different row comes once, the first of it, also where most are put off into files. */
static void
different_rows_come_once(void **state)
{
    static const uint32_t slots[] = {1, 0};
    (void)state;
    for (size_t turn = 0; turn < 8; turn++) {
        const size_t count = 1 + turn % 2;
        struct stand stand;
        struct given rows, found, wanted;
        stand_open(&stand, "", "SELECT * {}", WIDTH, 1 << 20);
        given_init(&rows, WIDTH);
        given_init(&found, WIDTH);
        given_init(&wanted, WIDTH);
        for (oid i = 0; i < 900; i++) {
            bool again = false;
            const oid row[WIDTH] = {i % 7, i * 5 % 220, 1000 + i};
            for (size_t k = 0; k < wanted.count && !again; k++) {
                const oid *other = given_row(&wanted, k);
                again = other[1] == row[1] && (count == 1 || other[0] == row[0]);
            }
            given_add(&rows, row, WIDTH);
            if (!again) {
                given_add(&wanted, row, WIDTH);
            }
        }
        if (turn >= 4) {
            stand.run.spill.share = 0;
        }
        struct operator* distinct = distinct_new(
            &stand.run, give_rows(&stand, &rows, turn % 4 < 2 ? 1 : 100), slots, count, 100);
        for (int again = 0; again < 2; again++) {
            take_rows(&stand, distinct, &found);
            assert_same_rows(&found, &wanted, "distinct");
            given_release(&found);
            operator_reset(distinct);
        }
        stand_close(&stand);
        given_release(&rows);
        given_release(&wanted);
    }
}

static void
sets_of_graphs_have_their_members(void **state)
{
    static const oid ids[] = {5, 9};
    static const struct {
        struct graphs graphs;
        bool has[3]; /* 5, 9, 7 */
    } cases[] = {
        {{GRAPHS_ALL, ids, 0}, {true, true, true}},
        {{GRAPHS_ONE, ids, 1}, {true, false, false}},
        {{GRAPHS_SET, ids, 2}, {true, true, false}},
        {{GRAPHS_SET, ids, 0}, {false, false, false}},
        {{GRAPHS_ALL_BUT, ids, 1}, {false, true, true}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(graphs_have(&cases[i].graphs, 5), cases[i].has[0]);
        assert_int_equal(graphs_have(&cases[i].graphs, 9), cases[i].has[1]);
        assert_int_equal(graphs_have(&cases[i].graphs, 7), cases[i].has[2]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_have_their_offset_and_limit),
        cmocka_unit_test(lookups_come_first),
        cmocka_unit_test(branches_get_each_batch),
        cmocka_unit_test(different_rows_come_once),
        cmocka_unit_test(sets_of_graphs_have_their_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
