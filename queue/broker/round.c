/* The round. broker_private.h says how it works. */
#include <stdlib.h>

#include "base/system/clock.h"
#include "base/system/log.h"
#include "config/process_state.h"
#include "queue/broker/broker_private.h"

enum { WORKER_FORGET_MS = 600000 };

/* ---- workers ---- */

/* Who waits for jobs was heard of late. */
static bool
is_gone(struct broker *broker, uint32_t at, uint64_t now)
{
    const struct worker *worker = leases_worker(broker->leases, at);
    if (!worker->used || worker->count > 0 || broker->grace_until_ms != 0) {
        return false;
    }
    const uint64_t patience = 10 * broker->options.lease_ms > WORKER_FORGET_MS
                                  ? 10 * broker->options.lease_ms
                                  : WORKER_FORGET_MS;
    return (worker->stored && !worker->announced) || worker->heard_ms + patience < now;
}

/* The grace ends when every known worker has said what it holds, or in time. */
static void
end_grace(struct broker *broker, uint64_t now)
{
    if (broker->grace_until_ms == 0) {
        return;
    }
    bool missing = false;
    for (uint32_t i = 0; i < leases_worker_end(broker->leases); i++) {
        const struct worker *worker = leases_worker(broker->leases, i);
        missing |= worker->used && worker->stored && !worker->announced;
    }
    if (!missing || now >= broker->grace_until_ms) {
        broker->grace_until_ms = 0;
    }
}

/* Rows of new workers are written before any of them gets a job; rows of those that are gone
 * leave. */
static void
write_workers(struct broker *broker, uint64_t now)
{
    for (uint32_t i = 0; i < leases_worker_end(broker->leases); i++) {
        uint8_t key[8];
        const struct worker *worker = leases_worker(broker->leases, i);
        codec_write_u64(key, worker->fingerprint);
        if (worker->used && !worker->stored) {
            buf_reset(&broker->scratch);
            codec_put_slice(&broker->scratch, slice_string(worker->name));
            store_batch_put(&broker->batch, TREE_WORKERS, slice_of((char *)key, sizeof key),
                            buf_slice(&broker->scratch));
        } else if (is_gone(broker, i, now)) {
            store_batch_remove(&broker->batch, TREE_WORKERS, slice_of((char *)key, sizeof key));
        }
    }
}

static void
settle_workers(struct broker *broker, uint64_t now)
{
    for (uint32_t i = 0; i < leases_worker_end(broker->leases); i++) {
        struct worker *worker = leases_worker(broker->leases, i);
        if (is_gone(broker, i, now)) {
            leases_worker_remove(broker->leases, i);
        } else if (worker->used) {
            worker->stored = true;
        }
    }
}

/* ---- the round ---- */

static void
write_counters(struct broker *broker)
{
    uint8_t bytes[sizeof(uint64_t) * COUNTERS_NUMBERS];
    const uint64_t *numbers = (const uint64_t *)&broker->counters;
    for (size_t i = 0; i < COUNTERS_NUMBERS; i++) {
        codec_write_u64(bytes + 8 * i, numbers[i]);
    }
    store_batch_put(&broker->batch, TREE_ABOUT, SLICE("counters"),
                    slice_of((const char *)bytes, sizeof bytes));
}

static void
write_identity(struct broker *broker)
{
    uint8_t bytes[IDENTITY_SIZE] = {IDENTITY_VERSION};
    codec_write_u64(bytes + 1, broker->origin);
    store_batch_put(&broker->batch, TREE_ABOUT, SLICE("identity"),
                    slice_of((const char *)bytes, sizeof bytes));
}

static enum status
apply_pending(struct broker *broker, struct pending *pending, struct reason *why)
{
    switch (pending->request.verb) {
    case QUEUE_PUT:
        for (size_t i = 0; i < pending->incoming_count; i++) {
            broker_enqueue(broker, &broker->incoming[pending->first_incoming + i]);
        }
        return STATUS_OK;
    case QUEUE_COMPLETE:
        for (size_t i = 0; i < pending->ending_count; i++) {
            TRY(broker_complete(broker, pending->worker,
                                &broker->endings[pending->first_ending + i], why));
        }
        return STATUS_OK;
    case QUEUE_KICK:
        return broker_kick(broker, pending, why);
    case QUEUE_RETRY:
        broker_retry(broker, pending);
        return STATUS_OK;
    case QUEUE_FORGET:
        return broker_forget(broker, pending, why);
    case QUEUE_TRANSFER:
        return broker_receive(broker, pending, why);
    default:
        return STATUS_OK; /* TOUCH: after the commit */
    }
}

