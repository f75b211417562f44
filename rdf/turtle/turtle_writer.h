/* Turtle for people to read: prefixes, subjects grouped, rdf:type first as `a`, blank nodes
 * that are the object of one triple nested. For small graphs. Graph names are not shown.
 */
#ifndef RDF_TURTLE_TURTLE_WRITER_H
#define RDF_TURTLE_TURTLE_WRITER_H

#include "base/buf.h"
#include "rdf/core/graph.h"

struct turtle_prefix {
    const char *prefix; /* "dcterms"; may be "" */
    const char *iri;
};
/* Names that most of the web's data uses; ended by prefix NULL. */
extern const struct turtle_prefix turtle_prefixes[];

/* Sorts the graph, then appends it. Only prefixes in use are declared.
 * prefixes: ended by prefix NULL; NULL: turtle_prefixes. LIMIT past the buffer's maximum. */
enum status turtle_write(struct buf *out, struct graph *graph, const struct turtle_prefix *prefixes,
                         struct reason *why);

#endif
