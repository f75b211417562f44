/* When a host is asked (stages/fetch/task/request_turn.c), and what is done about requests that
 * take longer than usual (slow_hosts.c). HTTP, the paces of hosts and the skeleton are stood in
 * for, and tell what was asked of them as lines of a trace; the table of rests is real. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "stages/fetch/task/fetch_task.h"
#include "tests/unit/stand_in.h"

#define HOST "http://a.example"
#define PAGE HOST "/page"
enum { TASKS = 5, TIMERS = 8, TRACE = 1 << 14, DELAY_MS = 700, NOW_MS = 50000 };

static struct fetch fetch;
static struct stage_job jobs[TASKS];
static struct task tasks[TASKS];
static bool freed[TASKS];
static struct buf trace;
static uint64_t now_ms, limit, silent_ms, body_bytes;
static struct {
    uint64_t due_ms;
    stage_tick *tick;
    void *context;
} timers[TIMERS];
static size_t timer_count;

/* ---- in the place of others ---- */

static int
number_of(const struct task *task)
{
    return (int)(task - tasks);
}

void
task_free(struct task *task)
{
    assert_false(freed[number_of(task)]);
    freed[number_of(task)] = true;
}

static int
number_of_job(const struct stage_job *job)
{
    return (int)(job - jobs);
}

void __wrap_stage_release(struct stage_job *job, uint64_t delay_ms, bool counts_as_attempt,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));
void
__wrap_stage_release(struct stage_job *job, uint64_t delay_ms, bool counts_as_attempt,
                     const char *format, ...)
{
    assert_int_equal(delay_ms, 0);
    assert_false(counts_as_attempt);
    buf_printf(&trace, "release %d: %s\n", number_of_job(job), format);
}

STAND_IN(void, stage_report_host, (struct stage_job * job, struct slice bytes))
{
    struct host_report report;
    assert_true(host_report_decode(bytes, &report));
    buf_printf(&trace, "rest %d %llu of %llu%s\n", number_of_job(job),
               (unsigned long long)report.rest_ms, (unsigned long long)report.address,
               report.asked ? " after requests" : "");
}

STAND_IN(void, stage_set_aside, (struct stage_job * job, bool aside))
{
    buf_printf(&trace, "%s %d\n", aside ? "aside" : "back", number_of_job(job));
}

STAND_IN(void, stage_timer,
         (struct stage_run * run, uint64_t delay_ms, stage_tick *tick, void *context))
{
    (void)run;
    assert_true(timer_count < TIMERS);
    timers[timer_count].due_ms = now_ms + delay_ms;
    timers[timer_count].tick = tick;
    timers[timer_count++].context = context;
}

STAND_IN(uint64_t, clock_monotonic_ms, (void))
{
    return now_ms;
}

STAND_IN(bool, fetch_http_at_limit, (const struct fetch_http *http, uint64_t address))
{
    (void)http;
    return address != 0 && address == limit;
}

STAND_IN(struct transfer *, fetch_http_start,
         (struct fetch_http * http, const struct fetch_request *request))
{
    (void)http;
    const struct task *task = request->context;
    buf_printf(&trace, "ask %d %.*s\n", number_of(task), SLICE_PRINT(request->url));
    return (struct transfer *)(uintptr_t)task;
}

STAND_IN(uint64_t, fetch_http_silent_ms, (const struct transfer *transfer))
{
    assert_non_null(transfer);
    return silent_ms;
}

STAND_IN(uint64_t, fetch_http_body_bytes, (const struct transfer *transfer))
{
    assert_non_null(transfer);
    return body_bytes;
}

static void finish(int number, enum fetch_end end);

STAND_IN(void, fetch_http_give_up,
         (struct fetch_http * http, struct transfer *transfer, const char *problem))
{
    (void)http;
    const struct task *task = (const struct task *)(const void *)transfer;
    buf_printf(&trace, "give up %d: %s\n", number_of(task), problem);
    finish(number_of(task), FETCH_FAILED);
}

/* ---- steps ---- */

static void
assert_trace(const char *text)
{
    assert_string_equal(trace.length > 0 ? trace.data : "", text);
    buf_reset(&trace);
}

