/* Jobs that do not wait here for the host or its address: they go back to the queue. */
#include "stages/fetch/task/fetch_task.h"

/* Back to the queue, which knows from now on with which hosts it shares its address. */
void
task_turn_back(struct task *task, uint64_t address)
{
    task->report.address = address;
    task_report_host(task);
    stage_release(task->job, 0, false, "others are being fetched from the host's address");
    task_free(task);
}

/* The host fell into trouble while the job stood in line: it does not wait here. */
void
task_leave_line(struct task *task, uint64_t wait_ms)
{
    task->report.rest_ms = wait_ms;
    task_report_host(task);
    stage_release(task->job, 0, false, "the host rests");
    task_free(task);
}

void
task_clear_line(const struct task *task)
{
    struct host_delays *host_delays = task->fetch->host_delays;
    struct host_delays_turn *stay = NULL, **last = &stay;
    for (struct host_delays_turn *turn = host_delays_leave(host_delays, task->asking.host);
         turn != NULL; turn = host_delays_leave(host_delays, task->asking.host)) {
        struct task *other = turn->context;
        if (other->report.asked) { /* it has begun: not all of it can be left for later */
            turn->next = NULL;
            *last = turn;
            last = &turn->next;
        } else {
            task_leave_line(other, 0);
        }
    }
    for (struct host_delays_turn *next; stay != NULL; stay = next) {
        next = stay->next;
        host_delays_line_up(host_delays, task->asking.host, stay);
    }
}
