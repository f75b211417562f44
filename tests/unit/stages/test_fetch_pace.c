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

static void
answers_are_averaged_to_the_millisecond(void **state)
{
    struct pace pace = {.of = 1};
    (void)state;
    pace_answered(&pace, 0); /* at once is a millisecond: 0 says that nothing is known */
    assert_int_equal(pace.response_ms, 1);
    pace.response_ms = 0;
    pace_answered(&pace, 100);
    assert_int_equal(pace.response_ms, 100);
    pace_answered(&pace, 20);
    assert_int_equal(pace.response_ms, 80);
    pace.response_ms = UINT32_MAX; /* the sum needs more bits */
    pace_answered(&pace, UINT32_MAX);
    assert_int_equal(pace.response_ms, UINT32_MAX);
    pace.troubles = 3;
    pace.until_ms = 900;
    pace_answered(&pace, 1);
    assert_int_equal(pace.troubles, 1);
    assert_int_equal(pace.until_ms, 900);
    pace_answered(&pace, 1);
    assert_int_equal(pace.troubles, 0);
    assert_int_equal(pace.until_ms, 0);
}

static void
troubles_and_failures_are_counted_up_to_their_most(void **state)
{
    struct pace pace = {.of = 1};
    (void)state;
    for (uint32_t i = 1; i <= 40; i++) {
        pace_troubled(&pace, &rules, 0, 700);
        assert_int_equal(pace.troubles, i < 32 ? i : 32);
        assert_int_equal(pace.until_ms, 0); /* nothing was asked for */
    }
    pace_heard(&pace, false);
    pace_heard(&pace, false);
    assert_int_equal(pace.failures, 2);
    pace_heard(&pace, true);
    assert_int_equal(pace.failures, 0);
    pace.failures = UINT32_MAX - 1;
    pace_heard(&pace, false);
    pace_heard(&pace, false);
    assert_int_equal(pace.failures, UINT32_MAX);
}

/* Of the attempts before the present one more than the failures since the host's last answer: so
 * one of them was before that. */
static void
a_document_is_blamed_when_its_host_answered_meanwhile(void **state)
{
    struct pace pace = {.of = 1};
    (void)state;
    for (unsigned attempt = 1; attempt < 5; attempt++) { /* nobody answered since the start */
        assert_false(pace_blames_document(&pace, attempt));
    }
    pace_heard(&pace, true);
    for (uint32_t failures = 0; failures < 4; failures++) {
        for (unsigned attempt = 1; attempt < 6; attempt++) {
            assert_int_equal(pace_blames_document(&pace, attempt), attempt > failures + 1);
        }
        pace_heard(&pace, false);
    }
}

static void
an_earlier_retry_after_does_not_shorten_a_later_one(void **state)
{
    struct pace pace = {.of = 1};
    (void)state;
    pace_troubled(&pace, &rules, 5000, 1000);
    assert_int_equal(pace.until_ms, 6000);
    pace_troubled(&pace, &rules, 100, 2000);
    assert_int_equal(pace.until_ms, 6000);
    pace_troubled(&pace, &rules, 4001, 2000);
    assert_int_equal(pace.until_ms, 6001);
    pace_troubled(&pace, &rules, rules.retry_after_most_ms + 1, 10000);
    assert_int_equal(pace.until_ms, 10000 + rules.retry_after_most_ms);
    pace.troubles = 0;
    assert_int_equal(pace_rest_ms(&pace, &rules, pace.until_ms - 1001), 1001);
    assert_int_equal(pace_rest_ms(&pace, &rules, pace.until_ms - 1000), 1000);
    assert_int_equal(pace_rest_ms(&pace, &rules, pace.until_ms + 5000), 1000);
}

