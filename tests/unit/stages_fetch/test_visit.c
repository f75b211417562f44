/* These tests are of what fetch knows of a document's visits and learns from one
 * (stages/fetch/task/visit.c), and how it divides a host's fetches (queue_shares.c). The rest of
 * the fetch program, the skeleton and the metadata store are stood in for, and tell what was asked
 * of them as lines of a trace. */
#include <math.h>
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
#include "stages/fetch/fetch_steps.h"
#include "tests/unit/stand_in.h"

#define HOST "http://a.example"
#define PAGE HOST "/page"
enum { TRACE = 1 << 16, EPOCH = 40, SAMPLE = 16 };
static const uint64_t now_ms = 1700000000000, hour_ms = 3600000;

static struct fetch fetch;
static struct stage_job job;
static struct task task;
static bool freed, sitemap;
static struct buf trace, host, record, sighting;
static stage_tick *timer;
static metastore_got *got;
static void *got_context;
static uint64_t released_ms;
static struct buf wanted; /* keys, a line each */
static size_t wanted_count;

/* ---- in the place of others ---- */

void
task_free(struct task *one)
{
    assert_ptr_equal(one, &task);
    freed = true;
}

void
task_check_rules(struct task *one)
{
    assert_ptr_equal(one, &task);
    buf_append_string(&trace, "rules\n");
}

bool
task_is_sitemap(const struct task *one)
{
    assert_ptr_equal(one, &task);
    return sitemap;
}

STAND_IN(uint64_t, clock_wall_ms, (void))
{
    return now_ms;
}

static double budget_wait; /* in seconds: what the budget says of the next visit */

void __wrap_stage_release(struct stage_job *one, uint64_t delay_ms, bool counts_as_attempt,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));
void
__wrap_stage_release(struct stage_job *one, uint64_t delay_ms, bool counts_as_attempt,
                     const char *format, ...)
{
    assert_ptr_equal(one, &job);
    assert_false(counts_as_attempt);
    released_ms = delay_ms;
    buf_printf(&trace, "release: %s\n", format);
}

STAND_IN(void, stage_timer,
         (struct stage_run * run, uint64_t delay_ms, stage_tick *tick, void *context))
{
    (void)run;
    assert_ptr_equal(context, &task);
    assert_int_equal(delay_ms, (uint64_t)(budget_wait * 1000));
    timer = tick;
    buf_append_string(&trace, "wait\n");
}

/* Fields are told by number. */
STAND_IN(void, stage_put_meta, (struct stage_job * one, struct slice key, struct slice fields))
{
    struct meta_value value;
    struct buf merged;
    assert_ptr_equal(one, &job);
    buf_init(&merged, TRACE);
    buf_printf(&trace, "meta %.*s", SLICE_PRINT(key));
    (void)meta_merge((struct slice){0}, fields, &merged);
    for (size_t at = 0; meta_record_next(buf_slice(&merged), &at, &value);) {
        assert_false(value.is_text);
        buf_printf(&trace, " %d=%llu", (int)value.field, (unsigned long long)value.number);
    }
    buf_append_char(&trace, '\n');
    buf_release(&merged);
}

STAND_IN(void, stage_set_lane_share, (struct stage_job * one, uint8_t share))
{
    assert_ptr_equal(one, &job);
    buf_printf(&trace, "share %u\n", share);
}

STAND_IN(struct metastore_client *, stage_metastore, (struct stage_run * run))
{
    (void)run;
    return NULL;
}

STAND_IN(void, metastore_get,
         (struct metastore_client * client, const struct slice *keys, size_t n, metastore_got *done,
          void *context))
{
    (void)client;
    buf_reset(&wanted);
    for (size_t i = 0; i < n; i++) {
        buf_printf(&wanted, "%.*s\n", SLICE_PRINT(keys[i]));
    }
    wanted_count = n;
    got = done;
    got_context = context;
    buf_append_string(&trace, "look\n");
}

STAND_IN(void, schedule_visit,
         (struct stage_job * one, const struct document_visit *visit, enum visit_outcome outcome,
          struct slice data))
{
    assert_ptr_equal(one, &job);
    assert_ptr_equal(visit, &task.visit.document);
    buf_printf(&trace, "visit %d with %zu\n", (int)outcome, data.length);
}

/* ---- steps ---- */

static void
assert_trace(const char *text)
{
    assert_string_equal(trace.length > 0 ? trace.data : "", text);
    buf_reset(&trace);
}

