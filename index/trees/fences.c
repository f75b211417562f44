#include "index/trees/fences.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void
fence_open(struct fence_cursor *cursor, struct tree *tree, struct transaction *transaction)
{
    cursor->tree = tree;
    cursor->transaction = transaction;
    cursor->cursor = NULL;
    cursor->fence_length = 0;
    cursor->block_length = 0;
    cursor->stored = false;
    cursor->rewriting = false;
}

void
fence_close(struct fence_cursor *cursor)
{
    tree_cursor_close(cursor->cursor);
    cursor->cursor = NULL;
}

static enum status
move(struct fence_cursor *cursor, enum tree_move where, struct reason *why)
{
    if (cursor->cursor == NULL) {
        TRY(tree_cursor_open(&cursor->cursor, cursor->tree, cursor->transaction, why));
    }
    const enum status status = tree_cursor_move(
        cursor->cursor, where, cursor->fence, sizeof(cursor->fence), &cursor->fence_length,
        cursor->block, sizeof(cursor->block), &cursor->block_length, why);
    if (status == STATUS_LIMIT) {
        return status_prefix(why, STATUS_CORRUPT, "a block is too long");
    }
    return status;
}

enum status
fence_seek(struct fence_cursor *cursor, struct slice key, struct reason *why)
{
    if (key.length > sizeof(cursor->fence)) {
        return status_fail(why, STATUS_MISUSE, "tree %s: a key of %zu bytes",
                           tree_name(cursor->tree), key.length);
    }
    memcpy(cursor->fence, key.at, key.length);
    cursor->fence_length = key.length;
    const enum status status = move(cursor, TREE_AT_OR_AFTER, why);
    cursor->stored = status == STATUS_OK;
    if (status == STATUS_END) {
        memcpy(cursor->fence, FENCE_LAST.at, FENCE_LAST.length);
        cursor->fence_length = FENCE_LAST.length;
        cursor->block_length = 0;
        return STATUS_OK;
    }
    return status;
}

enum status
fence_next(struct fence_cursor *cursor, struct reason *why)
{
    return cursor->stored ? move(cursor, TREE_NEXT, why) : STATUS_END;
}

bool
fence_is_last(const struct fence_cursor *cursor)
{
    return cursor->fence_length == FENCE_LAST.length && cursor->fence[0] == 0xff;
}

static struct slice
fence_key(const struct fence_cursor *cursor)
{
    return slice_of((const char *)cursor->fence, cursor->fence_length);
}

static enum status
put(struct fence_cursor *cursor, struct slice fence, struct slice block, struct reason *why)
{
    return fence_is_last(cursor) ? tree_append(cursor->tree, cursor->transaction, fence, block, why)
                                 : tree_put(cursor->tree, cursor->transaction, fence, block, why);
}

/* The last block is taken out before others are put before it, so that they go in past the end
 * of the tree: Berkeley DB then fills pages instead of splitting them in the middle. */
enum status
fence_emit(struct fence_cursor *cursor, struct slice fence, struct slice block, struct reason *why)
{
    if (!cursor->rewriting) {
        cursor->rewriting = true;
        fence_close(cursor);
        if (cursor->stored && fence_is_last(cursor)) {
            TRY(tree_delete(cursor->tree, cursor->transaction, fence_key(cursor), why));
        }
    }
    return put(cursor, fence, block, why);
}

enum status
fence_finish(struct fence_cursor *cursor, struct slice block, struct reason *why)
{
    const bool rewriting = cursor->rewriting;
    cursor->rewriting = false;
    if (block.length == 0) {
        return cursor->stored && !rewriting ? tree_cursor_delete(cursor->cursor, why)
               : cursor->stored
                   ? tree_delete(cursor->tree, cursor->transaction, fence_key(cursor), why)
                   : STATUS_OK;
    }
    if (cursor->stored && !rewriting) {
        return tree_cursor_replace(cursor->cursor, block, why);
    }
    return put(cursor, fence_key(cursor), block, why);
}

/* ---- anew or in place ---- */

/* Finds how many blocks the changes fall into, about: a few blocks of each stride stand for it. The
 * first is left out, since only a part of its changes may lie in the stride. */
static enum status
count_blocks(struct fence_cursor *cursor, size_t count, fence_pass *pass, void *context,
             double *blocks, struct reason *why)
{
    enum { STRIDES = 128, BLOCKS = 3 };
    const size_t stride = count / STRIDES + 1;
    *blocks = 0;
    for (size_t first = 0; first < count; first += stride) {
        size_t from = first;
        size_t seen = 0;
        TRY(pass(context, cursor, &from, why));
        size_t to = from;
        while (to < count && seen < BLOCKS) {
            TRY(pass(context, cursor, &to, why));
            seen++;
        }
        *blocks += seen > 0 ? (double)seen * (double)stride / (double)(to - from) : 0;
    }
    return STATUS_OK;
}

/* A block that is written in its place costs about as much as two in a row. */
enum status
fence_build_pays(struct tree *tree, size_t count, fence_pass *pass, void *context, bool *pays,
                 struct reason *why)
{
    enum { BLOCKS_OF_PAGE = 4 };
    struct fence_cursor *cursor = memory_alloc(sizeof(*cursor));
    double touched = 0;
    fence_open(cursor, tree, NULL);
    enum status status = fence_seek(cursor, SLICE(""), why);
    const bool empty = status == STATUS_OK && !cursor->stored;
    if (status == STATUS_OK && !empty) {
        status = count_blocks(cursor, count, pass, context, &touched, why);
    }
    fence_close(cursor);
    free(cursor);
    *pays = empty || 2 * touched > (double)tree_pages(tree) * BLOCKS_OF_PAGE;
    return status;
}

static enum status
visit_blocks(struct fence_cursor *old, fence_visit *block, void *context, struct reason *why)
{
    enum status status = fence_seek(old, SLICE(""), why);
    while (status == STATUS_OK && old->stored) {
        TRY(block(context, old, why));
        status = fence_next(old, why);
    }
    return status == STATUS_END ? STATUS_OK : status;
}

enum status
fence_build(struct tree *tree, struct transaction *transaction, struct tree_build **build,
            fence_visit *block, fence_rest *rest, void *context, struct reason *why)
{
    struct fence_cursor *old = memory_alloc(sizeof(*old));
    fence_open(old, tree, NULL);
    enum status status = tree_build_begin(build, tree, why);
    if (status == STATUS_OK) {
        status = visit_blocks(old, block, context, why);
    }
    if (status == STATUS_OK) {
        status = rest(context, why);
    }
    fence_close(old);
    free(old);
    if (status != STATUS_OK) {
        tree_build_drop(*build);
        return status;
    }
    return tree_build_end(*build, transaction, why);
}
