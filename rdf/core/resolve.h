/* Relative IRIs of a document made absolute, without copying those that are. */
#ifndef RDF_CORE_RESOLVE_H
#define RDF_CORE_RESOLVE_H

#include <stdbool.h>

#include "base/buf.h"
#include "rdf/core/scratch.h"

struct iri_base {
    struct slice iri;      /* empty: none */
    struct slice document; /* iri without fragment */
};

static inline struct iri_base
iri_base_of(struct slice iri)
{
    return (struct iri_base){.iri = iri, .document = slice_of(iri.at, slice_find(iri, '#'))};
}

/* Resolves *iri (RFC 3986 section 5.2, strict). It stays the slice it is where the result is
 * the same, else it lies in scratch; work is for intermediate use. False: no absolute base, or
 * the result does not fit work. */
bool iri_base_resolve(const struct iri_base *base, struct slice *iri, struct scratch *scratch,
                      struct buf *work);

#endif
