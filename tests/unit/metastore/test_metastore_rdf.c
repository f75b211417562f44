/* Records as Turtle: whole documents compared, and what hostile values become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "metastore/record.h"
#include "metastore/record_rdf.h"
#include "rdf/core/writer.h"
#include "rdf/turtle/turtle.h"
#include "tests/unit/metastore/descriptions.h"

static struct meta_update update;
static struct buf record, turtle;

static int
setup(void **state)
{
    (void)state;
    meta_update_init(&update);
    buf_init(&record, 1 << 20);
    buf_init(&turtle, 1 << 20);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    meta_update_release(&update);
    buf_release(&record);
    buf_release(&turtle);
    return 0;
}

static void
text(enum meta_field field, const char *value)
{
    meta_set_text(&update, field, slice_string(value));
}

static void
number(enum meta_field field, uint64_t value)
{
    meta_set_number(&update, field, value);
}

static void
write_turtle(const char *key)
{
    struct reason why = {""};
    assert_int_equal(meta_merge(slice_of(NULL, 0), meta_update_fields(&update), &record),
                     META_MERGED);
    const enum status status = meta_turtle(slice_string(key), buf_slice(&record), &turtle, &why);
    if (status != STATUS_OK) {
        fail_msg("%s", why.text);
    }
}

static void
assert_has(const char *part)
{
    if (strstr(turtle.data, part) == NULL) {
        fail_msg("missing: %s\nin: %s", part, turtle.data);
    }
}

static void
assert_is(const char *const *parts)
{
    const char *at = turtle.data;
    for (size_t i = 0; parts[i] != NULL; i++) {
        at += i > 0 && *at == '\n';
        const size_t length = strlen(parts[i]);
        if (strncmp(at, parts[i], length) != 0) {
            fail_msg("not: %s\nbut: %s", parts[i], at);
        }
        at += length;
    }
    assert_string_equal(at, "");
}

static void
test_empty_record(void **state)
{
    (void)state;
    struct reason why;
    assert_int_equal(meta_turtle(SLICE("uhttp://a.example/"), slice_of(NULL, 0), &turtle, &why),
                     STATUS_OK);
    assert_string_equal(turtle.data, "@prefix prov: <http://www.w3.org/ns/prov#> .\n"
                                     "@prefix dcterms: <http://purl.org/dc/terms/> .\n\n"
                                     "<http://a.example/>\n    a prov:Entity ;\n"
                                     "    dcterms:isPartOf <http://a.example> .\n");
}

/* What has no origin, or is one, is part of none. */
static void
test_part_of_no_origin(void **state)
{
    static const char *const keys[] = {"uurn:x:y", "uhttp://a.example"};
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct reason why;
        assert_int_equal(meta_turtle(slice_string(keys[i]), slice_of(NULL, 0), &turtle, &why),
                         STATUS_OK);
        assert_null(strstr(turtle.data, "isPartOf"));
    }
}

