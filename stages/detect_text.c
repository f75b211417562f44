/* Sniffing of text: HTML, JSON, and the syntaxes of RDF that are not XML. */
#include "stages/detect.h"

#include <stdint.h>
#include <strings.h>

struct cursor {
    const char *at, *end;
};

static bool
is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

static bool
is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char
peek(const struct cursor *cursor, size_t ahead)
{
    return (size_t)(cursor->end - cursor->at) > ahead ? cursor->at[ahead] : 0;
}

static void
skip_space(struct cursor *cursor)
{
    while (cursor->at < cursor->end && is_space(*cursor->at)) {
        cursor->at++;
    }
}

static void
skip_line(struct cursor *cursor)
{
    const char *newline = memchr(cursor->at, '\n', (size_t)(cursor->end - cursor->at));
    cursor->at = newline ? newline + 1 : cursor->end;
}

static bool
word_nocase(const struct cursor *cursor, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(cursor->end - cursor->at) >= n && strncasecmp(cursor->at, word, n) == 0;
}

/* ---- HTML: https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type */

const char *
detect_html(struct slice text)
{
    static const char *const starts[] = {
        "<!DOCTYPE HTML", "<HTML", "<HEAD",  "<SCRIPT", "<IFRAME", "<H1",   "<DIV", "<FONT",
        "<TABLE",         "<A",    "<STYLE", "<TITLE",  "<B",      "<BODY", "<BR",  "<P"};
    struct cursor cursor = {text.at, text.at + text.length};
    while (peek(&cursor, 0) == 0 && cursor.at < cursor.end) {
        cursor.at++; /* what a broken program left before the page */
    }
    for (;;) {
        skip_space(&cursor);
        if (!word_nocase(&cursor, "<!--")) {
            break;
        }
        const char *close = memmem(cursor.at, (size_t)(cursor.end - cursor.at), "-->", 3);
        if (!close) {
            return "text/html";
        }
        cursor.at = close + 3;
    }
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (word_nocase(&cursor, starts[i])) {
            const char next = peek(&cursor, strlen(starts[i]));
            if (next == ' ' || next == '>' || next == '\n' || next == '\t' || next == '\r') {
                return "text/html";
            }
        }
    }
    return NULL;
}

/* ---- JSON ---- */

/* Checks JSON by its tokens: a stack of bits says what is open, an object's or an array's. */
struct json_scan {
    struct cursor cursor;
    uint64_t objects; /* bit 0: the innermost open one is an object */
    unsigned depth;
};

enum json_verdict { JSON_BROKEN, JSON_WHOLE, JSON_CUT };
enum { JSON_DEPTH = 64 };

/* A string, number or word. */
static enum json_verdict
json_scalar(struct cursor *cursor)
{
    static const char *const words[] = {"true", "false", "null"};
    const char first = peek(cursor, 0);
    if (first == '"') {
        const char *at = cursor->at + 1;
        while (at < cursor->end && *at != '"') {
            at += *at == '\\' ? 2 : 1;
        }
        cursor->at = at < cursor->end ? at + 1 : cursor->end;
        return at < cursor->end ? JSON_WHOLE : JSON_CUT;
    }
    if (first == '-' || is_digit(first)) {
        while (cursor->at < cursor->end &&
               (is_digit(*cursor->at) || strchr("+-.eE", *cursor->at))) {
            cursor->at++;
        }
        return JSON_WHOLE;
    }
    for (size_t i = 0; i < 3; i++) {
        const size_t n = strlen(words[i]), left = (size_t)(cursor->end - cursor->at);
        if (memcmp(cursor->at, words[i], left < n ? left : n) == 0) {
            cursor->at += left < n ? left : n;
            return left < n ? JSON_CUT : JSON_WHOLE;
        }
    }
    return JSON_BROKEN;
}

/* What stands between a value and the next: commas and closing brackets; in objects also the
 * next key and its colon. */
