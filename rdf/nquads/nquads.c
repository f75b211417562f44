/* N-Quads by lines.
 *
 * The input is cut at its last newline, so every line that is parsed ends in one; an
 * unfinished last line waits in `rest`, and at the end gets a newline of its own. As the
 * newline is in the stop class of every terminal, scanning needs no check for the end.
 * Terms are slices of the line. A term with escapes is decoded into `decoded`, which is
 * made as long as the line (decoding never lengthens), once for the line: it does not move
 * while the quad is in use.
 */
#include "rdf/nquads/nquads.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/memory.h"
#include "rdf/core/lexical.h"
#include "rdf/core/problem.h"
#include "rdf/core/scan.h"
#include "rdf/core/vocabulary.h"

enum { READ_SIZE = 256 << 10 };

struct nquads_reader {
    struct problems problems;
    struct quad_sink sink;
    size_t line_size; /* maximum */
    bool triples_only;
    bool skipping; /* inside a line that is too long */
    struct buf rest;
    uint64_t line;     /* number of the line being parsed */
    const char *start; /* of that line */
    const char *at;    /* next byte */
    const char *end;   /* of the lines */
    const char *fault; /* where an error is */
    const char *message;
    char *decoded;
    size_t decoded_size;
    char *decode_at; /* free part of decoded; NULL: not yet set up for this line */
};

static bool
fail(struct nquads_reader *reader, const char *at, const char *message)
{
    reader->fault = at;
    reader->message = message;
    return false;
}

static inline void
skip_blanks(struct nquads_reader *reader)
{
    while (*reader->at == ' ' || *reader->at == '\t') {
        reader->at++;
    }
}

/* Room for the decoded form of anything in this line. */
static char *
decode_room(struct nquads_reader *reader)
{
    if (reader->decode_at == NULL) {
        const char *end = reader->at;
        while (*end != '\n' && *end != '\r') {
            end++;
        }
        const size_t needed = (size_t)(end - reader->start);
        if (needed > reader->decoded_size) {
            reader->decoded_size = needed * 2;
            reader->decoded = memory_resize(reader->decoded, reader->decoded_size, 1);
        }
        reader->decode_at = reader->decoded;
    }
    return reader->decode_at;
}

/* The rest of an IRIREF with escapes; start is behind '<'. */
static bool
read_escaped_iri(struct nquads_reader *reader, const char *start, struct slice *iri)
{
    const char *end = start;
    while (!lexical_is(*end, LEXICAL_IRI_STOP) || *end == '\\') {
        end++;
    }
    if (*end != '>') {
        return fail(reader, end, "character not allowed in an IRI");
    }
    char *to = decode_room(reader);
    if (!lexical_unescape_iri(slice_of(start, (size_t)(end - start)), to, &iri->length)) {
        return fail(reader, start, "bad escape in an IRI");
    }
    iri->at = to;
    reader->decode_at = to + iri->length;
    reader->at = end + 1;
    return true;
}

static bool
read_iri(struct nquads_reader *reader, struct slice *iri)
{
    const char *start = reader->at + 1;
    unsigned char any = 0;
    const char *at = scan_to(start, reader->end, LEXICAL_IRI_STOP, &any);
    if (*at == '>') {
        *iri = slice_of(start, (size_t)(at - start));
        reader->at = at + 1;
    } else if (*at != '\\') {
        return fail(reader, at, "character not allowed in an IRI");
    } else {
        any = 0x80;
        if (!read_escaped_iri(reader, start, iri)) {
            return false;
        }
    }
    if (any >= 0x80 && !lexical_utf8_valid(iri->at, iri->length)) {
        return fail(reader, start, "IRI is not UTF-8");
    }
    return lexical_has_scheme(*iri) || fail(reader, start, "IRI is not absolute");
}

static bool
read_blank(struct nquads_reader *reader, struct slice *label)
{
    if (reader->at[1] != ':') {
        return fail(reader, reader->at, "expected '_:'");
    }
    const char *start = reader->at + 2;
    const char *end = start;
    while (lexical_is(*end, LEXICAL_NAME) || *end == '.' || (unsigned char)*end >= 0x80) {
        end++;
    }
    const size_t length = lexical_blank_label(start, end);
    if (length == 0) {
        return fail(reader, start, "bad blank node label");
    }
    *label = slice_of(start, length);
    reader->at = start + length;
    return true;
}

