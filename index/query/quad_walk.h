/* Identifiers of a source's quads to their terms. */
#ifndef INDEX_QUERY_QUAD_WALK_H
#define INDEX_QUERY_QUAD_WALK_H

#include "index/quad_source.h"

/* The terms live in the arena. */
enum status quad_resolve(const struct quad_source *source, const struct quad_oids *ids,
                         struct arena *arena, struct quad *quad, struct reason *why);

/* Every quad that matches, in the order asked for (ORDER_COUNT: any), its terms living until the
 * sink returns. STATUS_END from the sink ends the walk with OK. */
enum status quad_walk(const struct quad_source *source, const struct quad_oids *pattern,
                      enum quad_order order, const struct quad_sink *sink, struct reason *why);

#endif
