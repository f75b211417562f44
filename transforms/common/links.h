/* URLs of a document to IRIs that RDF may hold. */
#ifndef TRANSFORMS_COMMON_LINKS_H
#define TRANSFORMS_COMMON_LINKS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/url/url.h"

/* The IRI of a URL: characters that IRIs in N-Quads must not have are percent-encoded.
 * Appends to out. False (nothing appended): not absolute, or not UTF-8. The graph of a document
 * is document_iri of its crawl key. */
bool document_iri(struct slice url, struct buf *out);

enum { LINK_MAXIMUM = 64 << 10 /* bytes of a URL */ };

/* Resolves links by the WHATWG URL standard against the document's base. */
struct links {
    struct buf base_memory, memory, iri;
    struct url base;
    bool has_base;
};
void links_init(struct links *links);
void links_release(struct links *links);
/* base: absolute URL of the document. False: not one. */
bool links_begin(struct links *links, struct slice base);
/* <base href>: itself relative to the document. Ignored when it is not a URL. */
void links_rebase(struct links *links, struct slice href);
/* *iri lives until the next call. False: not a URL, or of a scheme that leads nowhere
 * (javascript, data, about, blob). */
bool links_resolve(struct links *links, struct slice href, struct slice *iri);

#endif
