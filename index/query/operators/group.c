/* GROUP BY and aggregates: section 18.5. Groups are held in a table, each with one accumulator for
 * every aggregate; DISTINCT inside an aggregate remembers (group, aggregate, value).
 *
 * When memory is used up, what is known of each group is written to a sorter as records and
 * forgotten; rows go on making groups. In the end the records come back sorted by key, and each
 * group is put together alone. The values of a DISTINCT are records of their own.
 *
 *    keys | sequence | kind and aggregate | state of an accumulator, value, or columns
 */
#include <stdlib.h>

#include "base/memory.h"
#include "index/query/operators/aggregate.h"

enum { GROUPS_LEAST = 64, ROW_MAY_TAKE = 4096 };
enum record_kind { RECORD_GROUP, RECORD_STATE, RECORD_VALUE, RECORD_COLUMNS };

struct group {
    struct operator operator;
    const struct algebra *algebra;
    struct row_table groups; /* keys */
    struct row_set seen;     /* group, aggregate, value */
    struct row_set rows;     /* COUNT(DISTINCT *): group, aggregate, all columns with a name */
    size_t columns;
    uint32_t weight; /* column of how many rows a row stands for, NUMBER_NONE */
    struct accumulator *accumulators;
    size_t room;                    /* groups that have them */
    size_t latest;                  /* group that a row was added to */
    struct remembered *expressions; /* of keys, then of arguments; without one it is not used */
    oid *key, *wide;
    size_t given;
    bool done;
    struct sorter parts; /* groups in files */
    size_t compared;     /* words of its order */
    uint64_t *record;
    size_t record_room;
    uint64_t sequence;
    bool parted;
    bool apart; /* each batch of input is groups of its own: they are given before the next is read
                 */
    const uint64_t *ahead; /* the next group's first record */
};

static struct accumulator *
accumulator_of(struct group *group, size_t number, size_t aggregate)
{
    return &group->accumulators[number * group->algebra->aggregate_count + aggregate];
}

static size_t
accumulators_growth(const struct group *group)
{
    const size_t room = group->room ? group->room * 2 : 16;
    return group->groups.count < group->room
               ? 0
               : (room - group->room) * group->algebra->aggregate_count *
                     sizeof *group->accumulators;
}

/* ---- adding ---- */

/* Gives the key's group, which may be new, and room for its accumulators. */
static enum status
put_group(struct group *group, size_t *number, struct reason *why)
{
    const size_t count = group->algebra->aggregate_count;
    const size_t growth = accumulators_growth(group);
    bool added;
    if (growth) {
        const size_t room = group->room ? group->room * 2 : 16;
        TRY(memory_take(&group->operator.run->account, growth, "GROUP BY", why));
        group->accumulators =
            memory_resize(group->accumulators, room * count, sizeof *group->accumulators);
        memset(group->accumulators + group->room * count, 0,
               (room - group->room) * count * sizeof *group->accumulators);
        group->room = room;
    }
    *number = group->groups.count;
    return group->apart ? row_table_add(&group->groups, group->key, why)
                        : row_table_put(&group->groups, group->key, &added, number, why);
}

static enum status
add_value(struct group *group, size_t number, size_t which, oid id, uint64_t weight,
          struct reason *why)
{
    const struct aggregate *aggregate = &group->algebra->aggregates[which];
    struct accumulator *accumulator = accumulator_of(group, number, which);
    enum row_state state = ROW_NEW;
    if (!id) {
        aggregate_error(aggregate, accumulator);
        return STATUS_OK;
    }
    if (aggregate->distinct) {
        const oid key[3] = {number, which, id};
        TRY(row_set_put(&group->seen, key, NULL, &state, why));
    }
    return state == ROW_NEW ? aggregate_add(group->operator.run, aggregate, accumulator, id,
                                            aggregate->distinct ? 1 : weight, why)
                            : STATUS_OK;
}

