/* Requests that take longer than usual: docs/POLITENESS.md, "Hosts that are slow or silent".
 *
 * The requests under way stand in a list in order of their start, so a look at them ends at the
 * first that is not old enough. Two things are done for old ones: they give their place of
 * fetch.window to others, up to half as many, and when no byte of an answer has come
 * they are given up sooner or later, by what is known of their host. A body that once flowed until
 * the time was over is given up when it flows no faster this time: it cannot end, either. */
#include <stdio.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/system/clock.h"
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
    FLOWS_MOST = 4096,
    FLOW_PARTS = 4, /* of the whole time, after which a body's flow is compared; of its bytes, as
                       many as it may be faster */
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
    fetch->slow.whole_ms = whole_ms;
    fetch->slow.places = fetch_slow_places(options);
    map_init(&fetch->slow.flows);
    fetch->slow.usual_ms = USUAL_FIRST_MS * SMOOTHING;
}

void
fetch_slow_close(struct fetch *fetch)
{
    map_release(&fetch->slow.flows);
}

void
task_note_flow(const struct task *task, const struct fetch_result *result)
{
    struct map *flows = &task->fetch->slow.flows;
    if (flows->count >= FLOWS_MOST) { /* what is forgotten has the whole time once more */
        map_clear(flows);
    }
    map_set(flows, digest_local(task->job->job.uri),
            result->body.length < INT32_MAX ? (uint32_t)result->body.length : INT32_MAX);
}

static bool
flows_no_faster(const struct task *task, uint64_t now_ms)
{
    const struct slow *slow = &task->fetch->slow;
    const uint64_t took_ms = now_ms - task->asked.since_ms;
    if (task->job->job.attempt < 2 || took_ms < slow->whole_ms / FLOW_PARTS ||
        slow->flows.count == 0) {
        return false;
    }
    const uint32_t before = map_get(&slow->flows, digest_local(task->job->job.uri));
    const uint64_t bytes = fetch_http_body_bytes(task->asked.transfer);
    return before != (uint32_t)MAP_NONE && bytes > 0 &&
           bytes * slow->whole_ms * FLOW_PARTS <= before * took_ms * (FLOW_PARTS + 1);
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
give_up(struct task *task, const char *what, uint64_t ms)
{
    char problem[PROBLEM_SIZE];
    snprintf(problem, sizeof problem, "%s %llu ms", what, (unsigned long long)ms);
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
        const uint64_t patience_ms =
            silent_ms == 0
                ? 0
                : pace_patience_ms(task_pace(task), slow->patience_ms, task->job->job.attempt);
        if (silent_ms > 0 && silent_ms >= patience_ms) {
            give_up(task, "no answer came within", patience_ms); /* the task may be no more */
        } else if (flows_no_faster(task, now_ms)) {
            give_up(task, "its body flows as slowly as before, when it did not end within",
                    slow->whole_ms);
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
    task->asked.transfer = fetch_http_start(fetch->http, &task->asking.request);
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
