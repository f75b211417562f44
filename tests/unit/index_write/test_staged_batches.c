/* A batch that waits on the disk (index/write/batch_stage.c): the linker puts the functions below
 * where the stores would be. Each writes down what is asked of it, and one of them fails. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "index/sort/oid_sort.h"
#include "index/write/batch.h"
#include "index/write/staging_merge.h"
#include "tests/unit/stand_in.h"

enum { CALLS_ROOM = 2048, TERMS = 70, LEXICON_BYTES = 5000, BUILD_FROM = 432 };
enum {
    MEMORY_OF_ROW = sizeof(struct quad_change) + ORDER_COUNT * 4 + 2 * sizeof(struct sort_item)
};

static struct world {
    struct partition partition;
    struct index_batch *batch;
    char calls[CALLS_ROOM];
    const char *fails; /* the call that fails, with this status */
    enum status status;
    uint64_t rows, runs; /* that wait */
    uint64_t bytes;      /* that the transaction may write */
    char things[8];      /* whose addresses stand for stores */
} world;

#define THING(type, i) ((type *)(void *)&world.things[i])
#define TRANSACTION THING(struct transaction, 0)

__attribute__((format(printf, 1, 2))) static void
called(const char *format, ...)
{
    va_list arguments;
    assert_true(strlen(world.calls) + 64 < CALLS_ROOM);
    strcat(world.calls, world.calls[0] != '\0' ? " " : "");
    va_start(arguments, format);
    (void)vsnprintf(strchr(world.calls, '\0'), 60, format, arguments);
    va_end(arguments);
}

static enum status
call(const char *name, struct reason *why)
{
    called("%s", name);
    return strcmp(world.fails, name) == 0 ? status_fail(why, world.status, "%s failed", name)
                                          : STATUS_OK;
}

/* ---- stores ---- */

STAND_IN(enum status, partition_health, (struct partition * partition, struct reason *why))
{
    assert_ptr_equal(partition, &world.partition);
    assert_int_equal(pthread_mutex_trylock(&partition->writer), EBUSY);
    return call("health", why);
}

STAND_IN(enum status, merge_staged, (struct partition * partition, struct reason *why))
{
    assert_ptr_equal(partition, &world.partition);
    return call("merge", why);
}

STAND_IN(enum status, index_batch_commit, (struct index_batch * batch, struct reason *why))
{
    assert_ptr_equal(batch, world.batch);
    assert_int_equal(pthread_mutex_trylock(&world.partition.writer), 0);
    pthread_mutex_unlock(&world.partition.writer);
    return call("as others", why);
}

STAND_IN(uint64_t, staging_rows, (const struct staging *staging))
{
    assert_ptr_equal(staging, world.partition.staging);
    return world.rows;
}

STAND_IN(size_t, staging_runs, (const struct staging *staging))
{
    assert_ptr_equal(staging, world.partition.staging);
    return world.runs;
}

STAND_IN(void, staging_begin, (struct staging * staging))
{
    assert_ptr_equal(staging, world.partition.staging);
    called("run");
}

STAND_IN(enum status, staging_add,
         (struct staging * staging, const struct row *row, struct reason *why))
{
    char text[60];
    assert_ptr_equal(staging, world.partition.staging);
    snprintf(text, sizeof text, "%u:%u-%u-%u", (unsigned)oid_number(row->place[0]),
             (unsigned)oid_number(row->place[1]), (unsigned)oid_number(row->place[2]),
             (unsigned)oid_number(row->place[3]));
    return call(text, why);
}

STAND_IN(enum status, staging_end,
         (struct staging * staging, struct transaction *transaction, uint64_t terms,
          struct reason *why))
{
    assert_ptr_equal(staging, world.partition.staging);
    assert_ptr_equal(transaction, TRANSACTION);
    assert_int_equal(terms, TERMS);
    return call("end", why);
}

STAND_IN(void, staging_committed, (struct staging * staging))
{
    assert_ptr_equal(staging, world.partition.staging);
    called("waits");
}

