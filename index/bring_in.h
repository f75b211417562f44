/* Imports of many quads: index_batch_wait stores a batch's terms and lets its quads wait on the
 * disk; bring_in takes all that wait into the trees at once, so that each block is read and written
 * once for millions of quads. What waits is durable; readers see all of it from one commit on. */
#ifndef INDEX_BRING_IN_H
#define INDEX_BRING_IN_H

#include "index/partition_private.h"

/* With `writer` held. Nothing waits afterwards when OK. */
enum status bring_in(struct partition *partition, struct reason *why);

#endif
