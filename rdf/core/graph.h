/* A dataset in memory: an array of quads whose bytes lie in one arena.
 * Not thread-safe; graph_reset makes it ready for the next document without freeing.
 */
#ifndef RDF_CORE_GRAPH_H
#define RDF_CORE_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/digest.h"
#include "rdf/core/term.h"

enum { GRAPH_CACHE = 256 };

struct graph {
    struct arena arena; /* the terms' bytes */
    struct quad *quads;
    size_t count, capacity;
    size_t maximum;                  /* bytes of quads and terms together; 0: no maximum */
    struct slice cache[GRAPH_CACHE]; /* recent strings, to store each once; private */
};

void graph_init(struct graph *graph, size_t maximum);
void graph_reset(struct graph *graph);
void graph_release(struct graph *graph);

/* Copies the quad. LIMIT past the maximum. */
enum status graph_add(struct graph *graph, const struct quad *quad, struct reason *why);
struct quad_sink graph_sink(struct graph *graph); /* graph_add as a sink */
/* Hands every quad to sink in the array's order. */
enum status graph_send(const struct graph *graph, const struct quad_sink *sink, struct reason *why);

/* Order of quad_compare (that of canonical N-Quads lines); duplicates by source and line. */
void graph_sort(struct graph *graph);
/* Removes duplicates from a sorted graph; the first of them stays. */
void graph_unique(struct graph *graph);
void graph_sort_unique(struct graph *graph); /* both */
/* SHA-256 of the quads' canonical N-Quads in the array's order. The graph's digest in the
 * sense of RDFC-1.0 when relabelled and sorted before. */
void graph_digest(const struct graph *graph, uint8_t digest[DIGEST_SHA256_SIZE]);

#endif
