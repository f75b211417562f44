/* Filters: where they stand, what they say of the variables, and the patterns of EXISTS. */
#include "index/query/plan/plan.h"

/* One row of so many is taken to pass a filter where the first ones are wanted. */
enum { FILTER_PASSES = 8 };

static enum status
plan_exists(struct planner *planner, const struct expression *exists, const struct known *known)
{
    struct planner inner = *planner;
    struct known inside = *known;
    struct operator* seed = seed_new(planner->run);
    struct operator* pipeline = seed;
    if (!seed) {
        return plan_too_large(planner);
    }
    inner.substituted = known->maybe;
    inner.batch_rows = 1;
    inner.duplicates = true;
    inside.unit = false;
    inside.rows = 1;
    TRY(plan_joined(&inner, exists->pattern, &pipeline, &inside, NULL));
    planner->run->exists[2 * exists->number] = pipeline;
    planner->run->exists[2 * exists->number + 1] = seed;
    return STATUS_OK;
}

enum status
plan_expression(struct planner *planner, const struct expression *expression,
                const struct known *known)
{
    if (!expression || !expression->exists) {
        return STATUS_OK;
    }
    if (expression->kind == EXPRESSION_EXISTS) {
        return plan_exists(planner, expression, known);
    }
    for (size_t i = 0; i < expression->count; i++) {
        TRY(plan_expression(planner, expression->arguments[i], known));
    }
    return STATUS_OK;
}

enum status
plan_add_filter(struct planner *planner, const struct expression *expression,
                struct operator** pipeline, const struct known *known)
{
    TRY(plan_expression(planner, expression, known));
    struct operator* filter = filter_new(planner->run, *pipeline, expression);
    TRY(plan_set(planner, filter, pipeline, known, NULL));
    if (expression->exists) {
        for (size_t i = 0; planner->notes && i < expression->count + 1; i++) {
            const struct expression *part =
                i < expression->count ? expression->arguments[i] : expression;
            if (part->kind == EXPRESSION_EXISTS) {
                operator_contain(filter, planner->run->exists[2 * part->number]);
            }
        }
    }
    return STATUS_OK;
}

enum status
plan_filters(struct planner *planner, struct operator** pipeline, const struct known *known,
             struct pending *pending)
{
    for (; pending; pending = pending->outer) {
        for (size_t i = 0; i < pending->count; i++) {
            const struct expression *filter = pending->filters[i];
            if (!pending->done[i] && !filter->exists && !filter->volatile_value &&
                slots_within(&filter->slots, &known->certain)) {
                pending->done[i] = true;
                TRY(plan_add_filter(planner, filter, pipeline, known));
            }
        }
    }
    return STATUS_OK;
}

/* ---- ranges of values ---- */

/* What "?x < 5", or "5 > ?x", says. */
struct comparison {
    bool below, above; /* the values that pass are those not above, not below */
};
static bool
read_comparison(const struct expression *filter, uint32_t slot, uint32_t *constant,
                struct comparison *comparison)
{
    static const struct {
        const char *name;
        struct comparison comparison;
    } functions[] = {{"<", {true, false}},
                     {"<=", {true, false}},
                     {">", {false, true}},
                     {">=", {false, true}},
                     {"=", {true, true}}};
    if (filter->kind != EXPRESSION_CALL || filter->count != 2) {
        return false;
    }
    const bool swapped = filter->arguments[0]->kind == EXPRESSION_CONSTANT;
    const struct expression *variable = filter->arguments[swapped ? 1 : 0];
    const struct expression *other = filter->arguments[swapped ? 0 : 1];
    if (variable->kind != EXPRESSION_VARIABLE || variable->number != slot ||
        other->kind != EXPRESSION_CONSTANT) {
        return false;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (filter->function == function_find(slice_string(functions[i].name))) {
            const struct comparison found = functions[i].comparison;
            *comparison = swapped ? (struct comparison){found.above, found.below} : found;
            *constant = other->number;
            return true;
        }
    }
    return false;
}

