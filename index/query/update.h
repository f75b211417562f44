/* SPARQL 1.1 Update over any store that can be scanned and changed.
 * Source: https://www.w3.org/TR/sparql11-update/.
 *
 *   update_prepare(&update, text, base, why)      text -> operations, errors with line and column
 *   update_run(update, &target, &options, &report, why)
 *   update_free(update)
 *
 * Operations run in order, each sees what those before it did. An operation's effect reaches the
 * target in one call; when an operation fails, those before it stay done and those after it do not
 * begin (SILENT ones do not fail).
 *
 * The default graph. A store of documents has none of its own: a query without FROM sees the
 * union of all graphs. So, unless options->query.default_graph names the one graph that is the
 * default: what is inserted without a graph goes to UPDATE_DEFAULT_GRAPH, and what is deleted
 * without a graph is deleted from every graph that has it. DEFAULT in CLEAR, DROP, ADD, MOVE and
 * COPY is that one graph.
 *
 * A graph without quads does not exist: CREATE of a graph that has quads fails, of another does
 * nothing; CLEAR and DROP are the same and need no graph to be there.
 */
#ifndef INDEX_QUERY_UPDATE_H
#define INDEX_QUERY_UPDATE_H

#include "index/query/query.h"
#include "rdf/core/graph.h"

#define UPDATE_DEFAULT_GRAPH "urn:x-quadrille:default"

enum {
    UPDATE_TEXT_MAXIMUM = 16 << 20, /* bytes of an update */
    UPDATE_OPERATIONS_MAXIMUM = 10000
};

struct update;

/* Parses and checks an update, as query_prepare does a query. */
enum status update_prepare(struct update **update, struct slice text, struct slice base,
                           struct reason *why);
void update_free(struct update *update); /* NULL is allowed */

/* The graphs that an update changes, by functions. */
struct update_target {
    void *context;
    /* The present state, which `change` and `clear` calls before this one made. It lives until the
     * next call of any of these functions. */
    enum status (*source)(void *context, const struct quad_source **source, struct reason *why);
    /* Removes and adds quads at once; a quad in both is added. Removing what is not there and
     * adding what is there does nothing. All quads have a graph. */
    enum status (*change)(void *context, const struct graph *removed, const struct graph *added,
                          struct reason *why);
    /* Removes the one graph; empty: all graphs except the one in `except`, which may be empty. */
    enum status (*clear)(void *context, struct slice graph, struct slice except,
                         struct reason *why);
    /* LOAD: document into graph (empty: the graph of the document's own IRI). May be NULL:
     * UNSUPPORTED. OK may mean that it will be there later. */
    enum status (*load)(void *context, struct slice document, struct slice graph,
                        struct reason *why);
};

struct update_options {
    struct query_options query; /* of WHERE; memory also bounds each set of changes */
    /* Starts the labels of new blank nodes; must not repeat between runs on one target. Letters and
     * digits. */
    struct slice blank_prefix;
};

struct update_report {
    size_t operations;       /* done */
    uint64_t removed, added; /* quads handed to `change`, also those that changed nothing */
};

/* report may be NULL; it is filled on failure, too. A dataset in options->query is that of every
 * WHERE; BAD_INPUT when an operation says USING or WITH besides (SPARQL 1.1 Protocol, 2.2.3). */
enum status update_run(const struct update *update, const struct update_target *target,
                       const struct update_options *options, struct update_report *report,
                       struct reason *why);

#endif
