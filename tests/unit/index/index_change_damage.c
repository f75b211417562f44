/* Pieces of the change log made by hand, by index/FORMAT.md: which are taken and which are refused,
 * and what is said of them. Batches found by their number and time, those that may not go, and how
 * often the writer lets readers in. */
#include "tests/unit/index/index_change_log.h"
#include "tests/unit/index/index_fixture.h"

/* One row, four times number 1 of kind IRI: 5 bytes and the codec; the same with 2 in the last
 * place behind it. */
#define ROW "\x01\x00\x45\x07\x45\x07"
#define ONE "\x01\x86\x00" ROW

static const struct {
    const char *what;
    struct slice pieces[3]; /* of the second of three batches; NULL: not there */
    enum status status;
    const char *why;
} damages[] = {
#define BYTES(text)            \
    {                          \
        text, sizeof(text) - 1 \
    }
    {"one row that was added",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES(ONE "\x00\x07")},
     STATUS_OK,
     ""},
    {"one row that was removed",
     {BYTES("\x01\x02\x01\x01\x00"), BYTES(ONE "\x01\x07")},
     STATUS_OK,
     ""},
    {"two rows in two pieces",
     {BYTES("\x01\x02\x01\x01\x01"), BYTES(ONE "\x01\x07"),
      BYTES("\x01\x86\x00\x01\x00\x45\x07\x45\x47\x00\x07")},
     STATUS_OK,
     ""},
    {"the same row twice",
     {BYTES("\x01\x02\x01\x01\x01"), BYTES(ONE "\x01\x07"), BYTES(ONE "\x00\x07")},
     STATUS_CORRUPT,
     "rows of batch 2 do not ascend"},
    {"rows that descend",
     {BYTES("\x01\x02\x01\x01\x01"), BYTES("\x01\x86\x00\x01\x00\x45\x07\x45\x47\x01\x07"),
      BYTES(ONE "\x00\x07")},
     STATUS_CORRUPT,
     "rows of batch 2 do not ascend"},
    {"another sign than the head counts",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES(ONE "\x01\x07")},
     STATUS_CORRUPT,
     "batch 2 has other counts"},
    {"the head is not there", {{NULL, 0}, BYTES(ONE "\x00\x07")}, STATUS_STALE, "after batch 1 "},
    {"the head counts more",
     {BYTES("\x01\x02\x01\x00\x02"), BYTES(ONE "\x00\x07")},
     STATUS_STALE,
     "after batch 1 "},
    {"the head counts less",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES("\x01\x87\x00" ROW "\xc1\x00\x07")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"the head has another codec",
     {BYTES("\x02\x02\x01\x00\x01"), BYTES(ONE "\x00\x07")},
     STATUS_CORRUPT,
     "batch 2, piece 0: bad codec"},
    {"the head is cut off",
     {BYTES("\x01\x02\x01\x00"), BYTES(ONE "\x00\x07")},
     STATUS_CORRUPT,
     "the head of batch 2 is malformed"},
    {"the head is longer",
     {BYTES("\x01\x02\x01\x00\x01\x00"), BYTES(ONE "\x00\x07")},
     STATUS_CORRUPT,
     "the head of batch 2 is malformed"},
    {"the head has only three bytes",
     {BYTES("\x01\x02\x01"), BYTES(ONE "\x00\x07")},
     STATUS_CORRUPT,
     "batch 2, piece 0: bad codec"},
    {"another stamp before",
     {BYTES("\x01\x02\x07\x00\x01"), BYTES(ONE "\x00\x07")},
     STATUS_STALE,
     "history"},
    {"a piece with another codec",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES("\x02\x86\x00" ROW "\x00\x07")},
     STATUS_CORRUPT,
     "batch 2, piece 1: bad codec"},
    {"rows longer than the piece",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES("\x01\x89\x00" ROW "\x00\x07")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"no end of the rows' length",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES("\x01\x86\x86\x86")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"rows of no bytes",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES("\x01\x80\x80\x00")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"rows of another codec",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES("\x01\x86\x00\x02\x00\x45\x07\x45\x07\x00\x07")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"no signs",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES(ONE)},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"no generation",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES(ONE "\x00")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"a generation that is cut off",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES(ONE "\x00\x87")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
    {"more than generations",
     {BYTES("\x01\x02\x01\x00\x01"), BYTES(ONE "\x00\x07\x07")},
     STATUS_CORRUPT,
     "batch 2, piece 1: malformed"},
};

static void
damaged_pieces_are_refused(void **state)
{
    struct change_log_fixture log;
    (void)state;
    change_log_fixture_make(&log, 3);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct reason why = {""};
        uint64_t batches;
        for (uint32_t piece = 0; piece < 3; piece++) {
            change_log_put_piece(&log, 2, piece, damages[i].pieces[piece]);
        }
        const enum status status = change_log_check(log.log, &batches, &why);
        if (status != damages[i].status || strstr(why.text, damages[i].why) == NULL) {
            fail_msg("%s: %s: %s", damages[i].what, status_name(status), why.text);
        }
        assert_int_equal(batches, status == STATUS_OK ? 3 : 1);
    }
    change_log_fixture_remove(&log);
}

