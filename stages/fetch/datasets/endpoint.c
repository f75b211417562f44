/* A dataset had from its SPARQL endpoint, as if that were a dump: page by page (datasets/harvest.h)
 * into DIR/dumps/NAME.part, which is DIR/dumps/NAME in the end (datasets/execution.h).
 *
 * A page is a job of the endpoint's lane, so robots.txt, delays and Retry-After are as ever; it
 * puts the next one. Where it stands is in the job and nowhere else: bytes of the file that count,
 * and behind which resource it goes on. A process that was killed begins its page again.
 *
 * Limits of an endpoint are met by half the resources:
 *   at once                 after a time-out, or an answer that is too large
 *   when it fails twice     5xx, a connection that breaks, what is no N-Triples
 *   from the beginning      when a page had fewer resources than asked for, and is not the last, or
 *                           there are not so many triples as were counted. If both harvests come to
 *                           the same, not they are wrong but the count.
 *
 * Hostile input: answers, as N-Triples, which are unpacked and parsed in sandboxed workers. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "datasets/harvest.h"
#include "stages/fetch/datasets/dataset_tasks.h"

enum {
    PATH_BYTES = 4096,
    QUERIES_MOST = 10000, /* of an endpoint for a dataset; one that needs more is crawled */
    GET_BYTES = 6000,     /* longer queries are sent by POST */
    DISK_RETRY_MS = 10000,
    EXECUTION_BYTES = 16 << 20
};

struct harvest {
    struct task *task;
    struct arena arena;
    struct execution execution;
    struct harvest_position at;
    struct fetch_result result; /* of the request, while a worker reads the answer */
    struct buf result_memory;
    int file;
    char path[PATH_BYTES], part[PATH_BYTES + 8];
};

static void
harvest_free(struct harvest *harvest)
{
    file_close(harvest->file);
    buf_release(&harvest->result_memory);
    arena_release(&harvest->arena);
    free(harvest);
}

/* ---- ends of a page ---- */

static void
give_up(struct harvest *harvest, const char *state, const char *why)
{
    (void)unlink(harvest->part);
    task_done(harvest->task, state, why);
    harvest_free(harvest);
}

static void
release(struct harvest *harvest, const char *why)
{
    stage_release(harvest->task->job, DISK_RETRY_MS, false, "%s: %s", harvest->part, why);
    task_free(harvest->task);
    harvest_free(harvest);
}

/* The next page is another job; uri: its endpoint. */
static void
put_page(struct harvest *harvest, struct slice uri, const struct harvest_position *at)
{
    struct task *task = harvest->task;
    struct buf place, data;
    buf_init(&place, JOB_DATA_MAXIMUM);
    buf_init(&data, JOB_DATA_MAXIMUM);
    harvest_encode(at, &place);
    const struct document document = {.type = task->job->document.type,
                                      .content_type = task->job->document.content_type,
                                      .link_header = buf_slice(&place)};
    document_encode(&data, &document);
    task_output(task, arena_printf(&harvest->arena, "%.*s" DUMP_FRAGMENT, SLICE_PRINT(uri)),
                DUMP_PRIORITY, JOB_RESOURCE | JOB_RECRAWL, buf_slice(&data));
    buf_release(&data);
    buf_release(&place);
}

static void
put_next_page(struct harvest *harvest, const struct harvest_position *next)
{
    struct task *task = harvest->task;
    struct harvest_position at = *next;
    at.queries += task->job->job.attempt > 0 ? task->job->job.attempt : 1;
    if (at.queries >= QUERIES_MOST) {
        give_up(harvest, "failed", "it takes too many queries");
        return;
    }
    put_page(harvest, task->url, &at);
    task_done(task, NULL, NULL);
    harvest_free(harvest);
}

