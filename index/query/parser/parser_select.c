/* SELECT, CONSTRUCT, DESCRIBE and ASK with their solution modifiers, put together as section
 * 18.2.4 has it.
 */
#include "index/query/parser/parser.h"

/* ---- SELECT ---- */

/* Holds what a SELECT says besides its pattern. */
struct selection {
    bool distinct, all;
    struct slot_expression *items; /* expression NULL: a variable as it is */
    const char **places;           /* where they stand, for errors */
    size_t count;
    struct slot_expression *keys;
    size_t key_count;
    bool grouped;
    const struct expression *having;
    struct order_key *order;
    size_t order_count;
    bool sliced;
    uint64_t offset, limit;
};

enum status
parser_open_scope(struct parser *parser)
{
    struct scope *scope = arena_zero(parser->arena, sizeof *scope);
    if (!scope) {
        return parser_too_large(parser);
    }
    scope->names = arena_alloc(parser->arena, SLOTS_MAXIMUM * sizeof *scope->names);
    scope->slots = arena_alloc(parser->arena, SLOTS_MAXIMUM * sizeof *scope->slots);
    scope->aggregates = arena_alloc(parser->arena, AGGREGATES_MAXIMUM * sizeof *scope->aggregates);
    if (!scope->names || !scope->slots || !scope->aggregates) {
        return parser_too_large(parser);
    }
    scope->outer = parser->scope;
    parser->scope = scope;
    return STATUS_OK;
}

/* "(expression AS ?variable)" from the parenthesis on. */
static enum status
parse_aliased(struct parser *parser, bool alias_needed, struct slot_expression *item)
{
    TRY(parser_take(parser, "("));
    TRY(parse_expression(parser, &item->expression));
    item->slot = NUMBER_NONE;
    if (alias_needed || parser_word(parser, "AS")) {
        TRY(parser_take_word(parser, "AS"));
        if (parser->lexer.token.kind != TOKEN_VARIABLE) {
            return lexer_expected(&parser->lexer, "a variable after AS");
        }
        TRY(parser_variable_slot(parser, parser->lexer.token.value, &item->slot));
        TRY(parser_next(parser));
    }
    return parser_take(parser, ")");
}

static enum status
parse_select_items(struct parser *parser, struct selection *selection)
{
    selection->items = arena_alloc(parser->arena, SLOTS_MAXIMUM * sizeof *selection->items);
    selection->places = arena_alloc(parser->arena, SLOTS_MAXIMUM * sizeof *selection->places);
    if (!selection->items || !selection->places) {
        return parser_too_large(parser);
    }
    while (parser->lexer.token.kind == TOKEN_VARIABLE || parser_is(parser, "(")) {
        if (selection->count == SLOTS_MAXIMUM) {
            return parser_too_large(parser);
        }
        struct slot_expression item = {0};
        selection->places[selection->count] = parser->lexer.token.text.at;
        if (parser_is(parser, "(")) {
            parser->scope->aggregates_allowed = true;
            TRY(parse_aliased(parser, true, &item));
            parser->scope->aggregates_allowed = false;
        } else {
            TRY(parser_variable_slot(parser, parser->lexer.token.value, &item.slot));
            TRY(parser_next(parser));
        }
        selection->items[selection->count++] = item;
    }
    return selection->count ? STATUS_OK : lexer_expected(&parser->lexer, "a variable, '(' or '*'");
}

static enum status
parse_select_clause(struct parser *parser, struct selection *selection)
{
    TRY(parser_take_word(parser, "SELECT"));
    if (parser_word(parser, "DISTINCT")) {
        selection->distinct = true;
        TRY(parser_next(parser));
    } else if (parser_word(parser, "REDUCED")) {
        TRY(parser_next(parser));
    }
    if (parser_is(parser, "*")) {
        selection->all = true;
        return parser_next(parser);
    }
    return parse_select_items(parser, selection);
}

static enum status
parse_where(struct parser *parser, struct algebra **pattern)
{
    if (parser_word(parser, "WHERE")) {
        TRY(parser_next(parser));
    }
    return parse_group(parser, pattern, NULL);
}

