/* How a dataset is had from its SPARQL endpoint (stages/fetch/datasets/endpoint.c): where the next
 * page goes on after each answer, and what each failure costs. The functions below stand in the
 * place of the rest of the fetch program, of its workers and of the metadata store, and tell what
 * was asked of them as lines of a trace. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "datasets/harvest.h"
#include "stages/fetch/datasets/dataset_tasks.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/open_descriptors.h"
#include "tests/unit/scratch.h"

#define ENDPOINT "http://data.example/sparql"
#define DATASET "http://data.example/#slice=0123456789abcdef"
#define LAST "http://data.example/9"
enum {
    RETRY_MS = 7000,
    ATTEMPTS = 3,
    PAGE = 100,
    LARGEST = 1000,
    GET_BYTES = 6000,
    QUERIES_MOST = 10000
};

static char folder[SCRATCH_SIZE], path[300], part[310];
static struct fetch fetch;
static struct stage_job job;
static struct task *task;
static struct fetch_request request;
static struct buf trace, place;
static metastore_got *got;
static void *got_context;
static fetch_parsed *parsed;
static void *parsed_context;
static struct harvest_page page; /* what a worker answers */
static uint64_t counted;
static bool malformed, archive_fails, forbidden, sync_fails, rename_fails;

/* ---- in the place of others ---- */

void
task_free(struct task *one)
{
    free(one);
    task = NULL;
}

void
task_done(struct task *one, const char *state, const char *reason)
{
    buf_printf(&trace, "done %s: %s\n", state != NULL ? state : "-", reason != NULL ? reason : "-");
    if (one->report.rest_ms > 0) {
        buf_printf(&trace, "rest %llu\n", (unsigned long long)one->report.rest_ms);
    }
    task_free(one);
}

void
task_retry(struct task *one, uint64_t delay_ms, const char *reason)
{
    buf_printf(&trace, "retry %llu: %s\n", (unsigned long long)delay_ms, reason);
    task_free(one);
}

void
task_turn_back(struct task *one, uint64_t address)
{
    buf_printf(&trace, "back %llu\n", (unsigned long long)address);
    task_free(one);
}

void
task_note_end(struct task *one, const struct fetch_result *result)
{
    (void)one, (void)result;
}

void
task_put(struct task *one, struct slice uri, uint8_t priority, struct slice type,
         struct slice about)
{
    (void)one, (void)about;
    buf_printf(&trace, "put %.*s %u %.*s\n", SLICE_PRINT(uri), priority, SLICE_PRINT(type));
}

bool
task_may_ask(const struct task *one, struct slice url)
{
    (void)one, (void)url;
    return !forbidden;
}

/* The next page: of its place what is not 0. */
void
task_output(struct task *one, struct slice uri, uint8_t priority, uint8_t flags, struct slice data)
{
    struct document document;
    struct harvest_position at;
    assert_int_equal(priority, DUMP_PRIORITY);
    assert_int_equal(flags, JOB_RESOURCE | JOB_RECRAWL);
    assert_true(document_decode(data, &document));
    assert_true(slice_equal(document.type, one->job->document.type));
    assert_true(slice_is(document.content_type, DATASET));
    harvest_decode(document.link_header, &at);
    const struct {
        const char *name;
        uint64_t value;
    } all[] = {{"page", at.page},       {"number", at.number},       {"counted", at.counted},
               {"bytes", at.bytes},     {"triples", at.triples},     {"offset", at.offset},
               {"queries", at.queries}, {"before", at.before},       {"depth", at.depth},
               {"shorter", at.shorter}, {"unordered", at.unordered}, {"post", at.post}};
    buf_printf(&trace, "next %.*s", SLICE_PRINT(uri));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].value != 0) {
            buf_printf(&trace, " %s=%llu", all[i].name, (unsigned long long)all[i].value);
        }
    }
    buf_printf(&trace, " %.*s\n", SLICE_PRINT(at.after));
}

static bool
keep(struct task *one, const char *what)
{
    buf_printf(&trace, "%s%s\n", archive_fails ? "not " : "", what);
    if (archive_fails) {
        task_free(one);
    }
    return !archive_fails;
}