static void
halve(struct harvest *harvest, const char *why)
{
    struct harvest_position at = harvest->at;
    if (at.page <= 1) {
        give_up(harvest, "failed", why);
        return;
    }
    at.page /= 2;
    log_info("endpoint", "uri=%.*s page=%llu resources=%llu because=\"%s\"",
             SLICE_PRINT(harvest->task->url), (unsigned long long)at.number,
             (unsigned long long)at.page, why);
    harvest->task->report.rest_ms = harvest->task->fetch->retry_ms;
    put_next_page(harvest, &at);
}

/* Once may be chance. */
static void
trouble(struct harvest *harvest, uint64_t retry_after_ms, const char *why)
{
    struct task *task = harvest->task;
    const unsigned attempt = task->job->job.attempt;
    if (attempt > 1 && harvest->at.number == 0 && retry_after_ms == 0) {
        struct harvest_position at = harvest->at;
        at.number = 1; /* it does not count */
        put_next_page(harvest, &at);
    } else if (attempt > 1 && harvest->at.page > 1 && retry_after_ms == 0) {
        halve(harvest, why);
    } else {
        if (attempt >= task->fetch->attempts) {
            (void)unlink(harvest->part);
        }
        task_retry(task, retry_after_ms, why);
        harvest_free(harvest);
    }
}

/* From the beginning, by smaller pages. before: what these came to; 0: they were cut. */
static void
begin_again(struct harvest *harvest, uint64_t before, const char *why)
{
    const struct harvest_position *at = &harvest->at;
    if (at->page <= 1) {
        give_up(harvest, "failed", why);
        return;
    }
    log_info("endpoint", "uri=%.*s triples=%llu counted=%llu resources=%llu again=\"%s\"",
             SLICE_PRINT(harvest->task->url), (unsigned long long)at->triples,
             (unsigned long long)at->counted, (unsigned long long)at->page / 2, why);
    const struct harvest_position again = {.page = at->page / 2,
                                           .number = 1,
                                           .counted = at->counted,
                                           .queries = at->queries,
                                           .before = before > 0 ? before : at->before,
                                           .depth = at->depth,
                                           .unordered = at->unordered,
                                           .post = at->post};
    put_next_page(harvest, &again);
}

static void
finish(struct harvest *harvest, const struct fetch_result *result,
       const struct harvest_position *at)
{
    struct task *task = harvest->task;
    struct meta_update *meta = &task->job->meta;
    struct warc_location location;
    char reason[120] = "";
    if (at->counted > 0 && at->triples != at->counted) {
        if (at->before != at->triples) {
            begin_again(harvest, at->triples, "not so many triples as were counted");
            return;
        }
        snprintf(reason, sizeof reason, "the endpoint counts %llu triples and gives %llu",
                 (unsigned long long)at->counted, (unsigned long long)at->triples);
    }
    if (fdatasync(harvest->file) != 0 || file_rename(harvest->part, harvest->path) != 0) {
        release(harvest, strerror(errno));
        return;
    }
    if (task_keep_response(task, result, &location)) {
        meta_set_text(meta, META_CONTENT_TYPE, SLICE("application/n-triples"));
        meta_set_number(meta, META_PAYLOAD_BYTES, at->bytes);
        meta_set_number(meta, META_QUADS, at->triples);
        meta_set_number(meta, META_DATASET_REQUESTS, at->queries + 1);
        meta_clear(meta, META_PAYLOAD_DIGEST);
        log_info("endpoint", "uri=%.*s triples=%llu queries=%llu", SLICE_PRINT(task->url),
                 (unsigned long long)at->triples, (unsigned long long)at->queries + 1);
        if (slice_is(task->job->document.type, DUMP_PAGES_AGAIN)) {
            task_put(task, task->job->document.content_type, SLICE_PRIORITY, SLICE(DATASET_CHANGED),
                     (struct slice){0});
        }
        task_done(task, "fetched", reason);
    }
    harvest_free(harvest);
}

/* ---- answers ---- */

static bool
append_page(const struct harvest *harvest, struct slice page)
{
    return file_write_all(harvest->file, page) && fdatasync(harvest->file) == 0;
}

