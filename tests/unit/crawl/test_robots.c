#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/memory.h"
#include "crawl/robots.h"
#include "tests/unit/stages/robots_limits.h"

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
        {"User-agent: *\nDisallow: /a*\nAllow: /a$", "/a", true},
        {"User-agent: *\nAllow: /a\nDisallow: /a$", "/a", false},
        {"User-agent: *\nDisallow: /a$\nAllow: /a*", "/a", true},
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

/* ---- all that is understood of a file ---- */

/* Writes what is understood as text: counts of lines, valid and unknown ones; the delay; which rule
 * decides for some paths; lists. */
static void
describe(const struct robots *robots, struct buf *out)
{
    static const char *const paths[] = {"/a", "/b", "c", ""};
    const struct slice *uris;
    const struct robots_counts counts = robots_count(robots);
    buf_printf(out, "%u %u %u %lld", counts.lines, counts.valid, counts.unknown,
               (long long)robots_crawl_delay_ms(robots));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const size_t before = out->length;
        buf_printf(out, " %s=", paths[i]);
        const size_t named = out->length;
        robots_rule(robots, slice_string(paths[i]), out);
        out->length = out->length == named ? before : out->length;
    }
    for (size_t i = 0, n = robots_sitemaps(robots, &uris); i < n; i++) {
        buf_printf(out, " S=%.*s", SLICE_PRINT(uris[i]));
    }
    for (size_t i = 0, n = robots_schemamaps(robots, &uris); i < n; i++) {
        buf_printf(out, " M=%.*s", SLICE_PRINT(uris[i]));
    }
    if (robots_signals(robots).length > 0) {
        buf_printf(out, " %.*s", SLICE_PRINT(robots_signals(robots)));
    }
    out->data[out->length] = '\0';
}

struct description {
    struct slice robots;
    const char *expected;
};

static void
check_descriptions(const struct description *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct buf out;
        buf_init(&out, 1 << 16);
        /* A copy of its own size: a checker of memory sees what is read beyond it. */
        char *copy = memory_alloc(cases[i].robots.length + 1);
        memcpy(copy, cases[i].robots.at, cases[i].robots.length);
        copy[cases[i].robots.length] = '/';
        struct robots *robots =
            robots_parse(slice_of(copy, cases[i].robots.length), SLICE("quadrille"));
        free(copy);
        describe(robots, &out);
        if (strcmp(out.data, cases[i].expected) != 0) {
            fail_msg("%.*s\nis \"%s\"\nnot \"%s\"", SLICE_PRINT(cases[i].robots), out.data,
                     cases[i].expected);
        }
        robots_free(robots);
        buf_release(&out);
    }
}

#define DESCRIBED(text, expected)  \
    {                              \
        SLICE_INIT(text), expected \
    }
#define CHECK_DESCRIPTIONS(cases) check_descriptions(cases, sizeof(cases) / sizeof *(cases))

static void
lines_are_counted_and_keys_told_apart(void **state)
{
    static const struct description cases[] = {
        DESCRIBED("", "0 0 0 -1"),
        DESCRIBED("\n", "1 0 0 -1"),
        DESCRIBED("\r\n\r\n\n\r", "4 0 0 -1"),
        DESCRIBED("\na\n\r#b: c\n", "4 0 0 -1"),
        DESCRIBED("User-agent: *\r\nDisallow: /a\r\n", "2 2 0 -1 /a=Disallow: /a"),
        DESCRIBED("User-agent: *\rDisallow: /a\rx:y", "3 2 1 -1 /a=Disallow: /a"),
        DESCRIBED("User-agent *\nDisallow\t/a:b\nAllow /",
                  "3 3 0 -1 /a=Allow: / /b=Allow: / c=Allow: / =Allow: /"),
        DESCRIBED("User-agent: *\nDisallow /a:b\nOther /a:b\nOther:/a", "4 2 2 -1"),
        DESCRIBED("User-agent:*\nDisallow:/a\nDisallow : c", "3 3 0 -1 /a=Disallow: /a"),
        DESCRIBED("User agent: *\nDisallow:\t/c \t# x\n#Disallow: /a", "3 2 0 -1 c=Disallow: /c"),
        DESCRIBED("\xef\xbb\xbfUser-agent: *\nDisallow: /a", "2 2 0 -1 /a=Disallow: /a"),
        DESCRIBED("\xef\xbbUser-agent: *\nDisallow: /a", "2 2 0 -1 /a=Disallow: /a"),
        DESCRIBED("\xef\xbb\xbf\xef"
                  "User-agent: *\nDisallow: /a",
                  "2 1 1 -1"),
        DESCRIBED("\xef", "0 0 0 -1"),
        DESCRIBED("\xef\xbb\xbf\0User-agent: *", "1 0 1 -1"),
        DESCRIBED("Sitemap http://e/a", "1 1 0 -1 S=http://e/a"),
        DESCRIBED(":a\n:\n a\n", "3 0 2 -1"),
    };
    (void)state;
    CHECK_DESCRIPTIONS(cases);
}

