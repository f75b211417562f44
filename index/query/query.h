/* SPARQL 1.1 Query over any quad_source.
 * Source: https://www.w3.org/TR/sparql11-query/ (grammar of section 19, algebra of section 18).
 *
 *   query_prepare(&query, text, base, why)    text -> algebra, errors with line and column
 *   query_run(query, source, &options, &sink, &report, why)
 *   query_free(query)
 *
 * A prepared query is immutable: it may be run many times, over any source, by any thread.
 * A run plans (estimates come from the source), evaluates with pulled batches of identifiers,
 * and hands terms to the sink only for what is answered. One run belongs to one thread.
 *
 * Text search: the magic properties QUERY_MATCHES and QUERY_SCORE (prefix q: needs no
 * declaration). `?literal q:matches "words"` binds ?literal to the literals that the source's
 * keyword search finds; `?literal q:score ?score` in the same group binds its score.
 */
#ifndef INDEX_QUERY_QUERY_H
#define INDEX_QUERY_QUERY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"
#include "index/quad_source.h"
#include "rdf/core/term.h"

#define QUERY_NAMESPACE "urn:x-quadrille:query#"
#define QUERY_MATCHES QUERY_NAMESPACE "matches"
#define QUERY_SCORE QUERY_NAMESPACE "score"
/* The graph of what is known of documents (index/read/provenance.h). */
#define QUERY_PROVENANCE QUERY_NAMESPACE "provenance"
/* The graph of who is the same as whom (identity/identity_graph.h), and the stored one of what an
 * operator has decided about that. */
#define QUERY_IDENTITY QUERY_NAMESPACE "identity"
#define QUERY_DECISIONS QUERY_NAMESPACE "decisions"

enum { QUERY_TEXT_MAXIMUM = 1 << 20 }; /* bytes of a query */

struct query;
enum query_form {
    QUERY_SELECT,
    QUERY_CONSTRUCT,
    QUERY_DESCRIBE,
    QUERY_ASK,
    QUERY_CHANGE /* within an update: index/query/update.h */
};

/* base: resolves relative IRIs until the query's own BASE; may be empty, then relative IRIs stay
 * as they are. Syntax errors are STATUS_BAD_INPUT, "line 3, column 7: expected ..."; a query
 * past a bound (length, nesting, variables) is STATUS_LIMIT. Copies text. */
enum status query_prepare(struct query **query, struct slice text, struct slice base,
                          struct reason *why);
void query_free(struct query *query);
enum query_form query_form_of(const struct query *query);
/* The columns of SELECT, in order, without "?". They live as long as the query. */
size_t query_columns(const struct query *query, const struct slice **names);
/* Returns whether the IRI stands anywhere in the query. */
bool query_mentions(const struct query *query, struct slice iri);
/* True when the rows are ordered (ORDER BY). */
bool query_ordered(const struct query *query);

/* A second thread that takes part in a run as long as nobody else wants it. Its functions are
 * called by the run's thread, but for is_wanted. */
typedef void query_help(void *argument, const struct quad_source *source);
struct query_helper {
    void *context;
    /* What is worth asking it for: rows made on the way, as they are estimated, and processor time
     * that seems to be left. */
    uint64_t rows_least, us_least;
    /* By how much a range may take longer by the clock than by the processor, in percent: more
     * means that others want the processors, and nobody is asked. 0: that does not matter. */
    unsigned late_most;
    bool (*is_free)(void *context);
    /* Has help(argument, source) done by it, over a source of its own with the same quads; false:
     * it is not free. */
    bool (*begin)(void *context, query_help *help, void *argument);
    /* Waits until that has returned; after each begin that was true. */
    void (*end)(void *context);
    /* By the thread itself: whether it is to return soon. */
    bool (*is_wanted)(void *context);
};

struct query_options {
    /* The default graph where the query has no FROM. Empty: the union of all graphs, each triple
     * once. Else the IRI of the one graph that is the default; GRAPH then does not see it. */
    struct slice default_graph;
    /* A dataset in place of the query's own: IRIs, each ended by a newline. Both empty: none. */
    struct slice graphs, named_graphs;
    /* Only this graph exists: default graph and the only named graph. Empty: all. */
    struct slice only_graph;
    uint64_t timeout_ms;       /* 0: none; STATUS_TIMEOUT */
    const atomic_bool *cancel; /* NULL: none; STATUS_CANCELLED soon after it turns true */
    /* Called often while the query runs, so that it can let others run. NULL: nothing is. */
    void (*step)(void *context);
    void *step_context;
    const struct query_helper *helper; /* NULL: none */
    size_t memory;                     /* bytes for joins, sorting, groups; 0: 1 GiB */
    /* Where joins, sorting and groups go on when memory is used up: unlinked files of together at
     * most `disk` bytes (0: 8 GiB). NULL: nowhere. STATUS_LIMIT past either. */
    const char *scratch_folder;
    uint64_t disk;
    uint64_t rows;        /* at most so many rows or quads; 0: all. Reported as truncated */
    uint32_t search_most; /* literals per keyword search; 0: 100000 */
    /* For measuring: the order of the items of each join that has so many, "ba": the second one
     * first. NULL: the planner's. */
    const char *join_order;
    uint64_t now_ms;           /* of NOW(), wall time; 0: the clock's */
    struct slice blank_prefix; /* starts labels of new blank nodes; empty: "new" */
};

/* Tells where answers go; a form calls only its own functions, others may be NULL. Terms live until
 * the function returns. A status other than OK ends the run, which returns it; STATUS_END ends it
 * with STATUS_OK. */
struct query_sink {
    void *context;
    /* SELECT: once, before rows. */
    enum status (*columns)(void *context, const struct slice *names, size_t n, struct reason *why);
    /* SELECT: n terms; TERM_NONE where unbound. */
    enum status (*row)(void *context, const struct term *terms, size_t n, struct reason *why);
    /* ASK: once. */
    enum status (*boolean)(void *context, bool answer, struct reason *why);
    /* CONSTRUCT and DESCRIBE: triples (graph TERM_NONE), each once. */
    enum status (*quad)(void *context, const struct quad *quad, struct reason *why);
    /* CHANGE: graph TERM_NONE: the default graph. The same quad may come again. */
    enum status (*change)(void *context, const struct quad *quad, bool removal, struct reason *why);
};

struct query_report {
    uint64_t rows;    /* rows or quads handed to the sink */
    uint64_t scanned; /* quads read from the source */
    uint64_t scans;   /* scans opened */
    size_t memory;    /* highest counted use in bytes */
    uint64_t disk;    /* highest use of temporary files in bytes */
    bool truncated;   /* ended by options.rows */
};

/* Calls visit for each graph that the query may read, perhaps several times. False: they cannot be
 * told beforehand, or more is read than graphs (keyword search, DESCRIBE, what is known of
 * documents). Constants that stand for a set of graphs which has not them are visited all the same.
 */
typedef void query_graph_visit(void *context, struct slice graph);
bool query_graphs(const struct query *query, const struct query_options *options,
                  query_graph_visit *visit, void *context);

/* report may be NULL; it is filled on failure, too. */
enum status query_run(const struct query *query, const struct quad_source *source,
                      const struct query_options *options, const struct query_sink *sink,
                      struct query_report *report, struct reason *why);

/* Appends the plan as indented text, one operator a line with its estimate. measured: evaluates
 * the query as well, and each line has the rows that the operator gave and its own time. */
enum status query_explain(const struct query *query, const struct quad_source *source,
                          const struct query_options *options, bool measured, struct buf *out,
                          struct reason *why);

#endif
