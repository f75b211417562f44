/* The pool of workers, on the caller's side: workers are asked for, watched, killed and replaced,
 * and the caller's waiting. What they do is in worker_orders.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "stages/sandbox/run_delay.h"
#include "stages/sandbox/worker_pool.h"

enum {
    LOOK_MS = 100,  /* until one that is overdue and ready to run is looked at again */
    END_MS = 10000, /* within which workers that are killed have ended */
    EVENTS = 64
};

/* ---- shared memory ---- */

size_t
worker_request_area(const struct worker_pool *pool)
{
    return pool->limits.request + WORKER_ORDER * sizeof(struct worker_request);
}

size_t
worker_shared_bytes(const struct worker_pool *pool)
{
    return worker_request_area(pool) + pool->limits.reply + REASON_SIZE;
}

/* ---- spawning ---- */

static enum status
send_descriptors(int control, const struct worker_message *message, const int descriptors[2],
                 struct reason *why)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } ancillary;
    struct iovec piece = {(void *)(uintptr_t)message, sizeof *message};
    struct msghdr envelope = {.msg_iov = &piece,
                              .msg_iovlen = 1,
                              .msg_control = &ancillary,
                              .msg_controllen = sizeof ancillary};
    memset(&ancillary, 0, sizeof ancillary);
    struct cmsghdr *header = CMSG_FIRSTHDR(&envelope);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(2 * sizeof(int));
    memcpy(CMSG_DATA(header), descriptors, 2 * sizeof(int));
    if (sendmsg(control, &envelope, MSG_NOSIGNAL) < 0) {
        return status_fail_errno(why, "cannot ask for a worker process");
    }
    return STATUS_OK;
}

static void
watch(struct worker_pool *pool, int descriptor, uint32_t number)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
    epoll_ctl(pool->epoll, EPOLL_CTL_ADD, descriptor, &event);
}

static enum status
make_memory(struct slot *slot, size_t size, struct reason *why)
{
    slot->shared = memfd_create("worker", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (slot->shared < 0 || ftruncate(slot->shared, (off_t)size) != 0 ||
        fcntl(slot->shared, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        return status_fail_errno(why, "cannot make shared memory for a worker");
    }
    slot->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, slot->shared, 0);
    if (slot->memory == MAP_FAILED) {
        slot->memory = NULL;
        return status_fail_errno(why, "cannot map %zu bytes for a worker", size);
    }
    return STATUS_OK;
}

static enum status
worker_spawn(struct worker_pool *pool, uint32_t number, struct reason *why)
{
    struct slot *slot = &pool->slots[number];
    const struct worker_limits *limits = &pool->limits;
    if (!slot->memory) {
        TRY(make_memory(slot, worker_shared_bytes(pool), why));
    }
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return status_fail_errno(why, "cannot make a socket pair for a worker");
    }
    const struct worker_message message = {.kind = WORKER_SPAWN,
                                           .slot = number,
                                           .policy = slot->policy,
                                           .memory = limits->memory,
                                           .request = worker_request_area(pool),
                                           .reply = limits->reply};
    const int descriptors[2] = {pair[1], slot->shared};
    const enum status status =
        send_descriptors(fork_server_control(pool->fork_server), &message, descriptors, why);
    close(pair[1]);
    if (status != STATUS_OK) {
        close(pair[0]);
        return status;
    }
    slot->socket = pair[0];
    slot->there = true;
    slot->state = SLOT_IDLE;
    slot->jobs = 0;
    slot->overdue = false;
    watch(pool, slot->socket, number);
    return STATUS_OK;
}

void
worker_kill(const struct worker_pool *pool, uint32_t number)
{
    const struct worker_message message = {.kind = WORKER_KILL, .slot = number};
    (void)!send(fork_server_control(pool->fork_server), &message, sizeof message, MSG_NOSIGNAL);
}

void
worker_close_socket(struct slot *slot)
{
    if (slot->socket >= 0) {
        close(slot->socket);
        slot->socket = -1;
    }
}

/* ---- starts, ends and deadlines ---- */

static void
take_start(const struct worker_pool *pool, const struct worker_message *message)
{
    struct slot *slot = &pool->slots[message->slot];
    slot->process = run_delay_open(message->process);
    slot->started = true;
    worker_start_clock(pool, slot);
}

static enum status
take_end(struct worker_pool *pool, const struct worker_message *message, struct reason *why)
{
    if (message->slot >= pool->slot_count) {
        return STATUS_OK;
    }
    struct slot *slot = &pool->slots[message->slot];
    slot->there = false;
    /* A report sent just before the end still counts. */
    if (slot->task_count > 0 && slot->socket >= 0 && slot->state == SLOT_BUSY) {
        worker_take_report(pool, message->slot);
    }
    worker_close_socket(slot);
    file_close(slot->process);
    slot->process = -1;
    slot->started = false;
    worker_settle_order(pool, slot, message->wait_status);
    if (WIFEXITED(message->wait_status) && WEXITSTATUS(message->wait_status) == EXIT_MISUSE) {
        return status_fail(why, STATUS_SYSTEM, "a worker could not enter its sandbox");
    }
    return worker_spawn(pool, message->slot, why);
}

