/* Documents out of a dump into the pipeline: each gets the blank node labels that it would have had
 * if it had been fetched, is archived as a conversion record, noted in the metadata store and put
 * to the queue as a slice (queue/PROTOCOL.md), in this order and in batches. Repeating all of it
 * after a crash makes no difference to the index. */
#ifndef CLI_DATASETS_SLICE_STORE_H
#define CLI_DATASETS_SLICE_STORE_H

#include "cli/shared/cli.h"
#include "dumps/slicer.h"
#include "rdf/core/graph.h"

struct slice_store_options {
    struct slice dump;      /* URI of the dump, for provenance */
    struct slice slicing;   /* how it was sliced, for people */
    struct slice authority; /* dc:publisher; empty: none */
    struct slice refers_to; /* WARC-Record-ID of the archived dump; empty: none */
    uint64_t fetched_ms;    /* wall time of the dump */
    unsigned depth;         /* of the documents */
    unsigned threads;       /* that slice_store_take is called from */
    bool remember;          /* what was taken, for slice_store_has: 8 bytes a document */
};

struct slice_store;
enum status slice_store_open(struct slice_store **store, struct cli *cli,
                             const struct slice_store_options *options, struct reason *why);
/* Drops what was not flushed. NULL is allowed. */
void slice_store_close(struct slice_store *store);
/* A document's canonical N-Quads in text (reset here), as transform would have written them. */
enum status sliced_quads(struct graph *graph, const struct sliced_document *document,
                         struct buf *text, struct reason *why);
/* A slicer_visit. */
slicer_visit slice_store_take;
/* Returns whether the document was taken. */
bool slice_store_has(struct slice_store *store, struct slice uri);
/* A document that is no more: its graph is emptied. */
enum status slice_store_remove(struct slice_store *store, struct slice uri, struct reason *why);
/* All taken so far is durable and queued when it returns OK. */
enum status slice_store_flush(struct slice_store *store, struct reason *why);
struct slice_store_counts {
    uint64_t documents, quads, removed;
    uint64_t refused; /* too large or too complex to be a document */
};
void slice_store_counted(const struct slice_store *store, struct slice_store_counts *counts);

#endif
