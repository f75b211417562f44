/* Parameters that are dropped, and all the rest that stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "crawl/url_rules.h"
#include "tests/unit/scratch.h"

static const char *const drop[] = {"utm_*", "jsessionid", "PHPSESSID"};

static const char *const cases[][2] = {
    {"http://a.example/x?utm_source=n&id=1&utm_medium=m", "http://a.example/x?id=1"},
    {"http://a.example/x?UTM_source=n", "http://a.example/x"},
    {"http://a.example/x;jsessionid=1A53?p=1", "http://a.example/x?p=1"},
    {"http://a.example/x;v=1;jsessionid=1A53/y", "http://a.example/x;v=1/y"},
    {"http://a.example/?b=2&phpsessid=1&a=1#f", "http://a.example/?b=2&a=1"},
    {"http://a.example/x?", "http://a.example/x?"},
    {"http://a.example/x?a&&b=", "http://a.example/x?a&&b="},
    {"http://a.example/jsessionid", "http://a.example/jsessionid"},
    {"http://a.example//a//b/", "http://a.example//a//b/"},
    {"http://a.example/x?putm_source=1&jsessionids=2",
     "http://a.example/x?putm_source=1&jsessionids=2"},
};

static void
parameters_are_dropped_once_and_for_all(void **state)
{
    const struct url_rules rules = {drop, sizeof drop / sizeof drop[0], NULL};
    const struct url_rules none = {NULL, 0, NULL};
    struct buf key;
    struct buf again;
    (void)state;
    buf_init(&key, 1 << 16);
    buf_init(&again, 1 << 16);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buf_reset(&key);
        buf_reset(&again);
        assert_int_equal(
            url_rules_key(&rules, slice_string(cases[i][0]), (struct slice){0}, &key, NULL),
            STATUS_OK);
        assert_string_equal(key.data, cases[i][1]);
        assert_int_equal(url_rules_key(&rules, buf_slice(&key), (struct slice){0}, &again, NULL),
                         STATUS_OK);
        assert_string_equal(again.data, key.data);
    }
    buf_reset(&key);
    assert_int_equal(
        url_rules_key(&none, SLICE("/x?utm_a=1"), SLICE("http://a.example/"), &key, NULL),
        STATUS_OK);
    assert_string_equal(key.data, "http://a.example/x?utm_a=1");
    buf_release(&key);
    buf_release(&again);
}

static enum status
open_rules(struct url_rules *rules, const char *lines, struct reason *why)
{
    char path[SCRATCH_SIZE];
    const int file = scratch_file(path, "test_url_rules");
    assert_true(file >= 0);
    assert_int_equal(write(file, lines, strlen(lines)), strlen(lines));
    close(file);
    *rules = (struct url_rules){drop, sizeof drop / sizeof drop[0], NULL};
    const enum status status = url_rewrite_open(&rules->rewrite, path, why);
    unlink(path);
    return status;
}

static void
uris_are_rewritten_until_nothing_changes(void **state)
{
    static const char *const expected[][2] = {
        {"http://www.a.example/x/index.html?utm_a=1", "https://a.example/x/"},
        {"http://a.example/index.htm", "https://a.example/"},
        {"https://a.example/b//c///d", "https://a.example/b/c/d"},
        {"https://a.example/old/7/8", "https://a.example/new/8-7"},
        {"https://other.example/index.html", "https://other.example/"},
        {"https://other.example/PAGE", "https://other.example/PAGE"},
        {"https://other.example/a%7eb", "https://other.example/a~b"},
    };
    struct url_rules rules;
    struct reason why;
    struct buf key;
    (void)state;
    buf_init(&key, 1 << 16);
    assert_int_equal(open_rules(&rules,
                                "# one host\n\n"
                                "^http://(?:www\\.)?a\\.example/   https://a.example/\n"
                                "/index\\.html?$\t/\n"
                                "(?<!:)//+ /\n"
                                "^(https://a\\.example)/old/(\\d+)/(\\d+) $1/new/$3-$2\n",
                                &why),
                     STATUS_OK);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        for (size_t k = 0; k < 2; k++) { /* what was rewritten stays */
            buf_reset(&key);
            assert_int_equal(
                url_rules_key(&rules, slice_string(expected[i][k]), (struct slice){0}, &key, &why),
                STATUS_OK);
            assert_string_equal(key.data, expected[i][1]);
        }
    }
    url_rules_close(&rules);
    buf_release(&key);
}