/* Terms are numbered backwards, so that the order of graphs is not that of the batch. */
STAND_IN(enum status, lexicon_assign,
         (struct lexicon * lexicon, struct transaction *transaction, struct term_set *set,
          size_t build_from, uint64_t *added, struct reason *why))
{
    assert_ptr_equal(lexicon, world.partition.lexicon);
    assert_ptr_equal(transaction, TRANSACTION);
    assert_ptr_equal(set, &world.batch->terms);
    assert_int_equal(build_from, BUILD_FROM);
    *added = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (!set->terms[i].unwanted) {
            ++*added;
            set->terms[i].id = oid_stored(TERMS + set->count - i, oid_kind_of(&set->terms[i].term));
        }
    }
    return call("terms", why);
}

STAND_IN(uint64_t, lexicon_bytes, (struct lexicon * lexicon))
{
    assert_ptr_equal(lexicon, world.partition.lexicon);
    return LEXICON_BYTES;
}

STAND_IN(enum status, lexicon_forget, (struct lexicon * lexicon, struct reason *why))
{
    assert_ptr_equal(lexicon, world.partition.lexicon);
    return call("forget", why);
}

STAND_IN(struct latch *, tree_latch, (struct tree * tree))
{
    assert_ptr_equal(tree, world.partition.statistics);
    return THING(struct latch, 1);
}

STAND_IN(void, latch_enter_writing, (struct latch * latch))
{
    assert_ptr_equal(latch, THING(struct latch, 1));
    called("[");
}

STAND_IN(void, latch_leave, (struct latch * latch))
{
    assert_ptr_equal(latch, THING(struct latch, 1));
    called("]");
}

STAND_IN(enum status, statistics_put_totals,
         (struct tree * statistics, struct transaction *transaction, const struct totals *totals,
          struct reason *why))
{
    assert_ptr_equal(statistics, world.partition.statistics);
    assert_ptr_equal(transaction, TRANSACTION);
    called("%u terms %u literals", (unsigned)totals->terms, (unsigned)totals->literals);
    return call("totals", why);
}

STAND_IN(enum status, transaction_begin,
         (struct transaction * *transaction, struct environment *environment, uint64_t bytes,
          struct reason *why))
{
    assert_ptr_equal(environment, world.partition.environment);
    *transaction = TRANSACTION;
    world.bytes = bytes;
    return call("start", why);
}

STAND_IN(enum status, transaction_commit, (struct transaction * transaction, struct reason *why))
{
    assert_ptr_equal(transaction, TRANSACTION);
    return call("commit", why);
}

STAND_IN(void, transaction_abort, (struct transaction * transaction))
{
    assert_ptr_equal(transaction, TRANSACTION);
    called("abort");
}

STAND_IN(void, environment_close_latches, (struct environment * environment))
{
    assert_ptr_equal(environment, world.partition.environment);
    called("(");
}

STAND_IN(void, environment_open_latches, (struct environment * environment))
{
    assert_ptr_equal(environment, world.partition.environment);
    called(")");
}

STAND_IN(void, partition_committed, (struct partition * partition, const struct totals *totals))
{
    assert_ptr_equal(partition, &world.partition);
    called("committed");
    partition->totals = *totals;
}

/* ---- the bed ---- */

static void
add_patch(const char *graph, const char *subject, const char *object)
{
    struct reason why = {""};
    const struct quad quad = {.subject = term_iri(slice_string(subject)),
                              .predicate = term_iri(SLICE("a:p")),
                              .object = term_literal(slice_string(object))};
    index_batch_begin_patch(world.batch, slice_string(graph));
    assert_int_equal(index_batch_quad(world.batch, &quad, &why), STATUS_OK);
    (void)index_batch_end(world.batch);
}