static void
groups_have_the_names_before_their_rules(void **state)
{
    static const struct description cases[] = {
        DESCRIBED("User-agent: x, quadrille\nDisallow: /a", "2 2 0 -1 /a=Disallow: /a"),
        DESCRIBED("User-agent: x,*\nDisallow: /a", "2 2 0 -1 /a=Disallow: /a"),
        DESCRIBED("User-agent: x *\nDisallow: /a", "2 2 0 -1 /a=Disallow: /a"),
        DESCRIBED("User-agent: ,\tx\t*\nDisallow: /a", "2 2 0 -1 /a=Disallow: /a"),
        DESCRIBED("User-agent: x/1 *\nDisallow: /a", "2 2 0 -1"),
        DESCRIBED("User-agent: quadrille/1 * x\nDisallow: /a\nUser-agent: *\nDisallow: /b",
                  "4 4 0 -1 /a=Disallow: /a"),
        DESCRIBED("User-agent: quadrille/\nDisallow: /a", "2 2 0 -1 /a=Disallow: /a"),
        DESCRIBED("User-agent: x\nfoo: * y\nDisallow: /a", "3 2 1 -1"),
        DESCRIBED("User-agent: quadrille\nUser-agent: *\nDisallow: /a\nUser-agent: *\nAllow: /a",
                  "5 5 0 -1 /a=Disallow: /a"),
        DESCRIBED("User-agent: *\nAllow: /a\nUser-agent: x\nDisallow: /a", "4 4 0 -1 /a=Allow: /a"),
        DESCRIBED("User-agent: *\nDisallow:\nUser-agent: x\nDisallow: /a", "4 4 0 -1"),
        DESCRIBED("User-agent: x\nDisallow: /\nUser-agent: quadrille\nUser-agent: y\nDisallow: /a",
                  "5 5 0 -1 /a=Disallow: /a"),
        DESCRIBED("User-agent: quadrille\nUser-agent: *\nDisallow: /b\nDisallow: /\n",
                  "4 4 0 -1 /a=Disallow: / /b=Disallow: /b c=Disallow: / =Disallow: /"),
    };
    (void)state;
    CHECK_DESCRIPTIONS(cases);
}

