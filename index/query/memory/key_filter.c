#include "index/query/memory/key_filter.h"

#include <stdlib.h>

#include "base/memory.h"

/* Sixteen bits a key let one in sixteen others through; above the most, looking at the filter would
 * miss the cache as often as looking at the table. */
enum { BITS_PER_KEY = 16, BITS_LEAST = 10, BITS_MOST = 22 };

static unsigned
bits_of(const struct row_table *table)
{
    unsigned bits = BITS_LEAST;
    while (bits <= BITS_MOST && (size_t)1 << bits < table->count * BITS_PER_KEY) {
        bits++;
    }
    return bits;
}

size_t
key_filter_size(const struct row_table *table)
{
    const unsigned bits = bits_of(table);
    return bits > BITS_MOST ? 0 : ((size_t)1 << bits) / 8;
}

void
key_filter_fill(struct key_filter *filter, const struct row_table *table, size_t column)
{
    const unsigned bits = bits_of(table);
    filter->words = memory_zero(((size_t)1 << bits) / 64, sizeof *filter->words);
    filter->shift = 64 - bits;
    for (size_t i = 0; i < table->count; i++) {
        const uint64_t bit = key_filter_bit(filter, row_table_row(table, i)[column]);
        filter->words[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

void
key_filter_release(struct key_filter *filter)
{
    free(filter->words);
    filter->words = NULL;
}
