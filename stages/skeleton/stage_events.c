/* One epoll set with callbacks and one-shot timers: a heap by due time, and a map from (tick,
 * context) to the place in it, since fetch has one for each host that rests. */
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/heap.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "stages/skeleton/stage_events.h"

struct watch {
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
    map_init(&events->timer_at);
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
    map_release(&events->timer_at);
    file_close(events->epoll);
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
    const int likely = watch == NULL ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (watch == NULL) {
        watch = memory_new(sizeof *watch);
        events->watches[descriptor] = watch;
    }
    watch->ready = ready;
    watch->context = context;
    struct epoll_event event = {.events = epoll_events, .data.ptr = watch};
    if (epoll_ctl(events->epoll, likely, descriptor, &event) != 0) {
        /* It was closed, or a callback came late. */
        (void)epoll_ctl(events->epoll, likely == EPOLL_CTL_ADD ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
                        descriptor, &event);
    }
}

/* ---- timers ---- */

/* Contexts are addresses of live things, so two timers never mix to the same number but by an
 * accident of 2^-64. */
static uint64_t
timer_key(stage_tick *tick, const void *context)
{
    return (uint64_t)(uintptr_t)tick * 0x9e3779b97f4a7c15u ^
           (uint64_t)(uintptr_t)context * 0xd6e8feb86659fd93u;
}

static bool
is_due_before(const void *heap, size_t a, size_t b)
{
    const struct events *events = heap;
    return events->timers[a].due_ms < events->timers[b].due_ms;
}

static void
timer_place(struct events *events, size_t place, struct timer timer)
{
    events->timers[place] = timer;
    map_set(&events->timer_at, timer_key(timer.tick, timer.context), (uint32_t)place);
}

static void
timer_swap(void *heap, size_t a, size_t b)
{
    struct events *events = heap;
    const struct timer timer = events->timers[a];
    timer_place(events, a, events->timers[b]);
    timer_place(events, b, timer);
}

/* Puts the timer at a place that is free, and from there where it belongs. */
static void
timer_settle(struct events *events, size_t place, struct timer timer)
{
    timer_place(events, place, timer);
    place = heap_rise(events, place, is_due_before, timer_swap);
    heap_sink(events, events->timer_count, place, is_due_before, timer_swap);
}

static void
timer_remove(struct events *events, size_t place)
{
    const struct timer removed = events->timers[place];
    const struct timer last = events->timers[--events->timer_count];
    map_remove(&events->timer_at, timer_key(removed.tick, removed.context));
    if (place < events->timer_count) {
        timer_settle(events, place, last);
    }
}

void
events_timer(struct events *events, uint64_t delay_ms, stage_tick *tick, void *context)
{
    const uint32_t at = map_get(&events->timer_at, timer_key(tick, context));
    const bool known = at != (uint32_t)MAP_NONE;
    if (delay_ms == UINT64_MAX) {
        if (known) {
            timer_remove(events, at);
        }
        return;
    }
    if (!known && events->timer_count == events->timer_capacity) {
        events->timer_capacity = events->timer_capacity * 2 + 8;
        events->timers =
            memory_resize(events->timers, events->timer_capacity, sizeof *events->timers);
    }
    const size_t place = known ? at : events->timer_count++;
    timer_settle(events, place, (struct timer){clock_monotonic_ms() + delay_ms, tick, context});
}

static int
until_next_timer(const struct events *events, int wait_ms)
{
    if (events->timer_count == 0) {
        return wait_ms;
    }
    const uint64_t now = clock_monotonic_ms();
    const uint64_t due = events->timers[0].due_ms;
    const uint64_t left = due > now ? due - now : 0;
    if (wait_ms >= 0 && left >= (uint64_t)wait_ms) {
        return wait_ms;
    }
    return left > 60000 ? 60000 : (int)left;
}

static void
run_due_timers(struct events *events)
{
    const uint64_t now = clock_monotonic_ms();
    /* A timer that is set meanwhile for this very millisecond waits for the next round. */
    for (size_t most = events->timer_count; most > 0 && events->timer_count > 0; most--) {
        const struct timer timer = events->timers[0];
        if (timer.due_ms > now) {
            break;
        }
        timer_remove(events, 0);
        timer.tick(timer.context);
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