/* COUNT(DISTINCT *); columns: behind two words. */
static enum status
add_columns(struct group *group, size_t number, size_t which, oid *wide, struct reason *why)
{
    enum row_state state;
    wide[0] = number;
    wide[1] = which;
    TRY(row_set_put(&group->rows, wide, NULL, &state, why));
    accumulator_of(group, number, which)->count += state == ROW_NEW;
    return STATUS_OK;
}

static bool
is_column(const struct group *group, uint32_t slot)
{
    return slots_have(&group->algebra->left->maybe, slot) &&
           group->operator.run->query->slot_names[slot].length;
}

static enum status
count_row(struct group *group, size_t number, size_t which, const oid *row, struct reason *why)
{
    if (!group->algebra->aggregates[which].distinct) {
        accumulator_of(group, number, which)->count += row_weight(row, group->weight);
        return STATUS_OK;
    }
    size_t count = 2;
    for (uint32_t slot = 0; slot < group->operator.run->query->slot_count; slot++) {
        if (is_column(group, slot)) {
            group->wide[count++] = row[slot];
        }
    }
    return add_columns(group, number, which, group->wide, why);
}

/* ---- groups in files ---- */

static enum status
put_record(struct group *group, size_t number, enum record_kind kind, size_t which, size_t words,
           uint64_t **content, struct reason *why)
{
    const size_t keys = group->algebra->key_count, all = keys + 2 + words;
    if (all > group->record_room) {
        TRY(memory_take(&group->operator.run->account,
                        (2 * all - group->record_room) * sizeof *group->record, "GROUP BY", why));
        group->record_room = 2 * all;
        group->record = memory_resize(group->record, group->record_room, sizeof *group->record);
    }
    if (keys) {
        memcpy(group->record, row_table_row(&group->groups, number), keys * sizeof(oid));
    }
    group->record[keys] = group->sequence++;
    group->record[keys + 1] = (uint64_t)kind << 32 | which;
    *content = group->record + keys + 2;
    return STATUS_OK;
}

static enum status
write_state(struct group *group, size_t number, size_t which, struct reason *why)
{
    const size_t keys = group->algebra->key_count;
    struct accumulator *accumulator = accumulator_of(group, number, which);
    uint64_t *content;
    if (group->algebra->aggregates[which].distinct) {
        /* Its values come as such; there remains whether there was an error. */
        const bool error = accumulator->error;
        aggregate_release(group->operator.run, accumulator);
        accumulator->error = error;
    }
    const size_t words = aggregate_words(accumulator);
    TRY(put_record(group, number, RECORD_STATE, which, words, &content, why));
    aggregate_write(accumulator, content);
    aggregate_release(group->operator.run, accumulator);
    return sorter_add(&group->parts, group->record, keys + 2 + words, why);
}

static enum status
write_key(struct group *group, enum record_kind kind, const oid *key, size_t words,
          struct reason *why)
{
    uint64_t *content;
    TRY(put_record(group, key[0], kind, key[1], words, &content, why));
    memcpy(content, key + 2, words * sizeof *key);
    return sorter_add(&group->parts, group->record, group->algebra->key_count + 2 + words, why);
}

/* All values of a set, those in its table and those that were deferred. */
static enum status
write_set(struct group *group, struct row_set *set, enum record_kind kind, struct reason *why)
{
    const oid *key, *payload;
    for (size_t i = 0; i < set->table.count; i++) {
        TRY(write_key(group, kind, row_table_row(&set->table, i), set->keys - 2, why));
    }
    for (;;) {
        TRY(row_set_next(set, &key, &payload, why));
        if (!key) {
            break;
        }
        TRY(write_key(group, kind, key, set->keys - 2, why));
    }
    row_set_reset(set);
    row_table_release(&set->table);
    return STATUS_OK;
}

static void
forget(struct group *group)
{
    const size_t count = group->room * group->algebra->aggregate_count;
    for (size_t i = 0; i < count; i++) {
        aggregate_release(group->operator.run, &group->accumulators[i]);
    }
    memory_give(&group->operator.run->account, count * sizeof *group->accumulators);
    free(group->accumulators);
    group->accumulators = NULL;
    group->room = 0;
}

