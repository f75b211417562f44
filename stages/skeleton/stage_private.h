/* Inside of the skeleton: shared by stage.c (life), stage_batch.c (ends), stage_events.c. */
#ifndef STAGES_SKELETON_STAGE_PRIVATE_H
#define STAGES_SKELETON_STAGE_PRIVATE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "config/wanted_jobs.h"
#include "stages/skeleton/stage.h"

extern const struct opt stage_option_table[];

/* ---- events ---- */

struct watch;
struct timer;
struct events {
    int epoll;
    struct watch **watches; /* by descriptor */
    size_t watch_count;
    struct timer *timers; /* a heap */
    size_t timer_count, timer_capacity;
    struct map timer_at;
    struct watch *removed; /* freed after the round, since events for them may still be listed */
};
enum status events_open(struct events *events, struct reason *why);
void events_close(struct events *events);
void events_watch(struct events *events, int descriptor, uint32_t epoll_events, stage_ready *ready,
                  void *context);
void events_timer(struct events *events, uint64_t delay_ms, stage_tick *tick, void *context);
/* Waits at most wait_ms (-1: for ever), calls what is ready and due. */
void events_round(struct events *events, int wait_ms);

/* ---- jobs and batches ---- */

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

struct batch {
    struct stage_run *run;
    struct held_job **jobs;
    size_t count;
    struct batch *next;
};

/* Options that others took the place of. */
struct options_before {
    struct opt_set *options;
    struct options_before *next;
};

struct stage_run {
    const struct stage_spec *spec;
    void *context;
    struct opt_set *options;
    struct options_before *options_before; /* somebody may have a text of theirs */
    struct wanted_jobs *wanted;            /* NULL: jobs are taken always */
    char *directory;
    char *name;
    unsigned number;
    uint64_t lane;
    const struct flag_list *assignments;
    struct cluster *cluster;
    struct queue_client *queue;
    struct metastore_client *metastore;
    struct events events;
    int signals;

    size_t window, batch_most;
    uint64_t rest_least_ms, rest_most_ms; /* after a flush */
    uint64_t flushed_ms, rest_until_ms;   /* by the monotonic clock; 0: not yet */
    uint64_t batch_delay_ms, batch_gather_ms;
    size_t job_memory;

    struct held_job *waiting, **waiting_last; /* reserved, start() not yet called */
    struct held_job *ended, **ended_last;     /* ended, not yet in a batch */
    size_t waiting_count, running_count, ended_count, batches_under_way;
    size_t aside_count; /* of those that run: they do not count for the window */
    bool reserving, recalled, stopping, daemon_answers;
    bool clients_ready;  /* of queue or metadata store: there is something to process */
    size_t held_batches; /* whose flush said AGAIN */
    size_t asked;        /* most jobs that the reserve under way may bring */
    uint64_t stop_deadline_ms, jobs_taken, reserve_again_ms;
    uint64_t totals[3]; /* by verdict */
};

/* Returns how long a stage that got so many jobs of those it asked for waits until it asks again:
 * what is due some moments later comes with others, not in a message of its own. */
uint64_t stage_pace_ms(enum stage stage, size_t asked, size_t came);
/* Sends what has ended when it is time to. */
void batch_advance(struct stage_run *run);
/* When batch_advance wants to be called next: ms, or -1. */
int batch_wait_ms(const struct stage_run *run);
/* Returns how long a stage rests that has flushed so many jobs. */
uint64_t batch_rest_ms(size_t jobs, uint64_t least_ms, uint64_t most_ms);
/* Turns the job's metadata that other nodes keep into outputs of it. */
void stage_post_metadata(struct held_job *held);
/* Has the job that follows bring them, and what this one brought, if it may. */
void stage_hand_metadata(struct held_job *held);
/* Tells whether the job, whose worker has died, has to wait until what it brought is in the store;
 * then it is started. */
bool stage_tells_first(struct held_job *held);
void stage_start(struct held_job *held);
struct held_job *held_job_new(struct stage_run *run, const struct job *job);
void held_job_free(struct held_job *held);

#endif
