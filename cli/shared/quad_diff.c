#include "cli/shared/quad_diff.h"

#include <stdlib.h>

#include "base/memory.h"

struct lines {
    struct slice *at;
    size_t count;
};

static int
compare(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

static struct lines
lines_of(struct slice text)
{
    struct lines lines = {NULL, 0};
    size_t room = 0;
    while (text.length > 0) {
        const size_t end = slice_find(text, '\n');
        if (end > 0) {
            if (lines.count == room) {
                room = room * 2 + 64;
                lines.at = memory_resize(lines.at, room, sizeof *lines.at);
            }
            lines.at[lines.count++] = slice_of(text.at, end);
        }
        const size_t used = end < text.length ? end + 1 : end;
        text = slice_of(text.at + used, text.length - used);
    }
    if (lines.count > 0) {
        qsort(lines.at, lines.count, sizeof *lines.at, compare);
    }
    return lines;
}

struct quad_diff
quad_diff_print(FILE *out, const char *heading, struct slice before, struct slice after)
{
    const struct lines old = lines_of(before), new = lines_of(after);
    struct quad_diff diff = {0, 0};
    size_t i = 0, j = 0;
    while (i < old.count || j < new.count) {
        const int order = i == old.count   ? 1
                          : j == new.count ? -1
                                           : slice_compare(old.at[i], new.at[j]);
        if (order == 0) {
            i++, j++;
            continue;
        }
        if (heading && diff.removed + diff.added == 0) {
            fprintf(out, "# %s\n", heading);
        }
        const struct slice quad = order < 0 ? old.at[i++] : new.at[j++];
        fprintf(out, "%c %.*s\n", order < 0 ? '-' : '+', SLICE_PRINT(quad));
        diff.removed += order < 0;
        diff.added += order > 0;
    }
    free(old.at);
    free(new.at);
    return diff;
}
