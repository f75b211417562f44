#include "detection/media_type.h"

#include "base/ascii.h"

#include <stdint.h>

static bool
is_token(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool
all_token(struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (!is_token(text.at[i])) {
            return false;
        }
    }
    return text.length > 0;
}

/* "HTTP quoted-string token code points". */
static bool
all_quotable(struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        const uint8_t c = (uint8_t)text.at[i];
        if (c != '\t' && (c < 0x20 || c == 0x7F)) {
            return false;
        }
    }
    return true;
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct slice
trim_right(struct slice text)
{
    while (text.length > 0 && is_blank(text.at[text.length - 1])) {
        text.length--;
    }
    return text;
}

static struct slice
lower_copy(struct buf *memory, struct slice text)
{
    const size_t start = memory->length;
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        buf_append_char(memory, ascii_lower(c));
    }
    return slice_of(memory->data + start, text.length);
}

/* "Collect an HTTP quoted string", extracting its value; *at stands on the quote. */
static struct slice
quoted_string(struct slice input, size_t *at, struct buf *memory)
{
    const size_t start = memory->length;
    for (++*at; *at < input.length && input.at[*at] != '"'; ++*at) {
        char c = input.at[*at];
        if (c == '\\' && *at + 1 < input.length) {
            c = input.at[++*at];
        }
        buf_append_char(memory, c);
    }
    *at += *at < input.length;
    return slice_of(memory->data + start, memory->length - start);
}

static void
add_parameter(struct media_type *type, struct slice name, struct slice value)
{
    if (!all_token(name) || !all_quotable(value) ||
        type->parameter_count == MEDIA_TYPE_PARAMETERS) {
        return;
    }
    for (size_t i = 0; i < type->parameter_count; i++) {
        if (slice_equal(type->parameters[i].name, name)) {
            return;
        }
    }
    type->parameters[type->parameter_count].name = name;
    type->parameters[type->parameter_count++].value = value;
}

/* *at stands after a ';'. */
static void
read_parameter(struct slice input, size_t *at, struct buf *memory, struct media_type *type)
{
    while (*at < input.length && is_blank(input.at[*at])) {
        ++*at;
    }
    size_t from = *at;
    while (*at < input.length && input.at[*at] != ';' && input.at[*at] != '=') {
        ++*at;
    }
    const struct slice name = lower_copy(memory, slice_of(input.at + from, *at - from));
    if (*at >= input.length || input.at[(*at)++] == ';') {
        return;
    }
    struct slice value;
    if (*at < input.length && input.at[*at] == '"') {
        value = quoted_string(input, at, memory);
        while (*at < input.length && input.at[*at] != ';') {
            ++*at;
        }
    } else {
        from = *at;
        while (*at < input.length && input.at[*at] != ';') {
            ++*at;
        }
        value = trim_right(slice_of(input.at + from, *at - from));
        if (value.length == 0) {
            *at += *at < input.length;
            return;
        }
    }
    *at += *at < input.length;
    add_parameter(type, name, value);
}

bool
media_type_parse(struct slice input, struct buf *memory, struct media_type *type)
{
    *type = (struct media_type){0};
    buf_reset(memory);
    while (input.length > 0 && is_blank(input.at[0])) {
        input = slice_of(input.at + 1, input.length - 1);
    }
    input = trim_right(input);
    /* Nothing is appended past this, so slices into memory stay where they are. */
    if (!buf_reserve(memory, 2 * input.length + 2)) {
        return false;
    }
    const size_t slash = slice_find(input, '/');
    size_t at = slice_find(input, ';');
    if (slash >= at || !all_token(slice_of(input.at, slash))) {
        return false;
    }
    const struct slice subtype = trim_right(slice_of(input.at + slash + 1, at - slash - 1));
    if (!all_token(subtype)) {
        return false;
    }
    type->essence = lower_copy(memory, slice_of(input.at, slash + 1 + subtype.length));
    at += at < input.length;
    while (at < input.length) {
        read_parameter(input, &at, memory, type);
    }
    return true;
}

struct slice
media_type_parameter(const struct media_type *type, const char *name)
{
    for (size_t i = 0; i < type->parameter_count; i++) {
        if (slice_is(type->parameters[i].name, name)) {
            return type->parameters[i].value;
        }
    }
    return (struct slice){0};
}
