/* Terms by their numbers while more are appended: whatever is committed is found at any moment. */
#include "tests/unit/index/index_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#include "index/terms/nodes.h"

enum { TERMS = 1500, TOGETHER = 3, CACHE = 1 << 20 };

static char folder[SCRATCH_SIZE];
static struct environment *environment;
static struct nodes *nodes;

static int
set_up(void **state)
{
    (void)state;
    struct reason why = {""};
    assert_true(scratch_folder(folder, "test_index_nodes"));
    const struct environment_options options = {
        .folder = folder, .cache_bytes = CACHE, .checkpoint_bytes = CACHE};
    must(environment_open(&environment, &options, &why), &why);
    must(nodes_open(&nodes, environment, 1, &why), &why); /* no room for unpacked blocks */
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    nodes_close(nodes);
    environment_close(environment);
    fixture_run("rm -rf %s%s", folder, "");
    return 0;
}

struct reading {
    atomic_uint_fast64_t committed; /* numbers below */
    atomic_bool end;
    uint64_t looks, failures;
    struct reason why;
};

static void *
look_for_the_last(void *context)
{
    struct reading *reading = context;
    struct arena arena;
    arena_init(&arena, 0);
    while (!atomic_load(&reading->end)) {
        const uint64_t number = atomic_load(&reading->committed) - 1;
        struct nodes_reader *reader = nodes_reader_new(nodes); /* which remembers nothing */
        struct term term;
        if (number > 0) {
            const enum status status = nodes_resolve(reader, oid_stored(number, OID_KIND_STRING),
                                                     &arena, &term, &reading->why);
            reading->looks++;
            reading->failures += status != STATUS_OK;
        }
        nodes_reader_free(reader);
        arena_reset(&arena);
    }
    arena_release(&arena);
    return NULL;
}

struct literal {
    uint64_t number; /* of the first of them */
    char text[32];
    struct term term;
};

static const struct term *
literal_at(void *context, size_t i)
{
    struct literal *literal = context;
    snprintf(literal->text, sizeof literal->text, "literal %llu",
             (unsigned long long)literal->number + i);
    literal->term = term_literal(slice_string(literal->text));
    return &literal->term;
}

static void
the_last_terms_are_found_while_their_block_is_filled(void **state)
{
    (void)state;
    pthread_t reader;
    struct reason why = {""};
    struct reading reading = {.committed = 1};
    assert_int_equal(pthread_create(&reader, NULL, look_for_the_last, &reading), 0);
    for (uint64_t number = 1; number < TERMS; number += TOGETHER) {
        struct transaction *transaction;
        struct literal literal = {.number = number};
        must(transaction_begin(&transaction, environment, 0, &why), &why);
        must(nodes_append(nodes, transaction, literal_at, &literal, TOGETHER, &why), &why);
        must(transaction_commit_unsynced(transaction, &why), &why);
        nodes_committed(nodes);
        atomic_store(&reading.committed, nodes_next(nodes));
    }
    atomic_store(&reading.end, true);
    pthread_join(reader, NULL);
    print_message("%llu looks\n", (unsigned long long)reading.looks);
    assert_true(reading.looks > 0);
    if (reading.failures > 0) {
        fail_msg("%llu terms were not found: %s", (unsigned long long)reading.failures,
                 reading.why.text);
    }
}

static enum status
expect_next(void *context, oid id, const struct term *term, struct reason *why)
{
    uint64_t *number = context;
    char text[32];
    (void)why;
    snprintf(text, sizeof text, "literal %llu", (unsigned long long)++*number);
    assert_int_equal(oid_number(id), *number);
    assert_true(slice_is(term->value, text));
    return STATUS_OK;
}

static void
a_walk_finds_all_in_order(void **state)
{
    (void)state;
    uint64_t number = 0;
    struct reason why = {""};
    must(nodes_walk(nodes, 1, expect_next, &number, &why), &why);
    assert_int_equal(number + 1, nodes_next(nodes));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_terms_are_found_while_their_block_is_filled),
        cmocka_unit_test(a_walk_finds_all_in_order),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
