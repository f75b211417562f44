/* These tests are of what each end of a document's GET comes to (stages/fetch/page.c): what is
 * archived, what is told of the document and of the host, what is handed on, what is tried again.
 * The request, sitemaps and the skeleton are stood in for; the archive is real. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "stages/fetch/datasets/dataset_tasks.h"
#include "stages/fetch/fetch_steps.h"
#include "stages/fetch/task/download.h"
#include "tests/unit/stages_work/stage_steps.h"

#define HOST "http://a.example"
#define PAGE HOST "/page"
#define HEADER "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nLink: </n>\r\n\r\n"
enum { STARTED_MS = 4000, RETRY_MS = 100, RETRY_MOST_MS = 1000, ATTEMPTS = 3, TEXT = 1 << 10 };

static struct fetch fetch;
static struct task *task;
static struct job job;
static struct document known; /* the job's document */
static enum task_kind kind;
static bool sitemap, guess, is_void;
static uint32_t host_failures;
static size_t noted_flow;
static uint64_t address;
static enum status write_status;

/* ---- in the place of the rest of fetch ---- */

enum task_kind
task_kind(struct slice uri)
{
    (void)uri;
    return kind;
}

void
download_free(struct download *download)
{
    assert_null(download);
    task = NULL; /* the first step of freeing it */
}

bool
task_is_sitemap(const struct task *one)
{
    (void)one;
    return sitemap;
}

bool
task_is_guess(const struct task *one)
{
    (void)one;
    return guess;
}

bool
task_is_void(const struct task *one)
{
    (void)one;
    return is_void;
}

void
task_note_flow(const struct task *one, const struct fetch_result *result)
{
    assert_ptr_equal(one, task);
    noted_flow += result->body.length;
}

struct pace *
task_pace(const struct task *one)
{
    static struct pace pace;
    (void)one;
    pace.failures = host_failures;
    return &pace;
}

void
task_report_host(struct task *one)
{
    const struct host_report *report = &one->report;
    if (report->words != 0) {
        buf_printf(&steps.trace, "host %u %.*s\n", report->words, SLICE_PRINT(report->cause));
    }
    if (report->asked) {
        buf_printf(&steps.trace, "rest %llu of %llu\n",
                   (unsigned long long)(report->rest_ms > 700 ? report->rest_ms : 700),
                   (unsigned long long)report->address);
    }
}

#define TELLS(name, text)                      \
    void name(struct task *one)                \
    {                                          \
        assert_ptr_equal(one, task);           \
        buf_append_string(&steps.trace, text); \
    }
TELLS(task_note_reading, "sitemap read\n")
TELLS(task_put_plan, "plan\n")
TELLS(task_ask_void, "ask void\n")
TELLS(task_put_refused_sitemaps, "refused sitemaps\n")
TELLS(task_download, "download\n")
TELLS(task_harvest, "harvest\n")

/* These two are told by how often they were called. */
static unsigned balanced, first_links;

void
task_balance(struct task *one)
{
    assert_ptr_equal(one, task);
    balanced++;
}

void
task_note_first_link(struct task *one)
{
    assert_ptr_equal(one, task);
    first_links++;
}

void
task_note_guess(struct task *one, const char *outcome)
{
    assert_ptr_equal(one, task);
    buf_printf(&steps.trace, "guess: %s\n", outcome);
}

void
task_queue_sitemaps(struct task *one, bool good)
{
    assert_ptr_equal(one, task);
    buf_append_string(&steps.trace, good ? "sitemaps\n" : "");
}

void
task_learn(struct task *one, const struct fetch_result *result)
{
    assert_ptr_equal(one, task);
    assert_non_null(result);
    buf_append_string(&steps.trace, "learn\n");
}

void
task_schedule(struct task *one)
{
    static const char *const words[] = {
        [VISIT_CHANGED] = "changed",         [VISIT_UNCHANGED] = "unchanged",
        [VISIT_NOTHING] = "nothing",         [VISIT_FAILED] = "failed",
        [VISIT_GONE_MAYBE] = "perhaps gone", [VISIT_GONE] = "gone",
    };
    assert_ptr_equal(one, task);
    buf_printf(&steps.trace, "visit %s%s\n", words[one->end.visit],
               one->end.handed_on ? " by others" : "");
}

/* Its entries become outputs, then it ends. */
void
task_follow_sitemap(struct task *one, const struct fetch_result *result)
{
    assert_ptr_equal(one, task);
    buf_printf(&steps.trace, "follow %zu\n", result->body.length);
    task_done(one, "fetched", result->problem);
}

