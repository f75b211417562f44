/* From the first byte on, eight at a time, behind what all texts have in common. */
#include "dumps/text_sort.h"

#include <endian.h>
#include <stdbool.h>

enum { INSERTION_MAXIMUM = 48, FEW = 12, SAMPLES = 8, AHEAD = 12 };

/* Length of what both begin with, at most `most`; their first `from` bytes are known to be equal.
 */
static size_t
common_of_two(const char *a, const char *b, size_t from, size_t most)
{
    uint64_t left, right;
    for (; from + sizeof left <= most; from += sizeof left) {
        memcpy(&left, a + from, sizeof left);
        memcpy(&right, b + from, sizeof right);
        if (left != right) {
            return from + (size_t)__builtin_ctzll(le64toh(left) ^ le64toh(right)) / 8;
        }
    }
    while (from < most && a[from] == b[from]) {
        from++;
    }
    return from;
}

static inline size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Gives each its order behind what all have in common, whose length is returned. As texts may be
 * far away in memory each is looked at once, unless it disproves what a few suggested. */
static size_t
give_orders(struct text_place *places, size_t count, size_t from)
{
    const struct text_place first = places[0];
    size_t common = first.length;
    for (size_t i = 1; i < SAMPLES; i++) {
        const struct text_place *place = &places[i * (count - 1) / (SAMPLES - 1)];
        common = common_of_two(first.text, place->text, from, smaller(common, place->length));
    }
    for (size_t i = 0; i < count; i++) {
        struct text_place *place = &places[i];
        if (i + AHEAD < count) {
            __builtin_prefetch(places[i + AHEAD].text + common);
        }
        const size_t length =
            common_of_two(first.text, place->text, from, smaller(common, place->length));
        if (length < common) {
            common = length;
            i = (size_t)-1; /* from the first */
            continue;
        }
        uint64_t order = 0;
        memcpy(&order, place->text + common, smaller(place->length - common, sizeof order));
        place->order = be64toh(order);
    }
    return common;
}

/* Byte by byte from the last; bytes that are the same in all cost nothing. */
static void
sort_radix(struct text_place *places, size_t count, struct text_place *spare)
{
    struct text_place *from = places, *to = spare;
    uint64_t varying = 0;
    for (size_t i = 1; i < count; i++) {
        varying |= places[i].order ^ places->order;
    }
    for (unsigned shift = 0; shift < 8 * sizeof places->order; shift += 8) {
        size_t ends[(1 << 8) + 1] = {0};
        if ((varying >> shift & 0xff) == 0) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            ends[(from[i].order >> shift & 0xff) + 1]++;
        }
        for (size_t i = 0; i < 1 << 8; i++) {
            ends[i + 1] += ends[i];
        }
        for (size_t i = 0; i < count; i++) {
            to[ends[from[i].order >> shift & 0xff]++] = from[i];
        }
        struct text_place *const swap = from;
        from = to;
        to = swap;
    }
    if (from != places) {
        memcpy(places, from, count * sizeof *places);
    }
}

void
text_sort_numbers(struct text_place *places, size_t count, struct text_place *spare)
{
    if (count > INSERTION_MAXIMUM) {
        sort_radix(places, count, spare);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const struct text_place place = places[i];
        size_t at = i;
        for (; at > 0 && places[at - 1].order > place.order; at--) {
            places[at] = places[at - 1];
        }
        places[at] = place;
    }
}

static bool
is_behind(const struct text_place *a, const struct text_place *b)
{
    const int order = memcmp(a->text, b->text, smaller(a->length, b->length));
    return order != 0 ? order > 0 : a->length > b->length;
}

static void
sort_few(struct text_place *places, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct text_place place = places[i];
        size_t at = i;
        for (; at > 0 && is_behind(&places[at - 1], &place); at--) {
            places[at] = places[at - 1];
        }
        places[at] = place;
    }
}

/* Each call goes on by eight bytes at least. */
static void
sort_from(struct text_place *places, size_t count, size_t from, struct text_place *spare)
{
    if (count <= FEW) {
        sort_few(places, count);
        return;
    }
    const size_t common = give_orders(places, count, from);
    text_sort_numbers(places, count, spare);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && places[end].order == places[i].order; end++) {
        }
        /* A last byte of 0: they have ended, and are equal. */
        if (end - i > 1 && (places[i].order & 0xff) != 0) {
            sort_from(&places[i], end - i, common + sizeof places->order, spare);
        }
    }
}

void
text_sort(struct text_place *places, size_t count, struct text_place *spare)
{
    sort_from(places, count, 0, spare);
}
