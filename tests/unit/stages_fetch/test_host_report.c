/* These tests are of what the ends of a task's requests tell of its host, to fetch and to the queue
 * (stages/fetch/task/host_report.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/system/clock.h"
#include "stages/fetch/task/fetch_task.h"
#include "tests/unit/stand_in.h"

enum { TRACE = 1 << 12, ADDRESS = 9 };
static const uint64_t now_ms = 1700000000000;

static struct fetch fetch;
static struct stage_job job;
static struct task task;
static struct host_report told; /* to the queue */

STAND_IN(uint64_t, clock_wall_ms, (void))
{
    return now_ms;
}

STAND_IN(uint64_t, clock_monotonic_ms, (void))
{
    return now_ms;
}

STAND_IN(void, stage_report_host, (struct stage_job * one, struct slice report))
{
    static char bytes[TRACE];
    assert_ptr_equal(one, &job);
    assert_true(report.length < sizeof bytes);
    if (report.length > 0) {
        memcpy(bytes, report.at, report.length);
    }
    assert_true(host_report_decode(slice_of(bytes, report.length), &told));
}

static int
set_up(void **state)
{
    (void)state;
    fetch = (struct fetch){.host_delays = host_delays_new(),
                           .slow.patience_ms = 60000,
                           .pace_rules = {.least_ms = 1000,
                                          .most_ms = 30000,
                                          .factor = 4,
                                          .backoff_ms = 2000,
                                          .backoff_most_ms = 60000,
                                          .retry_after_most_ms = 90000}};
    job.job.attempt = 1;
    task = (struct task){.fetch = &fetch, .job = &job, .origin = SLICE("http://a.example")};
    told = (struct host_report){0};
    arena_init(&job.arena, TRACE);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    host_delays_free(fetch.host_delays);
    arena_release(&job.arena);
    return 0;
}

static void
learn(enum fetch_end end, uint16_t status, bool rules)
{
    const struct fetch_result result = {
        .end = end, .status = status, .milliseconds = 500, .problem = "nobody is there"};
    task_note_host(&task, &result, rules);
}

static void
troubles_are_told_and_forgiven(void **state)
{
    static const struct {
        enum fetch_end end;
        uint16_t status;
        bool rules;
        uint8_t words, what; /* 0: nothing */
    } cases[] = {
        {FETCH_FAILED, 0, false, HOST_FAILED, OBSERVED_SILENCE | OBSERVED_TROUBLE},
        {FETCH_CUT_CONNECTION, 0, false, HOST_ANSWERED, OBSERVED_ANSWER | OBSERVED_TROUBLE},
        {FETCH_CUT_TIME, 200, false, HOST_ANSWERED, OBSERVED_ANSWER | OBSERVED_TROUBLE},
        {FETCH_ANSWERED, 429, false, HOST_ANSWERED, OBSERVED_ANSWER | OBSERVED_TROUBLE},
        {FETCH_ANSWERED, 503, false, HOST_ANSWERED, OBSERVED_ANSWER | OBSERVED_TROUBLE},
        {FETCH_ANSWERED, 500, false, HOST_ANSWERED, OBSERVED_ANSWER},
        {FETCH_ANSWERED, 500, true, HOST_RULES, OBSERVED_ANSWER | OBSERVED_TROUBLE},
        {FETCH_CUT_LENGTH, 503, false, HOST_ANSWERED, OBSERVED_ANSWER | OBSERVED_TROUBLE},
        {FETCH_ANSWERED, 404, false, HOST_ANSWERED, OBSERVED_ANSWER},
        {FETCH_CUT_LENGTH, 200, false, HOST_ANSWERED, OBSERVED_ANSWER},
        {FETCH_REFUSED_ADDRESS, 0, false, 0, 0},
        {FETCH_NO_MEMORY, 0, false, 0, 0},
        {FETCH_ANSWERED, 299, true, HOST_RULES, OBSERVED_ANSWER},
        {FETCH_ANSWERED, 301, false, HOST_ANSWERED, OBSERVED_ANSWER},
        {FETCH_ANSWERED, 400, true, HOST_RULES, OBSERVED_ANSWER},
        {FETCH_ANSWERED, 300, true, HOST_RULES, 0},
        {FETCH_ANSWERED, 399, true, HOST_RULES, 0},
        {FETCH_ANSWERED, 301, true, HOST_RULES, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)tear_down(NULL);
        (void)set_up(NULL);
        learn(cases[i].end, cases[i].status, cases[i].rules);
        task_report_host(&task);
        assert_int_equal(task_pace(&task)->troubles, (cases[i].what & OBSERVED_TROUBLE) != 0);
        assert_int_equal(task_pace(&task)->failures, cases[i].end == FETCH_FAILED);
        assert_int_equal(told.words, cases[i].words);
        assert_int_equal(told.count, cases[i].what != 0);
        assert_int_equal(told.observations[0].what, cases[i].what);
        assert_int_equal(told.observations[0].milliseconds, cases[i].what != 0 ? 500 : 0);
        assert_int_equal(slice_is(told.cause, "nobody is there"), cases[i].end == FETCH_FAILED);
        assert_false(told.rules_known);
    }
    learn(FETCH_FAILED, 0, false);
    assert_int_equal(task_pace(&task)->troubles, 1);
    learn(FETCH_ANSWERED, 200, false);
    assert_int_equal(task_pace(&task)->troubles, 0);
    assert_int_equal(task_pace(&task)->failures, 0);
    assert_int_equal(task.report.count, 2);
}

