/* The lanes of fetch: who may go next. Politeness lives here.
 *
 * A lane is in memory while jobs may wait in it or its due time lies ahead; about 60 bytes.
 * Whether a lane really has a job only the store knows: lanes_next() gives a lane that is due,
 * and the caller says what came of it.
 *
 *   WAITING by speed and arrival     lanes_wake, lanes_rest after lanes_end_turn
 *   IDLE in the heap, by due time    lanes_rest, lanes_return
 *     -> BUSY                        lanes_next: a job of the lane is out; several, when the
 *                                    lane is eased: lanes_more
 *     -> PARKED in its group's list  while the group has its fill; it comes back when that ends
 *   forgotten                        lanes_forget: it was due and had no job
 *
 * A lane whose turn has begun goes on until its turn is over, whenever it is due; others begin only
 * when no such lane is due. So as few lanes as keep everybody busy have their next jobs in memory
 * (queue/frontier/upcoming_jobs.h), and millions wait for 32 bytes and a slot in the map each.
 *
 * Invariant of groups: while lanes are parked, either a lane of the group is BUSY, or exactly
 * one (the group's scout) is in the heap for it; so parking never loses a lane, and a group of
 * a hundred thousand hosts costs one heap operation per fetch.
 */
#ifndef QUEUE_POLITENESS_LANES_H
#define QUEUE_POLITENESS_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lanes;

enum { LANES_SPEEDS = 4, LANES_BURST_MOST = 63 };

/* parallel 0: groups have no limit. burst: most jobs of an eased lane that are out,
 * at most LANES_BURST_MOST. */
struct lanes *lanes_new(uint32_t parallel, uint64_t group_delay_ms, uint32_t burst);
void lanes_free(struct lanes *lanes);

/* A job waits in the lane. New lanes are due at once. */
void lanes_wake(struct lanes *lanes, uint64_t lane);
/* Gives a lane the due time and the group that are stored of it; both are 0 when nothing is stored.
 */
void lanes_restore(struct lanes *lanes, uint64_t lane, uint64_t due_ms, uint64_t group);
/* A lane that is due and whose group has room is BUSY now. Not *known: what is stored of it has
 * not been read since it is in memory: call lanes_restore, then lanes_return. */
bool lanes_next(struct lanes *lanes, uint64_t now_ms, uint64_t *lane, bool *known);
/* Returns whether another job of the BUSY lane may go out with those that are; it counts as out
 * then. */
bool lanes_more(struct lanes *lanes, uint64_t lane);
/* It did not. */
void lanes_no_more(struct lanes *lanes, uint64_t lane);
/* The host asks for no rest between requests, as far as is known. */
void lanes_set_eased(struct lanes *lanes, uint64_t lane, bool eased);
/* BUSY without having been asked for: a worker says it holds a job of it. False: it is BUSY, with
 * as many jobs as may be out. */
bool lanes_take(struct lanes *lanes, uint64_t lane);
/* A job ended or went back; when it was the last one that was out, BUSY no more. Due at due_ms,
 * never earlier than before. group 0: as before. Nothing when it is not BUSY. */
void lanes_rest(struct lanes *lanes, uint64_t lane, uint64_t due_ms, uint64_t group);
/* Not before due_ms, whatever its state. */
void lanes_postpone(struct lanes *lanes, uint64_t lane, uint64_t due_ms);
/* At due_ms at the latest, whatever it was told before. */
void lanes_hasten(struct lanes *lanes, uint64_t lane, uint64_t due_ms);
/* It was not used: as it was before lanes_next. */
void lanes_return(struct lanes *lanes, uint64_t lane);
/* BUSY now; when it ends, those that wait go before it. */
void lanes_end_turn(struct lanes *lanes, uint64_t lane);
/* It had no job. */
void lanes_forget(struct lanes *lanes, uint64_t lane);

/* Sets how many of 256 jobs are those of sitemaps while both kinds wait; 0 means half of them. Does
 * nothing when the lane is not in memory. */
void lanes_set_share(struct lanes *lanes, uint64_t lane, uint8_t share);
uint8_t lanes_share(const struct lanes *lanes, uint64_t lane);
/* The host has answered, at any time; so it is stored. Nothing when the lane is not in memory. */
void lanes_set_answered(struct lanes *lanes, uint64_t lane);
bool lanes_answered(const struct lanes *lanes, uint64_t lane);
/* Tells whether jobs of sitemaps may wait in it; so it is with a lane that was just restored. */
void lanes_set_listed(struct lanes *lanes, uint64_t lane, bool listed);
bool lanes_listed(const struct lanes *lanes, uint64_t lane);
/* 0, the usual one, to LANES_SPEEDS - 1: of the lanes that wait for their turn each speed goes when
 * none of a smaller one waits, and in one turn of four. Nothing when the lane is not in memory. */
void lanes_set_speed(struct lanes *lanes, uint64_t lane, uint8_t speed);
/* Returns whether the next job is to be a sitemap's; each call counts as a job. */
bool lanes_turn(struct lanes *lanes, uint64_t lane);

/* The place of a lane, for people. */
enum lane_place { LANE_NOT_HERE, LANE_RESTS, LANE_WAITS, LANE_OUT, LANE_WAITS_FOR_GROUP };
struct lane_view {
    enum lane_place place;
    uint64_t due_ms, group;
    unsigned out;
    uint8_t speed, share;
    bool listed, eased;
};
struct lane_view lanes_view(const struct lanes *lanes, uint64_t lane);

uint64_t lanes_group(const struct lanes *lanes, uint64_t lane); /* 0: none or not known */
uint64_t lanes_due(const struct lanes *lanes); /* of the next one; UINT64_MAX: none */
size_t lanes_count(const struct lanes *lanes);
size_t lanes_busy(const struct lanes *lanes);

#endif
