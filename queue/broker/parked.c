/* Requests that wait for jobs. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "queue/broker/broker_state.h"

enum { PARKED_MAXIMUM = 4096 };

void
broker_drop(struct broker *broker, const struct broker_request *request)
{
    broker->answer(broker->context, request->token, STATUS_CANCELLED, (struct slice){NULL, 0},
                   NULL);
}

bool
broker_may_park(const struct broker *broker)
{
    return broker->parked.count < PARKED_MAXIMUM;
}

void
broker_park(struct broker *broker, const struct parked *parked)
{
    struct parked_list *list = &broker->parked;
    for (size_t i = 0; i < list->count; i++) {
        struct parked *other = &list->all[i];
        if (other->worker == parked->worker && other->request.id == parked->request.id) {
            broker_drop(broker, &other->request);
            other->request = parked->request;
            return;
        }
    }
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        list->all = memory_resize(list->all, list->capacity, sizeof *list->all);
    }
    list->all[list->count++] = *parked;
}

void
broker_unpark(struct broker *broker, size_t at)
{
    struct parked_list *list = &broker->parked;
    memmove(&list->all[at], &list->all[at + 1], (--list->count - at) * sizeof *list->all);
}

void
broker_drop_parked(struct broker *broker, uint32_t worker)
{
    for (size_t i = broker->parked.count; i-- > 0;) {
        if (broker->parked.all[i].worker == worker) {
            broker_drop(broker, &broker->parked.all[i].request);
            broker_unpark(broker, i);
        }
    }
}

void
broker_recall(struct broker *broker, uint32_t worker)
{
    for (size_t i = 0; i < broker->parked.count; i++) {
        if (broker->parked.all[i].worker == worker) {
            broker->parked.all[i].most = 0;
            broker->parked.all[i].deadline_ms = 0;
        }
    }
}

void
broker_parked_close(struct broker *broker)
{
    for (size_t i = 0; i < broker->parked.count; i++) {
        broker_drop(broker, &broker->parked.all[i].request);
    }
    free(broker->parked.all);
}

void
broker_parked_wait(const struct broker *broker, uint64_t *wait_ms, uint64_t now_ms,
                   uint64_t wall_ms)
{
    const uint64_t due = lanes_due(broker->lanes);
    for (size_t i = 0; i < broker->parked.count; i++) {
        const struct parked *parked = &broker->parked.all[i];
        clock_wait_until(wait_ms, parked->deadline_ms, now_ms);
        if (parked->stage == STAGE_FETCH && due != UINT64_MAX && due > broker->round.now_ms) {
            clock_wait_until(wait_ms, due, wall_ms);
        }
    }
}
