/* Keeps lists of what nodes have as subjects, or as objects, over all graphs together: their
 * predicates, with how many different triples each, or what one predicate leads to (struct
 * node_listing). It is asked for whole classes again and again, where reading their triples takes
 * far longer than going through such lists. A query that has read a node's triples keeps the list;
 * others find it until the index changes.
 *
 * For any thread. When the room is used up, or there are too many listings, all are forgotten,
 * since those that are asked for are soon there again. */
#ifndef INDEX_STATISTICS_NODE_LISTS_H
#define INDEX_STATISTICS_NODE_LISTS_H

#include "index/quad_source.h"

struct node_lists;
/* bytes: how much memory it takes at most. */
struct node_lists *node_lists_new(size_t bytes);
void node_lists_free(struct node_lists *kept); /* NULL is allowed */

/* Do what quad_source.recall_lists and keep_list say; versions of the index grow. */
size_t node_lists_recall(struct node_lists *kept, uint64_t version, struct list_recall *recall);
void node_lists_keep(struct node_lists *kept, uint64_t version, const struct node_listing *listing,
                     oid node, const struct triple_count *counts, size_t count);

#endif
