/* GROUP BY and aggregates: section 18.5. All groups are held at once, each with one accumulator
 * for every aggregate; DISTINCT inside an aggregate remembers (group, aggregate, value).
 */
#include <stdlib.h>

#include "base/memory.h"
#include "index/query/operator.h"

enum { CONCAT_MAXIMUM = 16 << 20 };

struct accumulator {
    uint64_t count;
    bool error;
    bool has_sum;
    struct value sum; /* a number without a term */
    oid best;         /* MIN, MAX, SAMPLE */
    char *text;       /* GROUP_CONCAT */
    size_t length, room;
};

struct group {
    struct operator operator;
    const struct algebra *algebra;
    struct row_table groups; /* keys */
    struct row_table seen;   /* group, aggregate, value */
    struct row_table rows;   /* COUNT(DISTINCT *): group, aggregate, all columns with a name */
    struct accumulator *accumulators;
    size_t room;
    oid *key;
    size_t given;
    bool done;
};

static struct accumulator *
accumulator_of(struct group *group, size_t number, size_t aggregate)
{
    return &group->accumulators[number * group->algebra->aggregate_count + aggregate];
}

static enum status
grow(struct group *group, struct reason *why)
{
    const size_t count = group->algebra->aggregate_count;
    if (group->groups.count <= group->room || !count) {
        return STATUS_OK;
    }
    const size_t room = group->room ? group->room * 2 : 16;
    TRY(memory_take(&group->operator.run->account,
                    (room - group->room) * count * sizeof *group->accumulators, "GROUP BY", why));
    group->accumulators =
        memory_resize(group->accumulators, room * count, sizeof *group->accumulators);
    memset(group->accumulators + group->room * count, 0,
           (room - group->room) * count * sizeof *group->accumulators);
    group->room = room;
    return STATUS_OK;
}

static enum status
concatenate(struct group *group, struct accumulator *accumulator, const struct aggregate *aggregate,
            const struct value *value, struct reason *why)
{
    struct run *run = group->operator.run;
    struct term term;
    if (value->kind == VALUE_BLANK || !value_term(value, &run->evaluation.scratch, &term)) {
        accumulator->error = true;
        return STATUS_OK;
    }
    const size_t separator = accumulator->count ? aggregate->separator.length : 0;
    const size_t needed = accumulator->length + separator + term.value.length + 1;
    if (needed > CONCAT_MAXIMUM) {
        return status_fail(why, STATUS_LIMIT, "a GROUP_CONCAT is longer than %d bytes",
                           CONCAT_MAXIMUM);
    }
    if (needed > accumulator->room) {
        TRY(memory_take(&run->account, needed * 2 - accumulator->room, "GROUP_CONCAT", why));
        accumulator->room = needed * 2;
        accumulator->text = memory_resize(accumulator->text, accumulator->room, 1);
    }
    if (separator) {
        memcpy(accumulator->text + accumulator->length, aggregate->separator.at, separator);
    }
    if (term.value.length) {
        memcpy(accumulator->text + accumulator->length + separator, term.value.at,
               term.value.length);
    }
    accumulator->length += separator + term.value.length;
    accumulator->count++;
    return STATUS_OK;
}

static void
add_number(struct accumulator *accumulator, const struct value *value)
{
    struct value sum;
    if (!accumulator->has_sum) {
        accumulator->sum = value_integer(0);
        accumulator->has_sum = true;
    }
    if (!value_arithmetic('+', &accumulator->sum, value, &sum)) {
        accumulator->error = true;
        return;
    }
    accumulator->sum = sum;
    accumulator->count++;
}

/* Whether the value is better than the best so far. */
static bool
is_better(struct evaluation *evaluation, const struct accumulator *accumulator,
          enum aggregate_kind kind, const struct value *value)
{
    struct value best;
    if (!accumulator->best || !identifier_value(evaluation, accumulator->best, &best)) {
        return true;
    }
    const int order = value_order(value, &best);
    return kind == AGGREGATE_MIN ? order < 0 : kind == AGGREGATE_MAX ? order > 0 : false;
}

