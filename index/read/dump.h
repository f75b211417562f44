/* All quads of a partition as sorted canonical N-Quads: the same bytes for the same content,
 * however it came in. Memory is bounded; what is more is sorted in temporary files. */
#ifndef INDEX_READ_DUMP_H
#define INDEX_READ_DUMP_H

#include "index/write/partition.h"

typedef enum status dump_piece(void *context, struct slice bytes, struct reason *why);
/* Dumps the partition as it is now, while the writer goes on. scratch_folder: for sorted runs.
 * with_position: a line before all others says as of which position: "position TAB position". */
enum status partition_dump(struct partition *partition, bool with_position,
                           const char *scratch_folder, size_t sort_memory, dump_piece *piece,
                           void *context, struct reason *why);

#endif
