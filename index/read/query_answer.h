/* The answer to a query as text, over any source: what a partition's service sends for its own
 * quads, and what a client makes of several partitions. */
#ifndef INDEX_READ_QUERY_ANSWER_H
#define INDEX_READ_QUERY_ANSWER_H

#include "index/protocol/answer.h"
#include "index/quad_source.h"
#include "index/query/query.h"
#include "metastore/metastore_client.h"

/* Evaluates, or explains, and hands the text on. metastore: for q:provenance; NULL: none. */
enum status answer_query(const struct quad_source *source,
                         const struct metastore_client_options *metastore, struct slice sparql,
                         struct slice format, const struct query_options *options,
                         enum index_answer answer, index_piece *piece, void *context,
                         struct reason *why);

/* The pattern's places as identifiers; *possible is false when one is a term that is not stored. */
enum status answer_pattern(const struct quad_source *source, const struct quad *pattern,
                           struct quad_oids *ids, bool *possible, struct reason *why);

#endif
