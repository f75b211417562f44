/* Sitemaps as a source of jobs: docs/SITEMAPS.md.
 *
 * Those named in robots.txt are queued with the first job of the host that ends well. Their jobs
 * carry a document record whose type is SITEMAP_TYPE and whose content_type is the origin that
 * named them: its URIs may be listed there although the sitemap lies on another host
 * (sitemaps.org, "Sitemaps & Cross Submits"). Any other response whose root element is that of a
 * sitemap is followed as well, for its own host only. Entries are one link deeper than the
 * sitemap; entries of an index are sitemaps and as deep as the index.
 *
 * When a host is met again at a smaller depth, its sitemaps are fetched anew (JOB_RECRAWL, without
 * conditions), so that all their entries are put with the smaller depth: what a depth limit lets
 * in must not depend on who found the host first.
 *
 * A response is followed in steps, each an answer of the metadata store: the records of the
 * sitemap and of the host that submits it; then, a thousand at a time, what was known of the
 * entries; then, for claims of change, when those documents were visited. */
#include <stdlib.h>
#include <string.h>

#include "base/system/clock.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "stages/fetch/sitemap_entries.h"

#define GUESS_TYPE "sitemap?"

static void
queue_job(struct task *task, struct slice key, unsigned depth, uint8_t priority, struct slice via,
          struct slice data, uint8_t flags)
{
    const struct job output = {
        .key.stage = STAGE_FETCH,
        .uri = key,
        .lane_name = url_origin(key),
        .via = via,
        .priority = priority,
        .flags = flags,
        .depth = (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX),
        .data = data,
    };
    stage_output(task->job, &output);
}

static void
encode_naming(struct slice origin, bool guess, uint64_t nesting, struct buf *data)
{
    const struct document document = {.type = guess ? SLICE(GUESS_TYPE) : SLICE(SITEMAP_TYPE),
                                      .content_type = origin,
                                      .nesting = nesting};
    document_encode(data, &document);
}

bool
task_is_guess(const struct task *task)
{
    return slice_is(task->job->document.type, GUESS_TYPE);
}

bool
task_is_sitemap(const struct task *task)
{
    return slice_is(task->job->document.type, SITEMAP_TYPE) || task_is_guess(task);
}

/* For other processes: how deep the host's sitemaps were queued. The store keeps the smallest of
 * META_DEPTH; a guess is queued again at smaller depths only. */
static void
note_depth(struct task *task)
{
    struct meta_update update;
    meta_update_init(&update);
    meta_set_number(&update, task->guess ? META_SITEMAP_GUESS_DEPTH : META_DEPTH,
                    task->job->job.depth);
    task_put_host(task, task->origin, &update);
    meta_update_release(&update);
}

void
task_note_guess(struct task *task, const char *outcome)
{
    const struct slice origin = task->job->document.content_type; /* it may have moved */
    struct host *host = hosts_find(task->fetch->hosts, origin, 0);
    struct meta_update update;
    if (host != NULL) {
        host->guess_found = strcmp(outcome, GUESS_FOUND) == 0;
    }
    meta_update_init(&update);
    meta_set_text(&update, META_SITEMAP_GUESS, slice_string(outcome));
    task_put_host(task, origin, &update);
    meta_update_release(&update);
}

/* A sitemap on another host: whoever follows it may take entries of the host that names it. */
static void
note_naming(struct task *task, struct slice sitemap, struct slice origins)
{
    struct meta_update update;
    meta_update_init(&update);
    meta_set_text(&update, META_SITEMAP_FOR, origins);
    stage_put_meta(task->job, arena_printf(&task->job->arena, "u%.*s", SLICE_PRINT(sitemap)),
                   meta_update_fields(&update));
    meta_update_release(&update);
}

void
task_note_refused(struct task *task, enum scope_refused what)
{
    if (task_kind(task->job->job.uri) == TASK_PAGE) { /* else the document says so already */
        task->refused |= (unsigned)what;
        meta_set_number(&task->job->meta, META_SCOPE_REFUSED, task->refused);
    }
}

