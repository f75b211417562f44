/* Where fetching pays: which URIs of a host go first, and which hosts.
 *
 * Three things are known: how many new quads a fetch brought, by host and by pattern of URIs, as
 * the index tells (JOB_YIELD); how many registrable domains link to a URI; and how much was
 * fetched of a registrable domain of late. Nothing is ever dropped for what is known here: it
 * changes who goes first. ORDER.md, "Worth".
 */
#ifndef QUEUE_FRONTIER_PRIORITY_H
#define QUEUE_FRONTIER_PRIORITY_H

#include "queue/client/job.h"
#include "queue/storage/frontier_engine.h"
#include "queue/storage/store_batch.h"

/* Lanes are of one of these speeds; each waits until the one before is empty, but for one turn in
 * four. */
enum { PRIORITY_SPEEDS = 4 };

struct priorities;

/* budget: fetches of a registrable domain in a period; 0: no limit. */
struct priorities *priority_new(uint64_t budget, uint64_t period_ms);
void priority_free(struct priorities *priorities);

/* A document was fetched, and the index did not have so many of its quads. */
void priority_yielded(struct priorities *priorities, struct slice uri, uint64_t quads);
/* About how many domains: `domains` has a bit for each, by its fingerprint. */
unsigned priority_linking(uint16_t domains);
/* The bit of the registrable domain that links to `uri`; 0: it is the same, or none. */
uint16_t priority_link(struct priorities *priorities, struct slice uri, struct slice via);
/* Place in its class of its lane, RANK_USUAL - 255, for a job of priority RANK_USUAL or more.
 * linking: about how many registrable domains link to it. */
uint8_t priority_rank(const struct priorities *priorities, const struct job *job, unsigned linking);
/* The parts that a rank is the sum of, beside RANK_USUAL + 48, and the rank before it is rounded
 * and bounded. Means are of log2(1 + new quads) of each fetch. */
struct priority_parts {
    double depth_cost, links_gain, yield_gain, rank;
    double mean_all, mean_host, mean_pattern;
    uint32_t fetches_host, fetches_pattern;
};
struct priority_parts priority_parts(const struct priorities *priorities, const struct job *job,
                                     unsigned linking);
/* A fetch of the URI goes out. */
void priority_spend(struct priorities *priorities, struct slice uri, uint64_t now_ms);
/* Returns the speed of the lane that has the URI, 0 to PRIORITY_SPEEDS - 1; lanes of a smaller
 * number go sooner. */
uint8_t priority_speed(struct priorities *priorities, struct slice uri, uint64_t now_ms);

/* Returns what a speed is decided by: the fetches of the registrable domain that count against its
 * budget, and whether the host brings little. */
double priority_level(struct priorities *priorities, struct slice uri, uint64_t now_ms);
bool priority_is_poor(const struct priorities *priorities, struct slice uri);

/* Writes what changed into the batch, a little at a time, or all of it. */
void priority_write(struct priorities *priorities, struct store_batch *batch, bool all);
enum status priority_load(struct priorities *priorities, struct frontier *frontier,
                          struct reason *why);

/* Host and path with what numbers pages left out, names of parameters: in `out`. */
void priority_pattern(struct slice uri, struct buf *out);

#endif
