/* The stream ROWS: what matches each of many patterns, in the order of the patterns, as rows of
 * numbers that stand for terms, which are sent once. PROTOCOL.md has the bytes. */
#ifndef INDEX_SERVE_ANSWER_ROWS_H
#define INDEX_SERVE_ANSWER_ROWS_H

#include "index/quad_source.h"
#include "index/serve/cursor.h"
#include "index/write/partition.h"

/* request: from the flags on. */
enum status answer_rows(struct partition *partition, const struct quad_source *source,
                        struct slice request, struct cursor *cursor, struct reason *why);

#endif