static enum status
parse_group_by(struct parser *parser, struct selection *selection)
{
    if (!parser_word(parser, "GROUP")) {
        return STATUS_OK;
    }
    TRY(parser_next(parser));
    TRY(parser_take_word(parser, "BY"));
    selection->grouped = true;
    selection->keys = arena_alloc(parser->arena, AGGREGATES_MAXIMUM * sizeof *selection->keys);
    if (!selection->keys) {
        return parser_too_large(parser);
    }
    for (;;) {
        struct slot_expression key = {.slot = NUMBER_NONE};
        if (parser->lexer.token.kind == TOKEN_VARIABLE) {
            TRY(parser_variable_slot(parser, parser->lexer.token.value, &key.slot));
            TRY(parser_next(parser));
        } else if (parser_is(parser, "(")) {
            TRY(parse_aliased(parser, false, &key));
        } else if (parser_at_call(parser)) {
            TRY(parse_constraint(parser, &key.expression));
        } else {
            break;
        }
        if (selection->key_count == AGGREGATES_MAXIMUM) {
            return parser_too_large(parser);
        }
        if (key.expression && key.expression->kind == EXPRESSION_VARIABLE &&
            key.slot == NUMBER_NONE) {
            key.slot = key.expression->number;
            key.expression = NULL;
        }
        if (key.slot == NUMBER_NONE) {
            TRY(parser_new_slot(parser, (struct slice){NULL, 0}, &key.slot));
        }
        selection->keys[selection->key_count++] = key;
    }
    return selection->key_count ? STATUS_OK
                                : lexer_expected(&parser->lexer, "a variable or an expression");
}

static enum status
parse_having(struct parser *parser, struct selection *selection)
{
    if (!parser_word(parser, "HAVING")) {
        return STATUS_OK;
    }
    TRY(parser_next(parser));
    do {
        const struct expression *condition;
        TRY(parse_constraint(parser, &condition));
        TRY(parser_and(parser, selection->having, condition, &selection->having));
    } while (parser_is(parser, "(") || parser_at_call(parser));
    selection->grouped = true;
    return STATUS_OK;
}

static enum status
parse_order_by(struct parser *parser, struct selection *selection)
{
    if (!parser_word(parser, "ORDER")) {
        return STATUS_OK;
    }
    TRY(parser_next(parser));
    TRY(parser_take_word(parser, "BY"));
    selection->order = arena_alloc(parser->arena, AGGREGATES_MAXIMUM * sizeof *selection->order);
    if (!selection->order) {
        return parser_too_large(parser);
    }
    for (;;) {
        struct order_key key = {0};
        if (parser_word(parser, "ASC") || parser_word(parser, "DESC")) {
            key.descending = parser_word(parser, "DESC");
            TRY(parser_next(parser));
            TRY(parser_take(parser, "("));
            TRY(parse_expression(parser, &key.expression));
            TRY(parser_take(parser, ")"));
        } else if (parser->lexer.token.kind == TOKEN_VARIABLE) {
            uint32_t slot;
            TRY(parser_variable_slot(parser, parser->lexer.token.value, &slot));
            TRY(parser_new_variable(parser, slot, &key.expression));
            TRY(parser_next(parser));
        } else if (parser_is(parser, "(") || parser_at_call(parser)) {
            TRY(parse_constraint(parser, &key.expression));
        } else {
            break;
        }
        if (selection->order_count == AGGREGATES_MAXIMUM) {
            return parser_too_large(parser);
        }
        selection->order[selection->order_count++] = key;
    }
    return selection->order_count ? STATUS_OK
                                  : lexer_expected(&parser->lexer, "a variable or an expression");
}

static enum status
parse_count(struct parser *parser, uint64_t *number)
{
    const struct token *token = &parser->lexer.token;
    TRY(parser_next(parser));
    if (token->kind != TOKEN_INTEGER || token->text.length > 18) {
        return lexer_expected(&parser->lexer, "an integer");
    }
    *number = 0;
    for (size_t i = 0; i < token->text.length; i++) {
        *number = *number * 10 + (uint64_t)(token->text.at[i] - '0');
    }
    return parser_next(parser);
}

