/* Requests that take longer than usual: docs/POLITENESS.md, "Hosts that are slow or silent".
 *
 * The requests under way stand in a list in order of their start, so a look at them ends at the
 * first that is not old enough. Two things are done for old ones: they give their place of
 * fetch.window to others, up to half as many, and when no byte of an answer has come
 * they are given up sooner or later, by what is known of their host. */
#include <stdio.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "stages/fetch/task/fetch_task.h"

enum {
    USUAL_FIRST_MS = 125, /* until something is known */
    SMOOTHING = 64,
    SLOW_FACTOR = 8,
    SLOW_LEAST_MS = 50,
    SLOW_MOST_MS = 5000,
    LINE_MS = 1000, /* others of the host wait here no longer */
    LOOK_LEAST_MS = 25,
    LOOK_MOST_MS = 1000,
    PROBLEM_SIZE = 80
};

void
fetch_slow_open(struct fetch *fetch, const struct opt_set *options)
{
    const uint64_t whole_ms = opt_duration_ms(options, "fetch.timeout");
    fetch->slow.patience_ms = opt_duration_ms(options, "fetch.patience");
    if (fetch->slow.patience_ms > whole_ms) {
        fetch->slow.patience_ms = whole_ms;
    }
    fetch->slow.places = fetch_slow_places(options);
    fetch->slow.usual_ms = USUAL_FIRST_MS * SMOOTHING;
}

/* A request that is older is slow. */
static uint64_t
slow_ms(const struct slow *slow)
{
    const uint64_t ms = slow->usual_ms * SLOW_FACTOR / SMOOTHING;
    return ms < SLOW_LEAST_MS ? SLOW_LEAST_MS : ms < SLOW_MOST_MS ? ms : SLOW_MOST_MS;
}

static void check_requests(void *context);

static void
look_again(struct fetch *fetch)
{
    const uint64_t pause_ms = slow_ms(&fetch->slow) / 2;
    fetch->slow.looking = true;
    stage_timer(fetch->run,
                pause_ms < LOOK_LEAST_MS  ? LOOK_LEAST_MS
                : pause_ms < LOOK_MOST_MS ? pause_ms
                                          : LOOK_MOST_MS,
                check_requests, fetch);
}

static void
give_up(struct task *task, uint64_t patience_ms)
{
    char problem[PROBLEM_SIZE];
    snprintf(problem, sizeof problem, "no answer came within %llu ms",
             (unsigned long long)patience_ms);
    fetch_http_give_up(task->fetch->http, task->asked.transfer, problem);
}

static void
check_requests(void *context)
{
    struct fetch *fetch = context;
    struct slow *slow = &fetch->slow;
    const uint64_t now_ms = clock_monotonic_ms(), old_ms = slow_ms(slow);
    struct task *next;
    slow->looking = false;
    for (struct task *task = slow->first; task != NULL && task->asked.since_ms + old_ms <= now_ms;
         task = next) {
        next = task->asked.next;
        if (!task->asked.aside && slow->aside < slow->places) {
            task->asked.aside = true;
            slow->aside++;
            stage_set_aside(task->job, true);
        }
        if (!task->asked.alone && task->asked.since_ms + LINE_MS <= now_ms) {
            task->asked.alone = true;
            task_clear_line(task);
        }
        const uint64_t silent_ms = fetch_http_silent_ms(task->asked.transfer);
        const uint64_t patience_ms = silent_ms == 0 ? 0 : task_patience_ms(task);
        if (silent_ms > 0 && silent_ms >= patience_ms) {
            give_up(task, patience_ms); /* the task ends: it may be no more */
        }
    }
    if (slow->first != NULL && !slow->looking) {
        look_again(fetch);
    }
}

void
task_begin_request(struct task *task)
{
    struct fetch *fetch = task->fetch;
    struct slow *slow = &fetch->slow;
    task->asked = (struct asked){.since_ms = clock_monotonic_ms(), .previous = slow->last};
    *(slow->last != NULL ? &slow->last->asked.next : &slow->first) = task;
    slow->last = task;
    task->asked.transfer = fetch_http_start(fetch->http, &task->request);
    if (!slow->looking) {
        look_again(fetch);
    }
}

void
task_end_request(struct task *task, const struct fetch_result *result)
{
    struct slow *slow = &task->fetch->slow;
    struct asked *asked = &task->asked;
    *(asked->previous != NULL ? &asked->previous->asked.next : &slow->first) = asked->next;
    *(asked->next != NULL ? &asked->next->asked.previous : &slow->last) = asked->previous;
    if (asked->aside) {
        slow->aside--;
        stage_set_aside(task->job, false);
    }
    asked->transfer = NULL;
    if (result->end == FETCH_ANSWERED && task->download == NULL) {
        slow->usual_ms += result->milliseconds - slow->usual_ms / SMOOTHING;
    }
}
