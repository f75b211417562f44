/* A pipeline that is run once for each range of a scan (index/query/operators/ranges.c): which
 * ranges are run by whom, what is given of them, and when somebody is asked to help. */
#include <string.h>

#include "index/query/operators/ranges.h"
#include "tests/unit/query_operators/operator_stand.h"

enum { WIDTH = 4, RANGES = 6, COLUMNS = 2, LEAST_MEMORY = 256 << 10, ASKED_MOST = 8 };

/* ---- a pipeline that gives rows of the range that was set ---- */

struct ranged {
    struct operator operator;
    struct scan_range range;
    size_t given, rows;
    bool begun;
    unsigned resets;
};

/* What pipelines do, whoever runs them. */
static struct {
    size_t rows[RANGES]; /* of each range */
    unsigned runs[RANGES], own[RANGES], whole;
    unsigned ranged;               /* pipelines that were run for a range */
    oid local;                     /* of the other run: what stands in place of 7 */
    unsigned fail_own, fail_other; /* the range whose evaluation fails; RANGES: none */
    struct operator* other;
} bed;

/* Ranges begin at 10, 20 ... but the first, which has no beginning. */
static size_t
number_of(const struct scan_range *range)
{
    assert_int_equal(range->place, 2);
    const size_t number = range->from / 10;
    assert_int_equal(range->from, 10 * number);
    assert_int_equal(range->to, number + 1 < RANGES ? 10 * (number + 1) : OID_NONE);
    return number;
}

static enum status
ranged_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct ranged *ranged = (struct ranged *)operator;
    const bool own = operator!= bed.other;
    TRY(operator_batch(operator, batch, why));
    if (!ranged->begun && !ranged->range.from && !ranged->range.to) {
        bed.whole++;
        ranged->begun = true;
        ranged->rows = 0;
        for (size_t i = 0; i < RANGES; i++) {
            ranged->rows += bed.rows[i];
        }
    } else if (!ranged->begun) {
        const size_t number = number_of(&ranged->range);
        ranged->begun = true;
        bed.runs[number]++;
        bed.own[number] += own;
        bed.ranged++;
        ranged->rows = bed.rows[number];
        if (number == (own ? bed.fail_own : bed.fail_other)) {
            return status_fail(why, STATUS_SYSTEM, "a fault of the test");
        }
    }
    operator->run->report.scans++;
    while (ranged->given < ranged->rows && (*batch)->count < operator->batch_rows) {
        oid *row = batch_row(operator->run, *batch, (*batch)->count++);
        memset(row, 0, WIDTH * sizeof *row);
        row[1] = ranged->range.from + 1;
        row[2] = 999; /* not among the columns that are kept */
        row[3] = ++ranged->given == 7 && !own ? bed.local : ranged->given;
    }
    return STATUS_OK;
}

static void ranged_reset(struct operator* operator)
{
    struct ranged *ranged = (struct ranged *)operator;
    ranged->given = 0;
    ranged->begun = false;
    ranged->resets++;
}

void __wrap_scan_set_range(struct operator* scan, const struct scan_range *range);
void
__wrap_scan_set_range(struct operator* scan, const struct scan_range *range)
{
    ((struct ranged *)scan)->range = *range;
}

static struct operator* ranged_new(struct run *run)
{
    static const struct operator_kind kind = {"ranged", sizeof(struct ranged), ranged_next,
                                              ranged_reset, NULL};
    return operator_new(run, &kind, NULL, 5);
}

/* ---- who helps ---- */

struct helper {
    struct stand *stand;
    struct stand *other; /* its run */
    const struct ranges_spec *spec;
    struct ranges_spec own;
    bool free, comes; /* comes: when it is asked; else it is not to be had */
    bool stops;       /* stops before the first range */
    unsigned asked_free, begun, ended, helped, closed, wanted_looks;
    bool wanted;
    size_t memory;
    oid seven; /* a term that only the other run has */
};

static struct helper *current;

static bool
is_free(void *context)
{
    struct helper *helper = context;
    helper->asked_free++;
    return helper->free;
}

static bool
begin(void *context, query_help *help, void *argument)
{
    struct helper *helper = context;
    helper->begun++;
    if (!helper->comes) {
        return false;
    }
    help(argument, &helper->other->source);
    return true;
}

static void
end(void *context)
{
    struct helper *helper = context;
    helper->ended++;
}

static bool
is_wanted(void *context)
{
    struct helper *helper = context;
    helper->wanted_looks++;
    return helper->wanted;
}

/* What is done in the thread that helps: the options are those of a run that may be stopped, and
 * has so much of the memory. */
static void
begin_helping(struct helping *helping, const struct quad_source *source)
{
    struct helper *helper = current;
    const struct query_options *options = &helping->options;
    assert_ptr_equal(source, &helper->other->source);
    assert_ptr_equal(ranges_run(helping->ranges), &helper->stand->run);
    assert_int_equal(ranges_spec_of(helping->ranges)->most_cuts, 4711);
    assert_null(options->helper);
    assert_null(options->scratch_folder);
    assert_ptr_equal(options->cancel, &helping->stop);
    assert_int_equal(options->memory, helping->memory);
    assert_int_equal(options->now_ms, helper->stand->run.now_ms);
    helper->memory = helping->memory;
    helper->helped++;
    /* Who is wanted elsewhere stops. */
    assert_false(atomic_load(&helping->stop));
    options->step(options->step_context);
    assert_int_equal(atomic_load(&helping->stop), helper->wanted);
    if (helper->stops) {
        atomic_store(&helping->stop, true);
    }
    helping->run = &helper->other->run;
    ranges_help(helping, &helper->own);
}