static enum status
gather(struct broker *broker, uint64_t now, struct reason *why)
{
    TRY(seen_load(broker->seen, broker->frontier, why));
    TRY(seen_load(broker->revisits, broker->frontier, why));
    broker_adopt_scope(broker);
    TRY(broker_bury_the_dead(broker, why));
    TRY(broker_move_due(broker, why));
    for (size_t i = 0; i < broker->pending_count; i++) {
        TRY(apply_pending(broker, &broker->pending[i], why));
    }
    TRY(broker_troubles_write(broker, why));
    write_workers(broker, now);
    seen_write(broker->seen, &broker->batch);
    seen_write(broker->revisits, &broker->batch);
    broker_nodes_write(broker);
    if (broker->batch.count > 0) {
        write_counters(broker);
        priority_write(broker->priorities, &broker->batch, false);
        if (!broker->identity_stored) {
            write_identity(broker);
            broker_node_set_write(broker);
        }
    }
    return STATUS_OK;
}

static enum status
commit(struct broker *broker, uint64_t now, struct reason *why)
{
    enum status status = gather(broker, now, why);
    if (status == STATUS_OK && broker->batch.count > 0) {
        store_batch_sort(&broker->batch);
        status = frontier_apply(broker->frontier,
                                (const struct store_operation *const *)broker->batch.operations,
                                broker->batch.count, why);
    }
    const bool committed = status == STATUS_OK;
    broker->identity_stored |= committed && broker->batch.count > 0;
    seen_settle(broker->seen, committed);
    seen_settle(broker->revisits, committed);
    seen_settle(broker->sent, committed);
    broker_nodes_settle(broker, committed);
    broker_strangers_settle(broker, committed);
    broker_troubles_settle(broker, committed);
    broker_scope_settle(broker, committed);
    if (committed) {
        broker->committed = broker->counters;
        broker_apply_effects(broker);
        settle_workers(broker, now);
        broker->dying_count = 0;
    } else {
        broker->counters = broker->committed;
        paces_clear(broker->paces); /* they are read anew */
        broker->later_due_ms = 0;
    }
    broker->effect_count = 0;
    store_batch_reset(&broker->batch);
    return status;
}

static enum status
answer_one(struct broker *broker, struct pending *pending, struct reason *why)
{
    uint64_t number = pending->number;
    buf_reset(&broker->reply);
    if (pending->request.verb == QUEUE_TOUCH) {
        TRY(broker_renew(broker, pending, &number, why));
    }
    if (pending->request.verb == QUEUE_TRANSFER) {
        codec_put_u64(&broker->reply, number);
    } else if (pending->request.verb == QUEUE_TOUCH || pending->request.verb == QUEUE_KICK) {
        codec_put_varint(&broker->reply, number);
    } else if (pending->request.verb == QUEUE_RETRY) {
        codec_put_varint(&broker->reply, number);
        codec_put_varint(&broker->reply, pending->jobs);
    } else if (pending->request.verb == QUEUE_FORGET) {
        codec_put_varint(&broker->reply, number);
        codec_put_varint(&broker->reply, pending->jobs);
        codec_put_varint(&broker->reply, pending->left);
    }
    broker->answer(broker->context, pending->request.token, pending->status,
                   buf_slice(&broker->reply), &pending->why);
    return STATUS_OK;
}

/* After a commit that failed for lack of room nothing has happened. Completions must not be
 * refused, so their senders hear nothing and ask again. */
static void
refuse_one(struct broker *broker, struct pending *pending, const struct reason *why)
{
    const uint8_t verb = pending->request.verb;
    const bool refused = verb == QUEUE_PUT || verb == QUEUE_KICK || verb == QUEUE_RETRY ||
                         verb == QUEUE_TRANSFER || verb == QUEUE_FORGET;
    broker->answer(broker->context, pending->request.token,
                   refused ? STATUS_FULL : STATUS_CANCELLED, (struct slice){NULL, 0}, why);
}