static void
delays_are_seconds_for_the_names_before_them(void **state)
{
    static const struct description cases[] = {
        DESCRIBED("User-agent: *\nCrawl-delay: 0", "2 2 0 0"),
        DESCRIBED("User-agent: *\nCrawl-delay: 12.3456", "2 2 0 12345"),
        DESCRIBED("User-agent: *\nCrawl-delay: 129", "2 2 0 129000"),
        DESCRIBED("User-agent: *\nCrawl-delay: .5", "2 2 0 500"),
        DESCRIBED("User-agent: *\nCrawl-delay: .", "2 2 0 -1"),
        DESCRIBED("User-agent: *\nCrawl-delay:", "2 2 0 -1"),
        DESCRIBED("User-agent: *\nCrawl-delay: 1.2.3", "2 2 0 -1"),
        DESCRIBED("User-agent: *\nCrawl-delay: 1:", "2 2 0 -1"),
        DESCRIBED("User-agent: *\nCrawl-delay: 1/", "2 2 0 -1"),
        DESCRIBED("User-agent: *\nCrawl-delay: 3\nCrawl-delay: 2", "3 3 0 3000"),
        DESCRIBED("User-agent: *\nCrawl-delay: 2\nCrawl-delay: 3", "3 3 0 3000"),
        DESCRIBED("User-agent: *\nCrawl-delay: 2\nUser-agent: x\nCrawl-delay: 3\nDisallow: /a",
                  "5 5 0 2000 /a=Disallow: /a"),
        DESCRIBED("User-agent: x\nDisallow: /\nUser-agent: *\nCrawl-delay: 4", "4 4 0 4000"),
        DESCRIBED("User-agent: *\nUser-agent: x\nCrawl-delay: 3", "3 3 0 3000"),
        DESCRIBED("User-agent: *\nDisallow: /a\nUser-agent: x\nCrawl-delay: 4",
                  "4 4 0 -1 /a=Disallow: /a"),
        DESCRIBED("User-agent: quadrille\nCrawl-delay: 1\nUser-agent: *\nCrawl-delay: 4",
                  "4 4 0 1000"),
        DESCRIBED("User-agent: *\nCrawl-delay: 99999999999999999999999999999999999999",
                  "2 2 0 9999999999999000"),
    };
    (void)state;
    CHECK_DESCRIPTIONS(cases);
}

static void
signals_are_those_of_the_group_or_of_all(void **state)
{
    static const struct description cases[] = {
        DESCRIBED("content-signal: a=b\nUser-agent: *\nTDM-Policy: c\nUser-agent: x\nDisallow: /\n"
                  "User-agent: x\nTDM-Reservation: 1",
                  "7 4 3 -1 /a=Disallow: / /b=Disallow: / c=Disallow: / =Disallow: / "
                  "Content-Signal: a=b\nTDM-Policy: c\n"),
        DESCRIBED("User-agent: *\nContent-Usage: x\nUser-agent: quadrille\nContent-Usage: y",
                  "4 2 2 -1 Content-Usage: y\n"),
        DESCRIBED("User-agent: *\nContent-Usage: x\nDisallow:\nUser-agent: quadrille\n"
                  "Content-Usage: y\nTDM: x",
                  "6 3 3 -1 Content-Usage: y\n"),
        DESCRIBED("Content-Signal:", "1 0 1 -1 Content-Signal: \n"),
        DESCRIBED("Content-Signal: :", "1 0 1 -1 Content-Signal: :\n"),
    };
    (void)state;
    CHECK_DESCRIPTIONS(cases);
}

static void
sitemaps_have_a_limit_and_no_group(void **state)
{
    static const struct description cases[] = {
        DESCRIBED("Sitemap: http://e/a\nsite-map: b\nSitemap:\nSitemap: b\nSchemamap: c",
                  "5 5 0 -1 S=http://e/a S=b M=c"),
        DESCRIBED("Schema-map: c\nSchemamap: d\nSchemamap: c", "3 3 0 -1 M=c M=d"),
    };
    const struct slice *uris;
    struct buf text;
    (void)state;
    CHECK_DESCRIPTIONS(cases);
    buf_init(&text, 1 << 20);
    for (int i = 0; i < ROBOTS_SITEMAPS_MAXIMUM + 2; i++) {
        buf_printf(&text, "Sitemap: %d\n", i);
    }
    struct robots *robots = robots_parse(buf_slice(&text), SLICE("quadrille"));
    assert_int_equal(robots_sitemaps(robots, &uris), ROBOTS_SITEMAPS_MAXIMUM);
    assert_true(slice_is(uris[ROBOTS_SITEMAPS_MAXIMUM - 1], "999"));
    robots_free(robots);
    buf_release(&text);
    robots_free(NULL);
}

