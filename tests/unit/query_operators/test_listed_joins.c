/* Joins whose built side is a list in the order of the key, or becomes one: they give what a table
 * would give, and fall back to one where the rows do not ascend or there is no room. */
#include <string.h>

#include "index/query/operators/hash_join.h"
#include "tests/unit/query_operators/counting_source.h"

static struct slots
slots_from(uint64_t bits)
{
    return (struct slots){{bits}};
}

static struct hash_spec
spec_of(enum hash_mode mode, uint64_t keys, uint64_t built, bool weighs)
{
    return (struct hash_spec){.mode = mode,
                              .keys = slots_from(keys),
                              .built = slots_from(built),
                              .weight = weighs ? WEIGHT : NUMBER_NONE};
}

static struct operator* join_of(struct stand *stand, struct operator* input, struct operator* built,
                                const struct hash_spec *spec, size_t batch_rows)
{
    struct operator* join = hash_join_new(&stand->run, input, built, spec, batch_rows);
    assert_non_null(join);
    return join;
}

static const struct join_list *
list_of(const struct operator* join)
{
    return &((const struct hash_join *)join)->list;
}

/* ---- lookups ---- */

/* Every key is found from wherever the one before was. */
static void
keys_are_found_from_anywhere(void **state)
{
    struct triple_count entries[200];
    (void)state;
    for (size_t count = 0; count <= 200; count = count ? count * 3 - 1 : 1) {
        for (int two = 0; two < 2; two++) {
            for (size_t i = 0; i < count; i++) {
                entries[i] = (struct triple_count){10 + i / (two ? 4 : 1) * 2, 5 + i % 4 * 2};
            }
            for (size_t from = 0; from <= count; from += 1 + from / 3) {
                for (oid value = 9; value < 14 + 2 * count; value++) {
                    for (oid other = two ? 4 : 0; other <= (two ? 12 : 0); other++) {
                        struct join_list list = {.list = entries,
                                                 .count = count,
                                                 .at = from,
                                                 .two = two,
                                                 .slots = {2, 1}};
                        const oid row[3] = {0, other, value};
                        size_t place = SIZE_MAX;
                        for (size_t i = count; i-- > 0;) {
                            place =
                                entries[i].value == value && (!two || entries[i].triples == other)
                                    ? i
                                    : place;
                        }
                        assert_int_equal(join_list_find(&list, row), place);
                        assert_true(place == SIZE_MAX || list.at == place);
                    }
                }
            }
        }
    }
}

/* Entries with the same key, or of two columns the same pair, stand for that many rows. */
static void
entries_tell_their_numbers(void **state)
{
    static const struct triple_count entries[] = {{1, 5}, {1, 6}, {1, 6}, {2, 6}, {2, 7}, {2, 7}};
    struct join_list list = {.list = entries, .count = 6};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(join_list_number(&list, i), entries[i].triples);
    }
    static const size_t next[] = {1, 2, SIZE_MAX, 4, 5, SIZE_MAX};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(join_list_next(&list, i), next[i]);
    }
    list.two = true;
    static const uint64_t numbers[] = {1, 2, 1, 1, 2, 1};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(join_list_number(&list, i), numbers[i]);
    }
}

/* ---- lists of the source ---- */

