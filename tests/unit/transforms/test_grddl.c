/* GRDDL: what is found, what may run, what pages look like to a stylesheet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/digest.h"
#include "tests/unit/scratch.h"
#include "transforms/transform.h"
#include "transforms/xslt/grddl.h"

#define STYLE(body)                                                                   \
    "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' " \
    "xmlns:h='http://www.w3.org/1999/xhtml'>" body "</xsl:stylesheet>"
#define TITLE                                                                             \
    STYLE("<xsl:template match='/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/"        \
          "22-rdf-syntax-ns#' xmlns:e='http://e.example/'><rdf:Description rdf:about=''>" \
          "<e:title><xsl:value-of select='//h:title'/></e:title>"                         \
          "<e:rows><xsl:value-of select='count(//h:td)'/></e:rows>"                       \
          "</rdf:Description></rdf:RDF></xsl:template>")
#define PLAIN                                                                               \
    STYLE("<xsl:template match='/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/"          \
          "22-rdf-syntax-ns#' xmlns:e='http://e.example/'><rdf:Description rdf:about='#x'>" \
          "<e:is rdf:nodeID='n'/></rdf:Description></rdf:RDF></xsl:template>")
#define IMPORTING STYLE("<xsl:import href='http://x.example/more.xsl'/>")
#define PAGE(profile, more)                                                                 \
    "<html><head profile='" profile "'><title>Soup</title>" more "</head><body><table><tr>" \
    "<td>1<td>2</table>"
#define VIEW "http://www.w3.org/2003/g/data-view"
#define VIEWED "<link rel='transformation' href='/t.xsl'>"
#define SAYS(name, value) \
    "<http://x.example/d> <http://e.example/" name "> " value " <http://x.example/d> .\n"

struct fixture {
    struct registry *registry;
    struct transformer *transformer;
    struct transform_result result;
};

static void
allow(const char *stylesheet)
{
    char path[SCRATCH_SIZE], hex[2 * DIGEST_SHA256_SIZE + 1];
    uint8_t digest[DIGEST_SHA256_SIZE];
    struct reason why;
    const int descriptor = scratch_file(path, "test_grddl");
    assert_true(descriptor >= 0);
    digest_sha256(slice_string(stylesheet), digest);
    digest_hex(digest, DIGEST_SHA256_SIZE, hex);
    dprintf(descriptor, "# a remark\n\n%s  http://x.example/t.xsl\n", hex);
    close(descriptor);
    assert_int_equal(grddl_allow(path, &why), STATUS_OK);
    unlink(path);
}

static void
run(struct fixture *fixture, const char *type, const char *page,
    const struct transform_resource *resources, size_t count, bool can_wait)
{
    struct reason why;
    const struct transform_request request = {.uri = SLICE("http://x.example/d"),
                                              .type = slice_string(type),
                                              .bytes = slice_string(page),
                                              .resources = resources,
                                              .resource_count = count,
                                              .can_wait = can_wait};
    assert_int_equal(transform_run(fixture->transformer, &request, &fixture->result, &why),
                     STATUS_OK);
}

static bool
holds(const struct buf *text, const char *part)
{
    return text->length > 0 && memmem(text->data, text->length, part, strlen(part)) != NULL;
}

static void
test_stylesheets_are_asked_for(void **state)
{
    struct fixture *fixture = *state;
    run(fixture, "text/html", PAGE(VIEW, VIEWED), NULL, 0, true);
    assert_int_equal(fixture->result.state, TRANSFORM_WAITING);
    assert_true(holds(&fixture->result.needs, "http://x.example/t.xsl\n"));
    run(fixture, "text/html", PAGE("", VIEWED), NULL, 0, true);
    assert_int_equal(fixture->result.state, TRANSFORM_WHOLE);
    run(fixture, "application/xml", "<a xmlns:g='" VIEW "#' g:transformation='u.xsl ../v.xsl'/>",
        NULL, 0, true);
    assert_true(holds(&fixture->result.needs, "http://x.example/u.xsl\n"));
    assert_true(holds(&fixture->result.needs, "http://x.example/v.xsl\n"));
}

static void
test_only_the_allowed_run(void **state)
{
    struct fixture *fixture = *state;
    const struct transform_resource resource = {.uri = SLICE("http://x.example/t.xsl"),
                                                .bytes = SLICE(TITLE)};
    run(fixture, "text/html", PAGE(VIEW, VIEWED), &resource, 1, true);
    assert_int_equal(fixture->result.state, TRANSFORM_PART);
    assert_true(holds(&fixture->result.problems, "is not allowed to run; to allow it, write "));
    assert_false(holds(&fixture->result.graph, "//e.example"));
    allow(TITLE);
    for (int again = 0; again < 2; again++) {
        run(fixture, "text/html", PAGE(VIEW, VIEWED), &resource, 1, true);
        assert_int_equal(fixture->result.state, TRANSFORM_WHOLE);
        assert_true(holds(&fixture->result.graph, SAYS("title", "\"Soup\"")));
        assert_true(holds(&fixture->result.graph, SAYS("rows", "\"2\"")));
    }
}

static void
test_what_stylesheets_may_not(void **state)
{
    struct fixture *fixture = *state;
    const struct transform_resource resources[] = {
        {.uri = SLICE("http://x.example/t.xsl"), .bytes = SLICE(IMPORTING)},
        {.uri = SLICE("http://x.example/u.xsl"), .failure = SLICE("HTTP status 404")}};
    allow(IMPORTING);
    run(fixture, "text/html", PAGE(VIEW, VIEWED "<link rel='x transformation' href='/u.xsl'>"),
        resources, 2, true);
    assert_int_equal(fixture->result.state, TRANSFORM_PART);
    assert_true(holds(&fixture->result.problems, "t.xsl cannot be compiled"));
    assert_true(holds(&fixture->result.problems, "u.xsl cannot be had: HTTP status 404"));
}

static void
test_profiles_and_namespaces(void **state)
{
    struct fixture *fixture = *state;
    const struct transform_resource resources[] = {
        {.uri = SLICE("http://p.example/profile"),
         .bytes = SLICE("<p>See <a rel=profileTransformation href='/t.xsl'>it</a>")},
        {.uri = SLICE("http://n.example/ns"),
         .content_type = SLICE("text/turtle; charset=utf-8"),
         .bytes = SLICE("<#> <" VIEW "#namespaceTransformation> <http://p.example/t.xsl> .")},
        {.uri = SLICE("http://p.example/t.xsl"), .bytes = SLICE(PLAIN)}};
    allow(PLAIN);
    run(fixture, "text/html", PAGE("http://p.example/profile", ""), NULL, 0, true);
    assert_true(holds(&fixture->result.needs, "http://p.example/profile\n"));
    run(fixture, "text/html", PAGE("http://p.example/profile", ""), resources, 3, true);
    assert_true(holds(&fixture->result.graph, "<http://x.example/d#x> <http://e.example/is> _:"));
    run(fixture, "application/xml", "<n:a xmlns:n='http://n.example/ns#'/>", resources, 3, true);
    assert_true(holds(&fixture->result.graph, "<http://x.example/d#x> <http://e.example/is> _:"));
}

static void
test_malformed_lists(void **state)
{
    char path[SCRATCH_SIZE];
    struct reason why;
    const int descriptor = scratch_file(path, "test_grddl");
    (void)state;
    dprintf(descriptor, "# fine\n0123 too short\n");
    close(descriptor);
    assert_int_equal(grddl_allow(path, &why), STATUS_MISUSE);
    assert_non_null(strstr(why.text, "line 2"));
    unlink(path);
    assert_int_equal(grddl_allow(path, &why), STATUS_OK);
}

static int
set_up(void **state)
{
    static struct fixture fixture;
    struct reason why;
    const struct transform_limits limits = {.memory = 32 << 20, .output = 8 << 20};
    fixture.registry = registry_new();
    if (registry_read_default(fixture.registry, &why) != STATUS_OK ||
        transformer_new(&fixture.transformer, fixture.registry, &limits, &why) != STATUS_OK) {
        return -1;
    }
    transform_result_init(&fixture.result, limits.output);
    *state = &fixture;
    return 0;
}

static int
tear_down(void **state)
{
    struct fixture *fixture = *state;
    transform_result_release(&fixture->result);
    transformer_free(fixture->transformer);
    registry_free(fixture->registry);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stylesheets_are_asked_for),
        cmocka_unit_test(test_only_the_allowed_run),
        cmocka_unit_test(test_what_stylesheets_may_not),
        cmocka_unit_test(test_profiles_and_namespaces),
        cmocka_unit_test(test_malformed_lists),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
