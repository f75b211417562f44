/* Requests of a round, and those that are answered without one.
 *
 *   submit.c                 checks and decodes what comes in
 *   parked.c                 requests that wait for jobs
 *   view.c explain_uri.c     people look; why a URI is where it is */
#ifndef QUEUE_BROKER_REQUESTS_H
#define QUEUE_BROKER_REQUESTS_H

#include "base/digest.h"
#include "queue/broker/broker.h"
#include "queue/client/message.h"

/* A job that comes in. */
struct incoming {
    struct job job;
    uint8_t fingerprint[FINGERPRINT_SIZE]; /* of the URI; only for fetch, extract */
    uint32_t node;                         /* owner */
};

/* A completion. */
struct ending {
    struct completion completion;
    uint16_t attempt;
    size_t first; /* of its outputs in incoming */
    /* of the job, from the lease or the record */
    bool known;
    uint8_t fingerprint[FINGERPRINT_SIZE];
    uint64_t generation;
    uint16_t depth;
};

struct transfer {
    uint64_t origin, epoch, first;
};

/* A request of this round. */
struct pending {
    struct broker_request request;
    uint32_t worker;
    size_t first_incoming, incoming_count;
    size_t first_ending, ending_count;
    struct transfer transfer;
    struct slice kick_uri;
    uint8_t kick_stage;
    enum status status;
    struct reason why;
    uint64_t number; /* answer of KICK, RETRY, TRANSFER, FORGET */
    uint64_t jobs;   /* and of RETRY; of FORGET: dropped */
    uint64_t left;   /* of FORGET */
};

enum { ROUND_BYTES = 16 << 20 }; /* of requests */

/* submit.c changes it. */
struct requests {
    struct pending *pending;
    size_t pending_count, pending_capacity, pending_bytes;
    struct incoming *incoming;
    size_t incoming_count, incoming_capacity;
    struct ending *endings;
    size_t ending_count, ending_capacity;
    uint64_t malformed; /* refused since the start */
};

/* The round's requests have been answered. */
void broker_clear_requests(struct broker *broker);
/* Drops all. */
void broker_requests_close(struct broker *broker);
/* A reserve that waits. */
struct parked {
    struct broker_request request;
    uint32_t worker;
    uint8_t stage;
    uint64_t lane;
    uint32_t most;
    uint64_t deadline_ms; /* monotonic */
};

/* parked.c changes it. */
struct parked_list {
    struct parked *all;
    size_t count, capacity;
};

/* Gives the token back without an answer. */
void broker_drop(struct broker *broker, const struct broker_request *request);

/* Takes a request that waits, in place of an earlier one that it repeats. */
void broker_park(struct broker *broker, const struct parked *parked);
/* Returns whether another one may wait. */
bool broker_may_park(const struct broker *broker);
/* The one at this place has been answered. */
void broker_unpark(struct broker *broker, size_t at);
/* The worker's requests are of a process that is gone: nobody hears an answer. */
void broker_drop_parked(struct broker *broker, uint32_t worker);
/* Recalls the worker's requests that still wait, which it no longer wants: they are answered in
 * this round, without jobs. */
void broker_recall(struct broker *broker, uint32_t worker);
/* Drops all. */
void broker_parked_close(struct broker *broker);
/* Lowers *wait_ms to the time until one of them may have to be answered. */
void broker_parked_wait(const struct broker *broker, uint64_t *wait_ms, uint64_t now_ms,
                        uint64_t wall_ms);

void broker_view(struct broker *broker, const struct broker_request *request);
/* Puts the answer into broker->reply. */
enum status broker_explain(struct broker *broker, struct slice payload, struct reason *why);
/* Gives buried jobs another try. */
enum status broker_kick(struct broker *broker, struct pending *pending, struct reason *why);

#endif
