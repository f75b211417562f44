/* Changes of batches that are gathered in memory (index/quads/memtable.h) before they are brought
 * into the trees: when, how fast, and from where a start has them. WRITING.md, "Gathered changes".
 *
 * The record G has the number of the first batch of which changes are gathered. Each transaction
 * that begins to gather, or ends a flush, writes it. The partition's writer is held. */
#ifndef INDEX_WRITE_GATHERING_H
#define INDEX_WRITE_GATHERING_H

#include "index/write/graph_transaction.h"

/* Takes, at the start, what was gathered before from the change log. A damaged page of it is no
 * failure: then the trees that lack changes cannot be read, and nothing can be written. */
enum status gathering_open(struct partition *partition, struct reason *why);
/* Publishes the commit's set for readers and brings it into the six trees; or into CSPO alone, and
 * a part of what was gathered before into the others. */
enum status gathering_apply(struct commit *commit, struct reason *why);
/* The commit's transaction has ended; its set was published. */
void gathering_end(struct commit *commit, bool committed);
/* Commits, without a batch, a transaction that brings a part of what is gathered into the trees.
 * *more: not all of it. */
enum status gathering_flush_some(struct partition *partition, bool *more, struct reason *why);

#endif
