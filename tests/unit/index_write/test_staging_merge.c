/* Quads that wait are brought in (index/write/staging_merge.c): the linker puts the functions below
 * where the stores would be. Each writes down what is asked of it, and one of them fails. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "index/write/batch.h"
#include "index/write/graph_differences.h"
#include "index/write/graph_transaction.h"
#include "index/write/staging_merge.h"
#include "tests/unit/stand_in.h"

enum {
    CALLS_ROOM = 4096,
    TERMS = 70,
    NOW = 777,
    BYTES = 100000,
    BUILD_FROM = 321,
    URIS_MOST = 1 << 20
};

/* Rows that wait, by graph and subject. One with an odd object was not there before. Graph 1 is
 * not known yet, graph 2 is, graph 3 was removed, others are known and have all of their rows. */
struct waiting {
    unsigned graph, subject, object;
};

static struct world {
    struct partition partition;
    char calls[CALLS_ROOM];
    const char *fails; /* the call that fails, with this status */
    enum status status;
    const struct waiting *rows;
    size_t count, next;
    uint64_t waiting, runs; /* as staging says */
    uint64_t bytes;         /* that the transaction may write */
    size_t long_names;      /* memory that a graph's name takes besides */
    bool hosts;             /* they are written down */
    char things[10];        /* whose addresses stand for stores */
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
outcome(const char *name, struct reason *why)
{
    return strcmp(world.fails, name) == 0 ? status_fail(why, world.status, "%s failed", name)
                                          : STATUS_OK;
}

/* ---- stores ---- */

STAND_IN(enum status, partition_health, (struct partition * partition, struct reason *why))
{
    assert_ptr_equal(partition, &world.partition);
    assert_true(pthread_mutex_trylock(&partition->writer) != 0);
    return outcome("health", why);
}

STAND_IN(uint64_t, environment_bytes, (const struct environment *environment))
{
    assert_ptr_equal(environment, world.partition.environment);
    return BYTES;
}

STAND_IN(uint64_t, clock_wall_ms, (void))
{
    return NOW;
}

STAND_IN(uint64_t, staging_rows, (const struct staging *staging))
{
    assert_ptr_equal(staging, world.partition.staging);
    return world.waiting;
}

STAND_IN(size_t, staging_runs, (const struct staging *staging))
{
    assert_ptr_equal(staging, world.partition.staging);
    return world.runs;
}

STAND_IN(uint64_t, staging_terms, (const struct staging *staging))
{
    assert_ptr_equal(staging, world.partition.staging);
    return TERMS;
}

STAND_IN(enum status, staging_reader_open,
         (struct staging_reader * *reader, struct staging *staging, struct reason *why))
{
    assert_ptr_equal(staging, world.partition.staging);
    called("open");
    *reader = NULL;
    TRY(outcome("open", why));
    *reader = THING(struct staging_reader, 1);
    return STATUS_OK;
}

STAND_IN(enum status, staging_reader_next,
         (struct staging_reader * reader, struct row *row, struct reason *why))
{
    char name[32];
    assert_ptr_equal(reader, THING(struct staging_reader, 1));
    snprintf(name, sizeof name, "row %zu", world.next);
    TRY(outcome(name, why));
    if (world.next == world.count) {
        return STATUS_END;
    }
    const struct waiting *w = &world.rows[world.next++];
    *row = (struct row){{w->graph, w->subject, 1, w->object}};
    return STATUS_OK;
}

STAND_IN(void, staging_reader_close, (struct staging_reader * reader))
{
    called(reader != NULL ? "close" : "nothing to close");
}

STAND_IN(enum status, staging_forget,
         (struct staging * staging, struct transaction *transaction, struct reason *why))
{
    assert_ptr_equal(staging, world.partition.staging);
    assert_ptr_equal(transaction, TRANSACTION);
    called("forget");
    return outcome("forget", why);
}

STAND_IN(void, staging_forgotten, (struct staging * staging))
{
    assert_ptr_equal(staging, world.partition.staging);
    called("forgotten");
    world.runs = 0;
}

STAND_IN(struct nodes *, lexicon_nodes, (struct lexicon * lexicon))
{
    assert_ptr_equal(lexicon, world.partition.lexicon);
    return THING(struct nodes, 2);
}

STAND_IN(struct nodes_reader *, nodes_reader_new, (struct nodes * nodes))
{
    assert_ptr_equal(nodes, THING(struct nodes, 2));
    return THING(struct nodes_reader, 3);
}

STAND_IN(void, nodes_reader_free, (struct nodes_reader * reader))
{
    assert_ptr_equal(reader, THING(struct nodes_reader, 3));
    called("freed");
}

STAND_IN(enum status, nodes_resolve,
         (struct nodes_reader * reader, oid id, struct arena *arena, struct term *term,
          struct reason *why))
{
    char text[64];
    assert_ptr_equal(reader, THING(struct nodes_reader, 3));
    snprintf(text, sizeof text, "http://h%u.example/", (unsigned)id % 2);
    assert_true(arena->used <= URIS_MOST); /* those of before are not kept for ever */
    *term = term_iri(arena_copy(arena, slice_string(text)));
    if (world.long_names > 0) {
        memset(arena_alloc(arena, world.long_names), 'x', world.long_names);
    }
    return outcome("resolve", why);
}

STAND_IN(enum status, documents_get,
         (struct tree * documents, oid graph, struct document_entry *entry, struct reason *why))
{
    assert_ptr_equal(documents, world.partition.documents);
    TRY(outcome("get", why));
    if (graph == 1) {
        return STATUS_NOT_FOUND;
    }
    *entry = (struct document_entry){.generation = 10 * graph,
                                     .quads = 100 * graph,
                                     .removed = graph == 3,
                                     .linked_data = graph == 2};
    return STATUS_OK;
}

STAND_IN(enum status, documents_put,
         (struct tree * documents, struct transaction *transaction, oid graph,
          const struct document_entry *entry, struct reason *why))
{
    assert_ptr_equal(documents, world.partition.documents);
    assert_ptr_equal(transaction, TRANSACTION);
    assert_int_equal(entry->indexed_ms, NOW);
    assert_true(entry->patched);
    assert_false(entry->removed);
    called("put %u: %u of %u%s", (unsigned)graph, (unsigned)entry->quads,
           (unsigned)entry->generation, entry->linked_data ? " linked" : "");
    return outcome("put", why);
}

STAND_IN(struct latch *, tree_latch, (struct tree * tree))
{
    assert_ptr_equal(tree, world.partition.documents);
    return THING(struct latch, 4);
}

STAND_IN(void, latch_enter_writing, (struct latch * latch))
{
    assert_ptr_equal(latch, THING(struct latch, 4));
    called("[");
}

STAND_IN(void, latch_leave, (struct latch * latch))
{
    assert_ptr_equal(latch, THING(struct latch, 4));
    called("]");
}

STAND_IN(enum status, differences_add_rows,
         (struct differences * differences, struct batch_document *d, const struct row *rows,
          size_t count, struct reason *why))
{
    assert_int_equal(differences->old_terms, TERMS);
    assert_null(differences->batch);
    assert_int_equal(d->known, d->graph_id != 1);
    assert_true(d->patch);
    called("%u: %u rows", (unsigned)d->graph_id, (unsigned)count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rows[i].place[0], d->graph_id);
        if (rows[i].place[3] % 2 == 1) {
            assert_true(differences->count < differences->capacity);
            differences->changes[differences->count++] =
                (struct quad_change){.quad = row_quad(&rows[i], ORDER_CSPO)};
        }
    }
    return outcome("rows", why);
}

