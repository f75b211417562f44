/* How changes are gathered and brought into the trees (index/write/gathering.c): the linker puts
 * the functions below where the stores would be. Each writes down what is asked of it, and one of
 * them fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "index/write/gathering.h"
#include "index/write/partition_state.h"
#include "tests/unit/stand_in.h"

enum { CALLS_ROOM = 1024, BUILD_FROM = 321, BATCHES = 41 };

static struct world {
    struct partition partition;
    char calls[CALLS_ROOM];
    const char *fails; /* the call that fails, with this status */
    enum status status;
    size_t gathered, holds;
    uint64_t blocks, from, from_flushed; /* batches; flushed: of what is not being flushed */
    bool flushing, ends;                 /* ends: a flush comes to its end */
    struct quads_progress progress;      /* with which a flush goes on */
    uint64_t record;                     /* as read */
    int batch, block, last_batch, last_block;
    struct change_set set, flushed_set; /* the commit's, and what is flushed */
    char things[8];                     /* whose addresses stand for stores */
} world;

#define THING(type, i) ((type *)(void *)&world.things[i])
#define TRANSACTION THING(struct transaction, 0)
#define READER THING(struct change_reader, 1)

__attribute__((format(printf, 1, 2))) static void
called(const char *format, ...)
{
    const size_t length = strlen(world.calls);
    va_list arguments;
    assert_true(length + 64 < CALLS_ROOM);
    strcat(world.calls, length > 0 ? " " : "");
    va_start(arguments, format);
    (void)vsnprintf(strchr(world.calls, '\0'), 60, format, arguments);
    va_end(arguments);
}

static enum status
outcome(const char *name, struct reason *why)
{
    return strcmp(world.fails, name) == 0 ? status_fail(why, world.status, "%s failed", name)
                                          : STATUS_OK;
}

#define EVENT(name, parameters, store, expected, text) \
    STAND_IN(void, name, parameters)                   \
    {                                                  \
        assert_ptr_equal(store, expected);             \
        called(text);                                  \
    }

/* ---- the record and the log ---- */

static void
check_record(struct tree *tree, struct slice key, size_t n)
{
    assert_ptr_equal(tree, world.partition.statistics);
    assert_true(slice_is(key, "G"));
    assert_int_equal(n, 1);
}

STAND_IN(enum status, statistics_read,
         (struct tree * tree, struct slice key, uint64_t *numbers, size_t n, struct reason *why))
{
    check_record(tree, key, n);
    called("read");
    TRY(outcome("read", why));
    *numbers = world.record;
    return STATUS_OK;
}

STAND_IN(enum status, statistics_write,
         (struct tree * tree, struct transaction *transaction, struct slice key,
          const uint64_t *numbers, size_t n, struct reason *why))
{
    check_record(tree, key, n);
    assert_ptr_equal(transaction, TRANSACTION);
    called("write %u", (unsigned)*numbers);
    return outcome("write", why);
}

STAND_IN(struct latch *, tree_latch, (struct tree * tree))
{
    return THING(struct latch, tree == world.partition.statistics ? 6 : 7);
}

EVENT(latch_enter_writing, (struct latch * latch), latch, THING(struct latch, 6), "[")
EVENT(latch_leave, (struct latch * latch), latch, THING(struct latch, 6), "]")

STAND_IN(void, change_log_keep, (struct change_log * log, uint64_t batch))
{
    assert_ptr_equal(log, world.partition.change_log);
    called("keep %u", (unsigned)batch);
}

STAND_IN(bool, change_log_holds, (const struct change_log *log, size_t changes))
{
    assert_ptr_equal(log, world.partition.change_log);
    return changes <= world.holds;
}

STAND_IN(enum status, change_reader_open_at,
         (struct change_reader * *reader, struct change_log *log, uint64_t batch,
          struct reason *why))
{
    assert_ptr_equal(log, world.partition.change_log);
    called("open %u", (unsigned)batch);
    *reader = READER;
    return outcome("open", why);
}

EVENT(change_reader_close, (struct change_reader * reader), reader, READER, "close")

