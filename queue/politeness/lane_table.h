/* The lanes in memory, for the files that make up lanes.h:
 *
 *   lanes.c         lanes go out, rest and come back
 *   lane_marks.c    what is known of a lane besides
 *   lane_groups.c   groups: which of their lanes may go out, which are parked
 *   lane_queues.c   those that rest, by due time; those that wait for their turn
 *
 * A file calls those below it only. Lanes and groups are numbers of places; NONE is none. */
#ifndef QUEUE_POLITENESS_LANE_TABLE_H
#define QUEUE_POLITENESS_LANE_TABLE_H

#include "base/map.h"
#include "queue/politeness/lanes.h"

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

/* ---- lane_queues.c ---- */

void lane_set_due(struct lane *lane, uint64_t due_ms);
/* A lane rests until it is due; its due time became less, or more. */
void lane_heap_add(struct lanes *lanes, uint32_t at);
void lane_heap_remove(struct lanes *lanes, uint32_t place);
void lane_heap_up(struct lanes *lanes, uint32_t place);
void lane_heap_down(struct lanes *lanes, uint32_t place);
/* A lane waits for its turn among those of its speed. */
void lane_line_up(struct lanes *lanes, uint32_t at);
void lane_leave_line(struct lanes *lanes, uint32_t at);
/* Returns the first of the fastest, but one turn in four of the next slower, and so on. NONE:
 * nobody waits. */
uint32_t lane_first_in_line(struct lanes *lanes);

/* ---- lane_groups.c ---- */

void group_join(struct lanes *lanes, uint32_t at, uint64_t id);
void group_leave(struct lanes *lanes, uint32_t at);
/* Sends one parked lane back to the heap, if the group may admit it and has no scout there. */
void group_send_scout(struct lanes *lanes, uint32_t group);
/* Tells whether the group lets a lane out now; else the lane, which is in no list, is put where it
 * waits for its group. */
bool group_admits(struct lanes *lanes, uint32_t at, uint64_t now_ms);

#endif
