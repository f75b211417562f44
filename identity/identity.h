/* Tells who is the same as a resource, and why: docs/IDENTITY.md.
 *
 * Everything is derived from the quads of a source when it is asked for, and nothing is stored: an
 * edge is there exactly as long as the quad that says it, and as long as the ontologies say what
 * makes it one. What is found out about properties is kept while the identity is open, so it has
 * to see one version of its source. One thread. */
#ifndef IDENTITY_IDENTITY_H
#define IDENTITY_IDENTITY_H

#include "index/quad_source.h"
#include "index/query/query.h"

/* An operator's decisions stand in the graph q:decisions: owl:sameAs joins, owl:differentFrom
 * splits. */
#define OWL_NAMESPACE "http://www.w3.org/2002/07/owl#"
#define OWL_SAME_AS OWL_NAMESPACE "sameAs"
#define OWL_DIFFERENT_FROM OWL_NAMESPACE "differentFrom"

struct identity;

enum { IDENTITY_SHARED_MOST = 1000 }; /* the usual one */
struct identity_limits {
    size_t shared;  /* resources with one value; of more it identifies none */
    size_t members; /* resources of a cluster; a larger one is set aside */
    size_t rows;    /* quads that are read of one resource or value */
};

struct identity_settings {
    const struct quad_source *source;
    /* Tells whether the source knows the graph q:provenance, which says where terms redirect to. */
    bool redirects;
    struct identity_limits limits; /* zeros: the usual ones */
    /* These are options of the query that asks: time, cancellation, others' turns; half of its
     * memory (0: 256 MiB). They must live as long. NULL: none of these. */
    const struct query_options *options;
};

enum identity_rule {
    IDENTITY_SAME_AS,
    IDENTITY_JOINED, /* by an operator */
    IDENTITY_INVERSE_FUNCTIONAL,
    IDENTITY_FUNCTIONAL,
    IDENTITY_INVERSE_CARDINALITY, /* a class whose members are the value of one thing at most */
    IDENTITY_CARDINALITY,         /* a class whose members have one value at most */
    IDENTITY_RULES
};
/* "sameAs", "joined", "inverseFunctional" ... */
const char *identity_rule_name(enum identity_rule rule);

/* One reason. Two resources are the same by owl:sameAs: `resource` and `other`; or a resource has
 * the value of a property that identifies it: those with the same property and value, and either
 * both or none of them inverse, are the same. */
struct identity_edge {
    enum identity_rule rule;
    oid resource, other; /* other: OID_NONE unless it is sameAs or joined */
    oid property, value; /* OID_NONE when it is */
    oid ontology;        /* the document that says what the property is; OID_NONE when none need */
    struct quad_oids quad; /* the statement, and in which document */
    bool split;            /* not followed: it would join what an operator has split */
};

enum identity_aside_reason { IDENTITY_ASIDE_REFUSED, IDENTITY_ASIDE_SHARED };
/* A value that identifies nothing. */
struct identity_aside {
    enum identity_aside_reason reason;
    struct identity_edge edge; /* how it was met first */
    size_t resources;          /* that have it: of shared ones one more than may */
};

struct identity_cluster {
    oid resource;
    oid *members; /* with the resource, in the order of their terms */
    size_t member_count;
    struct identity_edge *edges; /* in the order of their rules and terms */
    size_t edge_count;
    struct identity_aside *asides;
    size_t aside_count;
    oid *undefined; /* properties that were met and of which the index has no ontology */
    size_t undefined_count;
    size_t reached; /* resources that were found before splits and limits */
    bool too_large; /* set aside: the resource is alone, and edges are its own */
    bool cut;       /* more quads, documents or terms than the limits allow were left out */
};

struct identity *identity_new(const struct identity_settings *settings);
void identity_free(struct identity *identity); /* NULL is allowed */

/* The cluster of a resource, which may be one that no quad has. Its arrays live in the arena.
 * TIMEOUT, CANCELLED; LIMIT when memory is used up. */
enum status identity_find(struct identity *identity, oid resource, struct arena *arena,
                          struct identity_cluster *cluster, struct reason *why);

/* Counts how often the cache of meanings was asked and could answer, for measuring. */
struct identity_counts {
    uint64_t meanings_made, meanings_found, contexts_made, contexts_found, schemas_read;
};
struct identity_counts identity_counts(const struct identity *identity);

#endif
