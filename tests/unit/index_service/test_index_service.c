/* The query service as its clients see it, with one partition and with three. */
#include <stdatomic.h>

#include "index/serve/cursor.h"
#include "index/serve/index_service.h"
#include "tests/unit/index_service/lookup_checks.h"
#include "tests/unit/index_service/service_world.h"

/* The default graph may be one graph; a query may be explained. */
static void
check_options(struct service_world *world, struct buf *out)
{
    struct reason why = {""};
    struct index_query_options options = {.default_graph = SLICE("http://own.example/none")};
    buf_reset(out);
    must(index_query(world->client, SLICE("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"), "csv", &options,
                     fixture_append, out, &why),
         &why);
    assert_string_equal(out->data, "n\r\n0\r\n");
    options = (struct index_query_options){.answer = INDEX_ANSWER_PLAN};
    for (int measured = 0; measured < 2; measured++) {
        buf_reset(out);
        must(index_query(world->client, SLICE("SELECT * { ?s ?p ?o } LIMIT 3"), "", &options,
                         fixture_append, out, &why),
             &why);
        assert_non_null(strstr(out->data, "scan ?s ?p ?o"));
        assert_int_equal(strstr(out->data, "slice offset 0, limit 3 (about 3 rows; 3 rows") != NULL,
                         measured);
        options.answer = INDEX_ANSWER_MEASURED;
    }
}

static void
check_answers(size_t count)
{
    struct service_world world;
    struct buf out, expected;
    struct reason why = {""};
    buf_init(&out, SERVICE_ANSWER);
    buf_init(&expected, SERVICE_ANSWER);
    service_world_start(&world, count);

    fixture_canonical(service_documents, SERVICE_DOCUMENTS, &expected);
    must(index_dump(world.client, NULL, fixture_append, &out, &why), &why);
    assert_true(slice_equal(buf_slice(&out), buf_slice(&expected)));

    struct index_stats stats;
    must(index_stats_get(world.client, &stats, &why), &why);
    assert_int_equal(stats.documents, SERVICE_DOCUMENTS);
    assert_int_equal(stats.quads, service_lines(&expected));

    buf_reset(&out);
    must(index_verify(world.client, fixture_append, &out, &why), &why);

    const struct quad any = {.predicate = {.kind = TERM_NONE}};
    buf_reset(&out);
    must(index_pattern(world.client, &any, 0, fixture_append, &out, &why), &why);
    assert_int_equal(service_lines(&out), stats.quads);
    buf_reset(&out);
    must(index_pattern(world.client, &any, 17, fixture_append, &out, &why), &why);
    assert_int_equal(service_lines(&out), 17);
    const struct quad one = {.subject = term_iri(SLICE("http://s.example/a")),
                             .object = term_literal(SLICE("a plain text"))};
    buf_reset(&out);
    must(index_pattern(world.client, &one, 0, fixture_append, &out, &why), &why);
    assert_string_equal(out.data, "<http://s.example/a> <http://own.example/link> \"a plain text\" "
                                  "<http://host1.example/document/1> .\n");

    buf_reset(&out);
    must(index_search(world.client, SLICE("plain text"), 10, fixture_append, &out, &why), &why);
    assert_int_equal(service_lines(&out), 1);
    assert_non_null(strstr(out.data, "\t\"a plain text\"\t<http://s.example/a>\t"));
    buf_reset(&out);
    must(index_search(world.client, SLICE("number"), 5, fixture_append, &out, &why), &why);
    assert_int_equal(service_lines(&out), 5);

    lookup_checks(world.client);

    service_world_query(&world,
                        "SELECT ?o WHERE { <http://s.example/a> <http://own.example/link> ?o }"
                        " ORDER BY ?o",
                        "csv", &out);
    assert_string_equal(out.data, "o\r\nhttp://t.example/3\r\na plain text\r\n");
    service_world_query(&world, "SELECT (COUNT(*) AS ?n) WHERE { GRAPH ?g { ?s ?p ?o } }", "csv",
                        &out);
    char text[64];
    snprintf(text, sizeof(text), "n\r\n%lu\r\n", (unsigned long)stats.quads);
    assert_string_equal(out.data, text);
    assert_int_equal(index_query(world.client, SLICE("SELECT nonsense"), "csv",
                                 &(struct index_query_options){0}, fixture_append, &out, &why),
                     STATUS_BAD_INPUT);
    service_world_query(&world, "SELECT * { <http://own.example/none> ?p ?o }", "csv", &out);
    assert_string_equal(out.data, "p,o\r\n");
    check_options(&world, &out);

    service_world_stop(&world);
    buf_release(&out);
    buf_release(&expected);
}

static void
one_partition_answers(void **state)
{
    (void)state;
    check_answers(1);
}

static void
three_partitions_answer_as_one(void **state)
{
    (void)state;
    check_answers(3);
}

static size_t
found(struct service_world *world)
{
    const struct index_find find = {.words = SLICE("fresh"), .limit = 1000};
    struct reason why = {""};
    struct arena arena;
    size_t count = 0;
    arena_init(&arena, 0);
    must(index_find(world->client, &find, &arena, lookup_count, &count, &why), &why);
    arena_release(&arena);
    return count;
}

static void
take_value(void *out, size_t resource, size_t predicate, const struct term *object)
{
    (void)buf_printf(out, "%zu %zu %.*s\n", resource, predicate, SLICE_PRINT(object->value));
}

