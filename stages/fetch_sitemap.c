/* Sitemaps as a source of jobs.
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
 * in must not depend on who found the host first. */
#include "datasets/sitemap.h"

#include "base/log.h"
#include "base/url.h"
#include "stages/fetch_task.h"

#define SITEMAP_TYPE "sitemap"

enum {
    SITEMAP_PRIORITY = 96, /* before pages: they tell of many */
    SNIFF_BYTES = 4096,
    OUTPUT_BYTES_MAXIMUM = 12 << 20
};

/* A sitemap being followed. */
struct walk {
    struct task *task;
    struct slice host, named_by; /* hosts whose URIs may be listed */
    struct slice data;           /* of the jobs of an index's entries */
    struct sitemap_result result;
    struct buf key, claim;
    size_t output_bytes;
    unsigned queued, foreign;
};

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
encode_naming(struct slice origin, struct buf *data)
{
    const struct document document = {.type = SLICE(SITEMAP_TYPE), .content_type = origin};
    document_encode(data, &document);
}

bool
task_is_sitemap(const struct task *task)
{
    return slice_is(task->job->document.type, SITEMAP_TYPE);
}

/* For other processes: how deep the host's sitemaps were queued. The store keeps the smallest. */
static void
note_depth(struct task *task)
{
    struct meta_update update;
    struct buf key;
    meta_update_init(&update);
    meta_set_number(&update, META_DEPTH, task->job->job.depth);
    buf_init(&key, URL_MAXIMUM + 1);
    buf_append_char(&key, 'h');
    buf_append_slice(&key, task->origin);
    stage_put_meta(task->job, buf_slice(&key), meta_update_fields(&update));
    buf_release(&key);
    meta_update_release(&update);
}

void
task_queue_sitemaps(struct task *task)
{
    struct fetch *fetch = task->fetch;
    struct host *host = hosts_find(fetch->hosts, task->origin, 0);
    const unsigned depth = task->job->job.depth;
    struct buf key;
    struct buf data;
    struct buf robots;
    if (task->sitemap_count == 0) {
        return;
    }
    if (host != NULL && host->sitemaps_depth > depth) {
        host->sitemaps_depth = depth;
    }
    buf_init(&key, URL_MAXIMUM);
    buf_init(&data, JOB_DATA_MAXIMUM);
    buf_init(&robots, URL_MAXIMUM);
    buf_append_slice(&robots, task->origin);
    buf_append_string(&robots, "/robots.txt");
    encode_naming(task->origin, &data);
    for (size_t i = 0; i < task->sitemap_count; i++) {
        buf_reset(&key);
        if (url_rules_key(&fetch->url_rules, task->sitemaps[i], buf_slice(&robots), &key, NULL) ==
                STATUS_OK &&
            scope_allows(fetch->scope, buf_slice(&key), depth, NULL)) {
            queue_job(task, buf_slice(&key), depth, SITEMAP_PRIORITY, buf_slice(&robots),
                      buf_slice(&data), task->sitemaps_again ? JOB_RECRAWL : 0);
        }
    }
    note_depth(task);
    buf_release(&key);
    buf_release(&data);
    buf_release(&robots);
}

/* What the sitemap says of an entry. */
static struct slice
encode_claim(struct walk *walk, const struct sitemap_entry *entry, bool claimed)
{
    const struct document document = {.claimed_ms = claimed ? entry->modified_ms : 0,
                                      .change_frequency = entry->change_frequency};
    buf_reset(&walk->claim);
    if (document.claimed_ms == 0 && document.change_frequency.length == 0) {
        return (struct slice){0};
    }
    document_encode(&walk->claim, &document);
    return buf_slice(&walk->claim);
}

