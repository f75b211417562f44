/* A quad source is what a query needs of quads: lookup, resolve, scan, estimate, search. The
 * evaluator in index/query/ knows only this table, so that it runs over one partition's OIDs as
 * over several partitions joined (index/federation) or over a graph in memory (tests).
 *
 * Identifiers: 0 means "none" or, in a pattern, "any". Identifiers at and above OID_LOCAL are
 * the evaluator's own (computed values) and are never passed to a source.
 * A source is used by one thread; different threads open different sources.
 */
#ifndef INDEX_QUAD_SOURCE_H
#define INDEX_QUAD_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/slice.h"
#include "base/status.h"
#include "rdf/core/term.h"

typedef uint64_t oid;
#define OID_NONE ((oid)0)
#define OID_LOCAL ((oid)1 << 63)
/* Identifiers from here to OID_LOCAL are of terms and nodes that a source over another source adds.
 */
#define OID_OVERLAY ((oid)15 << 59)
/* Stands in a pattern, added to an enum key_places, for any node that several partitions have
 * there. */
#define OID_SHARED ((oid)14 << 59)

struct quad_oids {
    oid subject, predicate, object, graph;
};

/* Tells whether it is an identifier that a source can be asked for. */
static inline bool
oid_is_of_source(oid id)
{
    return id != OID_NONE && id < OID_LOCAL;
}
/* Tells whether a source can be asked for the pattern: no place has one of the evaluator's own. */
static inline bool
quad_is_of_source(const struct quad_oids *pattern)
{
    return (pattern->subject | pattern->predicate | pattern->object | pattern->graph) < OID_LOCAL;
}

/* The six orders; a scan yields rows sorted by its order. */
enum quad_order {
    ORDER_SPOC,
    ORDER_POCS,
    ORDER_OCSP,
    ORDER_CSPO,
    ORDER_CPOS,
    ORDER_OSPC,
    ORDER_COUNT
};

struct quad_scan; /* private to the source */
struct text_scan;
struct share_scan;

/* Nodes that several partitions have: where they may stand in quads. */
enum key_places {
    KEYS_SUBJECTS, /* as subjects */
    KEYS_NODES     /* as subjects or objects */
};
#define KEY_PLACES 2

struct oid_set; /* index/oid_set.h */

/* A part of a query that a source of several partitions has each of them evaluate
 * (index/query/plan/share_parts.h): a node of the query's algebra, and what of it is wanted. */
enum share_form {
    SHARE_ROWS,   /* its solutions */
    SHARE_VALUES, /* of a GROUP: the different values of what its keys and arguments mention */
    SHARE_PARTS   /* of a GROUP: the parts of its aggregates */
};
struct share_request {
    struct slice text; /* of the query, without a base */
    /* The dataset, as in struct query_options. */
    struct slice default_graph, graphs, named_graphs;
    enum share_form form;
    uint32_t node;
    uint64_t most;   /* rows that are wanted of each partition; UINT64_MAX: all */
    uint64_t now_ms; /* of NOW() */
    size_t columns;  /* of a row */
    /* partition_wise: only solutions that bind the slot `key` to a node that no other partition has
     * there. */
    bool partition_wise;
    uint32_t key;
    enum key_places places;
    const struct oid_set *shared; /* in a partition: the nodes that others have too */
};

/* Counting the different triples that match, over all graphs together. */
enum triple_place {
    TRIPLE_SUBJECT,
    TRIPLE_PREDICATE,
    TRIPLE_OBJECT,
    TRIPLE_ALL,
    /* Each triple of a predicate, with its object in place of the number; only `again`. */
    TRIPLE_PAIRS,
    /* Each quad of a predicate, or of a predicate and an object: its subject, with its graph in
     * place of the number; only `again`. */
    TRIPLE_GRAPHS,
    /* In a struct node_listing: the objects that come first or last by ORDER BY are listed. */
    TRIPLE_FIRST,
    TRIPLE_LAST
};
struct triple_count {
    oid value; /* of PAIRS and GRAPHS: the subject */
    uint64_t triples;
};
struct count_request {
    struct quad_oids pattern; /* its graph is OID_NONE */
    enum triple_place by;     /* a place that is not bound, or ALL: all are of one value */
    bool quads; /* not triples: one that is in several graphs counts for each; not of PAIRS */
    /* Only triples with a term of this kind at this place; TERM_NONE: any. The source has `kind`.
     */
    enum term_kind kind;
    enum triple_place of;
    size_t memory; /* bytes that it may take, the answer among them */
    /* The scan would do nearly as well: UNSUPPORTED unless the answer is kept, or was asked for
     * before and nothing has changed since, so that what is asked once is not counted for it. */
    bool again;
    /* Asked again and again; a failure ends the counting with it. */
    enum status (*check)(const void *context, struct reason *why);
    const void *check_context;
};

