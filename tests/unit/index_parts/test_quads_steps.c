/* Scans, checks and estimates of one tree of quads (index/quads/quads_scan.c) beside a model, over
 * blocks of a few rows that lie in memory: whatever snapshot is read, wherever blocks end, and
 * whatever fails. */
#include "tests/unit/index_parts/quads_world.h"

/* ---- scans ---- */

/* A state, snapshots of it and of one before it, and a batch that is half in the trees. */
struct world {
    struct snapshot *views[STATES - 1];
    bool gathered;
};

static void
write_half(enum quad_order order, const bool *old, const bool *new)
{
    bool mixed[QUADS];
    for (size_t i = 0; i < QUADS; i++) {
        mixed[i] = next_chance(2) == 0 ? old[i] : new[i];
    }
    build(order, mixed, 1 + next_chance(8));
}

static void
make_world(struct world *world)
{
    for (size_t i = 0; i < QUADS; i++) {
        states[0][i] = next_chance(3) == 0;
    }
    for (int k = 1; k < STATES; k++) {
        for (size_t i = 0; i < QUADS; i++) {
            states[k][i] = next_chance(6) == 0 ? !states[k - 1][i] : states[k - 1][i];
        }
    }
    world->gathered = next_chance(2) == 0;
    world->views[0] = snapshot_open(snapshots);
    snapshots_publish(snapshots, difference(states[0], states[1]), world->gathered);
    snapshots_end(snapshots, true, false);
    world->views[1] = snapshot_open(snapshots);
    snapshots_publish(snapshots, difference(states[1], states[2]), world->gathered);
    for (int order = 0; order < ORDER_COUNT; order++) {
        if (world->gathered && order != ORDER_CSPO) {
            build((enum quad_order)order, states[0], 1 + next_chance(8));
        } else {
            write_half((enum quad_order)order, states[1], states[2]);
        }
    }
}

static void
release_world(struct world *world)
{
    for (int i = 0; i < STATES - 1; i++) {
        snapshot_close(world->views[i]);
    }
    snapshots_free(snapshots);
    snapshots = snapshots_new(1 << 20);
}

static void
expect_scan(struct quads_scan *scan, enum quad_order order, const struct row *rows, size_t count)
{
    static struct quad_oids quads[2 * ROWS_BLOCK_MOST];
    const size_t mosts[] = {1, 7, 40, 2 * ROWS_BLOCK_MOST};
    for (size_t at = 0, n = 1; n > 0;) {
        const size_t most = mosts[next_chance(4)];
        assert_int_equal(quads_scan_next(scan, quads, 0, &n, &why), STATUS_OK);
        assert_int_equal(n, 0);
        assert_int_equal(quads_scan_next(scan, quads, most, &n, &why), STATUS_OK);
        assert_in_range(n, 0, most);
        assert_int_equal(n > 0, at < count);
        for (size_t i = 0; i < n; i++, at++) {
            const struct row row = row_of(&quads[i], order);
            assert_true(at < count && row_compare(&row, &rows[at]) == 0);
        }
        if (n > 0 && next_chance(6) == 0) {
            const struct quad_oids to = universe[next_chance(QUADS)];
            const struct row row = row_of(&to, order);
            quads_scan_skip(scan, &to);
            while (at < count && row_compare(&rows[at], &row) < 0) {
                at++;
            }
        }
    }
}

static void
scans_show_their_snapshots(void **state)
{
    (void)state;
    enum { ROUNDS = 40, SCANS = 40 };
    for (int round = 0; round < ROUNDS; round++) {
        struct world world;
        make_world(&world);
        struct recent_blocks *recent = round % 2 == 0 ? recent_blocks_new() : NULL;
        for (int i = 0; i < SCANS; i++) {
            const int view = i < SCANS / 2;
            struct quad_oids pattern = some_pattern();
            unsigned bound;
            enum quad_order order = quads_order_for(&pattern, &bound);
            const enum quad_order tried = (enum quad_order)next_chance(ORDER_COUNT);
            const bool usual = !quads_order_serves(&pattern, tried, &bound);
            order = usual ? order : tried;
            struct quads_scan *scan;
            struct row rows[QUADS], last;
            assert_int_equal(quads_scan_open(&scan, NULL, world.views[view], &pattern,
                                             usual ? ORDER_COUNT : order, &why),
                             STATUS_OK);
            if (recent != NULL) {
                quads_scan_remember(scan, recent);
            }
            const bool until = next_chance(4) == 0;
            if (until) {
                const struct quad_oids to = universe[next_chance(QUADS)];
                last = row_of(&to, order);
                quads_scan_until(scan, &to);
            }
            size_t count =
                expected_rows(states[view], order, &pattern, NULL, until ? &last : NULL, rows);
            expect_scan(scan, order, rows, count);
            for (int again = 0; again < 3; again++) {
                const struct quad_oids other = universe[next_chance(QUADS)];
                pattern.subject = pattern.subject != OID_NONE ? other.subject : OID_NONE;
                pattern.predicate = pattern.predicate != OID_NONE ? other.predicate : OID_NONE;
                pattern.object = pattern.object != OID_NONE ? other.object : OID_NONE;
                pattern.graph = pattern.graph != OID_NONE ? other.graph : OID_NONE;
                count = expected_rows(states[view], order, &pattern, NULL, NULL, rows);
                quads_scan_again(scan, &pattern);
                expect_scan(scan, order, rows, count);
            }
            quads_scan_close(scan);
        }
        recent_blocks_free(recent);
        release_world(&world);
    }
    quads_scan_close(NULL);
}

