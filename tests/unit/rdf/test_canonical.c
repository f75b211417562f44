#include "rdf/canonical/canonical.h"

#include <stdio.h>

#include "rdf/nquads/nquads.h"
#include "tests/unit/rdf/canonical_model.h"
#include "tests/unit/rdf/rdf_case.h"

static void
load(struct graph *graph, const char *text)
{
    graph_init(graph, 0);
    const struct quad_sink sink = graph_sink(graph);
    assert_int_equal(nquads_parse(slice_string(text), NULL, &sink, NULL), STATUS_OK);
}

static void
assert_graph(const struct graph *graph, const char *expected)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    for (size_t i = 0; i < graph->count; i++) {
        assert_int_equal(nquads_write(&out, &graph->quads[i]), STATUS_OK);
    }
    assert_string_equal(out.data ? out.data : "", expected);
    buf_release(&out);
}

static void
test_sorting_is_that_of_lines(void **state)
{
    struct graph graph;
    (void)state;
    load(&graph, "_:b <a:p> <a:o> .\n"
                 "<a:s> <a:p> \"x\"@en <a:g> .\n"
                 "<a:s> <a:p> \"x\"^^<a:t> .\n"
                 "<a:s> <a:p> \"x\" _:g .\n"
                 "<a:s> <a:p> \"x\" <a:g> .\n"
                 "<a:s> <a:p> \"x\" .\n"
                 "<a:s> <a:p> \"x\" .\n"
                 "<a:s> <a:p> \"x \" .\n"
                 "<a:s> <a:p> \"x\\n\" .\n"
                 "<a:s> <a:p> \"xA\" .\n"
                 "<a:s> <a:p> \"x\xEF\xBF\xBE\" .\n"
                 "<a:s> <a:p> \"x\xEF\xBF\xBD\" .\n"
                 "<a:s/> <a:p> <a:o> .\n"
                 "<a:sA> <a:p> <a:o> .\n");
    graph_sort_unique(&graph);
    assert_graph(&graph, "<a:s/> <a:p> <a:o> .\n"
                         "<a:s> <a:p> \"x \" .\n"
                         "<a:s> <a:p> \"x\" .\n"
                         "<a:s> <a:p> \"x\" <a:g> .\n"
                         "<a:s> <a:p> \"x\" _:g .\n"
                         "<a:s> <a:p> \"x\"@en <a:g> .\n"
                         "<a:s> <a:p> \"x\"^^<a:t> .\n"
                         "<a:s> <a:p> \"xA\" .\n"
                         "<a:s> <a:p> \"x\\n\" .\n"
                         "<a:s> <a:p> \"x\\uFFFE\" .\n"
                         "<a:s> <a:p> \"x\xEF\xBF\xBD\" .\n"
                         "<a:sA> <a:p> <a:o> .\n"
                         "_:b <a:p> <a:o> .\n");
    graph_release(&graph);
}

static void
test_labels_and_order_do_not_matter(void **state)
{
    static const char *const texts[] = {
        "_:a <a:p> _:b .\n_:b <a:q> \"1\" .\n_:c <a:p> _:d .\n_:d <a:p> _:c .\n",
        "_:x <a:p> _:y .\n_:y <a:p> _:x .\n_:y <a:p> _:x .\n_:d <a:q> \"1\" .\n_:q <a:p> _:d .\n",
    };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct graph graph;
        load(&graph, texts[i]);
        assert_int_equal(graph_canonicalize(&graph, CANONICAL_SHA256, 0, NULL), STATUS_OK);
        assert_graph(&graph, "_:c14n0 <a:q> \"1\" .\n_:c14n1 <a:p> _:c14n0 .\n"
                             "_:c14n2 <a:p> _:c14n3 .\n_:c14n3 <a:p> _:c14n2 .\n");
        graph_release(&graph);
    }
}

static void
test_relabelling_depends_on_document_and_graph(void **state)
{
    struct graph graph;
    bool canonical = false;
    (void)state;
    load(&graph, "_:b <a:p> \"2\" .\n_:a <a:p> \"1\" .\n<a:s> <a:p> \"1\" .\n");
    assert_int_equal(graph_relabel(&graph, SLICE("http://a.example/"), 0, &canonical, NULL),
                     STATUS_OK);
    assert_true(canonical);
    graph_sort_unique(&graph);
    char expected[256];
    const unsigned long long print = fingerprint64(SLICE("http://a.example/"));
    snprintf(expected, sizeof expected,
             "<a:s> <a:p> \"1\" .\n_:d%016llxn0 <a:p> \"2\" .\n_:d%016llxn1 <a:p> \"1\" .\n", print,
             print);
    assert_graph(&graph, expected);
    graph_release(&graph);
}

