/* Numbers to small numbers: open addressing with linear probing, deletion by moving back, so
 * there are no tombstones. 12 bytes a slot, at most 3/4 full. Key 0 is allowed. Zeros: an empty
 * one.
 *
 * Things that are found by more than a number are kept in an array, and the map has the place of
 * each under its hash. A thing whose hash is taken by another goes under the next free one. So a
 * search asks map_get for the hash, then for each number after it, until the thing at that place is
 * the one sought or the map has none. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAP_NONE = -1 }; /* as a value: not there */

struct map {
    uint64_t *keys;
    uint32_t *values; /* MAP_NONE: the slot is free */
    size_t mask;      /* slots - 1; 0: nothing allocated */
    size_t count;
};

/* The slot where a key's search begins, and the one where it ends: the key's, or a free one. The
 * map has slots. */
static inline size_t
map_home(const struct map *map, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & map->mask;
}

static inline size_t
map_slot(const struct map *map, uint64_t key)
{
    size_t at = map_home(map, key);
    while (map->values[at] != (uint32_t)MAP_NONE && map->keys[at] != key) {
        at = (at + 1) & map->mask;
    }
    return at;
}

/* Returns the key's value, or MAP_NONE. */
static inline uint32_t
map_get(const struct map *map, uint64_t key)
{
    return map->mask == 0 ? (uint32_t)MAP_NONE : map->values[map_slot(map, key)];
}

void map_init(struct map *map);
void map_release(struct map *map);
void map_clear(struct map *map); /* keeps small tables, frees large ones */
void map_set(struct map *map, uint64_t key, uint32_t value);
/* Uses the map as a set of numbers: adds one, and returns whether it was not there. */
bool map_add(struct map *map, uint64_t key);
void map_remove(struct map *map, uint64_t key); /* nothing when it is not there */

#endif
