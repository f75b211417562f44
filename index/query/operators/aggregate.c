#include "index/query/operators/aggregate.h"

#include <stdlib.h>

#include "base/memory.h"

enum { CONCAT_MAXIMUM = 16 << 20 };

void
aggregate_error(const struct aggregate *aggregate, struct accumulator *accumulator)
{
    accumulator->error = accumulator->error || (aggregate->kind != AGGREGATE_COUNT &&
                                                aggregate->kind != AGGREGATE_SAMPLE);
}

static enum status
concatenate(struct run *run, const struct aggregate *aggregate, struct accumulator *accumulator,
            struct slice text, uint64_t count, struct reason *why)
{
    const size_t separator = accumulator->count ? aggregate->separator.length : 0;
    const size_t needed = accumulator->length + separator + text.length + 1;
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
    if (text.length) {
        memcpy(accumulator->text + accumulator->length + separator, text.at, text.length);
    }
    accumulator->length += separator + text.length;
    accumulator->count += count;
    return STATUS_OK;
}

/* Adds what comes `count` times: value is what it comes to. */
static void
add_number(struct accumulator *accumulator, const struct value *value, uint64_t count)
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
    accumulator->count += count;
}

static void
add_times(struct accumulator *accumulator, const struct value *value, uint64_t count)
{
    struct value times, product;
    if (count == 1) {
        add_number(accumulator, value, 1);
        return;
    }
    times = value_integer((int64_t)count);
    if (count > INT64_MAX || !value_arithmetic('*', value, &times, &product)) {
        accumulator->error = true;
        return;
    }
    add_number(accumulator, &product, count);
}

static void
take_better(struct run *run, enum aggregate_kind kind, struct accumulator *accumulator, oid id)
{
    struct value best, value;
    if (id == accumulator->best) {
        return;
    }
    const int said =
        kind == AGGREGATE_SAMPLE ? 0 : quad_source_compare(run->source, id, accumulator->best);
    if (said != 0) {
        accumulator->best = (said < 0) == (kind == AGGREGATE_MIN) ? id : accumulator->best;
        return;
    }
    if (!accumulator->best || !identifier_kept_value(&run->evaluation, accumulator->best, &best)) {
        accumulator->best = id;
    } else if (kind != AGGREGATE_SAMPLE && identifier_kept_value(&run->evaluation, id, &value)) {
        const int order = value_order(&value, &best);
        if (kind == AGGREGATE_MIN ? order < 0 : order > 0) {
            accumulator->best = id;
        }
    }
}

enum status
aggregate_add(struct run *run, const struct aggregate *aggregate, struct accumulator *accumulator,
              oid id, uint64_t weight, struct reason *why)
{
    struct value value;
    struct term term;
    if (aggregate->kind == AGGREGATE_COUNT) {
        accumulator->count += weight;
        return STATUS_OK;
    }
    switch (aggregate->kind) {
    case AGGREGATE_SUM:
    case AGGREGATE_AVG:
        if (!identifier_number(&run->evaluation, id, &value)) {
            aggregate_error(aggregate, accumulator);
            return STATUS_OK;
        }
        if (aggregate->weight) {
            add_number(accumulator, &value, weight);
        } else {
            add_times(accumulator, &value, weight);
        }
        return STATUS_OK;
    case AGGREGATE_GROUP_CONCAT:
        if (!identifier_value(&run->evaluation, id, &value)) {
            aggregate_error(aggregate, accumulator);
            return STATUS_OK;
        }
        if (value.kind == VALUE_BLANK || !value_term(&value, &run->evaluation.scratch, &term)) {
            accumulator->error = true;
            return STATUS_OK;
        }
        return concatenate(run, aggregate, accumulator, term.value, 1, why);
    default:
        take_better(run, aggregate->kind, accumulator, id);
        return STATUS_OK;
    }
}

oid
aggregate_result(struct run *run, const struct aggregate *aggregate,
                 const struct accumulator *accumulator)
{
    struct value value = value_integer(0), count;
    if (accumulator->error) {
        return OID_NONE;
    }
    switch (aggregate->kind) {
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
    return value_id(&run->evaluation, &value);
}

void
aggregate_release(struct run *run, struct accumulator *accumulator)
{
    memory_give(&run->account, accumulator->room);
    free(accumulator->text);
    *accumulator = (struct accumulator){0};
}

/* ---- states as words: the accumulator as it is in memory, and its text ---- */

enum { STATE_WORDS = (sizeof(struct accumulator) + 7) / 8 };

size_t
aggregate_words(const struct accumulator *accumulator)
{
    return STATE_WORDS + (accumulator->length + 7) / 8;
}

void
aggregate_write(const struct accumulator *accumulator, uint64_t *words)
{
    memset(words, 0, aggregate_words(accumulator) * sizeof *words);
    memcpy(words, accumulator, sizeof *accumulator);
    if (accumulator->length) {
        memcpy(words + STATE_WORDS, accumulator->text, accumulator->length);
    }
}

enum status
aggregate_merge(struct run *run, const struct aggregate *aggregate, struct accumulator *accumulator,
                const uint64_t *words, struct reason *why)
{
    struct accumulator state;
    memcpy(&state, words, sizeof state);
    accumulator->error = accumulator->error || state.error;
    switch (aggregate->kind) {
    case AGGREGATE_COUNT:
        accumulator->count += state.count;
        return STATUS_OK;
    case AGGREGATE_SUM:
    case AGGREGATE_AVG:
        if (state.has_sum) {
            add_number(accumulator, &state.sum, state.count);
        }
        return STATUS_OK;
    case AGGREGATE_GROUP_CONCAT:
        return state.count
                   ? concatenate(run, aggregate, accumulator,
                                 slice_of((const char *)(words + STATE_WORDS), state.length),
                                 state.count, why)
                   : STATUS_OK;
    default:
        if (state.best) {
            take_better(run, aggregate->kind, accumulator, state.best);
        }
        return STATUS_OK;
    }
}
