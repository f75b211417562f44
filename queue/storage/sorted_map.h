/* The newest records in memory, sorted by key: a B+ tree of pointers to records that lie in an
 * arena. Nothing is ever taken out: what is removed stays as a record that says so, because older
 * levels may have the key. All is freed at once.
 *
 * One writer and no reader beside it; a map that is written no more may be read by many threads.
 */
#ifndef QUEUE_STORAGE_SORTED_MAP_H
#define QUEUE_STORAGE_SORTED_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

struct ordered_record {
    uint32_t value_length;
    uint8_t key_length;
    bool removed;
    char bytes[]; /* key, value */
};

struct ordered_node;
struct ordered {
    struct ordered_node *root;
    uint32_t height; /* 0: the root is a leaf */
    size_t count;
    struct arena memory;
};

/* Tells where a reader stands; record NULL: past the end. */
struct ordered_cursor {
    const struct ordered_node *leaf;
    uint32_t at;
    const struct ordered_record *record;
};

void ordered_init(struct ordered *map);
void ordered_release(struct ordered *map);
/* The newest of a key counts. Copies. */
void ordered_put(struct ordered *map, struct slice key, struct slice value, bool removed);
const struct ordered_record *ordered_find(const struct ordered *map, struct slice key);
/* Returns a cursor at the first key that is not less. */
struct ordered_cursor ordered_seek(const struct ordered *map, struct slice key);
void ordered_next(struct ordered_cursor *cursor);
/* Memory in use. */
size_t ordered_bytes(const struct ordered *map);

struct slice ordered_key(const struct ordered_record *record);
struct slice ordered_value(const struct ordered_record *record);

#endif
