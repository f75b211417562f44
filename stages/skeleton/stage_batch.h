/* The batches of a stage: jobs that have ended gather, are made durable, told to the metadata
 * store, told to the queue. */
#ifndef STAGES_SKELETON_STAGE_BATCH_H
#define STAGES_SKELETON_STAGE_BATCH_H

#include "stages/skeleton/held_job.h"

/* stage_batch.c changes it; the first line is set once. */
struct batching {
    size_t most;                          /* jobs of a batch */
    uint64_t rest_least_ms, rest_most_ms; /* after a flush */
    uint64_t delay_ms, gather_ms;
    uint64_t flushed_ms, rest_until_ms; /* by the monotonic clock; 0: not yet */
    struct held_job *ended, **last;     /* ended, not yet in a batch */
    size_t ended_count, under_way;
    size_t held; /* batches whose flush said AGAIN */
};
void batching_init(struct batching *batching);

/* Takes a job that has ended. */
void batch_add(struct stage_run *run, struct held_job *held);
/* Sends what has ended when it is time to. */
void batch_advance(struct stage_run *run);
/* Returns when batch_advance wants to be called next: ms, or -1. */
int batch_wait_ms(const struct stage_run *run);
/* Returns how long a stage rests that has flushed so many jobs. */
uint64_t batch_rest_ms(size_t jobs, uint64_t least_ms, uint64_t most_ms);

#endif
