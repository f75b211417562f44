/* Operators that run pipelines over each batch of their input: union, left join. */
#include "index/query/operators/operator.h"

/* ---- union: every batch of input goes through each branch ---- */

struct alternatives {
    struct operator operator;
    struct operator** branches, **seeds;
    size_t count, at;
    struct batch *input;
};

static enum status
union_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct alternatives *all = (struct alternatives *)operator;
    for (;;) {
        if (!all->input) {
            TRY(operator_next(operator->input, &all->input, why));
            if (all->input->count == 0) {
                *batch = all->input;
                all->input = NULL;
                return STATUS_OK;
            }
            all->at = 0;
            operator_reset(all->branches[0]);
            TRY(seed_give(all->seeds[0], all->input, NUMBER_NONE, why));
        }
        TRY(operator_next(all->branches[all->at], batch, why));
        if ((*batch)->count) {
            return STATUS_OK;
        }
        if (++all->at == all->count) {
            all->input = NULL;
        } else {
            operator_reset(all->branches[all->at]);
            TRY(seed_give(all->seeds[all->at], all->input, NUMBER_NONE, why));
        }
    }
}

static void union_reset(struct operator* operator)
{
    ((struct alternatives *)operator)->input = NULL;
}

struct operator* union_new(struct run *run, struct operator* input, struct operator** branches,
                           struct operator** seeds, size_t count)
{
    static const struct operator_kind kind = {"union", sizeof(struct alternatives), union_next,
                                              union_reset, NULL};
    struct alternatives *all = (struct alternatives *)operator_new(run, &kind, input, 1);
    if (all) {
        all->operator.inner = all->branches = branches;
        all->operator.inner_count = count;
        all->seeds = seeds;
        all->count = count;
    }
    return (struct operator*)all;
}

/* ---- left join: the inner pipeline runs over each batch of input ---- */

bool
marks_init(struct marks *marks, struct run *run, const struct slots *slots)
{
    const struct value value = value_boolean(true);
    *marks = (struct marks){0};
    if (slots_empty(slots)) {
        return true;
    }
    marks->slots = arena_alloc(&run->arena, SLOTS_MAXIMUM * sizeof *marks->slots);
    for (uint32_t slot = slots_next(slots, 0); marks->slots && slot < SLOTS_MAXIMUM;
         slot = slots_next(slots, slot + 1)) {
        marks->slots[marks->count++] = slot;
    }
    marks->value = value_id(&run->evaluation, &value);
    return marks->slots && marks->value;
}

struct left_join {
    struct operator operator;
    struct operator* seed;
    struct marks marks;
    uint32_t ordinal;
    struct batch *input;
    bool inner_done;
    size_t unmatched; /* next row to look at */
    bool matched[BATCH_ROWS];
};

static enum status
left_join_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct left_join *join = (struct left_join *)operator;
    const struct run *run = operator->run;
    for (;;) {
        if (!join->input) {
            TRY(operator_next(operator->input, &join->input, why));
            if (join->input->count == 0) {
                *batch = join->input;
                join->input = NULL;
                return STATUS_OK;
            }
            memset(join->matched, 0, sizeof join->matched);
            join->inner_done = false;
            join->unmatched = 0;
            operator_reset(operator->only);
            TRY(seed_give(join->seed, join->input, join->ordinal, why));
        }
        if (!join->inner_done) {
            TRY(operator_next(operator->only, batch, why));
            for (size_t i = 0; i < (*batch)->count; i++) {
                oid *row = batch_row(run, *batch, i);
                join->matched[row[join->ordinal]] = true;
                marks_set(&join->marks, row);
            }
            if ((*batch)->count) {
                return STATUS_OK;
            }
            join->inner_done = true;
        }
        TRY(operator_batch(operator, batch, why));
        for (; join->unmatched < join->input->count && (*batch)->count < operator->batch_rows;
             join->unmatched++) {
            if (!join->matched[join->unmatched]) {
                memcpy(batch_row(run, *batch, (*batch)->count++),
                       batch_row(run, join->input, join->unmatched), run->width * sizeof(oid));
            }
        }
        if (join->unmatched == join->input->count) {
            join->input = NULL;
        }
        if ((*batch)->count) {
            return STATUS_OK;
        }
    }
}

static void left_join_reset(struct operator* operator)
{
    ((struct left_join *)operator)->input = NULL;
}

struct operator* left_join_new(struct run *run, struct operator* input, struct operator* inner,
                               struct operator* seed, uint32_t ordinal, const struct slots *bound,
                               size_t batch_rows)
{
    static const struct operator_kind kind = {"optional", sizeof(struct left_join), left_join_next,
                                              left_join_reset, NULL};
    struct left_join *join = (struct left_join *)operator_new(run, &kind, input, batch_rows);
    if (!join || !marks_init(&join->marks, run, bound)) {
        return NULL;
    }
    operator_contain(&join->operator, inner);
    join->seed = seed;
    join->ordinal = ordinal;
    return &join->operator;
}
