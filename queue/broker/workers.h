/* Workers, whose leases are in queue/frontier/leases.h: who speaks, who is dead, who is waited for
 * after a restart. */
#ifndef QUEUE_BROKER_WORKERS_H
#define QUEUE_BROKER_WORKERS_H

#include "queue/broker/broker.h"

/* workers.c changes it. */
struct worker_watch {
    uint64_t grace_until_ms; /* monotonic; 0: over */
    uint64_t stall_check_ms; /* monotonic: the next */
    uint32_t *dying;         /* workers whose older incarnation is dead */
    size_t dying_count, dying_capacity;
};

void worker_watch_release(struct worker_watch *watch);
/* Reads who was there before a restart; they have time to say what they hold. */
enum status broker_workers_open(struct broker *broker, struct reason *why);
/* Returns whether workers that were there before a restart may yet say what they hold. */
bool broker_in_grace(const struct broker *broker);
/* The grace ends when every known worker has said what it holds, or in time. */
void broker_end_grace(struct broker *broker, uint64_t now_ms);
/* Returns the worker that sends the request; WORKER_NONE when it is not known and is not to be
 * added. *stale: it is an older incarnation that speaks. */
uint32_t broker_speaker(struct broker *broker, const struct broker_request *request, bool add,
                        bool *stale);
/* Returns whether it is time to look for stalled workers. */
bool broker_stall_check(struct broker *broker, uint64_t now_ms);
/* Returns when stalled workers are looked for next, by the monotonic clock. */
uint64_t broker_stall_check_ms(const struct broker *broker);
/* Writes rows of new workers before any of them gets a job, and removes those of workers that are
 * gone. */
void broker_workers_write(struct broker *broker, uint64_t now_ms);
/* The round was committed. */
void broker_workers_settle(struct broker *broker, uint64_t now_ms);
/* Lowers *wait_ms to the time until the grace is over. */
void broker_grace_wait(const struct broker *broker, uint64_t *wait_ms, uint64_t now_ms);

#endif
