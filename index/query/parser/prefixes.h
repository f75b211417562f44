/* Prefixes that need no declaration, in queries, in patterns and wherever else people write names:
 * `quadrille prefixes` prints them. A query's own declaration goes before. */
#ifndef INDEX_QUERY_PARSER_PREFIXES_H
#define INDEX_QUERY_PARSER_PREFIXES_H

#include "base/slice.h"

struct known_prefix {
    const char *prefix, *iri;
};
extern const struct known_prefix known_prefixes[]; /* by prefix; ended by prefix NULL */

/* The IRI that a prefix stands for, NULL when it is not known. */
const char *prefix_iri(struct slice prefix);

#endif