static void
keep_page(struct harvest *harvest, const struct fetch_result *result,
          const struct harvest_page *page)
{
    struct task *task = harvest->task;
    struct harvest_position next = harvest->at;
    struct warc_location location;
    next.bytes += page->text.length;
    next.triples += page->triples;
    next.offset += next.page;
    next.after = page->last;
    next.number++;
    next.shorter = page->resources < next.page ? 1 : 0;
    if (next.bytes > task->fetch->datasets.dump_size) {
        give_up(harvest, "failed", "larger than datasets.dump_size");
    } else if (!append_page(harvest, buf_slice(&page->text))) {
        release(harvest, strerror(errno));
    } else if (next.shorter != 0 && next.triples == next.counted) {
        finish(harvest, result, &next);
    } else if (task_archive(task, task->asking.request.url, result, (struct slice){0}, &location)) {
        put_next_page(harvest, &next);
    } else {
        harvest_free(harvest);
    }
}

static void
take_page(struct harvest *harvest, const struct harvest_page *page)
{
    const struct harvest_position *at = &harvest->at;
    if (page->deeper && at->depth < HARVEST_DEPTH_MAXIMUM) {
        struct harvest_position deeper = *at;
        deeper.depth = HARVEST_DEPTH_MAXIMUM;
        put_next_page(harvest, &deeper);
    } else if (page->triples == 0) {
        finish(harvest, &harvest->result, at);
    } else if (at->shorter != 0) {
        begin_again(harvest, 0, "the page before was cut");
    } else if (at->unordered == 0 && slice_compare(page->last, at->after) <= 0) {
        give_up(harvest, "failed", "the endpoint does not filter");
    } else {
        keep_page(harvest, &harvest->result, page);
    }
}

static void
page_parsed(void *context, enum status status, struct slice reply, const struct reason *why)
{
    struct harvest *harvest = context;
    struct harvest_page page;
    if (status == STATUS_CANCELLED) {
        return; /* the process ends; the job comes back by its lease */
    }
    harvest_page_init(&page);
    if (status == STATUS_LIMIT || status == STATUS_TIMEOUT) {
        halve(harvest, why->text);
    } else if (status != STATUS_OK || !parsed_page_decode(reply, &page)) {
        trouble(harvest, 0, why->text);
    } else {
        take_page(harvest, &page);
    }
    harvest_page_release(&page);
}

static void
count_parsed(void *context, enum status status, struct slice reply, const struct reason *why)
{
    struct harvest *harvest = context;
    struct harvest_position next = harvest->at;
    (void)why;
    if (status != STATUS_CANCELLED) {
        next.counted = status == STATUS_OK ? parsed_count(reply) : 0;
        next.number = 1;
        put_next_page(harvest, &next);
    }
}

/* To another place of the same publisher, of which it is the dump from now on. */
static void
redirected(struct harvest *harvest, const struct fetch_result *result)
{
    struct task *task = harvest->task;
    struct buf target;
    struct warc_location location;
    buf_init(&target, URL_MAXIMUM);
    const struct slice to = warc_http_header(result->response_header, "Location");
    const bool moved = to.length > 0 && task->job->job.hops < REDIRECTS_MOST &&
                       url_crawl_key(to, task->asking.request.url, &target, NULL) == STATUS_OK;
    struct slice uri = buf_slice(&target);
    const size_t query = slice_find_slice(uri, SLICE("query="));
    uri.length = query < uri.length ? query - 1 : uri.length;
    if (!moved || slice_equal(uri, task->url) ||
        !slice_equal(url_registrable_domain(url_host(uri)),
                     url_registrable_domain(url_host(task->url)))) {
        give_up(harvest, "failed", "redirects nowhere, or to somebody else");
    } else {
        if (task_keep_response(task, result, &location)) {
            meta_set_text(&task->job->meta, META_REDIRECT_TO, uri);
            put_page(harvest, uri, &harvest->at);
            task_done(task, "redirected", "");
        }
        harvest_free(harvest);
    }
    buf_release(&target);
}

