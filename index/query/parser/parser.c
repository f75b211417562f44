/* Queries as a whole: prepared, and what is told of them. */
#include "index/query/parser/parser.h"

#include <stdlib.h>

#include "base/memory.h"
#include "rdf/core/lexical.h"

enum { QUERY_MEMORY = 64 << 20 };

static enum status
parse_query(struct parser *parser)
{
    TRY(lexer_open(&parser->lexer, parser->query->text, parser->arena, parser->why));
    TRY(parse_prologue(parser));
    TRY(parser_open_scope(parser));
    struct query *query = parser->query;
    query->base = parser->base;
    if (parser_word(parser, "SELECT")) {
        query->form = QUERY_SELECT;
        TRY(parse_select(parser));
    } else if (parser_word(parser, "CONSTRUCT")) {
        query->form = QUERY_CONSTRUCT;
        TRY(parse_construct(parser));
    } else if (parser_word(parser, "DESCRIBE")) {
        query->form = QUERY_DESCRIBE;
        TRY(parse_describe(parser));
    } else if (parser_word(parser, "ASK")) {
        query->form = QUERY_ASK;
        TRY(parse_ask(parser));
    } else {
        return lexer_expected(&parser->lexer, "SELECT, CONSTRUCT, DESCRIBE or ASK");
    }
    if (parser->lexer.token.kind != TOKEN_END) {
        return lexer_expected(&parser->lexer, "the end of the query");
    }
    return STATUS_OK;
}

/* Decodes the \u escapes that may stand anywhere in a query (section 19.2). */
enum status
parser_decode(struct arena *arena, struct slice text, struct slice *decoded, struct reason *why)
{
    if (!lexical_utf8_valid(text.at, text.length)) {
        return status_fail(why, STATUS_BAD_INPUT, "the query is not valid UTF-8");
    }
    char *to = arena_alloc(arena, text.length + 1);
    size_t length = 0;
    if (!to) {
        return status_fail(why, STATUS_LIMIT, "the query is too large");
    }
    const char *end = text.at + text.length;
    for (const char *at = text.at; at < end;) {
        int used = 0;
        if (*at == '\\' && end - at > 1 && (at[1] == 'u' || at[1] == 'U')) {
            const uint32_t code = lexical_escape(at, end, &used);
            if (code != UINT32_MAX) {
                length += (size_t)lexical_encode(code, to + length);
                at += used;
                continue;
            }
            return status_fail(why, STATUS_BAD_INPUT, "character %zu: a bad \\u escape",
                               (size_t)(at - text.at) + 1);
        }
        if (*at == '\\' && end - at > 1) {
            to[length++] = *at++;
        }
        to[length++] = *at++;
    }
    *decoded = slice_of(to, length);
    return STATUS_OK;
}

static enum status
prepare(struct query *query, struct slice text, struct slice base, struct reason *why)
{
    TRY(parser_decode(&query->arena, text, &query->text, why));
    query->base = arena_copy(&query->arena, base);
    query->based = base.length > 0;
    query->slot_names = arena_alloc(&query->arena, SLOTS_MAXIMUM * sizeof *query->slot_names);
    struct parser *parser = memory_new(sizeof *parser);
    *parser = (struct parser){.query = query, .arena = &query->arena, .why = why};
    parser->base = query->base;
    parser->prefixes = memory_zero(PREFIXES_MAXIMUM, sizeof *parser->prefixes);
    const enum status status = parse_query(parser);
    free(parser->prefixes);
    free(parser->labels);
    free(parser);
    return status;
}

enum status
query_prepare(struct query **query, struct slice text, struct slice base, struct reason *why)
{
    *query = NULL;
    if (text.length > QUERY_TEXT_MAXIMUM) {
        return status_fail(why, STATUS_LIMIT, "the query is longer than %d bytes",
                           QUERY_TEXT_MAXIMUM);
    }
    struct query *prepared = memory_new(sizeof *prepared);
    arena_init(&prepared->arena, QUERY_MEMORY);
    const enum status status = prepare(prepared, text, base, why);
    if (status != STATUS_OK) {
        query_free(prepared);
        return status;
    }
    *query = prepared;
    return STATUS_OK;
}

void
query_free(struct query *query)
{
    if (query) {
        arena_release(&query->arena);
        free(query);
    }
}

enum query_form
query_form_of(const struct query *query)
{
    return query->form;
}

size_t
query_columns(const struct query *query, const struct slice **names)
{
    *names = query->columns;
    return query->column_count;
}

bool
query_mentions(const struct query *query, struct slice iri)
{
    for (size_t i = 0; i < query->constant_count; i++) {
        if (query->constants[i].kind == TERM_IRI && slice_equal(query->constants[i].value, iri)) {
            return true;
        }
    }
    return false;
}

bool
query_ordered(const struct query *query)
{
    return query->ordered;
}