/* ---- the transaction ---- */

STAND_IN(enum status, transaction_begin,
         (struct transaction * *transaction, struct environment *environment, uint64_t bytes,
          struct reason *why))
{
    assert_ptr_equal(environment, world.partition.environment);
    *transaction = TRANSACTION;
    world.bytes = bytes;
    called("start");
    return outcome("start", why);
}

STAND_IN(enum status, commit_quads,
         (struct commit * commit, const struct graph_generation *generations, size_t count,
          struct reason *why))
{
    assert_ptr_equal(commit->partition, &world.partition);
    assert_int_equal(commit->build_from, BUILD_FROM);
    assert_false(commit->gathers);
    called("quads %u", (unsigned)commit->set->count);
    for (size_t i = 0; i < count; i++) {
        called("%u/%u", (unsigned)generations[i].graph, (unsigned)generations[i].generation);
    }
    for (size_t i = 0; i < commit->set->document_count; i++) {
        called("+%u", (unsigned)commit->set->documents[i].graph);
        assert_int_equal(commit->set->documents[i].step, 1);
    }
    return outcome("quads", why);
}

STAND_IN(enum status, commit_statistics, (struct commit * commit, struct reason *why))
{
    called("statistics %u documents %u quads", (unsigned)commit->totals.documents,
           (unsigned)commit->totals.quads);
    for (size_t i = 0; i < commit->census.hosts.count && world.hosts; i++) {
        const struct host_count *count = &commit->census.host_counts[i];
        called("%.*s %u %u", SLICE_PRINT(commit->census.hosts.terms[i].term.value),
               (unsigned)count->documents, (unsigned)count->quads);
    }
    return outcome("statistics", why);
}