/* ---- more batches ---- */

static void
open_with_limit(struct change_log_fixture *log, uint64_t limit)
{
    struct reason why = {""};
    change_log_close(log->log);
    must(change_log_open(&log->log, log->environment, log->statistics, limit, log->batches, &why),
         &why);
}

/* Appends one row for each of so many subjects, those of graphs 1, 2 and so on in turn. */
static void
append_rows(struct change_log_fixture *log, size_t rows, size_t graphs,
            const struct graph_generation *generations, size_t count)
{
    struct reason why = {""};
    struct transaction *transaction;
    struct quad_change *changes = calloc(rows, sizeof *changes);
    for (size_t i = 0; i < rows; i++) {
        changes[i].quad = (struct quad_oids){
            oid_stored(1 + i, OID_KIND_IRI), oid_stored(1, OID_KIND_IRI),
            oid_stored(1, OID_KIND_IRI), oid_stored(1 + i * graphs / rows, OID_KIND_IRI)};
    }
    const struct change_set set = {.changes = changes, .count = rows};
    must(transaction_begin(&transaction, log->environment, 1 << 24, &why), &why);
    must(change_log_append(log->log, transaction, &set, generations, count, &why), &why);
    must(transaction_commit(transaction, &why), &why);
    change_log_committed(log->log);
    log->batches++;
    free(changes);
}

static uint64_t
first_of(const struct change_log_fixture *log)
{
    struct change_position last;
    uint64_t first;
    change_log_state(log->log, &last, &first);
    assert_int_equal(last.batch, log->batches);
    return first + 1;
}

static void
expect_after(const struct change_log_fixture *log, uint64_t wall_ms, uint64_t batch)
{
    struct reason why = {""};
    uint64_t found = 0;
    must(change_log_after(log->log, wall_ms, &found, &why), &why);
    assert_int_equal(found, batch);
}

/* Batches 3 to 7 are there; the first six have their number as their stamp. */
static void
check_numbers(const struct change_log_fixture *log)
{
    struct reason why = {""};
    struct change_reader *reader;
    struct change_batch batch;
    for (uint64_t number = 1; number <= 9; number++) {
        const bool there = number >= 3 && number <= 7;
        assert_int_equal(change_reader_open_at(&reader, log->log, number, &why),
                         there ? STATUS_OK : STATUS_CORRUPT);
        if (there) {
            must(change_reader_batch(reader, &batch, &why), &why);
            assert_int_equal(batch.position.batch, number);
            assert_int_equal(batch.previous.batch, number - 1);
        } else {
            char told[32];
            snprintf(told, sizeof told, "batch %u is not there", (unsigned)number);
            assert_non_null(strstr(why.text, told));
            assert_null(reader);
        }
        change_reader_close(reader);
    }
    for (uint64_t stamp = 0; stamp <= 7; stamp++) {
        expect_after(log, stamp, stamp < 2 ? 3 : stamp < 7 ? stamp + 1 : 7);
    }
    expect_after(log, UINT64_MAX, 8);
}

static void
batches_are_found_by_number_and_time_and_stay_as_long_as_they_have_to(void **state)
{
    struct change_log_fixture log;
    struct reason why = {""};
    uint64_t found;
    (void)state;
    change_log_fixture_make(&log, 0);
    expect_after(&log, 0, 1);
    change_log_fixture_remove(&log);
    change_log_fixture_make(&log, 6);
    assert_int_equal(first_of(&log), 1);
    open_with_limit(&log, 96); /* three rows may be in it, and of six batches hardly two */
    change_log_keep(log.log, 3);
    append_rows(&log, 3, 1, NULL, 0);
    assert_int_equal(first_of(&log), 3);
    check_numbers(&log);
    /* No stamp that can be read, and no batch at all, where one is looked for. */
    change_log_put_piece(&log, 5, 0, SLICE("\x01\xff\xff\xff"));
    assert_int_equal(change_log_after(log.log, 4, &found, &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, "batch 5 has no stamp"));
    change_log_put_piece(&log, 5, 0, SLICE("\x02\x05\x04\x00\x03"));
    assert_int_equal(change_log_after(log.log, 4, &found, &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, "bad codec"));
    change_log_put_piece(&log, 5, 0, SLICE(""));
    assert_int_equal(change_log_after(log.log, 4, &found, &why), STATUS_STALE);
    change_log_put_piece(&log, 5, 0, SLICE("\x01\x05\x04\x00\x03"));
    expect_after(&log, 4, 5);
    append_rows(&log, 3, 1, NULL, 0);
    assert_int_equal(first_of(&log), 3);
    change_log_keep(log.log, 4);
    append_rows(&log, 3, 1, NULL, 0);
    assert_int_equal(first_of(&log), 4);
    change_log_keep(log.log, 0);
    append_rows(&log, 3, 1, NULL, 0);
    assert_in_range(first_of(&log), 9, 10);
    change_log_fixture_remove(&log);
}