static void
files_in_utf_16_are_read(void **state)
{
    static const struct description cases[] = {
        DESCRIBED("\xff\xfe"
                  "A\0l\0:\0*\0",
                  "1 0 1 -1"),
        DESCRIBED("\xff\xfe"
                  "U\0s\0e\0r\0-\0a\0g\0e\0n\0t\0:\0*\0\n\0A\0l\0l\0o\0w\0:\0/\0",
                  "2 2 0 -1 /a=Allow: / /b=Allow: / c=Allow: / =Allow: /"),
        DESCRIBED("\xfe\xff"
                  "\0U\0s\0e\0r\0-\0a\0g\0e\0n\0t\0:\0*\0\n\0A\0l\0l\0o\0w\0:\0/",
                  "2 2 0 -1 /a=Allow: / /b=Allow: / c=Allow: / =Allow: /"),
        DESCRIBED("\xfe\xff\0S\0i\0t\0e\0m\0a\0p\0:\0\x7f\0\x80\x07\xff\x08\0\xd7\xff\xd8\0\xdf\xff"
                  "\xe0\0\xff\xfd\0",
                  "1 1 0 -1 S=\x7f"
                  "\xc2"
                  "\x80"
                  "\xdf"
                  "\xbf"
                  "\xe0"
                  "\xa0"
                  "\x80"
                  "\xed"
                  "\x9f"
                  "\xbf"
                  "??\xee"
                  "\x80"
                  "\x80"
                  "\xef"
                  "\xbf"
                  "\xbd"
                  ""),
        DESCRIBED("\xff\xfeS\0i\0t\0e\0m\0a\0p\0:\0\x7f\0\x80\0\xff\x07\0\x08\xff\xd7\0\xd8\xff\xdf"
                  "\0\xe0\xfd\xff/",
                  "1 1 0 -1 S=\x7f"
                  "\xc2"
                  "\x80"
                  "\xdf"
                  "\xbf"
                  "\xe0"
                  "\xa0"
                  "\x80"
                  "\xed"
                  "\x9f"
                  "\xbf"
                  "??\xee"
                  "\x80"
                  "\x80"
                  "\xef"
                  "\xbf"
                  "\xbd"
                  ""),
        DESCRIBED("\xff\xfe\xff\xfeS\0i\0t\0e\0m\0a\0p\0:\0a\0", "1 1 0 -1 S=a"),
        DESCRIBED("\xff\xfe", "0 0 0 -1"),
    };
    (void)state;
    CHECK_DESCRIPTIONS(cases);
}

/* Every byte, escaped or not, in a pattern. */
static void
patterns_are_in_normal_form(void **state)
{
    (void)state;
    for (unsigned c = 1; c < 256; c++) {
        char text[64], path[8], expected[64];
        const bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                (c >= '0' && c <= '9') || strchr("-._~", (int)c) != NULL;
        for (int escaped = 0; escaped < 3; escaped++) {
            struct buf line;
            buf_init(&line, 1 << 10);
            if (escaped == 0 && strchr("\t\n\r #", (int)c) != NULL) {
                continue; /* ends or separates lines */
            }
            snprintf(path, sizeof path,
                     escaped == 0   ? "/%cx"
                     : escaped == 1 ? "/%%%02xx"
                                    : "/%%%02Xx",
                     c);
            snprintf(text, sizeof text, "User-agent: *\nDisallow: %s", path);
            const bool plain = unreserved || (escaped == 0 && c > ' ' && c < 0x7f && c != '$');
            snprintf(expected, sizeof expected, plain ? "Disallow: /%cx" : "Disallow: /%%%02Xx", c);
            struct robots *robots = robots_parse(slice_string(text), SLICE("quadrille"));
            robots_rule(robots, escaped == 0 && c == '*' ? SLICE("/x") : slice_string(path), &line);
            assert_string_equal(line.data, expected);
            robots_free(robots);
            buf_release(&line);
        }
    }
}

