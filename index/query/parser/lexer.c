#include "index/query/parser/lexer.h"

#include <stdarg.h>
#include <stdio.h>

#include "rdf/core/lexical.h"

static void
position(const struct lexer *lexer, const char *at, unsigned long *line, unsigned long *column)
{
    *line = 1;
    *column = 1;
    for (const char *c = lexer->start; c < at; c++) {
        if (*c == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)*c & 0xC0) != 0x80) {
            ++*column;
        }
    }
}

enum status
lexer_fail(struct lexer *lexer, const char *at, const char *format, ...)
{
    char text[REASON_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    unsigned long line, column;
    position(lexer, at, &line, &column);
    return status_fail(lexer->why, STATUS_BAD_INPUT, "line %lu, column %lu: %.400s", line, column,
                       text);
}

enum status
lexer_expected(struct lexer *lexer, const char *what)
{
    const struct token *token = &lexer->token;
    if (token->kind == TOKEN_END) {
        return lexer_fail(lexer, token->text.at, "expected %s, found the end of the query", what);
    }
    int length = token->text.length > 40 ? 40 : (int)token->text.length;
    for (int i = 0; i < length; i++) {
        if (token->text.at[i] == '\n' || token->text.at[i] == '\r') {
            length = i;
        }
    }
    length = (int)lexical_utf8_prefix(token->text.at, (size_t)length);
    return lexer_fail(lexer, token->text.at, "expected %s, found '%.*s'", what, length,
                      token->text.at);
}

static void
skip_space(struct lexer *lexer)
{
    while (lexer->at < lexer->end) {
        if (lexical_is(*lexer->at, LEXICAL_SPACE)) {
            lexer->at++;
        } else if (*lexer->at == '#') {
            while (lexer->at < lexer->end && *lexer->at != '\n' && *lexer->at != '\r') {
                lexer->at++;
            }
        } else {
            return;
        }
    }
}

/* Ends the token: everything from its start to lexer->at. */
static enum status
finish(struct lexer *lexer, enum token_kind kind, struct slice value)
{
    lexer->token.kind = kind;
    lexer->token.text.length = (size_t)(lexer->at - lexer->token.text.at);
    lexer->token.value = value;
    return STATUS_OK;
}

static struct slice
between(const char *from, const char *to)
{
    return slice_of(from, (size_t)(to - from));
}

static bool
read_iri(struct lexer *lexer)
{
    const char *at = lexer->at + 1;
    while (at < lexer->end && !lexical_is(*at, LEXICAL_IRI_STOP)) {
        at++;
    }
    if (at == lexer->end || *at != '>') {
        return false;
    }
    const struct slice value = between(lexer->at + 1, at);
    lexer->at = at + 1;
    (void)finish(lexer, TOKEN_IRI, value);
    return true;
}

static enum status
read_string(struct lexer *lexer)
{
    const char quote = *lexer->at;
    const char *at = lexer->at;
    const bool is_long = lexer->end - at >= 3 && at[1] == quote && at[2] == quote;
    const char *from = at + (is_long ? 3 : 1);
    for (at = from; at < lexer->end; at++) {
        if (*at == '\\') {
            at++;
        } else if (*at == quote &&
                   (!is_long || (lexer->end - at >= 3 && at[1] == quote && at[2] == quote))) {
            break;
        } else if (!is_long && (*at == '\n' || *at == '\r')) {
            return lexer_fail(lexer, at, "a line ends inside a string");
        }
    }
    if (at >= lexer->end) {
        return lexer_fail(lexer, lexer->at, "a string that does not end");
    }
    struct slice value = between(from, at);
    if (memchr(from, '\\', value.length)) {
        char *to = arena_alloc(lexer->arena, value.length + 1);
        const char *bad = from;
        size_t length;
        if (!to) {
            return status_fail(lexer->why, STATUS_LIMIT, "the query is too large");
        }
        if (!lexical_unescape_string(value, to, &length, &bad)) {
            return lexer_fail(lexer, bad, "a bad escape in a string");
        }
        value = slice_of(to, length);
    }
    lexer->at = at + (is_long ? 3 : 1);
    return finish(lexer, TOKEN_STRING, value);
}

static enum status
read_number(struct lexer *lexer)
{
    const char *at = lexer->at;
    enum token_kind kind = TOKEN_INTEGER;
    while (at < lexer->end && lexical_is(*at, LEXICAL_DIGIT)) {
        at++;
    }
    const bool digits = at > lexer->at;
    if (at < lexer->end && *at == '.') {
        const char *after = at + 1;
        while (after < lexer->end && lexical_is(*after, LEXICAL_DIGIT)) {
            after++;
        }
        const bool exponent = after < lexer->end && (*after == 'e' || *after == 'E');
        if (after > at + 1 || (digits && exponent)) {
            at = after;
            kind = TOKEN_DECIMAL;
        }
    }
    if (at < lexer->end && (*at == 'e' || *at == 'E')) {
        const char *after = at + 1;
        if (after < lexer->end && (*after == '+' || *after == '-')) {
            after++;
        }
        const char *first = after;
        while (after < lexer->end && lexical_is(*after, LEXICAL_DIGIT)) {
            after++;
        }
        if (after > first) {
            at = after;
            kind = TOKEN_DOUBLE;
        } else if (at > lexer->at && at[-1] == '.') {
            at--;
            kind = TOKEN_INTEGER;
        }
    }
    const struct slice value = between(lexer->at, at);
    lexer->at = at;
    return finish(lexer, kind, value);
}

/* Name characters from at, dots inside included; a dot at the end is not part of it. */
static const char *
name_end(const struct lexer *lexer, const char *at)
{
    const char *end = at;
    while (at < lexer->end) {
        const int length = *at == '.' ? 1 : lexical_name_length(at, lexer->end);
        if (!length) {
            break;
        }
        at += length;
        if (at[-1] != '.') {
            end = at;
        }
    }
    return end;
}

/* Length of a letter, digit or "_" (VARNAME's first character; also of PN_CHARS_U). */
static int
start_length(const struct lexer *lexer, const char *at, bool digits)
{
    if (at >= lexer->end) {
        return 0;
    }
    if ((unsigned char)*at < 0x80) {
        return lexical_is(*at, LEXICAL_NAME_START) || (digits && lexical_is(*at, LEXICAL_DIGIT));
    }
    int length;
    return lexical_name_start(lexical_decode(at, &length)) ? length : 0;
}

static enum status
read_variable(struct lexer *lexer)
{
    const char *at = lexer->at + 1;
    int length = start_length(lexer, at, true);
    while (length) {
        at += length;
        length = 0;
        if (at < lexer->end && *at != '-') {
            length = lexical_name_length(at, lexer->end);
        }
    }
    const struct slice value = between(lexer->at + 1, at);
    lexer->at = at;
    return finish(lexer, TOKEN_VARIABLE, value);
}

static enum status
read_blank(struct lexer *lexer)
{
    const char *at = lexer->at + 2;
    const int length = start_length(lexer, at, true);
    if (!length) {
        return lexer_fail(lexer, at, "expected a blank node label after '_:'");
    }
    const char *end = name_end(lexer, at + length);
    end = end < at + length ? at + length : end;
    const struct slice value = between(at, end);
    lexer->at = end;
    return finish(lexer, TOKEN_BLANK, value);
}

static enum status
read_language(struct lexer *lexer)
{
    const char *at = lexer->at + 1;
    while (at < lexer->end && (lexical_is(*at, LEXICAL_LETTER | LEXICAL_DIGIT) || *at == '-')) {
        at++;
    }
    const struct slice tag = between(lexer->at + 1, at);
    if (!lexical_language_valid(tag)) {
        return lexer_fail(lexer, lexer->at, "expected a language tag after '@'");
    }
    char *lower = arena_alloc(lexer->arena, tag.length + 1);
    if (!lower) {
        return status_fail(lexer->why, STATUS_LIMIT, "the query is too large");
    }
    lexical_lower(tag, lower);
    lexer->at = at;
    return finish(lexer, TOKEN_LANGUAGE, slice_of(lower, tag.length));
}

/* The local part of a prefixed name: characters, ':', %XX and escaped punctuation. */
static enum status
read_local(struct lexer *lexer, const char *from)
{
    static const char escapable[] = "_~.-!$&'()*+,;=/?#@%";
    const char *at = from, *end = from;
    bool escaped = false;
    while (at < lexer->end) {
        int length = 0;
        if (*at == '\\') {
            if (at + 1 >= lexer->end || !at[1] || !strchr(escapable, at[1])) {
                return lexer_fail(lexer, at, "a bad escape in a prefixed name");
            }
            escaped = true;
            length = 2;
        } else if (*at == '%') {
            if (lexer->end - at < 3 || !lexical_is(at[1], LEXICAL_HEX) ||
                !lexical_is(at[2], LEXICAL_HEX)) {
                return lexer_fail(lexer, at, "expected two hexadecimal digits after '%%'");
            }
            length = 3;
        } else if (*at == ':') {
            length = 1;
        } else if (at == from) {
            length = start_length(lexer, at, true);
        } else {
            length = *at == '.' ? 1 : lexical_name_length(at, lexer->end);
        }
        if (!length) {
            break;
        }
        at += length;
        if (at[-1] != '.' || length == 2) {
            end = at;
        }
    }
    struct slice value = between(from, end);
    if (escaped) {
        char *to = arena_alloc(lexer->arena, value.length + 1);
        size_t length = 0;
        if (!to) {
            return status_fail(lexer->why, STATUS_LIMIT, "the query is too large");
        }
        for (const char *c = from; c < end; c++) {
            c += *c == '\\';
            to[length++] = *c;
        }
        value = slice_of(to, length);
    }
    lexer->at = end;
    return finish(lexer, TOKEN_NAME, value);
}

/* A word or a prefixed name. */
static enum status
read_word(struct lexer *lexer)
{
    const char *at = lexer->at;
    const int first = *at == ':' ? 0 : start_length(lexer, at, false);
    const char *end = first ? name_end(lexer, at + first) : at;
    end = first && end < at + first ? at + first : end;
    if (end < lexer->end && *end == ':' && !(first && *at == '_')) {
        lexer->token.prefix = between(at, end);
        return read_local(lexer, end + 1);
    }
    if (!first) {
        return lexer_fail(lexer, at, "a character that SPARQL does not have here");
    }
    for (end = at;
         end < lexer->end && (lexical_is(*end, LEXICAL_LETTER | LEXICAL_DIGIT) || *end == '_');) {
        end++;
    }
    if (end == at) {
        return lexer_fail(lexer, at, "expected a keyword or a prefixed name");
    }
    lexer->at = end;
    return finish(lexer, TOKEN_WORD, between(at, end));
}

static enum status
read_sign(struct lexer *lexer)
{
    static const char *const doubles[] = {"^^", "&&", "||", "!=", "<=", ">="};
    const char *at = lexer->at;
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
        if (lexer->end - at >= 2 && memcmp(at, doubles[i], 2) == 0) {
            lexer->at += 2;
            return finish(lexer, TOKEN_SIGN, slice_of(at, 2));
        }
    }
    if ((*at == '(' || *at == '[')) {
        const char *after = at + 1;
        while (after < lexer->end && lexical_is(*after, LEXICAL_SPACE)) {
            after++;
        }
        if (after < lexer->end && *after == (*at == '(' ? ')' : ']')) {
            lexer->at = after + 1;
            return finish(lexer, *at == '(' ? TOKEN_NIL : TOKEN_ANON, slice_of(at, 0));
        }
    }
    if (!*at || !strchr("(){}[].,;=!<>+-*/|^?", *at)) {
        return read_word(lexer);
    }
    lexer->at++;
    return finish(lexer, TOKEN_SIGN, slice_of(at, 1));
}