static void
set_number(struct buf *of, enum meta_field field, uint64_t number)
{
    struct meta_update update;
    struct buf merged;
    meta_update_init(&update);
    buf_init(&merged, TRACE);
    meta_set_number(&update, field, number);
    (void)meta_merge(buf_slice(of), meta_update_fields(&update), &merged);
    buf_release(of);
    *of = merged;
    meta_update_release(&update);
}

static void
set_text(struct buf *of, enum meta_field field, const char *text)
{
    struct meta_update update;
    struct buf merged;
    meta_update_init(&update);
    buf_init(&merged, TRACE);
    meta_set_text(&update, field, slice_string(text));
    (void)meta_merge(buf_slice(of), meta_update_fields(&update), &merged);
    buf_release(of);
    *of = merged;
    meta_update_release(&update);
}

static void
make_task(void)
{
    freed = false;
    task = (struct task){.fetch = &fetch, .job = &job, .origin = SLICE(HOST)};
}

static void
take_visit(void)
{
    task_take_visit(&task, buf_slice(&host), buf_slice(&record), buf_slice(&sighting));
}

static void
read_options(const char *const *settings)
{
    extern const struct opt recrawl_options[];
    static const struct opt *const tables[] = {recrawl_options, NULL};
    struct opt_set *options = opt_set_new(tables);
    for (; *settings != NULL; settings++) {
        assert_int_equal(opt_set_assign(options, *settings, NULL), STATUS_OK);
    }
    fetch_read_recrawl(&fetch, options);
    opt_set_free(options);
}

static int
set_up(void **state)
{
    (void)state;
    buf_init(&trace, TRACE);
    buf_init(&host, TRACE);
    buf_init(&record, TRACE);
    buf_init(&sighting, TRACE);
    buf_init(&wanted, TRACE);
    fetch = (struct fetch){.hosts = hosts_new(4)};
    read_options((const char *const[]){"recrawl.enabled=yes", "recrawl.first=1d",
                                       "recrawl.budget=0", "recrawl.worth=60", NULL});
    sitemap = false;
    timer = NULL;
    job =
        (struct stage_job){.job = {.key.stage = STAGE_FETCH, .uri = SLICE(PAGE), .generation = 3}};
    arena_init(&job.arena, TRACE);
    meta_update_init(&job.meta);
    make_task();
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    hosts_free(fetch.hosts);
    arena_release(&job.arena);
    meta_update_release(&job.meta);
    buf_release(&trace);
    buf_release(&host);
    buf_release(&record);
    buf_release(&sighting);
    buf_release(&wanted);
    return 0;
}

/* ---- the budget ---- */

static void
options_are_read(void **state)
{
    (void)state;
    read_options((const char *const[]){"recrawl.enabled=no", "recrawl.first=2h",
                                       "recrawl.budget=7200", "recrawl.worth=30",
                                       "recrawl.least=7m", NULL});
    assert_int_equal(fetch.recrawl.confirm_ms, 4 * 7 * 60000);
    assert_true(fetch.recrawl.budget.patience == 30);
    assert_false(fetch.recrawl.on);
    assert_true(fetch.recrawl.first_seconds == 7200);
    assert_true(fetch.recrawl.budget.per_second == 2);
    assert_true(fetch.recrawl.budget.threshold_least == 30);
    assert_true(fetch.recrawl.budget.threshold >= 30);
}

/* Only visits that are scheduled are counted. */
static void
first_visits_need_no_budget(void **state)
{
    static const struct {
        uint8_t flags;
        uint64_t due_ms;
        bool recrawl;
    } cases[] = {
        {0, 0, true}, {0, 5, true}, {JOB_RECRAWL, 0, true}, {JOB_RECRAWL, 5, false}, {0, 5, false}};
    (void)state;
    read_options((const char *const[]){"recrawl.enabled=yes", "recrawl.budget=1", NULL});
    for (size_t i = 0; i < 100 * (sizeof cases / sizeof *cases); i++) {
        job.job.flags = cases[i / 100].flags;
        job.job.due_ms = cases[i / 100].due_ms;
        fetch.recrawl.on = cases[i / 100].recrawl;
        task_begin(&task);
        assert_trace("rules\n");
    }
}

/* Those that find the budget spent come again within as long once more, each at a time of its own.
 */
