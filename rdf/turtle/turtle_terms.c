#include <stdlib.h>

#include "base/memory.h"
#include "rdf/core/blank_label.h"
#include "rdf/core/lexical.h"
#include "rdf/core/vocabulary.h"
#include "rdf/turtle/turtle_reader.h"

enum {
    NAMESPACE_SIZE = 64 << 10, /* bytes of a namespace or base: it is multiplied by its uses */
    FIRST_NAMESPACES = 16
};

enum status
turtle_fail(struct turtle_reader *reader, const char *at, const char *message)
{
    reader->fault = at;
    reader->message = message;
    return STATUS_BAD_INPUT;
}

static enum status
too_long(struct turtle_reader *reader)
{
    return status_fail(reader->why, STATUS_LIMIT, "a term is longer than %zu bytes",
                       reader->term_size);
}

void
turtle_skip(struct turtle_reader *reader)
{
    const char *at = reader->at;
    while (at < reader->end) {
        if (lexical_is(*at, LEXICAL_SPACE)) {
            at++;
        } else if (*at == '#') {
            while (at < reader->end && *at != '\n' && *at != '\r') {
                at++;
            }
        } else {
            break;
        }
    }
    reader->at = at;
}

/* ---- IRIs ---- */

static enum status
unescape_iri(struct turtle_reader *reader, struct slice *iri)
{
    char *to = scratch_take(&reader->scratch, iri->length);
    size_t length = 0;
    if (!lexical_unescape_iri(*iri, to, &length)) {
        return turtle_fail(reader, iri->at, "bad escape in an IRI");
    }
    scratch_shorten(&reader->scratch, iri->length - length);
    *iri = slice_of(to, length);
    return STATUS_OK;
}

enum status
turtle_read_iriref(struct turtle_reader *reader, struct slice *iri)
{
    if (turtle_peek(reader) != '<') {
        return turtle_fail(reader, reader->at, "expected an IRI in < >");
    }
    const char *start = reader->at + 1;
    const char *at = start;
    bool escapes = false;
    while (at < reader->end && (!lexical_is(*at, LEXICAL_IRI_STOP) || *at == '\\')) {
        escapes |= *at++ == '\\';
    }
    if (at == reader->end || *at != '>') {
        return turtle_fail(reader, at, "character not allowed in an IRI");
    }
    *iri = slice_of(start, (size_t)(at - start));
    reader->at = at + 1;
    if (iri->length > reader->term_size) {
        return too_long(reader);
    }
    if (!reader->utf8 && !lexical_utf8_valid(iri->at, iri->length)) {
        return turtle_fail(reader, start, "IRI is not UTF-8");
    }
    if (escapes) {
        TRY(unescape_iri(reader, iri));
    }
    if (!iri_base_resolve(&reader->base, iri, &reader->scratch, &reader->resolved)) {
        return turtle_fail(reader, start, "relative IRI where no base is known");
    }
    return STATUS_OK;
}

/* ---- namespaces ---- */

/* The prefix's namespace, or NULL; *hash: under which it stands, or is to stand. */
static struct turtle_namespace *
find_namespace(const struct turtle_reader *reader, struct slice prefix, uint64_t *hash)
{
    *hash = 0;
    for (size_t i = 0; i < prefix.length; i++) {
        *hash = (*hash ^ (unsigned char)prefix.at[i]) * UINT64_C(0x9E3779B97F4A7C15);
    }
    for (;; ++*hash) {
        const uint32_t place = map_get(&reader->namespace_places, *hash);
        if (place == (uint32_t)MAP_NONE) {
            return NULL;
        }
        if (slice_equal(reader->namespaces[place].prefix, prefix)) {
            return &reader->namespaces[place];
        }
    }
}

static struct turtle_namespace *
add_namespace(struct turtle_reader *reader, uint64_t hash)
{
    if (reader->namespace_count == reader->namespace_capacity) {
        reader->namespace_capacity =
            reader->namespace_capacity > 0 ? 2 * reader->namespace_capacity : FIRST_NAMESPACES;
        reader->namespaces = memory_resize(reader->namespaces, reader->namespace_capacity,
                                           sizeof *reader->namespaces);
    }
    map_set(&reader->namespace_places, hash, (uint32_t)reader->namespace_count);
    return &reader->namespaces[reader->namespace_count++];
}