/* Batches 1 to 5, each of as many blocks less one. */
STAND_IN(enum status, change_reader_batch,
         (struct change_reader * reader, struct change_batch *batch, struct reason *why))
{
    char name[16];
    assert_ptr_equal(reader, READER);
    if (world.batch == world.last_batch) {
        return STATUS_END;
    }
    world.batch++;
    world.block = 0;
    snprintf(name, sizeof name, "batch %d", world.batch);
    *batch = (struct change_batch){.position = {.batch = (uint64_t)world.batch + 100}};
    return outcome(name, why);
}

static oid
place_of(int batch, int block, size_t i, int place)
{
    return (oid)batch << 40 | (oid)block << 24 | (oid)i << 4 | (oid)place;
}

/* Each block has 300 rows but the last of a batch, which has some. */
static size_t
rows_of(int batch, int block)
{
    return block < batch - 1 ? 300 : 7;
}

STAND_IN(enum status, change_reader_block,
         (struct change_reader * reader, struct change_block *block, struct reason *why))
{
    char name[16];
    assert_ptr_equal(reader, READER);
    if (world.block == world.batch - 1) {
        return STATUS_END;
    }
    world.block++;
    snprintf(name, sizeof name, "block %d", 10 * world.batch + world.block);
    TRY(outcome(name, why));
    block->count = rows_of(world.batch, world.block);
    for (size_t i = 0; i < block->count; i++) {
        for (int place = 0; place < 4; place++) {
            block->rows[i].place[place] = place_of(world.batch, world.block, i, place);
        }
        block->removed[i] = i % 3 == 0;
    }
    return STATUS_OK;
}

/* ---- snapshots ---- */

static void
check_gathered(const struct change_set *set)
{
    size_t at = 0;
    for (int block = 1; block < world.batch; block++) {
        for (size_t i = 0; i < rows_of(world.batch, block); i++, at++) {
            assert_true(at < set->count);
            const struct quad_change *change = &set->changes[at];
            assert_int_equal(change->quad.graph, place_of(world.batch, block, i, 0));
            assert_int_equal(change->quad.subject, place_of(world.batch, block, i, 1));
            assert_int_equal(change->quad.predicate, place_of(world.batch, block, i, 2));
            assert_int_equal(change->quad.object, place_of(world.batch, block, i, 3));
            assert_int_equal(change->removed, i % 3 == 0);
        }
    }
    assert_int_equal(at, set->count);
}

STAND_IN(void, snapshots_gathered, (struct snapshots * snapshots, struct change_set *set))
{
    assert_ptr_equal(snapshots, world.partition.snapshots);
    called("gathered %u", (unsigned)set->batch);
    check_gathered(set);
    change_set_free(set);
}

STAND_IN(void, snapshots_set_missing, (struct snapshots * snapshots, const struct reason *why))
{
    assert_ptr_equal(snapshots, world.partition.snapshots);
    assert_string_equal(why->text, "what was gathered for the trees cannot be read: a page of "
                                   "changes.db is damaged");
    called("missing");
}

STAND_IN(size_t, snapshots_gathered_changes, (struct snapshots * snapshots))
{
    assert_ptr_equal(snapshots, world.partition.snapshots);
    return world.gathered;
}

STAND_IN(uint64_t, snapshots_gathered_from, (struct snapshots * snapshots, bool flushed))
{
    assert_ptr_equal(snapshots, world.partition.snapshots);
    return flushed ? world.from_flushed : world.from;
}

STAND_IN(enum status, snapshots_health, (struct snapshots * snapshots, struct reason *why))
{
    assert_ptr_equal(snapshots, world.partition.snapshots);
    return outcome("health", why);
}

STAND_IN(void, snapshots_flush, (struct snapshots * snapshots))
{
    assert_ptr_equal(snapshots, world.partition.snapshots);
    called("begin");
    world.flushing = true;
    world.progress = (struct quads_progress){0};
}

