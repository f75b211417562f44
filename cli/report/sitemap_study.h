/* Measures what the sitemaps of a host are worth: coverage, uniqueness, signal to noise, who saw
 * first. Source: Schonfeld and Shivakumar, Sitemaps: Above and Beyond the Crawl of Duty (WWW 2009),
 * sections 5.1 and 5.2, equations (1) to (6); docs/SITEMAPS.md. Facts come URL by URL, in any
 * order; numbers only, no I/O.
 *
 * Memory is bounded: of more than `most` URLs those are kept whose fingerprint ends in zero bits,
 * more and more of them, so that what is kept is a fair sample. One thread. */
#ifndef CLI_REPORT_SITEMAP_STUDY_H
#define CLI_REPORT_SITEMAP_STUDY_H

#include "base/map.h"
#include "datasets/sitemap_score.h"
#include "rdf/canonical/minhash.h"

enum { STUDY_MOST = 1000000 };

struct study_url {
    uint64_t fingerprint;
    uint64_t sitemap_ms, link_ms; /* first seen; 0: never */
    bool crawled, indexed, sketched;
    struct minhash minhash;
    uint8_t stated;                  /* priority in percent */
    uint32_t cluster;                /* the least of its near duplicates; after study_measure */
    double page_rank, priority_rank; /* after study_rank */
};

struct study {
    struct study_url *urls;
    size_t count, capacity, most;
    unsigned dropped_bits; /* of fingerprints: so many zeros at the end are kept */
    struct map by_fingerprint;
    struct rank_edge *edges;
    size_t edge_count, edge_capacity;
    uint64_t root; /* fingerprint of the host's root */
};

/* A number of URLs, and how many of them sitemaps list, links led to, and both. */
struct study_count {
    uint64_t all, listed, linked, both;
};

struct study_measures {
    struct study_count seen, crawled, indexed, unique; /* unique: clusters */
    /* (1) to (5), -1 where nothing is to be divided by */
    double coverage, unique_coverage, index_coverage, page_rank_coverage;
    double signal_to_noise, signal_to_noise_listed, signal_to_noise_linked;
    /* (6), in seconds, over URLs seen by both; positive: sitemaps saw first */
    double delta_sum, delta_mean, delta_median;
    uint64_t sitemaps_first, links_first;
};

void study_init(struct study *study, size_t most, uint64_t root);
void study_release(struct study *study);
/* The URL's place, made when it is new. NULL: it is not in the sample. Valid until the next call.
 */
struct study_url *study_url(struct study *study, uint64_t fingerprint);
/* A link between two URLs that are in the sample; else nothing. After all URLs. */
void study_link(struct study *study, uint64_t from, uint64_t to);
/* PageRank, and PriorityRank: with the sitemaps as one page to which the root links, and which
 * links to all that is listed by priority. */
void study_rank(struct study *study);
void study_measure(struct study *study, bool ranked, struct study_measures *measures);

#endif