static bool
take_entry(void *context, const struct sitemap_entry *entry)
{
    struct walk *walk = context;
    struct task *task = walk->task;
    const struct job *job = &task->job->job;
    const bool index = walk->result.kind == SITEMAP_INDEX;
    const unsigned depth = job->depth + (index ? 0u : 1u);
    buf_reset(&walk->key);
    if (url_rules_key(&task->fetch->url_rules, entry->location, job->uri, &walk->key, NULL) !=
        STATUS_OK) {
        return true;
    }
    const struct slice key = buf_slice(&walk->key);
    const struct slice host = url_host(key);
    if (!slice_equal(host, walk->host) && !slice_equal(host, walk->named_by)) {
        walk->foreign++;
        return true;
    }
    if (!scope_allows(task->fetch->scope, key, depth, NULL)) {
        return true;
    }
    struct slice data = index ? walk->data : (struct slice){0};
    uint8_t flags = index ? job->flags & JOB_RECRAWL : 0;
    if (task_believes(task, entry)) {
        flags |= JOB_RECRAWL;
    }
    if (!index && task->fetch->recrawl) {
        data = encode_claim(walk, entry, flags & JOB_RECRAWL);
    }
    walk->output_bytes += key.length * 2 + job->uri.length + data.length + 128;
    if (walk->output_bytes > OUTPUT_BYTES_MAXIMUM) {
        walk->result.limited = true;
        return false;
    }
    queue_job(task, key, depth, index ? SITEMAP_PRIORITY : job->priority, job->uri, data, flags);
    walk->queued++;
    return true;
}

/* Whether the beginning of a decoded body has a sitemap's root element, under any prefix. */
static bool
has_sitemap_root(struct slice text)
{
    static const char *const roots[] = {"urlset", "sitemapindex"};
    for (size_t i = 0; i < 2; i++) {
        const size_t at = slice_find_slice(text, slice_string(roots[i]));
        if (at > 0 && at < text.length && (text.at[at - 1] == '<' || text.at[at - 1] == ':')) {
            return true;
        }
    }
    return false;
}

/* The decoded body when it may be a sitemap; false when it is surely none. */
static bool
decode_candidate(const struct fetch_result *result, bool named, struct buf *body)
{
    struct buf start;
    const struct slice coding = warc_http_header(result->response_header, "Content-Encoding");
    buf_init(&start, SNIFF_BYTES);
    const struct slice plain =
        slice_of(result->body.at,
                 result->body.length < SNIFF_BYTES ? result->body.length : (size_t)SNIFF_BYTES);
    (void)warc_decode(coding, coding.length > 0 ? result->body : plain, 0, &start, NULL);
    const bool candidate = named || has_sitemap_root(buf_slice(&start));
    buf_release(&start);
    if (candidate) {
        (void)warc_decode(coding, result->body, 0, body, NULL);
    }
    return candidate && body->length > 0;
}

void
task_follow_sitemap(struct task *task, const struct fetch_result *result)
{
    const struct document *document = &task->job->document;
    const bool named = task_is_sitemap(task);
    struct walk walk = {.task = task, .host = url_host(task->job->job.uri)};
    struct buf body;
    struct buf data;
    struct reason why;
    buf_init(&body, SITEMAP_BYTES_MAXIMUM);
    if (!task->fetch->sitemaps || !decode_candidate(result, named, &body)) {
        buf_release(&body);
        return;
    }
    buf_init(&walk.key, URL_MAXIMUM);
    buf_init(&walk.claim, JOB_DATA_MAXIMUM);
    buf_init(&data, JOB_DATA_MAXIMUM);
    walk.named_by = named ? url_host(document->content_type) : walk.host;
    encode_naming(named ? document->content_type : task->origin, &data);
    walk.data = buf_slice(&data);
    const enum status status =
        sitemap_parse(buf_slice(&body), take_entry, &walk, &walk.result, &why);
    if (status == STATUS_OK) {
        log_debug("sitemap", "uri=%.*s kind=%s queued=%u foreign=%u limited=%d incomplete=%d",
                  SLICE_PRINT(task->job->job.uri), sitemap_kind_name(walk.result.kind), walk.queued,
                  walk.foreign, (int)walk.result.limited, (int)walk.result.incomplete);
    } else if (named) {
        log_info("sitemap_unreadable", "uri=%.*s reason=%s", SLICE_PRINT(task->job->job.uri),
                 why.text);
    }
    if (task->fetch->plan) {
        task_describe(task, buf_slice(&body));
    }
    buf_release(&walk.key);
    buf_release(&walk.claim);
    buf_release(&data);
    buf_release(&body);
}