static void
visits_that_are_put_off_are_spread(void **state)
{
    double wait_ms = 0;
    (void)state;
    read_options((const char *const[]){"recrawl.enabled=yes", "recrawl.budget=1", NULL});
    job.job.flags = JOB_RECRAWL;
    job.job.due_ms = 5;
    for (int i = 0; i < 40; i++) {
        char uri[64];
        struct recrawl_budget budget = fetch.recrawl.budget;
        (void)recrawl_budget_take(&budget, (double)now_ms / 1000, &budget_wait);
        make_task();
        snprintf(uri, sizeof uri, "http://a.example/%d", i);
        job.job.uri = slice_string(uri);
        task_begin(&task);
        buf_reset(&trace);
        if (freed) {
            const double share = (double)(fingerprint64(job.job.uri) % 1000) / 1000;
            const double least_ms = (double)released_ms / (1 + share);
            wait_ms = wait_ms > 0 ? wait_ms : least_ms;
            assert_true(least_ms > wait_ms - 2 && least_ms < wait_ms + 2);
        }
        timer = NULL;
    }
    assert_true(wait_ms > 0);
}

static void
visits_again_wait_for_the_budget(void **state)
{
    unsigned at_once = 0, waited = 0, released = 0;
    (void)state;
    read_options((const char *const[]){"recrawl.enabled=yes", "recrawl.budget=3600", NULL});
    job.job.flags = JOB_RECRAWL;
    job.job.due_ms = 5;
    for (int i = 0; i < 60; i++) {
        make_task();
        struct recrawl_budget budget = fetch.recrawl.budget;
        (void)recrawl_budget_take(&budget, (double)now_ms / 1000, &budget_wait);
        task_begin(&task);
        if (freed) {
            assert_trace("release: recrawl.budget is spent\n");
            assert_in_range(released_ms, 1, 1000000);
            released++;
        } else if (timer != NULL) {
            assert_trace("wait\n");
            timer(&task);
            assert_trace("rules\n");
            timer = NULL;
            waited++;
            assert_int_equal(released, 0);
        } else {
            assert_trace("rules\n");
            at_once++;
            assert_int_equal(waited, 0);
        }
    }
    assert_int_equal(at_once, 1); /* one a second; thirty seconds are booked ahead */
    assert_in_range(waited, 29, 31);
    assert_int_equal(at_once + waited + released, 60);
}

/* ---- what is known ---- */

static void
what_is_known_goes_with_the_task(void **state)
{
    (void)state;
    set_number(&record, META_VISITED, now_ms - hour_ms);
    set_number(&record, META_VISITS, 1);
    set_number(&record, META_VISITS_CHANGED, 1);
    set_number(&record, META_FAILURES, 4);
    set_number(&record, META_RATE_CHANGES, 500);
    set_number(&record, META_RATE_SECONDS, 43200000);
    set_number(&record, META_GONE_SINCE, 77);
    set_text(&record, META_PAYLOAD_DIGEST, "sha256:1");
    set_text(&record, META_REDIRECT_TO, HOST "/new");
    set_text(&record, META_STATE, "indexed");
    set_number(&host, META_HOST_PERIOD, 1234);
    set_number(&host, META_FREQUENCY_HELD, 6);
    task.unverified = true;
    take_visit();
    assert_trace(""); /* one visit is not counted for the host */
    assert_int_equal(task.visit.visited_ms, now_ms - hour_ms);
    assert_int_equal(task.visit.gone_since_ms, 77);
    assert_true(slice_is(task.visit.digest, "sha256:1"));
    assert_true(slice_is(task.visit.redirect, HOST "/new"));
    assert_true(task.visit.content_stands && task.unverified);
    assert_true(task.visit.host_period == 1234);
    assert_true(task.visit.frequency_trust == 7.0 / 8);
    assert_int_equal(task.visit.document.failures, 4);
    assert_int_equal(task.visit.document.visits, 1);
    assert_int_equal(task.visit.document.changed, 1);
    assert_int_equal(task.visit.document.elapsed_ms, hour_ms);
    assert_int_equal(task.visit.document.changes_milli, 500);
    assert_int_equal(task.visit.document.seconds_milli, 43200000);
}

static void
of_the_new_only_the_host_is_known(void **state)
{
    (void)state;
    set_number(&host, META_HOST_PERIOD, 99);
    set_text(&sighting, META_SITEMAP_CHANGEFREQ, "daily");
    task.unverified = true;
    take_visit();
    assert_true(task.visit.host_period == 99);
    assert_true(task.visit.frequency_trust == 0.5);
    assert_int_equal(task.visit.visited_ms + task.visit.document.elapsed_ms +
                         task.visit.document.named_seconds,
                     0);
    assert_false(task.visit.content_stands);
    assert_true(task.unverified);
    assert_int_equal(task.visit.digest.length + task.visit.redirect.length, 0);
}

