/* Rows that stand for several. Where a group only counts, it does not matter which rows come but
 * how many with the same values of what is needed above; a table of a join then holds each key once
 * with a number, and a join multiplies numbers. So a star's count is a sum of products, and the
 * product's rows are never made.
 */
#include "index/query/plan/plan.h"

struct planner
plan_needing(const struct planner *planner, const struct slots *more)
{
    struct planner inside = *planner;
    inside.needed = slots_union(&planner->needed, more);
    inside.bound = slots_without(&planner->bound, more);
    return inside;
}

struct planner
plan_unweighted(const struct planner *planner)
{
    struct planner inside = *planner;
    inside.weighted = false;
    return inside;
}

struct planner
plan_existing(struct planner *planner, const struct slots *shared)
{
    struct planner inside = *planner;
    inside.duplicates = true;
    inside.weighted = planner->run->width < SLOTS_MAXIMUM;
    inside.needed = *shared;
    inside.bound = (struct slots){0};
    if (inside.weighted) {
        inside.weight = (uint32_t)planner->run->width++;
    }
    return inside;
}

/* Tells whether a row that comes several times can come once with its number. */
static bool
takes_weights(const struct aggregate *aggregate)
{
    const struct expression *argument = aggregate->argument;
    if (aggregate->weight || (argument && argument->volatile_value)) {
        return false;
    }
    switch (aggregate->kind) {
    case AGGREGATE_COUNT:
        return argument || !aggregate->distinct;
    case AGGREGATE_SUM:
    case AGGREGATE_AVG:
    case AGGREGATE_MIN:
    case AGGREGATE_MAX:
        return true;
    default:
        return aggregate->distinct && aggregate->kind != AGGREGATE_GROUP_CONCAT;
    }
}

/* COUNT of a variable asks whether that is bound. */
static bool
asks_bound(const struct aggregate *aggregate)
{
    return aggregate->kind == AGGREGATE_COUNT && !aggregate->distinct && aggregate->argument &&
           aggregate->argument->kind == EXPRESSION_VARIABLE;
}

void
plan_weigh(struct planner *planner, const struct algebra *group)
{
    struct slots needed = {0}, bound = {0};
    planner->weighted = planner->run->width < SLOTS_MAXIMUM;
    for (size_t i = 0; i < group->key_count; i++) {
        const struct expression *key = group->keys[i].expression;
        if (key) {
            needed = slots_union(&needed, &key->slots);
            planner->weighted = planner->weighted && !key->volatile_value;
        } else {
            slots_add(&needed, group->keys[i].slot);
        }
    }
    for (size_t i = 0; i < group->aggregate_count; i++) {
        const struct aggregate *aggregate = &group->aggregates[i];
        planner->weighted = planner->weighted && takes_weights(aggregate);
        if (aggregate->argument) {
            struct slots *asked = asks_bound(aggregate) ? &bound : &needed;
            *asked = slots_union(asked, &aggregate->argument->slots);
        }
    }
    planner->bound = slots_without(&bound, &needed);
    planner->needed = slots_union(&needed, &bound);
    if (planner->weighted) {
        planner->weight = (uint32_t)planner->run->width++;
    }
}
