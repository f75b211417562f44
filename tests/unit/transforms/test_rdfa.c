/* These tests show what the RDFa suite does not: limits, repair of IRIs, markup that is no XML,
 * reports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "rdf/canonical/canonical.h"
#include "rdf/core/writer.h"
#include "tests/unit/brief.h"
#include "transforms/rdfa/rdfa.h"
#include "transforms/xml/xml.h"

#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
#define HEAD "<http://a.example/d> "

static struct buf reports;

static void
take_report(void *context, enum rdfa_report report, uint32_t line, const char *text)
{
    (void)context;
    buf_printf(&reports, "%d %u %s\n", (int)report, (unsigned)line, text);
}

static enum status
run(const char *page, struct rdfa_options options, struct buf *out)
{
    struct arena arena;
    struct html_tree tree;
    struct graph graph;
    struct reason why;
    arena_init(&arena, 0);
    html_tree_init(&tree, &arena);
    graph_init(&graph, 0);
    buf_reset(out);
    if (options.host == RDFA_HTML) {
        assert_int_equal(html_parse(&tree, slice_string(page), &why), STATUS_OK);
    } else {
        assert_int_equal(xhtml_parse(&tree, slice_string(page), &why), STATUS_OK);
    }
    options.base = SLICE("http://a.example/d");
    options.report = take_report;
    const struct quad_sink sink = graph_sink(&graph);
    const enum status status = rdfa_extract(&tree, &options, &sink, &why);
    graph_canonicalize(&graph, CANONICAL_SHA256, 0, &why);
    for (size_t i = 0; i < graph.count; i++) {
        nquads_write(out, &graph.quads[i]);
    }
    graph_release(&graph);
    html_tree_release(&tree);
    arena_release(&arena);
    return status;
}

static void
check_host(enum rdfa_host host, const char *page, const char *expected)
{
    struct buf out;
    buf_init(&out, 1 << 24);
    buf_init(&reports, 1 << 20);
    assert_int_equal(run(page, (struct rdfa_options){.host = host}, &out), STATUS_OK);
    assert_string_equal(out.data ? out.data : "", expected);
    buf_release(&out);
    buf_release(&reports);
}

static void
check(const char *page, const char *expected)
{
    check_host(RDFA_HTML, page, expected);
}

static void
test_iris(void **state)
{
    (void)state;
    check("<p property=og:see resource=' a b\n'>",
          HEAD "<http://ogp.me/ns#see> <http://a.example/a%20b> .\n");
    check("<p property='og:see' href='http://x/../{y}'>",
          HEAD "<http://ogp.me/ns#see> <http://x/%7By%7D> .\n");
    check("<p property='_:p bad og:ok' content=c>", HEAD "<http://ogp.me/ns#ok> \"c\" .\n");
    check("<p about='http://b/' property=OG:x content=c>",
          "<http://b/> <http://ogp.me/ns#x> \"c\" .\n");
    check("<base href='http://c/#f'><p property=og:x content=c>",
          "<http://c/> <http://ogp.me/ns#x> \"c\" .\n");
}

static void
test_without_rdfa(void **state)
{
    (void)state;
    check("<title>t</title><a href=b rel=nofollow>c</a><img src=d><meta name=e content=f>", "");
    check("<a href=b rel=license>c</a>",
          HEAD "<http://www.w3.org/1999/xhtml/vocab#license> <http://a.example/b> .\n");
    check("<template><p property=og:x content=c></template>", "");
    check("<div role=main><p role=note>x</p></div>", "");
}

static void
test_prefixes(void **state)
{
    (void)state;
    check("<p prefix='a: http://a/ b: http://b/' property='a:x'>1"
          "<i xmlns:a='http://c/' property=a:x>2</i><i property=b:x>3</i></p>",
          HEAD "<http://a/x> \"123\" .\n" HEAD "<http://b/x> \"3\" .\n" HEAD
               "<http://c/x> \"2\" .\n");
    check("<p prefix='_: http://a/ b'></p><p property='b:c urn:x'>1",
          HEAD "<b:c> \"1\" .\n" HEAD "<urn:x> \"1\" .\n");
    check("<meta property='article:x og:y' content=1>", HEAD "<http://ogp.me/ns#y> \"1\" .\n");
    /* An element does not see what its sibling has. */
    check("<p prefix='a: http://a/' property=a:x>1</p><p prefix='a: http://b/' property=a:x>2</p>",
          HEAD "<http://a/x> \"1\" .\n" HEAD "<http://b/x> \"2\" .\n");
}

