/* The next jobs of lanes in memory, so that a lane's turn costs one look at the disk and not one
 * for each job, and none of the jobs that ended before has to be passed over again.
 *
 * A head is the jobs that follow in one class of one lane (of ranks: those below RANK_SITEMAP,
 * those from there on), as they were read, and the place where reading goes on. What becomes ready
 * in front of that place is told by lane_heads_ready, what ceases to be there by lane_heads_gone. A
 * head that was dropped for lack of memory is read anew.
 */
#ifndef QUEUE_FRONTIER_LANE_HEADS_H
#define QUEUE_FRONTIER_LANE_HEADS_H

#include "queue/client/job.h"
#include "queue/frontier/leases.h"
#include "queue/storage/frontier_engine.h"

enum lane_heads_class { HEADS_USUAL, HEADS_SITEMAP, HEADS_CLASSES };

struct lane_heads;

struct lane_heads *lane_heads_new(size_t bytes);
void lane_heads_free(struct lane_heads *lane_heads);

struct lane_heads_source {
    struct frontier *frontier;
    const struct leases *leases; /* jobs that are leased are not ready */
};
/* The next ready job of the class; record.at NULL: there is none. Lives until the next call. */
enum status lane_heads_next(struct lane_heads *lane_heads, const struct lane_heads_source *source,
                            uint64_t lane, enum lane_heads_class class, struct job_key *key,
                            struct slice *record, struct reason *why);
/* The job that lane_heads_next gave was handed out. True: no other is in memory behind it. */
bool lane_heads_pop(struct lane_heads *lane_heads, uint64_t lane, enum lane_heads_class class);
/* A job appeared, or went back. */
void lane_heads_ready(struct lane_heads *lane_heads, const struct job_key *key);
/* Its record is not in the queue any more. */
void lane_heads_gone(struct lane_heads *lane_heads, const struct job_key *key);

#endif
