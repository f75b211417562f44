/* Names of graphs as rows, and patterns that are run for each graph (index/query/operators/leaf.c).
 */
#include <string.h>

#include "tests/unit/query_operators/operator_stand.h"

enum { WIDTH = 5 };

/* ---- names of graphs ---- */

enum { GRAPHS = 300, QUADS_OF_EACH = 3 };

struct quad_scan {
    size_t at;
};

static struct {
    struct quad_scan scan;
    unsigned opened, closed, estimates, nexts, fail_at;
} listed;

/* Graph 10 has quads, 11 has none, 12 has ... */
static enum status
estimate(void *context, const struct quad_oids *pattern, uint64_t *rows, struct reason *why)
{
    (void)context;
    assert_true(pattern->graph < OID_LOCAL && !pattern->subject && !pattern->predicate &&
                !pattern->object);
    if (++listed.estimates == listed.fail_at) {
        return status_fail(why, STATUS_SYSTEM, "a fault of the test");
    }
    *rows = pattern->graph % 2 == 0 ? 1 : 0;
    return STATUS_OK;
}

static enum status
scan_graphs(void *context, const struct quad_oids *pattern, enum quad_order order,
            struct quad_scan **scan, struct reason *why)
{
    (void)context;
    assert_true(!pattern->graph && !pattern->subject && !pattern->predicate && !pattern->object);
    assert_int_equal(order, ORDER_CSPO);
    if (listed.fail_at == UINT32_MAX) {
        return status_fail(why, STATUS_SYSTEM, "a fault of the test");
    }
    listed.opened++;
    listed.scan.at = 0;
    *scan = &listed.scan;
    return STATUS_OK;
}

static enum status
next_graphs(struct quad_scan *scan, struct quad_oids *rows, size_t most, size_t *n,
            struct reason *why)
{
    if (++listed.nexts == listed.fail_at) {
        return status_fail(why, STATUS_SYSTEM, "a fault of the test");
    }
    for (*n = 0; *n < most && scan->at < GRAPHS * QUADS_OF_EACH; scan->at++) {
        rows[(*n)++] = (struct quad_oids){5, 6, 7 + scan->at, 10 + scan->at / QUADS_OF_EACH};
    }
    return STATUS_OK;
}

static void
close_graphs(struct quad_scan *scan)
{
    assert_ptr_equal(scan, &listed.scan);
    listed.closed++;
}

static void
open_graphs(struct stand *stand, enum graph_kind kind, const oid *ids, size_t count)
{
    memset(&listed, 0, sizeof listed);
    stand_open(stand, "", "SELECT * {}", WIDTH, 0);
    stand->source.estimate = estimate;
    stand->source.scan = scan_graphs;
    stand->source.scan_next = next_graphs;
    stand->source.scan_close = close_graphs;
    stand->run.named_graphs = (struct graphs){kind, ids, count};
}

static const oid some_graphs[] = {12, 11, OID_LOCAL + 2, 10, 14, 12, OID_LOCAL};

/* Graphs that have quads, each once: of a set in its order, else as they are read. */
static size_t
graphs_wanted(enum graph_kind kind, oid *names)
{
    size_t count = 0;
    if (kind == GRAPHS_ONE) {
        names[count++] = 12;
    } else if (kind == GRAPHS_SET) {
        memcpy(names, (const oid[]){12, 10, 14}, 3 * sizeof(oid));
        count = 3;
    } else {
        for (oid graph = 10; graph < 10 + GRAPHS; graph++) {
            if (kind == GRAPHS_ALL || graph != 12) {
                names[count++] = graph;
            }
        }
    }
    return count;
}

static const struct place named = {PLACE_SLOT, 2};

