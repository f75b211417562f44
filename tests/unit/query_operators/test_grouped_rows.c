/* GROUP BY (index/query/operators/group.c): counts by their only key are given batch by batch, all
 * others when all rows are read; in memory and in files. */
#include <string.h>

#include "index/query/algebra/algebra.h"
#include "tests/unit/query_operators/counting_source.h"

enum { VALUES = 700, FIRST_VALUE = 1000, SUM_SLOT = 3, KEY = 0 };

static const struct expression by_key = {.kind = EXPRESSION_VARIABLE, .number = KEY};
static const struct expression by_other = {.kind = EXPRESSION_VARIABLE, .number = 1};

static uint64_t
number_of(struct stand *stand, oid id)
{
    struct value value;
    evaluation_next_row(&stand->run.evaluation);
    assert_true(identifier_value(&stand->run.evaluation, id, &value));
    return (uint64_t)value_number(&value);
}

static struct operator* open_counts(struct stand *stand)
{
    open_counted(stand, 0);
    stand->run.measured = true;
    for (oid i = 0; i < VALUES; i++) {
        counted_add(0, FIRST_VALUE + i, 1 + i % 5);
    }
    const struct counts_spec spec = usual_counts(stand, 0);
    return counts_over(stand, &spec, unit_new(&stand->run), BATCH_ROWS);
}

/* Each row of the counts is a group of its own where it is the only key and no value is to be told
 * apart from others. */
