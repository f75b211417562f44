/* The GET of a page, and what each end of it means. docs/FETCH.md has the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "rdf/format.h"
#include "stages/fetch/datasets/dataset_tasks.h"
#include "stages/fetch/fetch_steps.h"
#include "stages/skeleton/document_meta.h"

enum {
    MEMORY_RETRY_MS = 2000,
    ARCHIVE_RETRY_MS = 10000,
    ATTEMPTS_FLOWING = 2, /* of a body that flows until the time is over: once more, to be sure */
    FIELDS_ROOM = 512,    /* of metadata beside both headers */
    DESCRIPTION_REST_MS = 1500,              /* detect and transform seldom need so long */
    DIGEST_TEXT = 8 + 2 * DIGEST_SHA256_SIZE /* "sha256:", hex */
};

/* ---- ends ---- */

/* The host is asked for its rules first, next time. */
static void
forget_rules(struct task *task)
{
    const uint64_t now_ms = clock_wall_ms();
    struct host *host = hosts_find(task->fetch->hosts, task->origin, now_ms);
    struct meta_update update;
    if (host != NULL) {
        host->expires_ms = now_ms;
    }
    meta_update_init(&update);
    meta_set_number(&update, META_ROBOTS_EXPIRES, now_ms);
    task_put_host(task, task->origin, &update);
    meta_update_release(&update);
}

/* The request was sent and nothing came. If others of the host had no answer, either, since its
 * last one, it may be the host: no attempt is counted, and its robots.txt is asked for before
 * anything else. That it answers shows that this document is at fault next time. */
static void
unanswered(struct task *task, const char *reason)
{
    if (task_pace(task)->failures <= task->job->job.attempt || task->resource) {
        task_retry(task, 0, reason);
        return;
    }
    if (task->fetch->robots.obeyed) {
        forget_rules(task);
    }
    task_wait_for_host(task, reason);
}

/* ---- archive and metadata ---- */

/* ---- answers ---- */

static bool
is_rdf(struct slice content_type)
{
    const struct slice type = slice_trim(slice_of(content_type.at, slice_find(content_type, ';')));
    return rdf_format_of_media_type(type) != RDF_FORMAT_NONE;
}

static void
answered_document(struct task *task, const struct fetch_result *result)
{
    struct warc_location location;
    struct buf links;
    if (!task_keep_response(task, result, &location)) {
        return;
    }
    task_learn(task, result);
    meta_clear(&task->job->meta, META_GONE_SINCE);
    task->end.visit = task_is_sitemap(task) ? task_change_of_bytes(task, result) : VISIT_NOTHING;
    if (result->body.length == 0) {
        task_remove_graph(task, result);
        task_done(task, "fetched", "the response has no body");
        return;
    }
    if (task->resource) { /* a part of one is of no use */
        task_done(task, task->end.truncated.length > 0 ? "failed" : "fetched", result->problem);
        return;
    }
    const struct slice content_type = warc_http_header(result->response_header, "Content-Type");
    buf_init(&links, LINK_HEADER_MAXIMUM);
    document_join_links(result->response_header, &links);
    const struct document document = {
        .http_status = result->status,
        .content_type = content_type,
        .link_header = buf_slice(&links),
        .charset = document_charset(content_type),
        .mapped = task->sitemaps.mapped,
        .fetched_ms = result->started_ms,
        .visit = task_is_sitemap(task) ? (struct document_visit){0} : task->visit.document,
        .response = {.node = slice_string(task->fetch->node),
                     .file = slice_string(location.file),
                     .offset = location.offset,
                     .length = location.length,
                     .id = slice_string(location.id)},
    };
    stage_output_next(task->job, STAGE_DETECT, &document);
    if (task->fetch->datasets.plan && (task->fetch->datasets.void_all ||
                                       (task->fetch->datasets.void_rdf && is_rdf(content_type)))) {
        task_ask_void(task);
    }
    if (task->fetch->datasets.plan && is_rdf(content_type) && task_is_void(task)) {
        task->report.rest_ms = DESCRIPTION_REST_MS; /* its plan comes before more pages do */
    }
    task->end.handed_on = !task_is_sitemap(task);
    buf_release(&links);
    task_follow_sitemap(task, result);
}

