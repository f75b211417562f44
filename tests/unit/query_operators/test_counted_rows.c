/* Rows that the source counts instead of a scan. */
#include <string.h>

#include "tests/unit/query_operators/counting_source.h"

static void
values_come_for_each_row(void **state)
{
    static const size_t batches[] = {1, 3, 4, 7, BATCH_ROWS};
    (void)state;
    for (size_t turn = 0; turn < 5; turn++) {
        struct stand stand;
        struct given input, found, wanted;
        open_counted(&stand, MEMORY);
        given_init(&input, WIDTH);
        given_init(&found, WIDTH);
        given_init(&wanted, WIDTH);
        GIVE(&input, 0, 0, 5, 0, 0, 0);
        GIVE(&input, 0, 0, 6, 0, 0, 1);
        GIVE(&input, 0, 0, 7, 0, 0, 3);
        counted_add(0, 11, 1);
        counted_add(0, 13, 4);
        counted_add(0, 17, 2);
        counted_add(0, 18, 9);
        for (oid i = 0; i < 3; i++) {
            for (size_t k = 0; k < 4; k++) {
                const struct triple_count *one = &counted.lists[0][k];
                GIVE(&wanted, one->value, 0, 5 + i, 0, 0, one->triples * (i == 2 ? 3 : 1));
            }
        }
        struct counts_spec spec = usual_counts(&stand, 0);
        spec.quads = true;
        spec.kind = TERM_IRI;
        spec.of = TRIPLE_OBJECT;
        const size_t before = stand.run.account.used;
        struct operator* given = give_rows(&stand, &input, 1 + turn % 3);
        struct operator* counts = counts_over(&stand, &spec, given, batches[turn]);
        take_rows(&stand, counts, &found);
        assert_same_rows(&found, &wanted, "counts");
        operator_reset(counts);
        given_release(&found);
        take_rows(&stand, counts, &found);
        assert_same_rows(&found, &wanted, "counts after a reset");
        assert_int_equal(counted.asked, 1);
        assert_int_equal(stand.run.report.scans, 1);
        const struct count_request *request = &counted.request;
        assert_int_equal(request->pattern.predicate, counted.first);
        assert_int_equal(request->by, TRIPLE_SUBJECT);
        assert_true(request->quads && request->again);
        assert_int_equal(request->kind, TERM_IRI);
        assert_int_equal(request->of, TRIPLE_OBJECT);
        assert_int_equal(request->memory, MEMORY / 8);
        /* Nothing but the answer and the batches is counted as held. */
        assert_int_equal(stand.run.account.used - before,
                         4 * sizeof(struct triple_count) +
                             (WIDTH + 1) * sizeof(oid) * (1 + turn % 3 + batches[turn]));
        assert_in_range(stand.run.account.highest, before + MEMORY / 8, MEMORY);
        stand_close(&stand);
        assert_int_equal(counted.released, 1);
        given_release(&input);
        given_release(&found);
        given_release(&wanted);
    }
}

/* However much memory a query has, its counting takes no more than 64 MiB. */
static void
counting_has_a_share_of_the_memory(void **state)
{
    static const struct {
        size_t memory, share;
    } shares[] = {{0, 64 << 20}, {(size_t)512 << 20, 64 << 20}, {(512 << 20) - 8, (64 << 20) - 1}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct stand stand;
        struct given found;
        open_counted(&stand, shares[i].memory);
        given_init(&found, WIDTH);
        const struct counts_spec spec = usual_counts(&stand, 0);
        take_rows(&stand, counts_over(&stand, &spec, unit_new(&stand.run), 8), &found);
        assert_int_equal(found.count, 0);
        assert_int_equal(counted.request.memory, shares[i].share);
        stand_close(&stand);
        given_release(&found);
    }
}