static bool
read_string(struct nquads_reader *reader, struct slice *text)
{
    const char *start = reader->at + 1;
    const char *at = start;
    unsigned char any = 0;
    bool escapes = false;
    for (;;) {
        at = scan_to(at, reader->end, LEXICAL_STRING_STOP, &any);
        if (*at == '"') {
            break;
        }
        if (*at != '\\' || at[1] == '\n' || at[1] == '\r') {
            return fail(reader, at, "string does not end on its line");
        }
        escapes = true;
        at += 2;
    }
    *text = slice_of(start, (size_t)(at - start));
    reader->at = at + 1;
    if (any >= 0x80 && !lexical_utf8_valid(text->at, text->length)) {
        return fail(reader, start, "string is not UTF-8");
    }
    if (escapes) {
        const char *bad = NULL;
        char *to = decode_room(reader);
        if (!lexical_unescape_string(*text, to, &text->length, &bad)) {
            return fail(reader, bad, "bad escape in a string");
        }
        text->at = to;
        reader->decode_at = to + text->length;
    }
    return true;
}

static bool
read_language(struct nquads_reader *reader, struct slice *language)
{
    const char *start = ++reader->at;
    bool upper = false;
    while (lexical_is(*reader->at, LEXICAL_LETTER | LEXICAL_DIGIT) || *reader->at == '-') {
        upper |= *reader->at >= 'A' && *reader->at <= 'Z';
        reader->at++;
    }
    *language = slice_of(start, (size_t)(reader->at - start));
    if (!lexical_language_valid(*language)) {
        return fail(reader, start, "bad language tag");
    }
    if (upper) {
        char *to = decode_room(reader);
        lexical_lower(*language, to);
        language->at = to;
        reader->decode_at = to + language->length;
    }
    return true;
}

static bool
read_literal(struct nquads_reader *reader, struct term *term)
{
    term->kind = TERM_LITERAL;
    if (!read_string(reader, &term->value)) {
        return false;
    }
    if (*reader->at == '@') {
        return read_language(reader, &term->language);
    }
    if (*reader->at == '^') {
        if (reader->at[1] != '^' || reader->at[2] != '<') {
            return fail(reader, reader->at, "expected '^^<'");
        }
        reader->at += 2;
        if (!read_iri(reader, &term->datatype)) {
            return false;
        }
        if (slice_is(term->datatype, XSD_STRING)) {
            term->datatype = (struct slice){NULL, 0};
        }
    }
    return true;
}

static bool
read_node(struct nquads_reader *reader, struct term *term, const char *expected)
{
    skip_blanks(reader);
    if (*reader->at == '<') {
        term->kind = TERM_IRI;
        return read_iri(reader, &term->value);
    }
    if (*reader->at == '_') {
        term->kind = TERM_BLANK;
        return read_blank(reader, &term->value);
    }
    return fail(reader, reader->at, expected);
}

static bool
read_statement(struct nquads_reader *reader, struct quad *quad)
{
    if (!read_node(reader, &quad->subject, "expected an IRI or blank node as subject")) {
        return false;
    }
    skip_blanks(reader);
    if (*reader->at != '<') {
        return fail(reader, reader->at, "expected an IRI as predicate");
    }
    quad->predicate.kind = TERM_IRI;
    if (!read_iri(reader, &quad->predicate.value)) {
        return false;
    }
    skip_blanks(reader);
    if (*reader->at == '"' ? !read_literal(reader, &quad->object)
                           : !read_node(reader, &quad->object, "expected an object")) {
        return false;
    }
    skip_blanks(reader);
    if (*reader->at != '.' && !reader->triples_only) {
        if (!read_node(reader, &quad->graph, "expected a graph label or '.'")) {
            return false;
        }
        skip_blanks(reader);
    }
    if (*reader->at != '.') {
        return fail(reader, reader->at, "expected '.'");
    }
    reader->at++;
    return true;
}

