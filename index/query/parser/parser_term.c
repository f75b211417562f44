/* Names, constants, IRIs and literals. */
#include "base/url/url.h"
#include "index/query/parser/parser.h"
#include "index/query/parser/prefixes.h"
#include "rdf/core/lexical.h"

#define XSD "http://www.w3.org/2001/XMLSchema#"

/* ---- variables and constants ---- */

enum status
parser_new_slot(struct parser *parser, struct slice name, uint32_t *slot)
{
    struct query *query = parser->query;
    if (query->slot_count == SLOTS_MAXIMUM) {
        return status_fail(parser->why, STATUS_LIMIT,
                           "the query has more than %d variables and blank nodes", SLOTS_MAXIMUM);
    }
    *slot = query->slot_count++;
    query->slot_names[*slot] = name;
    return STATUS_OK;
}

enum status
parser_variable_slot(struct parser *parser, struct slice name, uint32_t *slot)
{
    struct scope *scope = parser->scope;
    for (size_t i = 0; i < scope->count; i++) {
        if (slice_equal(scope->names[i], name)) {
            *slot = scope->slots[i];
            return STATUS_OK;
        }
    }
    TRY(parser_new_slot(parser, name, slot));
    scope->names[scope->count] = name;
    scope->slots[scope->count++] = *slot;
    return STATUS_OK;
}

enum status
parser_constant(struct parser *parser, const struct term *term, uint32_t *constant)
{
    struct query *query = parser->query;
    for (size_t i = query->constant_count; i > 0 && i + 16 > query->constant_count; i--) {
        if (term_equal(&query->constants[i - 1], term)) {
            *constant = (uint32_t)(i - 1);
            return STATUS_OK;
        }
    }
    if (query->constant_count == query->constant_room) {
        const size_t room = query->constant_room ? query->constant_room * 2 : 16;
        struct term *constants = arena_alloc(parser->arena, room * sizeof *constants);
        if (!constants) {
            return parser_too_large(parser);
        }
        if (query->constant_count) {
            memcpy(constants, query->constants, query->constant_count * sizeof *constants);
        }
        query->constants = constants;
        query->constant_room = room;
    }
    *constant = (uint32_t)query->constant_count;
    query->constants[query->constant_count++] = *term;
    return STATUS_OK;
}

/* ---- IRIs and literals ---- */

bool
parser_at_iri(const struct parser *parser)
{
    return parser->lexer.token.kind == TOKEN_IRI || parser->lexer.token.kind == TOKEN_NAME;
}

enum status
parser_resolve(struct parser *parser, struct slice reference, struct slice *iri)
{
    /* An absolute IRI changes only where it has dot segments. */
    const bool absolute = lexical_has_scheme(reference);
    if (absolute ? slice_find_slice(reference, SLICE("/.")) == reference.length
                 : parser->base.length == 0) {
        *iri = reference;
        return STATUS_OK;
    }
    struct buf buf;
    buf_init(&buf, QUERY_TEXT_MAXIMUM);
    enum status status =
        iri_resolve(absolute ? reference : parser->base, reference, &buf, parser->why);
    if (status == STATUS_OK) {
        *iri = arena_copy(parser->arena, buf_slice(&buf));
        status = iri->at ? STATUS_OK : parser_too_large(parser);
    } else {
        status =
            lexer_fail(&parser->lexer, parser->lexer.token.text.at, "this IRI cannot be resolved");
    }
    buf_release(&buf);
    return status;
}

static enum status
expand_name(struct parser *parser, struct slice *iri)
{
    const struct token *token = &parser->lexer.token;
    struct slice start = {NULL, 0};
    for (size_t i = parser->prefix_count; i > 0 && !start.at; i--) {
        if (slice_equal(parser->prefixes[i - 1].name, token->prefix)) {
            start = parser->prefixes[i - 1].iri;
        }
    }
    if (!start.at) {
        const char *known = prefix_iri(token->prefix);
        start = known ? slice_string(known) : start;
    }
    if (!start.at) {
        return lexer_fail(&parser->lexer, token->text.at, "the prefix '%.*s:' is not declared",
                          SLICE_PRINT(token->prefix));
    }
    char *memory = arena_alloc(parser->arena, start.length + token->value.length + 1);
    if (!memory) {
        return parser_too_large(parser);
    }
    memcpy(memory, start.at, start.length);
    if (token->value.length) {
        memcpy(memory + start.length, token->value.at, token->value.length);
    }
    *iri = slice_of(memory, start.length + token->value.length);
    return STATUS_OK;
}

enum status
parser_iri(struct parser *parser, struct slice *iri)
{
    if (parser->lexer.token.kind == TOKEN_NAME) {
        TRY(expand_name(parser, iri));
    } else if (parser->lexer.token.kind == TOKEN_IRI) {
        TRY(parser_resolve(parser, parser->lexer.token.value, iri));
    } else {
        return lexer_expected(&parser->lexer, "an IRI");
    }
    return parser_next(parser);
}

static bool
is_number(const struct token *token)
{
    return token->kind == TOKEN_INTEGER || token->kind == TOKEN_DECIMAL ||
           token->kind == TOKEN_DOUBLE;
}

/* A sign that a number follows without a gap. */
static bool
at_signed_number(const struct parser *parser)
{
    const struct lexer *lexer = &parser->lexer;
    return (parser_is(parser, "+") || parser_is(parser, "-")) && lexer->at < lexer->end &&
           (lexical_is(*lexer->at, LEXICAL_DIGIT) ||
            (*lexer->at == '.' && lexer->end - lexer->at > 1 &&
             lexical_is(lexer->at[1], LEXICAL_DIGIT)));
}

bool
parser_at_literal(const struct parser *parser)
{
    const struct token *token = &parser->lexer.token;
    return token->kind == TOKEN_STRING || is_number(token) || parser_word(parser, "true") ||
           parser_word(parser, "false") || at_signed_number(parser);
}

static enum status
parse_number(struct parser *parser, struct term *term)
{
    const char *from = parser->lexer.token.text.at;
    if (!is_number(&parser->lexer.token)) {
        TRY(parser_next(parser));
    }
    const struct token *token = &parser->lexer.token;
    *term = term_literal(slice_of(from, (size_t)(token->text.at + token->text.length - from)));
    term->datatype = token->kind == TOKEN_INTEGER   ? SLICE(XSD "integer")
                     : token->kind == TOKEN_DECIMAL ? SLICE(XSD "decimal")
                                                    : SLICE(XSD "double");
    return parser_next(parser);
}

enum status
parser_literal(struct parser *parser, struct term *term)
{
    const struct token *token = &parser->lexer.token;
    if (is_number(token) || at_signed_number(parser)) {
        return parse_number(parser, term);
    }
    if (token->kind == TOKEN_WORD) {
        const bool is_true = parser_word(parser, "true");
        *term = term_literal(is_true ? SLICE("true") : SLICE("false"));
        term->datatype = SLICE(XSD "boolean");
        return parser_next(parser);
    }
    if (token->kind != TOKEN_STRING) {
        return lexer_expected(&parser->lexer, "a literal");
    }
    *term = term_literal(token->value);
    TRY(parser_next(parser));
    if (token->kind == TOKEN_LANGUAGE) {
        term->language = token->value;
        return parser_next(parser);
    }
    if (parser_is(parser, "^^")) {
        TRY(parser_next(parser));
        TRY(parser_iri(parser, &term->datatype));
        if (slice_is(term->datatype, XSD "string")) {
            term->datatype = (struct slice){NULL, 0};
        }
    }
    return STATUS_OK;
}