static void
check_room(struct broker *broker, uint64_t now)
{
    struct reason why = {""};
    if (now < broker->room_check_ms &&
        (broker->pending_count == 0 || now < broker->failed_until_ms)) {
        return;
    }
    broker->room_check_ms = now + ROOM_CHECK_MS;
    if (frontier_room(broker->frontier, &broker->disk_free, &why) != STATUS_OK) {
        log_warning("room", "reason=%s", why.text);
        return;
    }
    const uint64_t least = broker->options.min_free;
    const bool stop = broker->disk_free < (broker->intake_stopped ? least + least / 16 : least) ||
                      now < broker->failed_until_ms;
    if (stop && !broker->intake_stopped) {
        log_error("intake_stopped", "path=%s free=%lu least=%lu do=%s",
                  broker->options.store.folder, (unsigned long)broker->disk_free,
                  (unsigned long)least, "free some room, or lower queue.min_free");
        (void)status_fail(&why, STATUS_FULL,
                          "%s: %lu MiB are free on the disk, less than queue.min_free (%lu MiB)",
                          broker->options.store.folder, (unsigned long)(broker->disk_free >> 20),
                          (unsigned long)(least >> 20));
        process_state_wait(WAIT_WRITE, STATUS_FULL, &why);
    } else if (!stop && broker->intake_stopped) {
        log_info("intake_open", "path=%s free=%lu", broker->options.store.folder,
                 (unsigned long)broker->disk_free);
        process_state_goes_on(WAIT_WRITE);
    }
    broker->intake_stopped = stop;
}

/* A full disk is waited for: what is written until then is refused. Any other status is returned.
 */
static enum status
wait_for_room(struct broker *broker, enum status status, uint64_t now, struct reason *why)
{
    if (status != STATUS_FULL || frontier_broken(broker->frontier)) {
        return status;
    }
    log_error("write_failed", "reason=%s", why->text);
    process_state_wait(WAIT_WRITE, status, why);
    broker->failed_until_ms = now + FAILURE_PAUSE_MS;
    broker->intake_stopped = true;
    broker->room_check_ms = broker->failed_until_ms;
    return STATUS_OK;
}

static enum status
finish_round(struct broker *broker, bool committed, struct reason *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < broker->pending_count; i++) {
        if (!committed) {
            refuse_one(broker, &broker->pending[i], why);
        } else if (status == STATUS_OK) {
            status = answer_one(broker, &broker->pending[i], why);
        }
    }
    broker->pending_count = broker->pending_bytes = 0;
    broker->incoming_count = broker->ending_count = 0;
    map_clear(&broker->touched);
    return status;
}

enum status
broker_work(struct broker *broker, struct reason *why)
{
    struct reason text = {""};
    const uint64_t now = clock_monotonic_ms();
    why = why != NULL ? why : &text;
    broker->now_ms = broker->options.clock();
    check_room(broker, now);
    bool committed = false;
    if (now >= broker->failed_until_ms) {
        const enum status status = commit(broker, now, why);
        committed = status == STATUS_OK;
        TRY(wait_for_room(broker, status, now, why));
    } else {
        (void)status_fail(why, STATUS_FULL, "no room on the disk of %s",
                          broker->options.store.folder);
        seen_settle(broker->seen, false);
        seen_settle(broker->revisits, false);
        seen_settle(broker->sent, false);
    }
    TRY(finish_round(broker, committed, why));
    end_grace(broker, now);
    TRY(broker_count_aside(broker, why));
    TRY(broker_serve(broker, why));
    uint64_t wait = 0;
    const enum status status = frontier_tick(broker->frontier, &wait, why);
    broker->tick_ms = now + (wait < ROOM_CHECK_MS ? wait : ROOM_CHECK_MS);
    return wait_for_room(broker, status, now, why);
}

uint64_t
broker_wait_ms(const struct broker *broker)
{
    const uint64_t now = clock_monotonic_ms();
    const uint64_t wall = broker->options.clock();
    uint64_t wait = 1000;
    struct job_key uncounted;
    if (broker->pending_count > 0 || troubles_uncounted(broker->troubles, &uncounted)) {
        return 0;
    }
    clock_wait_until(&wait, broker->tick_ms, now);
    if (now < broker->failed_until_ms) { /* until then nothing is moved, nor looked at */
        clock_wait_until(&wait, broker->failed_until_ms, now);
    } else {
        clock_wait_until(&wait, broker->stall_check_ms, now);
        clock_wait_until(&wait, broker_outbox_due_ms(broker), now);
        if (broker->later_due_ms != UINT64_MAX) {
            clock_wait_until(&wait, broker->later_due_ms, wall);
        }
    }
    if (broker->grace_until_ms != 0) {
        clock_wait_until(&wait, broker->grace_until_ms, now);
    }
    for (size_t i = 0; i < broker->parked_count; i++) {
        clock_wait_until(&wait, broker->parked[i].deadline_ms, now);
        const uint64_t due = lanes_due(broker->lanes);
        if (broker->parked[i].stage == STAGE_FETCH && due != UINT64_MAX && due > broker->now_ms) {
            clock_wait_until(&wait, due, wall);
        }
    }
    return wait;
}