static void
what_is_not_counted_is_scanned(void **state)
{
    (void)state;
    for (int turn = 0; turn < 6; turn++) {
        struct stand stand;
        struct given found;
        struct reason why = {""};
        open_counted(&stand, MEMORY);
        given_init(&found, WIDTH);
        counted_add(0, 11, 1);
        counted.status = turn == 0   ? STATUS_LIMIT
                         : turn == 1 ? STATUS_UNSUPPORTED
                         : turn == 5 ? STATUS_SYSTEM
                                     : STATUS_OK;
        stand.run.helps = turn == 2;
        const size_t room = stand.run.account.used + MEMORY / 8;
        stand.run.spill.share = turn == 3 ? room - 1 : turn == 4 ? room : MEMORY;
        const struct counts_spec spec = usual_counts(&stand, 0);
        struct operator* counts = counts_over(&stand, &spec, unit_new(&stand.run), BATCH_ROWS);
        if (turn == 5) {
            assert_int_equal(take_failing(counts, &why), STATUS_SYSTEM);
            assert_string_equal(why.text, "not counted");
        } else {
            take_rows(&stand, counts, &found);
            assert_int_equal(found.count, turn == 4 ? 1 : 5);
            assert_int_equal(counted.asked, turn == 2 || turn == 3 ? 0 : 1);
            const struct triple_count *list;
            size_t count;
            bool are;
            assert_int_equal(counts_kept(counts, 0, &list, &count, &why), STATUS_OK);
            assert_int_equal(list != NULL, turn == 4);
            assert_int_equal(count, turn == 4);
            assert_int_equal(counts_are_by(counts, 0, &are, &why), STATUS_OK);
            assert_int_equal(are, turn == 4);
            struct quad_cuts cuts = {.count = 3};
            assert_int_equal(counts_divide(counts, &cuts, &why), STATUS_OK);
            assert_int_equal(cuts.count, 0);
        }
        stand_close(&stand);
        given_release(&found);
    }
}

/* Of a scan in place of counts only rows are left whose term is of the kind. */
static enum term_kind
kind_of(oid id)
{
    return id % 2 ? TERM_LITERAL : TERM_IRI;
}

static void
scanned_rows_are_of_the_kind(void **state)
{
    static const enum term_kind kinds[] = {TERM_NONE, TERM_LITERAL, TERM_IRI, TERM_BLANK};
    struct given all;
    (void)state;
    given_init(&all, WIDTH);
    for (size_t turn = 0; turn < 4; turn++) {
        struct stand stand;
        struct given found;
        size_t at = 0;
        open_counted(&stand, MEMORY);
        given_init(&found, WIDTH);
        counted.status = STATUS_LIMIT;
        stand.source.kind = kind_of;
        struct counts_spec spec = usual_counts(&stand, 0);
        spec.kind = kinds[turn];
        spec.of = TRIPLE_OBJECT;
        spec.of_slot = counted_pattern(&stand, 0)->object.number;
        take_rows(&stand, counts_over(&stand, &spec, unit_new(&stand.run), 8),
                  turn == 0 ? &all : &found);
        assert_int_equal(all.count, 5);
        for (size_t i = 0; turn > 0 && i < all.count; i++) {
            const oid *row = given_row(&all, i);
            if (kind_of(row[spec.of_slot]) == kinds[turn]) {
                assert_true(at < found.count);
                assert_memory_equal(given_row(&found, at++), row, WIDTH * sizeof *row);
            }
        }
        assert_int_equal(found.count, at);
        stand_close(&stand);
        given_release(&found);
    }
    given_release(&all);
}

static void
counted_numbers_have_their_bound(void **state)
{
    struct stand stand;
    struct given input;
    struct reason why = {""};
    (void)state;
    open_counted(&stand, MEMORY);
    given_init(&input, WIDTH);
    GIVE(&input, 0, 0, 0, 0, 0, (oid)1 << 32);
    counted_add(0, 11, (oid)1 << 32);
    const struct counts_spec spec = usual_counts(&stand, 0);
    assert_int_equal(
        take_failing(counts_over(&stand, &spec, give_rows(&stand, &input, 1), 8), &why),
        STATUS_LIMIT);
    assert_string_equal(why.text, "more rows than can be counted");
    stand_close(&stand);
    given_release(&input);
}

/* Values of a type that a filter above drops are gone over; those of other types stay. */
static void
values_out_of_their_range_are_left_out(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < 3; turn++) {
        struct stand stand;
        struct given input, found;
        open_counted(&stand, MEMORY);
        given_init(&input, WIDTH);
        given_init(&found, WIDTH);
        GIVE(&input, 0);
        GIVE(&input, 0);
        for (oid value = 1; value <= 100; value++) {
            counted_add(0, value, 1);
        }
        struct counts_spec spec = usual_counts(&stand, 0);
        spec.objects = turn == 0   ? (struct id_range){20, 40, 60, 80}
                       : turn == 1 ? (struct id_range){20, 20, 60, 100}
                                   : (struct id_range){1, 40, 80, 80};
        struct operator* counts = counts_over(&stand, &spec, give_rows(&stand, &input, 2), 16);
        take_rows(&stand, counts, &found);
        size_t at = 0;
        for (int again = 0; again < 2; again++) {
            for (oid value = 1; value <= 100; value++) {
                const struct id_range *range = &spec.objects;
                const bool out = value >= range->first && value <= range->last &&
                                 (value < range->low || value > range->high);
                if (!out) {
                    assert_true(at < found.count);
                    assert_int_equal(given_row(&found, at++)[0], value);
                }
            }
        }
        assert_int_equal(found.count, at);
        stand_close(&stand);
        given_release(&input);
        given_release(&found);
    }
}

