/* One aggregate of one group: what came so far, and the value of it (section 18.5.1).
 *
 * A state can be written as words and added to another later, so that groups which memory has no
 * room for are put together from files.
 */
#ifndef INDEX_QUERY_OPERATORS_AGGREGATE_H
#define INDEX_QUERY_OPERATORS_AGGREGATE_H

#include "index/query/operators/operator.h"

struct accumulator {
    uint64_t count;
    bool error;
    bool has_sum;
    struct value sum; /* a number without a term */
    oid best;         /* MIN, MAX, SAMPLE */
    char *text;       /* GROUP_CONCAT */
    size_t length, room;
};

/* An error among the values is an error of the whole, but counting and sampling pass over it. */
void aggregate_error(const struct aggregate *aggregate, struct accumulator *accumulator);
/* One value more that comes `weight` times, or of an aggregate with a weight the sum of so many
 * values; that it is another one where the aggregate wants DISTINCT is the caller's care. */
enum status aggregate_add(struct run *run, const struct aggregate *aggregate,
                          struct accumulator *accumulator, oid id, uint64_t weight,
                          struct reason *why);
/* OID_NONE: an error. */
oid aggregate_result(struct run *run, const struct aggregate *aggregate,
                     const struct accumulator *accumulator);
void aggregate_release(struct run *run, struct accumulator *accumulator);

/* Words that aggregate_write needs. */
size_t aggregate_words(const struct accumulator *accumulator);
void aggregate_write(const struct accumulator *accumulator, uint64_t *words);
/* Adds what comes after the accumulator's own values. */
enum status aggregate_merge(struct run *run, const struct aggregate *aggregate,
                            struct accumulator *accumulator, const uint64_t *words,
                            struct reason *why);

#endif