/* Writes all groups. */
static enum status
part(struct group *group, struct reason *why)
{
    uint64_t *content;
    for (size_t number = 0; number < group->groups.count; number++) {
        for (size_t i = 0; i < group->algebra->aggregate_count; i++) {
            TRY(write_state(group, number, i, why));
        }
        if (group->algebra->aggregate_count == 0) {
            TRY(put_record(group, number, RECORD_GROUP, 0, 0, &content, why));
            TRY(sorter_add(&group->parts, group->record, group->algebra->key_count + 2, why));
        }
    }
    TRY(write_set(group, &group->seen, RECORD_VALUE, why));
    TRY(write_set(group, &group->rows, RECORD_COLUMNS, why));
    row_table_release(&group->groups);
    forget(group);
    group->parted = true;
    return sorter_flush(&group->parts, why);
}

/* Tells whether another row may not find room. A few groups stay: sets of values know files of
 * their own. */
static bool
is_full(const struct group *group)
{
    return group->groups.count >= GROUPS_LEAST &&
           !spill_may_take(&group->operator.run->spill,
                           ROW_MAY_TAKE + row_table_growth(&group->groups) +
                               accumulators_growth(group) + row_table_growth(&group->seen.table) +
                               row_table_growth(&group->rows.table));
}

/* ---- rows ---- */

/* Returns how many values an argument stands for. */
static uint64_t
weight_of(const struct group *group, const struct aggregate *aggregate, const oid *row)
{
    struct value weight;
    if (!aggregate->weight) {
        return row_weight(row, group->weight);
    }
    return identifier_value(&group->operator.run->evaluation, row[aggregate->weight->number],
                            &weight)
               ? (uint64_t)value_number(&weight)
               : 1;
}

/* Finds the group of the key, which often is that of the row before. */
static enum status
find_group(struct group *group, size_t *number, struct reason *why)
{
    const size_t keys = group->algebra->key_count;
    if (group->apart) {
        return put_group(group, number, why);
    }
    if (group->latest < group->groups.count) {
        const oid *latest = row_table_row(&group->groups, group->latest);
        size_t i = 0;
        while (i < keys && latest[i] == group->key[i]) {
            i++;
        }
        if (i == keys) {
            *number = group->latest;
            return STATUS_OK;
        }
    }
    TRY(put_group(group, number, why));
    group->latest = *number;
    return STATUS_OK;
}

static enum status
add_row(struct group *group, const oid *row, struct reason *why)
{
    struct evaluation *evaluation = &group->operator.run->evaluation;
    const struct algebra *algebra = group->algebra;
    size_t number;
    if (!group->apart && is_full(group)) {
        TRY(part(group, why));
    }
    evaluation_next_row(evaluation);
    for (size_t i = 0; i < algebra->key_count; i++) {
        const struct slot_expression *key = &algebra->keys[i];
        group->key[i] = key->expression ? remembered_id(&group->expressions[i], evaluation, row)
                                        : row[key->slot];
    }
    TRY(find_group(group, &number, why));
    for (size_t i = 0; i < algebra->aggregate_count; i++) {
        const struct aggregate *aggregate = &algebra->aggregates[i];
        struct remembered *argument = &group->expressions[algebra->key_count + i];
        TRY(aggregate->argument
                ? add_value(group, number, i, remembered_id(argument, evaluation, row),
                            weight_of(group, aggregate, row), why)
                : count_row(group, number, i, row, why));
    }
    return evaluation_check(evaluation, why);
}

/* Adds the values that were deferred. */
static enum status
finish_sets(struct group *group, struct reason *why)
{
    const oid *key, *payload;
    for (;;) {
        TRY(row_set_next(&group->seen, &key, &payload, why));
        if (!key) {
            break;
        }
        evaluation_next_row(&group->operator.run->evaluation);
        TRY(aggregate_add(group->operator.run, &group->algebra->aggregates[key[1]],
                          accumulator_of(group, key[0], key[1]), key[2], 1, why));
    }
    for (;;) {
        TRY(row_set_next(&group->rows, &key, &payload, why));
        if (!key) {
            return STATUS_OK;
        }
        accumulator_of(group, key[0], key[1])->count++;
    }
}

