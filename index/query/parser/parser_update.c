/* Updates: productions Update down to QuadsNotTriples, and update_prepare. Each operation that
 * looks at data is a query of its own whose templates say what to remove and what to add. */
#include <stdlib.h>

#include "base/memory.h"
#include "index/query/algebra/update_operations.h"
#include "index/query/parser/parser.h"

enum { UPDATE_MEMORY = 512 << 20 };

/* ---- quads ---- */

/* '{' Quads '}'; graph: where triples outside of GRAPH belong. */
static enum status
parse_quads(struct parser *parser, struct place graph, bool removal)
{
    parser->template = true;
    parser->no_blanks = removal;
    parser->block = ++parser->last_block;
    TRY(parser_take(parser, "{"));
    TRY(parse_template_triples(parser, graph, removal));
    while (parser_word(parser, "GRAPH")) {
        struct place named;
        TRY(parser_next(parser));
        if (parser->lexer.token.kind != TOKEN_VARIABLE && !parser_at_iri(parser)) {
            return lexer_expected(&parser->lexer, "a graph's IRI or a variable");
        }
        TRY(parse_place(parser, &named));
        TRY(parser_take(parser, "{"));
        TRY(parse_template_triples(parser, named, removal));
        TRY(parser_take(parser, "}"));
        if (parser_is(parser, ".")) {
            TRY(parser_next(parser));
        }
        TRY(parse_template_triples(parser, graph, removal));
    }
    parser->template = parser->no_blanks = false;
    return parser_take(parser, "}");
}

/* ---- operations with quads ---- */

static enum status
parse_data_operation(struct parser *parser, bool removal)
{
    struct query *query = parser->query;
    query->algebra = algebra_new(parser->arena, ALGEBRA_UNIT);
    if (!query->algebra) {
        return parser_too_large(parser);
    }
    parser->no_variables = true;
    TRY(parse_quads(parser, (struct place){0}, removal));
    parser->no_variables = false;
    return STATUS_OK;
}

static enum status
parse_delete_where(struct parser *parser)
{
    const struct lexer lexer = parser->lexer;
    TRY(parse_quads(parser, (struct place){0}, true));
    parser->lexer = lexer;
    return parse_group(parser, &parser->query->algebra, NULL);
}

/* USING: the dataset of WHERE, as FROM is of a query. Blank nodes of the templates and of WHERE
 * have nothing in common, nor have those of another operation. */
static enum status
parse_modify(struct parser *parser, struct place with)
{
    struct query *query = parser->query;
    const size_t labels = parser->label_count;
    bool some = false;
    if (parser_word(parser, "DELETE")) {
        TRY(parser_next(parser));
        TRY(parse_quads(parser, with, true));
        some = true;
    }
    if (parser_word(parser, "INSERT")) {
        TRY(parser_next(parser));
        TRY(parse_quads(parser, with, false));
        some = true;
    }
    if (!some) {
        return lexer_expected(&parser->lexer, "DELETE or INSERT");
    }
    parser_forget_labels(parser, labels);
    TRY(parse_dataset(parser, "USING"));
    if (with.kind == PLACE_CONSTANT && !query->has_dataset) {
        query->has_with = true;
        query->with = with.number;
    }
    TRY(parser_take_word(parser, "WHERE"));
    TRY(parse_group(parser, &query->algebra, NULL));
    parser_forget_labels(parser, labels);
    return STATUS_OK;
}

/* ---- graphs ---- */

static enum status
parse_graph_iri(struct parser *parser, struct graph_reference *reference)
{
    reference->kind = REFERENCE_GRAPH;
    return parser_iri(parser, &reference->iri);
}

/* GraphRef, DEFAULT, NAMED, ALL. */
static enum status
parse_reference(struct parser *parser, struct graph_reference *reference)
{
    static const struct {
        const char *word;
        enum update_reference kind;
    } words[] = {
        {"DEFAULT", REFERENCE_DEFAULT}, {"NAMED", REFERENCE_NAMED}, {"ALL", REFERENCE_ALL}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (parser_word(parser, words[i].word)) {
            reference->kind = words[i].kind;
            return parser_next(parser);
        }
    }
    TRY(parser_take_word(parser, "GRAPH"));
    return parse_graph_iri(parser, reference);
}

/* GraphOrDefault: GRAPH may be left out. */
static enum status
parse_graph_or_default(struct parser *parser, struct graph_reference *reference)
{
    if (parser_word(parser, "DEFAULT")) {
        reference->kind = REFERENCE_DEFAULT;
        return parser_next(parser);
    }
    if (parser_word(parser, "GRAPH")) {
        TRY(parser_next(parser));
    }
    return parse_graph_iri(parser, reference);
}

static enum status
parse_load(struct parser *parser, struct update_operation *operation)
{
    TRY(parser_iri(parser, &operation->document));
    if (!parser_word(parser, "INTO")) {
        return STATUS_OK;
    }
    operation->into = true;
    TRY(parser_next(parser));
    TRY(parser_take_word(parser, "GRAPH"));
    return parse_graph_iri(parser, &operation->target);
}

static enum status
parse_clear(struct parser *parser, struct update_operation *operation)
{
    return parse_reference(parser, &operation->target);
}

static enum status
parse_create(struct parser *parser, struct update_operation *operation)
{
    TRY(parser_take_word(parser, "GRAPH"));
    return parse_graph_iri(parser, &operation->target);
}

static enum status
parse_transfer(struct parser *parser, struct update_operation *operation)
{
    TRY(parse_graph_or_default(parser, &operation->source));
    TRY(parser_take_word(parser, "TO"));
    return parse_graph_or_default(parser, &operation->target);
}

/* ---- requests ---- */

