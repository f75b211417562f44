/* The next jobs of lanes in memory, so that a lane's turn costs one look at the disk and not one
 * for each job, and none of the jobs that ended before has to be passed over again.
 *
 * A head is the jobs that follow in one class of one lane (of ranks: those below RANK_SITEMAP,
 * those from there on), as they were read, and the place where reading goes on. What becomes ready
 * in front of that place is told by upcoming_ready, what ceases to be there by upcoming_gone. A
 * head that was dropped for lack of memory is read anew.
 */
#ifndef QUEUE_FRONTIER_UPCOMING_JOBS_H
#define QUEUE_FRONTIER_UPCOMING_JOBS_H

#include "queue/client/job.h"
#include "queue/frontier/leases.h"
#include "queue/storage/frontier_engine.h"

enum upcoming_class { UPCOMING_USUAL, UPCOMING_SITEMAP, UPCOMING_CLASSES };

struct upcoming_jobs;

struct upcoming_jobs *upcoming_new(size_t bytes);
void upcoming_free(struct upcoming_jobs *upcoming);

struct upcoming_source {
    struct frontier *frontier;
    const struct leases *leases; /* jobs that are leased are not ready */
};
/* The next ready job of the class; record.at NULL: there is none. Lives until the next call. */
enum status upcoming_next(struct upcoming_jobs *upcoming, const struct upcoming_source *source,
                          uint64_t lane, enum upcoming_class class, struct job_key *key,
                          struct slice *record, struct reason *why);
/* The job that upcoming_next gave was handed out. True: no other is in memory behind it. */
bool upcoming_pop(struct upcoming_jobs *upcoming, uint64_t lane, enum upcoming_class class);
/* A job appeared, or went back. */
void upcoming_ready(struct upcoming_jobs *upcoming, const struct job_key *key);
/* Its record is not in the queue any more. */
void upcoming_gone(struct upcoming_jobs *upcoming, const struct job_key *key);

#endif