/* Two lists in the same order: of each mode, what is in both, or in one. */
static void
lists_are_joined_side_by_side(void **state)
{
    (void)state;
    for (int mode = HASH_JOIN; mode <= HASH_SEMI; mode++) {
        for (int kept = 0; kept < 2; kept++) {
            struct stand stand;
            struct given found, wanted, rows;
            open_counted(&stand, MEMORY);
            given_init(&found, WIDTH);
            given_init(&wanted, WIDTH);
            given_init(&rows, WIDTH);
            GIVE(&rows, 0);
            for (oid i = 0; i < 900; i++) {
                const bool first = i % 2 == 0, second = i % 3 == 0;
                if (first) {
                    counted_add(0, 100 + i, 1 + i % 5);
                }
                if (second) {
                    counted_add(1, 100 + i, 1 + i % 4);
                }
                const uint64_t pairs = (1 + i % 5) * (mode < HASH_MINUS ? 1 + i % 4 : 1);
                if (first && (mode == HASH_MINUS ? !second : second)) {
                    GIVE(&wanted, 100 + i, 0, 0, 0, 0, pairs);
                } else if (first && mode == HASH_LEFT_JOIN) {
                    GIVE(&wanted, 100 + i, 0, 0, 0, 0, 1 + i % 5);
                }
            }
            const struct counts_spec left = usual_counts(&stand, 0);
            struct counts_spec right = usual_counts(&stand, 1);
            right.again = kept;
            struct operator* given = give_rows(&stand, &rows, 1);
            struct operator* input = counts_over(&stand, &left, unit_new(&stand.run), 64);
            const struct hash_spec spec = spec_of((enum hash_mode)mode, 1, 1, true);
            struct operator* join =
                join_of(&stand, input, counts_over(&stand, &right, given, 64), &spec, 64);
            assert_true(hash_join_sifts(join));
            for (int again = 0; again < 2; again++) {
                take_rows(&stand, join, &found);
                assert_same_rows(&found, &wanted, join->kind->name);
                /* What is kept is the list as it is; else its rows are read into a table. */
                assert_int_equal(list_of(join)->list != NULL, kept);
                assert_true(list_of(join)->own == NULL);
                assert_int_equal(given_resets(given), kept ? 0 : 1);
                operator_reset(join);
                given_release(&found);
            }
            /* Where a join drops rows, its input has been told what to leave out. */
            if (kept) {
                operator_reset(join);
                struct batch *batch;
                struct reason why = {""};
                size_t left_over = 0;
                assert_int_equal(hash_join_build((struct hash_join *)join, &why), STATUS_OK);
                do {
                    assert_int_equal(operator_next(input, &batch, &why), STATUS_OK);
                    left_over += batch->count;
                } while (batch->count);
                assert_int_equal(left_over, mode == HASH_JOIN || mode == HASH_SEMI ? 150 : 450);
            }
            stand_close(&stand);
            given_release(&wanted);
            given_release(&rows);
        }
    }
}

/* Pairs of two columns, in either order of the slots, of which some come several times. */
static void
lists_of_pairs_are_joined(void **state)
{
    (void)state;
    for (int mode = HASH_JOIN; mode <= HASH_SEMI; mode++) {
        for (unsigned turn = 0; turn < 4; turn++) {
            const uint32_t slot = turn % 2 ? 1 : 0, object = 1 - slot;
            struct stand stand;
            struct given found, wanted, rows;
            open_counted(&stand, MEMORY);
            given_init(&found, WIDTH);
            given_init(&wanted, WIDTH);
            given_init(&rows, WIDTH);
            GIVE(&rows, 0);
            for (oid i = 0; i < 300; i++) {
                const oid value = 10 + i / 5, other = 20 + i % 5;
                const unsigned times = i % 3 == 0 ? 0 : i % 7 == 0 ? 3 : 1;
                counted_add(0, value, other);
                for (unsigned k = 0; k < times; k++) {
                    counted_add(1, value, other);
                }
                if (mode == HASH_MINUS ? !times : times || mode == HASH_LEFT_JOIN) {
                    const oid number = mode < HASH_MINUS && times ? times : 0;
                    oid row[WIDTH] = {0, 0, 0, 0, 0, number};
                    row[slot] = value;
                    row[object] = other;
                    given_add(&wanted, row, WIDTH);
                }
            }
            struct counts_spec left = usual_counts(&stand, 0), right = usual_counts(&stand, 1);
            left.by = right.by = TRIPLE_PAIRS;
            left.slot = right.slot = slot;
            left.object = right.object = object;
            /* Pairs that are not kept in the same order go through a table. */
            right.again = turn < 2;
            struct operator* given = give_rows(&stand, &rows, 1);
            struct operator* input = counts_over(&stand, &left, unit_new(&stand.run), 64);
            const struct hash_spec spec = spec_of((enum hash_mode)mode, 3, 3, true);
            struct operator* join =
                join_of(&stand, input, counts_over(&stand, &right, given, 64), &spec, 64);
            take_rows(&stand, join, &found);
            assert_same_rows(&found, &wanted, join->kind->name);
            assert_int_equal(list_of(join)->list != NULL, turn < 2);
            assert_int_equal(list_of(join)->two, true);
            assert_int_equal(given_resets(given), turn < 2 ? 0 : 1);
            stand_close(&stand);
            given_release(&found);
            given_release(&wanted);
            given_release(&rows);
        }
    }
}

/* Few rows look up what is kept, in whatever order they come; for more of them it is put into a
 * table. */
