/* Quads of identifiers back to terms and canonical lines, for all who write quads out. */
#ifndef INDEX_READ_QUAD_TEXT_H
#define INDEX_READ_QUAD_TEXT_H

#include "base/buf.h"
#include "index/query/quad_walk.h"

/* Calls line for each quad that matches, as a canonical line in the order of the scan. limit 0:
 * all. STATUS_END from line ends the walk with OK. */
typedef enum status quad_line(void *context, struct slice line, struct reason *why);
enum status quad_lines(const struct quad_source *source, const struct quad_oids *pattern,
                       enum quad_order order, uint64_t limit, quad_line *line, void *context,
                       struct reason *why);

#endif