static void
what_has_its_place_is_verified(void **state)
{
    static const enum meta_field fields[] = {META_INDEXED, META_DUE};
    (void)state;
    for (int i = 0; i < 2; i++) {
        buf_reset(&record);
        set_number(&record, fields[i], 1);
        task.unverified = true;
        take_visit();
        assert_false(task.unverified);
    }
}

static void
states_tell_whether_content_stands(void **state)
{
    static const struct {
        const char *state;
        bool stands;
    } cases[] = {{"fetched", true}, {"unknown", true},     {"noindex", true},
                 {"broken", true},  {"indexed", true},     {"failed", false},
                 {"gone", false},   {"redirected", false}, {"denied", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_text(&record, META_STATE, cases[i].state);
        take_visit();
        assert_int_equal(task.visit.content_stands, cases[i].stands);
    }
}

static void
a_process_that_begins_takes_its_threshold(void **state)
{
    (void)state;
    set_number(&record, META_VISITS, 1); /* of a record that says nothing of it, none */
    take_visit();
    assert_false(fetch.recrawl.threshold_known);
    set_number(&record, META_WORTH_MS, 90000);
    take_visit();
    assert_true(fetch.recrawl.threshold_known);
    assert_true(fetch.recrawl.budget.threshold == 90);
    set_number(&record, META_WORTH_MS, 120000); /* the first one counts */
    take_visit();
    assert_true(fetch.recrawl.budget.threshold == 90);
    fetch.recrawl.threshold_known = false;
    set_number(&record, META_WORTH_MS, 1);
    take_visit();
    assert_true(fetch.recrawl.budget.threshold == 60);
}

/* The host's record is told this: the period, which a mean of logarithms may round down, and of how
 * many documents. */
static void
assert_period(uint64_t period, uint64_t documents)
{
    char text[100];
    unsigned long long told = 0;
    snprintf(text, sizeof text, "meta h" HOST " %d=%%llu", META_HOST_PERIOD);
    assert_int_equal(sscanf(trace.data, text, &told), 1);
    assert_in_range(told, period - 1, period);
    snprintf(text, sizeof text, " %d=%llu\n", META_HOST_DOCUMENTS, (unsigned long long)documents);
    assert_non_null(strstr(trace.data, text));
    buf_reset(&trace);
}

static void
changes_are_counted_for_the_host(void **state)
{
    (void)state;
    set_number(&record, META_VISITS, 2);
    set_number(&record, META_RATE_CHANGES, 1000);
    set_number(&record, META_RATE_SECONDS, 100000); /* one in 100 s */
    take_visit();
    assert_period(100, 1);
    set_number(&host, META_HOST_PERIOD, 999999); /* the mean is that of logarithms */
    set_number(&host, META_HOST_DOCUMENTS, 1);
    take_visit();
    assert_period(10000, 2);
    set_number(&host, META_HOST_DOCUMENTS, 199);
    take_visit();
    assert_period(954992, 200);
    set_number(&host, META_HOST_DOCUMENTS, 200);
    take_visit();
    assert_period(955211, 200);
    set_number(&record, META_RATE_SECONDS, 0); /* nothing is known */
    take_visit();
    assert_trace("");
    set_number(&record, META_RATE_SECONDS, 1000);
    set_number(&record, META_RATE_CHANGES, 0);
    take_visit();
    assert_trace("");
    set_number(&host, META_HOST_DOCUMENTS, 0);
    set_number(&record, META_RATE_SECONDS, 1); /* the least that can be known */
    set_number(&record, META_RATE_CHANGES, 1);
    take_visit();
    assert_period(1, 1);
    set_number(&record, META_RATE_SECONDS, 1000000000000000); /* the longest period is exp(25) */
    take_visit();
    assert_period(72004899337, 1);
}

/* Each word is counted beside those before, in a field of its own. */
static void
every_claim_has_its_count(void **state)
{
    static const struct {
        const char *word;
        enum meta_field field;
    } rows[] = {{"held", META_CLAIMS_HELD},
                {"broken", META_CLAIMS_BROKEN},
                {"unchanged held", META_UNCHANGED_HELD},
                {"unchanged broken", META_UNCHANGED_BROKEN},
                {"changefreq held", META_FREQUENCY_HELD},
                {"changefreq broken", META_FREQUENCY_BROKEN}};
    enum { ROWS = sizeof rows / sizeof *rows };
    (void)state;
    set_number(&record, META_VISITS, 2);
    set_number(&record, META_RATE_CHANGES, 1000);
    set_number(&record, META_RATE_SECONDS, 100000);
    for (size_t i = 0; i < ROWS; i++) {
        set_number(&host, rows[i].field, 10 * (i + 1));
    }
    for (size_t i = 0; i < ROWS; i++) {
        set_text(&record, META_CLAIM, rows[i].word);
        take_visit();
        for (size_t k = 0; k < ROWS; k++) {
            char text[40];
            snprintf(text, sizeof text, " %d=%zu", rows[k].field, 10 * (k + 1) + 1);
            assert_int_equal(strstr(trace.data, text) != NULL, i == k);
        }
        buf_reset(&trace);
    }
}

static void
claims_are_counted_for_the_host(void **state)
{
    char text[200];
    (void)state;
    set_number(&record, META_VISITS, 2);
    set_number(&record, META_RATE_CHANGES, 1000);
    set_number(&record, META_RATE_SECONDS, 100000);
    set_text(&record, META_CLAIM, "unchanged broken,changefreq held,other");
    set_number(&host, META_UNCHANGED_BROKEN, 6);
    set_number(&host, META_HOST_DOCUMENTS, 300);
    take_visit();
    snprintf(text, sizeof text, " %d=7", META_UNCHANGED_BROKEN);
    assert_non_null(strstr(trace.data, text));
    snprintf(text, sizeof text, " %d=1", META_FREQUENCY_HELD);
    assert_non_null(strstr(trace.data, text));
    snprintf(text, sizeof text, " %d=", META_CLAIMS_HELD);
    assert_null(strstr(trace.data, text));
    struct buf merged; /* and are told once */
    struct slice claim;
    buf_init(&merged, TRACE);
    (void)meta_merge(buf_slice(&record), meta_update_fields(&job.meta), &merged);
    assert_false(meta_record_text(buf_slice(&merged), META_CLAIM, &claim));
    buf_release(&merged);
    buf_reset(&trace);
}

static void
sitemaps_may_spare_a_visit(void **state)
{
    enum { SPARED_SAMPLE = 8, VISITS = 64 };
    unsigned spared = 0;
    (void)state;
    job.job.flags = JOB_RECRAWL;
    job.job.due_ms = 1;
    set_number(&record, META_VISITS, 1);
    set_number(&record, META_VISITED, now_ms - hour_ms);
    set_number(&sighting, META_SITEMAP_LASTMOD, now_ms - 100 * hour_ms);
    set_text(&sighting, META_SITEMAP_CHANGEFREQ, "hourly");
    set_number(&host, META_SITEMAP_READ, now_ms - hour_ms / 2);
    set_number(&host, META_UNCHANGED_HELD, 500);
    for (uint64_t i = 0; i < VISITS; i++) {
        job.job.generation = i;
        make_task();
        take_visit();
        assert_int_equal(task.visit.document.claimed, CLAIM_UNCHANGED);
        assert_int_equal(task.visit.document.named_seconds, 3600);
        assert_int_equal(task.visit.spared, recrawl_spares(500, 0, fingerprint64(job.job.uri) + i));
        spared += task.visit.spared;
    }
    assert_int_equal(spared, VISITS - VISITS / SPARED_SAMPLE);
    set_number(&host, META_UNCHANGED_BROKEN, 500); /* its word is not good */
    for (uint64_t i = 0; i < VISITS; i++) {
        job.job.generation = i;
        make_task();
        take_visit();
        assert_false(task.visit.spared);
    }
    set_number(&host, META_UNCHANGED_BROKEN, 0);
    job.job.due_ms = 0; /* somebody asked for it */
    for (uint64_t i = 0; i < VISITS; i++) {
        job.job.generation = i;
        make_task();
        take_visit();
        assert_false(task.visit.spared);
    }
    set_number(&host, META_SITEMAP_READ, now_ms - 2 * hour_ms); /* before the last visit */
    make_task();
    take_visit();
    assert_int_equal(task.visit.document.claimed, CLAIM_NONE);
    set_number(&host, META_SITEMAP_READ, now_ms - hour_ms / 2);
    set_number(&sighting, META_SITEMAP_LASTMOD, now_ms - hour_ms / 2); /* it has changed */
    make_task();
    take_visit();
    assert_int_equal(task.visit.document.claimed, CLAIM_NONE);
}

/* It is to have been read after the visit, and to tell of a change no later than that, of which it
 * says the minute. */
static void
sitemaps_are_compared_with_the_last_visit(void **state)
{
    const uint64_t visited_ms = now_ms - hour_ms, minute_ms = 60000;
    const struct {
        uint64_t modified_ms, read_ms;
        enum visit_claim claimed;
    } rows[] = {{visited_ms - minute_ms, visited_ms + 1, CLAIM_UNCHANGED},
                {visited_ms - minute_ms, visited_ms, CLAIM_NONE},
                {visited_ms - minute_ms + 1, visited_ms + 1, CLAIM_NONE}};
    (void)state;
    set_number(&record, META_VISITS, 1);
    set_number(&record, META_VISITED, visited_ms);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_number(&sighting, META_SITEMAP_LASTMOD, rows[i].modified_ms);
        set_number(&host, META_SITEMAP_READ, rows[i].read_ms);
        make_task();
        take_visit();
        assert_int_equal(task.visit.document.claimed, rows[i].claimed);
    }
}