/* Two graphs; the second one thrice, with a quad of its first patch again. */
static void
begin(const char *fails)
{
    world = (struct world){.fails = fails, .status = STATUS_FULL};
    struct partition *partition = &world.partition;
    partition->staging = THING(struct staging, 2);
    partition->lexicon = THING(struct lexicon, 3);
    partition->statistics = THING(struct tree, 4);
    partition->environment = THING(struct environment, 5);
    partition->build_from = BUILD_FROM;
    partition->totals = (struct totals){.quads = 9, .literals = 30, .terms = TERMS};
    atomic_store(&partition->writes, STATUS_CORRUPT);
    pthread_mutex_init(&partition->writer, NULL);
    world.batch = index_batch_new(partition);
    add_patch("a:h", "a:s", "2");
    add_patch("a:g", "a:s", "1");
    add_patch("a:g", "a:t", "2");
    add_patch("a:g", "a:s", "1");
}

static void
end(void)
{
    index_batch_free(world.batch);
    assert_int_equal(pthread_mutex_trylock(&world.partition.writer), 0);
    pthread_mutex_unlock(&world.partition.writer);
    pthread_mutex_destroy(&world.partition.writer);
}

/* ---- tests ---- */

/* Terms a:h 77, a:s 76, a:p 75, "2" 74, a:g 73, "1" 72, a:t 71. */
#define RUN_BEGINS "health start terms run"
#define RUN RUN_BEGINS " 73:71-75-74 73:76-75-72 77:76-75-74 end"
#define TOTALS " [ 77 terms 32 literals totals ]"
#define UNDONE " ( abort ) forget"