static void
test_document(void **state)
{
    (void)state;
    number(META_GENERATION, 1);
    text(META_STATE, "indexed");
    number(META_DEPTH, 2);
    text(META_VIA, "http://b.example/");
    number(META_FETCHED, 1795228489500);
    number(META_FETCH_MS, 250);
    number(META_HTTP_STATUS, 200);
    text(META_HTTP_VERSION, "1.1");
    text(META_REQUEST_HEADERS,
         "GET /a HTTP/1.1\r\nHost: a.example\r\nUser-Agent: quadrille/0.1\r\n\r\n");
    text(META_RESPONSE_HEADERS,
         "HTTP/1.1 200 OK\r\nContent-Type: text/turtle\r\nX-Odd:  a:b \r\n\r\n");
    text(META_LAST_MODIFIED, "Sun, 06 Nov 1994 08:49:37 GMT");
    number(META_PAYLOAD_BYTES, 512);
    text(META_PAYLOAD_DIGEST, "sha256:00ff");
    text(META_WARC_FILE, "a.warc.gz");
    text(META_WARC_NODE, "local");
    number(META_WARC_OFFSET, 100);
    number(META_WARC_LENGTH, 50);
    text(META_WARC_RECORD_ID, "urn:uuid:1");
    text(META_DETECTED_TYPE, "text/turtle");
    number(META_DETECTED, 1795228490000);
    text(META_TRANSFORM, "turtle/1 links/2");
    text(META_TRANSFORM_QUADS, "turtle 3 links 4");
    number(META_TRANSFORMED, 1795228491000);
    number(META_QUADS, 7);
    number(META_INDEXED, 1795228492000);
    text(META_ATTEMPTS, "2026-11-20T00:00:00Z fetch ok\n");
    write_turtle("uhttp://a.example/a");
    assert_has("@prefix prov: <http://www.w3.org/ns/prov#>");
    assert_has("schema:creativeWorkStatus \"indexed\"");
    assert_has("dcterms:isReferencedBy <http://b.example/>");
    assert_has("dcterms:modified \"1994-11-06T08:49:37Z\"^^xsd:dateTime");
    assert_has("prov:startedAtTime \"2026-11-21T02:34:49.500Z\"^^xsd:dateTime");
    assert_has("prov:endedAtTime \"2026-11-21T02:34:49.750Z\"^^xsd:dateTime");
    assert_has("http:statusCodeValue 200");
    /* Once for each fetch, or queries that count by status count double. */
    assert_null(strstr(strstr(turtle.data, "statusCodeValue") + 1, "statusCodeValue"));
    assert_has("prov:generatedAtTime \"2026-11-21T02:34:49.500Z\"^^xsd:dateTime");
    assert_has("dcterms:isPartOf <http://a.example>");
    assert_has("meta:activity ");
    assert_has("http:sc sc:OK");
    assert_has("http:fieldName \"X-Odd\"");
    assert_has("http:fieldValue \"a:b\"");
    assert_has("http:hdrName httph:content-type");
    assert_has("<urn:uuid:1>");
    assert_has("oa:start \"100\"^^xsd:nonNegativeInteger");
    assert_has("oa:end \"150\"^^xsd:nonNegativeInteger");
    assert_has("spdx:checksumValue \"00ff\"^^xsd:hexBinary");
    assert_has("dcterms:title \"links\"");
    assert_has("dcterms:hasVersion \"2\"");
    assert_has("void:triples 4");
    assert_has("void:triples 7");
    assert_has("dcterms:title \"quadrille-index\"");
    assert_has("meta:attempt \"2026-11-20T00:00:00Z fetch ok\"");
    assert_is(expected_document);
}

static void
test_host(void **state)
{
    (void)state;
    number(META_ROBOTS_STATUS, 200);
    text(META_ROBOTS_BODY, "User-agent: *\nDisallow: /a\"b\n");
    number(META_ROBOTS_EXPIRES, 1795228492000);
    text(META_SITEMAPS, "http://a.example/s1.xml\nnot a uri\n");
    write_turtle("hhttp://a.example");
    assert_has("meta:sitemap \"not a uri\", <http://a.example/s1.xml>");
    assert_has("meta:robots ");
    assert_has("dcterms:valid \"2026-11-21T02:34:52.000Z\"^^xsd:dateTime");
    assert_is(expected_host);
}

static void
test_empty_lines_say_nothing(void **state)
{
    (void)state;
    text(META_ATTEMPTS, "\n2026-11-20T00:00:00Z fetch ok\n \n");
    write_turtle("uhttp://a.example/a");
    assert_has("meta:attempt \"2026-11-20T00:00:00Z fetch ok\"");
    assert_null(strstr(turtle.data, "\"\""));
}

