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

void map_init(struct map *map);
void map_release(struct map *map);
void map_clear(struct map *map);                       /* keeps small tables, frees large ones */
uint32_t map_get(const struct map *map, uint64_t key); /* or MAP_NONE */
void map_set(struct map *map, uint64_t key, uint32_t value);
/* Uses the map as a set of numbers: adds one, and returns whether it was not there. */
bool map_add(struct map *map, uint64_t key);
void map_remove(struct map *map, uint64_t key); /* nothing when it is not there */

#endif
