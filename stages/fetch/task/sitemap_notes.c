/* The sitemaps that a host's robots.txt names become jobs with the first of its tasks that ends
 * well, and what is noted of sitemaps for other tasks and processes: docs/SITEMAPS.md. No request.
 */
#include <string.h>

#include "base/system/clock.h"
#include "base/url/url.h"
#include "stages/fetch/task/fetch_task.h"

void
sitemap_put_job(struct task *task, struct slice key, unsigned depth, uint8_t priority,
                struct slice via, struct slice data, uint8_t flags)
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

void
sitemap_encode_naming(struct slice origin, bool guess, uint64_t nesting, struct buf *data)
{
    const struct document document = {.type = guess ? SLICE(GUESS_TYPE) : SLICE(SITEMAP_TYPE),
                                      .content_type = origin,
                                      .nesting = nesting};
    document_encode(data, &document);
}

/* For other processes: how deep the host's sitemaps were queued. The store keeps the smallest of
 * META_DEPTH; a guess is queued again at smaller depths only. */
static void
note_depth(struct task *task)
{
    struct meta_update update;
    meta_update_init(&update);
    meta_set_number(&update, task->sitemaps.guess ? META_SITEMAP_GUESS_DEPTH : META_DEPTH,
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

void
sitemap_note_naming(struct task *task, struct slice sitemap, struct slice origins)
{
    struct meta_update update;
    meta_update_init(&update);
    meta_set_text(&update, META_SITEMAP_FOR, origins);
    stage_put_meta(task->job, arena_printf(&task->job->arena, "u%.*s", SLICE_PRINT(sitemap)),
                   meta_update_fields(&update));
    meta_update_release(&update);
}

static bool
may_queue(struct task *task, struct slice sitemap)
{
    const bool allowed = scope_allows(task->fetch->scope, sitemap, task->job->job.depth, NULL);
    if (!allowed && (task->end.refused & REFUSED_SITEMAPS) == 0) {
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
    if (task->sitemaps.count == 0 || (task->sitemaps.guess && !good)) {
        return;
    }
    if (host != NULL) {
        uint32_t *const queued = task->sitemaps.guess ? &host->guess_depth : &host->sitemaps_depth;
        *queued = *queued > depth ? depth : *queued;
    }
    buf_init(&key, URL_MAXIMUM);
    buf_init(&data, JOB_DATA_MAXIMUM);
    buf_init(&robots, URL_MAXIMUM);
    buf_append_slice(&robots, task->origin);
    buf_append_string(&robots, "/robots.txt");
    sitemap_encode_naming(task->origin, task->sitemaps.guess, 0, &data);
    for (size_t i = 0; i < task->sitemaps.count; i++) {
        buf_reset(&key);
        if (url_rules_key(&fetch->url_rules, task->sitemaps.urls[i], buf_slice(&robots), &key,
                          NULL) == STATUS_OK &&
            may_queue(task, buf_slice(&key))) {
            const bool foreign = !slice_equal(url_origin(buf_slice(&key)), task->origin);
            if (foreign) {
                sitemap_note_naming(task, buf_slice(&key), task->origin);
            }
            sitemap_put_job(task, buf_slice(&key), depth, SITEMAP_PRIORITY, buf_slice(&robots),
                            buf_slice(&data), task->sitemaps.again || foreign ? JOB_RECRAWL : 0);
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
    if (!task->sitemaps.mapped || task->resource || job->generation != 1 || job->via.length == 0 ||
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
