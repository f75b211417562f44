/* Sorting six ways with five single-key sorts. A stable sort by one place turns one order into
 * another: CSPO by object gives OCSP, that by predicate POCS, that by subject SPOC and by graph
 * CPOS, and SPOC by object gives OSPC. */
#include "index/quads/change_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/sort/oid_sort.h"

enum { AHEAD = 16 }; /* changes whose memory is asked for early */

static inline uint64_t
place_of(const struct quad_change *change, int place)
{
    const oid places[4] = {change->quad.subject, change->quad.predicate, change->quad.object,
                           change->quad.graph};
    return places[place];
}

static uint32_t *
sorted_by(const struct quad_change *changes, size_t count, const uint32_t *from, int place,
          struct sort_item *items, struct sort_item *spare)
{
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) {
            __builtin_prefetch(&changes[from[i + AHEAD]]);
        }
        items[i] = (struct sort_item){place_of(&changes[from[i]], place), from[i]};
    }
    const struct sort_item *sorted = oid_sort(items, spare, count);
    uint32_t *order = memory_alloc(count * sizeof(*order));
    for (size_t i = 0; i < count; i++) {
        order[i] = sorted[i].index;
    }
    return order;
}

struct change_set *
change_set_new(struct quad_change *changes, size_t count)
{
    struct change_set *set = memory_new(sizeof(*set));
    set->changes = changes;
    set->count = count;
    struct sort_item *items = memory_alloc(count * sizeof(*items));
    struct sort_item *spare = memory_alloc(count * sizeof(*spare));
    uint32_t *base = memory_alloc(count * sizeof(*base));
    memory_prefer_large_pages(items, count * sizeof(*items));
    memory_prefer_large_pages(spare, count * sizeof(*spare));
    for (size_t i = 0; i < count; i++) {
        base[i] = (uint32_t)i;
    }
    static const struct {
        enum quad_order order, from;
        int place;
    } steps[] = {{ORDER_OCSP, ORDER_CSPO, 2},
                 {ORDER_POCS, ORDER_OCSP, 1},
                 {ORDER_SPOC, ORDER_POCS, 0},
                 {ORDER_CPOS, ORDER_POCS, 3},
                 {ORDER_OSPC, ORDER_SPOC, 2}};
    set->orders[ORDER_CSPO] = base;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        set->orders[steps[i].order] =
            sorted_by(changes, count, set->orders[steps[i].from], steps[i].place, items, spare);
    }
    free(items);
    free(spare);
    return set;
}

struct change_set *
change_set_use(struct change_set *set)
{
    set->users++;
    return set;
}

void
change_set_free(struct change_set *set)
{
    if (set != NULL && set->users-- == 0) {
        for (int i = 0; i < ORDER_COUNT; i++) {
            free(set->orders[i]);
        }
        free(set->changes);
        free(set->documents);
        free(set);
    }
}

size_t
change_set_bytes(const struct change_set *set)
{
    return sizeof(*set) + set->count * (sizeof(*set->changes) + ORDER_COUNT * sizeof(uint32_t)) +
           set->document_count * sizeof(*set->documents);
}

/* It is at `low` or after, and at `high` or before. */
static size_t
find_between(const struct change_set *set, enum quad_order order, const struct row *row, size_t low,
             size_t high)
{
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct row other = change_row(set, order, middle);
        if (row_compare(&other, row) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

size_t
change_set_find(const struct change_set *set, enum quad_order order, const struct row *row)
{
    return find_between(set, order, row, 0, set->count);
}

size_t
change_set_find_from(const struct change_set *set, enum quad_order order, const struct row *row,
                     size_t from)
{
    size_t low = from, step = 1;
    while (low + step <= set->count) {
        const struct row other = change_row(set, order, low + step - 1);
        if (row_compare(&other, row) >= 0) {
            return find_between(set, order, row, low, low + step - 1);
        }
        low += step;
        step *= 2;
    }
    return find_between(set, order, row, low, set->count);
}

struct change_set *
change_set_join(const struct change_set *older, const struct change_set *newer)
{
    struct quad_change *changes =
        memory_alloc((older->count + newer->count + 1) * sizeof(*changes));
    size_t count = 0, from = 0;
    for (size_t i = 0; i < newer->count; i++) {
        const struct row row = row_of(&newer->changes[i].quad, ORDER_CSPO);
        int comparison = 1;
        while (from < older->count) {
            const struct row other = row_of(&older->changes[from].quad, ORDER_CSPO);
            comparison = row_compare(&other, &row);
            if (comparison >= 0) {
                break;
            }
            changes[count++] = older->changes[from++];
        }
        from += from < older->count && comparison == 0;
        changes[count++] = newer->changes[i];
    }
    while (from < older->count) {
        changes[count++] = older->changes[from++];
    }
    struct change_set *set = change_set_new(changes, count);
    set->batch = older->batch;
    return set;
}
