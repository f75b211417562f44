/* Worker processes that do dangerous work in a sandbox.
 *
 *   this process ── control ── fork server ── fork ── worker, worker, ...
 *        └───────── socket and shared memory ───────┘
 *
 * The fork server is forked first thing in main(), while the process still knows nothing: no keys,
 * no connections, no threads. It is sent its configuration, prepares (stylesheets, tables) and
 * then forks workers from the prepared state, each into the sandbox. Contents travel through
 * sealed shared memory, one area per worker; only lengths and statuses through sockets, and
 * nothing a worker says is believed without a check of its bounds.
 *
 * Small requests that wait are given to a worker together, so that a crawl's pages, which take
 * less time than sending and waking, cost one round of that for many; workers that are idle share
 * what waits.
 *
 * A worker that dies, or passes its processor time, clock time or memory, is replaced. Time for
 * which it could have run and had no processor is no clock time (run_delay.h), so a busy machine
 * ends no worker; that of programs which it has started is. Its request ends with a status and a
 * reason and no other request is touched: when it had several, each is given again, alone, which
 * tells whose fault it was. One that was killed from outside (SIGKILL: an operator, the kernel
 * short of memory) is repeated twice first. When this process dies, fork server and workers die
 * with it. When the fork server dies the pool is broken and says so: the process should end and be
 * started again.
 *
 * One thread. Nothing blocks except worker_call, opening, and closing, until the workers are dead.
 */
#ifndef STAGES_SANDBOX_WORKER_H
#define STAGES_SANDBOX_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"
#include "stages/sandbox/sandbox.h"

/* The work of workers. Both functions run in other processes. */
struct worker_program {
    const char *name; /* process name, at most 15 bytes */
    /* In the fork server, before any worker. */
    enum status (*prepare)(struct slice configuration, void **context, struct reason *why);
    /* In a worker. reply is empty and bounded. Its content reaches the caller whatever the
     * status; why too. */
    enum status (*handle)(void *context, uint8_t verb, struct slice request, struct buf *reply,
                          struct reason *why);
};

struct fork_server;
/* Forks. Never fails quietly: exits 111 when there is no process to be had. */
struct fork_server *fork_server_start(const struct worker_program *program);
void fork_server_close(struct fork_server *fork_server); /* NULL is allowed */

struct worker_limits {
    unsigned workers;         /* in the sandbox for parsers */
    unsigned program_workers; /* in the one for external programs; may be 0 */
    size_t request, reply;    /* most bytes of each */
    size_t memory;            /* address space of a worker besides; 0: unlimited */
    uint64_t cpu_ms, wall_ms; /* of one request */
    uint64_t jobs;            /* requests after which a worker is replaced; 0: never */
};

struct worker_pool;
/* Sends the configuration and waits until the fork server is prepared. A fork server has one pool
 * at a time, and prepares for the first. */
enum status worker_pool_open(struct worker_pool **pool, struct fork_server *fork_server,
                             const struct worker_limits *limits, struct slice configuration,
                             struct reason *why);
/* Requests not yet answered end with CANCELLED, workers with SIGKILL; then the fork server may have
 * another pool. NULL is allowed. */
void worker_pool_close(struct worker_pool *pool);

/* Readable when worker_pool_process has something to do; it may be put into any epoll set. */
int worker_pool_descriptor(const struct worker_pool *pool);
/* Answers, deaths, timeouts. SYSTEM: the fork server is dead. */
enum status worker_pool_process(struct worker_pool *pool, struct reason *why);

struct worker_answer {
    enum status status; /* the handler's; LIMIT, TIMEOUT, SYSTEM when the worker died */
    bool died;          /* the worker was lost; why says how */
    struct slice reply; /* until the callback returns */
    const struct reason *why;
    uint64_t cpu_us;
};
typedef void worker_done(void *context, const struct worker_answer *answer);
/* The pieces are joined to the request; they must live until done is called. LIMIT at once
 * (through done) when they are longer than allowed. */
enum { WORKER_PIECES = 8 };
void worker_submit(struct worker_pool *pool, enum sandbox_policy policy, uint8_t verb,
                   const struct slice *pieces, size_t count, worker_done *done, void *context);
size_t worker_pool_waiting(const struct worker_pool *pool); /* submitted, not yet answered */

/* Submits and waits. reply (may be NULL) gets the answer's bytes. */
enum status worker_call(struct worker_pool *pool, enum sandbox_policy policy, uint8_t verb,
                        const struct slice *pieces, size_t count, struct buf *reply, bool *died,
                        struct reason *why);

/* ---- between worker.c and fork_server.c ---- */

enum worker_message_kind {
    WORKER_CONFIGURE, /* to the fork server; text follows the message */
    WORKER_SPAWN,     /* with two descriptors: socket, shared memory */
    WORKER_KILL,
    WORKER_READY,   /* from the fork server: prepared, or why not */
    WORKER_STARTED, /* a worker's process; not told of one that could not be forked */
    WORKER_ENDED    /* a worker's wait status */
};
struct worker_message {
    uint32_t kind, slot, policy;
    int32_t wait_status, status, process;
    uint64_t memory, request; /* bytes; request: all of an order */
    uint64_t reply; /* most bytes of one; for all of an order there are REASON_SIZE more */
    struct reason why;
};
/* On a worker's own socket: an order, answered by the reports of its first requests, as many as
 * there was room for. The requests stand one after the other in the shared memory; behind `request`
 * bytes of it the replies, each followed by the reason. */
enum { WORKER_ORDER = 32 };
struct worker_order {
    uint64_t count, cpu_ms; /* of each */
};
struct worker_request { /* its bytes follow */
    uint64_t verb, length;
};
struct worker_report {
    uint64_t status, length, reason_length, cpu_us;
};
int fork_server_control(const struct fork_server *fork_server);

#endif
