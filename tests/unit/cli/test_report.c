/* Reports: every advice is reached by a complaint that is really made; findings of records, kinds,
 * bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "cli/report/report_totals.h"
#include "transforms/transform.h"

enum { REACHED = 512 };
static bool reached[REACHED];
static struct report_page page;

static size_t
index_of(const struct report_advice *advice)
{
    size_t i = 0;
    while (report_advice_at(i) != advice) {
        i++;
    }
    assert_true(i < REACHED);
    return i;
}

static void
read_page(const char *key, const struct meta_update *update)
{
    struct buf record;
    buf_init(&record, 1 << 20);
    assert_int_equal(meta_merge(slice_of(NULL, 0), meta_update_fields(update), &record),
                     META_MERGED);
    /* the page's slices point into it until the next one */
    static struct buf kept;
    buf_release(&kept);
    kept = record;
    (void)report_page_read(&page, slice_string(key), buf_slice(&kept));
    for (size_t i = 0; i < page.finding_count; i++) {
        if (page.findings[i].advice != NULL) {
            reached[index_of(page.findings[i].advice)] = true;
        } else if (getenv("QUADRILLE_SHOW_UNADVISED")) {
            print_message("no advice: %.*s: %.*s\n", SLICE_PRINT(page.findings[i].where),
                          SLICE_PRINT(page.findings[i].text));
        }
    }
}

/* ---- what transforms complain of ---- */

