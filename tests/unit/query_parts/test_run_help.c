/* Who helps with a run makes a run of its own, and evaluates ranges only where that has the same
 * constants and the same plan (index/query/run/run_help.c). Plans are told by the test. */
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "index/query/operators/ranges.h"
#include "index/query/plan/plan.h"
#include "index/query/run/run.h"

enum { STEPS = 3, INNER = 2, CONSTANTS = 4, COLUMNS = 5 };

/* ---- a plan: a few operators above each other, of which the last two are scans ---- */

struct step {
    struct operator operator;
    struct scan_spec scan;
    bool scans;
};

struct told_plan {
    struct step steps[STEPS];
    struct step inner[INNER]; /* pipelines of the first step */
    struct operator* pipelines[INNER];
    struct ranges_spec spec;
};

static const struct operator_kind kinds[] = {{.name = "join"}, {.name = "scan"}, {.name = "other"}};

static void
tell_scan(struct step *step, uint32_t number)
{
    step->scans = true;
    step->operator.kind = & kinds[1];
    step->scan = (struct scan_spec){.pattern = {.subject = {PLACE_SLOT, number},
                                                .predicate = {PLACE_CONSTANT, number + 1},
                                                .object = {PLACE_SLOT, number + 2}},
                                    .graph = {PLACE_NONE, 0},
                                    .order = ORDER_POCS};
}

static void
tell_plan(struct told_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    for (size_t i = 0; i < STEPS; i++) {
        plan->steps[i].operator.input = i + 1<STEPS ? &plan->steps[i + 1].operator: NULL;
    }
    plan->steps[0].operator.kind = & kinds[0];
    plan->steps[0].operator.inner = plan->pipelines;
    plan->steps[0].operator.inner_count = INNER;
    for (uint32_t i = 0; i < INNER; i++) {
        plan->pipelines[i] = &plan->inner[i].operator;
        tell_scan(&plan->inner[i], 20 + i);
    }
    tell_scan(&plan->steps[1], 3);
    tell_scan(&plan->steps[2], 4);
    plan->spec.root = &plan->steps[0].operator;
}

/* ---- what is called ---- */

static struct {
    struct query query;
    struct query_options options;
    struct quad_source source;
    struct run helped;
    struct told_plan plan, own;
    struct helping helping;
    struct run *run;
    oid constants[CONSTANTS], own_constants[CONSTANTS];
    enum status prepared, planned;
    unsigned inits, prepares, plans, helps, operators_closed, closed;
} bed;

const struct run *__wrap_ranges_run(const struct ranges *ranges);
const struct run *
__wrap_ranges_run(const struct ranges *ranges)
{
    assert_ptr_equal(ranges, &bed);
    return &bed.helped;
}

const struct ranges_spec *__wrap_ranges_spec_of(const struct ranges *ranges);
const struct ranges_spec *
__wrap_ranges_spec_of(const struct ranges *ranges)
{
    assert_ptr_equal(ranges, &bed);
    return &bed.plan.spec;
}

const struct scan_spec *__wrap_scan_spec_of(const struct operator* operator);
const struct scan_spec *
__wrap_scan_spec_of(const struct operator* operator)
{
    const struct step *step = (const struct step *)operator;
    return step->scans ? &step->scan : NULL;
}

void __wrap_query_run_init(struct run *run, const struct query *query,
                           const struct quad_source *source, const struct query_options *options);
void
__wrap_query_run_init(struct run *run, const struct query *query, const struct quad_source *source,
                      const struct query_options *options)
{
    bed.inits++;
    assert_ptr_equal(query, &bed.query);
    assert_ptr_equal(source, &bed.source);
    assert_ptr_equal(options, &bed.helping.options);
    assert_ptr_equal(run, bed.helping.run);
    *run = (struct run){.query = query, .source = source, .width = COLUMNS};
    bed.run = run;
}

enum status __wrap_query_run_prepare(struct run *run, struct reason *why);
enum status
__wrap_query_run_prepare(struct run *run, struct reason *why)
{
    bed.prepares++;
    assert_ptr_equal(run, bed.run);
    assert_true(run->helps);
    assert_int_equal(run->deadline.at_ms, 4711);
    run->constants = bed.own_constants;
    return bed.prepared == STATUS_OK ? STATUS_OK : status_fail(why, bed.prepared, "no");
}