void
task_note_end(struct task *one, const struct fetch_result *result)
{
    assert_ptr_equal(one, task);
    one->report.asked = true;
    one->report.address = address;
    (void)result;
}

void
task_turn_back(struct task *one, uint64_t of)
{
    assert_ptr_equal(one, task);
    buf_printf(&steps.trace, "turn back %llu\n", (unsigned long long)of);
    task_free(one);
}

void
task_put_host(struct task *one, struct slice origin, const struct meta_update *update)
{
    assert_ptr_equal(one, task);
    uint64_t until_ms = 0;
    struct buf record;
    buf_init(&record, 1 << 16);
    (void)meta_merge((struct slice){0}, meta_update_fields(update), &record);
    (void)meta_record_number(buf_slice(&record), META_ROBOTS_EXPIRES, &until_ms);
    assert_int_equal(until_ms, steps.now_ms);
    buf_release(&record);
    buf_printf(&steps.trace, "rules of %.*s again\n", SLICE_PRINT(origin));
}

static struct fetch_request asked;

void
task_ask(struct task *one, const struct fetch_request *request)
{
    assert_ptr_equal(one, task);
    asked = *request;
}

/* ---- before the archive ---- */

enum status __real_warc_write_exchange(struct warc_writer *writer,
                                       const struct warc_exchange *exchange,
                                       struct warc_location *location, struct reason *why);
STAND_IN(enum status, warc_write_exchange,
         (struct warc_writer * writer, const struct warc_exchange *exchange,
          struct warc_location *location, struct reason *why))
{
    buf_printf(&steps.trace, "archive %zu%s%.*s\n", exchange->body.length,
               exchange->truncated.length > 0 ? " cut by " : "", SLICE_PRINT(exchange->truncated));
    return write_status == STATUS_OK ? __real_warc_write_exchange(writer, exchange, location, why)
                                     : status_fail(why, write_status, "no room");
}

/* ---- steps ---- */

static int
set_up(void **state)
{
    struct warc_writer_options options = {0};
    struct reason why = {""};
    (void)state;
    steps_prepare(NULL, (const char *const[]){"scope.hosts=a.example b.example", NULL});
    fetch = (struct fetch){.node = "here",
                           .host_delays = host_delays_new(),
                           .hosts = hosts_new(4),
                           .retry_ms = RETRY_MS,
                           .attempts = ATTEMPTS,
                           .robots.obeyed = true,
                           .recrawl = {.on = true, .confirm_ms = 1},
                           .pace_rules = {.backoff_ms = 50, .retry_after_most_ms = RETRY_MOST_MS}};
    warc_writer_options_from(&options, steps.options);
    options.node = "here";
    options.process = "fetch.1";
    assert_int_equal(warc_writer_open(&fetch.warc, steps.directory, &options, &why), STATUS_OK);
    assert_int_equal(scope_open(&fetch.scope, steps.options, steps.directory, &why), STATUS_OK);
    assert_int_equal(url_rules_open(&fetch.url_rules, steps.options, &why), STATUS_OK);
    job = (struct job){.key.stage = STAGE_FETCH,
                       .uri = SLICE(PAGE),
                       .via = SLICE("http://b.example/"),
                       .priority = 128,
                       .attempt = 1,
                       .generation = 1,
                       .depth = 2};
    known = (struct document){0};
    kind = TASK_PAGE;
    sitemap = guess = is_void = false;
    host_failures = balanced = first_links = 0;
    address = 5;
    write_status = STATUS_OK;
    return 0;
}

static int
tear_down(void **state)
{
    struct reason why = {""};
    (void)state;
    assert_null(task);
    url_rules_close(&fetch.url_rules);
    scope_close(fetch.scope);
    host_delays_free(fetch.host_delays);
    hosts_free(fetch.hosts);
    assert_int_equal(warc_writer_close(fetch.warc, &why), STATUS_OK);
    steps_end();
    return 0;
}

static void
begin(void)
{
    steps_take(&job, &known);
    task = memory_new(sizeof *task);
    task->fetch = &fetch;
    task->job = &steps.job;
    task->origin = SLICE(HOST);
    task->url = SLICE(PAGE);
    task->end.visit = VISIT_FAILED;
    host_delays_join(fetch.host_delays, digest_local(SLICE(HOST)), &(struct pace){0}, 0);
}

static void
finish(const struct fetch_result *result)
{
    task_get(task);
    assert_true(slice_is(asked.url, PAGE));
    asked.done(asked.context, result);
}

