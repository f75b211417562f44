#include "index/changes/change_position.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void
change_position_put(struct buf *out, const struct change_position *position)
{
    (void)buf_printf(out, "%" PRIu64 ".%" PRIx64, position->batch, position->stamp);
}

static bool
get_number(struct slice *text, unsigned base, uint64_t *number)
{
    size_t n = 0;
    *number = 0;
    for (; n < text->length; n++) {
        const char c = text->at[n];
        const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                               : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                      : 99;
        if (digit >= base) {
            break;
        }
        if (*number > (UINT64_MAX - digit) / base) {
            return false;
        }
        *number = *number * base + digit;
    }
    *text = slice_of(text->at + n, text->length - n);
    return n > 0;
}

static bool
get_char(struct slice *text, char c)
{
    if (text->length == 0 || text->at[0] != c) {
        return false;
    }
    *text = slice_of(text->at + 1, text->length - 1);
    return true;
}

static bool
get_position(struct slice *text, struct change_position *position)
{
    return get_number(text, 10, &position->batch) && get_char(text, '.') &&
           get_number(text, 16, &position->stamp);
}

bool
change_position_get(struct slice text, struct change_position *position)
{
    return get_position(&text, position) && text.length == 0;
}

void
change_positions_put(struct buf *out, const struct change_position *positions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)buf_printf(out, "%s%zu:", i > 0 ? "," : "", i);
        change_position_put(out, &positions[i]);
    }
}

enum status
change_positions_get(struct slice text, struct change_position *positions, size_t count,
                     struct reason *why)
{
    const struct slice whole = text;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = 0;
        if ((i > 0 && !get_char(&text, ',')) || !get_number(&text, 10, &number) || number != i ||
            !get_char(&text, ':') || !get_position(&text, &positions[i])) {
            return status_fail(why, STATUS_MISUSE, "not a position of %zu partitions: %.*s", count,
                               (int)(whole.length < 200 ? whole.length : 200), whole.at);
        }
    }
    return text.length == 0 ? STATUS_OK
                            : status_fail(why, STATUS_MISUSE,
                                          "the position is of more than %zu partitions", count);
}