/* The few statements that are wanted are given of many. */
static void
check_large_resource(struct service_world *world)
{
    static const struct slice predicates[] = {SLICE_INIT("http://p.example/first"),
                                              SLICE_INIT("http://p.example/last"),
                                              SLICE_INIT("http://p.example/none")};
    const struct term many = term_iri(SLICE("http://s.example/many")),
                      one = term_iri(SLICE("http://s.example/0")),
                      document = term_iri(SLICE("http://host1.example/document/1"));
    const struct index_resource resources[] = {{many, document}, {one, document}, {many, document}};
    struct reason why = {""};
    struct arena arena;
    struct buf said;
    arena_init(&arena, 0);
    buf_init(&said, SERVICE_ANSWER);
    must(index_describe(world->client, resources, 3, predicates, 3, 0, &arena, take_value, &said,
                        &why),
         &why);
    assert_string_equal(said.data,
                        "0 0 value 0\n0 1 end 199\n1 1 fresh 0\n2 0 value 0\n2 1 end 199\n");
    buf_release(&said);
    arena_release(&arena);
}

/* Answers are kept until something changes that they rest on, and no longer. */
static void
lookups_see_each_commit(void **state)
{
    (void)state;
    struct service_world world;
    struct reason why = {""};
    struct buf quads;
    service_world_start(&world, 1);
    buf_init(&quads, SERVICE_ANSWER);
    for (size_t i = 0; i < 200; i++) {
        const char *predicate = i == 0 ? "first" : i == 199 ? "last" : "middle";
        const char *value = i == 0 ? "value" : i == 199 ? "end" : "other";
        (void)buf_printf(&quads,
                         "<http://s.example/many> <http://p.example/%s> \"%s %zu\" "
                         "<http://host1.example/document/1> .\n",
                         predicate, value, i);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(found(&world), i);
        assert_int_equal(found(&world), i);
        struct index_batch *batch = index_batch_new(world.partitions[0]);
        (void)buf_printf(&quads,
                         "<http://s.example/%zu> <http://p.example/last> \"fresh %zu\" "
                         "<http://host1.example/document/1> .\n",
                         i, i);
        fixture_add(batch, 1, 2 + (uint32_t)i, &quads);
        must(index_batch_commit(batch, &why), &why);
        index_batch_free(batch);
        must(partition_settle(world.partitions[0], &why), &why);
    }
    check_large_resource(&world);
    lookup_checks_kept(world.client, world.partitions[0]);
    buf_release(&quads);
    service_world_stop(&world);
}

/* The linker puts these in the place of what an answer is written with: they note how much at
 * once. */
static atomic_size_t longest_write;
enum status __real_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *why);
enum status __real_cursor_write_last(struct cursor *cursor, struct slice bytes, struct reason *why);
enum status __wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *why);
enum status __wrap_cursor_write_last(struct cursor *cursor, struct slice bytes, struct reason *why);

static void
note_write(size_t length)
{
    if (length > atomic_load(&longest_write)) {
        atomic_store(&longest_write, length);
    }
}

enum status
__wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *why)
{
    note_write(bytes.length);
    return __real_cursor_write(cursor, bytes, why);
}

enum status
__wrap_cursor_write_last(struct cursor *cursor, struct slice bytes, struct reason *why)
{
    note_write(bytes.length);
    return __real_cursor_write_last(cursor, bytes, why);
}

/* Few long literals are in the service's memory at once, however many are found. */
static void
long_literals_are_written_bit_by_bit(void **state)
{
    enum { STATEMENTS = 2000, LENGTH = 4096 };
    (void)state;
    struct service_world world;
    struct reason why = {""};
    struct buf quads;
    struct arena arena;
    size_t count = 0;
    service_world_start(&world, 1);
    buf_init(&quads, SERVICE_ANSWER);
    for (int i = 0; i < STATEMENTS; i++) {
        (void)buf_printf(&quads,
                         "<http://s.example/long> <http://p.example/text> \"%0*d\" "
                         "<http://host2.example/document/2> .\n",
                         LENGTH, i);
    }
    struct index_batch *batch = index_batch_new(world.partitions[0]);
    fixture_add(batch, 2, 2, &quads);
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
    const struct quad pattern = {.subject = term_iri(SLICE("http://s.example/long"))};
    const struct index_find find = {.patterns = &pattern, .pattern_count = 1, .limit = UINT32_MAX};
    arena_init(&arena, 0);
    atomic_store(&longest_write, 0);
    must(index_find(world.client, &find, &arena, lookup_count, &count, &why), &why);
    assert_int_equal(count, STATEMENTS);
    assert_in_range(atomic_load(&longest_write), 1, STATEMENTS * LENGTH / 4);
    arena_release(&arena);
    buf_release(&quads);
    service_world_stop(&world);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    service_stop(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_partition_answers),
        cmocka_unit_test(three_partitions_answer_as_one),
        cmocka_unit_test(partitions_estimate_stars),
        cmocka_unit_test(partitions_evaluate_their_share),
        cmocka_unit_test(partition_of_the_graphs_answers_alone),
        cmocka_unit_test(links_come_from_patterns_and_queries),
        cmocka_unit_test(vocabularies_are_links),
        cmocka_unit_test(links_of_many_documents_come_to_whom_they_belong),
        cmocka_unit_test(readers_see_old_or_new_never_a_mixture),
        cmocka_unit_test(short_queries_pass_long_ones),
        cmocka_unit_test(unread_cursors_make_way),
        /* last: these change the documents */
        cmocka_unit_test(lookups_see_each_commit),
        cmocka_unit_test(long_literals_are_written_bit_by_bit),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, service_set_up, service_tear_down);
}
