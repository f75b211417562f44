/* Sums of triples by value. */
#include "base/array.h"
#include "base/memory.h"
#include "index/client/federation/federation_counts.h"

void
totals_add(struct totals *totals, oid value, uint64_t triples)
{
    totals->list = array_grow(totals->list, totals->count, &totals->room, sizeof(*totals->list));
    totals->list[totals->count++] = (struct triple_count){value, triples};
}

static int
compare_values(const void *a, const void *b)
{
    const oid left = ((const struct triple_count *)a)->value;
    const oid right = ((const struct triple_count *)b)->value;
    return (left > right) - (left < right);
}

enum status
totals_sum(struct totals *totals, const struct sort_check *check, struct reason *why)
{
    size_t kept = 0;
    TRY(checked_sort(totals->list, totals->count, sizeof(*totals->list), compare_values, check,
                     why));
    for (size_t i = 0; i < totals->count; i++) {
        const struct triple_count one = totals->list[i];
        if (kept == 0 || totals->list[kept - 1].value != one.value) {
            totals->list[kept++] = one;
        } else if (__builtin_add_overflow(totals->list[kept - 1].triples, one.triples,
                                          &totals->list[kept - 1].triples)) {
            return row_stream_malformed(why);
        }
    }
    totals->count = kept;
    return STATUS_OK;
}
