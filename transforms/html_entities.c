#include "transforms/html_entities.h"

#include <string.h>

#include "transforms/html_entity_table.h"

static const struct html_entity *
entity_find(struct slice name)
{
    size_t low = 0, high = html_entity_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const int order = slice_compare(slice_string(html_entity_table[middle].name), name);
        if (order == 0) {
            return &html_entity_table[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/* Code points that numeric references to the C1 range mean: windows-1252's. */
static const uint16_t c1_meaning[32] = {
    0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021, 0x2C6,  0x2030, 0x160,
    0x2039, 0x152,  0x8D,   0x17D,  0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178};

size_t
utf8_put(char *at, uint32_t code)
{
    if (code < 0x80) {
        at[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        at[0] = (char)(0xC0 | code >> 6);
        at[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        at[0] = (char)(0xE0 | code >> 12);
        at[1] = (char)(0x80 | (code >> 6 & 0x3F));
        at[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    at[0] = (char)(0xF0 | code >> 18);
    at[1] = (char)(0x80 | (code >> 12 & 0x3F));
    at[2] = (char)(0x80 | (code >> 6 & 0x3F));
    at[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

static uint32_t
digit_value(char c)
{
    if (c >= '0' && c <= '9') {
        return (uint32_t)(c - '0');
    }
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? (uint32_t)(lower - 'a' + 10) : 99;
}

static size_t
numeric_reference(struct slice text, char out[ENTITY_TEXT_MAXIMUM], size_t *written)
{
    size_t at = 2;
    uint32_t radix = 10, code = 0;
    if (at < text.length && (text.at[at] | 0x20) == 'x') {
        radix = 16;
        at++;
    }
    const size_t digits = at;
    while (at < text.length && digit_value(text.at[at]) < radix) {
        code = code > 0x10FFFF ? code : code * radix + digit_value(text.at[at]);
        at++;
    }
    if (at == digits) {
        return 0;
    }
    if (at < text.length && text.at[at] == ';') {
        at++;
    }
    if (code >= 0x80 && code < 0xA0) {
        code = c1_meaning[code - 0x80];
    } else if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
        code = 0xFFFD;
    }
    *written = utf8_put(out, code);
    return at;
}

static bool
is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

size_t
entity_decode(struct slice text, bool in_attribute, char out[ENTITY_TEXT_MAXIMUM], size_t *written)
{
    if (text.length < 3) {
        return 0;
    }
    if (text.at[1] == '#') {
        return numeric_reference(text, out, written);
    }
    size_t length = 0;
    while (length < ENTITY_NAME_MAXIMUM && 1 + length < text.length &&
           is_alphanumeric(text.at[1 + length])) {
        length++;
    }
    const struct html_entity *found = NULL;
    size_t used = 0;
    if (1 + length < text.length && text.at[1 + length] == ';') {
        found = entity_find(slice_of(text.at + 1, length));
        used = length + 2;
    }
    for (size_t n = length < ENTITY_BARE_MAXIMUM ? length : ENTITY_BARE_MAXIMUM; !found && n >= 2;
         n--) {
        const struct html_entity *bare = entity_find(slice_of(text.at + 1, n));
        if (bare && bare->bare) {
            const char next = 1 + n < text.length ? text.at[1 + n] : ' ';
            if (in_attribute && (next == '=' || is_alphanumeric(next))) {
                return 0;
            }
            found = bare;
            used = n + 1;
        }
    }
    if (!found) {
        return 0;
    }
    *written = utf8_put(out, found->first);
    if (found->second) {
        *written += utf8_put(out + *written, found->second);
    }
    return used;
}
