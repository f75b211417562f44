/* How response times and troubles slow a host down, and how it recovers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "queue/politeness/host_report.h"
#include "queue/politeness/paces.h"

static const struct pace_rules rules = {.least_ms = 1000,
                                        .most_ms = 30000,
                                        .factor = 4,
                                        .backoff_ms = 2000,
                                        .backoff_most_ms = 60000,
                                        .retry_after_most_ms = 3600000};

static void
answered(struct pace *pace, uint32_t milliseconds)
{
    const struct observation answer = {.what = OBSERVED_ANSWER, .milliseconds = milliseconds};
    pace_note(pace, &rules, &answer, 0);
}

static void
troubled(struct pace *pace, const struct pace_rules *by, uint64_t retry_after_ms, uint64_t now_ms)
{
    const struct observation trouble = {.what = OBSERVED_TROUBLE, .retry_after_ms = retry_after_ms};
    pace_note(pace, by, &trouble, now_ms);
}

static void
heard(struct pace *pace, bool answer)
{
    const struct observation end = {.what = answer ? OBSERVED_ANSWER
                                                   : OBSERVED_SILENCE | OBSERVED_TROUBLE};
    pace_note(pace, &rules, &end, 0);
}

static void
rest_follows_response_times_between_its_limits(void **state)
{
    struct pace pace = {0};
    (void)state;
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 1000);
    answered(&pace, 20);
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 1000);
    for (int i = 0; i < 40; i++) {
        answered(&pace, 2000);
    }
    assert_in_range(pace_rest_ms(&pace, &rules, 0), 7900, 8000);
    answered(&pace, 10); /* one fast answer is not believed at once */
    assert_in_range(pace_rest_ms(&pace, &rules, 0), 5900, 6100);
    for (int i = 0; i < 40; i++) {
        answered(&pace, 60000);
    }
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 30000);
}

static void
ones_own_host_is_asked_without_rest_but_in_trouble(void **state)
{
    struct pace_rules own = rules;
    struct pace pace = {0};
    (void)state;
    own.least_ms = 0;
    answered(&pace, 2000);
    assert_int_equal(pace_rest_ms(&pace, &own, 0), 0);
    troubled(&pace, &own, 0, 0);
    assert_int_equal(pace_rest_ms(&pace, &own, 0), 2000);
}

static void
troubles_double_and_good_answers_halve(void **state)
{
    struct pace pace = {0};
    uint64_t expected = 2000;
    (void)state;
    for (int i = 0; i < 5; i++, expected *= 2) {
        troubled(&pace, &rules, 0, 0);
        assert_int_equal(pace_rest_ms(&pace, &rules, 0), expected);
    }
    for (int i = 0; i < 100; i++) {
        troubled(&pace, &rules, 0, 0);
    }
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 60000);
    int answers = 0;
    while (pace.troubles > 0) {
        answered(&pace, 5);
        answers++;
    }
    assert_int_equal(answers, 6); /* however many troubles there were */
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 1000);
}

static void
retry_after_holds_until_its_time_within_its_limit(void **state)
{
    struct pace pace = {0};
    (void)state;
    troubled(&pace, &rules, 120000, 5000);
    assert_int_equal(pace_rest_ms(&pace, &rules, 5000), 120000);
    assert_int_equal(pace_rest_ms(&pace, &rules, 100000), 25000);
    assert_int_equal(pace_rest_ms(&pace, &rules, 125000), 2000);
    troubled(&pace, &rules, UINT64_MAX, 200000);
    assert_int_equal(pace_rest_ms(&pace, &rules, 200000), 3600000);
    answered(&pace, 5);
    assert_int_equal(pace.troubles, 1);
    answered(&pace, 5);
    assert_int_equal(pace_rest_ms(&pace, &rules, 200000), 1000);
}