STAND_IN(const struct change_set *, snapshots_flushing, (const struct snapshots *snapshots))
{
    assert_ptr_equal(snapshots, world.partition.snapshots);
    return world.flushing ? &world.flushed_set : NULL;
}

STAND_IN(void, snapshots_flushed, (struct snapshots * snapshots))
{
    assert_ptr_equal(snapshots, world.partition.snapshots);
    called("flushed");
    world.flushing = false;
    world.from = world.from_flushed;
}

STAND_IN(void, snapshots_publish,
         (struct snapshots * snapshots, struct change_set *set, bool gathered))
{
    assert_ptr_equal(snapshots, world.partition.snapshots);
    assert_ptr_equal(set, &world.set);
    assert_int_equal(set->batch, BATCHES + 1);
    called("publish%s", gathered ? " gathered" : "");
    if (gathered) {
        world.from = world.from == 0 ? set->batch : world.from;
        world.from_flushed = world.from_flushed == 0 ? set->batch : world.from_flushed;
    }
}

STAND_IN(void, snapshots_end, (struct snapshots * snapshots, bool applied, bool flushed))
{
    assert_ptr_equal(snapshots, world.partition.snapshots);
    called("end%s%s", applied ? " applied" : "", flushed ? " flushed" : "");
}

STAND_IN(void, partition_keys_note, (struct partition_keys * keys, const struct change_set *set))
{
    assert_ptr_equal(keys, world.partition.keys);
    assert_ptr_equal(set, &world.set);
    called("keys");
}

STAND_IN(void, partition_mark, (struct partition * partition, const struct change_set *set))
{
    assert_ptr_equal(partition, &world.partition);
    assert_ptr_equal(set, &world.set);
    called("mark");
}

/* ---- trees ---- */

STAND_IN(uint64_t, quads_blocks, (struct quads * quads))
{
    assert_ptr_equal(quads, world.partition.quads);
    return world.blocks;
}

STAND_IN(enum status, quads_flush,
         (struct quads * quads, struct transaction *transaction, const struct change_set *set,
          struct quads_progress *progress, size_t most, bool *end, struct reason *why))
{
    assert_ptr_equal(quads, world.partition.quads);
    assert_ptr_equal(transaction, TRANSACTION);
    assert_ptr_equal(set, &world.flushed_set);
    assert_int_equal(progress->order, world.progress.order);
    assert_int_equal(progress->next, world.progress.next);
    called(most == SIZE_MAX ? "flush" : "flush %u", (unsigned)most);
    progress->order++;
    progress->next += 55;
    *end = world.ends;
    return outcome("flush", why);
}

STAND_IN(enum status, quads_apply,
         (struct quads * quads, struct transaction *transaction, const struct change_set *set,
          size_t build_from, struct reason *why))
{
    assert_ptr_equal(quads, world.partition.quads);
    assert_ptr_equal(transaction, TRANSACTION);
    assert_ptr_equal(set, &world.set);
    assert_int_equal(build_from, BUILD_FROM);
    called("trees");
    return outcome("trees", why);
}

STAND_IN(enum status, quads_apply_graphs,
         (struct quads * quads, struct transaction *transaction, const struct change_set *set,
          struct reason *why))
{
    assert_ptr_equal(quads, world.partition.quads);
    assert_ptr_equal(transaction, TRANSACTION);
    assert_ptr_equal(set, &world.set);
    called("graphs");
    return outcome("graphs", why);
}

STAND_IN(enum status, transaction_begin,
         (struct transaction * *transaction, struct environment *environment, uint64_t bytes,
          struct reason *why))
{
    assert_ptr_equal(environment, world.partition.environment);
    assert_int_equal(bytes, 50000 * 4096); /* a page for each change */
    called("start");
    *transaction = TRANSACTION;
    return outcome("start", why);
}

STAND_IN(enum status, transaction_commit_unsynced,
         (struct transaction * transaction, struct reason *why))
{
    assert_ptr_equal(transaction, TRANSACTION);
    called("commit");
    return outcome("commit", why);
}

