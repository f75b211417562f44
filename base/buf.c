#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

enum { BUF_FIRST_CAPACITY = 64 };

void
buf_init(struct buf *buf, size_t maximum)
{
    *buf = (struct buf){.maximum = maximum};
}

void
buf_release(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){.maximum = buf->maximum};
}

void
buf_reset(struct buf *buf)
{
    buf->length = 0;
    buf->overflowed = false;
    if (buf->data) {
        buf->data[0] = '\0';
    }
}

char *
buf_grow(struct buf *buf, size_t n)
{
    if (n > buf->maximum - buf->length) {
        buf->overflowed = true;
        return NULL;
    }
    const size_t needed = buf->length + n + 1; /* the final NUL */
    if (needed == 0) {
        buf->overflowed = true; /* only with maximum SIZE_MAX */
        return NULL;
    }
    if (needed > buf->capacity) {
        size_t capacity = buf->capacity < BUF_FIRST_CAPACITY ? BUF_FIRST_CAPACITY : buf->capacity;
        while (capacity < needed) {
            capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
        }
        if (capacity - 1 > buf->maximum) {
            capacity = buf->maximum + 1;
        }
        buf->data = memory_resize(buf->data, capacity, 1);
        buf->capacity = capacity;
        buf->data[buf->length] = '\0';
    }
    return buf->data + buf->length;
}

enum status
buf_append(struct buf *buf, const void *bytes, size_t n)
{
    char *room = buf_reserve(buf, n);
    if (!room) {
        return STATUS_LIMIT;
    }
    if (n > 0) {
        memcpy(room, bytes, n);
    }
    buf_commit(buf, n);
    return STATUS_OK;
}

enum status
buf_append_slice(struct buf *buf, struct slice slice)
{
    return buf_append(buf, slice.at, slice.length);
}

enum status
buf_append_string(struct buf *buf, const char *text)
{
    return buf_append(buf, text, strlen(text));
}

enum status
buf_append_char(struct buf *buf, char c)
{
    char *room = buf_reserve(buf, 1);
    if (!room) {
        return STATUS_LIMIT;
    }
    *room = c;
    buf_commit(buf, 1);
    return STATUS_OK;
}

/* Into the room that there is, and once more when it was too little. */
enum status
buf_vprintf(struct buf *buf, const char *format, va_list arguments)
{
    va_list again;
    const size_t room = buf->capacity - buf->length;
    char *end = room > 0 ? buf->data + buf->length : NULL;
    va_copy(again, arguments);
    const int length = vsnprintf(end, room, format, again);
    va_end(again);
    if (length < 0 || (size_t)length >= room) {
        if (end != NULL) {
            *end = '\0';
        }
        end = length < 0 ? NULL : buf_reserve(buf, (size_t)length);
        if (!end) {
            buf->overflowed = true;
            return STATUS_LIMIT;
        }
        (void)vsnprintf(end, (size_t)length + 1, format, arguments);
    }
    buf->length += (size_t)length;
    return STATUS_OK;
}

enum status
buf_printf(struct buf *buf, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const enum status status = buf_vprintf(buf, format, arguments);
    va_end(arguments);
    return status;
}

/* Bytes of the well-formed UTF-8 sequence at the front (RFC 3629 section 4), 0 if ill-formed. */
static size_t
utf8_length(const unsigned char *at, size_t left)
{
    const unsigned char first = at[0];
    size_t length;
    unsigned char low = 0x80, high = 0xbf; /* bounds of the second byte */
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xc2 && first <= 0xdf) {
        length = 2;
    } else if (first >= 0xe0 && first <= 0xef) {
        length = 3;
        low = first == 0xe0 ? 0xa0 : low;
        high = first == 0xed ? 0x9f : high; /* surrogates */
    } else if (first >= 0xf0 && first <= 0xf4) {
        length = 4;
        low = first == 0xf0 ? 0x90 : low;
        high = first == 0xf4 ? 0x8f : high;
    } else {
        return 0;
    }
    if (left < length || at[1] < low || at[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if (at[i] < 0x80 || at[i] > 0xbf) {
            return 0;
        }
    }
    return length;
}

static enum status
append_json_escape(struct buf *buf, unsigned char c)
{
    static const char letters[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                   ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};
    if (c < sizeof letters && letters[c]) {
        const char escape[2] = {'\\', letters[c]};
        return buf_append(buf, escape, sizeof escape);
    }
    return buf_printf(buf, "\\u%04x", (unsigned)c);
}

enum status
buf_append_json(struct buf *buf, struct slice text)
{
    const unsigned char *at = (const unsigned char *)text.at;
    const size_t before = buf->length;
    enum status status = STATUS_OK;
    for (size_t i = 0, plain = 0; plain < text.length && status == STATUS_OK;) {
        const size_t length = i < text.length ? utf8_length(at + i, text.length - i) : 0;
        const bool escaped =
            length == 1 && (at[i] < 0x20 || at[i] == '"' || at[i] == '\\' || at[i] == 0x7f);
        if (length > 0 && !escaped) {
            i += length;
            continue;
        }
        status = buf_append(buf, at + plain, i - plain);
        if (i < text.length && status == STATUS_OK) {
            status =
                escaped ? append_json_escape(buf, at[i]) : buf_append_string(buf, "\xef\xbf\xbd");
        }
        plain = ++i;
    }
    if (status != STATUS_OK && buf->data) {
        buf->length = before; /* all or nothing */
        buf->data[before] = '\0';
    }
    return status;
}

struct slice
buf_slice(const struct buf *buf)
{
    return (struct slice){buf->data, buf->length};
}
