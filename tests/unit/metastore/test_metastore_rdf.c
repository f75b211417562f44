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
    buf_reset(&turtle);
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
    text(META_SITEMAPS, "\nhttp://a.example/s1.xml\n \nhttp://a.example/s2.xml\n\n");
    write_turtle("hhttp://a.example");
    assert_has("meta:sitemap <http://a.example/s1.xml>, <http://a.example/s2.xml>");
    assert_null(strstr(turtle.data, "\"\""));
    assert_null(strstr(turtle.data, "<>"));
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

static void
assert_lacks(const char *part)
{
    if (strstr(turtle.data, part) != NULL) {
        fail_msg("there is: %s\nin: %s", part, turtle.data);
    }
}

/* Sets anew what is described. */
static void
anew(void)
{
    meta_update_reset(&update);
}

/* An activity that ended is known to have begun when it is known how long it took. */
static void
test_activities_begin_and_end(void **state)
{
    static const struct {
        uint64_t ended, took;
        const char *began;
    } cases[] = {{5000, 4000, "1970-01-01T00:00:01.000Z"},
                 {5000, 5000, "1970-01-01T00:00:00.000Z"},
                 {5000, 5001, NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        anew();
        number(META_TRANSFORMED, cases[i].ended);
        number(META_TRANSFORM_MS, cases[i].took);
        write_turtle("uhttp://a.example/");
        assert_has("prov:endedAtTime \"1970-01-01T00:00:05.000Z\"^^xsd:dateTime");
        if (cases[i].began != NULL) {
            assert_has("prov:startedAtTime");
            assert_has(cases[i].began);
        } else {
            assert_lacks("prov:startedAtTime");
        }
        assert_lacks("void:subset");  /* no transform is named, */
        assert_lacks("void:triples"); /* and no quads are counted */
    }
    anew();
    number(META_TRANSFORMED, 5000);
    number(META_TRANSFORM_MS, 1);
    number(META_EXTRACTED, 6000);
    number(META_FETCHED, 7000);
    write_turtle("uhttp://a.example/");
    assert_has("\"quadrille-extract\"");
    assert_has("prov:used <http://a.example/>");
    assert_has("prov:startedAtTime \"1970-01-01T00:00:07.000Z\"");
    assert_lacks("1970-01-01T00:00:07.001Z");
}

/* What each transform said; a name without a version tells nothing. */
static void
test_transforms_say_so_many_quads(void **state)
{
    (void)state;
    number(META_TRANSFORMED, 5000);
    text(META_TRANSFORM, "html/1 bare jsonld/2");
    write_turtle("uhttp://a.example/");
    assert_has("dcterms:title \"html\"");
    assert_has("dcterms:hasVersion \"1\"");
    assert_has("dcterms:title \"jsonld\"");
    assert_has("void:triples 0");
    assert_lacks("\"bare\"");
    anew();
    number(META_TRANSFORMED, 5000);
    text(META_TRANSFORM, "html/1 jsonld/2");
    text(META_TRANSFORM_QUADS, "json 1 html 12");
    write_turtle("uhttp://a.example/");
    assert_has("void:triples 12");
    assert_has("void:triples 0");
    assert_lacks("void:triples 1 ");
}

static void
test_checksums_name_their_algorithm(void **state)
{
    static const struct {
        const char *digest, *value;
        bool sha256;
    } cases[] = {{"sha256:00ff", "\"00ff\"^^xsd:hexBinary", true},
                 {"sha1:00fe", "\"00fe\"^^xsd:hexBinary", false},
                 {"00fd", "\"00fd\"^^xsd:hexBinary", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        anew();
        number(META_FETCHED, 5000);
        text(META_PAYLOAD_DIGEST, cases[i].digest);
        write_turtle("uhttp://a.example/");
        assert_has(cases[i].value);
        (cases[i].sha256 ? assert_has : assert_lacks)("spdx:checksumAlgorithm_sha256");
    }
    anew();
    number(META_FETCHED, 5000);
    write_turtle("uhttp://a.example/");
    assert_lacks("spdx:");
}

static void
test_places_in_the_archive(void **state)
{
    (void)state;
    number(META_FETCHED, 5000);
    text(META_WARC_RECORD_ID, "no iri");
    text(META_WARC_FILE, "a.warc.gz");
    number(META_WARC_OFFSET, 7);
    write_turtle("uhttp://a.example/");
    assert_has("dcterms:title \"a.warc.gz\"");
    assert_lacks("oa:hasSelector"); /* its length is not known */
    assert_lacks("meta:node");
    assert_lacks("no iri");
    anew();
    number(META_FETCHED, 5000);
    text(META_WARC_RECORD_ID, "urn:uuid:1");
    write_turtle("uhttp://a.example/");
    assert_has("prov:alternateOf <urn:uuid:1>");
    assert_lacks("oa:hasSource");
}

static void
test_dates_of_change(void **state)
{
    static const struct {
        const char *text, *date; /* NULL: none is told */
    } cases[] = {
        {"Thu, 01 Jan 1970 00:00:00 GMT", "dcterms:modified \"1970-01-01T00:00:00Z\""},
        {"Wed, 31 Dec 1969 23:59:59 GMT", NULL},
        {"Thu, 01 Jan 1970 00:00:01 GMT ", NULL},
        {"Thu, 01 Jan 1970 00:00:01", NULL},
        {"yesterday", NULL},
        {"Thu, 01 Jan 1970 00:00:01 GMT                                   ", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        anew();
        text(META_LAST_MODIFIED, cases[i].text);
        write_turtle("uhttp://a.example/");
        if (cases[i].date != NULL) {
            assert_has(cases[i].date);
        } else {
            assert_lacks("dcterms:modified");
        }
    }
}

/* A date may have 63 bytes: blanks between its parts are any number. */
static void
test_dates_have_a_longest(void **state)
{
    (void)state;
    for (int blanks = 35; blanks <= 36; blanks++) {
        char date[80];
        snprintf(date, sizeof date, "Thu,%*s01 Jan 1970 00:00:00 GMT", blanks, "");
        assert_int_equal(strlen(date), 28 + blanks);
        anew();
        text(META_LAST_MODIFIED, date);
        write_turtle("uhttp://a.example/");
        (blanks == 35 ? assert_has : assert_lacks)("dcterms:modified");
    }
}

static void
test_answers_without_headers(void **state)
{
    (void)state;
    text(META_CONTENT_TYPE, "text/html");
    number(META_HTTP_STATUS, 299);
    write_turtle("uhttp://a.example/");
    assert_has("dcterms:format \"text/html\"");
    assert_has("http:statusCodeValue 299");
    assert_has("http:methodName \"GET\"");
    assert_lacks("http:sc "); /* the code has no name */
    text(META_RESPONSE_HEADERS, "x: y\n");
    write_turtle("uhttp://a.example/");
    assert_lacks("dcterms:format"); /* it is among the headers */
    anew();
    text(META_RESPONSE_HEADERS, "a:1\n:no name\nno colon\n\nETAG: 2\nb:\nAccept: 3\nvary: 4\n");
    write_turtle("uhttp://a.example/");
    assert_has("http:fieldName \"a\"");
    assert_has("http:fieldValue \"1\"");
    assert_has("http:hdrName httph:etag");
    assert_has("http:hdrName httph:accept");
    assert_has("http:hdrName httph:vary");
    assert_has("http:fieldName \"ETAG\"");
    assert_has("http:fieldValue \"\"");
    assert_lacks("no name");
    assert_lacks("no colon");
    assert_lacks("http:methodName");
}

static void
test_sitemaps_and_hosts_say_their_own(void **state)
{
    (void)state;
    text(META_SITEMAP_FACTS, "image http://a.example/i");
    text(META_SITEMAP_FOR, "http://b.example");
    text(META_SCHEMAMAPS, "http://a.example/m");
    text(META_TRANSFORM_RESOURCES, "http://a.example/r");
    write_turtle("s"
                 "http://a.example/");
    assert_has("meta:sitemapSays \"image http://a.example/i\"");
    assert_lacks("meta:sitemapFor");
    assert_lacks("isPartOf");
    write_turtle("uhttp://a.example/");
    assert_has("meta:sitemapFor <http://b.example>");
    assert_has("dcterms:requires <http://a.example/r>");
    assert_lacks("meta:sitemapSays");
    write_turtle("hhttp://a.example");
    assert_has("meta:schemamap <http://a.example/m>");
    assert_lacks("meta:robots ");
}

/* Every character of ASCII in a link: those that no IRI has make it a text. */
static void
test_links_that_are_no_iri(void **state)
{
    (void)state;
    for (unsigned c = 1; c < 0x80; c++) {
        char link[] = {'x', ':', 'a', (char)c, 'b', '\0'};
        char iri[16];
        const bool allowed = c > ' ' && strchr("<>\"{}|\\^`", (int)c) == NULL;
        anew();
        text(META_VIA, link);
        write_turtle("uhttp://a.example/");
        snprintf(iri, sizeof iri, "<x:a%cb>", (int)c);
        (allowed ? assert_has : assert_lacks)(iri);
        (allowed ? assert_lacks : assert_has)("isReferencedBy \"x:a");
    }
    anew();
    text(META_VIA, "no-colon");
    text(META_REASON, "\xC3\xA9t\xC3\xA9");
    text(META_REDIRECT_TO, "x:\xE9");
    write_turtle("uhttp://a.example/");
    assert_has("isReferencedBy \"no-colon\"");
    assert_has("rdfs:comment \"\xC3\xA9t\xC3\xA9\"");
    assert_has("isReplacedBy \"x:\xC3\xA9\"");
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
                                       TEST(test_activities_begin_and_end),
                                       TEST(test_transforms_say_so_many_quads),
                                       TEST(test_checksums_name_their_algorithm),
                                       TEST(test_places_in_the_archive),
                                       TEST(test_dates_of_change),
                                       TEST(test_dates_have_a_longest),
                                       TEST(test_answers_without_headers),
                                       TEST(test_sitemaps_and_hosts_say_their_own),
                                       TEST(test_links_that_are_no_iri),
                                       TEST(test_hostile_values),
                                       TEST(test_keys_that_are_no_iri),
                                       TEST(test_a_refusal_ends_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