EVENT(transaction_abort, (struct transaction * transaction), transaction, TRANSACTION, "abort")
EVENT(environment_close_latches, (struct environment * environment), environment,
      world.partition.environment, "(")
EVENT(environment_open_latches, (struct environment * environment), environment,
      world.partition.environment, ")")

/* ---- the bed ---- */

static void
begin(const char *fails, enum status status)
{
    world = (struct world){.fails = fails != NULL ? fails : "", .status = status};
    world.partition.statistics = THING(struct tree, 2);
    world.partition.snapshots = THING(struct snapshots, 3);
    world.partition.change_log = THING(struct change_log, 4);
    world.partition.quads = THING(struct quads, 5);
}

static void
check(const char *name, enum status expected, enum status status, const char *calls,
      const struct reason *why)
{
    char text[32];
    if (strcmp(world.calls, calls) != 0) {
        fail_msg("%s: %s, not %s", name, world.calls, calls);
    }
    snprintf(text, sizeof text, "%s failed", world.fails);
    assert_int_equal(status, expected);
    if (expected != STATUS_OK) {
        assert_string_equal(why->text, text);
    }
}

/* ---- tests ---- */

static void
a_start_takes_what_was_gathered(void **state)
{
    static const struct {
        uint64_t record;
        int batches;
        const char *fails;
        enum status status, expected;
        const char *calls;
    } cases[] = {
        {7, 0, "read", STATUS_NOT_FOUND, STATUS_OK, "read"},
        {7, 0, "read", STATUS_CORRUPT, STATUS_CORRUPT, "read"},
        {0, 3, "", STATUS_OK, STATUS_OK, "read"},
        {7, 0, "", STATUS_OK, STATUS_OK, "read keep 7 open 7 close"},
        {1, 5, "", STATUS_OK, STATUS_OK,
         "read keep 1 open 1 gathered 101 gathered 102 gathered 103 gathered 104 gathered 105 "
         "close"},
        {7, 5, "open", STATUS_SYSTEM, STATUS_SYSTEM, "read keep 7 open 7"},
        {7, 5, "batch 2", STATUS_SYSTEM, STATUS_SYSTEM, "read keep 7 open 7 gathered 101 close"},
        {7, 5, "batch 2", STATUS_CORRUPT, STATUS_OK,
         "read keep 7 open 7 gathered 101 close missing"},
        {7, 5, "batch 1", STATUS_STALE, STATUS_OK, "read keep 7 open 7 close missing"},
        {7, 5, "block 31", STATUS_CORRUPT, STATUS_OK,
         "read keep 7 open 7 gathered 101 gathered 102 close missing"},
        {7, 5, "block 32", STATUS_SYSTEM, STATUS_SYSTEM,
         "read keep 7 open 7 gathered 101 gathered 102 close"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        begin(cases[i].fails, cases[i].status);
        world.record = cases[i].record;
        world.last_batch = cases[i].batches;
        const enum status status = gathering_open(&world.partition, &why);
        check(cases[i].fails, cases[i].expected, status, cases[i].calls, &why);
        assert_int_equal(world.partition.gathered.from,
                         strcmp(cases[i].fails, "read") == 0 ? 0 : cases[i].record);
    }
}

static void
check_progress(struct quads_progress progress)
{
    assert_int_equal(world.partition.gathered.flushed.order, progress.order);
    assert_int_equal(world.partition.gathered.flushed.next, progress.next);
}

/* The commit, which has come so far, ends. */
static void
check_end(struct commit *commit, bool committed)
{
    struct partition *partition = &world.partition;
    const uint64_t from = partition->gathered.from;
    const struct quads_progress before = partition->gathered.flushed;
    world.calls[0] = '\0';
    gathering_end(commit, committed);
    const char *calls = committed ? (commit->flushed ? "end applied flushed" : "end applied")
                        : commit->flushed ? "end flushed"
                                          : "end";
    assert_string_equal(world.calls, calls);
    assert_int_equal(partition->gathered.from, !committed        ? from
                                               : commit->flushed ? world.from_flushed
                                                                 : world.from);
    const struct quads_progress came = {world.progress.order + (world.flushing ? 1 : 0),
                                        world.progress.next + (world.flushing ? 55 : 0)};
    check_progress(!committed ? before : commit->flushed ? (struct quads_progress){0} : came);
}

static void
a_commit_is_gathered_or_goes_into_all_trees(void **state)
{
    static const struct {
        const char *name;
        bool gathers;
        size_t count, most; /* changes of the commit; that may be gathered */
        uint64_t blocks;
        size_t holds, gathered; /* changes for which the log has room; gathered before */
        bool flushing, ends;
        uint64_t from, flushed, record; /* the first batch gathered; when the flush has ended */
        const char *fails, *calls;
    } cases[] = {
        {"the first", true, 5, 100, 9, 99, 0, false, false, 0, 0, 0, "",
         "keys publish gathered mark keep 42 [ write 42 ] graphs"},
        {"a second one", true, 5, 100, 9, 99, 9, false, false, 12, 0, 12, "",
         "keys publish gathered mark keep 12 graphs"},
        {"as many as may be", true, 100, 100, 9, 999, 9, false, true, 42, 0, 42, "",
         "begin flush keys publish mark keep 0 [ write 0 ] trees"},
        {"one fewer", true, 99, 100, 9, 999, 9, false, false, 42, 0, 42, "",
         "keys publish gathered mark keep 42 graphs"},
        {"many for so few blocks", true, 80, 100, 5, 999, 9, false, true, 42, 0, 42, "",
         "begin flush keys publish mark keep 0 [ write 0 ] trees"},
        {"not so many", true, 79, 100, 5, 999, 9, false, false, 42, 0, 42, "",
         "keys publish gathered mark keep 42 graphs"},
        {"no room in the log", true, 8, 100, 9, 7, 9, false, true, 42, 0, 42, "",
         "begin flush keys publish mark keep 0 [ write 0 ] trees"},
        {"room in the log", true, 7, 100, 9, 7, 9, false, false, 42, 0, 42, "",
         "keys publish gathered mark keep 42 graphs"},
        {"an import", false, 7, 100, 9, 99, 9, false, true, 42, 0, 42, "",
         "begin flush keys publish mark keep 0 [ write 0 ] trees"},
        {"an import, nothing gathered", false, 7, 100, 9, 99, 0, false, false, 0, 0, 0, "",
         "keys publish mark keep 0 trees"},
        {"an import during a flush", false, 7, 100, 9, 99, 9, true, true, 1, 0, 1, "",
         "begin flush keys publish mark keep 0 [ write 0 ] trees"},
        {"enough gathered", true, 7, 100, 9, 99, 101, false, false, 3, 42, 3, "",
         "begin flush 70 keys publish gathered mark keep 3 graphs"},
        {"nearly enough", true, 7, 100, 9, 99, 100, false, false, 3, 42, 3, "",
         "keys publish gathered mark keep 3 graphs"},
        {"enough during a flush", true, 7, 100, 9, 99, 101, true, false, 3, 42, 3, "",
         "flush 70 keys publish gathered mark keep 3 graphs"},
        {"the end of a flush", true, 7, 100, 9, 99, 50, true, true, 3, 42, 3, "",
         "flush 70 keys publish gathered mark keep 42 [ write 42 ] graphs"},
        {"what is missing", true, 7, 100, 9, 99, 50, true, true, 3, 42, 3, "health", ""},
        {"a flush that fails", true, 7, 100, 9, 99, 50, true, true, 3, 42, 3, "flush", "flush 70"},
        {"a record that fails", true, 7, 100, 9, 99, 50, true, true, 3, 42, 3, "write",
         "flush 70 keys publish gathered mark keep 42 [ write 42 ]"},
        {"graphs that fail", true, 7, 100, 9, 99, 0, false, false, 0, 0, 0, "graphs",
         "keys publish gathered mark keep 42 [ write 42 ] graphs"},
        {"trees that fail", false, 7, 100, 9, 99, 0, false, false, 0, 0, 0, "trees",
         "keys publish mark keep 0 trees"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        begin(cases[i].fails, STATUS_FULL);
        struct partition *partition = &world.partition;
        struct commit commit = {.partition = partition,
                                .transaction = TRANSACTION,
                                .totals = {.batches = BATCHES},
                                .set = &world.set,
                                .build_from = BUILD_FROM,
                                .gathers = cases[i].gathers};
        world.set.count = cases[i].count;
        partition->gathered.most = cases[i].most;
        partition->gathered.from = cases[i].record;
        partition->gathered.flushed = world.progress = (struct quads_progress){ORDER_POCS, 900};
        world.blocks = cases[i].blocks;
        world.holds = cases[i].holds;
        world.gathered = cases[i].gathered;
        world.flushing = cases[i].flushing;
        world.ends = cases[i].ends;
        world.from = cases[i].from;
        world.from_flushed = cases[i].flushed;
        const enum status status = gathering_apply(&commit, &why);
        const bool fails = cases[i].fails[0] != '\0';
        check(cases[i].name, fails ? STATUS_FULL : STATUS_OK, status, cases[i].calls, &why);
        assert_int_equal(commit.published, strstr(world.calls, "mark") != NULL);
        check_end(&commit, !fails);
    }
}

static void
a_part_of_it_is_brought_in_without_a_batch(void **state)
{
    static const struct {
        const char *name;
        bool flushing, ends;
        uint64_t from, flushed, record, after; /* the record before and after it */
        const char *fails, *calls;
        bool more;
    } cases[] = {
        {"nothing", false, false, 0, 0, 0, 0, "", "", false},
        {"what is missing", false, false, 3, 0, 3, 3, "health", "", false},
        {"a beginning", false, false, 1, 0, 1, 1, "", "begin start flush 50000 keep 1 commit",
         true},
        {"a middle", true, false, 3, 9, 3, 3, "", "start flush 50000 keep 3 commit", true},
        {"all of it", false, true, 3, 0, 3, 0, "",
         "begin start flush 50000 keep 0 [ write 0 ] commit flushed", false},
        {"an end", true, true, 3, 9, 3, 9, "",
         "start flush 50000 keep 9 [ write 9 ] commit flushed", true},
        {"an end of all", true, true, 1, 0, 1, 0, "",
         "start flush 50000 keep 0 [ write 0 ] commit flushed", false},
        {"no room", true, true, 3, 9, 3, 3, "start", "start", false},
        {"trees that fail", true, true, 3, 9, 3, 3, "flush", "start flush 50000 ( abort )", false},
        {"a record that fails", true, true, 3, 9, 3, 3, "write",
         "start flush 50000 keep 9 [ write 9 ] ( abort )", false},
        {"a commit that fails", true, true, 3, 9, 3, 3, "commit",
         "start flush 50000 keep 9 [ write 9 ] commit", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        begin(cases[i].fails, STATUS_FULL);
        struct partition *partition = &world.partition;
        partition->gathered.from = cases[i].record;
        partition->gathered.flushed = world.progress = (struct quads_progress){ORDER_POCS, 900};
        world.flushing = cases[i].flushing;
        world.ends = cases[i].ends;
        world.from = cases[i].from;
        world.from_flushed = cases[i].flushed;
        const bool fails = cases[i].fails[0] != '\0', done = !fails && cases[i].from > 0;
        bool more = true;
        const enum status status = gathering_flush_some(partition, &more, &why);
        check(cases[i].name, fails ? STATUS_FULL : STATUS_OK, status, cases[i].calls, &why);
        assert_int_equal(more, cases[i].more);
        assert_int_equal(partition->gathered.from, cases[i].after);
        const struct quads_progress progress = {world.progress.order + done,
                                                world.progress.next + (done ? 55 : 0)};
        check_progress(done && cases[i].ends ? (struct quads_progress){0} : progress);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_takes_what_was_gathered),
        cmocka_unit_test(a_commit_is_gathered_or_goes_into_all_trees),
        cmocka_unit_test(a_part_of_it_is_brought_in_without_a_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
