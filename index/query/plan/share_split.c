/* Joins that partitions evaluate each for itself, for the nodes that no other partition has. Where
 * each pattern mentions one variable, all triples of a solution are of that variable's node, and
 * lie in one partition when the node does. */
#include "index/query/plan/share_parts.h"

static bool
stands(struct place place, uint32_t slot)
{
    return place.kind == PLACE_SLOT && place.number == slot;
}

/* Objects may be literals, which are no nodes that partitions log: a variable must be a subject
 * somewhere. */
static bool
patterns_split(const struct query *query, const struct algebra *node, struct share_split *split)
{
    bool subject = false;
    for (size_t i = 0; i < node->pattern_count; i++) {
        const struct pattern *pattern = &node->patterns[i];
        const bool here = stands(pattern->subject, split->slot);
        if (pattern->path || (!here && !stands(pattern->object, split->slot))) {
            return false;
        }
        split->places = here ? split->places : KEYS_NODES;
        subject = subject || here;
    }
    return subject && !share_searches(query, node);
}

static bool
is_constant(const struct query *query, const struct algebra *node)
{
    return share_kind_of(query, node) == SHARE_CONSTANT;
}

/* JOIN, LEFT JOIN, MINUS: rows with different nodes do not meet. */
static bool
joined_split(const struct query *query, const struct algebra *node, struct share_split *split)
{
    const bool constant = node->kind == ALGEBRA_JOIN && is_constant(query, node->left);
    if (is_constant(query, node->right)) {
        return !constant && share_splits_by(query, node->left, split);
    }
    return (constant || share_splits_by(query, node->left, split)) &&
           share_splits_by(query, node->right, split);
}

static bool
keeps(const struct algebra *project, uint32_t slot)
{
    for (size_t i = 0; i < project->pair_count; i++) {
        if (project->pairs[i].inner == slot && project->pairs[i].outer == slot) {
            return true;
        }
    }
    return false;
}

static bool
has_key(const struct algebra *group, uint32_t slot)
{
    for (size_t i = 0; i < group->key_count; i++) {
        if (!group->keys[i].expression && group->keys[i].slot == slot) {
            return true;
        }
    }
    return false;
}

bool
share_splits_by(const struct query *query, const struct algebra *node, struct share_split *split)
{
    if (!share_is_steady(query, node)) {
        return false;
    }
    switch (node->kind) {
    case ALGEBRA_PATTERNS:
        return patterns_split(query, node, split);
    case ALGEBRA_FILTER:
    case ALGEBRA_EXTEND:
        return share_splits_by(query, node->left, split);
    case ALGEBRA_JOIN:
    case ALGEBRA_LEFT_JOIN:
    case ALGEBRA_MINUS:
        return joined_split(query, node, split);
    case ALGEBRA_UNION:
        return share_splits_by(query, node->left, split) &&
               share_splits_by(query, node->right, split);
    case ALGEBRA_PROJECT:
        return keeps(node, split->slot) && share_splits_by(query, node->left, split);
    case ALGEBRA_DISTINCT:
        return slots_have(&node->left->certain, split->slot) &&
               share_splits_by(query, node->left, split);
    case ALGEBRA_GROUP:
        return has_key(node, split->slot) && share_splits_by(query, node->left, split);
    default:
        return false;
    }
}

static const struct pattern *
first_pattern(const struct algebra *node)
{
    while (node && node->kind != ALGEBRA_PATTERNS) {
        node = node->left && node->left->kind == ALGEBRA_VALUES ? node->right : node->left;
    }
    return node && node->pattern_count ? node->patterns : NULL;
}

bool
share_split_of(const struct query *query, const struct algebra *node, struct share_split *split)
{
    const struct pattern *pattern = first_pattern(node);
    const struct place places[2] = {pattern ? pattern->subject : (struct place){.kind = PLACE_NONE},
                                    pattern ? pattern->object : (struct place){.kind = PLACE_NONE}};
    for (size_t i = 0; i < 2; i++) {
        *split = (struct share_split){places[i].number, KEYS_SUBJECTS};
        if (places[i].kind == PLACE_SLOT && share_splits_by(query, node, split)) {
            return true;
        }
    }
    return false;
}

bool
share_split_group(const struct query *query, const struct algebra *group, struct share_split *split)
{
    if (!share_is_steady(query, group) || !share_split_of(query, group->left, split)) {
        return false;
    }
    for (size_t i = 0; i < group->aggregate_count; i++) {
        const struct aggregate *aggregate = &group->aggregates[i];
        const struct expression *argument = aggregate->argument;
        const bool own =
            argument && argument->kind == EXPRESSION_VARIABLE && argument->number == split->slot;
        if (aggregate->kind == AGGREGATE_GROUP_CONCAT ||
            (aggregate->distinct && !share_chooses(aggregate) && !own &&
             !has_key(group, split->slot))) {
            return false;
        }
    }
    return true;
}