static bool
may_queue(struct task *task, struct slice sitemap)
{
    const bool allowed = scope_allows(task->fetch->scope, sitemap, task->job->job.depth, NULL);
    if (!allowed && (task->refused & REFUSED_SITEMAPS) == 0) {
        task_note_refused(task, REFUSED_SITEMAPS);
    }
    return allowed;
}

void
task_queue_sitemaps(struct task *task, bool good)
{
    struct fetch *fetch = task->fetch;
    struct host *host = hosts_find(fetch->hosts, task->origin, 0);
    const unsigned depth = task->job->job.depth;
    struct buf key;
    struct buf data;
    struct buf robots;
    if (task->sitemap_count == 0 || (task->guess && !good)) {
        return;
    }
    if (host != NULL) {
        uint32_t *const queued = task->guess ? &host->guess_depth : &host->sitemaps_depth;
        *queued = *queued > depth ? depth : *queued;
    }
    buf_init(&key, URL_MAXIMUM);
    buf_init(&data, JOB_DATA_MAXIMUM);
    buf_init(&robots, URL_MAXIMUM);
    buf_append_slice(&robots, task->origin);
    buf_append_string(&robots, "/robots.txt");
    encode_naming(task->origin, task->guess, 0, &data);
    for (size_t i = 0; i < task->sitemap_count; i++) {
        buf_reset(&key);
        if (url_rules_key(&fetch->url_rules, task->sitemaps[i], buf_slice(&robots), &key, NULL) ==
                STATUS_OK &&
            may_queue(task, buf_slice(&key))) {
            const bool foreign = !slice_equal(url_origin(buf_slice(&key)), task->origin);
            if (foreign) {
                note_naming(task, buf_slice(&key), task->origin);
            }
            queue_job(task, buf_slice(&key), depth, SITEMAP_PRIORITY, buf_slice(&robots),
                      buf_slice(&data), task->sitemaps_again || foreign ? JOB_RECRAWL : 0);
        }
    }
    note_depth(task);
    buf_release(&key);
    buf_release(&data);
    buf_release(&robots);
}

void
task_note_first_link(struct task *task)
{
    const struct job *job = &task->job->job;
    struct meta_update update;
    if (!task->mapped || task->resource || job->generation != 1 || job->via.length == 0 ||
        job->hops > 0 || (job->flags & JOB_SITEMAP) != 0 || task_is_sitemap(task)) {
        return;
    }
    meta_update_init(&update);
    meta_set_number(&update, META_LINK_SEEN, job->queued_ms);
    stage_put_meta(task->job, arena_printf(&task->job->arena, "s%.*s", SLICE_PRINT(job->uri)),
                   meta_update_fields(&update));
    meta_update_release(&update);
}

void
task_note_reading(struct task *task)
{
    struct meta_update update;
    meta_update_init(&update);
    meta_set_number(&update, META_SITEMAP_READ, clock_wall_ms());
    stage_put_meta(
        task->job,
        arena_printf(&task->job->arena, "h%.*s", SLICE_PRINT(task->job->document.content_type)),
        meta_update_fields(&update));
    meta_update_release(&update);
}

/* ---- entries into jobs ---- */

/* What the sitemap says of an entry. */
static struct slice
encode_claim(const struct listing *listing, const struct listed *listed, struct buf *data)
{
    const struct document document = {.claimed_ms = listed->claimed ? listed->modified_ms : 0,
                                      .change_frequency = listed->frequency};
    buf_reset(data);
    if (listing->index) {
        encode_naming(listing->submitter, false, listing->task->job->document.nesting + 1, data);
    } else if (listing->task->fetch->recrawl &&
               (document.claimed_ms > 0 || document.change_frequency.length > 0)) {
        document_encode(data, &document);
    }
    return buf_slice(data);
}

