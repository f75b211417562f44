#include "transforms/text/content_line.h"

#include <stdio.h>

#include "base/ascii.h"
#include "rdf/core/lexical.h"
#include "transforms/common/links.h"

enum status
content_text(struct transformation *transformation, struct slice *text, struct reason *why)
{
    TRY(transformation_text(transformation, TEXT_UTF8, text, why));
    if (!lexical_utf8_valid(text->at, text->length)) {
        const char *label = encoding_of_label(transformation->request->charset);
        if (!label || strcmp(label, "utf-8") == 0) {
            label = "windows-1252";
        }
        transformation_repair(transformation, "text that is not UTF-8", 1);
        TRY(encoding_convert(transformation->encodings, label, *text, &transformation->scratch,
                             text, why));
    }
    if (slice_starts(*text, SLICE("\xef\xbb\xbf"))) {
        *text = slice_of(text->at + 3, text->length - 3);
    }
    return STATUS_OK;
}

void
content_reader_init(struct content_reader *reader, struct transformation *transformation,
                    struct slice text)
{
    *reader =
        (struct content_reader){.encodings = transformation->encodings, .left = text, .line = 1};
    buf_init(&reader->unfolded, CONTENT_LINE);
    buf_init(&reader->plain, CONTENT_LINE);
    buf_init(&reader->converted, 2 * CONTENT_LINE);
}

void
content_reader_release(struct content_reader *reader)
{
    buf_release(&reader->unfolded);
    buf_release(&reader->plain);
    buf_release(&reader->converted);
}

/* ---- lines ---- */

static struct slice
physical_line(struct content_reader *reader)
{
    const struct slice left = reader->left;
    size_t end = 0;
    while (end < left.length && left.at[end] != '\n' && left.at[end] != '\r') {
        end++;
    }
    size_t next = end;
    if (next < left.length && left.at[next] == '\r') {
        next++;
    }
    if (next < left.length && left.at[next] == '\n') {
        next++;
    }
    reader->line++;
    reader->left = slice_of(left.at + next, left.length - next);
    return slice_of(left.at, end);
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Quoted-printable lines go on after "=" at their end. */
static bool
is_quoted_printable(struct slice line)
{
    const size_t colon = slice_find(line, ':');
    const struct slice head = slice_of(line.at, colon < 1000 ? colon : 1000);
    for (size_t i = 0; i + 16 <= head.length; i++) {
        if (slice_equal_nocase(slice_of(head.at + i, 16), SLICE("QUOTED-PRINTABLE"))) {
            return true;
        }
    }
    return false;
}

/* A line that is not folded, most of them, is not copied. */
static struct slice
logical_line(struct content_reader *reader)
{
    struct slice line = physical_line(reader);
    bool copied = false;
    const bool quoted = is_quoted_printable(line);
    while (reader->left.length > 0) {
        const bool soft = quoted && line.length > 0 && line.at[line.length - 1] == '=';
        if (!soft && !is_blank(reader->left.at[0])) {
            break;
        }
        if (!copied) {
            buf_reset(&reader->unfolded);
            buf_append_slice(&reader->unfolded, line);
            copied = true;
        }
        struct slice more = physical_line(reader);
        if (soft && reader->unfolded.length > 0) {
            reader->unfolded.data[--reader->unfolded.length] = '\0';
        } else if (!soft) {
            more = slice_of(more.at + 1, more.length - 1);
        }
        buf_append_slice(&reader->unfolded, more);
        line = buf_slice(&reader->unfolded);
    }
    return line;
}

/* ---- one line ---- */

static bool
is_name(char c)
{
    return lexical_is(c, LEXICAL_LETTER | LEXICAL_DIGIT) || c == '-' || c == '_';
}

/* name, or name=value[,value]; the values stay together, outer quotes off. */
static size_t
read_parameter(struct slice text, struct content_parameter *parameter)
{
    size_t at = 0;
    while (at < text.length && is_name(text.at[at])) {
        at++;
    }
    parameter->name = slice_of(text.at, at);
    parameter->value = slice_of(text.at, 0);
    if (at == text.length || text.at[at] != '=') {
        parameter->value = parameter->name;
        parameter->name = slice_equal_nocase(parameter->value, SLICE("QUOTED-PRINTABLE")) ||
                                  slice_equal_nocase(parameter->value, SLICE("BASE64"))
                              ? SLICE("ENCODING")
                              : SLICE("TYPE");
        return at;
    }
    const size_t from = ++at;
    bool quoted = false;
    while (at < text.length && (quoted || (text.at[at] != ';' && text.at[at] != ':'))) {
        quoted ^= text.at[at] == '"';
        at++;
    }
    parameter->value = slice_of(text.at + from, at - from);
    if (parameter->value.length >= 2 && text.at[from] == '"' && text.at[at - 1] == '"') {
        parameter->value = slice_of(text.at + from + 1, at - from - 2);
    }
    return at;
}

static bool
parse_line(struct slice text, struct content_line *line)
{
    size_t at = 0;
    line->parameter_count = 0;
    line->group = (struct slice){0};
    line->name = (struct slice){0};
    line->value = text;
    while (at < text.length && is_name(text.at[at])) {
        at++;
    }
    struct slice name = slice_of(text.at, at);
    if (at < text.length && text.at[at] == '.') {
        line->group = name;
        const size_t from = ++at;
        while (at < text.length && is_name(text.at[at])) {
            at++;
        }
        name = slice_of(text.at + from, at - from);
    }
    while (at < text.length && text.at[at] == ';') {
        struct content_parameter parameter;
        at++;
        at += read_parameter(slice_of(text.at + at, text.length - at), &parameter);
        if (line->parameter_count < CONTENT_PARAMETERS) {
            line->parameters[line->parameter_count++] = parameter;
        }
    }
    if (name.length == 0 || at >= text.length || text.at[at] != ':') {
        return false;
    }
    line->name = name;
    line->value = slice_of(text.at + at + 1, text.length - at - 1);
    return true;
}

static void
undo_quoted_printable(struct content_reader *reader, struct content_line *line)
{
    const struct slice from = line->value;
    buf_reset(&reader->plain);
    for (size_t i = 0; i < from.length; i++) {
        const int high = i + 2 < from.length ? ascii_hex_value(from.at[i + 1]) : -1;
        const int low = i + 2 < from.length ? ascii_hex_value(from.at[i + 2]) : -1;
        if (from.at[i] == '=' && high >= 0 && low >= 0) {
            buf_append_char(&reader->plain, (char)(high << 4 | low));
            i += 2;
        } else {
            buf_append_char(&reader->plain, from.at[i]);
        }
    }
    line->value = buf_slice(&reader->plain);
    const char *name = encoding_of_label(content_parameter(line, "CHARSET"));
    if (!name && !lexical_utf8_valid(line->value.at, line->value.length)) {
        name = "windows-1252";
    }
    struct reason problem;
    if (name) {
        encoding_convert(reader->encodings, name, line->value, &reader->converted, &line->value,
                         &problem);
    }
    if (!lexical_utf8_valid(line->value.at, line->value.length)) {
        line->value.length = 0;
    }
}

bool
content_next(struct content_reader *reader, struct content_line *line)
{
    while (reader->left.length > 0) {
        line->line = reader->line;
        const struct slice text = logical_line(reader);
        if (slice_trim(text).length == 0) {
            continue;
        }
        if (parse_line(text, line) &&
            slice_equal_nocase(content_parameter(line, "ENCODING"), SLICE("QUOTED-PRINTABLE"))) {
            undo_quoted_printable(reader, line);
        }
        return true;
    }
    return false;
}

bool
content_is(const struct content_line *line, const char *name)
{
    return slice_equal_nocase(line->name, slice_string(name));
}

struct slice
content_parameter(const struct content_line *line, const char *name)
{
    for (size_t i = 0; i < line->parameter_count; i++) {
        if (slice_equal_nocase(line->parameters[i].name, slice_string(name))) {
            return line->parameters[i].value;
        }
    }
    return (struct slice){0};
}

bool
content_is_binary(const struct content_line *line)
{
    const struct slice encoding = content_parameter(line, "ENCODING");
    return slice_equal_nocase(encoding, SLICE("B")) ||
           slice_equal_nocase(encoding, SLICE("BASE64")) ||
           slice_equal_nocase(content_parameter(line, "VALUE"), SLICE("BINARY"));
}

struct slice
content_piece(struct slice value, char separator, struct slice *rest)
{
    size_t at = 0;
    while (at < value.length && value.at[at] != separator) {
        at += value.at[at] == '\\' && at + 1 < value.length ? 2 : 1;
    }
    *rest =
        at < value.length ? slice_of(value.at + at + 1, value.length - at - 1) : (struct slice){0};
    return slice_of(value.at, at);
}

void
content_unescape(struct slice value, struct buf *out)
{
    for (size_t i = 0; i < value.length; i++) {
        char c = value.at[i];
        if (c == '\\' && i + 1 < value.length) {
            c = value.at[++i];
            if (c == 'n' || c == 'N') {
                c = '\n';
            } else if (c != ',' && c != ';' && c != '\\' && c != ':') {
                buf_append_char(out, '\\');
            }
        }
        buf_append_char(out, c);
    }
}

/* ---- nodes ---- */

struct term
content_blank(unsigned *blanks, char label[CONTENT_LABEL])
{
    snprintf(label, CONTENT_LABEL, "b%u", (*blanks)++);
    return term_blank(slice_string(label));
}

static void
append_fragment(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        if (lexical_is(c, LEXICAL_LETTER | LEXICAL_DIGIT) || strchr("-._~@:/?!$&'()*+,;=", c)) {
            buf_append_char(out, c);
        } else {
            buf_printf(out, "%%%02X", (unsigned char)c);
        }
    }
}

