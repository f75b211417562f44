#include "index/serve/cursor.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

enum { FIRST_ROOM = 4096, ROOM_GROWTH = 4 };

struct cursor {
    uint64_t id;
    struct cursor_settings settings;
    cursor_produce *produce;
    cursor_release *release;
    void *job;
    struct thread *thread;
    atomic_bool cancelled;
    struct turn turn;

    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t emptied;
    struct buf window;
    size_t room;   /* present size of the window */
    uint64_t base; /* offset of its first byte */
    bool ended;
    enum status status;
    struct reason why;
};

/* ---- producing ---- */

static void
wake_service(const struct cursor *cursor)
{
    const uint64_t one = 1;
    const ssize_t written = write(cursor->settings.event, &one, sizeof(one));
    (void)written;
}

static void
run(void *argument)
{
    struct cursor *cursor = argument;
    struct reason why = {""};
    turn_take(&cursor->turn);
    const enum status status = atomic_load(&cursor->cancelled)
                                   ? status_fail(&why, STATUS_CANCELLED, "cancelled")
                                   : cursor->produce(cursor->job, cursor, &why);
    turn_give(&cursor->turn);
    pthread_mutex_lock(&cursor->mutex);
    cursor->ended = true;
    cursor->status = status == STATUS_END ? STATUS_OK : status;
    cursor->why = why;
    pthread_mutex_unlock(&cursor->mutex);
    wake_service(cursor);
}

enum status
cursor_open(struct cursor **result, uint64_t id, const struct cursor_settings *settings,
            cursor_produce *produce, cursor_release *release, void *job, struct reason *why)
{
    struct cursor *cursor = memory_new(sizeof(*cursor));
    cursor->id = id;
    cursor->settings = *settings;
    cursor->produce = produce;
    cursor->release = release;
    cursor->job = job;
    pthread_mutex_init(&cursor->mutex, NULL);
    pthread_cond_init(&cursor->emptied, NULL);
    buf_init(&cursor->window, SIZE_MAX / 2);
    cursor->room = FIRST_ROOM;
    turn_open(&cursor->turn, settings->turns, settings->client, &cursor->cancelled);
    *result = cursor;
    cursor->thread = threads_start(settings->threads, run, cursor);
    if (cursor->thread == NULL) {
        cursor_close(cursor);
        *result = NULL;
        return status_fail(why, STATUS_SYSTEM, "cannot start a thread");
    }
    return STATUS_OK;
}

void
cursor_cancel(struct cursor *cursor)
{
    atomic_store(&cursor->cancelled, true);
    pthread_mutex_lock(&cursor->mutex);
    pthread_cond_signal(&cursor->emptied);
    pthread_mutex_unlock(&cursor->mutex);
    turns_wake(cursor->settings.turns);
}

bool
cursor_ended(struct cursor *cursor)
{
    pthread_mutex_lock(&cursor->mutex);
    const bool ended = cursor->ended;
    pthread_mutex_unlock(&cursor->mutex);
    return ended;
}

void
cursor_close(struct cursor *cursor)
{
    if (cursor == NULL) {
        return;
    }
    cursor_cancel(cursor);
    if (cursor->thread != NULL) {
        threads_join(cursor->thread);
    }
    turn_close(&cursor->turn);
    cursor->release(cursor->job);
    buf_release(&cursor->window);
    pthread_cond_destroy(&cursor->emptied);
    pthread_mutex_destroy(&cursor->mutex);
    free(cursor);
}

uint64_t
cursor_id(const struct cursor *cursor)
{
    return cursor->id;
}

const atomic_bool *
cursor_cancelled(const struct cursor *cursor)
{
    return &cursor->cancelled;
}

void
cursor_step(void *context)
{
    struct cursor *cursor = context;
    turn_step(&cursor->turn);
}

struct turn *
cursor_turn(struct cursor *cursor)
{
    return &cursor->turn;
}

struct threads *
cursor_threads(const struct cursor *cursor)
{
    return cursor->settings.threads;
}