static const struct fetch_result good = {
    .end = FETCH_ANSWERED,
    .status = 200,
    .request = {"GET /page HTTP/1.1\r\n\r\n", 22},
    .response_header = {HEADER, sizeof HEADER - 1},
    .body = {"hello", 5},
    .ip = {"192.0.2.1", 9},
    .started_ms = STARTED_MS,
    .milliseconds = 12,
    .problem = "",
};

static void
finish_with(uint16_t status, const char *header, const char *body)
{
    struct fetch_result result = good;
    result.status = status;
    result.response_header = slice_string(header);
    result.body = slice_string(body);
    finish(&result);
}

static void
fail_with(enum fetch_end end, const char *problem)
{
    struct fetch_result result = good;
    result.end = end;
    result.problem = problem;
    result.address = 9;
    finish(&result);
}

#define REST "rest 700 of 5\n"
#define FAILED(by) "counts as " by "\nvisit failed\nyield 0\n" REST "done\n"

/* ---- documents ---- */

static void
a_document_is_archived_noted_and_handed_on(void **state)
{
    (void)state;
    begin();
    task->sitemaps.mapped = true;
    task->report.words = HOST_ANSWERED;
    finish(&good);
    assert_trace("archive 5\nlearn\nnext detect\nfollow 5\ncounts as fetched\nsitemaps\n"
                 "visit nothing by others\nhost 1 \n" REST "done\n");
    assert_int_equal(steps.next.http_status, 200);
    assert_true(slice_is(steps.next.content_type, "text/html; charset=utf-8"));
    assert_true(slice_is(steps.next.charset, "utf-8"));
    assert_true(slice_is(steps.next.link_header, "</n>"));
    assert_true(slice_is(steps.next.response.node, "here"));
    assert_int_equal(steps.next.fetched_ms, STARTED_MS);
    assert_true(steps.next.mapped);
    assert_text(META_STATE, "fetched");
    assert_text(META_REASON, "");
    assert_number(META_DEPTH, 2);
    assert_text(META_VIA, "http://b.example/");
    assert_text(META_REDIRECT_FROM, "");
    assert_number(META_HTTP_STATUS, 200);
    assert_text(META_HTTP_VERSION, "HTTP/1.1");
    assert_text(META_RESPONSE_HEADERS, HEADER);
    assert_text(META_IP, "192.0.2.1");
    assert_number(META_PAYLOAD_BYTES, 5);
    assert_text(META_PAYLOAD_DIGEST,
                "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    assert_text(META_WARC_NODE, "here");
    assert_number(META_WARC_OFFSET, steps.next.response.offset);
    assert_number(META_WARC_LENGTH, steps.next.response.length);
    assert_number(META_GENERATION, 1);
    assert_int_equal(balanced, 1);
    assert_int_equal(first_links, 1);
    struct buf record;
    struct slice file = {0}, id = {0};
    buf_init(&record, 1 << 20);
    (void)meta_merge((struct slice){0}, meta_update_fields(&steps.job.meta), &record);
    (void)meta_record_text(buf_slice(&record), META_WARC_FILE, &file);
    (void)meta_record_text(buf_slice(&record), META_WARC_RECORD_ID, &id);
    assert_true(file.length > 0 && slice_equal(file, steps.next.response.file));
    assert_true(slice_starts(id, SLICE("<urn:uuid:")) || slice_starts(id, SLICE("urn:uuid:")));
    buf_release(&record);
}

/* What the record had of another time: where it redirected to, and which dump it came out of, which
 * it does no more when it was asked for again. */
static void
what_was_said_before_ends(void **state)
{
    static const enum meta_field fields[] = {META_REDIRECT_TO, META_DUMP, META_SLICING};
    static const uint16_t statuses[] = {200, 304, 301};
    (void)state;
    for (unsigned generation = 1; generation <= 2; generation++) {
        struct meta_update before;
        struct buf old, record;
        meta_update_init(&before);
        buf_init(&old, 1 << 20);
        buf_init(&record, 1 << 20);
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            meta_set_text(&before, fields[i], SLICE("before"));
        }
        (void)meta_merge((struct slice){0}, meta_update_fields(&before), &old);
        job.generation = generation;
        begin();
        finish(&good);
        (void)meta_merge(buf_slice(&old), meta_update_fields(&steps.job.meta), &record);
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            struct slice text = {0};
            (void)meta_record_text(buf_slice(&record), fields[i], &text);
            assert_int_equal(text.length > 0, generation == 1 && i > 0);
        }
        meta_update_release(&before);
        buf_release(&old);
        buf_release(&record);
    }
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) { /* it is not gone any more */
        struct meta_update before;
        struct buf old, record;
        uint64_t since_ms = 0;
        meta_update_init(&before);
        buf_init(&old, 1 << 20);
        buf_init(&record, 1 << 20);
        meta_set_number(&before, META_GONE_SINCE, STARTED_MS - 1);
        (void)meta_merge((struct slice){0}, meta_update_fields(&before), &old);
        begin();
        finish_with(statuses[i], "HTTP/1.1 200 x\r\nLocation: /new\r\n\r\n", "");
        (void)meta_merge(buf_slice(&old), meta_update_fields(&steps.job.meta), &record);
        assert_false(meta_record_number(buf_slice(&record), META_GONE_SINCE, &since_ms));
        meta_update_release(&before);
        buf_release(&old);
        buf_release(&record);
    }
    buf_reset(&steps.trace);
}

