/* This file plans the parts of a query that partitions evaluate for themselves (share_parts.h),
 * both on the side that asks and in a partition. */
#include "index/query/plan/plan.h"

/* Parting by nodes asks the partitions once more. */
enum { SPLIT_ROWS_LEAST = 1000 };

bool
plan_may_share(const struct planner *planner, const struct operator* pipeline,
               const struct known *known)
{
    const struct run *run = planner->run;
    return run->shares && !planner->apart && planner->key == NUMBER_NONE && !planner->in_loop &&
           known->unit && strcmp(pipeline->kind->name, "unit") == 0 &&
           planner->graph.kind == PLACE_NONE && planner->graphs.ids == run->default_graphs.ids &&
           planner->graphs.kind == run->default_graphs.kind && slots_empty(&planner->substituted);
}

/* ---- in a partition ---- */

static enum status
plan_rows(struct planner *planner, const struct algebra *node, uint64_t most,
          struct operator** root, struct known *known)
{
    if (most < planner->batch_rows) {
        planner->batch_rows = most < 1 ? 1 : most;
    }
    planner->first = most == UINT64_MAX || node->kind == ALGEBRA_ORDER ? 0 : most < 1 ? 1 : most;
    if (node->kind == ALGEBRA_ORDER) {
        *known = (struct known){.unit = true, .rows = 1};
        TRY(plan_set(planner, unit_new(planner->run), root, known, NULL));
        TRY(plan_order(planner, node, most, root, known));
    } else {
        TRY(plan_standalone(planner, node, root, known));
    }
    if (most == UINT64_MAX) {
        return STATUS_OK;
    }
    known->rows = known->rows > (double)most ? (double)most : known->rows;
    return plan_set(planner, slice_new(planner->run, *root, 0, most), root, known,
                    "offset 0, limit %llu", (unsigned long long)most);
}

static enum status
plan_values(struct planner *planner, const struct algebra *node, const uint32_t *columns,
            size_t count, struct operator** root, struct known *known)
{
    struct planner inside = *planner;
    plan_weigh(&inside, node);
    TRY(plan_standalone(&inside, node->left, root, known));
    return plan_set(planner, distinct_new(planner->run, *root, columns, count, planner->batch_rows),
                    root, known, NULL);
}

static enum status
plan_parts(struct planner *planner, const struct algebra *node, uint32_t hidden,
           struct operator** root, struct known *known)
{
    struct run *run = planner->run;
    const struct algebra *parts = share_parts(&run->arena, node, hidden);
    parts = parts ? plan_count_rows(planner, parts) : NULL;
    if (!parts) {
        return plan_too_large(planner);
    }
    struct planner inside = *planner;
    plan_weigh(&inside, parts);
    TRY(plan_standalone(&inside, node->left, root, known));
    for (size_t i = 0; i < node->key_count; i++) {
        TRY(plan_expression(planner, node->keys[i].expression, known));
    }
    for (size_t i = 0; i < node->aggregate_count; i++) {
        TRY(plan_expression(planner, node->aggregates[i].argument, known));
    }
    known->rows = node->key_count ? known->rows / 10 + 1 : 1;
    const uint32_t weight = inside.weighted ? inside.weight : NUMBER_NONE;
    return plan_set(planner, group_new(run, *root, parts, weight, planner->batch_rows), root, known,
                    "%zu keys, %zu aggregates", parts->key_count, parts->aggregate_count);
}

enum status
plan_each(struct planner *planner, const struct algebra *node, enum share_form form, uint64_t most,
          uint32_t hidden, const uint32_t *columns, size_t count, struct operator** root,
          struct known *known)
{
    return form == SHARE_ROWS     ? plan_rows(planner, node, most, root, known)
           : form == SHARE_VALUES ? plan_values(planner, node, columns, count, root, known)
                                  : plan_parts(planner, node, hidden, root, known);
}

