/* The terms of a federation, and what each partition calls them. An identifier is the federation's
 * own: it means something else in the next one. One thread. */
#ifndef INDEX_CLIENT_FEDERATION_FEDERATION_TERMS_H
#define INDEX_CLIENT_FEDERATION_FEDERATION_TERMS_H

#include "index/client/federation/federation.h"
#include "index/terms/term_set.h"

/* federation_terms.c fills it. */
struct federation_terms {
    size_t most;         /* bytes of all that follows */
    size_t ids_memory;   /* bytes of the partitions' identifiers */
    struct term_set set; /* identifier = index + 1; what can be inline is inline */
    struct partition_ids {
        oid *ids; /* the partition's identifiers of the terms; OID_NONE: not known */
        size_t capacity;
    } * partitions;
};
void federation_terms_init(struct federation_terms *terms, size_t partitions, size_t most);
void federation_terms_release(struct federation_terms *terms, size_t partitions);

/* Tells whether the identifier stands for one of the federation's terms: it is neither inline nor
 * local. */
bool federation_is_numbered(const struct federation *federation, oid id);
/* Finds or makes the identifier of a term. LIMIT: too many terms. */
enum status federation_id(struct federation *federation, const struct term *term, oid *id,
                          struct reason *why);
/* Returns the term of an identifier, TERM_NONE for OID_NONE. text: for inline ones, living as long
 * as the term. */
struct term federation_term(const struct federation *federation, oid id,
                            char text[OID_INLINE_TEXT]);
/* Returns the identifier that the partition has for the term; OID_NONE when it has none. */
oid federation_member_id(const struct federation *federation, size_t partition, oid id);
/* Notes the identifier that the partition has for the term. */
enum status federation_learn(struct federation *federation, size_t partition, oid id, oid its_id,
                             struct reason *why);
/* Returns the only partition that can have quads of the graph; the number of partitions: all can.
 */
size_t federation_owner(const struct federation *federation, oid graph);

#endif