struct term
content_subject(struct emitter *emitter, struct slice uid, struct slice suffix, unsigned *blanks,
                struct buf *name)
{
    uid = slice_trim(uid);
    buf_reset(name);
    if (uid.length > 4 && uid.length < 1024 && suffix.length == 0 &&
        slice_equal_nocase(slice_of(uid.at, 4), SLICE("urn:")) && lexical_iri_valid(uid)) {
        buf_append_slice(name, uid);
        return term_iri(buf_slice(name));
    }
    if (uid.length > 0 && uid.length < 1024 && memchr(uid.at, '\0', uid.length) == NULL) {
        const struct slice document = emitter->document.value;
        buf_append(name, document.at, slice_find(document, '#'));
        buf_append_char(name, '#');
        append_fragment(name, uid);
        if (suffix.length > 0 && suffix.length < 64) {
            buf_append_char(name, ';');
            append_fragment(name, suffix);
        }
        return term_iri(buf_slice(name));
    }
    buf_printf(name, "b%u", (*blanks)++);
    return term_blank(buf_slice(name));
}

bool
content_iri(struct slice value, struct buf *out)
{
    value = slice_trim(value);
    buf_reset(out);
    if (value.length > 8192 || !lexical_has_scheme(value) || !document_iri(value, out) ||
        !lexical_iri_valid(buf_slice(out))) {
        return false;
    }
    /* MAILTO: is as common as mailto: */
    lexical_lower(slice_of(out->data, slice_find(buf_slice(out), ':')), out->data);
    return !slice_starts(buf_slice(out), SLICE("data:"));
}
