/* Reserving: a stage asks the queue for jobs, and starts them as long as its window has room. */
#ifndef STAGES_SKELETON_STAGE_RESERVE_H
#define STAGES_SKELETON_STAGE_RESERVE_H

#include "config/wanted_jobs.h"
#include "stages/skeleton/held_job.h"

/* stage_reserve.c changes it; window, lane and wanted are set once. */
struct reserving {
    size_t window; /* most jobs in hand */
    uint64_t lane;
    struct wanted_jobs *wanted;       /* NULL: jobs are taken always */
    struct held_job *waiting, **last; /* reserved, start() not yet called */
    size_t waiting_count;
    bool asking, recalled, daemon_answers;
    size_t asked; /* most jobs that the reserve under way may bring */
    uint64_t jobs_taken, again_ms;
};
void reserving_init(struct reserving *reserving);
void reserving_release(struct reserving *reserving);

/* Asks for jobs when there is room for them. */
void reserve_more(struct stage_run *run);
/* Takes back a reserve that the queue holds, when the process stops. */
void reserve_recall(struct stage_run *run);
/* Starts what is reserved, for a slice of time only, so that leases and answers are served. */
void reserve_start(struct stage_run *run);
/* Has the queue asked at once, though it was asked a moment ago. */
void reserve_hurry(struct stage_run *run);
/* Returns when the queue wants to be asked next: ms, or -1; 0: there is something to start. */
int reserve_wait_ms(const struct stage_run *run);
/* Returns whether an answer is under way that may bring jobs, which are to be given back in good
 * order. */
bool reserve_is_awaited(const struct stage_run *run);
/* Returns how long a stage that got so many jobs of those it asked for waits until it asks again:
 * what is due some moments later comes with others, not in a message of its own. A stage that has a
 * backlog is not held up, nor is fetch, whose hosts wait for their turn. */
uint64_t stage_pace_ms(enum stage stage, size_t asked, size_t came);

#endif