/* Without a date a sitemap says nothing, and of what was never visited nothing is unchanged. */
static void
sitemaps_without_dates_claim_nothing(void **state)
{
    (void)state;
    set_number(&record, META_VISITS, 1);
    set_number(&record, META_VISITED, now_ms - hour_ms);
    set_text(&sighting, META_SITEMAP_CHANGEFREQ, "hourly");
    set_number(&host, META_SITEMAP_READ, now_ms - hour_ms / 2);
    take_visit();
    assert_int_equal(task.visit.document.claimed, CLAIM_NONE);
    set_number(&sighting, META_SITEMAP_LASTMOD, now_ms - 100 * hour_ms);
    set_number(&record, META_VISITS, 0);
    make_task();
    take_visit();
    assert_int_equal(task.visit.document.claimed, CLAIM_NONE);
    set_number(&record, META_VISITS, 1);
    set_number(&record, META_VISITED, 0);
    make_task();
    take_visit();
    assert_int_equal(task.visit.document.claimed, CLAIM_NONE);
    assert_int_equal(task.visit.document.elapsed_ms, 0);
    set_number(&record, META_VISITED, now_ms + hour_ms); /* by a clock that was set back since */
    make_task();
    take_visit();
    assert_int_equal(task.visit.document.elapsed_ms, 0);
}

