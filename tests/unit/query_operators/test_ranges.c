/* Ranges of a scan that are evaluated apart (index/query/operators/ranges.c): which ranges are run
 * by whom, what is given of them, and when somebody is asked to help. */
#include <string.h>

#include "tests/unit/query_operators/ranges_stand.h"

enum { RANGES = 6, LEAST_MEMORY = 256 << 10 };

static void
ranges_are_run_once_and_given_in_order(void **state)
{
    (void)state;
    for (unsigned helped = 0; helped < 2; helped++) {
        struct opened opened;
        open_ranges(&opened, RANGES, 0, UINT64_MAX, helped);
        const size_t used = opened.stand.run.account.used;
        for (unsigned again = 1; again <= 2; again++) {
            opened.stand.run.report.scans = opened.other.run.report.scans = 0;
            check_rows(&opened, RANGES);
            for (size_t i = 0; i < RANGES; i++) {
                assert_int_equal(bed.runs[i], again);
                /* The first range is the own thread's; the second one, when somebody has been asked
                 * for the others: it is taken before. */
                assert_int_equal(bed.own[i], helped && i > 1 ? 0 : again);
            }
            assert_int_equal(opened.helper.begun, helped ? again : 0);
            assert_int_equal(opened.helper.ended, helped ? again : 0);
            const uint64_t scans = opened.stand.run.report.scans;
            assert_true(scans >= RANGES && (!helped || opened.other.run.report.scans < scans));
            assert_true(opened.stand.run.account.used > used);
            operator_reset(opened.ranges);
            assert_int_equal(opened.helper.closed, opened.helper.begun);
        }
        assert_int_equal(bed.whole, 0);
        /* Part of the memory that is left is for who helps. */
        if (helped) {
            assert_in_range(opened.helper.memory, (size_t)127 << 20, (size_t)128 << 20);
        }
        close_ranges(&opened);
    }
}

static void
enough_rows_end_it(void **state)
{
    static const struct {
        uint64_t enough;
        size_t ranges;
    } cases[] = {{1, 1},   {100, 1}, {101, 2}, {201, 2},       {202, 4},
                 {304, 4}, {305, 5}, {513, 6}, {UINT64_MAX, 6}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct opened opened;
        open_ranges(&opened, RANGES, 0, cases[i].enough, false);
        check_rows(&opened, cases[i].ranges);
        assert_int_equal(bed.ranged, cases[i].ranges);
        close_ranges(&opened);
    }
}

/* Somebody is asked only where it is worth it, and may be had. */
static void
help_is_asked_for_where_it_is_worth_it(void **state)
{
    (void)state;
    enum { NOT_FREE, NOT_HAD, NOT_LONG, LONG, NO_MEMORY, MEMORY, STOPS, WANTED, CASES };
    for (int i = 0; i < CASES; i++) {
        struct opened opened;
        open_ranges(&opened, RANGES, 0, UINT64_MAX, true);
        struct helper *helper = &opened.helper;
        struct memory_account *account = &opened.stand.run.account;
        helper->free = i != NOT_FREE;
        helper->comes = i != NOT_HAD;
        helper->stops = i == STOPS;
        helper->wanted = i == WANTED;
        opened.asked.us_least = i == NOT_LONG ? UINT64_MAX : 0;
        /* An eighth of what is left; the rows of the first range take some before. */
        account->maximum = i == NO_MEMORY ? account->used + 8 * LEAST_MEMORY
                           : i == MEMORY  ? account->used + 9 * LEAST_MEMORY
                                          : account->maximum;
        check_rows(&opened, RANGES);
        const unsigned left =
            RANGES - 1; /* times that it may be asked: before each but the first */
        const unsigned begun = i == NOT_FREE || i == NOT_LONG || i == NO_MEMORY ? 0
                               : i == LONG || i == MEMORY                       ? 1
                                                                                : left;
        assert_int_equal(helper->begun, begun);
        assert_int_equal(helper->asked_free, i == NOT_LONG || i == NO_MEMORY ? 0
                                             : i == NOT_FREE                 ? left
                                                                             : begun);
        assert_int_equal(helper->ended, i == NOT_HAD ? 0 : begun);
        assert_int_equal(helper->helped, i == NOT_HAD ? 0 : begun);
        for (size_t k = 0; k < RANGES; k++) {
            assert_int_equal(bed.runs[k], 1);
            assert_int_equal(bed.own[k], (i == LONG || i == MEMORY) && k > 1 ? 0 : 1);
        }
        close_ranges(&opened);
    }
}

