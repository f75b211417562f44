/* Updates over a store that is an array of quads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdf/core/writer.h"
#include "rdf/nquads/nquads.h"
#include "tests/update_store.h"

static struct {
    struct update_store quads;
    struct slice default_graph, graphs, blank_prefix;
    struct buf text;
    char loaded[256];
} store;

static enum status
store_load(void *context, struct slice document, struct slice graph, struct reason *why)
{
    (void)context, (void)why;
    snprintf(store.loaded, sizeof store.loaded, "%.*s>%.*s", SLICE_PRINT(document),
             SLICE_PRINT(graph));
    return STATUS_OK;
}

static enum status
update(const char *text, struct reason *why)
{
    const struct update_target target = update_store_target(&store.quads, store_load);
    const struct update_options options = {
        .query = {.default_graph = store.default_graph, .graphs = store.graphs},
        .blank_prefix = store.blank_prefix.length ? store.blank_prefix : SLICE("t")};
    struct update *prepared;
    TRY(update_prepare(&prepared, slice_string(text), SLICE("http://b.example/"), why));
    const enum status status = update_run(prepared, &target, &options, NULL, why);
    update_free(prepared);
    return status;
}

/* Starts with `before`, updates, compares with `after`; both N-Quads, sorted. */
static void
check(const char *before, const char *text, const char *after)
{
    struct reason why = {""};
    graph_reset(&store.quads.quads);
    const struct quad_sink sink = graph_sink(&store.quads.quads);
    assert_int_equal(nquads_parse(slice_string(before), NULL, &sink, &why), STATUS_OK);
    if (update(text, &why) != STATUS_OK) {
        fail_msg("%s: %s", text, why.text);
    }
    buf_reset(&store.text);
    graph_sort_unique(&store.quads.quads);
    for (size_t i = 0; i < store.quads.quads.count; i++) {
        nquads_write(&store.text, &store.quads.quads.quads[i]);
    }
    assert_string_equal(store.text.data ? store.text.data : "", after);
}

static void
fails(const char *text, enum status status, const char *reason)
{
    struct reason why = {""};
    assert_int_equal(update(text, &why), status);
    assert_non_null(strstr(why.text, reason));
}

static void
test_data(void **state)
{
    (void)state;
    check("",
          "INSERT DATA { <a:s> <a:p> 1, \"x\"@en . GRAPH <a:g> { <a:s> a <a:T> } <a:t> <a:p> <r> }",
          "<a:s> <a:p> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> <urn:x-quadrille:default> "
          ".\n"
          "<a:s> <a:p> \"x\"@en <urn:x-quadrille:default> .\n"
          "<a:s> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <a:T> <a:g> .\n"
          "<a:t> <a:p> <http://b.example/r> <urn:x-quadrille:default> .\n");
    check("<a:s> <a:p> <a:o> <a:g> .\n<a:s> <a:p> <a:o> <a:h> .\n",
          "DELETE DATA { GRAPH <a:g> { <a:s> <a:p> <a:o>, <a:none> } }",
          "<a:s> <a:p> <a:o> <a:h> .\n");
    check("<a:s> <a:p> <a:o> <a:g> .\n<a:s> <a:p> <a:o> <a:h> .\n<a:s> <a:p> <a:q> <a:h> .\n",
          "DELETE DATA { <a:s> <a:p> <a:o> }", "<a:s> <a:p> <a:q> <a:h> .\n");
    check("<a:s> <a:p> <a:o> <a:g> .\n",
          "DELETE DATA { <a:s> <a:p> <a:none> . <a:none> <a:p> <a:o> . <a:s> <a:none> <a:o> }",
          "<a:s> <a:p> <a:o> <a:g> .\n");
    check("", "INSERT DATA { GRAPH <a:g> { _:x <a:p> _:x } }",
          "_:uto0x0x0 <a:p> _:uto0x0x0 <a:g> .\n");
    /* Of a prefix that is long its beginning is taken. */
    store.blank_prefix = SLICE("abcdefghijklmnopqrstuvwxyz");
    check("", "INSERT DATA { GRAPH <a:g> { _:x <a:p> 1 } }",
          "_:uabcdefghijklmnopqrstuvwxo0x0x0 <a:p> "
          "\"1\"^^<http://www.w3.org/2001/XMLSchema#integer> <a:g> .\n");
    store.blank_prefix = (struct slice){0};
    check("<a:s> <a:p> <a:o> <a:g> .\n", "", "<a:s> <a:p> <a:o> <a:g> .\n");
}

