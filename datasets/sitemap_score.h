/* The formulas of docs/SITEMAPS.md: what is worth fetching first, and from which of two queues.
 * Source: Schonfeld and Shivakumar, Sitemaps: Above and Beyond the Crawl of Duty (WWW 2009),
 * section 6.2. Numbers only. */
#ifndef DATASETS_SITEMAP_SCORE_H
#define DATASETS_SITEMAP_SCORE_H

#include <stddef.h>
#include <stdint.h>

/* ---- PageRank and PriorityRank ---- */

struct rank_edge {
    uint32_t from, to;
    double weight; /* greater than 0; of a node's edges in proportion to each other */
};

/* PageRank of n nodes, which sum up to 1: ranks[u] = (1 - d) / n + d times what flows to it. What
 * dangles gives to all alike. Ends when the sum of changes is below 1e-10, or after 200 rounds. */
void rank_pages(const struct rank_edge *edges, size_t edge_count, size_t n, double damping,
                double *ranks);

/* ---- the two queues of a host, Figure 8 ---- */

struct queue_balance {
    unsigned total;    /* fetches of an epoch: sitemaps + links */
    unsigned step;     /* delta: so many are sampled, and moved */
    unsigned sitemaps; /* kS */
    unsigned links;    /* kD */
};

/* total: at least 4. The step is a tenth of it, 1 at least. */
void queue_balance_init(struct queue_balance *balance, unsigned total);
/* Moves a step to where the utility (0..1) is greater; when equal to sitemaps, as the Figure has
 * it. Each keeps a step. */
void queue_balance_adjust(struct queue_balance *balance, double sitemaps, double links);
/* kS as a share in 256ths, 1 to 255. */
uint8_t queue_balance_share(const struct queue_balance *balance);
void queue_balance_set_share(struct queue_balance *balance, uint8_t share);

/* ---- what a host may submit ---- */

/* budget times the expected share of useful ones, after so many of its earlier ones. */
uint64_t submission_allowance(uint64_t budget, uint64_t sampled, uint64_t useful);

/* ---- order in the queue ---- */

enum { LISTED_PRIORITY = 128, LISTED_STEPS = 64, SUBMISSION_PRIORITY = 240 };
/* Returns the priority of a job whose SitemapScore is 0 to 1: the greater the score, the sooner the
 * job. */
uint8_t listed_priority(double score);

#endif
