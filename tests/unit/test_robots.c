#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "stages/robots.h"

struct verdict {
    const char *robots, *path;
    bool allowed;
};

static void
check(const struct verdict *verdicts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct robots *robots = robots_parse(slice_string(verdicts[i].robots), SLICE("quadrille"));
        if (robots_allows(robots, slice_string(verdicts[i].path)) != verdicts[i].allowed) {
            fail_msg("%s for %s", verdicts[i].path, verdicts[i].robots);
        }
        robots_free(robots);
    }
}

static void
the_longest_pattern_wins_and_allow_a_tie(void **state)
{
    static const struct verdict verdicts[] = {
        {"", "/", true},
        {"User-agent: *\nDisallow: /", "/a", false},
        {"User-agent: *\nDisallow: /\nAllow: /a", "/ab", true},
        {"User-agent: *\nDisallow: /a\nAllow: /a", "/a", true},
        {"User-agent: *\nDisallow:", "/a", true},
        {"User-agent: *\nDisallow: /", "/robots.txt", true},
        {"User-agent: *\nDisallow: /*.gif$", "/a/b.gif", false},
        {"User-agent: *\nDisallow: /*.gif$", "/a/b.gifs", true},
        {"User-agent: *\nDisallow: /a*b*c", "/a--b--c--", false},
        {"User-agent: *\nDisallow: /$", "/", false},
        {"User-agent: *\nDisallow: /$", "/a", true},
        {"User-agent: *\nDisallow: /a$b", "/a$b", false},
    };
    (void)state;
    check(verdicts, sizeof verdicts / sizeof verdicts[0]);
}

static void
escapes_are_compared_in_normal_form(void **state)
{
    static const struct verdict verdicts[] = {
        {"User-agent: *\nDisallow: /%7ejoe", "/~joe", false},
        {"User-agent: *\nDisallow: /ü", "/%c3%bc", false},
        {"User-agent: *\nDisallow: /%C3%BC", "/ü", false},
        {"User-agent: *\nDisallow: /a%2fb", "/a/b", true},
        {"User-agent: *\nDisallow: /a%2Ab", "/a*b", false},
        {"User-agent: *\nDisallow: /a%2Ab", "/axb", true},
    };
    (void)state;
    check(verdicts, sizeof verdicts / sizeof verdicts[0]);
}

static void
groups_are_merged_and_named_ones_come_first(void **state)
{
    static const struct verdict verdicts[] = {
        {"User-agent: *\nDisallow: /\nUser-agent: Quadrille/1.0\nDisallow: /x", "/a", true},
        {"User-agent: quadrille\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\n"
         "User-agent: QUADRILLE\nDisallow: /b",
         "/b", false},
        {"User-agent: x\nUser-agent: quadrille\nDisallow: /a", "/a", false},
        {"User-agent: quadrille\nSitemap: s\nUser-agent: x\nDisallow: /a", "/a", false},
        {"User-agent: quadrille-news\nDisallow: /", "/a", true},
        {"\xef\xbb\xbfUser-agent: *\rDisallow: /a\r", "/a", false},
        {"User-agent: * # all\nDisallow: /a # this", "/a", false},
        {"Disallow: /a", "/a", true},
        {"user-agent: *\ndissallow: /a", "/a", false},
        {"\xff\xfeU\0s\0", "/a", true},
    };
    (void)state;
    check(verdicts, sizeof verdicts / sizeof verdicts[0]);
}

static void
delays_and_sitemaps_are_read(void **state)
{
    const struct slice *sitemaps;
    (void)state;
    struct robots *robots =
        robots_parse(SLICE("Sitemap: http://e/a\nUser-agent: *\nCrawl-delay: 2.5\n"
                           "User-agent: other\nCrawl-delay: 60\nDisallow: /\nSitemap:http://e/a\n"
                           "sitemap: /b\nSchemamap: https://e/schema-map.xml"),
                     SLICE("quadrille"));
    assert_int_equal(robots_crawl_delay_ms(robots), 2500);
    assert_int_equal(robots_schemamaps(robots, &sitemaps), 1);
    assert_true(slice_is(sitemaps[0], "https://e/schema-map.xml"));
    assert_int_equal(robots_sitemaps(robots, &sitemaps), 2);
    assert_true(slice_is(sitemaps[0], "http://e/a"));
    assert_true(slice_is(sitemaps[1], "/b"));
    robots_free(robots);
    robots = robots_parse(SLICE("User-agent: *\nCrawl-delay: soon"), SLICE("quadrille"));
    assert_int_equal(robots_crawl_delay_ms(robots), -1);
    robots_free(robots);
}

static void
only_the_first_500_kib_count(void **state)
{
    struct buf text;
    (void)state;
    buf_init(&text, 1 << 20);
    buf_append_string(&text, "User-agent: *\nDisallow: /first\n");
    while (text.length < ROBOTS_MAXIMUM - 12) {
        buf_append_char(&text, text.length % 80 == 79 ? '\n' : '#');
    }
    buf_append_string(&text, "\nDisallow: /cut-here\nDisallow: /last\n");
    struct robots *robots = robots_parse(buf_slice(&text), SLICE("quadrille"));
    assert_false(robots_allows(robots, SLICE("/first")));
    assert_true(robots_allows(robots, SLICE("/cut-here")));
    assert_true(robots_allows(robots, SLICE("/last")));
    robots_free(robots);
    buf_release(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_pattern_wins_and_allow_a_tie),
        cmocka_unit_test(escapes_are_compared_in_normal_form),
        cmocka_unit_test(groups_are_merged_and_named_ones_come_first),
        cmocka_unit_test(delays_and_sitemaps_are_read),
        cmocka_unit_test(only_the_first_500_kib_count),
    };
    return cmocka_run_group_tests_name("robots", tests, NULL, NULL);
}
