/* A batch: the documents and patches that are gathered, and what became of each. batch_gather.c
 * fills it; batch_commit.c and batch_stage.c decide what of it is written (fields of a document
 * from `old` on); others read it. */
#ifndef INDEX_WRITE_BATCH_H
#define INDEX_WRITE_BATCH_H

#include "base/buf.h"
#include "index/write/partition_state.h"

/* A quad as indexes into the batch's terms. */
struct batch_quad {
    uint32_t subject, predicate, object;
};

struct batch_document {
    uint32_t graph; /* index of the URI's term */
    uint64_t generation;
    bool patch; /* quads to remove and to add; else all quads of the document */
    bool removed, linked_data, wanted, known;
    size_t first, count; /* quads, duplicates among them */
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

/* No term gets an identifier unless it is wanted: those of quads first .. end - 1. */
void batch_want_no_terms(struct index_batch *batch);
void batch_want_terms(struct index_batch *batch, size_t first, size_t end);
/* Brings totals up to date after `added` terms got identifiers. */
void batch_count_literals(const struct term_set *terms, uint64_t added, struct totals *totals);
/* Compares for qsort by graph; documents of one graph stay as they came. */
int batch_compare_documents(const void *a, const void *b);
/* Returns how many of sorted documents have the graph of the one at `from`: several are patches,
 * and the first stands for all. */
size_t batch_same_graph(struct batch_document *const *documents, size_t count, size_t from);

#endif