static void
few_rows_look_up_what_is_kept(void **state)
{
    (void)state;
    for (size_t count = 3; count <= 4; count++) {
        for (int pairs = 0; pairs < 2; pairs++) {
            struct stand stand;
            struct given found, wanted, rows, left;
            open_counted(&stand, MEMORY);
            given_init(&found, WIDTH);
            given_init(&wanted, WIDTH);
            given_init(&rows, WIDTH);
            given_init(&left, WIDTH);
            GIVE(&rows, 0);
            for (oid i = 0; i < 9; i++) {
                counted_add(1, 10 + i / 2, 20 + i);
            }
            static const oid looked_up[] = {12, 10, 14, 99};
            for (size_t i = 0; i < count; i++) {
                GIVE(&left, looked_up[i], 0, 1 + i);
                for (oid k = 0; k < 9; k++) {
                    if (10 + k / 2 == looked_up[i]) {
                        GIVE(&wanted, looked_up[i], 20 + k, 1 + i);
                    }
                }
            }
            struct counts_spec right = usual_counts(&stand, 1);
            right.by = TRIPLE_PAIRS;
            right.object = 1;
            right.again = pairs == 0;
            struct operator* given = give_rows(&stand, &rows, 1);
            const struct hash_spec spec = spec_of(HASH_JOIN, 1, 3, false);
            struct operator* join = join_of(&stand, give_rows(&stand, &left, 2),
                                            counts_over(&stand, &right, given, 64), &spec, 3);
            take_rows(&stand, join, &found);
            given_sort(&found);
            given_sort(&wanted);
            assert_same_rows(&found, &wanted, "pairs that are looked up");
            assert_int_equal(list_of(join)->list != NULL, count == 3 && pairs == 0);
            assert_int_equal(given_resets(given), count == 3 && pairs == 0 ? 0 : 1);
            /* Another run's join takes the list or the table as it is. */
            struct given others;
            given_init(&others, WIDTH);
            GIVE(&others, 14, 0, 7);
            struct operator* second = join_of(&stand, give_rows(&stand, &others, 1),
                                              give_rows(&stand, &rows, 1), &spec, 3);
            assert_true(hash_join_can_lend(join));
            assert_true(hash_join_borrow(second, join));
            assert_false(hash_join_borrow(second, join));
            given_release(&found);
            take_rows(&stand, second, &found);
            assert_int_equal(found.count, 1);
            assert_true(given_row(&found, 0)[0] == 14 && given_row(&found, 0)[1] == 28 &&
                        given_row(&found, 0)[2] == 7);
            stand_close(&stand);
            given_release(&found);
            given_release(&wanted);
            given_release(&rows);
            given_release(&left);
            given_release(&others);
        }
    }
}

/* A table is lent to a join with the same columns, and to no other. */
static void
other_joins_borrow_nothing(void **state)
{
    struct stand stand;
    struct given rows, found;
    (void)state;
    open_counted(&stand, MEMORY);
    given_init(&rows, WIDTH);
    given_init(&found, WIDTH);
    GIVE(&rows, 1, 2, 3);
    const struct hash_spec spec = spec_of(HASH_JOIN, 1, 7, false);
    struct operator* join =
        join_of(&stand, give_rows(&stand, &rows, 1), give_rows(&stand, &rows, 1), &spec, 3);
    take_rows(&stand, join, &found);
    assert_int_equal(found.count, 1);
    const struct hash_spec others[] = {
        spec_of(HASH_JOIN, 3, 7, false),  spec_of(HASH_JOIN, 1, 3, false),
        spec_of(HASH_JOIN, 1, 7, true),   spec_of(HASH_JOIN, 2, 7, false),
        spec_of(HASH_JOIN, 1, 11, false),
    };
    assert_true(hash_join_can_lend(join));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct operator* other = join_of(&stand, give_rows(&stand, &rows, 1),
                                         give_rows(&stand, &rows, 1), &others[i], 3);
        assert_false(hash_join_borrow(other, join));
        assert_false(hash_join_can_lend(other));
    }
    struct operator* given = give_rows(&stand, &rows, 1);
    assert_false(hash_join_borrow(given, join));
    assert_false(hash_join_can_lend(given));
    assert_false(hash_join_sifts(given) || hash_join_sifts(join));
    stand_close(&stand);
    given_release(&rows);
    given_release(&found);
}

/* ---- lists that are made of rows ---- */

/* The built side are counts that another join has sifted, over so many input rows that each value
 * comes that often: in order where there is one row, or where all have the only value. */