static void
test_modify(void **state)
{
    (void)state;
    check("<a:s> <a:p> \"1\" <a:g> .\n<a:t> <a:p> \"2\" <a:h> .\n",
          "WITH <a:g> DELETE { ?s <a:p> ?v } INSERT { ?s <a:q> ?v } WHERE { ?s <a:p> ?v }",
          "<a:s> <a:q> \"1\" <a:g> .\n<a:t> <a:p> \"2\" <a:h> .\n");
    check("<a:s> <a:p> \"1\" <a:g> .\n<a:t> <a:p> \"2\" <a:h> .\n",
          "INSERT { GRAPH ?g { ?g <a:has> ?s } } WHERE { GRAPH ?g { ?s <a:p> ?v } }",
          "<a:g> <a:has> <a:s> <a:g> .\n<a:h> <a:has> <a:t> <a:h> .\n"
          "<a:s> <a:p> \"1\" <a:g> .\n<a:t> <a:p> \"2\" <a:h> .\n");
    check("<a:s> <a:p> \"1\" <a:g> .\n<a:s> <a:p> \"2\" <a:h> .\n",
          "DELETE { GRAPH <a:g> { ?s ?p ?v } } USING <a:h> WHERE { ?s ?p ?w . BIND(\"1\" AS ?v) }",
          "<a:s> <a:p> \"2\" <a:h> .\n");
    check("<a:s> <a:p> \"1\" <a:g> .\n<a:s> <a:p> \"2\" <a:h> .\n",
          "DELETE WHERE { GRAPH <a:g> { ?s <a:p> ?v } }", "<a:s> <a:p> \"2\" <a:h> .\n");
    /* A literal cannot be a subject: that quad alone is left out. */
    check("<a:s> <a:p> \"1\" <a:g> .\n",
          "INSERT { GRAPH <a:g> { ?v <a:q> ?s . ?s <a:q> ?v } } WHERE { ?s <a:p> ?v }",
          "<a:s> <a:p> \"1\" <a:g> .\n<a:s> <a:q> \"1\" <a:g> .\n");
    /* A later operation sees an earlier one. */
    check("",
          "PREFIX a: <a:> INSERT DATA { GRAPH a:g { a:s a:p 1 } } ;\n"
          "PREFIX b: <b:> INSERT { GRAPH b:h { ?s b:n 2 } } WHERE { ?s a:p 1 } ;",
          "<a:s> <a:p> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> <a:g> .\n"
          "<a:s> <b:n> \"2\"^^<http://www.w3.org/2001/XMLSchema#integer> <b:h> .\n");
    /* A new node for each solution. */
    check("<a:s> <a:p> \"1\" <a:g> .\n<a:s> <a:p> \"2\" <a:g> .\n",
          "DELETE { ?s ?p ?v } INSERT { GRAPH <a:g> { _:n <a:v> ?v } } WHERE { ?s ?p ?v }",
          "_:uto0x0x0 <a:v> \"1\" <a:g> .\n_:uto0x1x0 <a:v> \"2\" <a:g> .\n");
}

static void
test_graphs(void **state)
{
    static const char two[] = "<a:s> <a:p> \"1\" <a:g> .\n<a:t> <a:p> \"2\" <a:h> .\n";
    (void)state;
    check(two, "CLEAR GRAPH <a:g>", "<a:t> <a:p> \"2\" <a:h> .\n");
    check(two, "DROP ALL", "");
    check(two, "COPY <a:g> TO GRAPH <a:h>",
          "<a:s> <a:p> \"1\" <a:g> .\n<a:s> <a:p> \"1\" <a:h> .\n");
    check(two, "MOVE GRAPH <a:g> TO <a:h>", "<a:s> <a:p> \"1\" <a:h> .\n");
    check(two, "ADD <a:g> TO DEFAULT",
          "<a:s> <a:p> \"1\" <a:g> .\n<a:s> <a:p> \"1\" <urn:x-quadrille:default> .\n"
          "<a:t> <a:p> \"2\" <a:h> .\n");
    check(two, "MOVE <a:g> TO <a:g>", two);
    check(two, "CREATE SILENT GRAPH <a:g> ; CREATE GRAPH <a:new> ; COPY SILENT <a:none> TO <a:g>",
          two);
    fails("CREATE GRAPH <a:g>", STATUS_BAD_INPUT, "operation 1: the graph <a:g> exists");
    fails("MOVE <a:none> TO <a:g>", STATUS_NOT_FOUND, "<a:none> does not exist");
    check("", "LOAD <http://d.example/>", "");
    assert_string_equal(store.loaded, "http://d.example/>");
    check("", "LOAD <http://d.example/> INTO GRAPH <a:g>", "");
    assert_string_equal(store.loaded, "http://d.example/>a:g");
}