enum status __wrap_plan_help(struct run *run, const struct ranges_spec *helped,
                             struct ranges_spec *own, struct reason *why);
enum status
__wrap_plan_help(struct run *run, const struct ranges_spec *helped, struct ranges_spec *own,
                 struct reason *why)
{
    bed.plans++;
    assert_ptr_equal(run, bed.run);
    assert_ptr_equal(helped, &bed.plan.spec);
    *own = bed.own.spec;
    return bed.planned == STATUS_OK ? STATUS_OK : status_fail(why, bed.planned, "no");
}

void __wrap_ranges_help(struct helping *helping, const struct ranges_spec *own);
void
__wrap_ranges_help(struct helping *helping, const struct ranges_spec *own)
{
    bed.helps++;
    assert_ptr_equal(helping, &bed.helping);
    assert_ptr_equal(own->root, bed.own.spec.root);
    assert_int_equal(bed.operators_closed, 0);
    for (size_t i = 0; i < COLUMNS; i++) {
        assert_int_equal(bed.run->base_row[i], OID_NONE);
    }
}

void __wrap_operators_close(struct run *run);
void
__wrap_operators_close(struct run *run)
{
    assert_ptr_equal(run, bed.run);
    bed.operators_closed++;
}

void __wrap_query_run_close(struct run *run);
void
__wrap_query_run_close(struct run *run)
{
    assert_ptr_equal(run, bed.run);
    bed.closed++;
    free(run->base_row);
}

/* ---- the tests ---- */

static void
begin_bed(void)
{
    memset(&bed, 0, sizeof bed);
    tell_plan(&bed.plan);
    tell_plan(&bed.own);
    bed.query.constant_count = CONSTANTS;
    bed.helping.ranges = (struct ranges *)(void *)&bed;
    bed.helped.query = &bed.query;
    bed.helped.options = &bed.options;
    bed.helped.constants = bed.constants;
    bed.helped.deadline.at_ms = 4711;
    for (oid i = 0; i < CONSTANTS; i++) {
        bed.constants[i] = bed.own_constants[i] = i + 100;
    }
}

/* Whether ranges are evaluated; whatever comes of it, operators are closed when help ends, the run
 * itself later. */
static bool
is_helped(void)
{
    run_helping.begin(&bed.helping, &bed.source);
    assert_int_equal(bed.inits, 1);
    assert_int_equal(bed.prepares, 1);
    assert_int_equal(bed.operators_closed, 1);
    assert_int_equal(bed.closed, 0);
    assert_ptr_equal(bed.helping.run, bed.run);
    run_helping.close(&bed.helping);
    assert_int_equal(bed.closed, 1);
    assert_int_equal(bed.operators_closed, 1);
    assert_true(bed.helps <= 1);
    return bed.helps == 1;
}

static void
the_same_plan_is_helped_with(void **state)
{
    (void)state;
    begin_bed();
    assert_true(is_helped());
    assert_int_equal(bed.plans, 1);
    /* A plan of scans alone, and one of other operators alone. */
    begin_bed();
    bed.plan.spec.root = bed.plan.steps[0].operator.input;
    bed.own.spec.root = bed.own.steps[0].operator.input;
    assert_true(is_helped());
    begin_bed();
    bed.plan.steps[0].operator.input = bed.own.steps[0].operator.input = NULL;
    assert_true(is_helped());
    /* Estimates and notes do not matter, nor do graphs, which are those of the query. */
    begin_bed();
    bed.own.steps[1].operator.estimate = 5;
    bed.own.steps[1].operator.note = SLICE("another");
    assert_true(is_helped());
    /* Who never began has nothing to close. */
    begin_bed();
    run_helping.close(&bed.helping);
    assert_int_equal(bed.closed, 0);
}