static void
lists_are_cut_where_that_is_worth_it(void **state)
{
    static const struct {
        size_t values, most, cuts;
    } cases[] = {{1023, 3, 0}, {1024, 3, 3}, {4000, QUAD_CUTS, QUAD_CUTS}};
    (void)state;
    for (size_t turn = 0; turn < 3; turn++) {
        struct stand stand;
        struct given found;
        struct reason why = {""};
        open_counted(&stand, MEMORY);
        given_init(&found, WIDTH);
        for (oid value = 0; value < cases[turn].values; value++) {
            counted_add(0, 1 + 2 * value, 1);
        }
        const struct counts_spec spec = usual_counts(&stand, 0);
        struct operator* counts = counts_over(&stand, &spec, unit_new(&stand.run), BATCH_ROWS);
        struct quad_cuts cuts = {.count = cases[turn].most};
        assert_int_equal(counts_divide(counts, &cuts, &why), STATUS_OK);
        assert_int_equal(cuts.count, cases[turn].cuts);
        for (size_t i = 0; i < cuts.count; i++) {
            assert_int_equal(cuts.values[i], (i + 1) * cases[turn].values / (cases[turn].most + 1));
        }
        /* Another run's operator gives the last piece, this one those before; then all. */
        struct operator* other = counts_over(&stand, &spec, unit_new(&stand.run), BATCH_ROWS);
        counts_lend(counts, other);
        for (size_t i = 0; i <= cuts.count; i++) {
            const struct scan_range range = {.from = i ? cuts.values[i - 1] : 0,
                                             .to = i < cuts.count ? cuts.values[i] : 0};
            struct operator* one = i<cuts.count ? counts : other;
            counts_set_range(one, &range);
            operator_reset(one);
            take_rows(&stand, one, &found);
            assert_int_equal(found.count, range.to ? range.to : cases[turn].values);
        }
        for (size_t i = 0; i < found.count; i++) {
            assert_int_equal(given_row(&found, i)[0], 1 + 2 * i);
        }
        assert_int_equal(counted.asked, 1);
        stand_close(&stand);
        assert_int_equal(counted.released, 1);
        given_release(&found);
    }
}