/* Adds the rows of a batch; *end: there was none. */
static enum status
add_batch(struct group *group, bool *end, struct reason *why)
{
    struct operator* operator= & group->operator;
    struct batch *batch;
    TRY(operator_next(operator->input, &batch, why));
    *end = batch->count == 0;
    for (size_t i = 0; i < batch->count; i++) {
        TRY(add_row(group, batch_row(operator->run, batch, i), why));
    }
    return run_check(operator->run, why);
}

/* Tells whether no two batches have rows of the same group: they are counts by the only key, or
 * what joins have left of such. */
static enum status
find_apart(struct group *group, struct reason *why)
{
    const struct algebra *algebra = group->algebra;
    struct operator* input = group->operator.input;
    bool distinct = false;
    for (size_t i = 0; i < algebra->aggregate_count; i++) {
        distinct = distinct || algebra->aggregates[i].distinct;
    }
    if (distinct || algebra->key_count != 1 || algebra->keys[0].expression) {
        return STATUS_OK;
    }
    while (hash_join_sifts(input)) {
        input = input->input;
    }
    return counts_are_by(input, algebra->keys[0].slot, &group->apart, why);
}

/* The groups of the next batch, those of the one before being given. */
static enum status
gather_apart(struct group *group, struct reason *why)
{
    bool end;
    for (size_t i = 0; i < group->groups.count * group->algebra->aggregate_count; i++) {
        aggregate_release(group->operator.run, &group->accumulators[i]);
    }
    row_table_reset(&group->groups);
    group->given = 0;
    return add_batch(group, &end, why);
}

static enum status
gather(struct group *group, struct reason *why)
{
    size_t number;
    bool end = false;
    TRY(find_apart(group, why));
    if (group->apart) {
        group->done = true;
        return STATUS_OK;
    }
    while (!end) {
        TRY(add_batch(group, &end, why));
    }
    group->done = true;
    if (group->parted) {
        TRY(part(group, why));
        TRY(sorter_end(&group->parts, why));
        return sorter_next(&group->parts, &group->ahead, why);
    }
    if (group->algebra->key_count == 0 && group->groups.count == 0 && !group->algebra->partial) {
        TRY(put_group(group, &number, why)); /* no rows and no keys are one empty group */
    }
    return finish_sets(group, why);
}

/* ---- answering ---- */

static enum status
emit(struct group *group, size_t number, oid *row, struct reason *why)
{
    struct run *run = group->operator.run;
    const struct algebra *algebra = group->algebra;
    const oid *keys = row_table_row(&group->groups, number);
    row_copy(run, row, run->base_row);
    evaluation_next_row(&run->evaluation);
    for (size_t i = 0; i < algebra->key_count; i++) {
        row[algebra->keys[i].slot] = keys[i];
    }
    for (size_t i = 0; i < algebra->aggregate_count; i++) {
        row[algebra->aggregates[i].slot] =
            aggregate_result(run, &algebra->aggregates[i], accumulator_of(group, number, i));
    }
    return evaluation_check(&run->evaluation, why);
}

static enum status
merge_record(struct group *group, const uint64_t *record, struct reason *why)
{
    struct run *run = group->operator.run;
    const size_t keys = group->algebra->key_count;
    const enum record_kind kind = (enum record_kind)(record[keys + 1] >> 32);
    const size_t which = (uint32_t)record[keys + 1];
    const uint64_t *content = record + keys + 2;
    evaluation_next_row(&run->evaluation);
    switch (kind) {
    case RECORD_STATE:
        return aggregate_merge(run, &group->algebra->aggregates[which],
                               accumulator_of(group, 0, which), content, why);
    case RECORD_VALUE:
        return add_value(group, 0, which, content[0], 1, why);
    case RECORD_COLUMNS:
        memcpy(group->wide + 2, content, group->columns * sizeof *content);
        return add_columns(group, 0, which, group->wide, why);
    default:
        return STATUS_OK;
    }
}

