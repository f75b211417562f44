/* Writing a tree of quads anew, as a merge of its rows and the changes: blocks are cut full and go
 * into pages in order, where changing most blocks of a tree in their places divides them, and their
 * pages, into halves. */
#include <stdlib.h>

#include "base/memory.h"
#include "index/quads/quads_build.h"

struct placing {
    enum quad_order order;
    const struct change_set *set;
};

static enum status
pass_block(void *context, struct fence_cursor *cursor, size_t *next, struct reason *why)
{
    const struct placing *placing = context;
    uint8_t key[ROW_KEY_SIZE];
    const struct row row = change_row(placing->set, placing->order, *next);
    row_key(&row, key);
    TRY(fence_seek(cursor, slice_of((char *)key, sizeof(key)), why));
    if (fence_is_last(cursor)) {
        *next = placing->set->count;
        return STATUS_OK;
    }
    const struct row after = row_after_fence(cursor->fence, cursor->fence_length);
    *next = change_set_find_from(placing->set, placing->order, &after, *next);
    return STATUS_OK;
}

enum status
quads_build_pays(struct quads *quads, enum quad_order order, const struct change_set *set,
                 bool *pays, struct reason *why)
{
    struct placing placing = {order, set};
    return fence_build_pays(quads_tree(quads, order), set->count, pass_block, &placing, pays, why);
}

struct building {
    enum quad_order order;
    const struct change_set *set;
    size_t next;       /* change, */
    struct row change; /* and its row */
    struct tree_build *build;
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

static void
next_change(struct building *b, size_t next)
{
    enum { AHEAD = 16 };
    b->next = next;
    if (next < b->set->count) {
        change_prefetch(b->set, b->order, next + AHEAD);
        b->change = change_row(b->set, b->order, next);
    }
}

/* The changes before the row, or all that are left; *same: the row is one of them. */
static enum status
write_changes(struct building *b, const struct row *until, bool *same, struct reason *why)
{
    *same = false;
    while (b->next < b->set->count && !*same) {
        const int comparison = until != NULL ? row_compare(&b->change, until) : -1;
        if (comparison > 0) {
            break;
        }
        *same = comparison == 0;
        if (!change_removed(b->set, b->order, b->next)) {
            TRY(write_row(b, &b->change, why));
        }
        next_change(b, b->next + 1);
    }
    return STATUS_OK;
}

static enum status
write_block(void *context, const struct fence_cursor *old, struct reason *why)
{
    struct building *b = context;
    size_t count;
    bool same;
    TRY(rows_read(b->order, old->block, old->block_length, b->rows, &count, why));
    for (size_t i = 0; i < count; i++) {
        TRY(write_changes(b, &b->rows[i], &same, why));
        if (!same) {
            TRY(write_row(b, &b->rows[i], why));
        }
    }
    return STATUS_OK;
}

static enum status
write_rest(void *context, struct reason *why)
{
    struct building *b = context;
    bool same;
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
    next_change(b, 0);
    rows_begin(&b->writer, order, b->piece, BLOCK_MAXIMUM);
    const enum status status = fence_build(quads_tree(quads, order), transaction, &b->build,
                                           write_block, write_rest, b, why);
    free(b);
    return status;
}
