/* Every kind of node but joins of patterns. */
#include "index/query/plan/plan.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "rdf/core/writer.h"

/* One row of so many is taken to be new where the first different ones are wanted. */
enum { NOTE_SIZE = 512, DISTINCT_PASSES = 4 };

enum status
plan_too_large(struct planner *planner)
{
    return status_fail(planner->why, STATUS_LIMIT, "the query's plan is too large");
}

enum status
plan_set(struct planner *planner, struct operator* operator, struct operator** pipeline,
         const struct known *known, const char *format, ...)
{
    if (!operator) {
        return plan_too_large(planner);
    }
    operator->estimate = known->rows;
    if (planner->notes && format) {
        char text[NOTE_SIZE];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        operator->note = arena_copy(&planner->run->arena, slice_string(text));
    }
    *pipeline = operator;
    return STATUS_OK;
}

static void
place_text(const struct planner *planner, struct place place, struct buf *buf)
{
    const struct query *query = planner->run->query;
    if (place.kind == PLACE_CONSTANT) {
        (void)nquads_write_term(buf, &query->constants[place.number]);
    } else if (place.kind == PLACE_SLOT && place.number < query->slot_count &&
               query->slot_names[place.number].length) {
        (void)buf_printf(buf, "?%.*s", SLICE_PRINT(query->slot_names[place.number]));
    } else if (place.kind == PLACE_SLOT) {
        (void)buf_printf(buf, "_:%u", (unsigned)place.number);
    }
}

struct slice
plan_pattern_text(struct planner *planner, const struct pattern *pattern)
{
    struct buf buf;
    buf_init(&buf, NOTE_SIZE - 64);
    place_text(planner, pattern->subject, &buf);
    (void)buf_append_char(&buf, ' ');
    if (pattern->path) {
        (void)buf_append_string(&buf, "(path)");
    } else {
        place_text(planner, pattern->predicate, &buf);
    }
    (void)buf_append_char(&buf, ' ');
    place_text(planner, pattern->object, &buf);
    if (planner->graph.kind == PLACE_SLOT) {
        (void)buf_append_string(&buf, " in ");
        place_text(planner, planner->graph, &buf);
    }
    const struct slice text = arena_copy(&planner->run->arena, buf_slice(&buf));
    buf_release(&buf);
    return text;
}

/* ---- joining pipelines ---- */

bool
plan_is_safe(const struct planner *planner, const struct algebra *node, const struct known *known)
{
    const struct slots left = slots_without(&known->maybe, &planner->substituted);
    return algebra_takes_values(node, &left, known->unit);
}

enum status
plan_standalone(struct planner *planner, const struct algebra *node, struct operator** root,
                struct known *known)
{
    struct planner alone = *planner;
    alone.substituted = (struct slots){0};
    *known = (struct known){.unit = true, .rows = 1};
    TRY(plan_set(planner, unit_new(planner->run), root, known, NULL));
    return plan_node(&alone, node, root, known, NULL);
}

enum status
plan_built(struct planner *planner, const struct algebra *node, struct operator** root,
           struct known *known)
{
    struct planner whole = *planner;
    whole.first = 0;
    whole.batch_rows = BATCH_ROWS;
    return plan_standalone(&whole, node, root, known);
}

enum status
plan_hash(struct planner *planner, enum hash_mode mode, struct operator* built,
          const struct known *right, const struct expression *expression,
          struct operator** pipeline, struct known *known)
{
    const struct slots both = slots_both(&known->maybe, &right->maybe);
    const struct slots certain = slots_both(&known->certain, &right->certain);
    struct hash_spec spec = {.mode = mode,
                             .keys = slots_both(&both, &certain),
                             .shared = both,
                             .built = right->maybe,
                             .expression = expression,
                             .rebuild = planner->in_loop,
                             .weight = NUMBER_NONE};
    if (planner->weighted && mode != HASH_MINUS && mode != HASH_SEMI) {
        const struct slots kept = slots_union(&planner->needed, &both);
        spec.built = slots_both(&right->maybe, &kept);
        spec.weight = planner->weight;
        spec.bound = mode == HASH_LEFT_JOIN ? planner->bound : spec.bound;
    }
    const double larger = known->rows > right->rows ? known->rows : right->rows;
    const double rows = slots_empty(&both) ? known->rows * right->rows : larger;
    struct operator* join =
        hash_join_new(planner->run, *pipeline, built, &spec, planner->batch_rows);
    if (mode != HASH_MINUS && mode != HASH_SEMI) {
        known->maybe = slots_union(&known->maybe, &right->maybe);
        known->rows = rows;
    }
    if (mode == HASH_JOIN) {
        known->certain = slots_union(&known->certain, &right->certain);
    }
    known->unit = false;
    return plan_set(planner, join, pipeline, known, NULL);
}