/* What a partition does, also for explaining it here. columns: of its rows. */
static enum status
plan_request(struct planner *planner, const struct algebra *node,
             const struct share_request *request, uint32_t hidden, const uint32_t *columns,
             struct operator** root, struct known *known)
{
    const struct query *query = planner->run->query;
    const bool rows = request->form == SHARE_ROWS;
    const struct algebra *below = rows ? node : node->left;
    /* Nobody removes duplicates from the rows of a request that is parted by nodes. */
    planner->duplicates =
        request->form == SHARE_VALUES ||
        (!request->partition_wise && share_kind_of(query, below) == SHARE_DUPLICATES);
    return plan_each(planner, node, request->form, request->most, hidden, columns, request->columns,
                     root, known);
}

enum status
plan_part(struct run *run, const struct share_request *request, struct operator** root,
          const uint32_t **columns, struct reason *why)
{
    struct planner planner = {.run = run,
                              .graphs = run->default_graphs,
                              .batch_rows = BATCH_ROWS,
                              .key = request->partition_wise ? request->key : NUMBER_NONE,
                              .places = request->places,
                              .shared = request->shared,
                              .why = why};
    struct known known;
    const struct algebra *node = share_node(run->query, request->node);
    if (!node || (request->form != SHARE_ROWS && node->kind != ALGEBRA_GROUP)) {
        return status_fail(why, STATUS_PROTOCOL, "a request for a part of a query names none");
    }
    const uint32_t hidden = (uint32_t)run->width;
    const size_t most = SLOTS_MAXIMUM + node->key_count + share_hidden(node);
    uint32_t *list = arena_alloc(&run->arena, most * sizeof *list);
    if (!list) {
        return plan_too_large(&planner);
    }
    if (share_columns(request->form, node, hidden, list) != request->columns) {
        return status_fail(why, STATUS_PROTOCOL, "a request for a part of a query has %zu columns",
                           request->columns);
    }
    run->width += request->form == SHARE_PARTS ? share_hidden(node) : 0;
    *columns = list;
    return plan_request(&planner, node, request, hidden, list, root, &known);
}

/* ---- asking ---- */

/* Holds what partitions are asked for. */
struct asking {
    const struct algebra *node;
    enum share_form form;
    uint64_t most;
    uint32_t hidden;
    struct share_split split; /* slot NUMBER_NONE: not parted by nodes */
    bool rest;                /* there are nodes that several partitions have */
    const uint32_t *columns;  /* of the rows that come */
    size_t count;
};

/* The operator that asks; known->rows as estimated for one partition that has all. */
static enum status
plan_asked(struct planner *planner, struct asking *asking, struct operator** pipeline,
           struct known *known)
{
    const struct algebra *node = asking->node;
    const enum share_form form = asking->form;
    const uint64_t most = asking->most;
    const uint32_t hidden = asking->hidden;
    struct run *run = planner->run;
    const struct query_options *options = run->options;
    uint32_t *list = arena_alloc(
        &run->arena, (SLOTS_MAXIMUM + node->key_count + share_hidden(node)) * sizeof *list);
    if (!list) {
        return plan_too_large(planner);
    }
    const struct share_request request = {.text = run->query->text,
                                          .default_graph = options->default_graph,
                                          .graphs = options->graphs,
                                          .named_graphs = options->named_graphs,
                                          .form = form,
                                          .node = share_number(run->query, node),
                                          .most = most,
                                          .now_ms = run->now_ms,
                                          .columns = share_columns(form, node, hidden, list),
                                          .partition_wise = asking->split.slot != NUMBER_NONE,
                                          .key = asking->split.slot,
                                          .places = asking->split.places};
    asking->columns = list;
    asking->count = request.columns;
    struct operator* inner = NULL;
    struct planner part = *planner;
    part.apart = true;
    part.key = asking->split.slot;
    part.batch_rows = BATCH_ROWS;
    /* Planned here for its estimate and its text; never run. */
    TRY(plan_request(&part, node, &request, hidden, list, &inner, known));
    static const char *const what[] = {"rows", "different values", "parts of aggregates"};
    TRY(plan_set(planner, share_new(run, &request, list, planner->batch_rows), pipeline, known,
                 most < UINT64_MAX ? "%s%s, at most %llu of each" : "%s%s", what[form],
                 asking->split.slot == NUMBER_NONE ? "" : ", of nodes of one partition",
                 (unsigned long long)most));
    operator_contain(*pipeline, inner);
    return STATUS_OK;
}