/* All that the response says of itself is kept, and of FTP what that has. */
static void
responses_are_noted_as_they_are(void **state)
{
    static const char header[] = "HTTP/2 203 Mostly\r\nETag: \"e\"\r\nLast-Modified: yesterday\r\n"
                                 "Content-Type: text/plain\r\n\r\n";
    (void)state;
    begin();
    finish_with(203, header, "hello");
    assert_number(META_HTTP_STATUS, 203);
    assert_text(META_HTTP_VERSION, "HTTP/2");
    assert_text(META_ETAG, "\"e\"");
    assert_text(META_LAST_MODIFIED, "yesterday");
    assert_text(META_CONTENT_TYPE, "text/plain");
    assert_text(META_RESPONSE_HEADERS, header);
    assert_text(META_REQUEST_HEADERS, "GET /page HTTP/1.1\r\n\r\n");
    assert_text(META_TRUNCATED, "");
    assert_text(META_REDIRECT_TO, "");
    assert_number(META_FETCHED, STARTED_MS);
    assert_number(META_FETCH_MS, 12);
    assert_number(META_FTP_REPLY, UINT64_MAX);
    begin();
    struct fetch_result result = good;
    result.reply = 226;
    result.status = 0;
    finish(&result);
    assert_number(META_FTP_REPLY, 226);
    assert_number(META_HTTP_STATUS, UINT64_MAX);
    assert_text(META_REQUEST_HEADERS, "");
    buf_reset(&steps.trace);
}

static void
its_beginning_is_kept_of_what_is_too_long(void **state)
{
    (void)state;
    begin();
    fail_with(FETCH_CUT_LENGTH, "too long");
    assert_trace("archive 5 cut by length\nlearn\nnext detect\nfollow 5\ncounts as fetched\n"
                 "sitemaps\nvisit nothing by others\n" REST "done\n");
    assert_text(META_TRUNCATED, "length");
    begin();
    task->resource = true; /* of which a part is of no use */
    fail_with(FETCH_CUT_LENGTH, "too long");
    assert_trace("archive 5 cut by length\nlearn\ncounts as beside\nvisit nothing\nyield 0\n" REST
                 "done\n");
    assert_text(META_STATE, "failed");
    assert_number(META_FETCHED, steps.now_ms);
}

static void
an_empty_answer_empties_the_graph(void **state)
{
    (void)state;
    begin();
    finish_with(204, HEADER, "");
    assert_trace("archive 0\nlearn\ncounts as fetched\nsitemaps\nvisit nothing\n" REST "done\n");
    assert_text(META_REASON, "the response has no body");
    job.generation = 2;
    begin();
    finish_with(204, HEADER, "");
    assert_trace("archive 0\nlearn\nnext index\ncounts as fetched\nsitemaps\nvisit nothing\n" REST
                 "done\n");
    assert_true(steps.next.removed);
    assert_int_equal(steps.next.http_status, 204);
}

static void
sitemaps_change_with_their_bytes(void **state)
{
    (void)state;
    sitemap = true;
    for (int round = 0; round < 2; round++) {
        begin();
        task->visit.digest = round == 0
                                 ? SLICE("sha256:0")
                                 : SLICE("sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e7"
                                         "3043362938b9824");
        finish(&good);
        assert_trace(round == 0
                         ? "archive 5\nlearn\nnext detect\nfollow 5\ncounts as beside\nsitemaps\n"
                           "visit changed\n" REST "done\n"
                         : "archive 5\nlearn\nnext detect\nfollow 5\ncounts as beside\nsitemaps\n"
                           "visit unchanged\n" REST "done\n");
    }
}

