/* These tests are of what becomes of the GET of a dump (stages/fetch/datasets/dump_fetch.c): each
 * kind of answer and of failure, what is asked for the next time, and what is on the disk
 * meanwhile. The functions below stand in the place of the rest of the fetch program, and tell what
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

#include <cmocka.h>

#include "base/memory.h"
#include "base/system/file.h"
#include "stages/fetch/datasets/dataset_tasks.h"
#include "stages/fetch/task/download.h"
#include "tests/unit/scratch.h"

#define DUMP "http://data.example/all.nt"
#define FTP_DUMP "ftp://data.example/all.nt"
#define DATASET "http://data.example/#slice=0123456789abcdef"
enum { MOST = 100, RETRY_MS = 7000, ATTEMPTS = 3, PROGRESS = 64 << 10 };

static char folder[SCRATCH_SIZE], path[300], part[310], head[310];
static struct fetch fetch;
static struct stage_job job;
static struct task *task;
static struct fetch_request request;
static struct buf trace;
static bool archive_fails, rename_fails;
static int write_errors[2]; /* of the next writes; 0: these go well */
static size_t written_at_most;
static int syncs_until_failure; /* -1: none fails */
static int lowest;              /* descriptor that is free before and after each case */

/* ---- in the place of others ---- */

void
task_free(struct task *one)
{
    download_free(one->download);
    free(one);
    task = NULL;
}

void
task_done(struct task *one, const char *state, const char *reason)
{
    buf_printf(&trace, "done %s: %s\n", state, reason);
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
    buf_append_string(&trace, "ended\n");
}

void
task_put(struct task *one, struct slice uri, uint8_t priority, struct slice type,
         struct slice about)
{
    (void)one;
    assert_int_equal(about.length, 0);
    buf_printf(&trace, "put %.*s %u %.*s\n", SLICE_PRINT(uri), priority, SLICE_PRINT(type));
}

bool
task_keep_response(struct task *one, const struct fetch_result *result,
                   struct warc_location *location)
{
    (void)result, (void)location;
    if (archive_fails) {
        buf_append_string(&trace, "not kept\n");
        task_free(one);
        return false;
    }
    buf_printf(&trace, "kept %.*s\n", SLICE_PRINT(one->end.truncated));
    meta_set_number(&one->job->meta, META_PAYLOAD_BYTES, 1);
    meta_set_text(&one->job->meta, META_TRUNCATED, SLICE("length"));
    meta_set_text(&one->job->meta, META_PAYLOAD_DIGEST, SLICE("sha256:00"));
    return true;
}

void
task_ask(struct task *one, const struct fetch_request *asked)
{
    assert_ptr_equal(asked->context, one);
    assert_true(slice_equal(asked->url, one->url));
    assert_true(asked->head || asked->size == one->fetch->datasets.dump_size);
    request = *asked;
    buf_printf(&trace, "ask%s from %llu if '%.*s' unless '%.*s' '%.*s'\n",
               asked->head ? " about it" : "", (unsigned long long)asked->range_from,
               SLICE_PRINT(asked->if_range), SLICE_PRINT(asked->etag),
               SLICE_PRINT(asked->last_modified));
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
    const char *slash = strrchr(text, '/');
    buf_printf(&trace, "release %llu: %s\n", (unsigned long long)delay_ms,
               slash != NULL ? slash + 1 : text);
}

void __wrap_stage_output(struct stage_job *one, const struct job *output);
void
__wrap_stage_output(struct stage_job *one, const struct job *output)
{
    assert_ptr_equal(one, &job);
    assert_int_equal(output->key.stage, STAGE_FETCH);
    assert_int_equal(output->priority, DUMP_PRIORITY);
    assert_true(slice_equal(output->via, job.job.uri));
    assert_true(slice_equal(output->data, job.job.data));
    buf_printf(&trace, "output %.*s lane %.*s hops %u depth %u flags %u\n",
               SLICE_PRINT(output->uri), SLICE_PRINT(output->lane_name), output->hops,
               output->depth, output->flags);
}

const char *__wrap_stage_directory(struct stage_run *run);
const char *
__wrap_stage_directory(struct stage_run *run)
{
    (void)run;
    return folder;
}