/* Of what no quad can have nothing is read. */
static void
scans_that_find_nothing(void **state)
{
    (void)state;
    struct world world;
    struct quads_scan *scan;
    struct quad_oids quads[4];
    size_t n = 1;
    make_world(&world);
    const oid text = oid_stored(1, OID_KIND_STRING), node = oid_stored(1, OID_KIND_BLANK);
    const struct {
        struct quad_oids pattern;
        bool read;
    } cases[] = {{{text, 0, 0, 0}, false},
                 {{node, 0, 0, 0}, true},
                 {{0, text, 0, 0}, false},
                 {{0, node, 0, 0}, false},
                 {{OID_STORED >> 1, 0, 0, 0}, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int again = 0; again < 2; again++) {
            const struct quad_oids first =
                again == 0
                    ? cases[i].pattern
                    : (struct quad_oids){cases[i].pattern.subject != 0 ? value(0, 0) : 0,
                                         cases[i].pattern.predicate != 0 ? value(1, 0) : 0, 0, 0};
            assert_int_equal(
                quads_scan_open(&scan, NULL, world.views[0], &first, ORDER_COUNT, &why), STATUS_OK);
            if (again == 1) {
                quads_scan_again(scan, &cases[i].pattern);
            }
            block_reads = 0;
            assert_int_equal(quads_scan_next(scan, quads, 4, &n, &why), STATUS_OK);
            assert_int_equal(n, 0);
            assert_int_equal(block_reads > 0, cases[i].read);
            quads_scan_close(scan);
        }
    }
    const struct quad_oids pattern = {.object = value(2, 0)};
    assert_int_equal(quads_scan_open(&scan, NULL, world.views[0], &pattern, ORDER_SPOC, &why),
                     STATUS_UNSUPPORTED);
    assert_string_equal(why.text, "the order does not serve the bound places");
    assert_null(scan);
    release_world(&world);
}

/* ---- the writer's view ---- */

static void
the_writer_reads_the_trees_themselves(void **state)
{
    (void)state;
    enum { ROUNDS = 60 };
    struct row_vector vector = {0};
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < QUADS; i++) {
            states[0][i] = next_chance(2 + (uint64_t)round % 5) == 0;
        }
        for (int order = 0; order < ORDER_COUNT; order++) {
            struct row rows[QUADS];
            build((enum quad_order)order, states[0], 1 + next_chance(8));
            const struct quad_oids pattern = some_pattern();
            unsigned bound;
            if (quads_order_serves(&pattern, (enum quad_order)order, &bound)) {
                const struct row prefix = row_of(&pattern, (enum quad_order)order);
                const size_t count =
                    expected_rows(states[0], (enum quad_order)order, &pattern, NULL, NULL, rows);
                assert_int_equal(
                    quads_read(NULL, (enum quad_order)order, &prefix, bound, &vector, &why),
                    STATUS_OK);
                assert_int_equal(vector.count, count);
                assert_true(count == 0 || memcmp(vector.rows, rows, count * sizeof rows[0]) == 0);
            }
            /* Of some rows, those that are there stay. */
            for (size_t i = 0; i < QUADS; i++) {
                states[1][i] = next_chance(4) == 0;
                states[2][i] = states[1][i] && states[0][i];
            }
            const struct quad_oids all = {0};
            vector.count = 0;
            row_vector_reserve(&vector, QUADS);
            vector.count =
                expected_rows(states[1], (enum quad_order)order, &all, NULL, NULL, vector.rows);
            const size_t count =
                expected_rows(states[2], (enum quad_order)order, &all, NULL, NULL, rows);
            assert_int_equal(quads_keep_present(NULL, (enum quad_order)order, &vector, &why),
                             STATUS_OK);
            assert_int_equal(vector.count, count);
            assert_true(count == 0 || memcmp(vector.rows, rows, count * sizeof rows[0]) == 0);
        }
    }
    row_vector_release(&vector);
}

/* ---- checks ---- */

