/* Blank nodes of an imported file. Their labels mean nothing outside of it, so the quads that have
 * them wait until the file is read, in bounded memory, and then get names by what the nodes are:
 * graphs that are isomorphic come out the same, whatever their labels were, in whatever order and
 * pieces their quads stood. docs/RDF.md, "Blank nodes". */
#ifndef CLI_IMPORT_IMPORT_NODES_H
#define CLI_IMPORT_IMPORT_NODES_H

#include "rdf/core/graph.h"

struct import_nodes;
struct import_nodes_options {
    const char *folder;  /* of temporary files */
    size_t memory;       /* bytes */
    struct slice prefix; /* of names for nodes that cannot be told apart: the file's own */
    uint64_t work;       /* of canonicalising once; 0: CANONICAL_WORK */
    /* Adds the quads with blank nodes that the index has in the graph; LIMIT: too many for it. */
    enum status (*present)(void *context, struct slice graph, struct graph *quads,
                           struct reason *why);
    void *context;
};

struct import_nodes *import_nodes_new(const struct import_nodes_options *options);
void import_nodes_free(struct import_nodes *nodes);
/* Returns whether the quad (its graph an IRI) has a node that must be named. */
bool import_nodes_concern(const struct quad *quad);
enum status import_nodes_add(struct import_nodes *nodes, const struct quad *quad,
                             struct reason *why);
uint64_t import_nodes_count(const struct import_nodes *nodes); /* quads added */
/* After the last of them: hands on all that the index has not, under their names. */
enum status import_nodes_finish(struct import_nodes *nodes, const struct quad_sink *sink,
                                struct reason *why);
/* Quads whose nodes kept names of the file's own, because they are too alike or too many. */
uint64_t import_nodes_unnamed(const struct import_nodes *nodes);

#endif
