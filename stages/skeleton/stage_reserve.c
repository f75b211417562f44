#include "stages/skeleton/stage_reserve.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "config/process_state.h"
#include "stages/skeleton/stage_run.h"

enum {
    RESERVE_PAUSE_MS = 500,
    UNWANTED_PAUSE_MS = 50,
    RESERVE_PACE_MS = 16,
    RESERVE_PACE_FEW_MS = 100,
    START_SLICE_MS = 20,
    HELD_PER_WINDOW = 4,
    POLL_MS = 10000,      /* how long the queue may hold a request until a job is due */
    POLL_WANTED_MS = 1000 /* the same, where jobs may soon not be wanted any more */
};

void
reserving_init(struct reserving *reserving)
{
    reserving->last = &reserving->waiting;
}

void
reserving_release(struct reserving *reserving)
{
    held_jobs_free(reserving->waiting);
    if (reserving->wanted != NULL) {
        wanted_jobs_close(reserving->wanted);
        free(reserving->wanted);
    }
}

uint64_t
stage_pace_ms(enum stage stage, size_t asked, size_t came)
{
    return stage == STAGE_FETCH || came >= asked ? RESERVE_PACE_MS : RESERVE_PACE_FEW_MS;
}

static void
jobs_reserved(void *context, enum status status, const struct job *jobs, size_t n,
              const struct reason *why)
{
    struct stage_run *run = context;
    run->reserving.asking = false;
    if (status != STATUS_OK) {
        log_warning("reserve_refused", "reason=%s", why->text);
        if (status != STATUS_CANCELLED) {
            process_state_wait(WAIT_QUEUE, status, why);
        }
        run->reserving.again_ms = clock_monotonic_ms() + RESERVE_PAUSE_MS;
        return;
    }
    run->reserving.daemon_answers = true;
    process_state_goes_on(WAIT_QUEUE);
    for (size_t i = 0; i < n; i++) {
        struct held_job *held = held_job_new(run, &jobs[i]);
        *run->reserving.last = held;
        run->reserving.last = &held->next;
        run->reserving.waiting_count++;
    }
    run->reserving.jobs_taken += n;
    run->reserving.again_ms =
        clock_monotonic_ms() + stage_pace_ms(run->spec->stage, run->reserving.asked, n);
}

/* Run by a command: only while somebody wants jobs done, and with his settings. What was opened
 * with the command's (caches, limits) stays as it is. */
static bool
jobs_are_wanted(struct stage_run *run)
{
    struct opt_set *options = NULL;
    struct reason why = {""};
    if (run->reserving.wanted == NULL) {
        return true;
    }
    const bool any = wanted_jobs_any(run->reserving.wanted);
    const enum status status =
        any ? wanted_jobs_settings(run->reserving.wanted, &options, &why) : STATUS_OK;
    if (status != STATUS_OK) {
        log_warning("settings_unread", "reason=%s", why.text);
    }
    if (options != NULL) {
        stage_take_options(run, options);
        log_info("settings", "of=%s", "whoever wants jobs done");
    }
    if (!any || status != STATUS_OK) {
        run->reserving.again_ms = clock_monotonic_ms() + UNWANTED_PAUSE_MS;
    }
    return any && status == STATUS_OK;
}

void
reserve_more(struct stage_run *run)
{
    const size_t in_hand = run->reserving.waiting_count + run->jobs.running - run->jobs.aside;
    if (run->stopping || run->reserving.asking || run->batches.held > 0 ||
        in_hand >= run->reserving.window ||
        run->batches.ended_count >= HELD_PER_WINDOW * run->reserving.window ||
        clock_monotonic_ms() < run->reserving.again_ms) {
        return;
    }
    /* Few at a time only when few are left to ask for: small requests cost as much as large. */
    const size_t room = run->reserving.window - in_hand;
    if ((room < run->reserving.window / 4 && in_hand > 0) || !jobs_are_wanted(run)) {
        return;
    }
    run->reserving.asking = true;
    run->reserving.asked = room;
    queue_reserve(run->queue, run->spec->stage, run->reserving.lane, (uint32_t)room,
                  run->reserving.wanted == NULL ? POLL_MS : POLL_WANTED_MS, jobs_reserved, run);
}

static void
recall_answered(void *context, enum status status, const struct job *jobs, size_t n,
                const struct reason *why)
{
    (void)context;
    (void)status;
    (void)jobs;
    (void)n;
    (void)why;
}

/* Who stops does not wait until the queue has jobs, or no more patience. */
void
reserve_recall(struct stage_run *run)
{
    if (run->stopping && run->reserving.asking && !run->reserving.recalled &&
        run->reserving.daemon_answers) {
        run->reserving.recalled = true;
        queue_reserve(run->queue, run->spec->stage, run->reserving.lane, 0, 0, recall_answered,
                      run);
    }
}

static struct held_job *
take_waiting(struct stage_run *run)
{
    struct held_job *held = run->reserving.waiting;
    run->reserving.waiting = held->next;
    if (run->reserving.waiting == NULL) {
        run->reserving.last = &run->reserving.waiting;
    }
    held->next = NULL;
    run->reserving.waiting_count--;
    run->jobs.running++;
    return held;
}

void
stage_waiting(struct stage_run *run, stage_visit *visit, void *context)
{
    for (const struct held_job *held = run->reserving.waiting; held != NULL; held = held->next) {
        if (!visit(context, &held->public.job)) {
            return;
        }
    }
}

void
stage_start(struct held_job *held)
{
    struct stage_run *run = held->public.run;
    run->spec->start(run->context, &held->public);
}

void
reserve_start(struct stage_run *run)
{
    const uint64_t until = clock_monotonic_ms() + START_SLICE_MS;
    while (run->reserving.waiting != NULL && run->batches.held == 0 &&
           clock_monotonic_ms() <= until) {
        struct held_job *held = take_waiting(run);
        struct stage_job *job = &held->public;
        if (run->stopping && run->stop_deadline_ms != UINT64_MAX) {
            stage_release(job, 0, false, "the process is stopping");
        } else if (!document_decode(job->job.data, &job->document)) {
            stage_bury(job, "the job's data is not a document record of a known version");
        } else if (!stage_tells_first(held)) {
            stage_start(held);
        }
    }
}

void
reserve_hurry(struct stage_run *run)
{
    run->reserving.again_ms = 0;
}

int
reserve_wait_ms(const struct stage_run *run)
{
    const struct reserving *reserving = &run->reserving;
    if (reserving->waiting != NULL && run->batches.held == 0) {
        return 0;
    }
    if (run->stopping || reserving->asking || run->batches.held > 0 ||
        run->jobs.running - run->jobs.aside >= reserving->window) {
        return -1;
    }
    const uint64_t now = clock_monotonic_ms(); /* a reserve is being paced */
    const uint64_t pace = reserving->again_ms > now ? reserving->again_ms - now : 0;
    return pace > RESERVE_PACE_MS ? (int)pace : RESERVE_PACE_MS;
}

bool
reserve_is_awaited(const struct stage_run *run)
{
    return run->reserving.asking && run->reserving.daemon_answers;
}
