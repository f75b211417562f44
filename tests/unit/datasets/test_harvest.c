#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/url/url.h"
#include "datasets/harvest.h"

static struct arena arena;
static struct execution execution;
static struct harvest_position at;
static struct harvest_page page;
static struct buf text;

static int
set_up(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    buf_init(&text, 1 << 20);
    harvest_page_init(&page);
    execution = (struct execution){0};
    at = (struct harvest_position){.page = 3, .number = 1, .depth = 1};
    (void)execution_add_space(&execution, SLICE("http://a.example/r/"), SLICING_NONE, &arena);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    harvest_page_release(&page);
    buf_release(&text);
    arena_release(&arena);
    return 0;
}

static bool
asks(const char *part)
{
    buf_reset(&text);
    harvest_query(&execution, &at, &text);
    const struct slice query = buf_slice(&text);
    return slice_find_slice(query, slice_string(part)) < query.length;
}

static enum status
answered(const char *ntriples)
{
    struct reason why = {""};
    return harvest_read(&page, &execution, &at, slice_string(ntriples), &why);
}

static void
test_a_position_is_read_as_it_was_written(void **state)
{
    (void)state;
    struct harvest_position read;
    at = (struct harvest_position){.bytes = 1ull << 40,
                                   .page = 2,
                                   .number = 3,
                                   .counted = 4,
                                   .triples = 5,
                                   .offset = 6,
                                   .queries = 7,
                                   .before = 8,
                                   .depth = 9,
                                   .shorter = 1,
                                   .unordered = 1,
                                   .post = 1,
                                   .after = SLICE("http://a.example/r/1")};
    harvest_encode(&at, &text);
    harvest_decode(buf_slice(&text), &read);
    assert_true(slice_equal(read.after, at.after));
    read.after = at.after;
    assert_memory_equal(&read, &at, sizeof at);
    harvest_decode(SLICE(""), &read);
    assert_int_equal(read.page, 0);
    assert_int_equal(read.after.length, 0);
}

static void
test_queries(void **state)
{
    (void)state;
    at.number = 0;
    assert_true(asks("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o FILTER("));
    at.number = 1;
    assert_true(asks("STRSTARTS(STR(?s), \"http://a.example/r/\")"));
    assert_true(asks("ORDER BY STR(?s) LIMIT 3 }"));
    assert_false(asks("STR(?s) > "));
    assert_true(asks("CONSTRUCT { ?s ?p0 ?o0 . ?o0 ?p1 ?o1 } WHERE"));
    at.after = SLICE("http://a.example/r/\"\\");
    assert_true(asks("STR(?s) > \"http://a.example/r/\\\"\\\\\""));
    at.unordered = 1;
    at.offset = 6;
    assert_true(asks("LIMIT 3 OFFSET 6"));
    assert_false(asks("ORDER BY"));
    assert_false(asks("STR(?s) > "));
    execution.graphs = true;
    assert_true(asks("GRAPH ?g { ?s ?p0 ?o0"));
    at.number = 0;
    assert_true(asks("SELECT DISTINCT ?s ?p ?o WHERE { GRAPH ?g {"));
    buf_reset(&text);
    url_append_value(&text, SLICE("a b&c?\xc3\xa4"));
    assert_true(slice_is(buf_slice(&text), "a%20b%26c%3F%C3%A4"));
}

static void
test_counts_of_all_result_syntaxes(void **state)
{
    (void)state;
    static const struct {
        const char *answer;
        uint64_t count;
    } answers[] = {
        {"n\r\n123\r\n", 123},
        {"\"n\"\n\"123\"\n", 123},
        {"{\"head\":{\"vars\":[\"n\"]},\"results\":{\"bindings\":[{\"n\":{\"type\":\"literal\","
         "\"value\": \"123\"}}]}}",
         123},
        {"<?xml version=\"1.0\"?><sparql><results><result><binding name=\"n\"><literal "
         "datatype=\"http://www.w3.org/2001/XMLSchema#integer\">123</literal>",
         123},
        {"", 0},
        {"n", 0},
        {"{}", 0},
        {"{\"value\"}", 0},
        {"<literal", 0},
        {"n\n99999999999999999999999999\n", 0},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        assert_int_equal(harvest_counted(slice_string(answers[i].answer)), answers[i].count);
    }
}

static void
test_a_page_counts_its_own_resources_once(void **state)
{
    (void)state;
    assert_int_equal(answered("<http://a.example/r/2> <http://v/p> \"x\" .\n"
                              "<http://a.example/r/1> <http://v/p> _:b .\n"
                              "<http://a.example/r/2> <http://v/p> \"x\" .\n"
                              "_:b <http://v/q> <http://a.example/r/3> .\n"
                              "<http://b.example/r/9> <http://v/p> \"y\" .\n"),
                     STATUS_OK);
    assert_int_equal(page.triples, 2);
    assert_int_equal(page.resources, 2);
    assert_true(slice_is(page.last, "http://a.example/r/2"));
    assert_false(page.deeper);
    assert_true(slice_is(buf_slice(&page.text), "<http://a.example/r/1> <http://v/p> _:p1.b .\n"
                                                "<http://a.example/r/2> <http://v/p> \"x\" .\n"
                                                "<http://b.example/r/9> <http://v/p> \"y\" .\n"
                                                "_:p1.b <http://v/q> <http://a.example/r/3> .\n"));
}

static void
test_blank_nodes_without_description_are_noticed(void **state)
{
    (void)state;
    assert_int_equal(
        answered("<http://a.example/r/1> <http://v/p> _:b .\n_:b <http://v/q> _:c .\n"), STATUS_OK);
    assert_true(page.deeper);
}

static void
test_what_is_cut_off_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(answered("<http://a.example/r/1> <http://v/p> \"x"), STATUS_BAD_INPUT);
    assert_int_equal(answered("<html>"), STATUS_BAD_INPUT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_position_is_read_as_it_was_written, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_queries, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_counts_of_all_result_syntaxes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_page_counts_its_own_resources_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_blank_nodes_without_description_are_noticed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_cut_off_is_an_error, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
