/* The six trees against a set in memory: random batches, all 16 patterns, old snapshots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "index/quads/quads.h"
#include "index/quads/recent_blocks.h"
#include "tests/unit/scratch.h"

enum { UNIVERSE = 6000, ROUNDS = 60, SNAPSHOTS = 6 };

static uint64_t seed = 88172645463325252u;
static uint64_t
random_number(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static struct quad_oids universe[UNIVERSE];
static bool present[UNIVERSE];

static int
compare_cspo(const void *a, const void *b)
{
    const struct row left = row_of(a, ORDER_CSPO);
    const struct row right = row_of(b, ORDER_CSPO);
    return row_compare(&left, &right);
}

static void
make_universe(void)
{
    for (size_t i = 0; i < UNIVERSE; i++) {
        const uint64_t graph = 1 + random_number() % 200;
        universe[i].graph = oid_stored(graph * 10, OID_KIND_IRI);
        universe[i].subject = oid_stored(graph * 10 + random_number() % 3, OID_KIND_IRI);
        universe[i].predicate = oid_stored(1 + random_number() % 20, OID_KIND_IRI);
        universe[i].object = random_number() % 3
                                 ? oid_stored(graph * 10 + random_number() % 9, OID_KIND_STRING)
                                 : oid_stored(1 + random_number() % 40, OID_KIND_IRI);
    }
    qsort(universe, UNIVERSE, sizeof(universe[0]), compare_cspo);
    /* A double becomes a quad of a graph of its own. */
    for (size_t i = UNIVERSE - 1; i > 0; i--) {
        if (compare_cspo(&universe[i - 1], &universe[i]) == 0) {
            universe[i].graph = oid_stored(100000 + i, OID_KIND_IRI);
        }
    }
    qsort(universe, UNIVERSE, sizeof(universe[0]), compare_cspo);
}

static bool
matches(const struct quad_oids *quad, const struct quad_oids *pattern)
{
    return (!pattern->subject || pattern->subject == quad->subject) &&
           (!pattern->predicate || pattern->predicate == quad->predicate) &&
           (!pattern->object || pattern->object == quad->object) &&
           (!pattern->graph || pattern->graph == quad->graph);
}

static int
compare_oids(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct quad_oids));
}

/* All scans that remember blocks share it, whatever snapshot they are of. */
static struct recent_blocks *recent;

static void
check_pattern(struct quads *quads, struct snapshot *snapshot, const bool *model,
              const struct quad_oids *pattern)
{
    static struct quad_oids found[UNIVERSE + 1], expected[UNIVERSE];
    size_t expected_count = 0;
    for (size_t i = 0; i < UNIVERSE; i++) {
        if (model[i] && matches(&universe[i], pattern)) {
            expected[expected_count++] = universe[i];
        }
    }
    struct reason why = {""};
    struct quads_scan *scan;
    unsigned bound;
    const enum quad_order order = quads_order_for(pattern, &bound);
    assert_int_equal(quads_scan_open(&scan, quads, snapshot, pattern, ORDER_COUNT, &why),
                     STATUS_OK);
    if (random_number() % 4) {
        quads_scan_remember(scan, recent);
    }
    size_t count = 0;
    size_t n = 1;
    while (n > 0 && count <= UNIVERSE) {
        const size_t room = UNIVERSE + 1 - count;
        const size_t most = random_number() % 2 && room > 7 ? 7 : room;
        if (quads_scan_next(scan, found + count, most, &n, &why) != STATUS_OK) {
            fail_msg("%s", why.text);
        }
        count += n;
    }
    quads_scan_close(scan);
    for (size_t i = 1; i < count; i++) {
        const struct row a = row_of(&found[i - 1], order);
        const struct row b = row_of(&found[i], order);
        assert_true(row_compare(&a, &b) < 0);
    }
    assert_int_equal(count, expected_count);
    qsort(found, count, sizeof(found[0]), compare_oids);
    qsort(expected, count, sizeof(found[0]), compare_oids);
    assert_memory_equal(found, expected, count * sizeof(found[0]));
}

