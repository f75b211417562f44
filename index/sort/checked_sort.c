#include "index/sort/checked_sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { RUN = 4096 };

struct merging {
    size_t size;
    int (*compare)(const void *a, const void *b);
    const struct sort_check *check;
    size_t moved; /* items since the last look */
};

static enum status
check_after(struct merging *merging, size_t moved, struct reason *why)
{
    merging->moved += moved;
    if (merging->moved < SORT_STEP) {
        return STATUS_OK;
    }
    merging->moved = 0;
    return merging->check->check(merging->check->context, why);
}

/* Merges from[0..middle) and from[middle..count) into `to`. */
static enum status
merge(struct merging *merging, const char *from, size_t middle, size_t count, char *to,
      struct reason *why)
{
    const size_t size = merging->size;
    size_t left = 0, right = middle;
    for (size_t at = 0; at < count; at++) {
        const bool takes_left =
            right == count ||
            (left < middle && merging->compare(from + left * size, from + right * size) <= 0);
        memcpy(to + at * size, from + (takes_left ? left++ : right++) * size, size);
        TRY(check_after(merging, 1, why));
    }
    return STATUS_OK;
}

/* Goes between the two arrays until one run is left, which *sorted then holds. */
static enum status
merge_runs(struct merging *merging, char *items, char *spare, size_t count, char **sorted,
           struct reason *why)
{
    *sorted = items;
    for (size_t run = RUN; run < count; run *= 2) {
        char *from = *sorted, *to = from == items ? spare : items;
        for (size_t at = 0; at < count; at += 2 * run) {
            const size_t both = count - at < 2 * run ? count - at : 2 * run;
            TRY(merge(merging, from + at * merging->size, both < run ? both : run, both,
                      to + at * merging->size, why));
        }
        *sorted = to;
    }
    return STATUS_OK;
}

enum status
checked_sort(void *items, size_t count, size_t size, int (*compare)(const void *a, const void *b),
             const struct sort_check *check, struct reason *why)
{
    struct merging merging = {size, compare, check, 0};
    for (size_t at = 0; at < count; at += RUN) {
        const size_t run = count - at < RUN ? count - at : RUN;
        qsort((char *)items + at * size, run, size, compare);
        TRY(check_after(&merging, run, why));
    }
    if (count <= RUN) {
        return STATUS_OK;
    }
    char *spare = memory_alloc(count * size), *sorted;
    const enum status status = merge_runs(&merging, items, spare, count, &sorted, why);
    if (status == STATUS_OK && sorted == spare) {
        memcpy(items, spare, count * size);
    }
    free(spare);
    return status;
}