static const struct bad_document {
    const char *type, *text;
    const char *charset, *link;
    size_t length; /* 0: a string */
} documents[] = {
#define JSON "application/ld+json"
#define HTML "text/html"
#define IN_SCRIPT(json) \
    "<!DOCTYPE html><title>t</title><script type=\"application/ld+json\">" json "</script>"
    {HTML, "<p>\xe4", "iso-8859-1", NULL, 0},
    {HTML, "<meta charset=\"iso-8859-1\"><p>\xe4", "utf-8", NULL, 0},
    {HTML, "<p>\xc3\xa4", NULL, NULL, 0},
    {HTML, "<title>t</title><table><b>x<tr><td>y</table>", NULL, NULL, 0},
    {HTML, "<title>t<p>x", NULL, NULL, 0},
    {HTML, "<title>t</title><a rel=next href=x>x</a>", NULL, "next", 0},
    {HTML, IN_SCRIPT(""), NULL, NULL, 0},
    {HTML, IN_SCRIPT("{\"a\" \"b\" [}"), NULL, NULL, 0},
    {HTML, IN_SCRIPT("{\"@context\":\"schema.org\",\"name\":\"x\",}"), NULL, NULL, 0},
    {HTML, IN_SCRIPT("<!-- {\"name\":\"a\nb\\q\", /* c */ 'n':'v', m: 05, k: True} -->"), NULL,
     NULL, 0},
    {HTML, IN_SCRIPT("{\"name\":\"a \"quoted\" b\" \"k\":1, \"l\":, \"s\":\"\\ud800\"};"), NULL,
     NULL, 0},
    {HTML, IN_SCRIPT("{&quot;name&quot;:&quot;x&quot;}"), NULL, NULL, 0},
    {HTML, IN_SCRIPT("{\"name\":\"x\"}{\"name\":\"y\"}]"), NULL, NULL, 0},
    {HTML, IN_SCRIPT("{\"name\":\xc2\xa0\"x\""), NULL, NULL, 0},
    {JSON, "{\"http://e/p\":\"\xff\"}", NULL, NULL, 0},
    {JSON, "nothing", NULL, NULL, 0},
    {JSON, "{\"@context\":\"http://nowhere.example/c\",\"a\":1}", NULL, NULL, 0},
    {JSON, "{\"@context\":\"http://list.example/\",\"a\":1}", NULL, NULL, 0},
    {JSON, "{\"@context\":\"http:// bad\",\"a\":1}", NULL, NULL, 0},
    {JSON, "{\"@context\":5,\"a\":1}", NULL, NULL, 0},
    {JSON, "{\"@id\":5,\"http://e/p\":1}", NULL, NULL, 0},
    {JSON, "{\"@type\":5,\"http://e/p\":1}", NULL, NULL, 0},
    {JSON, "{\"@context\":{\"@vocab\":5},\"a\":1}", NULL, NULL, 0},
    {JSON, "{\"@context\":{\"@base\":5},\"a\":1}", NULL, NULL, 0},
    {JSON, "{\"http://e/p\":{\"@value\":5,\"@language\":\"en\"}}", NULL, NULL, 0},
    {JSON, "{\"http://e/p\":{\"@value\":\"x\",\"@id\":\"http://e/\"}}", NULL, NULL, 0},
    {JSON, "{\"http://e/p\":{\"@value\":\"x\",\"@type\":\"a b\"}}", NULL, NULL, 0},
    {JSON, "{\"http://e/p\":{\"@list\":[],\"@id\":\"http://e/\"}}", NULL, NULL, 0},
    {JSON, "{\"@reverse\":5}", NULL, NULL, 0},
    {JSON, "{\"@context\":{\"a\":\"b c\"},\"a\":1}", NULL, NULL, 0},
    {JSON, "{\"@context\":{\"@id\":\"http://e/\"},\"a\":1}", NULL, NULL, 0},
    {JSON, "{\"@context\":{\"a\":5},\"a\":1}", NULL, NULL, 0},
    {JSON, "{\"@context\":{\"@language\":5},\"a\":1}", NULL, NULL, 0},
    {"application/json", "{\"a\":1}", NULL,
     "<http://a/>; rel=\"http://www.w3.org/ns/json-ld#context\"; type=\"application/ld+json\", "
     "<http://b/>; rel=\"http://www.w3.org/ns/json-ld#context\"; type=\"application/ld+json\"",
     0},
    {HTML, IN_SCRIPT("{}"), NULL,
     "<http://nowhere.example/a>; rel=\"alternate\"; type=\"application/ld+json\"", 0},
#define FEED "application/atom+xml"
#define ATOM(inside) "<feed xmlns=\"http://www.w3.org/2005/Atom\">" inside "</feed>"
    {FEED, " <?xml version=\"1.0\"?>" ATOM("<title>a & b</title>"), NULL, NULL, 0},
    {FEED, ATOM("<title>a &#1; < b</title>"), NULL, NULL, 0},
    {FEED, ATOM("<title>a \x01 b</title>"), NULL, NULL, 0},
    {FEED, ATOM("<title type=text>a</title>"), NULL, NULL, 0},
    {FEED, ATOM("<title><b>a</title>"), NULL, NULL, 0},
    {FEED, ATOM("<!-- a -- b --><title>a</title>"), NULL, NULL, 0},
    {FEED, "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>a</title>", NULL, NULL, 0},
    {FEED, ATOM("<x:title>a</x:title>"), NULL, NULL, 0},
    {"application/xhtml+xml", "<html xmlns=\"http://www.w3.org/1999/xhtml\"><p>a & b</p></html>",
     NULL, NULL, 0},
    {"application/xhtml+xml", "<html xmlns=\"http://www.w3.org/1999/xhtml\"><p>a</html>", NULL,
     NULL, 0},
    {"application/xhtml+xml", "<html xmlns=\"http://www.w3.org/1999/xhtml\"><p>a", NULL, NULL, 0},
#define XML "application/rdf+xml"
#define RDF_XML(inside)                                                   \
    "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" " \
    "xmlns:e=\"http://e/\">" inside "</rdf:RDF>"
#define THING(inside) \
    RDF_XML("<rdf:Description rdf:about=\"http://e/\">" inside "</rdf:Description>")
    {XML, RDF_XML("<rdf:Description rdf:about=\"http://e/a b\"/>"), NULL, NULL, 0},
    {XML, RDF_XML("<e:A rdf:ID=\"a\"/><e:A rdf:ID=\"a\"/>"), NULL, NULL, 0},
    {XML, RDF_XML("<e:A rdf:ID=\"1 2\"/>"), NULL, NULL, 0},
    {XML, RDF_XML("<rdf:Description about=\"http://e/\" x=\"y\"/>"), NULL, NULL, 0},
    {XML, THING("<e:p rdf:parseType=\"Literal\" e:q=\"x\"/>"), NULL, NULL, 0},
    {XML, THING("<e:p rdf:about=\"http://e/\"/>"), NULL, NULL, 0},
    {XML, THING("text"), NULL, NULL, 0},
    {XML, THING("<e:p xml:lang=\"no language\">x</e:p>"), NULL, NULL, 0},
    {XML, THING("<rdf:Description/>"), NULL, NULL, 0},
    {XML, "<!DOCTYPE a [<!ENTITY x SYSTEM \"http://e/x\">]>" THING("<e:p>&x;</e:p>"), NULL, NULL,
     0},
    {XML, "<rdf:RDF><e:a></e:b></rdf:RDF>", NULL, NULL, 0},
    {XML, RDF_XML("<rdf:Description></rdf:Descripton>"), NULL, NULL, 0},
    {XML, RDF_XML("<x:A/>"), NULL, NULL, 0},
#define TURTLE "text/turtle"
    {TURTLE, "<> foaf:name 1 .", NULL, NULL, 0},
    {TURTLE, "<> <a b> 1 .", NULL, NULL, 0},
    {TURTLE, "<> <p> \"\\q\" .", NULL, NULL, 0},
    {TURTLE, "<> <p> \"x\n\" .", NULL, NULL, 0},
    {TURTLE, "<> <p> \"x\"@1 .", NULL, NULL, 0},
    {TURTLE, "<> <p> _:- .", NULL, NULL, 0},
    {TURTLE, "<> <p> \"\xff\" .", NULL, NULL, 0},
    {TURTLE, "<> <p> ] .", NULL, NULL, 0},
    {"application/n-triples", "<a> <http://e/> <http://e/> .\n", NULL, NULL, 0},
#define TITLE "<title>t</title>"
    {HTML, TITLE "<p property=name>x", NULL, NULL, 0},
    {HTML, TITLE "<p property=\"1x:y\">x", NULL, NULL, 0},
    {HTML, TITLE "<p prefix=\"a http://e/ b:\" property=\"http://e/p\">x", NULL, NULL, 0},
    {HTML, TITLE "<div itemscope itemref=\"none\"><p itemprop=\"a\">x</div>", NULL, NULL, 0},
    {HTML,
     TITLE "<div itemscope itemref=a></div><div id=a itemprop=p itemscope itemref=b></div>"
           "<div id=b itemprop=q itemscope itemref=a></div>",
     NULL, NULL, 0},
    {HTML, TITLE "<div itemscope><a itemprop=\"u\" href=\"http://[\">x</a></div>", NULL, NULL, 0},
    {HTML, TITLE "<div itemscope><a itemprop=\"u\">x</a></div>", NULL, NULL, 0},
    {HTML, TITLE "<div itemscope><p itemprop-reverse=\"u\">x</div>", NULL, NULL, 0},
    {HTML, TITLE "<p itemprop=a>x", NULL, NULL, 0},
    {HTML, TITLE "<div class=\"h-card\"><time class=\"dt-bday\">sometime</time></div>", NULL, NULL,
     0},
    {"text/calendar", "BEGIN:VCALENDAR\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nEND:VCALENDAR\r\n", NULL,
     NULL, 0},
    {"text/calendar",
     "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nnonsense\r\nDTSTART:soon\r\nSUMMARY:\xe4\r\n", NULL, NULL,
     0},
    {"text/calendar", "nothing", NULL, NULL, 0},
    {"text/vcard", "BEGIN:VCARD\r\nFN:A\r\nEMAIL:nobody at all\r\nGEO:somewhere\r\nEND:VCARD\r\n",
     NULL, NULL, 0},
    {"text/csv", "a,b\n1,2\n1,2,3\n\"4,5\n6,7\n", NULL, NULL, 0},
    {"text/csv", "1,2\n3,4\n5,6\n", NULL, NULL, 0},
    {"text/csv", "a single column of words\nand a second line\n", NULL, NULL, 0},
    {"image/png", "nothing", NULL, NULL, 0},
    {"image/png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", NULL, NULL, 16},
    {"image/jpeg", "\xff\xd8\xff\xe1\0\x2fhttp://ns.adobe.com/xap/1.0/\0<rdf:RDF><broken\xff\xd9",
     NULL, NULL, 53},
    {"application/pdf", "%PDF-1.4\n%%EOF\n", NULL, NULL, 0},
    {"text/turtle", "\x1f\x8b\x08\0\0\0\0\0\0\3\x4b", NULL, NULL, 11},
    {HTML,
     "<html><head profile=\"http://www.w3.org/2003/g/data-view\"><title>t</title><link "
     "rel=transformation href=\"http://nowhere.example/x.xsl\"></head>",
     NULL, NULL, 0},
    {HTML,
     "<html><head profile=\"http://www.w3.org/2003/g/data-view\"><title>t</title><link "
     "rel=transformation href=\"http://list.example/\"></head>",
     NULL, NULL, 0},
    {HTML,
     "<html><head profile=\"http://www.w3.org/2003/g/data-view\"><title>t</title><link "
     "rel=transformation href=\"http://unheard.example/\"></head>",
     NULL, NULL, 0},
};

