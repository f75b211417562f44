/* TriX, triples and graphs in plain XML, by libxml2's SAX interface. See rdf/core/parse.h.
 * Source: J. Carroll, P. Stickler: RDF Triples in XML, HP Laboratories HPL-2003-268, 2004.
 *
 * The namespace is taken from the root element, since several are in use. Hostile input as in
 * rdf/rdfxml/rdfxml.h: nothing is loaded, external entities read as empty, libxml2 and we bound
 * what internal ones multiply.
 */
#ifndef RDF_RDFXML_TRIX_H
#define RDF_RDFXML_TRIX_H

#include "rdf/core/parse.h"

parse_function trix_parse;

#endif
