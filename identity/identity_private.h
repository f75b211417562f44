/* Shared by the files of this folder. */
#ifndef IDENTITY_IDENTITY_PRIVATE_H
#define IDENTITY_IDENTITY_PRIVATE_H

#include "base/map.h"
#include "identity/identity.h"
#include "index/query/memory/deadline.h"
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
enum { SCHEMA_KINDS = VOCABULARY_TYPE };

enum {
    SCHEMA_MOST = 200000,    /* axioms of a document */
    DOCUMENTS_MOST = 64,     /* that define a term, or are imported by a document */
    CLOSURE_MOST = 256,      /* properties or classes that one leads to */
    REDIRECTS_MOST = 5,      /* of a term's address, one after the other */
    LIST_AFTER = 64,         /* documents whose axioms were asked for one by one */
    BLANK_DOCUMENTS_MOST = 4 /* with statements about one blank node */
};

/* A growing array of rows. */
struct rows {
    struct quad_oids *at;
    size_t count, capacity;
    bool cut; /* there are more than were wanted */
};

/* An axiom is what a document says about properties and classes; axioms are sorted by subject, kind
 * and object. The object of a cardinality is OID_NONE: only those of one are kept. Equivalence and
 * inversion stand in both directions. */
struct axiom {
    oid subject, object;
    uint64_t kind; /* enum vocabulary_term; as wide as this there is no padding in a digest */
};
struct schema {
    struct axiom *axioms;
    size_t count;
    oid *imports;
    size_t import_count;
    bool cut;
};

/* Each once, in the order in which they were found. */
struct documents {
    oid at[DOCUMENTS_MOST];
    size_t count;
    bool fixed; /* of a term: its meaning is nobody's to say */
    bool cut;
};

/* A property that another implies where that is used: each statement with it implies one with each
 * of these, its subject and object exchanged if inverted. */
struct implied {
    oid property;
    bool inverted, functional, inverse_functional;
    oid functional_by, inverse_functional_by; /* the documents that say so */
};
/* A class of the statement's subject or object, by domain or range. */
struct implied_class {
    oid class;
    bool of_object;
};
struct meaning {
    struct implied *implied;
    size_t count;
    struct implied_class *classes;
    size_t class_count;
    bool undefined;  /* nothing in the index defines it */
    bool restricted; /* what it implies may be by some class */
    bool cut;
};
/* Members of a class have at most one value of the property; inverted: are the value of one. */
struct restriction {
    oid property;
    bool inverted;
    oid by;
};
struct restrictions {
    struct restriction *at;
    size_t count;
};

/* A context is what a document adds to the ontologies of its terms: its own axioms and those it
 * imports. All documents that add nothing share one. Meanings are kept by property, for each
 * context. */
struct context {
    struct documents documents;   /* the first one is the document itself */
    struct map meanings, classes; /* places in the identity's lists */
};

struct identity {
    struct identity_settings settings;
    struct deadline deadline;
    oid vocabulary[VOCABULARY_COUNT]; /* OID_NONE: no quad has it */
    bool ready;
    struct map with_axioms;  /* the set of documents that have axioms, */
    bool listed, listed_all; /* once it was made; and whether it has all of them */
    struct map restricted;   /* the set of properties that some class restricts, and of inverses */
    bool all_restricted;     /* there are too many for that */
    struct arena arena;
    struct map term_places, schema_places, authority_places, address_places, context_places,
        digest_places;
    struct term *terms;
    struct schema *schemas;
    struct documents *authorities, *addresses;
    struct context *contexts;
    struct meaning *meanings;
    struct restrictions *restrictions;
    size_t term_count, schema_count, authority_count, address_count, context_count, meaning_count,
        restriction_count;
    struct identity_counts counts;
};

/* ---- reading: identity.c ---- */

/* Appends at most `most` rows in all. A pattern with no place bound reads nothing. */
enum status identity_rows(struct identity *identity, const struct quad_oids *pattern, size_t most,
                          struct rows *rows, struct reason *why);
/* Calls visit for the rows of many patterns of one graph, at most `most` in all, with the number of
 * the pattern; in one request where the source is far away. cut turns true when there are more. */
typedef enum status row_visit(void *state, uint32_t number, const struct quad_oids *row,
                              struct reason *why);
enum status identity_rows_many(struct identity *identity, const struct quad_oids *patterns,
                               size_t count, size_t most, row_visit *visit, void *state, bool *cut,
                               struct reason *why);
void rows_release(struct rows *rows);
/* Its bytes live as long as the identity. */
enum status identity_term(struct identity *identity, oid id, struct term *term, struct reason *why);
/* Copies into an arena; full says what does not fit. */
enum status keep_in(struct arena *arena, const void *from, size_t size, void *result,
                    const char *full, struct reason *why);
/* Copies into the identity's arena. */
enum status identity_keep(struct identity *identity, const void *from, size_t size, void *result,
                          struct reason *why);
/* A place for one more at the end of the list that the pointer is of, NULL at first. */
void *list_add(void *list, size_t *count, size_t size);

/* ---- vocabulary.c ---- */

/* Fills the vocabulary, once. */
enum status vocabulary_find(struct identity *identity, struct reason *why);
/* The pattern of a document's (OID_NONE: all documents') axioms of a kind. False: there are none.
 */
bool vocabulary_pattern(const struct identity *identity, enum vocabulary_term kind, oid document,
                        struct quad_oids *pattern);

/* Tells whether a document may have axioms. After some that were asked for the documents that have
 * any are listed, as long as that is no more to read than one may. */
enum status vocabulary_may_be_used(struct identity *identity, oid document, bool *may,
                                   struct reason *why);

/* ---- schema.c ---- */

enum status schema_read(struct identity *identity, oid document, struct schema *schema,
                        struct reason *why);
/* The axioms about a subject. */
const struct axiom *schema_about(const struct schema *schema, oid subject, size_t *count);

/* ---- authority.c ---- */

/* The documents that say what a term is: that of its address without fragment, what that
 * redirects to, that of its namespace, and all that they import. */
enum status authority_of(struct identity *identity, oid term, struct documents *documents,
                         struct reason *why);
/* The context of a document; its place. */
enum status context_of(struct identity *identity, oid document, uint32_t *context,
                       struct reason *why);

/* ---- meaning.c ---- */

enum status meaning_of(struct identity *identity, uint32_t context, oid property,
                       struct meaning *meaning, struct reason *why);
enum status restrictions_of(struct identity *identity, uint32_t context, oid class,
                            struct restrictions *restrictions, struct reason *why);

/* ---- edges.c ---- */

/* Calls edge for all that a quad says of identity; values are not looked at yet. */
typedef enum status edge_visit(void *context, const struct identity_edge *edge, struct reason *why);
/* undefined: called for its property when nothing defines it. */
enum status edges_of(struct identity *identity, const struct quad_oids *quad, edge_visit *visit,
                     void *context, bool *undefined, bool *cut, struct reason *why);
static inline bool
rule_is_inverse(enum identity_rule rule)
{
    return rule == IDENTITY_INVERSE_FUNCTIONAL || rule == IDENTITY_INVERSE_CARDINALITY;
}

#endif
