/* Keeps the writer and the readers of a partition apart while either is inside Berkeley DB.
 *
 * Many readers or one writer. Nobody holds the gate for long: a reader for a few blocks, the
 * writer for GATE_BLOCKS changed blocks, so that a large batch never keeps a query waiting for
 * more than about a millisecond. What a reader must not see of a batch half applied, snapshot.h
 * takes back. A waiting writer goes before new readers, and readers that wait while the writer
 * is inside are let in before it comes again.
 */
#ifndef INDEX_GATE_H
#define INDEX_GATE_H

#include <pthread.h>

enum { GATE_BLOCKS = 16 };

struct gate {
    pthread_rwlock_t lock;
};

static inline void
gate_init(struct gate *gate)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&gate->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
}

static inline void
gate_release(struct gate *gate)
{
    pthread_rwlock_destroy(&gate->lock);
}

static inline void
gate_enter_reading(struct gate *gate)
{
    pthread_rwlock_rdlock(&gate->lock);
}

static inline void
gate_enter_writing(struct gate *gate)
{
    pthread_rwlock_wrlock(&gate->lock);
}

static inline void
gate_leave(struct gate *gate)
{
    pthread_rwlock_unlock(&gate->lock);
}

#endif
