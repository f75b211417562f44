/* OPTIONAL, MINUS and UNION: groups that stand beside others. */
#include "index/query/plan/plan.h"

enum status
plan_left_join(struct planner *planner, const struct algebra *node, struct operator** pipeline,
               struct known *known, struct pending *pending)
{
    struct slots mentioned = algebra_mentioned(node->right);
    struct algebra *group = node->right;
    if (node->expression) {
        TRY(plan_listed(planner, node->expression, &group));
        mentioned = slots_union(&mentioned, &node->expression->slots);
    }
    struct planner beside = plan_needing(planner, &mentioned);
    TRY(plan_node(&beside, node->left, pipeline, known, pending));
    struct known right = *known;
    struct operator* inner;
    mentioned =
        node->expression ? slots_union(&known->maybe, &node->expression->slots) : known->maybe;
    struct planner inside = plan_needing(planner, &mentioned);
    const bool apart = !slots_meet(&known->maybe, &node->right->maybe) && !known->unit &&
                       !node->expression && slots_empty(&planner->substituted);
    if (apart || !plan_is_safe(planner, group, known)) {
        TRY(plan_built(&inside, group, &inner, &right));
        struct known merged = *known;
        merged.maybe = slots_union(&merged.maybe, &right.maybe);
        TRY(plan_expression(planner, node->expression, &merged));
        return plan_hash(planner, HASH_LEFT_JOIN, inner, &right, node->expression, pipeline, known);
    }
    struct operator* seed = seed_new(planner->run);
    if (!seed) {
        return plan_too_large(planner);
    }
    inner = seed;
    TRY(plan_node(&inside, group, &inner, &right, NULL));
    if (node->expression) {
        TRY(plan_add_filter(planner, node->expression, &inner, &right));
    }
    const uint32_t ordinal = (uint32_t)planner->run->width++;
    known->maybe = slots_union(&known->maybe, &node->right->maybe);
    known->rows = right.rows > known->rows ? right.rows : known->rows;
    known->unit = false;
    return plan_set(
        planner, left_join_new(planner->run, *pipeline, inner, seed, ordinal, planner->batch_rows),
        pipeline, known, NULL);
}

enum status
plan_minus(struct planner *planner, const struct algebra *node, struct operator** pipeline,
           struct known *known, struct pending *pending)
{
    struct planner left = plan_needing(planner, &node->right->maybe);
    TRY(plan_node(&left, node->left, pipeline, known, pending));
    if (!slots_meet(&known->maybe, &node->right->maybe)) {
        return STATUS_OK; /* what shares no variable subtracts nothing */
    }
    struct planner right = plan_unweighted(planner);
    struct operator* built;
    struct known what;
    right.duplicates = true;
    TRY(plan_built(&right, node->right, &built, &what));
    return plan_hash(planner, HASH_MINUS, built, &what, NULL, pipeline, known);
}

static size_t
count_branches(const struct algebra *node)
{
    size_t count = 1;
    for (; node->kind == ALGEBRA_UNION; node = node->left) {
        count++;
    }
    return count;
}

enum status
plan_union(struct planner *planner, const struct algebra *node, struct operator** pipeline,
           struct known *known)
{
    const size_t count = count_branches(node);
    struct operator** branches = arena_zero(&planner->run->arena, count * sizeof *branches);
    struct operator** seeds = arena_zero(&planner->run->arena, count * sizeof *seeds);
    struct known after = *known;
    if (!branches || !seeds) {
        return plan_too_large(planner);
    }
    after.rows = 0;
    const struct algebra *rest = node;
    for (size_t i = count; i-- > 0; rest = rest->left) {
        const struct algebra *branch = rest->kind == ALGEBRA_UNION ? rest->right : rest;
        struct known inside = *known;
        branches[i] = seeds[i] = seed_new(planner->run);
        if (!seeds[i]) {
            return plan_too_large(planner);
        }
        TRY(plan_joined(planner, branch, &branches[i], &inside, NULL));
        after.rows += inside.rows;
        if (rest->kind != ALGEBRA_UNION) {
            break;
        }
    }
    after.maybe = slots_union(&after.maybe, &node->maybe);
    after.certain = slots_union(&after.certain, &node->certain);
    after.unit = false;
    *known = after;
    struct operator* all = union_new(planner->run, *pipeline, branches, seeds, count);
    return plan_set(planner, all, pipeline, known, "%zu branches", count);
}
