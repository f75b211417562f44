/* A graph as a picture: SVG that needs no script, for a page that has it inside. */
#ifndef CLI_INSPECTION_GRAPH_DRAWING_H
#define CLI_INSPECTION_GRAPH_DRAWING_H

#include "base/buf.h"
#include "rdf/core/term.h"

enum { DRAWING_NODES = 40, DRAWING_EDGES = 80 };

/* Statements are drawn in their order, each once, as long as their ends are among the first
 * DRAWING_NODES terms; returns how many of them were left out. The same statements give the same
 * picture. */
size_t graph_drawing(struct buf *out, const struct quad *const *statements, size_t count);

#endif
