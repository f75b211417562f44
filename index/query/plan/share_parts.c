#include "index/query/plan/share_parts.h"

#include "index/query/functions/function.h"

/* ---- numbers ---- */

static const struct algebra *
walk(const struct algebra *node, const struct algebra *wanted, uint32_t number, uint32_t *count)
{
    if (!node || node == wanted || (!wanted && *count == number)) {
        return node;
    }
    ++*count;
    const struct algebra *found = walk(node->left, wanted, number, count);
    return found ? found : walk(node->right, wanted, number, count);
}

uint32_t
share_number(const struct query *query, const struct algebra *node)
{
    uint32_t count = 0;
    return walk(query->algebra, node, 0, &count) ? count : NUMBER_NONE;
}

const struct algebra *
share_node(const struct query *query, uint32_t number)
{
    uint32_t count = 0;
    return walk(query->algebra, NULL, number, &count);
}

/* ---- kinds ---- */

/* home: a variable that every solution binds to the graph it is from; NUMBER_NONE. */
struct standing {
    enum share_kind kind;
    uint32_t home;
};

static const struct standing not_shared = {SHARE_NOT, NUMBER_NONE};

static bool is_local(const struct query *query, const struct algebra *node);

/* inside: of a GRAPH, where EXISTS looks at the same graph. */
static bool
is_steady(const struct query *query, const struct expression *expression, bool inside)
{
    if (!expression || !expression->exists) {
        return !expression || !expression->volatile_value;
    }
    if (expression->volatile_value || !inside) {
        return false;
    }
    if (expression->kind == EXPRESSION_EXISTS && !is_local(query, expression->pattern)) {
        return false;
    }
    for (size_t i = 0; i < expression->count; i++) {
        if (!is_steady(query, expression->arguments[i], inside)) {
            return false;
        }
    }
    return true;
}

static bool
are_steady(const struct query *query, const struct algebra *node, bool inside)
{
    bool steady = is_steady(query, node->expression, inside);
    for (size_t i = 0; i < node->key_count; i++) {
        steady = steady && is_steady(query, node->keys[i].expression, inside);
    }
    for (size_t i = 0; i < node->aggregate_count; i++) {
        steady = steady && is_steady(query, node->aggregates[i].argument, inside);
    }
    for (size_t i = 0; i < node->order_count; i++) {
        steady = steady && is_steady(query, node->order[i].expression, inside);
    }
    return steady;
}

/* Magic properties ask the keyword index, which knows no graphs. */
static bool
has_search(const struct query *query, const struct algebra *node)
{
    for (size_t i = 0; i < node->pattern_count; i++) {
        const struct place predicate = node->patterns[i].predicate;
        if (predicate.kind == PLACE_CONSTANT &&
            (slice_is(query->constants[predicate.number].value, QUERY_MATCHES) ||
             slice_is(query->constants[predicate.number].value, QUERY_SCORE))) {
            return true;
        }
    }
    return false;
}

/* Tells whether the node, inside of a GRAPH, looks at nothing but that graph. */
static bool
is_local(const struct query *query, const struct algebra *node)
{
    return !node || (node->kind != ALGEBRA_GRAPH && node->kind != ALGEBRA_SERVICE &&
                     !has_search(query, node) && are_steady(query, node, true) &&
                     is_local(query, node->left) && is_local(query, node->right));
}

static struct standing standing_of(const struct query *query, const struct algebra *node);

/* JOIN, LEFT JOIN, MINUS: rows of different graphs do not meet where both sides are of the same
 * ?g; what is in no graph meets rows of any. */
static struct standing
joined(const struct query *query, const struct algebra *node)
{
    const struct standing left = standing_of(query, node->left);
    const struct standing right = standing_of(query, node->right);
    if (left.kind == SHARE_BAG && right.kind == SHARE_BAG && left.home != NUMBER_NONE &&
        left.home == right.home) {
        return left;
    }
    if (right.kind == SHARE_CONSTANT && left.kind != SHARE_NOT) {
        return left.kind == SHARE_SET ? (struct standing){SHARE_DUPLICATES, NUMBER_NONE} : left;
    }
    if (node->kind == ALGEBRA_JOIN && left.kind == SHARE_CONSTANT && right.kind != SHARE_NOT) {
        return right.kind == SHARE_SET ? (struct standing){SHARE_DUPLICATES, NUMBER_NONE} : right;
    }
    return not_shared;
}

