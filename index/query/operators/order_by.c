/* ORDER BY: all rows, or as many of the beginning as are needed, with what they are sorted by.
 *
 * A record of the sorter is a row, its number, and for each key the kind, number and text of its
 * value, so that comparisons look nowhere else. What kind, number and text do not decide (times,
 * numbers of many digits) is read again from the term, which is in the record, too. Rows equal in
 * all keys keep the order in which they came.
 *
 *   sequence | row | keys | text, language and datatype of each key's term
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "index/query/operators/operator.h"

enum { KEY_WORDS = 6 };

struct sort_key {
    oid id;
    int64_t kind; /* -1: unbound; else enum value_kind */
    double number;
    uint64_t text; /* first byte of the term's text, from the record's first */
    uint64_t length;
    uint32_t language_length, datatype_length; /* 0 for IRIs, blank nodes and strings */
};
_Static_assert(sizeof(struct sort_key) == KEY_WORDS * sizeof(uint64_t), "a key is whole words");

struct order {
    struct operator operator;
    const struct order_key *keys;
    size_t count;
    uint64_t most;
    struct sorter sorter;
    uint64_t *record;
    size_t room; /* words of record */
    bool opened, done;
};

static bool
text_class(int64_t kind)
{
    return kind == VALUE_STRING || kind == VALUE_IRI || kind == VALUE_BLANK;
}

static bool
number_class(int64_t kind)
{
    return kind >= VALUE_INTEGER && kind <= VALUE_DOUBLE;
}

static const struct sort_key *
keys_of(const struct order *order, const uint64_t *record)
{
    return (const struct sort_key *)(const void *)(record + 1 + order->operator.run->width);
}

static struct slice
text_of(const uint64_t *record, const struct sort_key *key)
{
    return slice_of((const char *)record + key->text, key->length);
}

static void
value_of_key(const uint64_t *record, const struct sort_key *key, struct value *value)
{
    const char *text = (const char *)record + key->text;
    const struct term term = {
        .kind = TERM_LITERAL,
        .value = slice_of(text, key->length),
        .language = slice_of(text + key->length, key->language_length),
        .datatype = slice_of(text + key->length + key->language_length, key->datatype_length)};
    value_of_term(&term, value);
}

static int
compare_keys(struct order *order, const uint64_t *left, const uint64_t *right, size_t key)
{
    const struct sort_key *a = &keys_of(order, left)[key], *b = &keys_of(order, right)[key];
    if (a->id == b->id) {
        return 0;
    }
    if (a->kind < 0 || b->kind < 0) {
        return (a->kind >= 0) - (b->kind >= 0);
    }
    const int classes =
        value_class((enum value_kind)a->kind) - value_class((enum value_kind)b->kind);
    if (classes) {
        return classes;
    }
    if (text_class(a->kind)) {
        return slice_compare(text_of(left, a), text_of(right, b));
    }
    if (number_class(a->kind) && number_class(b->kind) && a->number != b->number &&
        !isnan(a->number) && !isnan(b->number)) {
        return a->number < b->number ? -1 : 1;
    }
    struct value x, y;
    value_of_key(left, a, &x);
    value_of_key(right, b, &y);
    return value_order(&x, &y);
}

static int
compare_records(void *context, const uint64_t *a, const uint64_t *b)
{
    struct order *order = context;
    for (size_t i = 0; i < order->count; i++) {
        const int compared = compare_keys(order, a, b, i);
        if (compared) {
            return order->keys[i].descending ? -compared : compared;
        }
    }
    return (a[0] > b[0]) - (a[0] < b[0]);
}

/* ---- making records ---- */

static enum status
make_room(struct order *order, size_t words, struct reason *why)
{
    if (words > order->room) {
        TRY(memory_take(&order->operator.run->account, (words * 2 - order->room) * sizeof(uint64_t),
                        "ORDER BY", why));
        order->room = words * 2;
        order->record = memory_resize(order->record, order->room, sizeof *order->record);
    }
    return STATUS_OK;
}

