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

#include "base/system/log.h"
#include "base/url/url.h"
#include "stages/fetch/sitemap_entries.h"

/* ---- entries into jobs ---- */

/* Encodes what the sitemap says of an entry. */
static struct slice
encode_claim(const struct listing *listing, const struct listed *listed, struct buf *data)
{
    const struct document document = {.claimed_ms = listed->claimed ? listed->modified_ms : 0,
                                      .change_frequency = listed->frequency};
    buf_reset(data);
    if (listing->index) {
        sitemap_encode_naming(listing->submitter, false, listing->task->job->document.nesting + 1,
                              data);
    } else if (listing->task->fetch->recrawl.on &&
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
            sitemap_note_naming(task, listed->key, listing->origins);
        }
        sitemap_put_job(task, listed->key, job->depth + (listing->index ? 0u : 1u), priority,
                        task->url, encode_claim(listing, listed, &data), flags_of(listing, listed));
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

/* Tells whether robots.txt or an index names it: then it is one whatever it looks like. */
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
        .described = task->fetch->datasets.plan,
    };
    /* Most pages are none, which is seen here when they are not packed. */
    if (!task->fetch->sitemaps.followed ||
        (!request.named && request.coding.length == 0 && !sitemap_is_likely(request.bytes))) {
        end_without_sitemap(task);
        return;
    }
    fetch_parser_submit(task->fetch->parser, &request, sitemap_parsed, task);
}
