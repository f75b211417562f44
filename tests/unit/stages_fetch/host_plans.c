#include "tests/unit/stages_fetch/host_plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "datasets/rdf_description.h"
#include "rdf/format.h"

struct fetch fetch;
struct stage_job job;
struct host host;
struct task *task;
struct buf trace, words;
struct had had[HAD];
size_t had_count, gets, failing_get, most_keys;
bool no_content, no_host, hold;
uint64_t now_ms;
char last_key[512];
struct held_reply held[8];
size_t held_count;

/* ---- in the place of others ---- */

static void
tell_uri(struct slice uri)
{
    const size_t at = slice_find_slice(uri, SLICE(EXECUTION_FRAGMENT));
    buf_printf(&trace, " %.*s", (int)at, uri.at);
    if (at < uri.length) {
        assert_int_equal(uri.length - at, strlen(EXECUTION_FRAGMENT) + 16);
        buf_append_string(&trace, "/#slice");
    }
}

void
task_free(struct task *one)
{
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
task_bury(struct task *one, const char *reason)
{
    buf_printf(&trace, "bury: %s\n", reason);
    task_free(one);
}

static void
tell_put(const char *word, struct slice uri, uint8_t priority, struct slice type,
         struct slice about)
{
    buf_append_string(&trace, word);
    tell_uri(uri);
    buf_printf(&trace, " %u %.*s", priority, SLICE_PRINT(type));
    if (about.length > 0) {
        tell_uri(about);
    }
    buf_append_char(&trace, '\n');
}

void
task_put(struct task *one, struct slice uri, uint8_t priority, struct slice type,
         struct slice about)
{
    assert_ptr_equal(one, task);
    tell_put("put", uri, priority, type, about);
}

void
task_put_first(struct task *one, struct slice uri, uint8_t priority, struct slice type,
               struct slice about)
{
    assert_ptr_equal(one, task);
    tell_put("first", uri, priority, type, about);
}

void
task_output(struct task *one, struct slice uri, uint8_t priority, uint8_t flags, struct slice data)
{
    struct document document = {0};
    assert_ptr_equal(one, task);
    if (data.length > 0) {
        assert_true(document_decode(data, &document));
    }
    buf_append_string(&trace, "output");
    tell_uri(uri);
    buf_printf(&trace, " %u %s%.*s\n", priority,
               flags == JOB_RESOURCE  ? "resource"
               : flags == JOB_RECRAWL ? "again "
                                      : "",
               SLICE_PRINT(document.type));
}

void
task_note_refused(struct task *one, enum scope_refused what)
{
    assert_ptr_equal(one, task);
    buf_printf(&trace, "refused %d\n", what == REFUSED_VOID);
}

void __wrap_stage_release(struct stage_job *one, uint64_t delay_ms, bool counts, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));
void
__wrap_stage_release(struct stage_job *one, uint64_t delay_ms, bool counts, const char *format, ...)
{
    char text[256];
    va_list list;
    assert_ptr_equal(one, &job);
    assert_false(counts);
    assert_int_equal(delay_ms, WAIT_MS);
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    buf_printf(&trace, "wait: %s\n", text);
}

void __wrap_stage_output(struct stage_job *one, const struct job *output);
void
__wrap_stage_output(struct stage_job *one, const struct job *output)
{
    assert_ptr_equal(one, &job);
    assert_int_equal(output->key.stage, STAGE_FETCH);
    assert_true(slice_equal(output->lane_name, url_origin(output->uri)));
    assert_true(slice_equal(output->via, job.job.uri));
    buf_printf(&trace, "page %.*s %u depth %u\n", SLICE_PRINT(output->uri), output->priority,
               output->depth);
}

static void
tell_field(struct slice record, enum meta_field field, const char *name)
{
    struct slice text = {0}, line;
    if (meta_record_text(record, field, &text) && text.length > 0) {
        buf_printf(&trace, "  %s:\n", name);
        while (execution_line(&text, &line)) {
            buf_append_string(&trace, "   ");
            tell_uri(line);
            buf_append_char(&trace, '\n');
        }
    }
}