static void
queue_target(struct task *task, struct slice target)
{
    const struct job *from = &task->job->job;
    const struct job output = {
        .key.stage = STAGE_FETCH,
        .uri = target,
        .lane_name = url_origin(target),
        .via = from->uri,
        .priority = from->priority,
        .flags = from->flags & (JOB_SEED | JOB_RESOURCE | JOB_SITEMAP),
        .hops = (uint8_t)(from->hops + 1),
        .depth = from->depth,
        .data = from->data, /* a sitemap that moved is one at its new place */
    };
    stage_output(task->job, &output);
}

static void
answered_redirect(struct task *task, const struct fetch_result *result)
{
    struct warc_location location;
    struct buf target;
    struct reason why = {"no Location header"};
    const char *because = "";
    const struct job *job = &task->job->job;
    if (!task_keep_response(task, result, &location)) {
        return;
    }
    task_learn(task, result);
    meta_clear(&task->job->meta, META_GONE_SINCE);
    task_remove_graph(task, result);
    const struct slice to = warc_http_header(result->response_header, "Location");
    buf_init(&target, URL_MAXIMUM + sizeof RESOURCE_FRAGMENT);
    const struct url_rules none = {0}; /* a resource is asked for as the document names it */
    const struct url_rules *rules = task->resource ? &none : &task->fetch->url_rules;
    if (to.length == 0 || url_rules_key(rules, to, task->url, &target, &why) != STATUS_OK) {
        char reason[REASON_SIZE + 40];
        snprintf(reason, sizeof reason, "redirect without a target: %s", why.text);
        task_done(task, "failed", reason);
    } else if (slice_equal(buf_slice(&target), task->url)) {
        task_done(task, "failed", "redirects to itself");
    } else if (job->hops >= REDIRECTS_MOST) {
        task_done(task, "failed", "more redirects than ten");
    } else {
        meta_set_text(&task->job->meta, META_REDIRECT_TO, buf_slice(&target));
        if (task->resource) {
            buf_append_string(&target, RESOURCE_FRAGMENT);
            queue_target(task, buf_slice(&target));
        } else if (scope_allows(task->fetch->scope, buf_slice(&target), job->depth, &because)) {
            queue_target(task, buf_slice(&target));
        } else {
            task->end.counts_as = OUTCOME_REDIRECTED_OUT;
        }
        task->end.visit =
            slice_equal(task->visit.redirect, buf_slice(&target)) ? VISIT_UNCHANGED : VISIT_CHANGED;
        task_done(task, "redirected", because);
    }
    buf_release(&target);
}

static void
answered_unchanged(struct task *task, const struct fetch_result *result)
{
    struct meta_update *meta = &task->job->meta;
    meta_set_number(meta, META_FETCHED, result->started_ms);
    meta_set_number(meta, META_FETCH_MS, result->milliseconds);
    meta_set_number(meta, META_HTTP_STATUS, result->status);
    meta_clear(meta, META_GONE_SINCE);
    task->end.visit = VISIT_UNCHANGED;
    if (task_is_sitemap(task)) {
        task_note_reading(task);
    }
    task_learn(task, result);
    if (task->before.describes && task->fetch->datasets.plan) {
        task_put_plan(task);
    }
    task->end.counts_as = OUTCOME_UNMODIFIED;
    task_done(task, "fetched", "not modified");
}

static void
answered_gone(struct task *task, const struct fetch_result *result)
{
    struct warc_location location;
    struct meta_update *meta = &task->job->meta;
    const struct fetch *fetch = task->fetch;
    const bool first = task->visit.gone_since_ms == 0;
    const bool had_something = task->visit.visited_ms > 0;
    if (first) {
        meta_set_number(meta, META_GONE_SINCE, result->started_ms);
    }
    if (fetch->recrawl.on && fetch->recrawl.confirm_ms > 0 && first && had_something) {
        /* The record still tells of the answer that is in the index. */
        if (task_archive(task, task->url, result, (struct slice){0}, &location)) {
            task_note_attempt(task, "404 or 410, to be confirmed");
            task->end.visit = VISIT_GONE_MAYBE;
            task_done(task, NULL, NULL);
        }
    } else if (task_keep_response(task, result, &location)) {
        task->end.visit = VISIT_GONE;
        task_remove_graph(task, result);
        task_done(task, "gone", "");
    }
}

