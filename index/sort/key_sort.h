/* Sorting many byte strings, in byte order. */
#ifndef INDEX_SORT_KEY_SORT_H
#define INDEX_SORT_KEY_SORT_H

#include <stdint.h>

#include "base/slice.h"

/* Fills order with 0 .. count-1 so that keys[order[i]] ascend; equal ones keep their order. Fewer
 * than 2^32 keys. */
void key_sort(const struct slice *keys, uint32_t *order, size_t count);

#endif
