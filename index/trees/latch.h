/* Keeps the writer and the readers of a tree apart while either is inside Berkeley DB. Each tree
 * has a latch of its own (tree_latch): a batch changes one after the other, and who reads the rest
 * does not wait; above all the terms of an answer are read while quads are written.
 *
 * Many readers or one writer. Nobody holds a latch for long: a reader for a few blocks, the writer
 * for GATE_BLOCKS changed blocks. What a reader must not see of a batch half applied,
 * index/quads/snapshot.h takes back. Inside a latch nobody enters another tree's, except the writer
 * all of them.
 *
 * It is fair by phases (Brandenburg and Anderson, Reader-writer synchronization for shared-memory
 * multiprocessor real-time systems, 2009): a writer that waits goes before readers that come later,
 * and when it leaves, all readers that came meanwhile are inside at that instant, before it or
 * another writer can come again. So a reader waits for one hold of the writer at most, and the
 * writer for one of each reader. pthread's locks do not promise the former: a woken reader has to
 * run to get in, and on a busy machine the writer was always back before it did.
 */
#ifndef INDEX_TREES_LATCH_H
#define INDEX_TREES_LATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { LATCH_BLOCKS = 16 };

struct latch {
    pthread_mutex_t mutex;
    pthread_cond_t may_read, may_write;
    unsigned reading;          /* inside */
    unsigned readers, writers; /* waiting */
    bool writing;              /* one is inside */
    uint64_t phase;            /* grows when a writer leaves */
};

void latch_init(struct latch *latch);
void latch_release(struct latch *latch);
void latch_enter_reading(struct latch *latch);
void latch_enter_writing(struct latch *latch);
void latch_leave(struct latch *latch); /* either */

#endif
