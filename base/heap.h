/* A binary heap over an array that the caller keeps, whose elements may be of any shape: the caller
 * says which of two places comes first, and swaps two places. At place 0 is the element before
 * which none comes. Both functions are inlined together with what the caller gives them, so that a
 * heap costs what one written for its elements would. Not thread-safe. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether the element at place a comes strictly before the one at place b. */
typedef bool heap_before(const void *heap, size_t a, size_t b);
/* Swaps the elements at two places, and whatever remembers where they are. */
typedef void heap_swap(void *heap, size_t a, size_t b);

/* Moves the element at this place towards the first until its parent does not come after it: after
 * it was added at the end, or now comes earlier. Returns its place. */
static inline __attribute__((always_inline)) size_t
heap_rise(void *heap, size_t at, heap_before *before, heap_swap *swap)
{
    for (; at > 0 && before(heap, at, (at - 1) / 2); at = (at - 1) / 2) {
        swap(heap, at, (at - 1) / 2);
    }
    return at;
}

/* Moves the element at this place towards the end until no child comes before it: after it took the
 * place of one that was removed, or now comes later. count: the elements of the heap. */
static inline __attribute__((always_inline)) void
heap_sink(void *heap, size_t count, size_t at, heap_before *before, heap_swap *swap)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && before(heap, child + 1, child)) {
            child++;
        }
        if (!before(heap, child, at)) {
            return;
        }
        swap(heap, at, child);
    }
}

#endif