static void
a_later_job_supersedes(void **state)
{
    (void)state;
    set_number(&record, META_GENERATION, 3);
    assert_false(task_is_superseded(&task, buf_slice(&record)));
    set_number(&record, META_GENERATION, 4);
    assert_true(task_is_superseded(&task, buf_slice(&record)));
    assert_false(task_is_superseded(&task, (struct slice){0}));
}

/* ---- what is learned ---- */

static void
learn(const char *header)
{
    const struct fetch_result result = {.end = FETCH_ANSWERED,
                                        .status = 200,
                                        .started_ms = now_ms,
                                        .response_header = slice_string(header)};
    task_learn(&task, &result);
}

static void
a_first_estimate_is_made(void **state)
{
    static const struct {
        double period, trust;
        const char *named, *header;
        uint64_t seconds; /* that a change takes */
    } cases[] = {
        {0, 0.5, "", "", 86400},
        {500, 0.5, "", "", 500},
        {1, 0.5, "", "", 1},
        {500, 0.5, "weekly", "", 604800},
        {500, 0.39, "weekly", "", 500}, /* whose word was bad */
        {500, 0.4, "weekly", "", 604800},
        {500, 0.5, "sometimes", "", 500},
        /* unchanged for two hours: half of it counts */
        {500, 0.5, "", "HTTP/1.1 200 OK\r\nLast-Modified: Tue, 14 Nov 2023 20:13:20 GMT\r\n\r\n",
         500 + 2 * 3600},
        {500, 0.5, "", "HTTP/1.1 200 OK\r\nLast-Modified: Tue, 14 Nov 2030 20:13:20 GMT\r\n\r\n",
         500},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_task();
        task.visit.host_period = cases[i].period;
        task.visit.frequency_trust = cases[i].trust;
        job.document.change_frequency = slice_string(cases[i].named);
        learn(cases[i].header);
        assert_int_equal(task.visit.document.changes_milli, 500);
        assert_int_equal(task.visit.document.seconds_milli, 500 * cases[i].seconds);
        assert_int_equal(task.visit.document.threshold_ms, 60000);
    }
    task.visit.document.changes_milli = 0; /* half an estimate is none */
    learn("");
    assert_int_equal(task.visit.document.changes_milli, 500);
    task.visit.document.seconds_milli = 0;
    learn("");
    assert_int_equal(task.visit.document.seconds_milli, 500 * 500);
    task.visit.document.seconds_milli = 1; /* a later one is left to who sees the change */
    learn("");
    assert_int_equal(task.visit.document.seconds_milli, 1);
    task.visit.document.changes_milli = 1;
    learn("");
    assert_int_equal(task.visit.document.changes_milli, 1);
}