static struct standing
united(const struct query *query, const struct algebra *node)
{
    const struct standing left = standing_of(query, node->left);
    const struct standing right = standing_of(query, node->right);
    if (left.kind == SHARE_NOT || right.kind == SHARE_NOT) {
        return not_shared;
    }
    if (left.kind == SHARE_CONSTANT && right.kind == SHARE_CONSTANT) {
        return left;
    }
    return left.kind == SHARE_BAG && right.kind == SHARE_BAG
               ? (struct standing){SHARE_BAG, left.home == right.home ? left.home : NUMBER_NONE}
               : (struct standing){SHARE_DUPLICATES, NUMBER_NONE};
}

static struct standing
projected(const struct query *query, const struct algebra *node)
{
    struct standing below = standing_of(query, node->left);
    const uint32_t home = below.home;
    below.home = NUMBER_NONE;
    for (size_t i = 0; i < node->pair_count && home != NUMBER_NONE; i++) {
        if (node->pairs[i].inner == home) {
            below.home = node->pairs[i].outer;
        }
    }
    below.kind = below.kind == SHARE_SET ? SHARE_DUPLICATES : below.kind;
    return below;
}

/* Groups that have the graph as a key are each of one partition. */
static struct standing
grouped(const struct query *query, const struct algebra *node)
{
    const struct standing below = standing_of(query, node->left);
    for (size_t i = 0; i < node->key_count; i++) {
        if (below.kind == SHARE_BAG && below.home != NUMBER_NONE && !node->keys[i].expression &&
            node->keys[i].slot == below.home) {
            return below;
        }
    }
    return not_shared;
}

static struct standing
distinct(const struct query *query, const struct algebra *node)
{
    const struct standing below = standing_of(query, node->left);
    if (below.kind < SHARE_DUPLICATES || (below.kind == SHARE_BAG && below.home != NUMBER_NONE)) {
        return below;
    }
    return (struct standing){SHARE_SET, NUMBER_NONE};
}

static struct standing
standing_of(const struct query *query, const struct algebra *node)
{
    if (!are_steady(query, node, false)) {
        return not_shared;
    }
    switch (node->kind) {
    case ALGEBRA_UNIT:
    case ALGEBRA_VALUES:
        return (struct standing){SHARE_CONSTANT, NUMBER_NONE};
    case ALGEBRA_PATTERNS:
        return node->pattern_count == 1 && !node->patterns->path && !has_search(query, node)
                   ? (struct standing){SHARE_SET, NUMBER_NONE}
                   : not_shared;
    case ALGEBRA_GRAPH:
        return node->graph.kind == PLACE_SLOT && is_local(query, node->left)
                   ? (struct standing){SHARE_BAG, node->graph.number}
                   : not_shared;
    case ALGEBRA_FILTER:
    case ALGEBRA_EXTEND:
        return standing_of(query, node->left);
    case ALGEBRA_JOIN:
    case ALGEBRA_LEFT_JOIN:
    case ALGEBRA_MINUS:
        return joined(query, node);
    case ALGEBRA_UNION:
        return united(query, node);
    case ALGEBRA_PROJECT:
        return projected(query, node);
    case ALGEBRA_GROUP:
        return grouped(query, node);
    case ALGEBRA_DISTINCT:
        return distinct(query, node);
    default:
        return not_shared; /* ORDER and SLICE: see plan_share.c */
    }
}

enum share_kind
share_kind_of(const struct query *query, const struct algebra *node)
{
    return standing_of(query, node).kind;
}

bool
share_is_steady(const struct query *query, const struct algebra *node)
{
    return are_steady(query, node, false);
}

bool
share_searches(const struct query *query, const struct algebra *node)
{
    return has_search(query, node);
}

bool
share_orders(const struct query *query, const struct algebra *order)
{
    return are_steady(query, order, false);
}

/* ---- aggregates ---- */

bool
share_chooses(const struct aggregate *aggregate)
{
    return aggregate->kind == AGGREGATE_MIN || aggregate->kind == AGGREGATE_MAX ||
           aggregate->kind == AGGREGATE_SAMPLE;
}

enum share_grouping
share_grouping_of(const struct query *query, const struct algebra *group)
{
    const enum share_kind kind =
        are_steady(query, group, false) ? share_kind_of(query, group->left) : SHARE_NOT;
    bool parts = kind >= SHARE_DUPLICATES, values = kind >= SHARE_DUPLICATES;
    for (size_t i = 0; i < group->aggregate_count; i++) {
        const struct aggregate *aggregate = &group->aggregates[i];
        const bool chooses = share_chooses(aggregate);
        parts = parts && aggregate->kind != AGGREGATE_GROUP_CONCAT &&
                (chooses || (kind == SHARE_BAG && !aggregate->distinct));
        values = values && aggregate->argument && (chooses || aggregate->distinct);
    }
    return parts ? SHARE_GROUP_PARTS : values ? SHARE_GROUP_VALUES : SHARE_GROUP_NOT;
}

