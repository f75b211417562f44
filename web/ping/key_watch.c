/* The thread that waits until key files were fetched, and then puts what their pings asked for.
 * What it knows is in the receipts: after a crash it begins with those that wait. A ping whose key
 * was proved just before a crash is put twice, which fetches once more at most. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "web/ping/ping.h"

enum { WAITING_MOST = 1000, LEAST_MS = 250, MOST_MS = 15000 };
static const uint64_t GIVE_UP_MS = 24ULL * 60 * 60 * 1000;

struct waiting {
    char name[RECEIPT_NAME_SIZE];
    uint64_t since_ms, next_ms; /* monotonic */
};

struct key_watch {
    struct web_ping *ping;
    pthread_t thread;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    struct waiting waiting[WAITING_MOST];
    size_t count;
    bool more; /* receipts may wait that found no place */
    bool stop;
};

bool
key_watch_has_room(struct key_watch *watch)
{
    (void)pthread_mutex_lock(&watch->lock);
    const bool has_room = watch->count < WAITING_MOST;
    (void)pthread_mutex_unlock(&watch->lock);
    return has_room;
}

/* Finds who waits by a name; the lock is held. */
static struct waiting *
find(struct key_watch *watch, const char *name)
{
    for (size_t i = 0; i < watch->count; i++) {
        if (strcmp(watch->waiting[i].name, name) == 0) {
            return &watch->waiting[i];
        }
    }
    return NULL;
}

bool
key_watch_add(struct key_watch *watch, const char *name)
{
    const uint64_t now_ms = clock_monotonic_ms();
    (void)pthread_mutex_lock(&watch->lock);
    const bool has_room = watch->count < WAITING_MOST;
    if (!has_room) {
        watch->more = true;
    } else if (find(watch, name) == NULL) {
        struct waiting *waiting = &watch->waiting[watch->count++];
        *waiting = (struct waiting){.since_ms = now_ms, .next_ms = now_ms};
        (void)strncpy(waiting->name, name, RECEIPT_NAME_SIZE - 1);
        (void)pthread_cond_signal(&watch->changed);
    }
    (void)pthread_mutex_unlock(&watch->lock);
    return has_room;
}

static bool
add_old(void *context, const char *name)
{
    return key_watch_add(context, name);
}

static void
take_receipts(struct key_watch *watch)
{
    struct reason why = {""};
    if (receipts_awaiting(watch->ping->receipts, add_old, watch, &why) != STATUS_OK) {
        log_warning("receipts", "reason=%s", why.text);
    }
}

/* ---- one receipt ---- */

static enum status
settle(struct web_ping *ping, const char *name, const struct receipt *receipt,
       const struct key_answer *answer, struct reason *why)
{
    if (answer->proof == PROOF_AWAITED && receipt->time_ms + GIVE_UP_MS > clock_wall_ms()) {
        return STATUS_AGAIN;
    }
    const bool proved = answer->proof == PROOF_GIVEN;
    if (proved) {
        TRY(ping_put(ping->service, receipt->uris, true, why));
    }
    log_info("key", "file=%.*s proved=%d reason=%s", SLICE_PRINT(receipt->key_location), proved,
             answer->told.text);
    return receipts_prove(ping->receipts, name, proved ? PROOF_GIVEN : PROOF_WRONG, why);
}

/* Returns whether it need not be looked at again. */
static bool
check_key(struct web_ping *ping, const char *name)
{
    struct receipt receipt;
    struct key_answer answer;
    struct reason why = {""};
    struct buf memory;
    buf_init(&memory, PING_RECORD_BYTES);
    enum status status = receipts_read(ping->receipts, name, &receipt, &memory, &why);
    bool done = status == STATUS_NOT_FOUND;
    if (status == STATUS_OK) {
        status = key_proof(ping->service, receipt.key_location, receipt.key, receipt.time_ms,
                           &answer, &why);
        if (status == STATUS_OK) {
            status = settle(ping, name, &receipt, &answer, &why);
        }
        done = status == STATUS_OK;
    }
    buf_release(&memory);
    return done;
}

/* ---- the thread ---- */

static size_t
soonest(const struct key_watch *watch)
{
    size_t first = 0;
    for (size_t i = 1; i < watch->count; i++) {
        first = watch->waiting[i].next_ms < watch->waiting[first].next_ms ? i : first;
    }
    return first;
}

/* With the lock. */
static void
wait_until(struct key_watch *watch, uint64_t until_ms)
{
    const struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
                                   .tv_nsec = (long)(until_ms % 1000) * 1000000};
    (void)pthread_cond_timedwait(&watch->changed, &watch->lock, &until);
}

/* A look after a quarter of the time that it has waited. */
static void
put_off(struct key_watch *watch, const char *name, bool done)
{
    const uint64_t now_ms = clock_monotonic_ms();
    struct waiting *waiting = find(watch, name);
    uint64_t pause_ms = (now_ms - waiting->since_ms) / 4;
    pause_ms = pause_ms < LEAST_MS ? LEAST_MS : pause_ms > MOST_MS ? MOST_MS : pause_ms;
    waiting->next_ms = now_ms + pause_ms;
    if (done) {
        *waiting = watch->waiting[--watch->count];
    }
}

static void *
watch_keys(void *context)
{
    struct key_watch *watch = context;
    (void)pthread_mutex_lock(&watch->lock);
    watch->more = true;
    while (!watch->stop) {
        if (watch->more && watch->count <= WAITING_MOST / 2) {
            watch->more = false;
            (void)pthread_mutex_unlock(&watch->lock);
            take_receipts(watch);
            (void)pthread_mutex_lock(&watch->lock);
            continue;
        }
        if (watch->count == 0) {
            (void)pthread_cond_wait(&watch->changed, &watch->lock);
            continue;
        }
        const struct waiting first = watch->waiting[soonest(watch)];
        if (first.next_ms > clock_monotonic_ms()) {
            wait_until(watch, first.next_ms);
            continue;
        }
        (void)pthread_mutex_unlock(&watch->lock);
        const bool done = check_key(watch->ping, first.name);
        (void)pthread_mutex_lock(&watch->lock);
        put_off(watch, first.name, done);
    }
    (void)pthread_mutex_unlock(&watch->lock);
    return NULL;
}

struct key_watch *
key_watch_open(struct web_ping *ping)
{
    struct key_watch *watch = memory_new(sizeof *watch);
    pthread_condattr_t attributes;
    watch->ping = ping;
    (void)pthread_mutex_init(&watch->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&watch->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    (void)pthread_mutex_lock(&watch->lock); /* the thread reads it at once */
    watch->stop = pthread_create(&watch->thread, NULL, watch_keys, watch) != 0;
    (void)pthread_mutex_unlock(&watch->lock);
    return watch;
}

void
key_watch_close(struct key_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&watch->lock);
    const bool runs = !watch->stop;
    watch->stop = true;
    (void)pthread_cond_signal(&watch->changed);
    (void)pthread_mutex_unlock(&watch->lock);
    if (runs) {
        (void)pthread_join(watch->thread, NULL);
    }
    (void)pthread_cond_destroy(&watch->changed);
    (void)pthread_mutex_destroy(&watch->lock);
    free(watch);
}