static enum status
parse_slice(struct parser *parser, struct selection *selection)
{
    bool limit = false, offset = false;
    selection->limit = UINT64_MAX;
    for (;;) {
        if (!limit && parser_word(parser, "LIMIT")) {
            TRY(parse_count(parser, &selection->limit));
            limit = true;
        } else if (!offset && parser_word(parser, "OFFSET")) {
            TRY(parse_count(parser, &selection->offset));
            offset = true;
        } else {
            selection->sliced = limit || offset;
            return STATUS_OK;
        }
    }
}

static enum status
parse_modifiers(struct parser *parser, struct selection *selection)
{
    parser->scope->aggregates_allowed = false;
    TRY(parse_group_by(parser, selection));
    parser->scope->aggregates_allowed = true;
    TRY(parse_having(parser, selection));
    TRY(parse_order_by(parser, selection));
    parser->scope->aggregates_allowed = false;
    return parse_slice(parser, selection);
}

/* ---- from selection to algebra ---- */

/* Non-keys cannot be projected from groups; an alias must be new. */
static enum status
check_selection(struct parser *parser, const struct selection *selection,
                const struct algebra *pattern, bool grouped, const struct algebra *group)
{
    struct slots visible = grouped ? group->maybe : (struct slots){0};
    struct slots aliases = {0};
    if (grouped && selection->all) {
        return lexer_fail(&parser->lexer, parser->lexer.token.text.at,
                          "SELECT * cannot be used with GROUP BY or aggregates");
    }
    for (size_t i = 0; i < selection->count; i++) {
        const struct slot_expression *item = &selection->items[i];
        const struct slice name = parser->query->slot_names[item->slot];
        if (item->expression) {
            if (slots_have(&pattern->maybe, item->slot) || slots_have(&aliases, item->slot)) {
                return lexer_fail(&parser->lexer, selection->places[i], "?%.*s is already in scope",
                                  SLICE_PRINT(name));
            }
            if (grouped && !slots_within(&item->expression->slots, &visible) &&
                !item->expression->exists) {
                return lexer_fail(&parser->lexer, selection->places[i],
                                  "the expression of ?%.*s uses a variable that is neither "
                                  "grouped nor aggregated",
                                  SLICE_PRINT(name));
            }
            slots_add(&visible, item->slot);
        } else if (grouped && !slots_have(&visible, item->slot)) {
            return lexer_fail(&parser->lexer, selection->places[i],
                              "?%.*s is neither grouped nor aggregated", SLICE_PRINT(name));
        }
        slots_add(&aliases, item->slot);
    }
    return STATUS_OK;
}

static enum status
add_group(struct parser *parser, const struct selection *selection, struct algebra **node)
{
    struct algebra *group = algebra_new(parser->arena, ALGEBRA_GROUP);
    if (!group) {
        return parser_too_large(parser);
    }
    group->left = *node;
    group->keys = selection->keys;
    group->key_count = selection->key_count;
    group->aggregates = parser->scope->aggregates;
    group->aggregate_count = parser->scope->aggregate_count;
    algebra_update(group);
    *node = group;
    return STATUS_OK;
}

/* Group, having, values, select expressions, order: section 18.2.4 up to projection. */
static enum status
assemble(struct parser *parser, struct selection *selection, struct algebra *values,
         struct algebra **node)
{
    const struct algebra *pattern = *node;
    const bool grouped = selection->grouped || parser->scope->aggregate_count;
    if (grouped) {
        TRY(add_group(parser, selection, node));
    }
    TRY(check_selection(parser, selection, pattern, grouped, *node));
    if (selection->having) {
        *node = algebra_binary(parser->arena, ALGEBRA_FILTER, *node, NULL, selection->having);
    }
    if (*node && values) {
        *node = algebra_join(parser->arena, *node, values);
    }
    for (size_t i = 0; *node && i < selection->count; i++) {
        if (selection->items[i].expression) {
            *node = algebra_extend(parser->arena, *node, selection->items[i].slot,
                                   selection->items[i].expression);
        }
    }
    if (*node && selection->order_count) {
        struct algebra *order = algebra_unary(parser->arena, ALGEBRA_ORDER, *node);
        *node = order;
        if (order) {
            order->order = selection->order;
            order->order_count = selection->order_count;
        }
    }
    return *node ? STATUS_OK : parser_too_large(parser);
}

