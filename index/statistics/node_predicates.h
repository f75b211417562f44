/* Which predicates a node has as a subject, or as an object, and in how many different triples
 * each, over all graphs together: what is asked for whole classes again and again, where reading
 * their triples takes far longer than adding up such lists. A query that has read a node's triples
 * keeps the list; others find it until the index changes.
 *
 * For any thread. When the room is used up all are forgotten, since those that are asked for are
 * soon there again. */
#ifndef INDEX_STATISTICS_NODE_PREDICATES_H
#define INDEX_STATISTICS_NODE_PREDICATES_H

#include "index/quad_source.h"

struct node_predicates;
/* bytes: how much memory it takes at most. */
struct node_predicates *node_predicates_new(size_t bytes);
void node_predicates_free(struct node_predicates *kept); /* NULL is allowed */

/* Do what quad_source.recall_predicates and keep_predicates say; versions of the index grow. */
size_t node_predicates_recall(struct node_predicates *kept, uint64_t version,
                              struct predicate_recall *recall);
void node_predicates_keep(struct node_predicates *kept, uint64_t version, enum triple_place place,
                          oid node, const struct triple_count *counts, size_t count);

#endif
