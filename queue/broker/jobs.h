/* What becomes of jobs:
 *
 *   put.c        they come in: who owns them, whether they are new
 *   later.c      they wait for their time
 *   reserve.c    they go out
 *   complete.c   they end */
#ifndef QUEUE_BROKER_JOBS_H
#define QUEUE_BROKER_JOBS_H

#include "queue/broker/requests.h"
#include "queue/client/job.h"

/* ---- put.c ---- */

/* At decoding: finds the owner (ours: it is this node, whatever cluster.conf says), and wants
 * what applying will need of `seen`. */
void broker_prepare(struct broker *broker, struct incoming *incoming, bool ours);
void broker_enqueue(struct broker *broker, const struct incoming *incoming);
/* Puts the job that a fetch job becomes without being fetched, to this node's queue or to
 * another's. */
void broker_pass_on(struct broker *broker, const struct incoming *fetch, const struct job *job);

/* ---- later.c ---- */

/* later.c changes it. */
struct later {
    uint64_t due_ms; /* wall: of the first row of `later`, or earlier; UINT64_MAX: none */
};

/* Writes a record where it belongs by its due time, and counts it. */
void broker_store_job(struct broker *broker, const struct job *job, bool scheduled);
/* Moves jobs whose time has come from `later` to `jobs`. */
enum status broker_move_due(struct broker *broker, struct reason *why);
/* The round was not committed: what is stored of `later` is to be read anew. */
void broker_later_unsettle(struct broker *broker);
/* Returns when the next of them is due, by the wall clock; UINT64_MAX: there is none. */
uint64_t broker_later_due_ms(const struct broker *broker);

/* ---- reserve.c ---- */

/* reserve.c changes it. */
struct throttle {
    bool on[STAGE_COUNT]; /* the stage gets no jobs, since enough wait for the next */
};

void broker_apply_effects(struct broker *broker);
enum status broker_renew(struct broker *broker, const struct pending *pending, uint64_t *lost,
                         struct reason *why);
bool broker_is_throttled(struct broker *broker, uint8_t stage);
enum status broker_serve(struct broker *broker, struct reason *why);

/* ---- complete.c ---- */

enum status broker_prepare_ending(struct broker *broker, struct ending *ending, struct reason *why);
enum status broker_complete(struct broker *broker, uint32_t worker, const struct ending *ending,
                            struct reason *why);
/* Jobs of dead and stalled workers go back. */
enum status broker_bury_the_dead(struct broker *broker, struct reason *why);

#endif