static void
a_backoff_is_cut_to_its_most(void **state)
{
    struct pace_rules short_ones = rules;
    struct pace pace = {.of = 1};
    (void)state;
    assert_int_equal(pace_backoff_ms(&pace, &rules), 0);
    short_ones.backoff_most_ms = 3000;
    pace.troubles = 1;
    assert_int_equal(pace_backoff_ms(&pace, &short_ones), 2000);
    pace.troubles = 2;
    assert_int_equal(pace_backoff_ms(&pace, &short_ones), 3000);
    short_ones.backoff_ms = 4000;
    pace.troubles = 1;
    assert_int_equal(pace_backoff_ms(&pace, &short_ones), 3000);
    pace.response_ms = 250; /* between the least and the most, and beside a backoff */
    pace.troubles = 0;
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 1000);
    pace.response_ms = 251;
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 1004);
    pace.response_ms = 7500;
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 30000);
    pace.response_ms = 7501;
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 30000);
    pace.troubles = 5;
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 32000);
}

static void
patience_is_a_quarter_at_least_and_doubles_with_each_try(void **state)
{
    struct pace pace = {.of = 1, .response_ms = 499};
    (void)state;
    assert_int_equal(pace_patience_ms(&pace, 32000, 0), 8000);
    assert_int_equal(pace_patience_ms(&pace, 32000, 1), 8000);
    pace.response_ms = 501;
    assert_int_equal(pace_patience_ms(&pace, 32000, 1), 8016);
    assert_int_equal(pace_patience_ms(&pace, 32000, 2), 16032);
    assert_int_equal(pace_patience_ms(&pace, 32000, 3), 32000);
    pace.response_ms = 2001;
    assert_int_equal(pace_patience_ms(&pace, 32000, 1), 32000);
}

static void
what_is_far_from_what_was_noted_is_noted(void **state)
{
    static const struct {
        uint32_t now, noted;
        bool worth;
    } cases[] = {{49, 0, false},    {50, 0, true},     {449, 400, false}, {499, 400, false},
                 {500, 400, true},  {301, 400, false}, {300, 400, true},  {150, 200, true},
                 {151, 200, false}, {90, 41, false},   {8000, 1000, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pace pace = {.of = 1, .response_ms = cases[i].now, .noted_ms = cases[i].noted};
        assert_int_equal(pace_worth_noting(&pace), cases[i].worth);
        assert_int_equal(pace.noted_ms, cases[i].worth ? cases[i].now : cases[i].noted);
    }
}

/* Five places are two sets of four: numbers that share a set push out who was not looked for. */
static void
who_was_looked_for_last_stays(void **state)
{
    struct paces *paces = paces_new(5);
    (void)state;
    for (uint64_t of = 1; of <= 8; of++) {
        paces_find(paces, of)->failures = (uint32_t)of;
    }
    for (uint64_t of = 1; of <= 8; of++) {
        assert_int_equal(paces_find(paces, of)->failures, of);
    }
    (void)paces_find(paces, 2);
    (void)paces_find(paces, 9);  /* beside 1, 3, 5 and 7, of which 1 is the oldest */
    (void)paces_find(paces, 10); /* beside 2, 4, 6 and 8: 4 */
    for (uint64_t of = 2; of <= 8; of++) {
        if (of != 4) {
            assert_int_equal(paces_find(paces, of)->failures, of);
        }
    }
    assert_int_equal(paces_find(paces, 9)->of, 9);
    assert_int_equal(paces_find(paces, 9)->failures, 0);
    assert_int_equal(paces_find(paces, 4)->failures, 0);
    paces_free(paces);
    paces_free(NULL);
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
        cmocka_unit_test(answers_are_averaged_to_the_millisecond),
        cmocka_unit_test(troubles_and_failures_are_counted_up_to_their_most),
        cmocka_unit_test(a_document_is_blamed_when_its_host_answered_meanwhile),
        cmocka_unit_test(an_earlier_retry_after_does_not_shorten_a_later_one),
        cmocka_unit_test(a_backoff_is_cut_to_its_most),
        cmocka_unit_test(patience_is_a_quarter_at_least_and_doubles_with_each_try),
        cmocka_unit_test(what_is_far_from_what_was_noted_is_noted),
        cmocka_unit_test(who_was_looked_for_last_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