enum status
lexer_next(struct lexer *lexer)
{
    skip_space(lexer);
    const char *at = lexer->at;
    lexer->token = (struct token){.text = slice_of(at, 0)};
    if (at == lexer->end) {
        return finish(lexer, TOKEN_END, slice_of(at, 0));
    }
    const bool more = lexer->end - at >= 2;
    if (*at == '<' && read_iri(lexer)) {
        return STATUS_OK;
    }
    if (*at == '"' || *at == '\'') {
        return read_string(lexer);
    }
    if (lexical_is(*at, LEXICAL_DIGIT) ||
        (*at == '.' && more && lexical_is(at[1], LEXICAL_DIGIT))) {
        return read_number(lexer);
    }
    if ((*at == '?' || *at == '$') && start_length(lexer, at + 1, true)) {
        return read_variable(lexer);
    }
    if (*at == '_' && more && at[1] == ':') {
        return read_blank(lexer);
    }
    if (*at == '@') {
        return read_language(lexer);
    }
    return read_sign(lexer);
}

enum status
lexer_open(struct lexer *lexer, struct slice text, struct arena *arena, struct reason *why)
{
    *lexer = (struct lexer){
        .arena = arena, .start = text.at, .at = text.at, .end = text.at + text.length, .why = why};
    return lexer_next(lexer);
}