size_t
share_hidden(const struct algebra *group)
{
    size_t count = group->aggregate_count;
    for (size_t i = 0; i < group->aggregate_count; i++) {
        count += group->aggregates[i].kind == AGGREGATE_AVG;
    }
    return count;
}

static struct algebra *
regroup(struct arena *arena, const struct algebra *group, size_t aggregates)
{
    struct algebra *made = algebra_new(arena, ALGEBRA_GROUP);
    if (!made) {
        return NULL;
    }
    made->left = group->left;
    made->maybe = group->maybe;
    made->certain = group->certain;
    made->keys = group->keys;
    made->key_count = group->key_count;
    made->aggregates = arena_zero(arena, aggregates * sizeof *made->aggregates);
    made->aggregate_count = aggregates;
    return made->aggregates ? made : NULL;
}

struct algebra *
share_parts(struct arena *arena, const struct algebra *group, uint32_t hidden)
{
    struct algebra *parts = regroup(arena, group, share_hidden(group));
    if (!parts) {
        return NULL;
    }
    struct aggregate *part = parts->aggregates;
    for (size_t i = 0; i < group->aggregate_count; i++) {
        const struct aggregate *aggregate = &group->aggregates[i];
        *part = *aggregate;
        part->distinct = aggregate->distinct && !share_chooses(aggregate); /* the same to those */
        part++->slot = hidden++;
        if (aggregate->kind == AGGREGATE_AVG) {
            part[-1].kind = AGGREGATE_SUM;
            *part = *aggregate;
            part->kind = AGGREGATE_COUNT;
            part++->slot = hidden++;
        }
    }
    parts->partial = true;
    return parts;
}

static const struct expression *
column(struct arena *arena, uint32_t number)
{
    struct expression *variable = arena_zero(arena, sizeof *variable);
    if (variable) {
        variable->kind = EXPRESSION_VARIABLE;
        variable->number = number;
    }
    return variable;
}

struct algebra *
share_whole(struct arena *arena, const struct algebra *group, uint32_t hidden)
{
    struct algebra *whole = regroup(arena, group, group->aggregate_count);
    struct slot_expression *keys = arena_zero(arena, group->key_count * sizeof *keys);
    if (!whole || !keys) {
        return NULL;
    }
    for (size_t i = 0; i < group->key_count; i++) {
        keys[i].slot = group->keys[i].slot;
    }
    whole->keys = keys;
    for (size_t i = 0; i < group->aggregate_count; i++) {
        struct aggregate *aggregate = &whole->aggregates[i];
        *aggregate = group->aggregates[i];
        aggregate->distinct = false;
        aggregate->argument = column(arena, hidden++);
        if (aggregate->kind == AGGREGATE_AVG) {
            aggregate->weight = column(arena, hidden++);
        }
        if (!aggregate->argument || (aggregate->kind == AGGREGATE_AVG && !aggregate->weight)) {
            return NULL;
        }
        if (aggregate->kind == AGGREGATE_COUNT) {
            aggregate->kind = AGGREGATE_SUM;
        }
    }
    return whole;
}

/* ---- columns ---- */

/* The columns of an answer, in order. */
static struct slots
share_arguments(const struct algebra *group)
{
    struct slots slots = {0};
    for (size_t i = 0; i < group->key_count; i++) {
        if (group->keys[i].expression) {
            slots = slots_union(&slots, &group->keys[i].expression->slots);
        } else {
            slots_add(&slots, group->keys[i].slot);
        }
    }
    for (size_t i = 0; i < group->aggregate_count; i++) {
        if (group->aggregates[i].argument) {
            slots = slots_union(&slots, &group->aggregates[i].argument->slots);
        }
    }
    return slots_both(&slots, &group->left->maybe);
}

size_t
share_columns(enum share_form form, const struct algebra *node, uint32_t hidden, uint32_t *columns)
{
    const struct slots slots = form == SHARE_VALUES ? share_arguments(node) : node->maybe;
    size_t count = 0;
    if (form == SHARE_PARTS) {
        for (size_t i = 0; i < node->key_count; i++) {
            columns[count++] = node->keys[i].slot;
        }
        for (size_t i = share_hidden(node); i > 0; i--) {
            columns[count++] = hidden++;
        }
        return count;
    }
    for (uint32_t slot = slots_next(&slots, 0); slot < SLOTS_MAXIMUM;
         slot = slots_next(&slots, slot + 1)) {
        columns[count++] = slot;
    }
    return count;
}
