/* The streams FIND and DESCRIBE: the statements of a lookup, and what little is said of each of
 * many resources, in rows of numbers and names of terms. PROTOCOL.md has the bytes. */
#ifndef INDEX_SERVE_ANSWER_LOOKUP_H
#define INDEX_SERVE_ANSWER_LOOKUP_H

#include "index/serve/cursor.h"
#include "index/write/partition.h"

/* request: what follows the kind of stream. needs: gets what the answer rests on. */
enum status answer_find(struct partition_reader *reader, struct slice request,
                        struct cursor *cursor, struct partition_needs *needs, struct reason *why);
enum status answer_describe(struct partition_reader *reader, struct slice request,
                            struct cursor *cursor, struct partition_needs *needs,
                            struct reason *why);

#endif
