/* Feeds beyond what the suites show: names, texts, malformed documents. */
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "transforms/transform.h"

#define RSS(channel) "<rss version='2.0'><channel>" channel "</channel></rss>"
#define ITEM(inside) RSS("<item><link>http://e.example/i</link>" inside "</item>")
#define I "<http://e.example/i> "
#define D "<http://x.example/d> "
#define RSS10 "http://purl.org/rss/1.0/"
#define CREATOR "<http://purl.org/dc/elements/1.1/creator> "

static struct transformer *transformer;
static struct transform_result result;

static void
run(const char *type, struct slice bytes)
{
    struct reason why;
    const struct transform_request request = {
        .uri = SLICE("http://x.example/d"), .type = slice_string(type), .bytes = bytes};
    assert_int_equal(transform_run(transformer, &request, &result, &why), STATUS_OK);
    buf_append_char(&result.graph, 0);
    buf_append_char(&result.repairs, 0);
}

static void
expect(const char *type, const char *document, const char *quad)
{
    run(type, slice_string(document));
    if (!strstr(result.graph.data, quad)) {
        fail_msg("%s\ndoes not give %s but\n%s", document, quad, result.graph.data);
    }
}

static void
test_names_that_mean_the_same(void **state)
{
    static const char *const documents[] = {
        "<rss xmlns='http://backend.userland.com/rss2'><channel><title>T</title></channel></rss>",
        "<rss><channel><TITLE>T</TITLE></channel></rss>",
        "<feed><title>T</title></feed>",
        "<feed xmlns='http://purl.org/atom/ns#'><title>T</title></feed>",
        "<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:title>T</a:title></a:feed>",
        "<feed xmlns='http://example.org/neither'><title>T</title></feed>",
        "<CHANNEL><TITLE>T</TITLE></CHANNEL>",
    };
    (void)state;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        expect("application/rss+xml", documents[i], D "<" RSS10 "title> \"T\"");
    }
    expect("application/rss+xml", ITEM("<itunes:duration>1:00</itunes:duration>"),
           I "<http://www.itunes.com/dtds/podcast-1.0.dtd#duration> \"1:00\"");
}

static void
test_people(void **state)
{
    static const char *const authors[] = {"ada@x.example (Ada L)", "Ada L &lt;ada@x.example&gt;",
                                          "Ada L (ada@x.example)", "Ada L ada@x.example",
                                          "&lt;a href='mailto:ada@x.example'>Ada L&lt;/a>"};
    char document[512];
    (void)state;
    for (size_t i = 0; i < sizeof authors / sizeof *authors; i++) {
        snprintf(document, sizeof document, ITEM("<author>%s</author>"), authors[i]);
        expect("application/rss+xml", document, I CREATOR "\"Ada L\"");
        assert_non_null(strstr(result.graph.data, "mbox> <mailto:ada@x.example>"));
    }
    expect("application/rss+xml", ITEM("<author>ada@x.example</author>"),
           I CREATOR "\"ada@x.example\"");
    expect("application/rss+xml", ITEM("<author>Ada</author>"), I CREATOR "\"Ada\"");
}

static void
test_texts(void **state)
{
    (void)state;
    expect("application/rss+xml", ITEM("<title>a &amp;lt; b &#146;c&#146;</title>"),
           "\"a < b \xe2\x80\x99"
           "c\xe2\x80\x99\"");
    expect("application/rss+xml", ITEM("<title>1 &lt; 2</title>"), "\"1 < 2\"");
    expect("application/rss+xml",
           ITEM("<description>&lt;a href='/x' onclick='y'>z&lt;/a>&lt;script>q&lt;/script>"
                "</description>"),
           "encoded> \"<a href=\\\"http://x.example/x\\\">z</a>\"");
    assert_non_null(strstr(result.graph.data, I "<http://rdfs.org/sioc/ns#links_to> "
                                                "<http://x.example/x>"));
    expect("application/rss+xml", ITEM("<title>&lt;img src='/p' alt='a picture'></title>"),
           "title> \"a picture\"");
    expect("application/atom+xml",
           "<entry xmlns='http://www.w3.org/2005/Atom'><id>urn:x</id><title type='text'>"
           "&lt;b></title><content type='text/plain'>a &amp; b</content></entry>",
           "<urn:x> <" RSS10 "title> \"<b>\"");
    assert_non_null(strstr(result.graph.data, "encoded> \"a &amp; b\""));
}

static void
test_malformed(void **state)
{
    (void)state;
    expect("application/rss+xml",
           "\n junk <?xml version='1.0'?>" ITEM("<title>AT&T <b>x</title><category>c</category>"),
           I "<" RSS10 "title> \"AT&T x\"");
    assert_non_null(strstr(result.graph.data, "subject> \"c\""));
    assert_non_null(strstr(result.repairs.data, "feed: & that should be &amp;: 1"));
    assert_int_equal(result.state, TRANSFORM_WHOLE);
    expect("application/rss+xml", "<rss><channel><item><title>cut o", "title> \"cut o\"");
}

static void
test_two_entries_of_one_link(void **state)
{
    (void)state;
    expect("application/rss+xml",
           RSS("<item><link>http://e.example/i</link><title>1</title></item>"
               "<item><link>http://e.example/i</link><title>2</title></item>"),
           I "<" RSS10 "title> \"1\"");
    assert_null(strstr(result.graph.data, I "<" RSS10 "title> \"2\""));
    assert_non_null(strstr(result.graph.data, "title> \"2\""));
}

static void
test_rdf_is_not_read_for_feeds_alone(void **state)
{
    (void)state;
    expect("application/rdf+xml",
           "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' "
           "xmlns='http://purl.org/rss/1.0/' xmlns:dc='http://purl.org/dc/elements/1.1/'>"
           "<item rdf:about='http://e.example/i'><link>http://e.example/i</link>"
           "<dc:date>2003-12-31T10:14:55Z</dc:date><dc:creator>Ada</dc:creator></item></rdf:RDF>",
           I "<" RSS10 "link> <http://e.example/i>");
    assert_non_null(strstr(result.graph.data, "XMLSchema#dateTime>"));
    run("application/rdf+xml",
        SLICE("<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/>"));
    assert_int_equal(result.quads, 0);
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
        cmocka_unit_test(test_names_that_mean_the_same),
        cmocka_unit_test(test_people),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_two_entries_of_one_link),
        cmocka_unit_test(test_rdf_is_not_read_for_feeds_alone),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