/* Plans what partitions are asked for, and the same here for the nodes that several of them have.
 */
static enum status
plan_asking(struct planner *planner, struct asking *asking, struct operator** pipeline,
            struct known *known)
{
    struct run *run = planner->run;
    struct operator* unit = * pipeline;
    TRY(plan_asked(planner, asking, pipeline, known));
    if (!asking->rest) {
        return STATUS_OK;
    }
    const struct algebra *node = asking->node;
    struct planner here = *planner;
    struct known other;
    struct operator** branches = arena_zero(&run->arena, 2 * sizeof *branches);
    struct operator** seeds = arena_zero(&run->arena, 2 * sizeof *seeds);
    if (!branches || !seeds) {
        return plan_too_large(planner);
    }
    branches[0] = *pipeline;
    seeds[0] = seed_new(run);
    seeds[1] = seed_new(run);
    if (!seeds[0] || !seeds[1]) {
        return plan_too_large(planner);
    }
    here.key = asking->split.slot;
    here.places = asking->split.places;
    here.shared = NULL;
    TRY(asking->form == SHARE_PARTS
            ? plan_parts(&here, node, asking->hidden, &branches[1], &other)
            : plan_standalone(&here, node->kind == ALGEBRA_ORDER ? node->left : node, &branches[1],
                              &other));
    return plan_set(planner, union_new(run, unit, branches, seeds, 2), pipeline, known,
                    "2 branches");
}

/* Tells whether the part is long enough for dividing it by nodes, and partitions have not too many
 * in common. */
static enum status
plan_split(struct planner *planner, const struct algebra *node, struct asking *asking, bool *splits)
{
    const struct quad_source *source = planner->run->source;
    const struct slots none = {0};
    double rows;
    *splits = false;
    if (!source->part) {
        return STATUS_OK;
    }
    TRY(plan_estimate(planner, node, &none, &rows));
    if (rows < SPLIT_ROWS_LEAST) {
        return STATUS_OK;
    }
    const enum status status =
        source->part(source->context, asking->split.places, &asking->rest, planner->why);
    *splits = status == STATUS_OK;
    return status == STATUS_LIMIT || status == STATUS_UNSUPPORTED ? STATUS_OK : status;
}

/* A pattern by itself gives its rows, or is counted, without being divided. */
static bool
is_bare(const struct algebra *node)
{
    return node->kind == ALGEBRA_PATTERNS && node->pattern_count == 1;
}

/* Tells whether asking for the node's rows is better than scans. */
static bool
is_worth(const struct planner *planner, const struct algebra *node, uint64_t most)
{
    const struct query *query = planner->run->query;
    if (node->kind == ALGEBRA_ORDER) {
        return most < UINT64_MAX && share_orders(query, node) &&
               share_kind_of(query, node->left) >= SHARE_SET;
    }
    if (node->kind == ALGEBRA_PATTERNS || node->kind == ALGEBRA_VALUES ||
        node->kind == ALGEBRA_UNIT) {
        return false;
    }
    return share_kind_of(query, node) >= (planner->duplicates ? SHARE_DUPLICATES : SHARE_SET);
}

