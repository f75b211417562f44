/* Writes what batches changed, as lines: PROTOCOL.md, stream CHANGES. */
#ifndef INDEX_SERVE_CHANGE_LINES_H
#define INDEX_SERVE_CHANGE_LINES_H

#include "index/write/partition.h"

struct change_request {
    struct change_position since;
    const struct slice *graphs; /* only changes of these; 0: of all */
    size_t graph_count;
};

/* All batches after `since` that are committed by now; at the end *since is the last one's
 * position. STALE: change_reader_open. */
enum status partition_changes(struct partition *partition, struct change_request *request,
                              partition_report *piece, void *context, struct reason *why);

/* The last batch that changed a document, as far as it did; nothing for one that the index does not
 * know. STALE: the batch is not kept any more. */
enum status partition_last_change(struct partition *partition, struct slice uri,
                                  partition_report *piece, void *context, struct reason *why);

#endif
