/* These tests show what pages and Link headers say, statement by statement, beyond the examples. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdf/core/writer.h"
#include "transforms/core/builtins.h"
#include "transforms/xml/xml.h"

static struct transformation transformation;
static struct transform_result result;
static struct transform transform;

static void
run(const char *builtin, const char *page, const char *header, bool explain, struct buf *lines)
{
    struct reason why;
    const struct transform_request request = {.uri = SLICE("http://d.example/a/"),
                                              .type = SLICE("text/html"),
                                              .link_header = slice_string(header),
                                              .bytes = slice_string(page),
                                              .explain = explain};
    assert_int_equal(transformation_begin(&transformation, &request, &result, &why), STATUS_OK);
    transformation.transform = &transform;
    transformation.source = 1;
    result.problem_count = 0;
    buf_reset(&result.problems);
    assert_int_equal(builtin_run(&transformation, builtin, &why), STATUS_OK);
    buf_reset(lines);
    buf_append_string(lines, ""); /* no statements: an empty string */
    for (size_t i = 0; i < transformation.graph.count; i++) {
        struct quad quad = transformation.graph.quads[i];
        quad.graph = (struct term){0};
        if (explain) {
            buf_printf(lines, "%u ", (unsigned)quad.line);
        }
        nquads_write(lines, &quad);
    }
}

/* Each of the lines wanted is among what the page says; with '!' before it is not. */
static void
check(const char *builtin, const char *page, const char *header, const char *const *wanted)
{
    struct buf lines;
    buf_init(&lines, 1 << 20);
    run(builtin, page, header, false, &lines);
    for (; *wanted; wanted++) {
        const bool absent = **wanted == '!';
        if ((strstr(lines.data ? lines.data : "", *wanted + absent) == NULL) != absent) {
            fail_msg("%s\nsays\n%s%s %s", page, lines.data ? lines.data : "",
                     absent ? "but must not say" : "but not", *wanted + absent);
        }
    }
    buf_release(&lines);
}

#define SAYS(page, ...) check("html", page, NULL, (const char *const[]){__VA_ARGS__, NULL})
#define HEADER_SAYS(header, ...) \
    check("links", "", header, (const char *const[]){__VA_ARGS__, NULL})
#define D "<http://d.example/a/> "
#define DC "<http://purl.org/dc/elements/1.1/"
#define TERMS "<http://purl.org/dc/terms/"
#define OGP "<http://ogp.me/ns"
#define OWN "<https://quadrille.example/ns#"

static void
test_what_is_left_to_rdfa(void **state)
{
    (void)state;
    SAYS("<meta property=og:title content=x>", "!ogp.me");
    SAYS("<meta name=og:title content=x>", D OGP "#title> \"x\" .");
    SAYS("<meta name=twitter:title property='og:title' content=x>",
         D "<https://dev.twitter.com/cards#title> \"x\" .", "!ogp.me");
    SAYS("<meta property=article:section content=x>", D OGP "/article#section> \"x\" .");
    SAYS("<html prefix='og: http://ogp.me/ns# article: http://ogp.me/ns/article#'>"
         "<meta property=article:section content=x>",
         "!section");
    SAYS("<html xmlns:fb='http://ogp.me/ns/fb#'><meta property=fb:app_id content=1>", "!app_id");
    SAYS("<meta property=fb:app_id content=1>", D OGP "/fb#app_id> \"1\" .");
    SAYS("<html vocab=http://schema.org/><meta property=description content=x>", "!descr");
    SAYS("<meta property='description og:x' content=x>", D TERMS "description> \"x\" .", "!#x>");
    SAYS("<meta property=http://e.example/p content=x>", "!e.example");
    SAYS("<link rel=foaf:primaryTopic href=x>", "!primaryTopic");
    SAYS("<link rel=my:topic href=x>", D OWN "rel-my:topic> <http://d.example/a/x> .");
}

static void
test_structured_properties(void **state)
{
    (void)state;
    SAYS("<meta property=og:image content=/1.png><meta property=og:image:width content=10>"
         "<meta property=og:image content=2.png><meta property=og:image:height content=20>"
         "<meta property=og:image:secure_url content=https://d.example/2.png>",
         D "<http://xmlns.com/foaf/0.1/depiction> <http://d.example/1.png> .",
         "<http://d.example/1.png> " OGP "#image:width> \"10\" .",
         "<http://d.example/a/2.png> " OGP "#image:height> \"20\" .",
         "<http://d.example/a/2.png> " OGP "#image:secure_url> <https://d.example/2.png> .",
         "!<http://d.example/1.png> " OGP "#image:height>");
    SAYS("<meta property=og:image:width content=10>", "!10");
    SAYS("<meta name=og:image content=x.png>", D OGP "#image> <http://d.example/a/x.png> .");
}

static void
test_dublin_core(void **state)
{
    (void)state;
    SAYS("<meta name=DC.Title content=x lang=de>", D DC "title> \"x\"@de .");
    SAYS("<meta name=dc.date.modified scheme=W3CDTF content=2001>",
         D TERMS "modified> \"2001\"^^" TERMS "W3CDTF> .");
    SAYS("<meta name=dc.date.strange content=2001>", D DC "date> \"2001\" .");
    SAYS("<meta name=dcterms.accessrights content=x>", D TERMS "accessRights> \"x\" .");
    SAYS("<meta name=t.ispartof content=x><link rel=schema.T href='http://purl.org/dc/terms/'>",
         D TERMS "isPartOf> \"x\" .", "!schema");
    SAYS("<link rel=schema.x href='http://x.example/#'><meta name=x.Size content=1>",
         D "<http://x.example/#Size> \"1\" .");
    SAYS("<link rel=DCTERMS.isPartOf href=all>", D TERMS "isPartOf> <http://d.example/a/all> .");
}