/* A kind of list of a node: it stands in one place of triples, of all graphs together, and their
 * predicates are listed, or what one predicate leads to.
 *
 * Of FIRST and LAST the predicate's objects are listed, ascending, that no row is certainly behind
 * among so many rows as the number in place of the node says; an empty list: they were asked for.
 */
struct node_listing {
    enum triple_place place; /* TRIPLE_SUBJECT, TRIPLE_OBJECT, TRIPLE_FIRST or TRIPLE_LAST */
    /* OID_NONE: its predicates, each with its number of different triples; else what stands at the
     * other end of this predicate's triples, each once with the number 1. */
    oid predicate;
    enum term_kind other; /* what stands at the other end; TERM_NONE: anything */
};
/* Nodes, and what is known of them from before. */
struct list_recall {
    struct node_listing listing;
    const oid *nodes;
    size_t count;
    size_t most; /* room in counts */
    /* Filled for each node: whether its list is known, and where that ends in counts; it begins
     * where the one before ends. */
    bool *known;
    size_t *ends;
    struct triple_count *counts; /* what is listed, and numbers */
};

/* Stands for a term wherever its text is: terms with the same digest are the same. */
struct term_digest {
    uint64_t high, low;
};
static inline int
term_digest_compare(const struct term_digest *a, const struct term_digest *b)
{
    return a->high != b->high ? (a->high > b->high ? 1 : -1)
                              : (a->low > b->low) - (a->low < b->low);
}
/* A value of a place by its digest, and how many different triples have it. */
struct value_count {
    struct term_digest value;
    uint64_t triples;
};

/* Identifiers of one type of value, in the order of their values but for neighbours: from first to
 * last; those below low have values before a given one or none, those above high after it or none.
 */
struct oid_span {
    oid first, low, high, last;
};

/* The value that an identifier says by itself. */
enum oid_value_kind { OID_VALUE_INTEGER, OID_VALUE_DATE, OID_VALUE_DATE_TIME };
struct oid_value {
    enum oid_value_kind kind;
    int64_t integer;
    int year, month, day, hour, minute;
    int milliseconds; /* of the minute */
    bool utc;         /* else there is no time zone */
};

/* Where the rows of a pattern are cut into ranges of about the same size: the first place that the
 * order leaves open (0 subject .. 3 graph), and the values there with which ranges begin,
 * ascending; the first range begins before them all. */
enum { QUAD_CUTS = 63 };
struct quad_cuts {
    unsigned place;
    oid values[QUAD_CUTS];
    size_t count;
};