/* The rows of a node that can be parted by nodes; of an ORDER those that are wanted. */
static enum status
split_rows(struct planner *planner, struct asking *asking, bool *shared)
{
    const struct query *query = planner->run->query;
    const struct algebra *node = asking->node;
    const bool order = node->kind == ALGEBRA_ORDER;
    const struct algebra *below = order ? node->left : node;
    *shared = false;
    return (order && (asking->most == UINT64_MAX || !share_orders(query, node))) ||
                   is_bare(below) || !share_split_of(query, below, &asking->split)
               ? STATUS_OK
               : plan_split(planner, below, asking, shared);
}

enum status
plan_share(struct planner *planner, const struct algebra *node, uint64_t most,
           struct operator** pipeline, struct known *known, bool *shared)
{
    struct run *run = planner->run;
    struct asking asking = {
        .node = node, .form = SHARE_ROWS, .most = most, .split.slot = NUMBER_NONE};
    *shared =
        plan_may_share(planner, *pipeline, known) && share_number(run->query, node) != NUMBER_NONE;
    if (!*shared) {
        return STATUS_OK;
    }
    const bool whole = is_worth(planner, node, most);
    if (!whole) {
        TRY(split_rows(planner, &asking, shared));
    }
    if (!*shared) {
        return STATUS_OK;
    }
    TRY(plan_asking(planner, &asking, pipeline, known));
    known->maybe = node->maybe;
    known->certain = node->certain;
    known->unit = false;
    const enum share_kind kind =
        share_kind_of(run->query, node->kind == ALGEBRA_ORDER ? node->left : node);
    return !whole || planner->duplicates || kind == SHARE_BAG
               ? STATUS_OK
               : plan_set(planner,
                          distinct_new(run, *pipeline, asking.columns, asking.count,
                                       planner->batch_rows),
                          pipeline, known, NULL);
}

/* The parts of a group whose rows can be parted by nodes. */
static enum status
split_parts(struct planner *planner, struct asking *asking, enum share_grouping grouping,
            bool *splits)
{
    const struct algebra *group = asking->node;
    struct share_split split;
    *splits = false;
    if (!share_split_group(planner->run->query, group, &split) ||
        (is_bare(group->left) && (grouping == SHARE_GROUP_VALUES ||
                                  !share_splits_by(planner->run->query, group, &split)))) {
        return STATUS_OK;
    }
    asking->split = split;
    TRY(plan_split(planner, group->left, asking, splits));
    if (!*splits) {
        asking->split.slot = NUMBER_NONE;
    }
    return STATUS_OK;
}

enum status
plan_share_group(struct planner *planner, const struct algebra *node, struct operator** pipeline,
                 struct known *known, bool *shared)
{
    struct run *run = planner->run;
    const enum share_grouping grouping = share_grouping_of(run->query, node);
    const struct algebra *whole = node;
    struct asking asking = {.node = node, .most = UINT64_MAX, .split.slot = NUMBER_NONE};
    bool parts = grouping == SHARE_GROUP_PARTS;
    *shared =
        plan_may_share(planner, *pipeline, known) && share_number(run->query, node) != NUMBER_NONE;
    if (*shared && !parts) {
        TRY(split_parts(planner, &asking, grouping, &parts));
    }
    *shared = *shared && (parts || grouping != SHARE_GROUP_NOT);
    if (!*shared) {
        return STATUS_OK;
    }
    asking.form = parts ? SHARE_PARTS : SHARE_VALUES;
    asking.hidden = (uint32_t)run->width;
    if (parts) {
        run->width += share_hidden(node);
        whole = share_whole(&run->arena, node, asking.hidden);
        if (!whole) {
            return plan_too_large(planner);
        }
    }
    TRY(plan_asking(planner, &asking, pipeline, known));
    known->maybe = node->maybe;
    known->certain = node->certain;
    known->unit = false;
    return plan_set(planner, group_new(run, *pipeline, whole, NUMBER_NONE, planner->batch_rows),
                    pipeline, known,
                    parts ? "%zu keys, %zu aggregates of parts" : "%zu keys, %zu aggregates",
                    node->key_count, node->aggregate_count);
}
