/* Plans what is evaluated for each range of a long scan (index/query/operators/ranges.h): the parts
 * of a group's aggregates, the different values of a group whose aggregates are all DISTINCT, the
 * first rows of ORDER BY with LIMIT, or those of a filter with LIMIT.
 *
 * The plan that was made without ranges says whether they pay: it begins with a scan, each row of
 * which is joined, filtered and extended by itself, and they are many. */
#include "index/query/plan/plan.h"

enum { RANGE_WORK = 16384, RANGES_LEAST = 8, FIRST_MOST = 10000 };

/* ---- what can be cut ---- */

/* Operators that give for rows of their input what they give for each row by itself. */
static bool
goes_by_row(const struct operator* operator)
{
    static const char *const names[] = {
        "scan",      "filter",   "bind",          "project", "hash join", "minus",
        "semi-join", "optional", "hash optional", "values",  "path",      "lookups, then a table",
        "is graph"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        found = found || strcmp(operator->kind->name, names[i]) == 0;
    }
    return found;
}

/* What is at the top of what each range gives. */
static bool
gathers(const struct operator* operator)
{
    static const char *const names[] = {"group", "distinct", "order", "slice"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        found = found || strcmp(operator->kind->name, names[i]) == 0;
    }
    return found;
}

/* What the pipeline begins with and can be cut, a scan or counts; NULL: there is nothing such. */
static struct operator* beginning(struct operator* operator)
{
    uint32_t slot;
    while (operator->input && gathers(operator)) {
        operator= operator->input;
    }
    while (operator->input && goes_by_row(operator) && !scan_first(operator)) {
        operator= operator->input;
    }
    return scan_first(operator) || counts_first(operator, & slot) ? operator: NULL;
}

/* Rows that are made on the way. */
static double
work_of(const struct operator* operator)
{
    double rows = 0;
    for (; operator; operator= operator->input) {
        rows += operator->estimate;
    }
    return rows;
}

static bool
has_filter(const struct operator* operator)
{
    while (operator&& strcmp(operator->kind->name, "filter") != 0) {
        operator= operator->input;
    }
    return operator!= NULL;
}

/* Whether two plans of the node give the same rows, whatever is estimated for each: no subquery
 * chooses among rows, and no expression is another one each time. */
static bool
is_steady(const struct query *query, const struct algebra *node)
{
    static const bool kinds[ALGEBRA_SLICE + 1] = {
        [ALGEBRA_UNIT] = true,   [ALGEBRA_PATTERNS] = true,  [ALGEBRA_JOIN] = true,
        [ALGEBRA_FILTER] = true, [ALGEBRA_LEFT_JOIN] = true, [ALGEBRA_UNION] = true,
        [ALGEBRA_MINUS] = true,  [ALGEBRA_EXTEND] = true,    [ALGEBRA_VALUES] = true,
        [ALGEBRA_GRAPH] = true,  [ALGEBRA_PROJECT] = true};
    return !node || (kinds[node->kind] && !(node->expression && node->expression->volatile_value) &&
                     !share_searches(query, node) && is_steady(query, node->left) &&
                     is_steady(query, node->right));
}

/* Whether somebody may help with what is planned here. */
static bool
may_help(const struct planner *planner, const struct plan_before *before)
{
    const struct run *run = planner->run;
    const struct query_helper *helper = run->options->helper;
    return helper && !run->shares && !planner->apart && planner->key == NUMBER_NONE &&
           !planner->in_loop && before->known.unit &&
           strcmp(before->pipeline->kind->name, "unit") == 0 && planner->graph.kind == PLACE_NONE &&
           planner->graphs.ids == run->default_graphs.ids &&
           planner->graphs.kind == run->default_graphs.kind && slots_empty(&planner->substituted) &&
           helper->is_free(helper->context);
}

/* Whether ranges of a plan pay, and can be: then spec->first is not NULL; slot: whose values are
 * cut. Counts by themselves are grouped as fast as what ranges of them give. */