enum status
plan_joined(struct planner *planner, const struct algebra *node, struct operator** pipeline,
            struct known *known, struct pending *pending)
{
    if (plan_is_safe(planner, node, known)) {
        return plan_node(planner, node, pipeline, known, pending);
    }
    struct operator* built;
    struct known right;
    struct planner inside = plan_needing(planner, &known->maybe);
    TRY(plan_built(&inside, node, &built, &right));
    return plan_hash(planner, HASH_JOIN, built, &right, NULL, pipeline, known);
}

/* ---- the rest ---- */

/* A chain of BIND and SELECT expressions is one operator, so that BNODE("x") means the same blank
 * node throughout a solution. */
static enum status
plan_extend(struct planner *planner, const struct algebra *node, struct operator** pipeline,
            struct known *known, struct pending *pending)
{
    size_t count = 0;
    const struct algebra *base = node;
    for (; base->kind == ALGEBRA_EXTEND; base = base->left) {
        count++;
    }
    struct slot_expression *items = arena_alloc(&planner->run->arena, count * sizeof *items);
    if (!items) {
        return plan_too_large(planner);
    }
    struct planner inside = *planner;
    for (size_t i = count; i-- > 0; node = node->left) {
        items[i] = (struct slot_expression){node->slot, node->expression};
        inside.weighted = inside.weighted && !node->expression->volatile_value;
        inside = plan_needing(&inside, &node->expression->slots);
    }
    TRY(plan_node(&inside, base, pipeline, known, pending));
    for (size_t i = 0; i < count; i++) {
        TRY(plan_expression(planner, items[i].expression, known));
        slots_add(&known->maybe, items[i].slot);
    }
    known->unit = false;
    return plan_set(planner, extend_new(planner->run, *pipeline, items, count), pipeline, known,
                    "%zu expressions", count);
}

/* COUNT of a variable that every row has is COUNT of the rows, and needs no values. */
const struct algebra *
plan_count_rows(struct planner *planner, const struct algebra *group)
{
    struct arena *arena = &planner->run->arena;
    struct algebra *copy = arena_alloc(arena, sizeof *copy);
    struct aggregate *aggregates = arena_zero(arena, group->aggregate_count * sizeof *aggregates);
    if (!copy || !aggregates) {
        return NULL;
    }
    *copy = *group;
    for (size_t i = 0; i < group->aggregate_count; i++) {
        struct aggregate *aggregate = &aggregates[i];
        *aggregate = group->aggregates[i];
        if (aggregate->kind == AGGREGATE_COUNT && !aggregate->distinct && !aggregate->weight &&
            aggregate->argument && aggregate->argument->kind == EXPRESSION_VARIABLE &&
            slots_have(&group->left->certain, aggregate->argument->number)) {
            aggregate->argument = NULL;
        }
    }
    copy->aggregates = aggregates;
    return copy;
}

