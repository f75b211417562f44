/* DESCRIBE: the concise bounded description of each resource, that is its triples as subject, and
 * those of the blank nodes among their objects, and so on.
 * Source: https://www.w3.org/Submission/CBD/ (without reification).
 */
#ifndef INDEX_QUERY_RUN_DESCRIBE_H
#define INDEX_QUERY_RUN_DESCRIBE_H

#include "index/query/operators/operator.h"

enum status describe(struct run *run, struct operator* root, const struct query_sink *sink,
                     struct reason *why);

#endif
