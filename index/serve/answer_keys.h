/* The stream KEYS, and the lists of keys in other requests: SEVERAL.md, "Keys of several
 * partitions". */
#ifndef INDEX_SERVE_ANSWER_KEYS_H
#define INDEX_SERVE_ANSWER_KEYS_H

#include "index/serve/cursor.h"
#include "index/write/partition.h"

/* request: its arguments after the session's flags. */
enum status answer_keys(struct partition *partition, struct slice request, struct cursor *cursor,
                        struct reason *why);

#endif