/* Blanks and a comment may stand before the end of the line. */
static bool
read_line_end(struct nquads_reader *reader)
{
    skip_blanks(reader);
    if (*reader->at == '#') {
        const char *start = reader->at;
        while (*reader->at != '\n' && *reader->at != '\r') {
            reader->at++;
        }
        if (!lexical_utf8_valid(start, (size_t)(reader->at - start))) {
            return fail(reader, start, "comment is not UTF-8");
        }
    }
    return *reader->at == '\n' || *reader->at == '\r' ||
           fail(reader, reader->at, "expected the end of the line");
}

static enum status
read_line(struct nquads_reader *reader, struct reason *why)
{
    struct quad quad = {0};
    reader->decode_at = NULL;
    skip_blanks(reader);
    const bool statement = *reader->at != '#' && *reader->at != '\n' && *reader->at != '\r';
    if ((statement && !read_statement(reader, &quad)) || !read_line_end(reader)) {
        while (*reader->at != '\n' && *reader->at != '\r') {
            reader->at++;
        }
        return problem_report(&reader->problems, reader->line,
                              (uint64_t)(reader->fault - reader->start) + 1, reader->message, why);
    }
    quad.line = (uint32_t)reader->line;
    return statement ? reader->sink.quad(reader->sink.context, &quad, why) : STATUS_OK;
}

/* Parses whole lines: end[-1] is a line end. */
static enum status
read_lines(struct nquads_reader *reader, const char *at, const char *end, struct reason *why)
{
    reader->at = at;
    reader->end = end;
    while (reader->at < end) {
        const struct slice left = slice_of(reader->at, (size_t)(end - reader->at));
        const struct slice mark = SLICE("\xEF\xBB\xBF"); /* of the byte order */
        reader->at += reader->line == 1 && slice_starts(left, mark) ? mark.length : 0;
        reader->start = reader->at;
        TRY(read_line(reader, why));
        reader->line += *reader->at == '\n' || reader->at + 1 == end || reader->at[1] != '\n';
        reader->at++;
    }
    return STATUS_OK;
}

/* Behind the last line end, or at. A '\r' that a '\n' may follow is not yet an end. */
static const char *
last_line_end(const char *at, size_t length)
{
    const char *newline = memrchr(at, '\n', length);
    const char *from = newline != NULL ? newline + 1 : at;
    const size_t left = (size_t)(at + length - from);
    const char *carriage = left > 1 ? memrchr(from, '\r', left - 1) : NULL;
    return carriage != NULL ? carriage + 1 : from;
}

struct nquads_reader *
nquads_reader_new(const struct parse_options *options, bool triples_only,
                  const struct quad_sink *sink)
{
    struct nquads_reader *reader = memory_new(sizeof *reader);
    problems_init(&reader->problems, options);
    reader->line_size =
        options != NULL && options->term_size > 0 ? options->term_size : (size_t)PARSE_TERM_SIZE;
    reader->triples_only = triples_only;
    reader->sink = *sink;
    reader->line = 1;
    buf_init(&reader->rest, reader->line_size + 1);
    return reader;
}

void
nquads_reader_free(struct nquads_reader *reader)
{
    if (reader != NULL) {
        buf_release(&reader->rest);
        free(reader->decoded);
        free(reader);
    }
}

void
nquads_reader_at_line(struct nquads_reader *reader, uint64_t line)
{
    buf_reset(&reader->rest);
    reader->skipping = false;
    reader->line = line;
}

static enum status
report_long_line(struct nquads_reader *reader, struct reason *why)
{
    buf_reset(&reader->rest);
    reader->skipping = true;
    if (!reader->problems.lenient) {
        return status_fail(why, STATUS_LIMIT, "line %llu is longer than %zu bytes",
                           (unsigned long long)reader->line, reader->line_size);
    }
    return problem_report(&reader->problems, reader->line, 0, "line is too long", why);
}

/* Behind the first line end in piece, or NULL. */
static const char *
first_line_end(struct slice piece)
{
    const char *newline = memchr(piece.at, '\n', piece.length);
    const size_t before = newline != NULL ? (size_t)(newline - piece.at) : piece.length;
    const char *carriage = memchr(piece.at, '\r', before);
    if (carriage == NULL) {
        return newline != NULL ? newline + 1 : NULL;
    }
    if (carriage + 1 == piece.at + piece.length) {
        return NULL;
    }
    return carriage + (carriage[1] == '\n' ? 2 : 1);
}

