/* Stable radix sort of 64-bit keys that carry an index, over the digits that differ. */
#ifndef INDEX_SORT_OID_SORT_H
#define INDEX_SORT_OID_SORT_H

#include <stddef.h>
#include <stdint.h>

#include "index/sort/checked_sort.h"

struct sort_item {
    uint64_t key;
    uint32_t index;
};

/* Sorts items by key. spare: room for as many. Returns the array that holds the result: one of
 * the two. */
struct sort_item *oid_sort(struct sort_item *items, struct sort_item *spare, size_t count);
/* Sorts likewise, asking the check; after a failure the items are in neither array whole. */
enum status oid_sort_checked(struct sort_item *items, struct sort_item *spare, size_t count,
                             const struct sort_check *check, struct sort_item **sorted,
                             struct reason *why);

#endif
