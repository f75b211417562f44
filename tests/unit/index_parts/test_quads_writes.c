/* Writing trees of quads (index/quads/quads.c, quads_merge.c) beside a model, over blocks that lie
 * in memory: whatever is changed, blocks hold it, lie inside their fences and are not too large,
 * and whatever fails is told with its tree. The linker puts the functions below in the place of
 * those that write trees. */
#include "tests/unit/index_parts/quads_world.h"
#include "tests/unit/stand_in.h"

static max_align_t transaction_place;
#define TRANSACTION ((struct transaction *)&transaction_place)

static const struct latch *written;
static size_t holds, writes, most_writes; /* of one hold */
static size_t opened;
static size_t built[ORDER_COUNT];
static bool pays, merging;
static struct quads *quads;

/* ---- the trees ---- */

STAND_IN(enum status, tree_open,
         (struct tree * *tree, struct environment *environment, const char *name,
          struct reason *reason))
{
    static const char *const names[] = {"quads-spoc", "quads-pocs", "quads-ocsp",
                                        "quads-cspo", "quads-cpos", "quads-ospc"};
    assert_null(environment);
    TRY(may_fail(reason));
    for (int order = 0; order < ORDER_COUNT; order++) {
        if (strcmp(name, names[order]) == 0) {
            *tree = __wrap_quads_tree(NULL, (enum quad_order)order);
            opened++;
            return STATUS_OK;
        }
    }
    fail_msg("no such tree: %s", name);
    return STATUS_MISUSE;
}

STAND_IN(void, tree_close, (struct tree * tree))
{
    opened -= tree != NULL;
}

STAND_IN(uint32_t, tree_pages, (struct tree * tree))
{
    assert_int_equal(tree_of(tree), ORDER_POCS);
    return 7;
}

STAND_IN(void, latch_enter_writing, (struct latch * latch))
{
    assert_false(latched);
    latched = true;
    written = latch;
    holds++;
    writes = 0;
}

static void
note_write(const struct fence_cursor *cursor)
{
    assert_ptr_equal(cursor->transaction, TRANSACTION);
    if (!merging) { /* whoever merges has locked the tree */
        assert_true(latched);
        assert_ptr_equal(written, cursor->tree);
    }
    writes++;
    most_writes = writes > most_writes ? writes : most_writes;
}

static void
insert(size_t order, size_t at, struct slice fence, struct slice bytes)
{
    memmove(&blocks[order][at + 1], &blocks[order][at],
            (block_counts[order] - at) * sizeof blocks[order][0]);
    block_counts[order]++;
    assert_in_range(block_counts[order], 1, QUADS);
    struct block *block = &blocks[order][at];
    memcpy(block->fence, fence.at, fence.length);
    block->fence_length = fence.length;
    memcpy(block->bytes, bytes.at, bytes.length);
    block->length = bytes.length;
}

static void
take_out(size_t order, size_t at)
{
    assert_true(at < block_counts[order]);
    block_counts[order]--;
    memmove(&blocks[order][at], &blocks[order][at + 1],
            (block_counts[order] - at) * sizeof blocks[order][0]);
}

STAND_IN(enum status, fence_emit,
         (struct fence_cursor * cursor, struct slice fence, struct slice block,
          struct reason *reason))
{
    note_write(cursor);
    TRY(may_fail(reason));
    assert_in_range(block.length, ROWS_HEADER + 1, BLOCK_MAXIMUM);
    insert(tree_of(cursor->tree), current++, fence, block);
    return STATUS_OK;
}

STAND_IN(enum status, fence_finish,
         (struct fence_cursor * cursor, struct slice block, struct reason *reason))
{
    const size_t order = tree_of(cursor->tree);
    note_write(cursor);
    TRY(may_fail(reason));
    assert_in_range(block.length, 0, BLOCK_MAXIMUM);
    if (cursor->stored) {
        take_out(order, current);
    }
    if (block.length > 0) {
        insert(order, current, slice_of((const char *)cursor->fence, cursor->fence_length), block);
    }
    return STATUS_OK;
}

