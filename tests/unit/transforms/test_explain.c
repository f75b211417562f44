/* Which line of the document each statement is said to be from, for each kind of document. */
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

#define RDF "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:e='http://e.example/'"
#define STYLE(body)                                                                              \
    "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' "            \
    "xmlns:q='https://quadrille.example/transform#' xmlns:h='http://www.w3.org/1999/xhtml' " RDF \
    ">" body "</xsl:stylesheet>"
#define STYLED "<a xmlns:g='http://www.w3.org/2003/g/data-view#' g:transformation='t.xsl'>\n"

static struct transformer *transformer;
static struct transform_result result;

/* part of a statement and its line; line -1: there is no such statement. */
struct place {
    int line;
    const char *part;
};

static const char *
find(const char *part)
{
    const char *found = strstr(result.explanation.data, part);
    while (found && found > result.explanation.data && found[-1] != '\n') {
        found--;
    }
    return found;
}

static void
run(const char *type, const char *document, const struct transform_resource *resource)
{
    struct reason why;
    const struct transform_request request = {.uri = SLICE("http://x.example/d"),
                                              .type = slice_string(type),
                                              .bytes = slice_string(document),
                                              .resources = resource,
                                              .resource_count = resource ? 1 : 0,
                                              .explain = true};
    if (transform_run(transformer, &request, &result, &why) != STATUS_OK) {
        fail_msg("%s: %s", document, why.text);
    }
    buf_append_char(&result.explanation, 0);
}

static void
check(const char *document, const struct place *places)
{
    for (; places->part; places++) {
        const char *line = find(places->part);
        const char *number = line ? strchr(line, '\t') : NULL;
        const int said = number ? atoi(number + 1) : -1;
        if (said != places->line) {
            fail_msg("%s\n%s is of line %d, not %d:\n%s", document, places->part, said,
                     places->line, result.explanation.data);
        }
    }
}

static void
expect(const char *type, const char *document, const struct place *places)
{
    run(type, document, NULL);
    check(document, places);
}

#define EXPECT(type, document, ...) \
    expect(type, document, (const struct place[]){__VA_ARGS__, {0, NULL}})

/* ---- syntaxes of RDF ---- */

static void
test_rdfxml(void **state)
{
    (void)state;
    EXPECT("application/rdf+xml",
           "<rdf:RDF\n " RDF ">\n"
           "<e:Class rdf:about='#a'\n  e:one='1'\n  e:two='2&amp;'\n  e:three='3'>\n"
           "<e:four\n rdf:resource='#four'/>\n<e:five>\n 5\n</e:five>\n"
           "<e:six><rdf:Description>\n<e:seven>7</e:seven></rdf:Description></e:six>\n"
           "<e:list rdf:parseType='Collection'>\n<e:Item\n rdf:about='#i'/></e:list>\n"
           "</e:Class></rdf:RDF>",
           {3, "type> <http://e.example/Class>"}, {4, "one> \"1\""}, {4, "two> \"2&\""},
           {6, "three> \"3\""}, {7, "four> <"}, {9, "five> \""}, {12, "six> _:"},
           {13, "seven> \"7\""}, {14, "list> _:"}, {15, "first> <http://x.example/d#i>"},
           {15, "type> <http://e.example/Item>"}, {14, "#nil>"});
}

static void
test_turtle(void **state)
{
    static const char document[] =
        "@prefix e: <http://e.example/> .\n\n<#a>\n e:one\n \"1\" ;\n e:two '''2\n\n''',\n 3 ;\n"
        " e:four [\n e:five 5\n] .\n<#b> e:list (\n1\n2\n) .\n";
    const struct place places[] = {
        {5, "one> \"1\""},   {6, "two> \"2"},  {9, "two> \"3\""},    {10, "four> _:"},
        {11, "five> \"5\""}, {13, "list> _:"}, {14, "first> \"1\""}, {15, "first> \"2\""},
        {16, "#nil>"},       {0, NULL}};
    (void)state;
    expect("text/turtle", document, places);
    expect("application/trig", document, places);
    expect("text/n3", document, places);
    EXPECT("application/n-triples",
           "\n<http://x.example/a> <http://e.example/one> \"1\" .\n# no\n"
           "<http://x.example/a> <http://e.example/two> \"2\" .\n",
           {2, "\"1\""}, {4, "\"2\""});
}