static void
close_helping(struct helping *helping)
{
    (void)helping;
    current->closed++;
}

static const struct run_help told_help = {begin_helping, close_helping};

/* ---- the bed ---- */

static const uint32_t kept_columns[COLUMNS] = {3, 1};

struct opened {
    struct stand stand, other;
    struct helper helper;
    struct query_helper asked;
    struct operator* ranges;
};

static void
open_ranges(struct opened *opened, size_t memory, uint64_t enough, bool helped)
{
    memset(&bed, 0, sizeof bed);
    bed.fail_own = bed.fail_other = RANGES;
    for (size_t i = 0; i < RANGES; i++) {
        bed.rows[i] = i == 2 ? 0 : 100 + i;
    }
    stand_open(&opened->stand, "", "SELECT * {}", WIDTH, memory);
    stand_open(&opened->other, "", "SELECT * {}", WIDTH, 0);
    struct run *run = &opened->stand.run;
    opened->helper = (struct helper){
        .stand = &opened->stand, .other = &opened->other, .free = true, .comes = true};
    current = &opened->helper;
    opened->asked = (struct query_helper){.context = &opened->helper,
                                          .is_free = is_free,
                                          .begin = begin,
                                          .end = end,
                                          .is_wanted = is_wanted};
    opened->stand.options.helper = helped ? &opened->asked : NULL;
    run->help = &told_help;
    run->base_row[0] = 77;
    struct ranges_spec spec = {.enough = enough,
                               .most = UINT64_MAX,
                               .most_cuts = 4711,
                               .cuts = {.place = 2, .count = RANGES - 1},
                               .columns = kept_columns,
                               .count = COLUMNS};
    for (size_t i = 0; i < RANGES - 1; i++) {
        spec.cuts.values[i] = 10 * (i + 1);
    }
    spec.root = spec.first = ranged_new(run);
    opened->helper.own = spec;
    opened->helper.own.root = opened->helper.own.first = bed.other = ranged_new(&opened->other.run);
    opened->ranges = ranges_new(run, &spec, 9);
    const struct term term = term_iri(SLICE("e:of-who-helps"));
    struct reason why = {""};
    assert_int_equal(dictionary_intern(&opened->other.run.dictionary, &term, &bed.local, &why),
                     STATUS_OK);
    assert_true(bed.local >= OID_LOCAL);
}

static void
close_ranges(struct opened *opened)
{
    stand_close(&opened->stand);
    assert_int_equal(opened->helper.closed, opened->helper.begun);
    stand_close(&opened->other);
}

/* The rows of the first ranges, in their order. */
static void
check_rows(struct opened *opened, size_t ranges)
{
    struct given found;
    struct reason why = {""};
    struct run *run = &opened->stand.run;
    size_t at = 0;
    given_init(&found, WIDTH);
    take_rows(&opened->stand, opened->ranges, &found);
    for (size_t i = 0; i < ranges; i++) {
        for (size_t k = 1; k <= bed.rows[i]; k++, at++) {
            assert_true(at < found.count);
            const oid *row = given_row(&found, at);
            assert_int_equal(row[0], 77);
            assert_int_equal(row[1], 10 * i + 1);
            assert_int_equal(row[2], OID_NONE);
            if (k == 7 && row[3] >= OID_LOCAL) {
                /* A term of the other run is one of this run. */
                struct term term;
                assert_true(bed.own[i] == 0);
                assert_int_equal(dictionary_term(&run->dictionary, row[3], &term, &why), STATUS_OK);
                assert_true(slice_is(term.value, "e:of-who-helps"));
            } else {
                assert_int_equal(row[3], k);
                assert_true(k != 7 || bed.own[i] > 0);
            }
        }
    }
    assert_int_equal(found.count, at);
    given_release(&found);
}

/* ---- the tests ---- */

static void
ranges_are_run_once_and_given_in_order(void **state)
{
    (void)state;
    for (unsigned helped = 0; helped < 2; helped++) {
        struct opened opened;
        open_ranges(&opened, 0, UINT64_MAX, helped);
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
        open_ranges(&opened, 0, cases[i].enough, false);
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
        open_ranges(&opened, 0, UINT64_MAX, true);
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
        open_ranges(&opened, 0, UINT64_MAX, true);
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
            open_ranges(&opened, 0, UINT64_MAX, helped);
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
        open_ranges(&opened, 0, UINT64_MAX, true);
        struct run *run = &opened.stand.run;
        const size_t used = run->account.used;
        /* A batch of the pipeline has room, and the first rows of a range, not all. */
        run->account.maximum = used + (cut ? 2500 : 5 * WIDTH * sizeof(oid) + 100);
        given_init(&found, WIDTH);
        take_rows(&opened.stand, opened.ranges, &found);
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
    open_ranges(&opened, 0, UINT64_MAX, false);
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