void __wrap_stage_put_meta(struct stage_job *one, struct slice key, struct slice fields);
void
__wrap_stage_put_meta(struct stage_job *one, struct slice key, struct slice fields)
{
    struct buf record;
    struct slice text = {0};
    assert_ptr_equal(one, &job);
    buf_init(&record, TRACE);
    (void)meta_merge((struct slice){0}, fields, &record);
    buf_append_string(&trace, "meta");
    tell_uri(key);
    buf_append_char(&trace, '\n');
    tell_field(buf_slice(&record), META_DESCRIPTIONS, "descriptions");
    tell_field(buf_slice(&record), META_COVER, "cover");
    tell_field(buf_slice(&record), META_AUTHORITIES, "authorities");
    tell_field(buf_slice(&record), META_DATASETS, "datasets");
    tell_field(buf_slice(&record), META_EXECUTION, "execution");
    if (meta_record_text(buf_slice(&record), META_PLAN, &text)) {
        buf_append_slice(&words, text);
    }
    buf_release(&record);
}

const char *__wrap_stage_directory(struct stage_run *run);
const char *
__wrap_stage_directory(struct stage_run *run)
{
    (void)run;
    return "/";
}

const struct cluster *__wrap_stage_cluster(struct stage_run *run);
const struct cluster *
__wrap_stage_cluster(struct stage_run *run)
{
    (void)run;
    return NULL;
}

struct metastore_client *__wrap_stage_metastore(struct stage_run *run);
struct metastore_client *
__wrap_stage_metastore(struct stage_run *run)
{
    (void)run;
    return NULL;
}

bool __wrap_scope_allows(struct scope *scope, struct slice uri, uint32_t depth,
                         const char **because);
bool
__wrap_scope_allows(struct scope *scope, struct slice uri, uint32_t depth, const char **because)
{
    (void)scope, (void)because;
    assert_true(depth == 0 || depth >= DEPTH);
    return slice_find_slice(uri, SLICE("outside")) == uri.length;
}

struct host *__wrap_hosts_find(struct hosts *hosts, struct slice origin, uint64_t at);
struct host *
__wrap_hosts_find(struct hosts *hosts, struct slice origin, uint64_t at)
{
    (void)hosts;
    assert_int_equal(at, 0);
    assert_true(no_host || slice_is(origin, ORIGIN));
    return no_host ? NULL : &host;
}

void __wrap_host_set_cover(struct host *one, struct slice cover, struct slice authorities,
                           uint64_t at);
void
__wrap_host_set_cover(struct host *one, struct slice cover, struct slice authorities, uint64_t at)
{
    assert_ptr_equal(one, &host);
    assert_int_equal(at, now_ms);
    buf_printf(&trace, "covered %d %d\n", cover.length > 0, authorities.length > 0);
}

uint64_t __wrap_clock_wall_ms(void);
uint64_t
__wrap_clock_wall_ms(void)
{
    return now_ms;
}

enum status __wrap_content_open(struct content **content, const char *directory,
                                const struct cluster *cluster, const struct warc_limits *limits,
                                struct reason *why);
enum status
__wrap_content_open(struct content **content, const char *directory, const struct cluster *cluster,
                    const struct warc_limits *limits, struct reason *why)
{
    (void)directory, (void)cluster;
    assert_true(limits->encoded);
    if (no_content) {
        return status_fail(why, STATUS_SYSTEM, "no archive");
    }
    *content = (struct content *)&fetch;
    return STATUS_OK;
}

void __wrap_content_close_files(struct content *content, struct stage_run *run);
void
__wrap_content_close_files(struct content *content, struct stage_run *run)
{
    (void)run;
    assert_non_null(content);
}