int __real_fdatasync(int file);
int __wrap_fdatasync(int file);
int
__wrap_fdatasync(int file)
{
    if (syncs_until_failure == 0) {
        errno = ENOSPC;
        return -1;
    }
    syncs_until_failure -= syncs_until_failure > 0;
    return __real_fdatasync(file);
}

ssize_t __real_write(int file, const void *bytes, size_t n);
ssize_t __wrap_write(int file, const void *bytes, size_t n);
ssize_t
__wrap_write(int file, const void *bytes, size_t n)
{
    errno = write_errors[0];
    write_errors[0] = write_errors[1];
    write_errors[1] = 0;
    return errno != 0 ? -1 : __real_write(file, bytes, n < written_at_most ? n : written_at_most);
}

int __real_file_rename(const char *from, const char *to);
int __wrap_file_rename(const char *from, const char *to);
int
__wrap_file_rename(const char *from, const char *to)
{
    if (rename_fails) {
        errno = ENOSPC;
        return -1;
    }
    return __real_file_rename(from, to);
}

/* ---- steps ---- */

static void
assert_trace(const char *text)
{
    assert_string_equal(trace.length > 0 ? trace.data : "", text);
    buf_reset(&trace);
}

static void
assert_file(const char *name, const char *text)
{
    char bytes[MOST * 2] = "";
    FILE *file = fopen(name, "r");
    if (text == NULL) {
        assert_null(file);
        return;
    }
    assert_non_null(file);
    const size_t n = fread(bytes, 1, sizeof bytes - 1, file);
    fclose(file);
    bytes[n] = '\0';
    assert_string_equal(bytes, text);
}

static void
begin(const char *url, const char *type)
{
    job.document.type = slice_string(type);
    job.document.content_type = SLICE(DATASET);
    task = memory_new(sizeof *task);
    task->fetch = &fetch;
    task->job = &job;
    task->url = slice_string(url);
    task->before.etag = SLICE("\"1\"");
    task->before.last_modified = SLICE("yesterday");
    task_download(task);
}

static void
begin_first(void)
{
    begin(DUMP, DUMP_WHOLE);
    assert_trace("ask from 0 if '' unless '' ''\n");
}

static bool
pour(unsigned status, const char *header, const char *body)
{
    return request.sink->begin(request.sink->context, (uint16_t)status, slice_string(header)) &&
           request.sink->take(request.sink->context, slice_string(body));
}

static void
end_as(enum fetch_end end, unsigned status, const char *header)
{
    const struct fetch_result result = {.end = end,
                                        .status = (uint16_t)status,
                                        .response_header = slice_string(header),
                                        .retry_after_ms = 1234,
                                        .address = 99,
                                        .problem = "it broke"};
    request.done(request.context, &result);
    assert_null(task);
}

static int
lowest_descriptor(void)
{
    const int descriptor = open("/", O_RDONLY | O_CLOEXEC);
    close(descriptor);
    return descriptor;
}

static int
set_up(void **state)
{
    struct buf name;
    (void)state;
    if (!scratch_folder(folder, "dump-fetch")) {
        return -1;
    }
    buf_init(&trace, 1 << 16);
    buf_init(&name, 300);
    execution_file_name(SLICE(DUMP), &name);
    snprintf(path, sizeof path, "%s/dumps/%s", folder, name.data);
    snprintf(part, sizeof part, "%s.part", path);
    snprintf(head, sizeof head, "%s.head", path);
    buf_release(&name);
    fetch = (struct fetch){.datasets.dump_size = MOST, .retry_ms = RETRY_MS, .attempts = ATTEMPTS};
    job = (struct stage_job){.job = {.uri = SLICE(DUMP DUMP_FRAGMENT),
                                     .attempt = 1,
                                     .depth = 4,
                                     .flags = JOB_RECRAWL,
                                     .data = SLICE("data")}};
    meta_update_init(&job.meta);
    archive_fails = rename_fails = false;
    syncs_until_failure = -1;
    write_errors[0] = write_errors[1] = 0;
    written_at_most = SIZE_MAX;
    lowest = lowest_descriptor();
    return 0;
}

