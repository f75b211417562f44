/* Functions that all operators share, and the small operators. */
#include "index/query/operators/operator.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"

struct operator* operator_new(struct run *run, const struct operator_kind *kind,
                              struct operator* input, size_t batch_rows)
{
    struct operator* operator= arena_zero(&run->arena, kind->size);
    if (operator) {
        operator->kind = kind;
        operator->run = run;
        operator->input = input;
        operator->batch_rows = batch_rows;
        operator->following = run->all;
        run->all = operator;
    }
    return operator;
}

enum status
operator_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    if (!operator->run->measured) {
        return operator->kind->next(operator, batch, why);
    }
    const uint64_t began = clock_monotonic_us();
    const enum status status = operator->kind->next(operator, batch, why);
    operator->time_us += clock_monotonic_us() - began;
    operator->rows += status == STATUS_OK ? (*batch)->count : 0;
    return status;
}

void operator_contain(struct operator* operator, struct operator* inner)
{
    operator->only = inner;
    operator->inner = & operator->only;
    operator->inner_count = 1;
}

void operator_reset(struct operator* operator)
{
    for (; operator; operator= operator->input) {
        if (operator->kind->reset) {
            operator->kind->reset(operator);
        }
    }
}

void
operators_close(struct run *run)
{
    for (struct operator* operator= run->all; operator; operator= operator->following) {
        if (operator->kind->close) {
            operator->kind->close(operator);
        }
        free(operator->batch.rows);
    }
    run->all = NULL;
}

enum status
operator_batch(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct run *run = operator->run;
    if (!operator->batch.rows) {
        const size_t bytes = operator->batch_rows *(run->width + 1) * sizeof(oid);
        TRY(memory_take(&run->account, bytes, "batches of rows", why));
        operator->batch.rows = memory_alloc(bytes);
    }
    operator->batch.count = 0;
    *batch = &operator->batch;
    return STATUS_OK;
}

enum status
run_check(const struct run *run, struct reason *why)
{
    return deadline_check(&run->deadline, why);
}

bool
graphs_have(const struct graphs *graphs, oid graph)
{
    if (graphs->kind == GRAPHS_ALL) {
        return true;
    }
    for (size_t i = 0; i < graphs->count; i++) {
        if (graphs->ids[i] == graph) {
            return graphs->kind != GRAPHS_ALL_BUT;
        }
    }
    return graphs->kind == GRAPHS_ALL_BUT;
}

enum status
row_multiply(oid *row, uint32_t weight, uint64_t other, struct reason *why)
{
    return __builtin_mul_overflow(row_weight(row, weight), other, &row[weight])
               ? status_fail(why, STATUS_LIMIT, "more rows than can be counted")
               : STATUS_OK;
}

/* ---- unit ---- */

struct unit {
    struct operator operator;
    bool done;
};

static enum status
unit_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct unit *unit = (struct unit *)operator;
    TRY(operator_batch(operator, batch, why));
    if (!unit->done) {
        unit->done = true;
        memcpy((*batch)->rows, operator->run->base_row, operator->run->width * sizeof(oid));
        (*batch)->count = 1;
    }
    return STATUS_OK;
}

static void unit_reset(struct operator* operator)
{
    ((struct unit *)operator)->done = false;
}

struct operator* unit_new(struct run *run)
{
    static const struct operator_kind kind = {"unit", sizeof(struct unit), unit_next, unit_reset,
                                              NULL};
    return operator_new(run, &kind, NULL, 1);
}

/* ---- seed ---- */

struct seed {
    struct operator operator;
    bool full;
};

static enum status
seed_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct seed *seed = (struct seed *)operator;
    if (!seed->full) {
        TRY(operator_batch(operator, batch, why));
    }
    seed->full = false;
    *batch = &operator->batch;
    return STATUS_OK;
}

struct operator* seed_new(struct run *run)
{
    static const struct operator_kind kind = {"seed", sizeof(struct seed), seed_next, NULL, NULL};
    return operator_new(run, &kind, NULL, BATCH_ROWS);
}

enum status
seed_give(struct operator* seed, const struct batch *batch, uint32_t ordinal, struct reason *why)
{
    const struct run *run = seed->run;
    struct batch *own;
    TRY(operator_batch(seed, &own, why));
    memcpy(own->rows, batch->rows, batch->count * run->width * sizeof(oid));
    own->count = batch->count;
    if (ordinal != NUMBER_NONE) {
        for (size_t i = 0; i < own->count; i++) {
            batch_row(run, own, i)[ordinal] = i;
        }
    }
    ((struct seed *)seed)->full = true;
    return STATUS_OK;
}