static void
test_trix(void **state)
{
    (void)state;
    EXPECT("application/trix",
           "<TriX xmlns='http://www.w3.org/2004/03/trix/trix-1/'>\n<graph>\n<triple>\n"
           "<uri>http://x.example/a</uri>\n<uri>http://e.example/p</uri>\n"
           "<plainLiteral>1</plainLiteral>\n</triple></graph></TriX>",
           {3, "\"1\""});
}

static void
test_jsonld(void **state)
{
    (void)state;
    EXPECT("application/ld+json",
           "{\n\"@id\": \"http://x.example/a\",\n\"http://e.example/one\": \"1\",\n"
           "\"http://e.example/two\": [\n \"2\",\n {\"@id\": \"http://x.example/b\",\n"
           "\"http://e.example/three\": 3}]}",
           {3, "one> \"1\""}, {5, "two> \"2\""}, {6, "two> <"}, {7, "three> \"3\""});
}

/* ---- pages ---- */

static void
test_pages(void **state)
{
    (void)state;
    EXPECT(
        "text/html",
        "<!DOCTYPE html>\n\n<html lang=en>\n<head>\n<title>A\npage</title>\n"
        "<meta name=description\n content=Words>\n"
        "<script type='application/ld+json'>\n{\"@id\": \"#j\",\n"
        "\"http://e.example/json\":\n\"1\"}</script>\n"
        "<body>\n<p vocab='http://e.example/' about='#r'>\n<b property=rdfa>r</b>\n"
        "<div itemscope itemid='#m' itemtype='http://e.example/T'>\n<b itemprop=micro>m</b></div>\n"
        "<div class=h-card>\n<i class=p-name>Ada</i></div>\n<a href='/next'>go</a>",
        {3, "foaf/0.1/Document>"}, {3, "language> \"en\""}, {5, "title> \"A page\""},
        {7, "escription> \"Words\""}, {11, "json> \"1\""}, {15, "rdfa> \"r\""},
        {17, "micro> \"m\""}, {19, "\"Ada\""}, {20, "links_to> <http://x.example/next>"});
    EXPECT("text/html", "\n\n<p>Nothing", {3, "foaf/0.1/Document>"});
    EXPECT("application/xhtml+xml",
           "<html xmlns='http://www.w3.org/1999/xhtml'>\n<head>\n<title>A page</title>\n</head>\n"
           "<body>\n<p property='http://e.example/p'>x</p>\n</body></html>",
           {1, "foaf/0.1/Document>"}, {3, "title> \"A page\""}, {6, "e.example/p> \"x\""});
    EXPECT("application/xhtml+xml",
           "<html\n xmlns='http://www.w3.org/1999/xhtml'><head>\n<title\n>A\npage</title>\n"
           "<script type='application/ld+json'>//<![CDATA[\n{\"@id\": \"#j\",\n"
           "\"http://e.example/json\": \"1\",\n\"http://e.example/next\": \"2\"}\n//]]></script>\n"
           "<script type='application/ld+json'>\n{\"@id\": \"#j\",\n\"http://e.example/more\": 3}"
           "</script></head></html>",
           {1, "foaf/0.1/Document>"}, {3, "title> \"A page\""}, {8, "json> \"1\""},
           {9, "next> \"2\""}, {13, "more> \"3\""});
}

/* ---- by stylesheets ---- */

static void
test_feeds(void **state)
{
    (void)state;
    EXPECT(
        "application/rss+xml",
        "<?xml version='1.0'?>\n<rss version='2.0'>\n<channel>\n<title>T</title>\n<item>\n"
        "<link>http://e.example/i</link>\n<title>\nI</title>\n"
        "<description>&lt;a href='/l'>l&lt;/a></description>\n</item>\n"
        "<item><link>http://e.example/j</link>\n<enclosure\n url='/e'\n type='audio/x'/></item>\n"
        "</channel></rss>",
        {3, "1.0/channel>"}, {4, "title> \"T\""}, {5, "<http://e.example/i> <http://www.w3.org"},
        {5, "#_1> <"}, {6, "link> <http://e.example/i>"}, {7, "title> \"I\""},
        {9, "links_to> <http://x.example/l>"}, {11, "#_2> <"}, {12, "\"audio/x\""});
    EXPECT("application/rss+xml",
           "\n\n<?xml version='1.0'?>\n<rss><channel>\n<title>T & U</title>\n"
           "<item><link>http://e.example/i</link>\n<title>I</item></channel></rss>",
           {5, "title> \"T & U\""}, {7, "title> \"I\""});
}

