/* Orders: tasks wait in lines, up to WORKER_ORDER of them are given to a worker together, and what
 * it answers, or its end, settles them.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "stages/sandbox/run_delay.h"
#include "stages/sandbox/worker_pool.h"

enum {
    TRIES = 3,               /* of a request whose worker was killed from outside */
    ORDER_BYTES = 256 << 10, /* most bytes of requests that are given together */
    KEEP_BYTES = 4 << 20     /* shared pages kept after an order */
};

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

void
worker_start_clock(const struct worker_pool *pool, struct slot *slot)
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
    worker_start_clock(pool, slot);
    /* When the worker is gone already, the fork server's report of its end repeats the tasks. */
    (void)!send(slot->socket, &order, sizeof order, MSG_NOSIGNAL);
}

void
worker_dispatch(struct worker_pool *pool)
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
    struct task *task = memory_new(sizeof *task);
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
    worker_dispatch(pool);
}

/* ---- answers ---- */

static void
retire(struct slot *slot)
{
    worker_close_socket(slot); /* the worker ends when its socket does */
    slot->state = SLOT_DYING;
}

/* Pages that a large document left behind go back. */
static void
trim(struct worker_pool *pool, struct slot *slot, size_t used)
{
    if (used > KEEP_BYTES) {
        madvise(slot->memory, worker_shared_bytes(pool), MADV_REMOVE);
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
    const char *at = slot->memory + worker_request_area(pool);
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

void
worker_take_report(struct worker_pool *pool, uint32_t number)
{
    struct slot *slot = &pool->slots[number];
    struct worker_report reports[WORKER_ORDER];
    const ssize_t n = recv(slot->socket, reports, sizeof reports, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (!reports_are_good(pool, slot, reports, n)) {
        worker_close_socket(slot);
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
void
worker_settle_order(struct worker_pool *pool, struct slot *slot, int wait_status)
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

void
worker_cancel_all(struct worker_pool *pool)
{
    const char *const text = "the workers were stopped";
    for (size_t i = 0; i < 2; i++) {
        while (pool->lines[i].first) {
            fail(pool, line_take(&pool->lines[i]), STATUS_CANCELLED, false, text);
        }
    }
    for (unsigned i = 0; i < pool->slot_count; i++) {
        for (size_t k = 0; k < pool->slots[i].task_count; k++) {
            fail(pool, pool->slots[i].tasks[k], STATUS_CANCELLED, false, text);
        }
    }
}
