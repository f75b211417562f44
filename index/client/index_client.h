/* The query service of the index as stages, command line and web see it.
 *
 * One index process owns one partition and answers on its own socket; documents are in
 * partition partition_of(uri) * partitions / PARTITIONS. The client knows all partitions:
 * dump merges them in order, patterns and searches are gathered, SPARQL runs in the service
 * when there is one partition and in this library over a federated source when there are
 * several. Calls block (own rpc clients inside) unless said otherwise. One thread per client.
 */
#ifndef INDEX_CLIENT_INDEX_CLIENT_H
#define INDEX_CLIENT_INDEX_CLIENT_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/rpc/rpc.h"
#include "base/status.h"
#include "index/client/partitions/index_links.h"
#include "index/protocol/answer.h"
#include "metastore/metastore_client.h"
#include "rdf/core/graph.h"

struct index_client_options {
    const char *const *endpoints; /* one per partition, in order */
    size_t count;
    /* Which of them has the graphs of a virtual partition: PARTITIONS entries, copied. NULL: each
     * has the same share, in order. */
    const uint16_t *owner_of_partition;
    const char *name;
    const struct rpc_keys *keys;
    uint32_t timeout_ms; /* of a change, 0: 60 s */
    uint32_t silence_ms; /* after which a partition that is asked counts as down, 0: 60 s */
    /* Names the metadata stores that queries over several partitions, and updates, ask for
     * q:provenance; copied. NULL: none. */
    const struct metastore_client_options *metastore;
};
enum status index_client_open(struct index_client **client,
                              const struct index_client_options *options, struct reason *why);
void index_client_close(struct index_client *client); /* NULL is allowed */

/* Sets what ends the calls from here on. cancel: they end CANCELLED soon after it turns true; may
 * be NULL. */
void index_client_manner(struct index_client *client, enum index_partial partial,
                         const atomic_bool *cancel);
/* The next partition, from *partition on, that the last call went without: a line that names it,
 * its endpoint and why. False: none. */
bool index_client_missing(const struct index_client *client, size_t *partition,
                          struct reason *which);

/* Tells how a query is answered: zeros are the usual way. */
struct index_query_options {
    uint32_t timeout_ms;        /* 0: the most that the service allows */
    struct slice default_graph; /* the one graph that is the default; empty: the union of all */
    /* A dataset in place of the query's own: IRIs, each ended by a newline. Both empty: none. */
    struct slice graphs, named_graphs;
    enum index_answer answer;
    const char *scratch_folder; /* for files of queries that this library evaluates; NULL: none */
    uint64_t client;            /* for whom: each has a fair part of the index. 0: this process */
};
/* format: a media type or short name: SELECT/ASK json, xml, csv, tsv, table; CONSTRUCT
 * nt, ttl, trig, nq, rdf, jsonld. */
enum status index_query(struct index_client *client, struct slice sparql, const char *format,
                        const struct index_query_options *options, index_piece *piece,
                        void *context, struct reason *why);
/* Quads that match; TERM_NONE places are any. N-Quads lines. limit 0: all. */
enum status index_pattern(struct index_client *client, const struct quad *pattern, uint64_t limit,
                          index_piece *piece, void *context, struct reason *why);
/* Keyword search: score TAB literal TAB subject TAB predicate TAB document, a line each,
 * terms in N-Triples form. */
enum status index_search(struct index_client *client, struct slice words, uint32_t limit,
                         index_piece *piece, void *context, struct reason *why);
/* All documents' quads as sorted canonical N-Quads. position (may be NULL) gets the position that
 * this is as of, before the first piece: index_changes. */
enum status index_dump(struct index_client *client, struct buf *position, index_piece *piece,
                       void *context, struct reason *why);
/* Checks trees, lexicon, literals, documents against each other. Report lines; OK only when clean.
 */
enum status index_verify(struct index_client *client, index_piece *piece, void *context,
                         struct reason *why);

size_t index_client_partitions(const struct index_client *client);
/* One partition's files as of some moment during the call: frames of index/maintenance/backup.h. */
enum status index_backup(struct index_client *client, size_t partition, index_piece *piece,
                         void *context, struct reason *why);
/* Gives space back, partition after partition; report lines. */
enum status index_compact(struct index_client *client, index_piece *piece, void *context,
                          struct reason *why);

/* ---- following what changes: docs/CHANGE_FEED.md ---- */

/* The position of what is durable now, of all partitions. */
enum status index_position(struct index_client *client, struct buf *position, struct reason *why);

/* Texts of positions: of the batch and of the one before it in its partition, and of all partitions
 * once the batch is complete. */
struct index_changes_begin {
    size_t partition;
    uint64_t wall_ms; /* when it was written */
    struct slice position, previous, reached;
};
/* A partition's batch begins; a document's changes follow; a quad of it (its N-Quads line without
 * the end); the batch is complete, and `position` is reached; or it broke off: what came since
 * begin does not count, and will come again. Any may be NULL. */