static void
names_of_graphs_join_with_input(void **state)
{
    (void)state;
    for (int kind = GRAPHS_ALL; kind <= GRAPHS_ALL_BUT; kind++) {
        struct stand stand;
        struct given input, found, wanted;
        oid names[GRAPHS];
        const size_t count = graphs_wanted(kind, names);
        open_graphs(&stand, kind, some_graphs, kind == GRAPHS_SET ? 7 : kind == GRAPHS_ALL ? 0 : 1);
        given_init(&input, WIDTH);
        given_init(&found, WIDTH);
        given_init(&wanted, WIDTH);
        GIVE(&input, 1);
        GIVE(&input, 2, 5, 12);
        GIVE(&input, 3, 5, 11);
        GIVE(&input, 4, 5, 9);
        GIVE(&input, 5);
        for (size_t i = 0; i < input.count; i++) {
            const oid *row = given_row(&input, i);
            for (size_t k = 0; k < count; k++) {
                if (!row[2] || row[2] == names[k]) {
                    GIVE(&wanted, row[0], row[1], names[k]);
                }
            }
        }
        struct operator* operator=
            graph_names_new(&stand.run, give_rows(&stand, &input, 2), named, 7);
        for (unsigned again = 0; again < 2; again++) {
            take_rows(&stand, operator, & found);
            assert_same_rows(&found, &wanted, "names of graphs");
            given_release(&found);
            operator_reset(operator);
        }
        const bool read = kind == GRAPHS_ALL || kind == GRAPHS_ALL_BUT;
        assert_int_equal(listed.opened, read);
        assert_int_equal(listed.closed, read);
        assert_int_equal(stand.run.report.scanned, read ? GRAPHS * QUADS_OF_EACH : 0);
        /* What the query made itself is no graph of the source. */
        assert_int_equal(listed.estimates, read ? 0 : kind == GRAPHS_ONE ? 1 : 5);
        given_release(&input);
        given_release(&wanted);
        stand_close(&stand);
    }
}

static void
names_of_graphs_may_fail(void **state)
{
    static const struct {
        enum graph_kind kind;
        unsigned fail_at, closed;
    } cases[] = {{GRAPHS_ONE, 1, 0},         {GRAPHS_SET, 1, 0},     {GRAPHS_SET, 5, 0},
                 {GRAPHS_ALL, 1, 1},         {GRAPHS_ALL_BUT, 3, 1}, {GRAPHS_ALL, 9, 1},
                 {GRAPHS_ALL, UINT32_MAX, 0}};
    (void)state;
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        struct stand stand;
        struct given input;
        struct reason why = {""};
        struct batch *batch;
        given_init(&input, WIDTH);
        GIVE(&input, 1);
        open_graphs(&stand, cases[i / 2].kind, some_graphs,
                    cases[i / 2].kind == GRAPHS_SET ? 7 : 1);
        struct operator* operator= i % 2
            ? graph_loop_new(&stand.run, give_rows(&stand, &input, 1), 3, 2)
            : graph_names_new(&stand.run, give_rows(&stand, &input, 1), named, 7);
        listed.fail_at = cases[i / 2].fail_at;
        assert_int_equal(operator_next(operator, & batch, &why), STATUS_SYSTEM);
        assert_string_equal(why.text, "a fault of the test");
        assert_int_equal(listed.closed, cases[i / 2].closed);
        /* What failed is tried anew, and is whole. */
        listed.fail_at = 0;
        assert_int_equal(operator_next(operator, & batch, &why), STATUS_OK);
        assert_true(batch->count > 0);
        assert_int_equal(listed.closed, listed.opened);
        given_release(&input);
        stand_close(&stand);
    }
    /* Each piece of what is read is a look at the time, after which it is closed. */
    for (unsigned cancel_at = 1; cancel_at <= 8; cancel_at++) {
        struct stand stand;
        struct given input;
        struct reason why = {""};
        struct batch *batch;
        given_init(&input, WIDTH);
        GIVE(&input, 1);
        open_graphs(&stand, GRAPHS_ALL, NULL, 0);
        struct operator* operator=
            graph_names_new(&stand.run, give_rows(&stand, &input, 1), named, 7);
        stand.checks = 0;
        stand.cancel_at = cancel_at;
        assert_int_equal(operator_next(operator, & batch, &why), STATUS_CANCELLED);
        assert_int_equal(listed.nexts, cancel_at);
        assert_int_equal(listed.closed, 1);
        given_release(&input);
        stand_close(&stand);
    }
}

/* ---- solutions of each graph ---- */

enum { SLOT = 2, HIDDEN = 3 };

