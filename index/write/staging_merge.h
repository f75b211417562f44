/* Imports of many quads: index_batch_stage stores a batch's terms and lets its quads wait on the
 * disk; merge_staged takes all that wait into the trees at once, so that each block is read and
 * written once for millions of quads. What waits is durable; readers see all of it from one commit
 * on. */
#ifndef INDEX_WRITE_STAGING_MERGE_H
#define INDEX_WRITE_STAGING_MERGE_H

#include "index/write/partition_state.h"

/* Takes all that waits into the trees, with `writer` held. Nothing waits afterwards when OK. */
enum status merge_staged(struct partition *partition, struct reason *why);

#endif