static void
descriptions_are_asked_for(void **state)
{
    static const char turtle[] = "HTTP/1.1 200 OK\r\nContent-Type: text/turtle;x=y\r\n\r\n";
    static const struct {
        bool plan, all, rdf, is_void;
        const char *header;
        bool asks;
        const char *rest;
    } cases[] = {
        {true, true, false, false, HEADER, true, REST},
        {true, false, true, false, HEADER, false, REST},
        {true, false, true, false, turtle, true, REST},
        {false, true, true, true, turtle, false, REST},
        {true, false, false, true, turtle, false, "rest 1500 of 5\n"}, /* the plan comes first */
        {true, false, false, true, HEADER, false, REST},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[TEXT];
        fetch.datasets.plan = cases[i].plan;
        fetch.datasets.void_all = cases[i].all;
        fetch.datasets.void_rdf = cases[i].rdf;
        is_void = cases[i].is_void;
        begin();
        finish_with(200, cases[i].header, "a");
        snprintf(wanted, sizeof wanted,
                 "archive 1\nlearn\nnext detect\n%sfollow 1\ncounts as fetched\nsitemaps\n"
                 "visit nothing by others\n%sdone\n",
                 cases[i].asks ? "ask void\n" : "", cases[i].rest);
        assert_trace(wanted);
    }
}

static void
without_an_archive_nothing_is_said(void **state)
{
    static const uint16_t statuses[] = {200, 301, 404, 403};
    (void)state;
    write_status = STATUS_FULL;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        begin();
        finish_with(statuses[i], HEADER, "a");
        assert_trace("archive 1\nrelease 10000: no room\n");
        assert_text(META_STATE, "");
    }
    job.attempt = ATTEMPTS;
    begin();
    fail_with(FETCH_CUT_CONNECTION, "cut");
    assert_trace("archive 5 cut by disconnect\nrelease 10000: no room\n");
}

/* ---- other answers ---- */

static void
redirects_lead_on(void **state)
{
#define TO(target) "HTTP/1.1 301 x\r\nLocation: " target "\r\n\r\n"
#define MOVED "archive 0\nlearn\n"
    static const struct {
        const char *header, *trace, *reason;
        uint8_t hops;
    } cases[] = {
        {TO("/new"),
         "put fetch " HOST "/new lane " HOST " via " PAGE
         " priority 128 flags 0 depth 2 hops 4\ncounts as redirected\nvisit changed\n" REST
         "done\n",
         "", 3},
        {TO("http://other.example/"),
         "counts as redirected_out_of_scope\nvisit changed\n" REST "done\n", NULL, 3},
        {TO("page"), FAILED("failed_answer"), "redirects to itself", 3},
        {"HTTP/1.1 301 x\r\n\r\n", FAILED("failed_answer"),
         "redirect without a target: no Location header", 3},
        {TO("/new"), FAILED("failed_answer"), "more redirects than ten", 10},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[TEXT];
        job.hops = cases[i].hops;
        begin();
        finish_with(301, cases[i].header, "");
        snprintf(wanted, sizeof wanted, MOVED "%s", cases[i].trace);
        assert_trace(wanted);
        if (cases[i].reason != NULL) {
            assert_text(META_REASON, cases[i].reason);
        }
        assert_text(META_REDIRECT_FROM, "http://b.example/");
    }
    job.hops = 0;
    job.flags = JOB_SEED | JOB_RECRAWL; /* the target is no recrawl for that */
    begin();
    task->visit.redirect = SLICE(HOST "/new");
    finish_with(302, TO("/new"), "");
    assert_trace(MOVED "next index\nput fetch " HOST "/new lane " HOST " via " PAGE
                       " priority 128 flags 4 depth 2 hops 1\ncounts as redirected\n"
                       "visit unchanged\n" REST "done\n");
    assert_text(META_REDIRECT_TO, HOST "/new");
    begin();
    task->resource = true; /* goes where it is sent */
    finish_with(302, TO("http://other.example/c"), "");
    assert_trace(MOVED
                 "put fetch http://other.example/c#resource lane http://other.example via " PAGE
                 " priority 128 flags 4 depth 2 hops 1\ncounts as beside\n"
                 "visit changed\n" REST "done\n");
}

static void
what_is_not_modified_stays(void **state)
{
    (void)state;
    begin();
    task->visit.content_stands = true;
    finish_with(304, HEADER, "");
    assert_trace("learn\ncounts as not_modified\nsitemaps\nvisit unchanged\n" REST "done\n");
    assert_text(META_STATE, ""); /* that of the content goes on */
    assert_number(META_HTTP_STATUS, 304);
    assert_number(META_WARC_OFFSET, UINT64_MAX);
    assert_number(META_FETCHED, STARTED_MS);
    assert_number(META_FETCH_MS, 12);
    for (int i = 0; i < 2; i++) { /* a plan is for what describes, where plans are made */
        begin();
        fetch.datasets.plan = i == 0;
        task->before.describes = i == 1;
        finish_with(304, HEADER, "");
        assert_trace("learn\ncounts as not_modified\nsitemaps\nvisit unchanged\n" REST "done\n");
    }
    begin();
    sitemap = true;
    fetch.datasets.plan = task->before.describes = true;
    finish_with(304, HEADER, "");
    assert_trace("sitemap read\nlearn\nplan\ncounts as beside\nsitemaps\nvisit unchanged\n" REST
                 "done\n");
    assert_text(META_STATE, "fetched");
}

