/* When a run asks for help with its ranges (index/query/operators/ranges.c), as its clocks tell; a
 * range that two evaluate; what who helps is lent; and ranges of lists of counts. */
#include <string.h>
#include <time.h>

#include "base/system/clock.h"
#include "tests/unit/query_operators/ranges_stand.h"

enum { RANGES = 6 };

/* ---- clocks that a test tells ---- */

uint64_t __wrap_clock_monotonic_us(void);
uint64_t
__wrap_clock_monotonic_us(void)
{
    return bed.clock_us;
}

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int
__wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    if (clock != CLOCK_THREAD_CPUTIME_ID) {
        return __real_clock_gettime(clock, now);
    }
    now->tv_sec = (time_t)(bed.clock_used_us / 1000000);
    now->tv_nsec = (long)(bed.clock_used_us % 1000000 * 1000);
    return 0;
}

/* ---- joins and counts that are told ---- */

enum { JOINS_MOST = 20 };

static struct {
    const struct operator* lenders[JOINS_MOST];
    size_t count;
    const struct operator* borrowers[JOINS_MOST];
    const struct operator* borrowed[JOINS_MOST];
    size_t borrowings;
    const struct operator* counts_lent[2];
    unsigned counts_lendings, divisions;
    struct quad_cuts cuts;
    enum status status;
} joins;

bool __wrap_hash_join_can_lend(const struct operator* operator);
bool
__wrap_hash_join_can_lend(const struct operator* operator)
{
    for (size_t i = 0; i < joins.count; i++) {
        if (joins.lenders[i] == operator) {
            return true;
        }
    }
    return false;
}

bool __wrap_hash_join_borrow(struct operator* to, const struct operator* from);
bool
__wrap_hash_join_borrow(struct operator* to, const struct operator* from)
{
    assert_non_null(from);
    joins.borrowers[joins.borrowings] = to;
    joins.borrowed[joins.borrowings++] = from;
    return true;
}

void __wrap_counts_lend(const struct operator* counts, struct operator* to);
void
__wrap_counts_lend(const struct operator* counts, struct operator* to)
{
    joins.counts_lent[0] = counts;
    joins.counts_lent[1] = to;
    joins.counts_lendings++;
}

enum status __wrap_counts_divide(struct operator* counts, struct quad_cuts *cuts,
                                 struct reason *why);
enum status
__wrap_counts_divide(struct operator* counts, struct quad_cuts *cuts, struct reason *why)
{
    joins.divisions++;
    assert_non_null(counts);
    assert_int_equal(cuts->count, 4711);
    if (joins.status != STATUS_OK) {
        return status_fail(why, joins.status, "no counts");
    }
    *cuts = joins.cuts;
    return STATUS_OK;
}

void __wrap_scan_set_range(struct operator* scan, const struct scan_range *range);
void __wrap_counts_set_range(struct operator* counts, const struct scan_range *range);
void
__wrap_counts_set_range(struct operator* counts, const struct scan_range *range)
{
    assert_true(joins.counts_lendings + joins.divisions > 0);
    __wrap_scan_set_range(counts, range);
}

/* ---- when somebody is asked ---- */

/* A run asks where a range takes so long that those that nobody has taken are worth it; a range
 * that took longer by the clock than by the processor says that others want the processors. */
