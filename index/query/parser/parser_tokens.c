/* Tokens as all productions take them, and how deep these may be in each other. */
#include "index/query/parser/parser.h"

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