/* Blocks may be cut anew between steps. */
static void
checks_go_through_the_whole_tree(void **state)
{
    (void)state;
    enum { ROUNDS = 20, BLOCKS_AT_ONCE = 8 };
    struct row_vector vector = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct world world;
        make_world(&world);
        for (int order = 0; order < ORDER_COUNT; order++) {
            struct row rows[QUADS], next = {{0}};
            const struct quad_oids all = {0};
            size_t at = 0;
            const size_t count =
                expected_rows(states[1], (enum quad_order)order, &all, NULL, NULL, rows);
            while (next.place[0] != UINT64_MAX) {
                block_reads = 0;
                assert_int_equal(
                    quads_check(NULL, (enum quad_order)order, world.views[1], &next, &vector, &why),
                    STATUS_OK);
                assert_in_range(block_reads, 1, BLOCKS_AT_ONCE);
                for (size_t i = 0; i < vector.count; i++, at++) {
                    assert_true(at < count && row_compare(&vector.rows[i], &rows[at]) == 0);
                }
                assert_true(at == count || row_compare(&next, &rows[at]) <= 0);
                if (world.gathered && order != ORDER_CSPO) {
                    build((enum quad_order)order, states[0], 1 + next_chance(8));
                } else {
                    write_half((enum quad_order)order, states[1], states[2]);
                }
            }
            assert_int_equal(at, count);
        }
        release_world(&world);
    }
    /* An empty tree. */
    struct row next = {{0}};
    struct snapshot *snapshot = snapshot_open(snapshots);
    block_counts[ORDER_SPOC] = 0;
    assert_int_equal(quads_check(NULL, ORDER_SPOC, snapshot, &next, &vector, &why), STATUS_OK);
    assert_int_equal(vector.count, 0);
    assert_true(next.place[0] == UINT64_MAX);
    snapshot_close(snapshot);
    row_vector_release(&vector);
}

static void
expect_damage(struct snapshot *snapshot, const char *text)
{
    struct row_vector vector = {0};
    struct row next = {{0}};
    assert_int_equal(quads_check(NULL, ORDER_POCS, snapshot, &next, &vector, &why), STATUS_CORRUPT);
    if (text != NULL) {
        assert_string_equal(why.text, text);
    } else {
        assert_ptr_equal(strstr(why.text, "tree pocs: "), why.text);
    }
    row_vector_release(&vector);
}

static void
checks_find_what_is_wrong(void **state)
{
    (void)state;
    struct block *of = blocks[ORDER_POCS];
    struct snapshot *snapshot = snapshot_open(snapshots);
    for (size_t i = 0; i < QUADS; i++) {
        states[0][i] = i % 16 == 0;
    }
    build(ORDER_POCS, states[0], 1);
    assert_in_range(block_counts[ORDER_POCS], 8, QUADS);
    const struct block first = of[0], second = of[1];
    memset(of[0].fence, 0, ROW_KEY_SIZE); /* before its rows */
    of[0].fence_length = ROW_KEY_SIZE;
    expect_damage(snapshot, "tree pocs: a block does not keep its fence");
    of[0] = first;
    memcpy(of[1].bytes, of[0].bytes, sizeof of[0].bytes); /* the same row again */
    of[1].length = of[0].length;
    expect_damage(snapshot, "tree pocs: rows do not ascend");
    of[1] = second;
    memcpy(of[0].bytes, of[2].bytes, sizeof of[0].bytes);
    of[0].length = of[2].length;
    expect_damage(snapshot, "tree pocs: a block does not keep its fence");
    of[0] = first;
    of[1].bytes[0] ^= 0x7f;
    expect_damage(snapshot, NULL);
    of[1] = second;
    of[1].length = 1; /* no row */
    expect_damage(snapshot, NULL);
    snapshot_close(snapshot);
}

/* ---- estimates ---- */

