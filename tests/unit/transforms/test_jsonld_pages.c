/* JSON-LD in pages and behind Link headers, through the transform: bad blocks, lines, contexts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "transforms/transform.h"

#define URI "http://a.example/page"
#define GRAPH " <" URI "> .\n"

static struct registry *registry;
static struct transformer *transformer;
static struct transform_result result;

static int
set_up(void **state)
{
    (void)state;
    struct reason why;
    const struct transform_limits limits = {.memory = 64 << 20, .output = 4 << 20};
    registry = registry_new();
    assert_int_equal(registry_read_default(registry, &why), STATUS_OK);
    assert_int_equal(transformer_new(&transformer, registry, &limits, &why), STATUS_OK);
    transform_result_init(&result, limits.output);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    transform_result_release(&result);
    transformer_free(transformer);
    registry_free(registry);
    return 0;
}

static void
run(struct transform_request request)
{
    struct reason why;
    request.uri = SLICE(URI);
    request.explain = true;
    assert_int_equal(transform_run(transformer, &request, &result, &why), STATUS_OK);
}

/* The lines of text that begin with "jsonld" and what of the graph JSON-LD said, by line. */
static struct buf
said(void)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    buf_append_string(&out, "");
    struct slice left = buf_slice(&result.explanation);
    while (left.length > 0) {
        const size_t end = slice_find(left, '\n') + 1;
        const struct slice line = slice_of(left.at, end);
        if (slice_starts(line, SLICE("jsonld/1\t"))) {
            buf_append(&out, line.at + 9, line.length - 9);
        }
        left = slice_of(left.at + end, left.length - end);
    }
    return out;
}

static void
assert_said(const char *expected)
{
    struct buf out = said();
    assert_string_equal(out.data ? out.data : "", expected);
    buf_release(&out);
}

static void
assert_line(const struct buf *text, const char *line)
{
    if (strstr(text->data ? text->data : "", line) == NULL) {
        fail_msg("%s is not in %s", line, text->data ? text->data : "nothing");
    }
}

static void
test_blocks_of_a_page(void **state)
{
    static const char page[] = "<base href=/sub/>\n"
                               "<script type=\" application/LD+json;profile=x\">\n"
                               "{\"@id\":\"a\",\n\"http://v/p\":1,}</script>\n"
                               "<script type=application/ld+json>{\"@id\":[ }</script>\n"
                               "<script type=application/ld+json> </script>\n"
                               "<script type=text/javascript>{\"@id\":\"x\"}</script>\n"
                               "<script type=application/ld+json>\n<!--\n"
                               "{\"@id\":\"b\",\"http://v/p\":{}}\n--></script>";
    (void)state;
    run((struct transform_request){.type = SLICE("text/html"), .bytes = SLICE(page)});
    assert_said("4\t<http://a.example/sub/a> <http://v/p> "
                "\"1\"^^<http://www.w3.org/2001/XMLSchema#integer>" GRAPH
                "10\t<http://a.example/sub/b> <http://v/p> _:d045158fa9535a104n0" GRAPH);
    assert_line(&result.problems, "jsonld: line 5, column ");
    assert_line(&result.problems, "jsonld: line 6: the script element of JSON-LD is empty\n");
    assert_line(&result.repairs, "jsonld: superfluous comma: 1\n");
    assert_line(&result.repairs, "jsonld: HTML comment or CDATA around JSON: 2\n");
    assert_int_equal(result.state, TRANSFORM_PART);
}