static void
test_lists(void **state)
{
    (void)state;
    check("<p property=og:l inlist>1</p><p property=og:l inlist lang=en>2</p>",
          HEAD "<http://ogp.me/ns#l> _:c14n1 .\n"
               "_:c14n0 <" RDF "first> \"2\"@en .\n_:c14n0 <" RDF "rest> <" RDF "nil> .\n"
               "_:c14n1 <" RDF "first> \"1\" .\n_:c14n1 <" RDF "rest> _:c14n0 .\n");
    check("<p rel=og:l inlist></p>", HEAD "<http://ogp.me/ns#l> <" RDF "nil> .\n");
    /* Inside a relation lists are its object's. */
    check("<div rel=og:r resource=o><p property=og:l inlist content=1></p></div>",
          HEAD "<http://ogp.me/ns#r> <http://a.example/o> .\n"
               "<http://a.example/o> <http://ogp.me/ns#l> _:c14n0 .\n"
               "_:c14n0 <" RDF "first> \"1\" .\n_:c14n0 <" RDF "rest> <" RDF "nil> .\n");
}

static void
test_literals(void **state)
{
    (void)state;
    check("<p property=og:x lang=EN_us>a<b>b</b>c", HEAD "<http://ogp.me/ns#x> \"abc\"@en-us .\n");
    check("<p property=og:x lang='?' datatype=xsd:string>a", HEAD "<http://ogp.me/ns#x> \"a\" .\n");
    check("<p property=og:x datatype=rdf:HTML>a<br>&lt;<b title='\"<'>c</b>", HEAD
          "<http://ogp.me/ns#x> \"a<br>&lt;<b title=\\\"&quot;<\\\">c</b>\"^^<" RDF "HTML> .\n");
    check("<p property=og:x datatype=rdf:XMLLiteral>a<b @=1 c=2>&amp;<svg><g/></svg></b>", HEAD
          "<http://ogp.me/ns#x> \"a<b c=\\\"2\\\" xmlns=\\\"http://www.w3.org/1999/xhtml\\\">&amp;"
          "<svg xmlns=\\\"http://www.w3.org/2000/svg\\\"><g></g></svg></b>\"^^<" RDF
          "XMLLiteral> .\n");
    check_host(
        RDFA_XML,
        "<r xmlns:og='http://ogp.me/ns#' xmlns='urn:n' property='og:x' "
        "datatype='rdf:XMLLiteral'><og:e og:a='1' xmlns:p='urn:p'><p:f/></og:e></r>",
        HEAD "<http://ogp.me/ns#x> \"<og:e og:a=\\\"1\\\" xmlns=\\\"urn:n\\\" "
             "xmlns:og=\\\"http://ogp.me/ns#\\\" xmlns:p=\\\"urn:p\\\"><p:f></p:f></og:e>\"^^<" RDF
             "XMLLiteral> .\n");
}

static void
test_dates(void **state)
{
    (void)state;
    static const struct {
        const char *text, *type;
    } cases[] = {{"2012-03-18", "date"},
                 {"2012-03-18Z", "date"},
                 {"2012-03-18T01:02:03.5+01:00", "dateTime"},
                 {"01:02:03", "time"},
                 {"P1Y2M3DT4H5M6.7S", "duration"},
                 {"PT1S", "duration"},
                 {"-2012", "gYear"},
                 {"2012-03", "gYearMonth"},
                 {"P", NULL},
                 {"P1YT", NULL},
                 {"P1.5Y", NULL},
                 {"12", NULL},
                 {"2012-03-18T01:02", NULL},
                 {"2012-3-18", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char page[200], expected[400];
        snprintf(page, sizeof page, "<time property=og:x datetime='%s'>a</time>", cases[i].text);
        snprintf(expected, sizeof expected, HEAD "<http://ogp.me/ns#x> \"%s\"%s%s%s .\n",
                 cases[i].text, cases[i].type ? "^^<http://www.w3.org/2001/XMLSchema#" : "",
                 cases[i].type ? cases[i].type : "", cases[i].type ? ">" : "");
        check(page, expected);
    }
}

/* A pattern that nothing copies stays. */
static void
test_patterns(void **state)
{
    (void)state;
    check("<p resource=a><link property=rdfa:copy href=b></p>"
          "<p resource=b typeof=rdfa:Pattern><i property=og:x>1</i></p>"
          "<p resource=c typeof=rdfa:Pattern></p>",
          "<http://a.example/a> <http://ogp.me/ns#x> \"1\" .\n"
          "<http://a.example/c> <" RDF "type> <http://www.w3.org/ns/rdfa#Pattern> .\n");
}

/* A vocabulary that is a page itself, one class the other's equal. */
static void
give_vocabulary(void *context, struct slice iri, struct graph *into)
{
    (void)context;
    const struct quad_sink sink = graph_sink(into);
    rdfa_read_vocabulary(SLICE("Text/HTML; charset=utf-8"),
                         SLICE("<p about='http://v/A' rel='rdfs:subClassOf' resource='http://v/B'>"
                               "<p about='http://v/B' rel='owl:equivalentClass' "
                               "resource='http://v/C'><p about='http://v/p' "
                               "rel='rdfs:subPropertyOf' resource='http://v/q'>"),
                         iri, &sink);
}

static void
test_vocabulary(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 1 << 20);
    buf_init(&reports, 1 << 20);
    const struct rdfa_options options = {.host = RDFA_HTML, .vocabulary = give_vocabulary};
    assert_int_equal(
        run("<p vocab='http://v/' about=a typeof=A property=p content=1>", options, &out),
        STATUS_OK);
    assert_string_equal(out.data, "<http://a.example/a> <http://v/p> \"1\" .\n"
                                  "<http://a.example/a> <http://v/q> \"1\" .\n"
                                  "<http://a.example/a> <" RDF "type> <http://v/A> .\n"
                                  "<http://a.example/a> <" RDF "type> <http://v/B> .\n"
                                  "<http://a.example/a> <" RDF "type> <http://v/C> .\n" HEAD
                                  "<http://www.w3.org/ns/rdfa#usesVocabulary> <http://v/> .\n");
    buf_release(&out);
    buf_release(&reports);
}

