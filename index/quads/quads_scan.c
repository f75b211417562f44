#include "index/quads/quads.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { BLOCKS_PER_ENTRY = 8, ESTIMATE_BLOCKS = 3 };

bool
quads_order_serves(const struct quad_oids *pattern, enum quad_order order, unsigned *bound)
{
    const struct row row = row_of(pattern, order);
    unsigned first = 0;
    while (first < 4 && row.place[first] != OID_NONE) {
        first++;
    }
    for (unsigned i = first; i < 4; i++) {
        if (row.place[i] != OID_NONE) {
            return false;
        }
    }
    *bound = first;
    return true;
}

enum quad_order
quads_order_for(const struct quad_oids *pattern, unsigned *bound)
{
    /* An order is preferred in which a document's rows lie together. */
    static const enum quad_order tried[ORDER_COUNT] = {ORDER_CSPO, ORDER_SPOC, ORDER_POCS,
                                                       ORDER_OCSP, ORDER_CPOS, ORDER_OSPC};
    int i = 0;
    while (!quads_order_serves(pattern, tried[i], bound)) {
        i++;
    }
    return tried[i];
}

/* Appends the block's rows in [from, upper) to rows; from NULL: from its first on. *done: the block
 * reaches upper. */
static enum status
take_block(const struct fence_cursor *cursor, enum quad_order order, const struct row *from,
           const struct row *upper, struct row_vector *rows, bool *done, struct reason *why)
{
    row_vector_reserve(rows, rows->count + ROWS_BLOCK_MOST);
    const bool last =
        fence_is_last(cursor) || row_within(upper, cursor->fence, cursor->fence_length);
    size_t count;
    bool passed;
    TRY(rows_read_range(order, cursor->block, cursor->block_length, from, last ? upper : NULL,
                        rows->rows + rows->count, &count, &passed, why));
    rows->count += count;
    *done = last;
    return STATUS_OK;
}

enum status
quads_read(struct quads *quads, enum quad_order order, const struct row *prefix, unsigned bound,
           struct row_vector *rows, struct reason *why)
{
    const struct row lower = row_lower(prefix, bound);
    const struct row upper = row_upper(prefix, bound);
    uint8_t key[ROW_KEY_SIZE];
    row_key(&lower, key);
    struct fence_cursor cursor;
    fence_open(&cursor, quads_tree(quads, order), NULL);
    rows->count = 0;
    enum status status = fence_seek(&cursor, slice_of((char *)key, sizeof(key)), why);
    bool done = false;
    while (status == STATUS_OK && !done) {
        status = take_block(&cursor, order, &lower, &upper, rows, &done, why);
        if (status == STATUS_OK && !done) {
            status = fence_next(&cursor, why);
        }
    }
    fence_close(&cursor);
    return status == STATUS_END ? STATUS_OK : status;
}

enum status
quads_keep_present(struct quads *quads, enum quad_order order, struct row_vector *rows,
                   struct reason *why)
{
    struct row *old = memory_alloc(ROWS_BLOCK_MOST * sizeof(*old));
    struct fence_cursor cursor;
    fence_open(&cursor, quads_tree(quads, order), NULL);
    enum status status = STATUS_OK;
    size_t kept = 0;
    for (size_t i = 0; i < rows->count && status == STATUS_OK;) {
        uint8_t key[ROW_KEY_SIZE];
        size_t n = 0;
        row_key(&rows->rows[i], key);
        status = fence_seek(&cursor, slice_of((char *)key, sizeof(key)), why);
        if (status == STATUS_OK) {
            status = rows_read(order, cursor.block, cursor.block_length, old, &n, why);
        }
        const bool all = fence_is_last(&cursor);
        for (size_t at = 0; i < rows->count && status == STATUS_OK; i++) {
            const struct row row = rows->rows[i];
            if (!all && !row_within(&row, cursor.fence, cursor.fence_length)) {
                break;
            }
            while (at < n && row_compare(&old[at], &row) < 0) {
                at++;
            }
            if (at < n && row_compare(&old[at], &row) == 0) {
                rows->rows[kept++] = row;
            }
        }
    }
    fence_close(&cursor);
    free(old);
    rows->count = kept;
    return status;
}

/* ---- scans ---- */

struct quads_scan {
    struct quads *quads;
    struct snapshot *snapshot;
    enum quad_order order;
    struct row next, upper; /* what is still to be read: [next, upper) */
    bool ended;
    unsigned blocks; /* to be read next: more the more was read, since most lookups end early */
    struct row_vector rows;
    size_t at;
    struct recent_blocks *recent; /* NULL: none are kept */
};