static void
test_waits_for_contexts(void **state)
{
    static const char page[] =
        "<script type=application/ld+json>{\"@context\":\"http://c.example/one\",\"a\":1}</script>"
        "<script type=application/ld+json>{\"@context\":[\"two\"],\"a\":\"b\"}</script>";
    struct transform_request request = {
        .type = SLICE("text/html"), .bytes = SLICE(page), .can_wait = true};
    (void)state;
    run(request);
    assert_int_equal(result.state, TRANSFORM_WAITING);
    assert_string_equal(result.needs.data, "http://c.example/one\nhttp://a.example/two\n");
    const struct transform_resource resources[] = {
        {.uri = SLICE("http://c.example/one"), .failure = SLICE("HTTP status 404")},
        {.uri = SLICE("http://a.example/two"),
         .document_uri = SLICE("http://b.example/dir/two"),
         .content_type = SLICE("application/ld+json"),
         .bytes = SLICE("{\"@context\":{\"@vocab\":\"v#\"}}")},
    };
    request.resources = resources;
    request.resource_count = 2;
    run(request);
    assert_said("1\t_:d045158fa9535a104n0 <http://a.example/v#a> \"b\"" GRAPH);
    assert_line(&result.problems, "jsonld: line 1: loading remote context failed: "
                                  "http://c.example/one: HTTP status 404\n");
}

static void
test_context_without_scheme(void **state)
{
    (void)state;
    run((struct transform_request){
        .type = SLICE("application/ld+json"),
        .bytes = SLICE("{\"@context\":\"www.schema.org/\",\"@id\":\"\",\"name\":\"b\"}")});
    assert_said("1\t<" URI "> <http://schema.org/name> \"b\"" GRAPH);
    assert_line(&result.repairs, "jsonld: context's IRI without a scheme: 1\n");
}

/* A context's page that says where the context is. */
static void
test_alternate_of_a_context(void **state)
{
    const struct transform_resource resources[] = {
        {.uri = SLICE("http://c.example/"),
         .content_type = SLICE("text/html"),
         .link_header = SLICE("</c.jsonld>; rel=\"alternate\"; type=\"application/ld+json\""),
         .bytes = SLICE("<p>")},
        {.uri = SLICE("http://c.example/c.jsonld"),
         .content_type = SLICE("application/ld+json"),
         .bytes = SLICE("{\"@context\":{\"@vocab\":\"http://v/\"}}")},
    };
    (void)state;
    run((struct transform_request){
        .type = SLICE("application/ld+json"),
        .bytes = SLICE("{\"@context\":\"http://c.example/\",\"@id\":\"\",\"a\":\"b\"}"),
        .resources = resources,
        .resource_count = 2});
    assert_said("1\t<" URI "> <http://v/a> \"b\"" GRAPH);
}

static void
test_link_headers(void **state)
{
    const struct transform_resource resources[] = {
        {.uri = SLICE("http://a.example/c"),
         .content_type = SLICE("application/json"),
         .bytes = SLICE("{\"@context\":{\"@vocab\":\"http://v/\"}}")},
        {.uri = SLICE("http://a.example/other"),
         .document_uri = SLICE("http://a.example/moved/to"),
         .content_type = SLICE("application/ld+json"),
         .bytes = SLICE("{\"@id\":\"x\",\"http://v/p\":true}")},
    };
    struct transform_request request = {
        .type = SLICE("application/json"),
        .bytes = SLICE("{\"a\":\"b\"}"),
        .link_header = SLICE("<c>; rel=\"http://www.w3.org/ns/json-ld#context\""),
        .resources = resources,
        .resource_count = 2};
    (void)state;
    run(request);
    assert_said("1\t_:d045158fa9535a104n0 <http://v/a> \"b\"" GRAPH);
    request.link_header = SLICE("<c>; rel=next");
    run(request);
    assert_null(strstr(result.names.data ? result.names.data : "", "jsonld"));
    request.type = SLICE("text/html");
    request.bytes = SLICE("<p>");
    request.link_header = SLICE("<other>; rel=alternate; type=\"application/ld+json\"");
    run(request);
    assert_said("1\t<http://a.example/moved/x> <http://v/p> "
                "\"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>" GRAPH);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_of_a_page),
        cmocka_unit_test(test_waits_for_contexts),
        cmocka_unit_test(test_context_without_scheme),
        cmocka_unit_test(test_alternate_of_a_context),
        cmocka_unit_test(test_link_headers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
