/* Prologue and dataset. */
#include <string.h>

#include "index/query/parser/parser.h"

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
            if (name.kind != TOKEN_NAME || name.text.length != name.prefix.length + 1) {
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
