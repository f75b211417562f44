/* Numbers to small numbers: open addressing with linear probing, deletion by moving back, so
 * there are no tombstones. 12 bytes a slot, at most 3/4 full. Key 0 is allowed. Zeros: an empty
 * one.
 *
 * What is found by more than a number is kept in an array, and its place in it under the hash; one
 * with a hash that is another's goes under the next hash that is free:
 *
 *   for (hash = ...; (at = map_get(map, hash)) != MAP_NONE && !is_same(array[at], sought); hash++)
 * {
 *   } */
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
/* Whether it was not there, as a set of numbers. */
bool map_add(struct map *map, uint64_t key);
void map_remove(struct map *map, uint64_t key); /* nothing when it is not there */

#endif
