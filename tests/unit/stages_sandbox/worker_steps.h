/* Workers that do what a test wants of them, and say how they did it; of test_worker. */
#ifndef TESTS_UNIT_STAGES_SANDBOX_WORKER_STEPS_H
#define TESTS_UNIT_STAGES_SANDBOX_WORKER_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stages/sandbox/worker_pool.h"

enum {
    REQUEST = 4096,
    REPLY = 4096,
    DESCRIPTORS = 64, /* that a worker looks at */
    ANSWERS = 2 * WORKER_ORDER + 2,
    TRIES = 3,       /* of a request whose worker was killed from outside */
    LARGE = 4 << 20, /* past so many bytes an order's pages are given back */
    LONG_MS = 60000
};

enum verb {
    PLACE,    /* replies with where in the memory the request's bytes are */
    EXIT,     /* ends with the request's first byte as code */
    SAY,      /* sends the request on the worker's own socket, as if it were a report */
    SAY_MORE, /* the same, and then answers */
    SLEEP,    /* for ever */
    OPEN,     /* replies with how many descriptors are open */
    GROW,     /* replies with as many bytes as the request's text says */
    COMPUTE,  /* takes COMPUTE_MS of processor time */
    DIE       /* of SIGUSR1, which the caller catches */
};

enum { COMPUTE_MS = 20 };

/* Shared by the test and all workers. */
struct shared {
    unsigned handled; /* requests that were begun */
};
extern struct shared *shared;

struct taken {
    enum status status;
    bool died, done;
    struct buf reply;
    struct reason why;
    uint64_t cpu_us;
};

extern const struct worker_program orders_program;
extern struct fork_server *fork_server;
extern struct worker_pool *pool;
extern struct taken answers[ANSWERS]; /* in the order in which they were submitted */
extern size_t submitted;

/* Opens a pool of parsers' workers that have all the time they want; bytes of request and reply. */
void open_workers(unsigned workers, size_t request, size_t reply);
void close_workers(void);

/* An answer of `answers`. */
struct taken *submit(enum verb verb, struct slice request);
void take(void *context, const struct worker_answer *answer);
/* Waits until there is something to do for the pool, and does it. */
void process(void);
void wait_for_all(void);
/* Submits and waits. */
struct taken *ask(enum verb verb, struct slice request);

/* The place that PLACE told: bytes before the request in its order's memory. */
size_t place_of(const struct taken *taken);
void check(const struct taken *taken, enum status status, bool died, const char *why);

#endif