static void
places_are_bounded(void **state)
{
    struct paces *paces = paces_new(4);
    (void)state;
    assert_null(paces_find(paces, 7));
    paces_add(paces, 7)->pace.response_ms = 500;
    for (uint64_t other = 11; other < 23; other += 4) { /* beside it */
        assert_int_equal(paces_add(paces, other)->pace.response_ms, 0);
    }
    assert_int_equal(paces_add(paces, 7)->pace.response_ms, 500);
    for (uint64_t other = 23; other < 39; other += 4) { /* these take the places over */
        assert_int_equal(paces_add(paces, other)->pace.response_ms, 0);
    }
    assert_null(paces_find(paces, 7));
    assert_non_null(paces_find(paces, 35));
    paces_clear(paces);
    assert_null(paces_find(paces, 35));
    paces_free(paces);
}

/* So many hosts are remembered as there are places, and not one more; a number that fills no whole
 * set is rounded up. */
static void
so_many_places_are_there(void **state)
{
    (void)state;
    for (size_t places = 1; places <= 8; places++) {
        const uint64_t rounded = places <= 4 ? 4 : 8;
        struct paces *paces = paces_new(places);
        for (uint64_t of = 1; of <= rounded; of++) {
            paces_add(paces, of)->pace.response_ms = 500;
        }
        for (uint64_t of = 1; of <= rounded; of++) {
            assert_non_null(paces_find(paces, of));
        }
        (void)paces_add(paces, rounded + 1);
        assert_non_null(paces_find(paces, rounded + 1));
        assert_null(paces_find(paces, 1)); /* of its set the one that was looked at first */
        for (uint64_t of = 2; of <= rounded; of++) {
            assert_non_null(paces_find(paces, of));
        }
        paces_free(paces);
    }
}

static void
patience_follows_answers_and_silence(void **state)
{
    struct pace pace = {0};
    (void)state;
    assert_int_equal(pace_patience_ms(&pace, 32000, 1), 32000); /* nothing is known */
    for (uint64_t expected = 16000; expected >= 4000; expected /= 2) {
        troubled(&pace, &rules, 0, 0);
        assert_int_equal(pace_patience_ms(&pace, 32000, 3), expected);
    }
    troubled(&pace, &rules, 0, 0);
    assert_int_equal(pace_patience_ms(&pace, 32000, 3), 4000);
    answered(&pace, 100); /* it is fast, but once may take its time */
    assert_int_equal(pace_patience_ms(&pace, 32000, 1), 8000);
    assert_int_equal(pace_patience_ms(&pace, 32000, 2), 16000);
    assert_int_equal(pace_patience_ms(&pace, 32000, 9), 32000);
    for (int i = 0; i < 40; i++) {
        answered(&pace, 1000);
    }
    assert_in_range(pace_patience_ms(&pace, 32000, 1), 15000, 16000);
}

static void
answers_are_averaged_to_the_millisecond(void **state)
{
    struct pace pace = {0};
    (void)state;
    answered(&pace, 0); /* at once is a millisecond: 0 says that nothing is known */
    assert_int_equal(pace.response_ms, 1);
    pace.response_ms = 0;
    answered(&pace, 100);
    assert_int_equal(pace.response_ms, 100);
    answered(&pace, 20);
    assert_int_equal(pace.response_ms, 80);
    pace.response_ms = UINT32_MAX; /* the sum needs more bits */
    answered(&pace, UINT32_MAX);
    assert_int_equal(pace.response_ms, UINT32_MAX);
    pace.troubles = 3;
    pace.until_ms = 900;
    answered(&pace, 1);
    assert_int_equal(pace.troubles, 1);
    assert_int_equal(pace.until_ms, 900);
    answered(&pace, 1);
    assert_int_equal(pace.troubles, 0);
    assert_int_equal(pace.until_ms, 0);
}

static void
troubles_and_failures_are_counted_up_to_their_most(void **state)
{
    struct pace pace = {0};
    (void)state;
    for (uint32_t i = 1; i <= 40; i++) {
        troubled(&pace, &rules, 0, 700);
        assert_int_equal(pace.troubles, i < 32 ? i : 32);
        assert_int_equal(pace.until_ms, 0); /* nothing was asked for */
    }
    heard(&pace, false);
    heard(&pace, false);
    assert_int_equal(pace.failures, 2);
    heard(&pace, true);
    assert_int_equal(pace.failures, 0);
    pace.failures = UINT32_MAX - 1;
    heard(&pace, false);
    heard(&pace, false);
    assert_int_equal(pace.failures, UINT32_MAX);
}