static const struct transform_resource resources[] = {
    {.uri = SLICE_INIT("http://nowhere.example/c"), .failure = SLICE_INIT("not found")},
    {.uri = SLICE_INIT("http://nowhere.example/a"), .failure = SLICE_INIT("not found")},
    {.uri = SLICE_INIT("http://nowhere.example/x.xsl"), .failure = SLICE_INIT("not found")},
    {.uri = SLICE_INIT("http://list.example/"),
     .content_type = SLICE_INIT("application/ld+json"),
     .bytes = SLICE_INIT("[]")},
};

static void
complain(struct transformer *transformer, struct transform_result *result,
         const struct bad_document *document)
{
    struct reason why;
    struct meta_update update;
    const size_t length = document->length > 0 ? document->length : strlen(document->text);
    const struct transform_request request = {.uri = SLICE("http://bad.example/"),
                                              .type = slice_string(document->type),
                                              .charset = slice_string(document->charset),
                                              .link_header = slice_string(document->link),
                                              .bytes = slice_of(document->text, length),
                                              .resources = resources,
                                              .resource_count =
                                                  sizeof resources / sizeof *resources};
    assert_int_equal(transform_run(transformer, &request, result, &why), STATUS_OK);
    meta_update_init(&update);
    meta_set_text(&update, META_STATE, SLICE("indexed"));
    meta_set_text(&update, META_TRANSFORM, buf_slice(&result->names));
    meta_set_text(&update, META_DETECTED_TYPE, slice_string(document->type));
    meta_set_text(&update, META_TRANSFORM_PROBLEMS, buf_slice(&result->problems));
    meta_set_text(&update, META_TRANSFORM_REPAIRS, buf_slice(&result->repairs));
    meta_set_text(&update, META_TRANSFORM_ADVICE, buf_slice(&result->advice));
    read_page("uhttp://bad.example/", &update);
    meta_update_release(&update);
}

