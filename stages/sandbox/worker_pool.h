/* The pool of workers as its sources see it: worker.c lets workers come and go, worker_orders.c
 * gives them orders and takes their answers. Its users see worker.h alone.
 *
 * A slot becomes IDLE when its worker is asked for (a worker reads its socket as soon as it is up,
 * so orders may be sent at once), BUSY with an order, DYING once its end is known or wanted, and is
 * filled anew when the fork server has reported the end. A report counts only while BUSY.
 */
#ifndef STAGES_SANDBOX_WORKER_POOL_H
#define STAGES_SANDBOX_WORKER_POOL_H

#include "stages/sandbox/worker.h"

struct task {
    uint8_t verb;
    enum sandbox_policy policy;
    struct slice pieces[WORKER_PIECES];
    size_t count, length;
    unsigned tries;
    bool alone; /* its worker died when it had others, too */
    worker_done *done;
    void *context;
    struct task *next;
};

enum slot_state { SLOT_IDLE, SLOT_BUSY, SLOT_DYING };

struct slot {
    enum slot_state state;
    enum sandbox_policy policy;
    int socket, shared;
    char *memory;
    struct task *tasks[WORKER_ORDER]; /* of the order */
    size_t task_count;
    uint64_t deadline_ms, jobs;
    int process;       /* of run_delay_open */
    uint64_t delay_ms; /* how much of the worker's delay the deadline takes account of */
    bool started;      /* the fork server has told that it is there */
    bool there;        /* the fork server has not told of its end */
    bool overdue;      /* killed by us */
};

/* Tasks that wait for a worker, oldest first. */
struct line {
    struct task *first, **last;
    size_t count;
};

struct worker_pool {
    struct fork_server *fork_server;
    struct worker_limits limits;
    struct slot *slots;
    unsigned slot_count;
    struct line lines[2]; /* by enum sandbox_policy */
    size_t waiting;
    int epoll, timer;
    uint64_t timer_ms; /* for when the timer is set; UINT64_MAX: it is not */
};

/* Bytes of a slot's memory before the replies, and all. */
size_t worker_request_area(const struct worker_pool *pool);
size_t worker_shared_bytes(const struct worker_pool *pool);
void worker_kill(const struct worker_pool *pool, uint32_t number);
void worker_close_socket(struct slot *slot);

/* Gives tasks that wait to workers that are idle. */
void worker_dispatch(struct worker_pool *pool);
/* Sets the deadline of an order; that of a worker that is being forked begins when it is there. */
void worker_start_clock(const struct worker_pool *pool, struct slot *slot);
/* Reads what a worker has answered, if it has. */
void worker_take_report(struct worker_pool *pool, uint32_t number);
/* The slot's worker is dead: what it had is given again, or failed. */
void worker_settle_order(struct worker_pool *pool, struct slot *slot, int wait_status);
/* Fails all tasks that wait or are with a worker. */
void worker_cancel_all(struct worker_pool *pool);

#endif