static enum status
accumulate(struct group *group, size_t number, size_t which, const oid *row, struct reason *why)
{
    struct evaluation *evaluation = &group->operator.run->evaluation;
    const struct aggregate *aggregate = &group->algebra->aggregates[which];
    struct accumulator *accumulator = accumulator_of(group, number, which);
    struct value value;
    const oid id = expression_id(evaluation, aggregate->argument, row);
    if (!id || !identifier_value(evaluation, id, &value)) {
        /* An error among the values is an error of the whole, but counting and sampling pass over
         * it. */
        accumulator->error = accumulator->error || (aggregate->kind != AGGREGATE_COUNT &&
                                                    aggregate->kind != AGGREGATE_SAMPLE);
        return STATUS_OK;
    }
    if (aggregate->distinct) {
        const oid key[3] = {number, which, id};
        bool added;
        size_t at;
        TRY(row_table_put(&group->seen, key, &added, &at, why));
        if (!added) {
            return STATUS_OK;
        }
    }
    switch (aggregate->kind) {
    case AGGREGATE_COUNT:
        accumulator->count++;
        return STATUS_OK;
    case AGGREGATE_SUM:
    case AGGREGATE_AVG:
        add_number(accumulator, &value);
        return STATUS_OK;
    case AGGREGATE_GROUP_CONCAT:
        return concatenate(group, accumulator, aggregate, &value, why);
    default:
        if (is_better(evaluation, accumulator, aggregate->kind, &value)) {
            accumulator->best = id;
        }
        return STATUS_OK;
    }
}

static enum status
count_row(struct group *group, size_t number, size_t which, const oid *row, struct reason *why)
{
    struct accumulator *accumulator = accumulator_of(group, number, which);
    if (group->algebra->aggregates[which].distinct) {
        const size_t width = group->operator.run->width;
        oid *key = arena_alloc(&group->operator.run->evaluation.scratch, (width + 2) * sizeof *key);
        bool added;
        size_t at, count = 0;
        if (!key) {
            return status_fail(why, STATUS_LIMIT, "a row is too wide");
        }
        key[count++] = number;
        key[count++] = which;
        for (size_t slot = 0; slot < group->operator.run->query->slot_count; slot++) {
            if (slots_have(&group->algebra->left->maybe, (uint32_t)slot) &&
                group->operator.run->query->slot_names[slot].length) {
                key[count++] = row[slot];
            }
        }
        TRY(row_table_put(&group->rows, key, &added, &at, why));
        if (!added) {
            return STATUS_OK;
        }
    }
    accumulator->count++;
    return STATUS_OK;
}

static enum status
add_row(struct group *group, const oid *row, struct reason *why)
{
    struct evaluation *evaluation = &group->operator.run->evaluation;
    const struct algebra *algebra = group->algebra;
    bool added;
    size_t number;
    evaluation_next_row(evaluation);
    for (size_t i = 0; i < algebra->key_count; i++) {
        const struct slot_expression *key = &algebra->keys[i];
        group->key[i] =
            key->expression ? expression_id(evaluation, key->expression, row) : row[key->slot];
    }
    TRY(row_table_put(&group->groups, group->key, &added, &number, why));
    TRY(grow(group, why));
    for (size_t i = 0; i < algebra->aggregate_count; i++) {
        TRY(algebra->aggregates[i].argument ? accumulate(group, number, i, row, why)
                                            : count_row(group, number, i, row, why));
    }
    return evaluation_check(evaluation, why);
}

static enum status
gather(struct group *group, struct reason *why)
{
    struct operator* operator= & group->operator;
    struct batch *batch;
    for (;;) {
        TRY(operator_next(operator->input, &batch, why));
        if (batch->count == 0) {
            break;
        }
        for (size_t i = 0; i < batch->count; i++) {
            TRY(add_row(group, batch_row(operator->run, batch, i), why));
        }
        TRY(run_check(operator->run, why));
    }
    if (group->algebra->key_count == 0 && group->groups.count == 0) {
        bool added;
        size_t at; /* no rows and no keys are one empty group */
        TRY(row_table_put(&group->groups, group->key, &added, &at, why));
        TRY(grow(group, why));
    }
    group->done = true;
    return STATUS_OK;
}

