/* The root element of an XML document, from its first bytes, without a parser library: what
 * detection and the registry need. Bounded, allocates nothing but `memory`.
 */
#ifndef TRANSFORMS_XML_XML_PEEK_H
#define TRANSFORMS_XML_XML_PEEK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

struct xml_peek {
    bool declaration;      /* begins with <?xml */
    struct slice encoding; /* of the declaration */
    struct slice doctype;  /* name in <!DOCTYPE */
    struct slice public_id;
    struct slice root; /* local name of the root element */
    struct slice prefix;
    struct slice namespace; /* of the root element; empty: none */
};

/* bytes: the document's beginning in an ASCII-compatible encoding, byte order mark allowed.
 * False: what stands there cannot be the beginning of XML, or the root's start tag is not in
 * it. Slices point into bytes, namespace perhaps into memory (reset first). */
bool xml_peek(struct slice bytes, struct buf *memory, struct xml_peek *peek);

#endif
