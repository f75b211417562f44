/* When a host is asked: its rest, its line of jobs, its address limit. */
#include "base/digest.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "stages/fetch/task/fetch_task.h"

enum { PATIENCE_MS = 2000 };

static void take_turn(void *context);

/* The next one who waits for the host is woken, when nobody is asking it. */
static void
pass_turn(struct fetch *fetch, uint64_t host)
{
    struct host_delays_turn *turn = host_delays_next(fetch->host_delays, host);
    if (turn != NULL) {
        stage_timer(fetch->run, host_delays_wait_ms(fetch->host_delays, host, clock_monotonic_ms()),
                    take_turn, turn->context);
    }
}

static bool
asks_for_rules(const struct task *task)
{
    return task->asking.request.url.length > 0 &&
           task->asking.request.url.at == task->robots.url.data;
}

/* Tells whether another job has brought the rules that this request is for. */
static bool
rules_came(const struct task *task)
{
    return asks_for_rules(task) && task->robots.hops == 0 &&
           hosts_find(task->fetch->hosts, task->origin, clock_wall_ms()) != NULL;
}

/* Jobs of a host ask it one after the other, each after the rest of the one before. Every way out
 * but waiting and asking passes the turn on. */
static void
take_turn(void *context)
{
    struct task *task = context;
    struct fetch *fetch = task->fetch;
    const uint64_t host = task->asking.host;
    const uint64_t now_ms = clock_monotonic_ms();
    if (host_delays_is_busy(fetch->host_delays, host)) {
        task->asking.turn.context = task;
        task->asking.lined_up = true;
        host_delays_line_up(fetch->host_delays, host, &task->asking.turn);
        return;
    }
    const uint64_t wait_ms = host_delays_wait_ms(fetch->host_delays, host, now_ms);
    const bool long_wait = wait_ms > PATIENCE_MS || (wait_ms > 0 && task_pace(task)->troubles > 0);
    if (long_wait && task->asking.lined_up && !task->report.asked) {
        task_leave_line(task, wait_ms);
    } else if (wait_ms > 0) {
        stage_timer(task->job->run, wait_ms, take_turn, task);
        return;
    } else if (fetch_http_at_limit(fetch->http, task->asking.request.address)) {
        task_turn_back(task, task->asking.request.address);
    } else if (rules_came(task)) {
        const struct fetch_result needless = {.end = FETCH_NEEDLESS, .problem = ""};
        task->asking.request.done(task->asking.request.context, &needless);
    } else {
        host_delays_begin(fetch->host_delays, host, now_ms);
        task_begin_request(task);
        return;
    }
    pass_turn(fetch, host);
}

void
task_ask(struct task *task, const struct fetch_request *request)
{
    task->asking.request = *request;
    task->asking.host = digest_local(url_origin(request->url));
    if (task->asking.host == digest_local(task->origin)) {
        task->asking.request.address = task_pace(task)->address;
    }
    take_turn(task);
}

void
task_note_end(struct task *task, const struct fetch_result *result)
{
    struct host_delays *host_delays = task->fetch->host_delays;
    const struct slice origin = url_origin(task->asking.request.url);
    const bool own = slice_equal(origin, task->origin);
    const uint64_t now_ms = clock_monotonic_ms();
    task_end_request(task, result);
    host_delays_end(host_delays, task->asking.host, now_ms);
    if (result->ip.length > 0) {
        task->asking.ip = arena_copy(&task->job->arena, result->ip);
        task->report.address = result->address;
    }
    if (result->end == FETCH_CROWDED) {
        pass_turn(task->fetch, task->asking.host);
        return;
    }
    task->report.asked = true;
    if (own) {
        task_note_host(task, result, asks_for_rules(task));
    }
    const uint64_t delay_ms =
        own ? task_delay_ms(task) : fetch_delay_of_other_ms(task->fetch, origin);
    host_delays_until(host_delays, task->asking.host, now_ms + delay_ms, now_ms);
    pass_turn(task->fetch, task->asking.host);
}
