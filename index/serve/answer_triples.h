/* The stream TRIPLES: how many triples of a pattern there are, and which of them other partitions
 * may have as well. SEVERAL.md, "Counts of triples". */
#ifndef INDEX_SERVE_ANSWER_TRIPLES_H
#define INDEX_SERVE_ANSWER_TRIPLES_H

#include "index/serve/cursor.h"
#include "index/write/partition.h"

/* request: from the form on. */
enum status answer_triples(struct partition_reader *reader, struct slice request,
                           struct cursor *cursor, struct reason *why);

#endif
