#include "index/query/algebra/algebra.h"

enum { WORDS = SLOTS_MAXIMUM / 64 };

struct slots
slots_union(const struct slots *a, const struct slots *b)
{
    struct slots result;
    for (int i = 0; i < WORDS; i++) {
        result.words[i] = a->words[i] | b->words[i];
    }
    return result;
}

struct slots
slots_both(const struct slots *a, const struct slots *b)
{
    struct slots result;
    for (int i = 0; i < WORDS; i++) {
        result.words[i] = a->words[i] & b->words[i];
    }
    return result;
}

struct slots
slots_without(const struct slots *a, const struct slots *b)
{
    struct slots result;
    for (int i = 0; i < WORDS; i++) {
        result.words[i] = a->words[i] & ~b->words[i];
    }
    return result;
}

bool
slots_within(const struct slots *part, const struct slots *whole)
{
    for (int i = 0; i < WORDS; i++) {
        if (part->words[i] & ~whole->words[i]) {
            return false;
        }
    }
    return true;
}

bool
slots_empty(const struct slots *slots)
{
    return slots_next(slots, 0) == SLOTS_MAXIMUM;
}

bool
slots_meet(const struct slots *a, const struct slots *b)
{
    for (int i = 0; i < WORDS; i++) {
        if (a->words[i] & b->words[i]) {
            return true;
        }
    }
    return false;
}

uint32_t
slots_next(const struct slots *slots, uint32_t slot)
{
    while (slot < SLOTS_MAXIMUM) {
        const uint64_t rest = slots->words[slot / 64] >> (slot % 64);
        if (rest) {
            return slot + (uint32_t)__builtin_ctzll(rest);
        }
        slot = (slot / 64 + 1) * 64;
    }
    return SLOTS_MAXIMUM;
}

static void
add_place(struct slots *slots, struct place place)
{
    if (place.kind == PLACE_SLOT) {
        slots_add(slots, place.number);
    }
}

void
slots_add_pattern(struct slots *slots, const struct pattern *pattern)
{
    add_place(slots, pattern->subject);
    add_place(slots, pattern->predicate);
    add_place(slots, pattern->object);
}

struct algebra *
algebra_new(struct arena *arena, enum algebra_kind kind)
{
    struct algebra *node = arena_zero(arena, sizeof *node);
    if (node) {
        node->kind = kind;
        node->limit = UINT64_MAX;
    }
    return node;
}

static void
update_values(struct algebra *node)
{
    for (size_t column = 0; column < node->slot_count; column++) {
        bool bound = true;
        for (size_t row = 0; row < node->row_count; row++) {
            bound = bound && node->constants[row * node->slot_count + column] != NUMBER_NONE;
        }
        slots_add(&node->maybe, node->slots[column]);
        if (bound) {
            slots_add(&node->certain, node->slots[column]);
        }
    }
}

static void
update_project(struct algebra *node)
{
    node->maybe = node->certain = (struct slots){0};
    for (size_t i = 0; i < node->pair_count; i++) {
        const struct slot_pair *pair = &node->pairs[i];
        if (slots_have(&node->left->maybe, pair->inner)) {
            slots_add(&node->maybe, pair->outer);
        }
        if (slots_have(&node->left->certain, pair->inner)) {
            slots_add(&node->certain, pair->outer);
        }
    }
}

static void
update_group(struct algebra *node)
{
    node->maybe = node->certain = (struct slots){0};
    for (size_t i = 0; i < node->key_count; i++) {
        slots_add(&node->maybe, node->keys[i].slot);
        if (!node->keys[i].expression && slots_have(&node->left->certain, node->keys[i].slot)) {
            slots_add(&node->certain, node->keys[i].slot);
        }
    }
    for (size_t i = 0; i < node->aggregate_count; i++) {
        slots_add(&node->maybe, node->aggregates[i].slot);
    }
}

void
algebra_update(struct algebra *node)
{
    const struct algebra *left = node->left, *right = node->right;
    const uint32_t deepest = left && (!right || left->depth > right->depth) ? left->depth
                             : right                                        ? right->depth
                                                                            : 0;
    node->depth = deepest + 1;
    if (left) {
        node->maybe = left->maybe;
        node->certain = left->certain;
    }
    switch (node->kind) {
    case ALGEBRA_PATTERNS:
        for (size_t i = 0; i < node->pattern_count; i++) {
            slots_add_pattern(&node->maybe, &node->patterns[i]);
        }
        node->certain = node->maybe;
        break;
    case ALGEBRA_JOIN:
        node->maybe = slots_union(&left->maybe, &right->maybe);
        node->certain = slots_union(&left->certain, &right->certain);
        break;
    case ALGEBRA_LEFT_JOIN:
        node->maybe = slots_union(&left->maybe, &right->maybe);
        break;
    case ALGEBRA_UNION:
        node->maybe = slots_union(&left->maybe, &right->maybe);
        node->certain = slots_both(&left->certain, &right->certain);
        break;
    case ALGEBRA_EXTEND:
        slots_add(&node->maybe, node->slot);
        break;
    case ALGEBRA_VALUES:
        update_values(node);
        break;
    case ALGEBRA_GRAPH:
        add_place(&node->maybe, node->graph);
        add_place(&node->certain, node->graph);
        break;
    case ALGEBRA_SERVICE:
        add_place(&node->maybe, node->graph);
        node->certain = (struct slots){0};
        break;
    case ALGEBRA_PROJECT:
        update_project(node);
        break;
    case ALGEBRA_GROUP:
        update_group(node);
        break;
    default:
        break;
    }
}