/* Goes on from a place ahead of where the scan is, many times: what comes is what the model has
 * from there on. */
static void
check_skipping(struct quads *quads, struct snapshot *snapshot, const bool *model)
{
    static struct quad_oids expected[UNIVERSE];
    const struct quad_oids any = {0};
    struct reason why = {""};
    struct quads_scan *scan;
    size_t count = 0, at = 0, n = 1;
    for (size_t i = 0; i < UNIVERSE; i++) {
        if (model[i]) {
            expected[count++] = universe[i];
        }
    }
    qsort(expected, count, sizeof(*expected), compare_cspo);
    assert_int_equal(quads_scan_open(&scan, quads, snapshot, &any, ORDER_CSPO, &why), STATUS_OK);
    while (n > 0) {
        struct quad_oids found[7];
        assert_int_equal(quads_scan_next(scan, found, 7, &n, &why), STATUS_OK);
        assert_true(n > 0 || at == count);
        for (size_t i = 0; i < n; i++) {
            assert_memory_equal(&found[i], &expected[at++], sizeof(*found));
        }
        const size_t ahead = at + random_number() % (random_number() % 2 ? 5 : 900);
        if (ahead < count) {
            quads_scan_skip(scan, &expected[ahead]);
            at = ahead;
        }
    }
    quads_scan_close(scan);
}

static oid
place_of(const struct quad_oids *quad, unsigned place)
{
    const oid places[] = {quad->subject, quad->predicate, quad->object, quad->graph};
    return places[place];
}

static struct quad_oids
with_place(struct quad_oids pattern, unsigned place, oid value)
{
    oid *const places[] = {&pattern.subject, &pattern.predicate, &pattern.object, &pattern.graph};
    *places[place] = value;
    return pattern;
}

/* Cuts ascend; the ranges between them, each scanned by itself, are all rows, and of about the same
 * size where there are many values. */
static void
check_cuts(struct quads *quads, struct snapshot *snapshot, const bool *model,
           const struct quad_oids *pattern, size_t most)
{
    struct reason why = {""};
    struct quad_cuts cuts = {.count = most};
    size_t expected = 0, total = 0, largest = 0;
    unsigned bound;
    const enum quad_order order = quads_order_for(pattern, &bound);
    assert_int_equal(quads_divide(quads, pattern, ORDER_COUNT, &cuts, &why), STATUS_OK);
    assert_true(cuts.count <= most);
    for (size_t i = 0; i < UNIVERSE; i++) {
        expected += model[i] && matches(&universe[i], pattern);
    }
    for (size_t range = 0; range <= cuts.count; range++) {
        struct quads_scan *scan;
        struct quad_oids found[64];
        size_t n = 1, count = 0;
        assert_true(range < 2 || cuts.values[range - 1] > cuts.values[range - 2]);
        assert_int_equal(quads_scan_open(&scan, quads, snapshot, pattern, order, &why), STATUS_OK);
        if (range > 0) {
            const struct quad_oids first = with_place(*pattern, cuts.place, cuts.values[range - 1]);
            quads_scan_skip(scan, &first);
        }
        if (range < cuts.count) {
            const struct quad_oids end = with_place(*pattern, cuts.place, cuts.values[range]);
            quads_scan_until(scan, &end);
        }
        while (n > 0) {
            assert_int_equal(quads_scan_next(scan, found, 64, &n, &why), STATUS_OK);
            for (size_t i = 0; i < n; i++) {
                const oid value = place_of(&found[i], cuts.place);
                assert_true(range == 0 || value >= cuts.values[range - 1]);
                assert_true(range == cuts.count || value < cuts.values[range]);
            }
            count += n;
        }
        quads_scan_close(scan);
        total += count;
        largest = count > largest ? count : largest;
    }
    assert_int_equal(total, expected);
    if (bound == 0 && expected > UNIVERSE / 3) {
        assert_int_equal(cuts.count, most);
        assert_in_range(largest, expected / (most + 1), 4 * expected / (most + 1));
    }
}