/* A failure of who helps is none of the run: it evaluates that range itself. */
static void
failures_of_who_helps_are_mended(void **state)
{
    (void)state;
    for (unsigned at = 2; at < RANGES; at++) {
        struct opened opened;
        open_ranges(&opened, RANGES, 0, UINT64_MAX, true);
        bed.fail_other = at;
        check_rows(&opened, RANGES);
        for (unsigned i = 0; i < RANGES; i++) {
            assert_true(bed.own[i] == (i < 2 || i == at) || (i > at && bed.runs[i] >= 1));
        }
        assert_true(bed.runs[at] >= 2 && bed.own[at] == 1);
        assert_int_equal(opened.stand.run.report.rows, 0);
        close_ranges(&opened);
    }
}

/* An own failure ends it, with its reason; nobody is left at work, no memory taken. */
static void
own_failures_end_it(void **state)
{
    (void)state;
    for (unsigned helped = 0; helped < 2; helped++) {
        for (unsigned at = 0; at < RANGES; at++) {
            struct opened opened;
            struct batch *batch;
            struct reason why = {""};
            open_ranges(&opened, RANGES, 0, UINT64_MAX, helped);
            /* Its batch is the pipeline's as long as that lives. */
            assert_int_equal(operator_batch(opened.ranges->only, &batch, &why), STATUS_OK);
            const size_t used = opened.stand.run.account.used;
            bed.fail_own = at;
            opened.helper.stops = true;
            assert_int_equal(operator_next(opened.ranges, &batch, &why), STATUS_SYSTEM);
            assert_string_equal(why.text, "a fault of the test");
            assert_int_equal(bed.ranged, at + 1);
            assert_int_equal(opened.helper.ended, helped ? at : 0);
            operator_reset(opened.ranges);
            assert_int_equal(opened.helper.closed, opened.helper.begun);
            assert_int_equal(opened.stand.run.account.used, used);
            /* Begun anew, it is whole. */
            bed.fail_own = RANGES;
            memset(bed.own, 0, sizeof bed.own);
            opened.helper.stops = false;
            check_rows(&opened, RANGES);
            close_ranges(&opened);
        }
    }
}

/* Where ranges have no room, all rows come from the pipeline itself. */
static void
without_room_the_pipeline_is_run_whole(void **state)
{
    (void)state;
    for (unsigned cut = 0; cut < 2; cut++) {
        struct opened opened;
        struct given found;
        open_ranges(&opened, RANGES, 0, UINT64_MAX, true);
        struct run *run = &opened.stand.run;
        const size_t used = run->account.used;
        /* A batch of the pipeline has room, and the first rows of a range, not all. */
        run->account.maximum = used + (cut ? 2500 : 5 * WIDTH * sizeof(oid) + 100);
        given_init(&found, WIDTH);
        take_rows(&opened.stand, opened.ranges, &found);
        /* What the first range gave is forgotten; the pipeline's batch stays. */
        assert_in_range(run->account.used, used, used + 5 * WIDTH * sizeof(oid) + 100);
        size_t rows = 0;
        for (size_t i = 0; i < RANGES; i++) {
            rows += bed.rows[i];
        }
        assert_int_equal(found.count, rows);
        assert_int_equal(bed.whole, 1);
        assert_int_equal(bed.runs[0], 1);
        assert_int_equal(bed.ranged, 1);
        assert_int_equal(opened.helper.begun, 0);
        /* These are the pipeline's own rows. */
        assert_int_equal(given_row(&found, 0)[2], 999);
        given_release(&found);
        close_ranges(&opened);
    }
}

/* The time is looked at while rows are given. */
static void
giving_is_cancelled(void **state)
{
    struct opened opened;
    struct batch *batch;
    struct reason why = {""};
    (void)state;
    open_ranges(&opened, RANGES, 0, UINT64_MAX, false);
    assert_int_equal(operator_next(opened.ranges, &batch, &why), STATUS_OK);
    assert_int_equal(batch->count, 9);
    opened.stand.cancel = true;
    assert_int_equal(operator_next(opened.ranges, &batch, &why), STATUS_CANCELLED);
    close_ranges(&opened);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_run_once_and_given_in_order),
        cmocka_unit_test(enough_rows_end_it),
        cmocka_unit_test(help_is_asked_for_where_it_is_worth_it),
        cmocka_unit_test(failures_of_who_helps_are_mended),
        cmocka_unit_test(own_failures_end_it),
        cmocka_unit_test(without_room_the_pipeline_is_run_whole),
        cmocka_unit_test(giving_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
