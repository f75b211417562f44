/* Blocks of rows: quads in the order of one tree, delta-coded. Bytes in FORMAT.md, "Row blocks".
 * Pure functions over memory; nothing here knows of a database. */
#ifndef INDEX_QUADS_ROWS_H
#define INDEX_QUADS_ROWS_H

#include <stddef.h>
#include <string.h>

#include "index/terms/oid.h"
#include "index/trees/fences.h"

/* A quad with its places in the order of a tree: ORDER_POCS has the predicate first. */
struct row {
    oid place[4];
};

enum {
    ROW_KEY_SIZE = 32,
    ROWS_HEADER = 1,                /* codec */
    ROWS_BLOCK_MOST = BLOCK_MAXIMUM /* rows in a block: one byte each at least */
};

/* place i of order o is place rows_places[o][i] of struct quad_oids (0 subject .. 3 graph). */
extern const uint8_t rows_places[ORDER_COUNT][4];

static inline struct row
row_of(const struct quad_oids *quad, enum quad_order order)
{
    const oid source[4] = {quad->subject, quad->predicate, quad->object, quad->graph};
    const uint8_t *places = rows_places[order];
    return (struct row){
        {source[places[0]], source[places[1]], source[places[2]], source[places[3]]}};
}

static inline struct quad_oids
row_quad(const struct row *row, enum quad_order order)
{
    oid target[4];
    const uint8_t *places = rows_places[order];
    for (int i = 0; i < 4; i++) {
        target[places[i]] = row->place[i];
    }
    return (struct quad_oids){target[0], target[1], target[2], target[3]};
}

static inline int
row_compare(const struct row *a, const struct row *b)
{
    for (int i = 0; i < 4; i++) {
        if (a->place[i] != b->place[i]) {
            return a->place[i] < b->place[i] ? -1 : 1;
        }
    }
    return 0;
}

/* The first bound places of row, then the least values. */
static inline struct row
row_lower(const struct row *row, unsigned bound)
{
    struct row lower = {{0}};
    for (unsigned i = 0; i < bound; i++) {
        lower.place[i] = row->place[i];
    }
    return lower;
}

/* The least row after all rows with the first bound places of row. bound 0: after all rows. */
static inline struct row
row_upper(const struct row *row, unsigned bound)
{
    struct row upper = row_lower(row, bound);
    if (bound == 0) {
        upper.place[0] = UINT64_MAX;
    } else {
        upper.place[bound - 1]++;
    }
    return upper;
}

/* The least row that can stand in a block after this fence. */
static inline struct row
row_after_fence(const uint8_t *fence, size_t length)
{
    uint8_t key[ROW_KEY_SIZE] = {0};
    memcpy(key, fence, length < ROW_KEY_SIZE ? length : ROW_KEY_SIZE);
    struct row row;
    for (int i = 0; i < 4; i++) {
        uint64_t big;
        memcpy(&big, key + 8 * i, 8);
        row.place[i] = __builtin_bswap64(big);
    }
    for (int i = 3; length >= ROW_KEY_SIZE && i >= 0 && ++row.place[i] == 0; i--) {
    }
    return row;
}

/* The row's 32 bytes, big-endian: byte order is row order. */
void row_key(const struct row *row, uint8_t key[ROW_KEY_SIZE]);
/* The shortest key that is not before left and before right. Returns its length. */
size_t row_fence(const struct row *left, const struct row *right, uint8_t fence[ROW_KEY_SIZE]);
/* Returns whether the row lies at or before the fence. */
bool row_within(const struct row *row, const uint8_t *fence, size_t length);

struct rows_writer {
    enum quad_order order;
    uint8_t *at, *limit;
    struct row last;
    uint16_t count;
    uint8_t *start;
};
enum { ROW_BYTES_MOST = 1 + 4 * 20 };
/* bytes: room of `size` + ROW_BYTES_MOST. */
void rows_begin(struct rows_writer *writer, enum quad_order order, uint8_t *bytes, size_t size);
/* False, and nothing added, when the block would pass its size. */
bool rows_add(struct rows_writer *writer, const struct row *row);
/* The length of the block. */
size_t rows_end(struct rows_writer *writer);

struct row_change {
    struct row row;
    bool removed;
};
/* Writes a block (length 0: none) with changes, which ascend, into a writer that has begun: the
 * very bytes that writing all rows would give. Rows are coded against the one before, so only those
 * that change and those next to them are coded anew; what lies between is copied, and what comes
 * after the last is not even read. LIMIT when the writer has not room for it, which it has with
 * ROW_BYTES_MOST for each row and change. CORRUPT as below, of what was read. */
enum status rows_splice(const uint8_t *bytes, size_t length, const struct row_change *changes,
                        size_t count, struct rows_writer *writer, struct reason *why);

/* Cuts what was written as one long block into blocks. */
struct rows_cutter {
    enum quad_order order;
    const uint8_t *at, *end;
    struct row last;  /* of the block cut last */
    struct row first; /* of the rest */
    bool more;        /* there is a rest */
};
/* CORRUPT when the bytes are no block. */
enum status rows_cut_begin(struct rows_cutter *cutter, enum quad_order order, const uint8_t *bytes,
                           size_t length, struct reason *why);
/* The next block, of at most `size` bytes; block has ROW_BYTES_MOST more. */
enum status rows_cut(struct rows_cutter *cutter, uint8_t *block, size_t size, size_t *length,
                     struct reason *why);

/* Rows of a block; rows has room for ROWS_BLOCK_MOST. CORRUPT when the bytes are no block or
 * rows do not ascend. */
enum status rows_read(enum quad_order order, const uint8_t *bytes, size_t length, struct row *rows,
                      size_t *count, struct reason *why);
/* Reads the rows in [from, to); a NULL bound is none. *passed says that there are rows from `to`
 * on, which were not looked at. */
enum status rows_read_range(enum quad_order order, const uint8_t *bytes, size_t length,
                            const struct row *from, const struct row *to, struct row *rows,
                            size_t *count, bool *passed, struct reason *why);

#endif
