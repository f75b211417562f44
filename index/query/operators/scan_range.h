/* In which order a scan reads, and how its rows are cut into ranges, so that several threads read
 * some each. */
#ifndef INDEX_QUERY_OPERATORS_SCAN_RANGE_H
#define INDEX_QUERY_OPERATORS_SCAN_RANGE_H

#include "index/query/operators/duplicates.h"

/* The order of the scan, what is read instead of the pattern, and how triples come that several
 * graphs have. */
enum duplicates_kind scan_order(const struct scan_spec *spec, struct quad_oids *pattern,
                                enum quad_order *order);
/* Leaves what is in the range of a scan that was opened for the pattern. */
void scan_keep_range(const struct quad_source *source, struct quad_scan *open,
                     const struct quad_oids *pattern, const struct scan_range *range);

#endif
