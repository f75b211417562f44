/* Writing a tree of quads anew, as a merge of its rows and the changes: blocks are cut full and go
 * into pages in order, where changing most blocks of a tree in their places divides them, and their
 * pages, into halves. */
#include <stdlib.h>

#include "base/memory.h"
#include "index/quads_private.h"

enum {
    STRIDES = 128, /* of the changes; the blocks of a few of each are looked at */
    BLOCKS_OF_STRIDE = 3,
    BLOCKS_OF_PAGE = 4
};

/* *next = the first change that belongs behind the block where *next belongs. */
static enum status
pass_block(struct fence_cursor *cursor, enum quad_order order, const struct change_set *set,
           size_t *next, struct reason *why)
{
    uint8_t key[ROW_KEY_SIZE];
    const struct row row = change_row(set, order, *next);
    row_key(&row, key);
    TRY(fence_seek(cursor, slice_of((char *)key, sizeof(key)), why));
    if (fence_is_last(cursor)) {
        *next = set->count;
        return STATUS_OK;
    }
    const struct row after = row_after_fence(cursor->fence, cursor->fence_length);
    *next = change_set_find_from(set, order, &after, *next);
    return STATUS_OK;
}

/* How many blocks the changes fall into, about. The first block of a stride is left out: only a part
 * of its changes may lie in the stride. */
static enum status
count_blocks(struct fence_cursor *cursor, enum quad_order order, const struct change_set *set,
             double *blocks, struct reason *why)
{
    const size_t stride = set->count / STRIDES + 1;
    *blocks = 0;
    for (size_t first = 0; first < set->count; first += stride) {
        size_t from = first, seen = 0;
        TRY(pass_block(cursor, order, set, &from, why));
        size_t to = from;
        while (to < set->count && seen < BLOCKS_OF_STRIDE) {
            TRY(pass_block(cursor, order, set, &to, why));
            seen++;
        }
        *blocks += seen > 0 ? (double)seen * (double)stride / (double)(to - from) : 0;
    }
    return STATUS_OK;
}

/* A block that is written in its place costs about as much as two in a row. */
enum status
quads_build_pays(struct quads *quads, enum quad_order order, const struct change_set *set,
                 bool *pays, struct reason *why)
{
    struct tree *tree = quads->trees[order];
    struct fence_cursor *cursor = memory_alloc(sizeof(*cursor));
    double touched;
    fence_open(cursor, tree, NULL);
    enum status status = fence_seek(cursor, SLICE(""), why);
    const bool empty = status == STATUS_OK && !cursor->stored;
    if (status == STATUS_OK) {
        status = count_blocks(cursor, order, set, &touched, why);
    }
    fence_close(cursor);
    free(cursor);
    if (status == STATUS_OK) {
        *pays = empty || 2 * touched > (double)tree_pages(tree) * BLOCKS_OF_PAGE;
    }
    return status;
}

struct building {
    enum quad_order order;
    const struct change_set *set;
    size_t next; /* change */
    struct tree_build *build;
    struct fence_cursor old;
    struct row rows[ROWS_BLOCK_MOST];
    struct rows_writer writer;
    struct row last; /* written */
    uint8_t piece[BLOCK_MAXIMUM + ROW_BYTES_MOST];
};

static enum status
write_row(struct building *b, const struct row *row, struct reason *why)
{
    if (!rows_add(&b->writer, row)) {
        uint8_t fence[ROW_KEY_SIZE];
        const size_t length = row_fence(&b->last, row, fence);
        const size_t bytes = rows_end(&b->writer);
        TRY(tree_build_add(b->build, slice_of((char *)fence, length),
                           slice_of((char *)b->piece, bytes), why));
        rows_begin(&b->writer, b->order, b->piece, BLOCK_MAXIMUM);
        (void)rows_add(&b->writer, row);
    }
    b->last = *row;
    return STATUS_OK;
}

/* The changes before the row, or all that are left; *same: the row is one of them. */
static enum status
write_changes(struct building *b, const struct row *until, bool *same, struct reason *why)
{
    enum { AHEAD = 16 };
    *same = false;
    for (; b->next < b->set->count && !*same; b->next++) {
        change_prefetch(b->set, b->order, b->next + AHEAD);
        const struct row row = change_row(b->set, b->order, b->next);
        const int comparison = until != NULL ? row_compare(&row, until) : -1;
        if (comparison > 0) {
            break;
        }
        *same = comparison == 0;
        if (!change_removed(b->set, b->order, b->next)) {
            TRY(write_row(b, &row, why));
        }
    }
    return STATUS_OK;
}

static enum status
write_all(struct building *b, struct reason *why)
{
    bool same;
    enum status status = fence_seek(&b->old, SLICE(""), why);
    while (status == STATUS_OK && b->old.stored) {
        size_t count;
        TRY(rows_read(b->order, b->old.block, b->old.block_length, b->rows, &count, why));
        for (size_t i = 0; i < count; i++) {
            TRY(write_changes(b, &b->rows[i], &same, why));
            if (!same) {
                TRY(write_row(b, &b->rows[i], why));
            }
        }
        status = fence_next(&b->old, why);
    }
    if (status != STATUS_END) {
        TRY(status);
    }
    TRY(write_changes(b, NULL, &same, why));
    return b->writer.count > 0
               ? tree_build_add(b->build, FENCE_LAST,
                                slice_of((char *)b->piece, rows_end(&b->writer)), why)
               : STATUS_OK;
}

enum status
quads_build(struct quads *quads, enum quad_order order, struct transaction *transaction,
            const struct change_set *set, struct reason *why)
{
    struct building *b = memory_alloc(sizeof(*b));
    b->order = order;
    b->set = set;
    b->next = 0;
    fence_open(&b->old, quads->trees[order], NULL);
    rows_begin(&b->writer, order, b->piece, BLOCK_MAXIMUM);
    enum status status = tree_build_begin(&b->build, quads->trees[order], transaction, why);
    if (status == STATUS_OK) {
        status = write_all(b, why);
    }
    fence_close(&b->old);
    if (status == STATUS_OK) {
        status = tree_build_end(b->build, why);
    }
    free(b);
    return status;
}