/* Every node refers to every other: all permutations have to be tried. */
static void
load_clique(struct graph *graph)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    for (int i = 0; i < 12; i++) {
        for (int j = 0; j < 12; j++) {
            if (i != j) {
                buf_printf(&text, "_:n%d <a:p> _:n%d .\n", i, j);
            }
        }
    }
    load(graph, text.data);
    buf_release(&text);
}

static void
test_work_is_bounded_and_labels_fall_back_to_order(void **state)
{
    struct graph graph;
    struct reason why;
    bool canonical = true;
    struct canonical_map map;
    (void)state;
    load_clique(&graph);
    assert_int_equal(canonical_issue(&graph, CANONICAL_SHA256, 10000, &map, &why), STATUS_LIMIT);
    assert_int_equal(map.count, 12);
    assert_true(slice_is(map.labels[1], "n1"));
    assert_int_equal(map.numbers[1], UINT32_MAX);
    canonical_map_release(&map);
    assert_int_equal(graph_canonicalize(&graph, CANONICAL_SHA256, 10000, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "the graph's blank nodes are too alike");
    assert_int_equal(graph_relabel(&graph, SLICE("u:"), 10000, &canonical, &why), STATUS_OK);
    assert_false(canonical);
    assert_int_equal(graph.count, 132);
    assert_int_equal(graph.quads[0].subject.value.at[17], 'p');
    graph_release(&graph);
}

static void
test_a_long_chain_of_like_nodes_does_not_overflow_the_stack(void **state)
{
    struct buf text;
    struct graph graph;
    (void)state;
    buf_init(&text, 16 << 20);
    for (int i = 0; i < 100000; i++) {
        buf_printf(&text, "_:n%d <a:p> _:n%d .\n", i, i + 1);
    }
    load(&graph, text.data);
    assert_int_equal(graph_canonicalize(&graph, CANONICAL_SHA256, 0, NULL), STATUS_LIMIT);
    graph_release(&graph);
    buf_release(&text);
}

static void
test_the_digest_is_that_of_the_text(void **state)
{
    struct graph graph;
    uint8_t digest[DIGEST_SHA256_SIZE], expected[DIGEST_SHA256_SIZE];
    (void)state;
    load(&graph, "<a:s> <a:p> \"\\t\" .\n<a:s> <a:p> \"b\" .\n");
    graph_digest(&graph, digest);
    digest_sha256(SLICE("<a:s> <a:p> \"\\t\" .\n<a:s> <a:p> \"b\" .\n"), expected);
    assert_memory_equal(digest, expected, sizeof digest);
    graph_reset(&graph);
    graph_digest(&graph, digest);
    digest_sha256(SLICE(""), expected);
    assert_memory_equal(digest, expected, sizeof digest);
    graph_release(&graph);
}

static void
test_a_graph_has_a_maximum(void **state)
{
    struct graph graph;
    struct reason why;
    (void)state;
    graph_init(&graph, 64 << 10);
    const struct quad_sink sink = graph_sink(&graph);
    struct buf text;
    buf_init(&text, 1 << 20);
    for (int i = 0; i < 1000; i++) {
        buf_printf(&text, "<a:%d> <a:p> <a:o> .\n", i);
    }
    assert_int_equal(nquads_parse(buf_slice(&text), NULL, &sink, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "graph is larger than 65536 bytes");
    graph_release(&graph);
    buf_release(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorting_is_that_of_lines),
        cmocka_unit_test(test_labels_and_order_do_not_matter),
        cmocka_unit_test(test_relabelling_depends_on_document_and_graph),
        cmocka_unit_test(test_work_is_bounded_and_labels_fall_back_to_order),
        cmocka_unit_test(test_a_long_chain_of_like_nodes_does_not_overflow_the_stack),
        cmocka_unit_test(test_the_digest_is_that_of_the_text),
        cmocka_unit_test(test_a_graph_has_a_maximum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + canonical_model_run();
}
