/* The keeper: a partition's thread that takes committed literals into the keyword index, writes
 * checkpoints, and brings in what waits or is gathered when nothing came for a while. */
#ifndef INDEX_WRITE_KEEPER_H
#define INDEX_WRITE_KEEPER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct partition;

/* Guarded by the partition's mutex, but for more_come. */
struct keeper {
    pthread_t thread;
    bool runs, stopping;
    uint32_t pause_s; /* quads that wait are brought in after so long without any */
    enum status failed;
    struct reason failure; /* of failed */
    pthread_cond_t wake, settled;
    uint64_t next, written; /* the first literal not in the keyword index; not in its tree */
    uint64_t words_until;   /* wanted of written */
    bool checkpoint_due;
    atomic_bool more_come; /* a batch that will wait is being gathered */
};

void keeper_init(struct keeper *keeper, unsigned pause_s);
/* Starts the thread, once all stores are open. */
enum status keeper_start(struct partition *partition, struct reason *why);
/* Ends the thread, if it was started; before any store is closed. */
void keeper_stop(struct partition *partition);

/* Is called after a commit, with the mutex held. */
void keeper_note_commit(struct partition *partition);
/* Says whether a batch that will wait is being gathered: then nothing that waits is brought in. */
void keeper_expect(struct partition *partition, bool more);
/* Returns the first number of a literal that cannot be found yet. */
uint64_t keeper_words(struct partition *partition);
/* OK while the keeper is well. */
enum status partition_health(struct partition *partition, struct reason *why);
/* Waits until no words of what is committed are in memory alone, or the disk is full. Not with
 * `writer` held. */
enum status partition_write_words(struct partition *partition, struct reason *why);

#endif
