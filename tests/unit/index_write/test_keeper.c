/* The keeper (index/write/keeper.c): what it does with what comes, how it waits, what it does when
 * a store fails, and what is told to those who wait for it. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/index_write/keeper_world.h"

/* ---- what it does ---- */

/* What is there when it starts: terms; literals that are found and whose words are written, each
 * with one more; how many it takes in at once; which words are wanted written; a checkpoint that is
 * due, a full memory of words, a broken index. What each wait ends with. */
static void
start_work(const char *start, const char *waits)
{
    unsigned terms, next, written, step, until;
    world_begin();
    assert_int_equal(sscanf(start, "%u %u %u %u %u", &terms, &next, &written, &step, &until), 5);
    struct keeper *keeper = &world.partition.keeper;
    world.partition.totals.terms = terms;
    world.next = keeper->next = next;
    world.written = keeper->written = written;
    world.step = step;
    world.full = strstr(start, "full") != NULL;
    world.broken = strstr(start, "broken") != NULL;
    keeper->words_until = until;
    keeper->checkpoint_due = strstr(start, "due") != NULL;
    world.waits = waits;
}

static void
check_work(const char *name, const char *calls)
{
    assert_null(world.run(world.argument));
    if (strcmp(world.calls, calls) != 0) {
        fail_msg("%s: %s, not %s", name, world.calls, calls);
    }
    assert_string_equal(world.waits, "");
}

/* A dot: who waits for it looks again. */
static void
it_does_what_has_come(void **state)
{
    static const struct {
        const char *name, *start, *waits, *calls, *meanwhile;
    } works[] = {
        {"the end", "10 11 11 9 0", "s", ". 30s . .", ""},
        {"pauses", "10 11 11 9 0", "tt-ts", ". 30s trim . 30s . 30s . 30s trim . 30s . .", ""},
        {"literals", "10 1 1 4 0", "-ts",
         "follow . follow . follow . . 30s . 30s trim follow write . . 30s . .", ""},
        {"literals at the end", "10 1 1 4 0", "s",
         "follow . follow . follow . . 30s follow write . . .", ""},
        {"a full memory", "10 1 1 4 0 full", "s",
         "follow write . follow write . follow write . . 30s . .", ""},
        {"a checkpoint", "10 11 11 9 0 due", "s", "follow checkpoint . . 30s . .", ""},
        {"a batch", "10 11 11 9 0", "cs",
         ". 30s follow checkpoint . follow . . 30s follow write . . .", ""},
        {"words wanted", "10 11 11 4 0", "(cw)-s",
         ". 30s follow checkpoint . follow . follow . follow write . . 30s . 30s . .", ""},
        {"words that were wanted", "10 11 6 4 6", "-s", ". 30s . 30s follow write . . .", ""},
        {"words wanted of before", "30 11 6 4 12", "-s",
         "follow . follow write . follow . follow . follow . . 30s . 30s follow write . . .", ""},
        {"quads that wait", "10 11 11 9 0", "q-tts",
         ". 30s . 7s . 7s merge flush (checkpoint) follow . . 30s trim . 30s . .", ""},
        {"quads that wait, and more", "10 11 9 9 0", "(qm)ttn-ts",
         ". 30s . 7s . 7s . 7s . 7s . 7s merge flush (checkpoint) follow . . 30s follow write . . "
         ".",
         ""},
        {"gathered changes", "10 11 11 9 0", "g-tts",
         ". 30s . 42s . 42s merge flush (checkpoint) flush (checkpoint) flush (checkpoint) follow "
         ". . 30s trim . 30s . .",
         ""},
        {"both", "10 11 11 9 0", "(gq)ts",
         ". 30s . 7s merge flush (checkpoint) flush (checkpoint) flush (checkpoint) follow . . 30s "
         ". .",
         ""},
        {"what cannot be read", "10 11 11 9 0", "(gx)ts", ". 30s . 30s trim . 30s . .", ""},
        {"the end of a pause", "10 11 11 9 0", "q(ts)", ". 30s . 7s follow . . .", ""},
        {"a batch after a pause", "10 11 11 9 0", "q(tc)s",
         ". 30s . 7s merge flush (checkpoint) follow checkpoint . follow . . 30s follow write . . "
         ".",
         ""},
        {"a batch meanwhile", "10 11 11 9 0", "gts",
         ". 30s . 42s merge flush (checkpoint) (checkpoint) follow . follow checkpoint . follow . "
         ". 42s follow write . . .",
         "flush c"},
        {"the end meanwhile", "10 11 11 9 0", "gt",
         ". 30s . 42s merge flush (checkpoint) (checkpoint) follow . . .", "flush s"},
        {"a batch while it follows", "10 1 1 9 0", "s",
         "follow . follow checkpoint . follow . . 30s follow write . . .", "follow c"},
        {"a batch while it writes", "10 1 1 9 0 full", "s",
         "follow write . follow write checkpoint . follow write . . 30s . .", "write c"},
    };
    (void)state;
    for (size_t k = 0; k < 2 * (sizeof works / sizeof *works); k++) {
        const size_t i = k / 2;
        start_work(works[i].start, works[i].waits);
        world.partition.staged.held = k % 2; /* copies are being made */
        world.meanwhile = works[i].meanwhile;
        check_work(works[i].name, works[i].calls);
        assert_int_equal(world.partition.keeper.failed, STATUS_OK);
        world_end();
    }
}

