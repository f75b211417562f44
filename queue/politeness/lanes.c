#include "queue/politeness/lanes.h"

#include <stdlib.h>

#include "base/heap.h"
#include "base/map.h"
#include "base/memory.h"

enum { NONE = -1 };
enum lane_state { LANE_IDLE, LANE_WAITING, LANE_BUSY, LANE_PARKED, LANE_FREE };

struct lane {
    uint64_t id;
    uint64_t due_ms : 48;  /* until the year 10889 */
    uint64_t answered : 1; /* the host has, at any time */
    uint32_t place;        /* IDLE: in the heap; WAITING, PARKED, FREE: the next in the list */
    uint32_t previous;     /* WAITING */
    uint32_t group;        /* index, NONE */
    unsigned out : 6;      /* BUSY: jobs */
    unsigned speed : 2;
    uint8_t share, credit; /* of sitemaps: in 256ths; what of it is not yet used */
    unsigned state : 3;    /* enum lane_state */
    bool listed : 1;       /* jobs of sitemaps may wait in it */
    bool known : 1;        /* what is stored of it was read */
    bool counted : 1;      /* BUSY and counted in its group */
    bool eased : 1;        /* several jobs may be out */
    bool turn_over : 1;    /* BUSY: others go before it when it ends */
};
_Static_assert(sizeof(struct lane) == 32, "there are millions of them");

static const uint64_t due_most_ms = (UINT64_C(1) << 48) - 1;

struct group {
    uint64_t id;
    uint64_t due_ms;          /* no lane goes out before */
    uint64_t previous_due_ms; /* what it was before the latest went out */
    uint32_t busy;
    uint32_t members; /* lanes in memory */
    uint32_t parked;  /* first in the list; FREE: the next free group */
    uint32_t scout;   /* the lane in the heap that asks for the parked ones, NONE */
};

struct lanes {
    uint32_t parallel, burst;
    uint64_t group_delay_ms;
    struct lane *lanes;
    uint32_t used, capacity, free, count, busy;
    struct map by_id;
    uint32_t *heap; /* of lanes, by due time */
    uint32_t heap_count, heap_capacity;
    uint32_t first_waiting[LANES_SPEEDS], last_waiting[LANES_SPEEDS];
    uint32_t turns; /* that were given to those that wait */
    struct group *groups;
    uint32_t group_used, group_capacity, group_free;
    struct map group_by_id;
};

struct lanes *
lanes_new(uint32_t parallel, uint64_t group_delay_ms, uint32_t burst)
{
    struct lanes *lanes = memory_zero(1, sizeof *lanes);
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

static void
set_due(struct lane *lane, uint64_t due_ms)
{
    lane->due_ms = (due_ms < due_most_ms ? due_ms : due_most_ms) & due_most_ms;
}

/* ---- the heap ---- */

static bool
is_due_before(const void *heap, size_t a, size_t b)
{
    const struct lanes *lanes = heap;
    return lanes->lanes[lanes->heap[a]].due_ms < lanes->lanes[lanes->heap[b]].due_ms;
}

static void
swap_places(void *heap, size_t a, size_t b)
{
    struct lanes *lanes = heap;
    const uint32_t at = lanes->heap[a];
    lanes->heap[a] = lanes->heap[b];
    lanes->heap[b] = at;
    lanes->lanes[lanes->heap[a]].place = (uint32_t)a;
    lanes->lanes[at].place = (uint32_t)b;
}

static void
heap_up(struct lanes *lanes, uint32_t place)
{
    heap_rise(lanes, place, is_due_before, swap_places);
}

static void
heap_down(struct lanes *lanes, uint32_t place)
{
    heap_sink(lanes, lanes->heap_count, place, is_due_before, swap_places);
}

static void
heap_add(struct lanes *lanes, uint32_t at)
{
    if (lanes->heap_count == lanes->heap_capacity) {
        lanes->heap_capacity = lanes->heap_capacity == 0 ? 64 : 2 * lanes->heap_capacity;
        lanes->heap = memory_resize(lanes->heap, lanes->heap_capacity, sizeof *lanes->heap);
    }
    lanes->lanes[at].state = LANE_IDLE;
    lanes->lanes[at].place = lanes->heap_count;
    lanes->heap[lanes->heap_count] = at;
    heap_up(lanes, lanes->heap_count++);
}

static void
heap_remove(struct lanes *lanes, uint32_t place)
{
    const uint32_t last = lanes->heap[--lanes->heap_count];
    if (place < lanes->heap_count) {
        lanes->heap[place] = last;
        lanes->lanes[last].place = place;
        heap_up(lanes, place);
        heap_down(lanes, lanes->lanes[last].place);
    }
}

/* ---- those that wait for their turn ---- */

static void
waiting_add(struct lanes *lanes, uint32_t at)
{
    struct lane *lane = &lanes->lanes[at];
    lane->state = LANE_WAITING;
    lane->place = (uint32_t)NONE;
    lane->previous = lanes->last_waiting[lane->speed];
    if (lane->previous != (uint32_t)NONE) {
        lanes->lanes[lane->previous].place = at;
    } else {
        lanes->first_waiting[lane->speed] = at;
    }
    lanes->last_waiting[lane->speed] = at;
}

static void
waiting_remove(struct lanes *lanes, uint32_t at)
{
    const struct lane *lane = &lanes->lanes[at];
    if (lane->previous != (uint32_t)NONE) {
        lanes->lanes[lane->previous].place = lane->place;
    } else {
        lanes->first_waiting[lane->speed] = lane->place;
    }
    if (lane->place != (uint32_t)NONE) {
        lanes->lanes[lane->place].previous = lane->previous;
    } else {
        lanes->last_waiting[lane->speed] = lane->previous;
    }
}

/* The first of the fastest, but one turn in four of the next slower, and so on. NONE: nobody waits.
 */
static uint32_t
first_waiting(struct lanes *lanes)
{
    uint32_t first = (uint32_t)NONE;
    for (unsigned speed = 0; speed < LANES_SPEEDS; speed++) {
        const uint32_t at = lanes->first_waiting[speed];
        const uint32_t every = 1u << (2 * speed);
        if (at != (uint32_t)NONE &&
            (first == (uint32_t)NONE || lanes->turns % every == every - 1)) {
            first = at;
        }
    }
    return first;
}

/* ---- groups ---- */

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

/* Sends one parked lane back to the heap, if the group may admit it and has no scout there. */
static void
send_scout(struct lanes *lanes, uint32_t at)
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
        set_due(lane, group->due_ms);
    }
    heap_add(lanes, scout);
}

