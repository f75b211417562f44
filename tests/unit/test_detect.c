/* What documents are, by content, claim and name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stages/detect.h"

static struct detector detector;

struct sample {
    const char *bytes, *claim, *uri, *type;
};

#define RDF_NS "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

static const struct sample samples[] = {
    /* RDF served with wrong types */
    {"<rdf:RDF xmlns:rdf='" RDF_NS "'/>", "application/xml", "", "application/rdf+xml"},
    {"<rdf:RDF xmlns:rdf='" RDF_NS "'/>", "text/plain", "", "application/rdf+xml"},
    {"<rdf:RDF xmlns:rdf='" RDF_NS "'/>", "text/html; charset=x", "", "application/rdf+xml"},
    {"<!DOCTYPE r [<!ENTITY rdf '" RDF_NS "'>]><r:RDF xmlns:r='&rdf;'>", "text/xml", "",
     "application/rdf+xml"},
    {"<!-- a --><?x y?>\n<r:Description\n xmlns:r = \"" RDF_NS "\">", "", "",
     "application/rdf+xml"},
    {"@prefix a: <http://a/> .\na:b a:c a:d .", "text/plain", "", "text/turtle"},
    {"@prefix a: <http://a/> .\na:b a:c a:d .", "application/x-turtle", "", "text/turtle"},
    {"# c\nPREFIX a: <http://a/>\na:g { a:b a:c 'd' }", "", "", "application/trig"},
    {"PREFIX a: <http://a/>\nSELECT * { ?a ?b ?c }", "", "", "application/sparql-query"},
    {"<http://a/b> a <http://c/d> ;\n <http://e/f> \"{\" .", "text/plain", "", "text/turtle"},
    {"<http://a/g> {\n <http://a/b> a <http://c/d> }", "text/plain", "", "application/trig"},
    {"<http://a/b> <http://c/d> \"x\"@en .\n_:a <http://c/d> <http://e/f> .\n", "text/plain", "",
     "application/n-triples"},
    {"<http://a/b> <http://c/d> \"x\" .\n", "text/turtle", "", "text/turtle"},
    {"<http://a/b> <http://c/d> \"x\" .\n", "text/plain", "http://h/x.ttl", "text/turtle"},
    {"<http://a/b> <http://c/d> \"x\"^^<http://t/> <http://g/> .\n", "application/n-triples", "",
     "application/n-quads"},
    {"@prefix a: <http://a/> .\na:b a:c a:d .", "application/n-triples", "", "text/turtle"},
    {"not turtle at all", "text/turtle", "", "text/turtle"},
    {"", "text/turtle", "", "application/x-empty"},
    /* pages */
    {"<!DOCTYPE html><title>x", "", "", "text/html"},
    {"<!DOCTYPE html><title>x", "text/turtle", "", "text/html"},
    {"<!DOCTYPE html><title>x", "text/plain", "", "text/plain"},
    {"<html xmlns='http://www.w3.org/1999/xhtml'>", "text/html", "", "text/html"},
    {"<html xmlns='http://www.w3.org/1999/xhtml'>", "application/xhtml+xml", "",
     "application/xhtml+xml"},
    {"<html xmlns='http://www.w3.org/1999/xhtml'>", "application/xml", "", "application/xhtml+xml"},
    {"hello", "text/html", "", "text/html"},
    {"<p>hello", "", "", "text/html"},
    {"\n<!-- x -->\n<body bgcolor=red>", "application/octet-stream", "", "text/html"},
    /* feeds */
    {"<rss version='2.0'><channel>", "text/html", "", "application/rss+xml"},
    {"\xEF\xBB\xBF<?xml version='1.0'?>\n<feed xmlns='http://www.w3.org/2005/Atom'>", "text/xml",
     "", "application/atom+xml"},
    {"<a:feed xmlns:a='http://www.w3.org/2005/Atom'>", "application/octet-stream", "",
     "application/atom+xml"},
    /* other XML */
    {"<?xml version='1.0'?><menu/>", "text/xml", "", "application/xml"},
    {"<menu xmlns='http://food/'/>", "application/vnd.menu+xml", "", "application/vnd.menu+xml"},
    {"<urlset>", "text/plain", "", "application/x-sitemap+xml"},
    /* JSON */
    {"{\"@context\": \"http://schema.org\"}", "application/json", "", "application/ld+json"},
    {"[{\"a\": 1}]", "text/plain", "", "application/json"},
    {"{\"a\":1}\n{\"a\":2}\n", "", "", "application/x-ndjson"},
    {"{ color: red }", "text/css", "", "text/css"},
    {"{\"a\": tru", "", "", "application/json"},
    {"{\"a\": no}", "text/plain", "", "text/plain"},
    {"{\"name\": 1}", "application/geo+json", "", "application/geo+json"},
    /* signatures, claims, names */
    {"%PDF-1.4", "text/html", "", "application/pdf"},
    {"GIF89a....", "image/png", "", "image/gif"},
    {"a,b\n1,2", "text/plain", "http://h/x.csv?y", "text/csv"},
    {"a,b\n1,2", "text/csv", "", "text/csv"},
    {"body { }", "", "style.css", "text/css"},
    {"some words", "text/plain; charset=utf-8", "", "text/plain"},
};

