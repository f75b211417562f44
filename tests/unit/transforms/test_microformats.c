/* Microformats in RDF: what the community's suite, which is about JSON, does not show. */
#include "tests/unit/brief.h"
#include "tests/unit/transforms/page_case.h"
#include "transforms/microformats/microformats.h"

#define TYPE "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
#define PROFILE "<http://microformats.org/profile/"
#define VCARD "<http://www.w3.org/2006/vcard/ns#"
#define GEO "<http://www.w3.org/2003/01/geo/wgs84_pos#"
#define ICAL "<http://www.w3.org/2002/12/cal/icaltzd#"
#define REV "<http://purl.org/stuff/rev#"
#define XSD "^^<http://www.w3.org/2001/XMLSchema#"

static void
expect(const char *html, const char *quads, const char *problems)
{
    struct page_case page;
    struct microformats found;
    page_open(&page, html);
    page.emitter.document = term_iri(SLICE(PAGE_BASE));
    const struct microformats_options options = {.problems = page_problems(&page),
                                                 .advice = page_problems(&page)};
    assert_int_equal(microformats_parse(&page.tree, SLICE(PAGE_BASE), true, &found, &page.why),
                     STATUS_OK);
    assert_int_equal(microformats_emit(&page.tree, &found, &page.links, &options, &page.emitter),
                     STATUS_OK);
    for (size_t i = 0; i < page.graph.count; i++) {
        page.graph.quads[i].graph = (struct term){0};
    }
    page_expect(&page, quads);
    assert_string_equal(page.problems.data ? page.problems.data : "", problems);
    page_close(&page);
}

static void
test_card(void **state)
{
    (void)state;
    expect("<p class=vcard><b class=fn>Ada</b><b class=email>a@x.example</b>"
           "<abbr class=geo title='1.5;-2'>here</abbr><b class=tel>+1</b>",
           "_:c14n0 " TYPE PROFILE "h-geo> .\n"
           "_:c14n0 " TYPE GEO "Point> .\n"
           "_:c14n0 " GEO "lat> \"1.5\" .\n"
           "_:c14n0 " GEO "long> \"-2\" .\n"
           "_:c14n1 " TYPE PROFILE "h-card> .\n"
           "_:c14n1 " TYPE VCARD "VCard> .\n"
           "_:c14n1 " VCARD "email> <mailto:a@x.example> .\n"
           "_:c14n1 " VCARD "fn> \"Ada\" .\n"
           "_:c14n1 " VCARD "geo> _:c14n0 .\n"
           "_:c14n1 " VCARD "tel> \"+1\" .\n",
           "");
}

static void
test_dates_are_typed_where_they_can_be(void **state)
{
    (void)state;
    expect("<p class=h-event><time class=dt-start datetime='2026-01-02 10:00+0100'></time>"
           "<time class=dt-end datetime='12:30'></time><b class=dt-duration>PT2H</b>"
           "<b class=dt-rdate>soon</b><b class=p-name>E</b>",
           "_:c14n0 " TYPE PROFILE "h-event> .\n"
           "_:c14n0 " TYPE ICAL "Vevent> .\n"
           "_:c14n0 " ICAL "dtend> \"2026-01-02T12:30:00\"" XSD "dateTime> .\n"
           "_:c14n0 " ICAL "dtstart> \"2026-01-02T10:00:00+01:00\"" XSD "dateTime> .\n"
           "_:c14n0 " ICAL "duration> \"PT2H\"" XSD "duration> .\n"
           "_:c14n0 " ICAL "rdate> \"soon\" .\n"
           "_:c14n0 " ICAL "summary> \"E\" .\n",
           "1: a date is none as ISO 8601 writes them: put one such as 2026-01-31 or "
           "2026-01-31T09:00:00+01:00 into datetime or into class value\n");
}

static void
test_what_is_reviewed_has_the_review(void **state)
{
    (void)state;
    expect("<p class=hreview><b class=item><a class='fn url' href=/x>X</a></b>"
           "<b class=rating>4</b>",
           "_:c14n0 " TYPE PROFILE "h-item> .\n"
           "_:c14n0 " PROFILE "h-item#name> \"X\" .\n"
           "_:c14n0 " PROFILE "h-item#url> <http://h.example/x> .\n"
           "_:c14n0 " REV "hasReview> _:c14n1 .\n"
           "_:c14n1 " TYPE PROFILE "h-review> .\n"
           "_:c14n1 " TYPE REV "Review> .\n"
           "_:c14n1 " REV "rating> \"4\" .\n",
           "");
}

static void
test_markup_and_children(void **state)
{
    (void)state;
    expect("<div class=h-feed><b class=p-name>F</b><div class=h-x-thing><div class=e-content>a "
           "<a href=/b>b</a></div></div></div>",
           "_:c14n0 " TYPE PROFILE "h-feed> .\n"
           "_:c14n0 " TYPE "<http://rdfs.org/sioc/ns#Container> .\n"
           "_:c14n0 <http://purl.org/dc/terms/hasPart> _:c14n1 .\n"
           "_:c14n0 <http://purl.org/dc/terms/title> \"F\" .\n"
           "_:c14n1 " PROFILE "h-x-thing#content> \"a <a href=\\\"http://h.example/b\\\">b</a>\""
           "^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#HTML> .\n"
           "_:c14n1 " PROFILE "h-x-thing#content> \"a b\" .\n"
           "_:c14n1 " PROFILE "h-x-thing#url> <http://h.example/b> .\n"
           "_:c14n1 " TYPE PROFILE "h-x-thing> .\n",
           "");
}

static void
test_style_sheets_heights_are_no_items(void **state)
{
    (void)state;
    expect("<div class='h-full h-4 h-screen'><p class=p-name>x</p></div>", "", "");
}

static void
test_includes_end(void **state)
{
    (void)state;
    struct page_case page;
    struct microformats found;
    page_open(&page, "<div class=vcard id=a><b class=fn>A</b><a class=include href=#b></a></div>"
                     "<div id=b><b class=tel>1</b><a class=include href=#a></a>"
                     "<a class=include href=#b></a></div>");
    assert_int_equal(microformats_parse(&page.tree, SLICE(PAGE_BASE), false, &found, &page.why),
                     STATUS_OK);
    assert_false(found.cut);
    assert_int_equal(found.items->property_count, 2);
    assert_null(found.items->next);
    page_close(&page);
}

static void
test_work_is_bounded(void **state)
{
    (void)state;
    struct buf html;
    struct page_case page;
    struct microformats found;
    buf_init(&html, 64 << 20);
    buf_append_string(&html, "<div class=h-entry>");
    for (int i = 0; i < 500; i++) {
        buf_append_string(&html, "<div class='p-a e-b u-c dt-d'>");
    }
    for (uint64_t i = 0; i < brief(100000, 4000); i++) {
        buf_append_string(&html, "<b>x</b>");
    }
    page_open(&page, html.data);
    assert_int_equal(microformats_parse(&page.tree, SLICE(PAGE_BASE), true, &found, &page.why),
                     STATUS_OK);
    assert_true(found.cut);
    page_close(&page);
    buf_release(&html);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_card),
        cmocka_unit_test(test_dates_are_typed_where_they_can_be),
        cmocka_unit_test(test_what_is_reviewed_has_the_review),
        cmocka_unit_test(test_markup_and_children),
        cmocka_unit_test(test_style_sheets_heights_are_no_items),
        cmocka_unit_test(test_includes_end),
        cmocka_unit_test(test_work_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
