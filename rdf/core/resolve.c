#include "rdf/core/resolve.h"

#include "base/url/url.h"
#include "rdf/core/lexical.h"
#include "rdf/core/scan.h"

bool
iri_base_resolve(const struct iri_base *base, struct slice *iri, struct scratch *scratch,
                 struct buf *work)
{
    const bool absolute = lexical_has_scheme(*iri);
    if (absolute && !scan_has_pair(*iri, '/', '.')) {
        return true;
    }
    if (!absolute && base->iri.length == 0) {
        return false;
    }
    if (iri->length == 0 || iri->at[0] == '#') {
        *iri = scratch_join(scratch, base->document, *iri);
        return true;
    }
    buf_reset(work);
    if (iri_resolve(base->iri, *iri, work, NULL) != STATUS_OK) {
        return false;
    }
    *iri = scratch_copy(scratch, buf_slice(work));
    return true;
}
