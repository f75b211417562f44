/* A job that a stage has reserved, with what the stage says of it until its batch is answered. */
#ifndef STAGES_SKELETON_HELD_JOB_H
#define STAGES_SKELETON_HELD_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "stages/skeleton/stage.h"

/* A stage_job with the skeleton's own part; the public part comes first. */
struct held_job {
    struct stage_job public;
    struct held_job *next;
    enum verdict verdict;
    bool ended, aside;
    bool no_attempt;
    bool told; /* what it brought of metadata is in the store */
    uint64_t delay_ms, ended_ms, scope;
    uint8_t share;
    enum job_outcome outcome;
    struct slice reason, report;
    struct job *outputs;
    size_t output_count, output_capacity;
    struct meta_put *puts;
    size_t put_count, put_capacity;
};

struct held_job *held_job_new(struct stage_run *run, const struct job *job);
void held_job_free(struct held_job *held);
/* Frees all of a list. */
void held_jobs_free(struct held_job *first);

/* ---- what jobs bring of metadata: stage_metadata.c ---- */

/* Turns the job's metadata that other nodes keep into outputs of it. */
void stage_post_metadata(struct held_job *held);
/* Has the job that follows bring them, and what this one brought, if it may. */
void stage_hand_metadata(struct held_job *held);
/* Tells whether the job, whose worker has died, has to wait until what it brought is in the store;
 * then it is started. */
bool stage_tells_first(struct held_job *held);
/* Hands the job to the stage. */
void stage_start(struct held_job *held);

#endif
