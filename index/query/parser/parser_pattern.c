/* Groups and what stands in them: GroupGraphPattern down to InlineData. */
#include "index/query/parser/parser.h"

/* A group while it is read. */
struct group {
    struct algebra *all;   /* what stands before the open block */
    struct algebra *block; /* the basic graph pattern being read, NULL when none is open */
    const struct expression *filter;
};

static enum status
join(struct parser *parser, struct algebra **left, struct algebra *right)
{
    *left = algebra_join(parser->arena, *left, right);
    return *left ? STATUS_OK : parser_too_large(parser);
}

/* Ends the open basic graph pattern: its blank node labels cannot be used after it. */
static enum status
close_block(struct parser *parser, struct group *group)
{
    parser->block = ++parser->last_block;
    if (group->block) {
        struct algebra *block = group->block;
        group->block = NULL;
        if (block->pattern_count) {
            TRY(join(parser, &group->all, block));
        }
    }
    if (parser->unions) {
        struct algebra *unions = parser->unions;
        parser->unions = NULL;
        TRY(join(parser, &group->all, unions));
    }
    return STATUS_OK;
}

static enum status
parse_filter(struct parser *parser, struct group *group)
{
    const struct expression *condition;
    const uint32_t block = parser->block;
    struct algebra *unions = parser->unions; /* EXISTS reads a group meanwhile */
    parser->unions = NULL;
    TRY(parser_next(parser));
    TRY(parse_constraint(parser, &condition));
    parser->block = block;
    parser->unions = unions;
    return parser_and(parser, group->filter, condition, &group->filter);
}

static enum status
parse_optional(struct parser *parser, struct group *group)
{
    struct algebra *right;
    const struct expression *filter = NULL;
    TRY(parser_next(parser));
    TRY(parse_group(parser, &right, &filter));
    group->all = algebra_binary(parser->arena, ALGEBRA_LEFT_JOIN, group->all, right, filter);
    return group->all ? STATUS_OK : parser_too_large(parser);
}

static enum status
parse_minus(struct parser *parser, struct group *group)
{
    struct algebra *right;
    TRY(parser_next(parser));
    TRY(parse_group(parser, &right, NULL));
    group->all = algebra_binary(parser->arena, ALGEBRA_MINUS, group->all, right, NULL);
    return group->all ? STATUS_OK : parser_too_large(parser);
}

static enum status
parse_union(struct parser *parser, struct group *group)
{
    struct algebra *all, *more;
    TRY(parse_group(parser, &all, NULL));
    while (parser_word(parser, "UNION")) {
        TRY(parser_next(parser));
        TRY(parse_group(parser, &more, NULL));
        all = algebra_binary(parser->arena, ALGEBRA_UNION, all, more, NULL);
        if (!all) {
            return parser_too_large(parser);
        }
    }
    return join(parser, &group->all, all);
}

/* Inside of GRAPH ?g { } the variable is like any other, and its solutions are joined with the name
 * of the graph. Most groups may as well be evaluated with ?g bound to it; for the others, say with
 * OPTIONAL { ?s ?p ?g } inside, the graph has a slot of its own. */
static enum status
choose_inside(struct parser *parser, struct algebra *node)
{
    struct slots graph = {0};
    slots_add(&graph, node->graph.number);
    node->inside = node->graph.number;
    return algebra_takes_values(node->left, &graph, false)
               ? STATUS_OK
               : parser_new_slot(parser, SLICE(""), &node->inside);
}

/* GRAPH and SERVICE. */
static enum status
parse_graph(struct parser *parser, struct group *group)
{
    const bool service = parser_word(parser, "SERVICE");
    struct algebra *node = algebra_new(parser->arena, service ? ALGEBRA_SERVICE : ALGEBRA_GRAPH);
    if (!node) {
        return parser_too_large(parser);
    }
    TRY(parser_next(parser));
    if (service && parser_word(parser, "SILENT")) {
        node->silent = true;
        TRY(parser_next(parser));
    }
    if (parser->lexer.token.kind != TOKEN_VARIABLE && !parser_at_iri(parser)) {
        return lexer_expected(&parser->lexer, "a variable or an IRI");
    }
    TRY(parse_place(parser, &node->graph));
    TRY(parse_group(parser, &node->left, NULL));
    if (node->graph.kind == PLACE_SLOT) {
        TRY(choose_inside(parser, node));
    }
    algebra_update(node);
    return join(parser, &group->all, node);
}

