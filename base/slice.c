#include "base/slice.h"

#include <stdlib.h>

#include "base/ascii.h"

static bool
ascii_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

int
slice_compare(struct slice a, struct slice b)
{
    const size_t shorter = a.length < b.length ? a.length : b.length;
    const int order = shorter ? memcmp(a.at, b.at, shorter) : 0;
    if (order != 0) {
        return order;
    }
    return (a.length > b.length) - (a.length < b.length);
}

bool
slice_equal_nocase(struct slice a, struct slice b)
{
    if (a.length != b.length) {
        return false;
    }
    for (size_t i = 0; i < a.length; i++) {
        if (ascii_lower(a.at[i]) != ascii_lower(b.at[i])) {
            return false;
        }
    }
    return true;
}

struct slice
slice_trim(struct slice a)
{
    while (a.length > 0 && ascii_blank(a.at[0])) {
        a.at++;
        a.length--;
    }
    while (a.length > 0 && ascii_blank(a.at[a.length - 1])) {
        a.length--;
    }
    return a;
}

struct slice
slice_next_word(struct slice *list)
{
    const char *at = list->at, *const end = list->at + list->length;
    while (at < end && ascii_is_space(*at)) {
        at++;
    }
    const char *from = at;
    while (at < end && !ascii_is_space(*at)) {
        at++;
    }
    *list = slice_of(at, (size_t)(end - at));
    return slice_of(from, (size_t)(at - from));
}

bool
slice_starts_nocase(struct slice a, struct slice prefix)
{
    return a.length >= prefix.length && slice_equal_nocase(slice_of(a.at, prefix.length), prefix);
}

uint64_t
slice_number(struct slice text)
{
    char digits[SLICE_NUMBER_MOST + 1] = "";
    if (text.length > 0 && text.length <= SLICE_NUMBER_MOST) {
        memcpy(digits, text.at, text.length);
    }
    return strtoull(digits, NULL, 10);
}

size_t
slice_find(struct slice a, char c)
{
    const char *found = a.length ? memchr(a.at, c, a.length) : NULL;
    return found ? (size_t)(found - a.at) : a.length;
}

struct slice
slice_take(struct slice *rest, char end)
{
    const size_t length = slice_find(*rest, end);
    const size_t step = length < rest->length ? length + 1 : length;
    const struct slice part = slice_of(rest->at, length);
    *rest = slice_of(rest->at + step, rest->length - step);
    return part;
}

size_t
slice_find_slice(struct slice a, struct slice needle)
{
    if (needle.length == 0) {
        return 0;
    }
    const char *found = a.length ? memmem(a.at, a.length, needle.at, needle.length) : NULL;
    return found ? (size_t)(found - a.at) : a.length;
}
