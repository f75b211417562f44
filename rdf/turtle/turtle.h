/* Turtle, TriG and what of N3 is RDF (turtle_n3.c). See rdf/core/parse.h for what all parsers
 * promise. Source: https://www.w3.org/TR/turtle/, https://www.w3.org/TR/trig/ (2014). docs/RDF.md
 * says why these are read here and not by libserd.
 *
 * IRIs are resolved by RFC 3986 strictly. Lenient parsing goes on after the next line that
 * ends in a full stop.
 */
#ifndef RDF_TURTLE_TURTLE_H
#define RDF_TURTLE_TURTLE_H

#include "rdf/core/source.h"

parse_function turtle_parse;
parse_function trig_parse;
parse_function n3_parse;

/* Memory is taken for the largest statement. N3 has no such place to cut it at. */
rdf_read_function turtle_read;
rdf_read_function trig_read;

#endif