/* Of the attempts before the present one more than the failures since the host's last answer: so
 * one of them was before that. */
static void
a_document_is_blamed_when_its_host_answered_meanwhile(void **state)
{
    struct pace pace = {0};
    (void)state;
    for (unsigned attempt = 1; attempt < 5; attempt++) { /* nobody answered since the start */
        assert_false(pace_blames_document(&pace, attempt));
    }
    heard(&pace, true);
    for (uint32_t failures = 0; failures < 4; failures++) {
        for (unsigned attempt = 1; attempt < 6; attempt++) {
            assert_int_equal(pace_blames_document(&pace, attempt), attempt > failures + 1);
        }
        heard(&pace, false);
    }
}

static void
an_earlier_retry_after_does_not_shorten_a_later_one(void **state)
{
    struct pace pace = {0};
    (void)state;
    troubled(&pace, &rules, 5000, 1000);
    assert_int_equal(pace.until_ms, 6000);
    troubled(&pace, &rules, 100, 2000);
    assert_int_equal(pace.until_ms, 6000);
    troubled(&pace, &rules, 4001, 2000);
    assert_int_equal(pace.until_ms, 6001);
    troubled(&pace, &rules, rules.retry_after_most_ms + 1, 10000);
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
    struct pace pace = {0};
    (void)state;
    short_ones.least_ms = 0;
    assert_int_equal(pace_rest_ms(&pace, &short_ones, 0), 0);
    short_ones.backoff_most_ms = 3000;
    pace.troubles = 1;
    assert_int_equal(pace_rest_ms(&pace, &short_ones, 0), 2000);
    pace.troubles = 2;
    assert_int_equal(pace_rest_ms(&pace, &short_ones, 0), 3000);
    short_ones.backoff_ms = 4000;
    pace.troubles = 1;
    assert_int_equal(pace_rest_ms(&pace, &short_ones, 0), 3000);
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
    struct pace pace = {.response_ms = 499};
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
what_is_far_from_what_was_written_is_written(void **state)
{
    static const struct {
        uint32_t now, written;
        bool near;
    } cases[] = {{49, 0, true},     {50, 0, false},   {449, 400, true},   {499, 400, true},
                 {500, 400, false}, {301, 400, true}, {300, 400, false},  {150, 200, false},
                 {151, 200, true},  {90, 41, true},   {8000, 1000, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pace now = {.response_ms = cases[i].now};
        const struct pace written = {.response_ms = cases[i].written};
        assert_int_equal(pace_is_near(&now, &written), cases[i].near);
    }
    const struct pace others[] = {{.until_ms = 1}, {.address = 1},  {.crawl_delay_ms = 1},
                                  {.troubles = 1}, {.failures = 1}, {.answered = true}};
    const struct pace unknown = {0}, shared = {.address_troubles = 1};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(pace_is_near(&others[i], &unknown));
        assert_false(pace_is_near(&unknown, &others[i]));
    }
    assert_true(pace_is_near(&shared, &unknown)); /* no row has it */
}

/* Every trouble and every good answer of an address counts, but for what was learned of a host
 * without asking it. */
static void
troubles_of_an_address_are_shared(void **state)
{
    struct pace pace = {.address = 9, .address_troubles = 3};
    (void)state;
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 8000);
    heard(&pace, false);
    assert_int_equal(pace.address_troubles, 4);
    troubled(&pace, &rules, 0, 0);
    assert_int_equal(pace.address_troubles, 4);
    assert_int_equal(pace.troubles, 2);
    answered(&pace, 1);
    assert_int_equal(pace.address_troubles, 2);
    assert_int_equal(pace.troubles, 1);
    assert_int_equal(pace_rest_ms(&pace, &rules, 0), 4000);
}