static void
rows_join_with_the_graph_they_are_of(void **state)
{
    (void)state;
    for (size_t piece = 1; piece <= 8; piece++) {
        struct stand stand;
        struct given input, found, wanted;
        stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
        given_init(&input, WIDTH);
        given_init(&found, WIDTH);
        given_init(&wanted, WIDTH);
        for (oid i = 0; i < 24; i++) {
            /* Whole batches of rows that are of another graph come between others. */
            const oid bound = i % 12 < 4 ? 8 : i % 3 == 0 ? 0 : i % 3 == 1 ? 9 : 8;
            GIVE(&input, i + 1, 5, bound, 9, 6);
            if (bound != 8) {
                GIVE(&wanted, i + 1, 5, 9, 9, 6);
            }
        }
        struct operator* operator=
            graph_join_new(&stand.run, give_rows(&stand, &input, piece), HIDDEN, SLOT);
        struct batch *batch;
        struct reason why = {""};
        size_t rows = 0;
        do {
            assert_int_equal(operator_next(operator, & batch, &why), STATUS_OK);
            for (size_t i = 0; i < batch->count; i++) {
                given_add(&found, batch_row(&stand.run, batch, i), WIDTH);
            }
            rows += batch->count;
        } while (batch->count > 0);
        assert_int_equal(rows, wanted.count);
        assert_same_rows(&found, &wanted, "graph join");
        given_release(&input);
        given_release(&found);
        given_release(&wanted);
        stand_close(&stand);
    }
}

/* A pattern that gives, of each graph, the rows of those that are given that fit the base row. */
static void
patterns_are_run_for_each_graph(void **state)
{
    (void)state;
    for (int kind = GRAPHS_ALL; kind <= GRAPHS_ALL_BUT; kind++) {
        for (size_t piece = 1; piece <= 4; piece++) {
            struct stand stand;
            struct given inner, found, wanted;
            oid names[GRAPHS];
            const size_t count = graphs_wanted(kind, names);
            open_graphs(&stand, kind, some_graphs,
                        kind == GRAPHS_SET   ? 7
                        : kind == GRAPHS_ALL ? 0
                                             : 1);
            given_init(&inner, WIDTH);
            given_init(&found, WIDTH);
            given_init(&wanted, WIDTH);
            GIVE(&inner, 1);
            GIVE(&inner, 2, 5, 12, 0, 6);
            GIVE(&inner, 3, 5, 10);
            GIVE(&inner, 4);
            for (size_t k = 0; k < count; k++) {
                for (size_t i = 0; i < inner.count; i++) {
                    const oid *row = given_row(&inner, i);
                    if (!row[SLOT] || row[SLOT] == names[k]) {
                        GIVE(&wanted, row[0], row[1], names[k], 0, row[4]);
                    }
                }
            }
            struct operator* pattern = give_rows(&stand, &inner, piece);
            struct operator* operator= graph_loop_new(&stand.run, pattern, HIDDEN, SLOT);
            for (unsigned again = 1; again <= 3; again++) {
                struct batch *batch;
                struct reason why = {""};
                do {
                    assert_int_equal(operator_next(operator, & batch, &why), STATUS_OK);
                    for (size_t i = 0; i < batch->count; i++) {
                        const oid *row = batch_row(&stand.run, batch, i);
                        assert_int_equal(stand.run.base_row[HIDDEN], row[SLOT]);
                        given_add(&found, row, WIDTH);
                    }
                    /* The second time it is given up in the midst. */
                } while (batch->count > 0 && again != 2);
                if (again != 2) {
                    assert_same_rows(&found, &wanted, "each graph");
                    assert_int_equal(operator_next(operator, & batch, &why), STATUS_OK);
                    assert_int_equal(batch->count, 0);
                }
                assert_int_equal(given_resets(pattern), again == 1   ? count
                                                        : again == 2 ? count + 1
                                                                     : 2 * count + 1);
                given_release(&found);
                operator_reset(operator);
                assert_int_equal(given_resets(pattern), again == 1   ? count
                                                        : again == 2 ? count + 1
                                                                     : 2 * count + 1);
            }
            assert_true(listed.opened <= 1);
            given_release(&inner);
            given_release(&wanted);
            stand_close(&stand);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_graphs_join_with_input),
        cmocka_unit_test(names_of_graphs_may_fail),
        cmocka_unit_test(rows_join_with_the_graph_they_are_of),
        cmocka_unit_test(patterns_are_run_for_each_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