static void
freshness_is_read(void **state)
{
    static const struct {
        const char *header;
        uint64_t seconds;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\nCache-Control: max-age=300\r\n\r\n", 300},
        {"HTTP/1.1 200 OK\r\nCache-Control: public, max-age=7, x\r\n\r\n", 7},
        {"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n\r\n", 0},
        {"HTTP/1.1 200 OK\r\nCache-Control: max-age=\r\n\r\n", 0},
        {"HTTP/1.1 200 OK\r\nCache-Control: max-age=99999999999999999999999\r\n\r\n", 86400},
        {"", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_task();
        learn(cases[i].header);
        assert_int_equal(task.visit.document.fresh_seconds, cases[i].seconds);
    }
}

static void
a_claim_of_a_change_is_noted(void **state)
{
    (void)state;
    job.document.claimed_ms = 5;
    learn("");
    assert_int_equal(task.visit.document.claimed, CLAIM_NONE); /* it was never visited */
    task.visit.document.visits = 1;
    learn("");
    assert_int_equal(task.visit.document.claimed, CLAIM_CHANGED);
    task.visit.document.claimed = CLAIM_NONE;
    job.document.claimed_ms = 0;
    learn("");
    assert_int_equal(task.visit.document.claimed, CLAIM_NONE); /* nobody claims any */
    job.document.claimed_ms = 1;
    learn("");
    assert_int_equal(task.visit.document.claimed, CLAIM_CHANGED);
}

static void
what_is_not_crawled_again_learns_nothing(void **state)
{
    (void)state;
    task.resource = true;
    learn("");
    assert_int_equal(task.visit.document.threshold_ms + task.visit.document.seconds_milli, 0);
    task.resource = false;
    fetch.recrawl.on = false;
    learn("");
    assert_int_equal(task.visit.document.threshold_ms + task.visit.document.seconds_milli, 0);
    task_schedule(&task);
    assert_trace("");
}

static void
ends_schedule_the_next_visit(void **state)
{
    static const struct {
        enum visit_outcome outcome;
        bool unverified, handed_on, sitemap, scheduled;
    } cases[] = {
        {VISIT_FAILED, false, false, false, true},   {VISIT_FAILED, true, false, false, false},
        {VISIT_GONE, true, false, false, false},     {VISIT_GONE, false, false, false, true},
        {VISIT_UNCHANGED, true, false, false, true}, {VISIT_UNCHANGED, false, true, false, false},
        {VISIT_UNCHANGED, false, false, true, true},
    };
    (void)state;
    job.job.data = SLICE("four");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[40] = "";
        make_task();
        task.end.visit = cases[i].outcome;
        task.unverified = cases[i].unverified;
        task.end.handed_on = cases[i].handed_on;
        sitemap = cases[i].sitemap;
        task_schedule(&task);
        if (cases[i].scheduled) {
            snprintf(text, sizeof text, "visit %d with %d\n", (int)cases[i].outcome,
                     sitemap ? 4 : 0);
        }
        assert_trace(text);
    }
}

/* ---- the two queues of a host ---- */

static void
fetch_of(const char *uri, uint8_t flags)
{
    job.job.uri = slice_string(uri);
    job.job.flags = flags;
    task_balance(&task);
}

static void
an_epoch(uint8_t flags)
{
    for (int i = 0; i < EPOCH; i++) {
        char uri[60];
        snprintf(uri, sizeof uri, HOST "/%s%d", flags != 0 ? "s" : "l", i);
        fetch_of(uri, i % 2 == 0 ? flags : 0);
    }
}

static void
answer(enum status status, const char *state)
{
    struct slice records[1 + 2 * SAMPLE] = {buf_slice(&host)};
    const struct reason why = {"no answer"};
    set_text(&record, META_STATE, state);
    set_number(&record, META_QUADS, 3);
    for (size_t i = 1; i < wanted_count; i++) {
        records[i] = buf_slice(&record);
    }
    got(got_context, status, records, wanted_count, &why);
}

