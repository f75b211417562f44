/* Writes JSON in canonical form (RFC 8785). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "rdf/core/lexical.h"
#include "rdf/json/json.h"

static const char *const words[] = {
    [JSON_NULL] = "null", [JSON_FALSE] = "false", [JSON_TRUE] = "true"};

static void
write_canonical_string(struct buf *buf, struct slice text)
{
    static const char names[] = "btn\0fr"; /* from U+0008 */
    buf_append_char(buf, '"');
    for (size_t i = 0; i < text.length; i++) {
        const unsigned char c = (unsigned char)text.at[i];
        if (c == '"' || c == '\\') {
            buf_append_char(buf, '\\');
            buf_append_char(buf, (char)c);
        } else if (c >= 0x20) {
            buf_append_char(buf, (char)c);
        } else if (c >= 8 && c <= 13 && names[c - 8] != '\0') {
            buf_append_char(buf, '\\');
            buf_append_char(buf, names[c - 8]);
        } else {
            buf_printf(buf, "\\u%04x", c);
        }
    }
    buf_append_char(buf, '"');
}

/* The shortest digits that read back as the number; exponent of the first one. */
static int
shortest_digits(double number, char digits[32])
{
    char text[40];
    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, number);
        if (strtod(text, NULL) == number) {
            break;
        }
    }
    size_t n = 0;
    for (const char *at = text; *at != 'e'; at++) {
        if (lexical_is(*at, LEXICAL_DIGIT)) {
            digits[n++] = *at;
        }
    }
    while (n > 1 && digits[n - 1] == '0') {
        n--;
    }
    digits[n] = '\0';
    return atoi(strchr(text, 'e') + 1);
}

/* ECMAScript's Number::toString. */
static enum status
write_canonical_number(struct buf *buf, struct slice text)
{
    char copy[512], digits[32];
    snprintf(copy, sizeof copy, "%.*s", SLICE_PRINT(text));
    double number = text.length < sizeof copy ? strtod(copy, NULL) : HUGE_VAL;
    if (!isfinite(number)) {
        return buf_append_string(buf, "null");
    }
    if (number == 0) {
        return buf_append_char(buf, '0');
    }
    if (number < 0) {
        buf_append_char(buf, '-');
        number = -number;
    }
    const int point = shortest_digits(number, digits) + 1;
    const int count = (int)strlen(digits);
    if (point >= count && point <= 21) {
        return buf_printf(buf, "%s%.*s", digits, point - count, "000000000000000000000");
    }
    if (point > 0 && point <= 21) {
        return buf_printf(buf, "%.*s.%s", point, digits, digits + point);
    }
    if (point > -6 && point <= 0) {
        return buf_printf(buf, "0.%.*s%s", -point, "000000", digits);
    }
    return buf_printf(buf, "%c%s%se%+d", digits[0], count > 1 ? "." : "", digits + 1, point - 1);
}

/* Order of UTF-16 code units: where code points past U+FFFF come before U+E000. */
static int
compare_keys(const void *a, const void *b)
{
    const struct slice left = (*(const struct json *const *)a)->key;
    const struct slice right = (*(const struct json *const *)b)->key;
    const size_t most = left.length < right.length ? left.length : right.length;
    for (size_t i = 0; i < most; i++) {
        const unsigned char c = (unsigned char)left.at[i], d = (unsigned char)right.at[i];
        if (c != d) {
            const bool high = c >= 0xee && d >= 0xee && (c >= 0xf0) != (d >= 0xf0);
            return high ? (int)d - (int)c : (int)c - (int)d;
        }
    }
    return left.length < right.length ? -1 : left.length > right.length;
}

static enum status
write_canonical_object(struct buf *buf, const struct json *object)
{
    const struct json **members = memory_alloc((object->count + 1) * sizeof *members);
    size_t n = 0;
    for (const struct json *member = object->first; member != NULL; member = member->next) {
        members[n++] = member;
    }
    qsort(members, n, sizeof *members, compare_keys);
    enum status status = buf_append_char(buf, '{');
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        write_canonical_string(buf, members[i]->key);
        buf_append_char(buf, ':');
        status = json_write_canonical(buf, members[i]);
        if (i + 1 < n) {
            buf_append_char(buf, ',');
        }
    }
    free(members);
    buf_append_char(buf, '}');
    return status == STATUS_OK && buf->overflowed ? STATUS_LIMIT : status;
}

enum status
json_write_canonical(struct buf *buf, const struct json *node)
{
    switch (node->kind) {
    case JSON_NUMBER:
        return write_canonical_number(buf, node->text);
    case JSON_STRING:
        write_canonical_string(buf, node->text);
        break;
    case JSON_ARRAY:
        buf_append_char(buf, '[');
        for (const struct json *item = node->first; item != NULL; item = item->next) {
            TRY(json_write_canonical(buf, item));
            if (item->next != NULL) {
                buf_append_char(buf, ',');
            }
        }
        buf_append_char(buf, ']');
        break;
    case JSON_OBJECT:
        return write_canonical_object(buf, node);
    default:
        buf_append_string(buf, words[node->kind]);
    }
    return buf->overflowed ? STATUS_LIMIT : STATUS_OK;
}
