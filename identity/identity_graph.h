/* Tells who is the same as whom, as the graph q:identity beside the quads of another source.
 *
 * The graph is not stored. A pattern in it with a bound subject or object gives `?a owl:sameAs ?b`
 * for all of that resource's cluster, itself included, so that a query goes on with ?b over all
 * that is said of it under any name. With neither bound a pattern is UNSUPPORTED; in a query one
 * that binds them goes before. The graph is part of neither the union of all graphs nor of what
 * GRAPH ?g ranges over.
 *
 * The other source gives an identifier to every term that it is asked for, as those of several
 * partitions and of q:provenance do. One thread. */
#ifndef IDENTITY_IDENTITY_GRAPH_H
#define IDENTITY_IDENTITY_GRAPH_H

#include "identity/identity.h"

struct identity_graph;

struct identity_graph *identity_graph_new(const struct identity_settings *settings);
void identity_graph_free(struct identity_graph *graph); /* NULL is allowed */
const struct quad_source *identity_graph_source(struct identity_graph *graph);

#endif
