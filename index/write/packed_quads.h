/* Quads to be added, packed for the way from an importer to the index: each term once, quads as
 * numbers of terms. PROTOCOL.md, change PACKED. */
#ifndef INDEX_WRITE_PACKED_QUADS_H
#define INDEX_WRITE_PACKED_QUADS_H

#include "base/codec.h"
#include "index/terms/term_set.h"
#include "index/write/partition.h"

/* Indexes into a term set. */
struct packed_quad {
    uint32_t subject, predicate, object, graph;
};

/* Appends all; terms: those of the quads, graphs IRIs. Sorts quads by graph, stable, when they are
 * not yet. */
void packed_quads_write(struct buf *out, const struct term_set *terms, struct packed_quad *quads,
                        size_t count);
/* Into the batch as patches, one for each graph. PROTOCOL when malformed: then some of it may be in
 * the batch. */
enum status packed_quads_read(struct codec_reader *in, struct index_batch *batch,
                              struct reason *why);

#endif