bool
task_keep_response(struct task *one, const struct fetch_result *result,
                   struct warc_location *location)
{
    (void)result, (void)location;
    return keep(one, "kept");
}

bool
task_archive(struct task *one, struct slice url, const struct fetch_result *result,
             struct slice truncated, struct warc_location *location)
{
    (void)location;
    assert_true(slice_equal(url, one->asking.request.url));
    assert_int_equal(truncated.length, 0);
    assert_true(slice_is(result->body, "answer") && slice_is(result->ip, "10.1.1.1"));
    assert_true(slice_is(result->request, "GET"));
    return keep(one, "archived");
}

void
task_ask(struct task *one, const struct fetch_request *asked)
{
    one->asking.request = request = *asked;
    assert_int_equal(asked->size, HARVEST_PAGE_BYTES);
    buf_printf(&trace, "ask %s%s\n", asked->form.length > 0 ? "by POST " : "",
               slice_starts(asked->accept, SLICE("text/csv")) ? "how many" : "a page");
}

void __wrap_stage_release(struct stage_job *one, uint64_t delay_ms, bool counts, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));
void
__wrap_stage_release(struct stage_job *one, uint64_t delay_ms, bool counts, const char *format, ...)
{
    char text[600];
    va_list list;
    assert_ptr_equal(one, &job);
    assert_false(counts);
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const char *colon = strrchr(text, ':');
    buf_printf(&trace, "release %llu%s\n", (unsigned long long)delay_ms, colon);
}

const char *__wrap_stage_directory(struct stage_run *run);
const char *
__wrap_stage_directory(struct stage_run *run)
{
    (void)run;
    return folder;
}

struct metastore_client *__wrap_stage_metastore(struct stage_run *run);
struct metastore_client *
__wrap_stage_metastore(struct stage_run *run)
{
    (void)run;
    return NULL;
}

void __wrap_metastore_get(struct metastore_client *client, const struct slice *keys, size_t n,
                          metastore_got *done, void *context);
void
__wrap_metastore_get(struct metastore_client *client, const struct slice *keys, size_t n,
                     metastore_got *done, void *context)
{
    (void)client;
    assert_int_equal(n, 1);
    assert_true(slice_is(keys[0], "u" DATASET));
    got = done;
    got_context = context;
}

void __wrap_fetch_parser_submit(struct fetch_parser *parser, const struct parser_request *asked,
                                fetch_parsed *done, void *context);
void
__wrap_fetch_parser_submit(struct fetch_parser *parser, const struct parser_request *asked,
                           fetch_parsed *done, void *context)
{
    (void)parser;
    assert_true(slice_is(asked->bytes, "answer") && slice_is(asked->coding, "gzip"));
    buf_append_string(&trace, asked->verb == PARSER_COUNT ? "count\n" : "parse\n");
    parsed = done;
    parsed_context = context;
}

bool __wrap_parsed_page_decode(struct slice reply, struct harvest_page *into);
bool
__wrap_parsed_page_decode(struct slice reply, struct harvest_page *into)
{
    (void)reply;
    buf_append_slice(&into->text, buf_slice(&page.text));
    into->triples = page.triples;
    into->resources = page.resources;
    into->last = page.last;
    into->deeper = page.deeper;
    return !malformed;
}

uint64_t __wrap_parsed_count(struct slice reply);
uint64_t
__wrap_parsed_count(struct slice reply)
{
    (void)reply;
    return counted;
}

int __real_fdatasync(int file);
int __wrap_fdatasync(int file);
int
__wrap_fdatasync(int file)
{
    errno = ENOSPC;
    return sync_fails ? -1 : __real_fdatasync(file);
}

int __real_file_rename(const char *from, const char *to);
int __wrap_file_rename(const char *from, const char *to);
int
__wrap_file_rename(const char *from, const char *to)
{
    errno = ENOSPC;
    return rename_fails ? -1 : __real_file_rename(from, to);
}

/* ---- steps ---- */

static void
assert_trace(const char *text)
{
    assert_string_equal(trace.length > 0 ? trace.data : "", text);
    buf_reset(&trace);
}