static enum status
cut(struct planner *planner, const struct plan_before *before, struct operator* pipeline, bool keys,
    struct ranges_spec *spec, uint32_t *slot)
{
    spec->first = may_help(planner, before) ? beginning(pipeline) : NULL;
    const double work = spec->first ? work_of(pipeline) : 0;
    if (!spec->first || work < (double)planner->run->options->helper->rows_least) {
        spec->first = NULL;
        return STATUS_OK;
    }
    const double ranges = work / RANGE_WORK;
    spec->most_cuts = ranges < RANGES_LEAST ? RANGES_LEAST - 1
                      : ranges < QUAD_CUTS  ? (size_t)ranges
                                            : QUAD_CUTS;
    spec->counts = counts_first(spec->first, slot);
    if (spec->counts) {
        spec->first = keys && spec->first == pipeline ? NULL : spec->first;
        return STATUS_OK;
    }
    spec->cuts.count = spec->most_cuts;
    TRY(scan_divide(spec->first, &spec->cuts, slot, planner->why));
    spec->first = spec->cuts.count ? spec->first : NULL;
    return STATUS_OK;
}

/* ---- what each range gives ---- */

/* The pipeline for a range; known: of its rows. */
static enum status
plan_range_of(struct planner *planner, struct ranges_spec *spec, struct known *known)
{
    struct run *run = planner->run;
    const struct algebra *node = spec->node;
    const uint32_t hidden = (uint32_t)run->width;
    uint32_t *columns = arena_alloc(
        &run->arena, (SLOTS_MAXIMUM + node->key_count + share_hidden(node)) * sizeof *columns);
    if (!columns) {
        return plan_too_large(planner);
    }
    spec->columns = columns;
    spec->count = share_columns(spec->form, node, hidden, columns);
    run->width += spec->form == SHARE_PARTS ? share_hidden(node) : 0;
    struct planner each = *planner;
    each.apart = true;
    each.weighted = each.duplicates = false;
    each.batch_rows = BATCH_ROWS;
    each.first = 0;
    TRY(plan_each(&each, node, spec->form, spec->most, hidden, columns, spec->count, &spec->root,
                  known));
    uint32_t slot;
    spec->first = beginning(spec->root);
    spec->counts = spec->first && counts_first(spec->first, &slot);
    return STATUS_OK;
}

enum status
plan_help(struct run *run, const struct ranges_spec *helped, struct ranges_spec *own,
          struct reason *why)
{
    struct planner planner = {
        .run = run, .graphs = run->default_graphs, .key = NUMBER_NONE, .why = why};
    struct known known;
    *own = *helped;
    return plan_range_of(&planner, own, &known);
}

/* In place of the pipeline: what the ranges give. *done false: they do not cut the scan alike, and
 * the pipeline stays. */
static enum status
plan_ranges(struct planner *planner, struct ranges_spec *spec, const struct plan_before *before,
            struct operator** pipeline, struct known *known, bool *done)
{
    static const char *const what[] = {"rows", "different values", "parts of aggregates"};
    const bool counts = spec->counts;
    struct known each;
    uint32_t slot;
    planner->run->width = before->width;
    TRY(plan_range_of(planner, spec, &each));
    *done = spec->first && spec->counts == counts;
    if (*done && !counts) { /* the other plan might begin with another scan */
        spec->cuts.count = spec->most_cuts;
        TRY(scan_divide(spec->first, &spec->cuts, &slot, planner->why));
    }
    if (!*done) {
        return STATUS_OK;
    }
    *known = each;
    known->maybe = spec->node->maybe;
    known->certain = spec->node->certain;
    known->unit = false;
    return plan_set(planner, ranges_new(planner->run, spec, planner->batch_rows), pipeline, known,
                    "%zu at most, %s of each", spec->most_cuts + 1, what[spec->form]);
}

/* ---- groups ---- */

static bool
is_key(const struct algebra *group, uint32_t slot)
{
    bool found = false;
    for (size_t i = 0; i < group->key_count; i++) {
        found = found || (!group->keys[i].expression && group->keys[i].slot == slot);
    }
    return found;
}

/* Whether the values of the argument are in one range each. */
static bool
is_apart(const struct expression *argument, uint32_t slot)
{
    return argument && argument->kind == EXPRESSION_VARIABLE && argument->number == slot;
}

static bool
are_steady(const struct algebra *group)
{
    bool steady = true;
    for (size_t i = 0; i < group->aggregate_count; i++) {
        const struct expression *argument = group->aggregates[i].argument;
        steady = steady && !(argument && argument->volatile_value);
    }
    for (size_t i = 0; i < group->key_count; i++) {
        const struct expression *key = group->keys[i].expression;
        steady = steady && !(key && key->volatile_value);
    }
    return steady;
}

/* Tells whether the keys are computed of values that many rows have, as years and languages are, so
 * that there are fewer groups than rows. */