static enum json_verdict
json_after_value(struct json_scan *scan, bool first)
{
    struct cursor *cursor = &scan->cursor;
    for (;; first = false) {
        if (scan->depth == 0) {
            return JSON_WHOLE;
        }
        skip_space(cursor);
        const bool object = scan->objects & 1;
        const char next = peek(cursor, 0);
        if (cursor->at >= cursor->end) {
            return JSON_CUT;
        }
        if (next == (object ? '}' : ']')) {
            cursor->at++;
            scan->objects >>= 1;
            scan->depth--;
            continue;
        }
        if (!first) {
            if (next != ',') {
                return JSON_BROKEN;
            }
            cursor->at++;
            skip_space(cursor);
        }
        if (!object) {
            return JSON_WHOLE;
        }
        if (cursor->at < cursor->end && peek(cursor, 0) != '"') {
            return JSON_BROKEN;
        }
        if (cursor->at >= cursor->end || json_scalar(cursor) == JSON_CUT) {
            return JSON_CUT;
        }
        skip_space(cursor);
        if (cursor->at < cursor->end && *cursor->at != ':') {
            return JSON_BROKEN;
        }
        cursor->at += cursor->at < cursor->end;
        return JSON_WHOLE;
    }
}

/* One value from the cursor on. */
static enum json_verdict
json_value(struct json_scan *scan)
{
    struct cursor *cursor = &scan->cursor;
    do {
        skip_space(cursor);
        const char next = peek(cursor, 0);
        if (cursor->at >= cursor->end) {
            return JSON_CUT;
        }
        const bool opens = next == '{' || next == '[';
        if (opens && scan->depth == JSON_DEPTH) {
            return JSON_CUT; /* deep enough to be believed */
        }
        enum json_verdict verdict = JSON_WHOLE;
        if (opens) {
            cursor->at++;
            scan->depth++;
            scan->objects = scan->objects << 1 | (next == '{');
        } else {
            verdict = json_scalar(cursor);
        }
        if (verdict == JSON_WHOLE) {
            verdict = json_after_value(scan, opens);
        }
        if (verdict != JSON_WHOLE) {
            return verdict;
        }
    } while (scan->depth > 0);
    return JSON_WHOLE;
}

const char *
detect_json(struct slice text)
{
    static const char *const keywords[] = {"\"@context\"", "\"@graph\"", "\"@id\"", "\"@type\""};
    struct json_scan scan = {.cursor = {text.at, text.at + text.length}};
    skip_space(&scan.cursor);
    const char open = peek(&scan.cursor, 0);
    if (open != '{' && open != '[') {
        return NULL;
    }
    /* JSON-LD of the web is often not quite JSON, so its keywords are enough. */
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        const char *found = memmem(text.at, text.length, keywords[i], strlen(keywords[i]));
        struct cursor after = {found ? found + strlen(keywords[i]) : NULL, scan.cursor.end};
        if (found) {
            skip_space(&after);
        }
        if (found && peek(&after, 0) == ':') {
            return "application/ld+json";
        }
    }
    const enum json_verdict verdict = json_value(&scan);
    if (verdict == JSON_BROKEN) {
        return NULL;
    }
    const char *ended = scan.cursor.at;
    skip_space(&scan.cursor);
    if (verdict == JSON_CUT || scan.cursor.at >= scan.cursor.end) {
        return "application/json";
    }
    const bool next_line = memchr(ended, '\n', (size_t)(scan.cursor.at - ended)) != NULL;
    return next_line && json_value(&scan) != JSON_BROKEN ? "application/x-ndjson" : NULL;
}

/* ---- RDF ---- */

static void
skip_blanks_and_comments(struct cursor *cursor)
{
    for (skip_space(cursor); peek(cursor, 0) == '#'; skip_space(cursor)) {
        skip_line(cursor);
    }
}

/* <...> without blanks. */
static bool
read_iri(struct cursor *cursor, struct slice *iri)
{
    if (peek(cursor, 0) != '<') {
        return false;
    }
    const char *at = cursor->at + 1;
    while (at < cursor->end && *at != '>' && *at != '<' && *at != '"' && !is_space(*at)) {
        at++;
    }
    if (at >= cursor->end || *at != '>') {
        return false;
    }
    *iri = slice_of(cursor->at + 1, (size_t)(at - cursor->at - 1));
    cursor->at = at + 1;
    return true;
}