/* When there are very many header lines, the first are stated. */
static void
test_many_headers(void **state)
{
    enum { LINES = 600, TOLD = 511 };
    struct buf lines;
    unsigned told = 0;
    (void)state;
    buf_init(&lines, 1 << 16);
    (void)buf_append_string(&lines, "HTTP/1.1 200 OK\r\n");
    for (unsigned i = 1; i <= LINES; i++) {
        (void)buf_printf(&lines, "X-%u: 1\r\n", i);
    }
    meta_set_text(&update, META_RESPONSE_HEADERS, buf_slice(&lines));
    write_turtle("uhttp://a.example/");
    for (const char *at = turtle.data; (at = strstr(at, "http:fieldName")) != NULL; at++) {
        told++;
    }
    assert_int_equal(told, TOLD);
    assert_has("\"X-511\"");
    buf_release(&lines);
}

static enum status
note_quad(void *context, const struct quad *quad, struct reason *why)
{
    (void)why;
    assert_false(slice_starts(quad->subject.value, SLICE("evil:")));
    assert_false(slice_starts(quad->predicate.value, SLICE("evil:")));
    return nquads_write(context, quad);
}

/* What a server said stands in literals; none of it becomes a statement. */
static void
test_hostile_values(void **state)
{
    struct buf quads;
    struct reason why = {""};
    const struct quad_sink sink = {.quad = note_quad, .context = &quads};
    (void)state;
    buf_init(&quads, 1 << 20);
    text(META_REDIRECT_TO, "http://a.example/> . <evil:x> <evil:y> <evil:z");
    text(META_REASON, "quote\" back\\slash \x01 \xE9t\xE9 \xC3\xA9");
    text(META_RESPONSE_HEADERS, "no colon\nX: caf\xE9\n:\n");
    number(META_FETCHED, UINT64_MAX);
    number(META_HTTP_STATUS, UINT64_MAX);
    write_turtle("uhttp://a.example/");
    assert_has("dcterms:isReplacedBy \"http://a.example/> . <evil:x> <evil:y> <evil:z\"");
    assert_has("caf\xC3\xA9");
    assert_has(
        "rdfs:comment \"quote\\\" back\\\\slash \\u0001 \xC3\xA9t\xC3\xA9 \xC3\x83\xC2\xA9\"");
    if (turtle_parse(buf_slice(&turtle), NULL, &sink, &why) != STATUS_OK) {
        fail_msg("%s\nin: %s", why.text, turtle.data);
    }
    buf_release(&quads);
}

static enum status
refuse_second(void *context, const struct quad *quad, struct reason *why)
{
    unsigned *calls = context;
    (void)quad;
    return ++*calls == 2 ? status_fail(why, STATUS_FULL, "no more") : STATUS_OK;
}

/* What takes the quads may refuse one: then it gets no other. */
static void
test_a_refusal_ends_it(void **state)
{
    unsigned calls = 0;
    struct reason why;
    const struct quad_sink sink = {.quad = refuse_second, .context = &calls};
    (void)state;
    number(META_HTTP_STATUS, 200);
    number(META_FETCHED, 1700000000000);
    text(META_REASON, "so");
    assert_int_equal(meta_merge(slice_of(NULL, 0), meta_update_fields(&update), &record),
                     META_MERGED);
    const struct term graph = term_iri(SLICE("urn:graph"));
    assert_int_equal(
        meta_quads(SLICE("uhttp://a.example/"), buf_slice(&record), &graph, &sink, &why),
        STATUS_FULL);
    assert_int_equal(calls, 2);
    assert_string_equal(why.text, "no more");
}

static void
test_keys_that_are_no_iri(void **state)
{
    (void)state;
    struct reason why;
    assert_int_equal(meta_turtle(SLICE("uhttp://a b/"), slice_of(NULL, 0), &turtle, &why),
                     STATUS_MISUSE);
    assert_int_equal(meta_turtle(SLICE(""), slice_of(NULL, 0), &turtle, &why), STATUS_MISUSE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_empty_record),
                                       TEST(test_part_of_no_origin),
                                       TEST(test_empty_lines_say_nothing),
                                       TEST(test_document),
                                       TEST(test_host),
                                       TEST(test_many_headers),
                                       TEST(test_hostile_values),
                                       TEST(test_keys_that_are_no_iri),
                                       TEST(test_a_refusal_ends_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
