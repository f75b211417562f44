/* The syntaxes of RDF that are text, told by their first statements. */
#include "detection/detect.h"
#include "detection/text_cursor.h"

static void
skip_blanks_and_comments(struct cursor *cursor)
{
    for (cursor_skip_space(cursor); cursor_peek(cursor, 0) == '#'; cursor_skip_space(cursor)) {
        cursor_skip_line(cursor);
    }
}

/* <...> without blanks. */
static bool
read_iri(struct cursor *cursor, struct slice *iri)
{
    if (cursor_peek(cursor, 0) != '<') {
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
    if (cursor_peek(cursor, 0) != '_' || cursor_peek(cursor, 1) != ':') {
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
    const bool is_long = cursor_peek(cursor, 1) == quote && cursor_peek(cursor, 2) == quote;
    cursor->at += is_long ? 3 : 1;
    while (cursor->at < cursor->end) {
        const char c = *cursor->at;
        if (c == '\\') {
            cursor->at += 2;
        } else if (c == quote && (!is_long || (cursor_peek(cursor, 1) == quote &&
                                               cursor_peek(cursor, 2) == quote))) {
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
    while (cursor_peek(cursor, 0) == ' ' || cursor_peek(cursor, 0) == '\t') {
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
    if (cursor_peek(line, 0) == '"') {
        if (cursor_peek(line, 1) == '"' && cursor_peek(line, 2) == '"') {
            return 0;
        }
        if (!skip_string(line)) {
            return 0;
        }
        if (cursor_peek(line, 0) == '@') {
            while (line->at < line->end && !is_space(*line->at) && *line->at != '<' &&
                   *line->at != '.') {
                line->at++;
            }
        } else if (cursor_peek(line, 0) == '^' && cursor_peek(line, 1) == '^') {
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
    if (cursor_peek(line, 0) != '.') {
        return terms == 3 && line->at > line->end - 1 ? 0 : line->at[-1] == '.' ? terms : 0;
    }
    line->at++;
    skip_inline(line);
    const char rest = cursor_peek(line, 0);
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
        cursor_skip_space(&line);
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
    at.at += cursor_peek(&at, 0) == '@';
    const bool prefix = cursor_at_nocase(&at, "prefix");
    if (!prefix && !cursor_at_nocase(&at, "base")) {
        return false;
    }
    at.at += prefix ? 6 : 4;
    if (!is_space(cursor_peek(&at, 0)) && cursor_peek(&at, 0) != '<' &&
        cursor_peek(&at, 0) != ':') {
        return false;
    }
    skip_blanks_and_comments(&at);
    if (prefix) {
        while (at.at < at.end && !is_space(*at.at) && *at.at != ':' && *at.at != '<') {
            at.at++;
        }
        if (cursor_peek(&at, 0) != ':') {
            return false;
        }
        at.at++;
        skip_blanks_and_comments(&at);
    }
    if (!read_iri(&at, &iri)) {
        return false;
    }
    skip_blanks_and_comments(&at);
    at.at += cursor_peek(&at, 0) == '.';
    *cursor = at;
    return true;
}

/* Tells where in a statement the reader of blocks stands. */
struct block_scan {
    struct cursor cursor;
    unsigned terms;    /* of the statement so far */
    unsigned brackets; /* [ and ( that are open */
    bool graph;        /* a { was seen where TriG has one */
    bool closed;       /* the latest token was } */
    bool keyword;      /* GRAPH was seen: no N3 */
};

/* One token outside of IRIs, strings and comments. True: it is one of N3 alone. */
static bool
read_punctuation(struct block_scan *scan)
{
    struct cursor *cursor = &scan->cursor;
    const char c = *cursor->at, next = cursor_peek(cursor, 1);
    const bool closed = scan->closed;
    scan->closed = c == '}';
    if ((c == '{' && next == '|') || (c == '|' && next == '}')) {
        cursor->at += 2; /* an annotation of RDF 1.2 */
        return false;
    }
    if ((c == '=' && (next == '>' || is_space(next))) || (c == '<' && next == '=')) {
        return true;
    }
    cursor->at++;
    switch (c) {
    case '{':
        scan->graph = true;
        if (scan->terms >= 2 || scan->brackets > 0) {
            return true;
        }
        scan->terms = 0;
        break;
    case '}':
    case '.':
        /* "{ } ." ends a statement whose subject is a formula. */
        scan->terms = 0;
        return c == '.' && closed && !scan->keyword &&
               (is_space(cursor_peek(cursor, 0)) || cursor->at >= cursor->end);
    case ';':
        scan->terms = 1;
        break;
    case ',':
        scan->terms = 2;
        break;
    case '[':
    case '(':
        scan->brackets++;
        break;
    case ']':
    case ')':
        scan->terms += scan->brackets == 1;
        scan->brackets -= scan->brackets > 0;
        break;
    case '^': /* of a datatype, which belongs to the literal before */
        scan->terms -= scan->terms > 0 && next == '^';
        cursor->at += next == '^';
        break;
    default:
        break;
    }
    return false;
}

static bool
is_word(char c)
{
    return is_letter(c) || is_digit(c) || (unsigned char)c >= 0x80 || strchr("_:-%\\@?+", c);
}

/* A name, number, keyword or language tag. True: it is a keyword of N3 alone. */
static bool
read_word(struct block_scan *scan)
{
    static const char *const keywords[] = {"@forAll", "@forSome", "@keywords"};
    struct cursor *cursor = &scan->cursor;
    scan->closed = false;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        if (cursor_at(cursor, keywords[i])) {
            return true;
        }
    }
    const bool is_graph = scan->terms == 0 && cursor_at_nocase(cursor, "GRAPH ");
    const bool counts = *cursor->at != '@' && !is_graph;
    scan->keyword |= is_graph;
    while (cursor->at < cursor->end &&
           (is_word(*cursor->at) || (*cursor->at == '.' && is_word(cursor_peek(cursor, 1))))) {
        cursor->at += *cursor->at == '\\' && cursor->end - cursor->at > 1 ? 2 : 1;
    }
    scan->terms += counts && scan->brackets == 0;
    return false;
}

/* The syntax by what stands where braces are allowed: TriG has them behind no term or one. */
static const char *
syntax_by_blocks(struct cursor cursor)
{
    struct block_scan scan = {.cursor = cursor};
    struct slice iri;
    while (scan.cursor.at < scan.cursor.end) {
        const char c = *scan.cursor.at;
        if (is_space(c)) {
            scan.cursor.at++;
        } else if (c == '#') {
            cursor_skip_line(&scan.cursor);
        } else if (c == '"' || c == '\'') {
            if (!skip_string(&scan.cursor)) {
                break;
            }
            scan.terms += scan.brackets == 0;
            scan.closed = false;
        } else if (c == '<' && read_iri(&scan.cursor, &iri)) {
            scan.terms += scan.brackets == 0;
            scan.closed = false;
        } else if (is_word(c) ? read_word(&scan) : read_punctuation(&scan)) {
            return "text/n3";
        }
    }
    return scan.graph ? "application/trig" : "text/turtle";
}

static bool
is_query(const struct cursor *cursor)
{
    static const char *const verbs[] = {"select", "construct", "ask",  "describe",
                                        "insert", "delete",    "load", "clear"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (cursor_at_nocase(cursor, verbs[i])) {
            const char next = cursor_peek(cursor, strlen(verbs[i]));
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
    if (cursor_peek(&cursor, 0) == '{') { /* the default graph of TriG */
        cursor.at++;
        skip_blanks_and_comments(&cursor);
    }
    if (read_iri(&cursor, &iri)) {
        bool iri_like = iri.length == 0;
        for (size_t i = 0; i < iri.length; i++) {
            iri_like |= strchr(":/#.", iri.at[i]) != NULL;
        }
        if (!iri_like) {
            return false;
        }
    } else if (cursor_peek(&cursor, 0) == '[' && cursor_peek(&cursor, 1) == ']') {
        cursor.at += 2;
    } else if (!read_blank_node(&cursor)) {
        return false;
    }
    skip_blanks_and_comments(&cursor);
    if (cursor_peek(&cursor, 0) == 'a' &&
        (is_space(cursor_peek(&cursor, 1)) || cursor_peek(&cursor, 1) == '<')) {
        return true;
    }
    return (read_iri(&cursor, &iri) && is_absolute(iri)) || cursor_peek(&cursor, 0) == '{';
}

/* "@forAll", "@keywords", or a formula and an arrow: "{ … } =>". */
static bool
begins_with_n3(const struct cursor *cursor)
{
    if (cursor_at(cursor, "@forAll ") || cursor_at(cursor, "@forSome ") ||
        cursor_at(cursor, "@keywords ")) {
        return true;
    }
    const size_t left = (size_t)(cursor->end - cursor->at);
    return cursor_peek(cursor, 0) == '{' && memmem(cursor->at, left, "} =>", 4) != NULL &&
           strcmp(syntax_by_blocks(*cursor), "text/n3") == 0;
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
    const bool graph = cursor_at_nocase(&cursor, "GRAPH") && is_space(cursor_peek(&cursor, 5));
    if (!directives && !graph && !begins_with_n3(&cursor) && !begins_with_triple(cursor)) {
        return NULL;
    }
    return syntax_by_blocks(cursor);
}