static void
begin_at(const struct harvest_position *at)
{
    buf_reset(&place);
    if (at != NULL) {
        harvest_encode(at, &place);
    }
    job.document.link_header = buf_slice(&place);
    task = memory_new(sizeof *task);
    task->fetch = &fetch;
    task->job = &job;
    task->url = SLICE(ENDPOINT);
    task_harvest(task);
}

static void
answer_execution(void)
{
    struct execution execution = {.dataset = SLICE("http://data.example/set"), .way = SLICE("x")};
    struct arena arena;
    struct meta_update update;
    struct buf text, record;
    arena_init(&arena, 1 << 16);
    buf_init(&text, 1 << 12);
    buf_init(&record, 1 << 12);
    meta_update_init(&update);
    (void)execution_add_space(&execution, SLICE("http://data.example/"), (enum slicing)0, &arena);
    execution_encode(&execution, &text);
    meta_set_text(&update, META_EXECUTION, buf_slice(&text));
    (void)meta_merge((struct slice){0}, meta_update_fields(&update), &record);
    const struct slice records[] = {buf_slice(&record)};
    got(got_context, STATUS_OK, records, 1, &(struct reason){""});
    meta_update_release(&update);
    buf_release(&record);
    buf_release(&text);
    arena_release(&arena);
}

static void
begin(const struct harvest_position *at)
{
    begin_at(at);
    answer_execution();
    assert_non_null(task);
    buf_reset(&trace);
}

/* What a transfer has is gone when it has told of it. */
static void
come(enum fetch_end end, unsigned status, const char *header, uint64_t retry_after_ms)
{
    char body[] = "answer", ip[] = "10.1.1.1", sent[] = "GET";
    const struct fetch_result result = {.end = end,
                                        .status = (uint16_t)status,
                                        .response_header = slice_string(header),
                                        .body = slice_string(body),
                                        .ip = slice_string(ip),
                                        .request = slice_string(sent),
                                        .retry_after_ms = retry_after_ms,
                                        .address = 99,
                                        .problem = "it broke"};
    request.done(request.context, &result);
    memset(body, 'x', sizeof body - 1);
    memset(ip, 'x', sizeof ip - 1);
    memset(sent, 'x', sizeof sent - 1);
}

