#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { FIRST_SLOTS = 64, KEEP_SLOTS = 1 << 16 };

void
map_init(struct map *map)
{
    *map = (struct map){NULL, NULL, 0, 0};
}

void
map_release(struct map *map)
{
    free(map->keys);
    free(map->values);
    map_init(map);
}

void
map_clear(struct map *map)
{
    if (map->mask >= KEEP_SLOTS) {
        map_release(map);
    } else if (map->count > 0) {
        memset(map->values, 0xff, (map->mask + 1) * sizeof *map->values);
        map->count = 0;
    }
}

static void
grow(struct map *map)
{
    const struct map old = *map;
    const size_t slots = old.mask == 0 ? FIRST_SLOTS : 2 * (old.mask + 1);
    map->keys = memory_resize(NULL, slots, sizeof *map->keys);
    map->values = memory_resize(NULL, slots, sizeof *map->values);
    memset(map->values, 0xff, slots * sizeof *map->values);
    map->mask = slots - 1;
    for (size_t i = 0; old.mask != 0 && i <= old.mask; i++) {
        if (old.values[i] != (uint32_t)MAP_NONE) {
            const size_t at = map_slot(map, old.keys[i]);
            map->keys[at] = old.keys[i];
            map->values[at] = old.values[i];
        }
    }
    free(old.keys);
    free(old.values);
}

void
map_set(struct map *map, uint64_t key, uint32_t value)
{
    if (map->mask == 0 || 4 * (map->count + 1) > 3 * (map->mask + 1)) {
        grow(map);
    }
    const size_t at = map_slot(map, key);
    map->count += map->values[at] == (uint32_t)MAP_NONE;
    map->keys[at] = key;
    map->values[at] = value;
}

bool
map_add(struct map *map, uint64_t key)
{
    const size_t before = map->count;
    map_set(map, key, 0);
    return map->count > before;
}

/* Invariant: between an entry's home and its place no slot is free. So whatever follows the
 * freed slot and has its home at or before it moves into it. */
void
map_remove(struct map *map, uint64_t key)
{
    if (map->mask == 0) {
        return;
    }
    size_t hole = map_slot(map, key);
    if (map->values[hole] == (uint32_t)MAP_NONE) {
        return;
    }
    map->count--;
    for (size_t at = (hole + 1) & map->mask; map->values[at] != (uint32_t)MAP_NONE;
         at = (at + 1) & map->mask) {
        const size_t home = map_home(map, map->keys[at]);
        if (((at - home) & map->mask) >= ((at - hole) & map->mask)) {
            map->keys[hole] = map->keys[at];
            map->values[hole] = map->values[at];
            hole = at;
        }
    }
    map->values[hole] = (uint32_t)MAP_NONE;
}
