/* Arrays that grow by one element at a time. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include "base/memory.h"

/* Returns the array with room for an element more than count, which is at most *capacity. It moves
 * when it doubles; NULL and 0 are an array without room. size: of an element. */
static inline void *
array_grow(void *array, size_t count, size_t *capacity, size_t size)
{
    enum { FIRST = 64 };
    if (count < *capacity) {
        return array;
    }
    *capacity = *capacity > 0 ? 2 * *capacity : FIRST;
    return memory_resize(array, *capacity, size);
}

#endif
