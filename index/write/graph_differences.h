/* Finds what the documents of a batch change: each graph's new rows against its old ones. */
#ifndef INDEX_WRITE_GRAPH_DIFFERENCES_H
#define INDEX_WRITE_GRAPH_DIFFERENCES_H

#include "index/sort/oid_sort.h"
#include "index/write/batch.h"

struct differences {
    struct partition *partition;
    const struct index_batch *batch;
    struct census *census;       /* the caller's: told of all subjects that change */
    uint64_t old_terms;          /* terms with a greater number are new in this batch */
    struct quad_change *changes; /* of all graphs so far, sorted; the caller's */
    size_t count, capacity;
    /* Private: of the graph at hand. */
    struct new_row *rows, *sorted;
    size_t row_count, row_capacity;
    struct sort_item *items, *spare;
    struct row_vector old;
    struct row_vector subject;
};

/* batch: whose terms the documents' quads are of; NULL for differences_add_rows alone. */
void differences_init(struct differences *differences, struct partition *partition,
                      const struct index_batch *batch, struct census *census, uint64_t old_terms);
/* Room for so many changes, where their number is known before. */
void differences_reserve(struct differences *differences, size_t changes);
/* Adds the differences of one document, or of n patches of one graph in their order. Graphs must
 * come in the order of their identifiers. Fills added and removed of each one's result: of patches,
 * each change counts for the last one that wanted it. */
enum status differences_add(struct differences *differences,
                            struct batch_document *const *documents, size_t n, struct reason *why);
/* Adds rows (CSPO, ascending, each once) to the graph of d, which is known or
 * not. Rows of a graph may come in several calls, but those of a subject in one. */
enum status differences_add_rows(struct differences *differences, struct batch_document *d,
                                 const struct row *rows, size_t count, struct reason *why);
/* Gathers the rows of n patches that only add, sorted, each once. Valid until the next call. */
struct row *differences_sort(struct differences *differences,
                             struct batch_document *const *documents, size_t n, size_t *count);
/* All but the changes. */
void differences_release(struct differences *differences);

#endif
