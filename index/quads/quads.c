#include "index/quads/quads.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/quads/quads_build.h"

struct quads {
    struct tree *trees[ORDER_COUNT];
};

static const char *const tree_names[ORDER_COUNT] = {
    [ORDER_SPOC] = "quads-spoc", [ORDER_POCS] = "quads-pocs", [ORDER_OCSP] = "quads-ocsp",
    [ORDER_CSPO] = "quads-cspo", [ORDER_CPOS] = "quads-cpos", [ORDER_OSPC] = "quads-ospc"};

enum status
quads_open(struct quads **result, struct environment *environment, struct reason *why)
{
    struct quads *quads = memory_new(sizeof(*quads));
    enum status status = STATUS_OK;
    for (int i = 0; i < ORDER_COUNT && status == STATUS_OK; i++) {
        status = tree_open(&quads->trees[i], environment, tree_names[i], why);
    }
    if (status != STATUS_OK) {
        quads_close(quads);
        quads = NULL;
    }
    *result = quads;
    return status;
}

void
quads_close(struct quads *quads)
{
    if (quads != NULL) {
        for (int i = 0; i < ORDER_COUNT; i++) {
            tree_close(quads->trees[i]);
        }
        free(quads);
    }
}

struct tree *
quads_tree(const struct quads *quads, enum quad_order order)
{
    return quads->trees[order];
}

const char *
quads_tree_name(const struct quads *quads, enum quad_order order)
{
    return tree_name(quads->trees[order]);
}

/* ---- applying changes to one tree ---- */

enum { CHANGES_MOST = LATCH_BLOCKS * 64, AHEAD = 16 };

struct application {
    struct quads *quads;
    enum quad_order order;
    const struct change_set *set;
    struct fence_cursor cursor;
    struct row_change changes[CHANGES_MOST]; /* of the block under the cursor */
    size_t count;
    uint8_t whole[(ROWS_BLOCK_MOST + CHANGES_MOST + 1) * ROW_BYTES_MOST]; /* as one block */
    uint8_t piece[BLOCK_MAXIMUM + ROW_BYTES_MOST];
};

/* The changes from first on that belong to the block under the cursor, but for those of which there
 * are too many. */
static void
take_changes(struct application *a, size_t first)
{
    const bool all = fence_is_last(&a->cursor);
    a->count = 0;
    for (size_t i = first; i < a->set->count && a->count < CHANGES_MOST; i++) {
        change_prefetch(a->set, a->order, i + AHEAD);
        const struct row row = change_row(a->set, a->order, i);
        if (!all && !row_within(&row, a->cursor.fence, a->cursor.fence_length)) {
            break;
        }
        a->changes[a->count++] = (struct row_change){row, change_removed(a->set, a->order, i)};
    }
}

/* A block that overflows because rows came at its end is left full, since more of them will
 * come there; otherwise its rows are spread evenly over as few blocks as hold them. */
static size_t
piece_size(const struct application *a, size_t size)
{
    enum { LONG_RUN = 4 * BLOCK_MAXIMUM, SLACK = 40 };
    const bool appended = memcmp(a->whole, a->cursor.block, a->cursor.block_length) == 0;
    const size_t pieces = (size + BLOCK_MAXIMUM - 1) / BLOCK_MAXIMUM;
    const size_t even = size / pieces + SLACK;
    return appended || size > LONG_RUN || even > BLOCK_MAXIMUM ? BLOCK_MAXIMUM : even;
}

/* Cuts what does not fit into one block. */
static enum status
write_pieces(struct application *a, size_t length, size_t *written, struct reason *why)
{
    const size_t size = piece_size(a, length);
    struct rows_cutter cutter;
    size_t bytes;
    TRY(rows_cut_begin(&cutter, a->order, a->whole, length, why));
    for (;;) {
        TRY(rows_cut(&cutter, a->piece, size, &bytes, why));
        ++*written;
        if (!cutter.more) {
            return fence_finish(&a->cursor, slice_of((char *)a->piece, bytes), why);
        }
        uint8_t fence[ROW_KEY_SIZE];
        const size_t fence_length = row_fence(&cutter.last, &cutter.first, fence);
        TRY(fence_emit(&a->cursor, slice_of((char *)fence, fence_length),
                       slice_of((char *)a->piece, bytes), why));
    }
}