/* Joins ask for what literals are the subjects of; no quad is. */
static bool
is_possible(const struct quad_oids *pattern)
{
    const enum oid_kind subject = oid_kind(pattern->subject);
    const enum oid_kind predicate = oid_kind(pattern->predicate);
    return (pattern->subject == OID_NONE || subject == OID_KIND_IRI || subject == OID_KIND_BLANK) &&
           (pattern->predicate == OID_NONE || predicate == OID_KIND_IRI);
}

enum status
quads_scan_open(struct quads_scan **result, struct quads *quads, struct snapshot *snapshot,
                const struct quad_oids *pattern, enum quad_order order, struct reason *why)
{
    *result = NULL;
    unsigned bound;
    if (order == ORDER_COUNT) {
        order = quads_order_for(pattern, &bound);
    } else if (!quads_order_serves(pattern, order, &bound)) {
        return status_fail(why, STATUS_UNSUPPORTED, "the order does not serve the bound places");
    }
    const struct row row = row_of(pattern, order);
    struct quads_scan *scan = memory_new(sizeof(*scan));
    scan->quads = quads;
    scan->snapshot = snapshot;
    scan->order = order;
    scan->blocks = 1;
    scan->next = row_lower(&row, bound);
    scan->upper = row_upper(&row, bound);
    scan->ended = !is_possible(pattern);
    *result = scan;
    return STATUS_OK;
}

void
quads_scan_remember(struct quads_scan *scan, struct recent_blocks *recent)
{
    scan->recent = recent;
    recent_blocks_use(recent, scan->snapshot);
}

void
quads_scan_close(struct quads_scan *scan)
{
    if (scan != NULL) {
        row_vector_release(&scan->rows);
        free(scan);
    }
}

void
quads_scan_again(struct quads_scan *scan, const struct quad_oids *pattern)
{
    const struct row row = row_of(pattern, scan->order);
    unsigned bound = 0;
    while (bound < 4 && row.place[bound] != OID_NONE) {
        bound++;
    }
    scan->blocks = 1;
    scan->at = scan->rows.count = 0;
    scan->next = row_lower(&row, bound);
    scan->upper = row_upper(&row, bound);
    scan->ended = !is_possible(pattern);
}

void
quads_scan_skip(struct quads_scan *scan, const struct quad_oids *quad)
{
    const struct row to = row_of(quad, scan->order);
    while (scan->at < scan->rows.count && row_compare(&scan->rows.rows[scan->at], &to) < 0) {
        scan->at++;
    }
    if (scan->at == scan->rows.count && row_compare(&scan->next, &to) < 0) {
        scan->next = to;
        scan->ended = scan->ended || row_compare(&to, &scan->upper) >= 0;
        scan->blocks = 1;
    }
}

void
quads_scan_until(struct quads_scan *scan, const struct quad_oids *quad)
{
    const struct row to = row_of(quad, scan->order);
    if (row_compare(&to, &scan->upper) < 0) {
        scan->upper = to;
        scan->ended = scan->ended || row_compare(&scan->next, &to) >= 0;
    }
}

/* Inside the latch, at the start of a scan: reads the first block whole if the last lookup went
 * there, too. *kept: it did. */
static enum status
keep_first(struct quads_scan *scan, const struct fence_cursor *cursor, bool *kept,
           struct reason *why)
{
    *kept = false;
    if (scan->recent == NULL || scan->blocks > 1) {
        return STATUS_OK;
    }
    if (!recent_blocks_again(scan->recent, scan->order, &scan->next)) {
        recent_blocks_note(scan->recent, scan->order, &scan->next, cursor);
        return STATUS_OK;
    }
    TRY(recent_blocks_keep(scan->recent, scan->order, &scan->next, cursor, scan->snapshot, why));
    *kept = recent_blocks_take(scan->recent, scan->order, &scan->next, &scan->upper, &scan->rows,
                               &scan->ended);
    return STATUS_OK;
}

