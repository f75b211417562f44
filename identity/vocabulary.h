/* The terms that say what properties and classes are, and which of them the index has at all, so
 * that nobody asks for the others. */
#ifndef IDENTITY_VOCABULARY_H
#define IDENTITY_VOCABULARY_H

#include "base/map.h"
#include "identity/identity.h"
#include "rdf/core/vocabulary.h"

#define RDFS_NAMESPACE "http://www.w3.org/2000/01/rdf-schema#"

/* Terms that say what properties and classes are, and what else is read. The first ones are
 * predicates of axioms. */
#define VOCABULARY_MAP(X)                                            \
    X(SUB_PROPERTY, RDFS_NAMESPACE "subPropertyOf")                  \
    X(EQUIVALENT_PROPERTY, OWL_NAMESPACE "equivalentProperty")       \
    X(INVERSE_OF, OWL_NAMESPACE "inverseOf")                         \
    X(SUB_CLASS, RDFS_NAMESPACE "subClassOf")                        \
    X(EQUIVALENT_CLASS, OWL_NAMESPACE "equivalentClass")             \
    X(INTERSECTION, OWL_NAMESPACE "intersectionOf")                  \
    X(DOMAIN, RDFS_NAMESPACE "domain")                               \
    X(RANGE, RDFS_NAMESPACE "range")                                 \
    X(IMPORTS, OWL_NAMESPACE "imports")                              \
    X(ON_PROPERTY, OWL_NAMESPACE "onProperty")                       \
    X(CARDINALITY, OWL_NAMESPACE "cardinality")                      \
    X(MAX_CARDINALITY, OWL_NAMESPACE "maxCardinality")               \
    X(FIRST, RDF_FIRST)                                              \
    X(REST, RDF_REST)                                                \
    X(FUNCTIONAL, OWL_NAMESPACE "FunctionalProperty")                \
    X(INVERSE_FUNCTIONAL, OWL_NAMESPACE "InverseFunctionalProperty") \
    X(SYMMETRIC, OWL_NAMESPACE "SymmetricProperty")                  \
    X(TYPE, RDF_TYPE)                                                \
    X(SAME, OWL_SAME_AS)                                             \
    X(DIFFERENT, OWL_DIFFERENT_FROM)                                 \
    X(DECISIONS, QUERY_DECISIONS)                                    \
    X(PROVENANCE, QUERY_PROVENANCE)                                  \
    X(REPLACED_BY, "http://purl.org/dc/terms/isReplacedBy")

enum vocabulary_term {
#define X(name, iri) VOCABULARY_##name,
    VOCABULARY_MAP(X)
#undef X
        VOCABULARY_COUNT
};
/* Axioms are named by the term that makes them. */
enum { SCHEMA_KINDS = VOCABULARY_TYPE, SCHEMA_MOST = 200000 /* axioms of a document */ };

/* Holds what the index has of these terms. vocabulary.c fills it, once; the terms are read by all.
 */
struct vocabulary {
    oid terms[VOCABULARY_COUNT]; /* OID_NONE: no quad has it */
    bool ready;
    struct map with_axioms;  /* the set of documents that have axioms, */
    bool listed, listed_all; /* once it was made; and whether it has all of them */
    struct map restricted;   /* the set of properties that some class restricts, and of inverses */
    bool all_restricted;     /* there are too many for that */
};

/* Fills the vocabulary, once. */
enum status vocabulary_find(struct identity *identity, struct reason *why);
void vocabulary_release(struct vocabulary *vocabulary);
/* Makes the pattern of a document's (OID_NONE: all documents') axioms of a kind. False: there are
 * none. */
bool vocabulary_pattern(const struct identity *identity, enum vocabulary_term kind, oid document,
                        struct quad_oids *pattern);
/* Tells whether a document may have axioms. After some that were asked for the documents that have
 * any are listed, as long as that is no more to read than one may. */
enum status vocabulary_may_be_used(struct identity *identity, oid document, bool *may,
                                   struct reason *why);
/* Returns whether some class may restrict the property. */
bool vocabulary_may_restrict(const struct identity *identity, oid property);

#endif
