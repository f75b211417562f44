#include "base/heap.h"
#include "base/memory.h"
#include "queue/politeness/lane_table.h"

static const uint64_t due_most_ms = (UINT64_C(1) << 48) - 1;

void
lane_set_due(struct lane *lane, uint64_t due_ms)
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

void
lane_heap_up(struct lanes *lanes, uint32_t place)
{
    heap_rise(lanes, place, is_due_before, swap_places);
}

void
lane_heap_down(struct lanes *lanes, uint32_t place)
{
    heap_sink(lanes, lanes->heap_count, place, is_due_before, swap_places);
}

void
lane_heap_add(struct lanes *lanes, uint32_t at)
{
    if (lanes->heap_count == lanes->heap_capacity) {
        lanes->heap_capacity = lanes->heap_capacity == 0 ? 64 : 2 * lanes->heap_capacity;
        lanes->heap = memory_resize(lanes->heap, lanes->heap_capacity, sizeof *lanes->heap);
    }
    lanes->lanes[at].state = LANE_IDLE;
    lanes->lanes[at].place = lanes->heap_count;
    lanes->heap[lanes->heap_count] = at;
    lane_heap_up(lanes, lanes->heap_count++);
}

void
lane_heap_remove(struct lanes *lanes, uint32_t place)
{
    const uint32_t last = lanes->heap[--lanes->heap_count];
    if (place < lanes->heap_count) {
        lanes->heap[place] = last;
        lanes->lanes[last].place = place;
        lane_heap_up(lanes, place);
        lane_heap_down(lanes, lanes->lanes[last].place);
    }
}

/* ---- those that wait for their turn ---- */

void
lane_line_up(struct lanes *lanes, uint32_t at)
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

void
lane_leave_line(struct lanes *lanes, uint32_t at)
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

uint32_t
lane_first_in_line(struct lanes *lanes)
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