STAND_IN(enum status, tree_delete,
         (struct tree * tree, struct transaction *transaction, struct slice key,
          struct reason *reason))
{
    const size_t order = tree_of(tree);
    size_t at = 0;
    assert_ptr_equal(transaction, TRANSACTION);
    TRY(may_fail(reason));
    while (at < block_counts[order] &&
           !slice_equal(key, slice_of((const char *)blocks[order][at].fence,
                                      blocks[order][at].fence_length))) {
        at++;
    }
    take_out(order, at);
    current -= at < current;
    return STATUS_OK;
}

STAND_IN(enum status, quads_build_pays,
         (struct quads * trees, enum quad_order order, const struct change_set *set, bool *pays_off,
          struct reason *reason))
{
    assert_non_null(trees);
    assert_true(set->count > 0 && order < ORDER_COUNT);
    *pays_off = pays;
    return may_fail(reason);
}

STAND_IN(enum status, quads_build,
         (struct quads * trees, enum quad_order order, struct transaction *transaction,
          const struct change_set *set, struct reason *reason))
{
    assert_non_null(trees);
    assert_ptr_equal(transaction, TRANSACTION);
    built[order] += set->count;
    return may_fail(reason);
}

/* ---- the model ---- */

static int
begin(void **state)
{
    wide_values = false;
    written = NULL;
    opened = holds = most_writes = 0;
    memset(built, 0, sizeof built);
    pays = merging = false;
    (void)begin_quads(state);
    assert_int_equal(quads_open(&quads, NULL, &why), STATUS_OK);
    assert_int_equal(opened, ORDER_COUNT);
    return 0;
}

static int
begin_wide(void **state)
{
    (void)begin(state);
    wide_values = true;
    fill_universe();
    return 0;
}

static int
end(void **state)
{
    quads_close(quads);
    quads_close(NULL);
    assert_int_equal(opened, 0);
    return end_quads(state);
}

/* A tree has the rows of a state, in blocks that keep their fences. */
static void
expect_tree(enum quad_order order, const bool *state)
{
    const struct quad_oids all = {0};
    struct row expected[QUADS], rows[ROWS_BLOCK_MOST];
    const size_t count = expected_rows(state, order, &all, NULL, NULL, expected);
    size_t at = 0;
    for (size_t i = 0; i < block_counts[order]; i++) {
        const struct block *block = &blocks[order][i];
        size_t n = 0;
        assert_int_equal(rows_read(order, block->bytes, block->length, rows, &n, &why), STATUS_OK);
        assert_true(n > 0);
        for (size_t k = 0; k < n; k++, at++) {
            assert_true(at < count && row_compare(&rows[k], &expected[at]) == 0);
        }
        assert_true(block->fence[0] == 0xff ||
                    row_within(&rows[n - 1], block->fence, block->fence_length));
        assert_true(i == 0 || !row_within(&rows[0], block[-1].fence, block[-1].fence_length));
    }
    assert_int_equal(at, count);
}

static void
make_state(bool *state, const bool *like, uint64_t density)
{
    for (size_t i = 0; i < QUADS; i++) {
        state[i] = density == 0   ? false
                   : density == 1 ? true
                   : like != NULL ? (next_chance(density) == 0 ? !like[i] : like[i])
                                  : next_chance(density) == 0;
    }
}

/* Two states, the trees being of the first. */
static void
make_states(unsigned round)
{
    make_state(states[0], NULL, round % 6);
    make_state(states[1], round % 4 == 0 ? NULL : states[0], round / 6 % 5 * (round % 4 + 1));
    for (int order = 0; order < ORDER_COUNT; order++) {
        build((enum quad_order)order, states[0], 1 + next_chance(30));
    }
}

/* ---- applying ---- */