struct algebra *
algebra_binary(struct arena *arena, enum algebra_kind kind, struct algebra *left,
               struct algebra *right, const struct expression *expression)
{
    struct algebra *node = algebra_new(arena, kind);
    if (node) {
        node->left = left;
        node->right = right;
        node->expression = expression;
        algebra_update(node);
        if (node->depth > DEPTH_MAXIMUM) {
            return NULL;
        }
    }
    return node;
}

struct algebra *
algebra_join(struct arena *arena, struct algebra *left, struct algebra *right)
{
    if (left->kind == ALGEBRA_UNIT) {
        return right;
    }
    if (right->kind == ALGEBRA_UNIT) {
        return left;
    }
    return algebra_binary(arena, ALGEBRA_JOIN, left, right, NULL);
}

struct algebra *
algebra_unary(struct arena *arena, enum algebra_kind kind, struct algebra *left)
{
    return algebra_binary(arena, kind, left, NULL, NULL);
}

struct algebra *
algebra_extend(struct arena *arena, struct algebra *left, uint32_t slot,
               const struct expression *expression)
{
    struct algebra *node = algebra_new(arena, ALGEBRA_EXTEND);
    if (node) {
        node->left = left;
        node->slot = slot;
        node->expression = expression;
        algebra_update(node);
        if (node->depth > DEPTH_MAXIMUM) {
            return NULL;
        }
    }
    return node;
}

bool
algebra_add_pattern(struct arena *arena, struct algebra *node, const struct pattern *pattern)
{
    if (node->pattern_count == node->pattern_room) {
        const size_t room = node->pattern_room ? node->pattern_room * 2 : 4;
        struct pattern *patterns = arena_alloc(arena, room * sizeof *patterns);
        if (!patterns) {
            return false;
        }
        if (node->pattern_count) {
            memcpy(patterns, node->patterns, node->pattern_count * sizeof *patterns);
        }
        node->patterns = patterns;
        node->pattern_room = room;
    }
    node->patterns[node->pattern_count++] = *pattern;
    slots_add_pattern(&node->maybe, pattern);
    node->certain = node->maybe;
    return true;
}

static void
mention_expression(struct slots *slots, const struct expression *expression)
{
    if (expression) {
        *slots = slots_union(slots, &expression->slots);
    }
}

struct slots
algebra_mentioned(const struct algebra *node)
{
    struct slots slots = slots_union(&node->maybe, &node->certain);
    if (node->left) {
        const struct slots below = algebra_mentioned(node->left);
        slots = slots_union(&slots, &below);
    }
    if (node->right) {
        const struct slots below = algebra_mentioned(node->right);
        slots = slots_union(&slots, &below);
    }
    mention_expression(&slots, node->expression);
    for (size_t i = 0; i < node->key_count; i++) {
        mention_expression(&slots, node->keys[i].expression);
    }
    for (size_t i = 0; i < node->aggregate_count; i++) {
        mention_expression(&slots, node->aggregates[i].argument);
    }
    for (size_t i = 0; i < node->order_count; i++) {
        mention_expression(&slots, node->order[i].expression);
    }
    return slots;
}

/* Tells whether every variable of mentioned that the left side may bind is bound by the node
 * itself. */
static bool
covered(const struct slots *mentioned, const struct slots *left, const struct slots *certain)
{
    const struct slots both = slots_both(mentioned, left);
    return slots_within(&both, certain);
}

bool
algebra_takes_values(const struct algebra *node, const struct slots *left, bool unit)
{
    struct slots mentioned;
    switch (node->kind) {
    case ALGEBRA_UNIT:
    case ALGEBRA_PATTERNS:
    case ALGEBRA_VALUES:
    case ALGEBRA_SERVICE:
        return true;
    case ALGEBRA_JOIN:
    case ALGEBRA_UNION:
        return algebra_takes_values(node->left, left, unit) &&
               algebra_takes_values(node->right, left, unit);
    case ALGEBRA_GRAPH:
        return algebra_takes_values(node->left, left, unit);
    case ALGEBRA_FILTER:
        return algebra_takes_values(node->left, left, unit) &&
               covered(&node->expression->slots, left, &node->left->certain);
    case ALGEBRA_LEFT_JOIN:
        mentioned = algebra_mentioned(node->right);
        return algebra_takes_values(node->left, left, unit) &&
               covered(&mentioned, left, &node->left->certain) &&
               (!node->expression || covered(&node->expression->slots, left, &node->left->certain));
    case ALGEBRA_MINUS:
        return algebra_takes_values(node->left, left, unit) &&
               covered(&node->right->maybe, left, &node->left->certain);
    case ALGEBRA_EXTEND:
        return algebra_takes_values(node->left, left, unit) && !slots_have(left, node->slot) &&
               covered(&node->expression->slots, left, &node->left->certain);
    default:
        return unit;
    }
}