static void
a_run_that_cannot_be_made_does_not_help(void **state)
{
    (void)state;
    begin_bed();
    bed.prepared = STATUS_LIMIT;
    assert_false(is_helped());
    assert_int_equal(bed.plans, 0);
    begin_bed();
    bed.planned = STATUS_LIMIT;
    assert_false(is_helped());
}

/* The terms of the query must have the same identifiers in both runs; there may be none. */
static void
other_constants_are_not_helped_with(void **state)
{
    (void)state;
    for (size_t count = 0; count <= CONSTANTS; count++) {
        for (size_t i = 0; i < CONSTANTS; i++) {
            for (unsigned bit = 0; bit < 64; bit += 21) {
                begin_bed();
                bed.query.constant_count = count;
                bed.own_constants[i] ^= (oid)1 << bit;
                assert_int_equal(is_helped(), i >= count);
                assert_int_equal(bed.plans, i >= count);
            }
        }
    }
}

enum changed {
    KIND,
    INNER_LESS,
    FIRST_PIPELINE,
    LAST_PIPELINE,
    SHORTER,
    EARLIER_END,
    NO_ROOT,
    SUBJECT_KIND,
    SUBJECT,
    PREDICATE_KIND,
    PREDICATE,
    OBJECT_KIND,
    OBJECT,
    GRAPH_KIND,
    GRAPH,
    ORDER,
    ANY_PREDICATE,
    DUPLICATES,
    CHANGES
};

static void
change_scan(struct scan_spec *scan, enum changed changed)
{
    struct pattern *pattern = &scan->pattern;
    switch (changed) {
    case SUBJECT_KIND:
        pattern->subject.kind = PLACE_CONSTANT;
        break;
    case SUBJECT:
        pattern->subject.number++;
        break;
    case PREDICATE_KIND:
        pattern->predicate.kind = PLACE_SLOT;
        break;
    case PREDICATE:
        pattern->predicate.number++;
        break;
    case OBJECT_KIND:
        pattern->object.kind = PLACE_CONSTANT;
        break;
    case OBJECT:
        pattern->object.number++;
        break;
    case GRAPH_KIND:
        scan->graph.kind = PLACE_SLOT;
        break;
    case GRAPH:
        scan->graph.number++;
        break;
    case ORDER:
        scan->order = ORDER_SPOC;
        break;
    case ANY_PREDICATE:
        scan->any_predicate = true;
        break;
    default:
        scan->duplicates = true;
    }
}

static void
change_plan(struct told_plan *plan, enum changed changed, size_t step)
{
    switch (changed) {
    case KIND:
        plan->steps[step].operator.kind = & kinds[2];
        break;
    case INNER_LESS:
        plan->steps[0].operator.inner_count--;
        break;
    case FIRST_PIPELINE:
        plan->inner[0].scan.order = ORDER_SPOC;
        break;
    case LAST_PIPELINE:
        plan->inner[INNER - 1].operator.kind = & kinds[2];
        break;
    case SHORTER:
        plan->steps[STEPS - 2].operator.input = NULL;
        break;
    case EARLIER_END:
        plan->steps[0].operator.input = NULL;
        break;
    case NO_ROOT:
        plan->spec.root = NULL;
        break;
    default:
        change_scan(&plan->steps[step].scan, changed);
    }
}

static void
other_plans_are_not_helped_with(void **state)
{
    (void)state;
    for (int changed = 0; changed < CHANGES; changed++) {
        for (size_t step = changed == KIND ? 0 : 1; step < STEPS; step++) {
            for (unsigned own = 0; own < 2; own++) {
                begin_bed();
                change_plan(own ? &bed.own : &bed.plan, changed, step);
                if (is_helped()) {
                    fail_msg("change %d of step %zu, own %u", changed, step, own);
                }
                assert_int_equal(bed.plans, 1);
                /* In both it is another plan, and the same. */
                begin_bed();
                change_plan(&bed.own, changed, step);
                change_plan(&bed.plan, changed, step);
                assert_true(is_helped());
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_plan_is_helped_with),
        cmocka_unit_test(a_run_that_cannot_be_made_does_not_help),
        cmocka_unit_test(other_constants_are_not_helped_with),
        cmocka_unit_test(other_plans_are_not_helped_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
