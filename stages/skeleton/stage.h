/* The skeleton of every stage program: options, signals, leases, batches, retirement.
 *
 * A stage program is a table (struct stage_spec) and one call of stage_main(). The skeleton
 * reserves up to `window` jobs and calls start() for each. The stage ends a job, at once or
 * later, with exactly one of stage_done, stage_release, stage_bury. Ended jobs gather until
 * the batch is full or old enough; then, strictly in this order:
 *
 *   1. spec->flush(): the stage's own effects become durable (WARC sync, index commit);
 *   2. the jobs' metadata go to the metadata store, which answers when they are durable;
 *   3. the completions go to the queue: jobs leave and outputs enter in one transaction.
 *
 * A crash between two steps repeats the job, and every effect is keyed by (uri, generation,
 * stage), so repeating is harmless. Batches are pipelined: while one waits for an answer the
 * next gathers. SIGTERM and SIGINT: nothing new is reserved, jobs in flight end, then exit 0;
 * what does not end within ten seconds is left to the lease.
 *
 * One thread, one epoll set; a stage adds its own descriptors with stage_watch.
 */
#ifndef STAGES_SKELETON_STAGE_H
#define STAGES_SKELETON_STAGE_H

#include "base/arena.h"
#include "base/options/opt.h"
#include "metastore/metastore_client.h"
#include "queue/client/queue_client.h"
#include "queue/cluster/cluster.h"
#include "stages/skeleton/document.h"

struct stage_run; /* the running skeleton */

/* One reserved job. Everything lives until the job has ended and its completion was answered. */
struct stage_job {
    struct job job;           /* slices are copies in the arena */
    struct document document; /* decoded job.data */
    struct arena arena;       /* free for the stage's use; bounded */
    struct meta_update meta;  /* fields to merge into "u" + uri when the job ends */
    void *state;              /* the stage's own */
    struct stage_run *run;
};

struct stage_spec {
    enum stage stage;
    const struct program *program; /* --help, manual page; flags are the skeleton's */
    /* Once, before the first job. *context is handed to the other functions. */
    enum status (*open)(struct stage_run *run, void **context, struct reason *why);
    /* Takes the job. Must end it now or later. */
    void (*start)(void *context, struct stage_job *job);
    /* Makes the effects of all ended jobs durable. NULL: nothing to do. AGAIN: it cannot now; no
     * job is started until it could, a second later at the soonest. A failure ends the process
     * with exit 111: the jobs come back by their leases. */
    enum status (*flush)(void *context, struct stage_job *const *jobs, size_t n,
                         struct reason *why);
    void (*close)(void *context);
    size_t window, batch;      /* most jobs started and not ended; most that end together */
    const char *window_option; /* what says window instead, and batch where that is 0 */
    uint64_t rest_ms;          /* longest rest after a flush (stage_batch.c); 0: the usual */
};

int stage_main(const struct stage_spec *spec, int argc, char **argv);

/* ---- ending a job ---- */

/* Copies output; may be called many times before stage_done. Outputs of a job that is
 * released or buried are dropped. */
void stage_output(struct stage_job *job, const struct job *output);
/* The usual output: the same URI, depth, generation to the next stage with this document. */
void stage_output_next(struct stage_job *job, enum stage next, const struct document *document);
/* Adds an output that is due at a later time. due_ms is wall time. */
void stage_output_later(struct stage_job *job, enum stage next, const struct document *document,
                        uint64_t due_ms);
/* Tells the frontier how many quads the document brought that the index did not have: what is like
 * it goes sooner or later for that (queue/frontier/priority.h). Nothing for resources and repeated
 * visits. */
void stage_yield(struct stage_job *job, uint64_t quads);
void stage_done(struct stage_job *job);
void stage_release(struct stage_job *job, uint64_t delay_ms, bool counts_as_attempt,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The job needs a node that does not answer: no attempt. The longer it has been in the queue, the
 * longer it waits: a quarter of that, a second at least, a minute at most. */
void stage_put_off(struct stage_job *job, const struct reason *why);
void stage_bury(struct stage_job *job, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Says what the job counts as when it is done, for people who ask what became of a crawl. */
void stage_count_as(struct stage_job *job, enum job_outcome outcome);
/* fetch: what its requests told of the host (queue/politeness/host_report.h). */
void stage_report_host(struct stage_job *job, struct slice report);
/* Tells whether the job, which is under way, counts for the window; until it ends. */
void stage_set_aside(struct stage_job *job, bool aside);
/* fetch: of 256 jobs of the lane so many are those of sitemaps; 0: as before. */
void stage_set_lane_share(struct stage_job *job, uint8_t share);
/* fetch, extract: what the job puts is filtered by this version of the scope or a later one. */
void stage_set_scope(struct stage_job *job, uint64_t version);
/* More metadata, of another key ("h" + origin): sent with the batch. fields are copied. */
void stage_put_meta(struct stage_job *job, struct slice key, struct slice fields);

/* ---- services ---- */

const struct opt_set *stage_options(struct stage_run *run);
const char *stage_directory(struct stage_run *run);   /* the data directory */
const char *stage_worker_name(struct stage_run *run); /* "fetch.1" */
/* --set arguments of this process, for programs that it starts. */
const struct flag_list *stage_assignments(struct stage_run *run);
/* The version of the scope that the queue says is in force; 0: none. */
uint64_t stage_scope(struct stage_run *run);
unsigned stage_worker_number(struct stage_run *run); /* 1-based: index partition = number - 1 */
const struct cluster *stage_cluster(struct stage_run *run);
struct metastore_client *stage_metastore(struct stage_run *run);
void stage_set_lane(struct stage_run *run, uint64_t lane);

/* Visits the jobs that are reserved and not yet started, in the order in which they will be, until
 * visit returns false. */
typedef bool stage_visit(void *context, const struct job *job);
void stage_waiting(struct stage_run *run, stage_visit *visit, void *context);

typedef void stage_ready(void *context, uint32_t epoll_events);
/* Adds or changes a descriptor; events 0 removes it. */
void stage_watch(struct stage_run *run, int descriptor, uint32_t epoll_events, stage_ready *ready,
                 void *context);
typedef void stage_tick(void *context);
/* One-shot: calls tick once after delay_ms from now; a later call with the same (tick,
 * context) replaces the earlier. delay_ms UINT64_MAX: cancels. */
void stage_timer(struct stage_run *run, uint64_t delay_ms, stage_tick *tick, void *context);

#endif
