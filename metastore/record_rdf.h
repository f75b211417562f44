/* A record as RDF, with the vocabularies others know: HTTP in RDF (W3C Note, 2017), PROV-O,
 * DCTERMS, DCAT and SPDX (sizes and checksums), VoID, Web Annotation selectors for the byte
 * range of a WARC record, which is named by its WARC-Record-ID. What none of them has a term
 * for is in META_NAMESPACE. docs/METADATA.md shows an example. index/read/provenance.h answers
 * queries from the same quads.
 */
#ifndef METASTORE_RECORD_RDF_H
#define METASTORE_RECORD_RDF_H

#include "base/buf.h"
#include "base/slice.h"
#include "rdf/core/term.h"

#define META_NAMESPACE "urn:x-quadrille:meta#"

/* key: "u" + URI or "h" + origin. graph: of all quads. Blank node labels are fixed names
 * ("request", "fetch", ...): unique within one record. Predicates are strings that live as long as
 * the program, the same pointer each time. MISUSE for another key. */
enum status meta_quads(struct slice key, struct slice record, const struct term *graph,
                       const struct quad_sink *sink, struct reason *why);

/* Appends a whole Turtle document. */
enum status meta_turtle(struct slice key, struct slice record, struct buf *out, struct reason *why);

#endif
