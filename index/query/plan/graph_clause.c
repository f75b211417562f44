/* GRAPH: by name, by a variable that patterns bind, or by a loop over all named graphs. */
#include "index/query/plan/plan.h"

/* 2: every solution binds the graph by a pattern; 1: says nothing of graphs; 0: else. */
static int
binds_graph(const struct algebra *node)
{
    int left, right;
    switch (node->kind) {
    case ALGEBRA_UNIT:
    case ALGEBRA_VALUES:
        return 1;
    case ALGEBRA_PATTERNS:
        for (size_t i = 0; i < node->pattern_count; i++) {
            if (node->patterns[i].path) {
                return 0;
            }
        }
        return 2;
    case ALGEBRA_JOIN:
        left = binds_graph(node->left);
        right = binds_graph(node->right);
        return !left || !right ? 0 : left > right ? left : right;
    case ALGEBRA_UNION:
        return binds_graph(node->left) == 2 && binds_graph(node->right) == 2 ? 2 : 0;
    case ALGEBRA_LEFT_JOIN:
        return binds_graph(node->left) == 2 && binds_graph(node->right) &&
                       (!node->expression || !node->expression->exists)
                   ? 2
                   : 0;
    case ALGEBRA_FILTER:
    case ALGEBRA_EXTEND:
        return node->expression->exists ? 0 : binds_graph(node->left);
    default:
        return 0;
    }
}

static enum status
plan_named_graph(struct planner *planner, const struct algebra *node, struct operator** pipeline,
                 struct known *known, struct pending *pending)
{
    struct run *run = planner->run;
    oid *id = arena_alloc(&run->arena, sizeof *id);
    if (!id) {
        return plan_too_large(planner);
    }
    *id = run->constants[node->graph.number];
    struct planner inside = *planner;
    inside.graph = (struct place){PLACE_NONE, 0};
    inside.graphs = (struct graphs){GRAPHS_ONE, id, 1};
    if (!graphs_have(&run->named_graphs, *id)) {
        inside.graphs = (struct graphs){GRAPHS_SET, id, 0};
    }
    if (node->left->kind == ALGEBRA_UNIT) {
        uint64_t rows = 0;
        const struct quad_oids pattern = {.graph = *id};
        if (*id < OID_LOCAL && inside.graphs.count) {
            TRY(run->source->estimate(run->source->context, &pattern, &rows, planner->why));
        }
        return rows ? STATUS_OK
                    : plan_set(planner, slice_new(run, *pipeline, 0, 0), pipeline, known, NULL);
    }
    return plan_node(&inside, node->left, pipeline, known, pending);
}

static enum status
plan_graph_loop(struct planner *planner, const struct algebra *node, struct operator** pipeline,
                struct known *known)
{
    struct planner inside = plan_unweighted(planner);
    struct operator* inner;
    struct known right;
    const uint32_t hidden = (uint32_t)planner->run->width++;
    inside.graph = (struct place){PLACE_SLOT, hidden};
    inside.in_loop = true;
    TRY(plan_built(&inside, node->left, &inner, &right));
    slots_add(&right.maybe, node->graph.number);
    slots_add(&right.certain, node->graph.number);
    right.unit = false;
    struct operator* loop = NULL;
    TRY(plan_set(planner, graph_loop_new(planner->run, inner, hidden, node->graph.number), &loop,
                 &right, NULL));
    if (known->unit) {
        *pipeline = loop;
        *known = right;
        return STATUS_OK;
    }
    return plan_hash(planner, HASH_JOIN, loop, &right, NULL, pipeline, known);
}

enum status
plan_graph(struct planner *planner, const struct algebra *node, struct operator** pipeline,
           struct known *known, struct pending *pending)
{
    if (node->graph.kind == PLACE_CONSTANT) {
        return plan_named_graph(planner, node, pipeline, known, pending);
    }
    if (node->left->kind == ALGEBRA_UNIT) {
        slots_add(&known->maybe, node->graph.number);
        slots_add(&known->certain, node->graph.number);
        known->unit = false;
        known->rows *= 1000;
        return plan_set(planner,
                        graph_names_new(planner->run, *pipeline, node->graph, planner->batch_rows),
                        pipeline, known, NULL);
    }
    if (binds_graph(node->left) != 2) {
        return plan_graph_loop(planner, node, pipeline, known);
    }
    /* In EXISTS a value is put in everywhere, as the language has it. */
    const bool put_in = slots_have(&planner->substituted, node->graph.number) &&
                        slots_have(&known->certain, node->graph.number);
    struct slots graphs = {0};
    /* The quads of a single pattern may come as one from several graphs, if nobody asks which. */
    if (put_in || slots_have(&planner->needed, node->graph.number) ||
        slots_have(&known->maybe, node->graph.number) ||
        slots_have(&node->left->maybe, node->graph.number) ||
        node->left->kind != ALGEBRA_PATTERNS || node->left->pattern_count != 1) {
        slots_add(&graphs, node->inside);
        slots_add(&graphs, node->graph.number);
    }
    struct planner inside = plan_needing(planner, &graphs);
    inside.graph.kind = PLACE_SLOT;
    inside.graph.number = put_in ? node->graph.number : node->inside;
    TRY(plan_node(&inside, node->left, pipeline, known, pending));
    slots_add(&known->maybe, node->graph.number);
    slots_add(&known->certain, node->graph.number);
    return inside.graph.number == node->graph.number
               ? STATUS_OK
               : plan_set(planner,
                          graph_join_new(planner->run, *pipeline, node->inside, node->graph.number),
                          pipeline, known, NULL);
}