STAND_IN(enum status, commit_end, (struct commit * commit, enum status status, struct reason *why))
{
    called(status == STATUS_OK ? "commit" : "undo");
    change_set_free(commit->set);
    return status == STATUS_OK ? outcome("commit", why) : status;
}

/* ---- the bed ---- */

static void
begin(const char *fails, const struct waiting *rows, size_t count)
{
    world = (struct world){.fails = fails,
                           .status = STATUS_FULL,
                           .rows = rows,
                           .count = count,
                           .waiting = count,
                           .runs = count > 0};
    struct partition *partition = &world.partition;
    partition->staging = THING(struct staging, 5);
    partition->lexicon = THING(struct lexicon, 6);
    partition->documents = THING(struct tree, 7);
    partition->environment = THING(struct environment, 8);
    partition->build_from = BUILD_FROM;
    partition->totals = (struct totals){.quads = 9000, .documents = 50, .terms = TERMS};
    atomic_store(&partition->writes, STATUS_CORRUPT);
    pthread_mutex_init(&partition->writer, NULL);
}

static void
end(void)
{
    assert_int_equal(pthread_mutex_trylock(&world.partition.writer), 0);
    pthread_mutex_unlock(&world.partition.writer);
    pthread_mutex_destroy(&world.partition.writer);
}

/* ---- tests ---- */

static const struct waiting some_rows[] = {{1, 5, 1}, {1, 5, 3}, {1, 6, 2}, {2, 5, 1}, {2, 5, 2},
                                           {3, 7, 1}, {4, 7, 2}, {4, 8, 4}, {6, 7, 1}};
enum { SOME_ROWS = sizeof some_rows / sizeof *some_rows };

#define FIRST "start open 1: 3 rows [ put 1: 2 of 0 ]"
#define GRAPHS                                                                                  \
    FIRST " 2: 2 rows [ put 2: 201 of 20 linked ] 3: 1 rows [ put 3: 301 of 30 ] 4: 2 rows 6: " \
          "1 rows [ put 6: 601 of 60 ]"
#define QUADS " quads 5 1/0 2/20 3/30 6/60 +1 +3"
#define STATISTICS " statistics 52 documents 9005 quads"
#define FREED " close freed"

static void
all_that_waits_is_brought_in_or_nothing(void **state)
{
    static const struct {
        const char *fails, *calls;
    } cases[] = {
        {"", GRAPHS QUADS STATISTICS " forget commit forgotten" FREED},
        {"health", ""},
        {"start", "start"},
        {"open", "start open undo nothing to close freed"},
        {"row 0", "start open undo" FREED},
        {"row 2", "start open undo" FREED},
        {"row 3", "start open undo" FREED},
        {"row 9", FIRST " 2: 2 rows [ put 2: 201 of 20 linked ] 3: 1 rows [ put 3: 301 of 30 ] 4: "
                        "2 rows undo" FREED},
        {"get", "start open undo" FREED},
        {"rows", "start open 1: 3 rows undo" FREED},
        {"resolve", "start open 1: 3 rows undo" FREED},
        {"put", FIRST " undo" FREED},
        {"quads", GRAPHS QUADS " undo" FREED},
        {"statistics", GRAPHS QUADS STATISTICS " undo" FREED},
        {"forget", GRAPHS QUADS STATISTICS " forget undo" FREED},
        {"commit", GRAPHS QUADS STATISTICS " forget commit" FREED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        char text[64] = "";
        uint64_t added = 99;
        const bool good = cases[i].fails[0] == '\0', sick = strcmp(cases[i].fails, "health") == 0;
        begin(cases[i].fails, some_rows, SOME_ROWS);
        world.partition.staged.merged = 1000;
        const enum status status = partition_merge_staged(&world.partition, &added, &why);
        if (strcmp(world.calls, cases[i].calls) != 0) {
            fail_msg("%s: %s, not %s", cases[i].fails, world.calls, cases[i].calls);
        }
        if (!good) {
            snprintf(text, sizeof text, "%s failed", cases[i].fails);
        }
        assert_int_equal(status, good ? STATUS_OK : STATUS_FULL);
        assert_string_equal(why.text, text);
        assert_int_equal(atomic_load(&world.partition.writes), sick ? STATUS_CORRUPT : status);
        assert_int_equal(added, good ? 1005 : 99);
        assert_int_equal(world.partition.staged.merged, good ? 0 : 1000);
        end();
    }
}

/* Until somebody asks for it. */
static void
what_was_added_is_counted(void **state)
{
    (void)state;
    struct reason why = {""};
    uint64_t added = 0;
    begin("", some_rows, SOME_ROWS);
    assert_int_equal(partition_merge_staged(&world.partition, NULL, &why), STATUS_OK);
    assert_int_equal(world.partition.staged.merged, 5);
    world.next = 0;
    world.runs = 1;
    assert_int_equal(partition_merge_staged(&world.partition, &added, &why), STATUS_OK);
    assert_int_equal(added, 10);
    world.calls[0] = '\0';
    assert_int_equal(partition_merge_staged(&world.partition, &added, &why), STATUS_OK);
    assert_int_equal(added, 0);
    assert_string_equal(world.calls, "");
    end();
}

static void
nothing_waits_while_copies_are_made(void **state)
{
    (void)state;
    struct reason why = {""};
    for (int fails = 0; fails < 2; fails++) {
        begin(fails ? "put" : "", some_rows, SOME_ROWS);
        assert_int_equal(partition_hold_staging(&world.partition, &why),
                         fails ? STATUS_FULL : STATUS_OK);
        assert_int_equal(world.partition.staged.held, fails ? 0 : 1);
        if (!fails) {
            assert_non_null(strstr(world.calls, "forgotten"));
            assert_int_equal(partition_hold_staging(&world.partition, &why), STATUS_OK);
            assert_int_equal(world.partition.staged.held, 2);
            partition_release_staging(&world.partition);
            assert_int_equal(world.partition.staged.held, 1);
            assert_int_equal(pthread_mutex_trylock(&world.partition.writer), 0);
            pthread_mutex_unlock(&world.partition.writer);
        }
        end();
    }
}

/* Each row may change a block, but no more than there are, twice. */
static void
the_disk_must_have_room_for_it(void **state)
{
    static const uint64_t rows[] = {1, 2, 48, 49, 1000};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reason why = {""};
        begin("", some_rows, 1);
        world.waiting = rows[i];
        assert_int_equal(partition_merge_staged(&world.partition, NULL, &why), STATUS_OK);
        const uint64_t blocks = rows[i] * 4096 < 2 * BYTES ? rows[i] * 4096 : 2 * BYTES;
        assert_int_equal(world.bytes, blocks + rows[i] * 400);
        end();
    }
}