static void
test_other_names(void **state)
{
    (void)state;
    SAYS("<meta name=geo.position content='48.2;-16.5'>",
         "<http://www.w3.org/2003/01/geo/wgs84_pos#lat> "
         "\"48.2\"^^<http://www.w3.org/2001/XMLSchema#decimal> .",
         D TERMS "related> _:");
    SAYS("<meta name=ICBM content='91, 10'>", "!wgs84");
    SAYS("<meta name=ICBM content='x, 10'>", "!wgs84");
    SAYS("<meta name=citation_author content='A B'><meta name=citation_author content='C D'>"
         "<meta name=bepress_citation_doi content=10.1/x>",
         D DC "creator> \"A B\" .", D DC "creator> \"C D\" .",
         D "<http://purl.org/ontology/bibo/doi> \"10.1/x\" .");
    SAYS("<meta name=book:author content=https://x.example/me>",
         D OGP "/book#author> <https://x.example/me> .");
    SAYS("<meta name=book:author content='Somebody'>", D OGP "/book#author> \"Somebody\" .");
    SAYS("<meta http-equiv=Content-Language content='de, en-GB'>", D TERMS "language> \"de\" .",
         D TERMS "language> \"en-gb\" .");
    SAYS("<meta name=Robots content=noindex><meta name='a b' content=x><meta name='' content=x>",
         D OWN "meta-robots> \"noindex\" .", "!\"x\"");
    SAYS("<time datetime='2011-11-18T14:54:39Z' pubdate>x</time>",
         D TERMS "issued> \"2011-11-18T14:54:39Z\"^^<http://www.w3.org/2001/XMLSchema#dateTime> .");
    SAYS("<time>yesterday</time><time datetime=soon>x</time>", "!time");
}

static void
test_relations(void **state)
{
    (void)state;
    SAYS("<link rel='alternate stylesheet' type='text/css' href=s title=Dark>",
         "<http://d.example/a/s> " TERMS "format> \"text/css\" .");
    SAYS("<link rel=stylesheet type='text/css' href=s title=Dark>", "!text/css", "!Dark");
    SAYS("<a rev=next href=x>",
         "<http://d.example/a/x> <http://www.w3.org/1999/xhtml/vocab#next> " D ".");
    SAYS("<link rel=alternate hreflang=x_y! type=' ' href=x>", "!language", "!format");
}

static void
test_link_headers(void **state)
{
    (void)state;
    HEADER_SAYS("<x>; rel=\"next license\"",
                D "<http://www.w3.org/1999/xhtml/vocab#next> <http://d.example/a/x> .",
                D "<http://www.w3.org/1999/xhtml/vocab#license> <http://d.example/a/x> .");
    HEADER_SAYS("<x>;rel=next;rel=prev", "vocab#next>", "!vocab#prev>");
    HEADER_SAYS("<x,y>; rel=next, <z>; rel=\"a,b\"; title=\"c, <d>; rel=e\", <w>;rel=prev",
                "<http://d.example/a/x,y>", "vocab#prev> <http://d.example/a/w>", "!rel-e>");
    HEADER_SAYS("<x>; rel=next; title=\"a\"; title*=UTF-8''b%20%E2%82%AC",
                "title> \"b \342\202\254\" .");
    HEADER_SAYS("<x>; rel=next; title=\"a\"; title*=latin1''b%E9", "title> \"a\" .");
    HEADER_SAYS("<x>; rel=next; title*=UTF-8''%FF", "vocab#next>", "!title");
    HEADER_SAYS("<x>; rel=item; anchor=\"#part\"", "<http://d.example/a/#part> ");
    HEADER_SAYS("<x>", "!<x");
    HEADER_SAYS("<x>; rel", "!next");
    HEADER_SAYS("x; rel=next, <y>; rel=prev", "vocab#prev>", "!vocab#next>");
    HEADER_SAYS("<x; rel=next", "!next>");
    HEADER_SAYS(",,  , <x>;;; ;rel=next;", "vocab#next>");
    HEADER_SAYS("<x>; rel=\"next", "vocab#next>");
    HEADER_SAYS("<javascript:x>; rel=next", "!javascript");
    HEADER_SAYS("<http://[>; rel=next, <ok>; rel=http://e.example/r", "<http://e.example/r>");
    assert_int_equal(result.problem_count, 0);
    HEADER_SAYS("nonsense", "!nonsense");
    assert_int_equal(result.problem_count, 1);
}

static void
test_lines_of_statements(void **state)
{
    (void)state;
    struct buf lines;
    buf_init(&lines, 1 << 20);
    run("html", "<title>t</title>\r\n\r\n<meta name=author\ncontent=a>\r<a href=b>c</a>", NULL,
        true, &lines);
    assert_non_null(strstr(lines.data, "1 " D TERMS "title>"));
    assert_non_null(strstr(lines.data, "3 " D DC "creator>"));
    assert_non_null(strstr(lines.data, "5 " D "<http://rdfs.org/sioc/ns#links_to>"));
    buf_release(&lines);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_left_to_rdfa),
        cmocka_unit_test(test_structured_properties),
        cmocka_unit_test(test_dublin_core),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_relations),
        cmocka_unit_test(test_link_headers),
        cmocka_unit_test(test_lines_of_statements),
    };
    const struct transform_limits limits = {.memory = 64 << 20, .output = 64 << 20};
    xml_prepare();
    transformation_init(&transformation, &limits);
    transform_result_init(&result, limits.output);
    snprintf(transform.name, sizeof transform.name, "test");
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    transformation_release(&transformation);
    transform_result_release(&result);
    return failed;
}