enum { ROUNDS = 90 };

static void
trees_hold_what_was_applied(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        make_states(round);
        struct change_set *set = difference(states[0], states[1]);
        assert_int_equal(quads_apply(quads, TRANSACTION, set, 0, &why), STATUS_OK);
        assert_false(latched);
        for (int order = 0; order < ORDER_COUNT; order++) {
            expect_tree((enum quad_order)order, states[1]);
        }
        change_set_free(set);
    }
    assert_in_range(most_writes, LATCH_BLOCKS, LATCH_BLOCKS + 16);
    assert_int_equal(quads_blocks(quads), 28);
}

static void
gathered_changes_come_in_steps(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        make_states(round);
        struct change_set *set = difference(states[0], states[1]);
        struct quads_progress progress = {0};
        bool ends = false;
        assert_int_equal(quads_apply_graphs(quads, TRANSACTION, set, &why), STATUS_OK);
        for (int order = 0; order < ORDER_COUNT; order++) {
            expect_tree((enum quad_order)order, states[order == ORDER_CSPO]);
        }
        size_t steps = 0;
        for (; !ends; steps++) {
            const size_t most = round % 3 == 0 ? SIZE_MAX : 1 + next_chance(20);
            const struct quads_progress before = progress;
            assert_int_equal(quads_flush(quads, TRANSACTION, set, &progress, most, &ends, &why),
                             STATUS_OK);
            assert_int_equal(ends, progress.order == ORDER_COUNT);
            assert_true(progress.order > before.order || progress.next > before.next);
            assert_true(ends || progress.next < set->count);
        }
        assert_true(round % 3 > 0 || steps == 1);
        for (int order = 0; order < ORDER_COUNT; order++) {
            expect_tree((enum quad_order)order, states[1]);
        }
        change_set_free(set);
    }
}

/* Of the quads in the order of a tree, those that a function chooses. */
static void
choose(bool *state, bool (*chosen)(size_t at))
{
    struct row rows[QUADS];
    bool all[QUADS];
    const struct quad_oids any = {0};
    memset(all, true, sizeof all);
    (void)expected_rows(all, ORDER_SPOC, &any, NULL, NULL, rows);
    for (size_t i = 0; i < QUADS; i++) {
        const struct row row = row_of(&universe[i], ORDER_SPOC);
        size_t at = 0;
        while (row_compare(&rows[at], &row) != 0) {
            at++;
        }
        state[i] = chosen(at);
    }
}

static size_t few; /* rows of one block */

static bool
first_ones(size_t at)
{
    return at < few;
}

static bool
some_more(size_t at)
{
    return at < few + 8;
}

static bool
every_other(size_t at)
{
    return at % 2 == 0 && at < 2 * few;
}

static bool
some_between(size_t at)
{
    return every_other(at) || (at < few && at % 4 == 1);
}

static bool
each_one(size_t at)
{
    return at < QUADS;
}

static void
apply_chosen(bool (*old)(size_t at), bool (*new)(size_t at))
{
    choose(states[0], old);
    choose(states[1], new);
    for (int order = 0; order < ORDER_COUNT; order++) {
        do { /* one block */
            build((enum quad_order)order, states[0], few);
        } while (block_counts[order] > 1 && order == ORDER_SPOC);
    }
    struct change_set *set = difference(states[0], states[1]);
    assert_int_equal(quads_apply(quads, TRANSACTION, set, 0, &why), STATUS_OK);
    change_set_free(set);
    expect_tree(ORDER_SPOC, states[1]);
}

