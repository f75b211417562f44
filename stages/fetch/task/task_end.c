/* The ends of a task: its job is done, buried or released, and says so of its document and host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/system/clock.h"
#include "stages/fetch/task/download.h"
#include "stages/fetch/task/fetch_task.h"

void
task_free(struct task *task)
{
    host_delays_part(task->fetch->host_delays, digest_local(task->origin));
    download_free(task->download);
    buf_release(&task->robots.url);
    free(task);
}

void
task_note_attempt(struct task *task, const char *outcome)
{
    char time[CLOCK_TEXT_SIZE];
    char line[256];
    clock_text(clock_wall_ms(), 1, time);
    const int n = snprintf(line, sizeof line, "%s fetch %s", time, outcome);
    meta_set_text(&task->job->meta, META_ATTEMPTS,
                  slice_of(line, n < (int)sizeof line ? (size_t)n : sizeof line - 1));
}

/* Sets what every end says of the document. */
static void
set_common(struct task *task, const char *state, const char *reason)
{
    struct meta_update *meta = &task->job->meta;
    const struct job *job = &task->job->job;
    meta_set_number(meta, META_GENERATION, job->generation);
    meta_set_number(meta, META_DEPTH, job->depth);
    meta_set_text(meta, META_VIA, job->via);
    if (task->end.authority.length > 0) {
        meta_set_text(meta, META_PUBLISHER, task->end.authority);
    }
    if (job->hops > 0) {
        meta_set_text(meta, META_REDIRECT_FROM, job->via);
    }
    const bool unmodified = task->end.counts_as == OUTCOME_UNMODIFIED && task->visit.content_stands;
    if (state != NULL && !unmodified) { /* the stages go on telling of the content */
        meta_set_text(meta, META_STATE, slice_string(state));
        meta_set_text(meta, META_REASON, slice_string(reason));
    }
}

/* A guess that comes to nothing leaves a note of the host and no state: nobody said that there is a
 * document. */
static bool
is_vain_guess(const struct task *task, const char *state)
{
    return task_is_guess(task) && state != NULL &&
           (strcmp(state, "failed") == 0 || strcmp(state, "gone") == 0 ||
            strcmp(state, "denied") == 0);
}

/* Outcomes that states count as unless it was said more exactly. */
static const struct {
    const char *state;
    enum job_outcome outcome;
} state_outcomes[] = {{"fetched", OUTCOME_FETCHED}, {"redirected", OUTCOME_REDIRECTED},
                      {"gone", OUTCOME_GONE},       {"denied", OUTCOME_REFUSED},
                      {"covered", OUTCOME_REFUSED}, {"failed", OUTCOME_FAILED_ANSWER}};

/* A document that was refused before it was asked for is one, too; what is asked for besides is
 * counted only when it was. */
static enum job_outcome
outcome_of(const struct task *task, const char *state)
{
    if (task_kind(task->job->job.uri) != TASK_PAGE) {
        return OUTCOME_NONE;
    }
    if (task->resource || task_is_guess(task) || task_is_sitemap(task)) {
        return OUTCOME_BESIDE;
    }
    for (size_t i = 0; state != NULL && i < sizeof state_outcomes / sizeof state_outcomes[0]; i++) {
        if (strcmp(state, state_outcomes[i].state) == 0) {
            return task->end.counts_as != OUTCOME_NONE ? task->end.counts_as
                                                       : state_outcomes[i].outcome;
        }
    }
    return OUTCOME_NONE;
}

void
task_done(struct task *task, const char *state, const char *reason)
{
    if (is_vain_guess(task, state)) {
        task_note_guess(task, reason[0] != '\0' ? reason : state);
        state = NULL;
    }
    set_common(task, state, reason);
    stage_count_as(task->job, outcome_of(task, state));
    if (task->resource) { /* tells when a failure is old enough for another try */
        meta_set_number(&task->job->meta, META_FETCHED, clock_wall_ms());
    }
    task_queue_sitemaps(task, state != NULL && strcmp(state, "fetched") == 0);
    task_note_first_link(task);
    task_balance(task);
    task_schedule(task);
    if (state != NULL && (strcmp(state, "failed") == 0 || strcmp(state, "gone") == 0)) {
        stage_yield(task->job, 0);
    }
    task_report_host(task);
    stage_done(task->job);
    task_free(task);
}

void
task_bury(struct task *task, const char *reason)
{
    task_note_attempt(task, reason);
    if (task->unverified) {
        task_done(task, "failed", reason);
        return;
    }
    set_common(task, "failed", reason);
    task_report_host(task);
    stage_bury(task->job, "%s", reason);
    task_free(task);
}

/* From the start of the last request to now: what was waited for it counts as waited. */
static uint64_t
request_age_ms(const struct task *task)
{
    return task->asked.since_ms > 0 ? clock_monotonic_ms() - task->asked.since_ms : 0;
}

void
task_retry(struct task *task, uint64_t least_delay_ms, const char *reason)
{
    const struct fetch *fetch = task->fetch;
    const unsigned attempt = task->job->job.attempt;
    task_note_attempt(task, reason);
    if (attempt >= fetch->attempts || task->unverified) {
        task_done(task, "failed", reason);
        return;
    }
    uint64_t delay_ms = fetch->retry_ms << (attempt < 20 ? (attempt > 0 ? attempt - 1 : 0) : 20);
    const uint64_t age_ms = request_age_ms(task);
    delay_ms = delay_ms > age_ms ? delay_ms - age_ms : 0;
    delay_ms = delay_ms > least_delay_ms ? delay_ms : least_delay_ms;
    delay_ms = delay_ms < fetch->pace_rules.retry_after_most_ms
                   ? delay_ms
                   : fetch->pace_rules.retry_after_most_ms;
    set_common(task, NULL, NULL);
    task_report_host(task);
    stage_release(task->job, delay_ms, true, "%s", reason);
    task_free(task);
}

void
task_wait_for_host(struct task *task, const char *reason)
{
    const struct fetch *fetch = task->fetch;
    if (task->resource || task->unverified) {
        task_retry(task, 0, reason);
        return;
    }
    /* Without any back-off a host that fails would be asked without rest. */
    const uint64_t least_ms = fetch->pace_rules.backoff_ms > 0 ? 0 : fetch->retry_ms;
    task->report.rest_ms = task->report.rest_ms > least_ms ? task->report.rest_ms : least_ms;
    set_common(task, NULL, NULL);
    task_report_host(task);
    stage_release(task->job, 0, false, "%s", reason);
    task_free(task);
}
