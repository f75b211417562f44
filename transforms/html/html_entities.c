#include "transforms/html/html_entities.h"

#include "base/ascii.h"
#include "rdf/core/lexical.h"
#include "transforms/html/html_entity_table.h"

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

static size_t
numeric_reference(struct slice text, char out[ENTITY_TEXT_MAXIMUM], size_t *written)
{
    size_t at = 2;
    int radix = 10;
    uint32_t code = 0;
    if (at < text.length && (text.at[at] | 0x20) == 'x') {
        radix = 16;
        at++;
    }
    const size_t digits = at;
    for (int digit; at < text.length; at++) {
        digit = ascii_hex_value(text.at[at]);
        if (digit < 0 || digit >= radix) {
            break;
        }
        code = code > 0x10FFFF ? code : code * (uint32_t)radix + (uint32_t)digit;
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
    *written = (size_t)lexical_encode(code, out);
    return at;
}

static bool
is_alphanumeric(char c)
{
    return ascii_is_digit(c) || ascii_is_letter(c);
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
    *written = (size_t)lexical_encode(found->first, out);
    if (found->second) {
        *written += (size_t)lexical_encode(found->second, out + *written);
    }
    return used;
}
