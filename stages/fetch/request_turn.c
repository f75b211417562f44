/* When a host is asked: its rest, its line of jobs, its address limit. */
#include "base/digest.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "stages/fetch/fetch_task.h"

enum { PATIENCE_MS = 2000 };

static uint64_t
longer(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Of a Crawl-delay, -1 for none, as much as is waited. */
static uint64_t
crawl_delay_of(const struct fetch *fetch, int64_t crawl_delay_ms)
{
    const uint64_t delay_ms = crawl_delay_ms > 0 ? (uint64_t)crawl_delay_ms : 0;
    return delay_ms < fetch->crawl_delay_maximum_ms ? delay_ms : fetch->crawl_delay_maximum_ms;
}

uint64_t
task_delay_ms(const struct task *task)
{
    return longer(crawl_delay_of(task->fetch, task->crawl_delay_ms), task_pace_ms(task));
}

/* Back to the queue, which knows from now on with which hosts it shares its address. */
void
task_turn_back(struct task *task, uint64_t address)
{
    task_tell_host(task);
    stage_set_lane_rest(task->job, task->has_asked ? task_delay_ms(task) : 0, address);
    stage_release(task->job, 0, false, "others are being fetched from the host's address");
    task_free(task);
}

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

/* The host fell into trouble while the job stood in line: it does not wait here. */
static void
leave_line(struct task *task, uint64_t wait_ms)
{
    stage_set_lane_rest(task->job, wait_ms, task->address);
    stage_release(task->job, 0, false, "the host rests");
    task_free(task);
}

void
task_clear_line(const struct task *task)
{
    struct host_delays *host_delays = task->fetch->host_delays;
    struct host_delays_turn *stay = NULL, **last = &stay;
    for (struct host_delays_turn *turn = host_delays_leave(host_delays, task->asked_host);
         turn != NULL; turn = host_delays_leave(host_delays, task->asked_host)) {
        struct task *other = turn->context;
        if (other->has_asked) { /* it has begun: not all of it can be left for later */
            turn->next = NULL;
            *last = turn;
            last = &turn->next;
        } else {
            leave_line(other, 0);
        }
    }
    for (struct host_delays_turn *next; stay != NULL; stay = next) {
        next = stay->next;
        host_delays_line_up(host_delays, task->asked_host, stay);
    }
}

/* Jobs of a host ask it one after the other, each after the rest of the one before. Every way out
 * but waiting and asking passes the turn on. */
static void
take_turn(void *context)
{
    struct task *task = context;
    struct fetch *fetch = task->fetch;
    const uint64_t host = task->asked_host;
    const uint64_t now_ms = clock_monotonic_ms();
    if (host_delays_is_busy(fetch->host_delays, host)) {
        task->turn.context = task;
        task->lined_up = true;
        host_delays_line_up(fetch->host_delays, host, &task->turn);
        return;
    }
    const uint64_t wait_ms = host_delays_wait_ms(fetch->host_delays, host, now_ms);
    const uint64_t at_limit = fetch_http_at_limit(fetch->http, task->request.url);
    const bool long_wait = wait_ms > PATIENCE_MS || (wait_ms > 0 && task_is_troubled(task));
    if (long_wait && task->lined_up && !task->has_asked) {
        leave_line(task, wait_ms);
    } else if (wait_ms > 0) {
        stage_timer(task->job->run, wait_ms, take_turn, task);
        return;
    } else if (at_limit != 0) {
        task_turn_back(task, at_limit);
    } else if (!task_rules_came(task)) {
        host_delays_begin(fetch->host_delays, host, now_ms);
        task_begin_request(task);
        return;
    }
    pass_turn(fetch, host);
}

void
task_ask(struct task *task, const struct fetch_request *request)
{
    task->request = *request;
    task->asked_host = digest_local(url_origin(request->url));
    take_turn(task);
}

void
task_rest(struct task *task)
{
    const uint64_t now_ms = clock_monotonic_ms();
    host_delays_until(task->fetch->host_delays, digest_local(task->origin),
                      now_ms + task_delay_ms(task), now_ms);
}

/* The rest of a host to which another's robots.txt moved. */
static uint64_t
delay_of_other(const struct fetch *fetch, struct slice origin)
{
    const struct host *host = hosts_find(fetch->hosts, origin, clock_wall_ms());
    const bool rules = host != NULL && host->robots != NULL;
    return longer(crawl_delay_of(fetch, rules ? robots_crawl_delay_ms(host->robots) : -1),
                  fetch->delay_ms);
}

static bool
asks_for_rules(const struct task *task)
{
    return task->request.url.length > 0 && task->request.url.at == task->robots_url.data;
}

void
task_note_end(struct task *task, const struct fetch_result *result)
{
    struct host_delays *host_delays = task->fetch->host_delays;
    const struct slice origin = url_origin(task->request.url);
    const bool own = slice_equal(origin, task->origin);
    const uint64_t now_ms = clock_monotonic_ms();
    task_end_request(task, result);
    host_delays_end(host_delays, task->asked_host, now_ms);
    if (result->ip.length > 0) {
        task->ip = arena_copy(&task->job->arena, result->ip);
        task->address = result->address;
    }
    if (result->end == FETCH_CROWDED) {
        pass_turn(task->fetch, task->asked_host);
        return;
    }
    task->has_asked = true;
    if (own && result->end == FETCH_FAILED) {
        task->host_words |= (uint8_t)(HOST_FAILED | (result->silent ? HOST_SILENT : 0));
        task->cause = arena_copy(&task->job->arena, slice_string(result->problem));
    } else if (own && result->end != FETCH_REFUSED_ADDRESS && result->end != FETCH_NO_MEMORY) {
        task->host_words = asks_for_rules(task) ? HOST_RULES : HOST_ANSWERED;
    }
    /* A dump's time is no measure of its host. */
    if (own && (task->download == NULL || result->status < 200 || result->status >= 300)) {
        task_learn_pace(task, result, asks_for_rules(task));
    }
    const uint64_t delay_ms = own ? task_delay_ms(task) : delay_of_other(task->fetch, origin);
    host_delays_until(host_delays, task->asked_host, now_ms + delay_ms, now_ms);
    pass_turn(task->fetch, task->asked_host);
}