/* Variables for SELECT * and DESCRIBE *: those with a name, in order of appearance. */
static enum status
select_all(struct parser *parser, const struct algebra *node, struct selection *selection)
{
    size_t count = 0;
    selection->items = arena_zero(parser->arena, SLOTS_MAXIMUM * sizeof *selection->items);
    if (!selection->items) {
        return parser_too_large(parser);
    }
    for (size_t i = 0; i < parser->scope->count; i++) {
        if (slots_have(&node->maybe, parser->scope->slots[i])) {
            selection->items[count++].slot = parser->scope->slots[i];
        }
    }
    selection->count = count;
    return STATUS_OK;
}

/* Projection, DISTINCT, LIMIT. outer: slots of the columns, one for each different item. */
static enum status
project(struct parser *parser, const struct selection *selection, const uint32_t *outer,
        struct algebra **node)
{
    struct algebra *projected = algebra_new(parser->arena, ALGEBRA_PROJECT);
    struct slot_pair *pairs = arena_alloc(parser->arena, selection->count * sizeof *pairs);
    if (!projected || !pairs) {
        return parser_too_large(parser);
    }
    for (size_t i = 0; i < selection->count; i++) {
        pairs[i] = (struct slot_pair){selection->items[i].slot, outer[i]};
    }
    projected->left = *node;
    projected->pairs = pairs;
    projected->pair_count = selection->count;
    algebra_update(projected);
    *node = projected;
    if (selection->distinct) { /* REDUCED permits to drop duplicates and demands nothing */
        *node = algebra_unary(parser->arena, ALGEBRA_DISTINCT, *node);
    }
    return *node ? STATUS_OK : parser_too_large(parser);
}

static enum status
slice_node(struct parser *parser, const struct selection *selection, struct algebra **node)
{
    if (selection->sliced) {
        *node = algebra_unary(parser->arena, ALGEBRA_SLICE, *node);
        if (!*node) {
            return parser_too_large(parser);
        }
        (*node)->offset = selection->offset;
        (*node)->limit = selection->limit;
    }
    return STATUS_OK;
}

static enum status
parse_trailing_values(struct parser *parser, struct algebra **values)
{
    *values = NULL;
    if (!parser_word(parser, "VALUES")) {
        return STATUS_OK;
    }
    TRY(parser_next(parser));
    return parse_data(parser, values);
}

enum status
parse_subselect(struct parser *parser, struct algebra **node)
{
    struct selection selection = {.limit = UINT64_MAX};
    struct algebra *values;
    TRY(parser_open_scope(parser));
    TRY(parse_select_clause(parser, &selection));
    TRY(parse_where(parser, node));
    TRY(parse_modifiers(parser, &selection));
    TRY(parse_trailing_values(parser, &values));
    TRY(assemble(parser, &selection, values, node));
    if (selection.all) {
        TRY(select_all(parser, *node, &selection));
    }
    parser->scope = parser->scope->outer;
    uint32_t *outer = arena_alloc(parser->arena, selection.count * sizeof *outer);
    if (!outer) {
        return parser_too_large(parser);
    }
    for (size_t i = 0; i < selection.count; i++) {
        TRY(parser_variable_slot(parser, parser->query->slot_names[selection.items[i].slot],
                                 &outer[i]));
    }
    TRY(project(parser, &selection, outer, node));
    return slice_node(parser, &selection, node);
}

/* ---- the four forms ---- */