static void
narrow(const struct planner *planner, const struct expression *filter, uint32_t slot,
       struct id_range *range)
{
    const struct quad_source *source = planner->run->source;
    struct comparison comparison;
    struct oid_span span;
    uint32_t constant;
    if (filter->kind == EXPRESSION_CALL && filter->function == function_find(SLICE("&&"))) {
        for (size_t i = 0; i < filter->count; i++) {
            narrow(planner, filter->arguments[i], slot, range);
        }
        return;
    }
    if (!read_comparison(filter, slot, &constant, &comparison) ||
        !source->span(planner->run->constants[constant], &span) ||
        (range->first && range->first != span.first)) {
        return;
    }
    if (!range->first) {
        *range = (struct id_range){span.first, span.first, span.last, span.last};
    }
    if (comparison.above && span.low > range->low) {
        range->low = span.low;
    }
    if (comparison.below && span.high < range->high) {
        range->high = span.high;
    }
}

struct id_range
plan_range(const struct planner *planner, uint32_t slot, const struct pending *pending)
{
    struct id_range range = {0};
    const struct quad_source *source = planner->run->source;
    for (; source->span && source->scan_skip && pending; pending = pending->outer) {
        for (size_t i = 0; i < pending->count; i++) {
            if (!pending->done[i] && !pending->filters[i]->exists) {
                narrow(planner, pending->filters[i], slot, &range);
            }
        }
    }
    return range;
}

/* "?x = <a>", "?x IN (<a>, <b>)": the filter's variable, or NUMBER_NONE. */
static uint32_t
listed_slot(const struct run *run, const struct expression *filter)
{
    if (filter->kind != EXPRESSION_CALL || filter->count < 2 ||
        (filter->function != function_find(SLICE("=")) &&
         filter->function != function_find(SLICE("SAMETERM")) &&
         filter->function != function_find(SLICE("in list")))) {
        return NUMBER_NONE;
    }
    const size_t first = filter->arguments[0]->kind == EXPRESSION_VARIABLE ? 0 : 1;
    for (size_t i = 0; i < filter->count; i++) {
        const struct expression *argument = filter->arguments[i];
        if (i == first ? argument->kind != EXPRESSION_VARIABLE
                       : argument->kind != EXPRESSION_CONSTANT ||
                             run->query->constants[argument->number].kind != TERM_IRI) {
            return NUMBER_NONE;
        }
    }
    return first && filter->function == function_find(SLICE("in list"))
               ? NUMBER_NONE
               : filter->arguments[first]->number;
}

static struct algebra *
listed_values(struct planner *planner, const struct expression *filter, uint32_t slot)
{
    struct arena *arena = &planner->run->arena;
    const struct term *terms = planner->run->query->constants;
    struct algebra *values = algebra_new(arena, ALGEBRA_VALUES);
    uint32_t *slots = arena_alloc(arena, sizeof *slots);
    uint32_t *constants = arena_alloc(arena, filter->count * sizeof *constants);
    if (!values || !slots || !constants) {
        return NULL;
    }
    *slots = slot;
    values->slots = slots;
    values->slot_count = 1;
    values->constants = constants;
    for (size_t i = 0; i < filter->count; i++) {
        const struct expression *argument = filter->arguments[i];
        bool skipped = argument->kind == EXPRESSION_VARIABLE;
        for (size_t k = 0; k < values->row_count && !skipped; k++) {
            skipped = term_equal(&terms[constants[k]], &terms[argument->number]);
        }
        if (!skipped) {
            constants[values->row_count++] = argument->number;
        }
    }
    algebra_update(values);
    return values;
}

static bool
is_conjunction(const struct expression *expression)
{
    return expression->kind == EXPRESSION_CALL &&
           expression->function == function_find(SLICE("&&"));
}

enum status
plan_listed(struct planner *planner, const struct expression *expression, struct algebra **node)
{
    const struct slots certain = (*node)->certain;
    const size_t count = is_conjunction(expression) ? expression->count : 1;
    for (size_t i = 0; i < count; i++) {
        const struct expression *filter =
            is_conjunction(expression) ? expression->arguments[i] : expression;
        const uint32_t slot = listed_slot(planner->run, filter);
        if (slot == NUMBER_NONE || !slots_have(&certain, slot)) {
            continue;
        }
        struct algebra *values = listed_values(planner, filter, slot);
        *node = values ? algebra_join(&planner->run->arena, *node, values) : NULL;
        if (!*node) {
            return plan_too_large(planner);
        }
    }
    return STATUS_OK;
}