static int
tear_down(void **state)
{
    char command[SCRATCH_SIZE + 16];
    (void)state;
    assert_int_equal(lowest_descriptor(), lowest);
    buf_release(&trace);
    meta_update_release(&job.meta);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* What the job's metadata say now. */
static void
assert_said(enum meta_field field, const char *text)
{
    struct slice said = {0};
    struct buf record;
    buf_init(&record, 1 << 16);
    assert_int_equal(meta_merge((struct slice){0}, meta_update_fields(&job.meta), &record),
                     META_MERGED);
    assert_true(meta_record_text(buf_slice(&record), field, &said));
    assert_true(slice_is(said, text));
    buf_release(&record);
}

/* Leaves bytes of the dump behind, as a connection that breaks does. */
static void
leave(const char *header, const char *body)
{
    begin_first();
    assert_true(pour(200, header, body));
    end_as(FETCH_CUT_CONNECTION, 200, "");
    assert_trace("ended\nretry 0: it broke\n");
    assert_file(part, body);
}

/* ---- cases ---- */

static void
a_dump_comes_whole(void **state)
{
    uint64_t bytes = 0;
    struct slice text = {0};
    struct buf record;
    (void)state;
    begin_first();
    assert_true(pour(200, "ETag: \"2\"\r\nContent-Length: 10\r\n\r\n", "01234"));
    assert_true(request.sink->take(request.sink->context, SLICE("56789")));
    assert_file(part, "0123456789");
    end_as(FETCH_ANSWERED, 200, "");
    assert_trace("ended\nkept length\nput " DATASET " 100 changed\ndone fetched: \n");
    assert_file(path, "0123456789");
    assert_file(part, NULL);
    buf_init(&record, 1000);
    assert_int_equal(meta_merge((struct slice){0}, meta_update_fields(&job.meta), &record),
                     META_MERGED);
    assert_true(meta_record_number(buf_slice(&record), META_PAYLOAD_BYTES, &bytes));
    assert_int_equal(bytes, 10);
    assert_false(meta_record_text(buf_slice(&record), META_TRUNCATED, &text));
    assert_false(meta_record_text(buf_slice(&record), META_PAYLOAD_DIGEST, &text));
    buf_release(&record);
    /* Nobody heard of it: one byte is asked for once more, and it is whole again. */
    begin(DUMP, DUMP_WHOLE);
    assert_trace("ask from 9 if '\"2\"' unless '' ''\n");
    assert_file(path, NULL);
    assert_true(pour(206, "Content-Range: bytes 9-9/10\r\nContent-Length: 1\r\n\r\n", "9"));
    job.document.content_type = (struct slice){0}; /* of no dataset */
    end_as(FETCH_ANSWERED, 206, "");
    assert_trace("ended\nkept length\ndone fetched: \n");
    assert_file(path, "0123456789");
}

/* What has begun anew since stays, also beside a whole file of before. */
static void
a_part_is_newer_than_the_file(void **state)
{
    (void)state;
    begin_first();
    assert_true(pour(200, "ETag: \"2\"\r\n\r\n", "0123456789"));
    end_as(FETCH_ANSWERED, 200, "");
    FILE *file = fopen(part, "w");
    assert_non_null(file);
    fputs("abc", file);
    fclose(file);
    buf_reset(&trace);
    begin(DUMP, DUMP_WHOLE);
    assert_trace("ask from 2 if '\"2\"' unless '' ''\n");
    assert_file(path, "0123456789");
    end_as(FETCH_ANSWERED, 404, "");
}

/* A part of one would be that of another version. */
static void
a_validator_that_is_too_long_is_none(void **state)
{
    char header[600] = "ETag: \"";
    (void)state;
    memset(header + strlen(header), 'e', 500);
    strcat(header, "\"\r\n\r\n");
    leave(header, "01234");
    begin_first();
    end_as(FETCH_ANSWERED, 404, "");
}

static void
answers_without_a_dump(void **state)
{
    static const struct {
        unsigned status;
        const char *header, *trace;
        bool discards;
    } cases[] = {
        {304, "", "done fetched: not modified\n", true},
        {416, "", "retry 1000: the server answered 416\n", true},
        {300, "", "kept \ndone failed: redirects nowhere, or too often\n", true},
        {302, "Location: mailto:a@b.example\r\n\r\n",
         "kept \ndone failed: redirects nowhere, or too often\n", true},
        {399, "Location: https://b.example/x#y\r\n\r\n",
         "kept \noutput https://b.example/x#dump lane https://b.example hops 1 depth 4 flags %u\n"
         "done redirected: \n",
         true},
        {400, "", "done failed: the server answered 400\n", true},
        {204, "", "done failed: the server answered 204\n", true},
        {299, "", "done failed: the server answered 299\n", true},
        {404, "", "done gone: the server answered 404\n", true},
        {410, "", "done gone: the server answered 410\n", true},
        {408, "", "retry 1234: the server answered 408\n", false},
        {429, "", "retry 1234: the server answered 429\n", false},
        {499, "", "done failed: the server answered 499\n", true},
        {500, "", "retry 1234: the server answered 500\n", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[300] = "ended\n";
        leave("ETag: \"2\"\r\n\r\n", "01234");
        begin(DUMP, DUMP_AGAIN);
        assert_trace("ask from 4 if '\"2\"' unless '' ''\n");
        (void)pour(cases[i].status, cases[i].header, "a page of words");
        end_as(FETCH_ANSWERED, cases[i].status, cases[i].header);
        snprintf(expected + 6, sizeof expected - 6, cases[i].trace, (unsigned)JOB_RECRAWL);
        assert_trace(expected);
        assert_file(part, cases[i].discards ? NULL : "0123");
        assert_int_equal(access(head, F_OK) == 0, !cases[i].discards);
        (void)unlink(part);
        (void)unlink(head);
    }
}

static void
redirects_end(void **state)
{
    static const char to[] = "Location: /b\r\n\r\n";
    (void)state;
    job.job.hops = REDIRECTS_MOST - 1;
    begin_first();
    end_as(FETCH_ANSWERED, 301, to);
    assert_non_null(strstr(trace.data, "output http://data.example/b#dump"));
    assert_said(META_REDIRECT_TO, "http://data.example/b");
    buf_reset(&trace);
    job.job.hops = REDIRECTS_MOST;
    begin_first();
    end_as(FETCH_ANSWERED, 301, to);
    assert_trace("ended\nkept \ndone failed: redirects nowhere, or too often\n");
    archive_fails = true;
    begin_first();
    end_as(FETCH_ANSWERED, 301, to);
    assert_trace("ended\nnot kept\n");
    begin_first();
    assert_true(pour(200, "", "01234"));
    end_as(FETCH_ANSWERED, 200, "");
    assert_trace("ended\nnot kept\n");
}

static void
what_is_asked_again_is_asked_with_conditions(void **state)
{
    (void)state;
    begin(DUMP, DUMP_AGAIN);
    assert_trace("ask from 0 if '' unless '\"1\"' 'yesterday'\n");
    end_as(FETCH_ANSWERED, 304, "");
    assert_trace("ended\ndone fetched: not modified\n");
}

static void
by_ftp_it_is_looked_at_first(void **state)
{
    static const struct {
        enum fetch_end end;
        unsigned status;
        const char *header, *trace;
        bool goes_on;
    } cases[] = {
        {FETCH_ANSWERED, 200, "ETag: \"1\"\r\n\r\n", "ended\ndone fetched: not modified\n", false},
        {FETCH_ANSWERED, 200, "ETag: \"2\"\r\n\r\n", "ended\nask from 0 if '' unless '' ''\n",
         true},
        {FETCH_ANSWERED, 200, "\r\n", "ended\nask from 0 if '' unless '' ''\n", true},
        {FETCH_ANSWERED, 404, "ETag: \"1\"\r\n\r\n", "ended\ndone gone: the server answered 404\n",
         false},
        {FETCH_FAILED, 200, "ETag: \"1\"\r\n\r\n", "ended\nretry 0: it broke\n", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(FTP_DUMP, DUMP_AGAIN);
        assert_trace("ask about it from 0 if '' unless '' ''\n");
        const struct fetch_result result = {.end = cases[i].end,
                                            .status = (uint16_t)cases[i].status,
                                            .response_header = slice_string(cases[i].header),
                                            .problem = "it broke"};
        request.done(request.context, &result);
        assert_trace(cases[i].trace);
        assert_int_equal(task != NULL, cases[i].goes_on);
        if (task != NULL) {
            end_as(FETCH_ANSWERED, 404, "");
            assert_trace("ended\ndone gone: the server answered 404\n");
        }
    }
    begin(FTP_DUMP, DUMP_WHOLE);
    assert_trace("ask from 0 if '' unless '' ''\n");
    end_as(FETCH_ANSWERED, 404, "");
}

static void
ends_without_an_answer(void **state)
{
    static const struct {
        enum fetch_end end;
        unsigned attempt;
        const char *header;
        size_t bytes;
        const char *trace;
        bool kept;
    } cases[] = {
        {FETCH_CUT_LENGTH, 1, "ETag: \"2\"\r\n\r\n", 5,
         "done failed: larger than datasets.dump_size\n", false},
        {FETCH_CROWDED, 1, "", 0, "back 99\n", true},
        {FETCH_REFUSED_ADDRESS, 1, "", 0, "done denied: it broke\n", true},
        {FETCH_CUT_TIME, ATTEMPTS - 1, "ETag: \"2\"\r\n\r\n", PROGRESS - 1, "retry 0: it broke\n",
         true},
        {FETCH_CUT_TIME, ATTEMPTS, "ETag: \"2\"\r\n\r\n", PROGRESS - 1, "retry 0: it broke\n",
         false},
        {FETCH_CUT_TIME, ATTEMPTS, "ETag: \"2\"\r\n\r\n", PROGRESS, "release 7000: it broke\n",
         true},
        {FETCH_CUT_TIME, ATTEMPTS, "ETag: W/\"2\"\r\n\r\n", PROGRESS, "retry 0: it broke\n", false},
        {FETCH_CUT_TIME, ATTEMPTS, "ETag: W/\"2\"\r\nLast-Modified: today\r\n\r\n", PROGRESS,
         "release 7000: it broke\n", true},
    };
    (void)state;
    fetch.datasets.dump_size = 1 << 20;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[200] = "ended\n";
        char *bytes = memory_zero(cases[i].bytes + 1, 1);
        memset(bytes, 'a', cases[i].bytes);
        job.job.attempt = (uint16_t)cases[i].attempt;
        begin_first();
        assert_true(cases[i].bytes == 0 || pour(200, cases[i].header, bytes));
        end_as(cases[i].end, 200, "");
        assert_trace(strcat(expected, cases[i].trace));
        assert_int_equal(access(part, F_OK) == 0, cases[i].kept);
        (void)unlink(part);
        (void)unlink(head);
        free(bytes);
    }
}

static void
it_goes_on_only_where_it_ended(void **state)
{
    static const struct {
        const char *header;
        bool good;
    } cases[] = {
        {"Content-Range: bytes 4-9/10\r\nETag: \"2\"\r\n\r\n", true},
        {"Content-Range: BYTES 4-9/10\r\n\r\n", true},
        {"Content-Range: bytes 4-9/10\r\nETag: \"3\"\r\n\r\n", false},
        {"Content-Range: bytes 3-9/10\r\nETag: \"2\"\r\n\r\n", false},
        {"Content-Range: bytes 5-9/10\r\nETag: \"2\"\r\n\r\n", false},
        {"Content-Range: bytes -4/10\r\n\r\n", false},
        {"Content-Range: bytes \r\n\r\n", false},
        {"Content-Range: lines 4-9/10\r\n\r\n", false},
        {"Content-Range: bytes=4-9/10\r\n\r\n", false},
        {"Content-Range: bytes 000000000000000000000000000000004-9/10\r\n\r\n", false},
        {"Content-Range: bytes 00000000000000000000004-9/10\r\n\r\n", true}, /* 23 digits */
        {"Content-Range: bytes 000000000000000000000004-9/10\r\n\r\n", false},
        {"\r\n", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leave("ETag: \"2\"\r\n\r\n", "01234");
        begin(DUMP, DUMP_WHOLE);
        assert_trace("ask from 4 if '\"2\"' unless '' ''\n");
        assert_int_equal(pour(206, cases[i].header, "456789"), cases[i].good);
        end_as(cases[i].good ? FETCH_ANSWERED : FETCH_CUT_CONNECTION, 206, "");
        assert_trace(cases[i].good ? "ended\nkept length\nput " DATASET
                                     " 100 changed\ndone fetched: \n"
                                   : "ended\nretry 1000: the answer is not the rest of it\n");
        assert_file(cases[i].good ? path : part, cases[i].good ? "0123456789" : NULL);
        assert_int_equal(access(head, F_OK) == 0, cases[i].good);
        (void)unlink(path);
        (void)unlink(head);
    }
    leave("Last-Modified: today\r\n\r\n", "01234"); /* which says nothing of tags */
    begin(DUMP, DUMP_WHOLE);
    assert_trace("ask from 4 if 'today' unless '' ''\n");
    assert_true(pour(206, "Content-Range: bytes 4-5/6\r\nETag: \"3\"\r\n\r\n", "45"));
    end_as(FETCH_ANSWERED, 206, "");
    assert_file(path, "012345");
}

static void
another_version_begins_anew(void **state)
{
    (void)state;
    leave("ETag: \"2\"\r\n\r\n", "01234");
    begin(DUMP, DUMP_WHOLE);
    assert_true(pour(200, "ETag: \"3\"\r\n\r\n", "abc"));
    assert_file(part, "abc");
    end_as(FETCH_CUT_CONNECTION, 200, "");
    buf_reset(&trace);
    begin(DUMP, DUMP_WHOLE);
    assert_trace("ask from 2 if '\"3\"' unless '' ''\n");
    end_as(FETCH_ANSWERED, 404, "");
}

static void
no_dump_is_larger_than_allowed(void **state)
{
    char body[MOST + 2];
    (void)state;
    memset(body, 'a', MOST + 1);
    body[MOST] = '\0';
    begin_first();
    assert_true(pour(200, "Content-Length: 100\r\n\r\n", body)); /* as large as allowed */
    assert_false(request.sink->take(request.sink->context, SLICE("a")));
    end_as(FETCH_CUT_CONNECTION, 200, "");
    assert_trace("ended\ndone failed: larger than datasets.dump_size\n");
    assert_file(part, NULL);
    begin_first();
    assert_false(pour(200, "Content-Length: 101\r\n\r\n", ""));
    end_as(FETCH_CUT_CONNECTION, 200, "");
    assert_trace("ended\ndone failed: larger than datasets.dump_size\n");
    leave("ETag: \"2\"\r\n\r\n", "01234"); /* what is there counts */
    begin(DUMP, DUMP_WHOLE);
    buf_reset(&trace);
    assert_false(pour(206, "Content-Range: bytes 4-100/101\r\nContent-Length: 97\r\n\r\n", "4"));
    end_as(FETCH_CUT_CONNECTION, 206, "");
    assert_trace("ended\ndone failed: larger than datasets.dump_size\n");
    begin_first();
    body[MOST] = 'a';
    body[MOST + 1] = '\0';
    assert_true(pour(403, "Content-Length: 101\r\n\r\n", body)); /* which is none of it */
    end_as(FETCH_ANSWERED, 403, "");
    assert_trace("ended\ndone failed: the server answered 403\n");
}

static void
a_disk_that_fails_costs_no_attempt(void **state)
{
    (void)state;
    begin_first();
    syncs_until_failure = 0; /* of the head */
    assert_false(pour(200, "ETag: \"2\"\r\n\r\n", "01234"));
    end_as(FETCH_CUT_CONNECTION, 200, "");
    assert_trace("ended\nrelease 10000: No space left on device\n");
    for (int good = 1; good <= 2; good++) { /* of the part, and of the head behind it */
        syncs_until_failure = -1;
        (void)unlink(part);
        (void)unlink(head);
        begin_first();
        syncs_until_failure = good;
        assert_true(pour(200, "ETag: \"2\"\r\n\r\n", "01234"));
        end_as(FETCH_ANSWERED, 200, "");
        assert_non_null(strstr(trace.data, "ended\nrelease 10000: "));
        assert_non_null(strstr(trace.data, ": No space left on device\n"));
        assert_file(path, NULL);
        buf_reset(&trace);
    }
    syncs_until_failure = -1;
    rename_fails = true;
    (void)unlink(part);
    (void)unlink(head);
    begin_first();
    assert_true(pour(200, "ETag: \"2\"\r\n\r\n", "01234"));
    end_as(FETCH_ANSWERED, 200, "");
    assert_non_null(strstr(trace.data, ": No space left on device\n"));
    assert_file(part, "01234");
    rename_fails = false;
    (void)unlink(part);
    assert_int_equal(mkdir(part, 0700), 0);
    buf_reset(&trace);
    begin(DUMP, DUMP_WHOLE);
    assert_null(task);
    assert_non_null(strstr(trace.data, ".part: Is a directory\n"));
    (void)rmdir(part);
}

/* A server that was asked for the whole may say that it gives a part, whose beginning it tells. */
static void
a_part_of_what_was_not_there_begins_at_the_beginning(void **state)
{
    (void)state;
    begin_first();
    assert_false(pour(206, "Content-Range: bytes -9/10\r\n\r\n", "0123456789"));
    end_as(FETCH_CUT_CONNECTION, 206, "");
    assert_trace("ended\nretry 1000: the answer is not the rest of it\n");
    begin_first();
    assert_true(pour(206, "Content-Range: bytes 0-9/10\r\n\r\n", "0123456789"));
    end_as(FETCH_ANSWERED, 206, "");
    assert_file(path, "0123456789");
}

/* Bytes may be taken a few at a time, and a signal may come: nothing is lost, nor written twice. */
static void
what_is_written_in_pieces_is_whole(void **state)
{
    (void)state;
    begin_first();
    assert_true(pour(200, "ETag: \"2\"\r\n\r\n", ""));
    written_at_most = 3;
    write_errors[1] = EINTR;
    assert_true(request.sink->take(request.sink->context, SLICE("0123456789")));
    assert_file(part, "0123456789");
    written_at_most = SIZE_MAX;
    write_errors[0] = EINTR;
    write_errors[1] = ENOSPC;
    assert_false(request.sink->take(request.sink->context, SLICE("a")));
    assert_file(part, "0123456789");
    end_as(FETCH_CUT_CONNECTION, 200, "");
    assert_trace("ended\nrelease 10000: cannot write the dump: No space left on device\n");
    begin(DUMP, DUMP_WHOLE);
    assert_trace("ask from 9 if '\"2\"' unless '' ''\n");
    end_as(FETCH_ANSWERED, 404, "");
}

/* 16 MiB at a time are synced, and after a power failure only these count. */
static void
what_another_start_wrote_counts_as_far_as_it_was_synced(void **state)
{
    enum { PIECE = 8 << 20, BOOT_AT = 21 };
    char *bytes = memory_zero(PIECE, 1);
    struct stat about;
    (void)state;
    fetch.datasets.dump_size = 64 << 20;
    begin_first();
    assert_true(pour(200, "ETag: \"2\"\r\n\r\n", ""));
    for (int i = 0; i < 3; i++) {
        assert_true(request.sink->take(request.sink->context, slice_of(bytes, PIECE)));
    }
    end_as(FETCH_CUT_CONNECTION, 200, "");
    assert_trace("ended\nrelease 7000: it broke\n");
    begin(DUMP, DUMP_WHOLE); /* the same start of the machine */
    assert_trace("ask from 25165823 if '\"2\"' unless '' ''\n");
    end_as(FETCH_CROWDED, 0, "");
    FILE *file = fopen(head, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, BOOT_AT, SEEK_SET), 0);
    fputs("another-start", file);
    fclose(file);
    buf_reset(&trace);
    begin(DUMP, DUMP_WHOLE);
    assert_trace("ask from 16777215 if '\"2\"' unless '' ''\n");
    assert_int_equal(stat(part, &about), 0);
    assert_int_equal(about.st_size, 16777215);
    syncs_until_failure = 0; /* the sync that is due is missed */
    assert_true(pour(206, "Content-Range: bytes 16777215-/*\r\n\r\n", "a"));
    assert_true(request.sink->take(request.sink->context, slice_of(bytes, PIECE)));
    assert_false(request.sink->take(request.sink->context, slice_of(bytes, PIECE)));
    end_as(FETCH_CUT_CONNECTION, 206, "");
    assert_trace("ended\nrelease 10000: cannot sync the dump: No space left on device\n");
    free(bytes);
}

/* Of a validator as long as there is room for all is kept; of two bytes one is asked for again. */
static void
the_longest_validator_is_kept(void **state)
{
    char header[DOWNLOAD_VALIDATOR + 50], wanted[DOWNLOAD_VALIDATOR + 50];
    struct stat about;
    (void)state;
    for (int longer = 0; longer < 2; longer++) {
        char tag[DOWNLOAD_VALIDATOR + 2];
        memset(tag, 'e', sizeof tag);
        tag[0] = tag[DOWNLOAD_VALIDATOR + longer - 1] = '"';
        snprintf(header, sizeof header, "ETag: %.*s\r\n\r\n", DOWNLOAD_VALIDATOR + longer, tag);
        leave(header, "01");
        snprintf(wanted, sizeof wanted, "ask from %d if '%.*s' unless '' ''\n", longer ? 0 : 1,
                 longer ? 0 : DOWNLOAD_VALIDATOR, tag);
        begin(DUMP, DUMP_WHOLE);
        assert_trace(wanted);
        assert_int_equal(stat(part, &about), 0);
        assert_int_equal(about.st_mode & 0111, 0);
        assert_int_equal(stat(head, &about), 0);
        assert_int_equal(about.st_mode & 0111, 0);
        end_as(FETCH_ANSWERED, 404, "");
        buf_reset(&trace);
    }
}

/* A head may be of more than there is: then what is there counts. */
static void
no_more_is_at_hand_than_is_there(void **state)
{
    enum { BOOT_AT = 21 };
    struct stat about;
    uint64_t bytes = 0;
    struct buf record;
    (void)state;
    leave("ETag: \"2\"\r\n\r\n", "01234");
    FILE *file = fopen(head, "r+");
    assert_non_null(file);
    fprintf(file, "%020d another-start", 9);
    assert_int_equal(ftell(file), BOOT_AT + (long)strlen("another-start"));
    fclose(file);
    begin(DUMP, DUMP_WHOLE);
    assert_trace("ask from 4 if '\"2\"' unless '' ''\n");
    assert_int_equal(stat(part, &about), 0);
    assert_int_equal(about.st_size, 4);
    /* Another version has nothing of what was at hand. */
    assert_true(pour(200, "ETag: \"3\"\r\n\r\n", "abc"));
    end_as(FETCH_ANSWERED, 200, "");
    buf_reset(&trace);
    assert_file(path, "abc");
    buf_init(&record, 1 << 16);
    (void)meta_merge((struct slice){0}, meta_update_fields(&job.meta), &record);
    assert_true(meta_record_number(buf_slice(&record), META_PAYLOAD_BYTES, &bytes));
    assert_int_equal(bytes, 3);
    buf_release(&record);
    /* A whole file of another size than its head says is not what was fetched. */
    file = fopen(path, "a");
    assert_non_null(file);
    fputs("d", file);
    fclose(file);
    begin(DUMP, DUMP_WHOLE);
    assert_trace("ask from 0 if '\"3\"' unless '' ''\n");
    assert_file(path, "abcd");
    end_as(FETCH_ANSWERED, 404, "");
}

static void
a_damaged_head_is_none(void **state)
{
    static const struct {
        long at;
        char byte;
        long length; /* that the head is cut to; 0: none */
    } cases[] = {{20, '-', 0}, {57, '-', 0}, {58, '\0', 0}, {0, '0', 511}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leave("ETag: \"2\"\r\n\r\n", "01234");
        FILE *file = fopen(head, "r+");
        assert_non_null(file);
        assert_int_equal(fseek(file, cases[i].at, SEEK_SET), 0);
        fputc(cases[i].byte, file);
        fclose(file);
        assert_true(cases[i].length == 0 || truncate(head, cases[i].length) == 0);
        begin_first();
        end_as(FETCH_ANSWERED, 404, "");
        buf_reset(&trace);
    }
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    download_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_dump_comes_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_part_is_newer_than_the_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_validator_that_is_too_long_is_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(answers_without_a_dump, set_up, tear_down),
        cmocka_unit_test_setup_teardown(redirects_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_asked_again_is_asked_with_conditions, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(by_ftp_it_is_looked_at_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ends_without_an_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_goes_on_only_where_it_ended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_version_begins_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_dump_is_larger_than_allowed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_disk_that_fails_costs_no_attempt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_part_of_what_was_not_there_begins_at_the_beginning,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_written_in_pieces_is_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_another_start_wrote_counts_as_far_as_it_was_synced,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_longest_validator_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_more_is_at_hand_than_is_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_head_is_none, set_up, tear_down),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests_name("dump_fetch", tests, NULL, NULL);
}