static oid
result(struct group *group, size_t number, size_t which)
{
    struct evaluation *evaluation = &group->operator.run->evaluation;
    const struct accumulator *accumulator = accumulator_of(group, number, which);
    struct value value = value_integer(0), count;
    if (accumulator->error) {
        return OID_NONE;
    }
    switch (group->algebra->aggregates[which].kind) {
    case AGGREGATE_COUNT:
        value = value_integer((int64_t)accumulator->count);
        break;
    case AGGREGATE_SUM:
        value = accumulator->has_sum ? accumulator->sum : value;
        break;
    case AGGREGATE_AVG:
        count = value_integer((int64_t)accumulator->count);
        if (accumulator->count && !value_arithmetic('/', &accumulator->sum, &count, &value)) {
            return OID_NONE;
        }
        break;
    case AGGREGATE_GROUP_CONCAT:
        value = value_string(slice_of(accumulator->text, accumulator->length));
        break;
    default:
        return accumulator->best;
    }
    return value_id(evaluation, &value);
}

static enum status
group_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct group *group = (struct group *)operator;
    struct run *run = operator->run;
    const struct algebra *algebra = group->algebra;
    if (!group->done) {
        TRY(gather(group, why));
    }
    TRY(operator_batch(operator, batch, why));
    while (group->given < group->groups.count && (*batch)->count < operator->batch_rows) {
        oid *row = batch_row(run, *batch, (*batch)->count++);
        const oid *keys = row_table_row(&group->groups, group->given);
        memcpy(row, run->base_row, run->width * sizeof *row);
        evaluation_next_row(&run->evaluation);
        for (size_t i = 0; i < algebra->key_count; i++) {
            row[algebra->keys[i].slot] = keys[i];
        }
        for (size_t i = 0; i < algebra->aggregate_count; i++) {
            row[algebra->aggregates[i].slot] = result(group, group->given, i);
        }
        group->given++;
        TRY(evaluation_check(&run->evaluation, why));
    }
    return STATUS_OK;
}

static void
forget(struct group *group)
{
    const size_t count = group->room * group->algebra->aggregate_count;
    for (size_t i = 0; i < count; i++) {
        memory_give(&group->operator.run->account, group->accumulators[i].room);
        free(group->accumulators[i].text);
    }
    memory_give(&group->operator.run->account, count * sizeof *group->accumulators);
    free(group->accumulators);
    group->accumulators = NULL;
    group->room = 0;
}

static void group_reset(struct operator* operator)
{
    struct group *group = (struct group *)operator;
    forget(group);
    row_table_reset(&group->groups);
    row_table_reset(&group->seen);
    row_table_reset(&group->rows);
    group->given = 0;
    group->done = false;
}

static void group_close(struct operator* operator)
{
    struct group *group = (struct group *)operator;
    forget(group);
    row_table_release(&group->groups);
    row_table_release(&group->seen);
    row_table_release(&group->rows);
}

struct operator* group_new(struct run *run, struct operator* input, const struct algebra *algebra,
                           size_t batch_rows)
{
    static const struct operator_kind kind = {"group", sizeof(struct group), group_next,
                                              group_reset, group_close};
    struct group *group = (struct group *)operator_new(run, &kind, input, batch_rows);
    if (!group) {
        return NULL;
    }
    group->algebra = algebra;
    group->key = arena_alloc(&run->arena, (algebra->key_count + 1) * sizeof *group->key);
    size_t columns = 2;
    for (uint32_t slot = 0; slot < run->query->slot_count; slot++) {
        columns += slots_have(&algebra->left->maybe, slot) && run->query->slot_names[slot].length;
    }
    row_table_init(&group->groups, &run->account, "GROUP BY", algebra->key_count,
                   algebra->key_count);
    row_table_init(&group->seen, &run->account, "DISTINCT in an aggregate", 3, 3);
    row_table_init(&group->rows, &run->account, "COUNT(DISTINCT *)", columns, columns);
    return group->key ? &group->operator: NULL;
}
