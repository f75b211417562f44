/* Slicing: which triples of a dataset describe which of its resources.
 * Sources: Semantic Web Crawling: A Sitemap Extension (2007), section 7; Cyganiak et al.,
 * Semantic Sitemaps (ESWC 2008), section 4.4; Stickler, CBD - Concise Bounded Description (W3C
 * Member Submission, 2005); Tummarello et al., Signing individual fragments of an RDF graph
 * (WWW 2005) for minimal self-contained graphs.
 */
#ifndef DUMPS_SLICING_H
#define DUMPS_SLICING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/slice.h"

/* The description of a resource X holds all triples ... */
enum slicing {
    SLICING_NONE,
    SLICING_SUBJECT,        /* with subject X */
    SLICING_SUBJECT_OBJECT, /* with subject or object X */
    SLICING_CBD,            /* with subject X, then on through blank objects; reifications */
    SLICING_SCBD,           /* CBD; with object X, then back through blank subjects */
    SLICING_MSG             /* of the minimal self-contained graphs that X is in */
};
const char *slicing_name(enum slicing slicing); /* "subject", ..., "msg"; "" for none */
/* Reads a slicing's name in upper or lower case, with "-", "_" or nothing between words, or its
 * long name. */
bool slicing_of_name(struct slice name, enum slicing *slicing);

/* Resources whose IRIs begin with prefix (empty: all), how their data are sliced, and which
 * document each is described by: the IRI without its fragment, with replacement in place of
 * prefix (when replaced) and with suffix behind. */
struct slice_space {
    struct slice prefix;
    enum slicing slicing;
    bool replaced;
    struct slice replacement, suffix;
};

/* The space with the longest prefix of the IRI; NULL: none. */
const struct slice_space *slice_space_of(const struct slice_space *spaces, size_t count,
                                         struct slice iri);
/* Returns what the slices of one document have in common: the IRI up to its fragment. */
struct slice slice_key(struct slice iri);
/* Appends the document that describes the resource. */
void slice_document(const struct slice_space *space, struct slice key, struct buf *document);

#endif
