#include "tests/unit/query_operators/ranges_stand.h"

#include <string.h>

struct ranges_bed bed;

/* ---- a pipeline that gives rows of the range that was set ---- */

struct ranged {
    struct operator operator;
    struct scan_range range;
    size_t given, rows;
    bool begun;
    unsigned resets;
};

/* Ranges begin at 10, 20 ... but the first, which has no beginning. */
static size_t
number_of(const struct scan_range *range)
{
    assert_int_equal(range->place, 2);
    const size_t number = range->from / 10;
    assert_int_equal(range->from, 10 * number);
    assert_int_equal(range->to, number + 1 < bed.ranges ? 10 * (number + 1) : OID_NONE);
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
        for (size_t i = 0; i < bed.ranges; i++) {
            ranged->rows += bed.rows[i];
        }
    } else if (!ranged->begun) {
        const size_t number = number_of(&ranged->range);
        ranged->begun = true;
        bed.runs[number]++;
        bed.own[number] += own;
        bed.ranged++;
        ranged->rows = bed.rows[number];
        bed.clock_us += bed.us[number];
        bed.clock_used_us += bed.used_us[number];
        if (number == bed.stuck && !own) {
            assert_int_equal(sem_post(&bed.is_stuck), 0);
            while (sem_wait(&bed.goes_on) != 0) {
            }
        }
        if (number == (own ? bed.fail_own : bed.fail_other)) {
            return status_fail(why, STATUS_SYSTEM, "a fault of the test");
        }
    }
    operator->run->report.scans++;
    operator->run->report.scanned += 3;
    bed.calls++;
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

static struct helper *current;

static bool
is_free(void *context)
{
    struct helper *helper = context;
    helper->asked_free++;
    return helper->free;
}

static void *
help_beside(void *context)
{
    struct helper *helper = context;
    helper->help(helper->argument, &helper->other->source);
    return NULL;
}

static bool
begin(void *context, query_help *help, void *argument)
{
    struct helper *helper = context;
    helper->begun++;
    if (!helper->comes) {
        return false;
    }
    helper->help = help;
    helper->argument = argument;
    if (helper->beside) {
        assert_int_equal(pthread_create(&helper->thread, NULL, help_beside, helper), 0);
        while (sem_wait(&bed.is_stuck) != 0) {
        }
    } else {
        (void)help_beside(helper);
    }
    return true;
}

static void
end(void *context)
{
    struct helper *helper = context;
    helper->ended++;
    if (helper->beside) {
        assert_int_equal(sem_post(&bed.goes_on), 0);
        assert_int_equal(pthread_join(helper->thread, NULL), 0);
    }
}

static bool
is_wanted(void *context)
{
    struct helper *helper = context;
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
    helper->options = *options;
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

void
open_ranges(struct opened *opened, size_t ranges, size_t memory, uint64_t enough, bool helped)
{
    memset(&bed, 0, sizeof bed);
    bed.ranges = ranges;
    bed.fail_own = bed.fail_other = bed.stuck = RANGES_MOST;
    for (size_t i = 0; i < bed.ranges; i++) {
        bed.rows[i] = i == 2 ? 0 : 100 + i;
    }
    stand_open(&opened->stand, "", "SELECT * {}", WIDTH, memory);
    stand_open(&opened->other, "", "SELECT * {}", WIDTH, 0);
    struct run *run = &opened->stand.run;
    opened->helper = (struct helper){
        .stand = &opened->stand, .other = &opened->other, .free = true, .comes = true};
    current = &opened->helper;
    assert_int_equal(sem_init(&bed.goes_on, 0, 0), 0);
    assert_int_equal(sem_init(&bed.is_stuck, 0, 0), 0);
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
                               .cuts = {.place = 2, .count = ranges - 1},
                               .columns = kept_columns,
                               .count = COLUMNS};
    for (size_t i = 0; i < ranges - 1; i++) {
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

void
close_ranges(struct opened *opened)
{
    stand_close(&opened->stand);
    assert_int_equal(opened->helper.closed, opened->helper.begun);
    stand_close(&opened->other);
    assert_int_equal(sem_destroy(&bed.goes_on), 0);
    assert_int_equal(sem_destroy(&bed.is_stuck), 0);
}

void
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
