/* Learns from the ends of a task's requests how its host is: at once, since the next request keeps
 * the delay that follows, and for the queue, which is told at the end of the job and decides
 * (queue/politeness/pace.h). */
#include "base/digest.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "stages/fetch/task/fetch_task.h"

enum { REPORT_MOST = HOST_CAUSE_MAXIMUM + 512 };

struct pace *
task_pace(const struct task *task)
{
    return host_delays_pace(task->fetch->host_delays, digest_local(task->origin));
}

/* rules: robots.txt was asked for. A server that fails at it lets nothing be fetched (RFC 9309,
 * 2.3.1.4), so any of its errors makes the host rest; at a document they may be the document's. */
static bool
is_trouble(const struct fetch_result *result, bool rules)
{
    switch (result->end) {
    case FETCH_FAILED:
    case FETCH_CUT_CONNECTION:
        return true;
    case FETCH_CUT_TIME: /* a body that flows and does not end is no fault of the host */
        return !result->flowing;
    case FETCH_ANSWERED:
    case FETCH_CUT_LENGTH:
        return result->status == 429 || result->status == 503 || (rules && result->status >= 500);
    default:
        return false;
    }
}

static void
note(struct task *task, const struct observation *observation)
{
    struct pace *pace = task_pace(task);
    if (task->report.address != 0 && task->report.address != pace->address) {
        pace->address = task->report.address;
        pace->address_troubles = 0; /* as far as is known here */
    }
    pace_note(pace, &task->fetch->pace_rules, observation, clock_wall_ms());
    host_report_add(&task->report, observation);
}

static void
note_pace(struct task *task, const struct fetch_result *result, bool rules)
{
    const bool trouble = is_trouble(result, rules);
    const bool moved = rules && result->status >= 300 && result->status < 400;
    if (moved || (!trouble && result->end != FETCH_ANSWERED && result->end != FETCH_CUT_LENGTH)) {
        return; /* of what has moved the end tells */
    }
    const struct observation observation = {
        .what = (uint8_t)((result->end != FETCH_FAILED ? OBSERVED_ANSWER : OBSERVED_SILENCE) |
                          (trouble ? OBSERVED_TROUBLE : 0)),
        .milliseconds = result->milliseconds,
        .retry_after_ms = result->retry_after_ms};
    note(task, &observation);
}

/* Returns whether the page is at fault, and its host is not, when a request for it ends so. */
static bool
is_at_fault(const struct task *task, const struct fetch_result *result)
{
    const bool failed = (result->end == FETCH_FAILED && !result->unsent) ||
                        result->end == FETCH_CUT_CONNECTION || result->end == FETCH_CUT_TIME;
    return failed && task->download == NULL &&
           pace_blames_document(task_pace(task), task->job->job.attempt);
}

void
task_note_host(struct task *task, const struct fetch_result *result, bool rules)
{
    struct host_report *report = &task->report;
    const bool page_fails = !rules && is_at_fault(task, result);
    if (result->end == FETCH_FAILED && !page_fails) {
        report->words |= (uint8_t)(HOST_FAILED | (result->silent ? HOST_SILENT : 0));
        report->cause = arena_copy(&task->job->arena, slice_string(result->problem));
    } else if (result->end != FETCH_FAILED && result->end != FETCH_REFUSED_ADDRESS &&
               result->end != FETCH_NO_MEMORY) {
        report->words = rules ? HOST_RULES : HOST_ANSWERED;
    }
    /* A dump's time is no measure of its host. */
    if (!page_fails && (task->download == NULL || result->status < 200 || result->status >= 300)) {
        note_pace(task, result, rules);
    }
}

void
task_note_no_rules(struct task *task, uint16_t status, bool silent, const char *reason)
{
    const struct observation trouble = {.what = OBSERVED_TROUBLE};
    task->report.words =
        (uint8_t)(HOST_FAILED | (silent ? HOST_SILENT : 0) | (status >= 400 ? HOST_FORBIDS : 0));
    task->report.cause = arena_copy(&task->job->arena, slice_string(reason));
    if (!slice_equal(url_origin(buf_slice(&task->robots.url)), task->origin)) {
        note(task, &trouble);
    }
}

void
task_note_crawl_delay(struct task *task, int64_t crawl_delay_ms)
{
    struct pace *pace = task_pace(task);
    const uint32_t delay_ms = crawl_delay_ms <= 0           ? 0
                              : crawl_delay_ms < UINT32_MAX ? (uint32_t)crawl_delay_ms
                                                            : UINT32_MAX;
    task->report.rules_known |= delay_ms != pace->crawl_delay_ms;
    task->report.crawl_delay_ms = pace->crawl_delay_ms = delay_ms;
}

uint64_t
task_delay_ms(const struct task *task)
{
    return pace_rest_ms(task_pace(task), &task->fetch->pace_rules, clock_wall_ms());
}

void
task_rest(struct task *task)
{
    const uint64_t now_ms = clock_monotonic_ms();
    host_delays_until(task->fetch->host_delays, digest_local(task->origin),
                      now_ms + task_delay_ms(task), now_ms);
}

uint64_t
fetch_delay_of_other_ms(const struct fetch *fetch, struct slice origin)
{
    const struct host *host = hosts_find(fetch->hosts, origin, clock_wall_ms());
    const int64_t delay_ms =
        host != NULL && host->robots != NULL ? robots_crawl_delay_ms(host->robots) : 0;
    const struct pace pace = {.crawl_delay_ms =
                                  delay_ms > 0 && delay_ms < UINT32_MAX ? (uint32_t)delay_ms : 0};
    return pace_rest_ms(&pace, &fetch->pace_rules, 0);
}

void
task_report_host(struct task *task)
{
    struct buf report;
    buf_init(&report, REPORT_MOST);
    host_report_encode(&report, &task->report);
    stage_report_host(task->job, buf_slice(&report));
    buf_release(&report);
}
