#include "queue/storage/store_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void
store_batch_init(struct store_batch *batch)
{
    *batch = (struct store_batch){0};
    arena_init(&batch->memory, 0);
}

void
store_batch_release(struct store_batch *batch)
{
    arena_release(&batch->memory);
    free(batch->operations);
    *batch = (struct store_batch){0};
}

void
store_batch_reset(struct store_batch *batch)
{
    batch->count = 0;
    arena_reset(&batch->memory);
}

static struct store_operation *
add(struct store_batch *batch, enum store_tree tree, struct slice key)
{
    batch->operations = array_grow(batch->operations, batch->count, &batch->capacity,
                                   sizeof(struct store_operation *));
    struct store_operation *operation = arena_alloc(&batch->memory, sizeof *operation);
    operation->tree = (uint8_t)tree;
    operation->key_length = (uint8_t)key.length;
    operation->remove = false;
    operation->order = (uint32_t)batch->count;
    operation->value = (struct slice){NULL, 0};
    memcpy(operation->key, key.at, key.length);
    batch->operations[batch->count++] = operation;
    return operation;
}

void
store_batch_put(struct store_batch *batch, enum store_tree tree, struct slice key,
                struct slice value)
{
    struct store_operation *operation = add(batch, tree, key);
    operation->value = arena_copy(&batch->memory, value);
}

void
store_batch_remove(struct store_batch *batch, enum store_tree tree, struct slice key)
{
    add(batch, tree, key)->remove = true;
}

static int
compare_keys(const struct store_operation *a, const struct store_operation *b)
{
    if (a->tree != b->tree) {
        return a->tree < b->tree ? -1 : 1;
    }
    const size_t shorter = a->key_length < b->key_length ? a->key_length : b->key_length;
    const int order = memcmp(a->key, b->key, shorter);
    return order != 0 ? order : (int)a->key_length - (int)b->key_length;
}

static int
compare(const void *left, const void *right)
{
    const struct store_operation *a = *(const struct store_operation *const *)left;
    const struct store_operation *b = *(const struct store_operation *const *)right;
    const int order = compare_keys(a, b);
    return order != 0 ? order : (a->order < b->order ? -1 : 1);
}

void
store_batch_sort(struct store_batch *batch)
{
    size_t kept = 0;
    if (batch->count > 1) {
        qsort(batch->operations, batch->count, sizeof(struct store_operation *), compare);
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (kept > 0 && compare_keys(batch->operations[kept - 1], batch->operations[i]) == 0) {
            kept--;
        }
        batch->operations[kept++] = batch->operations[i];
    }
    batch->count = kept;
}
