/* A source that counts what a test says, for operators that stand on such counts. */
#ifndef TESTS_UNIT_QUERY_OPERATORS_COUNTING_SOURCE_H
#define TESTS_UNIT_QUERY_OPERATORS_COUNTING_SOURCE_H

#include "tests/unit/query_operators/operator_stand.h"

enum { WIDTH = 6, WEIGHT = 5, MEMORY = 1 << 20, LIST_MOST = 4096 };

extern struct counting {
    struct triple_count lists[2][LIST_MOST]; /* of :p, and of others */
    size_t counts[2];
    oid first; /* the predicate that the first list is of */
    enum status status;
    unsigned asked, released;
    struct count_request request; /* the last one */
} counted;

/* A stand of WIDTH columns whose query has the patterns ?s :p ?o and ?x :q ?y; the data has five
 * triples of :p. */
void open_counted(struct stand *stand, size_t memory);
void counted_add(int which, oid value, uint64_t number);
const struct pattern *counted_pattern(const struct stand *stand, size_t number);

/* A scan of the first or second pattern, and counts in its place. */
struct operator* counted_scan(struct stand *stand, size_t number, struct operator* input);
struct counts_spec usual_counts(const struct stand *stand, size_t number);
struct operator* counts_over(struct stand *stand, const struct counts_spec *spec,
                             struct operator* input, size_t batch_rows);

#endif