static void
check_made_list(enum hash_mode mode, bool weighs, size_t values, size_t rows, bool little)
{
    struct stand stand;
    struct given found, wanted, given, keys;
    const bool multiplies = weighs && mode < HASH_MINUS;
    open_counted(&stand, MEMORY);
    given_init(&found, WIDTH);
    given_init(&wanted, WIDTH);
    given_init(&given, WIDTH);
    given_init(&keys, WIDTH);
    for (size_t i = 0; i < rows; i++) {
        GIVE(&given, 0);
    }
    for (oid i = 0; i < values; i++) {
        counted_add(1, 1000 + 2 * i, 2 + i % 3);
        GIVE(&keys, 1000 + 2 * i);
    }
    for (oid i = 0; i < 2 * values + 4; i++) {
        const bool paired = i % 2 == 0 && i < 2 * values;
        const oid number = multiplies && paired ? rows * (2 + i / 2 % 3) : 1;
        counted_add(0, 1000 + i, 1);
        if (mode == HASH_MINUS ? !paired : paired || mode == HASH_LEFT_JOIN) {
            GIVE(&wanted, 1000 + i, 0, 0, 0, 0, number);
        }
    }
    struct counts_spec left = usual_counts(&stand, 0), right = usual_counts(&stand, 1);
    struct operator* input = counts_over(&stand, &left, unit_new(&stand.run), 64);
    struct operator* counts = counts_over(&stand, &right, give_rows(&stand, &given, 1), 64);
    const struct hash_spec sifting = spec_of(HASH_SEMI, 1, 1, false);
    struct operator* sifted = join_of(&stand, counts, give_rows(&stand, &keys, 64), &sifting, 64);
    const struct hash_spec spec = spec_of(mode, 1, 1, weighs);
    struct operator* join = join_of(&stand, input, sifted, &spec, 64);
    assert_true(hash_join_sifts(sifted) && hash_join_sifts(join));
    if (little) {
        /* All that is below has its memory; there is room for the first entries of a list. */
        take_rows(&stand, input, &found);
        take_rows(&stand, sifted, &found);
        operator_reset(input);
        given_release(&found);
        stand.run.spill.share = stand.run.account.used + 256 * sizeof(struct triple_count);
    }
    take_rows(&stand, join, &found);
    if (little) {
        given_sort(&found);
        assert_int_equal(stand.run.spill.highest > 0, values > 256);
    }
    assert_same_rows(&found, &wanted, join->kind->name);
    if (little && values > 256) {
        assert_true(list_of(join)->own == NULL);
        stand_close(&stand);
        given_release(&found);
        given_release(&wanted);
        given_release(&given);
        given_release(&keys);
        return;
    }
    const bool ascends = rows == 1 || values == 1;
    assert_int_equal(list_of(join)->own != NULL, ascends);
    assert_true(!ascends || list_of(join)->count == values);
    assert_int_equal(((const struct hash_join *)join)->table.count, ascends ? 0 : values);
    assert_true(little || stand.run.spill.highest == 0);
    const size_t before = stand.run.account.used;
    const size_t held = list_of(join)->room * sizeof(struct triple_count);
    hash_join_release((struct hash_join *)join);
    assert_true(before - stand.run.account.used >= held);
    assert_true(!ascends || held >= values * sizeof(struct triple_count));
    stand_close(&stand);
    given_release(&found);
    given_release(&wanted);
    given_release(&given);
    given_release(&keys);
}

static void
rows_that_ascend_become_a_list(void **state)
{
    static const enum hash_mode modes[] = {HASH_JOIN, HASH_LEFT_JOIN, HASH_MINUS, HASH_SEMI};
    static const size_t values[] = {1, 2, 255, 256, 257, 600};
    (void)state;
    for (size_t mode = 0; mode < 4; mode++) {
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            for (size_t rows = 1; rows <= 3; rows += 2) {
                check_made_list(modes[mode], true, values[i], rows, false);
                if (modes[mode] >= HASH_MINUS) {
                    check_made_list(modes[mode], false, values[i], rows, false);
                }
            }
            check_made_list(modes[mode], true, values[i], 1, true);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_found_from_anywhere),
        cmocka_unit_test(entries_tell_their_numbers),
        cmocka_unit_test(lists_are_joined_side_by_side),
        cmocka_unit_test(lists_of_pairs_are_joined),
        cmocka_unit_test(few_rows_look_up_what_is_kept),
        cmocka_unit_test(other_joins_borrow_nothing),
        cmocka_unit_test(rows_that_ascend_become_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
