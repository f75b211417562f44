/* ORDER BY: all rows, or as many of the beginning as are needed, with what they are sorted by.
 *
 * A key keeps class, number and text of its value, so that most comparisons look nowhere else;
 * what these do not decide (times, numbers of many digits) is resolved again. Rows equal in all
 * keys keep the order in which they came.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "index/query/operator.h"

enum { KEEP_AT_LEAST = 4096 };

struct sort_key {
    oid id;
    int kind; /* -1: unbound; else enum value_kind */
    double number;
    struct slice text;
};
struct sort_row {
    uint64_t sequence;
    oid *row;
    struct sort_key *keys;
};
struct order {
    struct operator operator;
    const struct order_key *keys;
    size_t count;
    uint64_t most;
    struct arena arenas[2]; /* rows and texts; after a cut the kept ones move to the other */
    unsigned arena;
    struct sort_row *rows;
    size_t row_count, room, given;
    size_t taken; /* bytes of the account */
    bool done;
};

static int
text_class(int kind)
{
    return kind == VALUE_STRING || kind == VALUE_IRI || kind == VALUE_BLANK;
}

static int
compare_fully(struct order *order, const struct sort_key *a, const struct sort_key *b)
{
    struct evaluation *evaluation = &order->operator.run->evaluation;
    struct value x, y;
    evaluation_next_row(evaluation);
    return identifier_value(evaluation, a->id, &x) && identifier_value(evaluation, b->id, &y)
               ? value_order(&x, &y)
               : 0;
}

static int
compare_keys(struct order *order, const struct sort_key *a, const struct sort_key *b)
{
    if (a->id == b->id) {
        return 0;
    }
    if (a->kind < 0 || b->kind < 0) {
        return (a->kind >= 0) - (b->kind >= 0);
    }
    if (a->kind == b->kind && text_class(a->kind)) {
        return slice_compare(a->text, b->text);
    }
    const bool numbers = a->kind >= VALUE_INTEGER && a->kind <= VALUE_DOUBLE &&
                         b->kind >= VALUE_INTEGER && b->kind <= VALUE_DOUBLE;
    if (numbers && a->number != b->number && !isnan(a->number) && !isnan(b->number)) {
        return a->number < b->number ? -1 : 1;
    }
    return compare_fully(order, a, b);
}

