/* Jobs and records that a task puts for its host beside its own document's: plans, samples, what is
 * at /.well-known/void. Nothing here ends a task or asks anybody. */
#include "base/url/url.h"
#include "stages/fetch/task/fetch_task.h"

void
task_put_sample(struct task *task, struct slice uri, uint8_t flags)
{
    struct buf data;
    const struct document document = {.type = SLICE(SAMPLE_TYPE)};
    buf_init(&data, JOB_DATA_MAXIMUM);
    document_encode(&data, &document);
    task_output(task, uri, SAMPLE_PRIORITY, flags, buf_slice(&data));
    buf_release(&data);
}

void
task_put_host(struct task *task, struct slice origin, const struct meta_update *update)
{
    struct buf key;
    buf_init(&key, URL_MAXIMUM + 1);
    buf_append_char(&key, 'h');
    buf_append_slice(&key, origin);
    stage_put_meta(task->job, buf_slice(&key), meta_update_fields(update));
    buf_release(&key);
}

void
task_put_plan(struct task *task)
{
    const struct slice plan =
        arena_printf(&task->job->arena, "%.*s" PLAN_FRAGMENT, SLICE_PRINT(task->origin));
    task_put(task, plan, PLAN_PRIORITY, task->before.known ? SLICE(PLAN_AGAIN) : SLICE(""),
             (struct slice){0});
}

void
task_describe(struct task *task)
{
    struct meta_update update;
    meta_update_init(&update);
    meta_set_text(&update, META_DESCRIPTIONS, task->url);
    task_put_host(task, task->origin, &update);
    meta_update_release(&update);
    task_put_plan(task);
}

/* A page job: what is there is a document like others, and may describe datasets. */
void
task_ask_void(struct task *task)
{
    struct host *host = hosts_find(task->fetch->hosts, task->origin, 0);
    const struct slice uri =
        arena_printf(&task->job->arena, "%.*s" WELL_KNOWN_VOID, SLICE_PRINT(task->origin));
    if (host != NULL && host->void_asked) {
        return;
    }
    if (!scope_allows(task->fetch->scope, uri, task->job->job.depth, NULL)) {
        task_note_refused(task, REFUSED_VOID);
        return;
    }
    if (host != NULL) {
        host->void_asked = true;
    }
    task_output(task, uri, SITEMAP_PRIORITY, 0, (struct slice){0});
}