static void
refused(struct harvest *harvest, const struct fetch_result *result)
{
    struct harvest_position next = harvest->at;
    char reason[60];
    const unsigned status = result->status;
    snprintf(reason, sizeof reason, "the endpoint answered %u", status);
    if (status >= 300 && status < 400) {
        redirected(harvest, result);
    } else if ((status == 405 || status == 414) && next.post == 0) {
        next.post = 1;
        put_next_page(harvest, &next);
    } else if (status == 504 && next.number > 0) {
        halve(harvest, reason);
    } else if (status >= 500 || status == 429 || status == 408) {
        trouble(harvest, result->retry_after_ms, reason);
    } else if (status == 400 && next.number == 0) {
        next.number = 1; /* it does not count */
        put_next_page(harvest, &next);
    } else if (status == 400 && next.number == 1 && next.unordered == 0) {
        next.unordered = 1;
        put_next_page(harvest, &next);
    } else {
        give_up(harvest, "failed", reason);
    }
}

static struct slice
keep(struct buf *memory, struct slice bytes)
{
    const size_t at = memory->length;
    buf_append_slice(memory, bytes);
    return slice_of(memory->data + at, bytes.length);
}

/* Keeps what is archived once the answer was read; the transfer's own is gone by then. */
static void
keep_result(struct harvest *harvest, const struct fetch_result *result)
{
    struct buf *memory = &harvest->result_memory;
    struct fetch_result *kept = &harvest->result;
    const size_t bytes = result->request.length + result->response_header.length +
                         result->body.length + result->ip.length;
    *kept = *result;
    buf_init(memory, bytes + 1);
    (void)buf_reserve(memory, bytes + 1);
    kept->request = keep(memory, result->request);
    kept->response_header = keep(memory, result->response_header);
    kept->body = keep(memory, result->body);
    kept->ip = keep(memory, result->ip);
    kept->problem = "";
}

static void
answered(struct harvest *harvest, const struct fetch_result *result)
{
    const bool counts = harvest->at.number == 0;
    const struct parser_request request = {
        .verb = counts ? PARSER_COUNT : PARSER_PAGE,
        .coding = warc_http_header(result->response_header, "Content-Encoding"),
        .bytes = result->body,
        .execution = &harvest->execution,
        .position = &harvest->at};
    const struct slice type = warc_http_header(result->response_header, "Content-Type");
    if (harvest->at.bytes == 0 && slice_starts_nocase(type, SLICE("text/html"))) {
        give_up(harvest, "failed", "a page for people answers, and no endpoint");
    } else {
        keep_result(harvest, result);
        fetch_parser_submit(harvest->task->fetch->parser, &request,
                            counts ? count_parsed : page_parsed, harvest);
    }
}

static void
page_came(void *context, const struct fetch_result *result)
{
    struct harvest *harvest = context;
    struct task *task = harvest->task;
    task_note_end(task, result);
    switch (result->end) {
    case FETCH_ANSWERED:
        (result->status == 200 ? answered : refused)(harvest, result);
        break;
    case FETCH_CUT_TIME:
    case FETCH_CUT_LENGTH:
        if (harvest->at.number > 0) {
            halve(harvest, result->problem);
        } else {
            trouble(harvest, 0, result->problem);
        }
        break;
    case FETCH_CROWDED:
        task_turn_back(task, result->address);
        harvest_free(harvest);
        break;
    case FETCH_REFUSED_ADDRESS:
        give_up(harvest, "denied", result->problem);
        break;
    default:
        trouble(harvest, 0, result->problem);
        break;
    }
}

/* ---- asking ---- */

