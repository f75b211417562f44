#include "index/quads_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const char *const tree_names[ORDER_COUNT] = {
    [ORDER_SPOC] = "quads-spoc", [ORDER_POCS] = "quads-pocs", [ORDER_OCSP] = "quads-ocsp",
    [ORDER_CSPO] = "quads-cspo", [ORDER_CPOS] = "quads-cpos", [ORDER_OSPC] = "quads-ospc"};

enum status
quads_open(struct quads **result, struct environment *environment, struct reason *why)
{
    struct quads *quads = memory_zero(1, sizeof(*quads));
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

/* ---- applying changes to one tree ---- */

enum { FEW_CHANGES = 64 };

struct application {
    struct quads *quads;
    enum quad_order order;
    const struct change_set *set;
    struct fence_cursor cursor;
    struct row old[ROWS_BLOCK_MOST];
    size_t old_count;
    struct row_vector merged;
    bool appended; /* every row added comes after every old one */
    uint8_t piece[BLOCK_MAXIMUM + ROW_BYTES_MOST];
    struct row_change few[FEW_CHANGES];
};

/* Merges the old rows of the block with changes [first, last). */
static void
merge(struct application *a, size_t first, size_t last)
{
    row_vector_reserve(&a->merged, a->old_count + (last - first));
    struct row *out = a->merged.rows;
    size_t n = 0;
    size_t at = 0;
    a->appended = true;
    for (size_t i = first; i < last; i++) {
        const struct row row = change_row(a->set, a->order, i);
        int comparison = 1;
        while (at < a->old_count && (comparison = row_compare(&a->old[at], &row)) < 0) {
            out[n++] = a->old[at++];
        }
        const bool present = at < a->old_count && comparison == 0;
        a->appended = a->appended && at == a->old_count;
        if (present) {
            at++;
        }
        if (!change_removed(a->set, a->order, i)) {
            out[n++] = row;
        }
    }
    while (at < a->old_count) {
        out[n++] = a->old[at++];
    }
    a->merged.count = n;
}

/* Bytes that the merged rows would take in one block, however long. */
static size_t
encoded_size(struct application *a)
{
    struct rows_writer writer;
    size_t size = 0;
    rows_begin(&writer, a->order, a->piece, BLOCK_MAXIMUM);
    for (size_t i = 0; i < a->merged.count; i++) {
        if (!rows_add(&writer, &a->merged.rows[i])) {
            size += rows_end(&writer);
            rows_begin(&writer, a->order, a->piece, BLOCK_MAXIMUM);
            (void)rows_add(&writer, &a->merged.rows[i]);
        }
    }
    return size + rows_end(&writer);
}

/* A block that overflows because rows came at its end is left full, since more of them will
 * come there; otherwise its rows are spread evenly over as few blocks as hold them. */
static size_t
piece_size(struct application *a)
{
    enum { LONG_RUN = 4 * ROWS_BLOCK_MOST / 3, SLACK = 40 };
    if (a->appended || a->merged.count > LONG_RUN) {
        return BLOCK_MAXIMUM;
    }
    const size_t size = encoded_size(a);
    const size_t pieces = (size + BLOCK_MAXIMUM - 1) / BLOCK_MAXIMUM;
    const size_t even = size / pieces + SLACK;
    return even < BLOCK_MAXIMUM ? even : BLOCK_MAXIMUM;
}

/* Writes the merged rows from i on in the place of the block under the cursor, those that a writer
 * has already going before them. */
static enum status
write_more(struct application *a, struct rows_writer *writer, size_t i, size_t size,
           size_t *written, struct reason *why)
{
    for (; i < a->merged.count; i++) {
        if (rows_add(writer, &a->merged.rows[i])) {
            continue;
        }
        uint8_t fence[ROW_KEY_SIZE];
        const size_t length = row_fence(&a->merged.rows[i - 1], &a->merged.rows[i], fence);
        const size_t bytes = rows_end(writer);
        TRY(fence_emit(&a->cursor, slice_of((char *)fence, length),
                       slice_of((char *)a->piece, bytes), why));
        ++*written;
        rows_begin(writer, a->order, a->piece, size);
        (void)rows_add(writer, &a->merged.rows[i]);
    }
    ++*written;
    const size_t bytes = a->merged.count > 0 ? rows_end(writer) : 0;
    return fence_finish(&a->cursor, slice_of((char *)a->piece, bytes), why);
}

/* Nearly always one block holds them all. */
static enum status
write_pieces(struct application *a, size_t *written, struct reason *why)
{
    struct rows_writer writer;
    size_t i = 0, size = BLOCK_MAXIMUM;
    rows_begin(&writer, a->order, a->piece, size);
    while (i < a->merged.count && rows_add(&writer, &a->merged.rows[i])) {
        i++;
    }
    if (i < a->merged.count) {
        size = piece_size(a);
        rows_begin(&writer, a->order, a->piece, size);
        i = 0;
    }
    return write_more(a, &writer, i, size, written, why);
}

enum { AHEAD = 16 };

/* How many changes from first on belong to the block under the cursor, at most `most`. */
static size_t
changes_within(const struct application *a, size_t first, size_t most)
{
    size_t last = first;
    const bool all = fence_is_last(&a->cursor);
    while (last < a->set->count && last - first < most) {
        change_prefetch(a->set, a->order, last + AHEAD);
        const struct row row = change_row(a->set, a->order, last);
        if (!all && !row_within(&row, a->cursor.fence, a->cursor.fence_length)) {
            break;
        }
        last++;
    }
    return last;
}

/* Few changes to a block that has room for them, as nearly all are when documents trickle in, leave
 * most of its bytes as they are. *done: false when they have to be merged. */
static enum status
splice(struct application *a, size_t first, size_t last, bool *done, struct reason *why)
{
    const size_t count = last - first;
    struct rows_writer writer;
    *done = false;
    if (!a->cursor.stored || count > FEW_CHANGES) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < count; i++) {
        a->few[i] = (struct row_change){change_row(a->set, a->order, first + i),
                                        change_removed(a->set, a->order, first + i)};
    }
    rows_begin(&writer, a->order, a->piece, BLOCK_MAXIMUM);
    TRY(rows_splice(a->cursor.block, a->cursor.block_length, a->few, count, &writer, done, why));
    if (!*done) {
        return STATUS_OK;
    }
    const size_t bytes = rows_end(&writer);
    return fence_finish(&a->cursor, slice_of((char *)a->piece, bytes > ROWS_HEADER ? bytes : 0),
                        why);
}