static void
check_divisions(struct quads *quads, struct snapshot *snapshot, const bool *model)
{
    struct reason why = {""};
    struct quad_cuts cuts = {.count = 3};
    const struct quad_oids some = universe[random_number() % UNIVERSE], any = {0};
    check_cuts(quads, snapshot, model, &any, 3);
    check_cuts(quads, snapshot, model, &(struct quad_oids){.predicate = some.predicate}, 5);
    check_cuts(quads, snapshot, model, &(struct quad_oids){.graph = some.graph}, 1);
    check_cuts(quads, snapshot, model, &any, 0);
    assert_int_equal(quads_divide(quads, &some, ORDER_COUNT, &cuts, &why), STATUS_OK);
    assert_int_equal(cuts.count, 0);
    const struct quad_oids of_graph = {.graph = some.graph};
    assert_int_equal(quads_divide(quads, &of_graph, ORDER_SPOC, &cuts, &why), STATUS_UNSUPPORTED);
    cuts.count = QUAD_CUTS + 10;
    assert_int_equal(quads_divide(quads, &any, ORDER_OSPC, &cuts, &why), STATUS_OK);
    assert_in_range(cuts.count, 0, QUAD_CUTS);
    assert_int_equal(cuts.place, 2);
}

/* Exact where there are few; where there are many, not far off. */
static void
check_estimates(struct quads *quads, struct snapshot *snapshot, const bool *model)
{
    struct reason why = {""};
    enum { FEW = 100, TIMES = 5 };
    uint64_t total = 0;
    for (size_t i = 0; i < UNIVERSE; i++) {
        total += model[i];
    }
    for (unsigned mask = 0; mask < 16; mask++) {
        const struct quad_oids some = universe[random_number() % UNIVERSE];
        const struct quad_oids pattern = {
            mask & 1 ? some.subject : OID_NONE, mask & 2 ? some.predicate : OID_NONE,
            mask & 4 ? some.object : OID_NONE, mask & 8 ? some.graph : OID_NONE};
        uint64_t expected = 0, rows = 0;
        for (size_t i = 0; i < UNIVERSE; i++) {
            expected += model[i] && matches(&universe[i], &pattern);
        }
        assert_int_equal(quads_estimate(quads, snapshot, &pattern, total, &rows, &why), STATUS_OK);
        if (mask == 0 || expected <= FEW) {
            assert_int_equal(rows, expected);
        } else {
            assert_in_range(rows, expected / TIMES, expected * TIMES);
        }
    }
}

static void
check_patterns(struct quads *quads, struct snapshot *snapshot, const bool *model)
{
    check_skipping(quads, snapshot, model);
    for (unsigned mask = 0; mask < 16; mask++) {
        struct quad_oids pattern = universe[random_number() % UNIVERSE];
        pattern.subject = mask & 1 ? pattern.subject : OID_NONE;
        pattern.predicate = mask & 2 ? pattern.predicate : OID_NONE;
        pattern.object = mask & 4 ? pattern.object : OID_NONE;
        pattern.graph = mask & 8 ? pattern.graph : OID_NONE;
        check_pattern(quads, snapshot, model, &pattern);
    }
    /* Lookups that come back to the same blocks. */
    const size_t at = random_number() % (UNIVERSE - 8);
    for (size_t i = at; i < at + 8; i++) {
        check_pattern(quads, snapshot, model, &(struct quad_oids){.subject = universe[i].subject});
    }
}

/* The second lookup in a block keeps it, and the next one takes its rows from there. */
static void
check_kept_block(struct quads *quads, struct snapshot *snapshot)
{
    struct reason why = {""};
    for (int times = 0; times < 2; times++) {
        const struct quad_oids pattern = {.subject = universe[0].subject};
        struct quads_scan *scan;
        struct quad_oids found[8];
        size_t n;
        assert_int_equal(quads_scan_open(&scan, quads, snapshot, &pattern, ORDER_SPOC, &why),
                         STATUS_OK);
        quads_scan_remember(scan, recent);
        assert_int_equal(quads_scan_next(scan, found, 8, &n, &why), STATUS_OK);
        quads_scan_close(scan);
    }
    struct row next = {{universe[0].subject}};
    const struct row upper = {{universe[0].subject + 1}};
    struct row_vector rows = {0};
    bool ended;
    assert_true(recent_blocks_take(recent, ORDER_SPOC, &next, &upper, &rows, &ended));
    row_vector_release(&rows);
}