static void
a_log_holds_changes_by_its_limit(void **state)
{
    struct change_log_fixture log;
    (void)state;
    change_log_fixture_make(&log, 0);
    for (uint64_t limit = 63; limit <= 65; limit++) {
        open_with_limit(&log, limit);
        assert_true(change_log_holds(log.log, 0) && change_log_holds(log.log, 1));
        assert_int_equal(change_log_holds(log.log, 2), limit >= 64);
        assert_false(change_log_holds(log.log, 3));
    }
    change_log_fixture_remove(&log);
}

/* Generations are told of graphs in their order, also of those that have no row. */
static void
generations_are_those_of_their_graphs(void **state)
{
    enum { GRAPHS = 6, ROWS = 4 * GRAPHS, TOLD = 2 * GRAPHS };
    static struct change_block block;
    struct graph_generation generations[TOLD];
    (void)state;
    for (size_t i = 0; i < TOLD; i++) { /* every other kind is of no row */
        generations[i] = (struct graph_generation){
            oid_stored(1 + i / 2, i % 2 == 0 ? OID_KIND_IRI : OID_KIND_BLANK), 100 + 100 * i};
    }
    for (size_t count = TOLD - 1; count <= TOLD; count++) {
        struct change_log_fixture log;
        struct reason why = {""};
        struct change_reader *reader;
        struct change_batch batch;
        change_log_fixture_make(&log, 0);
        append_rows(&log, ROWS, GRAPHS, generations, count);
        must(change_reader_open_at(&reader, log.log, 1, &why), &why);
        must(change_reader_batch(reader, &batch, &why), &why);
        must(change_reader_block(reader, &block, &why), &why);
        assert_int_equal(block.count, ROWS);
        for (size_t i = 0; i < ROWS; i++) {
            assert_int_equal(block.generations[i], generations[i / 4 * 2].generation);
        }
        change_reader_close(reader);
        change_log_fixture_remove(&log);
    }
}

/* ---- turns ---- */

static struct latch *watched; /* counted alone; NULL: none is */
static size_t entered, left;

void __real_latch_enter_writing(struct latch *latch);
void __wrap_latch_enter_writing(struct latch *latch);
void
__wrap_latch_enter_writing(struct latch *latch)
{
    entered += watched != NULL && latch == watched;
    __real_latch_enter_writing(latch);
}

void __real_latch_leave(struct latch *latch);
void __wrap_latch_leave(struct latch *latch);
void
__wrap_latch_leave(struct latch *latch)
{
    left += watched != NULL && latch == watched;
    __real_latch_leave(latch);
}

static void
append_watched(struct change_log_fixture *log, size_t rows, size_t turns)
{
    struct tree *tree = environment_tree(log->environment, NULL);
    while (strcmp(tree_name(tree), "changes") != 0) {
        tree = environment_tree(log->environment, tree);
    }
    entered = left = 0;
    watched = tree_latch(tree);
    append_rows(log, rows, 1, NULL, 0);
    watched = NULL;
    assert_int_equal(entered, turns);
    assert_int_equal(left, turns);
}

/* A reader waits for 16 pieces at most, whether they come or go. Of a batch that is too large
 * nothing is written. */
static void
readers_have_a_turn_after_sixteen_pieces(void **state)
{
    enum { ROWS = 50000 };
    static struct change_block block;
    struct change_log_fixture log;
    struct reason why = {""};
    struct change_reader *reader;
    struct change_batch batch;
    size_t pieces = 1; /* the head */
    (void)state;
    change_log_fixture_make(&log, 0);
    append_rows(&log, ROWS, 1, NULL, 0);
    must(change_reader_open_at(&reader, log.log, 1, &why), &why);
    must(change_reader_batch(reader, &batch, &why), &why);
    while (change_reader_block(reader, &block, &why) == STATUS_OK) {
        pieces++;
    }
    change_reader_close(reader);
    change_log_fixture_remove(&log);
    assert_true(pieces > 32);
    change_log_fixture_make(&log, 0);
    open_with_limit(&log, pieces * 1000);
    append_watched(&log, ROWS, 1 + pieces / 16);
    assert_int_equal(first_of(&log), 1);
    append_watched(&log, 2 * ROWS, 1 + (pieces + 15) / 16);
    assert_int_equal(first_of(&log), 3); /* none is there */
    append_watched(&log, 2 * ROWS, 1);
    assert_int_equal(first_of(&log), 4);
    change_log_fixture_remove(&log);
}

int
index_change_damage_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_pieces_are_refused),
        cmocka_unit_test(batches_are_found_by_number_and_time_and_stay_as_long_as_they_have_to),
        cmocka_unit_test(a_log_holds_changes_by_its_limit),
        cmocka_unit_test(generations_are_those_of_their_graphs),
        cmocka_unit_test(readers_have_a_turn_after_sixteen_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
