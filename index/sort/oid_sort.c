#include "index/sort/oid_sort.h"

enum { DIGIT_BITS = 11, DIGIT_VALUES = 1 << DIGIT_BITS, DIGITS = 6, SMALL = 64 };

/* Moves items into target, stable, by the digit at shift. */
static void
scatter(const struct sort_item *items, struct sort_item *target, size_t count, unsigned shift)
{
    size_t at[DIGIT_VALUES] = {0};
    for (size_t i = 0; i < count; i++) {
        at[items[i].key >> shift & (DIGIT_VALUES - 1)]++;
    }
    size_t sum = 0;
    for (size_t i = 0; i < DIGIT_VALUES; i++) {
        const size_t n = at[i];
        at[i] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count; i++) {
        target[at[items[i].key >> shift & (DIGIT_VALUES - 1)]++] = items[i];
    }
}

static void
insertion_sort(struct sort_item *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct sort_item item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].key > item.key; at--) {
            items[at] = items[at - 1];
        }
        items[at] = item;
    }
}

struct sort_item *
oid_sort(struct sort_item *items, struct sort_item *spare, size_t count)
{
    if (count <= SMALL) {
        insertion_sort(items, count);
        return items;
    }
    uint64_t differing = 0;
    for (size_t i = 1; i < count; i++) {
        differing |= items[i].key ^ items[0].key;
    }
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        const unsigned shift = digit * DIGIT_BITS;
        if ((differing >> shift & (DIGIT_VALUES - 1)) == 0) {
            continue;
        }
        scatter(items, spare, count, shift);
        struct sort_item *swap = items;
        items = spare;
        spare = swap;
    }
    return items;
}
