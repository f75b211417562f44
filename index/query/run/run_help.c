/* Helping with a run: another run of the same query, which plans what is evaluated for each range.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "index/query/operators/ranges.h"
#include "index/query/plan/plan.h"
#include "index/query/run/run.h"

/* Whether the query's terms have the same identifiers in both runs. What was put into the index in
 * between may have given one to a term that had none. */
static bool
same_constants(const struct run *a, const struct run *b)
{
    return memcmp(a->constants, b->constants, a->query->constant_count * sizeof *a->constants) == 0;
}

static bool
same_place(struct place a, struct place b)
{
    return a.kind == b.kind && a.number == b.number;
}

static bool
same_scan(const struct scan_spec *a, const struct scan_spec *b)
{
    return same_place(a->pattern.subject, b->pattern.subject) &&
           same_place(a->pattern.predicate, b->pattern.predicate) &&
           same_place(a->pattern.object, b->pattern.object) && same_place(a->graph, b->graph) &&
           a->order == b->order && a->any_predicate == b->any_predicate &&
           a->duplicates == b->duplicates;
}

/* Whether both pipelines do the same, so that ranges and tables of the one are those of the other.
 * Statistics that changed in between may have made it another plan. */
static bool
same_plan(const struct operator* a, const struct operator* b)
{
    for (; a && b; a = a->input, b = b->input) {
        const struct scan_spec *left = scan_spec_of(a), *right = scan_spec_of(b);
        if (a->kind != b->kind || a->inner_count != b->inner_count ||
            (left && !same_scan(left, right))) {
            return false;
        }
        for (size_t i = 0; i < a->inner_count; i++) {
            if (!same_plan(a->inner[i], b->inner[i])) {
                return false;
            }
        }
    }
    return !a && !b;
}

static enum status
prepare(struct run *run, const struct ranges_spec *spec, const struct run *helped,
        struct ranges_spec *own, struct reason *why)
{
    TRY(query_run_prepare(run, why));
    if (!same_constants(run, helped)) {
        return STATUS_STALE;
    }
    TRY(plan_help(run, spec, own, why));
    if (!same_plan(spec->root, own->root)) {
        return STATUS_STALE;
    }
    run->base_row = memory_zero(run->width + 1, sizeof *run->base_row);
    return STATUS_OK;
}

static void
begin(struct helping *helping, const struct quad_source *source)
{
    const struct run *helped = ranges_run(helping->ranges);
    struct run *run = memory_new(sizeof *run);
    struct ranges_spec own;
    struct reason why;
    helping->run = run;
    query_run_init(run, helped->query, source, &helping->options);
    run->helps = true;
    run->deadline.at_ms = helped->deadline.at_ms;
    if (prepare(run, ranges_spec_of(helping->ranges), helped, &own, &why) == STATUS_OK) {
        ranges_help(helping, &own);
    }
    operators_close(run);
}

static void
end(struct helping *helping)
{
    if (helping->run) {
        query_run_close(helping->run);
        free(helping->run);
    }
}

const struct run_help run_helping = {begin, end};
