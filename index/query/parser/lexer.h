/* Tokens of SPARQL. Source: the terminals of https://www.w3.org/TR/sparql11-query/#sparqlGrammar.
 *
 * A sign is a token of its own: the parser joins it with a number that follows without a gap.
 * Words are not classified here: `a`, keywords and function names are TOKEN_WORD.
 */
#ifndef INDEX_QUERY_PARSER_LEXER_H
#define INDEX_QUERY_PARSER_LEXER_H

#include "base/arena.h"
#include "base/slice.h"
#include "base/status.h"

enum token_kind {
    TOKEN_END,
    TOKEN_IRI,      /* value: what is between < and > */
    TOKEN_NAME,     /* prefixed name; value: local part unescaped, prefix: before the colon */
    TOKEN_BLANK,    /* _:label; value: label */
    TOKEN_ANON,     /* [ ] */
    TOKEN_NIL,      /* ( ) */
    TOKEN_VARIABLE, /* value: without ? or $ */
    TOKEN_LANGUAGE, /* value: lower case, without @ */
    TOKEN_INTEGER,
    TOKEN_DECIMAL,
    TOKEN_DOUBLE,
    TOKEN_STRING, /* value: unescaped */
    TOKEN_WORD,
    TOKEN_SIGN /* punctuation and operators; text says which */
};

struct token {
    enum token_kind kind;
    struct slice text; /* as written */
    struct slice value, prefix;
};

struct lexer {
    struct arena *arena; /* for unescaped values */
    const char *start, *at, *end;
    struct token token; /* the current one */
    struct reason *why;
};

/* text must be valid UTF-8 and outlive the lexer. Reads the first token. */
enum status lexer_open(struct lexer *lexer, struct slice text, struct arena *arena,
                       struct reason *why);
enum status lexer_next(struct lexer *lexer);
/* "line L, column C: " and the message; columns count characters. at: where. */
enum status lexer_fail(struct lexer *lexer, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "expected WHAT, found ..." at the current token. */
enum status lexer_expected(struct lexer *lexer, const char *what);

#endif
