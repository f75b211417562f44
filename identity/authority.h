/* Who may say what a term means: the documents of the term, and those of a document that uses it.
 */
#ifndef IDENTITY_AUTHORITY_H
#define IDENTITY_AUTHORITY_H

#include "base/map.h"
#include "identity/identity.h"

enum { DOCUMENTS_MOST = 64 }; /* that define a term, or are imported by a document */

/* Each once, in the order in which they were found. */
struct documents {
    oid at[DOCUMENTS_MOST];
    size_t count;
    bool fixed; /* of a term: its meaning is nobody's to say */
    bool cut;
};

/* The documents that were found, by term, by address and by context. authority.c fills it.
 *
 * A context is what a document adds to the ontologies of its terms: its own axioms and those it
 * imports. All documents that add nothing share one. */
struct authorities {
    struct map term_places, address_places; /* in the lists */
    struct documents *terms, *addresses;
    size_t term_count, address_count;
    struct map context_places, digest_places; /* by document, and by what it says */
    struct documents *contexts;               /* the first one is the document itself */
    size_t context_count;
};
void authorities_release(struct authorities *authorities);

/* Finds the documents that say what a term is: that of its address without fragment, what that
 * redirects to, that of its namespace, and all that they import. */
enum status authority_of(struct identity *identity, oid term, struct documents *documents,
                         struct reason *why);
/* Finds the context of a document, as its number. */
enum status context_of(struct identity *identity, oid document, uint32_t *context,
                       struct reason *why);
/* Returns the documents of a context; valid until the next context is found. */
const struct documents *context_documents(const struct identity *identity, uint32_t context);

#endif