/* Returns how much of piece belongs to the line that waits in `rest`; *whole: up to its end. When
 * that line ended in '\r', only a '\n' is still its own. */
static size_t
length_of_rest(const struct nquads_reader *reader, struct slice piece, bool *whole)
{
    const struct buf *rest = &reader->rest;
    *whole = true;
    if (rest->length > 0 && rest->data[rest->length - 1] == '\r') {
        return piece.at[0] == '\n' ? 1 : 0;
    }
    const char *end = first_line_end(piece);
    *whole = end != NULL;
    return end != NULL ? (size_t)(end - piece.at) : piece.length;
}

/* Takes what completes the line that waits in `rest` off the front of *piece. */
static enum status
complete_rest(struct nquads_reader *reader, struct slice *piece, struct reason *why)
{
    bool whole;
    const size_t length = length_of_rest(reader, *piece, &whole);
    const struct slice front = slice_of(piece->at, length);
    *piece = slice_of(piece->at + length, piece->length - length);
    if (!reader->skipping && buf_append_slice(&reader->rest, front) != STATUS_OK) {
        TRY(report_long_line(reader, why));
    }
    if (!whole) {
        if (reader->skipping && front.at[length - 1] == '\r') {
            (void)buf_append_char(&reader->rest, '\r');
        }
        return STATUS_OK;
    }
    enum status status = STATUS_OK;
    if (reader->skipping) {
        reader->skipping = false;
        reader->line++;
    } else {
        status =
            read_lines(reader, reader->rest.data, reader->rest.data + reader->rest.length, why);
    }
    buf_reset(&reader->rest);
    return status;
}

enum status
nquads_reader_feed(struct nquads_reader *reader, struct slice piece, struct reason *why)
{
    if (piece.length == 0) {
        return STATUS_OK;
    }
    if (reader->rest.length > 0 || reader->skipping) {
        TRY(complete_rest(reader, &piece, why));
    }
    const char *end = last_line_end(piece.at, piece.length);
    TRY(read_lines(reader, piece.at, end, why));
    const struct slice rest = slice_of(end, piece.length - (size_t)(end - piece.at));
    return buf_append_slice(&reader->rest, rest) == STATUS_OK ? STATUS_OK
                                                              : report_long_line(reader, why);
}

enum status
nquads_reader_finish(struct nquads_reader *reader, struct reason *why)
{
    if (reader->rest.length == 0 || reader->skipping) {
        return STATUS_OK;
    }
    if (reader->rest.data[reader->rest.length - 1] != '\r' &&
        buf_append_char(&reader->rest, '\n') != STATUS_OK) {
        return report_long_line(reader, why);
    }
    const enum status status =
        read_lines(reader, reader->rest.data, reader->rest.data + reader->rest.length, why);
    buf_reset(&reader->rest);
    return status;
}

enum status
nquads_reader_descriptor(struct nquads_reader *reader, int descriptor, struct reason *why)
{
    char *piece = memory_alloc(READ_SIZE);
    enum status status = STATUS_OK;
    while (status == STATUS_OK) {
        const ssize_t n = read(descriptor, piece, READ_SIZE);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            status = status_fail_errno(why, "cannot read quads");
        } else if (n == 0) {
            status = nquads_reader_finish(reader, why);
            break;
        } else {
            status = nquads_reader_feed(reader, slice_of(piece, (size_t)n), why);
        }
    }
    free(piece);
    return status;
}

static enum status
parse(struct slice bytes, const struct parse_options *options, bool triples_only,
      const struct quad_sink *sink, struct reason *why)
{
    struct nquads_reader *reader = nquads_reader_new(options, triples_only, sink);
    enum status status = nquads_reader_feed(reader, bytes, why);
    if (status == STATUS_OK) {
        status = nquads_reader_finish(reader, why);
    }
    nquads_reader_free(reader);
    return status;
}

enum status
nquads_parse(struct slice bytes, const struct parse_options *options, const struct quad_sink *sink,
             struct reason *why)
{
    return parse(bytes, options, false, sink, why);
}

enum status
ntriples_parse(struct slice bytes, const struct parse_options *options,
               const struct quad_sink *sink, struct reason *why)
{
    return parse(bytes, options, true, sink, why);
}
