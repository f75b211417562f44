/* Sorting that looks again and again whether to go on, for requests that may be cancelled or have
 * a limit of time. */
#ifndef INDEX_SORT_CHECKED_SORT_H
#define INDEX_SORT_CHECKED_SORT_H

#include <stddef.h>

#include "base/status.h"

/* Asked once in SORT_STEP items that are compared or moved, or more often; a failure ends the
 * sort with it. */
enum { SORT_STEP = 1 << 16 };
struct sort_check {
    enum status (*check)(const void *context, struct reason *why);
    const void *context;
};

/* Sorts count items of size bytes, which are in no certain order after a failure. Takes as much
 * memory again as the items have. */
enum status checked_sort(void *items, size_t count, size_t size,
                         int (*compare)(const void *a, const void *b),
                         const struct sort_check *check, struct reason *why);

#endif
