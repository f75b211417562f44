/* The blank nodes of a graph, numbered by first appearance (subject, object, graph of each
 * quad in turn).
 */
#ifndef RDF_CANONICAL_BLANK_INDEX_H
#define RDF_CANONICAL_BLANK_INDEX_H

#include "rdf/canonical/canonical.h"

enum { BLANK_PLACES = 3 }; /* subject, object, graph */
#define BLANK_NONE UINT32_MAX

struct blank_index {
    size_t count;
    struct slice *labels; /* pointing into the graph */
    /* The places of each quad; NULL when count is 0. BLANK_NONE: no blank node stands there. */
    uint32_t (*places)[BLANK_PLACES];
};

void blank_index_build(struct blank_index *index, const struct graph *graph);
void blank_index_release(struct blank_index *index);

static inline struct term *
blank_place(struct quad *quad, int place)
{
    struct term *terms[BLANK_PLACES] = {&quad->subject, &quad->object, &quad->graph};
    return terms[place];
}

/* Puts labels[number] for each blank node. */
void blank_index_rename(const struct blank_index *index, struct graph *graph,
                        const struct slice *labels);

/* canonical_issue on an index that is not empty: numbers[index->count]. */
enum status canonical_number(const struct graph *graph, const struct blank_index *index,
                             enum canonical_hash hash, uint64_t work, uint32_t *numbers);

#endif