static void
outcomes_are_looked_at_an_epoch_later(void **state)
{
    (void)state;
    job.job.generation = 1;
    task.sitemaps.mapped = task.report.asked = true;
    hosts_put(fetch.hosts, SLICE(HOST), HOST_OPEN, NULL, UINT64_MAX, NULL);
    an_epoch(JOB_SITEMAP);
    assert_trace("look\n");
    assert_string_equal(wanted.data, "h" HOST "\n"); /* nothing was fetched before */
    answer(STATUS_OK, "");
    buf_reset(&trace);
    an_epoch(JOB_SITEMAP);
    const unsigned size = hosts_find(fetch.hosts, SLICE(HOST), 0)->balance->size;
    assert_int_equal(wanted_count, 1 + 2 * size);
    assert_non_null(strstr(wanted.data, "u" HOST "/s38\n"));
    assert_non_null(strstr(wanted.data, "u" HOST "/s39\n"));
    assert_null(strstr(wanted.data, "u" HOST "/s0\n")); /* the last ones */
    buf_reset(&trace);
    answer(STATUS_OK, "indexed");
    const struct balance *balance = hosts_find(fetch.hosts, SLICE(HOST), 0)->balance;
    assert_true(balance->pending);
    assert_int_equal(balance->sampled[BALANCE_SITEMAP], size);
    assert_int_equal(balance->sampled[BALANCE_LINK], size);
    assert_int_equal(balance->useful[BALANCE_LINK], size);
    fetch_of(HOST "/next", 0);
    char text[200];
    const unsigned share = queue_balance_share(&balance->queues);
    snprintf(text, sizeof text, "share %u\nmeta h" HOST " %d=%u %d=%u %d=%u %d=%u %d=%u\n", share,
             META_SITEMAP_SAMPLED, size, META_SITEMAP_USEFUL, size, META_LINK_SAMPLED, size,
             META_LINK_USEFUL, size, META_SITEMAP_SHARE, share);
    assert_trace(text);
    fetch_of(HOST "/after", 0);
    assert_trace(""); /* it is told once */
}

/* A record that cannot be read, or a host that was forgotten meanwhile, changes nothing. */
static void
what_cannot_be_looked_at_is_left(void **state)
{
    (void)state;
    job.job.generation = 1;
    task.sitemaps.mapped = task.report.asked = true;
    hosts_put(fetch.hosts, SLICE(HOST), HOST_OPEN, NULL, UINT64_MAX, NULL);
    an_epoch(JOB_SITEMAP);
    answer(STATUS_SYSTEM, "indexed");
    assert_false(hosts_find(fetch.hosts, SLICE(HOST), 0)->balance->known);
    an_epoch(JOB_SITEMAP);
    hosts_free(fetch.hosts);
    fetch.hosts = hosts_new(4);
    answer(STATUS_OK, "indexed");
    buf_reset(&trace);
    fetch_of(HOST "/next", 0); /* nobody knows the host */
    assert_trace("");
}

static void
only_pages_of_mapped_hosts_are_counted(void **state)
{
    (void)state;
    hosts_put(fetch.hosts, SLICE(HOST), HOST_OPEN, NULL, UINT64_MAX, NULL);
    for (int i = 0; i < 5; i++) {
        make_task();
        task.sitemaps.mapped = i != 0;
        task.resource = i == 1;
        sitemap = i == 2;
        task.report.asked = i != 3;
        job.job.generation = i == 4 ? 2 : 1;
        fetch_of(PAGE, 0);
        assert_null(hosts_find(fetch.hosts, SLICE(HOST), 0)->balance);
    }
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(options_are_read),
        CASE(first_visits_need_no_budget),
        CASE(visits_that_are_put_off_are_spread),
        CASE(visits_again_wait_for_the_budget),
        CASE(what_is_known_goes_with_the_task),
        CASE(of_the_new_only_the_host_is_known),
        CASE(what_has_its_place_is_verified),
        CASE(states_tell_whether_content_stands),
        CASE(a_process_that_begins_takes_its_threshold),
        CASE(changes_are_counted_for_the_host),
        CASE(every_claim_has_its_count),
        CASE(claims_are_counted_for_the_host),
        CASE(sitemaps_may_spare_a_visit),
        CASE(sitemaps_are_compared_with_the_last_visit),
        CASE(sitemaps_without_dates_claim_nothing),
        CASE(a_later_job_supersedes),
        CASE(a_first_estimate_is_made),
        CASE(freshness_is_read),
        CASE(a_claim_of_a_change_is_noted),
        CASE(what_is_not_crawled_again_learns_nothing),
        CASE(ends_schedule_the_next_visit),
        CASE(outcomes_are_looked_at_an_epoch_later),
        CASE(what_cannot_be_looked_at_is_left),
        CASE(only_pages_of_mapped_hosts_are_counted),
    };
    return cmocka_run_group_tests_name("visit", tests, NULL, NULL);
}
