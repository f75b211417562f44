/* What is known of a lane besides its place: shares of sitemaps, speed, whether its host answered.
 */
#include "queue/politeness/lane_table.h"

void
lanes_set_eased(struct lanes *lanes, uint64_t id, bool eased)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    if (at != (uint32_t)MAP_NONE) {
        lanes->lanes[at].eased = eased;
    }
}

void
lanes_set_share(struct lanes *lanes, uint64_t id, uint8_t share)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    if (at != (uint32_t)MAP_NONE) {
        lanes->lanes[at].share = share;
    }
}

void
lanes_set_answered(struct lanes *lanes, uint64_t id)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    if (at != (uint32_t)MAP_NONE) {
        lanes->lanes[at].answered = true;
    }
}

bool
lanes_answered(const struct lanes *lanes, uint64_t id)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    return at != (uint32_t)MAP_NONE && lanes->lanes[at].answered;
}

bool
lanes_listed(const struct lanes *lanes, uint64_t id)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    return at != (uint32_t)MAP_NONE && lanes->lanes[at].listed;
}

uint8_t
lanes_share(const struct lanes *lanes, uint64_t id)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    return at == (uint32_t)MAP_NONE ? 0 : lanes->lanes[at].share;
}

void
lanes_set_listed(struct lanes *lanes, uint64_t id, bool listed)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    if (at != (uint32_t)MAP_NONE) {
        lanes->lanes[at].listed = listed;
    }
}

void
lanes_set_speed(struct lanes *lanes, uint64_t id, uint8_t speed)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    if (at == (uint32_t)MAP_NONE || lanes->lanes[at].speed == speed) {
        return;
    }
    const bool waits = lanes->lanes[at].state == LANE_WAITING;
    if (waits) {
        lane_leave_line(lanes, at);
    }
    lanes->lanes[at].speed = speed & (LANES_SPEEDS - 1);
    if (waits) {
        lane_line_up(lanes, at);
    }
}

bool
lanes_turn(struct lanes *lanes, uint64_t id)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    if (at == (uint32_t)MAP_NONE || !lanes->lanes[at].listed) {
        return false;
    }
    struct lane *lane = &lanes->lanes[at];
    const unsigned credit = lane->credit + (lane->share != 0 ? lane->share : 128u);
    lane->credit = (uint8_t)credit;
    return credit > UINT8_MAX;
}

uint64_t
lanes_group(const struct lanes *lanes, uint64_t id)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    if (at == (uint32_t)MAP_NONE || lanes->lanes[at].group == (uint32_t)NONE) {
        return 0;
    }
    return lanes->groups[lanes->lanes[at].group].id;
}

struct lane_view
lanes_view(const struct lanes *lanes, uint64_t id)
{
    static const enum lane_place places[] = {[LANE_IDLE] = LANE_RESTS,
                                             [LANE_WAITING] = LANE_WAITS,
                                             [LANE_BUSY] = LANE_OUT,
                                             [LANE_PARKED] = LANE_WAITS_FOR_GROUP};
    const uint32_t at = map_get(&lanes->by_id, id);
    if (at == (uint32_t)MAP_NONE) {
        return (struct lane_view){.place = LANE_NOT_HERE};
    }
    const struct lane *lane = &lanes->lanes[at];
    return (struct lane_view){
        .place = places[lane->state],
        .due_ms = lane->due_ms,
        .group = lanes_group(lanes, id),
        .out = lane->state == LANE_BUSY ? lane->out : 0,
        .speed = lane->speed,
        .share = lane->share,
        .listed = lane->listed,
        .eased = lane->eased,
    };
}
