/* Entry, prologue and dataset; small helpers of all productions. */
#include "index/query/parser/parser.h"

#include <stdlib.h>

#include "base/memory.h"
#include "rdf/core/lexical.h"

enum { QUERY_MEMORY = 64 << 20 };

/* ---- helpers ---- */

bool
parser_is(const struct parser *parser, const char *sign)
{
    return parser->lexer.token.kind == TOKEN_SIGN && slice_is(parser->lexer.token.text, sign);
}

bool
parser_word(const struct parser *parser, const char *word)
{
    return parser->lexer.token.kind == TOKEN_WORD &&
           slice_equal_nocase(parser->lexer.token.text, slice_string(word));
}

enum status
parser_next(struct parser *parser)
{
    return lexer_next(&parser->lexer);
}

enum status
parser_take(struct parser *parser, const char *sign)
{
    if (!parser_is(parser, sign)) {
        char what[16] = {'\'', sign[0], '\'', 0};
        return lexer_expected(&parser->lexer, what);
    }
    return parser_next(parser);
}

enum status
parser_take_word(struct parser *parser, const char *word)
{
    return parser_word(parser, word) ? parser_next(parser) : lexer_expected(&parser->lexer, word);
}

enum status
parser_too_large(struct parser *parser)
{
    return status_fail(parser->why, STATUS_LIMIT, "the query is too large or too deep");
}

enum status
parser_enter(struct parser *parser)
{
    if (++parser->nesting > NESTING_MAXIMUM) {
        return status_fail(parser->why, STATUS_LIMIT, "the query nests deeper than %d levels",
                           NESTING_MAXIMUM);
    }
    return STATUS_OK;
}

void
parser_leave(struct parser *parser)
{
    parser->nesting--;
}

/* ---- prologue and dataset ---- */

enum status
parse_prologue(struct parser *parser)
{
    for (;;) {
        if (parser_word(parser, "BASE")) {
            TRY(parser_next(parser));
            if (parser->lexer.token.kind != TOKEN_IRI) {
                return lexer_expected(&parser->lexer, "an IRI in < > after BASE");
            }
            TRY(parser_resolve(parser, parser->lexer.token.value, &parser->base));
            TRY(parser_next(parser));
        } else if (parser_word(parser, "PREFIX")) {
            TRY(parser_next(parser));
            const struct token name = parser->lexer.token;
            if (name.kind != TOKEN_NAME || name.value.length ||
                name.text.length != name.prefix.length + 1) {
                return lexer_expected(&parser->lexer, "a prefix with its colon");
            }
            TRY(parser_next(parser));
            if (parser->lexer.token.kind != TOKEN_IRI) {
                return lexer_expected(&parser->lexer, "an IRI in < >");
            }
            if (parser->prefix_count == PREFIXES_MAXIMUM) {
                return parser_too_large(parser);
            }
            struct prefix *prefix = &parser->prefixes[parser->prefix_count++];
            prefix->name = name.prefix;
            TRY(parser_resolve(parser, parser->lexer.token.value, &prefix->iri));
            TRY(parser_next(parser));
        } else {
            return STATUS_OK;
        }
    }
}

static enum status
append_number(struct parser *parser, uint32_t **numbers, size_t *count, uint32_t number)
{
    if ((*count & (*count - 1)) == 0) {
        uint32_t *more = arena_alloc(parser->arena, (*count ? *count * 2 : 1) * sizeof *more);
        if (!more) {
            return parser_too_large(parser);
        }
        if (*count) {
            memcpy(more, *numbers, *count * sizeof *more);
        }
        *numbers = more;
    }
    (*numbers)[(*count)++] = number;
    return STATUS_OK;
}

enum status
parse_dataset(struct parser *parser, const char *word)
{
    struct query *query = parser->query;
    while (parser_word(parser, word)) {
        TRY(parser_next(parser));
        const bool named = parser_word(parser, "NAMED");
        if (named) {
            TRY(parser_next(parser));
        }
        struct slice iri;
        uint32_t constant;
        TRY(parser_iri(parser, &iri));
        const struct term term = term_iri(iri);
        TRY(parser_constant(parser, &term, &constant));
        query->has_dataset = true;
        TRY(named ? append_number(parser, &query->from_named, &query->from_named_count, constant)
                  : append_number(parser, &query->from, &query->from_count, constant));
    }
    return STATUS_OK;
}

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

/* ---- entry ---- */

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
    struct parser *parser = memory_zero(1, sizeof *parser);
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
    struct query *prepared = memory_zero(1, sizeof *prepared);
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