/* A large graph is taken in parts that end with a subject. */
static void
a_large_graph_comes_in_parts(void **state)
{
    enum { PART = 1 << 16, ALL = 3 * PART };
    static struct waiting rows[ALL];
    static const struct {
        size_t whole; /* rows each of a subject of its own; then all have one */
        const char *parts;
    } cases[] = {
        {ALL, "start open 2: 65536 rows 2: 65536 rows 2: 65536 rows quads"},
        {PART, "start open 2: 65536 rows 2: 131072 rows quads"},
        {PART - 1, "start open 2: 196608 rows quads"},
        {PART + 1, "start open 2: 65536 rows 2: 131072 rows quads"},
        {2 * PART - 1, "start open 2: 65536 rows 2: 131072 rows quads"},
        {2 * PART, "start open 2: 65536 rows 2: 65536 rows 2: 65536 rows quads"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        for (size_t k = 0; k < ALL; k++) {
            const size_t subject = k < cases[i].whole ? k : cases[i].whole;
            rows[k] = (struct waiting){2, (unsigned)subject, 2};
        }
        begin("", rows, ALL);
        assert_int_equal(partition_merge_staged(&world.partition, NULL, &why), STATUS_OK);
        world.calls[strlen(cases[i].parts)] = '\0';
        assert_string_equal(world.calls, cases[i].parts);
        end();
    }
}

/* Names of graphs are kept while there is room for them; each counts for its host. */
static void
graphs_count_for_their_hosts(void **state)
{
    static const struct waiting rows[] = {{1, 1, 1}, {2, 1, 1}, {2, 2, 3}, {3, 1, 1}, {4, 1, 1},
                                          {5, 1, 1}, {6, 1, 1}, {8, 1, 1}, {9, 1, 1}};
    static const size_t names[] = {0, 300000, 600000, 1000000, 1048000};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct reason why = {""};
        begin("", rows, sizeof rows / sizeof *rows);
        world.long_names = names[i];
        world.hosts = true;
        assert_int_equal(partition_merge_staged(&world.partition, NULL, &why), STATUS_OK);
        assert_non_null(strstr(world.calls, "9009 quads h1.example 2 4 h0.example 0 5 forget"));
        end();
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_waits_is_brought_in_or_nothing),
        cmocka_unit_test(what_was_added_is_counted),
        cmocka_unit_test(nothing_waits_while_copies_are_made),
        cmocka_unit_test(the_disk_must_have_room_for_it),
        cmocka_unit_test(a_large_graph_comes_in_parts),
        cmocka_unit_test(graphs_count_for_their_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
