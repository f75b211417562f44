/* The pool: what runs on the caller's side of worker.h.
 *
 * A slot goes STARTING..IDLE by worker_spawn (a worker reads its socket as soon as it is up, so
 * orders may be sent at once), BUSY with an order, DYING once its end is known or wanted, and is
 * filled anew when the fork server has reported the end. A report counts only while BUSY.
 */
#include "stages/sandbox/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
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

enum {
    TRIES = 3,               /* of a request whose worker was killed from outside */
    ORDER_BYTES = 256 << 10, /* most bytes of requests that are given together */
    KEEP_BYTES = 4 << 20,    /* shared pages kept after an order */
    LOOK_MS = 100,           /* until one that is overdue and ready to run is looked at again */
    END_MS = 10000,          /* within which workers that are killed have ended */
    EVENTS = 64
};

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
    bool broken;
};

/* ---- shared memory ---- */

static size_t
request_area(const struct worker_pool *pool)
{
    return pool->limits.request + WORKER_ORDER * sizeof(struct worker_request);
}

static size_t
shared_bytes(const struct worker_pool *pool)
{
    return request_area(pool) + pool->limits.reply + REASON_SIZE;
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
        TRY(make_memory(slot, shared_bytes(pool), why));
    }
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return status_fail_errno(why, "cannot make a socket pair for a worker");
    }
    const struct worker_message message = {.kind = WORKER_SPAWN,
                                           .slot = number,
                                           .policy = slot->policy,
                                           .memory = limits->memory,
                                           .request = request_area(pool),
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

static void
worker_kill(const struct worker_pool *pool, uint32_t number)
{
    const struct worker_message message = {.kind = WORKER_KILL, .slot = number};
    (void)!send(fork_server_control(pool->fork_server), &message, sizeof message, MSG_NOSIGNAL);
}

static void
close_socket(struct slot *slot)
{
    if (slot->socket >= 0) {
        close(slot->socket);
        slot->socket = -1;
    }
}

/* ---- tasks ---- */

static void
finish(struct worker_pool *pool, struct task *task, const struct worker_answer *answer)
{
    pool->waiting--;
    task->done(task->context, answer);
    free(task);
}

static void
fail(struct worker_pool *pool, struct task *task, enum status status, bool died, const char *text)
{
    struct reason why;
    status_fail(&why, status, "%s", text);
    const struct worker_answer answer = {.status = status, .died = died, .why = &why};
    finish(pool, task, &answer);
}

/* The earliest deadline wakes the pool; or one that is past its use, since later orders have later
 * ones: so the timer is set once in the time that a request may take, not for each order. */
static void
set_timer(struct worker_pool *pool)
{
    uint64_t earliest = UINT64_MAX;
    for (unsigned i = 0; i < pool->slot_count; i++) {
        if (pool->slots[i].state == SLOT_BUSY && pool->slots[i].deadline_ms < earliest) {
            earliest = pool->slots[i].deadline_ms;
        }
    }
    if (earliest >= pool->timer_ms) {
        return;
    }
    pool->timer_ms = earliest;
    const struct itimerspec timer = {.it_value = {.tv_sec = (time_t)(earliest / 1000),
                                                  .tv_nsec = (long)(earliest % 1000 * 1000000)}};
    timerfd_settime(pool->timer, TFD_TIMER_ABSTIME, &timer, NULL);
}

static void
line_append(struct line *line, struct task *task)
{
    task->next = NULL;
    *line->last = task;
    line->last = &task->next;
    line->count++;
}

static struct task *
line_take(struct line *line)
{
    struct task *task = line->first;
    line->first = task->next;
    line->last = line->first ? line->last : &line->first;
    line->count--;
    return task;
}

/* Before all others, in their order. */
static void
line_return(struct line *line, struct task *const *tasks, size_t n)
{
    while (n-- > 0) {
        tasks[n]->next = line->first;
        line->last = line->first ? line->last : &tasks[n]->next;
        line->first = tasks[n];
        line->count++;
    }
}

/* Up to so many tasks of the line become the slot's order. */
static void
compose(struct worker_pool *pool, struct slot *slot, struct line *line, size_t most)
{
    const size_t limit = pool->limits.request < ORDER_BYTES ? pool->limits.request : ORDER_BYTES;
    size_t bytes = 0;
    slot->task_count = 0;
    do {
        bytes += line->first->length;
        slot->tasks[slot->task_count++] = line_take(line);
    } while (slot->task_count < most && line->first && !slot->tasks[0]->alone &&
             !line->first->alone && bytes + line->first->length <= limit);
}

/* Of a worker that is being forked the time begins when it is there. */
static void
start_clock(const struct worker_pool *pool, struct slot *slot)
{
    slot->deadline_ms = slot->started ? clock_monotonic_ms() + pool->limits.wall_ms : UINT64_MAX;
    slot->delay_ms = run_delay_ms(slot->process);
}

static void
give(struct worker_pool *pool, struct slot *slot)
{
    char *at = slot->memory;
    for (size_t i = 0; i < slot->task_count; i++) {
        const struct task *task = slot->tasks[i];
        const struct worker_request request = {.verb = task->verb, .length = task->length};
        memcpy(at, &request, sizeof request);
        at += sizeof request;
        for (size_t k = 0; k < task->count; k++) {
            if (task->pieces[k].length > 0) {
                memcpy(at, task->pieces[k].at, task->pieces[k].length);
                at += task->pieces[k].length;
            }
        }
    }
    const struct worker_order order = {.count = slot->task_count, .cpu_ms = pool->limits.cpu_ms};
    slot->state = SLOT_BUSY;
    start_clock(pool, slot);
    /* When the worker is gone already, the fork server's report of its end repeats the tasks. */
    (void)!send(slot->socket, &order, sizeof order, MSG_NOSIGNAL);
}

static void
dispatch(struct worker_pool *pool)
{
    size_t idle[2] = {0};
    for (unsigned i = 0; i < pool->slot_count; i++) {
        idle[pool->slots[i].policy] += pool->slots[i].state == SLOT_IDLE;
    }
    for (unsigned i = 0; i < pool->slot_count; i++) {
        struct slot *slot = &pool->slots[i];
        struct line *line = &pool->lines[slot->policy];
        if (line->first && slot->state == SLOT_IDLE) {
            const size_t share = (line->count - 1) / idle[slot->policy]-- + 1;
            compose(pool, slot, line, share < WORKER_ORDER ? share : WORKER_ORDER);
            give(pool, slot);
        }
    }
    set_timer(pool);
}

void
worker_submit(struct worker_pool *pool, enum sandbox_policy policy, uint8_t verb,
              const struct slice *pieces, size_t count, worker_done *done, void *context)
{
    struct task *task = memory_zero(1, sizeof *task);
    struct line *line = &pool->lines[policy];
    *task = (struct task){.verb = verb, .policy = policy, .done = done, .context = context};
    for (; task->count < count && task->count < WORKER_PIECES; task->count++) {
        task->pieces[task->count] = pieces[task->count];
        task->length += pieces[task->count].length;
    }
    pool->waiting++;
    if (task->length > pool->limits.request || task->count < count) {
        fail(pool, task, STATUS_LIMIT, false, "the document is longer than is looked at");
        return;
    }
    line_append(line, task);
    dispatch(pool);
}

/* ---- answers ---- */

static void
retire(struct slot *slot)
{
    close_socket(slot); /* the worker ends when its socket does */
    slot->state = SLOT_DYING;
}

/* Pages that a large document left behind go back. */
static void
trim(struct worker_pool *pool, struct slot *slot, size_t used)
{
    if (used > KEEP_BYTES) {
        madvise(slot->memory, shared_bytes(pool), MADV_REMOVE);
    }
}

/* Checks all that a worker says before any of it is used. */
static bool
reports_are_good(const struct worker_pool *pool, const struct slot *slot,
                 const struct worker_report *reports, ssize_t bytes)
{
    const size_t n = (size_t)bytes / sizeof *reports;
    size_t room = pool->limits.reply + REASON_SIZE;
    if (bytes <= 0 || (size_t)bytes % sizeof *reports != 0 || slot->state != SLOT_BUSY ||
        n > slot->task_count) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const struct worker_report *report = &reports[i];
        if (report->status >= STATUS_COUNT || report->length > pool->limits.reply ||
            report->reason_length >= REASON_SIZE || report->length + report->reason_length > room) {
            return false;
        }
        room -= report->length + report->reason_length;
    }
    return true;
}

