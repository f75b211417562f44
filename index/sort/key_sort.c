/* Eight bytes at a time: a group of keys that are equal so far is sorted by its next eight bytes as
 * one number, which parts it into smaller groups, until they are small enough to compare. */
#include "index/sort/key_sort.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/memory.h"
#include "index/sort/oid_sort.h"

enum { CHUNK = 8, FEW = 12, DEPTH_MOST = 512 };

/* Keys order[first] .. that are equal in their first `depth` bytes. */
struct group {
    size_t first, count, depth;
};

struct sorting {
    const struct slice *keys;
    uint32_t *order;
    struct sort_item *items, *spare;
    struct group *groups; /* that wait */
    size_t group_count, group_capacity;
};

static uint64_t
chunk(struct slice key, size_t depth)
{
    uint64_t bytes = 0;
    if (key.length >= depth + CHUNK) {
        memcpy(&bytes, key.at + depth, CHUNK);
    } else if (key.length > depth) {
        memcpy(&bytes, key.at + depth, key.length - depth);
    }
    return __builtin_bswap64(bytes);
}

static void
sort_few(const struct slice *keys, uint32_t *order, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const uint32_t index = order[i];
        size_t at = i;
        for (; at > 0 && slice_compare(keys[order[at - 1]], keys[index]) > 0; at--) {
            order[at] = order[at - 1];
        }
        order[at] = index;
    }
}

static void
push(struct sorting *sorting, size_t first, size_t count, size_t depth)
{
    sorting->groups = array_grow(sorting->groups, sorting->group_count, &sorting->group_capacity,
                                 sizeof(*sorting->groups));
    sorting->groups[sorting->group_count++] = (struct group){first, count, depth};
}

static void
part(struct sorting *sorting, const struct group *group)
{
    uint32_t *order = sorting->order + group->first;
    struct sort_item *items = sorting->items;
    for (size_t i = 0; i < group->count; i++) {
        items[i] = (struct sort_item){chunk(sorting->keys[order[i]], group->depth), order[i]};
    }
    const struct sort_item *sorted = oid_sort(items, sorting->spare, group->count);
    for (size_t i = 0, end; i < group->count; i = end) {
        order[i] = sorted[i].index;
        for (end = i + 1; end < group->count && sorted[end].key == sorted[i].key; end++) {
            order[end] = sorted[end].index;
        }
        if (end - i > 1) {
            push(sorting, group->first + i, end - i, group->depth + CHUNK);
        }
    }
}

void
key_sort(const struct slice *keys, uint32_t *order, size_t count)
{
    struct sorting sorting = {.keys = keys, .order = order};
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
    }
    sorting.items = memory_alloc(count * sizeof(*sorting.items));
    sorting.spare = memory_alloc(count * sizeof(*sorting.spare));
    memory_prefer_large_pages(sorting.items, count * sizeof(*sorting.items));
    memory_prefer_large_pages(sorting.spare, count * sizeof(*sorting.spare));
    push(&sorting, 0, count, 0);
    while (sorting.group_count > 0) {
        const struct group group = sorting.groups[--sorting.group_count];
        if (group.count <= FEW || group.depth > DEPTH_MOST) {
            sort_few(keys, order + group.first, group.count);
        } else {
            part(&sorting, &group);
        }
    }
    free(sorting.items);
    free(sorting.spare);
    free(sorting.groups);
}