/* White space around a rule and a line end that is missing change nothing; a rule without a
 * replacement takes the place away. */
static void
lines_of_rules_are_read(void **state)
{
    static const struct {
        const char *lines, *uri, *expected;
    } texts[] = {
        {"", "ab", "ab"},
        {"#a b\n", "#a", "#a"},
        {" \t# a b\n", "# a", "# a"},
        {"\n \t \na b\n\n", "a", "b"},
        {" \ta b \n", "a.a", "b.b"},
        {"a \t b\r\nb\tc", "a", "c"},
        {"a", "xay", "xy"},
        {"a \nb", "xaby", "xy"},
        {"x y\nz w\ny v", "x", "v"}, /* also where a rule between fits nothing */
        {"x y\n\\C z", NULL, "using \\C is disabled"},
        {"x y\n(unclosed z\n", NULL, "at character 10"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct url_rules rules;
        struct reason why = {""};
        struct buf out;
        buf_init(&out, 1 << 16);
        const enum status status = open_rules(&rules, texts[i].lines, &why);
        if (texts[i].uri != NULL) {
            assert_int_equal(status, STATUS_OK);
            assert_int_equal(
                url_rewrite_apply(rules.rewrite, slice_string(texts[i].uri), &out, &why),
                STATUS_OK);
            assert_true(slice_is(buf_slice(&out), texts[i].expected));
        } else {
            assert_int_equal(status, STATUS_BAD_INPUT);
            assert_non_null(strstr(why.text, ":2: "));
            assert_non_null(strstr(why.text, texts[i].expected));
        }
        url_rules_close(&rules);
        buf_release(&out);
    }
    struct url_rewrite *none = (void *)(uintptr_t)texts;
    struct reason why = {""};
    assert_int_equal(url_rewrite_open(&none, "", &why), STATUS_OK);
    assert_null(none);
    url_rewrite_close(none);
}

static void
rules_without_end_are_told(void **state)
{
    struct url_rules rules;
    struct reason why;
    struct buf key;
    (void)state;
    buf_init(&key, 1 << 16);
    assert_int_equal(open_rules(&rules, "/x /xx\n", &why), STATUS_OK);
    assert_int_equal(
        url_rules_key(&rules, SLICE("http://a.example/x"), (struct slice){0}, &key, &why),
        STATUS_LIMIT);
    assert_non_null(strstr(why.text, "do not come to an end"));
    url_rules_close(&rules);
    /* Backtracking is bounded, and so is what a rule makes of a URI. */
    char longest[8000] = "http://a.example/";
    memset(longest + 17, 'a', sizeof longest - 18);
    assert_int_equal(open_rules(&rules, "(a+)+[bc]$ x\n", &why), STATUS_OK);
    assert_int_equal(url_rules_key(&rules, slice_string(longest), (struct slice){0}, &key, &why),
                     STATUS_LIMIT);
    url_rules_close(&rules);
    assert_int_equal(open_rules(&rules, "a aaaaaaaaaa\n", &why), STATUS_OK);
    assert_int_equal(url_rules_key(&rules, slice_string(longest), (struct slice){0}, &key, &why),
                     STATUS_LIMIT);
    url_rules_close(&rules);
    assert_int_not_equal(url_rewrite_open(&rules.rewrite, "/nowhere", &why), STATUS_OK);
    url_rules_close(&rules);
    buf_release(&key);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parameters_are_dropped_once_and_for_all),
                                       cmocka_unit_test(uris_are_rewritten_until_nothing_changes),
                                       cmocka_unit_test(lines_of_rules_are_read),
                                       cmocka_unit_test(rules_without_end_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