static bool
open_file(struct harvest *harvest)
{
    struct buf name;
    char folder[PATH_BYTES / 2];
    struct reason why;
    snprintf(folder, sizeof folder, "%.2000s/dumps", stage_directory(harvest->task->fetch->run));
    (void)file_make_folder(folder, 0777, &why); /* or what is made there fails */
    buf_init(&name, PATH_BYTES);
    execution_file_name(harvest->task->url, &name);
    snprintf(harvest->path, sizeof harvest->path, "%s/%.180s", folder, name.data);
    snprintf(harvest->part, sizeof harvest->part, "%s.part", harvest->path);
    buf_release(&name);
    harvest->file = file_open(harvest->part, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return harvest->file >= 0 && ftruncate(harvest->file, (off_t)harvest->at.bytes) == 0;
}

/* Writes what is sent by POST; what the dump's URI says of the graph, too. */
static void
write_form(const struct harvest *harvest, struct slice query, struct buf *form)
{
    const struct slice url = harvest->task->url;
    const size_t graph = slice_find_slice(url, SLICE(ENDPOINT_GRAPH));
    if (graph < url.length) {
        buf_append_slice(form, slice_of(url.at + graph, url.length - graph));
        buf_append_char(form, '&');
    }
    buf_append_string(form, "query=");
    url_append_value(form, query);
}

static void
ask_page(struct harvest *harvest)
{
    struct task *task = harvest->task;
    struct buf query, asked;
    buf_init(&query, HARVEST_QUERY_BYTES);
    buf_init(&asked, 4 * HARVEST_QUERY_BYTES);
    harvest_query(&harvest->execution, &harvest->at, &query);
    harvest_url(task->url, buf_slice(&query), &asked);
    const bool post = harvest->at.post != 0 || asked.length > GET_BYTES;
    if (post) {
        harvest->at.post = 1;
        buf_reset(&asked);
        write_form(harvest, buf_slice(&query), &asked);
    }
    const struct slice text = arena_copy(&task->job->arena, buf_slice(&asked));
    buf_release(&asked);
    buf_release(&query);
    if (!task_may_ask(task, post ? task->url : text)) {
        give_up(harvest, "denied", "robots.txt of the host");
        return;
    }
    const struct fetch_request request = {
        .url = post ? task->url : text,
        .form = post ? text : (struct slice){0},
        .accept =
            harvest->at.number == 0 ? SLICE(HARVEST_COUNT_SYNTAX) : SLICE(HARVEST_TRIPLE_SYNTAX),
        .size = HARVEST_PAGE_BYTES,
        .done = page_came,
        .context = harvest,
    };
    task_ask(task, &request);
}

static void
execution_read(void *context, enum status status, const struct slice *records, size_t n,
               const struct reason *why)
{
    struct harvest *harvest = context;
    struct slice text = {0};
    if (status != STATUS_OK) {
        release(harvest, why->text);
        return;
    }
    if (n > 0) {
        (void)meta_record_text(records[0], META_EXECUTION, &text);
    }
    if (!execution_decode(arena_copy(&harvest->arena, text), &harvest->arena,
                          &harvest->execution) ||
        harvest->execution.space_count == 0) {
        give_up(harvest, "failed", "the metadata store does not know this dataset");
    } else if (!open_file(harvest)) {
        release(harvest, strerror(errno));
    } else {
        ask_page(harvest);
    }
}

void
task_harvest(struct task *task)
{
    struct harvest *harvest = memory_new(sizeof *harvest);
    const struct document *told = &task->job->document;
    harvest->task = task;
    harvest->file = -1;
    arena_init(&harvest->arena, EXECUTION_BYTES);
    harvest_decode(told->link_header, &harvest->at);
    if (harvest->at.page == 0) {
        harvest->at.page = task->fetch->datasets.page_resources;
        harvest->at.depth = HARVEST_DEPTH;
    }
    const struct slice key =
        arena_printf(&harvest->arena, "u%.*s", SLICE_PRINT(told->content_type));
    metastore_get(stage_metastore(task->job->run), &key, 1, execution_read, harvest);
}
