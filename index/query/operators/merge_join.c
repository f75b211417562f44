/* Merge join: two pipelines whose rows come in the order of one shared variable. Of the right side
 * only the rows with the present value are held; when those have no room, the rest of them is in a
 * temporary file. */
#include <stdlib.h>

#include "base/memory.h"
#include "index/query/operators/operator.h"

enum { GROUP_LEAST = 256, FILE_BYTES = 16 << 10 };

struct merge_join {
    struct operator operator;
    uint32_t slot;   /* that both are sorted by */
    uint32_t weight; /* a column of them, NUMBER_NONE: none */
    uint32_t *slots; /* of the right side's columns */
    size_t count;
    struct batch *left, *right;
    size_t left_at, right_at;
    bool right_ended;
    oid key;    /* of the group, OID_NONE: none yet */
    oid *group; /* right rows with the key, their columns alone */
    size_t group_count, group_room;
    struct spill_list rest; /* of the group */
    struct spill_reader reader;
    oid *stored;
    size_t member; /* next of the group */
};

static const oid *
right_row(const struct merge_join *join)
{
    return batch_row(join->operator.run, join->right, join->right_at);
}

/* Makes right_row valid, or right_ended. */
static enum status
fill_right(struct merge_join *join, struct reason *why)
{
    if (!join->right_ended && (!join->right || join->right_at == join->right->count)) {
        TRY(operator_next(join->operator.only, &join->right, why));
        join->right_at = 0;
        join->right_ended = join->right->count == 0;
    }
    return STATUS_OK;
}

static enum status
keep_right(struct merge_join *join, struct reason *why)
{
    struct run *run = join->operator.run;
    const oid *row = right_row(join);
    const size_t bytes = join->count * sizeof *row;
    for (size_t i = 0; i < join->count; i++) {
        join->stored[i] = row[join->slots[i]];
    }
    if (join->group_count == join->group_room) {
        const size_t room = join->group_room ? join->group_room * 2 : 16;
        const size_t more = (room - join->group_room) * bytes;
        if (join->rest.length ||
            (join->group_count >= GROUP_LEAST && !spill_may_take(&run->spill, more))) {
            return spill_list_write(&join->rest, join->stored, bytes, why);
        }
        TRY(memory_take(&run->account, more, "joins", why));
        join->group = memory_resize(join->group, room, bytes);
        join->group_room = room;
    }
    memcpy(join->group + join->group_count++ * join->count, join->stored, bytes);
    return STATUS_OK;
}

static void
restart_group(struct merge_join *join)
{
    join->member = 0;
    if (join->rest.length) {
        spill_reader_release(&join->reader);
        spill_reader_init(&join->reader, &join->rest, FILE_BYTES);
    }
}

static void
forget_group(struct merge_join *join)
{
    join->group_count = 0;
    if (join->rest.length) {
        spill_reader_release(&join->reader);
        spill_list_release(&join->rest);
    }
}

/* Collects the right rows with the key. */
static enum status
load_group(struct merge_join *join, oid key, struct reason *why)
{
    unsigned work = 0;
    forget_group(join);
    join->key = key;
    for (;;) {
        TRY(fill_right(join, why));
        if (join->right_ended || right_row(join)[join->slot] > key) {
            break;
        }
        if (right_row(join)[join->slot] == key) {
            TRY(keep_right(join, why));
        }
        join->right_at++;
        if ((++work & 4095) == 0) {
            TRY(run_check(join->operator.run, why));
        }
    }
    return join->rest.length ? spill_list_finish(&join->rest, why) : STATUS_OK;
}

/* *end when the group has no other member. */
static enum status
next_member(struct merge_join *join, const oid **stored, bool *end, struct reason *why)
{
    *end = false;
    if (join->member < join->group_count) {
        *stored = join->group + join->member++ * join->count;
        return STATUS_OK;
    }
    *stored = join->stored;
    *end = join->rest.length == 0;
    return *end ? STATUS_OK
                : spill_read(&join->reader, join->stored, join->count * sizeof *join->stored, end,
                             why);
}

/* *joined: the row and the stored one agree. */
static enum status
merge(const struct merge_join *join, const oid *stored, oid *row, bool *joined, struct reason *why)
{
    *joined = false;
    for (size_t i = 0; i < join->count; i++) {
        if (join->slots[i] == join->weight) {
            TRY(row_multiply(row, join->weight, stored[i] ? stored[i] : 1, why));
            continue;
        }
        oid *place = &row[join->slots[i]];
        if (*place && stored[i] && *place != stored[i]) {
            return STATUS_OK;
        }
        *place = stored[i] ? stored[i] : *place;
    }
    *joined = true;
    return STATUS_OK;
}

static enum status
merge_join_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct merge_join *join = (struct merge_join *)operator;
    const struct run *run = operator->run;
    unsigned work = 0;
    TRY(operator_batch(operator, batch, why));
    while ((*batch)->count < operator->batch_rows) {
        if (!join->left || join->left_at == join->left->count) {
            TRY(operator_next(operator->input, &join->left, why));
            join->left_at = 0;
            if (join->left->count == 0) {
                join->left = NULL;
                return STATUS_OK;
            }
        }
        const oid *from = batch_row(run, join->left, join->left_at);
        const oid *stored;
        bool end;
        if (from[join->slot] != join->key) {
            TRY(load_group(join, from[join->slot], why));
            restart_group(join);
        }
        TRY(next_member(join, &stored, &end, why));
        if (end) {
            join->left_at++;
            restart_group(join);
        } else {
            oid *row = batch_row(run, *batch, (*batch)->count);
            bool joined;
            row_copy(run, row, from);
            TRY(merge(join, stored, row, &joined, why));
            (*batch)->count += joined;
        }
        if ((++work & 4095) == 0) {
            TRY(run_check(run, why));
        }
    }
    return run_check(run, why);
}

static void merge_join_reset(struct operator* operator)
{
    struct merge_join *join = (struct merge_join *)operator;
    operator_reset(operator->only);
    forget_group(join);
    join->left = join->right = NULL;
    join->right_ended = false;
    join->key = OID_NONE;
}

static void merge_join_close(struct operator* operator)
{
    struct merge_join *join = (struct merge_join *)operator;
    forget_group(join);
    free(join->group);
}

struct operator* merge_join_new(struct run *run, struct operator* input, struct operator* right,
                                const struct slots *columns, uint32_t slot, uint32_t weight,
                                size_t batch_rows)
{
    static const struct operator_kind kind = {"merge join", sizeof(struct merge_join),
                                              merge_join_next, merge_join_reset, merge_join_close};
    struct merge_join *join = (struct merge_join *)operator_new(run, &kind, input, batch_rows);
    uint32_t *slots = arena_alloc(&run->arena, SLOTS_MAXIMUM * sizeof *slots);
    oid *stored = arena_alloc(&run->arena, SLOTS_MAXIMUM * sizeof *stored);
    if (!join || !slots || !stored) {
        return NULL;
    }
    for (uint32_t at = slots_next(columns, 0); at < SLOTS_MAXIMUM;
         at = slots_next(columns, at + 1)) {
        slots[join->count++] = at;
    }
    if (weight != NUMBER_NONE) {
        slots[join->count++] = weight;
    }
    join->slot = slot;
    join->weight = weight;
    join->slots = slots;
    join->stored = stored;
    operator_contain(&join->operator, right);
    spill_list_init(&join->rest, &run->spill, FILE_BYTES);
    return &join->operator;
}
