/* An engine of queue/store.h in memory: a sorted array of rows. For fuzzing, where every input
 * begins with an empty queue. */
#ifndef TESTS_FUZZ_MEMORY_STORE_H
#define TESTS_FUZZ_MEMORY_STORE_H

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "queue/store.h"

struct row {
    uint8_t tree;
    char *key, *value;
    size_t key_length, value_length;
};

struct store {
    struct row *rows;
    size_t count, capacity;
};

/* The one that was opened last, for those who check it from outside. */
static struct store *memory_latest;

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
row_find(const struct store *store, uint8_t tree, struct slice key)
{
    size_t low = 0;
    size_t high = store->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (row_compare(&store->rows[middle], tree, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool
row_is(const struct store *store, size_t at, uint8_t tree, struct slice key)
{
    return at < store->count && row_compare(&store->rows[at], tree, key) == 0;
}

static void
row_remove(struct store *store, size_t at)
{
    free(store->rows[at].key);
    free(store->rows[at].value);
    memmove(&store->rows[at], &store->rows[at + 1], (--store->count - at) * sizeof *store->rows);
}

static enum status
memory_open(struct store **store, const struct store_options *options, struct reason *why)
{
    (void)options;
    (void)why;
    *store = memory_latest = memory_zero(1, sizeof **store);
    return STATUS_OK;
}

static void
memory_close(struct store *store)
{
    while (store->count > 0) {
        row_remove(store, store->count - 1);
    }
    free(store->rows);
    free(store);
}

static uint64_t
memory_epoch(const struct store *store)
{
    (void)store;
    return 1;
}

static enum status
memory_get(struct store *store, enum store_tree tree, struct slice key, struct slice *value,
           struct reason *why)
{
    const size_t at = row_find(store, (uint8_t)tree, key);
    (void)why;
    if (!row_is(store, at, (uint8_t)tree, key)) {
        return STATUS_NOT_FOUND;
    }
    *value = slice_of(store->rows[at].value, store->rows[at].value_length);
    return STATUS_OK;
}

static enum status
memory_scan_within(struct store *store, enum store_tree tree, struct slice from, size_t within,
                   store_visit *visit, void *context, struct reason *why)
{
    (void)why;
    for (size_t at = row_find(store, (uint8_t)tree, from);
         at < store->count && store->rows[at].tree == tree; at++) {
        const struct row *row = &store->rows[at];
        if (row->key_length < within || memcmp(row->key, from.at, within) != 0 ||
            !visit(context, slice_of(row->key, row->key_length),
                   slice_of(row->value, row->value_length))) {
            break;
        }
    }
    return STATUS_OK;
}

static enum status
memory_scan(struct store *store, enum store_tree tree, struct slice from, store_visit *visit,
            void *context, struct reason *why)
{
    return memory_scan_within(store, tree, from, 0, visit, context, why);
}

static enum status
memory_apply(struct store *store, uint64_t epoch, const struct store_operation *const *operations,
             size_t n, struct reason *why)
{
    (void)epoch;
    (void)why;
    for (size_t i = 0; i < n; i++) {
        const struct store_operation *operation = operations[i];
        const struct slice key = {(const char *)operation->key, operation->key_length};
        const size_t at = row_find(store, operation->tree, key);
        if (row_is(store, at, operation->tree, key)) {
            row_remove(store, at);
        }
        if (operation->remove) {
            continue;
        }
        if (store->count == store->capacity) {
            store->capacity = store->capacity == 0 ? 64 : 2 * store->capacity;
            store->rows = memory_resize(store->rows, store->capacity, sizeof *store->rows);
        }
        memmove(&store->rows[at + 1], &store->rows[at],
                (store->count++ - at) * sizeof *store->rows);
        store->rows[at] = (struct row){
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

static enum status
memory_tick(struct store *store, uint64_t *wait_ms, struct reason *why)
{
    (void)store;
    (void)why;
    *wait_ms = 1000;
    return STATUS_OK;
}

static enum status
memory_room(struct store *store, uint64_t *bytes, struct reason *why)
{
    (void)store;
    (void)why;
    *bytes = UINT64_MAX;
    return STATUS_OK;
}

static bool
memory_broken(const struct store *store)
{
    (void)store;
    return false;
}

static const struct store_engine memory_store = {
    .name = "memory",
    .open = memory_open,
    .close = memory_close,
    .epoch = memory_epoch,
    .get = memory_get,
    .scan = memory_scan,
    .scan_within = memory_scan_within,
    .apply = memory_apply,
    .tick = memory_tick,
    .room = memory_room,
    .broken = memory_broken,
};

#endif