/* Answers the first n tasks of the slot's order; those that remain are given again. The bytes used.
 */
static size_t
answer_order(struct worker_pool *pool, struct slot *slot, const struct worker_report *reports,
             size_t n)
{
    const char *at = slot->memory + request_area(pool);
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const struct worker_report *report = &reports[i];
        struct reason why;
        memcpy(why.text, at + report->length, report->reason_length);
        why.text[report->reason_length] = '\0';
        const struct worker_answer answer = {.status = (enum status)report->status,
                                             .reply = slice_of(at, report->length),
                                             .why = &why,
                                             .cpu_us = report->cpu_us};
        used += slot->tasks[i]->length + report->length;
        at += report->length + report->reason_length;
        finish(pool, slot->tasks[i], &answer); /* the slot is busy, so no order comes into it */
    }
    line_return(&pool->lines[slot->policy], slot->tasks + n, slot->task_count - n);
    slot->task_count = 0;
    return used;
}

static void
take_report(struct worker_pool *pool, uint32_t number)
{
    struct slot *slot = &pool->slots[number];
    struct worker_report reports[WORKER_ORDER];
    const ssize_t n = recv(slot->socket, reports, sizeof reports, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (!reports_are_good(pool, slot, reports, n)) {
        close_socket(slot);
        if (n > 0) { /* it talks nonsense: it is not ours any more */
            worker_kill(pool, number);
        }
        slot->state = SLOT_DYING;
        return;
    }
    const size_t answered = (size_t)n / sizeof *reports;
    trim(pool, slot, answer_order(pool, slot, reports, answered));
    slot->state = SLOT_IDLE;
    slot->jobs += answered;
    if (pool->limits.jobs > 0 && slot->jobs >= pool->limits.jobs) {
        retire(slot);
    }
}

static void
describe_end(const struct slot *slot, int wait_status, enum status *status, struct reason *why)
{
    const int signal_number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    if (slot->overdue) {
        *status = status_fail(why, STATUS_TIMEOUT, "the worker took too long by the clock");
    } else if (signal_number == SIGPROF) {
        *status = status_fail(why, STATUS_TIMEOUT, "the worker used up its processor time");
    } else if (signal_number == SIGSYS) {
        *status = status_fail(why, STATUS_DENIED, "the worker tried a forbidden system call");
    } else if (signal_number == SIGKILL) {
        *status =
            status_fail(why, STATUS_SYSTEM, "the worker was killed from outside %d times", TRIES);
    } else if (signal_number != 0) {
        *status = status_fail(why, STATUS_SYSTEM, "the worker crashed: signal %d (%s)",
                              signal_number, strsignal(signal_number));
    } else if (WEXITSTATUS(wait_status) == EXIT_SYSTEM) {
        *status = status_fail(why, STATUS_LIMIT, "the worker ran out of memory");
    } else {
        *status = status_fail(why, STATUS_SYSTEM, "the worker ended with code %d",
                              WEXITSTATUS(wait_status));
    }
}

/* The slot's worker is dead, and what it had is not answered. */
static void
settle_order(struct worker_pool *pool, struct slot *slot, int wait_status)
{
    const size_t count = slot->task_count;
    enum status status;
    struct reason end;
    if (count == 0) {
        return;
    }
    const bool outside =
        WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL && !slot->overdue;
    const bool never_began = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
    slot->task_count = 0;
    for (size_t i = 0; i < count; i++) {
        slot->tasks[i]->alone = count > 1;
    }
    if (count > 1 || ((outside || never_began) && ++slot->tasks[0]->tries < TRIES)) {
        line_return(&pool->lines[slot->policy], slot->tasks, count);
        return;
    }
    describe_end(slot, wait_status, &status, &end);
    fail(pool, slot->tasks[0], status, true, end.text);
}

static void
take_start(const struct worker_pool *pool, const struct worker_message *message)
{
    struct slot *slot = &pool->slots[message->slot];
    slot->process = run_delay_open(message->process);
    slot->started = true;
    start_clock(pool, slot);
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
        take_report(pool, message->slot);
    }
    close_socket(slot);
    file_close(slot->process);
    slot->process = -1;
    slot->started = false;
    settle_order(pool, slot, message->wait_status);
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
            pool->broken = true;
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
            take_report(pool, i); /* it may have come before we were awake */
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
            take_report(pool, mark);
        }
    }
    dispatch(pool);
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
    struct worker_pool *pool = memory_zero(1, sizeof *pool);
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
        close_socket(&pool->slots[i]);
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
    for (size_t i = 0; i < 2; i++) {
        while (pool->lines[i].first) {
            fail(pool, line_take(&pool->lines[i]), STATUS_CANCELLED, false,
                 "the workers were stopped");
        }
    }
    for (unsigned i = 0; i < pool->slot_count; i++) {
        struct slot *slot = &pool->slots[i];
        for (size_t k = 0; k < slot->task_count; k++) {
            fail(pool, slot->tasks[k], STATUS_CANCELLED, false, "the workers were stopped");
        }
        if (slot->memory) {
            munmap(slot->memory, shared_bytes(pool));
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