/* The pattern of EXISTS or NOT EXISTS, NULL of another filter. */
static const struct algebra *
exists_pattern(const struct expression *filter, bool *negated)
{
    *negated = filter->kind == EXPRESSION_CALL && filter->function == function_find(SLICE("!"));
    filter = *negated ? filter->arguments[0] : filter;
    return filter->kind == EXPRESSION_EXISTS ? filter->pattern : NULL;
}

/* Reads the pattern of EXISTS once and looks each row up in a table of it, where a row's values put
 * into the pattern find what a join with it does and this costs less. */
static enum status
plan_semi_join(struct planner *planner, const struct expression *filter, struct operator** pipeline,
               struct known *known, bool *done)
{
    bool negated;
    double rows;
    const struct slots none = {0};
    const struct algebra *pattern = exists_pattern(filter, &negated);
    *done = false;
    if (!pattern || planner->graph.kind == PLACE_SLOT || planner->in_loop ||
        planner->batch_rows < BATCH_ROWS || !slots_empty(&planner->substituted) ||
        !algebra_takes_values(pattern, &known->maybe, false)) {
        return STATUS_OK;
    }
    const struct slots keys = slots_both(&known->maybe, &filter->slots);
    if (slots_empty(&keys) || !slots_within(&keys, &known->certain) ||
        !slots_within(&keys, &pattern->certain)) {
        return STATUS_OK;
    }
    TRY(plan_estimate(planner, pattern, &none, &rows));
    if (!plan_table_pays(known->rows, rows)) {
        return STATUS_OK;
    }
    *done = true;
    const enum hash_mode mode = negated ? HASH_MINUS : HASH_SEMI;
    const uint64_t most = plan_lookups_first(planner, rows);
    struct planner inside = plan_existing(planner, &keys);
    struct operator* built;
    struct known right;
    TRY(plan_built(&inside, pattern, &built, &right));
    if (!most) {
        return plan_hash(planner, mode, built, &right, NULL, pipeline, known);
    }
    struct operator* ways[2] = {seed_new(planner->run), seed_new(planner->run)};
    struct operator* const seeds[2] = {ways[0], ways[1]};
    if (!seeds[0] || !seeds[1]) {
        return plan_too_large(planner);
    }
    TRY(plan_add_filter(planner, filter, &ways[0], known));
    TRY(plan_hash(planner, mode, built, &right, NULL, &ways[1], known));
    return plan_set(planner, lookup_first_new(planner->run, *pipeline, ways, seeds, most), pipeline,
                    known, "%llu rows looked up", (unsigned long long)most);
}

enum status
plan_filter(struct planner *planner, const struct algebra *node, struct operator** pipeline,
            struct known *known, struct pending *outer)
{
    const struct expression *expression = node->expression;
    const bool conjunction = is_conjunction(expression);
    struct pending pending = {.count = conjunction ? expression->count : 1, .outer = outer};
    pending.filters = conjunction ? expression->arguments : &expression;
    pending.done = arena_zero(&planner->run->arena, pending.count);
    if (!pending.done) {
        return plan_too_large(planner);
    }
    struct algebra *left = node->left;
    if (left->kind < ALGEBRA_VALUES || left->kind == ALGEBRA_GRAPH) {
        TRY(plan_listed(planner, expression, &left));
    }
    /* A join asks for what filters need as long as they wait. */
    struct planner inside = left->kind == ALGEBRA_PATTERNS || left->kind == ALGEBRA_JOIN
                                ? *planner
                                : plan_needing(planner, &expression->slots);
    inside.weighted = inside.weighted && !expression->volatile_value;
    inside.first *= FILTER_PASSES;
    bool unbound;
    TRY(plan_unbound(&inside, left, &pending, pipeline, known, &unbound));
    TRY(unbound ? STATUS_OK : plan_node(&inside, left, pipeline, known, &pending));
    for (size_t i = 0; i < pending.count; i++) {
        if (!pending.done[i]) {
            TRY(plan_semi_join(planner, pending.filters[i], pipeline, known, &pending.done[i]));
        }
        if (!pending.done[i]) {
            TRY(plan_add_filter(planner, pending.filters[i], pipeline, known));
        }
    }
    known->rows *= 0.5;
    return STATUS_OK;
}