/* ---- filter ---- */

struct filter {
    struct operator operator;
    struct remembered expression;
};

static enum status
filter_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct run *run = operator->run;
    struct remembered *expression = &((struct filter *)operator)->expression;
    do {
        TRY(operator_next(operator->input, batch, why));
        const size_t count = (*batch)->count;
        size_t kept = 0;
        if (count == 0) {
            return STATUS_OK;
        }
        TRY(run_check(run, why));
        for (size_t i = 0; i < count; i++) {
            oid *row = batch_row(run, *batch, i);
            int test = expression_test_identifiers(&run->evaluation, expression->expression, row);
            if (test < 0) {
                evaluation_next_row(&run->evaluation);
                test = remembered_test(expression, &run->evaluation, row);
                TRY(evaluation_check(&run->evaluation, why));
            }
            if (test == 1) {
                if (kept < i) {
                    row_copy(run, batch_row(run, *batch, kept), row);
                }
                kept++;
            }
        }
        (*batch)->count = kept;
    } while ((*batch)->count == 0);
    return STATUS_OK;
}

struct operator*
    filter_new(struct run *run, struct operator* input, const struct expression *expression)
{
    static const struct operator_kind kind = {"filter", sizeof(struct filter), filter_next, NULL,
                                              NULL};
    struct operator* operator= operator_new(run, &kind, input, 0);
    if (operator) {
        remembered_prepare(&((struct filter *)operator)->expression, expression);
    }
    return operator;
}

/* ---- extend ---- */

struct extend {
    struct operator operator;
    const struct slot_expression *items;
    struct remembered *expressions; /* of items */
    size_t count;
};

static enum status
extend_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct run *run = operator->run;
    const struct extend *extend = (struct extend *)operator;
    TRY(operator_next(operator->input, batch, why));
    TRY(run_check(run, why));
    for (size_t i = 0; i < (*batch)->count; i++) {
        oid *row = batch_row(run, *batch, i);
        evaluation_next_row(&run->evaluation);
        for (size_t item = 0; item < extend->count; item++) {
            row[extend->items[item].slot] =
                remembered_id(&extend->expressions[item], &run->evaluation, row);
        }
        TRY(evaluation_check(&run->evaluation, why));
    }
    return STATUS_OK;
}

struct operator* extend_new(struct run *run, struct operator* input,
                            const struct slot_expression *items, size_t count)
{
    static const struct operator_kind kind = {"bind", sizeof(struct extend), extend_next, NULL,
                                              NULL};
    struct extend *extend = (struct extend *)operator_new(run, &kind, input, 0);
    struct remembered *expressions = arena_alloc(&run->arena, count * sizeof *expressions);
    if (!extend || !expressions) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        remembered_prepare(&expressions[i], items[i].expression);
    }
    extend->items = items;
    extend->expressions = expressions;
    extend->count = count;
    return &extend->operator;
}

/* ---- project ---- */

struct project {
    struct operator operator;
    const struct slot_pair *pairs;
    size_t count;
};

static enum status
project_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    const struct project *project = (struct project *)operator;
    TRY(operator_next(operator->input, batch, why));
    for (size_t i = 0; i < (*batch)->count; i++) {
        oid *row = batch_row(operator->run, *batch, i);
        for (size_t pair = 0; pair < project->count; pair++) {
            row[project->pairs[pair].outer] = row[project->pairs[pair].inner];
        }
    }
    return STATUS_OK;
}

struct operator* project_new(struct run *run, struct operator* input, const struct slot_pair *pairs,
                             size_t count)
{
    static const struct operator_kind kind = {"project", sizeof(struct project), project_next, NULL,
                                              NULL};
    struct operator* operator= operator_new(run, &kind, input, 0);
    if (operator) {
        ((struct project *)operator)->pairs = pairs;
        ((struct project *)operator)->count = count;
    }
    return operator;
}

/* ---- distinct ---- */

struct distinct {
    struct operator operator;
    const uint32_t *slots;
    size_t count;
    struct row_set seen; /* a deferred row has the whole row with it */
    oid *key;
    bool deferred;
};

