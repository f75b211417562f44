/* The loop of a stage process: descriptors and timers. One thread. */
#ifndef STAGES_SKELETON_STAGE_EVENTS_H
#define STAGES_SKELETON_STAGE_EVENTS_H

#include <stddef.h>

#include "base/map.h"
#include "stages/skeleton/stage.h"

struct watch;
struct timer;
struct events {
    int epoll;
    struct watch **watches; /* by descriptor */
    size_t watch_count;
    struct timer *timers; /* a heap */
    size_t timer_count, timer_capacity;
    struct map timer_at;
    struct watch *removed; /* freed after the round, since events for them may still be listed */
};
enum status events_open(struct events *events, struct reason *why);
void events_close(struct events *events);
void events_watch(struct events *events, int descriptor, uint32_t epoll_events, stage_ready *ready,
                  void *context);
void events_timer(struct events *events, uint64_t delay_ms, stage_tick *tick, void *context);
/* Waits at most wait_ms (-1: for ever), calls what is ready and due. */
void events_round(struct events *events, int wait_ms);

#endif
