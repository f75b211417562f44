/* RDF Dataset Canonicalization, RDFC-1.0: https://www.w3.org/TR/rdf-canon/ (2024).
 *
 * Blank nodes get labels that depend on the dataset's structure alone. The algorithm is
 * exponential on datasets made for it, so it works under a limit. Datasets without blank
 * nodes cost nothing, and blank nodes whose own quads tell them apart one hash each.
 */
#ifndef RDF_CANONICAL_CANONICAL_H
#define RDF_CANONICAL_CANONICAL_H

#include "rdf/core/graph.h"

enum canonical_hash { CANONICAL_SHA256, CANONICAL_SHA384 };
enum {
    CANONICAL_WORK = 1000000, /* default limit, in about as many hashes: half a second */
    CANONICAL_DEPTH = 1000    /* recursion of "hash n-degree quads"; past it LIMIT too */
};

/* Blank nodes of a dataset in order of first appearance (subject, object, graph of each quad
 * in turn). Owned by the map. */
struct canonical_map {
    size_t count;
    struct slice *labels; /* as in the dataset, pointing into it */
    uint32_t *numbers;    /* canonical: _:c14n<number>; UINT32_MAX when not issued (LIMIT) */
};
void canonical_map_release(struct canonical_map *map);

/* Fills *map (to be released also after LIMIT, then with labels, and numbers all UINT32_MAX).
 * work 0: CANONICAL_WORK. Order and duplicates of quads do not matter. */
enum status canonical_issue(const struct graph *graph, enum canonical_hash hash, uint64_t work,
                            struct canonical_map *map, struct reason *why);

/* RDFC-1.0 in place: labels c14n0, c14n1, ...; sorted, duplicates removed. LIMIT leaves the graph
 * as it was. */
enum status graph_canonicalize(struct graph *graph, enum canonical_hash hash, uint64_t work,
                               struct reason *why);

/* The labels that blank nodes bear in the index: "d" + 16 hex digits of the document's
 * fingerprint64 + "n" + canonical number. When the work limit is hit: "p" for "n" and the
 * number by first appearance in the graph, which is deterministic for the same bytes (then
 * *canonical, which may be NULL, becomes false). Order and duplicates stay.
 * LIMIT only when the new labels do not fit the graph's maximum. */
enum status graph_relabel(struct graph *graph, struct slice document, uint64_t work,
                          bool *canonical, struct reason *why);

#endif