static void
ask(int number, const char *url)
{
    const struct fetch_request request = {.url = slice_string(url), .context = &tasks[number]};
    task_ask(&tasks[number], &request);
}

/* The request ends. */
static void
finish(int number, enum fetch_end end)
{
    const struct fetch_result result = {.end = end,
                                        .status = 200,
                                        .milliseconds = 100,
                                        .ip = SLICE("192.0.2.1"),
                                        .address = 9,
                                        .silent = true,
                                        .problem = "nobody is there"};
    task_note_end(&tasks[number], &result);
}

/* Time passes; what is due happens, in order. */
static void
pass(uint64_t ms)
{
    const uint64_t until_ms = now_ms + ms;
    for (;;) {
        size_t first = TIMERS;
        for (size_t i = 0; i < timer_count; i++) {
            if (timers[i].due_ms <= until_ms &&
                (first == TIMERS || timers[i].due_ms < timers[first].due_ms)) {
                first = i;
            }
        }
        if (first == TIMERS) {
            break;
        }
        stage_tick *const tick = timers[first].tick;
        void *const context = timers[first].context;
        now_ms = timers[first].due_ms > now_ms ? timers[first].due_ms : now_ms;
        timers[first] = timers[--timer_count];
        tick(context);
    }
    now_ms = until_ms;
}

/* What has a timer goes on now. */
static void
wake_all(void)
{
    for (size_t i = 0; i < timer_count; i++) {
        timers[i].due_ms = now_ms;
    }
}

static int
set_up(void **state)
{
    static const struct opt *const tables[] = {fetch_options, NULL};
    struct opt_set *options = opt_set_new(tables);
    (void)state;
    buf_init(&trace, TRACE);
    now_ms = NOW_MS;
    limit = silent_ms = timer_count = body_bytes = 0;
    fetch = (struct fetch){.host_delays = host_delays_new(),
                           .hosts = hosts_new(4),
                           .pace_rules = {.least_ms = DELAY_MS, .crawl_delay_most_ms = 30000}};
    assert_int_equal(opt_set_assign(options, "fetch.window=2000", NULL), STATUS_OK);
    fetch_slow_open(&fetch, options);
    fetch.slow.patience_ms = 10000;
    assert_int_equal(fetch.slow.places, 1000);
    opt_set_free(options);
    for (int i = 0; i < TASKS; i++) {
        freed[i] = false;
        jobs[i] = (struct stage_job){0};
        arena_init(&jobs[i].arena, TRACE);
        tasks[i] = (struct task){.fetch = &fetch, .job = &jobs[i], .origin = SLICE(HOST)};
    }
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < TASKS; i++) {
        arena_release(&jobs[i].arena);
    }
    host_delays_free(fetch.host_delays);
    hosts_free(fetch.hosts);
    fetch_slow_close(&fetch);
    buf_release(&trace);
    return 0;
}

/* ---- turns ---- */

static void
a_host_is_asked_by_one_at_a_time(void **state)
{
    (void)state;
    ask(0, PAGE);
    ask(1, HOST "/1");
    ask(2, HOST "/2");
    ask(3, "http://b.example/"); /* another host does not wait */
    assert_trace("ask 0 " PAGE "\nask 3 http://b.example/\n");
    finish(0, FETCH_ANSWERED);
    assert_trace("");
    assert_true(tasks[0].report.asked);
    assert_int_equal(tasks[0].report.words, HOST_ANSWERED);
    assert_true(slice_is(tasks[0].asking.ip, "192.0.2.1"));
    assert_int_equal(tasks[0].report.address, 9);
    pass(DELAY_MS - 1);
    assert_trace("");
    pass(1);
    assert_trace("ask 1 " HOST "/1\n");
    finish(1, FETCH_CROWDED); /* nothing was asked: no rest but that before */
    assert_false(tasks[1].report.asked);
    pass(0);
    assert_trace("ask 2 " HOST "/2\n");
}

