/* Rows that come from elsewhere than quads (index/query/operators/leaf.c): inline data and keyword
 * searches. */
#include <string.h>

#include "index/query/algebra/algebra.h"
#include "tests/unit/query_operators/operator_stand.h"

enum { WIDTH = 5, FOUND_MOST = 200, LITERAL = 1, SCORE = 2 };

/* ---- inline data ---- */

/* VALUES (?b ?d) { (:x :y) (:x UNDEF) (UNDEF :y) (UNDEF UNDEF) }, whose terms are the constants 0
 * and 1. */
static void
inline_rows_join_with_each_input_row(void **state)
{
    static uint32_t constants[] = {0, 1, 0, NUMBER_NONE, NUMBER_NONE, 1, NUMBER_NONE, NUMBER_NONE};
    static uint32_t slots[] = {1, 3};
    const struct algebra values = {
        .constants = constants, .slots = slots, .slot_count = 2, .row_count = 4};
    (void)state;
    for (size_t batch_rows = 1; batch_rows <= 9; batch_rows += 4) {
        for (size_t piece = 1; piece <= 5; piece += 2) {
            struct stand stand;
            struct given input, found, wanted;
            stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
            oid terms[] = {71, 72};
            oid *own = stand.run.constants;
            stand.run.constants = terms;
            given_init(&input, WIDTH);
            given_init(&found, WIDTH);
            given_init(&wanted, WIDTH);
            GIVE(&input, 1);
            GIVE(&input, 2, 71);
            GIVE(&input, 3, 0, 0, 72);
            GIVE(&input, 4, 71, 5, 72, 6);
            GIVE(&input, 5, 70);
            GIVE(&input, 6, 71, 0, 70);
            GIVE(&input, 7, 70, 0, 70);
            GIVE(&wanted, 1, 71, 0, 72);
            GIVE(&wanted, 1, 71);
            GIVE(&wanted, 1, 0, 0, 72);
            GIVE(&wanted, 1);
            GIVE(&wanted, 2, 71, 0, 72);
            GIVE(&wanted, 2, 71);
            GIVE(&wanted, 2, 71, 0, 72);
            GIVE(&wanted, 2, 71);
            for (unsigned i = 0; i < 2; i++) {
                GIVE(&wanted, 3, 71, 0, 72);
            }
            for (unsigned i = 0; i < 2; i++) {
                GIVE(&wanted, 3, 0, 0, 72);
            }
            for (unsigned i = 0; i < 4; i++) {
                GIVE(&wanted, 4, 71, 5, 72, 6);
            }
            GIVE(&wanted, 5, 70, 0, 72);
            GIVE(&wanted, 5, 70);
            GIVE(&wanted, 6, 71, 0, 70);
            GIVE(&wanted, 6, 71, 0, 70);
            GIVE(&wanted, 7, 70, 0, 70);
            struct operator* operator=
                values_new(&stand.run, give_rows(&stand, &input, piece), &values, batch_rows);
            for (unsigned again = 0; again < 2; again++) {
                take_rows(&stand, operator, & found);
                assert_same_rows(&found, &wanted, "values");
                given_release(&found);
                operator_reset(operator);
            }
            /* Begun anew in the midst, it gives all. */
            struct reason why = {""};
            struct batch *batch;
            assert_int_equal(operator_next(operator, & batch, &why), STATUS_OK);
            operator_reset(operator);
            take_rows(&stand, operator, & found);
            assert_int_equal(found.count, wanted.count);
            given_release(&input);
            given_release(&found);
            given_release(&wanted);
            stand.run.constants = own;
            stand_close(&stand);
        }
    }
}

/* Rows that join with none of the values are looked at all the same, and somebody may cancel it. */
static void
inline_rows_look_at_the_time(void **state)
{
    enum { ROWS = 250, VALUES = 100 };
    static uint32_t constants[VALUES], slots[] = {1};
    const struct algebra values = {
        .constants = constants, .slots = slots, .slot_count = 1, .row_count = VALUES};
    struct stand stand;
    struct given input;
    struct reason why = {""};
    (void)state;
    for (unsigned cancel_at = 0; cancel_at <= 6; cancel_at += 3) {
        stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
        oid term = 71;
        oid *own = stand.run.constants;
        stand.run.constants = &term;
        given_init(&input, WIDTH);
        for (oid i = 0; i < ROWS; i++) {
            GIVE(&input, i + 1, 70);
        }
        struct operator* operator=
            values_new(&stand.run, give_rows(&stand, &input, ROWS), &values, 4);
        struct batch *batch;
        stand.checks = 0;
        stand.cancel_at = cancel_at;
        const enum status status = operator_next(operator, & batch, &why);
        assert_int_equal(status, cancel_at ? STATUS_CANCELLED : STATUS_OK);
        /* Each 4,096 pairs of rows. */
        assert_int_equal(stand.checks, cancel_at ? cancel_at : ROWS * VALUES / 4096);
        given_release(&input);
        stand.run.constants = own;
        stand_close(&stand);
    }
}