static void
complain_of_all(void)
{
    struct reason why;
    struct registry *registry = registry_new();
    struct transformer *transformer;
    struct transform_result result;
    const struct transform_limits limits = {.memory = 64 << 20, .output = 16 << 20};
    assert_int_equal(registry_read_default(registry, &why), STATUS_OK);
    assert_int_equal(transformer_new(&transformer, registry, &limits, &why), STATUS_OK);
    transform_result_init(&result, limits.output);
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        complain(transformer, &result, &documents[i]);
    }
    char deep[3 * 600 + 40] = "<title>t</title>";
    for (int i = 0; i < 600; i++) {
        strcat(deep, "<b>");
    }
    complain(transformer, &result, &(struct bad_document){HTML, deep, NULL, NULL, 0});
    transform_result_release(&result);
    transformer_free(transformer);
    registry_free(registry);
}

/* ---- what the fetch and the server's type show ---- */

static const struct outcome {
    const char *state, *reason, *type, *content_type, *truncated;
    uint64_t status;
    const char *said; /* "severity where: text" of the first finding */
} outcomes[] = {
    {"gone", "", "", "text/html", "", 404, "error fetch: the server answered 404"},
    {"gone", "", "", "text/html", "", 410, "error fetch: the server answered 410"},
    {"failed", "the server answered 401", "", "", "", 401, "error fetch: the server answered 401"},
    {"failed", "the server answered 403", "", "", "", 403, "error fetch: the server answered 403"},
    {"failed", "the server answered 503", "", "", "", 503, "error fetch: the server answered 503"},
    {"failed", "redirects to itself", "", "", "", 301, "error fetch: redirects to itself"},
    {"failed", "more redirects than ten", "", "", "", 301, "error fetch: more redirects than ten"},
    {"failed", "redirect without a target: no Location header", "", "", "", 301,
     "error fetch: redirect without a target: no Location header"},
    {"failed", "connection refused", "", "", "", 0,
     "error fetch: it could not be had: connection refused"},
    {"failed", "robots.txt: the host's name does not exist", "", "", "", 0,
     "error fetch: it could not be had: robots.txt: the host's name does not exist"},
    {"denied", "robots.txt of the host", "", "", "", 0, "advice fetch: robots.txt of the host"},
    {"fetched", "the response has no body", "", "", "", 200,
     "warning fetch: the response has no body"},
    {"indexed", "", "text/turtle", "text/turtle", "length", 200,
     "error fetch: the body was cut: length"},
    {"indexed", "", "text/turtle", "text/plain; charset=utf-8", "", 200,
     "warning detect: Content-Type says text/plain; charset=utf-8, the content is text/turtle"},
    {"indexed", "", "text/turtle", "\x1b[2J", "", 200,
     "warning detect: Content-Type says  [2J, the content is text/turtle"},
    {"indexed", "", "text/turtle", "", "", 200,
     "warning detect: no Content-Type is sent; the content is text/turtle"},
    {"indexed", "", "application/xml", "text/xml", "", 200, ""},
    {"indexed", "", "application/xml", "application/foo+xml", "", 200, ""},
    {"redirected", "", "", "text/html", "", 301, ""},
};

