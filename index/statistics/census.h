/* The census is what a batch does to the statistics, gathered subject by subject before anything is
 * written: for each set of predicates the difference of its subjects and rows, for each predicate
 * that of the subjects that have it, and for each host those of documents and quads. Also used to
 * count a whole index anew. Memory: at most in proportion to the rows that were shown. */
#ifndef INDEX_STATISTICS_CENSUS_H
#define INDEX_STATISTICS_CENSUS_H

#include "index/quads/change_set.h"
#include "index/statistics/predicate_sets.h"
#include "index/terms/term_set.h"

struct host_count {
    int64_t documents, quads;
};

struct predicate_counts {
    oid *predicates; /* ascending, each with its rows */
    int64_t *rows;
    size_t count, capacity;
};

struct census {
    struct predicate_sets sets;
    struct predicate_sets predicates; /* sets of one: only their subjects count */
    struct term_set hosts;            /* as IRIs */
    struct host_count *host_counts;   /* by index in hosts */
    size_t host_capacity;
    struct slice last_uri; /* its host is last_host */
    uint32_t last_host;
    struct predicate_counts old, new; /* of the subject at hand */
};

void census_init(struct census *census);
void census_release(struct census *census);

/* A subject of one graph: its rows as they were, in the order CSPO, and all changes to them. */
void census_subject(struct census *census, const struct row *old, size_t old_count,
                    const struct quad_change *changes, size_t count);
/* After the last subject: brings `predicates` up from `sets`. Once. */
void census_finish(struct census *census);
/* A document of that URI, which lives as long as the census: differences. */
void census_document(struct census *census, struct slice uri, int64_t documents, int64_t quads);

enum { HOST_MAXIMUM = 180 };

#endif
