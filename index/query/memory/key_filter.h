/* Tells which keys a table may have: a Bloom filter with one hash (Bloom 1970), small enough for a
 * processor's cache, so that rows without a match are left out before they are made. */
#ifndef INDEX_QUERY_MEMORY_KEY_FILTER_H
#define INDEX_QUERY_MEMORY_KEY_FILTER_H

#include "index/query/memory/row_table.h"

struct key_filter {
    uint64_t *words; /* NULL: there is no filter, and every key may be there */
    unsigned shift;  /* of a hash, to the number of its bit */
};

/* Bytes of a filter of this table; 0 when it has too many rows for one. */
size_t key_filter_size(const struct row_table *table);
/* Fills the filter with one column; the memory has to be counted before. */
void key_filter_fill(struct key_filter *filter, const struct row_table *table, size_t column);
void key_filter_release(struct key_filter *filter);

static inline uint64_t
key_filter_bit(const struct key_filter *filter, oid key)
{
    return key * UINT64_C(0x9E3779B97F4A7C15) >> filter->shift;
}
/* False: the table does not have the key. */
static inline bool
key_filter_may_have(const struct key_filter *filter, oid key)
{
    const uint64_t bit = key_filter_bit(filter, key);
    return filter->words[bit / 64] >> bit % 64 & 1;
}

#endif
