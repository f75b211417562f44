/* A sorted set kept as blocks in a Berkeley DB B+tree: the layer below quads and terms.
 *
 * The key of a block is its fence: an upper bound that no entry of the block passes and every
 * entry of the next block does. The last block's fence is FENCE_LAST, greater than any key. So
 * one DB_SET_RANGE finds the block that holds, or would hold, a key; a block can change without
 * changing its key; and an emptied block just leaves its range to the next one. FORMAT.md,
 * "Blocks under fences", says why this and not Berkeley DB's own compressed trees.
 *
 * What is inside a block is the caller's. Nothing here locks: see latch.h.
 */
#ifndef INDEX_TREES_FENCES_H
#define INDEX_TREES_FENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"
#include "index/trees/environment.h"

enum {
    FENCE_SIZE_MAXIMUM = 176,
    BLOCK_MAXIMUM = 960 /* with a fence of usual length four fill a page of 4 KiB */
};
#define FENCE_LAST ((struct slice){"\xff", 1})

struct fence_cursor {
    struct tree *tree;
    struct transaction *transaction; /* NULL for readers */
    struct tree_cursor *cursor;
    uint8_t fence[FENCE_SIZE_MAXIMUM];
    size_t fence_length;
    uint8_t block[BLOCK_MAXIMUM];
    size_t block_length; /* 0: the tree has no such block yet */
    bool stored;         /* the block under the cursor is in the tree */
    bool rewriting;      /* between the first fence_emit and fence_finish */
};

void fence_open(struct fence_cursor *cursor, struct tree *tree, struct transaction *transaction);
void fence_close(struct fence_cursor *cursor);
/* The block where key belongs. In a tree without one: an empty block under FENCE_LAST. */
enum status fence_seek(struct fence_cursor *cursor, struct slice key, struct reason *why);
/* The block after; END past the last. */
enum status fence_next(struct fence_cursor *cursor, struct reason *why);
bool fence_is_last(const struct fence_cursor *cursor);

/* Replaces the block sought by one or more: fence_emit for all but the last, in order, then
 * fence_finish with the last, which keeps the old fence; an empty one removes the block. */
enum status fence_emit(struct fence_cursor *cursor, struct slice fence, struct slice block,
                       struct reason *why);
enum status fence_finish(struct fence_cursor *cursor, struct slice block, struct reason *why);

/* Writes the tree anew in one go: block is called for each block there is, in order, then rest
 * once. They add to *build. */
typedef enum status fence_visit(void *context, const struct fence_cursor *old, struct reason *why);
typedef enum status fence_rest(void *context, struct reason *why);
enum status fence_build(struct tree *tree, struct transaction *transaction,
                        struct tree_build **build, fence_visit *block, fence_rest *rest,
                        void *context, struct reason *why);

/* Tells whether writing the tree anew costs less than changing blocks in their places. count things
 * in order are to be changed; pass seeks the block of number *next of them, and sets *next to the
 * first that belongs behind it. The writer. */
typedef enum status fence_pass(void *context, struct fence_cursor *cursor, size_t *next,
                               struct reason *why);
enum status fence_build_pays(struct tree *tree, size_t count, fence_pass *pass, void *context,
                             bool *pays, struct reason *why);

#endif
