#include "tests/unit/query_operators/operator_stand.h"

#include <string.h>

#include "base/memory.h"

/* ---- rows ---- */

void
given_init(struct given *given, size_t width)
{
    *given = (struct given){.width = width};
}

void
given_release(struct given *given)
{
    free(given->cells);
    given_init(given, given->width);
}

void
given_add(struct given *given, const oid *cells, size_t count)
{
    assert_true(count <= given->width);
    if (given->count == given->room) {
        given->room = given->room ? 2 * given->room : 64;
        given->cells = memory_resize(given->cells, given->room, given->width * sizeof(oid));
    }
    oid *row = given_row(given, given->count++);
    memset(row, 0, given->width * sizeof *row);
    memcpy(row, cells, count * sizeof *row);
}

static size_t compared_width;

static int
compare_rows(const void *a, const void *b)
{
    const oid *first = a, *second = b;
    for (size_t i = 0; i < compared_width; i++) {
        if (first[i] != second[i]) {
            return first[i] < second[i] ? -1 : 1;
        }
    }
    return 0;
}

void
given_sort(struct given *given)
{
    compared_width = given->width;
    if (given->count) {
        qsort(given->cells, given->count, given->width * sizeof(oid), compare_rows);
    }
}

void
assert_same_rows(const struct given *found, const struct given *wanted, const char *what)
{
    assert_int_equal(found->width, wanted->width);
    if (found->count != wanted->count) {
        fail_msg("%s: %zu rows, and not %zu", what, found->count, wanted->count);
    }
    for (size_t i = 0; i < found->count; i++) {
        for (size_t k = 0; k < found->width; k++) {
            const oid cell = given_row(found, i)[k], right = given_row(wanted, i)[k];
            if (cell != right) {
                fail_msg("%s: row %zu of %zu, column %zu: %llu, and not %llu", what, i,
                         found->count, k, (unsigned long long)cell, (unsigned long long)right);
            }
        }
    }
}

/* ---- the run ---- */

static void
step(void *context)
{
    struct stand *stand = context;
    if (++stand->checks == stand->cancel_at) {
        stand->cancel = true;
    }
}

void
stand_open(struct stand *stand, const char *trig, const char *text, size_t width, size_t memory)
{
    struct reason why = {""};
    *stand = (struct stand){.options = {.memory = memory,
                                        .now_ms = 1700000000000,
                                        .scratch_folder = memory ? "/tmp" : NULL}};
    stand->options.step = step;
    stand->options.step_context = stand;
    stand->options.cancel = &stand->cancel;
    stand->memory = query_case_source(trig);
    stand->source = *memory_source_table(stand->memory);
    assert_int_equal(query_prepare(&stand->query, slice_string(text), SLICE(CASE_BASE), &why),
                     STATUS_OK);
    query_run_init(&stand->run, stand->query, &stand->source, &stand->options);
    assert_int_equal(query_run_prepare(&stand->run, &why), STATUS_OK);
    assert_true(width >= stand->query->slot_count);
    stand->run.width = width;
    stand->run.base_row = memory_zero(width + 1, sizeof *stand->run.base_row);
}

void
stand_close(struct stand *stand)
{
    operators_close(&stand->run);
    dictionary_release(&stand->run.dictionary);
    assert_int_equal(stand->run.spill.used, 0);
    dictionary_init(&stand->run.dictionary, &stand->source, &stand->run.spill);
    query_run_close(&stand->run);
    query_free(stand->query);
    memory_source_free(stand->memory);
}

/* ---- given rows ---- */

struct giving {
    struct operator operator;
    const struct given *rows;
    size_t at, piece;
    unsigned resets;
};

static enum status
giving_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct giving *giving = (struct giving *)operator;
    const struct given *rows = giving->rows;
    TRY(operator_batch(operator, batch, why));
    while ((*batch)->count < giving->piece && giving->at < rows->count) {
        memcpy(batch_row(operator->run, *batch, (*batch)->count++), given_row(rows, giving->at++),
               rows->width * sizeof(oid));
    }
    return STATUS_OK;
}

static void giving_reset(struct operator* operator)
{
    struct giving *giving = (struct giving *)operator;
    giving->at = 0;
    giving->resets++;
}

struct operator* give_rows(struct stand *stand, const struct given *rows, size_t piece)
{
    static const struct operator_kind kind = {"given", sizeof(struct giving), giving_next,
                                              giving_reset, NULL};
    struct giving *giving = (struct giving *)operator_new(&stand->run, &kind, NULL, piece);
    assert_non_null(giving);
    assert_true(piece <= BATCH_ROWS);
    giving->rows = rows;
    giving->piece = piece;
    giving->operator.estimate =(double) rows->count;
    return &giving->operator;
}

unsigned
given_resets(const struct operator* operator)
{
    return ((const struct giving *)operator)->resets;
}

void
take_rows(struct stand *stand, struct operator* operator, struct given * rows)
{
    const size_t most = operator->batch_rows ? operator->batch_rows : BATCH_ROWS;
    struct reason why = {""};
    struct batch *batch;
    assert_int_equal(rows->width, stand->run.width);
    for (;;) {
        const enum status status = operator_next(operator, & batch, &why);
        if (status != STATUS_OK) {
            fail_msg("%s: %s", operator->kind->name, why.text);
        }
        if (batch->count == 0) {
            break;
        }
        if (batch->count > most) {
            fail_msg("%s: %zu rows at a time", operator->kind->name, batch->count);
        }
        for (size_t i = 0; i < batch->count; i++) {
            given_add(rows, batch_row(&stand->run, batch, i), stand->run.width);
        }
    }
    assert_int_equal(operator_next(operator, & batch, &why), STATUS_OK);
    assert_int_equal(batch->count, 0);
}

enum status take_failing(struct operator* operator, struct reason * why)
{
    struct batch *batch;
    enum status status;
    do {
        status = operator_next(operator, & batch, why);
        assert_true(status != STATUS_OK || batch->count > 0);
    } while (status == STATUS_OK);
    return status;
}
