/* RDF/XML by libxml2's SAX interface: no tree is built. See rdf/core/parse.h.
 * Source: https://www.w3.org/TR/rdf-syntax-grammar/ (2014).
 *
 * Hostile input: no network, no file, no external entity, no external DTD subset. Entities
 * of the internal subset are expanded (documents use them to shorten namespaces) within
 * libxml2's amplification limit and our own: expanded text past 10 MiB must not exceed
 * five times the document. An external entity reads as empty, which is a problem reported.
 * rdf:parseType="Literal" gives Exclusive XML Canonicalization with comments.
 */
#ifndef RDF_RDFXML_RDFXML_H
#define RDF_RDFXML_RDFXML_H

#include "rdf/core/source.h"

parse_function rdfxml_parse;
/* Memory is taken for the largest term, and eight bytes for each rdf:ID. */
rdf_read_function rdfxml_read;

#endif
