#include "index/query/memory/row_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

uint64_t
hash_bytes(uint64_t seed, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t hash = hash_mix(seed, length), word = 0;
    for (; length >= 8; at += 8, length -= 8) {
        memcpy(&word, at, 8);
        hash = hash_mix(hash, word);
    }
    word = 0;
    if (length) {
        memcpy(&word, at, length);
        hash = hash_mix(hash, word);
    }
    return hash ^ hash >> 32;
}

void
row_table_init(struct row_table *table, struct memory_account *account, const char *what,
               size_t width, size_t keys)
{
    *table = (struct row_table){.account = account, .what = what, .width = width, .keys = keys};
}

static size_t
row_size(const struct row_table *table)
{
    return table->width * sizeof *table->rows + sizeof *table->chain;
}

void
row_table_release(struct row_table *table)
{
    if (table->account == NULL) {
        return;
    }
    memory_give(table->account,
                table->room * row_size(table) + table->places * sizeof *table->table);
    free(table->rows);
    free(table->chain);
    free(table->table);
    row_table_init(table, table->account, table->what, table->width, table->keys);
}

static inline uint64_t
hash_keys(const struct row_table *table, const oid *keys)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < table->keys; i++) {
        hash = hash_mix(hash, keys[i]);
    }
    return hash ^ hash >> 32;
}

/* A table that once was large is not cleared whole for a few rows. */
void
row_table_reset(struct row_table *table)
{
    if (table->count < table->places / 8) {
        for (size_t at = 0; at < table->count; at++) {
            table->table[hash_keys(table, row_table_row(table, at)) & (table->places - 1)] = 0;
        }
    } else if (table->places) {
        memset(table->table, 0, table->places * sizeof *table->table);
    }
    table->count = 0;
}

static inline bool
keys_equal(const struct row_table *table, const oid *a, const oid *b)
{
    for (size_t i = 0; i < table->keys; i++) {
        if (a[i] != b[i]) {
            return false;
        }
    }
    return true;
}

static inline void
link_row(struct row_table *table, size_t at, uint64_t hash)
{
    uint64_t *place = &table->table[hash & (table->places - 1)];
    table->chain[at] = (uint32_t)*place;
    *place = (hash & ~(uint64_t)UINT32_MAX) | (at + 1);
}

static size_t
room_for(const struct row_table *table, size_t rows)
{
    enum { FIRST = 64 };
    size_t room = table->room ? table->room : FIRST;
    while (room < rows) {
        room *= 2;
    }
    return room;
}

size_t
row_table_growth_to(const struct row_table *table, size_t rows)
{
    const size_t room = room_for(table, rows);
    return rows <= table->room ? 0
                               : (room - table->room) * row_size(table) +
                                     (2 * room - table->places) * sizeof *table->table;
}

size_t
row_table_growth(const struct row_table *table)
{
    return row_table_growth_to(table, table->count + 1);
}

enum status
row_table_reserve(struct row_table *table, size_t rows, struct reason *why)
{
    const size_t room = room_for(table, rows);
    if (rows <= table->room) {
        return STATUS_OK;
    }
    if (room >= UINT32_MAX) {
        return status_fail(why, STATUS_LIMIT, "the query holds too many rows (%s)", table->what);
    }
    const size_t places = room * 2;
    TRY(memory_take(table->account, row_table_growth_to(table, rows), table->what, why));
    table->rows =
        memory_resize(table->rows, room * (table->width ? table->width : 1), sizeof *table->rows);
    table->chain = memory_resize(table->chain, room, sizeof *table->chain);
    free(table->table);
    table->table = memory_zero(places, sizeof *table->table);
    table->room = room;
    table->places = places;
    for (size_t at = 0; at < table->count; at++) {
        link_row(table, at, hash_keys(table, row_table_row(table, at)));
    }
    return STATUS_OK;
}

static enum status
add_hashed(struct row_table *table, const oid *row, uint64_t hash, struct reason *why)
{
    TRY(row_table_reserve(table, table->count + 1, why));
    if (table->width) {
        memcpy(table->rows + table->count * table->width, row, table->width * sizeof *row);
    }
    link_row(table, table->count++, hash);
    return STATUS_OK;
}

enum status
row_table_add(struct row_table *table, const oid *row, struct reason *why)
{
    return add_hashed(table, row, hash_keys(table, row), why);
}

static inline size_t
first_equal(const struct row_table *table, const oid *keys, uint32_t link)
{
    while (link) {
        const size_t at = link - 1;
        if (keys_equal(table, row_table_row(table, at), keys)) {
            return at;
        }
        link = table->chain[at];
    }
    return SIZE_MAX;
}

/* The first row that may be equal + 1, or 0. */
static inline uint32_t
first_link(const struct row_table *table, uint64_t hash)
{
    const uint64_t place = table->table[hash & (table->places - 1)];
    const uint32_t newest = (uint32_t)place;
    return newest && (place ^ hash) >> 32 ? table->chain[newest - 1] : newest;
}

static inline size_t
find_hashed(const struct row_table *table, const oid *keys, uint64_t hash)
{
    return table->places ? first_equal(table, keys, first_link(table, hash)) : SIZE_MAX;
}

enum status
row_table_put(struct row_table *table, const oid *row, bool *added, size_t *at, struct reason *why)
{
    const uint64_t hash = hash_keys(table, row);
    *at = find_hashed(table, row, hash);
    *added = *at == SIZE_MAX;
    if (*added) {
        *at = table->count;
        return add_hashed(table, row, hash, why);
    }
    return STATUS_OK;
}

size_t
row_table_find(const struct row_table *table, const oid *keys)
{
    return find_hashed(table, keys, hash_keys(table, keys));
}

void
row_table_find_many(const struct row_table *table, const oid *keys, size_t stride, size_t count,
                    size_t found[ROW_TABLE_MANY])
{
    uint64_t hashes[ROW_TABLE_MANY];
    uint32_t links[ROW_TABLE_MANY] = {0};
    for (size_t i = 0; i < count && table->places; i++) {
        const uint64_t hash = hash_mix(0, keys[i * stride]);
        hashes[i] = hash ^ hash >> 32;
        __builtin_prefetch(&table->table[hashes[i] & (table->places - 1)]);
    }
    for (size_t i = 0; i < count && table->places; i++) {
        links[i] = first_link(table, hashes[i]);
        __builtin_prefetch(row_table_row(table, links[i] ? links[i] - 1 : 0));
    }
    for (size_t i = 0; i < count; i++) {
        found[i] = first_equal(table, &keys[i * stride], links[i]);
    }
}

size_t
row_table_next(const struct row_table *table, const oid *keys, size_t at)
{
    return first_equal(table, keys, table->chain[at]);
}