/* An index that is fetched for its entries has its sitemaps fetched for theirs. */
static uint8_t
flags_of(const struct listing *listing, const struct listed *listed)
{
    if (!listing->index) {
        return JOB_SITEMAP | (listed->claimed ? JOB_RECRAWL : 0);
    }
    return listing->again || listed->claimed ? JOB_RECRAWL : 0;
}

static void
queue_entries(struct listing *listing)
{
    struct task *task = listing->task;
    const struct job *job = &task->job->job;
    struct buf data;
    buf_init(&data, JOB_DATA_MAXIMUM);
    for (size_t i = 0; i < listing->count; i++) {
        const struct listed *listed = &listing->entries[i];
        if (listed->left_out) {
            continue;
        }
        const uint8_t priority = listing->index ? SITEMAP_PRIORITY : listed->priority;
        if (listing->index && listing->origins.length > 0) {
            note_naming(task, listed->key, listing->origins);
        }
        queue_job(task, listed->key, job->depth + (listing->index ? 0u : 1u), priority, task->url,
                  encode_claim(listing, listed, &data), flags_of(listing, listed));
    }
    buf_release(&data);
}

/* Nothing was fetched for what is listed again. */
static const char *
state_of(const struct task *task)
{
    return task_kind(task->job->job.uri) == TASK_LISTING ? NULL : "fetched";
}

static void
listed(void *context, struct listing *listing, const char *problem)
{
    struct task *task = context;
    if (listing == NULL) {
        stage_release(task->job, METADATA_RETRY_MS, false, "metadata could not be read: %s",
                      problem);
        task_free(task);
        return;
    }
    queue_entries(listing);
    if (task_is_guess(task)) {
        task_note_guess(task, GUESS_FOUND);
    }
    if (listing->describes) {
        task_describe(task);
    }
    listing_free(listing);
    task_done(task, state_of(task), "");
}

static void
end_without_sitemap(struct task *task)
{
    if (task_is_guess(task)) {
        task_note_guess(task, "what is there is none");
    }
    task_done(task, state_of(task), "");
}

/* Whether robots.txt or an index names it: then it is one whatever it looks like. */
static bool
is_named(const struct task *task)
{
    return task_is_sitemap(task) && !task_is_guess(task);
}

static void
sitemap_parsed(void *context, enum status status, struct slice reply, const struct reason *why)
{
    struct task *task = context;
    struct parsed_sitemap sitemap = {0};
    if (status == STATUS_CANCELLED) {
        return; /* the process ends; the job comes back by its lease */
    }
    if (status != STATUS_OK || !parsed_sitemap_decode(reply, &sitemap)) {
        log_info("sitemap_unreadable", "uri=%.*s reason=%s", SLICE_PRINT(task->url), why->text);
        task_done(task, state_of(task), is_named(task) ? why->text : "");
    } else if (!sitemap.candidate) {
        end_without_sitemap(task);
    } else {
        listing_read(task, task_is_sitemap(task) ? task->job->document.content_type : task->origin,
                     task_is_sitemap(task), &sitemap, listed);
    }
}

void
task_list(struct task *task, struct slice coding, struct slice bytes)
{
    const struct parser_request request = {.verb = PARSER_SITEMAP,
                                           .uri = task->url,
                                           .coding = coding,
                                           .bytes = bytes,
                                           .named = is_named(task)};
    fetch_parser_submit(task->fetch->parser, &request, sitemap_parsed, task);
}

void
task_follow_sitemap(struct task *task, const struct fetch_result *result)
{
    const struct parser_request request = {
        .verb = PARSER_SITEMAP,
        .uri = task->url,
        .coding = warc_http_header(result->response_header, "Content-Encoding"),
        .bytes = result->body,
        .named = is_named(task),
        .described = task->fetch->plan,
    };
    /* Most pages are none, which is seen here when they are not packed. */
    if (!task->fetch->sitemaps ||
        (!request.named && request.coding.length == 0 && !sitemap_is_likely(request.bytes))) {
        end_without_sitemap(task);
        return;
    }
    fetch_parser_submit(task->fetch->parser, &request, sitemap_parsed, task);
}