static void
test_lists(void **state)
{
    (void)state;
    EXPECT("text/x-opml",
           "<opml version='2.0'>\n<head>\n<title>T</title></head>\n<body>\n"
           "<outline text='O'\n xmlUrl='http://e.example/f'/>\n</body></opml>",
           {3, "title> \"T\""}, {5, "label> \"O\""});
    EXPECT("application/x-sitemap+xml",
           "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\n<url>\n"
           "<loc>http://e.example/1</loc>\n<lastmod>2005-01-01</lastmod></url>\n</urlset>",
           {1, "0.9#urlset>"}, {2, "#url> <http://e.example/1>"}, {4, "\"2005-01-01\""});
    EXPECT("application/wsdl+xml",
           "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'\n "
           "targetNamespace='http://e.example/w'>"
           "\n<service name='S'>\n<documentation>Does it</documentation></service></definitions>",
           {4, "\"Does it\""});
}

/* libxml2 keeps 16 bits of a line. */
static void
test_long_documents(void **state)
{
    enum { EMPTY = 70000 };
    struct buf document;
    (void)state;
    buf_init(&document, 1 << 20);
    buf_append_string(&document, "<rss><channel>");
    for (int i = 0; i < EMPTY; i++) {
        buf_append_char(&document, '\n');
    }
    buf_append_string(&document, "<title>T</title></channel></rss>");
    buf_append_char(&document, 0);
    EXPECT("application/rss+xml", document.data, {EMPTY + 1, "title> \"T\""});
    buf_release(&document);
}

static void
expect_styled(const char *stylesheet, const char *type, const char *document,
              const struct place *places)
{
    char path[SCRATCH_SIZE], hex[2 * DIGEST_SHA256_SIZE + 1];
    uint8_t digest[DIGEST_SHA256_SIZE];
    struct reason why;
    const struct transform_resource resource = {.uri = SLICE("http://x.example/t.xsl"),
                                                .bytes = slice_string(stylesheet)};
    const int descriptor = scratch_file(path, "test_explain");
    assert_true(descriptor >= 0);
    digest_sha256(slice_string(stylesheet), digest);
    digest_hex(digest, DIGEST_SHA256_SIZE, hex);
    dprintf(descriptor, "%s\n", hex);
    close(descriptor);
    assert_int_equal(grddl_allow(path, &why), STATUS_OK);
    unlink(path);
    run(type, document, &resource);
    check(document, places);
}

#define EXPECT_STYLED(stylesheet, type, document, ...) \
    expect_styled(stylesheet, type, document, (const struct place[]){__VA_ARGS__, {0, NULL}})