struct index_follower {
    enum status (*begin)(void *context, const struct index_changes_begin *begin,
                         struct reason *why);
    enum status (*document)(void *context, struct slice uri, uint64_t generation,
                            struct reason *why);
    enum status (*quad)(void *context, bool removed, struct slice line, struct reason *why);
    enum status (*commit)(void *context, struct slice position, struct reason *why);
    enum status (*abort)(void *context, struct reason *why);
    void *context;
};
struct index_follow_options {
    struct slice since;         /* position; empty: before the first batch */
    const struct slice *graphs; /* only these; 0: all */
    size_t graph_count;
    bool follow;                  /* goes on for ever: outages are waited for */
    const volatile bool *stopped; /* ends after the present batch; may be NULL */
};
/* Calls each batch's changes, exactly once each. STALE: changes after `since` are no longer there;
 * begin with a dump. */
enum status index_changes(struct index_client *client, const struct index_follow_options *options,
                          const struct index_follower *follower, struct reason *why);

/* The last batch that changed a document, as far as it did; the positions are those of the
 * document's partition alone. NOT_FOUND: the index does not know the document. STALE: the change is
 * no longer kept; the reason says of when it was. timeout_ms 0: none. */
enum status index_last_change(struct index_client *client, struct slice uri, uint32_t timeout_ms,
                              const struct index_follower *follower, struct reason *why);

/* The counters that every batch keeps exact, of all partitions together: PROTOCOL.md, stream
 * COUNTS. Sorted by kind and name. */
enum index_count_kind {
    INDEX_COUNT_TOTAL = 'T',     /* a count; named as in PROTOCOL.md */
    INDEX_COUNT_PREDICATE = 'P', /* quads, subjects (each once in a document) */
    INDEX_COUNT_CLASS = 'C',     /* quads */
    INDEX_COUNT_HOST = 'H',      /* quads, documents; named by registrable domain, "" for none */
    INDEX_COUNT_SET = 'S'        /* subjects, then quads of each predicate of the name */
};
struct index_count {
    char kind;
    struct slice name; /* terms in N-Triples form, separated by blanks */
    uint64_t *numbers;
    size_t n;
};
struct index_counts;
enum status index_counts_get(struct index_client *client, bool with_sets,
                             struct index_counts **counts, struct reason *why);
void index_counts_free(struct index_counts *counts);
const struct index_count *index_counts_of(const struct index_counts *counts, char kind,
                                          size_t *count);

/* A VoID description (https://www.w3.org/TR/void/) of all partitions together, in Turtle, from
 * the counters that every batch keeps exact: no quad is read. */
struct index_void_options {
    const char *dataset;  /* IRI of the dataset; relative ones are allowed */
    const char *endpoint; /* of SPARQL; NULL: none */
    const char *search;   /* page of the keyword search; NULL: none */
};
enum status index_void(struct index_client *client, const struct index_void_options *options,
                       struct buf *turtle, struct reason *why);

/* SPARQL 1.1 Update (query/update.h). Each operation is evaluated here over all partitions, then
 * carried out in each partition that has graphs of it: one transaction per partition, not one for
 * all. Durable when OK. load may be NULL: LOAD fails. */
struct index_update_options {
    struct slice default_graph; /* empty: see query/update.h */
    /* The graphs that WHERE reads in place of all graphs: IRIs, each ended by a newline. Both
     * empty: no such dataset. BAD_INPUT when the update itself says USING or WITH. */
    struct slice graphs, named_graphs;
    uint32_t timeout_ms; /* of each operation's WHERE; 0: none */
    size_t memory;       /* of each operation's changes; 0: 1 GiB */
    enum status (*load)(void *context, struct slice document, struct slice graph,
                        struct reason *why);
    void *context;
};
struct index_update_report {
    uint64_t operations, removed, added; /* quads that made a difference */
};
/* report may be NULL; it is filled on failure, too. */
enum status index_update(struct index_client *client, struct slice text,
                         const struct index_update_options *options,
                         struct index_update_report *report, struct reason *why);

/* A graph's triples as they are to be, in one transaction of its partition: added to those that are
 * there, or in place of them. Of what the graph has already nothing is written. existed tells
 * whether it had triples before; LIMIT when they are more than memory bytes (0: 256 MiB). The quads
 * of wanted name the graph. */
enum index_graph_mode { INDEX_GRAPH_ADD, INDEX_GRAPH_REPLACE };
struct index_graph_report {
    bool existed;
    uint64_t removed, added;
};
enum status index_graph_put(struct index_client *client, struct slice graph, struct graph *wanted,
                            enum index_graph_mode mode, size_t memory,
                            struct index_graph_report *report, struct reason *why);

/* ---- who is the same as whom: docs/IDENTITY.md ---- */

/* Hands out the cluster of an IRI or blank node, with its reasons, as text or as one JSON object.
 */
enum status index_identity(struct index_client *client, const struct term *resource, bool json,
                           uint32_t timeout_ms, index_piece *piece, void *context,
                           struct reason *why);
/* Decisions that an operator makes about two IRIs; a new one takes the place of the one before. */
enum index_decision {
    INDEX_DECISION_JOIN,
    INDEX_DECISION_SPLIT,
    INDEX_DECISION_NONE /* what was decided is taken back */
};
enum status index_identity_decide(struct index_client *client, enum index_decision decision,
                                  const struct term *one, const struct term *other,
                                  struct reason *why);

struct index_stats {
    uint64_t documents, quads, terms, literals, bytes_on_disk, batches;
    uint64_t full, damaged; /* partitions that cannot write: no room on the disk, a damaged page */
};
enum status index_stats_get(struct index_client *client, struct index_stats *stats,
                            struct reason *why);

#endif
