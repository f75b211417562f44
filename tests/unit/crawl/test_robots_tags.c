/* These tests are of what publishers say of single documents, and of what of it is for us. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "crawl/robots.h"
#include "crawl/robots_tags.h"

#define NOW 1700000000000 /* November 2023 */

struct expectation {
    const char *header, *page;
    bool noindex, nofollow, reserved;
};

static const struct expectation expectations[] = {
    {"X-Robots-Tag: noindex", "", true, false, false},
    {"x-robots-tag: NoIndex , nofollow\r\n", "", true, true, false},
    {"X-Robots-Tag: none", "", true, true, false},
    {"X-Robots-Tag: nosnippet, noarchive, max-snippet: 20", "", false, false, false},
    {"X-Robots-Tag: googlebot: noindex", "", false, false, false},
    {"X-Robots-Tag: googlebot: noindex\r\nX-Robots-Tag: nofollow", "", false, true, false},
    {"X-Robots-Tag: Quadrille: noindex, nofollow", "", true, true, false},
    {"X-Robots-Tag: unavailable_after: 25 Jun 2010 15:00:00 GMT", "", true, false, false},
    {"X-Robots-Tag: unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT", "", true, false, false},
    {"X-Robots-Tag: nofollow, unavailable_after: 2090-06-25", "", false, true, false},
    {"X-Robots-Tag: unavailable_after: soon", "", false, false, false},
    {"TDM-Reservation: 1", "", false, false, true},
    {"TDM-Reservation: 0", "", false, false, false},
    {"Content-Signal: search=yes, ai-train=no", "", false, false, false},
    {"Content-Signal: search=no", "", false, false, true},
    {"Content-Usage: search=n", "", false, false, true},
    {"", "<html><head><meta name='robots' content='noindex'></head>", true, false, false},
    {"", "<META NAME=ROBOTS CONTENT=\"INDEX, NOFOLLOW\">", false, true, false},
    {"", "<meta content=none name=quadrille />", true, true, false},
    {"", "<meta name=googlebot content=noindex>", false, false, false},
    {"", "<meta property=og:title content=noindex>", false, false, false},
    {"",
     "<!-- <meta name=robots content=noindex> --><title><meta name=robots content=none></title>",
     false, false, false},
    {"", "<script>'<meta name=robots content=noindex>'</script><p>", false, false, false},
    {"", "<body><meta name=robots content=noindex>", false, false, false},
    {"", "<metadata name=robots content=noindex>", false, false, false},
    {"", "<meta name=tdm-reservation content=1>", false, false, true},
    {"", "<meta name=\"robots\" content=\"noindex", true, false, false},
    {"X-Robots-Tag: noindexed, nofollowing, nonesuch", "", false, false, false},
    {"X-Robots-Tag: quadrille: , nofollow", "", false, true, false},
    {"X-Robots-Tag: quadrille2: noindex", "", false, false, false},
    {"X-Robots-Tag: unavailable_after: 2023-11-14T22:13:20Z", "", false, false, false},
    {"X-Robots-Tag: unavailable_after: 2023-11-14T22:13:19Z", "", true, false, false},
    {"X-Robots-Tag: unavailable_after: 2010-06-25, nofollow", "", false, false, false},
    {"TDM-Reservation: 11", "", false, false, false},
    {"Content-Signal: ai-train=no , SEARCH = N", "", false, false, true},
    {"Content-Signal: search=nothing, research=no, no=search", "", false, false, false},
    {"Content-Signal: search", "", false, false, false},
    {"", "<META\tname=robots content=noindex>", true, false, false},
    {"", "<meta/name=robots content=noindex>", true, false, false},
    {"", "<p><meta name = \"Robots\" content = ' noindex '>", true, false, false},
    {"", "<meta name=robots content=noindex><meta name=robots content=nofollow>", true, true,
     false},
    {"", "<meta name=robots name=x content=noindex content=nofollow>", true, false, false},
    {"", "<meta name='' name=robots content='' content=nofollow>", false, true, false},
    {"", "<meta name=robots content=noindex", true, false, false},
    {"", "<meta name=robots><meta content=noindex><meta><meta", false, false, false},
    {"", "<meta name=robots content='a>noindex'>", false, false, false},
    {"", "<meta name=robots><p content=noindex>", false, false, false},
    {"", "<meta name=x content=1>", false, false, false},
    {"", "<meta name=tdm-reservation content=0>", false, false, false},
    {"", "<meta name=tdm-reservation content=11>", false, false, false},
    {"", "<meta name=TDM-Reservation content=' 1 '><meta name=tdm-reservation content=0>", false,
     false, true},
    {"", "<!----><meta name=robots content=noindex>", true, false, false},
    {"", "<!-- a -- b --><meta name=robots content=noindex>", true, false, false},
    {"", "<!-- <meta name=robots content=noindex>", false, false, false},
    {"", "<script></script><meta name=robots content=noindex>", true, false, false},
    {"", "<SCRIPT><!-- </Script><meta name=robots content=noindex>", true, false, false},
    {"", "<script></style><meta name=robots content=noindex>", false, false, false},
    {"", "<style><meta name=robots content=none></style><meta name=robots content=noindex>", true,
     false, false},
    {"", "<noscript><meta name=robots content=none></noscript><meta name=robots content=noindex>",
     true, false, false},
    {"", "<title></title><meta name=robots content=noindex><BODY><meta name=robots content=none>",
     true, false, false},
};