static enum status
distinct_deferred(struct distinct *distinct, struct batch **batch, struct reason *why)
{
    struct operator* operator= & distinct->operator;
    TRY(operator_batch(operator, batch, why));
    while ((*batch)->count < operator->batch_rows) {
        const oid *key, *row;
        TRY(row_set_next(&distinct->seen, &key, &row, why));
        if (!key) {
            return STATUS_OK;
        }
        memcpy(batch_row(operator->run, *batch, (*batch)->count++),
               row, operator->run->width * sizeof * row);
    }
    return STATUS_OK;
}

static enum status
distinct_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct distinct *distinct = (struct distinct *)operator;
    struct run *run = operator->run;
    if (!distinct->key) {
        row_set_init(&distinct->seen, &run->spill, "DISTINCT", distinct->count, run->width);
        distinct->key = memory_alloc(distinct->count * sizeof *distinct->key);
    }
    do {
        if (distinct->deferred) {
            return distinct_deferred(distinct, batch, why);
        }
        TRY(operator_next(operator->input, batch, why));
        const size_t count = (*batch)->count;
        size_t kept = 0;
        distinct->deferred = count == 0;
        for (size_t i = 0; i < count; i++) {
            oid *row = batch_row(run, *batch, i);
            enum row_state state;
            for (size_t k = 0; k < distinct->count; k++) {
                distinct->key[k] = row[distinct->slots[k]];
            }
            TRY(row_set_put(&distinct->seen, distinct->key, row, &state, why));
            if (state == ROW_NEW) {
                if (kept < i) {
                    row_copy(run, batch_row(run, *batch, kept), row);
                }
                kept++;
            }
        }
        (*batch)->count = kept;
    } while ((*batch)->count == 0);
    return STATUS_OK;
}

static void distinct_reset(struct operator* operator)
{
    struct distinct *distinct = (struct distinct *)operator;
    if (distinct->key) {
        row_set_reset(&distinct->seen);
    }
    distinct->deferred = false;
}

static void distinct_close(struct operator* operator)
{
    struct distinct *distinct = (struct distinct *)operator;
    row_set_release(&distinct->seen);
    free(distinct->key);
}

struct operator* distinct_new(struct run *run, struct operator* input, const uint32_t *slots,
                              size_t count, size_t batch_rows)
{
    static const struct operator_kind kind = {"distinct", sizeof(struct distinct), distinct_next,
                                              distinct_reset, distinct_close};
    struct distinct *distinct = (struct distinct *)operator_new(run, &kind, input, batch_rows);
    if (distinct) {
        distinct->slots = slots;
        distinct->count = count;
    }
    return (struct operator*)distinct;
}

/* ---- slice ---- */

struct slicer {
    struct operator operator;
    uint64_t offset, limit;
    uint64_t skipped, given;
};

static enum status
slice_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct slicer *slicer = (struct slicer *)operator;
    const struct run *run = operator->run;
    if (slicer->given >= slicer->limit) {
        return operator_batch(operator, batch, why);
    }
    for (;;) {
        TRY(operator_next(operator->input, batch, why));
        uint64_t count = (*batch)->count;
        if (count == 0) {
            return STATUS_OK;
        }
        const uint64_t left = slicer->offset - slicer->skipped;
        const uint64_t skip = left < count ? left : count;
        slicer->skipped += skip;
        count -= skip;
        if (count > slicer->limit - slicer->given) {
            count = slicer->limit - slicer->given;
        }
        if (count) {
            if (skip) {
                memmove((*batch)->rows, batch_row(run, *batch, skip),
                        count * run->width * sizeof(oid));
            }
            slicer->given += count;
            (*batch)->count = count;
            return STATUS_OK;
        }
    }
}

static void slice_reset(struct operator* operator)
{
    ((struct slicer *)operator)->skipped = ((struct slicer *)operator)->given = 0;
}

struct operator* slice_new(struct run *run, struct operator* input, uint64_t offset, uint64_t limit)
{
    static const struct operator_kind kind = {"slice", sizeof(struct slicer), slice_next,
                                              slice_reset, NULL};
    struct operator* operator= operator_new(run, &kind, input, 1);
    if (operator) {
        ((struct slicer *)operator)->offset = offset;
        ((struct slicer *)operator)->limit = limit;
    }
    return operator;
}