/* Blocks that grow at their end stay full, others are halved, and many rows fill blocks. */
static void
blocks_are_cut_where_they_will_grow(void **state)
{
    (void)state;
    enum { NEARLY = BLOCK_MAXIMUM - ROW_BYTES_MOST };
    const struct block *of = blocks[ORDER_SPOC];
    few = 1;
    do {
        few++;
        apply_chosen(first_ones, some_more);
    } while (block_counts[ORDER_SPOC] < 2);
    assert_in_range(of[0].length, NEARLY, BLOCK_MAXIMUM);
    assert_in_range(of[1].length, 1, BLOCK_MAXIMUM / 2);
    few = 1;
    do {
        few++;
        apply_chosen(every_other, some_between);
    } while (block_counts[ORDER_SPOC] < 2);
    assert_int_equal(block_counts[ORDER_SPOC], 2);
    assert_in_range(of[0].length, BLOCK_MAXIMUM / 2 - ROW_BYTES_MOST,
                    BLOCK_MAXIMUM / 2 + ROW_BYTES_MOST);
    assert_in_range(of[1].length, BLOCK_MAXIMUM / 2 - 2 * ROW_BYTES_MOST,
                    BLOCK_MAXIMUM / 2 + ROW_BYTES_MOST);
    few = 4;
    apply_chosen(every_other, each_one);
    assert_in_range(block_counts[ORDER_SPOC], 4, 20);
    for (size_t i = 0; i + 1 < block_counts[ORDER_SPOC]; i++) {
        assert_in_range(of[i].length, NEARLY, BLOCK_MAXIMUM);
    }
}