static enum status
plan_group(struct planner *planner, const struct algebra *node, struct operator** pipeline,
           struct known *known)
{
    struct planner inside = *planner;
    bool shared;
    inside.duplicates = false;
    inside.batch_rows = BATCH_ROWS;
    inside.first = 0;
    TRY(plan_tally(&inside, node, pipeline, known, &shared));
    if (!shared) {
        TRY(plan_share_group(&inside, node, pipeline, known, &shared));
    }
    if (shared) {
        return STATUS_OK;
    }
    const struct plan_before before = plan_before(planner, *pipeline, known);
    struct planner outside = inside;
    const struct algebra *group = node;
    node = plan_count_rows(planner, node);
    if (!node) {
        return plan_too_large(planner);
    }
    plan_weigh(&inside, node);
    TRY(plan_node(&inside, node->left, pipeline, known, NULL));
    TRY(plan_ranges_group(&outside, group, &before, pipeline, known, &shared));
    if (shared) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < node->key_count; i++) {
        TRY(plan_expression(planner, node->keys[i].expression, known));
    }
    for (size_t i = 0; i < node->aggregate_count; i++) {
        TRY(plan_expression(planner, node->aggregates[i].argument, known));
    }
    known->maybe = node->maybe;
    known->certain = node->certain;
    known->rows = node->key_count ? known->rows / 10 + 1 : 1;
    known->unit = false;
    const uint32_t weight = inside.weighted ? inside.weight : NUMBER_NONE;
    return plan_set(planner, group_new(planner->run, *pipeline, node, weight, planner->batch_rows),
                    pipeline, known, "%zu keys, %zu aggregates", node->key_count,
                    node->aggregate_count);
}

enum status
plan_order(struct planner *planner, const struct algebra *node, uint64_t most,
           struct operator** pipeline, struct known *known)
{
    struct planner inside = *planner;
    bool shared;
    inside.batch_rows = BATCH_ROWS;
    inside.first = 0;
    const struct plan_before before = plan_before(planner, *pipeline, known);
    TRY(plan_share(&inside, node, most, pipeline, known, &shared));
    if (!shared) {
        TRY(plan_node(&inside, node->left, pipeline, known, NULL));
        TRY(plan_ranges_first(&inside, node, most, &before, pipeline, known, &shared));
    }
    for (size_t i = 0; i < node->order_count; i++) {
        TRY(plan_expression(planner, node->order[i].expression, known));
    }
    known->unit = false;
    return plan_set(planner,
                    order_new(planner->run, *pipeline, node->order, node->order_count, most,
                              planner->batch_rows),
                    pipeline, known, "%zu keys", node->order_count);
}

/* most: rows that are needed, as for those below. */
static enum status plan_first(struct planner *planner, const struct algebra *node, uint64_t most,
                              struct operator** pipeline, struct known *known);

static enum status plan_distinct(struct planner *planner, const struct algebra *node, uint64_t most,
                                 struct operator** pipeline, struct known *known);

static enum status
plan_project(struct planner *planner, const struct algebra *node, uint64_t most,
             struct operator** pipeline, struct known *known)
{
    bool same = true;
    TRY(plan_first(planner, node->left, most, pipeline, known));
    for (size_t i = 0; i < node->pair_count; i++) {
        same = same && node->pairs[i].inner == node->pairs[i].outer;
    }
    known->maybe = node->maybe;
    known->certain = node->certain;
    known->unit = false;
    return same ? STATUS_OK
                : plan_set(planner,
                           project_new(planner->run, *pipeline, node->pairs, node->pair_count),
                           pipeline, known, NULL);
}

static enum status
plan_first(struct planner *planner, const struct algebra *node, uint64_t most,
           struct operator** pipeline, struct known *known)
{
    bool shared = false;
    if (node->kind == ALGEBRA_ORDER) {
        return plan_order(planner, node, most, pipeline, known);
    }
    if (most < UINT64_MAX) {
        TRY(plan_share(planner, node, most, pipeline, known, &shared));
    }
    if (shared) {
        return STATUS_OK;
    }
    if (node->kind == ALGEBRA_DISTINCT && most < UINT64_MAX) {
        return plan_distinct(planner, node, most, pipeline, known);
    }
    return node->kind == ALGEBRA_PROJECT ? plan_project(planner, node, most, pipeline, known)
                                         : plan_node(planner, node, pipeline, known, NULL);
}

/* DISTINCT over a SELECT with ORDER BY: its ORDER, when it sorts by what is selected alone, under
 * the variables' own names. Then what is left of the rows can be sorted. */
