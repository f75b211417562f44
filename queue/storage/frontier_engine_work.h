/* Records leave memory (a flush) and runs are merged. Such work reads what nobody changes any more
 * and writes files that nobody knows of yet, so it needs no lock and runs in a thread of its own;
 * what comes of it is installed by the owner's thread, in one transaction. At most one flush and
 * one merge are under way. All functions are for the owner's thread. */
#ifndef QUEUE_STORAGE_FRONTIER_ENGINE_WORK_H
#define QUEUE_STORAGE_FRONTIER_ENGINE_WORK_H

#include "queue/storage/frontier_engine.h"

struct frontier_work;
struct frontier_work *frontier_work_new(void);
/* Waits for work under way and forgets it; what it wrote is removed at the next start. NULL is
 * allowed. */
void frontier_work_free(struct frontier *frontier, struct frontier_work *work);

/* Installs work that has ended, begins what is due; waits for it when memory is at its limit. A
 * full disk is no failure here: it is tried again. */
enum status frontier_advance(struct frontier *frontier, struct reason *why);
/* Returns whether any work is under way. */
bool frontier_work_goes_on(const struct frontier_work *work);
/* Returns how many bytes were written to runs. */
uint64_t frontier_work_written(const struct frontier_work *work);

#endif