enum status
parse_select(struct parser *parser)
{
    struct query *query = parser->query;
    struct selection selection = {.limit = UINT64_MAX};
    struct algebra *values;
    TRY(parse_select_clause(parser, &selection));
    TRY(parse_dataset(parser, "FROM"));
    TRY(parse_where(parser, &query->algebra));
    TRY(parse_modifiers(parser, &selection));
    TRY(parse_trailing_values(parser, &values));
    TRY(assemble(parser, &selection, values, &query->algebra));
    if (selection.all) {
        TRY(select_all(parser, query->algebra, &selection));
    }
    query->columns = arena_alloc(parser->arena, selection.count * sizeof *query->columns);
    query->column_slots = arena_alloc(parser->arena, selection.count * sizeof *query->column_slots);
    uint32_t *outer = arena_alloc(parser->arena, selection.count * sizeof *outer);
    if (!query->columns || !query->column_slots || !outer) {
        return parser_too_large(parser);
    }
    struct slots seen = {0};
    for (size_t i = 0; i < selection.count; i++) {
        const uint32_t slot = outer[i] = selection.items[i].slot;
        if (!slots_have(&seen, slot)) {
            query->columns[query->column_count] = query->slot_names[slot];
            query->column_slots[query->column_count++] = slot;
            slots_add(&seen, slot);
        }
    }
    query->ordered = selection.order_count > 0;
    TRY(project(parser, &selection, outer, &query->algebra));
    return slice_node(parser, &selection, &query->algebra);
}

/* After the pattern of CONSTRUCT, DESCRIBE and ASK. */
static enum status
finish_pattern(struct parser *parser)
{
    struct query *query = parser->query;
    struct selection selection = {.limit = UINT64_MAX};
    struct algebra *values;
    TRY(parse_modifiers(parser, &selection));
    TRY(parse_trailing_values(parser, &values));
    TRY(assemble(parser, &selection, values, &query->algebra));
    query->ordered = selection.order_count > 0;
    return slice_node(parser, &selection, &query->algebra);
}

static enum status
parse_template(struct parser *parser)
{
    TRY(parser_take(parser, "{"));
    TRY(parse_template_triples(parser, (struct place){0}, false));
    return parser_take(parser, "}");
}

enum status
parse_construct(struct parser *parser)
{
    struct query *query = parser->query;
    TRY(parser_next(parser));
    if (parser_is(parser, "{")) {
        parser->template = true;
        TRY(parse_template(parser));
        parser->template = false;
        parser_forget_labels(parser, 0);
        TRY(parse_dataset(parser, "FROM"));
        TRY(parse_where(parser, &query->algebra));
        return finish_pattern(parser);
    }
    /* The short form: the pattern is the template, so it has triples only. */
    TRY(parse_dataset(parser, "FROM"));
    TRY(parser_take_word(parser, "WHERE"));
    const struct lexer lexer = parser->lexer;
    parser->template = true;
    TRY(parse_template(parser));
    parser->template = false;
    parser_forget_labels(parser, 0);
    parser->lexer = lexer;
    TRY(parse_group(parser, &query->algebra, NULL));
    return finish_pattern(parser);
}

enum status
parse_describe(struct parser *parser)
{
    struct query *query = parser->query;
    bool all = false;
    TRY(parser_next(parser));
    query->described = arena_alloc(parser->arena, SLOTS_MAXIMUM * sizeof *query->described);
    if (!query->described) {
        return parser_too_large(parser);
    }
    if (parser_is(parser, "*")) {
        all = true;
        TRY(parser_next(parser));
    } else {
        while (parser->lexer.token.kind == TOKEN_VARIABLE || parser_at_iri(parser)) {
            if (query->described_count == SLOTS_MAXIMUM) {
                return parser_too_large(parser);
            }
            TRY(parse_place(parser, &query->described[query->described_count++]));
        }
        if (!query->described_count) {
            return lexer_expected(&parser->lexer, "a variable, an IRI or '*'");
        }
    }
    TRY(parse_dataset(parser, "FROM"));
    query->algebra = algebra_new(parser->arena, ALGEBRA_UNIT);
    if (!query->algebra) {
        return parser_too_large(parser);
    }
    if (parser_word(parser, "WHERE") || parser_is(parser, "{")) {
        TRY(parse_where(parser, &query->algebra));
    }
    if (all) {
        struct selection selection = {0};
        TRY(select_all(parser, query->algebra, &selection));
        for (size_t i = 0; i < selection.count; i++) {
            query->described[query->described_count++] =
                (struct place){PLACE_SLOT, selection.items[i].slot};
        }
    }
    return finish_pattern(parser);
}

enum status
parse_ask(struct parser *parser)
{
    TRY(parser_next(parser));
    TRY(parse_dataset(parser, "FROM"));
    TRY(parse_where(parser, &parser->query->algebra));
    return finish_pattern(parser);
}