static void
what_is_gone_is_confirmed(void **state)
{
    static const struct {
        bool recrawl, visited, known;
        const char *trace;
    } cases[] = {
        {true, true, false, "archive 0\ncounts as none\nvisit perhaps gone\n" REST "done\n"},
        {true, true, true,
         "archive 0\nnext index\ncounts as gone\nvisit gone\nyield 0\n" REST "done\n"},
        {true, false, false,
         "archive 0\nnext index\ncounts as gone\nvisit gone\nyield 0\n" REST "done\n"},
        {false, true, false,
         "archive 0\nnext index\ncounts as gone\nvisit gone\nyield 0\n" REST "done\n"},
    };
    char time[CLOCK_TEXT_SIZE], attempt[TEXT];
    (void)state;
    clock_text(steps.now_ms, 1, time);
    snprintf(attempt, sizeof attempt, "%s fetch 404 or 410, to be confirmed\n", time);
    job.generation = 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fetch.recrawl.on = cases[i].recrawl;
        begin();
        task->visit.visited_ms = cases[i].visited ? 7 : 0;
        task->visit.gone_since_ms = cases[i].known ? 8 : 0;
        finish_with(i % 2 == 0 ? 404 : 410, HEADER, "");
        assert_trace(cases[i].trace);
        assert_number(META_GONE_SINCE, cases[i].known ? UINT64_MAX : STARTED_MS);
        assert_text(META_STATE, i == 0 ? "" : "gone");
        assert_text(META_ATTEMPTS, i == 0 ? attempt : "");
    }
    fetch.recrawl.on = true;
    fetch.recrawl.confirm_ms = 0; /* nothing is to be confirmed */
    begin();
    task->visit.visited_ms = 7;
    finish_with(404, HEADER, "");
    assert_trace(cases[1].trace);
    assert_text(META_STATE, "gone");
}

static void
servers_in_trouble_are_tried_again(void **state)
{
    static const uint16_t statuses[] = {408, 425, 429, 500, 503};
    char wanted[TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        job.attempt = 2;
        begin();
        finish_with(statuses[i], HEADER, "");
        snprintf(wanted, sizeof wanted, REST "release 200 counted: the server answered %u\n",
                 statuses[i]);
        assert_trace(wanted);
        job.attempt = ATTEMPTS;
        begin();
        finish_with(statuses[i], HEADER, "");
        assert_trace("archive 0\n" FAILED("failed_status"));
        snprintf(wanted, sizeof wanted, "the server answered %u", statuses[i]);
        assert_text(META_REASON, wanted);
        assert_number(META_HTTP_STATUS, statuses[i]);
    }
    job.attempt = 1;
    begin();
    task->unverified = true; /* one try is all */
    finish_with(503, HEADER, "");
    assert_trace("archive 0\n" FAILED("failed_status"));
    struct fetch_result result = good;
    result.status = 429;
    result.retry_after_ms = 800;
    begin();
    finish(&result);
    assert_trace(REST "release 800 counted: the server answered 429\n");
    result.retry_after_ms = 5000;
    begin();
    finish(&result);
    assert_trace(REST "release 1000 counted: the server answered 429\n");
    begin();
    finish_with(403, HEADER, "");
    assert_trace("archive 0\n" FAILED("failed_status"));
}

static void
guesses_leave_no_state(void **state)
{
    (void)state;
    guess = true;
    begin();
    finish_with(404, HEADER, "");
    assert_trace("archive 0\nguess: gone\ncounts as beside\nvisit gone\n" REST "done\n");
    assert_text(META_STATE, "");
    begin();
    finish_with(403, HEADER, "");
    assert_trace("archive 0\nguess: the server answered 403\ncounts as beside\nvisit failed\n" REST
                 "done\n");
}

/* ---- no answer ---- */

