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

/* Leaves those of the quads, whose objects ascend, that have one of the objects from *at on;
 * returns how many, and moves *at to the first object that is not before the last quad's. */
size_t scan_pick_objects(const struct triple_count *objects, size_t count, size_t *at,
                         struct quad_oids *quads, size_t quad_count);

#endif
