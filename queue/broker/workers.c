#include "queue/broker/workers.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "queue/broker/broker_state.h"

enum { WORKER_FORGET_MS = 600000, STALL_CHECK_MS = 500 };

void
worker_watch_release(struct worker_watch *watch)
{
    free(watch->dying);
}

static bool
read_worker(void *context, struct slice key, struct slice value)
{
    struct broker *broker = context;
    struct codec_reader reader = codec_reader_of(value);
    const struct slice name = codec_get_slice(&reader);
    (void)key;
    if (codec_at_end(&reader) && name.length > 0) {
        struct worker *worker =
            leases_worker(broker->leases, leases_worker_add(broker->leases, name));
        worker->stored = true;
        worker->heard_ms = clock_monotonic_ms();
    }
    return true;
}

enum status
broker_workers_open(struct broker *broker, struct reason *why)
{
    TRY(frontier_scan(broker->frontier, TREE_WORKERS, (struct slice){"", 0}, read_worker, broker,
                      why));
    if (leases_worker_end(broker->leases) > 0) {
        broker->workers.grace_until_ms = clock_monotonic_ms() + broker->options.grace_ms;
    }
    return STATUS_OK;
}

/* ---- after a restart, and rows ---- */

/* Who waits for jobs was heard of late. */
static bool
is_gone(struct broker *broker, uint32_t at, uint64_t now)
{
    const struct worker *worker = leases_worker(broker->leases, at);
    if (!worker->used || worker->count > 0 || broker->workers.grace_until_ms != 0) {
        return false;
    }
    const uint64_t patience = 10 * broker->options.lease_ms > WORKER_FORGET_MS
                                  ? 10 * broker->options.lease_ms
                                  : WORKER_FORGET_MS;
    return (worker->stored && !worker->announced) || worker->heard_ms + patience < now;
}

bool
broker_in_grace(const struct broker *broker)
{
    return broker->workers.grace_until_ms != 0;
}

void
broker_grace_wait(const struct broker *broker, uint64_t *wait_ms, uint64_t now_ms)
{
    if (broker_in_grace(broker)) {
        clock_wait_until(wait_ms, broker->workers.grace_until_ms, now_ms);
    }
}

void
broker_end_grace(struct broker *broker, uint64_t now)
{
    if (broker->workers.grace_until_ms == 0) {
        return;
    }
    bool missing = false;
    for (uint32_t i = 0; i < leases_worker_end(broker->leases); i++) {
        const struct worker *worker = leases_worker(broker->leases, i);
        missing |= worker->used && worker->stored && !worker->announced;
    }
    if (!missing || now >= broker->workers.grace_until_ms) {
        broker->workers.grace_until_ms = 0;
    }
}

void
broker_workers_write(struct broker *broker, uint64_t now)
{
    for (uint32_t i = 0; i < leases_worker_end(broker->leases); i++) {
        uint8_t key[8];
        const struct worker *worker = leases_worker(broker->leases, i);
        codec_write_u64(key, worker->fingerprint);
        if (worker->used && !worker->stored) {
            buf_reset(&broker->scratch);
            codec_put_slice(&broker->scratch, slice_string(worker->name));
            store_batch_put(&broker->round.batch, TREE_WORKERS, slice_of((char *)key, sizeof key),
                            buf_slice(&broker->scratch));
        } else if (is_gone(broker, i, now)) {
            store_batch_remove(&broker->round.batch, TREE_WORKERS,
                               slice_of((char *)key, sizeof key));
        }
    }
}

void
broker_workers_settle(struct broker *broker, uint64_t now)
{
    for (uint32_t i = 0; i < leases_worker_end(broker->leases); i++) {
        struct worker *worker = leases_worker(broker->leases, i);
        if (is_gone(broker, i, now)) {
            leases_worker_remove(broker->leases, i);
        } else if (worker->used) {
            worker->stored = true;
        }
    }
    broker->workers.dying_count = 0;
}

/* ---- who speaks ---- */

static void
note_dying(struct worker_watch *watch, uint32_t worker)
{
    if (watch->dying_count == watch->dying_capacity) {
        watch->dying_capacity = watch->dying_capacity == 0 ? 16 : 2 * watch->dying_capacity;
        watch->dying = memory_resize(watch->dying, watch->dying_capacity, sizeof *watch->dying);
    }
    watch->dying[watch->dying_count++] = worker;
}

/* A worker's new incarnation means that the older one is dead; what an older one still says is
 * stale. */
uint32_t
broker_speaker(struct broker *broker, const struct broker_request *request, bool add, bool *stale)
{
    uint32_t at = leases_worker_find(broker->leases, request->client);
    *stale = false;
    if (at == (uint32_t)WORKER_NONE) {
        if (!add) {
            return at;
        }
        at = leases_worker_add(broker->leases, request->client);
    }
    struct worker *worker = leases_worker(broker->leases, at);
    worker->heard_ms = clock_monotonic_ms();
    if (worker->incarnation == request->incarnation) {
        return at;
    }
    if (worker->previous == request->incarnation) {
        *stale = true;
        return at;
    }
    worker->previous = worker->incarnation;
    worker->incarnation = request->incarnation;
    memset(worker->answered, 0, sizeof worker->answered); /* request ids begin anew */
    broker_drop_parked(broker, at);
    if (worker->count > 0) {
        note_dying(&broker->workers, at);
    }
    return at;
}

bool
broker_stall_check(struct broker *broker, uint64_t now_ms)
{
    const bool due = now_ms >= broker->workers.stall_check_ms;
    if (due) {
        broker->workers.stall_check_ms = now_ms + STALL_CHECK_MS;
    }
    return due;
}

uint64_t
broker_stall_check_ms(const struct broker *broker)
{
    return broker->workers.stall_check_ms;
}