static enum status
take_control(struct worker_pool *pool, struct reason *why)
{
    for (;;) {
        struct worker_message message;
        const ssize_t n =
            recv(fork_server_control(pool->fork_server), &message, sizeof message, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            return STATUS_OK;
        }
        if (n != (ssize_t)sizeof message) {
            return status_fail(why, STATUS_SYSTEM, "the process that makes workers is gone");
        }
        if (message.kind == WORKER_ENDED) {
            TRY(take_end(pool, &message, why));
        } else if (message.kind == WORKER_STARTED && message.slot < pool->slot_count) {
            take_start(pool, &message);
        }
    }
}

static bool
is_overdue(const struct slot *slot, uint64_t now_ms)
{
    return slot->state == SLOT_BUSY && slot->deadline_ms <= now_ms;
}

/* The deadline moves by the time for which the worker has waited for a processor. Whether it waits
 * now is not in that time, so one that is ready to run is looked at again. Neither goes on for
 * ever: who is ready gets a processor, and that time is limited, too. */
static void
postpone_deadline(struct slot *slot, uint64_t now_ms)
{
    const uint64_t delay_ms = run_delay_ms(slot->process);
    if (delay_ms > slot->delay_ms) { /* else it never waited, or has ended */
        slot->deadline_ms += delay_ms - slot->delay_ms;
        slot->delay_ms = delay_ms;
    }
    if (is_overdue(slot, now_ms) && run_delay_is_ready(slot->process)) {
        slot->deadline_ms = now_ms + LOOK_MS;
    }
}

static void
kill_overdue(struct worker_pool *pool)
{
    uint64_t ticks;
    (void)!read(pool->timer, &ticks, sizeof ticks);
    pool->timer_ms = UINT64_MAX;
    const uint64_t now = clock_monotonic_ms();
    for (unsigned i = 0; i < pool->slot_count; i++) {
        struct slot *slot = &pool->slots[i];
        if (is_overdue(slot, now)) {
            worker_take_report(pool, i); /* it may have come before we were awake */
        }
        if (is_overdue(slot, now)) {
            postpone_deadline(slot, now);
        }
        if (is_overdue(slot, now)) {
            slot->overdue = true;
            slot->state = SLOT_DYING;
            worker_kill(pool, i);
        }
    }
}

static const uint32_t MARK_CONTROL = UINT32_MAX, MARK_TIMER = UINT32_MAX - 1;

enum status
worker_pool_process(struct worker_pool *pool, struct reason *why)
{
    struct epoll_event events[EVENTS];
    const int n = epoll_wait(pool->epoll, events, EVENTS, 0);
    for (int i = 0; i < n; i++) {
        const uint32_t mark = events[i].data.u32;
        if (mark == (uint32_t)MARK_CONTROL) {
            TRY(take_control(pool, why));
        } else if (mark == (uint32_t)MARK_TIMER) {
            kill_overdue(pool);
        } else if (mark < pool->slot_count && pool->slots[mark].socket >= 0) {
            worker_take_report(pool, mark);
        }
    }
    worker_dispatch(pool);
    return STATUS_OK;
}

int
worker_pool_descriptor(const struct worker_pool *pool)
{
    return pool->epoll;
}

size_t
worker_pool_waiting(const struct worker_pool *pool)
{
    return pool->waiting;
}

/* ---- opening and closing ---- */

static enum status
configure(struct worker_pool *pool, struct slice configuration, struct reason *why)
{
    const int control = fork_server_control(pool->fork_server);
    struct buf bytes;
    struct worker_message message = {.kind = WORKER_CONFIGURE};
    buf_init(&bytes, sizeof message + (64 << 10));
    buf_append(&bytes, &message, sizeof message);
    buf_append_slice(&bytes, configuration);
    const bool sent = !bytes.overflowed && send(control, bytes.data, bytes.length, MSG_NOSIGNAL) ==
                                               (ssize_t)bytes.length;
    buf_release(&bytes);
    if (!sent || recv(control, &message, sizeof message, 0) != (ssize_t)sizeof message ||
        message.kind != WORKER_READY) {
        return status_fail(why, STATUS_SYSTEM, "the process that makes workers does not answer");
    }
    message.why.text[REASON_SIZE - 1] = 0;
    if (message.status != STATUS_OK) {
        return status_fail(why, (enum status)message.status, "%s", message.why.text);
    }
    return STATUS_OK;
}

