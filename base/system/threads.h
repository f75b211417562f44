/* Threads that are used again. To make a thread and to end it takes ten times as long as to wake
 * one that waits, which short pieces of work notice: threads are kept when their work is done, as
 * many as threads_new allows, and work finds a new thread when none is idle.
 *
 * All calls are thread-safe. */
#ifndef BASE_SYSTEM_THREADS_H
#define BASE_SYSTEM_THREADS_H

#include <stdbool.h>
#include <stddef.h>

struct threads;
struct thread;

/* idle_most: threads kept while there is no work. niceness: added to that of the process in each
 * thread. */
struct threads *threads_new(size_t idle_most, int niceness);
/* Ends the idle ones; all work must have been joined. NULL is allowed. */
void threads_free(struct threads *threads);

/* Runs work(argument) in a thread. NULL: none can be started. */
struct thread *threads_start(struct threads *threads, void (*work)(void *argument), void *argument);
/* Returns when the work of threads_start has returned; the thread is no longer the caller's. */
void threads_join(struct thread *thread);

#endif