/* Brings the changes into the block under the cursor. */
static enum status
change_block(struct application *a, size_t *written, struct reason *why)
{
    struct rows_writer writer;
    rows_begin(&writer, a->order, a->whole, sizeof(a->whole) - ROW_BYTES_MOST);
    TRY(rows_splice(a->cursor.block, a->cursor.block_length, a->changes, a->count, &writer, why));
    const size_t bytes = rows_end(&writer);
    if (bytes > BLOCK_MAXIMUM) {
        return write_pieces(a, bytes, written, why);
    }
    ++*written;
    return fence_finish(&a->cursor, slice_of((char *)a->whole, bytes > ROWS_HEADER ? bytes : 0),
                        why);
}

/* One hold of the latch: about GATE_BLOCKS blocks. */
static enum status
apply_some(struct application *a, size_t *next, struct reason *why)
{
    size_t written = 0;
    while (*next < a->set->count && written < LATCH_BLOCKS) {
        uint8_t key[ROW_KEY_SIZE];
        const struct row row = change_row(a->set, a->order, *next);
        row_key(&row, key);
        TRY(fence_seek(&a->cursor, slice_of((char *)key, sizeof(key)), why));
        take_changes(a, *next);
        TRY(change_block(a, &written, why));
        *next += a->count;
    }
    return STATUS_OK;
}

/* Block by block, from change *next on, until it is at `end` or past it. */
static enum status
apply(struct application *a, enum quad_order order, struct transaction *transaction, size_t *next,
      size_t end, struct reason *why)
{
    struct tree *tree = a->quads->trees[order];
    enum status status = STATUS_OK;
    a->order = order;
    fence_open(&a->cursor, tree, transaction);
    while (*next < end && status == STATUS_OK) {
        latch_enter_writing(tree_latch(tree));
        status = apply_some(a, next, why);
        fence_close(&a->cursor);
        latch_leave(tree_latch(tree));
    }
    return status == STATUS_OK ? status : status_prefix(why, status, "tree %s", tree_names[order]);
}

/* All changes, to one tree. */
static enum status
apply_all(struct application *a, enum quad_order order, struct transaction *transaction,
          size_t build_from, struct reason *why)
{
    size_t next = 0;
    bool build = build_from > 0 && a->set->count >= build_from;
    enum status status = STATUS_OK;
    if (build) {
        status = quads_build_pays(a->quads, order, a->set, &build, why);
    }
    if (status != STATUS_OK || !build) {
        return status != STATUS_OK ? status
                                   : apply(a, order, transaction, &next, a->set->count, why);
    }
    status = quads_build(a->quads, order, transaction, a->set, why);
    return status == STATUS_OK ? status : status_prefix(why, status, "tree %s", tree_names[order]);
}

enum status
quads_apply(struct quads *quads, struct transaction *transaction, const struct change_set *set,
            size_t build_from, struct reason *why)
{
    struct application *a = memory_alloc(sizeof(*a));
    a->quads = quads;
    a->set = set;
    enum status status = STATUS_OK;
    for (enum quad_order order = 0; order < ORDER_COUNT && status == STATUS_OK; order++) {
        status = apply_all(a, order, transaction, build_from, why);
    }
    free(a);
    return status;
}

enum status
quads_apply_graphs(struct quads *quads, struct transaction *transaction,
                   const struct change_set *set, struct reason *why)
{
    struct application *a = memory_alloc(sizeof(*a));
    a->quads = quads;
    a->set = set;
    const enum status status = apply_all(a, ORDER_CSPO, transaction, 0, why);
    free(a);
    return status;
}

enum status
quads_flush(struct quads *quads, struct transaction *transaction, const struct change_set *set,
            struct quads_progress *progress, size_t most, bool *end, struct reason *why)
{
    struct application *a = memory_alloc(sizeof(*a));
    a->quads = quads;
    a->set = set;
    enum status status = STATUS_OK;
    while (progress->order < ORDER_COUNT && status == STATUS_OK && most > 0) {
        const size_t left = set->count - progress->next;
        const size_t until = progress->next + (left < most ? left : most);
        const size_t from = progress->next;
        if (progress->order != ORDER_CSPO) {
            status = apply(a, progress->order, transaction, &progress->next, until, why);
            most -= progress->next - from < most ? progress->next - from : most;
        }
        if (progress->order == ORDER_CSPO || progress->next == set->count) {
            progress->order++;
            progress->next = 0;
        }
    }
    *end = progress->order == ORDER_COUNT;
    free(a);
    return status;
}

uint64_t
quads_blocks(struct quads *quads)
{
    enum { BLOCKS_OF_PAGE = 4 };
    return (uint64_t)tree_pages(quads->trees[ORDER_POCS]) * BLOCKS_OF_PAGE;
}
