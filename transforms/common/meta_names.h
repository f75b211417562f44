/* The meanings of the names of meta elements: docs/HTML.md lists them for people. */
#ifndef TRANSFORMS_COMMON_META_NAMES_H
#define TRANSFORMS_COMMON_META_NAMES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

enum meta_value {
    META_TEXT,      /* a plain string */
    META_PROSE,     /* a string in the page's language */
    META_KEYWORDS,  /* several, separated by commas */
    META_REFERENCE, /* a URL, relative to the page */
    META_PERHAPS,   /* an IRI when it is an absolute http URL, else a string */
    META_PLACE      /* latitude and longitude */
};

struct meta_term {
    const char *predicate; /* lives as long as *memory is not written to */
    enum meta_value value;
};

enum { META_NAME_MAXIMUM = 128 };

/* False: it cannot be a term. memory: for predicates put together. */
bool meta_term_of(struct slice name, struct buf *memory, struct meta_term *term);

/* The IRI of a Dublin Core name without its prefix, in any case: "Date", "date.issued",
 * "ispartof". terms: of DCMI terms, else the elements of 1.1. */
const char *meta_dublin_core(struct slice name, bool terms, struct buf *memory);
/* The datatype that a `scheme` of Dublin Core names: "W3CDTF", "DCTERMS.URI"; empty: none. */
struct slice meta_scheme_datatype(struct slice scheme, struct buf *memory);

#endif
