#include "base/system/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"

struct threads {
    size_t idle_most;
    int niceness;
    pthread_mutex_t mutex; /* guards what follows, and the threads */
    struct thread *idle;
    size_t idle_count;
};

struct thread {
    struct threads *threads;
    pthread_t id;
    pthread_cond_t changed;
    void (*work)(void *argument); /* NULL: none */
    void *argument;
    bool ends;
    struct thread *next; /* of the idle ones */
};

/* The work of threads_start comes and goes; who waits for either waits for a change. */
static void *
run(void *argument)
{
    struct thread *thread = argument;
    struct threads *threads = thread->threads;
    if (threads->niceness != 0) {
        const int niceness = nice(threads->niceness); /* of this thread */
        (void)niceness;
    }
    (void)pthread_mutex_lock(&threads->mutex);
    while (!thread->ends) {
        if (thread->work == NULL) {
            (void)pthread_cond_wait(&thread->changed, &threads->mutex);
            continue;
        }
        (void)pthread_mutex_unlock(&threads->mutex);
        thread->work(thread->argument);
        (void)pthread_mutex_lock(&threads->mutex);
        thread->work = NULL;
        (void)pthread_cond_signal(&thread->changed);
    }
    (void)pthread_mutex_unlock(&threads->mutex);
    return NULL;
}

struct threads *
threads_new(size_t idle_most, int niceness)
{
    struct threads *threads = memory_new(sizeof *threads);
    threads->idle_most = idle_most;
    threads->niceness = niceness;
    (void)pthread_mutex_init(&threads->mutex, NULL);
    return threads;
}

/* Ends a thread without work. The mutex is not held. */
static void
end(struct thread *thread)
{
    struct threads *threads = thread->threads;
    (void)pthread_mutex_lock(&threads->mutex);
    thread->ends = true;
    (void)pthread_cond_signal(&thread->changed);
    (void)pthread_mutex_unlock(&threads->mutex);
    (void)pthread_join(thread->id, NULL);
    (void)pthread_cond_destroy(&thread->changed);
    free(thread);
}

void
threads_free(struct threads *threads)
{
    if (threads == NULL) {
        return;
    }
    while (threads->idle != NULL) {
        struct thread *thread = threads->idle;
        threads->idle = thread->next;
        end(thread);
    }
    (void)pthread_mutex_destroy(&threads->mutex);
    free(threads);
}

struct thread *
threads_start(struct threads *threads, void (*work)(void *argument), void *argument)
{
    (void)pthread_mutex_lock(&threads->mutex);
    struct thread *thread = threads->idle;
    if (thread != NULL) {
        threads->idle = thread->next;
        threads->idle_count--;
        thread->work = work;
        thread->argument = argument;
    }
    (void)pthread_mutex_unlock(&threads->mutex);
    if (thread != NULL) {
        (void)pthread_cond_signal(&thread->changed);
        return thread;
    }
    thread = memory_new(sizeof *thread);
    thread->threads = threads;
    thread->work = work;
    thread->argument = argument;
    (void)pthread_cond_init(&thread->changed, NULL);
    if (pthread_create(&thread->id, NULL, run, thread) != 0) {
        (void)pthread_cond_destroy(&thread->changed);
        free(thread);
        return NULL;
    }
    return thread;
}

void
threads_join(struct thread *thread)
{
    struct threads *threads = thread->threads;
    (void)pthread_mutex_lock(&threads->mutex);
    while (thread->work != NULL) {
        (void)pthread_cond_wait(&thread->changed, &threads->mutex);
    }
    const bool kept = threads->idle_count < threads->idle_most;
    if (kept) {
        thread->next = threads->idle;
        threads->idle = thread;
        threads->idle_count++;
    }
    (void)pthread_mutex_unlock(&threads->mutex);
    if (!kept) {
        end(thread);
    }
}