/* Files are named by the number of what was had, and r or c. */
enum status __wrap_content_read(struct content *content, const struct document_record *where,
                                struct buf *memory, struct warc_record *record, struct reason *why);
enum status
__wrap_content_read(struct content *content, const struct document_record *where,
                    struct buf *memory, struct warc_record *record, struct reason *why)
{
    const struct had *one = &had[strtoul(where->file.at, NULL, 10)];
    const bool conversion = where->file.at[where->file.length - 1] == 'c';
    (void)content, (void)memory, (void)why;
    assert_true(slice_is(where->node, "n1"));
    assert_int_equal(where->offset, conversion ? 21 : 11);
    assert_int_equal(where->length, conversion ? 22 : 12);
    *record = (struct warc_record){
        .http_status = (uint16_t)(one->http_status != 0 ? one->http_status : 200),
        .payload = slice_string(conversion ? one->conversion : one->response)};
    return one->status;
}

static void
record_of(const struct had *one, struct buf *record)
{
    struct meta_update update;
    char file[16];
    meta_update_init(&update);
    if (one->state != NULL) {
        meta_set_text(&update, META_STATE, slice_string(one->state));
    }
    if (one->descriptions != NULL) {
        meta_set_text(&update, META_DESCRIPTIONS, slice_string(one->descriptions));
    }
    if (one->to != NULL) {
        meta_set_text(&update, META_REDIRECT_TO, slice_string(one->to));
    }
    if (one->response != NULL) {
        snprintf(file, sizeof file, "%zur", (size_t)(one - had));
        meta_set_text(&update, META_WARC_NODE, SLICE("n1"));
        meta_set_text(&update, META_WARC_FILE, slice_string(file));
        meta_set_number(&update, META_WARC_OFFSET, 11);
        meta_set_number(&update, META_WARC_LENGTH, 12);
    }
    if (one->conversion != NULL) {
        snprintf(file, sizeof file, "%zuc", (size_t)(one - had));
        meta_set_text(&update, META_CONVERSION_NODE, SLICE("n1"));
        meta_set_text(&update, META_CONVERSION_FILE, slice_string(file));
        meta_set_number(&update, META_CONVERSION_OFFSET, 21);
        meta_set_number(&update, META_CONVERSION_LENGTH, 22);
    }
    (void)meta_merge((struct slice){0}, meta_update_fields(&update), record);
    meta_update_release(&update);
}

/* A dataset's job is looked up as "slice". */
static const struct had *
find_had(struct slice key)
{
    const bool dataset = slice_find_slice(key, SLICE(EXECUTION_FRAGMENT)) < key.length;
    for (size_t i = 0; i < had_count; i++) {
        if (slice_is(dataset ? SLICE("slice") : key, had[i].key)) {
            return &had[i];
        }
    }
    return NULL;
}

void __wrap_metastore_get(struct metastore_client *client, const struct slice *keys, size_t n,
                          metastore_got *done, void *context);
void
__wrap_metastore_get(struct metastore_client *client, const struct slice *keys, size_t n,
                     metastore_got *done, void *context)
{
    (void)client;
    assert_true(n > 0);
    most_keys = n > most_keys ? n : most_keys;
    snprintf(last_key, sizeof last_key, "%.*s", SLICE_PRINT(keys[n - 1]));
    if (++gets == failing_get) {
        done(context, STATUS_TIMEOUT, NULL, 0, &(struct reason){"nobody answers"});
        return;
    }
    struct buf *bytes = memory_zero(n, sizeof *bytes);
    struct slice *records = memory_zero(n, sizeof *records);
    for (size_t i = 0; i < n; i++) {
        const struct had *one = find_had(keys[i]);
        buf_init(&bytes[i], TRACE);
        if (one != NULL) {
            record_of(one, &bytes[i]);
        }
        records[i] = one != NULL ? buf_slice(&bytes[i]) : (struct slice){0};
    }
    done(context, STATUS_OK, records, n, &(struct reason){""});
    for (size_t i = 0; i < n; i++) {
        buf_release(&bytes[i]);
    }
    free(bytes);
    free(records);
}