enum status
turtle_set_namespace(struct turtle_reader *reader, struct slice prefix, struct slice iri)
{
    if (iri.length > NAMESPACE_SIZE) {
        return turtle_fail(reader, reader->at, "namespace IRI is too long");
    }
    uint64_t hash;
    struct turtle_namespace *space = find_namespace(reader, prefix, &hash);
    const struct slice copy = arena_copy(&reader->names, iri);
    const struct slice name = space != NULL ? space->prefix : arena_copy(&reader->names, prefix);
    if (copy.at == NULL || name.at == NULL) {
        return status_fail(reader->why, STATUS_LIMIT, "namespaces take more than %zu bytes",
                           reader->names.maximum);
    }
    space = space != NULL ? space : add_namespace(reader, hash);
    *space = (struct turtle_namespace){.prefix = name, .iri = copy};
    reader->recent = NULL;
    return STATUS_OK;
}

enum status
turtle_set_base(struct turtle_reader *reader, struct slice iri)
{
    if (iri.length > NAMESPACE_SIZE) {
        return turtle_fail(reader, reader->at, "base IRI is too long");
    }
    const struct slice copy = arena_copy(&reader->names, iri);
    if (copy.at == NULL) {
        return status_fail(reader->why, STATUS_LIMIT, "base IRIs take more than %zu bytes",
                           reader->names.maximum);
    }
    reader->base = iri_base_of(copy);
    return STATUS_OK;
}

/* ---- prefixed names ---- */

/* Length of PN_PREFIX at `at`; 0 may be the empty prefix. */
static size_t
prefix_length(const char *start, const char *end)
{
    const char *at = start;
    while (at < end && lexical_is(*at, LEXICAL_NAME)) {
        at++;
    }
    int length = 0;
    while (at < end && (*at == '.' || (length = lexical_name_length(at, end)) > 0)) {
        at += *at == '.' ? 1 : length;
    }
    if (at == start) {
        return 0;
    }
    while (at > start && at[-1] == '.') {
        at--;
    }
    length = lexical_name_length(start, end);
    const bool begins =
        length > 0 && *start != '_' && lexical_name_start(lexical_decode(start, &length));
    return begins ? (size_t)(at - start) : 0;
}

enum status
turtle_read_prefix(struct turtle_reader *reader, struct slice *prefix)
{
    *prefix = slice_of(reader->at, prefix_length(reader->at, reader->end));
    reader->at += prefix->length;
    if (turtle_peek(reader) != ':') {
        return turtle_fail(reader, reader->at, "expected a name with a prefix");
    }
    reader->at++;
    return STATUS_OK;
}

/* Length of the escape \c or %HH at `at`, else 0. */
static int
local_escape(const char *at, const char *end)
{
    if (*at == '\\') {
        return end - at > 1 && at[1] != 0 && strchr("_~.-!$&'()*+,;=/?#@%", at[1]) != NULL ? 2 : 0;
    }
    return *at == '%' && end - at > 2 && lexical_is(at[1], LEXICAL_HEX) &&
                   lexical_is(at[2], LEXICAL_HEX)
               ? 3
               : 0;
}

/* Length of PN_LOCAL at `start`, 0 for none; *escapes when a backslash is in it. */
static size_t
local_length(const char *start, const char *end, bool *escapes)
{
    const char *at = start;
    const char *last = start; /* behind what may end a local name */
    if (at < end && *at == '-') {
        return 0;
    }
    while (at < end) {
        if (lexical_is(*at, LEXICAL_NAME) || *at == ':') {
            last = ++at;
            continue;
        }
        if (*at == '.' && at > start) {
            at++;
            continue;
        }
        const bool escape = *at == '\\' || *at == '%';
        int length = escape ? local_escape(at, end) : lexical_name_length(at, end);
        if (length == 0 ||
            (at == start && !escape && !lexical_name_start(lexical_decode(at, &length)))) {
            break;
        }
        *escapes |= *at == '\\';
        at += length;
        last = at;
    }
    return (size_t)(last - start);
}