/* Inside the latch: rows of up to `blocks` blocks from scan->next on, as of the snapshot. */
static enum status
fill(struct quads_scan *scan, unsigned blocks, struct reason *why)
{
    uint8_t key[ROW_KEY_SIZE];
    row_key(&scan->next, key);
    struct fence_cursor cursor;
    fence_open(&cursor, quads_tree(scan->quads, scan->order), NULL);
    scan->rows.count = 0;
    bool done = false;
    bool kept = false;
    const struct row *from = &scan->next;
    enum status status = fence_seek(&cursor, slice_of((char *)key, sizeof(key)), why);
    if (status == STATUS_OK) {
        status = keep_first(scan, &cursor, &kept, why);
    }
    if (kept) {
        fence_close(&cursor);
        return STATUS_OK;
    }
    while (status == STATUS_OK) {
        status = take_block(&cursor, scan->order, from, &scan->upper, &scan->rows, &done, why);
        from = NULL;
        if (status != STATUS_OK || done || --blocks == 0) {
            break;
        }
        status = fence_next(&cursor, why);
    }
    if (status == STATUS_END) {
        done = true;
        status = STATUS_OK;
    }
    const struct row to = done ? scan->upper : row_after_fence(cursor.fence, cursor.fence_length);
    fence_close(&cursor);
    if (status == STATUS_OK) {
        status = snapshot_restore(scan->snapshot, scan->order, &scan->next, &to, &scan->rows, why);
    }
    scan->next = to;
    scan->ended = done;
    return status;
}

/* The quad whose places stand at these places of a row, which the compiler knows: places that are
 * looked up one by one take a third of a long scan's time. */
static inline struct quad_oids
picked(const struct row *row, int subject, int predicate, int object, int graph)
{
    const oid *place = row->place;
    return (struct quad_oids){place[subject], place[predicate], place[object], place[graph]};
}

/* Code of its own for the orders of long scans. */
static void
copy_quads(enum quad_order order, const struct row *rows, size_t count, struct quad_oids *quads)
{
    switch (order) {
    case ORDER_SPOC:
        memcpy(quads, rows, count * sizeof(*rows));
        break;
    case ORDER_POCS:
        for (size_t i = 0; i < count; i++) {
            quads[i] = picked(&rows[i], 3, 0, 1, 2);
        }
        break;
    case ORDER_OSPC:
        for (size_t i = 0; i < count; i++) {
            quads[i] = picked(&rows[i], 1, 2, 0, 3);
        }
        break;
    default:
        for (size_t i = 0; i < count; i++) {
            quads[i] = row_quad(&rows[i], order);
        }
    }
}

enum status
quads_scan_next(struct quads_scan *scan, struct quad_oids *quads, size_t most, size_t *n,
                struct reason *why)
{
    *n = 0;
    while (*n == 0 && most > 0) {
        const size_t left = scan->rows.count - scan->at;
        if (left > 0) {
            *n = left < most ? left : most;
            copy_quads(scan->order, scan->rows.rows + scan->at, *n, quads);
            scan->at += *n;
            break;
        }
        if (scan->ended) {
            break;
        }
        scan->at = 0;
        if (scan->recent != NULL && scan->blocks == 1 &&
            recent_blocks_take(scan->recent, scan->order, &scan->next, &scan->upper, &scan->rows,
                               &scan->ended)) {
            scan->blocks = 2;
            continue;
        }
        struct latch *latch = tree_latch(quads_tree(scan->quads, scan->order));
        latch_enter_reading(latch);
        const enum status status =
            fill(scan, most > ROWS_BLOCK_MOST ? BLOCKS_PER_ENTRY : scan->blocks, why);
        latch_leave(latch);
        scan->blocks = scan->blocks < BLOCKS_PER_ENTRY ? scan->blocks * 2 : scan->blocks;
        TRY(status);
    }
    return STATUS_OK;
}

/* ---- estimates and checks ---- */

/* Counts rows in the first few blocks of the range; *done when that was all of it. */
static enum status
count_few(struct quads *quads, struct snapshot *snapshot, enum quad_order order,
          const struct row *lower, const struct row *upper, uint64_t *rows, bool *done,
          struct reason *why)
{
    uint8_t key[ROW_KEY_SIZE];
    row_key(lower, key);
    struct fence_cursor cursor;
    struct row_vector vector = {0};
    fence_open(&cursor, quads_tree(quads, order), NULL);
    enum status status = fence_seek(&cursor, slice_of((char *)key, sizeof(key)), why);
    for (int i = 0; status == STATUS_OK; i++) {
        status = take_block(&cursor, order, lower, upper, &vector, done, why);
        if (status != STATUS_OK || *done || i + 1 == ESTIMATE_BLOCKS) {
            break;
        }
        status = fence_next(&cursor, why);
    }
    if (status == STATUS_END) {
        *done = true;
        status = STATUS_OK;
    }
    const struct row to = *done ? *upper : row_after_fence(cursor.fence, cursor.fence_length);
    fence_close(&cursor);
    if (status == STATUS_OK) {
        status = snapshot_restore(snapshot, order, lower, &to, &vector, why);
    }
    *rows = vector.count;
    row_vector_release(&vector);
    return status;
}