static void
test_stylesheets_of_others(void **state)
{
    (void)state;
    /* Nodes that functions make, attributes and text as the context, and markup that is not
     * escaped. */
    EXPECT_STYLED(
        STYLE("<xsl:template match='/'><rdf:RDF><rdf:Description rdf:about='#s'>"
              "<xsl:for-each select='//b'><xsl:for-each select='q:split(string(.), \",\")'>"
              "<e:v><xsl:value-of select='.'/></e:v></xsl:for-each></xsl:for-each>"
              "<xsl:for-each select='//@c'><e:c><xsl:value-of select='.'/></e:c></xsl:for-each>"
              "<xsl:value-of disable-output-escaping='yes' "
              "select=\"'&lt;e:raw>r&lt;/e:raw>&lt;e:raw rdf:resource=&quot;#r&quot;/>'\"/>"
              "<xsl:for-each select='//b/text()'><e:t><xsl:value-of select='.'/></e:t>"
              "</xsl:for-each><e:root/></rdf:Description></rdf:RDF></xsl:template>"),
        "application/xml", STYLED "<b>one</b>\n<b\n c='c'>two,2</b>\n<d/></a>", {2, "v> \"one\""},
        {3, "v> \"two\""}, {3, "v> \"2\""}, {3, "c> \"c\""}, {1, "raw> \"r\""}, {1, "raw> <"},
        {2, "t> \"one\""}, {3, "t> \"two,2\""}, {1, "root> \"\""});
    EXPECT_STYLED(
        STYLE("<xsl:template match='/'><xsl:variable name='v'><xsl:copy-of select='//e:late'/>"
              "</xsl:variable><rdf:RDF><rdf:Description rdf:about='#s'>"
              "<xsl:copy-of select='//e:none'/><xsl:copy-of select='//e:T/@*'/>"
              "<xsl:copy-of select='$v'/><e:made/></rdf:Description>"
              "<xsl:for-each select='//b'><xsl:copy-of select='e:T'/></xsl:for-each>"
              "</rdf:RDF></xsl:template>"),
        "application/xml",
        STYLED "<b xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' "
               "xmlns:e='http://e.example/'>\n<e:T>\n<e:one>1</e:one>\n<e:two>2</e:two></e:T>\n"
               "<e:T><e:three\n>3</e:three></e:T></b>\n"
               "<late xmlns='http://e.example/'>4</late></a>",
        {6, "type> <http://e.example/T>"}, {4, "one> \"1\""}, {5, "two> \"2\""},
        {6, "three> \"3\""}, {8, "late> \"4\""}, {1, "made> \"\""});
    EXPECT_STYLED(STYLE("<xsl:template match='/'><rdf:RDF><xsl:for-each select='//h:p'>"
                        "<rdf:Description rdf:about='#p'><e:p><xsl:value-of select='.'/></e:p>"
                        "</rdf:Description></xsl:for-each></rdf:RDF></xsl:template>"),
                  "text/html",
                  "<html>\n<head profile='http://www.w3.org/2003/g/data-view'>\n"
                  "<link rel=transformation href=t.xsl>\n<body>\n<p>one\n<p>two",
                  {5, "/p> \"one"}, {6, "/p> \"two"});
    EXPECT_STYLED(STYLE("<xsl:output method='text'/><xsl:template match='/'>"
                        "\n\n&lt;http://e.example/s> &lt;http://e.example/p> \"1\" .\n"
                        "</xsl:template>"),
                  "application/xml", STYLED "</a>", {0, "\"1\""});
}

static void
test_islands(void **state)
{
    (void)state;
    EXPECT("image/svg+xml",
           "<svg xmlns='http://www.w3.org/2000/svg'\n " RDF ">\n<metadata>\n<rdf:RDF\n >\n"
           "<rdf:Description\n rdf:about='#a'>\n<e:one>1</e:one>\n<e:two rdf:parseType='Literal'>"
           "<b/>\n<b/></e:two>\n<e:three\n>3</e:three></rdf:Description></rdf:RDF>\n"
           "<rdf:RDF><e:T rdf:about='#b'/></rdf:RDF></metadata></svg>",
           {8, "one> \"1\""}, {9, "two> \""}, {11, "three> \"3\""}, {13, "type> <"});
}

/* ---- others ---- */

static void
test_records(void **state)
{
    (void)state;
    EXPECT("text/csv", "name,age\nAda,36\n\"Ch\narles\",79\nGrace,85\n", {2, "\"Ada\""},
           {3, "\"79\""}, {5, "\"Grace\""});
    EXPECT("text/calendar",
           "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:So\r\n me\r\n"
           "LOCATION:Here\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
           {1, "Vcalendar>"}, {3, "Vevent>"}, {5, "\"Some\""}, {7, "\"Here\""});
    EXPECT("text/vcard", "BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Ada\r\nNOTE:A\r\n  b\r\nEND:VCARD\r\n",
           {3, "fn> \"Ada\""}, {4, "note> \"A b\""});
}

static int
set_up(void **state)
{
    static struct registry *registry;
    struct reason why;
    const struct transform_limits limits = {.memory = 32 << 20, .output = 8 << 20};
    registry = registry_new();
    *state = registry;
    transform_result_init(&result, limits.output);
    return registry_read_default(registry, &why) == STATUS_OK &&
                   transformer_new(&transformer, registry, &limits, &why) == STATUS_OK
               ? 0
               : -1;
}

static int
tear_down(void **state)
{
    transform_result_release(&result);
    transformer_free(transformer);
    registry_free(*state);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rdfxml),
        cmocka_unit_test(test_turtle),
        cmocka_unit_test(test_trix),
        cmocka_unit_test(test_jsonld),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_feeds),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_long_documents),
        cmocka_unit_test(test_stylesheets_of_others),
        cmocka_unit_test(test_islands),
        cmocka_unit_test(test_records),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