static void
estimates_count_few_blocks(void **state)
{
    (void)state;
    struct snapshot *snapshot = snapshot_open(snapshots);
    for (size_t i = 0; i < QUADS; i++) {
        states[0][i] = true;
    }
    for (int order = 0; order < ORDER_COUNT; order++) {
        build((enum quad_order)order, states[0], 1); /* a row in each block */
    }
    positions[0] = 0.25;
    positions[1] = 0.75;
    const struct {
        struct quad_oids pattern;
        uint64_t rows;
        unsigned asked; /* places in the tree */
    } cases[] = {
        {{0, 0, 0, 0}, 1000, 0},
        {{value(0, 0), value(1, 1), value(2, 2), value(3, 3)}, 1, 0},
        {{value(0, 0), value(1, 1), value(2, 2), 0}, 500, 2}, /* four rows in four blocks */
        {{0, value(1, 1), 0, 0}, 500, 2},
        {{0, 0, 0, value(3, 1)}, 500, 2},
        {{value(0, VALUES), 0, 0, 0}, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t rows = 7;
        asked_positions = 0;
        assert_int_equal(quads_estimate(NULL, snapshot, &cases[i].pattern, 1000, &rows, &why),
                         STATUS_OK);
        assert_int_equal(rows, cases[i].rows);
        assert_int_equal(asked_positions, cases[i].asked);
    }
    /* A guess is no less than what was counted. */
    positions[1] = 0.25;
    uint64_t rows;
    assert_int_equal(quads_estimate(NULL, snapshot, &cases[3].pattern, 1000, &rows, &why),
                     STATUS_OK);
    assert_int_equal(rows, 3);
    positions[1] = 0.2504;
    assert_int_equal(quads_estimate(NULL, snapshot, &cases[3].pattern, 10000, &rows, &why),
                     STATUS_OK);
    assert_int_equal(rows, 4);
    /* All in as many blocks as are looked into. */
    memset(states[0], 0, sizeof states[0]);
    states[0][0] = states[0][VALUES] = states[0][2 * VALUES] = true;
    build(ORDER_SPOC, states[0], 1);
    asked_positions = 0;
    assert_int_equal(quads_estimate(NULL, snapshot, &(struct quad_oids){value(0, 0), 0, 0, 0}, 1000,
                                    &rows, &why),
                     STATUS_OK);
    assert_int_equal(rows, 3);
    assert_int_equal(asked_positions, 0);
    snapshot_close(snapshot);
    /* They are of the snapshot. */
    memset(states[1], 0, sizeof states[1]);
    snapshot = snapshot_open(snapshots);
    snapshots_publish(snapshots, difference(states[0], states[1]), false);
    block_counts[ORDER_SPOC] = 0;
    assert_int_equal(quads_estimate(NULL, snapshot, &(struct quad_oids){value(0, 0), 0, 0, 0}, 1000,
                                    &rows, &why),
                     STATUS_OK);
    assert_int_equal(rows, 3);
    snapshot_close(snapshot);
}

/* ---- failures ---- */

static struct snapshot *view;

static enum status
scan_all(void)
{
    static struct quad_oids quads[16];
    const struct quad_oids pattern = {.predicate = value(1, 1)};
    struct quads_scan *scan;
    size_t n = 1;
    TRY(quads_scan_open(&scan, NULL, view, &pattern, ORDER_COUNT, &why));
    enum status status = STATUS_OK;
    while (status == STATUS_OK && n > 0) {
        status = quads_scan_next(scan, quads, 16, &n, &why);
    }
    quads_scan_close(scan);
    return status;
}

static enum status
read_all(void)
{
    struct row_vector vector = {0};
    const struct row prefix = {{value(3, 1)}};
    const enum status status = quads_read(NULL, ORDER_CSPO, &prefix, 1, &vector, &why);
    row_vector_release(&vector);
    return status;
}

static enum status
keep_all(void)
{
    struct row_vector vector = {0};
    const struct quad_oids all = {0};
    row_vector_reserve(&vector, QUADS);
    vector.count = expected_rows(states[1], ORDER_CSPO, &all, NULL, NULL, vector.rows);
    const enum status status = quads_keep_present(NULL, ORDER_CSPO, &vector, &why);
    row_vector_release(&vector);
    return status;
}

static enum status
estimate_one(void)
{
    uint64_t rows;
    return quads_estimate(NULL, view, &(struct quad_oids){.predicate = value(1, 1)}, 1000, &rows,
                          &why);
}

static enum status
check_all(void)
{
    struct row_vector vector = {0};
    struct row next = {{0}};
    enum status status = STATUS_OK;
    while (status == STATUS_OK && next.place[0] != UINT64_MAX) {
        status = quads_check(NULL, ORDER_CSPO, view, &next, &vector, &why);
    }
    row_vector_release(&vector);
    return status;
}

static void
each_call_can_fail(void **state)
{
    (void)state;
    static enum status (*const all[])(void) = {scan_all, read_all, keep_all, estimate_one,
                                               check_all};
    struct world world;
    make_world(&world);
    view = world.views[1];
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        failing = call = 0;
        assert_int_equal(all[i](), STATUS_OK);
        const unsigned calls = call;
        assert_true(calls > 1);
        for (failing = 1; failing <= calls; failing++) {
            call = 0;
            assert_int_equal(all[i](), STATUS_SYSTEM);
            assert_int_equal(call, failing);
            assert_false(latched);
            assert_int_equal(open_cursors, 0);
        }
    }
    failing = 0;
    release_world(&world);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_quads, end_quads)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(scans_show_their_snapshots),
        CASE(scans_that_find_nothing),
        CASE(the_writer_reads_the_trees_themselves),
        CASE(checks_go_through_the_whole_tree),
        CASE(checks_find_what_is_wrong),
        CASE(estimates_count_few_blocks),
        CASE(each_call_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