/* ---- keyword search ---- */

struct text_scan {
    size_t at;
};

static struct {
    struct text_scan scan;
    size_t count;
    oid first;
    unsigned opened, closed, calls, fail_at; /* 0: none fails */
    struct slice words;
    uint32_t most;
} searched;

static enum status
may_fail(struct reason *why)
{
    return ++searched.calls == searched.fail_at
               ? status_fail(why, STATUS_SYSTEM, "a fault of the test")
               : STATUS_OK;
}

static enum status
search(void *context, struct slice words, uint32_t most, struct text_scan **scan,
       struct reason *why)
{
    (void)context;
    TRY(may_fail(why));
    searched.opened++;
    searched.words = words;
    searched.most = most;
    searched.scan.at = 0;
    *scan = &searched.scan;
    return STATUS_OK;
}

/* Literals 1000, 1001 ... with the scores 0.5, 1.5 ... */
static enum status
search_next(struct text_scan *scan, oid *literal, double *score, bool *end, struct reason *why)
{
    TRY(may_fail(why));
    *end = scan->at == searched.count;
    if (!*end) {
        *literal = searched.first + scan->at;
        *score = (double)scan->at + 0.5;
        scan->at++;
    }
    return STATUS_OK;
}

static void
search_close(struct text_scan *scan)
{
    assert_ptr_equal(scan, &searched.scan);
    searched.closed++;
}

static void
open_search(struct stand *stand, size_t count)
{
    memset(&searched, 0, sizeof searched);
    searched.count = count;
    searched.first = 1000;
    stand_open(stand, "", "SELECT * {}", WIDTH, 0);
    stand->source.search = search;
    stand->source.search_next = search_next;
    stand->source.search_close = search_close;
    stand->run.search_most = 4711;
}

/* A row is as wide as the operators make it, so that the rows given are made wide enough. */
static struct operator* text_over(struct stand *stand, const struct given *input, size_t piece,
                                  struct place literal, uint32_t score, size_t batch_rows)
{
    stand->run.width = WIDTH - 1;
    struct operator* operator= text_new(&stand->run, give_rows(stand, input, piece), literal,
                                        SLICE("some words"), score, batch_rows);
    assert_non_null(operator);
    const bool hidden = literal.kind != PLACE_SLOT || score == NUMBER_NONE;
    assert_int_equal(stand->run.width, hidden ? WIDTH : WIDTH - 1);
    stand->run.width = WIDTH;
    return operator;
}

static oid
score_of(struct stand *stand, size_t at)
{
    const struct value value = value_double((double)at + 0.5);
    evaluation_next_row(&stand->run.evaluation);
    return value_id(&stand->run.evaluation, &value);
}

static void
found_literals_join_with_input(void **state)
{
    const struct place literal = {PLACE_SLOT, LITERAL};
    (void)state;
    for (size_t count = 0; count <= 70; count += count < 3 ? 1 : 67) {
        for (unsigned scores = 0; scores < 2; scores++) {
            struct stand stand;
            struct given input, found, wanted;
            open_search(&stand, count);
            given_init(&input, WIDTH);
            given_init(&found, WIDTH);
            given_init(&wanted, WIDTH);
            GIVE(&input, 1);
            GIVE(&input, 2, 1001);
            GIVE(&input, 3, 999);
            GIVE(&input, 4, 1000, 77);
            GIVE(&input, 5);
            GIVE(&input, 6, 1000 + count);
            GIVE(&input, 7, 1000);
            for (size_t i = 0; i < input.count; i++) {
                const oid *row = given_row(&input, i);
                for (size_t k = 0; k < count; k++) {
                    const oid score = scores ? score_of(&stand, k) : 0;
                    if ((!row[LITERAL] || row[LITERAL] == 1000 + k) &&
                        (!scores || !row[SCORE] || row[SCORE] == score)) {
                        GIVE(&wanted, row[0], 1000 + k, scores ? score : row[SCORE]);
                    }
                }
            }
            struct operator* operator=
                text_over(&stand, &input, 2, literal, scores ? SCORE : NUMBER_NONE, 3);
            for (unsigned again = 0; again < 2; again++) {
                take_rows(&stand, operator, & found);
                assert_same_rows(&found, &wanted, "search");
                given_release(&found);
                operator_reset(operator);
            }
            assert_int_equal(searched.opened, 1);
            assert_int_equal(searched.closed, 1);
            assert_int_equal(searched.most, 4711);
            assert_true(slice_is(searched.words, "some words"));
            given_release(&input);
            given_release(&wanted);
            stand_close(&stand);
        }
    }
}

