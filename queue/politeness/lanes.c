#include "queue/politeness/lanes.h"

#include <stdlib.h>

#include "base/memory.h"
#include "queue/politeness/lane_table.h"

struct lanes *
lanes_new(uint32_t parallel, uint64_t group_delay_ms, uint32_t burst)
{
    struct lanes *lanes = memory_new(sizeof *lanes);
    lanes->parallel = parallel;
    lanes->burst = burst < LANES_BURST_MOST ? burst : LANES_BURST_MOST;
    lanes->group_delay_ms = group_delay_ms;
    lanes->free = lanes->group_free = (uint32_t)NONE;
    for (int i = 0; i < LANES_SPEEDS; i++) {
        lanes->first_waiting[i] = lanes->last_waiting[i] = (uint32_t)NONE;
    }
    map_init(&lanes->by_id);
    map_init(&lanes->group_by_id);
    return lanes;
}

void
lanes_free(struct lanes *lanes)
{
    if (lanes != NULL) {
        map_release(&lanes->by_id);
        map_release(&lanes->group_by_id);
        free(lanes->lanes);
        free(lanes->heap);
        free(lanes->groups);
        free(lanes);
    }
}

static uint32_t
add_lane(struct lanes *lanes, uint64_t id)
{
    uint32_t at = lanes->free;
    if (at != (uint32_t)NONE) {
        lanes->free = lanes->lanes[at].place;
    } else {
        if (lanes->used == lanes->capacity) {
            lanes->capacity = lanes->capacity == 0 ? 64 : 2 * lanes->capacity;
            lanes->lanes = memory_resize(lanes->lanes, lanes->capacity, sizeof *lanes->lanes);
        }
        at = lanes->used++;
    }
    lanes->lanes[at] = (struct lane){.id = id, .group = (uint32_t)NONE, .state = LANE_FREE};
    lanes->count++;
    map_set(&lanes->by_id, id, at);
    return at;
}

static void
set_busy(struct lanes *lanes, uint32_t at)
{
    struct lane *lane = &lanes->lanes[at];
    lane->state = LANE_BUSY;
    lane->out = 1;
    lanes->busy++;
    if (lane->group != (uint32_t)NONE) {
        lane->counted = true;
        lanes->groups[lane->group].busy++;
    }
}

static void
unset_busy(struct lanes *lanes, uint32_t at)
{
    struct lane *lane = &lanes->lanes[at];
    lanes->busy--;
    if (lane->counted) {
        lane->counted = false;
        lanes->groups[lane->group].busy--;
    }
}

void
lanes_wake(struct lanes *lanes, uint64_t id)
{
    if (map_get(&lanes->by_id, id) == (uint32_t)MAP_NONE) {
        lane_line_up(lanes, add_lane(lanes, id));
    }
}

void
lanes_restore(struct lanes *lanes, uint64_t id, uint64_t due_ms, uint64_t group)
{
    uint32_t at = map_get(&lanes->by_id, id);
    const bool added = at == (uint32_t)MAP_NONE;
    if (added) {
        at = add_lane(lanes, id);
    }
    struct lane *lane = &lanes->lanes[at];
    lane->known = lane->listed = true;
    if (lane->due_ms < due_ms) {
        lane_set_due(lane, due_ms);
    }
    if (lane->group == (uint32_t)NONE) {
        group_join(lanes, at, group);
    }
    if (added) {
        lane_heap_add(lanes, at);
    } else if (lane->state == LANE_IDLE) {
        lane_heap_down(lanes, lane->place);
    }
}

/* The lane that should go next, out of its list; NONE: nobody is due. */
static uint32_t
first_due(struct lanes *lanes, uint64_t now_ms)
{
    if (lanes->heap_count > 0 && lanes->lanes[lanes->heap[0]].due_ms <= now_ms) {
        const uint32_t at = lanes->heap[0];
        lane_heap_remove(lanes, 0);
        return at;
    }
    for (uint32_t at = lane_first_in_line(lanes); at != (uint32_t)NONE;
         at = lane_first_in_line(lanes)) {
        lane_leave_line(lanes, at);
        if (lanes->lanes[at].due_ms <= now_ms) {
            lanes->turns++;
            return at;
        }
        lane_heap_add(lanes, at);
    }
    return (uint32_t)NONE;
}

bool
lanes_next(struct lanes *lanes, uint64_t now_ms, uint64_t *id, bool *known)
{
    for (uint32_t at = first_due(lanes, now_ms); at != (uint32_t)NONE;
         at = first_due(lanes, now_ms)) {
        if (!group_admits(lanes, at, now_ms)) {
            continue;
        }
        set_busy(lanes, at);
        struct lane *lane = &lanes->lanes[at];
        if (lane->group != (uint32_t)NONE) {
            struct group *group = &lanes->groups[lane->group];
            group->previous_due_ms = group->due_ms;
            group->due_ms = now_ms + lanes->group_delay_ms;
            group_send_scout(lanes, lane->group);
        }
        *id = lane->id;
        *known = lane->known;
        return true;
    }
    return false;
}