/* A dataset from outside stands for USING, and not beside it. */
static void
test_dataset_of_request(void **state)
{
    (void)state;
    store.graphs = SLICE("a:h\n");
    check("<s:> <p:> \"1\" <a:g> .\n<s:> <p:> \"2\" <a:h> .\n",
          "INSERT { GRAPH <a:n> { ?s ?p ?o } } WHERE { ?s ?p ?o }",
          "<s:> <p:> \"1\" <a:g> .\n<s:> <p:> \"2\" <a:h> .\n<s:> <p:> \"2\" <a:n> .\n");
    fails("INSERT { ?s ?p 1 } USING <a:g> WHERE { ?s ?p ?o }", STATUS_BAD_INPUT, "USING");
    fails("WITH <a:g> INSERT { ?s ?p 1 } WHERE { ?s ?p ?o }", STATUS_BAD_INPUT, "USING");
    store.graphs = (struct slice){0};
}

static void
test_one_default_graph(void **state)
{
    (void)state;
    store.default_graph = SLICE("d:");
    check("<a:s> <a:p> \"1\" <d:> .\n<a:s> <a:p> \"1\" <a:g> .\n",
          "DELETE { ?s ?p ?v } INSERT { ?s <a:q> ?v } WHERE { ?s ?p ?v }",
          "<a:s> <a:p> \"1\" <a:g> .\n<a:s> <a:q> \"1\" <d:> .\n");
    check("<a:s> <a:p> \"1\" <d:> .\n<a:s> <a:p> \"1\" <a:g> .\n", "CLEAR NAMED",
          "<a:s> <a:p> \"1\" <d:> .\n");
    check("<a:s> <a:p> \"1\" <d:> .\n<a:s> <a:p> \"1\" <a:g> .\n", "DROP DEFAULT",
          "<a:s> <a:p> \"1\" <a:g> .\n");
    store.default_graph = (struct slice){0};
}

static void
test_syntax_errors(void **state)
{
    (void)state;
    fails("INSERT DATA { ?s <a:p> 1 }", STATUS_BAD_INPUT, "line 1, column 15: no variable");
    fails("DELETE DATA { _:b <a:p> 1 }", STATUS_BAD_INPUT, "no blank node");
    fails("DELETE { _:b <a:p> ?x } WHERE { ?b <a:p> ?x }", STATUS_BAD_INPUT, "no blank node");
    fails("DELETE WHERE { [] <a:p> ?x }", STATUS_BAD_INPUT, "no blank node");
    fails("INSERT DATA { _:b <a:p> 1 } ; INSERT DATA { _:b <a:p> 1 }", STATUS_BAD_INPUT,
          "the label _:b");
    fails("INSERT DATA { GRAPH <a:g> { GRAPH <a:h> { <a:s> <a:p> 1 } } }", STATUS_BAD_INPUT,
          "expected '}'");
    fails("CLEAR <a:g>", STATUS_BAD_INPUT, "expected GRAPH");
    fails("CREATE GRAPH", STATUS_BAD_INPUT, "expected");
    fails("INSERT { ?s ?p ?o }", STATUS_BAD_INPUT, "WHERE");
    fails("SELECT * { ?s ?p ?o }", STATUS_BAD_INPUT, "expected an operation");
    fails("INSERT DATA { <a:s> <a:p> 1 } DELETE DATA { <a:s> <a:p> 1 }", STATUS_BAD_INPUT, "';'");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_modify),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_one_default_graph),
        cmocka_unit_test(test_dataset_of_request),
        cmocka_unit_test(test_syntax_errors),
    };
    graph_init(&store.quads.quads, 0);
    buf_init(&store.text, 1 << 20);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    update_store_release(&store.quads);
    buf_release(&store.text);
    return failed;
}