static enum status
parse_bind(struct parser *parser, struct group *group)
{
    const struct expression *expression;
    TRY(parser_next(parser));
    TRY(parser_take(parser, "("));
    TRY(parse_expression(parser, &expression));
    TRY(parser_take_word(parser, "AS"));
    if (parser->lexer.token.kind != TOKEN_VARIABLE) {
        return lexer_expected(&parser->lexer, "a variable after AS");
    }
    uint32_t slot;
    TRY(parser_variable_slot(parser, parser->lexer.token.value, &slot));
    if (slots_have(&group->all->maybe, slot)) {
        return lexer_fail(&parser->lexer, parser->lexer.token.text.at, "?%.*s is already in scope",
                          SLICE_PRINT(parser->lexer.token.value));
    }
    TRY(parser_next(parser));
    TRY(parser_take(parser, ")"));
    group->all = algebra_extend(parser->arena, group->all, slot, expression);
    return group->all ? STATUS_OK : parser_too_large(parser);
}

/* ---- inline data ---- */

static enum status
parse_data_columns(struct parser *parser, struct algebra *values, bool *single)
{
    values->slots = arena_alloc(parser->arena, SLOTS_MAXIMUM * sizeof *values->slots);
    if (!values->slots) {
        return parser_too_large(parser);
    }
    *single = parser->lexer.token.kind == TOKEN_VARIABLE;
    if (parser->lexer.token.kind == TOKEN_NIL) {
        return parser_next(parser);
    }
    if (!*single) {
        TRY(parser_take(parser, "("));
    }
    while (parser->lexer.token.kind == TOKEN_VARIABLE) {
        uint32_t slot;
        TRY(parser_variable_slot(parser, parser->lexer.token.value, &slot));
        for (size_t i = 0; i < values->slot_count; i++) {
            if (values->slots[i] == slot) {
                return lexer_fail(&parser->lexer, parser->lexer.token.text.at,
                                  "a variable twice in VALUES");
            }
        }
        values->slots[values->slot_count++] = slot;
        TRY(parser_next(parser));
        if (*single) {
            return STATUS_OK;
        }
    }
    return parser_take(parser, ")");
}

static enum status
parse_data_value(struct parser *parser, uint32_t *constant)
{
    if (parser_word(parser, "UNDEF")) {
        *constant = NUMBER_NONE;
        return parser_next(parser);
    }
    struct term term;
    if (parser_at_iri(parser)) {
        TRY(parser_iri(parser, &term.value));
        term = term_iri(term.value);
    } else if (parser_at_literal(parser)) {
        TRY(parser_literal(parser, &term));
    } else {
        return lexer_expected(&parser->lexer, "an IRI, a literal or UNDEF");
    }
    return parser_constant(parser, &term, constant);
}

static enum status
parse_data_row(struct parser *parser, struct algebra *values, bool single, uint32_t *row)
{
    if (single) {
        return parse_data_value(parser, row);
    }
    const char *at = parser->lexer.token.text.at;
    size_t count = 0;
    if (parser->lexer.token.kind == TOKEN_NIL) {
        TRY(parser_next(parser));
    } else {
        TRY(parser_take(parser, "("));
        for (; !parser_is(parser, ")"); count++) {
            uint32_t constant;
            TRY(parse_data_value(parser, &constant));
            if (count < values->slot_count) {
                row[count] = constant;
            }
        }
        TRY(parser_next(parser));
    }
    return count == values->slot_count
               ? STATUS_OK
               : lexer_fail(&parser->lexer, at, "a row of %zu values for %zu variables", count,
                            values->slot_count);
}