static void
clocks_tell_whether_to_ask(void **state)
{
    static const struct {
        uint64_t us_least;
        unsigned late_most;
        uint64_t us[RANGES], used[RANGES];
        unsigned at; /* the range before which it is asked, 0: never */
    } cases[] = {
        /* Before the second range five are left, before the last one one. */
        {5000, 0, {1000, 1000, 1000, 1000, 1000, 1000}, {0}, 1},
        {5001, 0, {1000, 1000, 1000, 1000, 1000, 1000}, {0}, 0},
        /* The longest range so far counts. */
        {9000, 0, {1000, 3000, 1000, 1000, 1000, 1000}, {0}, 2},
        {12000, 0, {1000, 3000, 1000, 1000, 1000, 1000}, {0}, 2},
        {12001, 0, {1000, 3000, 1000, 1000, 1000, 1000}, {0}, 0},
        {9000, 0, {1000, 1000, 3000, 1000, 1000, 1000}, {0}, 3},
        {3000, 0, {0, 0, 0, 0, 3000, 0}, {0}, 5},
        {3001, 0, {0, 0, 0, 0, 3000, 0}, {0}, 0},
        /* It may take half as long again, and 200 us. */
        {1, 50, {1700, 0, 0, 0, 0, 0}, {1000, 0, 0, 0, 0, 0}, 1},
        {1, 50, {1701, 0, 0, 0, 0, 0}, {1000, 0, 0, 0, 0, 0}, 2},
        {1, 50, {1701, 1701, 1701, 1701, 1701, 1701}, {1000, 1000, 1000, 1000, 1000, 1000}, 0},
        {1, 50, {1701, 1701, 1701, 900, 0, 0}, {1000, 1000, 1000, 1000, 0, 0}, 4},
        {1, 100, {2200, 0, 0, 0, 0, 0}, {1000, 0, 0, 0, 0, 0}, 1},
        {1, 100, {2201, 0, 0, 0, 0, 0}, {1000, 0, 0, 0, 0, 0}, 2},
        {1, 1, {200, 0, 0, 0, 0, 0}, {0}, 1},
        {1, 1, {201, 0, 0, 0, 0, 0}, {0}, 2},
        {1, 10, {3300200, 0, 0, 0, 0, 0}, {3000000, 0, 0, 0, 0, 0}, 1},
        {1, 10, {3300201, 0, 0, 0, 0, 0}, {3000000, 0, 0, 0, 0, 0}, 2},
        {1, 0, {9000000, 0, 0, 0, 0, 0}, {0}, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct opened opened;
        open_ranges(&opened, RANGES, 0, UINT64_MAX, true);
        opened.asked.us_least = cases[i].us_least;
        opened.asked.late_most = cases[i].late_most;
        bed.clock_us = 1000000;
        bed.clock_used_us = 999999;
        memcpy(bed.us, cases[i].us, sizeof cases[i].us);
        memcpy(bed.used_us, cases[i].used, sizeof cases[i].used);
        check_rows(&opened, RANGES);
        if (opened.helper.begun != (cases[i].at > 0)) {
            fail_msg("case %zu: asked %u times", i, opened.helper.begun);
        }
        for (unsigned k = 0; k < RANGES; k++) {
            assert_int_equal(bed.runs[k], 1);
            if (bed.own[k] != (cases[i].at == 0 || k <= cases[i].at)) {
                fail_msg("case %zu: range %u", i, k);
            }
        }
        close_ranges(&opened);
    }
}

/* Who leaves at once is asked again, eight times at most. */
static void
nobody_is_asked_for_ever(void **state)
{
    (void)state;
    for (size_t ranges = 2; ranges <= RANGES_MOST; ranges++) {
        struct opened opened;
        open_ranges(&opened, ranges, 0, UINT64_MAX, true);
        opened.helper.stops = true;
        check_rows(&opened, ranges);
        assert_int_equal(opened.helper.begun, ranges > 9 ? 8 : ranges - 1);
        assert_int_equal(opened.helper.ended, opened.helper.begun);
        for (size_t i = 0; i < ranges; i++) {
            assert_int_equal(bed.own[i], 1);
        }
        close_ranges(&opened);
    }
}

/* Who helps is not waited for: the last ranges are evaluated by the own thread as well, and whoever
 * is done first is heard. */
static void
nobody_is_waited_for(void **state)
{
    (void)state;
    /* Rows of later ranges are not among the first ones, of which 250 may be wanted. */
    for (unsigned some = 0; some < 2; some++) {
        struct opened opened;
        struct batch *batch;
        struct reason why = {""};
        open_ranges(&opened, RANGES, 0, some ? 250 : UINT64_MAX, true);
        bed.rows[2] = 70;
        assert_int_equal(operator_batch(opened.ranges->only, &batch, &why), STATUS_OK);
        assert_int_equal(operator_batch(opened.ranges, &batch, &why), STATUS_OK);
        assert_int_equal(operator_batch(bed.other, &batch, &why), STATUS_OK);
        const size_t used = opened.stand.run.account.used;
        const size_t used_by_other = opened.other.run.account.used;
        opened.helper.beside = true;
        bed.stuck = 2;
        check_rows(&opened, RANGES);
        assert_int_equal(opened.helper.begun, 1);
        assert_int_equal(opened.helper.ended, 1);
        for (size_t i = 0; i < RANGES; i++) {
            assert_int_equal(bed.own[i], 1);
            assert_int_equal(bed.runs[i], i == 2 ? 2 : 1);
        }
        /* All that was read is told, by whomever. */
        assert_int_equal(opened.stand.run.report.scans, bed.calls);
        assert_int_equal(opened.stand.run.report.scanned, 3 * bed.calls);
        assert_int_equal(opened.other.run.account.used, used_by_other);
        assert_true(opened.stand.run.account.used > used);
        operator_reset(opened.ranges);
        assert_int_equal(opened.stand.run.account.used, used);
        assert_int_equal(opened.helper.closed, 1);
        close_ranges(&opened);
    }
}

/* Its options are those of the run, but for what is its own. */
static void
who_helps_has_the_options_of_the_run(void **state)
{
    enum { MEMORY = 64 << 20 };
    struct opened opened;
    (void)state;
    open_ranges(&opened, RANGES, MEMORY, UINT64_MAX, true);
    opened.stand.options.search_most = 815;
    opened.stand.options.default_graph = SLICE("e:graph");
    opened.stand.options.now_ms = 0;
    opened.stand.run.now_ms = 1234567;
    check_rows(&opened, RANGES);
    const struct query_options *options = &opened.helper.options;
    assert_int_equal(options->search_most, 815);
    assert_true(slice_is(options->default_graph, "e:graph"));
    assert_int_equal(options->now_ms, 1234567);
    assert_non_null(opened.stand.options.scratch_folder);
    assert_null(options->scratch_folder);
    assert_in_range(options->memory, MEMORY / 8 - 4096, MEMORY / 8);
    close_ranges(&opened);
}

/* ---- what is lent ---- */

static struct operator* told_operator(struct run *run, struct operator* input)
{
    static const struct operator_kind kind = {"told", sizeof(struct operator), NULL, NULL, NULL};
    return operator_new(run, &kind, input, 1);
}

/* Tables of joins that are made are lent in their places, of sixteen operators at most. */
static void
tables_are_lent_in_their_places(void **state)
{
    (void)state;
    for (size_t depth = 0; depth <= 18; depth += 6) {
        struct opened opened;
        struct operator* own[JOINS_MOST];
        struct operator* other[JOINS_MOST];
        size_t wanted = 0;
        memset(&joins, 0, sizeof joins);
        open_ranges(&opened, RANGES, 0, UINT64_MAX, true);
        /* Below what gives rows, which are never asked. */
        own[0] = opened.ranges->only;
        other[0] = bed.other;
        for (size_t i = 0; i < depth; i++) {
            own[i + 1] = told_operator(&opened.stand.run, NULL);
            other[i + 1] = told_operator(&opened.other.run, NULL);
            own[i]->input = own[i + 1];
            other[i]->input = other[i + 1];
        }
        for (size_t i = 0; i <= depth; i++) {
            if (i == 0 || i % 3 == 0 || i == depth || i == 15 || i == 16) {
                joins.lenders[joins.count++] = own[i];
                wanted += i < TABLES_MOST;
            }
        }
        check_rows(&opened, RANGES);
        assert_int_equal(joins.borrowings, wanted);
        for (size_t i = 0, at = 0; i <= depth && i < TABLES_MOST; i++) {
            if (__wrap_hash_join_can_lend(own[i])) {
                assert_ptr_equal(joins.borrowers[at], other[i]);
                assert_ptr_equal(joins.borrowed[at++], own[i]);
            }
        }
        assert_int_equal(joins.counts_lendings, 0);
        assert_int_equal(joins.divisions, 0);
        own[0]->input = other[0]->input = NULL;
        close_ranges(&opened);
    }
}

/* ---- ranges of counts ---- */

static void
open_counts(struct opened *opened, bool helped)
{
    memset(&joins, 0, sizeof joins);
    open_ranges(opened, RANGES, 0, UINT64_MAX, false);
    struct ranges_spec spec = *ranges_spec_of((struct ranges *)opened->ranges);
    joins.cuts = spec.cuts;
    spec.cuts = (struct quad_cuts){.count = 0};
    spec.counts = opened->helper.own.counts = true;
    opened->ranges = ranges_new(&opened->stand.run, &spec, 9);
    opened->stand.options.helper = helped ? &opened->asked : NULL;
}

static void
counts_are_divided_when_they_are_known(void **state)
{
    (void)state;
    for (unsigned helped = 0; helped < 2; helped++) {
        struct opened opened;
        open_counts(&opened, helped);
        check_rows(&opened, RANGES);
        assert_int_equal(joins.divisions, 1);
        assert_int_equal(bed.whole, 0);
        assert_int_equal(joins.counts_lendings, helped);
        if (helped) {
            assert_ptr_equal(joins.counts_lent[0], opened.ranges->only);
            assert_ptr_equal(joins.counts_lent[1], bed.other);
        }
        close_ranges(&opened);
    }
}

static void
counts_that_are_not_divided_are_run_whole(void **state)
{
    struct opened opened;
    struct batch *batch;
    struct reason why = {""};
    (void)state;
    open_counts(&opened, true);
    joins.cuts.count = 0;
    assert_int_equal(operator_next(opened.ranges, &batch, &why), STATUS_OK);
    assert_int_equal(batch->count, 5); /* it is the pipeline's own batch */
    assert_int_equal(bed.whole, 1);
    assert_int_equal(bed.ranged, 0);
    assert_int_equal(opened.helper.begun, 0);
    close_ranges(&opened);
    /* One cut is enough. */
    open_counts(&opened, true);
    joins.cuts.count = 1;
    bed.ranges = 2;
    check_rows(&opened, 2);
    assert_int_equal(bed.ranged, 2);
    close_ranges(&opened);
    open_counts(&opened, true);
    joins.status = STATUS_SYSTEM;
    assert_int_equal(operator_next(opened.ranges, &batch, &why), STATUS_SYSTEM);
    assert_string_equal(why.text, "no counts");
    assert_int_equal(bed.calls, 0);
    close_ranges(&opened);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_tell_whether_to_ask),
        cmocka_unit_test(nobody_is_asked_for_ever),
        cmocka_unit_test(nobody_is_waited_for),
        cmocka_unit_test(who_helps_has_the_options_of_the_run),
        cmocka_unit_test(tables_are_lent_in_their_places),
        cmocka_unit_test(counts_are_divided_when_they_are_known),
        cmocka_unit_test(counts_that_are_not_divided_are_run_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