static void
hosts_rest_as_their_rules_say(void **state)
{
    static const struct {
        int64_t crawl_delay_ms;
        uint64_t least_ms, delay_ms;
        bool reported;
    } cases[] = {{-1, 700, 700, false},      {500, 700, 700, true},        {900, 700, 900, true},
                 {40000, 700, 30000, true},  {40000, 35000, 35000, false}, {0, 0, 0, true},
                 {INT64_MAX, 1, 30000, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tasks[0].report = (struct host_report){0};
        task_note_crawl_delay(&tasks[0], cases[i].crawl_delay_ms);
        assert_int_equal(tasks[0].report.rules_known, cases[i].reported); /* when it is new */
        fetch.pace_rules.least_ms = cases[i].least_ms;
        assert_int_equal(task_delay_ms(&tasks[0]), cases[i].delay_ms);
        now_ms += 100000;
        task_rest(&tasks[0]);
        assert_int_equal(host_delays_wait_ms(fetch.host_delays, digest_local(SLICE(HOST)), now_ms),
                         cases[i].delay_ms);
    }
}

/* A host that robots.txt moved to rests as its own rules say, and no pace is learned of it. */
static void
other_hosts_rest_by_their_own_rules(void **state)
{
    static const char *const rules[] = {NULL, "User-agent: *\nCrawl-delay: 3\n"};
    static const uint64_t delays[] = {DELAY_MS, 3000};
    const struct slice other = SLICE("http://b.example");
    (void)state;
    for (int i = 0; i < 2; i++) {
        if (rules[i] != NULL) {
            hosts_put(fetch.hosts, other, HOST_BY_RULES,
                      robots_parse(slice_string(rules[i]), SLICE("quadrille")), UINT64_MAX, NULL);
        }
        task_pace(&tasks[i])->crawl_delay_ms = 9999;
        ask(i, "http://b.example/robots.txt");
        finish(i, FETCH_ANSWERED);
        assert_int_equal(tasks[i].report.words, 0);
        assert_int_equal(tasks[i].report.count, 0);
        assert_int_equal(host_delays_wait_ms(fetch.host_delays, digest_local(other), now_ms),
                         delays[i]);
        now_ms += 100000;
    }
}

static void
what_requests_tell_of_the_host(void **state)
{
    static const struct {
        enum fetch_end end;
        uint8_t words;
        const char *cause;
    } cases[] = {{FETCH_ANSWERED, HOST_ANSWERED, ""},
                 {FETCH_CUT_LENGTH, HOST_ANSWERED, ""},
                 {FETCH_FAILED, HOST_FAILED | HOST_SILENT, "nobody is there"},
                 {FETCH_REFUSED_ADDRESS, 0, ""},
                 {FETCH_NO_MEMORY, 0, ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tasks[0].report.words = 0;
        tasks[0].report.cause = (struct slice){0};
        now_ms += 100000;
        ask(0, PAGE);
        finish(0, cases[i].end);
        assert_int_equal(tasks[0].report.words, cases[i].words);
        assert_true(slice_is(tasks[0].report.cause, cases[i].cause));
    }
    buf_init(&tasks[1].robots.url, TRACE);
    buf_append_string(&tasks[1].robots.url, HOST "/robots.txt");
    const struct fetch_request request = {.url = buf_slice(&tasks[1].robots.url),
                                          .context = &tasks[1]};
    now_ms += 100000;
    buf_reset(&trace);
    task_ask(&tasks[1], &request);
    finish(1, FETCH_ANSWERED);
    assert_trace("ask 1 " HOST "/robots.txt\n");
    assert_int_equal(tasks[1].report.words, HOST_RULES);
    buf_release(&tasks[1].robots.url);
}

/* What was told before stands: that its robots.txt was answered. */
static void
a_page_at_fault_tells_nothing_of_the_host(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        jobs[i].job.attempt = 2;
    }
    task_pace(&tasks[0])->answered = true;
    tasks[0].report.words = HOST_RULES;
    ask(0, PAGE);
    finish(0, FETCH_FAILED);
    assert_trace("ask 0 " PAGE "\n");
    assert_int_equal(tasks[0].report.words, HOST_RULES);
    ask(1, PAGE);
    pass(DELAY_MS);
    finish(1, FETCH_CUT_CONNECTION); /* a status had come */
    assert_trace("ask 1 " PAGE "\n");
    assert_int_equal(tasks[1].report.words, HOST_ANSWERED);
    buf_init(&tasks[2].robots.url, TRACE);
    buf_append_string(&tasks[2].robots.url, HOST "/robots.txt");
    const struct fetch_request request = {.url = buf_slice(&tasks[2].robots.url),
                                          .context = &tasks[2]};
    task_ask(&tasks[2], &request);
    pass(DELAY_MS);
    finish(2, FETCH_FAILED); /* robots.txt is no page */
    assert_trace("ask 2 " HOST "/robots.txt\n");
    assert_int_equal(tasks[2].report.words, HOST_FAILED | HOST_SILENT);
    buf_release(&tasks[2].robots.url);
}

/* A dump takes long by its length. */
static void
a_dump_is_no_measure_of_its_host(void **state)
{
    (void)state;
    tasks[0].download = (struct download *)&trace;
    ask(0, PAGE);
    buf_reset(&trace);
    const uint64_t usual_ms = fetch.slow.usual_ms;
    finish(0, FETCH_ANSWERED);
    assert_trace("");
    assert_int_equal(fetch.slow.usual_ms, usual_ms);
    tasks[0].download = NULL;
}

static void
who_waits_long_goes_back_to_the_queue(void **state)
{
    (void)state;
    fetch.pace_rules.least_ms = 2001;
    ask(0, PAGE);
    ask(1, PAGE);
    tasks[1].report.address = 4;
    finish(0, FETCH_ANSWERED);
    buf_reset(&trace);
    wake_all(); /* before the rest is over */
    pass(0);
    assert_trace("rest 1 2001 of 4\nrelease 1: the host rests\n");
    assert_true(freed[1]);
    fetch.pace_rules.least_ms = 2000;
    now_ms += 100000;
    ask(0, PAGE);
    ask(2, PAGE);
    finish(0, FETCH_ANSWERED);
    buf_reset(&trace);
    pass(1999);
    assert_trace("");
    pass(1);
    assert_trace("ask 2 " PAGE "\n");
}

/* Whoever stands in line for a host that fell into trouble leaves it at once. */
static void
nobody_waits_for_a_host_in_trouble(void **state)
{
    (void)state;
    ask(0, PAGE);
    ask(1, HOST "/1");
    ask(2, HOST "/2");
    tasks[1].report.asked = true; /* it has begun: it stays */
    finish(0, FETCH_FAILED);
    buf_reset(&trace);
    assert_int_equal(task_pace(&tasks[1])->troubles, 1);
    wake_all();
    pass(DELAY_MS);
    assert_trace("ask 1 " HOST "/1\n");
    finish(1, FETCH_FAILED);
    buf_reset(&trace);
    wake_all();
    pass(0);
    assert_trace("rest 2 700 of 0\nrelease 2: the host rests\n");
    assert_true(freed[2] && !freed[1]);
}

static void
an_address_at_its_limit_turns_back(void **state)
{
    (void)state;
    limit = 77;
    task_pace(&tasks[0])->address = 77; /* as the queue says */
    ask(0, PAGE);
    assert_trace("rest 0 0 of 77\nrelease 0: others are being fetched from the host's "
                 "address\n");
    assert_true(freed[0]);
    tasks[1].report.asked = true;
    ask(1, PAGE);
    assert_trace(
        "rest 1 0 of 77 after requests\nrelease 1: others are being fetched from the host's "
        "address\n");
}

static void
needless(void *context, const struct fetch_result *result)
{
    assert_int_equal(result->end, FETCH_NEEDLESS);
    buf_printf(&trace, "needless %d\n", number_of(context));
}

static void
ask_for_rules(int number, unsigned hops)
{
    struct task *task = &tasks[number];
    task->robots.hops = hops;
    buf_init(&task->robots.url, TRACE);
    buf_append_string(&task->robots.url, HOST "/robots.txt");
    const struct fetch_request request = {
        .url = buf_slice(&task->robots.url), .done = needless, .context = task};
    task_ask(task, &request);
}

/* What another job has brought needs no request; the next in line is not forgotten. Rules that
 * moved are asked for all the same. */
static void
rules_that_came_pass_the_turn_on(void **state)
{
    (void)state;
    ask(0, PAGE);
    ask_for_rules(1, 0);
    ask_for_rules(2, 0);
    finish(0, FETCH_ANSWERED);
    buf_reset(&trace);
    hosts_put(fetch.hosts, SLICE(HOST), HOST_OPEN, NULL, UINT64_MAX, "");
    pass(DELAY_MS);
    assert_trace("needless 1\nneedless 2\n");
    assert_int_equal(timer_count, 0); /* both had their turn */
    ask(3, HOST "/3");
    assert_trace("ask 3 " HOST "/3\n");
    finish(3, FETCH_ANSWERED);
    buf_reset(&trace);
    pass(DELAY_MS);
    ask_for_rules(4, 1);
    assert_trace("ask 4 " HOST "/robots.txt\n");
    for (int i = 0; i < TASKS; i++) {
        buf_release(&tasks[i].robots.url);
    }
}

/* ---- what takes long ---- */

static void
slow_requests_give_their_places_to_others(void **state)
{
    enum { USUAL_MS = 125, SLOW_MS = 8 * USUAL_MS };
    (void)state;
    fetch.slow.places = 1;
    ask(0, PAGE);
    ask(1, "http://b.example/");
    buf_reset(&trace);
    pass(SLOW_MS - 1);
    assert_trace("");
    pass(SLOW_MS / 2 + 1);
    assert_trace("aside 0\n"); /* there is one place */
    assert_int_equal(fetch.slow.aside, 1);
    finish(0, FETCH_ANSWERED);
    assert_trace("back 0\n");
    assert_int_equal(fetch.slow.aside, 0);
    pass(SLOW_MS);
    assert_trace("aside 1\n");
    finish(1, FETCH_ANSWERED);
    assert_null(fetch.slow.first);
    assert_null(fetch.slow.last);
    pass(10000);
    assert_int_equal(timer_count, 0); /* nobody looks any more */
}

/* However many requests are under way, one timer looks at them, twice in the time after which one
 * is slow, within bounds. */
static void
they_are_looked_at_by_what_is_usual(void **state)
{
    static const struct {
        uint64_t usual_ms, pause_ms, slow_ms;
    } cases[] = {{0, 25, 50},       {5, 25, 50},       {7, 28, 56},
                 {125, 500, 1000},  {249, 996, 1992},  {300, 1000, 2400},
                 {624, 1000, 4992}, {626, 1000, 5000}, {9000, 1000, 5000}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char aside[] = "aside 0\naside 1\n";
        fetch.slow.usual_ms = cases[i].usual_ms * 64;
        tasks[0].origin = tasks[1].origin = (struct slice){0};
        ask(0, "http://0.example/");
        ask(1, "http://1.example/");
        buf_reset(&trace);
        assert_int_equal(timer_count, 1);
        assert_int_equal(timers[0].due_ms - now_ms, cases[i].pause_ms);
        const uint64_t looks = (cases[i].slow_ms + cases[i].pause_ms - 1) / cases[i].pause_ms;
        pass(looks * cases[i].pause_ms - 1);
        assert_trace("");
        pass(1); /* at the first look that finds them slow */
        assert_trace(aside);
        assert_int_equal(timer_count, 1);
        finish(0, FETCH_ANSWERED);
        finish(1, FETCH_ANSWERED);
        buf_reset(&trace);
        pass(100000);
        assert_int_equal(timer_count, 0);
    }
}

/* Whoever asks where it has not waited in line waits for the rest, to its last millisecond, and who
 * stood in the line of a host in trouble asks when the rest is over. */
static void
nobody_asks_before_the_rest_is_over(void **state)
{
    const struct fetch_result nowhere = {.end = FETCH_FAILED, .problem = "no address"};
    (void)state;
    ask(0, PAGE);
    finish(0, FETCH_ANSWERED);
    buf_reset(&trace);
    now_ms += DELAY_MS - 1;
    ask(1, HOST "/1");
    assert_trace("");
    pass(1);
    assert_trace("ask 1 " HOST "/1\n");
    ask(2, HOST "/2");
    tasks[1].report.address = 4;
    task_note_end(&tasks[1], &nowhere);
    assert_int_equal(tasks[1].report.address, 4); /* it is where it was */
    assert_int_equal(tasks[1].asking.ip.length, 0);
    assert_int_equal(task_pace(&tasks[2])->troubles, 1);
    pass(DELAY_MS - 1);
    assert_trace("");
    pass(1);
    assert_trace("ask 2 " HOST "/2\n");
    assert_false(freed[2]);
}

/* The limit is that of the host's own address: robots.txt may have moved to another. */
static void
another_hosts_address_is_not_the_own(void **state)
{
    (void)state;
    limit = 77;
    task_pace(&tasks[0])->address = 77;
    ask(0, "http://b.example/robots.txt");
    assert_trace("ask 0 http://b.example/robots.txt\n");
}

static void
the_usual_time_is_learned(void **state)
{
    (void)state;
    for (int i = 0; i < 500; i++) {
        now_ms += 100000;
        timer_count = 0;
        fetch.slow.looking = false;
        ask(0, PAGE);
        finish(0, FETCH_ANSWERED); /* in 100 ms */
    }
    assert_in_range(fetch.slow.usual_ms / 64, 99, 101);
    buf_reset(&trace);
    now_ms += 100000;
    timer_count = 0;
    fetch.slow.looking = false;
    ask(0, PAGE);
    buf_reset(&trace);
    pass(790);
    assert_trace("");
    pass(450);
    assert_trace("aside 0\n");
}

/* Those behind a request that takes a second go elsewhere, but for one that has begun. */
static void
the_line_behind_a_slow_request_is_cleared(void **state)
{
    (void)state;
    ask(0, PAGE);
    ask(1, HOST "/1");
    ask(2, HOST "/2");
    ask(3, HOST "/3");
    tasks[2].report.asked = true;
    buf_reset(&trace);
    pass(1500);
    assert_trace("aside 0\nrest 1 0 of 0\nrelease 1: the host rests\nrest 3 0 of 0\n"
                 "release 3: the host rests\n");
    assert_true(freed[1] && !freed[2] && freed[3]);
    finish(0, FETCH_ANSWERED);
    buf_reset(&trace);
    pass(DELAY_MS);
    assert_trace("ask 2 " HOST "/2\n");
    finish(2, FETCH_ANSWERED);
    buf_reset(&trace);
    pass(2 * DELAY_MS); /* those that were released are in the line no more */
    assert_trace("");
}

/* However soon a request counts as slow. */
static void
a_line_is_left_alone_for_a_second(void **state)
{
    (void)state;
    fetch.slow.usual_ms = fetch.slow.places = 0;
    ask(0, PAGE);
    ask(1, HOST "/1");
    buf_reset(&trace);
    pass(999);
    assert_trace("");
    pass(1);
    assert_trace("rest 1 0 of 0\nrelease 1: the host rests\n");
}

static void
silence_ends_with_patience(void **state)
{
    (void)state;
    ask(0, PAGE);
    ask(1, "http://b.example/");
    silent_ms = 9999;
    pass(3000);
    buf_reset(&trace);
    silent_ms = 10000;
    pass(500);
    assert_trace("give up 0: no answer came within 10000 ms\nback 0\n"
                 "give up 1: no answer came within 5000 ms\nback 1\n");
    assert_int_equal(tasks[0].report.words, HOST_FAILED | HOST_SILENT);
    assert_null(fetch.slow.first);
}

static void
a_body_that_flows_no_faster_is_given_up(void **state)
{
    enum { WHOLE_MS = 120000, BYTES = 4000 };
    const struct fetch_result flowed = {.body = {PAGE, BYTES}};
    (void)state;
    for (int i = 0; i < 4; i++) {
        jobs[i].job.uri = i == 3 ? SLICE(HOST "/other") : SLICE(PAGE);
        jobs[i].job.attempt = i == 0 ? 1 : 2;
        tasks[i].origin = (struct slice){0}; /* so that nobody waits */
    }
    task_note_flow(&tasks[0], &flowed);
    ask(0, "http://0.example/"); /* its first attempt, as on a later visit */
    ask(1, "http://1.example/");
    ask(2, "http://2.example/");
    ask(3, "http://3.example/"); /* nothing is known of it */
    body_bytes = BYTES / 4;
    pass(WHOLE_MS / 4 - 1);
    buf_reset(&trace);
    body_bytes = BYTES;
    pass(1000); /* it is much faster */
    assert_trace("");
    body_bytes = BYTES / 4;
    pass(1000);
    assert_trace("give up 1: its body flows as slowly as before, when it did not end within 120000 "
                 "ms\nback 1\ngive up 2: its body flows as slowly as before, when it did not end "
                 "within 120000 ms\nback 2\n");
}

/* From a quarter of the whole time on, by as much more as a quarter of the bytes; a body of which
 * nothing has come does not flow. */
static void
flows_are_compared_to_the_byte(void **state)
{
    enum { WHOLE_MS = 120000, BYTES = 4000, LIMIT = 1250 };
    const struct fetch_result flowed = {.body = {PAGE, BYTES}};
    static const struct {
        uint64_t bytes;
        bool given_up;
    } cases[] = {{0, false}, {1, true}, {LIMIT, true}, {LIMIT + 1, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tear_down(NULL);
        set_up(NULL);
        jobs[0].job.uri = SLICE(PAGE);
        jobs[0].job.attempt = 2;
        task_note_flow(&tasks[0], &flowed);
        ask(0, PAGE);
        body_bytes = 1;
        pass(WHOLE_MS / 4 - 1);
        buf_reset(&trace);
        body_bytes = cases[i].bytes;
        pass(1);
        assert_int_equal(trace.length > 0, cases[i].given_up);
    }
}

/* So that no more is known than of so many pages. */
static void
flows_of_long_ago_are_forgotten(void **state)
{
    enum { FLOWS_MOST = 4096 };
    const struct fetch_result flowed = {.body = {PAGE, 5}};
    (void)state;
    for (int i = 0; i < FLOWS_MOST; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, HOST "/%d", i);
        jobs[0].job.uri = slice_string(uri);
        task_note_flow(&tasks[0], &flowed);
        assert_int_equal(fetch.slow.flows.count, i + 1);
    }
    jobs[0].job.uri = SLICE(PAGE);
    task_note_flow(&tasks[0], &flowed);
    assert_int_equal(fetch.slow.flows.count, 1);
    assert_int_equal(map_get(&fetch.slow.flows, digest_local(SLICE(PAGE))), 5);
}

static void
patience_ends_with_the_whole_time(void **state)
{
    static const struct opt *const tables[] = {fetch_options, NULL};
    static const struct {
        const char *patience;
        uint64_t ms;
    } cases[] = {{"fetch.patience=3", 3000},
                 {"fetch.patience=7", 7000},
                 {"fetch.patience=8", 7000},
                 {"fetch.patience=1h", 7000}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fetch other = {0};
        struct opt_set *options = opt_set_new(tables);
        assert_int_equal(opt_set_assign(options, "fetch.timeout=7", NULL), STATUS_OK);
        assert_int_equal(opt_set_assign(options, cases[i].patience, NULL), STATUS_OK);
        fetch_slow_open(&other, options);
        assert_int_equal(other.slow.patience_ms, cases[i].ms);
        assert_int_equal(other.slow.whole_ms, 7000);
        fetch_slow_close(&other);
        opt_set_free(options);
    }
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_host_is_asked_by_one_at_a_time),
        CASE(hosts_rest_as_their_rules_say),
        CASE(other_hosts_rest_by_their_own_rules),
        CASE(what_requests_tell_of_the_host),
        CASE(a_dump_is_no_measure_of_its_host),
        CASE(who_waits_long_goes_back_to_the_queue),
        CASE(nobody_waits_for_a_host_in_trouble),
        CASE(an_address_at_its_limit_turns_back),
        CASE(rules_that_came_pass_the_turn_on),
        CASE(slow_requests_give_their_places_to_others),
        CASE(they_are_looked_at_by_what_is_usual),
        CASE(nobody_asks_before_the_rest_is_over),
        CASE(another_hosts_address_is_not_the_own),
        CASE(flows_are_compared_to_the_byte),
        CASE(the_usual_time_is_learned),
        CASE(the_line_behind_a_slow_request_is_cleared),
        CASE(a_line_is_left_alone_for_a_second),
        CASE(silence_ends_with_patience),
        CASE(a_page_at_fault_tells_nothing_of_the_host),
        CASE(a_body_that_flows_no_faster_is_given_up),
        CASE(flows_of_long_ago_are_forgotten),
        CASE(patience_ends_with_the_whole_time),
    };
    return cmocka_run_group_tests_name("request_turn", tests, NULL, NULL);
}
