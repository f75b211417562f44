/* Inside of a batch: shared by batch.c (gathering, commit) and differences.c. */
#ifndef INDEX_BATCH_PRIVATE_H
#define INDEX_BATCH_PRIVATE_H

#include "base/buf.h"
#include "index/partition_private.h"

/* A quad as indexes into the batch's terms. */
struct batch_quad {
    uint32_t subject, predicate, object;
};

struct batch_document {
    uint32_t graph; /* index of the URI's term */
    uint64_t generation;
    bool patch; /* quads to remove and to add; else all quads of the document */
    bool removed, linked_data, wanted, known;
    size_t first, count; /* quads, doubles among them */
    size_t removals;     /* of a patch: so many of them, the first ones, are to be removed */
    struct document_entry old;
    struct index_result result;
    oid graph_id;
};

struct index_batch {
    struct partition *partition;
    struct term_set terms;
    struct batch_quad *quads;
    size_t quad_count, quad_capacity;
    struct batch_document *documents;
    size_t count, capacity;
    bool open;          /* between begin and end: documents[count] */
    struct buf lines;   /* canonical lines of the open document */
    struct slice graph; /* its URI, in the set's arena */
    size_t *ends;       /* where each line ends */
    size_t line_count, line_capacity;
    bool ascending; /* lines so far ascend strictly */
    struct slice *sorted;
    size_t sorted_capacity;
    struct buf sorted_lines;
};

#endif
