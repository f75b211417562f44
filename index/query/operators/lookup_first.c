/* Two ways to join the same rows: looking each of them up, and a table that has to be made first.
 * How many rows will be asked for is not known where the first ones are wanted; so rows are looked
 * up until that has cost what the table does, and only those after them are joined by the table.
 * Whatever comes, this costs at most twice the better way. */
#include "index/query/operators/operator.h"

struct lookup_first {
    struct operator operator;
    struct operator* ways[2], *seeds[2];
    uint64_t looked_up, most;
    size_t way;
    bool given; /* the present way has rows of the input to go on with */
};

static enum status
lookup_first_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct lookup_first *first = (struct lookup_first *)operator;
    for (;;) {
        if (!first->given) {
            TRY(operator_next(operator->input, batch, why));
            if ((*batch)->count == 0) {
                return STATUS_OK;
            }
            first->way = first->looked_up >= first->most;
            first->looked_up += (*batch)->count;
            first->given = true;
            operator_reset(first->ways[first->way]);
            TRY(seed_give(first->seeds[first->way], *batch, NUMBER_NONE, why));
        }
        TRY(operator_next(first->ways[first->way], batch, why));
        if ((*batch)->count) {
            return STATUS_OK;
        }
        first->given = false;
    }
}

static void lookup_first_reset(struct operator* operator)
{
    ((struct lookup_first *)operator)->given = false;
}

struct operator* lookup_first_new(struct run *run, struct operator* input,
                                  struct operator* const ways[2], struct operator* const seeds[2],
                                  uint64_t most)
{
    static const struct operator_kind kind = {"lookups, then a table", sizeof(struct lookup_first),
                                              lookup_first_next, lookup_first_reset, NULL};
    struct lookup_first *first = (struct lookup_first *)operator_new(run, &kind, input, 1);
    if (!first) {
        return NULL;
    }
    for (int i = 0; i < 2; i++) {
        first->ways[i] = ways[i];
        first->seeds[i] = seeds[i];
    }
    first->operator.inner = first->ways;
    first->operator.inner_count = 2;
    first->most = most;
    return &first->operator;
}
