#include "transforms/common/emit.h"

#include <stdint.h>

void
emit(struct emitter *emitter, const struct term *subject, const char *predicate,
     const struct term *object)
{
    if (emitter->status != STATUS_OK) {
        return;
    }
    const struct quad quad = {.subject = *subject,
                              .predicate = term_iri(slice_string(predicate)),
                              .object = *object,
                              .graph = emitter->document,
                              .line = emitter->line};
    emitter->status = emitter->sink->quad(emitter->sink->context, &quad, emitter->why);
}

void
emit_iri(struct emitter *emitter, const char *predicate, struct slice iri)
{
    const struct term object = term_iri(iri);
    if (iri.length > 0) {
        emit(emitter, &emitter->document, predicate, &object);
    }
}

void
emit_text(struct emitter *emitter, const char *predicate, struct slice text, struct slice language)
{
    struct term object = term_literal(text);
    object.language = language;
    if (text.length > 0) {
        emit(emitter, &emitter->document, predicate, &object);
    }
}

/* Bytes of white space or control character at `at`, 0: neither. U+00A0 counts as white. */
static size_t
blank_length(const uint8_t *at, size_t left)
{
    if (at[0] <= ' ' || at[0] == 0x7F) {
        return 1;
    }
    if (at[0] == 0xC2 && left > 1 && at[1] >= 0x80 && at[1] <= 0xA0) {
        return 2;
    }
    return 0;
}

void
text_init(struct text *text)
{
    *text = (struct text){0};
    buf_init(&text->buf, SIZE_MAX / 2);
}

void
text_release(struct text *text)
{
    buf_release(&text->buf);
}

void
text_begin(struct text *text, size_t most)
{
    buf_reset(&text->buf);
    text->most = most;
    text->blank = false;
}

bool
text_is_full(const struct text *text)
{
    return text->buf.length + text->blank >= text->most;
}

void
text_break(struct text *text)
{
    text->blank = text->buf.length > 0;
}

static void
add_word(struct text *text, const uint8_t *word, size_t length)
{
    const size_t room = text->most - text->buf.length - text->blank;
    if (text->blank) {
        buf_append_char(&text->buf, ' ');
        text->blank = false;
    }
    if (length > room) {
        length = room;
        while (length > 0 && (word[length] & 0xC0) == 0x80) {
            length--;
        }
        text->most = text->buf.length + length; /* full from now on */
    }
    buf_append(&text->buf, word, length);
}

void
text_add(struct text *text, struct slice piece)
{
    const uint8_t *at = (const uint8_t *)piece.at, *const end = at + piece.length;
    while (at < end && !text_is_full(text)) {
        const size_t skip = blank_length(at, (size_t)(end - at));
        if (skip > 0) {
            text_break(text);
            at += skip;
            continue;
        }
        const uint8_t *from = at;
        while (at < end && blank_length(at, (size_t)(end - at)) == 0) {
            at++;
        }
        add_word(text, from, (size_t)(at - from));
    }
}

struct slice
text_end(const struct text *text)
{
    const struct slice result = buf_slice(&text->buf);
    const bool cut = result.length > 0 && result.at[result.length - 1] == ' ';
    return slice_of(result.at, result.length - cut);
}

struct slice
text_of(struct text *text, struct slice piece, size_t most)
{
    text_begin(text, most);
    text_add(text, piece);
    return text_end(text);
}