static void
what_is_cut_is_tried_again(void **state)
{
    struct fetch_result result = good;
    (void)state;
    noted_flow = 0;
    begin();
    fail_with(FETCH_CUT_TIME, "too slow");
    assert_trace(REST "release 100 counted: too slow\n");
    begin();
    task->asked.since_ms = clock_monotonic_ms() - 100000; /* so long it was waited for */
    fail_with(FETCH_CUT_TIME, "too slow");
    assert_trace(REST "release 0 counted: too slow\n");
    assert_number(META_DEPTH, 2); /* what every end says */
    enum { LONG_MS = 1 << 28, AGE_MS = 1 << 27 };
    fetch.retry_ms = fetch.pace_rules.retry_after_most_ms = LONG_MS; /* more than any test takes */
    begin();
    task->asked.since_ms = clock_monotonic_ms() - AGE_MS;
    fail_with(FETCH_CUT_TIME, "too slow");
    assert_true(slice_starts(buf_slice(&steps.trace), SLICE(REST "release ")));
    const uint64_t delay_ms = strtoull(steps.trace.data + strlen(REST "release "), NULL, 10);
    assert_in_range(delay_ms, 1, LONG_MS - AGE_MS);
    buf_reset(&steps.trace);
    fetch.retry_ms = RETRY_MS;
    fetch.pace_rules.retry_after_most_ms = RETRY_MOST_MS;
    result.end = FETCH_CUT_TIME;
    result.flowing = true; /* without end */
    result.problem = "too slow";
    assert_int_equal(noted_flow, 0); /* those before did not flow */
    begin();
    finish(&result);
    assert_trace(REST "release 100 counted: too slow\n");
    assert_int_equal(noted_flow, 5);
    job.attempt = 2;
    begin();
    finish(&result);
    assert_int_equal(noted_flow, 5);
    assert_trace("archive 5 cut by time\n" REST "bury: too slow\n");
    assert_text(META_STATE, "failed");
    assert_text(META_TRUNCATED, "time");
    assert_text(META_ATTEMPTS, "1970-01-01T00:16:40.000Z fetch too slow\n");
    job.attempt = ATTEMPTS;
    begin();
    fail_with(FETCH_CUT_CONNECTION, "cut");
    assert_trace("archive 5 cut by disconnect\n" FAILED("failed_silence"));
    begin();
    task->unverified = true; /* a stranger's is not buried */
    fail_with(FETCH_REFUSED_HEADER, "a header without end");
    assert_trace(FAILED("failed_answer"));
    begin();
    fail_with(FETCH_REFUSED_HEADER, "a header without end");
    assert_trace(REST "bury: a header without end\n");
}

static void
delays_double_with_each_attempt(void **state)
{
    static const struct {
        uint32_t attempt;
        unsigned long delay_ms;
    } cases[] = {{0, 1}, {1, 1}, {2, 2}, {3, 4}, {19, 1 << 18}, {20, 1 << 20}, {21, 1 << 20}};
    (void)state;
    fetch.attempts = 100;
    fetch.retry_ms = 1;
    fetch.pace_rules.retry_after_most_ms = 1 << 30;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[TEXT];
        job.attempt = cases[i].attempt;
        begin();
        fail_with(FETCH_CUT_TIME, "too slow");
        snprintf(wanted, sizeof wanted, REST "release %lu counted: too slow\n", cases[i].delay_ms);
        assert_trace(wanted);
    }
}

/* The line of an attempt is cut where it is too long. */
static void
long_reasons_are_cut(void **state)
{
    enum { LINE_MOST = 255 };
    char reason[2 * LINE_MOST];
    struct buf record;
    struct slice line = {0};
    (void)state;
    memset(reason, 'x', sizeof reason);
    reason[sizeof reason - 1] = '\0';
    buf_init(&record, 1 << 16);
    begin();
    fail_with(FETCH_CUT_TIME, reason);
    (void)meta_merge((struct slice){0}, meta_update_fields(&steps.job.meta), &record);
    assert_true(meta_record_text(buf_slice(&record), META_ATTEMPTS, &line));
    assert_true(slice_find_slice(line, SLICE(" fetch xxx")) < line.length);
    assert_int_equal(slice_trim(line).length, LINE_MOST);
    assert_int_equal(line.at[LINE_MOST - 1], 'x');
    assert_null(memchr(line.at, '\0', line.length));
    buf_release(&record);
}

/* Who is the publisher is known by the host's rules. */
static void
publishers_are_noted(void **state)
{
    (void)state;
    job.attempt = ATTEMPTS;
    begin();
    assert_text(META_PUBLISHER, "");
    task->end.authority = SLICE("a.example");
    fail_with(FETCH_CUT_TIME, "too slow");
    assert_text(META_PUBLISHER, "a.example");
}