static const struct algebra *
late_order(const struct algebra *node)
{
    const struct algebra *order = node->left->kind == ALGEBRA_PROJECT ? node->left->left : NULL;
    if (!order || order->kind != ALGEBRA_ORDER) {
        return NULL;
    }
    for (size_t i = 0; i < node->left->pair_count; i++) {
        if (node->left->pairs[i].inner != node->left->pairs[i].outer) {
            return NULL;
        }
    }
    for (size_t i = 0; i < order->order_count; i++) {
        const struct expression *key = order->order[i].expression;
        if (key->exists || key->volatile_value || !slots_within(&key->slots, &node->left->maybe)) {
            return NULL;
        }
    }
    return order;
}

/* Where all rows are read, those that are equal in what is selected may come as one. */
static void
weigh_distinct(struct planner *planner, const struct slots *selected)
{
    if (!planner->first && planner->run->width < SLOTS_MAXIMUM) {
        planner->weighted = true;
        planner->needed = *selected;
        planner->bound = (struct slots){0};
        planner->weight = (uint32_t)planner->run->width++;
    }
}

/* What DISTINCT stands on. */
static enum status
plan_selected(struct planner *planner, const struct algebra *node, struct operator** pipeline,
              struct known *known)
{
    struct slots selected = {0};
    bool shared;
    if (node->kind != ALGEBRA_PROJECT) {
        return plan_node(planner, node, pipeline, known, NULL);
    }
    TRY(plan_share(planner, node, UINT64_MAX, pipeline, known, &shared));
    if (shared) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < node->pair_count; i++) {
        slots_add(&selected, node->pairs[i].inner);
    }
    weigh_distinct(planner, &selected);
    return plan_project(planner, node, UINT64_MAX, pipeline, known);
}

static enum status
plan_distinct(struct planner *planner, const struct algebra *node, uint64_t most,
              struct operator** pipeline, struct known *known)
{
    struct planner inside = *planner;
    uint32_t *slots = arena_alloc(&planner->run->arena, SLOTS_MAXIMUM * sizeof *slots);
    size_t count = 0;
    if (!slots) {
        return plan_too_large(planner);
    }
    const struct algebra *order = late_order(node);
    inside.duplicates = true;
    inside.first = order ? 0 : inside.first * DISTINCT_PASSES;
    inside.batch_rows = order ? BATCH_ROWS : inside.batch_rows;
    if (order) {
        weigh_distinct(&inside, &node->left->maybe);
        TRY(plan_node(&inside, order->left, pipeline, known, NULL));
    } else {
        TRY(plan_selected(&inside, node->left, pipeline, known));
    }
    known->maybe = node->maybe;
    known->certain = node->certain;
    for (uint32_t slot = slots_next(&known->maybe, 0); slot < SLOTS_MAXIMUM;
         slot = slots_next(&known->maybe, slot + 1)) {
        slots[count++] = slot;
    }
    TRY(plan_set(planner, distinct_new(planner->run, *pipeline, slots, count, inside.batch_rows),
                 pipeline, known, NULL));
    return order ? plan_set(planner,
                            order_new(planner->run, *pipeline, order->order, order->order_count,
                                      most, planner->batch_rows),
                            pipeline, known, "%zu keys", order->order_count)
                 : STATUS_OK;
}

static enum status
plan_slice(struct planner *planner, const struct algebra *node, struct operator** pipeline,
           struct known *known)
{
    struct planner inside = *planner;
    const uint64_t most =
        node->limit > UINT64_MAX - node->offset ? UINT64_MAX : node->limit + node->offset;
    inside.duplicates = false;
    if (most < inside.batch_rows) {
        inside.batch_rows = most < 1 ? 1 : most;
    }
    if (most < UINT64_MAX && (!inside.first || most < inside.first)) {
        inside.first = most < 1 ? 1 : most;
    }
    const struct plan_before before = plan_before(planner, *pipeline, known);
    bool ranged;
    TRY(plan_first(&inside, node->left, most, pipeline, known));
    if (node->left->kind != ALGEBRA_ORDER) {
        TRY(plan_ranges_first(&inside, node->left, most, &before, pipeline, known, &ranged));
    }
    known->unit = false;
    if (known->rows > (double)node->limit) {
        known->rows = (double)node->limit;
    }
    return plan_set(planner, slice_new(planner->run, *pipeline, node->offset, node->limit),
                    pipeline, known, "offset %llu, limit %lld", (unsigned long long)node->offset,
                    node->limit == UINT64_MAX ? -1 : (long long)node->limit);
}

