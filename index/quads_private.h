/* Shared by quads.c (writing) and quads_scan.c (reading). */
#ifndef INDEX_QUADS_PRIVATE_H
#define INDEX_QUADS_PRIVATE_H

#include "index/quads.h"

struct quads {
    struct tree *trees[ORDER_COUNT];
};

static inline bool
row_starts(const struct row *row, const struct row *prefix, unsigned bound)
{
    for (unsigned i = 0; i < bound; i++) {
        if (row->place[i] != prefix->place[i]) {
            return false;
        }
    }
    return true;
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

#endif
