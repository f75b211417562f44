/* One epoll set with callbacks and one-shot timers. A stage has tens of timers at most, so
 * they stand in a plain array. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "stages/stage_private.h"

struct watch {
    int descriptor;
    bool removed;
    stage_ready *ready;
    void *context;
    struct watch *next; /* in the list of removed ones */
};

struct timer {
    uint64_t due_ms;
    stage_tick *tick;
    void *context;
};

enum { EVENTS_PER_ROUND = 256 };

enum status
events_open(struct events *events, struct reason *why)
{
    *events = (struct events){.epoll = epoll_create1(EPOLL_CLOEXEC)};
    return events->epoll < 0 ? status_fail_errno(why, "cannot make an epoll set") : STATUS_OK;
}

static void
free_removed(struct events *events)
{
    while (events->removed != NULL) {
        struct watch *watch = events->removed;
        events->removed = watch->next;
        free(watch);
    }
}

void
events_close(struct events *events)
{
    for (size_t i = 0; i < events->watch_count; i++) {
        free(events->watches[i]);
    }
    free_removed(events);
    free(events->watches);
    free(events->timers);
    if (events->epoll >= 0) {
        close(events->epoll);
    }
    *events = (struct events){.epoll = -1};
}

static void
unwatch(struct events *events, int descriptor)
{
    if ((size_t)descriptor >= events->watch_count || events->watches[descriptor] == NULL) {
        return;
    }
    struct watch *watch = events->watches[descriptor];
    events->watches[descriptor] = NULL;
    watch->removed = true;
    watch->next = events->removed;
    events->removed = watch;
    /* Fails when the descriptor was closed first, which removed it as well. */
    (void)epoll_ctl(events->epoll, EPOLL_CTL_DEL, descriptor, NULL);
}

void
events_watch(struct events *events, int descriptor, uint32_t epoll_events, stage_ready *ready,
             void *context)
{
    if (epoll_events == 0) {
        unwatch(events, descriptor);
        return;
    }
    const size_t needed = (size_t)descriptor + 1;
    if (needed > events->watch_count) {
        const size_t count = needed * 2;
        events->watches = memory_resize(events->watches, count, sizeof *events->watches);
        for (size_t i = events->watch_count; i < count; i++) {
            events->watches[i] = NULL;
        }
        events->watch_count = count;
    }
    struct watch *watch = events->watches[descriptor];
    if (watch == NULL) {
        watch = memory_zero(1, sizeof *watch);
        watch->descriptor = descriptor;
        events->watches[descriptor] = watch;
    }
    watch->ready = ready;
    watch->context = context;
    struct epoll_event event = {.events = epoll_events, .data.ptr = watch};
    if (epoll_ctl(events->epoll, EPOLL_CTL_MOD, descriptor, &event) != 0 && errno == ENOENT) {
        (void)epoll_ctl(events->epoll, EPOLL_CTL_ADD, descriptor, &event);
    }
}

void
events_timer(struct events *events, uint64_t delay_ms, stage_tick *tick, void *context)
{
    size_t i = 0;
    while (i < events->timer_count &&
           (events->timers[i].tick != tick || events->timers[i].context != context)) {
        i++;
    }
    if (delay_ms == UINT64_MAX) {
        if (i < events->timer_count) {
            events->timers[i] = events->timers[--events->timer_count];
        }
        return;
    }
    if (i == events->timer_count) {
        if (events->timer_count == events->timer_capacity) {
            events->timer_capacity = events->timer_capacity * 2 + 8;
            events->timers =
                memory_resize(events->timers, events->timer_capacity, sizeof *events->timers);
        }
        events->timer_count++;
    }
    events->timers[i] = (struct timer){clock_monotonic_ms() + delay_ms, tick, context};
}

static int
until_next_timer(const struct events *events, int wait_ms)
{
    const uint64_t now = clock_monotonic_ms();
    for (size_t i = 0; i < events->timer_count; i++) {
        const uint64_t due = events->timers[i].due_ms;
        const uint64_t left = due > now ? due - now : 0;
        if (wait_ms < 0 || left < (uint64_t)wait_ms) {
            wait_ms = left > 60000 ? 60000 : (int)left;
        }
    }
    return wait_ms;
}

static void
run_due_timers(struct events *events)
{
    const uint64_t now = clock_monotonic_ms();
    for (size_t i = 0; i < events->timer_count;) {
        if (events->timers[i].due_ms > now) {
            i++;
            continue;
        }
        const struct timer timer = events->timers[i];
        events->timers[i] = events->timers[--events->timer_count];
        timer.tick(timer.context); /* may set timers: those are due later than now */
    }
}

void
events_round(struct events *events, int wait_ms)
{
    struct epoll_event ready[EVENTS_PER_ROUND];
    const int n =
        epoll_wait(events->epoll, ready, EVENTS_PER_ROUND, until_next_timer(events, wait_ms));
    for (int i = 0; i < n; i++) {
        struct watch *watch = ready[i].data.ptr;
        if (!watch->removed) {
            watch->ready(watch->context, ready[i].events);
        }
    }
    run_due_timers(events);
    free_removed(events);
}
