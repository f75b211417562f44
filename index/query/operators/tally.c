/* One row of counts that are known when the query is planned (index/query/plan/share_tally.c). */
#include "index/query/operators/operator.h"

struct tally {
    struct operator operator;
    const uint32_t *slots;
    const int64_t *numbers;
    size_t count;
};

static enum status
tally_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    const struct tally *tally = (const struct tally *)operator;
    struct run *run = operator->run;
    TRY(operator_next(operator->input, batch, why));
    for (size_t i = 0; i < (*batch)->count; i++) {
        for (size_t k = 0; k < tally->count; k++) {
            const struct value value = value_integer(tally->numbers[k]);
            batch_row(run, *batch, i)[tally->slots[k]] = value_id(&run->evaluation, &value);
        }
    }
    return evaluation_check(&run->evaluation, why);
}

struct operator* tally_new(struct run *run, struct operator* input, const uint32_t *slots,
                           const int64_t *numbers, size_t count)
{
    static const struct operator_kind kind = {"tally", sizeof(struct tally), tally_next, NULL,
                                              NULL};
    struct tally *tally = (struct tally *)operator_new(run, &kind, input, 1);
    if (!tally) {
        return NULL;
    }
    tally->slots = slots;
    tally->numbers = numbers;
    tally->count = count;
    return &tally->operator;
}
