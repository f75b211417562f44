/* The next jobs of lanes in memory, so that a lane's turn costs one look at the disk and not one
 * for each job, and none of the jobs that ended before has to be passed over again.
 *
 * A head is the jobs that follow in one class of one lane (of ranks: those below RANK_SITEMAP,
 * those from there on), as they were read, and the place where reading goes on. What becomes ready
 * in front of that place is told by heads_ready, what ceases to be there by heads_gone. A head that
 * was dropped for lack of memory is read anew.
 */
#ifndef QUEUE_HEADS_H
#define QUEUE_HEADS_H

#include "queue/frontier.h"
#include "queue/job.h"
#include "queue/leases.h"

enum heads_class { HEADS_USUAL, HEADS_SITEMAP, HEADS_CLASSES };

struct heads;

struct heads *heads_new(size_t bytes);
void heads_free(struct heads *heads);

struct heads_source {
    struct frontier *frontier;
    const struct leases *leases; /* jobs that are leased are not ready */
};
/* The next ready job of the class; record.at NULL: there is none. Lives until the next call. */
enum status heads_next(struct heads *heads, const struct heads_source *source, uint64_t lane,
                       enum heads_class class, struct job_key *key, struct slice *record,
                       struct reason *why);
/* The job that heads_next gave was handed out. True: no other is in memory behind it. */
bool heads_pop(struct heads *heads, uint64_t lane, enum heads_class class);
/* A job appeared, or went back. */
void heads_ready(struct heads *heads, const struct job_key *key);
/* Its record is not in the queue any more. */
void heads_gone(struct heads *heads, const struct job_key *key);

size_t heads_memory(const struct heads *heads);

#endif