/* Puts the next group together, as the only one in the table. */
static enum status
next_part(struct group *group, struct reason *why)
{
    const size_t keys = group->algebra->key_count;
    size_t number;
    row_table_reset(&group->groups);
    row_set_reset(&group->seen);
    row_set_reset(&group->rows);
    for (size_t i = 0; group->room && i < group->algebra->aggregate_count; i++) {
        aggregate_release(group->operator.run, accumulator_of(group, 0, i));
    }
    memcpy(group->key, group->ahead, keys * sizeof(oid));
    TRY(put_group(group, &number, why));
    while (group->ahead && memcmp(group->key, group->ahead, keys * sizeof(oid)) == 0) {
        TRY(merge_record(group, group->ahead, why));
        TRY(sorter_next(&group->parts, &group->ahead, why));
    }
    return finish_sets(group, why);
}

static enum status
group_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct group *group = (struct group *)operator;
    struct run *run = operator->run;
    if (!group->done) {
        TRY(gather(group, why));
    }
    TRY(operator_batch(operator, batch, why));
    while ((*batch)->count < operator->batch_rows) {
        if (group->apart && group->given == group->groups.count) {
            TRY(gather_apart(group, why));
        }
        if (group->parted ? !group->ahead : group->given == group->groups.count) {
            break;
        }
        if (group->parted) {
            TRY(next_part(group, why));
        }
        oid *row = batch_row(run, *batch, (*batch)->count++);
        TRY(emit(group, group->parted ? 0 : group->given++, row, why));
    }
    return run_check(run, why);
}

static void group_reset(struct operator* operator)
{
    struct group *group = (struct group *)operator;
    forget(group);
    row_table_reset(&group->groups);
    row_set_reset(&group->seen);
    row_set_reset(&group->rows);
    sorter_reset(&group->parts);
    group->given = 0;
    group->done = group->parted = group->apart = false;
    group->ahead = NULL;
}

static void group_close(struct operator* operator)
{
    struct group *group = (struct group *)operator;
    forget(group);
    row_table_release(&group->groups);
    row_set_release(&group->seen);
    row_set_release(&group->rows);
    sorter_release(&group->parts);
    free(group->record);
}

struct operator* group_new(struct run *run, struct operator* input, const struct algebra *algebra,
                           uint32_t weight, size_t batch_rows)
{
    static const struct operator_kind kind = {"group", sizeof(struct group), group_next,
                                              group_reset, group_close};
    struct group *group = (struct group *)operator_new(run, &kind, input, batch_rows);
    if (!group) {
        return NULL;
    }
    const size_t keys = algebra->key_count;
    group->algebra = algebra;
    group->weight = weight;
    group->expressions =
        arena_zero(&run->arena, (keys + algebra->aggregate_count + 1) * sizeof *group->expressions);
    if (!group->expressions) {
        return NULL;
    }
    for (size_t i = 0; i < keys + algebra->aggregate_count; i++) {
        const struct expression *expression =
            i < keys ? algebra->keys[i].expression : algebra->aggregates[i - keys].argument;
        if (expression) {
            remembered_prepare(&group->expressions[i], expression);
        }
    }
    group->key = arena_alloc(&run->arena, (keys + 1) * sizeof *group->key);
    for (uint32_t slot = 0; slot < run->query->slot_count; slot++) {
        group->columns += is_column(group, slot);
    }
    group->wide = arena_alloc(&run->arena, (group->columns + 2) * sizeof *group->wide);
    group->compared = keys + 1;
    row_table_init(&group->groups, &run->account, "GROUP BY", keys, keys);
    row_set_init(&group->seen, &run->spill, "DISTINCT in an aggregate", 3, 0);
    row_set_init(&group->rows, &run->spill, "COUNT(DISTINCT *)", group->columns + 2, 0);
    sorter_init(&group->parts, &run->spill, "GROUP BY", sorter_compare_words, &group->compared,
                UINT64_MAX);
    return group->key && group->wide ? &group->operator: NULL;
}