bool
lanes_take(struct lanes *lanes, uint64_t id)
{
    lanes_wake(lanes, id);
    const uint32_t at = map_get(&lanes->by_id, id);
    struct lane *lane = &lanes->lanes[at];
    if (lane->state == LANE_BUSY) {
        const bool room = lane->out < lanes->burst;
        lane->out += room;
        return room;
    }
    if (lane->state == LANE_PARKED) { /* out of its group's list, by hand: this is rare */
        uint32_t *link = &lanes->groups[lane->group].parked;
        while (*link != at) {
            link = &lanes->lanes[*link].place;
        }
        *link = lane->place;
    } else if (lane->state == LANE_WAITING) {
        lane_leave_line(lanes, at);
    } else {
        lane_heap_remove(lanes, lane->place);
        if (lane->group != (uint32_t)NONE && lanes->groups[lane->group].scout == at) {
            lanes->groups[lane->group].scout = (uint32_t)NONE;
        }
    }
    set_busy(lanes, at);
    if (lane->group != (uint32_t)NONE) {
        group_send_scout(lanes, lane->group);
    }
    return true;
}

static struct lane *
busy_lane(struct lanes *lanes, uint64_t id)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    return at != (uint32_t)MAP_NONE && lanes->lanes[at].state == LANE_BUSY ? &lanes->lanes[at]
                                                                           : NULL;
}

bool
lanes_more(struct lanes *lanes, uint64_t id)
{
    struct lane *lane = busy_lane(lanes, id);
    const bool may = lane != NULL && lane->eased && lane->out < lanes->burst &&
                     (lane->group == (uint32_t)NONE || lanes->group_delay_ms == 0);
    if (may) {
        lane->out++;
    }
    return may;
}

void
lanes_no_more(struct lanes *lanes, uint64_t id)
{
    struct lane *lane = busy_lane(lanes, id);
    if (lane != NULL && lane->out > 1) {
        lane->out--;
    }
}

static void
postpone(struct lanes *lanes, uint32_t at, uint64_t due_ms)
{
    struct lane *lane = &lanes->lanes[at];
    if (lane->due_ms < due_ms) {
        lane_set_due(lane, due_ms);
        if (lane->state == LANE_IDLE) {
            lane_heap_down(lanes, lane->place);
        }
    }
}

void
lanes_postpone(struct lanes *lanes, uint64_t id, uint64_t due_ms)
{
    lanes_wake(lanes, id);
    postpone(lanes, map_get(&lanes->by_id, id), due_ms);
}

void
lanes_hasten(struct lanes *lanes, uint64_t id, uint64_t due_ms)
{
    lanes_wake(lanes, id);
    struct lane *lane = &lanes->lanes[map_get(&lanes->by_id, id)];
    if (lane->due_ms > due_ms) {
        lane_set_due(lane, due_ms);
        if (lane->state == LANE_IDLE) {
            lane_heap_up(lanes, lane->place);
        }
    }
}

void
lanes_rest(struct lanes *lanes, uint64_t id, uint64_t due_ms, uint64_t group)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    if (at == (uint32_t)MAP_NONE || lanes->lanes[at].state != LANE_BUSY) {
        return;
    }
    struct lane *lane = &lanes->lanes[at];
    postpone(lanes, at, due_ms);
    if (--lane->out > 0) {
        return;
    }
    unset_busy(lanes, at);
    if (lane->group != (uint32_t)NONE) {
        group_send_scout(lanes, lane->group);
    }
    if (group != 0 && (lane->group == (uint32_t)NONE || lanes->groups[lane->group].id != group)) {
        group_leave(lanes, at);
        group_join(lanes, at, group);
    }
    if (lane->turn_over) {
        lane->turn_over = false;
        lane_line_up(lanes, at);
    } else {
        lane_heap_add(lanes, at);
    }
}

void
lanes_end_turn(struct lanes *lanes, uint64_t id)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    if (at != (uint32_t)MAP_NONE && lanes->lanes[at].state == LANE_BUSY) {
        lanes->lanes[at].turn_over = true;
    }
}

/* A lane that went out and was not used does not make its group wait. */
static void
give_back_due(struct lanes *lanes, uint32_t at)
{
    if (lanes->lanes[at].counted) {
        struct group *group = &lanes->groups[lanes->lanes[at].group];
        group->due_ms = group->previous_due_ms;
    }
}

void
lanes_return(struct lanes *lanes, uint64_t id)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    if (at != (uint32_t)MAP_NONE && lanes->lanes[at].state == LANE_BUSY) {
        give_back_due(lanes, at);
        lanes_rest(lanes, id, 0, 0);
    }
}

void
lanes_forget(struct lanes *lanes, uint64_t id)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    if (at == (uint32_t)MAP_NONE || lanes->lanes[at].state != LANE_BUSY) {
        return;
    }
    give_back_due(lanes, at);
    unset_busy(lanes, at);
    group_leave(lanes, at);
    map_remove(&lanes->by_id, id);
    lanes->lanes[at].state = LANE_FREE;
    lanes->lanes[at].place = lanes->free;
    lanes->free = at;
    lanes->count--;
}

uint64_t
lanes_due(const struct lanes *lanes)
{
    for (int i = 0; i < LANES_SPEEDS; i++) {
        if (lanes->first_waiting[i] != (uint32_t)NONE) {
            return 0;
        }
    }
    return lanes->heap_count == 0 ? UINT64_MAX : lanes->lanes[lanes->heap[0]].due_ms;
}

size_t
lanes_count(const struct lanes *lanes)
{
    return lanes->count;
}

size_t
lanes_busy(const struct lanes *lanes)
{
    return lanes->busy;
}