/* Many changes write a tree anew, if that costs less. */
static void
many_changes_build_trees(void **state)
{
    (void)state;
    make_states(2);
    make_state(states[1], states[0], 2);
    struct change_set *set = difference(states[0], states[1]);
    assert_true(set->count > 1);
    const struct {
        size_t from;
        bool pays, builds;
    } cases[] = {{0, true, false},
                 {set->count + 1, true, false},
                 {set->count, false, false},
                 {set->count, true, true},
                 {1, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memset(built, 0, sizeof built);
        for (int order = 0; order < ORDER_COUNT; order++) {
            build((enum quad_order)order, states[0], 9);
        }
        pays = cases[i].pays;
        assert_int_equal(quads_apply(quads, TRANSACTION, set, cases[i].from, &why), STATUS_OK);
        for (int order = 0; order < ORDER_COUNT; order++) {
            assert_int_equal(built[order], cases[i].builds ? set->count : 0);
            expect_tree((enum quad_order)order, states[!cases[i].builds]);
        }
    }
    /* Each tree's failure is told. */
    for (failing = 1; failing <= 12; failing++) {
        call = 0;
        assert_int_equal(quads_apply(quads, TRANSACTION, set, 1, &why), STATUS_SYSTEM);
        char text[64];
        static const char *const names[] = {"spoc", "pocs", "ocsp", "cspo", "cpos", "ospc"};
        snprintf(text, sizeof text, "tree quads-%s: call %u", names[(failing - 1) / 2], failing);
        assert_string_equal(why.text, failing % 2 == 0 ? text : strchr(text, ':') + 2);
    }
    failing = 0;
    change_set_free(set);
}

static void
writes_can_fail(void **state)
{
    (void)state;
    make_states(2);
    make_state(states[1], states[0], 3);
    struct change_set *set = difference(states[0], states[1]);
    for (unsigned kind = 0; kind < 3; kind++) {
        unsigned calls = 0;
        for (failing = 0; failing <= calls; failing += 1 + calls / 40) {
            for (int order = 0; order < ORDER_COUNT; order++) {
                chance = (uint64_t)order;
                build((enum quad_order)order, states[0], 12);
            }
            struct quads_progress progress = {0};
            bool ends;
            call = 0;
            const enum status status =
                kind == 0 ? quads_apply(quads, TRANSACTION, set, 0, &why)
                : kind == 1
                    ? quads_apply_graphs(quads, TRANSACTION, set, &why)
                    : quads_flush(quads, TRANSACTION, set, &progress, SIZE_MAX, &ends, &why);
            assert_false(latched);
            assert_int_equal(open_cursors, 0);
            if (failing == 0) {
                assert_int_equal(status, STATUS_OK);
                calls = call;
            } else {
                assert_int_equal(status, STATUS_SYSTEM);
                assert_ptr_equal(strstr(why.text, "tree quads-"), why.text);
                assert_int_equal(call, failing);
            }
        }
    }
    change_set_free(set);
    /* One that cannot be opened closes those before it. */
    quads_close(quads);
    for (failing = 1; failing <= ORDER_COUNT; failing++) {
        call = 0;
        assert_int_equal(quads_open(&quads, NULL, &why), STATUS_SYSTEM);
        assert_null(quads);
        assert_int_equal(opened, 0);
    }
    failing = 0;
}

/* ---- merging ---- */

static bool
fit_together(enum quad_order order, const struct block *pair)
{
    struct row rows[2 * ROWS_BLOCK_MOST];
    uint8_t bytes[BLOCK_MAXIMUM + ROW_BYTES_MOST];
    struct rows_writer writer;
    size_t first = 0, second = 0;
    bool fits = pair[0].length + pair[1].length <= BLOCK_MAXIMUM;
    assert_int_equal(rows_read(order, pair[0].bytes, pair[0].length, rows, &first, &why),
                     STATUS_OK);
    assert_int_equal(rows_read(order, pair[1].bytes, pair[1].length, rows + first, &second, &why),
                     STATUS_OK);
    rows_begin(&writer, order, bytes, BLOCK_MAXIMUM);
    for (size_t i = 0; i < first + second; i++) {
        fits = fits && rows_add(&writer, &rows[i]);
    }
    return fits;
}

static void
thin_blocks_are_merged(void **state)
{
    (void)state;
    merging = true;
    for (unsigned round = 0; round < ROUNDS; round++) {
        make_states(round);
        for (int order = 0; order < ORDER_COUNT; order++) {
            uint8_t key[TREE_KEY_MAXIMUM];
            size_t length = 0, steps = 0;
            const size_t before = block_counts[order];
            for (bool ends = false; !ends; steps++) {
                assert_int_equal(quads_merge_step(quads, (enum quad_order)order, TRANSACTION, key,
                                                  &length, &ends, &why),
                                 STATUS_OK);
                assert_in_range(steps, 0, QUADS);
            }
            assert_true(steps >= before / (4 * LATCH_BLOCKS + 1));
            expect_tree((enum quad_order)order, states[0]);
            for (size_t i = 1; i < block_counts[order]; i++) {
                assert_false(fit_together((enum quad_order)order, &blocks[order][i - 1]));
            }
        }
    }
    /* Whatever fails, no row is lost. */
    make_states(1);
    unsigned calls = 0;
    for (failing = 0; failing <= calls; failing++) {
        uint8_t key[TREE_KEY_MAXIMUM];
        size_t length = 0;
        bool ends = false;
        chance = 1;
        build(ORDER_SPOC, states[0], 12);
        call = 0;
        assert_int_equal(
            quads_merge_step(quads, ORDER_SPOC, TRANSACTION, key, &length, &ends, &why),
            failing == 0 ? STATUS_OK : STATUS_SYSTEM);
        calls = failing == 0 ? call : calls;
        assert_int_equal(open_cursors, 0);
    }
    failing = 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
#define WIDE_CASE(name)                                    \
    {                                                      \
#name " of wide rows", name, begin_wide, end, NULL \
    }

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(trees_hold_what_was_applied),
        WIDE_CASE(trees_hold_what_was_applied),
        CASE(gathered_changes_come_in_steps),
        WIDE_CASE(gathered_changes_come_in_steps),
        WIDE_CASE(blocks_are_cut_where_they_will_grow),
        CASE(many_changes_build_trees),
        CASE(writes_can_fail),
        WIDE_CASE(writes_can_fail),
        CASE(thin_blocks_are_merged),
        WIDE_CASE(thin_blocks_are_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