static void
a_crawl_delay_is_kept_up_to_its_most(void **state)
{
    struct pace_rules with = rules;
    struct pace pace = {.crawl_delay_ms = 1500};
    (void)state;
    with.crawl_delay_most_ms = 20000;
    assert_int_equal(pace_rest_ms(&pace, &with, 0), 1500);
    pace.crawl_delay_ms = 999;
    assert_int_equal(pace_rest_ms(&pace, &with, 0), 1000);
    pace.crawl_delay_ms = 20001;
    assert_int_equal(pace_rest_ms(&pace, &with, 0), 20000);
}

/* ---- bytes ---- */

static void
assert_paces_equal(const struct pace *a, const struct pace *b)
{
    assert_int_equal(a->until_ms, b->until_ms);
    assert_int_equal(a->address, b->address);
    assert_int_equal(a->response_ms, b->response_ms);
    assert_int_equal(a->crawl_delay_ms, b->crawl_delay_ms);
    assert_int_equal(a->troubles, b->troubles);
    assert_int_equal(a->failures, b->failures);
    assert_int_equal(a->address_troubles, b->address_troubles);
    assert_int_equal(a->answered, b->answered);
}

static void
paces_come_back_from_their_bytes(void **state)
{
    const struct pace paces[] = {{0},
                                 {.answered = true},
                                 {.address_troubles = 1},
                                 {.until_ms = 5000},
                                 {.until_ms = 9000,
                                  .address = UINT64_MAX,
                                  .response_ms = UINT32_MAX,
                                  .crawl_delay_ms = 3,
                                  .troubles = 4,
                                  .failures = UINT32_MAX,
                                  .address_troubles = 6,
                                  .answered = true}};
    (void)state;
    for (size_t i = 0; i < sizeof paces / sizeof *paces; i++) {
        struct pace back, expected = paces[i];
        struct buf bytes;
        buf_init(&bytes, 100);
        pace_encode(&bytes, &paces[i], 0);
        assert_int_equal(bytes.length == 0, i == 0);
        assert_true(pace_decode(buf_slice(&bytes), 0, &back));
        assert_paces_equal(&back, &expected);
        for (size_t n = 1; n < bytes.length; n++) {
            assert_false(pace_decode(slice_of(bytes.data, n), 0, &back));
            assert_paces_equal(&back, &paces[0]);
        }
        buf_reset(&bytes);
        pace_encode(&bytes, &paces[i], 5000); /* what is over is not told; clocks differ */
        assert_true(pace_decode(buf_slice(&bytes), 700, &back));
        expected.until_ms = expected.until_ms > 5000 ? expected.until_ms - 5000 + 700 : 0;
        assert_paces_equal(&back, &expected);
        buf_release(&bytes);
    }
}

static void
reports_come_back_from_their_bytes(void **state)
{
    struct host_report report = {.words = HOST_FAILED | HOST_FORBIDS,
                                 .asked = true,
                                 .rules_known = true,
                                 .crawl_delay_ms = 700,
                                 .rest_ms = 800,
                                 .address = 0x0102030405060708,
                                 .cause = SLICE("refused")};
    struct host_report back;
    struct buf bytes;
    (void)state;
    assert_true(host_report_decode((struct slice){0}, &back));
    assert_false(back.asked);
    for (uint32_t i = 1; i <= OBSERVATIONS_MOST + 2; i++) { /* the first two are forgotten */
        const struct observation observation = {
            .what = (uint8_t)(i % 8), .milliseconds = i, .retry_after_ms = 1000 * i};
        host_report_add(&report, &observation);
    }
    buf_init(&bytes, 1000);
    host_report_encode(&bytes, &report);
    assert_true(host_report_decode(buf_slice(&bytes), &back));
    assert_int_equal(back.words, HOST_FAILED | HOST_FORBIDS);
    assert_true(back.asked && back.rules_known);
    assert_int_equal(back.crawl_delay_ms, 700);
    assert_int_equal(back.rest_ms, 800);
    assert_true(back.address == 0x0102030405060708);
    assert_true(slice_is(back.cause, "refused"));
    assert_int_equal(back.count, OBSERVATIONS_MOST);
    for (uint32_t i = 0; i < OBSERVATIONS_MOST; i++) {
        assert_int_equal(back.observations[i].what, (i + 3) % 8);
        assert_int_equal(back.observations[i].milliseconds, i + 3);
        assert_int_equal(back.observations[i].retry_after_ms, 1000 * (i + 3));
    }
    for (size_t n = 1; n < bytes.length; n++) {
        assert_false(host_report_decode(slice_of(bytes.data, n), &back));
    }
    buf_release(&bytes);
}