static void
what_is_said_to_us_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
        const struct expectation *expected = &expectations[i];
        struct robots_tags tags;
        robots_tags_init(&tags, SLICE("quadrille"), NOW);
        robots_tags_header(&tags, slice_string(expected->header));
        robots_tags_page(&tags, slice_string(expected->page));
        if (tags.noindex != expected->noindex || tags.nofollow != expected->nofollow ||
            tags.reserved != expected->reserved) {
            fail_msg("\"%s%s\": %d %d %d", expected->header, expected->page, tags.noindex,
                     tags.nofollow, tags.reserved);
        }
        robots_tags_release(&tags);
    }
}

static void
what_was_said_is_kept_within_bounds(void **state)
{
    struct robots_tags tags;
    (void)state;
    robots_tags_init(&tags, SLICE("quadrille"), NOW);
    robots_tags_header(&tags, SLICE("HTTP/1.1 200 OK\r\nX-Robots-Tag: noindex\r\n"));
    robots_tags_header(&tags, SLICE("X-Robots-Tag: other: noindex\r\nTDM-Reservation: 0\r\n"));
    robots_tags_page(&tags, SLICE("<meta name=robots content='a, nofollow'><meta name=x content=y>"
                                  "<meta name=tdm-reservation content=1>"));
    assert_true(slice_is(buf_slice(&tags.said),
                         "X-Robots-Tag: noindex\nTDM-Reservation: 0\nmeta: a, nofollow\n"
                         "TDM-Reservation: 1\n"));
    for (int i = 0; i < 10000; i++) {
        robots_tags_page(&tags, SLICE("<meta name=robots content='a'>"));
    }
    assert_in_range(tags.said.length, ROBOTS_TAGS_TEXT - 20, ROBOTS_TAGS_TEXT);
    robots_tags_release(&tags);
}

/* An element that ends with the part of a page that is read counts; of one that begins there, what
 * is read of it. What a tag says behind its longest length is not read. */
static void
pages_and_tags_are_read_to_a_bound(void **state)
{
    enum { TAG = 4096 };
    static const char element[] = "<meta name=robots content=noindex>";
    static char page[ROBOTS_TAGS_PAGE + 64];
    (void)state;
    for (size_t cut = 0; cut < 3; cut++) { /* of the element: nothing, ">", and the x */
        struct robots_tags tags;
        memset(page, ' ', sizeof page);
        memcpy(page + ROBOTS_TAGS_PAGE - strlen(element) + cut, element, strlen(element));
        robots_tags_init(&tags, SLICE("quadrille"), NOW);
        robots_tags_page(&tags, slice_of(page, sizeof page));
        assert_int_equal(tags.noindex, cut < 2);
        robots_tags_release(&tags);
    }
    for (size_t beyond = 0; beyond < 2; beyond++) { /* counted from behind "<meta" */
        static const char content[] = " content=noindex";
        struct robots_tags tags;
        memset(page, ' ', sizeof page);
        memcpy(page, "<meta name=robots", 17);
        memcpy(page + 5 + TAG - strlen(content) + beyond, content, strlen(content));
        robots_tags_init(&tags, SLICE("quadrille"), NOW);
        robots_tags_page(&tags, slice_of(page, sizeof page));
        assert_int_equal(tags.noindex, beyond == 0);
        robots_tags_release(&tags);
    }
}

static void
signals_of_robots_txt_belong_to_groups(void **state)
{
    struct robots *robots = robots_parse(
        SLICE("Content-Usage: train-ai=n\nUser-agent: *\nContent-Signal: search=yes,ai-train=no\n"
              "Allow: /\nUser-agent: other\nContent-Signal: search=no\nDisallow: /x\n"
              "User-agent: quadrille\nContent-Usage: /private search=n\nDisallow: /y\n"),
        SLICE("quadrille"));
    (void)state;
    const struct slice signals = robots_signals(robots);
    assert_true(slice_is(signals, "Content-Usage: train-ai=n\nContent-Usage: /private search=n\n"));
    assert_false(signals_reserve(signals, SLICE("/open")));
    assert_true(signals_reserve(signals, SLICE("/private/1")));
    assert_true(signals_reserve(SLICE("TDM-Reservation: 1\n"), SLICE("/")));
    assert_false(signals_reserve(SLICE("TDM-Reservation: 0\n"), SLICE("/")));
    assert_false(signals_reserve(SLICE("Content-Signal: search=yes, ai-train=no\n"), SLICE("/")));
    assert_true(
        signals_reserve(SLICE("TDM-Reservation: 0\nContent-Usage: /a search=n"), SLICE("/a")));
    assert_false(
        signals_reserve(SLICE("Content-Usage: /a search=n\nContent-Usage: /b x=n\n"), SLICE("/b")));
    assert_false(signals_reserve(SLICE("Content-Usage: /a/ search=n\n"), SLICE("/a")));
    assert_false(signals_reserve(SLICE(""), SLICE("/")));
    robots_free(robots);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_to_us_counts),
        cmocka_unit_test(what_was_said_is_kept_within_bounds),
        cmocka_unit_test(pages_and_tags_are_read_to_a_bound),
        cmocka_unit_test(signals_of_robots_txt_belong_to_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