static const struct {
    const char *word;
    enum update_kind kind;
    enum status (*parse)(struct parser *parser, struct update_operation *operation);
} graph_operations[] = {
    {"LOAD", UPDATE_LOAD, parse_load},     {"CLEAR", UPDATE_CLEAR, parse_clear},
    {"DROP", UPDATE_CLEAR, parse_clear},   {"CREATE", UPDATE_CREATE, parse_create},
    {"ADD", UPDATE_ADD, parse_transfer},   {"MOVE", UPDATE_MOVE, parse_transfer},
    {"COPY", UPDATE_COPY, parse_transfer},
};

/* The operation is a query: its slots, and a scope for its variables. */
static enum status
open_query(struct parser *parser, struct update_operation *operation)
{
    struct query *query = parser->query = &operation->query;
    query->form = QUERY_CHANGE;
    query->base = parser->base;
    query->slot_names = arena_alloc(parser->arena, SLOTS_MAXIMUM * sizeof *query->slot_names);
    parser->scope = NULL;
    return query->slot_names ? parser_open_scope(parser) : parser_too_large(parser);
}

/* From INSERT or DELETE on. Labels in DATA are those of the whole request: none may occur again. */
static enum status
parse_change(struct parser *parser)
{
    const bool removal = parser_word(parser, "DELETE");
    const struct lexer lexer = parser->lexer;
    TRY(parser_next(parser));
    if (parser_word(parser, "DATA")) {
        TRY(parser_next(parser));
        return parse_data_operation(parser, removal);
    }
    if (removal && parser_word(parser, "WHERE")) {
        TRY(parser_next(parser));
        return parse_delete_where(parser);
    }
    parser->lexer = lexer;
    return parse_modify(parser, (struct place){0});
}

static enum status
parse_with(struct parser *parser)
{
    struct slice iri;
    struct place with = {.kind = PLACE_CONSTANT};
    TRY(parser_next(parser));
    TRY(parser_iri(parser, &iri));
    const struct term term = term_iri(iri);
    TRY(parser_constant(parser, &term, &with.number));
    return parse_modify(parser, with);
}

static enum status
parse_operation(struct parser *parser, struct update_operation *operation)
{
    for (size_t i = 0; i < sizeof graph_operations / sizeof *graph_operations; i++) {
        if (parser_word(parser, graph_operations[i].word)) {
            operation->kind = graph_operations[i].kind;
            TRY(parser_next(parser));
            operation->silent = parser_word(parser, "SILENT");
            if (operation->silent) {
                TRY(parser_next(parser));
            }
            return graph_operations[i].parse(parser, operation);
        }
    }
    const bool with = parser_word(parser, "WITH");
    if (!with && !parser_word(parser, "INSERT") && !parser_word(parser, "DELETE")) {
        return lexer_expected(&parser->lexer, "an operation such as INSERT, DELETE or LOAD");
    }
    operation->kind = UPDATE_MODIFY;
    TRY(open_query(parser, operation));
    return with ? parse_with(parser) : parse_change(parser);
}

static enum status
new_operation(struct parser *parser, struct update *update, struct update_operation **operation)
{
    if (update->count == UPDATE_OPERATIONS_MAXIMUM) {
        return status_fail(parser->why, STATUS_LIMIT, "the update has more than %d operations",
                           UPDATE_OPERATIONS_MAXIMUM);
    }
    if (update->count == update->room) {
        const size_t room = update->room ? update->room * 2 : 8;
        update->operations = memory_resize(update->operations, room, sizeof *update->operations);
        update->room = room;
    }
    *operation = &update->operations[update->count++];
    **operation = (struct update_operation){0};
    return STATUS_OK;
}

static enum status
parse_update(struct parser *parser, struct update *update)
{
    for (;;) {
        struct update_operation *operation = NULL;
        TRY(parse_prologue(parser));
        if (parser->lexer.token.kind == TOKEN_END) {
            return STATUS_OK;
        }
        TRY(new_operation(parser, update, &operation));
        TRY(parse_operation(parser, operation));
        if (parser->lexer.token.kind == TOKEN_END) {
            return STATUS_OK;
        }
        TRY(parser_take(parser, ";"));
    }
}

static enum status
prepare(struct update *update, struct slice text, struct slice base, struct reason *why)
{
    struct slice decoded;
    TRY(parser_decode(&update->arena, text, &decoded, why));
    struct parser *parser = memory_new(sizeof *parser);
    *parser = (struct parser){.arena = &update->arena, .why = why};
    parser->base = arena_copy(&update->arena, base);
    parser->prefixes = memory_zero(PREFIXES_MAXIMUM, sizeof *parser->prefixes);
    enum status status = lexer_open(&parser->lexer, decoded, parser->arena, why);
    if (status == STATUS_OK) {
        status = parse_update(parser, update);
    }
    free(parser->prefixes);
    free(parser->labels);
    free(parser);
    return status;
}

enum status
update_prepare(struct update **update, struct slice text, struct slice base, struct reason *why)
{
    *update = NULL;
    if (text.length > UPDATE_TEXT_MAXIMUM) {
        return status_fail(why, STATUS_LIMIT, "the update is longer than %d bytes",
                           UPDATE_TEXT_MAXIMUM);
    }
    struct update *prepared = memory_new(sizeof *prepared);
    arena_init(&prepared->arena, UPDATE_MEMORY);
    const enum status status = prepare(prepared, text, base, why);
    if (status != STATUS_OK) {
        update_free(prepared);
        return status;
    }
    *update = prepared;
    return STATUS_OK;
}

void
update_free(struct update *update)
{
    if (update) {
        free(update->operations);
        arena_release(&update->arena);
        free(update);
    }
}