/* A batch that turns about one in `odds` of a run of the universe around. */
static struct change_set *
random_batch(unsigned odds, size_t first, size_t last)
{
    struct quad_change *changes = malloc(UNIVERSE * sizeof(*changes));
    size_t count = 0;
    for (size_t i = first; i < last; i++) {
        if (random_number() % odds == 0) {
            changes[count++] = (struct quad_change){universe[i], present[i]};
            present[i] = !present[i];
        }
    }
    return change_set_new(changes, count);
}

static int
compare_quads(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct quad_oids));
}

/* From any row on the walk gives the rows that come there, also inside a block: blocks may have
 * been merged since the call before. */
static void
check_walks_from(struct quads *quads, struct snapshot *now, enum quad_order order,
                 const struct quad_oids *all, size_t count)
{
    struct row_vector rows = {0};
    for (size_t from = 0; from < count; from += 1 + count / 7) {
        struct row next = row_of(&all[from], order);
        struct reason why = {""};
        if (quads_check(quads, order, now, &next, &rows, &why) != STATUS_OK) {
            fail_msg("%s", why.text);
        }
        assert_in_range(rows.count, 1, count - from);
        for (size_t i = 0; i < rows.count; i++) {
            const struct quad_oids quad = row_quad(&rows.rows[i], order);
            assert_memory_equal(&quad, &all[from + i], sizeof quad);
        }
        const struct row last = row_of(&all[from + rows.count - 1], order);
        assert_true(row_compare(&last, &next) < 0);
    }
    row_vector_release(&rows);
}

/* What verify walks is the set, in each tree. */
static void
check_trees_agree(struct quads *quads, struct snapshots *snapshots)
{
    static struct quad_oids expected[UNIVERSE], got[UNIVERSE];
    size_t count = 0;
    struct row_vector rows = {0};
    struct snapshot *now = snapshot_open(snapshots);
    for (size_t i = 0; i < UNIVERSE; i++) {
        if (present[i]) {
            expected[count++] = universe[i];
        }
    }
    qsort(expected, count, sizeof(expected[0]), compare_quads);
    for (int order = 0; order < ORDER_COUNT; order++) {
        struct reason why;
        size_t n = 0;
        for (struct row next = {{0}}; next.place[0] != UINT64_MAX;) {
            if (quads_check(quads, (enum quad_order)order, now, &next, &rows, &why) != STATUS_OK) {
                fail_msg("%s", why.text);
            }
            assert_true(n + rows.count <= count);
            for (size_t i = 0; i < rows.count; i++) {
                got[n++] = row_quad(&rows.rows[i], (enum quad_order)order);
            }
        }
        assert_int_equal(n, count);
        check_walks_from(quads, now, (enum quad_order)order, got, n);
        qsort(got, n, sizeof(got[0]), compare_quads);
        assert_memory_equal(got, expected, n * sizeof(got[0]));
    }
    snapshot_close(now);
    row_vector_release(&rows);
}

/* Who reads one tree does not wait for who writes another. */
static void
check_latches(struct environment *environment, struct quads *quads, struct snapshot *snapshot)
{
    struct tree *tree = NULL;
    do {
        tree = environment_tree(environment, tree);
        assert_non_null(tree);
    } while (strcmp(tree_name(tree), "quads-spoc") != 0);
    latch_enter_writing(tree_latch(tree));
    const struct quad_oids of_graph = {.graph = universe[0].graph};
    check_pattern(quads, snapshot, present, &of_graph);
    const struct quad_oids of_object = {.object = universe[0].object};
    check_pattern(quads, snapshot, present, &of_object);
    latch_leave(tree_latch(tree));
}

static struct quads_progress progress; /* of what is flushed */

/* Brings the set into the trees, or into one and what was gathered before, or a part of that, into
 * the others; *flushed: all of it. */