static struct slice
drop_backslashes(struct scratch *scratch, struct slice text)
{
    char *to = scratch_take(scratch, text.length);
    size_t length = 0;
    for (size_t i = 0; i < text.length; i++) {
        i += text.at[i] == '\\';
        to[length++] = text.at[i];
    }
    return slice_of(to, length);
}

enum status
turtle_read_prefixed(struct turtle_reader *reader, struct slice *iri)
{
    const char *start = reader->at;
    struct slice prefix;
    TRY(turtle_read_prefix(reader, &prefix));
    if (reader->recent == NULL || !slice_equal(reader->recent->prefix, prefix)) {
        uint64_t hash;
        reader->recent = find_namespace(reader, prefix, &hash);
        if (reader->recent == NULL) {
            return turtle_fail(reader, start, "prefix is not declared");
        }
    }
    bool escapes = false;
    struct slice local = slice_of(reader->at, local_length(reader->at, reader->end, &escapes));
    reader->at += local.length;
    if (local.length > reader->term_size) {
        return too_long(reader);
    }
    if (escapes) {
        local = drop_backslashes(&reader->scratch, local);
    }
    *iri = scratch_join(&reader->scratch, reader->recent->iri, local);
    return STATUS_OK;
}

enum status
turtle_read_iri(struct turtle_reader *reader, struct slice *iri)
{
    return turtle_peek(reader) == '<' ? turtle_read_iriref(reader, iri)
                                      : turtle_read_prefixed(reader, iri);
}

enum status
turtle_read_blank(struct turtle_reader *reader, struct slice *label)
{
    const char *start = reader->at + 2; /* the caller saw '_' */
    const size_t length =
        start < reader->end && start[-1] == ':' ? lexical_blank_label(start, reader->end) : 0;
    if (length == 0 || length > reader->term_size) {
        return turtle_fail(reader, reader->at, "bad blank node label");
    }
    *label = blank_label_given(&reader->scratch, slice_of(start, length));
    reader->at = start + length;
    return STATUS_OK;
}

bool
turtle_at_word(const struct turtle_reader *reader, const char *word, bool any_case)
{
    const size_t length = strlen(word);
    const struct slice here = slice_of(reader->at, length);
    if ((size_t)(reader->end - reader->at) < length ||
        !(any_case ? slice_equal_nocase(here, slice_string(word)) : slice_is(here, word))) {
        return false;
    }
    const char *behind = reader->at + length;
    if (*word == '@') {
        return behind == reader->end || lexical_name_length(behind, reader->end) == 0;
    }
    const char *name = reader->at + prefix_length(reader->at, reader->end);
    return behind == reader->end ||
           (*behind != ':' && lexical_name_length(behind, reader->end) == 0 &&
            (name <= behind || name == reader->end || *name != ':'));
}

/* ---- literals ---- */

/* Reads a string from behind the opening quotes to behind the closing ones. */
static enum status
read_quoted(struct turtle_reader *reader, bool is_long, char quote, struct slice *text)
{
    const char *start = reader->at;
    const char *at = start;
    bool escapes = false;
    for (;; at++) {
        while (at < reader->end && *at != quote && *at != '\\' && *at != '\n' && *at != '\r') {
            at++;
        }
        if (at == reader->end || (!is_long && (*at == '\n' || *at == '\r'))) {
            return turtle_fail(reader, start, "string does not end");
        }
        if (*at == '\\') {
            escapes = true;
            at++;
            if (at == reader->end) {
                return turtle_fail(reader, start, "string does not end");
            }
        } else if (*at == quote &&
                   (!is_long || (reader->end - at > 2 && at[1] == quote && at[2] == quote))) {
            break;
        }
    }
    *text = slice_of(start, (size_t)(at - start));
    reader->at = at + (is_long ? 3 : 1);
    if (text->length > reader->term_size) {
        return too_long(reader);
    }
    if (!reader->utf8 && !lexical_utf8_valid(text->at, text->length)) {
        return turtle_fail(reader, start, "string is not UTF-8");
    }
    if (escapes) {
        const char *bad = NULL;
        char *to = scratch_take(&reader->scratch, text->length);
        if (!lexical_unescape_string(*text, to, &text->length, &bad)) {
            return turtle_fail(reader, bad, "bad escape in a string");
        }
        text->at = to;
    }
    return STATUS_OK;
}

