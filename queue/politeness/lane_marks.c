/* What is known of a lane besides its place: shares of sitemaps, speed, whether its host answered.
 */
#include "queue/politeness/lane_table.h"

/* NULL: it is not in memory. */
static struct lane *
find_lane(const struct lanes *lanes, uint64_t id)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    return at != (uint32_t)MAP_NONE ? &lanes->lanes[at] : NULL;
}

void
lanes_set_eased(struct lanes *lanes, uint64_t id, bool eased)
{
    struct lane *lane = find_lane(lanes, id);
    if (lane != NULL) {
        lane->eased = eased;
    }
}

void
lanes_set_share(struct lanes *lanes, uint64_t id, uint8_t share)
{
    struct lane *lane = find_lane(lanes, id);
    if (lane != NULL) {
        lane->share = share;
    }
}

void
lanes_set_answered(struct lanes *lanes, uint64_t id)
{
    struct lane *lane = find_lane(lanes, id);
    if (lane != NULL) {
        lane->answered = true;
    }
}

bool
lanes_answered(const struct lanes *lanes, uint64_t id)
{
    const struct lane *lane = find_lane(lanes, id);
    return lane != NULL && lane->answered;
}

bool
lanes_listed(const struct lanes *lanes, uint64_t id)
{
    const struct lane *lane = find_lane(lanes, id);
    return lane != NULL && lane->listed;
}

uint8_t
lanes_share(const struct lanes *lanes, uint64_t id)
{
    const struct lane *lane = find_lane(lanes, id);
    return lane != NULL ? lane->share : 0;
}

void
lanes_set_listed(struct lanes *lanes, uint64_t id, bool listed)
{
    struct lane *lane = find_lane(lanes, id);
    if (lane != NULL) {
        lane->listed = listed;
    }
}

void
lanes_set_speed(struct lanes *lanes, uint64_t id, uint8_t speed)
{
    struct lane *lane = find_lane(lanes, id);
    if (lane == NULL || lane->speed == speed) {
        return;
    }
    const uint32_t at = (uint32_t)(lane - lanes->lanes);
    const bool waits = lane->state == LANE_WAITING;
    if (waits) {
        lane_leave_line(lanes, at);
    }
    lane->speed = speed & (LANES_SPEEDS - 1);
    if (waits) {
        lane_line_up(lanes, at);
    }
}

bool
lanes_turn(struct lanes *lanes, uint64_t id)
{
    struct lane *lane = find_lane(lanes, id);
    if (lane == NULL || !lane->listed) {
        return false;
    }
    const unsigned credit = lane->credit + (lane->share != 0 ? lane->share : 128u);
    lane->credit = (uint8_t)credit;
    return credit > UINT8_MAX;
}

uint64_t
lanes_group(const struct lanes *lanes, uint64_t id)
{
    const struct lane *lane = find_lane(lanes, id);
    return lane == NULL || lane->group == (uint32_t)NONE ? 0 : lanes->groups[lane->group].id;
}

struct lane_view
lanes_view(const struct lanes *lanes, uint64_t id)
{
    static const enum lane_place places[] = {[LANE_IDLE] = LANE_RESTS,
                                             [LANE_WAITING] = LANE_WAITS,
                                             [LANE_BUSY] = LANE_OUT,
                                             [LANE_PARKED] = LANE_WAITS_FOR_GROUP};
    const struct lane *lane = find_lane(lanes, id);
    if (lane == NULL) {
        return (struct lane_view){.place = LANE_NOT_HERE};
    }
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
