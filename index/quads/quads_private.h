/* Shared by quads.c (writing) and quads_scan.c (reading). */
#ifndef INDEX_QUADS_QUADS_PRIVATE_H
#define INDEX_QUADS_QUADS_PRIVATE_H

#include <string.h>

#include "index/quads/quads.h"

struct quads {
    struct tree *trees[ORDER_COUNT];
};

/* quads_scan.c. Whether `order` begins with the bound places; *bound: their number. */
bool quads_order_serves(const struct quad_oids *pattern, enum quad_order order, unsigned *bound);

/* quads_build.c. Whether building the tree anew costs less than changing its blocks. */
enum status quads_build_pays(struct quads *quads, enum quad_order order,
                             const struct change_set *set, bool *pays, struct reason *why);
enum status quads_build(struct quads *quads, enum quad_order order, struct transaction *transaction,
                        const struct change_set *set, struct reason *why);

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

#endif
