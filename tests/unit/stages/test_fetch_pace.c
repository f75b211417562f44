/* How response times and troubles slow a host down, and how it recovers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stages/fetch/hosts/host_pace.h"

static const struct pace_rules rules = {.least_ms = 1000,
                                        .most_ms = 30000,
                                        .factor = 4,
                                        .backoff_ms = 2000,
                                        .backoff_most_ms = 60000,
                                        .retry_after_most_ms = 3600000};

static void
rest_follows_response_times_between_its_limits(void **state)
{
    struct pace pace = {.of = 1};
    (void)state;
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 1000);
    pace_answered(&pace, 20);
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 1000);
    for (int i = 0; i < 40; i++) {
        pace_answered(&pace, 2000);
    }
    assert_in_range(pace_rest_ms(&pace, &rules, 0), 7900, 8000);
    pace_answered(&pace, 10); /* one fast answer is not believed at once */
    assert_in_range(pace_rest_ms(&pace, &rules, 0), 5900, 6100);
    for (int i = 0; i < 40; i++) {
        pace_answered(&pace, 60000);
    }
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 30000);
}

static void
ones_own_host_is_asked_without_rest_but_in_trouble(void **state)
{
    struct pace_rules own = rules;
    struct pace pace = {.of = 1};
    (void)state;
    own.least_ms = 0;
    pace_answered(&pace, 2000);
    assert_int_equal(pace_rest_ms(&pace, &own, 0), 0);
    pace_troubled(&pace, &own, 0, 0);
    assert_int_equal(pace_rest_ms(&pace, &own, 0), 2000);
}

static void
troubles_double_and_good_answers_halve(void **state)
{
    struct pace pace = {.of = 1};
    uint64_t expected = 2000;
    (void)state;
    for (int i = 0; i < 5; i++, expected *= 2) {
        pace_troubled(&pace, &rules, 0, 0);
        assert_int_equal(pace_rest_ms(&pace, &rules, 0), expected);
    }
    for (int i = 0; i < 100; i++) {
        pace_troubled(&pace, &rules, 0, 0);
    }
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 60000);
    int answers = 0;
    while (pace_backoff_ms(&pace, &rules) > 0) {
        pace_answered(&pace, 5);
        answers++;
    }
    assert_int_equal(answers, 6); /* however many troubles there were */
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 1000);
}

static void
retry_after_holds_until_its_time_within_its_limit(void **state)
{
    struct pace pace = {.of = 1};
    (void)state;
    pace_troubled(&pace, &rules, 120000, 5000);
    assert_int_equal(pace_rest_ms(&pace, &rules, 5000), 120000);
    assert_int_equal(pace_rest_ms(&pace, &rules, 100000), 25000);
    assert_int_equal(pace_rest_ms(&pace, &rules, 125000), 2000);
    pace_troubled(&pace, &rules, UINT64_MAX, 200000);
    assert_int_equal(pace_rest_ms(&pace, &rules, 200000), 3600000);
    pace_answered(&pace, 5);
    assert_int_equal(pace.troubles, 1);
    pace_answered(&pace, 5);
    assert_int_equal(pace_rest_ms(&pace, &rules, 200000), 1000);
}

static void
places_are_bounded_and_what_is_noted_once_is_not_noted_again(void **state)
{
    struct paces *paces = paces_new(4);
    (void)state;
    pace_answered(paces_find(paces, 7), 500);
    assert_int_equal(paces_find(paces, 7)->response_ms, 500);
    assert_true(pace_worth_noting(paces_find(paces, 7)));
    assert_false(pace_worth_noting(paces_find(paces, 7)));
    pace_answered(paces_find(paces, 7), 520);
    assert_false(pace_worth_noting(paces_find(paces, 7)));
    for (uint64_t other = 11; other < 23; other += 4) { /* beside it */
        assert_int_equal(paces_find(paces, other)->response_ms, 0);
    }
    assert_int_equal(paces_find(paces, 7)->response_ms, 505);
    for (uint64_t other = 23; other < 39; other += 4) { /* these take the places over */
        assert_int_equal(paces_find(paces, other)->response_ms, 0);
    }
    assert_int_equal(paces_find(paces, 7)->response_ms, 0);
    paces_free(paces);
}

static void
patience_follows_answers_and_silence(void **state)
{
    struct pace pace = {.of = 1};
    (void)state;
    assert_int_equal(pace_patience_ms(&pace, 32000, 1), 32000); /* nothing is known */
    for (uint64_t expected = 16000; expected >= 4000; expected /= 2) {
        pace_troubled(&pace, &rules, 0, 0);
        assert_int_equal(pace_patience_ms(&pace, 32000, 3), expected);
    }
    pace_troubled(&pace, &rules, 0, 0);
    assert_int_equal(pace_patience_ms(&pace, 32000, 3), 4000);
    pace_answered(&pace, 100); /* it is fast, but once may take its time */
    assert_int_equal(pace_patience_ms(&pace, 32000, 1), 8000);
    assert_int_equal(pace_patience_ms(&pace, 32000, 2), 16000);
    assert_int_equal(pace_patience_ms(&pace, 32000, 9), 32000);
    for (int i = 0; i < 40; i++) {
        pace_answered(&pace, 1000);
    }
    assert_in_range(pace_patience_ms(&pace, 32000, 1), 15000, 16000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rest_follows_response_times_between_its_limits),
        cmocka_unit_test(ones_own_host_is_asked_without_rest_but_in_trouble),
        cmocka_unit_test(troubles_double_and_good_answers_halve),
        cmocka_unit_test(retry_after_holds_until_its_time_within_its_limit),
        cmocka_unit_test(patience_follows_answers_and_silence),
        cmocka_unit_test(places_are_bounded_and_what_is_noted_once_is_not_noted_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