static void
a_long_body_is_no_trouble(void **state)
{
    struct fetch_result result = {.end = FETCH_CUT_TIME, .flowing = true, .problem = ""};
    (void)state;
    task_note_host(&task, &result, false);
    assert_int_equal(task_pace(&task)->troubles, 0);
    assert_int_equal(task.report.count, 0);
}

static void
retry_after_is_told(void **state)
{
    const struct fetch_result result = {
        .end = FETCH_ANSWERED, .status = 429, .retry_after_ms = 50000, .problem = ""};
    (void)state;
    task_note_host(&task, &result, false);
    task_report_host(&task);
    assert_int_equal(told.observations[0].retry_after_ms, 50000);
    assert_int_equal(task_delay_ms(&task), 50000);
    learn(FETCH_ANSWERED, 200, false);
    assert_int_equal(task_delay_ms(&task), 2000);
}

/* Trouble is shared by the hosts of an address: what the queue knew of it counts for that only. */
static void
an_address_shares_trouble(void **state)
{
    (void)state;
    *task_pace(&task) = (struct pace){.address = ADDRESS, .address_troubles = 4};
    assert_int_equal(task_delay_ms(&task), 16000);
    task.report.address = ADDRESS;
    learn(FETCH_ANSWERED, 200, false);
    assert_int_equal(task_delay_ms(&task), 4000);
    task.report.address = ADDRESS + 1;
    learn(FETCH_ANSWERED, 200, false);
    assert_int_equal(task_delay_ms(&task), 2000); /* four times half a second */
    assert_int_equal(task_pace(&task)->address, ADDRESS + 1);
    assert_int_equal(task_pace(&task)->troubles, 0);
    task_pace(&task)->address_troubles = 4;
    task.report.address = ADDRESS + 2; /* of which no trouble is known but this */
    learn(FETCH_FAILED, 0, false);
    assert_int_equal(task_pace(&task)->address_troubles, 1);
    learn(FETCH_FAILED, 0, false);
    assert_int_equal(task_pace(&task)->address_troubles, 2);
}