static void
counts_say_what_they_are_of(void **state)
{
    struct stand stand;
    struct reason why = {""};
    struct given rows;
    const struct triple_count *list;
    size_t count;
    uint32_t slot;
    bool are;
    (void)state;
    open_counted(&stand, MEMORY);
    given_init(&rows, WIDTH);
    counted_add(0, 11, 1);
    counted_add(0, 12, 21);
    struct counts_spec spec = usual_counts(&stand, 0);
    struct operator* first = counts_over(&stand, &spec, unit_new(&stand.run), 8);
    struct operator* second = counts_over(&stand, &spec, give_rows(&stand, &rows, 1), 8);
    struct operator* behind =
        counts_over(&stand, &spec, counted_scan(&stand, 1, unit_new(&stand.run)), 8);
    spec.again = false;
    struct operator* once = counts_over(&stand, &spec, unit_new(&stand.run), 8);
    spec.object = 1;
    spec.by = TRIPLE_PAIRS;
    spec.again = true;
    struct operator* pairs = counts_over(&stand, &spec, unit_new(&stand.run), 8);
    spec = usual_counts(&stand, 0);
    spec.slot = NUMBER_NONE;
    struct operator* number = counts_over(&stand, &spec, unit_new(&stand.run), 8);
    struct operator* scan = counted_scan(&stand, 0, unit_new(&stand.run));

    assert_true(counts_first(first, &slot));
    assert_int_equal(slot, 0);
    assert_true(counts_first(second, &slot) && counts_first(once, &slot));
    assert_false(counts_first(behind, &slot));
    assert_int_equal(slot, NUMBER_NONE);
    assert_false(counts_first(pairs, &slot) || counts_first(number, &slot) ||
                 counts_first(scan, &slot));

    assert_int_equal(counts_are_by(pairs, 0, &are, &why), STATUS_OK);
    assert_false(are);
    assert_int_equal(counts_are_by(first, 1, &are, &why), STATUS_OK);
    assert_false(are);
    assert_int_equal(counted.asked, 0);
    assert_int_equal(counts_are_by(first, 0, &are, &why), STATUS_OK);
    assert_true(are);
    assert_int_equal(counted.asked, 1);
    assert_int_equal(counts_are_by(once, 0, &are, &why), STATUS_OK);
    assert_true(are);

    assert_int_equal(counts_object(first), NUMBER_NONE);
    assert_int_equal(counts_object(pairs), 1);
    assert_int_equal(counts_object(scan), NUMBER_NONE);

    assert_int_equal(counts_kept(scan, 0, &list, &count, &why), STATUS_OK);
    assert_true(!list && count == 0);
    assert_int_equal(counts_kept(once, 0, &list, &count, &why), STATUS_OK);
    assert_true(!list && count == 0);
    assert_int_equal(counts_kept(pairs, 1, &list, &count, &why), STATUS_OK);
    assert_true(!list && count == 0);
    assert_int_equal(counts_kept(pairs, 0, &list, &count, &why), STATUS_OK);
    assert_true(list && count == 2 && list[1].value == 12 && list[1].triples == 21);

    /* Both columns of pairs can be looked at by a join above, of others that of the values. */
    assert_true(counts_can_filter(first, 0));
    assert_false(counts_can_filter(first, 1));
    assert_true(counts_can_filter(pairs, 0) && counts_can_filter(pairs, 1));
    assert_false(counts_can_filter(pairs, 2) || counts_can_filter(scan, 0));
    stand_close(&stand);
    given_release(&rows);
}

/* A filter of a join goes by the value, or by the object of pairs. */
static void
filters_leave_out_what_has_no_match(void **state)
{
    (void)state;
    for (uint32_t slot = 0; slot < 2; slot++) {
        struct stand stand;
        struct given found;
        struct reason why = {""};
        struct row_table table;
        struct key_filter filter = {0};
        open_counted(&stand, MEMORY);
        given_init(&found, WIDTH);
        for (oid i = 0; i < 500; i++) {
            counted_add(0, 1000 + i, 3000 + i);
        }
        struct counts_spec spec = usual_counts(&stand, 0);
        spec.by = TRIPLE_PAIRS;
        spec.object = 1;
        struct operator* counts = counts_over(&stand, &spec, unit_new(&stand.run), 100);
        row_table_init(&table, &stand.run.account, "keys", 2, 1);
        for (oid key = 0; key < 5; key++) {
            assert_int_equal(
                row_table_add(&table, (const oid[]){key, (slot ? 3100 : 1100) + key}, &why),
                STATUS_OK);
        }
        key_filter_fill(&filter, &table, 1);
        counts_set_filter(counts, &filter, slot);
        take_rows(&stand, counts, &found);
        assert_in_range(found.count, 5, 50);
        size_t at = 0;
        for (oid i = 0; i < 500; i++) {
            const oid key = (slot ? 3000 : 1000) + i;
            if (key_filter_may_have(&filter, key)) {
                assert_true(at < found.count);
                assert_int_equal(given_row(&found, at)[0], 1000 + i);
                assert_int_equal(given_row(&found, at++)[1], 3000 + i);
            }
        }
        assert_int_equal(found.count, at);
        counts_set_filter(counts, NULL, slot);
        operator_reset(counts);
        given_release(&found);
        take_rows(&stand, counts, &found);
        assert_int_equal(found.count, 500);
        key_filter_release(&filter);
        row_table_release(&table);
        stand_close(&stand);
        given_release(&found);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_for_each_row),
        cmocka_unit_test(counting_has_a_share_of_the_memory),
        cmocka_unit_test(what_is_not_counted_is_scanned),
        cmocka_unit_test(scanned_rows_are_of_the_kind),
        cmocka_unit_test(counted_numbers_have_their_bound),
        cmocka_unit_test(values_out_of_their_range_are_left_out),
        cmocka_unit_test(lists_are_cut_where_that_is_worth_it),
        cmocka_unit_test(counts_say_what_they_are_of),
        cmocka_unit_test(filters_leave_out_what_has_no_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