/* Appends the parts of a term to the record. */
static enum status
put_text(struct order *order, const struct slice parts[3], size_t *words, struct reason *why)
{
    const size_t length = parts[0].length + parts[1].length + parts[2].length;
    const size_t more = (length + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    TRY(make_room(order, *words + more, why));
    char *to = (char *)(order->record + *words);
    if (more) {
        order->record[*words + more - 1] = 0;
    }
    for (int i = 0; i < 3; i++) {
        if (parts[i].length) {
            memcpy(to, parts[i].at, parts[i].length);
            to += parts[i].length;
        }
    }
    *words += more;
    return STATUS_OK;
}

/* Puts a key and its text behind the `words` that the record has. */
static enum status
put_key(struct order *order, size_t number, const oid *row, size_t *words, struct reason *why)
{
    struct evaluation *evaluation = &order->operator.run->evaluation;
    struct sort_key key = {.id = expression_id(evaluation, order->keys[number].expression, row),
                           .kind = -1,
                           .text = *words * sizeof(uint64_t)};
    struct slice parts[3] = {{0}};
    struct value value;
    if (key.id && identifier_value(evaluation, key.id, &value)) {
        key.kind = value.kind;
        key.number = value_is_number(&value) ? value_number(&value) : 0;
        parts[0] = value.term.value;
        if (!text_class(key.kind)) {
            parts[1] = value.term.language;
            parts[2] = value.term.datatype;
        }
    }
    key.length = parts[0].length;
    key.language_length = (uint32_t)parts[1].length;
    key.datatype_length = (uint32_t)parts[2].length;
    TRY(put_text(order, parts, words, why));
    memcpy(order->record + 1 + order->operator.run->width + number * KEY_WORDS, &key, sizeof key);
    return STATUS_OK;
}

static enum status
add(struct order *order, const oid *row, uint64_t sequence, struct reason *why)
{
    struct run *run = order->operator.run;
    size_t words = 1 + run->width + order->count * KEY_WORDS;
    TRY(make_room(order, words, why));
    order->record[0] = sequence;
    memcpy(order->record + 1, row, run->width * sizeof *row);
    evaluation_next_row(&run->evaluation);
    for (size_t i = 0; i < order->count; i++) {
        TRY(put_key(order, i, row, &words, why));
    }
    TRY(evaluation_check(&run->evaluation, why));
    return sorter_add(&order->sorter, order->record, words, why);
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
        TRY(run_check(operator->run, why));
    }
    order->done = true;
    TRY(sorter_end(&order->sorter, why));
    return evaluation_check(&operator->run->evaluation, why);
}

static enum status
order_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct order *order = (struct order *)operator;
    struct run *run = operator->run;
    if (!order->opened) {
        sorter_init(&order->sorter, &run->spill, "ORDER BY", compare_records, order, order->most);
        order->opened = true;
    }
    if (!order->done) {
        TRY(gather(order, why));
    }
    TRY(operator_batch(operator, batch, why));
    while ((*batch)->count < operator->batch_rows) {
        const uint64_t *record;
        TRY(sorter_next(&order->sorter, &record, why));
        if (!record) {
            break;
        }
        memcpy(batch_row(run, *batch, (*batch)->count++), record + 1, run->width * sizeof(oid));
    }
    return evaluation_check(&run->evaluation, why);
}

static void order_reset(struct operator* operator)
{
    struct order *order = (struct order *)operator;
    if (order->opened) {
        sorter_reset(&order->sorter);
    }
    order->done = false;
}

static void order_close(struct operator* operator)
{
    struct order *order = (struct order *)operator;
    if (order->opened) {
        sorter_release(&order->sorter);
    }
    free(order->record);
}

struct operator* order_new(struct run *run, struct operator* input, const struct order_key *keys,
                           size_t count, uint64_t most, size_t batch_rows)
{
    static const struct operator_kind kind = {"order", sizeof(struct order), order_next,
                                              order_reset, order_close};
    struct order *order = (struct order *)operator_new(run, &kind, input, batch_rows);
    if (order) {
        order->keys = keys;
        order->count = count;
        order->most = most;
    }
    return (struct operator*)order;
}