enum status
quads_estimate(struct quads *quads, struct snapshot *snapshot, const struct quad_oids *pattern,
               uint64_t total, uint64_t *rows, struct reason *why)
{
    unsigned bound;
    const enum quad_order order = quads_order_for(pattern, &bound);
    const struct row row = row_of(pattern, order);
    const struct row lower = row_lower(&row, bound);
    const struct row upper = row_upper(&row, bound);
    bool done = false;
    *rows = total;
    if (bound == 0) {
        return STATUS_OK;
    }
    struct latch *latch = tree_latch(quads_tree(quads, order));
    latch_enter_reading(latch);
    enum status status = count_few(quads, snapshot, order, &lower, &upper, rows, &done, why);
    double from = 0;
    double to = 1;
    if (status == STATUS_OK && !done) {
        uint8_t key[ROW_KEY_SIZE];
        row_key(&lower, key);
        status =
            tree_position(quads_tree(quads, order), slice_of((char *)key, sizeof(key)), &from, why);
        row_key(&upper, key);
        if (status == STATUS_OK) {
            status = tree_position(quads_tree(quads, order), slice_of((char *)key, sizeof(key)),
                                   &to, why);
        }
    }
    latch_leave(latch);
    if (status == STATUS_OK && !done) {
        const double guess = (to - from) * (double)total;
        *rows = guess > (double)*rows ? (uint64_t)guess : *rows;
    }
    return status;
}

/* Rows must ascend and lie inside their fences; before: the last row of the block before. */
static enum status
check_block(const struct fence_cursor *cursor, const struct row *rows, size_t n,
            const struct row *before, struct reason *why)
{
    if (n == 0 || (!fence_is_last(cursor) &&
                   !row_within(&rows[n - 1], cursor->fence, cursor->fence_length))) {
        return status_fail(why, STATUS_CORRUPT, "a block does not keep its fence");
    }
    return before == NULL || row_compare(before, &rows[0]) < 0
               ? STATUS_OK
               : status_fail(why, STATUS_CORRUPT, "rows do not ascend");
}

/* Inside the latch. */
static enum status
check_blocks(struct quads *quads, enum quad_order order, const struct row *from, struct row *to,
             struct row_vector *rows, struct reason *why)
{
    uint8_t key[ROW_KEY_SIZE];
    struct fence_cursor cursor;
    enum status status = STATUS_OK;
    row_key(from, key);
    *to = row_upper(from, 0);
    rows->count = 0;
    fence_open(&cursor, quads_tree(quads, order), NULL);
    status = fence_seek(&cursor, slice_of((char *)key, sizeof(key)), why);
    for (unsigned blocks = 0; status == STATUS_OK && cursor.stored; blocks++) {
        row_vector_reserve(rows, rows->count + ROWS_BLOCK_MOST);
        struct row *target = rows->rows + rows->count;
        size_t n;
        status = rows_read(order, cursor.block, cursor.block_length, target, &n, why);
        if (status == STATUS_OK) {
            status = check_block(&cursor, target, n, rows->count > 0 ? target - 1 : NULL, why);
        }
        if (status != STATUS_OK) {
            break;
        }
        rows->count += n;
        if (blocks + 1 == BLOCKS_PER_ENTRY && !fence_is_last(&cursor)) {
            *to = row_after_fence(cursor.fence, cursor.fence_length);
            break;
        }
        status = fence_next(&cursor, why);
    }
    fence_close(&cursor);
    return status == STATUS_END ? STATUS_OK : status;
}

enum status
quads_check(struct quads *quads, enum quad_order order, struct snapshot *snapshot, struct row *next,
            struct row_vector *rows, struct reason *why)
{
    const struct row from = *next;
    struct latch *latch = tree_latch(quads_tree(quads, order));
    latch_enter_reading(latch);
    enum status status = check_blocks(quads, order, &from, next, rows, why);
    if (status == STATUS_OK) {
        /* Blocks may have been merged since the last call: what was seen then is left out. */
        size_t first = 0;
        while (first < rows->count && row_compare(&rows->rows[first], &from) < 0) {
            first++;
        }
        rows->count -= first;
        if (first > 0) {
            memmove(rows->rows, rows->rows + first, rows->count * sizeof(*rows->rows));
        }
        status = snapshot_restore(snapshot, order, &from, next, rows, why);
    }
    latch_leave(latch);
    return status == STATUS_OK
               ? STATUS_OK
               : status_prefix(why, status, "tree %s", quads_tree_name(quads, order));
}
