/* Records of what the index remembers of each document, in the tree "documents". FORMAT.md. Writers
 * call inside a transaction and the tree's latch, readers inside the latch. */
#ifndef INDEX_QUADS_DOCUMENTS_H
#define INDEX_QUADS_DOCUMENTS_H

#include "base/digest.h"
#include "index/quad_source.h"
#include "index/trees/environment.h"

struct document_entry {
    uint64_t generation;
    uint64_t quads;
    uint64_t indexed_ms;                /* wall time of the batch that last changed it */
    bool removed;                       /* its graph was emptied because the document is gone */
    bool linked_data;                   /* it came in an RDF syntax */
    bool patched;                       /* an import or update made it what it is: no digest */
    uint8_t digest[DIGEST_SHA256_SIZE]; /* of the sorted canonical N-Quads */
};

/* NOT_FOUND when the graph is none of ours. */
enum status documents_get(struct tree *documents, oid graph, struct document_entry *entry,
                          struct reason *why);
enum status documents_put(struct tree *documents, struct transaction *transaction, oid graph,
                          const struct document_entry *entry, struct reason *why);
/* The document with the least graph identifier not before *graph; END when there is none. */
enum status documents_next(struct tree *documents, oid *graph, struct document_entry *entry,
                           struct reason *why);

#endif