static int
compare_rows(const void *left, const void *right, void *context)
{
    struct order *order = context;
    const struct sort_row *a = left, *b = right;
    for (size_t i = 0; i < order->count; i++) {
        const int compared = compare_keys(order, &a->keys[i], &b->keys[i]);
        if (compared) {
            return order->keys[i].descending ? -compared : compared;
        }
    }
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static enum status
account(struct order *order, struct reason *why)
{
    struct run *run = order->operator.run;
    const size_t used =
        order->arenas[0].used + order->arenas[1].used + order->room * sizeof *order->rows;
    if (used > order->taken) {
        TRY(memory_take(&run->account, used - order->taken, "ORDER BY", why));
    } else {
        memory_give(&run->account, order->taken - used);
    }
    order->taken = used;
    return STATUS_OK;
}

/* Copies row, keys and texts into the arena in use. */
static void
keep(struct order *order, struct sort_row *at, uint64_t sequence, const oid *row,
     const struct sort_key *keys)
{
    struct arena *arena = &order->arenas[order->arena];
    const size_t width = order->operator.run->width;
    at->sequence = sequence;
    at->row = arena_alloc(arena, width * sizeof *row);
    at->keys = arena_alloc(arena, order->count * sizeof *keys);
    memcpy(at->row, row, width * sizeof *row);
    for (size_t i = 0; i < order->count; i++) {
        at->keys[i] = keys[i];
        at->keys[i].text = arena_copy(arena, keys[i].text);
    }
}

static enum status
sort(struct order *order, struct reason *why)
{
    struct evaluation *evaluation = &order->operator.run->evaluation;
    if (order->row_count > 1) {
        qsort_r(order->rows, order->row_count, sizeof *order->rows, compare_rows, order);
    }
    return evaluation_check(evaluation, why);
}

/* Only the first `most` can be among the first `most`. */
static enum status
cut(struct order *order, struct reason *why)
{
    TRY(sort(order, why));
    order->row_count = order->most;
    order->arena = !order->arena;
    for (size_t i = 0; i < order->row_count; i++) {
        const struct sort_row old = order->rows[i];
        keep(order, &order->rows[i], old.sequence, old.row, old.keys);
    }
    arena_reset(&order->arenas[!order->arena]);
    return STATUS_OK;
}

static void
make_key(struct order *order, const struct expression *expression, const oid *row,
         struct sort_key *key)
{
    struct evaluation *evaluation = &order->operator.run->evaluation;
    struct value value;
    *key = (struct sort_key){.id = expression_id(evaluation, expression, row), .kind = -1};
    if (key->id && identifier_value(evaluation, key->id, &value)) {
        key->kind = (int)value.kind;
        if (text_class(key->kind)) {
            key->text = value.term.value;
        } else if (value_is_number(&value)) {
            key->number = value_number(&value);
        }
    }
}

static enum status
add(struct order *order, const oid *row, uint64_t sequence, struct reason *why)
{
    struct run *run = order->operator.run;
    enum { KEYS_MAXIMUM = 256 };
    struct sort_key keys[KEYS_MAXIMUM];
    evaluation_next_row(&run->evaluation);
    for (size_t i = 0; i < order->count; i++) {
        make_key(order, order->keys[i].expression, row, &keys[i]);
    }
    TRY(evaluation_check(&run->evaluation, why));
    if (order->most < SIZE_MAX / 4 && order->row_count >= KEEP_AT_LEAST &&
        order->row_count >= 2 * order->most) {
        TRY(cut(order, why));
    }
    if (order->row_count == order->room) {
        order->room = order->room ? order->room * 2 : 256;
        order->rows = memory_resize(order->rows, order->room, sizeof *order->rows);
    }
    keep(order, &order->rows[order->row_count++], sequence, row, keys);
    return STATUS_OK;
}

static enum status
gather(struct order *order, struct reason *why)
{
    struct operator* operator= & order->operator;
    struct batch *batch;
    uint64_t sequence = 0;
    for (;;) {
        TRY(operator_next(operator->input, &batch, why));
        if (batch->count == 0) {
            break;
        }
        for (size_t i = 0; i < batch->count; i++) {
            TRY(add(order, batch_row(operator->run, batch, i), sequence++, why));
        }
        TRY(account(order, why));
        TRY(run_check(operator->run, why));
    }
    order->done = true;
    return sort(order, why);
}

static enum status
order_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct order *order = (struct order *)operator;
    const struct run *run = operator->run;
    if (!order->done) {
        TRY(gather(order, why));
    }
    TRY(operator_batch(operator, batch, why));
    while (order->given < order->row_count && (*batch)->count < operator->batch_rows) {
        memcpy(batch_row(run, *batch, (*batch)->count++), order->rows[order->given++].row,
               run->width * sizeof(oid));
    }
    return STATUS_OK;
}

static void order_reset(struct operator* operator)
{
    struct order *order = (struct order *)operator;
    order->done = false;
    order->row_count = order->given = 0;
    arena_reset(&order->arenas[0]);
    arena_reset(&order->arenas[1]);
}

static void order_close(struct operator* operator)
{
    struct order *order = (struct order *)operator;
    memory_give(&operator->run->account, order->taken);
    arena_release(&order->arenas[0]);
    arena_release(&order->arenas[1]);
    free(order->rows);
}

struct operator* order_new(struct run *run, struct operator* input, const struct order_key *keys,
                           size_t count, uint64_t most, size_t batch_rows)
{
    static const struct operator_kind kind = {"order", sizeof(struct order), order_next,
                                              order_reset, order_close};
    struct order *order = (struct order *)operator_new(run, &kind, input, batch_rows);
    if (!order) {
        return NULL;
    }
    order->keys = keys;
    order->count = count;
    order->most = most;
    arena_init(&order->arenas[0], 0);
    arena_init(&order->arenas[1], 0);
    return &order->operator;
}
