/* Many texts into order of bytes, shorter first. Texts have no NUL. */
#ifndef DUMPS_TEXT_SORT_H
#define DUMPS_TEXT_SORT_H

#include <stdint.h>

#include "base/slice.h"

/* order is scratch of text_sort, and what text_sort_numbers goes by. */
struct text_place {
    uint64_t order;
    const char *text;
    uint32_t length, item; /* item: the caller's */
};
static inline struct text_place
text_place_of(struct slice text, size_t item)
{
    return (struct text_place){0, text.at, (uint32_t)text.length, (uint32_t)item};
}
/* spare: as many places. Takes time in proportion to the bytes that tell texts apart. */
void text_sort(struct text_place *places, size_t count, struct text_place *spare);
/* Sorts by order; places of one order stay as they were. */
void text_sort_numbers(struct text_place *places, size_t count, struct text_place *spare);

#endif