size_t
cursor_memory(const struct cursor *cursor)
{
    return cursor->turn.memory;
}

/* A producer that waits for its reader lets another one run. */
static void
wait_for_room(struct cursor *cursor)
{
    turn_give(&cursor->turn);
    pthread_cond_wait(&cursor->emptied, &cursor->mutex);
    pthread_mutex_unlock(&cursor->mutex);
    turn_take(&cursor->turn);
    pthread_mutex_lock(&cursor->mutex);
}

/* The beginning of an answer waits for the end or for more, so that a short one goes out whole;
 * the service looks now and then. The mutex is held. */
static bool
is_worth_handing_out(const struct cursor *cursor)
{
    return cursor->window.length >= (cursor->base == 0 ? FIRST_ROOM : 1);
}

static enum status
put(struct cursor *cursor, struct slice bytes, bool last, struct reason *why)
{
    turn_step(&cursor->turn);
    pthread_mutex_lock(&cursor->mutex);
    while (cursor->window.length >= cursor->room && !atomic_load(&cursor->cancelled)) {
        wait_for_room(cursor);
    }
    const uint64_t total = cursor->base + cursor->window.length + bytes.length;
    const bool fits = cursor->settings.bytes_most == 0 || total <= cursor->settings.bytes_most;
    const bool cancelled = atomic_load(&cursor->cancelled);
    const bool before = is_worth_handing_out(cursor);
    if (fits && !cancelled) {
        (void)buf_append_slice(&cursor->window, bytes);
    }
    const bool after = is_worth_handing_out(cursor);
    pthread_mutex_unlock(&cursor->mutex);
    if (cancelled) {
        return status_fail(why, STATUS_CANCELLED, "cancelled");
    }
    if (!fits) {
        return status_fail(why, STATUS_LIMIT, "the answer is longer than %llu bytes",
                           (unsigned long long)cursor->settings.bytes_most);
    }
    if (!before && after && !last) {
        wake_service(cursor);
    }
    return STATUS_OK;
}

enum status
cursor_write(struct cursor *cursor, struct slice bytes, struct reason *why)
{
    return put(cursor, bytes, false, why);
}

enum status
cursor_write_last(struct cursor *cursor, struct slice bytes, struct reason *why)
{
    return put(cursor, bytes, true, why);
}

/* ---- handing out ---- */

static void
drop_before(struct cursor *cursor, uint64_t offset)
{
    const size_t n = (size_t)(offset - cursor->base);
    if (n > 0) {
        memmove(cursor->window.data, cursor->window.data + n, cursor->window.length - n);
        cursor->window.length -= n;
        cursor->base = offset;
        cursor->room = cursor->room < cursor->settings.window / ROOM_GROWTH
                           ? ROOM_GROWTH * cursor->room
                           : cursor->settings.window;
        pthread_cond_signal(&cursor->emptied);
    }
}

enum status
cursor_read(struct cursor *cursor, uint64_t offset, size_t most, struct buf *out, bool *end,
            struct reason *why)
{
    *end = false;
    pthread_mutex_lock(&cursor->mutex);
    enum status status = STATUS_OK;
    if (offset < cursor->base || offset > cursor->base + cursor->window.length) {
        status = status_fail(why, STATUS_NOT_FOUND, "the answer has no piece at %llu",
                             (unsigned long long)offset);
    } else {
        drop_before(cursor, offset);
        const size_t n = cursor->window.length < most ? cursor->window.length : most;
        const bool last = cursor->ended && n == cursor->window.length;
        if (n == 0 && !cursor->ended) {
            status = STATUS_AGAIN;
        } else if (n == 0 && cursor->status != STATUS_OK) {
            status = status_fail(why, cursor->status, "%s", cursor->why.text);
        } else {
            (void)buf_append(out, cursor->window.data, n);
            *end = last && cursor->status == STATUS_OK;
        }
    }
    pthread_mutex_unlock(&cursor->mutex);
    return status;
}
