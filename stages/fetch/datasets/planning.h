/* A host's plan being made: private to plan_read.c, which reads the descriptions, and
 * plan_decide.c, which decides and puts what follows. */
#ifndef STAGES_FETCH_DATASETS_PLANNING_H
#define STAGES_FETCH_DATASETS_PLANNING_H

#include "datasets/claims.h"
#include "stages/fetch/datasets/dataset_tasks.h"

enum { DESCRIPTIONS_MAXIMUM = 64, EXECUTIONS_MAXIMUM = 1000, LINES_BYTES = 512 << 10 };
#define JOINED_PLAN PLAN_FRAGMENT "=joined"

/* A description that is being read: as a sitemap, then as RDF. */
struct reading {
    struct planning *planning;
    struct slice uri;
    struct document_record response, conversion; /* in the archive; file empty: none */
    bool rdf;
    struct description *description; /* NULL: it is none */
};

struct planning {
    struct task *task;
    struct arena arena;
    struct claims claims;
    struct slices sought; /* URIs of descriptions, then of those that join */
    size_t own;           /* how many are the host's own */
    size_t from;          /* the first of them that was asked for last */
    size_t waits;         /* of these have not come yet */
    bool away;            /* a node that has one of them archived does not answer */
    struct reading *readings;
    size_t reading_count, readings_left;
    struct slice well_known; /* where this host's VoID description is */
    bool joined;             /* the second look */
    bool again;              /* known dumps are asked for again */
    uint64_t foreign;        /* requests to others that were caused */
    struct execution *executions;
    struct slice *uris; /* of their jobs */
    size_t count;
    struct buf cover, authorities, datasets, words;
};

void planning_free(struct planning *planning);
/* The job comes back soon. */
void planning_wait(struct planning *planning, const char *reason);
/* With all descriptions at hand; ends the job. */
void planning_decide(struct planning *planning);
/* Returns whether another host may be asked one time more. */
bool planning_may_ask(struct planning *planning, struct slice uri);
/* Returns the type of the jobs of other hosts' plans that this plan puts. */
struct slice planning_type(const struct planning *planning);
/* The key by which the URI is asked for, url_crawl_key or dump_key; empty: it has none. */
typedef enum status planning_key_of(struct slice uri, struct slice base, struct buf *key,
                                    struct reason *why);
struct slice planning_key(struct planning *planning, planning_key_of *key_of, struct slice uri,
                          struct slice base);

#endif
