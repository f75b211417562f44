#include "rdf/core/writer.h"

#include <stdio.h>

#include "rdf/core/scan.h"
#include "rdf/core/vocabulary.h"

/* Bytes that may start a character to be escaped: 1. EF starts U+FFFE and U+FFFF. */
/* clang-format off */
static const uint8_t escape_start[256] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    ['"'] = 1, ['\\'] = 1, [0x7F] = 1, [0xEF] = 1,
};
/* clang-format on */

static bool
is_noncharacter(struct slice text)
{
    return text.length >= 3 && memcmp(text.at, "\xEF\xBF", 2) == 0 &&
           ((unsigned char)text.at[2] >= 0xBE);
}

size_t
nquads_escape(struct slice text, char form[NQUADS_ESCAPE_SIZE])
{
    static const char letters[128] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                      ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};
    const unsigned char first = (unsigned char)text.at[0];
    if (first < 0x80 && letters[first] != 0) {
        form[0] = '\\';
        form[1] = letters[first];
        form[2] = 0;
        return 1;
    }
    if (first < 0x20 || first == 0x7F) {
        snprintf(form, NQUADS_ESCAPE_SIZE, "\\u%04X", first);
        return 1;
    }
    if (is_noncharacter(text)) {
        snprintf(form, NQUADS_ESCAPE_SIZE, "\\uFFF%c",
                 (unsigned char)text.at[2] == 0xBE ? 'E' : 'F');
        return 3;
    }
    size_t length = 1;
    while (length < text.length && length < 4 && first >= 0xC0 &&
           ((unsigned char)text.at[length] & 0xC0) == 0x80) {
        length++;
    }
    memcpy(form, text.at, length);
    form[length] = 0;
    return length;
}

static bool
needs_escape(struct slice text)
{
    for (size_t i = scan_plain(text); i < text.length; i++) {
        if (escape_start[(unsigned char)text.at[i]]) {
            return true;
        }
    }
    return false;
}

/* Appends text with what must be escaped escaped. */
static enum status
write_escaped(struct buf *buf, struct slice text)
{
    size_t start = 0;
    for (size_t i = 0; i < text.length;) {
        const struct slice rest = slice_of(text.at + i, text.length - i);
        if (!escape_start[(unsigned char)text.at[i]] ||
            ((unsigned char)text.at[i] == 0xEF && !is_noncharacter(rest))) {
            i++;
            continue;
        }
        char form[NQUADS_ESCAPE_SIZE];
        TRY(buf_append(buf, text.at + start, i - start));
        i += nquads_escape(rest, form);
        start = i;
        TRY(buf_append_string(buf, form));
    }
    return buf_append_slice(buf, slice_of(text.at + start, text.length - start));
}

/* Holds what stands around a term's value; with no escapes, the term is their concatenation. */
struct frame {
    struct slice before, value, after, tag, end;
};

static struct frame
frame_of(const struct term *term)
{
    switch (term->kind) {
    case TERM_IRI:
        return (struct frame){.before = SLICE("<"), .value = term->value, .end = SLICE(">")};
    case TERM_BLANK:
        return (struct frame){.before = SLICE("_:"), .value = term->value};
    case TERM_LITERAL:
        break;
    default:
        return (struct frame){0};
    }
    struct frame frame = {.before = SLICE("\""), .value = term->value, .after = SLICE("\"")};
    if (term->language.length > 0) {
        frame.after = SLICE("\"@");
        frame.tag = term->language;
    } else if (term->datatype.length > 0 && !slice_is(term->datatype, XSD_STRING)) {
        frame.after = SLICE("\"^^<");
        frame.tag = term->datatype;
        frame.end = SLICE(">");
    }
    return frame;
}

static inline size_t
frame_size(const struct frame *frame)
{
    return frame->before.length + frame->value.length + frame->after.length + frame->tag.length +
           frame->end.length;
}

static inline char *
put(char *to, struct slice text)
{
    if (text.length > 0) {
        memcpy(to, text.at, text.length);
    }
    return to + text.length;
}

static inline char *
put_frame(char *to, const struct frame *frame)
{
    to = put(put(to, frame->before), frame->value);
    return put(put(put(to, frame->after), frame->tag), frame->end);
}

enum status
nquads_write_term(struct buf *buf, const struct term *term)
{
    const struct frame frame = frame_of(term);
    const size_t start = buf->length;
    if (term->kind == TERM_LITERAL && needs_escape(term->value)) {
        if (buf_append_slice(buf, frame.before) == STATUS_OK &&
            write_escaped(buf, frame.value) == STATUS_OK &&
            buf_append_slice(buf, frame.after) == STATUS_OK &&
            buf_append_slice(buf, frame.tag) == STATUS_OK &&
            buf_append_slice(buf, frame.end) == STATUS_OK) {
            return STATUS_OK;
        }
        buf->length = start;
        if (buf->data != NULL) {
            buf->data[start] = 0;
        }
        return STATUS_LIMIT;
    }
    char *to = buf_reserve(buf, frame_size(&frame));
    if (to == NULL) {
        return STATUS_LIMIT;
    }
    put_frame(to, &frame);
    buf_commit(buf, frame_size(&frame));
    return STATUS_OK;
}

/* A quad whose literal needs escapes. */
static enum status
write_termwise(struct buf *buf, const struct quad *quad)
{
    TRY(nquads_write_term(buf, &quad->subject));
    TRY(buf_append_char(buf, ' '));
    TRY(nquads_write_term(buf, &quad->predicate));
    TRY(buf_append_char(buf, ' '));
    TRY(nquads_write_term(buf, &quad->object));
    if (quad->graph.kind != TERM_NONE) {
        TRY(buf_append_char(buf, ' '));
        TRY(nquads_write_term(buf, &quad->graph));
    }
    return buf_append(buf, " .\n", 3);
}

enum status
nquads_write(struct buf *buf, const struct quad *quad)
{
    if (quad->object.kind == TERM_LITERAL && needs_escape(quad->object.value)) {
        return write_termwise(buf, quad);
    }
    const struct frame frames[] = {frame_of(&quad->subject), frame_of(&quad->predicate),
                                   frame_of(&quad->object), frame_of(&quad->graph)};
    const int count = quad->graph.kind == TERM_NONE ? 3 : 4;
    size_t size = 2;
    for (int i = 0; i < count; i++) {
        size += frame_size(&frames[i]) + 1;
    }
    char *to = buf_reserve(buf, size);
    if (to == NULL) {
        return STATUS_LIMIT;
    }
    for (int i = 0; i < count; i++) {
        to = put_frame(to, &frames[i]);
        *to++ = ' ';
    }
    memcpy(to, ".\n", 2);
    buf_commit(buf, size);
    return STATUS_OK;
}