static void
what_fails_is_tried_again_or_ends_it(void **state)
{
    static const struct {
        const char *fails;
        int times;
        enum status status, failed; /* of the call; of the keeper in the end */
        const char *start, *waits, *calls;
    } cases[] = {
        {"follow", 1, STATUS_CORRUPT, STATUS_CORRUPT, "10 1 1 9 0 due", "", "follow . ."},
        {"follow", 1, STATUS_FULL, STATUS_FULL, "10 1 1 9 0 due", "", "follow . ."},
        {"write", 2, STATUS_FULL, STATUS_OK, "10 1 1 9 11", "--t-s",
         "follow . follow . follow write . . 2s follow checkpoint . . 30s . 30s trim follow write "
         ". . 2s follow write checkpoint . . 30s . ."},
        {"write", 2, STATUS_FULL, STATUS_OK, "10 1 1 9 0 full", "--s",
         "follow write . . 2s follow write . . 2s follow write checkpoint . . 30s . ."},
        {"write", 1, STATUS_CORRUPT, STATUS_CORRUPT, "10 1 1 9 11 full", "", "follow write . ."},
        {"write", 1, STATUS_FULL, STATUS_AGAIN, "10 11 1 9 0", "s", ". 30s follow write . ."},
        {"write", 1, STATUS_AGAIN, STATUS_OK, "10 1 1 9 0 full", "ts",
         "follow write . . 2s follow write checkpoint . . 30s . ."},
        {"merge", 1, STATUS_FULL, STATUS_OK, "10 11 9 9 0", "qt--ts",
         ". 30s . 7s merge . . 2s follow checkpoint . . 7s . 7s merge flush (checkpoint) follow . "
         ". 30s follow write . . ."},
        {"merge", 1, STATUS_CORRUPT, STATUS_OK, "10 11 11 9 0", "qt-s",
         ". 30s . 7s merge . . 2s follow checkpoint . . 7s . ."},
        {"merge", 1, STATUS_CORRUPT, STATUS_CORRUPT, "10 11 11 9 0 broken", "qt",
         ". 30s . 7s merge . ."},
        {"merge", 1, STATUS_SYSTEM, STATUS_SYSTEM, "10 11 11 9 0", "qt", ". 30s . 7s merge . ."},
        {"flush", 1, STATUS_FULL, STATUS_OK, "10 11 11 9 0", "gt-ts",
         ". 30s . 42s merge flush . . 2s follow checkpoint . . 42s merge flush (checkpoint) flush "
         "(checkpoint) flush (checkpoint) follow . . 30s . ."},
        {"flush", 1, STATUS_CORRUPT, STATUS_OK, "10 11 11 9 0", "gt-s",
         ". 30s . 42s merge flush . . 2s follow checkpoint . . 42s . ."},
        {"flush", 1, STATUS_FULL, STATUS_FULL, "10 11 11 9 0 broken", "gt",
         ". 30s . 42s merge flush . ."},
        {"flush", 1, STATUS_SYSTEM, STATUS_SYSTEM, "10 11 11 9 0", "gt",
         ". 30s . 42s merge flush . ."},
        {"(checkpoint)", 1, STATUS_FULL, STATUS_OK, "10 11 11 9 0", "gt-s",
         ". 30s . 42s merge flush (checkpoint) . . 2s follow checkpoint . . 42s . ."},
        {"(checkpoint)", 1, STATUS_SYSTEM, STATUS_SYSTEM, "10 11 11 9 0", "gt",
         ". 30s . 42s merge flush (checkpoint) . ."},
        {"checkpoint", 1, STATUS_FULL, STATUS_OK, "10 11 11 9 0 due", "-s",
         "follow checkpoint . . 2s follow checkpoint . . 30s . ."},
        {"checkpoint", 1, STATUS_FULL, STATUS_FULL, "10 11 11 9 0 due broken", "",
         "follow checkpoint . ."},
        {"checkpoint", 1, STATUS_CORRUPT, STATUS_CORRUPT, "10 11 11 9 0 due", "",
         "follow checkpoint . ."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        char text[32] = "";
        start_work(cases[i].start, cases[i].waits);
        world.fails = cases[i].fails;
        world.status = cases[i].status;
        world.times = cases[i].times;
        check_work(cases[i].fails, cases[i].calls);
        assert_int_equal(world.times, 0);
        assert_int_equal(partition_health(&world.partition, &why), cases[i].failed);
        if (cases[i].failed != STATUS_OK) {
            snprintf(text, sizeof text, "%s failed", cases[i].fails);
        }
        assert_string_equal(why.text, text);
        world_end();
    }
}

/* ---- who waits for it ---- */

static void
who_waits_is_told_of_the_end(void **state)
{
    static const struct {
        uint64_t next, until; /* literals that are found; words that somebody else wants written */
        int settling;         /* the wait that ends with: */
        enum status status;
        bool full;
        const char *settle, *write; /* what is called */
        uint64_t wanted;            /* afterwards */
    } cases[] = {
        {8, 0, 0, STATUS_OK, false, "wait wait wait", "wake! wait wait wait", 11},
        {10, 15, 0, STATUS_OK, false, "wait", "wake! wait", 15},
        {10, 11, 0, STATUS_OK, false, "wait", "wake! wait", 11},
        {11, 0, 0, STATUS_OK, false, "", "wake!", 11},
        {12, 3, 0, STATUS_OK, false, "", "wake!", 11},
        {2, 0, 3, STATUS_CORRUPT, false, "wait wait wait", "wake! wait wait wait", 11},
        {8, 0, 1, STATUS_OK, true, "wait wait wait", "wake! wait", 0},
    };
    (void)state;
    for (size_t k = 0; k < 2 * (sizeof cases / sizeof *cases); k++) {
        const size_t i = k / 2;
        const bool write = k % 2;
        struct reason why = {""};
        world_begin();
        struct keeper *keeper = &world.partition.keeper;
        keeper->next = write ? 1 : cases[i].next;
        keeper->written = write ? cases[i].next : 1;
        keeper->words_until = cases[i].until;
        world.settling = cases[i].settling;
        world.status = cases[i].status;
        world.full = cases[i].full;
        assert_int_equal(write ? partition_write_words(&world.partition, &why)
                               : partition_settle(&world.partition, &why),
                         cases[i].status);
        assert_string_equal(why.text, cases[i].status == STATUS_OK ? "" : "a fault of the test");
        assert_string_equal(world.calls, write ? cases[i].write : cases[i].settle);
        if (write) {
            assert_int_equal(keeper->words_until, cases[i].wanted);
        }
        assert_int_equal(keeper_words(&world.partition), keeper->next);
        world_end();
    }
}

static void
a_commit_wakes_it(void **state)
{
    (void)state;
    world_begin();
    pthread_mutex_lock(&world.partition.mutex);
    keeper_note_commit(&world.partition);
    pthread_mutex_unlock(&world.partition.mutex);
    assert_true(world.partition.keeper.checkpoint_due);
    assert_string_equal(world.calls, "wake!");
    world_end();
}

/* ---- its life ---- */

static void
it_starts_and_stops(void **state)
{
    struct partition *partition = &world.partition;
    struct reason why = {""};
    (void)state;
    world_begin();
    assert_true(partition->keeper.runs);
    assert_ptr_equal(world.argument, partition);
    assert_int_equal(partition->keeper.pause_s, PAUSE_S);
    keeper_stop(partition);
    assert_string_equal(world.calls, "wake! join wake-ends settled-ends");
    world_end();
    /* Without a thread there is nothing to wait for. */
    world_begin();
    partition->keeper = (struct keeper){.pause_s = 1};
    world.fails = "start";
    world.times = 1;
    world.status = STATUS_FULL;
    assert_int_equal(keeper_start(partition, &why), STATUS_SYSTEM);
    assert_string_equal(why.text, "cannot start a thread");
    assert_int_equal(partition->keeper.next, 11);
    assert_int_equal(partition->keeper.written, 9);
    assert_false(partition->keeper.runs);
    world.calls[0] = '\0';
    keeper_stop(partition);
    assert_string_equal(world.calls, "wake-ends settled-ends");
    world_end();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_does_what_has_come),
        cmocka_unit_test(what_fails_is_tried_again_or_ends_it),
        cmocka_unit_test(who_waits_is_told_of_the_end),
        cmocka_unit_test(a_commit_wakes_it),
        cmocka_unit_test(it_starts_and_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