void __wrap_fetch_parser_submit(struct fetch_parser *parser, const struct parser_request *request,
                                fetch_parsed *done, void *context);
void
__wrap_fetch_parser_submit(struct fetch_parser *parser, const struct parser_request *request,
                           fetch_parsed *done, void *context)
{
    (void)parser;
    assert_int_equal(request->verb, PARSER_DESCRIPTION);
    if (!hold) {
        done(context, STATUS_OK, request->bytes, &(struct reason){""});
        return;
    }
    held[held_count].done = done;
    held[held_count].context = context;
    held[held_count++].bytes = strndup(request->bytes.at, request->bytes.length);
}

bool __wrap_parsed_description_decode(struct slice reply, struct slice uri, struct arena *arena,
                                      struct description *description);
bool
__wrap_parsed_description_decode(struct slice reply, struct slice uri, struct arena *arena,
                                 struct description *description)
{
    const struct parse_options options = {.base = uri};
    struct reason why;
    struct graph graph;
    if (slice_starts(reply, SLICE("<?xml"))) {
        return semantic_sitemap_parse(reply, uri, arena, description, &why) == STATUS_OK;
    }
    graph_init(&graph, 1 << 20);
    const struct quad_sink sink = graph_sink(&graph);
    const bool good = rdf_parse(RDF_FORMAT_TURTLE, reply, &options, &sink, &why) == STATUS_OK;
    if (good) {
        rdf_description_read(&graph, uri, arena, description);
    }
    graph_release(&graph);
    return good;
}

/* ---- steps ---- */

void
know(struct had one)
{
    assert_true(had_count < HAD);
    had[had_count++] = one;
}

/* The host has one sitemap, and this is it. */
void
know_map(const char *body)
{
    know((struct had){.key = "h" ORIGIN, .descriptions = MAP "\n"});
    know((struct had){.key = "u" MAP, .state = "fetched", .response = body});
}

void
new_task(const char *uri, const char *type)
{
    job.job.uri = slice_string(uri);
    job.document.type = slice_string(type);
    task = memory_new(sizeof *task);
    task->fetch = &fetch;
    task->job = &job;
    task->origin = SLICE(ORIGIN);
    task->url = SLICE(ORIGIN "/");
    gets = 0;
}

void
plan(const char *uri, const char *type)
{
    new_task(uri, type);
    task_plan(task);
}

void
assert_trace(const char *text)
{
    assert_string_equal(trace.length > 0 ? trace.data : "", text);
    buf_reset(&trace);
}

void
assert_plan(const char *text)
{
    plan(ORIGIN PLAN_FRAGMENT, "");
    assert_trace(text);
}

bool
was_said(const char *text)
{
    const bool found = words.length > 0 && strstr(words.data, text) != NULL;
    buf_reset(&words);
    return found;
}

void
forget(void)
{
    had_count = 0;
    buf_reset(&trace);
    buf_reset(&words);
}

int
set_up(void **state)
{
    (void)state;
    buf_init(&trace, TRACE);
    buf_init(&words, TRACE);
    had_count = failing_get = held_count = 0;
    no_content = no_host = hold = false;
    fetch = (struct fetch){.datasets = {.execute = true, .wait_ms = PATIENCE_MS, .prefer = ""}};
    host = (struct host){0};
    job = (struct stage_job){.job = {.depth = DEPTH, .queued_ms = QUEUED_MS}};
    arena_init(&job.arena, 1 << 20);
    now_ms = QUEUED_MS;
    return 0;
}

int
tear_down(void **state)
{
    (void)state;
    free(task);
    task = NULL;
    arena_release(&job.arena);
    buf_release(&trace);
    buf_release(&words);
    return 0;
}
