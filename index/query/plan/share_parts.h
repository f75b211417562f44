/* Parts of a query that several partitions evaluate each for itself.
 *
 * A graph lies whole in one partition; a triple may be in several. So of a node of the algebra the
 * solutions of all partitions together are, when each evaluates it over its own graphs:
 *
 *   BAG        the node's solutions, as often as they are: what is inside GRAPH ?g
 *   SET        the same once those that came twice are dropped: one pattern of the default graph
 *   DOUBLES    the right ones, but how often each came says nothing: good under DISTINCT
 *   CONSTANT   the solutions in each: VALUES, which no quads are asked for
 *   NOT        something else: a join of two patterns of the default graph, whose triples may lie
 *              apart; LIMIT; GRAPH <iri>; keyword searches; RAND and its like
 *
 * Above such a node come aggregates, of which each partition gives its part (share_parts), and the
 * first rows of ORDER BY or LIMIT, of which no partition need give more than are wanted.
 *
 * Both sides parse the same text, so that a node's number and the order of its variables mean the
 * same to both. */
#ifndef INDEX_QUERY_PLAN_SHARE_PARTS_H
#define INDEX_QUERY_PLAN_SHARE_PARTS_H

#include "index/query/algebra/algebra.h"
#include "index/query/memory/dictionary.h"

enum share_kind { SHARE_NOT, SHARE_CONSTANT, SHARE_DUPLICATES, SHARE_SET, SHARE_BAG };

enum share_kind share_kind_of(const struct query *query, const struct algebra *node);

/* A variable by whose nodes a part can be divided: evaluated by each partition for the nodes that
 * no other has at those places, it gives the solutions with these, as often as they are. */
struct share_split {
    uint32_t slot;
    enum key_places places;
};
/* False: there is none. Of a GROUP: its parts, for any keys. */
bool share_split_of(const struct query *query, const struct algebra *node,
                    struct share_split *split);
bool share_split_group(const struct query *query, const struct algebra *group,
                       struct share_split *split);
/* Tells whether the slot is one; the places become those that it needs. */
bool share_splits_by(const struct query *query, const struct algebra *node,
                     struct share_split *split);
/* Tells whether the node's own expressions mean the same in every partition. */
bool share_is_steady(const struct query *query, const struct algebra *node);
/* Tells whether the aggregate is one of the values, so that it does not matter how often these
 * come. */
bool share_chooses(const struct aggregate *aggregate);
/* Tells whether the patterns search for words. */
bool share_searches(const struct query *query, const struct algebra *node);

/* The number of a node, NUMBER_NONE for one that is not of the query's tree; and back, NULL. */
uint32_t share_number(const struct query *query, const struct algebra *node);
const struct algebra *share_node(const struct query *query, uint32_t number);

/* Tells how much of a GROUP partitions evaluate. */
enum share_grouping {
    SHARE_GROUP_NOT,
    SHARE_GROUP_PARTS, /* each gives a part of every aggregate */
    SHARE_GROUP_VALUES /* each gives the different values of keys and arguments */
};
enum share_grouping share_grouping_of(const struct query *query, const struct algebra *group);
/* Returns whether an ORDER's keys mean the same in every partition. */
bool share_orders(const struct query *query, const struct algebra *order);

/* The parts of a GROUP as a GROUP: the same keys, then one aggregate for each column of a part, in
 * hidden columns from `hidden` on; AVG has two, its sum and its count. Without keys and rows it has
 * no group. NULL: no memory. */
struct algebra *share_parts(struct arena *arena, const struct algebra *group, uint32_t hidden);
/* A GROUP that puts parts together. */
struct algebra *share_whole(struct arena *arena, const struct algebra *group, uint32_t hidden);

size_t share_columns(enum share_form form, const struct algebra *node, uint32_t hidden,
                     uint32_t *columns);
/* Hidden columns that a node's parts need. */
size_t share_hidden(const struct algebra *group);

/* ---- in a partition ---- */

/* Identifiers from OID_LOCAL on are the dictionary's; OID_NONE: unbound. */
struct share_sink {
    void *context;
    enum status (*row)(void *context, struct dictionary *dictionary, const oid *row, size_t columns,
                       struct reason *why);
    /* After the last row, while its identifiers still mean something. */
    enum status (*end)(void *context, struct dictionary *dictionary, struct reason *why);
};
/* PROTOCOL: the request does not fit the query. The dataset is options'. */
enum status share_run(const struct query *query, const struct quad_source *source,
                      const struct query_options *options, const struct share_request *request,
                      const struct share_sink *sink, struct reason *why);

#endif
