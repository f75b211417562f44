/* A pipeline that is run once for each range of a scan, by the run's own thread and by who helps,
 * which all are told by a test. */
#ifndef TESTS_UNIT_QUERY_OPERATORS_RANGES_STAND_H
#define TESTS_UNIT_QUERY_OPERATORS_RANGES_STAND_H

#include <pthread.h>
#include <semaphore.h>

#include "index/query/operators/ranges.h"
#include "tests/unit/query_operators/operator_stand.h"

enum { WIDTH = 4, RANGES_MOST = 12, COLUMNS = 2 };

/* What pipelines do, whoever runs them. A row has 1 and the beginning of its range in column 1, and
 * its number within the range in column 3. */
extern struct ranges_bed {
    size_t ranges;
    size_t rows[RANGES_MOST]; /* of each range */
    unsigned runs[RANGES_MOST], own[RANGES_MOST], whole;
    unsigned ranged, calls;      /* pipelines that were run for a range; all calls of them */
    oid local;                   /* of the other run: what stands in place of 7 */
    size_t fail_own, fail_other; /* the range whose evaluation fails; RANGES_MOST: none */
    size_t stuck; /* where who helps beside waits until it is to stop; all others are then
                   * the own thread's */
    sem_t is_stuck, goes_on;
    struct operator* other;
    uint64_t us[RANGES_MOST], used_us[RANGES_MOST]; /* that ranges take, for wrapped clocks */
    uint64_t clock_us, clock_used_us;
} bed;

struct helper {
    struct stand *stand;
    struct stand *other; /* its run */
    struct ranges_spec own;
    bool free, comes; /* comes: when it is asked; else it is not to be had */
    bool stops;       /* stops before the first range */
    bool beside;      /* is another thread */
    bool wanted;
    unsigned asked_free, begun, ended, helped, closed;
    size_t memory;
    pthread_t thread;
    query_help *help;
    void *argument;
    struct query_options options; /* it was given */
};

struct opened {
    struct stand stand, other;
    struct helper helper;
    struct query_helper asked;
    struct operator* ranges;
};

/* So many ranges, each with about 100 rows but the third one, which has none. memory: as in
 * stand_open. */
void open_ranges(struct opened *opened, size_t ranges, size_t memory, uint64_t enough, bool helped);
void close_ranges(struct opened *opened);
/* The rows of the first ranges, in their order, and no others. */
void check_rows(struct opened *opened, size_t ranges);

#endif