static void
hosts_that_fail_are_waited_for(void **state)
{
    struct fetch_result result = good;
    struct host *host = hosts_put(fetch.hosts, SLICE(HOST), HOST_OPEN, NULL, UINT64_MAX, NULL);
    (void)state;
    result.end = FETCH_FAILED;
    result.problem = "refused";
    result.unsent = true;
    begin();
    finish(&result);
    assert_trace(REST "release 0: refused\n");
    assert_number(META_DEPTH, 2);
    begin();
    task->resource = true; /* is tried so often and no more */
    finish(&result);
    assert_trace(REST "release 100 counted: refused\n");
    fetch.pace_rules.backoff_ms = 0;
    fetch.retry_ms = 900;
    begin();
    finish(&result);
    assert_trace("rest 900 of 5\nrelease 0: refused\n");
    fetch.pace_rules.backoff_ms = 50;
    result.unsent = false;
    host_failures = 1;
    begin();
    finish(&result); /* nobody else of the host was unanswered */
    assert_trace(REST "release 900 counted: refused\n");
    assert_true(host->expires_ms == UINT64_MAX);
    host_failures = 2;
    begin();
    finish(&result);
    assert_trace("rules of " HOST " again\n" REST "release 0: refused\n");
    assert_int_equal(host->expires_ms, steps.now_ms);
    fetch.robots.obeyed = false;
    begin();
    finish(&result);
    assert_trace(REST "release 0: refused\n");
    job.attempt = ATTEMPTS;
    host_failures = 0;
    begin();
    finish(&result);
    assert_trace(FAILED("failed_silence"));
}

static void
other_ends_are_no_attempts(void **state)
{
    (void)state;
    begin();
    fail_with(FETCH_CROWDED, "");
    assert_trace("turn back 9\n");
    begin();
    fail_with(FETCH_NO_MEMORY, "no memory");
    assert_trace("release 2000: no memory\n");
    begin();
    fail_with(FETCH_REFUSED_ADDRESS, "a private address");
    assert_trace("counts as refused\nvisit failed\n" REST "done\n");
    assert_text(META_STATE, "denied");
}

static void
jobs_that_ask_otherwise_go_their_way(void **state)
{
    static const struct {
        enum task_kind kind;
        const char *type, *trace;
    } cases[] = {{TASK_SITEMAPS, "", "refused sitemaps\n"},
                 {TASK_DUMP, "", "download\n"},
                 {TASK_DUMP, DUMP_PAGES, "harvest\n"},
                 {TASK_DUMP, DUMP_PAGES_AGAIN, "harvest\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kind = cases[i].kind;
        known.type = slice_string(cases[i].type);
        begin();
        task_get(task);
        assert_trace(cases[i].trace);
        task_put(task, SLICE(HOST "/d"), 97, SLICE("again"), SLICE("about"));
        task_put_first(task, SLICE(HOST "/d"), 98, SLICE("first"), SLICE("about"));
        assert_trace("put fetch " HOST "/d lane " HOST " via " PAGE
                     " priority 97 flags 9 depth 2 type again\n"
                     "put fetch " HOST "/d lane " HOST " via " PAGE
                     " priority 98 flags 8 depth 2 type first\n");
        task_done(task, NULL, NULL);
        assert_trace("counts as none\nvisit failed\ndone\n"); /* nobody was asked */
        begin();
        task_done(task, "fetched", "");
        assert_trace("counts as none\nsitemaps\nvisit failed\ndone\n"); /* it is no document */
    }
}

/* In the place of the program's, of which this is a part. */
int
main(void)
{
    return 0;
}

STAND_IN(int, main, (int argc, char **argv))
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_document_is_archived_noted_and_handed_on),
        CASE(what_was_said_before_ends),
        CASE(responses_are_noted_as_they_are),
        CASE(its_beginning_is_kept_of_what_is_too_long),
        CASE(an_empty_answer_empties_the_graph),
        CASE(sitemaps_change_with_their_bytes),
        CASE(descriptions_are_asked_for),
        CASE(without_an_archive_nothing_is_said),
        CASE(redirects_lead_on),
        CASE(what_is_not_modified_stays),
        CASE(what_is_gone_is_confirmed),
        CASE(servers_in_trouble_are_tried_again),
        CASE(guesses_leave_no_state),
        CASE(what_is_cut_is_tried_again),
        CASE(delays_double_with_each_attempt),
        CASE(long_reasons_are_cut),
        CASE(publishers_are_noted),
        CASE(hosts_that_fail_are_waited_for),
        CASE(other_ends_are_no_attempts),
        CASE(jobs_that_ask_otherwise_go_their_way),
    };
    (void)argc, (void)argv;
    return cmocka_run_group_tests_name("page", tests, NULL, NULL);
}