static void
test_reports(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 1 << 20);
    buf_init(&reports, 1 << 20);
    assert_int_equal(run("<p>\n<i typeof=x>\n<b property=og:r resource='[q:r]'>",
                         (struct rdfa_options){.host = RDFA_HTML}, &out),
                     STATUS_OK);
    assert_string_equal(reports.data, "0 2 \"x\" is no term: there is no vocab here\n"
                                      "1 3 the prefix of [q:r] is not declared\n");
    buf_release(&out);
    buf_release(&reports);
}

/* Much of everything, and more memory than there may be. */
static void
test_limits(void **state)
{
    (void)state;
    const unsigned many = (unsigned)brief(20000, 5000);
    struct buf page, out;
    buf_init(&page, 64 << 20);
    buf_init(&out, 64 << 20);
    buf_init(&reports, 1 << 20);
    buf_append_string(&page, "<p prefix='");
    for (unsigned i = 0; i < many; i++) {
        buf_printf(&page, "p%u: http://p%u/ ", i, i);
    }
    buf_append_string(&page, "' rel='");
    for (unsigned i = 0; i < many; i++) {
        buf_printf(&page, "p1:x%u ", i);
    }
    buf_append_string(&page, "'>");
    for (unsigned i = 0; i < many; i++) {
        buf_append_string(&page, "<a href=b property=p1:z>c</a>");
    }
    const struct rdfa_options options = {.host = RDFA_HTML, .memory = many * 400};
    assert_int_equal(run(page.data, options, &out), STATUS_LIMIT);
    buf_reset(&page);
    for (unsigned i = 0; i < 30000; i++) {
        buf_append_string(&page, "<div rel=og:x property=og:y>t");
    }
    assert_int_equal(run(page.data, options, &out), STATUS_LIMIT);
    buf_release(&page);
    buf_release(&out);
    buf_release(&reports);
}

static void
test_hosts(void **state)
{
    (void)state;
    struct html_tree tree = {.parser = "xhtml"};
    const struct slice xhtml = SLICE("application/xhtml+xml");
    assert_int_equal(rdfa_host_of(&tree, xhtml), RDFA_HTML);
    tree.doctype = SLICE("-//W3C//DTD XHTML+RDFa 1.0//EN");
    assert_int_equal(rdfa_host_of(&tree, xhtml), RDFA_XHTML_1_0);
    tree.doctype = SLICE("-//W3C//DTD XHTML+RDFa 1.1//EN");
    assert_int_equal(rdfa_host_of(&tree, xhtml), RDFA_XHTML);
    assert_int_equal(rdfa_host_of(&tree, SLICE("text/html")), RDFA_HTML);
    assert_int_equal(rdfa_host_of(&tree, SLICE("image/svg+xml")), RDFA_XML);
}

int
main(void)
{
    xml_prepare();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_iris),       cmocka_unit_test(test_without_rdfa),
        cmocka_unit_test(test_prefixes),   cmocka_unit_test(test_lists),
        cmocka_unit_test(test_literals),   cmocka_unit_test(test_dates),
        cmocka_unit_test(test_patterns),   cmocka_unit_test(test_reports),
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_vocabulary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
