/* One query on two processors: a pipeline that begins with a long scan, or with many values that
 * the source has counted, is run once for each range of these, some by the run's own thread and
 * some by one that helps (query_helper), which has a run, a plan and a source of its own.
 *
 * What each range gives is kept and handed on in the order of the ranges. So the rows and their
 * order are the same whether somebody helps or not. The first range is always the own thread's:
 * then it is known how long the others take, and a short query asks nobody. Who helps takes
 * nothing but time: where the thread is wanted elsewhere, or anything fails, its range is evaluated
 * by the own thread, which comes upon the failure itself if it is one.
 *
 *   whole of aggregates, ORDER BY, LIMIT  <-  ranges  <-  parts of aggregates, first rows  <-  scan
 */
#ifndef INDEX_QUERY_OPERATORS_RANGES_H
#define INDEX_QUERY_OPERATORS_RANGES_H

#include <pthread.h>

#include "index/query/operators/operator.h"

/* What is evaluated for each range, from which a helping run makes the same pipeline. */
struct ranges_spec {
    const struct algebra *node;
    enum share_form form;
    uint64_t most;   /* rows that are wanted of each range; UINT64_MAX: all */
    uint64_t enough; /* and of the first ranges together */
    size_t most_cuts;
    struct quad_cuts cuts; /* of a scan; those of counts are made when these are known */
    struct operator* root, *first;
    bool counts;             /* it begins with counts, else with a scan */
    const uint32_t *columns; /* of the rows that are kept */
    size_t count;
};

struct ranges;
enum { TABLES_MOST = 16 };

/* One who helps, from the asking to the end of the run. */
struct helping {
    struct ranges *ranges;
    struct run *run; /* its own; closed last, since kept rows have its terms */
    struct query_options options;
    atomic_bool stop;
    /* Tables of joins that were made when help was asked for: NULL, or the join, each in its place
     * of those of the pipeline. */
    const struct operator* lent[TABLES_MOST];
    size_t memory; /* taken from the run that is helped */
};

struct operator* ranges_new(struct run *run, const struct ranges_spec *spec, size_t batch_rows);

/* For who helps: the run that is helped, which may be read but for what changes as it goes on. */
const struct run *ranges_run(const struct ranges *ranges);
const struct ranges_spec *ranges_spec_of(const struct ranges *ranges);
/* Evaluates ranges with a pipeline of its own run until none is left, something fails or it is to
 * stop. */
void ranges_help(struct helping *helping, const struct ranges_spec *own);

#endif
