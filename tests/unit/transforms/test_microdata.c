/* Microdata: what the W3C suite does not show. */
#include "tests/unit/transforms/page_case.h"
#include "transforms/microdata/microdata.h"

#define S "<http://schema.org/"
#define TYPE "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
#define XSD "^^<http://www.w3.org/2001/XMLSchema#"

static void
expect(const char *html, const char *quads, const char *problems)
{
    struct page_case page;
    page_open(&page, html);
    const struct microdata_options options = {.problems = page_problems(&page),
                                              .advice = page_problems(&page)};
    assert_int_equal(microdata_extract(&page.tree, &page.links, &options, &page.emitter),
                     STATUS_OK);
    page_expect(&page, quads);
    assert_string_equal(page.problems.data ? page.problems.data : "", problems);
    page_close(&page);
}

static void
test_values(void **state)
{
    (void)state;
    expect("<p itemscope itemtype=http://schema.org/T lang=DE>"
           "<time itemprop=a datetime=PT1H30M></time><time itemprop=b>2026-01</time>"
           "<time itemprop=c>09:30:00</time><data itemprop=d value=-12></data>"
           "<meter itemprop=e value=.5>x</meter><b itemprop=f content=10>ten</b>"
           "<b itemprop=g>a <i lang=''>b</i> c</b>",
           "_:c14n0 " S "a> \"PT1H30M\"" XSD "duration> .\n"
           "_:c14n0 " S "b> \"2026-01\"" XSD "gYearMonth> .\n"
           "_:c14n0 " S "c> \"09:30:00\"" XSD "time> .\n"
           "_:c14n0 " S "d> \"-12\"" XSD "integer> .\n"
           "_:c14n0 " S "e> \".5\"" XSD "double> .\n"
           "_:c14n0 " S "f> \"10\"@de .\n"
           "_:c14n0 " S "g> \"a b c\"@de .\n"
           "_:c14n0 " TYPE S "T> .\n",
           "");
}

static void
test_number_and_time_types(void **state)
{
    (void)state;
    static const struct {
        const char *text, *type;
    } times[] = {{"2026-02-30", "date"},
                 {"2026-02-30Z", "date"},
                 {"P1Y2M3DT4H5M6.7S", "duration"},
                 {"-P1D", "duration"},
                 {"12026", "gYear"},
                 {"2026-01-01T10:00:00", "dateTime"},
                 {"P", NULL},
                 {"PT", NULL},
                 {"P1DT", NULL},
                 {"P1M1Y", NULL},
                 {"2026-1-1", NULL},
                 {"2026-01-01T10:00", NULL},
                 {"10:00", NULL},
                 {"2026-13", NULL},
                 {"", NULL},
                 {"P1S", NULL},
                 {"2026-01-01 10:00:00", NULL}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const char *type = microdata_time_type(slice_string(times[i].text));
        assert_int_equal(type != NULL, times[i].type != NULL);
        if (type) {
            assert_string_equal(strchr(type, '#') + 1, times[i].type);
        }
    }
    assert_null(microdata_number_type(SLICE("1.")));
    assert_null(microdata_number_type(SLICE("1e")));
    assert_null(microdata_number_type(SLICE("")));
    assert_null(microdata_number_type(SLICE("+1")));
    assert_non_null(microdata_number_type(SLICE("1e-5")));
}

static void
test_names_and_base(void **state)
{
    (void)state;
    expect("<base href=/dir/page><p itemscope itemid=#me><a itemprop='a http://x.example/p b#' "
           "href=q>t</a>",
           "<http://h.example/dir/page#me> <http://h.example/dir/page#a> "
           "<http://h.example/dir/q> .\n"
           "<http://h.example/dir/page#me> <http://h.example/dir/page#b%23> "
           "<http://h.example/dir/q> .\n"
           "<http://h.example/dir/page#me> <http://x.example/p> <http://h.example/dir/q> .\n",
           "");
}

static void
test_mistakes(void **state)
{
    (void)state;
    expect("<b itemprop=lost>x</b>\n<p itemscope itemref=nowhere itemtype=Person></p>\n"
           "<p itemscope itemtype=http://schema.org/T itemprop=o><a itemprop=n>me</a>"
           "<time itemprop=t datetime='1.2.2026'></time>",
           "_:c14n0 " S "n> \"me\" .\n"
           "_:c14n0 " S "t> \"1.2.2026\" .\n"
           "_:c14n0 " TYPE S "T> .\n",
           "1: itemprop outside of any item: put it into an element with itemscope, or name its id "
           "in an itemref (\"lost\")\n"
           "3: an item has itemprop but is inside of no other: take the itemprop away, or put it "
           "into the item that it belongs to\n"
           "2: itemref names an id that no element has (\"nowhere\")\n"
           "2: itemtype is not an absolute URL: write one such as https://schema.org/Person "
           "(\"Person\")\n"
           "3: an element whose value is its address has none (href, src, data): its text was "
           "taken\n"
           "3: datetime is no date, time or duration as XML Schema writes them: 2026-01-31, "
           "2026-01-31T09:00:00+01:00, PT1H30M (\"1.2.2026\")\n");
}

static void
test_templates_say_nothing(void **state)
{
    (void)state;
    expect("<template><p itemscope itemtype=http://schema.org/T id=a></p></template>"
           "<p itemscope itemtype=http://schema.org/U itemref=b><template>"
           "<b itemprop=n>x</b></template></p><p id=b></p>",
           "_:c14n0 " TYPE S "U> .\n", "");
}

static void
test_circles_and_fans_end(void **state)
{
    (void)state;
    struct buf html;
    buf_init(&html, 64 << 20);
    buf_append_string(&html, "<div id=x>");
    for (int i = 0; i < 3000; i++) {
        buf_append_string(&html, "<i itemprop=q>v</i>");
    }
    buf_append_string(&html, "</div>");
    for (int i = 0; i < 3000; i++) {
        buf_append_string(&html, "<p itemscope itemref='x x x' itemprop=p></p>");
    }
    struct page_case page;
    page_open(&page, html.data);
    const struct microdata_options options = {.problems = page_problems(&page)};
    assert_int_equal(microdata_extract(&page.tree, &page.links, &options, &page.emitter),
                     STATUS_OK);
    assert_non_null(strstr(page.problems.data, "again and again"));
    assert_true(page.graph.count < 300000);
    page_close(&page);
    buf_release(&html);
    expect("<p itemscope itemref=a></p><p id=a itemprop=http://x.example/p itemscope itemref=b></p>"
           "<p id=b itemprop=http://x.example/q itemscope itemref=a></p>",
           "_:c14n0 <http://x.example/p> _:c14n1 .\n"
           "_:c14n1 <http://x.example/q> _:c14n2 .\n"
           "_:c14n2 <http://x.example/p> _:c14n1 .\n",
           "1: itemref leads an item into itself\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_number_and_time_types),
        cmocka_unit_test(test_names_and_base),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_templates_say_nothing),
        cmocka_unit_test(test_circles_and_fans_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
