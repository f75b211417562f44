/* Decides which way to a dataset costs its publisher least: docs/DATASETS.md, "The plan". No I/O:
 * what was found out by asking stands in the accesses' facts. */
#ifndef DATASETS_DATASET_PLAN_H
#define DATASETS_DATASET_PLAN_H

#include "datasets/description.h"

enum plan_way { WAY_DUMP, WAY_ENDPOINT, WAY_LINKED_DATA, WAY_SAMPLES, WAY_COUNT };
const char *plan_way_name(enum plan_way way); /* "dump", "endpoint", "linked data", "samples" */

/* Estimated. possible: it can be gone; why not otherwise. */
struct way_cost {
    bool possible, whole; /* whole: it gives all of the dataset */
    uint64_t requests, bytes;
    bool bytes_known; /* else they were guessed */
    struct slice why;
};

struct dataset_plan {
    const struct dataset *dataset;
    enum plan_way way; /* WAY_COUNT: none can be gone */
    struct way_cost costs[WAY_COUNT];
    struct slice why; /* for people: why this way */
};

struct plan_assumptions {
    uint64_t request_bytes;  /* what a request costs a server, in bytes sent */
    uint64_t page_triples;   /* asked of an endpoint at a time */
    uint64_t triple_bytes;   /* of an endpoint's answer */
    uint64_t query_factor;   /* an endpoint's page costs so many requests */
    uint64_t document_bytes; /* of a document that nobody has seen yet */
    uint64_t document_triples;
    uint64_t dataset_triples; /* of one of which nothing is known */
    uint64_t samples;         /* fetched beside a dump, to prove it */
    uint64_t now_ms;          /* wall time */
    enum plan_way prefer;     /* gone if it can be; WAY_COUNT: none */
};
void plan_assumptions_default(struct plan_assumptions *assumptions);
/* Reads a word of datasets.prefer; any other word prefers nothing. */
void plan_prefer(struct plan_assumptions *assumptions, const char *word);

/* Texts lie in the arena. */
void plan_dataset(const struct dataset *dataset, const struct plan_assumptions *assumptions,
                  struct arena *arena, struct dataset_plan *plan);

#endif