static bool
read_blank_node(struct cursor *cursor)
{
    if (peek(cursor, 0) != '_' || peek(cursor, 1) != ':') {
        return false;
    }
    cursor->at += 2;
    while (cursor->at < cursor->end && !is_space(*cursor->at) && *cursor->at != '<' &&
           *cursor->at != '"') {
        cursor->at++;
    }
    return true;
}

/* A string in quotes, long form included; at stands on the quote. */
static bool
skip_string(struct cursor *cursor)
{
    const char quote = *cursor->at;
    const bool is_long = peek(cursor, 1) == quote && peek(cursor, 2) == quote;
    cursor->at += is_long ? 3 : 1;
    while (cursor->at < cursor->end) {
        const char c = *cursor->at;
        if (c == '\\') {
            cursor->at += 2;
        } else if (c == quote &&
                   (!is_long || (peek(cursor, 1) == quote && peek(cursor, 2) == quote))) {
            cursor->at += is_long ? 3 : 1;
            return cursor->at <= cursor->end;
        } else if (c == '\n' && !is_long) {
            return false;
        } else {
            cursor->at++;
        }
    }
    return false;
}

static bool
is_absolute(struct slice iri)
{
    size_t i = 0;
    while (i < iri.length && (is_letter(iri.at[i]) || is_digit(iri.at[i]) || iri.at[i] == '+' ||
                              iri.at[i] == '-' || iri.at[i] == '.')) {
        i++;
    }
    return i > 0 && i < iri.length && iri.at[i] == ':' && is_letter(iri.at[0]);
}

static void
skip_inline(struct cursor *cursor)
{
    while (peek(cursor, 0) == ' ' || peek(cursor, 0) == '\t') {
        cursor->at++;
    }
}

/* One line of N-Triples (3) or N-Quads (4); 0: it is neither. */
static int
read_statement_line(struct cursor *line)
{
    struct slice iri;
    if (!read_blank_node(line) && (!read_iri(line, &iri) || !is_absolute(iri))) {
        return 0;
    }
    skip_inline(line);
    if (!read_iri(line, &iri) || !is_absolute(iri)) {
        return 0;
    }
    skip_inline(line);
    if (peek(line, 0) == '"') {
        if (peek(line, 1) == '"' && peek(line, 2) == '"') {
            return 0;
        }
        if (!skip_string(line)) {
            return 0;
        }
        if (peek(line, 0) == '@') {
            while (line->at < line->end && !is_space(*line->at) && *line->at != '<' &&
                   *line->at != '.') {
                line->at++;
            }
        } else if (peek(line, 0) == '^' && peek(line, 1) == '^') {
            line->at += 2;
            if (!read_iri(line, &iri) || !is_absolute(iri)) {
                return 0;
            }
        }
    } else if (!read_blank_node(line) && (!read_iri(line, &iri) || !is_absolute(iri))) {
        return 0;
    }
    skip_inline(line);
    int terms = 3;
    if (read_blank_node(line) || read_iri(line, &iri)) {
        terms = 4;
        skip_inline(line);
    }
    if (peek(line, 0) != '.') {
        return terms == 3 && line->at > line->end - 1 ? 0 : line->at[-1] == '.' ? terms : 0;
    }
    line->at++;
    skip_inline(line);
    const char rest = peek(line, 0);
    return rest == 0 || rest == '#' || rest == '\r' ? terms : 0;
}

/* Every line is a statement, blank or a comment. The last may be cut off. */
static const char *
statement_lines(struct slice text, bool complete)
{
    struct cursor cursor = {text.at, text.at + text.length};
    size_t good = 0;
    int terms = 3;
    while (cursor.at < cursor.end) {
        const char *newline = memchr(cursor.at, '\n', (size_t)(cursor.end - cursor.at));
        struct cursor line = {cursor.at, newline ? newline : cursor.end};
        cursor.at = newline ? newline + 1 : cursor.end;
        skip_space(&line);
        if (line.at >= line.end || *line.at == '#') {
            continue;
        }
        const int found = read_statement_line(&line);
        if (found == 0) {
            if (!newline && !complete) {
                break;
            }
            return NULL;
        }
        terms = found > terms ? found : terms;
        good++;
    }
    if (good == 0) {
        return NULL;
    }
    return terms == 4 ? "application/n-quads" : "application/n-triples";
}

