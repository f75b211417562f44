/* Where fetching pays: which URIs of a host go first, and which hosts.
 *
 * Three things are known: how many new quads a fetch brought, by host and by pattern of URIs, as
 * the index tells (JOB_YIELD); how many registrable domains link to a URI; and how much was
 * fetched of a registrable domain of late. Nothing is ever dropped for what is known here: it
 * changes who goes first. ORDER.md, "Worth".
 */
#ifndef QUEUE_WORTH_H
#define QUEUE_WORTH_H

#include "queue/frontier.h"
#include "queue/job.h"
#include "queue/store_batch.h"

/* Lanes are of one of these speeds; each waits until the one before is empty, but for one turn in
 * four. */
enum { WORTH_SPEEDS = 4 };

struct worth;

/* budget: fetches of a registrable domain in a period; 0: no limit. */
struct worth *worth_new(uint64_t budget, uint64_t period_ms);
void worth_free(struct worth *worth);

/* A document was fetched, and the index did not have so many of its quads. */
void worth_yielded(struct worth *worth, struct slice uri, uint64_t quads);
/* About how many domains: `domains` has a bit for each, by its fingerprint. */
unsigned worth_linking(uint16_t domains);
/* The bit of the registrable domain that links to `uri`; 0: it is the same, or none. */
uint16_t worth_link(struct worth *worth, struct slice uri, struct slice via);
/* Place in its class of its lane, RANK_USUAL - 255, for a job of priority RANK_USUAL or more.
 * linking: about how many registrable domains link to it. */
uint8_t worth_rank(const struct worth *worth, const struct job *job, unsigned linking);
/* The parts that a rank is the sum of, beside RANK_USUAL + 48, and the rank before it is rounded
 * and bounded. Means are of log2(1 + new quads) of each fetch. */
struct worth_parts {
    double depth_cost, links_gain, yield_gain, rank;
    double mean_all, mean_host, mean_pattern;
    uint32_t fetches_host, fetches_pattern;
};
struct worth_parts worth_parts(const struct worth *worth, const struct job *job, unsigned linking);
/* A fetch of the URI goes out. */
void worth_spend(struct worth *worth, struct slice uri, uint64_t now_ms);
/* Returns the speed of the lane that has the URI, 0 to WORTH_SPEEDS - 1; lanes of a smaller number
 * go sooner. */
uint8_t worth_speed(struct worth *worth, struct slice uri, uint64_t now_ms);

/* Returns what a speed is decided by: the fetches of the registrable domain that count against its
 * budget, and whether the host brings little. */
double worth_level(struct worth *worth, struct slice uri, uint64_t now_ms);
bool worth_is_poor(const struct worth *worth, struct slice uri);

/* Writes what changed into the batch, a little at a time, or all of it. */
void worth_write(struct worth *worth, struct store_batch *batch, bool all);
enum status worth_load(struct worth *worth, struct frontier *frontier, struct reason *why);

/* Host and path with what numbers pages left out, names of parameters: in `out`. */
void worth_pattern(struct slice uri, struct buf *out);

#endif