static void
check_outcomes(void)
{
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        const struct outcome *outcome = &outcomes[i];
        struct meta_update update;
        char said[200] = "";
        meta_update_init(&update);
        meta_set_text(&update, META_STATE, slice_string(outcome->state));
        meta_set_text(&update, META_REASON, slice_string(outcome->reason));
        meta_set_text(&update, META_DETECTED_TYPE, slice_string(outcome->type));
        meta_set_text(&update, META_CONTENT_TYPE, slice_string(outcome->content_type));
        meta_set_text(&update, META_TRUNCATED, slice_string(outcome->truncated));
        meta_set_number(&update, META_HTTP_STATUS, outcome->status);
        read_page("uhttp://bad.example/", &update);
        if (page.finding_count > 0) {
            snprintf(said, sizeof said, "%s %.*s: %.*s",
                     report_severity_name(page.findings[0].severity),
                     SLICE_PRINT(page.findings[0].where), SLICE_PRINT(page.findings[0].text));
        }
        assert_string_equal(said, outcome->said);
        meta_update_release(&update);
    }
}

static void
test_every_advice(void **state)
{
    (void)state;
    size_t missed = 0;
    report_page_init(&page);
    complain_of_all();
    check_outcomes();
    for (size_t i = 0; report_advice_at(i) != NULL; i++) {
        if (!reached[i]) {
            print_message("not reached: %s \"%s\"\n",
                          report_advice_at(i)->where ? report_advice_at(i)->where : "any",
                          report_advice_at(i)->pattern);
            missed++;
        }
    }
    assert_int_equal(missed, 0);
    report_page_release(&page);
}