/* Changes of the block under the cursor. */
static enum status
change_block(struct application *a, size_t first, size_t last, size_t *written, struct reason *why)
{
    bool done;
    TRY(splice(a, first, last, &done, why));
    if (done) {
        ++*written;
        return STATUS_OK;
    }
    TRY(rows_read(a->order, a->cursor.block, a->cursor.block_length, a->old, &a->old_count, why));
    merge(a, first, last);
    return write_pieces(a, written, why);
}

/* One hold of the gate: about GATE_BLOCKS blocks. */
static enum status
apply_some(struct application *a, size_t *next, struct reason *why)
{
    enum { MOST = GATE_BLOCKS * 64 };
    size_t written = 0;
    while (*next < a->set->count && written < GATE_BLOCKS) {
        uint8_t key[ROW_KEY_SIZE];
        const struct row row = change_row(a->set, a->order, *next);
        row_key(&row, key);
        TRY(fence_seek(&a->cursor, slice_of((char *)key, sizeof(key)), why));
        const size_t last = changes_within(a, *next, MOST);
        TRY(change_block(a, *next, last, &written, why));
        *next = last;
    }
    return STATUS_OK;
}

/* Block by block. */
static enum status
apply(struct application *a, enum quad_order order, struct transaction *transaction,
      struct reason *why)
{
    struct tree *tree = a->quads->trees[order];
    enum status status = STATUS_OK;
    a->order = order;
    fence_open(&a->cursor, tree, transaction);
    for (size_t next = 0; next < a->set->count && status == STATUS_OK;) {
        gate_enter_writing(tree_gate(tree));
        status = apply_some(a, &next, why);
        fence_close(&a->cursor);
        gate_leave(tree_gate(tree));
    }
    return status;
}

enum status
quads_apply(struct quads *quads, struct transaction *transaction, const struct change_set *set,
            size_t build_from, struct reason *why)
{
    struct application *a = memory_alloc(sizeof(*a));
    a->quads = quads;
    a->set = set;
    a->merged = (struct row_vector){0};
    enum status status = STATUS_OK;
    for (enum quad_order order = 0; order < ORDER_COUNT && status == STATUS_OK; order++) {
        bool build = build_from > 0 && set->count >= build_from;
        if (build) {
            status = quads_build_pays(quads, order, set, &build, why);
        }
        if (status == STATUS_OK) {
            status = build ? quads_build(quads, order, transaction, set, why)
                           : apply(a, order, transaction, why);
        }
        if (status != STATUS_OK) {
            status_prefix(why, status, "tree %s", tree_names[order]);
        }
    }
    row_vector_release(&a->merged);
    free(a);
    return status;
}
