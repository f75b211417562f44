/* Decides how long the delay of a host after a request is: docs/POLITENESS.md. */
#include "base/digest.h"
#include "base/system/clock.h"
#include "stages/fetch/task/fetch_task.h"

static uint64_t
longer(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Returns how much of the Crawl-delay is waited. -1 says that there is none. */
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

uint64_t
fetch_delay_of_other_ms(const struct fetch *fetch, struct slice origin)
{
    const struct host *host = hosts_find(fetch->hosts, origin, clock_wall_ms());
    const bool rules = host != NULL && host->robots != NULL;
    return longer(crawl_delay_of(fetch, rules ? robots_crawl_delay_ms(host->robots) : -1),
                  fetch->delay_ms);
}

void
task_rest(struct task *task)
{
    const uint64_t now_ms = clock_monotonic_ms();
    host_delays_until(task->fetch->host_delays, digest_local(task->origin),
                      now_ms + task_delay_ms(task), now_ms);
}
