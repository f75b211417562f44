#include "index/predicate_sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { TABLE_AT_FIRST = 256 };

void
predicate_sets_release(struct predicate_sets *sets)
{
    free(sets->sets);
    free(sets->predicates);
    free(sets->rows);
    free(sets->table);
    *sets = (struct predicate_sets){0};
}

static uint64_t
hash_of(const oid *predicates, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ predicates[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash;
}

/* Its place in the table, or the free one where it would go. */
static size_t
slot_of(const struct predicate_sets *sets, uint64_t hash, const oid *predicates, size_t count)
{
    size_t slot = hash & sets->mask;
    for (; sets->table[slot] != 0; slot = (slot + 1) & sets->mask) {
        const struct predicate_set *set = &sets->sets[sets->table[slot] - 1];
        if (set->hash == hash && set->count == count &&
            memcmp(sets->predicates + set->first, predicates, count * sizeof(oid)) == 0) {
            break;
        }
    }
    return slot;
}

struct predicate_set *
predicate_sets_find(const struct predicate_sets *sets, const oid *predicates, size_t count)
{
    if (sets->count == 0) {
        return NULL;
    }
    const uint32_t index =
        sets->table[slot_of(sets, hash_of(predicates, count), predicates, count)];
    return index > 0 ? &sets->sets[index - 1] : NULL;
}

static void
grow_table(struct predicate_sets *sets)
{
    const size_t size = sets->table ? 2 * (sets->mask + 1) : TABLE_AT_FIRST;
    free(sets->table);
    sets->table = memory_zero(size, sizeof(*sets->table));
    sets->mask = size - 1;
    for (size_t i = 0; i < sets->count; i++) {
        size_t slot = sets->sets[i].hash & sets->mask;
        while (sets->table[slot] != 0) {
            slot = (slot + 1) & sets->mask;
        }
        sets->table[slot] = (uint32_t)i + 1;
    }
}

static void
make_room(struct predicate_sets *sets, size_t count)
{
    if (sets->table == NULL || 2 * (sets->count + 1) > sets->mask) {
        grow_table(sets);
    }
    if (sets->count == sets->capacity) {
        sets->capacity = sets->capacity ? 2 * sets->capacity : 64;
        sets->sets = memory_resize(sets->sets, sets->capacity, sizeof(*sets->sets));
    }
    if (sets->used + count > sets->room) {
        sets->room = 2 * (sets->used + count) + 256;
        sets->predicates = memory_resize(sets->predicates, sets->room, sizeof(*sets->predicates));
        sets->rows = memory_resize(sets->rows, sets->room, sizeof(*sets->rows));
    }
}

struct predicate_set *
predicate_sets_add(struct predicate_sets *sets, const oid *predicates, size_t count)
{
    const uint64_t hash = hash_of(predicates, count);
    if (sets->count > 0) {
        const uint32_t index = sets->table[slot_of(sets, hash, predicates, count)];
        if (index > 0) {
            return &sets->sets[index - 1];
        }
    }
    make_room(sets, count);
    struct predicate_set *set = &sets->sets[sets->count++];
    *set = (struct predicate_set){.hash = hash, .first = sets->used, .count = count};
    for (size_t i = 0; i < count; i++) {
        sets->predicates[sets->used] = predicates[i];
        sets->rows[sets->used++] = 0;
        set->signature |= predicate_bit(predicates[i]);
    }
    size_t slot = hash & sets->mask;
    while (sets->table[slot] != 0) {
        slot = (slot + 1) & sets->mask;
    }
    sets->table[slot] = (uint32_t)sets->count;
    return set;
}

int64_t *
predicate_set_rows(const struct predicate_sets *sets, const struct predicate_set *set,
                   oid predicate)
{
    const oid *predicates = sets->predicates + set->first;
    size_t low = 0;
    size_t high = set->count;
    if ((set->signature & predicate_bit(predicate)) == 0) {
        return NULL;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (predicates[middle] < predicate) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < set->count && predicates[low] == predicate ? &sets->rows[set->first + low] : NULL;
}