static enum status
read_language(struct turtle_reader *reader, struct slice *language)
{
    const char *start = ++reader->at;
    const char *at = start;
    bool upper = false;
    while (at < reader->end && (lexical_is(*at, LEXICAL_LETTER | LEXICAL_DIGIT) || *at == '-')) {
        upper |= *at >= 'A' && *at <= 'Z';
        at++;
    }
    *language = slice_of(start, (size_t)(at - start));
    if (!lexical_language_valid(*language)) {
        return turtle_fail(reader, start, "bad language tag");
    }
    if (upper) {
        char *to = scratch_take(&reader->scratch, language->length);
        lexical_lower(*language, to);
        language->at = to;
    }
    reader->at = at;
    return STATUS_OK;
}

enum status
turtle_read_literal(struct turtle_reader *reader, struct term *term)
{
    const char quote = *reader->at;
    const bool is_long =
        reader->end - reader->at > 2 && reader->at[1] == quote && reader->at[2] == quote;
    *term = (struct term){.kind = TERM_LITERAL};
    reader->at += is_long ? 3 : 1;
    TRY(read_quoted(reader, is_long, quote, &term->value));
    turtle_skip(reader);
    if (turtle_peek(reader) == '@') {
        return read_language(reader, &term->language);
    }
    if (turtle_peek(reader) == '^') {
        if (reader->end - reader->at < 2 || reader->at[1] != '^') {
            return turtle_fail(reader, reader->at, "expected '^^'");
        }
        reader->at += 2;
        turtle_skip(reader);
        TRY(turtle_read_iri(reader, &term->datatype));
        if (slice_is(term->datatype, XSD_STRING)) {
            term->datatype = (struct slice){NULL, 0};
        }
    }
    return STATUS_OK;
}

static const char *
skip_digits(const char *at, const char *end)
{
    while (at < end && lexical_is(*at, LEXICAL_DIGIT)) {
        at++;
    }
    return at;
}

/* Behind EXPONENT at `at`, or `at`. */
static const char *
skip_exponent(const char *start, const char *end)
{
    const char *at = start;
    if (at == end || (*at != 'e' && *at != 'E')) {
        return start;
    }
    at++;
    at += at < end && (*at == '+' || *at == '-');
    const char *behind = skip_digits(at, end);
    return behind > at ? behind : start;
}

enum status
turtle_read_number(struct turtle_reader *reader, struct term *term)
{
    const char *start = reader->at, *end = reader->end;
    const char *digits = start + (*start == '+' || *start == '-');
    const char *whole = skip_digits(digits, end);
    const char *at = whole;
    struct slice datatype = SLICE(XSD_INTEGER);
    if (at < end && *at == '.') {
        const char *fraction = skip_digits(at + 1, end);
        const char *behind =
            fraction > at + 1 || whole > digits ? skip_exponent(fraction, end) : fraction;
        if (behind > fraction) {
            at = behind;
            datatype = SLICE(XSD_DOUBLE);
        } else if (fraction > at + 1) {
            at = fraction;
            datatype = SLICE(XSD_DECIMAL);
        }
    } else if (whole > digits && skip_exponent(at, end) > at) {
        at = skip_exponent(at, end);
        datatype = SLICE(XSD_DOUBLE);
    }
    if (at == digits) {
        return turtle_fail(reader, start, "expected a number");
    }
    *term = (struct term){
        .kind = TERM_LITERAL, .value = slice_of(start, (size_t)(at - start)), .datatype = datatype};
    reader->at = at;
    return STATUS_OK;
}
