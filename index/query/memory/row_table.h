/* Hash tables of rows, whose memory is counted. */
#ifndef INDEX_QUERY_MEMORY_ROW_TABLE_H
#define INDEX_QUERY_MEMORY_ROW_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "index/quad_source.h"
#include "store/memory_account.h"

static inline uint64_t
hash_mix(uint64_t a, uint64_t b)
{
    a ^= b + 0x9E3779B97F4A7C15u + (a << 6) + (a >> 2);
    a *= 0xBF58476D1CE4E5B9u;
    return a ^ a >> 29;
}
uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t length);

/* Rows of `width` identifiers, found by the hash of their first `keys`. Rows stay where they were
 * put in order; equal keys form a chain, newest first. */
struct row_table {
    struct memory_account *account;
    const char *what;
    size_t width, keys;
    oid *rows;
    uint32_t *chain; /* of each row: the row before it in its place + 1, or 0 */
    size_t count, room;
    /* The newest row of each place + 1, 0: none; above it the upper half of its key's hash, by
     * which most other keys are told without a look at the row. */
    uint64_t *table;
    size_t places; /* a power of two */
};

void row_table_init(struct row_table *table, struct memory_account *account, const char *what,
                    size_t width, size_t keys);
/* Also of one that is all zero: of an operator for which there was no room. */
void row_table_release(struct row_table *table);
void row_table_reset(struct row_table *table);
/* Bytes that it needs for the next row to be added; 0 when there is room. */
size_t row_table_growth(const struct row_table *table);
/* Returns how much memory so many rows in all will take. row_table_reserve makes room for them at
 * once, without moving them in between. */
size_t row_table_growth_to(const struct row_table *table, size_t rows);
enum status row_table_reserve(struct row_table *table, size_t rows, struct reason *why);
enum status row_table_add(struct row_table *table, const oid *row, struct reason *why);
/* Adds the row unless one with equal keys is there; *added says which, *at its number. */
enum status row_table_put(struct row_table *table, const oid *row, bool *added, size_t *at,
                          struct reason *why);
/* First and next row with equal keys, SIZE_MAX at the end. */
size_t row_table_find(const struct row_table *table, const oid *keys);
/* Does what row_table_find does for many keys of one identifier, which stand `stride` apart; what
 * is looked at comes into the processor's cache for all of them at a time. */
enum { ROW_TABLE_MANY = 256 };
void row_table_find_many(const struct row_table *table, const oid *keys, size_t stride,
                         size_t count, size_t found[ROW_TABLE_MANY]);
size_t row_table_next(const struct row_table *table, const oid *keys, size_t at);
static inline const oid *
row_table_row(const struct row_table *table, size_t at)
{
    return table->rows + at * table->width;
}

#endif