struct quad_source {
    void *context;
    /* The identifier of a term; *id = OID_NONE when no stored quad has it. */
    enum status (*lookup)(void *context, const struct term *term, oid *id, struct reason *why);
    /* The term of an identifier; its bytes live in the arena. */
    enum status (*resolve)(void *context, oid id, struct arena *arena, struct term *term,
                           struct reason *why);
    /* Rows that match the bound places of pattern. order: wanted order, or ORDER_COUNT for the
     * cheapest; UNSUPPORTED when a wanted order cannot serve the bound places. */
    enum status (*scan)(void *context, const struct quad_oids *pattern, enum quad_order order,
                        struct quad_scan **scan, struct reason *why);
    /* Up to `most` rows; *n = 0 at the end. */
    enum status (*scan_next)(struct quad_scan *scan, struct quad_oids *rows, size_t most, size_t *n,
                             struct reason *why);
    void (*scan_close)(struct quad_scan *scan);
    /* Goes on with the rows from `quad` on, in the order of the scan; not back. NULL: the source
     * cannot. */
    void (*scan_skip)(struct quad_scan *scan, const struct quad_oids *quad);
    /* Ends a scan that has given nothing before the rows from `quad` on. */
    void (*scan_until)(struct quad_scan *scan, const struct quad_oids *quad);
    /* Makes at most so many cuts as cuts->count says, fewer where rows lie together; order as for
     * scan. NULL, and scan_until is, too: the source cannot. */
    enum status (*divide)(void *context, const struct quad_oids *pattern, enum quad_order order,
                          struct quad_cuts *cuts, struct reason *why);
    /* Tells whether the value of one identifier is certainly before another's, and the span around
     * one (false: none). NULL: identifiers say nothing of values. */
    bool (*before)(oid a, oid b);
    bool (*span)(oid id, struct oid_span *span);
    /* Gives the value of an identifier, and the identifier of xsd:integer's canonical literal,
     * without a look at a term; false, OID_NONE: it has to be looked at. NULL, both: always. */
    bool (*value)(oid id, struct oid_value *value);
    oid (*integer)(int64_t integer);
    /* Tells what term an identifier is of, without a look at it. NULL: identifiers do not say. */
    enum term_kind (*kind)(oid id);
    /* Gives the datatype of a literal, that of one with a language among them, as its identifier
     * says it; false: it is no literal, or has to be looked at. NULL: always. */
    bool (*datatype)(oid id, struct slice *iri);
    /* The rows of many patterns, for sources that are far away; NULL: none, scan is as good. Rows
     * come in the order of the patterns, each with the number of its own; scan_close ends it.
     * patterns live until then. graphs false: the rows' graphs are not wanted, they are OID_NONE
     * and a triple that is in several of them may come once. */
    enum status (*scan_many)(void *context, const struct quad_oids *patterns, size_t count,
                             bool graphs, struct quad_scan **scan, struct reason *why);
    enum status (*scan_many_next)(struct quad_scan *scan, struct quad_oids *rows, uint32_t *numbers,
                                  size_t most, size_t *n, struct reason *why);
    /* Tells whether patterns with this graph (OID_NONE: any) are better asked by scan_many. NULL:
     * all. */
    bool (*rather_many)(void *context, oid graph);
    /* The values of a place with their numbers, ascending where `again`; release them with
     * release_counts, from any thread, and change nothing. NULL: the source does not count. LIMIT:
     * they do not fit in the memory; UNSUPPORTED: not by this place. */
    enum status (*count_triples)(void *context, const struct count_request *request,
                                 struct triple_count **counts, size_t *count, struct reason *why);
    void (*release_counts)(struct triple_count *counts); /* NULL: free them */
    /* Counts likewise, by digests, ascending; free them. different: only which values there are is
     * asked, and their numbers may be any but 0. NULL: the source has no use for it. LIMIT,
     * UNSUPPORTED: it cannot be said, or not worth it. */
    enum status (*count_values)(void *context, const struct count_request *request, bool different,
                                struct value_count **counts, size_t *count, struct reason *why);
    /* The lists of nodes as far as they were kept since the index changed last; returns how many
     * nodes were looked at, fewer than all when there is no room for the next one's list. keep: a
     * list that was read, by a query over the same state. NULL, both: the source keeps none. */
    size_t (*recall_lists)(void *context, struct list_recall *recall);
    void (*keep_list)(void *context, const struct node_listing *listing, oid node,
                      const struct triple_count *counts, size_t count);
    /* About how many rows match; exact when cheap. */
    enum status (*estimate)(void *context, const struct quad_oids *pattern, uint64_t *rows,
                            struct reason *why);
    /* How many subjects have all these predicates (1 <= count), and how many rows the join of
     * `?s p1 ?o1 . ?s p2 ?o2 …` has, over all graphs, a predicate given twice counting twice; exact
     * within each graph, about right for subjects of several. NULL: the source keeps no joint
     * statistics. UNSUPPORTED: it has none of these. */
    enum status (*estimate_star)(void *context, const oid *predicates, size_t count,
                                 double *subjects, double *rows, struct reason *why);
    /* Sees which nodes several partitions have. *any: there are some. LIMIT, UNSUPPORTED: it cannot
     * be said, or they are too many for dividing by them to be worth it. Only with share. */
    enum status (*part)(void *context, enum key_places places, bool *any, struct reason *why);
    /* Hands out the answers of the partitions, one after the other as they come: rows of
     * request->columns identifiers, OID_NONE where nothing is bound; NULL: there are no partitions.
     * The request and what it points to live until share_close. */
    enum status (*share)(void *context, const struct share_request *request,
                         struct share_scan **scan, struct reason *why);
    /* Up to `most` rows; *n = 0 at the end. */
    enum status (*share_next)(struct share_scan *scan, oid *rows, size_t most, size_t *n,
                              struct reason *why);
    void (*share_close)(struct share_scan *scan);
    /* Literals that match a keyword query (words, "phrases", prefix*), best first. */
    enum status (*search)(void *context, struct slice words, uint32_t most, struct text_scan **scan,
                          struct reason *why);
    enum status (*search_next)(struct text_scan *scan, oid *literal, double *score, bool *end,
                               struct reason *why);
    void (*search_close)(struct text_scan *scan);
};

/* Compares the values of two identifiers as far as these say which is before the other: less or
 * more than 0; 0: they do not. */
static inline int
quad_source_compare(const struct quad_source *source, oid a, oid b)
{
    if (!source->before || !oid_is_of_source(a) || !oid_is_of_source(b)) {
        return 0;
    }
    return source->before(a, b) ? -1 : source->before(b, a);
}

static inline void
quad_source_release_counts(const struct quad_source *source, struct triple_count *counts)
{
    if (source->release_counts) {
        source->release_counts(counts);
    } else {
        free(counts);
    }
}

#endif