/* "@prefix p: <iri>", "PREFIX p: <iri>", "@base <iri>", "BASE <iri>". */
static bool
read_directive(struct cursor *cursor)
{
    struct cursor at = *cursor;
    struct slice iri;
    at.at += peek(&at, 0) == '@';
    const bool prefix = word_nocase(&at, "prefix");
    if (!prefix && !word_nocase(&at, "base")) {
        return false;
    }
    at.at += prefix ? 6 : 4;
    if (!is_space(peek(&at, 0)) && peek(&at, 0) != '<' && peek(&at, 0) != ':') {
        return false;
    }
    skip_blanks_and_comments(&at);
    if (prefix) {
        while (at.at < at.end && !is_space(*at.at) && *at.at != ':' && *at.at != '<') {
            at.at++;
        }
        if (peek(&at, 0) != ':') {
            return false;
        }
        at.at++;
        skip_blanks_and_comments(&at);
    }
    if (!read_iri(&at, &iri)) {
        return false;
    }
    skip_blanks_and_comments(&at);
    at.at += peek(&at, 0) == '.';
    *cursor = at;
    return true;
}

/* An opening brace outside of strings, IRIs and comments. */
static bool
has_graph_block(struct cursor cursor)
{
    struct slice iri;
    while (cursor.at < cursor.end) {
        const char c = *cursor.at;
        if (c == '{') {
            return true;
        }
        if (c == '#') {
            skip_line(&cursor);
        } else if (c == '"' || c == '\'') {
            if (!skip_string(&cursor)) {
                return false;
            }
        } else if (c != '<' || !read_iri(&cursor, &iri)) {
            cursor.at++;
        }
    }
    return false;
}

static bool
is_query(const struct cursor *cursor)
{
    static const char *const verbs[] = {"select", "construct", "ask",  "describe",
                                        "insert", "delete",    "load", "clear"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (word_nocase(cursor, verbs[i])) {
            const char next = peek(cursor, strlen(verbs[i]));
            if (is_space(next) || next == '{' || next == '*') {
                return true;
            }
        }
    }
    return false;
}

/* Without a directive: "<iri> verb", where the verb is an IRI, "a" or a name with a prefix. */
static bool
begins_with_triple(struct cursor cursor)
{
    struct slice iri;
    if (read_iri(&cursor, &iri)) {
        bool iri_like = iri.length == 0;
        for (size_t i = 0; i < iri.length; i++) {
            iri_like |= strchr(":/#.", iri.at[i]) != NULL;
        }
        if (!iri_like) {
            return false;
        }
    } else if (peek(&cursor, 0) == '[' && peek(&cursor, 1) == ']') {
        cursor.at += 2;
    } else if (!read_blank_node(&cursor)) {
        return false;
    }
    skip_blanks_and_comments(&cursor);
    if (peek(&cursor, 0) == 'a' && (is_space(peek(&cursor, 1)) || peek(&cursor, 1) == '<')) {
        return true;
    }
    return (read_iri(&cursor, &iri) && is_absolute(iri)) || peek(&cursor, 0) == '{';
}

const char *
detect_rdf_text(struct slice text, bool complete)
{
    const char *lines = statement_lines(text, complete);
    if (lines) {
        return lines;
    }
    struct cursor cursor = {text.at, text.at + text.length};
    skip_blanks_and_comments(&cursor);
    bool directives = false;
    while (read_directive(&cursor)) {
        directives = true;
        skip_blanks_and_comments(&cursor);
    }
    if (directives && is_query(&cursor)) {
        return "application/sparql-query";
    }
    const bool graph = word_nocase(&cursor, "GRAPH") && is_space(peek(&cursor, 5));
    if (!directives && !graph && !begins_with_triple(cursor)) {
        return NULL;
    }
    return has_graph_block(cursor) ? "application/trig" : "text/turtle";
}
