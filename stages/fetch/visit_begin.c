/* The first step of a task: a visit that is repeated waits for the budget (docs/RECRAWL.md). */
#include "base/digest.h"
#include "base/system/clock.h"
#include "stages/fetch/fetch_steps.h"

static void
wait_over(void *context)
{
    task_check_rules(context);
}

void
task_begin(struct task *task)
{
    const struct job *job = &task->job->job;
    double wait = 0;
    const bool scheduled = (job->flags & JOB_RECRAWL) != 0 && job->due_ms > 0;
    if (!scheduled || !task->fetch->recrawl.on) {
        task_check_rules(task);
    } else if (!recrawl_budget_take(&task->fetch->recrawl.budget, (double)clock_wall_ms() / 1000,
                                    &wait)) {
        /* Not all at the same time again. */
        const double share = (double)(fingerprint64(job->uri) % 1000) / 1000;
        stage_release(task->job, (uint64_t)(wait * (1 + share) * 1000), false,
                      "recrawl.budget is spent");
        task_free(task);
    } else if (wait > 0) {
        stage_timer(task->job->run, (uint64_t)(wait * 1000), wait_over, task);
    } else {
        task_check_rules(task);
    }
}