static enum status
plan_other(struct planner *planner, const struct algebra *node, struct operator** pipeline,
           struct known *known)
{
    switch (node->kind) {
    case ALGEBRA_VALUES:
        known->maybe = slots_union(&known->maybe, &node->maybe);
        known->certain = slots_union(&known->certain, &node->certain);
        known->rows *= (double)node->row_count;
        known->unit = false;
        return plan_set(planner, values_new(planner->run, *pipeline, node, planner->batch_rows),
                        pipeline, known, "%zu rows", node->row_count);
    case ALGEBRA_SERVICE:
        return node->silent ? STATUS_OK
                            : status_fail(planner->why, STATUS_UNSUPPORTED,
                                          "SERVICE: queries to other services are not sent");
    case ALGEBRA_GROUP:
        return plan_group(planner, node, pipeline, known);
    case ALGEBRA_ORDER:
        return plan_order(planner, node, UINT64_MAX, pipeline, known);
    case ALGEBRA_PROJECT:
        return plan_project(planner, node, UINT64_MAX, pipeline, known);
    case ALGEBRA_DISTINCT:
        return plan_distinct(planner, node, UINT64_MAX, pipeline, known);
    case ALGEBRA_SLICE:
        return plan_slice(planner, node, pipeline, known);
    default:
        return STATUS_OK;
    }
}

enum status
plan_node(struct planner *planner, const struct algebra *node, struct operator** pipeline,
          struct known *known, struct pending *pending)
{
    bool shared;
    struct planner one;
    TRY(plan_share(planner, node, UINT64_MAX, pipeline, known, &shared));
    if (shared) {
        return plan_filters(planner, pipeline, known, pending);
    }
    switch (node->kind) {
    case ALGEBRA_PATTERNS:
    case ALGEBRA_JOIN:
        return plan_join(planner, node, pipeline, known, pending);
    case ALGEBRA_FILTER:
        return plan_filter(planner, node, pipeline, known, pending);
    case ALGEBRA_LEFT_JOIN:
        TRY(plan_left_join(planner, node, pipeline, known, pending));
        break;
    case ALGEBRA_MINUS:
        TRY(plan_minus(planner, node, pipeline, known, pending));
        break;
    case ALGEBRA_EXTEND:
        TRY(plan_extend(planner, node, pipeline, known, pending));
        break;
    case ALGEBRA_UNION:
        TRY(plan_union(planner, node, pipeline, known));
        break;
    case ALGEBRA_GRAPH:
        TRY(plan_graph(planner, node, pipeline, known, pending));
        break;
    default:
        one = plan_unweighted(planner);
        TRY(plan_other(&one, node, pipeline, known));
    }
    return plan_filters(planner, pipeline, known, pending);
}

enum status
plan_query(struct run *run, bool notes, struct operator** root, struct reason *why)
{
    struct planner planner = {.run = run,
                              .graphs = run->default_graphs,
                              .batch_rows = BATCH_ROWS,
                              .key = NUMBER_NONE,
                              .notes = notes,
                              .why = why};
    struct known known;
    if (run->query->form == QUERY_ASK) {
        planner.batch_rows = 1;
        planner.first = 1;
        planner.duplicates = true;
        known = (struct known){.unit = true, .rows = 1};
        TRY(plan_set(&planner, unit_new(run), root, &known, NULL));
        return plan_first(&planner, run->query->algebra, 1, root, &known);
    }
    return plan_standalone(&planner, run->query->algebra, root, &known);
}
