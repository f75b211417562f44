#include "web/http/accept.h"

#include <stdlib.h>

#include "base/slice.h"

/* Returns how exactly a range names a type: 0 not at all, 1 for * / *, 2 for type/ *, 3 for
 * both. */
static int
match(struct slice range, struct slice type)
{
    if (slice_is(range, "*/*")) {
        return 1;
    }
    const size_t slash = slice_find(type, '/');
    if (range.length == slash + 2 && range.at[range.length - 1] == '*' &&
        slice_equal_nocase(slice_of(range.at, slash + 1), slice_of(type.at, slash + 1))) {
        return 2;
    }
    return slice_equal_nocase(range, type) ? 3 : 0;
}

/* The part before the first c, trimmed; *rest is what follows it. */
static struct slice
take(struct slice *rest, char c)
{
    const size_t end = slice_find(*rest, c);
    const struct slice part = slice_trim(slice_of(rest->at, end));
    const size_t step = end < rest->length ? end + 1 : end;
    *rest = slice_of(rest->at + step, rest->length - step);
    return part;
}

/* "0.5" in thousandths; what is malformed counts as 0. */
static int
quality(struct slice text)
{
    int value = 0;
    if (text.length == 0 || (text.at[0] != '0' && text.at[0] != '1') || text.length > 5 ||
        (text.length > 1 && text.at[1] != '.')) {
        return 0;
    }
    int unit = 1000;
    for (size_t i = 0; i < text.length; i++) {
        if (i == 1) {
            continue;
        }
        if (text.at[i] < '0' || text.at[i] > '9') {
            return 0;
        }
        value += (text.at[i] - '0') * unit;
        unit /= 10;
    }
    return value < 1000 ? value : 1000;
}

/* The quality that the header gives the type: by its most exact range. */
static int
wanted(struct slice header, struct slice type)
{
    int best_match = 0;
    int best = 0;
    while (header.length > 0) {
        struct slice item = take(&header, ',');
        const struct slice range = take(&item, ';');
        int q = 1000;
        while (item.length > 0) {
            struct slice parameter = take(&item, ';');
            const struct slice name = take(&parameter, '=');
            if (slice_equal_nocase(name, SLICE("q"))) {
                q = quality(slice_trim(parameter));
            }
        }
        const int matched = match(range, type);
        if (matched > best_match) {
            best_match = matched;
            best = q;
        }
    }
    return best;
}

int
web_accept_choose(const char *header, const char *const *types, size_t count)
{
    if (header == NULL || slice_trim(slice_string(header)).length == 0) {
        return 0;
    }
    int chosen = -1;
    int best = 0;
    for (size_t i = 0; i < count; i++) {
        const int q = wanted(slice_string(header), slice_string(types[i]));
        if (q > best) {
            best = q;
            chosen = (int)i;
        }
    }
    return chosen;
}