static void
counts_are_grouped_batch_by_batch(void **state)
{
    static const struct {
        const char *what;
        const struct expression *key; /* NULL: the slot itself */
        size_t keys;
        uint32_t slot;
        struct aggregate aggregates[2];
        size_t count;
        bool apart;
        unsigned number; /* 1: the count; 2: one; of the first aggregate */
    } cases[] = {
        {"count", NULL, 1, KEY, {{.kind = AGGREGATE_COUNT, .slot = SUM_SLOT}}, 1, true, 1},
        {"no aggregate", NULL, 1, KEY, {{.slot = 0}}, 0, true, 0},
        {"count of the key",
         NULL,
         1,
         KEY,
         {{.kind = AGGREGATE_COUNT, .argument = &by_key, .slot = SUM_SLOT}},
         1,
         true,
         1},
        {"distinct",
         NULL,
         1,
         KEY,
         {{.kind = AGGREGATE_COUNT, .argument = &by_key, .distinct = true, .slot = SUM_SLOT}},
         1,
         false,
         2},
        {"distinct rows",
         NULL,
         1,
         KEY,
         {{.kind = AGGREGATE_COUNT, .distinct = true, .slot = SUM_SLOT}},
         1,
         false,
         2},
        {"one is distinct",
         NULL,
         1,
         KEY,
         {{.kind = AGGREGATE_COUNT, .slot = SUM_SLOT},
          {.kind = AGGREGATE_COUNT, .argument = &by_key, .distinct = true, .slot = 4}},
         2,
         false,
         1},
        {"the other is distinct",
         NULL,
         1,
         KEY,
         {{.kind = AGGREGATE_COUNT, .argument = &by_key, .distinct = true, .slot = SUM_SLOT},
          {.kind = AGGREGATE_COUNT, .slot = 4}},
         2,
         false,
         2},
        {"expression", &by_key, 1, 2, {{.kind = AGGREGATE_COUNT, .slot = SUM_SLOT}}, 1, false, 1},
        {"two keys", NULL, 2, KEY, {{.kind = AGGREGATE_COUNT, .slot = SUM_SLOT}}, 1, false, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stand stand;
        struct given found;
        struct batch *batch;
        struct reason why = {""};
        struct operator* counts = open_counts(&stand);
        struct slot_expression keys[] = {{cases[i].slot, cases[i].key}, {1, NULL}};
        struct aggregate aggregates[2];
        memcpy(aggregates, cases[i].aggregates, sizeof aggregates);
        struct algebra inside = {.kind = ALGEBRA_PATTERNS};
        slots_add(&inside.maybe, KEY);
        const struct algebra group = {.kind = ALGEBRA_GROUP,
                                      .left = &inside,
                                      .keys = keys,
                                      .key_count = cases[i].keys,
                                      .aggregates = aggregates,
                                      .aggregate_count = cases[i].count};
        struct operator* operator= group_new(&stand.run, counts, &group, WEIGHT, BATCH_ROWS);
        given_init(&found, WIDTH);
        for (unsigned again = 0; again < 2; again++) {
            counts->rows = 0;
            assert_int_equal(operator_next(operator, & batch, &why), STATUS_OK);
            assert_true(batch->count > 0);
            const uint64_t read = counts->rows;
            if (read != (cases[i].apart ? batch->count : VALUES)) {
                fail_msg("%s: %llu rows read", cases[i].what, (unsigned long long)read);
            }
            for (size_t k = 0; k < batch->count; k++) {
                given_add(&found, batch_row(&stand.run, batch, k), WIDTH);
            }
            take_rows(&stand, operator, & found);
            assert_int_equal(found.count, VALUES);
            given_sort(&found);
            for (oid k = 0; k < VALUES; k++) {
                const oid *row = given_row(&found, k);
                assert_int_equal(row[cases[i].slot], FIRST_VALUE + k);
                assert_int_equal(row[WEIGHT], 0);
                if (cases[i].number) {
                    assert_int_equal(number_of(&stand, row[SUM_SLOT]),
                                     cases[i].number == 1 ? 1 + k % 5 : 1);
                }
            }
            given_release(&found);
            operator_reset(operator);
        }
        stand_close(&stand);
    }
}

/* Rows in any order are put together by their keys, of which some are unbound. */
static void
rows_are_put_together_by_their_keys(void **state)
{
    (void)state;
    for (unsigned keyed = 0; keyed <= 2; keyed++) {
        for (size_t rows = 0; rows <= 2000; rows = rows * 4 + 3) {
            for (unsigned files = 0; files < 2; files++) {
                struct stand stand;
                struct given input, found;
                stand_open(&stand, "", "SELECT * {}", WIDTH, files ? 512 << 10 : 0);
                given_init(&input, WIDTH);
                given_init(&found, WIDTH);
                for (oid i = 0; i < rows; i++) {
                    GIVE(&input, i * 7 % 23, 100 + i % 3, 0, 0, 0, i % 2 ? 0 : 5);
                }
                struct slot_expression keys[] = {{KEY, NULL}, {1, &by_other}};
                struct aggregate aggregates[] = {
                    {.kind = AGGREGATE_COUNT, .slot = 2},
                    {.kind = AGGREGATE_COUNT, .argument = &by_key, .slot = SUM_SLOT}};
                const struct algebra group = {.kind = ALGEBRA_GROUP,
                                              .keys = keys,
                                              .key_count = keyed,
                                              .aggregates = aggregates,
                                              .aggregate_count = 2};
                struct operator* operator=
                    group_new(&stand.run, give_rows(&stand, &input, 50), &group, WEIGHT, 40);
                for (unsigned again = 0; again < 2; again++) {
                    take_rows(&stand, operator, & found);
                    given_sort(&found);
                    uint64_t groups = 0;
                    for (oid key = 0; key < 23; key++) {
                        for (oid other = 100; other < 103; other++) {
                            uint64_t all = 0, bound = 0;
                            for (size_t k = 0; k < rows; k++) {
                                const oid *row = given_row(&input, k);
                                if ((keyed < 1 || row[KEY] == key) &&
                                    (keyed < 2 || row[1] == other)) {
                                    all += row[WEIGHT] ? 5 : 1;
                                    bound += row[KEY] == 0 ? 0 : row[WEIGHT] ? 5 : 1;
                                }
                            }
                            if ((keyed < 1 && (key > 0 || other > 100)) ||
                                (keyed < 2 && other > 100) || (all == 0 && keyed > 0)) {
                                continue;
                            }
                            assert_true(groups < found.count);
                            const oid *row = given_row(&found, groups++);
                            assert_int_equal(row[KEY], keyed > 0 ? key : 0);
                            assert_int_equal(row[1], keyed > 1 ? other : 0);
                            assert_int_equal(number_of(&stand, row[2]), all);
                            assert_int_equal(number_of(&stand, row[SUM_SLOT]), bound);
                        }
                    }
                    assert_int_equal(found.count, groups);
                    given_release(&found);
                    operator_reset(operator);
                }
                given_release(&input);
                stand_close(&stand);
            }
        }
    }
}

/* Without rows and keys there is one group, unless it is a part. */
static void
no_rows_are_one_group_or_none(void **state)
{
    (void)state;
    for (unsigned partial = 0; partial < 2; partial++) {
        for (size_t keyed = 0; keyed < 2; keyed++) {
            struct stand stand;
            struct given input, found;
            stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
            given_init(&input, WIDTH);
            given_init(&found, WIDTH);
            struct slot_expression keys[] = {{KEY, NULL}};
            struct aggregate aggregates[] = {{.kind = AGGREGATE_COUNT, .slot = SUM_SLOT}};
            const struct algebra group = {.kind = ALGEBRA_GROUP,
                                          .keys = keys,
                                          .key_count = keyed,
                                          .partial = partial,
                                          .aggregates = aggregates,
                                          .aggregate_count = 1};
            struct operator* operator=
                group_new(&stand.run, give_rows(&stand, &input, 1), &group, NUMBER_NONE, 4);
            take_rows(&stand, operator, & found);
            assert_int_equal(found.count, !partial && !keyed);
            if (found.count) {
                assert_int_equal(number_of(&stand, given_row(&found, 0)[SUM_SLOT]), 0);
            }
            given_release(&found);
            stand_close(&stand);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_grouped_batch_by_batch),
        cmocka_unit_test(rows_are_put_together_by_their_keys),
        cmocka_unit_test(no_rows_are_one_group_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
