/* The round. broker_state.h says how it works. */
#include "base/system/clock.h"
#include "queue/broker/broker_state.h"

enum { TICK_MOST_MS = 1000 };

static enum status
apply_pending(struct broker *broker, struct pending *pending, struct reason *why)
{
    switch (pending->request.verb) {
    case QUEUE_PUT:
        for (size_t i = 0; i < pending->incoming_count; i++) {
            broker_enqueue(broker, &broker->requests.incoming[pending->first_incoming + i]);
        }
        return STATUS_OK;
    case QUEUE_COMPLETE:
        for (size_t i = 0; i < pending->ending_count; i++) {
            TRY(broker_complete(broker, pending->worker,
                                &broker->requests.endings[pending->first_ending + i], why));
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
    for (size_t i = 0; i < broker->requests.pending_count; i++) {
        TRY(apply_pending(broker, &broker->requests.pending[i], why));
    }
    TRY(broker_troubles_write(broker, why));
    broker_workers_write(broker, now);
    seen_write(broker->seen, &broker->round.batch);
    seen_write(broker->revisits, &broker->round.batch);
    broker_outbox_write(broker);
    if (broker->round.batch.count > 0) {
        broker_write_counters(broker);
        priority_write(broker->priorities, &broker->round.batch, false);
        broker_identity_write(broker);
    }
    return STATUS_OK;
}

static void
settle_seen(struct broker *broker, bool committed)
{
    seen_settle(broker->seen, committed);
    seen_settle(broker->revisits, committed);
    seen_settle(broker->sent, committed);
}

static enum status
commit(struct broker *broker, uint64_t now, struct reason *why)
{
    enum status status = gather(broker, now, why);
    status = status == STATUS_OK ? broker_apply_changes(broker, why) : status;
    const bool committed = status == STATUS_OK;
    settle_seen(broker, committed);
    broker_outbox_settle(broker, committed);
    broker_strangers_settle(broker, committed);
    broker_troubles_settle(broker, committed);
    broker_scope_settle(broker, committed);
    if (committed) {
        broker_identity_settle(broker);
        broker_apply_effects(broker);
        broker_workers_settle(broker, now);
    } else { /* what is stored is read anew */
        (void)broker_origins_load(broker, NULL);
        paces_clear(broker->paces);
        broker_later_unsettle(broker);
    }
    broker_settle_changes(broker, committed);
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

static enum status
finish_round(struct broker *broker, bool committed, struct reason *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < broker->requests.pending_count; i++) {
        if (!committed) {
            refuse_one(broker, &broker->requests.pending[i], why);
        } else if (status == STATUS_OK) {
            status = answer_one(broker, &broker->requests.pending[i], why);
        }
    }
    broker_clear_requests(broker);
    broker_end_changes(broker);
    return status;
}

enum status
broker_work(struct broker *broker, struct reason *why)
{
    const uint64_t now = clock_monotonic_ms();
    broker->round.now_ms = broker->options.clock();
    broker_check_room(broker, now, broker->requests.pending_count > 0);
    bool committed = false;
    if (now >= broker_failed_until_ms(broker)) {
        const enum status status = commit(broker, now, why);
        committed = status == STATUS_OK;
        TRY(broker_wait_for_room(broker, status, now, why));
    } else {
        (void)status_fail(why, STATUS_FULL, "no room on the disk of %s",
                          broker->options.store.folder);
        settle_seen(broker, false);
    }
    TRY(finish_round(broker, committed, why));
    broker_end_grace(broker, now);
    TRY(broker_count_aside(broker, why));
    TRY(broker_serve(broker, why));
    uint64_t wait = 0;
    const enum status status = frontier_tick(broker->frontier, &wait, why);
    broker->tick_ms = now + (wait < TICK_MOST_MS ? wait : TICK_MOST_MS);
    return broker_wait_for_room(broker, status, now, why);
}

uint64_t
broker_wait_ms(const struct broker *broker)
{
    const uint64_t now = clock_monotonic_ms();
    const uint64_t wall = broker->options.clock();
    uint64_t wait = 1000;
    struct job_key uncounted;
    if (broker->requests.pending_count > 0 || troubles_uncounted(broker->troubles, &uncounted)) {
        return 0;
    }
    clock_wait_until(&wait, broker->tick_ms, now);
    if (now < broker_failed_until_ms(broker)) { /* until then nothing is moved, nor looked at */
        clock_wait_until(&wait, broker_failed_until_ms(broker), now);
    } else {
        clock_wait_until(&wait, broker_stall_check_ms(broker), now);
        clock_wait_until(&wait, broker_outbox_due_ms(broker), now);
        if (broker_later_due_ms(broker) != UINT64_MAX) {
            clock_wait_until(&wait, broker_later_due_ms(broker), wall);
        }
    }
    broker_grace_wait(broker, &wait, now);
    broker_parked_wait(broker, &wait, now, wall);
    return wait;
}