static void
answered_failure(struct task *task, const struct fetch_result *result)
{
    struct warc_location location;
    char reason[40];
    snprintf(reason, sizeof reason, "the server answered %u", result->status);
    if (task_keep_response(task, result, &location)) {
        task->end.counts_as = OUTCOME_FAILED_STATUS;
        task_done(task, "failed", reason);
    }
}

/* The server is in trouble, or asks for patience. */
static void
answered_later(struct task *task, const struct fetch_result *result)
{
    char reason[40];
    snprintf(reason, sizeof reason, "the server answered %u", result->status);
    if (task->job->job.attempt >= task->fetch->attempts || task->unverified) {
        answered_failure(task, result);
        return;
    }
    task_retry(task, result->retry_after_ms, reason);
}

struct answer {
    uint16_t first, last;
    void (*handle)(struct task *task, const struct fetch_result *result);
};

/* The first range that holds the status decides. */
static const struct answer answers[] = {
    {200, 299, answered_document}, {304, 304, answered_unchanged},
    {300, 399, answered_redirect}, {404, 404, answered_gone},
    {410, 410, answered_gone},     {408, 408, answered_later},
    {425, 425, answered_later},    {429, 429, answered_later},
    {500, 599, answered_later},    {0, UINT16_MAX, answered_failure},
};

/* ---- all ends of the GET ---- */

static void
answered(struct task *task, const struct fetch_result *result)
{
    size_t i = 0;
    while (result->status < answers[i].first || result->status > answers[i].last) {
        i++;
    }
    answers[i].handle(task, result);
}

/* The body is not whole. Its beginning is archived when this is the end of the matter. */
static void
cut(struct task *task, const struct fetch_result *result)
{
    struct warc_location location;
    const bool time = result->end == FETCH_CUT_TIME;
    const unsigned attempt = task->job->job.attempt;
    const bool enough = result->flowing && attempt >= ATTEMPTS_FLOWING;
    task->end.counts_as = OUTCOME_FAILED_SILENCE;
    if (attempt < task->fetch->attempts && !enough) {
        if (result->flowing) {
            task_note_flow(task, result);
        }
        task_retry(task, 0, result->problem);
        return;
    }
    task->end.truncated = time ? SLICE("time") : SLICE("disconnect");
    if (!task_keep_response(task, result, &location)) {
        return;
    }
    if (time) {
        task_bury(task, result->problem);
    } else {
        task_done(task, "failed", result->problem);
    }
}

static void
page_fetched(void *context, const struct fetch_result *result)
{
    struct task *task = context;
    task_note_end(task, result);
    switch (result->end) {
    case FETCH_ANSWERED:
        answered(task, result);
        break;
    case FETCH_CUT_LENGTH: /* the beginning of a document says much of it */
        task->end.truncated = SLICE("length");
        answered(task, result);
        break;
    case FETCH_CUT_TIME:
    case FETCH_CUT_CONNECTION:
        cut(task, result);
        break;
    case FETCH_FAILED:
        task->end.counts_as = result->unsent ? OUTCOME_FAILED_CONNECTION : OUTCOME_FAILED_SILENCE;
        (result->unsent ? task_wait_for_host : unanswered)(task, result->problem);
        break;
    case FETCH_REFUSED_HEADER:
        task_bury(task, result->problem);
        break;
    case FETCH_REFUSED_ADDRESS:
        task_done(task, "denied", result->problem);
        break;
    case FETCH_CROWDED:
        task_turn_back(task, result->address);
        break;
    case FETCH_NEEDLESS: /* only what is asked of robots.txt may be */
    case FETCH_NO_MEMORY:
        stage_release(task->job, MEMORY_RETRY_MS, false, "%s", result->problem);
        task_free(task);
        break;
    }
}

void
task_get(struct task *task)
{
    if (task_kind(task->job->job.uri) == TASK_SITEMAPS) {
        task_put_refused_sitemaps(task);
        return;
    }
    if (task_kind(task->job->job.uri) == TASK_DUMP) {
        const struct slice type = task->job->document.type;
        const bool pages = slice_is(type, DUMP_PAGES) || slice_is(type, DUMP_PAGES_AGAIN);
        (pages ? task_harvest : task_download)(task);
        return;
    }
    const struct fetch_request request = {
        .url = task->url,
        .resource = task->resource,
        .etag = task->before.etag,
        .last_modified = task->before.last_modified,
        .done = page_fetched,
        .context = task,
    };
    task_ask(task, &request);
}