enum status
parse_data(struct parser *parser, struct algebra **node)
{
    struct algebra *values = algebra_new(parser->arena, ALGEBRA_VALUES);
    bool single = false;
    if (!values) {
        return parser_too_large(parser);
    }
    TRY(parse_data_columns(parser, values, &single));
    TRY(parser_take(parser, "{"));
    size_t room = 0;
    const size_t width = values->slot_count ? values->slot_count : 1;
    while (!parser_is(parser, "}")) {
        if (values->row_count == room) {
            room = room ? room * 2 : 8;
            uint32_t *more = arena_alloc(parser->arena, room * width * sizeof *more);
            if (!more) {
                return parser_too_large(parser);
            }
            if (values->row_count) {
                memcpy(more, values->constants, values->row_count * width * sizeof *more);
            }
            values->constants = more;
        }
        TRY(parse_data_row(parser, values, single, values->constants + values->row_count * width));
        values->row_count++;
    }
    TRY(parser_next(parser));
    algebra_update(values);
    *node = values;
    return STATUS_OK;
}

/* ---- groups ---- */

static enum status
parse_values(struct parser *parser, struct group *group)
{
    struct algebra *values;
    TRY(parser_next(parser));
    TRY(parse_data(parser, &values));
    return join(parser, &group->all, values);
}

static enum status
parse_element(struct parser *parser, struct group *group, bool *found)
{
    static const struct {
        const char *word;
        enum status (*parse)(struct parser *, struct group *);
    } elements[] = {{"OPTIONAL", parse_optional}, {"MINUS", parse_minus}, {"GRAPH", parse_graph},
                    {"SERVICE", parse_graph},     {"BIND", parse_bind},   {"VALUES", parse_values}};
    *found = true;
    if (parser_word(parser, "FILTER")) {
        return parse_filter(parser, group);
    }
    if (parser_is(parser, "{")) {
        TRY(close_block(parser, group));
        TRY(parse_union(parser, group));
        parser->block = ++parser->last_block;
        return STATUS_OK;
    }
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        if (parser_word(parser, elements[i].word)) {
            TRY(close_block(parser, group));
            TRY(elements[i].parse(parser, group));
            parser->block = ++parser->last_block;
            return STATUS_OK;
        }
    }
    *found = false;
    return STATUS_OK;
}

static enum status
parse_triples_block(struct parser *parser, struct group *group)
{
    if (!group->block) {
        group->block = algebra_new(parser->arena, ALGEBRA_PATTERNS);
        if (!group->block) {
            return parser_too_large(parser);
        }
    }
    while (parser_at_triples(parser)) {
        TRY(parse_triples_same_subject(parser, group->block));
        if (!parser_is(parser, ".")) {
            break;
        }
        TRY(parser_next(parser));
    }
    return STATUS_OK;
}

static enum status
parse_elements(struct parser *parser, struct group *group)
{
    bool found;
    if (parser_at_triples(parser)) {
        TRY(parse_triples_block(parser, group));
    }
    for (;;) {
        TRY(parse_element(parser, group, &found));
        if (!found) {
            return parser_is(parser, "}")
                       ? STATUS_OK
                       : lexer_expected(&parser->lexer, "a triple, a pattern, '.' or '}'");
        }
        if (parser_is(parser, ".")) {
            TRY(parser_next(parser));
        }
        if (parser_at_triples(parser)) {
            TRY(parse_triples_block(parser, group));
        }
    }
}

enum status
parse_group(struct parser *parser, struct algebra **node, const struct expression **filter)
{
    struct group group = {.all = algebra_new(parser->arena, ALGEBRA_UNIT)};
    if (!group.all) {
        return parser_too_large(parser);
    }
    TRY(parser_enter(parser));
    TRY(parser_take(parser, "{"));
    if (parser_word(parser, "SELECT")) {
        TRY(parse_subselect(parser, &group.all));
    } else {
        parser->block = ++parser->last_block;
        TRY(parse_elements(parser, &group));
        TRY(close_block(parser, &group));
    }
    TRY(parser_take(parser, "}"));
    parser_leave(parser);
    if (filter) {
        *filter = group.filter;
    } else if (group.filter) {
        group.all = algebra_binary(parser->arena, ALGEBRA_FILTER, group.all, NULL, group.filter);
        if (!group.all) {
            return parser_too_large(parser);
        }
    }
    *node = group.all;
    return STATUS_OK;
}