static void
test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *sample = &samples[i];
        const struct detect_input input = {.bytes = slice_string(sample->bytes),
                                           .content_type = slice_string(sample->claim),
                                           .uri = slice_string(sample->uri)};
        struct detection detection;
        detect(&detector, &input, &detection);
        if (strcmp(detection.type, sample->type) != 0) {
            fail_msg("sample %zu, %s as \"%s\": got %s (%s), expected %s", i, sample->bytes,
                     sample->claim, detection.type, detection.reason, sample->type);
        }
        assert_false(detection.undecided);
        assert_true(detection.reason[0] != 0);
    }
}

static void
test_utf16_is_looked_into(void **state)
{
    (void)state;
    static const char marked[] = "\xFF\xFE<\0r\0s\0s\0>\0";
    static const char bare[] = "\0<\0r\0s\0s\0>";
    const struct slice texts[] = {SLICE(marked), SLICE(bare)};
    for (size_t i = 0; i < 2; i++) {
        const struct detect_input input = {.bytes = texts[i]};
        struct detection detection;
        detect(&detector, &input, &detection);
        assert_string_equal(detection.type, "application/rss+xml");
    }
}

static void
test_undecided_is_settled(void **state)
{
    (void)state;
    struct detection detection;
    const struct detect_input binary = {.bytes = SLICE("\1\2\3\4")};
    detect(&detector, &binary, &detection);
    assert_true(detection.undecided);
    assert_string_equal(detection.type, "application/octet-stream");
    detect_settle(SLICE("image/x-thing"), &detection);
    assert_false(detection.undecided);
    assert_string_equal(detection.type, "image/x-thing");
    detect(&detector, &binary, &detection);
    detect_settle(SLICE("application/octet-stream"), &detection);
    assert_string_equal(detection.type, "application/octet-stream");
}

/* A root element in a document that is longer than what is looked at. */
static void
test_only_the_head_is_read(void **state)
{
    (void)state;
    static char bytes[DETECT_HEAD * 2];
    memset(bytes, ' ', sizeof bytes);
    memcpy(bytes + DETECT_HEAD + 10, "<rss>", 5);
    const struct detect_input input = {.bytes = slice_of(bytes, sizeof bytes),
                                       .content_type = SLICE("text/plain")};
    struct detection detection;
    detect(&detector, &input, &detection);
    assert_string_equal(detection.type, "text/plain");
}

int
main(void)
{
    detector_init(&detector);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_utf16_is_looked_into),
        cmocka_unit_test(test_undecided_is_settled),
        cmocka_unit_test(test_only_the_head_is_read),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    detector_release(&detector);
    return failed;
}