/* ---- records and totals ---- */

static void
test_lines(void **state)
{
    (void)state;
    struct meta_update update;
    report_page_init(&page);
    meta_update_init(&update);
    meta_set_text(&update, META_STATE, SLICE("indexed"));
    meta_set_text(&update, META_TRANSFORM, SLICE("html/2 jsonld/1"));
    meta_set_text(&update, META_TRANSFORM_QUADS, SLICE("jsonld 30"));
    meta_set_number(&update, META_TRANSFORM_PROBLEM_COUNT, 5);
    meta_set_text(&update, META_TRANSFORM_PROBLEMS,
                  SLICE("a: line 3: x\nb: line 12, column 4: y\nc: lines are odd: z\nno colon"));
    meta_set_text(&update, META_TRANSFORM_REPAIRS, SLICE("jsonld: missing comma: 7\nodd\nodd: 1"));
    meta_set_text(&update, META_TRANSFORM_ADVICE, SLICE("html: line 9: w\n"));
    read_page("uhttp://a.example/", &update);
    static const struct {
        const char *where, *text;
        uint64_t line, times;
    } expected[] = {{"a", "x", 3, 1},
                    {"b", "y", 12, 1},
                    {"c", "lines are odd: z", 0, 1},
                    {"", "no colon", 0, 1},
                    {"report", "1 more problems, which were only counted", 0, 1},
                    {"jsonld", "missing comma", 0, 7},
                    {"html", "w", 9, 1}};
    assert_int_equal(page.finding_count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < page.finding_count; i++) {
        assert_true(slice_is(page.findings[i].where, expected[i].where));
        assert_true(slice_is(page.findings[i].text, expected[i].text));
        assert_int_equal(page.findings[i].line, expected[i].line);
        assert_int_equal(page.findings[i].times, expected[i].times);
    }
    assert_int_equal(page.transform_count, 2);
    assert_int_equal(page.transforms[1].quads, 30);
    assert_true(page.has_data);
    const struct slice record = meta_update_fields(&update);
    assert_false(report_page_read(&page, SLICE("hhttp://a.example"), record));
    assert_false(report_page_read(&page, SLICE("uhttp://a.example/c#resource"), record));
    assert_false(report_page_read(&page, SLICE("uhttp://a.example/"), slice_of(NULL, 0)));
    meta_update_release(&update);
    report_page_release(&page);
}

/* Hostile sites make neither findings nor kinds grow without end. */
static void
test_bounds(void **state)
{
    (void)state;
    struct buf lines;
    struct report_totals *totals = memory_new(sizeof *totals);
    report_page_init(&page);
    buf_init(&lines, 60 << 10);
    for (int i = 0; i < 3000; i++) {
        struct meta_update update;
        char name[100];
        buf_reset(&lines);
        for (int j = 0; j < (i == 0 ? 1000 : 1); j++) {
            buf_printf(&lines, "t%d: odd %c%c%c\n", i, 'a' + i % 26, 'a' + i / 26 % 26,
                       'a' + j % 26);
        }
        snprintf(name, sizeof name, "state %d", i);
        meta_update_init(&update);
        meta_set_text(&update, META_STATE, slice_string(name));
        meta_set_text(&update, META_TRANSFORM_PROBLEMS, buf_slice(&lines));
        read_page("uhttp://a.example/", &update);
        report_totals_add(totals, &page);
        if (i == 0) {
            assert_int_equal(page.finding_count, REPORT_FINDINGS);
            assert_int_equal(page.finding_left, 1000 - REPORT_FINDINGS);
        }
        meta_update_release(&update);
    }
    assert_int_equal(totals->pages, 3000);
    assert_int_equal(totals->states.count, REPORT_NAMES);
    assert_int_equal(totals->kind_count, REPORT_KINDS);
    assert_true(totals->uncounted > 0);
    report_totals_release(totals);
    free(totals);
    buf_release(&lines);
    report_page_release(&page);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_advice),
                                       cmocka_unit_test(test_lines), cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
