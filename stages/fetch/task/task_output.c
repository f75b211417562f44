/* Queues what a task puts: jobs of its host, and a note of what the scope kept it from putting. */
#include "base/url/url.h"
#include "stages/fetch/task/fetch_task.h"

void
task_output(struct task *task, struct slice uri, uint8_t priority, uint8_t flags, struct slice data)
{
    const struct job output = {
        .key.stage = STAGE_FETCH,
        .uri = uri,
        .lane_name = url_origin(uri),
        .via = task->job->job.uri,
        .priority = priority,
        .flags = flags,
        .depth = task->job->job.depth,
        .data = data,
    };
    stage_output(task->job, &output);
}

static void
put_told(struct task *task, struct slice uri, uint8_t priority, uint8_t flags, struct slice type,
         struct slice about)
{
    struct buf data;
    const struct document document = {.type = type, .content_type = about};
    buf_init(&data, JOB_DATA_MAXIMUM);
    document_encode(&data, &document);
    task_output(task, uri, priority, flags, buf_slice(&data));
    buf_release(&data);
}

void
task_put(struct task *task, struct slice uri, uint8_t priority, struct slice type,
         struct slice about)
{
    put_told(task, uri, priority, JOB_RESOURCE | JOB_RECRAWL, type, about);
}

void
task_put_first(struct task *task, struct slice uri, uint8_t priority, struct slice type,
               struct slice about)
{
    put_told(task, uri, priority, JOB_RESOURCE, type, about);
}

void
task_note_refused(struct task *task, enum scope_refused what)
{
    if (task_kind(task->job->job.uri) == TASK_PAGE) { /* else the document says so already */
        task->end.refused |= (unsigned)what;
        meta_set_number(&task->job->meta, META_SCOPE_REFUSED, task->end.refused);
    }
}
