/* Counters of the queue, which are written with every transaction, so that they are exact after any
 * crash. */
#ifndef QUEUE_CLIENT_COUNTERS_H
#define QUEUE_CLIENT_COUNTERS_H

#include "queue/client/outcomes.h"

struct stage_counters {
    uint64_t jobs; /* ready and leased */
    uint64_t delayed, scheduled, buried, outbox;
    uint64_t put, done, released, dead; /* totals */
};
/* Has only 8-byte numbers, so that it is stored as an array of them. */
struct counters {
    uint64_t next_id; /* of the next job */
    uint64_t seen, revisits, sent, received;
    struct stage_counters stages[STAGE_COUNT];
    uint64_t network_ms; /* wall time at which anybody answered last; 0: never */
    uint64_t outcomes[OUTCOME_COUNT];
};
enum { COUNTERS_NUMBERS = sizeof(struct counters) / sizeof(uint64_t) };

#endif
