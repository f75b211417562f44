/* OPTIONAL, MINUS and UNION: groups that stand beside others. */
#include "index/query/plan/plan.h"

/* Tells whether a hash join with all the rows of the right side alone costs less than its
 * evaluation with the values of the rows so far. */
static bool
pays_apart(struct planner *planner, const struct algebra *right, const struct known *known)
{
    double rows;
    const struct slots none = {0};
    const struct slots shared = slots_both(&known->maybe, &right->maybe);
    return right->kind == ALGEBRA_PATTERNS && right->pattern_count == 1 &&
           !right->patterns[0].path && planner->batch_rows == BATCH_ROWS && !planner->first &&
           !planner->in_loop && planner->key == NUMBER_NONE && !slots_empty(&shared) &&
           slots_within(&shared, &known->certain) && slots_within(&shared, &right->certain) &&
           slots_empty(&planner->substituted) &&
           plan_estimate(planner, right, &none, &rows) == STATUS_OK &&
           plan_table_pays(known->rows, rows);
}

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
    inside.bound = inside.weighted ? slots_both(&inside.bound, &group->certain) : (struct slots){0};
    inside.needed = slots_without(&inside.needed, &inside.bound);
    const bool apart = !slots_meet(&known->maybe, &node->right->maybe) && !known->unit &&
                       !node->expression && slots_empty(&planner->substituted);
    if (apart || (!node->expression && pays_apart(planner, group, known)) ||
        !plan_is_safe(planner, group, known)) {
        TRY(plan_built(&inside, group, &inner, &right));
        struct known merged = *known;
        merged.maybe = slots_union(&merged.maybe, &right.maybe);
        TRY(plan_expression(planner, node->expression, &merged));
        return plan_hash(&inside, HASH_LEFT_JOIN, inner, &right, node->expression, pipeline, known);
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
    return plan_set(planner,
                    left_join_new(planner->run, *pipeline, inner, seed, ordinal, &inside.bound,
                                  planner->batch_rows),
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
    const struct slots shared = slots_both(&known->maybe, &node->right->maybe);
    struct planner right = plan_existing(planner, &shared);
    struct operator* built;
    struct known what;
    TRY(plan_built(&right, node->right, &built, &what));
    return plan_hash(planner, HASH_MINUS, built, &what, NULL, pipeline, known);
}

/* The OPTIONAL whose pattern binds the variable that the filter wants unbound, in the rows below
 * it; NULL: the filter says something else. */
static const struct algebra *
unbound_optional(const struct algebra *node, const struct expression *filter)
{
    const struct expression *bound =
        filter->kind == EXPRESSION_CALL && filter->function == function_find(SLICE("!"))
            ? filter->arguments[0]
            : NULL;
    if (node->kind != ALGEBRA_LEFT_JOIN || node->expression || !bound ||
        bound->kind != EXPRESSION_CALL || bound->function != function_find(SLICE("BOUND"))) {
        return NULL;
    }
    const uint32_t slot = bound->arguments[0]->number;
    return slots_have(&node->right->certain, slot) && !slots_have(&node->left->maybe, slot) ? node
                                                                                            : NULL;
}

enum status
plan_unbound(struct planner *planner, const struct algebra *node, struct pending *pending,
             struct operator** pipeline, struct known *known, bool *done)
{
    const struct slots none = {0};
    const struct algebra *optional = NULL;
    size_t at = 0;
    for (; at < pending->count && !optional; at++) {
        optional = unbound_optional(node, pending->filters[at]);
    }
    *done = false;
    if (!optional || !known->unit) {
        return STATUS_OK;
    }
    struct known left = {.maybe = node->left->maybe, .certain = node->left->certain};
    TRY(plan_estimate(planner, node->left, &none, &left.rows));
    if (pays_apart(planner, node->right, &left)) {
        pending->done[at - 1] = *done = true;
        return plan_minus(planner, node, pipeline, known, pending);
    }
    return STATUS_OK;
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
