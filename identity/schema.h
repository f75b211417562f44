/* This part reads what documents say of properties and classes. */
#ifndef IDENTITY_SCHEMA_H
#define IDENTITY_SCHEMA_H

#include "identity/vocabulary.h"

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

/* The schemas that were read, by document. schema.c fills it. */
struct schemas {
    struct map places; /* in the list */
    struct schema *list;
    size_t count;
};
void schemas_release(struct schemas *schemas);

/* Reads the schema of a document; its arrays live as long as the identity. */
enum status schema_read(struct identity *identity, oid document, struct schema *schema,
                        struct reason *why);
/* Returns the axioms about a subject, which are in the schema; NULL: there are none. */
const struct axiom *schema_about(const struct schema *schema, oid subject, size_t *count);

#endif
