/* Parameters that are dropped, and all the rest that stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/buf.h"
#include "stages/url_rules.h"

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
    const struct url_rules rules = {drop, sizeof drop / sizeof drop[0]};
    const struct url_rules none = {NULL, 0};
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

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parameters_are_dropped_once_and_for_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
