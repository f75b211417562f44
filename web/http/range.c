#include "web/http/range.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Decimal digits, up to the one that passes 64 bits; false when there are none. */
static bool
number(const char **at, uint64_t *value)
{
    const char *start = *at;
    *value = 0;
    while (**at >= '0' && **at <= '9') {
        const uint64_t digit = (uint64_t)(**at - '0');
        if (*value > (UINT64_MAX - digit) / 10) {
            break;
        }
        *value = *value * 10 + digit;
        ++*at;
    }
    return *at > start;
}

enum web_range_kind
web_range_parse(const char *header, uint64_t size, struct web_range *range)
{
    uint64_t first;
    uint64_t last;
    if (strncasecmp(header, "bytes=", 6) != 0) {
        return WEB_RANGE_NONE;
    }
    const char *at = header + 6;
    const bool has_first = number(&at, &first);
    if (*at++ != '-') {
        return WEB_RANGE_NONE;
    }
    const bool has_last = number(&at, &last);
    if (*at != 0 || (!has_first && !has_last) || (has_first && has_last && last < first)) {
        return WEB_RANGE_NONE;
    }
    if (!has_first) { /* the last `last` bytes */
        if (last == 0 || size == 0) {
            return WEB_RANGE_OUTSIDE;
        }
        const uint64_t length = last < size ? last : size;
        *range = (struct web_range){size - length, length};
        return WEB_RANGE_PART;
    }
    if (first >= size) {
        return WEB_RANGE_OUTSIDE;
    }
    const uint64_t end = has_last && last < size ? last : size - 1;
    *range = (struct web_range){first, end - first + 1};
    return WEB_RANGE_PART;
}