enum status
worker_pool_open(struct worker_pool **result, struct fork_server *fork_server,
                 const struct worker_limits *limits, struct slice configuration, struct reason *why)
{
    struct worker_pool *pool = memory_new(sizeof *pool);
    *result = pool;
    pool->fork_server = fork_server;
    pool->limits = *limits;
    pool->slot_count = limits->workers + limits->program_workers;
    for (size_t i = 0; i < 2; i++) {
        pool->lines[i].last = &pool->lines[i].first;
    }
    pool->slots = memory_zero(pool->slot_count, sizeof *pool->slots);
    for (unsigned i = 0; i < pool->slot_count; i++) {
        pool->slots[i].socket = pool->slots[i].shared = pool->slots[i].process = -1;
        pool->slots[i].policy = i < limits->workers ? SANDBOX_PARSER : SANDBOX_PROGRAM;
    }
    pool->timer_ms = UINT64_MAX;
    pool->epoll = epoll_create1(EPOLL_CLOEXEC);
    pool->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    enum status status = STATUS_OK;
    if (pool->epoll < 0 || pool->timer < 0) {
        status = status_fail_errno(why, "cannot watch workers");
    }
    if (status == STATUS_OK) {
        status = configure(pool, configuration, why);
    }
    if (status == STATUS_OK) {
        watch(pool, fork_server_control(fork_server), MARK_CONTROL);
        watch(pool, pool->timer, MARK_TIMER);
    }
    for (uint32_t i = 0; i < pool->slot_count && status == STATUS_OK; i++) {
        status = worker_spawn(pool, i, why);
    }
    if (status != STATUS_OK) {
        worker_pool_close(pool);
        *result = NULL;
    }
    return status;
}

/* Whoever opens another pool of the fork server must not hear of these workers' ends. */
static void
end_workers(struct worker_pool *pool)
{
    const uint64_t until_ms = clock_monotonic_ms() + END_MS;
    const int control = fork_server_control(pool->fork_server);
    unsigned left = 0;
    for (unsigned i = 0; i < pool->slot_count; i++) {
        worker_close_socket(&pool->slots[i]);
        if (pool->slots[i].there) {
            worker_kill(pool, i);
            left++;
        }
    }
    for (uint64_t now_ms = clock_monotonic_ms(); left > 0 && now_ms < until_ms;
         now_ms = clock_monotonic_ms()) {
        struct pollfd wait = {.fd = control, .events = POLLIN};
        struct worker_message message;
        if (poll(&wait, 1, (int)(until_ms - now_ms)) > 0) {
            if (recv(control, &message, sizeof message, 0) != (ssize_t)sizeof message) {
                return; /* the fork server is dead, and they are with it */
            }
            left -= message.kind == WORKER_ENDED;
        }
    }
}

void
worker_pool_close(struct worker_pool *pool)
{
    if (!pool) {
        return;
    }
    end_workers(pool);
    worker_cancel_all(pool);
    for (unsigned i = 0; i < pool->slot_count; i++) {
        struct slot *slot = &pool->slots[i];
        if (slot->memory) {
            munmap(slot->memory, worker_shared_bytes(pool));
        }
        file_close(slot->shared);
        file_close(slot->process);
    }
    file_close(pool->epoll);
    file_close(pool->timer);
    free(pool->slots);
    free(pool);
}

/* ---- waiting ---- */

struct waited {
    struct buf *reply;
    struct reason *why;
    enum status status;
    bool done, died;
};

static void
take_waited(void *context, const struct worker_answer *answer)
{
    struct waited *waited = context;
    waited->status = answer->status;
    waited->died = answer->died;
    waited->done = true;
    if (waited->why) {
        *waited->why = *answer->why;
    }
    if (waited->reply) {
        buf_reset(waited->reply);
        buf_append_slice(waited->reply, answer->reply);
    }
}

static void
ignore_answer(void *context, const struct worker_answer *answer)
{
    (void)context, (void)answer;
}

/* The caller goes away before its answer came. */
static void
forget(struct worker_pool *pool, const void *context)
{
    for (size_t i = 0; i < 2; i++) {
        for (struct task *task = pool->lines[i].first; task; task = task->next) {
            task->done = task->context == context ? ignore_answer : task->done;
        }
    }
    for (unsigned i = 0; i < pool->slot_count; i++) {
        for (size_t k = 0; k < pool->slots[i].task_count; k++) {
            struct task *task = pool->slots[i].tasks[k];
            task->done = task->context == context ? ignore_answer : task->done;
        }
    }
}

enum status
worker_call(struct worker_pool *pool, enum sandbox_policy policy, uint8_t verb,
            const struct slice *pieces, size_t count, struct buf *reply, bool *died,
            struct reason *why)
{
    struct waited waited = {.reply = reply, .why = why};
    worker_submit(pool, policy, verb, pieces, count, take_waited, &waited);
    while (!waited.done) {
        struct pollfd wait = {.fd = pool->epoll, .events = POLLIN};
        enum status status = STATUS_OK;
        if (poll(&wait, 1, -1) < 0 && errno != EINTR) {
            status = status_fail_errno(why, "cannot wait for a worker");
        } else {
            status = worker_pool_process(pool, why);
        }
        if (status != STATUS_OK) {
            forget(pool, &waited);
            return status;
        }
    }
    if (died) {
        *died = waited.died;
    }
    return waited.status;
}
