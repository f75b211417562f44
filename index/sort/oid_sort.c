#include "index/sort/oid_sort.h"

enum { DIGIT_BITS = 11, DIGIT_VALUES = 1 << DIGIT_BITS, DIGITS = 6, SMALL = 64 };

static enum status
check_step(const struct sort_check *check, struct reason *why)
{
    return check == NULL ? STATUS_OK : check->check(check->context, why);
}

/* The end of the step that begins at `from`. */
static size_t
step_end(size_t from, size_t count)
{
    return count - from < SORT_STEP ? count : from + SORT_STEP;
}

/* Moves items into target, stable, by the digit at shift. */
static enum status
scatter(const struct sort_item *items, struct sort_item *target, size_t count, unsigned shift,
        const struct sort_check *check, struct reason *why)
{
    size_t at[DIGIT_VALUES] = {0};
    for (size_t i = 0; i < count;) {
        TRY(check_step(check, why));
        for (const size_t end = step_end(i, count); i < end; i++) {
            at[items[i].key >> shift & (DIGIT_VALUES - 1)]++;
        }
    }
    size_t sum = 0;
    for (size_t i = 0; i < DIGIT_VALUES; i++) {
        const size_t n = at[i];
        at[i] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count;) {
        TRY(check_step(check, why));
        for (const size_t end = step_end(i, count); i < end; i++) {
            target[at[items[i].key >> shift & (DIGIT_VALUES - 1)]++] = items[i];
        }
    }
    return STATUS_OK;
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

enum status
oid_sort_checked(struct sort_item *items, struct sort_item *spare, size_t count,
                 const struct sort_check *check, struct sort_item **sorted, struct reason *why)
{
    *sorted = items;
    if (count <= SMALL) {
        insertion_sort(items, count);
        return STATUS_OK;
    }
    uint64_t differing = 0;
    for (size_t i = 0; i < count;) {
        TRY(check_step(check, why));
        for (const size_t end = step_end(i, count); i < end; i++) {
            differing |= items[i].key ^ items[0].key;
        }
    }
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        const unsigned shift = digit * DIGIT_BITS;
        if ((differing >> shift & (DIGIT_VALUES - 1)) == 0) {
            continue;
        }
        struct sort_item *target = *sorted == items ? spare : items;
        TRY(scatter(*sorted, target, count, shift, check, why));
        *sorted = target;
    }
    return STATUS_OK;
}

struct sort_item *
oid_sort(struct sort_item *items, struct sort_item *spare, size_t count)
{
    struct reason why;
    struct sort_item *sorted;
    /* Without a check nothing can fail. */
    (void)oid_sort_checked(items, spare, count, NULL, &sorted, &why);
    return sorted;
}
