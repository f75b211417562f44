/* The skeleton of a stage while it runs, for the files that make it up. stage.c has its life and
 * the loop; what reserving, batches and events keep is in a part of theirs. */
#ifndef STAGES_SKELETON_STAGE_RUN_H
#define STAGES_SKELETON_STAGE_RUN_H

#include "stages/skeleton/stage_batch.h"
#include "stages/skeleton/stage_events.h"
#include "stages/skeleton/stage_reserve.h"

extern const struct opt stage_option_table[];

struct stage_run {
    /* Constant once the process has begun, but for the options. */
    const struct stage_spec *spec;
    void *context;
    struct opt_set *options;
    struct options_before *options_before; /* somebody may have a text of theirs */
    char *directory;
    char *name;
    unsigned number;
    const struct flag_list *assignments;
    struct cluster *cluster;
    struct queue_client *queue;
    struct metastore_client *metastore;
    size_t job_memory;

    struct events events;
    struct reserving reserving;
    struct batching batches;
    struct jobs_in_hand {
        size_t running;     /* given to the stage and not ended */
        size_t aside;       /* of those: they do not count for the window */
        uint64_t totals[3]; /* ended, by verdict */
    } jobs;                 /* held_job.c, and stage_reserve.c when a job is given */

    /* stage.c alone changes the fields that follow. */
    int signals;
    bool clients_ready; /* of queue or metadata store: there is something to process */
    bool stopping;
    uint64_t stop_deadline_ms; /* UINT64_MAX: not urgent, every job may end */
};

/* Takes options in place of the present ones, which are kept. */
void stage_take_options(struct stage_run *run, struct opt_set *options);

#endif
