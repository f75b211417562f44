/* How much of a robots.txt (crawl/robots.c) is kept, and what memory that takes. */
#include "tests/unit/stages/robots_limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "crawl/robots.h"

/* The lines are all kept while there is room, and the one that does not fit is not cut. */
static void
signals_end_at_their_limit(void **state)
{
    (void)state;
    for (size_t length = 4060; length < 4096; length++) {
        struct buf text;
        buf_init(&text, 1 << 16);
        buf_append_string(&text, "Content-Signal: ");
        for (size_t i = 0; i < length; i++) {
            buf_append_char(&text, 'x');
        }
        buf_append_string(&text, "\nTDM-Policy: y\n");
        struct robots *robots = robots_parse(buf_slice(&text), SLICE("quadrille"));
        const size_t line = strlen("Content-Signal: \n") + length,
                     other = strlen("TDM-Policy: y\n");
        const size_t first = line <= ROBOTS_SIGNALS_MAXIMUM ? line : 0;
        assert_int_equal(robots_signals(robots).length,
                         first + (first + other <= ROBOTS_SIGNALS_MAXIMUM ? other : 0));
        robots_free(robots);
        buf_release(&text);
    }
}

static size_t
size_of_robots(const char *text)
{
    struct robots *robots = robots_parse(slice_string(text), SLICE("quadrille"));
    const size_t size = robots_size(robots);
    robots_free(robots);
    return size;
}

/* The order of lines does not matter, however many there are; nor does memory grow without need. */
static void
many_rules_are_kept(void **state)
{
    enum { RULES = 200, RULE_BYTES = 200 };
    struct buf text, line;
    (void)state;
    buf_init(&text, 1 << 20);
    buf_init(&line, 1 << 10);
    struct robots *robots = robots_parse(SLICE("User-agent: *\n"), SLICE("quadrille"));
    const size_t empty = robots_size(robots);
    robots_free(robots);
    buf_append_string(&text, "User-agent: *\nUser-agent: quadrille\n");
    for (int i = 0; i < RULES; i++) {
        buf_printf(&text, "%s: /%d\n", i % 2 == 0 ? "Allow" : "Disallow", i);
    }
    robots = robots_parse(buf_slice(&text), SLICE("quadrille"));
    assert_in_range(robots_size(robots), empty + RULES * 32, empty + RULES * RULE_BYTES);
    for (int i = 0; i < RULES; i++) {
        char path[16], expected[32];
        snprintf(path, sizeof path, "/%d", i);
        snprintf(expected, sizeof expected, "%s: /%d", i % 2 == 0 ? "Allow" : "Disallow", i);
        buf_reset(&line);
        robots_rule(robots, slice_string(path), &line);
        assert_string_equal(line.data, expected);
    }
    robots_free(robots);
    const size_t list = ROBOTS_SITEMAPS_MAXIMUM * sizeof(struct slice);
    assert_int_equal(size_of_robots("Sitemap: a"), empty + list);
    assert_int_equal(size_of_robots("Schemamap: a"), empty + list);
    assert_int_equal(size_of_robots("Schemamap: a\nSitemap: a"), empty + 2 * list);
    buf_reset(&text);
    buf_append_string(&text, "User-agent: x\nDisallow: /");
    for (int i = 0; i < RULES * RULE_BYTES; i++) {
        buf_append_char(&text, 'a');
    }
    assert_int_equal(size_of_robots(text.data), empty); /* other crawlers' rules are not kept */
    text.data[12] = '*';
    assert_true(size_of_robots(text.data) > empty + RULES * RULE_BYTES);
    buf_release(&text);
    buf_release(&line);
}

/* A file that is one byte too long loses its last line, or all when it is one line. */
static void
the_line_that_the_limit_cuts_is_dropped(void **state)
{
    static const char *const ends[] = {"\n", "\r"};
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct buf text;
        const size_t more = (size_t)i % 2;
        buf_init(&text, 1 << 20);
        if (i / 4 == 0) {
            buf_printf(&text, "User-agent: *%sDisallow: /bc%s", ends[i / 2 % 2], ends[i / 2 % 2]);
        }
        buf_append_string(&text, i / 4 == 0 ? "Disallow: /" : "Sitemap: /");
        while (text.length < ROBOTS_MAXIMUM + more) {
            buf_append_char(&text, 'a');
        }
        struct robots *robots = robots_parse(buf_slice(&text), SLICE("quadrille"));
        assert_int_equal(robots_count(robots).valid, (i / 4 == 0 ? 3 : 1) - more);
        struct buf line;
        buf_init(&line, 1 << 10);
        robots_rule(robots, SLICE("/bc"), &line);
        assert_string_equal(i / 4 == 0 ? line.data : "", i / 4 == 0 ? "Disallow: /bc" : "");
        buf_release(&line);
        robots_free(robots);
        buf_release(&text);
    }
}

int
robots_limits_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_end_at_their_limit),
        cmocka_unit_test(many_rules_are_kept),
        cmocka_unit_test(the_line_that_the_limit_cuts_is_dropped),
    };
    return cmocka_run_group_tests_name("limits of robots", tests, NULL, NULL);
}