/* Of a constant it is only told whether it was found, with its score. */
static void
constants_are_found_or_not(void **state)
{
    (void)state;
    for (oid wanted = 998; wanted < 1004; wanted++) {
        for (unsigned scores = 0; scores < 2; scores++) {
            struct stand stand;
            struct given input, found;
            open_search(&stand, 3);
            oid terms[] = {7, wanted};
            oid *own = stand.run.constants;
            stand.run.constants = terms;
            given_init(&input, WIDTH);
            given_init(&found, WIDTH);
            GIVE(&input, 1);
            GIVE(&input, 2, 5);
            GIVE(&input, 3);
            const struct place literal = {PLACE_CONSTANT, 1};
            struct operator* operator=
                text_over(&stand, &input, 1, literal, scores ? SCORE : NUMBER_NONE, 2);
            take_rows(&stand, operator, & found);
            const bool is_found = wanted >= 1000 && wanted < 1003;
            assert_int_equal(found.count, is_found ? 3 : 0);
            for (size_t i = 0; i < found.count; i++) {
                const oid *row = given_row(&found, i);
                assert_int_equal(row[0], i + 1);
                assert_int_equal(row[LITERAL], i == 1 ? 5 : 0);
                assert_int_equal(row[SCORE], scores ? score_of(&stand, wanted - 1000) : 0);
            }
            given_release(&input);
            given_release(&found);
            stand.run.constants = own;
            stand_close(&stand);
        }
    }
}

/* A search ends when it fails, and is closed; it looks at the time every 64 literals. */
static void
searches_end_when_they_fail(void **state)
{
    const struct place literal = {PLACE_SLOT, LITERAL};
    const unsigned calls = FOUND_MOST + 2;
    (void)state;
    for (unsigned fail_at = 0; fail_at <= calls + 4; fail_at += fail_at == 0 ? 1 : calls / 3) {
        struct stand stand;
        struct given input;
        struct reason why = {""};
        struct batch *batch;
        open_search(&stand, FOUND_MOST);
        given_init(&input, WIDTH);
        GIVE(&input, 1);
        struct operator* operator= text_over(&stand, &input, 1, literal, SCORE, 1);
        searched.fail_at = fail_at;
        stand.checks = 0;
        const bool fails = fail_at > 0 && fail_at <= calls;
        assert_int_equal(operator_next(operator, & batch, &why), fails ? STATUS_SYSTEM : STATUS_OK);
        assert_int_equal(searched.opened, fail_at != 1);
        assert_int_equal(searched.closed, searched.opened);
        if (fails) {
            assert_string_equal(why.text, "a fault of the test");
            assert_int_equal(searched.calls, fail_at);
            /* What failed is tried anew. */
            assert_int_equal(operator_next(operator, & batch, &why), STATUS_OK);
            assert_int_equal(batch->count, 1);
        } else {
            assert_int_equal(searched.calls, calls);
            /* Literals 0, 64, 128, 192, and once for the rows. */
            assert_int_equal(stand.checks, 5);
        }
        given_release(&input);
        stand_close(&stand);
    }
    for (unsigned cancel_at = 1; cancel_at <= 4; cancel_at++) {
        struct stand stand;
        struct given input;
        struct reason why = {""};
        struct batch *batch;
        open_search(&stand, FOUND_MOST);
        given_init(&input, WIDTH);
        GIVE(&input, 1);
        struct operator* operator= text_over(&stand, &input, 1, literal, NUMBER_NONE, 1);
        stand.checks = 0;
        stand.cancel_at = cancel_at;
        assert_int_equal(operator_next(operator, & batch, &why), STATUS_CANCELLED);
        assert_int_equal(searched.calls, 1 + 64 * (cancel_at - 1));
        assert_int_equal(searched.closed, 1);
        given_release(&input);
        stand_close(&stand);
    }
    /* Literals count against the query's memory. */
    struct stand stand;
    struct given input;
    struct reason why = {""};
    struct batch *batch;
    open_search(&stand, 10000);
    given_init(&input, WIDTH);
    GIVE(&input, 1);
    struct operator* operator= text_over(&stand, &input, 1, literal, NUMBER_NONE, 1);
    stand.run.account.maximum = stand.run.account.used + (64 << 10);
    assert_int_equal(operator_next(operator, & batch, &why), STATUS_LIMIT);
    assert_non_null(strstr(why.text, "keyword search"));
    assert_int_equal(searched.closed, 1);
    given_release(&input);
    stand_close(&stand);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inline_rows_join_with_each_input_row),
        cmocka_unit_test(inline_rows_look_at_the_time),
        cmocka_unit_test(found_literals_join_with_input),
        cmocka_unit_test(constants_are_found_or_not),
        cmocka_unit_test(searches_end_when_they_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
