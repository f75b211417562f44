#include "index/quads/recent_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* from and to: rows between them are in the block, if the tree has them; equal: there is none. */
struct recent_block {
    struct row from, to;
    bool kept; /* its rows, as the snapshot has them */
    struct row_vector rows;
};

struct recent_blocks {
    uint64_t version;
    struct recent_block blocks[ORDER_COUNT];
};

struct recent_blocks *
recent_blocks_new(void)
{
    return memory_new(sizeof(struct recent_blocks));
}

void
recent_blocks_free(struct recent_blocks *recent)
{
    for (int i = 0; recent != NULL && i < ORDER_COUNT; i++) {
        row_vector_release(&recent->blocks[i].rows);
    }
    free(recent);
}

void
recent_blocks_use(struct recent_blocks *recent, const struct snapshot *snapshot)
{
    const uint64_t version = snapshot_version(snapshot);
    for (int i = 0; recent->version != version && i < ORDER_COUNT; i++) {
        recent->blocks[i].kept = false;
        recent->blocks[i].to = recent->blocks[i].from;
    }
    recent->version = version;
}

bool
recent_blocks_again(const struct recent_blocks *recent, enum quad_order order,
                    const struct row *row)
{
    const struct recent_block *block = &recent->blocks[order];
    return row_compare(row, &block->from) >= 0 && row_compare(row, &block->to) < 0;
}

/* The number of rows before the bound. */
static size_t
rows_before(const struct row_vector *rows, size_t low, const struct row *bound)
{
    size_t high = rows->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (row_compare(&rows->rows[middle], bound) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool
recent_blocks_take(const struct recent_blocks *recent, enum quad_order order, struct row *next,
                   const struct row *upper, struct row_vector *rows, bool *ended)
{
    const struct recent_block *block = &recent->blocks[order];
    if (!block->kept || !recent_blocks_again(recent, order, next)) {
        return false;
    }
    const size_t first = rows_before(&block->rows, 0, next);
    rows->count = rows_before(&block->rows, first, upper) - first;
    row_vector_reserve(rows, rows->count);
    if (rows->count > 0) {
        memcpy(rows->rows, block->rows.rows + first, rows->count * sizeof(*rows->rows));
    }
    *ended = row_compare(upper, &block->to) <= 0;
    *next = *ended ? *upper : block->to;
    return true;
}

static struct row
end_of_block(const struct fence_cursor *cursor)
{
    return fence_is_last(cursor) ? (struct row){{UINT64_MAX}}
                                 : row_after_fence(cursor->fence, cursor->fence_length);
}

void
recent_blocks_note(struct recent_blocks *recent, enum quad_order order, const struct row *from,
                   const struct fence_cursor *cursor)
{
    struct recent_block *block = &recent->blocks[order];
    block->from = *from;
    block->to = end_of_block(cursor);
    block->kept = false;
}

enum status
recent_blocks_keep(struct recent_blocks *recent, enum quad_order order, const struct row *row,
                   const struct fence_cursor *cursor, struct snapshot *snapshot, struct reason *why)
{
    struct recent_block *block = &recent->blocks[order];
    struct row_vector *rows = &block->rows;
    recent_blocks_note(recent, order, row, cursor);
    row_vector_reserve(rows, ROWS_BLOCK_MOST);
    TRY(rows_read(order, cursor->block, cursor->block_length, rows->rows, &rows->count, why));
    if (rows->count > 0 && row_compare(&rows->rows[0], row) < 0) {
        block->from = rows->rows[0];
    }
    TRY(snapshot_restore(snapshot, order, &block->from, &block->to, rows, why));
    block->kept = true;
    return STATUS_OK;
}
