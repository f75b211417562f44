#include "web/http/stream.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/memory.h"

enum {
    ROOM = 1 << 20,
    FIRST = 64 << 10, /* while there is less, a failure can still be told by the status */
    LOOK_MS = 100     /* at the client's socket */
};

struct web_stream {
    web_produce *produce;
    web_release *release;
    void *context;
    struct thread *thread;
    atomic_bool *cancelled;

    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    struct buf bytes;
    size_t at;
    size_t wanted; /* bytes that the connection's thread waits for; 0: it does not */
    bool ended;
    enum status status;
    struct reason why;
};

static void
run(void *argument)
{
    struct web_stream *stream = argument;
    struct reason why = {""};
    const enum status status = stream->produce(stream->context, stream, &why);
    pthread_mutex_lock(&stream->mutex);
    stream->ended = true;
    stream->status = status;
    stream->why = why;
    pthread_mutex_unlock(&stream->mutex);
    pthread_cond_broadcast(&stream->changed);
}

static void
free_stream(struct web_stream *stream)
{
    stream->release(stream->context);
    buf_release(&stream->bytes);
    pthread_cond_destroy(&stream->changed);
    pthread_mutex_destroy(&stream->mutex);
    free(stream);
}

struct web_stream *
web_stream_open(struct threads *threads, web_produce *produce, web_release *release, void *context,
                atomic_bool *cancelled)
{
    struct web_stream *stream = memory_new(sizeof *stream);
    pthread_condattr_t attributes;
    stream->produce = produce;
    stream->release = release;
    stream->context = context;
    stream->cancelled = cancelled;
    buf_init(&stream->bytes, SIZE_MAX / 2);
    pthread_mutex_init(&stream->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&stream->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    stream->thread = threads_start(threads, run, stream);
    if (stream->thread == NULL) {
        free_stream(stream);
        return NULL;
    }
    return stream;
}

static void
cancel(struct web_stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    atomic_store(stream->cancelled, true);
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->mutex);
}

/* For a change, or LOOK_MS, then it returns false. The mutex is held. */
static bool
wait_a_little(struct web_stream *stream)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    return pthread_cond_timedwait(&stream->changed, &stream->mutex, &until) == 0;
}

void
web_stream_close(struct web_stream *stream)
{
    cancel(stream);
    threads_join(stream->thread);
    free_stream(stream);
}

enum status
web_stream_piece(void *context, struct slice bytes, struct reason *why)
{
    struct web_stream *stream = context;
    pthread_mutex_lock(&stream->mutex);
    while (stream->bytes.length - stream->at >= ROOM && !atomic_load(stream->cancelled)) {
        (void)wait_a_little(stream); /* others may cancel it, too */
    }
    const bool cancelled = atomic_load(stream->cancelled);
    bool enough = false;
    if (!cancelled) {
        const size_t left = stream->bytes.length - stream->at;
        if (left > 0 && stream->at > 0) {
            memmove(stream->bytes.data, stream->bytes.data + stream->at, left);
        }
        stream->bytes.length = left;
        stream->at = 0;
        (void)buf_append_slice(&stream->bytes, bytes);
        enough = stream->wanted > 0 && stream->bytes.length >= stream->wanted;
    }
    pthread_mutex_unlock(&stream->mutex);
    if (enough) {
        pthread_cond_broadcast(&stream->changed);
    }
    return cancelled ? status_fail(why, STATUS_CANCELLED, "nobody waits for it any more")
                     : STATUS_OK;
}

/* Tells whether the other end of a connection is closed. */
static bool
web_stream_gone(int socket)
{
    struct pollfd descriptor = {.fd = socket, .events = POLLRDHUP};
    return socket >= 0 && poll(&descriptor, 1, 0) > 0 &&
           (descriptor.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* Waits until there are so many bytes, or the end. The mutex is held. */
static enum status
wait_for(struct web_stream *stream, size_t wanted, int socket)
{
    bool gone = false;
    stream->wanted = wanted;
    while (!gone && !stream->ended && stream->bytes.length - stream->at < wanted) {
        gone = !wait_a_little(stream) && web_stream_gone(socket);
    }
    stream->wanted = 0;
    return gone ? STATUS_CANCELLED : STATUS_OK;
}

enum status
web_stream_begin(struct web_stream *stream, int socket, size_t *length, struct reason *why)
{
    pthread_mutex_lock(&stream->mutex);
    enum status status = wait_for(stream, FIRST, socket);
    if (status != STATUS_OK) {
        (void)status_fail(why, status, "the client went away");
    } else if (stream->ended) {
        status = stream->status == STATUS_OK
                     ? STATUS_END
                     : status_fail(why, stream->status, "%s", stream->why.text);
    }
    *length = stream->bytes.length - stream->at;
    pthread_mutex_unlock(&stream->mutex);
    return status;
}

enum status
web_stream_read(struct web_stream *stream, int socket, char *bytes, size_t most, size_t *n)
{
    pthread_mutex_lock(&stream->mutex);
    enum status status = wait_for(stream, 1, socket);
    const size_t left = stream->bytes.length - stream->at;
    *n = left < most ? left : most;
    if (status == STATUS_OK && *n > 0) {
        memcpy(bytes, stream->bytes.data + stream->at, *n);
        stream->at += *n;
        pthread_cond_broadcast(&stream->changed);
    } else if (status == STATUS_OK) {
        status = stream->status == STATUS_OK ? STATUS_END : stream->status;
    }
    pthread_mutex_unlock(&stream->mutex);
    return status;
}