/* A worker has read the answer. */
static void
read_as(enum status status, uint64_t triples, uint64_t resources, const char *last)
{
    come(FETCH_ANSWERED, 200, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", 0);
    buf_reset(&trace);
    page.triples = triples;
    page.resources = resources;
    page.last = slice_string(last);
    buf_reset(&page.text);
    for (uint64_t i = 0; i < triples; i++) {
        buf_append_string(&page.text, "0123456789");
    }
    parsed(parsed_context, status, (struct slice){0}, &(struct reason){"unread"});
}

static int
set_up(void **state)
{
    struct buf name;
    (void)state;
    if (!scratch_folder(folder, "endpoint")) {
        return -1;
    }
    buf_init(&trace, 1 << 16);
    buf_init(&place, 1 << 16);
    buf_init(&name, 300);
    harvest_page_init(&page);
    execution_file_name(SLICE(ENDPOINT), &name);
    snprintf(path, sizeof path, "%s/dumps/%s", folder, name.data);
    snprintf(part, sizeof part, "%s.part", path);
    buf_release(&name);
    fetch = (struct fetch){.datasets.dump_size = LARGEST,
                           .retry_ms = RETRY_MS,
                           .attempts = ATTEMPTS,
                           .datasets.page_resources = PAGE};
    job =
        (struct stage_job){.job = {.uri = SLICE(ENDPOINT DUMP_FRAGMENT), .attempt = 1},
                           .document = {.type = SLICE(DUMP_PAGES), .content_type = SLICE(DATASET)}};
    arena_init(&job.arena, 1 << 20);
    meta_update_init(&job.meta);
    malformed = archive_fails = forbidden = sync_fails = rename_fails = false;
    counted = 0;
    return 0;
}

static int
tear_down(void **state)
{
    char command[SCRATCH_SIZE + 16];
    (void)state;
    assert_null(task);
    harvest_page_release(&page);
    meta_update_release(&job.meta);
    arena_release(&job.arena);
    buf_release(&trace);
    buf_release(&place);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* ---- cases ---- */

static void
it_counts_and_goes_on_page_by_page(void **state)
{
    struct harvest_position at = {.page = 2, .number = 1, .counted = 5, .depth = 2, .queries = 1};
    (void)state;
    begin_at(NULL);
    answer_execution();
    assert_trace("ask how many\n");
    counted = 5;
    read_as(STATUS_OK, 0, 0, "");
    assert_trace("next " ENDPOINT
                 "#dump page=100 number=1 counted=5 queries=1 depth=2 \ndone -: -\n");
    begin_at(&at);
    answer_execution();
    assert_trace("ask a page\n");
    read_as(STATUS_OK, 3, 2, LAST);
    assert_trace(
        "archived\nnext " ENDPOINT
        "#dump page=2 number=2 counted=5 bytes=30 triples=3 offset=2 queries=2 depth=2 " LAST
        "\ndone -: -\n");
    /* The process died behind a page that it had written: what does not count goes. */
    at = (struct harvest_position){.page = 2,
                                   .number = 2,
                                   .counted = 5,
                                   .depth = 2,
                                   .bytes = 20,
                                   .triples = 3,
                                   .offset = 2,
                                   .queries = 2,
                                   .after = SLICE(LAST)};
    begin(&at);
    read_as(STATUS_OK, 2, 1, LAST "9");
    assert_trace("kept\ndone fetched: \n");
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, 40);
    assert_int_not_equal(access(part, F_OK), 0);
    struct buf record;
    uint64_t number = 0;
    buf_init(&record, 1 << 12);
    (void)meta_merge((struct slice){0}, meta_update_fields(&job.meta), &record);
    assert_true(meta_record_number(buf_slice(&record), META_QUADS, &number) && number == 5);
    assert_true(meta_record_number(buf_slice(&record), META_PAYLOAD_BYTES, &number));
    assert_int_equal(number, 40);
    assert_true(meta_record_number(buf_slice(&record), META_DATASET_REQUESTS, &number));
    assert_int_equal(number, 3);
    buf_release(&record);
    job.job.attempt = 4; /* tries count, too */
    begin(NULL);
    read_as(STATUS_BAD_INPUT, 0, 0, ""); /* which is no count */
    assert_trace("next " ENDPOINT "#dump page=100 number=1 queries=4 depth=2 \ndone -: -\n");
}

/* The process ends; the job comes back by its lease. */
static void
what_is_cancelled_leaves_nothing(void **state)
{
    const struct reason unread = {"unread"};
    const struct harvest_position at = {.page = 2, .number = 1, .counted = 5, .depth = 2};
    (void)state;
    begin(NULL);
    read_as(STATUS_CANCELLED, 0, 0, "");
    assert_trace("");
    assert_non_null(task);
    parsed(parsed_context, STATUS_BAD_INPUT, (struct slice){0}, &unread);
    assert_trace("next " ENDPOINT "#dump page=100 number=1 queries=1 depth=2 \ndone -: -\n");
    begin(&at);
    read_as(STATUS_CANCELLED, 3, 2, LAST);
    assert_trace("");
    assert_non_null(task);
    parsed(parsed_context, STATUS_BAD_INPUT, (struct slice){0}, &unread);
    assert_null(task);
}

/* A job that was put by hand has no attempt, and is one query all the same. */
static void
a_job_without_an_attempt_is_one_query(void **state)
{
    (void)state;
    job.job.attempt = 0;
    begin(NULL);
    read_as(STATUS_BAD_INPUT, 0, 0, "");
    assert_trace("next " ENDPOINT "#dump page=100 number=1 queries=1 depth=2 \ndone -: -\n");
}

/* Answers of a page: from where, what came, and what follows. */
static void
pages_lead_on(void **state)
{
    static const struct {
        struct harvest_position at;
        enum status status;
        uint64_t triples, resources;
        const char *last;
        bool deeper;
        const char *trace;
    } cases[] = {
        {{.page = 4, .number = 1, .depth = 2},
         STATUS_OK,
         3,
         2,
         LAST,
         true,
         "next " ENDPOINT "#dump page=4 number=1 queries=1 depth=8 \ndone -: -\n"},
        {{.page = 4, .number = 1, .depth = 8},
         STATUS_OK,
         3,
         4,
         LAST,
         true,
         "archived\nnext " ENDPOINT
         "#dump page=4 number=2 bytes=30 triples=3 offset=4 queries=1 depth=8 " LAST
         "\ndone -: -\n"},
        {{.page = 4, .number = 1, .depth = 2},
         STATUS_OK,
         3,
         3,
         LAST,
         false,
         "archived\nnext " ENDPOINT "#dump page=4 number=2 bytes=30 triples=3 offset=4 queries=1 "
         "depth=2 shorter=1 " LAST "\ndone -: -\n"},
        {{.page = 4,
          .number = 2,
          .depth = 2,
          .shorter = 1,
          .counted = 9,
          .triples = 3,
          .queries = 5},
         STATUS_OK,
         3,
         4,
         LAST,
         false,
         "next " ENDPOINT "#dump page=2 number=1 counted=9 queries=6 depth=2 \ndone -: -\n"},
        {{.page = 1, .number = 2, .depth = 2, .shorter = 1},
         STATUS_OK,
         3,
         4,
         LAST,
         false,
         "done failed: the page before was cut\n"},
        {{.page = 4, .number = 2, .depth = 2, .after = {LAST, sizeof LAST - 1}},
         STATUS_OK,
         3,
         4,
         LAST,
         false,
         "done failed: the endpoint does not filter\n"},
        {{.page = 4, .number = 2, .depth = 2, .unordered = 1, .after = {LAST, sizeof LAST - 1}},
         STATUS_OK,
         1,
         4,
         LAST,
         false,
         "archived\nnext " ENDPOINT
         "#dump page=4 number=3 bytes=10 triples=1 offset=4 queries=1 depth=2 unordered=1 " LAST
         "\ndone -: -\n"},
        {{.page = 4, .number = 2, .triples = 7, .depth = 2},
         STATUS_OK,
         0,
         0,
         "",
         false,
         "kept\ndone fetched: \n"},
        {{.page = 4, .number = 2, .triples = 7, .counted = 8, .depth = 2},
         STATUS_OK,
         0,
         0,
         "",
         false,
         "next " ENDPOINT
         "#dump page=2 number=1 counted=8 queries=1 before=7 depth=2 \ndone -: -\n"},
        {{.page = 2, .number = 2, .triples = 7, .counted = 8, .before = 7, .depth = 2},
         STATUS_OK,
         0,
         0,
         "",
         false,
         "kept\ndone fetched: the endpoint counts 8 triples and gives 7\n"},
        {{.page = 4, .number = 2, .depth = 2, .bytes = 970},
         STATUS_OK,
         4,
         4,
         LAST,
         false,
         "done failed: larger than datasets.dump_size\n"},
        {{.page = 4, .number = 2, .depth = 2},
         STATUS_LIMIT,
         0,
         0,
         "",
         false,
         "next " ENDPOINT "#dump page=2 number=2 queries=1 depth=2 \ndone -: -\nrest 7000\n"},
        {{.page = 1, .number = 2, .depth = 2},
         STATUS_TIMEOUT,
         0,
         0,
         "",
         false,
         "done failed: unread\n"},
        {{.page = 4, .number = 2, .depth = 2},
         STATUS_BAD_INPUT,
         0,
         0,
         "",
         false,
         "retry 0: unread\n"},
        {{.page = 4, .number = 2, .depth = 2, .queries = QUERIES_MOST - 1},
         STATUS_OK,
         3,
         4,
         LAST,
         false,
         "archived\ndone failed: it takes too many queries\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        page.deeper = cases[i].deeper;
        begin(&cases[i].at);
        read_as(cases[i].status, cases[i].triples, cases[i].resources, cases[i].last);
        assert_trace(cases[i].trace);
        assert_null(task);
        (void)unlink(path);
    }
}

static void
end_in_many_ways(void)
{
    static const struct harvest_position first = {.page = 4, .number = 1, .depth = 2},
                                         last = {.page = 1, .number = 2, .depth = 2};
    static const enum fetch_end ends[] = {FETCH_FAILED, FETCH_CROWDED, FETCH_REFUSED_ADDRESS,
                                          FETCH_CUT_TIME};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        begin(&first);
        come(ends[i], 0, "\r\n", 0);
    }
    begin(NULL);
    read_as(STATUS_BAD_INPUT, 0, 0, "");
    begin(&first);
    read_as(STATUS_OK, 3, 4, LAST);
    begin(&first);
    read_as(STATUS_LIMIT, 0, 0, "");
    begin(&last);
    read_as(STATUS_TIMEOUT, 0, 0, "");
    begin(&last);
    read_as(STATUS_OK, 0, 0, "");
    assert_null(task);
    (void)unlink(path);
    buf_reset(&trace);
    arena_reset(&job.arena);
    meta_update_reset(&job.meta);
}

/* However a page ends, its memory and its file are given back. */
static void
ends_give_everything_back(void **state)
{
    (void)state;
    end_in_many_ways();
    const size_t before = open_descriptors();
    assert_true(leaves_no_memory(end_in_many_ways));
    end_in_many_ways();
    assert_int_equal(open_descriptors(), before);
}

static void
refusals_are_met_by_other_requests(void **state)
{
    static const struct {
        unsigned attempt;
        struct harvest_position at;
        enum fetch_end end;
        unsigned status;
        uint64_t retry_after_ms;
        const char *trace;
    } cases[] = {
        {1,
         {.page = 4, .number = 1},
         FETCH_ANSWERED,
         405,
         0,
         "next " ENDPOINT "#dump page=4 number=1 queries=1 post=1 \ndone -: -\n"},
        {1,
         {.page = 4, .number = 1},
         FETCH_ANSWERED,
         414,
         0,
         "next " ENDPOINT "#dump page=4 number=1 queries=1 post=1 \ndone -: -\n"},
        {1,
         {.page = 4, .number = 1, .post = 1},
         FETCH_ANSWERED,
         405,
         0,
         "done failed: the endpoint answered 405\n"},
        {1,
         {.page = 4, .number = 1},
         FETCH_ANSWERED,
         504,
         0,
         "next " ENDPOINT "#dump page=2 number=1 queries=1 \ndone -: -\nrest 7000\n"},
        {1, {.page = 4}, FETCH_ANSWERED, 504, 0, "retry 0: the endpoint answered 504\n"},
        {1,
         {.page = 4, .number = 1},
         FETCH_ANSWERED,
         500,
         0,
         "retry 0: the endpoint answered 500\n"},
        {2,
         {.page = 4, .number = 1},
         FETCH_ANSWERED,
         500,
         0,
         "next " ENDPOINT "#dump page=2 number=1 queries=2 \ndone -: -\nrest 7000\n"},
        {2,
         {.page = 4, .number = 1},
         FETCH_ANSWERED,
         503,
         60000,
         "retry 60000: the endpoint answered 503\n"},
        {2,
         {.page = 1, .number = 1},
         FETCH_ANSWERED,
         429,
         0,
         "retry 0: the endpoint answered 429\n"},
        {2,
         {.page = 2, .number = 1},
         FETCH_ANSWERED,
         500,
         0,
         "next " ENDPOINT "#dump page=1 number=1 queries=2 \ndone -: -\nrest 7000\n"},
        {2,
         {.page = 4},
         FETCH_ANSWERED,
         408,
         0,
         "next " ENDPOINT "#dump page=4 number=1 queries=2 \ndone -: -\n"},
        {1,
         {.page = 4},
         FETCH_ANSWERED,
         400,
         0,
         "next " ENDPOINT "#dump page=4 number=1 queries=1 \ndone -: -\n"},
        {1,
         {.page = 4, .number = 1},
         FETCH_ANSWERED,
         400,
         0,
         "next " ENDPOINT "#dump page=4 number=1 queries=1 unordered=1 \ndone -: -\n"},
        {1,
         {.page = 4, .number = 1, .unordered = 1},
         FETCH_ANSWERED,
         400,
         0,
         "done failed: the endpoint answered 400\n"},
        {1,
         {.page = 4, .number = 2},
         FETCH_ANSWERED,
         400,
         0,
         "done failed: the endpoint answered 400\n"},
        {1,
         {.page = 4, .number = 1},
         FETCH_ANSWERED,
         404,
         0,
         "done failed: the endpoint answered 404\n"},
        {1,
         {.page = 4, .number = 1},
         FETCH_ANSWERED,
         299,
         0,
         "done failed: the endpoint answered 299\n"},
        {1,
         {.page = 4, .number = 1},
         FETCH_CUT_TIME,
         200,
         0,
         "next " ENDPOINT "#dump page=2 number=1 queries=1 \ndone -: -\nrest 7000\n"},
        {1,
         {.page = 4, .number = 1},
         FETCH_CUT_LENGTH,
         200,
         0,
         "next " ENDPOINT "#dump page=2 number=1 queries=1 \ndone -: -\nrest 7000\n"},
        {1, {.page = 4}, FETCH_CUT_TIME, 200, 0, "retry 0: it broke\n"},
        {1, {.page = 4, .number = 1}, FETCH_CROWDED, 0, 0, "back 99\n"},
        {1, {.page = 4, .number = 1}, FETCH_REFUSED_ADDRESS, 0, 0, "done denied: it broke\n"},
        {1, {.page = 4, .number = 1}, FETCH_FAILED, 0, 0, "retry 0: it broke\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        job.job.attempt = (uint16_t)cases[i].attempt;
        begin(&cases[i].at);
        come(cases[i].end, cases[i].status, "\r\n", cases[i].retry_after_ms);
        assert_trace(cases[i].trace);
        assert_null(task);
    }
    const struct harvest_position one = {.page = 1, .number = 1};
    for (unsigned attempt = ATTEMPTS - 1; attempt <= ATTEMPTS;
         attempt++) { /* the last: its file goes */
        job.job.attempt = (uint16_t)attempt;
        begin(&one);
        come(FETCH_FAILED, 0, "", 0);
        assert_int_equal(access(part, F_OK) == 0, attempt < ATTEMPTS);
    }
    buf_reset(&trace);
    job.job.attempt = 2; /* what is no N-Triples, twice */
    malformed = true;
    begin(&(struct harvest_position){.page = 4, .number = 1});
    read_as(STATUS_OK, 1, 1, LAST);
    assert_trace("next " ENDPOINT "#dump page=2 number=1 queries=2 \ndone -: -\nrest 7000\n");
}

static void
it_moves_within_its_publisher(void **state)
{
    static const struct {
        const char *header;
        unsigned hops;
        const char *trace;
    } cases[] = {
        {"Location: https://www.data.example/query?query=SELECT\r\n\r\n", 0,
         "kept\nnext https://www.data.example/query#dump page=4 number=1 \ndone redirected: \n"},
        {"Location: https://other.test/sparql\r\n\r\n", 0,
         "done failed: redirects nowhere, or to somebody else\n"},
        {"Location: " ENDPOINT "?query=SELECT\r\n\r\n", 0,
         "done failed: redirects nowhere, or to somebody else\n"},
        {"\r\n", 0, "done failed: redirects nowhere, or to somebody else\n"},
        {"Location: https://www.data.example/query\r\n\r\n", REDIRECTS_MOST,
         "done failed: redirects nowhere, or to somebody else\n"},
        {"Location: https://www.data.example/query\r\n\r\n", REDIRECTS_MOST - 1,
         "kept\nnext https://www.data.example/query#dump page=4 number=1 \ndone redirected: \n"},
    };
    const struct harvest_position at = {.page = 4, .number = 1};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        job.job.hops = (uint8_t)cases[i].hops;
        begin(&at);
        come(FETCH_ANSWERED, i % 2 == 0 ? 300 : 399, cases[i].header, 0);
        assert_trace(cases[i].trace);
    }
    archive_fails = true;
    begin(&at);
    come(FETCH_ANSWERED, 301, cases[0].header, 0);
    assert_trace("not kept\n");
}

static void
what_is_no_endpoint_is_left(void **state)
{
    const struct harvest_position at = {.page = 4, .number = 1};
    const struct harvest_position later = {.page = 4, .number = 2, .bytes = 10};
    (void)state;
    begin(&at);
    come(FETCH_ANSWERED, 200, "HTTP/1.1 200 OK\r\nContent-Type: TEXT/HTML; x=y\r\n\r\n", 0);
    assert_trace("done failed: a page for people answers, and no endpoint\n");
    begin(&later); /* a server that says so of everything */
    come(FETCH_ANSWERED, 200,
         "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n", 0);
    assert_trace("parse\n");
    parsed(parsed_context, STATUS_LIMIT, (struct slice){0}, &(struct reason){"unread"});
    buf_reset(&trace);
    forbidden = true;
    begin_at(&at);
    answer_execution();
    assert_trace("done denied: robots.txt of the host\n");
    forbidden = false;
    begin_at(&at);
    got(got_context, STATUS_TIMEOUT, NULL, 0, &(struct reason){"x: away"});
    assert_trace("release 10000: away\n");
    begin_at(&at);
    got(got_context, STATUS_OK, NULL, 0, &(struct reason){""});
    assert_trace("done failed: the metadata store does not know this dataset\n");
}

static void
by_post_the_graph_is_in_the_form(void **state)
{
    const struct harvest_position at = {.page = 4, .number = 1, .post = 1};
    char last[GET_BYTES + 1];
    (void)state;
    begin_at(&at);
    task->url = SLICE(ENDPOINT "?default-graph-uri=http%3A%2F%2Fg.example%2F");
    answer_execution();
    assert_trace("ask by POST a page\n");
    assert_true(slice_equal(request.url, task->url));
    assert_true(
        slice_starts(request.form, SLICE("default-graph-uri=http%3A%2F%2Fg.example%2F&query=")));
    come(FETCH_CROWDED, 0, "", 0);
    begin(&at);
    assert_true(slice_is(request.url, ENDPOINT));
    assert_true(slice_starts(request.form, SLICE("query=")));
    come(FETCH_CROWDED, 0, "", 0);
    begin(&(struct harvest_position){.page = 4, .number = 1});
    assert_int_equal(request.form.length, 0);
    assert_true(slice_starts(request.url, SLICE(ENDPOINT "?query=")));
    come(FETCH_CROWDED, 0, "", 0);
    memset(last, 'a', GET_BYTES);
    last[GET_BYTES] = '\0'; /* of a query that is too long for a URL */
    begin(&(struct harvest_position){.page = 4, .number = 2, .after = slice_string(last)});
    assert_true(slice_starts(request.form, SLICE("query=")));
    come(FETCH_ANSWERED, 405, "", 0); /* no other way is left */
    assert_trace("done failed: the endpoint answered 405\n");
}

static void
a_disk_that_fails_costs_no_attempt(void **state)
{
    const struct harvest_position at = {.page = 4, .number = 1, .depth = 2};
    (void)state;
    sync_fails = true;
    begin(&at);
    read_as(STATUS_OK, 3, 4, LAST);
    assert_trace("release 10000: No space left on device\n");
    begin(&at);
    read_as(STATUS_OK, 0, 0, "");
    assert_trace("release 10000: No space left on device\n");
    sync_fails = false;
    rename_fails = true;
    begin(&at);
    read_as(STATUS_OK, 0, 0, "");
    assert_trace("release 10000: No space left on device\n");
    rename_fails = false;
    archive_fails = true;
    begin(&at);
    read_as(STATUS_OK, 0, 0, "");
    assert_trace("not kept\n");
    begin(&at);
    read_as(STATUS_OK, 3, 4, LAST);
    assert_trace("not archived\n");
    archive_fails = false;
    job.document.type = SLICE(DUMP_PAGES_AGAIN); /* its dataset is told */
    begin(&at);
    read_as(STATUS_OK, 0, 0, "");
    assert_trace("kept\nput " DATASET " 100 changed\ndone fetched: \n");
    (void)unlink(path);
    assert_int_equal(mkdir(part, 0700), 0);
    begin_at(&at);
    answer_execution();
    assert_trace("release 10000: Is a directory\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_counts_and_goes_on_page_by_page, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_cancelled_leaves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_job_without_an_attempt_is_one_query, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pages_lead_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals_are_met_by_other_requests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_moves_within_its_publisher, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_endpoint_is_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(by_post_the_graph_is_in_the_form, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_disk_that_fails_costs_no_attempt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ends_give_everything_back, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("endpoint", tests, NULL, NULL);
}
