/* ORDER BY: all rows, or as many of the beginning as are needed, with what they are sorted by.
 *
 * A record of the sorter is a row, its number, and for each key the kind, number and text of its
 * value, so that comparisons look nowhere else. What kind, number and text do not decide (times,
 * numbers of many digits) is read again from the term, which is in the record, too. Where the
 * source tells the order of values by their identifiers, a value is looked at only when these do
 * not decide. Rows equal in all keys keep the order in which they came.
 *
 * Of a scan in the order of the first key's identifiers, what is certainly behind the rows wanted
 * so far is not read, or left out by the scan when it comes to an object that is; where the last
 * values are wanted, the scan begins near them. In the end the source is told which objects were
 * not behind, and the next time no others are read.
 *
 *   sequence | row | keys | text, language and datatype of each key's term
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "index/query/operators/operator.h"

enum { LEADING_MOST = 1024 };
enum { KEY_WORDS = 6, KIND_UNBOUND = -1, KIND_LATER = -2 /* the identifier is all there is */ };

struct sort_key {
    oid id;
    int64_t kind;  /* UNBOUND, LATER, else enum value_kind */
    double number; /* of numbers, and seconds of times with a zone; else NaN */
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
    bool narrows, searched; /* what of it the input leaves out; the last values were looked for */
    oid *lone;              /* where the input leaves out: a row with nothing but the first key */
    oid behind;             /* a first key that is behind those wanted, whatever comes */
    /* Where the input leaves out: the objects that are not behind; NULL: not asked. */
    struct triple_count *leading;
    size_t leading_count;
    bool notes;                /* they are being found out */
    struct sort_key completed; /* the LATER key that was looked at last */
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

static bool
time_class(int64_t kind)
{
    return kind == VALUE_DATE_TIME || kind == VALUE_DATE;
}

static double
number_of(const struct value *value)
{
    return value_is_number(value)    ? value_number(value)
           : time_class(value->kind) ? moment_seconds(&value->moment)
                                     : NAN;
}

/* Tells whether the keys' numbers decide. Seconds are rounded, those of far years most. */
static bool
numbers_decide(const struct sort_key *a, const struct sort_key *b)
{
    const double difference = fabs(a->number - b->number);
    return number_class(a->kind)
               ? number_class(b->kind) && difference > 0
               : a->kind == b->kind && difference > 1e-3 + 1e-12 * fabs(a->number);
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

/* A key with its kind and number. */
static struct sort_key
complete_key(struct order *order, const struct sort_key *key)
{
    struct value value;
    if (key->kind != KIND_LATER) {
        return *key;
    }
    if (order->completed.id != key->id) {
        const bool known = identifier_value(&order->operator.run->evaluation, key->id, &value);
        order->completed = *key;
        order->completed.kind = known ? (int64_t)value.kind : KIND_UNBOUND;
        order->completed.number = known ? number_of(&value) : NAN;
    }
    return order->completed;
}

static void
value_at(struct order *order, const uint64_t *record, const struct sort_key *key,
         struct value *value)
{
    if (key->kind != KIND_LATER ||
        !identifier_value(&order->operator.run->evaluation, key->id, value)) {
        value_of_key(record, key, value);
    }
}

static int
compare_values(struct order *order, const uint64_t *left, const uint64_t *right, size_t key)
{
    const struct sort_key *first = &keys_of(order, left)[key];
    const struct sort_key *second = &keys_of(order, right)[key];
    const struct sort_key a = complete_key(order, first), b = complete_key(order, second);
    if (a.kind < 0 || b.kind < 0) {
        return (a.kind >= 0) - (b.kind >= 0);
    }
    const int classes = value_class((enum value_kind)a.kind) - value_class((enum value_kind)b.kind);
    if (classes) {
        return classes;
    }
    if (text_class(a.kind)) {
        return slice_compare(text_of(left, first), text_of(right, second));
    }
    if (numbers_decide(&a, &b)) {
        return a.number < b.number ? -1 : 1;
    }
    struct value x, y;
    value_at(order, left, first, &x);
    value_at(order, right, second, &y);
    return value_order(&x, &y);
}

static int
compare_keys(struct order *order, const uint64_t *left, const uint64_t *right, size_t key)
{
    const struct sort_key *a = &keys_of(order, left)[key], *b = &keys_of(order, right)[key];
    if (a->id == b->id) {
        return 0;
    }
    const int said = a->kind == KIND_LATER && b->kind == KIND_LATER
                         ? quad_source_compare(order->operator.run->source, a->id, b->id)
                         : 0;
    return said ? said : compare_values(order, left, right, key);
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
                           .kind = KIND_UNBOUND,
                           .text = *words * sizeof(uint64_t)};
    const struct quad_source *source = order->operator.run->source;
    struct slice parts[3] = {{0}};
    struct value value;
    struct oid_span span;
    if (oid_is_of_source(key.id) && source->before && source->span(key.id, &span)) {
        key.kind = KIND_LATER;
    } else if (key.id && identifier_value(evaluation, key.id, &value)) {
        key.kind = value.kind;
        key.number = number_of(&value);
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

/* Tells by the identifier of its first key, of which many rows side by side may have the same,
 * whether a row is certainly behind those wanted. */
static bool
is_behind(const struct order *order, const oid *row)
{
    const struct quad_source *source = order->operator.run->source;
    const struct expression *key = order->count ? order->keys[0].expression : NULL;
    const uint64_t *bound = sorter_bound(&order->sorter);
    const oid id = key && key->kind == EXPRESSION_VARIABLE ? row[key->number] : OID_NONE;
    if (!bound || id == OID_NONE || id == order->behind) {
        return bound && id != OID_NONE;
    }
    const oid limit = keys_of(order, bound)->id;
    return source->before && id < OID_LOCAL &&
           (order->keys[0].descending ? source->before(id, limit) : source->before(limit, id));
}

/* Lets the scan below go over values that are behind those wanted so far. */
static enum status
narrow(struct order *order, struct reason *why)
{
    struct operator* input = order->operator.input;
    const struct quad_source *source = order->operator.run->source;
    const uint64_t *bound = sorter_bound(&order->sorter);
    struct oid_span span;
    oid id = bound ? keys_of(order, bound)->id : OID_NONE;
    if (!oid_is_of_source(id) || !source->span(id, &span)) {
        return STATUS_OK;
    }
    struct id_range wanted = {span.first, span.first, span.high, span.last};
    if (order->keys[0].descending) {
        if (!order->searched) {
            oid from;
            order->searched = true;
            TRY(scan_last_objects(input, &span, order->most, &from, why));
            (void)(from > id && source->span(from, &span));
        }
        wanted = (struct id_range){span.first, span.low, span.last, span.last};
    }
    scan_narrow(input, &wanted);
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
    const uint64_t *bound = sorter_bound(&order->sorter);
    if (!bound || compare_records(order, order->record, bound) <= 0) {
        return sorter_add(&order->sorter, order->record, words, why);
    }
    const bool first = order->count && compare_keys(order, order->record, bound, 0) != 0;
    order->behind = first ? keys_of(order, order->record)->id : order->behind;
    return STATUS_OK;
}

/* Tells of an object, which is the first key, whether its rows are certainly behind those wanted so
 * far. */
static enum status
lies_behind(struct order *order, oid object, bool *out, struct reason *why)
{
    struct run *run = order->operator.run;
    const uint64_t *bound = sorter_bound(&order->sorter);
    size_t words = 1 + run->width + order->count * KEY_WORDS;
    *out = false;
    if (!bound) {
        return STATUS_OK;
    }
    TRY(make_room(order, words, why));
    order->lone[order->keys[0].expression->number] = object;
    evaluation_next_row(&run->evaluation);
    TRY(put_key(order, 0, order->lone, &words, why));
    const int compared = compare_keys(order, order->record, bound, 0);
    *out = order->keys[0].descending ? compared < 0 : compared > 0;
    return evaluation_check(&run->evaluation, why);
}

/* Tells the scan below whether it may leave out the rows of the object. */
static enum status
leaves_out(void *context, oid object, bool *out, struct reason *why)
{
    struct order *order = context;
    TRY(lies_behind(order, object, out, why));
    if (order->notes && !*out && order->leading_count < LEADING_MOST) {
        order->leading[order->leading_count++] = (struct triple_count){object, 1};
    } else if (!*out) {
        order->notes = false;
    }
    return STATUS_OK;
}

/* Asks the source for the objects that the first rows have. False: it does not know them. */
static bool
recall_leading(const struct run *run, const struct node_listing *listing, oid most,
               struct triple_count *leading, size_t *count)
{
    bool known = false;
    struct list_recall recall = {.listing = *listing,
                                 .nodes = &most,
                                 .count = 1,
                                 .most = LEADING_MOST,
                                 .known = &known,
                                 .ends = count,
                                 .counts = leading};
    *count = 0;
    return run->source->recall_lists(run->source->context, &recall) == 1 && known;
}

static struct node_listing
leading_of(const struct operator* scan, bool descending)
{
    return (struct node_listing){.place = descending ? TRIPLE_LAST : TRIPLE_FIRST,
                                 .predicate = scan_whole(scan)};
}

bool
order_was_asked(const struct operator* scan, bool descending, uint64_t most)
{
    const struct quad_source *source = scan->run->source;
    const struct node_listing listing = leading_of(scan, descending);
    struct triple_count leading[LEADING_MOST];
    size_t count;
    if (!source->recall_lists || listing.predicate == OID_NONE || most > LEADING_MOST) {
        return false;
    }
    if (recall_leading(scan->run, &listing, most, leading, &count)) {
        return true;
    }
    source->keep_list(source->context, &listing, most, leading, 0);
    return false;
}

/* Lets the scan read no more than the objects that the first rows have, where they are known, or
 * begins to find them out. */
static enum status
begin_leading(struct order *order, struct reason *why)
{
    struct operator* input = order->operator.input;
    struct run *run = order->operator.run;
    if (!order->narrows || !run->source->recall_lists || order->most == 0 ||
        order->most > LEADING_MOST || scan_whole(input) == OID_NONE) {
        return STATUS_OK;
    }
    const struct node_listing listing = leading_of(input, order->keys[0].descending);
    if (!order->leading) {
        TRY(memory_take(&run->account, LEADING_MOST * sizeof *order->leading, "ORDER BY", why));
        order->leading = memory_alloc(LEADING_MOST * sizeof *order->leading);
    }
    (void)recall_leading(run, &listing, order->most, order->leading, &order->leading_count);
    order->notes = order->leading_count == 0;
    scan_keep_objects(input, order->notes ? NULL : order->leading, order->leading_count);
    return STATUS_OK;
}

/* Tells the source which objects the first rows have. */
static enum status
end_leading(struct order *order, struct reason *why)
{
    const struct quad_source *source = order->operator.run->source;
    size_t kept = 0;
    if (!order->notes || !sorter_bound(&order->sorter)) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < order->leading_count; i++) {
        bool behind;
        TRY(lies_behind(order, order->leading[i].value, &behind, why));
        order->leading[kept] = order->leading[i];
        kept += !behind;
    }
    const struct node_listing listing =
        leading_of(order->operator.input, order->keys[0].descending);
    source->keep_list(source->context, &listing, order->most, order->leading, kept);
    return STATUS_OK;
}

static enum status
gather(struct order *order, struct reason *why)
{
    struct operator* operator= & order->operator;
    struct batch *batch;
    uint64_t sequence = 0;
    TRY(begin_leading(order, why));
    for (;;) {
        TRY(operator_next(operator->input, &batch, why));
        if (batch->count == 0) {
            break;
        }
        for (size_t i = 0; i < batch->count; i++) {
            const oid *row = batch_row(operator->run, batch, i);
            TRY(is_behind(order, row) ? STATUS_OK : add(order, row, sequence, why));
            sequence++;
        }
        TRY(order->narrows ? narrow(order, why) : STATUS_OK);
        TRY(run_check(operator->run, why));
    }
    order->done = true;
    TRY(sorter_end(&order->sorter, why));
    TRY(end_leading(order, why));
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
    order->done = order->searched = false;
    order->behind = OID_NONE;
}

static void order_close(struct operator* operator)
{
    struct order *order = (struct order *)operator;
    if (order->opened) {
        sorter_release(&order->sorter);
    }
    free(order->record);
    if (order->leading) {
        memory_give(&operator->run->account, LEADING_MOST * sizeof *order->leading);
        free(order->leading);
    }
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
        order->narrows = most < UINT64_MAX && count > 0 &&
                         keys[0].expression->kind == EXPRESSION_VARIABLE &&
                         scan_can_narrow(input, keys[0].expression->number);
        order->lone =
            order->narrows ? arena_zero(&run->arena, run->width * sizeof *order->lone) : NULL;
        if (order->narrows && !order->lone) {
            return NULL;
        }
        if (order->narrows) {
            const struct scan_sieve sieve = {leaves_out, order};
            scan_set_sieve(input, &sieve);
        }
    }
    return (struct operator*)order;
}