static void
what_only_looks_escaped_is_itself(void **state)
{
    static const char *const paths[][2] = {
        {"/%", "/%"},          {"/%4", "/%4"},          {"/%4x", "/%4x"}, {"/%x4", "/%x4"},
        {"/%00", "/%00"},      {"/%0a", "/%0A"},        {"/%a0", "/%A0"}, {"/%41", "/A"},
        {"/a b", "/a%20b"},    {"/a \tb", "/a%20%09b"}, {"/%%41", "/%A"}, {"/%41%", "/A%"},
        {"/%4\xff", "/%4%FF"}, {"/%g0", "/%g0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char text[64], expected[64];
        struct buf line;
        buf_init(&line, 1 << 10);
        snprintf(text, sizeof text, "User-agent: *\nAllow: %s$", paths[i][0]);
        snprintf(expected, sizeof expected, "Allow: %s$", paths[i][1]);
        struct robots *robots = robots_parse(slice_string(text), SLICE("quadrille"));
        robots_rule(robots, slice_string(paths[i][0]), &line);
        assert_string_equal(line.data, expected);
        robots_free(robots);
        buf_release(&line);
    }
}

/* Paths that become three times as long are compared whole, also without their first slash. */
static void
long_paths_are_compared_whole(void **state)
{
    (void)state;
    for (size_t length = 1; length < 40; length++) {
        char text[200] = "User-agent: *\nDisallow: /", path[64] = "";
        for (size_t i = 0; i < length; i++) {
            strcat(text, "%FF");
            strcat(path, "\xff");
        }
        strcat(text, "$");
        struct robots *robots = robots_parse(slice_string(text), SLICE("quadrille"));
        assert_false(robots_allows(robots, slice_string(path)));
        path[length - 1] = '\0';
        assert_true(robots_allows(robots, slice_string(path)));
        robots_free(robots);
    }
}

/* ---- matching beside a model ---- */

static bool
model_matches(const char *pattern, bool anchored, const char *path)
{
    if (*pattern == '\0') {
        return !anchored || *path == '\0';
    }
    if (*pattern == '*') {
        return model_matches(pattern + 1, anchored, path) ||
               (*path != '\0' && model_matches(pattern, anchored, path + 1));
    }
    return *pattern == *path && model_matches(pattern + 1, anchored, path + 1);
}

/* The n-th text over the letters, all shorter ones first. */
static void
nth_text(unsigned n, const char *letters, char *text)
{
    const unsigned count = (unsigned)strlen(letters);
    for (; n > 0; n = (n - 1) / count) {
        *text++ = letters[(n - 1) % count];
    }
    *text = '\0';
}

static void
matching_is_that_of_the_model(void **state)
{
    enum { PATTERNS = 364, PATHS = 63 }; /* up to five letters of three, five of two */
    (void)state;
    for (unsigned i = 0; i < 2 * PATTERNS; i++) {
        char pattern[16] = "/", text[64], path[16] = "/";
        nth_text(i / 2, "ab*", pattern + 1);
        snprintf(text, sizeof text, "User-agent: *\nDisallow: %s%s", pattern, i % 2 ? "$" : "");
        struct robots *robots = robots_parse(slice_string(text), SLICE("quadrille"));
        for (unsigned k = 0; k < PATHS; k++) {
            nth_text(k, "ab", path + 1);
            if (robots_allows(robots, slice_string(path)) == model_matches(pattern, i % 2, path)) {
                fail_msg("%s for %s", path, text);
            }
        }
        robots_free(robots);
    }
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
        cmocka_unit_test(lines_are_counted_and_keys_told_apart),
        cmocka_unit_test(groups_have_the_names_before_their_rules),
        cmocka_unit_test(delays_are_seconds_for_the_names_before_them),
        cmocka_unit_test(signals_are_those_of_the_group_or_of_all),
        cmocka_unit_test(sitemaps_have_a_limit_and_no_group),
        cmocka_unit_test(files_in_utf_16_are_read),
        cmocka_unit_test(patterns_are_in_normal_form),
        cmocka_unit_test(what_only_looks_escaped_is_itself),
        cmocka_unit_test(long_paths_are_compared_whole),
        cmocka_unit_test(matching_is_that_of_the_model),
    };
    return cmocka_run_group_tests_name("robots", tests, NULL, NULL) + robots_limits_run();
}