/* How long a dump takes tells nothing of its host; answers that are none of it do. */
static void
a_dump_is_no_measure(void **state)
{
    static const struct {
        uint16_t status;
        bool told;
    } cases[] = {{199, true}, {200, false}, {299, false}, {300, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        task.report = (struct host_report){0};
        task.download = (struct download *)&fetch;
        learn(FETCH_ANSWERED, cases[i].status, false);
        assert_int_equal(task.report.count, cases[i].told);
        assert_int_equal(task.report.words, HOST_ANSWERED);
    }
    task.download = NULL;
}

static void
a_host_without_rules_has_failed(void **state)
{
    (void)state;
    buf_init(&task.robots.url, TRACE);
    buf_append_string(&task.robots.url, "http://a.example/robots.txt");
    task_note_no_rules(&task, 0, true, "it is away");
    task_report_host(&task);
    assert_int_equal(told.words, HOST_FAILED | HOST_SILENT);
    assert_true(slice_is(told.cause, "it is away"));
    assert_int_equal(told.count, 0); /* its request told */
    task_note_no_rules(&task, 503, false, "it is busy");
    assert_int_equal(task.report.words, HOST_FAILED | HOST_FORBIDS);
    task_note_no_rules(&task, 400, false, "it is busy");
    assert_int_equal(task.report.words, HOST_FAILED | HOST_FORBIDS);
    task_note_no_rules(&task, 399, false, "it moves on and on");
    assert_int_equal(task.report.words, HOST_FAILED);
    buf_reset(&task.robots.url);
    buf_append_string(&task.robots.url, "http://b.example/robots.txt");
    task_note_no_rules(&task, 404, false, "it has moved");
    assert_int_equal(task_pace(&task)->troubles, 1);
    assert_int_equal(task_pace(&task)->failures, 0);
    assert_int_equal(task.report.observations[0].what, OBSERVED_TROUBLE);
    buf_release(&task.robots.url);
}

/* The first task of a host brings its pace; those beside it find what it has learned, and the next
 * one, when all have ended, what the queue made of that. */
static void
tasks_of_a_host_share_its_pace(void **state)
{
    const struct pace handed = {.troubles = 2, .response_ms = 9};
    const struct pace newer = {.response_ms = 7};
    const uint64_t host = digest_local(task.origin);
    (void)state;
    host_delays_join(fetch.host_delays, host, &handed, 1);
    assert_int_equal(task_pace(&task)->troubles, 2);
    learn(FETCH_FAILED, 0, false);
    host_delays_join(fetch.host_delays, host, &handed, 1);
    assert_int_equal(task_pace(&task)->troubles, 3);
    host_delays_part(fetch.host_delays, host);
    host_delays_join(fetch.host_delays, host, &newer, 1);
    assert_int_equal(task_pace(&task)->troubles, 3);
    host_delays_part(fetch.host_delays, host);
    host_delays_part(fetch.host_delays, host);
    host_delays_join(fetch.host_delays, host, &newer, 1);
    assert_int_equal(task_pace(&task)->troubles, 0);
    assert_int_equal(task_pace(&task)->response_ms, 7);
    for (uint64_t other = 1; other < 5000; other++) { /* it is no passer-by */
        host_delays_begin(fetch.host_delays, other, now_ms);
        host_delays_end(fetch.host_delays, other, now_ms);
    }
    assert_int_equal(task_pace(&task)->response_ms, 7);
}

/* It failed before, and others were answered since: of the host nothing is learned. */
static void
a_page_that_fails_alone_is_at_fault(void **state)
{
    static const struct {
        enum fetch_end end;
        bool unsent, rules, dump, told;
    } cases[] = {{.end = FETCH_FAILED},
                 {.end = FETCH_FAILED, .unsent = true, .told = true},
                 {.end = FETCH_FAILED, .rules = true, .told = true},
                 {.end = FETCH_FAILED, .dump = true, .told = true},
                 {.end = FETCH_CUT_CONNECTION},
                 {.end = FETCH_CUT_TIME},
                 {.end = FETCH_ANSWERED, .told = true},
                 {.end = FETCH_CUT_LENGTH, .told = true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct fetch_result result = {
            .end = cases[i].end, .unsent = cases[i].unsent, .problem = ""};
        *task_pace(&task) = (struct pace){.answered = true};
        task.report = (struct host_report){0};
        job.job.attempt = 2;
        task.download = cases[i].dump ? (struct download *)&fetch : NULL;
        task_note_host(&task, &result, cases[i].rules);
        assert_int_equal(task.report.count, cases[i].told);
        assert_int_equal((task.report.words & HOST_FAILED) != 0,
                         cases[i].told && cases[i].end == FETCH_FAILED);
    }
    task.download = NULL;
    task.report.count = 0;
    job.job.attempt = 1;
    learn(FETCH_FAILED, 0, false);
    assert_int_equal(task.report.count, 1);
    job.job.attempt = 2;
    learn(FETCH_FAILED, 0, false); /* it may be the host again */
    assert_int_equal(task.report.count, 2);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(troubles_are_told_and_forgiven),
        CASE(a_long_body_is_no_trouble),
        CASE(retry_after_is_told),
        CASE(an_address_shares_trouble),
        CASE(a_dump_is_no_measure),
        CASE(a_host_without_rules_has_failed),
        CASE(tasks_of_a_host_share_its_pace),
        CASE(a_page_that_fails_alone_is_at_fault),
    };
    return cmocka_run_group_tests_name("host_report", tests, NULL, NULL);
}