static bool
are_computed(const struct algebra *group)
{
    bool computed = group->key_count > 0;
    for (size_t i = 0; i < group->key_count; i++) {
        const struct slot_expression *key = &group->keys[i];
        bool made = key->expression && key->expression->kind == EXPRESSION_CALL;
        const struct algebra *below = group->left;
        for (; !made && below->kind == ALGEBRA_EXTEND; below = below->left) {
            made = !key->expression && below->slot == key->slot &&
                   below->expression->kind == EXPRESSION_CALL;
        }
        computed = computed && made;
    }
    return computed;
}

/* What ranges give of the group; slot: whose values they cut. Whole groups, where each is in one
 * range; else parts of the only group, or the different values of few groups. False: they cannot be
 * put together to the same in all digits, or there may be as many groups as rows. */
static bool
choose_form(const struct algebra *group, uint32_t slot, enum share_form *form)
{
    bool parts = group->key_count == 0 || are_computed(group), values = true;
    for (size_t i = 0; i < group->aggregate_count; i++) {
        const struct aggregate *aggregate = &group->aggregates[i];
        const bool chooses = share_chooses(aggregate);
        const bool counts = aggregate->kind == AGGREGATE_COUNT;
        parts =
            parts &&
            (chooses || (counts && (!aggregate->distinct || is_apart(aggregate->argument, slot))));
        values = values && aggregate->argument && (chooses || (counts && aggregate->distinct));
    }
    const bool whole = slot != NUMBER_NONE && is_key(group, slot);
    *form = whole ? SHARE_ROWS : parts ? SHARE_PARTS : SHARE_VALUES;
    return are_steady(group) && (whole || parts || values);
}

enum status
plan_ranges_group(struct planner *planner, const struct algebra *node,
                  const struct plan_before *before, struct operator** pipeline, struct known *known,
                  bool *done)
{
    struct run *run = planner->run;
    struct ranges_spec spec = {.node = node, .most = UINT64_MAX, .enough = UINT64_MAX};
    const struct algebra *whole = node;
    uint32_t slot = NUMBER_NONE;
    *done = false;
    TRY(cut(planner, before, *pipeline, node->key_count > 0, &spec, &slot));
    if (!spec.first || !is_steady(run->query, node->left) || !choose_form(node, slot, &spec.form)) {
        return STATUS_OK;
    }
    if (spec.form == SHARE_PARTS) {
        whole = share_whole(&run->arena, node, (uint32_t)before->width);
        if (!whole) {
            return plan_too_large(planner);
        }
    }
    TRY(plan_ranges(planner, &spec, before, pipeline, known, done));
    return !*done || spec.form == SHARE_ROWS
               ? STATUS_OK
               : plan_set(planner,
                          group_new(run, *pipeline, whole, NUMBER_NONE, planner->batch_rows),
                          pipeline, known, "%zu keys, %zu aggregates of ranges", node->key_count,
                          node->aggregate_count);
}

/* ---- the first rows ---- */

/* Whether a sort reads only the last or first of the values that the scan gives, or will the next
 * time. */
static bool
reads_few(const struct planner *planner, const struct algebra *node, const struct operator* scan,
          const struct quad_cuts *cuts, uint64_t most)
{
    const struct quad_source *source = planner->run->source;
    const struct expression *key = node->order_count ? node->order[0].expression : NULL;
    struct oid_span span;
    return key && key->kind == EXPRESSION_VARIABLE && scan_can_narrow(scan, key->number) &&
           (source->span(cuts->values[cuts->count - 1], &span) ||
            order_was_asked(scan, node->order[0].descending, most));
}

enum status
plan_ranges_first(struct planner *planner, const struct algebra *node, uint64_t most,
                  const struct plan_before *before, struct operator** pipeline, struct known *known,
                  bool *done)
{
    const bool order = node->kind == ALGEBRA_ORDER;
    struct ranges_spec spec = {
        .node = node, .form = SHARE_ROWS, .most = most, .enough = order ? UINT64_MAX : most};
    const struct query *query = planner->run->query;
    uint32_t slot;
    *done = false;
    if (most > FIRST_MOST || (!order && !has_filter(*pipeline)) ||
        !is_steady(query, order ? node->left : node)) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < node->order_count; i++) {
        if (node->order[i].expression->volatile_value) {
            return STATUS_OK;
        }
    }
    TRY(cut(planner, before, *pipeline, false, &spec, &slot));
    if (!spec.first || (!spec.counts && reads_few(planner, node, spec.first, &spec.cuts, most))) {
        return STATUS_OK;
    }
    return plan_ranges(planner, &spec, before, pipeline, known, done);
}