static void
join_group(struct lanes *lanes, uint32_t at, uint64_t id)
{
    const uint32_t group = group_of(lanes, id);
    if (lanes->lanes[at].group == group) {
        return;
    }
    lanes->lanes[at].group = group;
    if (group != (uint32_t)NONE) {
        lanes->groups[group].members++;
    }
}

static void
leave_group(struct lanes *lanes, uint32_t at)
{
    const uint32_t place = lanes->lanes[at].group;
    if (place == (uint32_t)NONE) {
        return;
    }
    struct group *group = &lanes->groups[place];
    lanes->lanes[at].group = (uint32_t)NONE;
    if (group->scout == at) {
        group->scout = (uint32_t)NONE;
    }
    send_scout(lanes, place);
    if (--group->members == 0) {
        map_remove(&lanes->group_by_id, group->id);
        group->parked = lanes->group_free;
        lanes->group_free = place;
    }
}

/* Tells whether the group lets a lane out now; else the lane, which is in no list, is put where it
 * waits for its group. */
static bool
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
    if (!full) {
        send_scout(lanes, lane->group);
    }
    return false;
}

/* ---- lanes ---- */

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
        waiting_add(lanes, add_lane(lanes, id));
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
        set_due(lane, due_ms);
    }
    if (lane->group == (uint32_t)NONE) {
        join_group(lanes, at, group);
    }
    if (added) {
        heap_add(lanes, at);
    } else if (lane->state == LANE_IDLE) {
        heap_down(lanes, lane->place);
    }
}

/* The lane that should go next, out of its list; NONE: nobody is due. */
static uint32_t
first_due(struct lanes *lanes, uint64_t now_ms)
{
    if (lanes->heap_count > 0 && lanes->lanes[lanes->heap[0]].due_ms <= now_ms) {
        const uint32_t at = lanes->heap[0];
        heap_remove(lanes, 0);
        return at;
    }
    for (uint32_t at = first_waiting(lanes); at != (uint32_t)NONE; at = first_waiting(lanes)) {
        waiting_remove(lanes, at);
        if (lanes->lanes[at].due_ms <= now_ms) {
            lanes->turns++;
            return at;
        }
        heap_add(lanes, at);
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
            send_scout(lanes, lane->group);
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
        waiting_remove(lanes, at);
    } else {
        heap_remove(lanes, lane->place);
        if (lane->group != (uint32_t)NONE && lanes->groups[lane->group].scout == at) {
            lanes->groups[lane->group].scout = (uint32_t)NONE;
        }
    }
    set_busy(lanes, at);
    if (lane->group != (uint32_t)NONE) {
        send_scout(lanes, lane->group);
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

void
lanes_set_eased(struct lanes *lanes, uint64_t id, bool eased)
{
    const uint32_t at = map_get(&lanes->by_id, id);
    if (at != (uint32_t)MAP_NONE) {
        lanes->lanes[at].eased = eased;
    }
}

static void
postpone(struct lanes *lanes, uint32_t at, uint64_t due_ms)
{
    struct lane *lane = &lanes->lanes[at];
    if (lane->due_ms < due_ms) {
        set_due(lane, due_ms);
        if (lane->state == LANE_IDLE) {
            heap_down(lanes, lane->place);
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
        set_due(lane, due_ms);
        if (lane->state == LANE_IDLE) {
            heap_up(lanes, lane->place);
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
        send_scout(lanes, lane->group);
    }
    if (group != 0 && (lane->group == (uint32_t)NONE || lanes->groups[lane->group].id != group)) {
        leave_group(lanes, at);
        join_group(lanes, at, group);
    }
    if (lane->turn_over) {
        lane->turn_over = false;
        waiting_add(lanes, at);
    } else {
        heap_add(lanes, at);
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
    leave_group(lanes, at);
    map_remove(&lanes->by_id, id);
    lanes->lanes[at].state = LANE_FREE;
    lanes->lanes[at].place = lanes->free;
    lanes->free = at;
    lanes->count--;
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
        waiting_remove(lanes, at);
    }
    lanes->lanes[at].speed = speed & (LANES_SPEEDS - 1);
    if (waits) {
        waiting_add(lanes, at);
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
