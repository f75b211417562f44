/* The functions of queue/storage/frontier_engine.h over a sorted array of rows in memory, linked in
 * their place: for fuzzing, where every input begins with an empty queue. */
#ifndef TESTS_FUZZ_SERVICES_MEMORY_FRONTIER_H
#define TESTS_FUZZ_SERVICES_MEMORY_FRONTIER_H

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "queue/storage/frontier_engine.h"

struct row {
    uint8_t tree;
    char *key, *value;
    size_t key_length, value_length;
};

struct frontier {
    struct row *rows;
    size_t count, capacity;
};

/* The one that was opened last, for those who check it from outside. */
static struct frontier *memory_latest;

static int
row_compare(const struct row *row, uint8_t tree, struct slice key)
{
    if (row->tree != tree) {
        return row->tree < tree ? -1 : 1;
    }
    return slice_compare(slice_of(row->key, row->key_length), key);
}

/* The first row that is not less. */
static size_t
row_find(const struct frontier *frontier, uint8_t tree, struct slice key)
{
    size_t low = 0;
    size_t high = frontier->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (row_compare(&frontier->rows[middle], tree, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool
row_is(const struct frontier *frontier, size_t at, uint8_t tree, struct slice key)
{
    return at < frontier->count && row_compare(&frontier->rows[at], tree, key) == 0;
}

static void
row_remove(struct frontier *frontier, size_t at)
{
    free(frontier->rows[at].key);
    free(frontier->rows[at].value);
    memmove(&frontier->rows[at], &frontier->rows[at + 1],
            (--frontier->count - at) * sizeof *frontier->rows);
}

enum status
frontier_open(struct frontier **frontier, const struct store_options *options, struct reason *why)
{
    (void)options;
    (void)why;
    *frontier = memory_latest = memory_new(sizeof **frontier);
    return STATUS_OK;
}

void
frontier_close(struct frontier *frontier)
{
    while (frontier->count > 0) {
        row_remove(frontier, frontier->count - 1);
    }
    free(frontier->rows);
    free(frontier);
}

uint64_t
frontier_epoch(const struct frontier *frontier)
{
    (void)frontier;
    return 1;
}

enum status
frontier_get(struct frontier *frontier, enum store_tree tree, struct slice key, struct slice *value,
             struct reason *why)
{
    const size_t at = row_find(frontier, (uint8_t)tree, key);
    (void)why;
    if (!row_is(frontier, at, (uint8_t)tree, key)) {
        return STATUS_NOT_FOUND;
    }
    *value = slice_of(frontier->rows[at].value, frontier->rows[at].value_length);
    return STATUS_OK;
}

enum status
frontier_scan_within(struct frontier *frontier, enum store_tree tree, struct slice from,
                     size_t within, store_visit *visit, void *context, struct reason *why)
{
    (void)why;
    for (size_t at = row_find(frontier, (uint8_t)tree, from);
         at < frontier->count && frontier->rows[at].tree == tree; at++) {
        const struct row *row = &frontier->rows[at];
        if (row->key_length < within || memcmp(row->key, from.at, within) != 0 ||
            !visit(context, slice_of(row->key, row->key_length),
                   slice_of(row->value, row->value_length))) {
            break;
        }
    }
    return STATUS_OK;
}

enum status
frontier_scan(struct frontier *frontier, enum store_tree tree, struct slice from,
              store_visit *visit, void *context, struct reason *why)
{
    return frontier_scan_within(frontier, tree, from, 0, visit, context, why);
}

enum status
frontier_apply(struct frontier *frontier, const struct store_operation *const *operations, size_t n,
               struct reason *why)
{
    (void)why;
    for (size_t i = 0; i < n; i++) {
        const struct store_operation *operation = operations[i];
        const struct slice key = {(const char *)operation->key, operation->key_length};
        const size_t at = row_find(frontier, operation->tree, key);
        if (row_is(frontier, at, operation->tree, key)) {
            row_remove(frontier, at);
        }
        if (operation->remove) {
            continue;
        }
        if (frontier->count == frontier->capacity) {
            frontier->capacity = frontier->capacity == 0 ? 64 : 2 * frontier->capacity;
            frontier->rows =
                memory_resize(frontier->rows, frontier->capacity, sizeof *frontier->rows);
        }
        memmove(&frontier->rows[at + 1], &frontier->rows[at],
                (frontier->count++ - at) * sizeof *frontier->rows);
        frontier->rows[at] = (struct row){
            .tree = operation->tree,
            .key = memory_string_n(key.at, key.length),
            .key_length = key.length,
            .value = memory_string_n(operation->value.at != NULL ? operation->value.at : "",
                                     operation->value.length),
            .value_length = operation->value.length,
        };
    }
    return STATUS_OK;
}

enum status
frontier_tick(struct frontier *frontier, uint64_t *wait_ms, struct reason *why)
{
    (void)frontier;
    (void)why;
    *wait_ms = 1000;
    return STATUS_OK;
}

enum status
frontier_room(struct frontier *frontier, uint64_t *bytes, struct reason *why)
{
    (void)frontier;
    (void)why;
    *bytes = UINT64_MAX;
    return STATUS_OK;
}

bool
frontier_broken(const struct frontier *frontier)
{
    (void)frontier;
    return false;
}

#endif
