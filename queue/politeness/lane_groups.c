#include "base/memory.h"
#include "queue/politeness/lane_table.h"

static uint32_t
group_of(struct lanes *lanes, uint64_t id)
{
    if (id == 0 || (lanes->parallel == 0 && lanes->group_delay_ms == 0)) {
        return (uint32_t)NONE;
    }
    uint32_t at = map_get(&lanes->group_by_id, id);
    if (at != (uint32_t)MAP_NONE) {
        return at;
    }
    if (lanes->group_free != (uint32_t)NONE) {
        at = lanes->group_free;
        lanes->group_free = lanes->groups[at].parked;
    } else {
        if (lanes->group_used == lanes->group_capacity) {
            lanes->group_capacity = lanes->group_capacity == 0 ? 64 : 2 * lanes->group_capacity;
            lanes->groups =
                memory_resize(lanes->groups, lanes->group_capacity, sizeof *lanes->groups);
        }
        at = lanes->group_used++;
    }
    lanes->groups[at] = (struct group){.id = id, .parked = (uint32_t)NONE, .scout = (uint32_t)NONE};
    map_set(&lanes->group_by_id, id, at);
    return at;
}

void
group_send_scout(struct lanes *lanes, uint32_t at)
{
    struct group *group = &lanes->groups[at];
    if (group->scout != (uint32_t)NONE || group->parked == (uint32_t)NONE ||
        (lanes->parallel > 0 && group->busy >= lanes->parallel)) {
        return;
    }
    const uint32_t scout = group->parked;
    struct lane *lane = &lanes->lanes[scout];
    group->parked = lane->place;
    group->scout = scout;
    if (lane->due_ms < group->due_ms) {
        lane_set_due(lane, group->due_ms);
    }
    lane_heap_add(lanes, scout);
}

void
group_join(struct lanes *lanes, uint32_t at, uint64_t id)
{
    const uint32_t group = group_of(lanes, id);
    lanes->lanes[at].group = group;
    if (group != (uint32_t)NONE) {
        lanes->groups[group].members++;
    }
}

void
group_leave(struct lanes *lanes, uint32_t at)
{
    const uint32_t place = lanes->lanes[at].group;
    if (place == (uint32_t)NONE) {
        return;
    }
    struct group *group = &lanes->groups[place];
    lanes->lanes[at].group = (uint32_t)NONE;
    group_send_scout(lanes, place);
    if (--group->members == 0) {
        map_remove(&lanes->group_by_id, group->id);
        group->parked = lanes->group_free;
        lanes->group_free = place;
    }
}

bool
group_admits(struct lanes *lanes, uint32_t at, uint64_t now_ms)
{
    struct lane *lane = &lanes->lanes[at];
    if (lane->group == (uint32_t)NONE) {
        return true;
    }
    struct group *group = &lanes->groups[lane->group];
    if (group->scout == at) {
        group->scout = (uint32_t)NONE;
    }
    const bool full = lanes->parallel > 0 && group->busy >= lanes->parallel;
    if (!full && group->due_ms <= now_ms) {
        return true;
    }
    lane->state = LANE_PARKED;
    lane->place = group->parked;
    group->parked = at;
    group_send_scout(lanes, lane->group);
    return false;
}
