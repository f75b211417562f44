/* Identifiers of the terms of provenance, for one query. Terms that the other source has keep
 * theirs; others get some from OID_OVERLAY. Blank nodes are numbered by the record that they came
 * from, so that a pattern with one bound knows its record; of records of the archive, which have
 * IRIs that do not tell, it is remembered. One thread. */
#ifndef INDEX_READ_PROVENANCE_TERMS_H
#define INDEX_READ_PROVENANCE_TERMS_H

#include "base/buf.h"
#include "index/quad_source.h"

struct provenance_terms;

/* memory: bytes of all terms; past it LIMIT. inner: the other source, which lives as long. */
struct provenance_terms *provenance_terms_new(const struct quad_source *inner, size_t memory);
void provenance_terms_free(struct provenance_terms *terms); /* NULL is allowed */

enum status provenance_identify(struct provenance_terms *terms, const struct term *term, oid *id,
                                struct reason *why);
/* The same for one of the predicates of records, which are constant strings. */
enum status provenance_identify_predicate(struct provenance_terms *terms, const struct term *term,
                                          oid *id, struct reason *why);
/* The same for a blank node of the record. */
enum status provenance_identify_node(struct provenance_terms *terms, size_t record,
                                     const struct term *term, oid *id, struct reason *why);
enum status provenance_resolve(const struct provenance_terms *terms, oid id, struct arena *arena,
                               struct term *term, struct reason *why);

/* Returns the number of the record with the key, which it gets now or has. */
size_t provenance_number_record(struct provenance_terms *terms, struct slice key);
bool provenance_is_node(oid id);
/* The number of a node's record, and its label there. */
size_t provenance_node_record(oid id);
struct slice provenance_node_label(const struct provenance_terms *terms, oid id);
/* Returns whether the term names a record of the archive. */
bool provenance_is_archived(const struct term *term);
/* Remembers which metadata record names it. */
enum status provenance_remember_owner(struct provenance_terms *terms, const struct term *term,
                                      size_t record, struct reason *why);
/* Tells whether the term leads to one record, whose key is appended. */
bool provenance_leads_to_record(const struct provenance_terms *terms, oid id,
                                const struct term *term, struct buf *key);

#endif
