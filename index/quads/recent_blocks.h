/* The block of each tree that one reader looked into last, read whole when lookups come back to it:
 * those of a join often go through a tree in its order, many to a block. One thread; at most a
 * block of each tree is kept, as one version of the index has it. */
#ifndef INDEX_QUADS_RECENT_BLOCKS_H
#define INDEX_QUADS_RECENT_BLOCKS_H

#include "index/quads/snapshot.h"
#include "index/trees/fences.h"

struct recent_blocks;

struct recent_blocks *recent_blocks_new(void);
void recent_blocks_free(struct recent_blocks *recent); /* NULL is allowed */
/* Before all below: forgets what is of another version than this snapshot. */
void recent_blocks_use(struct recent_blocks *recent, const struct snapshot *snapshot);

/* Rows from *next on and before upper as far as they are in the block that is kept; *next: where to
 * go on, *ended: that is nowhere. False: the block is not kept. */
bool recent_blocks_take(const struct recent_blocks *recent, enum quad_order order, struct row *next,
                        const struct row *upper, struct row_vector *rows, bool *ended);
/* A lookup of rows from `from` on looked into the block at the cursor. */
void recent_blocks_note(struct recent_blocks *recent, enum quad_order order, const struct row *from,
                        const struct fence_cursor *cursor);
/* Returns whether the block with the row was looked into last. */
bool recent_blocks_again(const struct recent_blocks *recent, enum quad_order order,
                         const struct row *row);
/* Keeps the block at the cursor, in which the row belongs; inside the latch of its tree. */
enum status recent_blocks_keep(struct recent_blocks *recent, enum quad_order order,
                               const struct row *row, const struct fence_cursor *cursor,
                               struct snapshot *snapshot, struct reason *why);

#endif
