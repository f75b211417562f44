#include "queue/storage/sorted_map.h"

#include <string.h>

#include "base/codec.h"

enum { FAN = 32, HALF = FAN / 2, PREFIX = 8 };

/* In an inner node record[i] is the first of child[i] when that was made: a lower bound of what is
 * there. That of child[0] means nothing, since it takes whatever is less, and is never looked at.
 */
struct ordered_node {
    uint32_t count;
    uint64_t prefix[FAN]; /* of the keys, so that most comparisons touch no record */
    const struct ordered_record *record[FAN];
    union {
        struct ordered_node *child[FAN];
        struct ordered_node *next; /* leaf */
    };
};

struct sought {
    uint64_t prefix;
    struct slice key;
};

struct slice
ordered_key(const struct ordered_record *record)
{
    return slice_of(record->bytes, record->key_length);
}

struct slice
ordered_value(const struct ordered_record *record)
{
    return slice_of(record->bytes + record->key_length, record->value_length);
}

static struct sought
sought_of(struct slice key)
{
    uint8_t bytes[PREFIX] = {0};
    memcpy(bytes, key.at, key.length < PREFIX ? key.length : PREFIX);
    return (struct sought){codec_read_u64(bytes), key};
}

/* Tells whether the node's i-th key, of the same prefix, is less than (or_equal: at most) the
 * sought one. */
static bool
precedes(const struct ordered_node *node, uint32_t i, const struct sought *sought, bool or_equal)
{
    const int order = slice_compare(ordered_key(node->record[i]), sought->key);
    return order < 0 || (or_equal && order == 0);
}

/* The first key of the node, from the given one on, that does not precede. All prefixes are looked
 * at, in order: the processor fetches a node's lines of memory together, while the probes of a
 * binary search wait for each other. */
static uint32_t
rank_from(const struct ordered_node *node, uint32_t first, const struct sought *sought,
          bool or_equal)
{
    uint32_t low = first;
    uint32_t high = first;
    for (uint32_t i = first; i < node->count; i++) {
        low += node->prefix[i] < sought->prefix;
        high += node->prefix[i] <= sought->prefix;
    }
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (precedes(node, middle, sought, or_equal)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint32_t
child_of(const struct ordered_node *node, const struct sought *sought)
{
    return rank_from(node, 1, sought, true) - 1;
}

static struct ordered_node *
node_new(struct ordered *map)
{
    struct ordered_node *node = arena_alloc(&map->memory, sizeof *node);
    node->count = 0;
    memset(node->child, 0, sizeof node->child);
    return node;
}

void
ordered_init(struct ordered *map)
{
    *map = (struct ordered){0};
    arena_init(&map->memory, 0);
    map->root = node_new(map);
}

void
ordered_release(struct ordered *map)
{
    arena_release(&map->memory);
    *map = (struct ordered){0};
}

size_t
ordered_bytes(const struct ordered *map)
{
    return map->memory.used;
}

static void
insert_at(struct ordered_node *node, uint32_t at, uint64_t prefix,
          const struct ordered_record *record, struct ordered_node *child)
{
    const size_t rest = node->count - at;
    memmove(&node->prefix[at + 1], &node->prefix[at], rest * sizeof node->prefix[0]);
    memmove(&node->record[at + 1], &node->record[at], rest * sizeof node->record[0]);
    if (child != NULL) {
        memmove(&node->child[at + 1], &node->child[at], rest * sizeof node->child[0]);
        node->child[at] = child;
    }
    node->prefix[at] = prefix;
    node->record[at] = record;
    node->count++;
}

/* Splits the full i-th child of a node that is not full. */
static void
split_child(struct ordered *map, struct ordered_node *parent, uint32_t i, bool leaf)
{
    struct ordered_node *left = parent->child[i];
    struct ordered_node *right = node_new(map);
    memcpy(right->prefix, left->prefix + HALF, HALF * sizeof left->prefix[0]);
    memcpy(right->record, left->record + HALF, HALF * sizeof left->record[0]);
    if (leaf) {
        right->next = left->next;
        left->next = right;
    } else {
        memcpy(right->child, left->child + HALF, HALF * sizeof left->child[0]);
    }
    left->count = right->count = HALF;
    insert_at(parent, i + 1, right->prefix[0], right->record[0], right);
}

static void
grow(struct ordered *map)
{
    struct ordered_node *root = node_new(map);
    root->count = 1;
    root->prefix[0] = map->root->prefix[0];
    root->record[0] = map->root->record[0];
    root->child[0] = map->root;
    map->root = root;
    split_child(map, root, 0, map->height++ == 0);
}

static const struct ordered_record *
record_new(struct ordered *map, struct slice key, struct slice value, bool removed)
{
    struct ordered_record *record =
        arena_alloc(&map->memory, sizeof *record + key.length + value.length);
    record->value_length = (uint32_t)value.length;
    record->key_length = (uint8_t)key.length;
    record->removed = removed;
    memcpy(record->bytes, key.at, key.length);
    if (value.length > 0) {
        memcpy(record->bytes + key.length, value.at, value.length);
    }
    return record;
}

void
ordered_put(struct ordered *map, struct slice key, struct slice value, bool removed)
{
    const struct sought sought = sought_of(key);
    const struct ordered_record *record = record_new(map, key, value, removed);
    if (map->root->count == FAN) {
        grow(map);
    }
    struct ordered_node *node = map->root;
    for (uint32_t level = map->height; level > 0; level--) {
        uint32_t i = child_of(node, &sought);
        if (node->child[i]->count == FAN) {
            split_child(map, node, i, level == 1);
            i = child_of(node, &sought);
        }
        node = node->child[i];
    }
    const uint32_t at = rank_from(node, 0, &sought, false);
    if (at < node->count && slice_equal(ordered_key(node->record[at]), key)) {
        node->record[at] = record;
        return;
    }
    insert_at(node, at, sought.prefix, record, NULL);
    map->count++;
}

struct ordered_cursor
ordered_seek(const struct ordered *map, struct slice key)
{
    const struct sought sought = sought_of(key);
    const struct ordered_node *node = map->root;
    for (uint32_t level = map->height; level > 0; level--) {
        node = node->child[child_of(node, &sought)];
    }
    struct ordered_cursor cursor = {.leaf = node, .at = rank_from(node, 0, &sought, false)};
    if (cursor.at == node->count) {
        cursor.leaf = node->next;
        cursor.at = 0;
    }
    cursor.record =
        cursor.leaf != NULL && cursor.leaf->count > 0 ? cursor.leaf->record[cursor.at] : NULL;
    return cursor;
}

void
ordered_next(struct ordered_cursor *cursor)
{
    if (++cursor->at == cursor->leaf->count) {
        cursor->leaf = cursor->leaf->next;
        cursor->at = 0;
    }
    cursor->record = cursor->leaf != NULL ? cursor->leaf->record[cursor->at] : NULL;
}

const struct ordered_record *
ordered_find(const struct ordered *map, struct slice key)
{
    const struct ordered_cursor cursor = ordered_seek(map, key);
    return cursor.record != NULL && slice_equal(ordered_key(cursor.record), key) ? cursor.record
                                                                                 : NULL;
}
