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

/* Whether both scans have the same rows, so that ranges of the one are ranges of the other. */
static bool
same_scans(const struct ranges_spec *a, const struct ranges_spec *b)
{
    const struct scan_spec *left = scan_first(a->counts ? a->first->input : a->first);
    const struct scan_spec *right = scan_first(b->counts ? b->first->input : b->first);
    const struct pattern *p = &left->pattern, *q = &right->pattern;
    const struct place places[2][4] = {{p->subject, p->predicate, p->object, left->graph},
                                       {q->subject, q->predicate, q->object, right->graph}};
    for (size_t i = 0; i < 4; i++) {
        if (places[0][i].kind != places[1][i].kind || places[0][i].number != places[1][i].number) {
            return false;
        }
    }
    return a->counts == b->counts && left->order == right->order &&
           left->any_predicate == right->any_predicate && left->duplicates == right->duplicates;
}

static enum status
prepare(struct run *run, const struct ranges_spec *spec, const struct run *helped,
        struct ranges_spec *own, struct reason *why)
{
    TRY(run_prepare(run, why));
    if (!same_constants(run, helped)) {
        return STATUS_STALE;
    }
    TRY(plan_help(run, spec, own, why));
    if (!own->first || !same_scans(spec, own)) {
        return STATUS_STALE;
    }
    run->base_row = memory_zero(run->width + 1, sizeof *run->base_row);
    return STATUS_OK;
}

static void
begin(struct helping *helping, const struct quad_source *source)
{
    const struct run *helped = ranges_run(helping->ranges);
    struct run *run = memory_zero(1, sizeof *run);
    struct ranges_spec own;
    struct reason why;
    helping->run = run;
    run_init(run, helped->query, source, &helping->options);
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
        run_close(helping->run);
        free(helping->run);
    }
}

const struct run_help run_helping = {begin, end};
