/* Cuts the rows of a pattern into ranges of about as many blocks: the values of the first place
 * that the order leaves open are halved, and the tree says how much lies before the middle. */
#include "index/quads/quads.h"

enum { STEPS_MOST = 1024 };
/* Of a range's size: how far from its right place a cut may be. */
#define TOLERANCE 0.3

struct dividing {
    struct tree *tree;
    struct row row; /* the bound places; the next one varies */
    unsigned bound;
    double from, size;     /* the pattern's rows in the tree, and a range of them */
    oid values[QUAD_CUTS]; /* OID_NONE: not found */
    unsigned steps;
};

static enum status
position_of(const struct dividing *dividing, const struct row *row, double *position,
            struct reason *why)
{
    uint8_t key[ROW_KEY_SIZE];
    row_key(row, key);
    struct latch *latch = tree_latch(dividing->tree);
    latch_enter_reading(latch);
    const enum status status =
        tree_position(dividing->tree, slice_of((char *)key, sizeof(key)), position, why);
    latch_leave(latch);
    return status;
}

/* Looks for the cuts from `first` to before `last`, whose values are from low to before high. */
static enum status
halve(struct dividing *dividing, oid low, oid high, size_t first, size_t last, struct reason *why)
{
    while (first < last && high - low > 1 && dividing->steps++ < STEPS_MOST) {
        const oid middle = low + (high - low) / 2;
        struct row row = dividing->row;
        double position;
        row.place[dividing->bound] = middle;
        TRY(position_of(dividing, &row, &position, why));
        const double at = (position - dividing->from) / dividing->size - 1;
        size_t left = first;
        while (left < last && (double)left < at - TOLERANCE) {
            left++;
        }
        size_t right = left;
        if (left < last && (double)left <= at + TOLERANCE) {
            dividing->values[right++] = middle;
        }
        TRY(halve(dividing, low, middle, first, left, why));
        low = middle;
        first = right;
    }
    return STATUS_OK;
}

enum status
quads_divide(struct quads *quads, const struct quad_oids *pattern, enum quad_order order,
             struct quad_cuts *cuts, struct reason *why)
{
    unsigned bound;
    if (order == ORDER_COUNT) {
        order = quads_order_for(pattern, &bound);
    } else if (!quads_order_serves(pattern, order, &bound)) {
        return status_fail(why, STATUS_UNSUPPORTED, "the order does not serve the bound places");
    }
    const size_t most = cuts->count < QUAD_CUTS ? cuts->count : QUAD_CUTS;
    cuts->count = 0;
    if (bound == 4) {
        return STATUS_OK;
    }
    const struct row row = row_of(pattern, order);
    const struct row upper = row_upper(&row, bound);
    struct dividing dividing = {
        .tree = quads_tree(quads, order), .row = row_lower(&row, bound), .bound = bound};
    double to;
    TRY(position_of(&dividing, &dividing.row, &dividing.from, why));
    TRY(position_of(&dividing, &upper, &to, why));
    dividing.size = (to - dividing.from) / (double)(most + 1);
    cuts->place = rows_places[order][bound];
    if (dividing.size <= 0) {
        return STATUS_OK;
    }
    TRY(halve(&dividing, 0, OID_OVERLAY, 0, most, why));
    for (size_t i = 0; i < most; i++) {
        if (dividing.values[i] != OID_NONE) {
            cuts->values[cuts->count++] = dividing.values[i];
        }
    }
    return STATUS_OK;
}
