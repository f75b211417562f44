/* Merging neighbouring blocks that fit into one: a block shrinks when rows are taken out of it and
 * is removed only when it is empty, so after many replacements blocks are thinly filled. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/quads/quads.h"

struct merging {
    enum quad_order order;
    struct fence_cursor cursor;
    uint8_t fence[FENCE_SIZE_MAXIMUM]; /* of the block before the cursor's */
    size_t fence_length;
    uint8_t block[BLOCK_MAXIMUM];
    size_t block_length;
    struct row rows[2 * ROWS_BLOCK_MOST];
    uint8_t piece[BLOCK_MAXIMUM + ROW_BYTES_MOST];
};

static void
remember(struct merging *m, const uint8_t *block, size_t length)
{
    memcpy(m->fence, m->cursor.fence, m->cursor.fence_length);
    m->fence_length = m->cursor.fence_length;
    memcpy(m->block, block, length);
    m->block_length = length;
}

/* Both blocks' rows in m->piece; *length 0: they do not fit. */
static enum status
join(struct merging *m, size_t *length, struct reason *why)
{
    size_t first = 0;
    size_t second = 0;
    *length = 0;
    if (m->block_length + m->cursor.block_length > BLOCK_MAXIMUM) {
        return STATUS_OK;
    }
    TRY(rows_read(m->order, m->block, m->block_length, m->rows, &first, why));
    TRY(rows_read(m->order, m->cursor.block, m->cursor.block_length, m->rows + first, &second,
                  why));
    if (first + second > ROWS_BLOCK_MOST) {
        return STATUS_OK;
    }
    struct rows_writer writer;
    rows_begin(&writer, m->order, m->piece, BLOCK_MAXIMUM);
    for (size_t i = 0; i < first + second; i++) {
        if (!rows_add(&writer, &m->rows[i])) {
            return STATUS_OK;
        }
    }
    *length = rows_end(&writer);
    return STATUS_OK;
}

static enum status
merge_some(struct merging *m, bool *end, struct reason *why)
{
    enum { MOST = 4 * LATCH_BLOCKS };
    for (unsigned i = 0; i < MOST; i++) {
        size_t length = 0;
        const enum status status = fence_next(&m->cursor, why);
        *end = status == STATUS_END;
        if (*end) {
            return STATUS_OK;
        }
        TRY(status);
        TRY(join(m, &length, why));
        if (length == 0) {
            remember(m, m->cursor.block, m->cursor.block_length);
            continue;
        }
        TRY(fence_finish(&m->cursor, slice_of((char *)m->piece, length), why));
        TRY(tree_delete(m->cursor.tree, m->cursor.transaction,
                        slice_of((char *)m->fence, m->fence_length), why));
        remember(m, m->piece, length);
    }
    return STATUS_OK;
}

enum status
quads_merge_step(struct quads *quads, enum quad_order order, struct transaction *transaction,
                 uint8_t key[TREE_KEY_MAXIMUM], size_t *length, bool *end, struct reason *why)
{
    struct merging *m = memory_alloc(sizeof(*m));
    m->order = order;
    fence_open(&m->cursor, quads_tree(quads, order), transaction);
    enum status status = fence_seek(&m->cursor, slice_of((char *)key, *length), why);
    *end = status == STATUS_OK && !m->cursor.stored;
    if (status == STATUS_OK && !*end) {
        remember(m, m->cursor.block, m->cursor.block_length);
        status = merge_some(m, end, why);
        memcpy(key, m->fence, m->fence_length);
        *length = m->fence_length;
    }
    fence_close(&m->cursor);
    free(m);
    return status;
}
