/* The terms of RDF, RDFS, OWL and others that say what is a property or class, what people read of
 * it, and which documents belong together. Constant data. */
#ifndef CLI_VALIDATION_VOCABULARY_TERMS_H
#define CLI_VALIDATION_VOCABULARY_TERMS_H

#include <stdbool.h>

#include "base/slice.h"

/* Flags of what statements with a predicate say; they are or'ed. */
enum vocabulary_role {
    ROLE_LABEL = 1,     /* a name for people */
    ROLE_TEXT = 2,      /* a description for people */
    ROLE_FORM = 4,      /* the object is another form of a document */
    ROLE_PAGE = 8,      /* the object may be a page about the subject */
    ROLE_PROPERTY = 16, /* the object is a property */
    ROLE_CLASS = 32     /* the object is a class */
};
unsigned vocabulary_role(struct slice predicate);

/* Returns SAID_PROPERTY for a class whose members are properties, SAID_CLASS for one whose members
 * are classes, and 0 for all others. */
unsigned vocabulary_kind(struct slice class);

/* Terms that the standards of RDF, RDFS, OWL and XML Schema define. */
bool vocabulary_is_standard(struct slice iri);

#endif