static void
a_batch_waits_or_is_undone(void **state)
{
    static const struct {
        const char *fails, *calls;
    } cases[] = {
        {"", RUN TOTALS " commit waits committed"},
        {"health", "health"},
        {"start", "health start"},
        {"terms", "health start terms" UNDONE},
        {"73:71-75-74", RUN_BEGINS " 73:71-75-74" UNDONE},
        {"73:76-75-72", RUN_BEGINS " 73:71-75-74 73:76-75-72" UNDONE},
        {"end", RUN UNDONE},
        {"totals", RUN TOTALS UNDONE},
        {"commit", RUN TOTALS " commit"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        char text[64] = "";
        const bool good = cases[i].fails[0] == '\0';
        begin(cases[i].fails);
        const enum status status = index_batch_stage(world.batch, 1 << 20, &why);
        if (strcmp(world.calls, cases[i].calls) != 0) {
            fail_msg("%s: %s, not %s", cases[i].fails, world.calls, cases[i].calls);
        }
        if (!good) {
            snprintf(text, sizeof text, "%s failed", cases[i].fails);
        }
        assert_int_equal(status, good ? STATUS_OK : STATUS_FULL);
        assert_string_equal(why.text, text);
        assert_int_equal(atomic_load(&world.partition.writes), status);
        assert_int_equal(world.partition.totals.terms, good ? TERMS + 7 : TERMS);
        assert_int_equal(world.partition.totals.literals, good ? 32 : 30);
        assert_int_equal(world.partition.totals.quads, 9);
        if (world.bytes > 0) {
            assert_int_equal(world.bytes, 2 * index_batch_staged_bytes(world.batch) +
                                              4 * 16 /* for each row */ + LEXICON_BYTES);
        }
        end();
    }
}

/* Terms that no quad has are not stored. */
static void
terms_without_a_quad_are_left_out(void **state)
{
    (void)state;
    struct reason why = {""};
    const struct term more[] = {term_iri(SLICE("a:more")), term_literal(SLICE("more"))};
    uint32_t numbers[2];
    begin("");
    index_batch_terms(world.batch, more, 2, numbers);
    assert_int_equal(index_batch_stage(world.batch, 1 << 20, &why), STATUS_OK);
    assert_int_equal(world.partition.totals.terms, TERMS + 7);
    assert_int_equal(world.partition.totals.literals, 32);
    assert_int_equal(world.batch->terms.terms[numbers[0]].id, OID_NONE);
    end();
}

static void
what_waits_is_brought_in_before_it_is_too_much(void **state)
{
    enum { QUADS = 4 };
    static const struct {
        uint64_t rows, runs;
        size_t memory;
        bool merges;
    } cases[] = {
        {0, 0, QUADS * MEMORY_OF_ROW, false},       {0, 0, QUADS * MEMORY_OF_ROW - 1, true},
        {6, 1, (6 + QUADS) * MEMORY_OF_ROW, false}, {6, 1, (6 + QUADS) * MEMORY_OF_ROW - 1, true},
        {7, 1, (6 + QUADS) * MEMORY_OF_ROW, true},  {6, WAITING_RUNS_MOST - 1, 1 << 20, false},
        {6, WAITING_RUNS_MOST, 1 << 20, true},
    };
    (void)state;
    for (size_t k = 0; k < 2 * (sizeof cases / sizeof *cases); k++) {
        const size_t i = k / 2;
        const bool fails = k % 2;
        struct reason why = {""};
        begin(fails ? "merge" : "");
        world.rows = cases[i].rows;
        world.runs = cases[i].runs;
        assert_int_equal(index_batch_stage(world.batch, cases[i].memory, &why),
                         fails && cases[i].merges ? STATUS_FULL : STATUS_OK);
        assert_int_equal(strncmp(world.calls, "health merge", 12) == 0, cases[i].merges);
        assert_int_equal(strstr(world.calls, "committed") != NULL, !(fails && cases[i].merges));
        end();
    }
}

/* Copies are being made: nothing may wait. */
static void
a_batch_is_committed_while_nothing_may_wait(void **state)
{
    static const struct {
        unsigned held;
        const char *fails, *calls;
    } cases[] = {
        {1, "", "health as others"},
        {2, "", "health as others"},
        {1, "health", "health"},
        {1, "as others", "health as others"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        begin(cases[i].fails);
        world.partition.staged.held = cases[i].held;
        world.runs = WAITING_RUNS_MOST;
        assert_int_equal(index_batch_stage(world.batch, 1, &why),
                         cases[i].fails[0] == '\0' ? STATUS_OK : STATUS_FULL);
        assert_string_equal(world.calls, cases[i].calls);
        end();
    }
}

static void
a_batch_is_full(void **state)
{
    (void)state;
    begin("");
    for (uint64_t rows = 1000; rows < 1100; rows++) {
        world.rows = rows - 4;
        const size_t bytes = rows * MEMORY_OF_ROW;
        /* A part of the memory is left for what is added at once. */
        size_t memory = bytes * 64 / 63 + 2;
        while (memory - memory / 64 > bytes) {
            memory--;
        }
        assert_true(index_batch_is_full(world.batch, memory));
        while (memory - memory / 64 <= bytes) {
            memory++;
        }
        assert_false(index_batch_is_full(world.batch, memory));
    }
    /* By itself. */
    world.rows = 0;
    const size_t own = index_batch_staged_bytes(world.batch);
    assert_true(own > 1000);
    assert_true(index_batch_is_full(world.batch, own));
    assert_false(index_batch_is_full(world.batch, own + 1));
    /* Never without a quad. */
    index_batch_reset(world.batch);
    world.rows = 1 << 20;
    assert_false(index_batch_is_full(world.batch, index_batch_staged_bytes(world.batch) + 1));
    const struct term term = term_iri(SLICE("a:b"));
    index_batch_begin_patch(world.batch, SLICE("a:b"));
    uint32_t number;
    index_batch_terms(world.batch, &term, 1, &number);
    index_batch_triple(world.batch, number, number, number);
    (void)index_batch_end(world.batch);
    assert_true(index_batch_is_full(world.batch, 1 << 20));
    end();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_waits_or_is_undone),
        cmocka_unit_test(terms_without_a_quad_are_left_out),
        cmocka_unit_test(what_waits_is_brought_in_before_it_is_too_much),
        cmocka_unit_test(a_batch_is_committed_while_nothing_may_wait),
        cmocka_unit_test(a_batch_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