/* Nothing known is nothing said; each part alone is. */
static void
what_is_known_alone_is_reported(void **state)
{
    const struct host_report parts[] = {{0},
                                        {.words = HOST_ANSWERED},
                                        {.asked = true},
                                        {.rules_known = true},
                                        {.rest_ms = 1},
                                        {.address = 1},
                                        {.count = 1}};
    static const char *const wrong[] = {"\1\0\0\21", "\1\0\0\1\10\0\0",
                                        "\1\0\0\1\1\377\377\377\377\37\0"};
    static const size_t lengths[] = {4, 7, 11};
    struct host_report back;
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct buf bytes;
        buf_init(&bytes, 100);
        host_report_encode(&bytes, &parts[i]);
        assert_int_equal(bytes.length > 0, i > 0);
        assert_true(host_report_decode(buf_slice(&bytes), &back));
        assert_int_equal(back.words, parts[i].words);
        assert_int_equal(back.asked, parts[i].asked);
        assert_int_equal(back.rules_known, parts[i].rules_known);
        assert_int_equal(back.rest_ms, parts[i].rest_ms);
        assert_int_equal(back.address, parts[i].address);
        assert_int_equal(back.count, parts[i].count);
        buf_release(&bytes);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(host_report_decode(slice_of(wrong[i], lengths[i]), &back));
    }
}

/* Five places are two sets of four: numbers that share a set push out who was not looked for. */
static void
who_was_looked_for_last_stays(void **state)
{
    struct paces *paces = paces_new(5);
    (void)state;
    for (uint64_t of = 1; of <= 8; of++) {
        paces_add(paces, of)->pace.failures = (uint32_t)of;
    }
    for (uint64_t of = 1; of <= 8; of++) {
        assert_int_equal(paces_find(paces, of)->pace.failures, of);
    }
    (void)paces_find(paces, 2);
    (void)paces_add(paces, 9);  /* beside 1, 3, 5 and 7, of which 1 is the oldest */
    (void)paces_add(paces, 10); /* beside 2, 4, 6 and 8: 4 */
    for (uint64_t of = 2; of <= 8; of++) {
        if (of != 4) {
            assert_int_equal(paces_find(paces, of)->pace.failures, of);
        }
    }
    assert_int_equal(paces_find(paces, 9)->of, 9);
    assert_int_equal(paces_find(paces, 9)->pace.failures, 0);
    assert_null(paces_find(paces, 4));
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
        cmocka_unit_test(places_are_bounded),
        cmocka_unit_test(so_many_places_are_there),
        cmocka_unit_test(answers_are_averaged_to_the_millisecond),
        cmocka_unit_test(troubles_and_failures_are_counted_up_to_their_most),
        cmocka_unit_test(a_document_is_blamed_when_its_host_answered_meanwhile),
        cmocka_unit_test(an_earlier_retry_after_does_not_shorten_a_later_one),
        cmocka_unit_test(a_backoff_is_cut_to_its_most),
        cmocka_unit_test(patience_is_a_quarter_at_least_and_doubles_with_each_try),
        cmocka_unit_test(what_is_far_from_what_was_written_is_written),
        cmocka_unit_test(troubles_of_an_address_are_shared),
        cmocka_unit_test(a_crawl_delay_is_kept_up_to_its_most),
        cmocka_unit_test(paces_come_back_from_their_bytes),
        cmocka_unit_test(reports_come_back_from_their_bytes),
        cmocka_unit_test(what_is_known_alone_is_reported),
        cmocka_unit_test(who_was_looked_for_last_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