static void
apply(struct quads *quads, struct snapshots *snapshots, struct transaction *transaction,
      struct change_set *set, bool gathers, bool *flushed)
{
    struct reason why = {""};
    *flushed = false;
    if (snapshots_flushing(snapshots) != NULL) {
        const size_t most = gathers ? random_number() % (2 * UNIVERSE) : SIZE_MAX;
        assert_int_equal(quads_flush(quads, transaction, snapshots_flushing(snapshots), &progress,
                                     most, flushed, &why),
                         STATUS_OK);
    }
    const enum status status = gathers ? quads_apply_graphs(quads, transaction, set, &why)
                                       : quads_apply(quads, transaction, set, 0, &why);
    if (status != STATUS_OK) {
        fail_msg("%s", why.text);
    }
}

static void
random_batches_agree_with_a_set(void **state)
{
    (void)state;
    make_universe();
    char folder[SCRATCH_SIZE];
    assert_true(scratch_folder(folder, "test_index_quads"));
    struct environment *environment;
    struct reason why = {""};
    const struct environment_options options = {
        .folder = folder, .cache_bytes = 8 << 20, .checkpoint_bytes = 1 << 20};
    assert_int_equal(environment_open(&environment, &options, &why), STATUS_OK);
    struct quads *quads;
    assert_int_equal(quads_open(&quads, environment, &why), STATUS_OK);
    struct snapshots *snapshots = snapshots_new(64 << 20);
    recent = recent_blocks_new();

    static bool models[SNAPSHOTS][UNIVERSE];
    struct snapshot *open[SNAPSHOTS] = {NULL};
    for (int round = 0; round < ROUNDS; round++) {
        const int slot = round % SNAPSHOTS;
        snapshot_close(open[slot]);
        open[slot] = snapshot_open(snapshots);
        memcpy(models[slot], present, sizeof(present));
        const size_t first = round % 3 ? random_number() % UNIVERSE : 0;
        struct change_set *set =
            random_batch(round % 4 ? 1 + random_number() % 20 : 300, first, UNIVERSE);
        const bool gathers = round % 9 != 8;
        bool flushed;
        if (snapshots_gathered_from(snapshots, false) > 0 &&
            (!gathers || (snapshots_flushing(snapshots) == NULL && round % 4 == 2))) {
            snapshots_flush(snapshots);
            progress = (struct quads_progress){0};
            check_patterns(quads, open[slot], models[slot]);
        }
        set->batch = (uint64_t)round + 1;
        snapshots_publish(snapshots, set, gathers);
        check_patterns(quads, open[slot], models[slot]);
        struct transaction *transaction;
        assert_int_equal(transaction_begin(&transaction, environment, 0, &why), STATUS_OK);
        apply(quads, snapshots, transaction, set, gathers, &flushed);
        assert_int_equal(transaction_commit(transaction, &why), STATUS_OK);
        check_patterns(quads, open[slot], models[slot]);
        snapshots_end(snapshots, true, flushed);
        check_trees_agree(quads, snapshots);
        struct snapshot *now = snapshot_open(snapshots);
        check_patterns(quads, now, present);
        const struct quad_oids of_literal = {.subject = oid_stored(11, OID_KIND_STRING)};
        check_pattern(quads, now, present, &of_literal);
        if (round % 6 == 0) {
            check_divisions(quads, now, present);
            check_estimates(quads, now, present);
        }
        check_kept_block(quads, now);
        check_latches(environment, quads, now);
        snapshot_close(now);
        const int other = (int)(random_number() % SNAPSHOTS);
        if (open[other] != NULL) {
            check_patterns(quads, open[other], models[other]);
        }
        assert_int_equal(environment_checkpoint(environment, false, &why), STATUS_OK);
    }
    for (int i = 0; i < SNAPSHOTS; i++) {
        snapshot_close(open[i]);
    }
    snapshots_free(snapshots);
    recent_blocks_free(recent);
    quads_close(quads);
    environment_close(environment);
    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    quads_close(NULL);
    quads_scan_close(NULL);
    recent_blocks_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_batches_agree_with_a_set),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
