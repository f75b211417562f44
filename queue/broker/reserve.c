/* Jobs go out, and what a commit means for leases, lanes and sequences. */
#include "queue/broker/broker_state.h"

#include "base/system/clock.h"
#include "base/system/log.h"

enum { HIGH_WATER_RESUMES = 80, PERCENT = 100, BURST_LANES = 256 };

/* ---- effects ---- */

static void
appeared(struct broker *broker, const struct job_key *key, uint8_t speed)
{
    if (key->stage == STAGE_FETCH) {
        upcoming_ready(broker->upcoming, key);
        troubles_came(broker->troubles, key);
        lanes_wake(broker->lanes, key->lane);
        if (speed != 0) {
            lanes_set_speed(broker->lanes, key->lane, (uint8_t)(speed - 1));
        }
        if (key->rank >= RANK_SITEMAP) {
            lanes_set_listed(broker->lanes, key->lane, true);
        }
        return;
    }
    struct sequence *sequence = sequences_find(broker->sequences, key->stage, key->lane);
    if (sequence != NULL) {
        sequence_ready(sequence, key->id);
    }
}

static void
apply_effect(struct broker *broker, const struct effect *effect)
{
    const struct job_key *key = &effect->key;
    const uint32_t at = leases_find(broker->leases, key->id);
    const bool leased = at != (uint32_t)LEASE_NONE;
    if (effect->kind != EFFECT_APPEARED && leased) {
        leases_remove(broker->leases, at);
        if (key->stage == STAGE_FETCH) {
            lanes_rest(broker->lanes, key->lane, effect->lane_due_ms, effect->group);
            lanes_set_eased(broker->lanes, key->lane,
                            effect->kind == EFFECT_GONE && effect->lane_due_ms == 0);
            if (effect->share != 0) {
                lanes_set_share(broker->lanes, key->lane, effect->share);
            }
            if (effect->answered) {
                lanes_set_answered(broker->lanes, key->lane);
            }
        }
    } else if (effect->kind != EFFECT_APPEARED && key->stage == STAGE_FETCH) {
        lanes_postpone(broker->lanes, key->lane, effect->lane_due_ms);
    }
    if (effect->kind == EFFECT_APPEARED || (effect->kind == EFFECT_BACK && !effect->moved)) {
        appeared(broker, key, effect->speed);
    } else if (key->stage == STAGE_FETCH && !leased) { /* what is leased is in no head */
        upcoming_gone(broker->upcoming, key);
        troubles_left(broker->troubles, key);
    }
}

void
broker_apply_effects(struct broker *broker)
{
    for (size_t i = 0; i < broker->round.effect_count; i++) {
        apply_effect(broker, &broker->round.effects[i]);
    }
}

/* ---- leases ---- */

static void
lease_to(struct broker *broker, uint32_t worker, uint64_t request, const struct job *job)
{
    struct lease lease = {
        .key = job->key,
        .generation = job->generation,
        .deadline_ms = clock_monotonic_ms() + broker->options.lease_ms,
        .request = request,
        .worker = worker,
        .depth = job->depth,
        .attempt = job->attempt,
        .deaths = job->deaths,
    };
    if (job->key.stage == STAGE_FETCH) {
        fingerprint_of(job->uri, lease.fingerprint);
    }
    leases_add(broker->leases, &lease);
}

/* A job that its worker says it holds, though we know of no lease: we were restarted. Not so one
 * that ended in this round, whose end the worker tells in another message. */
static enum status
renew_one(struct broker *broker, uint32_t worker, const struct job_key *key, uint16_t attempt,
          bool *renewed, struct reason *why)
{
    const uint32_t at = leases_find(broker->leases, key->id);
    struct job job;
    *renewed = at != (uint32_t)LEASE_NONE && leases_at(broker->leases, at)->worker == worker;
    if (at != (uint32_t)LEASE_NONE) {
        return STATUS_OK;
    }
    if (attempt == TOUCH_ENDING || broker_touched(broker, key->id)) {
        *renewed = true;
        return STATUS_OK;
    }
    const enum status status = broker_record(broker, key, &job, why);
    if (status == STATUS_NOT_FOUND) {
        *renewed = true; /* it has ended: nothing to lose */
        return STATUS_OK;
    }
    TRY(status);
    if (job.attempt != attempt ||
        (key->stage == STAGE_FETCH && !lanes_take(broker->lanes, key->lane))) {
        return STATUS_OK;
    }
    upcoming_gone(broker->upcoming, key);
    troubles_left(broker->troubles, key);
    lease_to(broker, worker, 0, &job);
    *renewed = true;
    return key->stage == STAGE_FETCH ? broker_restore_lane(broker, key->lane, why) : STATUS_OK;
}

enum status
broker_renew(struct broker *broker, const struct pending *pending, uint64_t *lost,
             struct reason *why)
{
    struct codec_reader reader = codec_reader_of(pending->request.payload);
    const uint8_t flags = codec_get_u8(&reader);
    const size_t n = message_get_count(&reader, JOB_KEY_SIZE + 1);
    *lost = 0;
    for (size_t i = 0; i < n; i++) {
        struct job_key key;
        bool renewed;
        (void)job_key_decode(&reader, &key);
        const uint16_t attempt = (uint16_t)codec_get_varint(&reader);
        TRY(renew_one(broker, pending->worker, &key, attempt, &renewed, why));
        *lost += !renewed;
    }
    if (flags & TOUCH_ANNOUNCE) {
        leases_worker(broker->leases, pending->worker)->announced = true;
    }
    return STATUS_OK;
}

/* ---- handing out ---- */

/* One answer to a RESERVE being made. */
struct handout {
    struct broker *broker;
    const struct parked *parked;
    uint32_t count;
    uint32_t company; /* most jobs that the worker may hold, given what it holds */
    bool full;        /* it gets no more in this answer */
    bool damaged;
    /* of the scan */
    struct job_key from, last;
    struct { /* lanes that gave a job and may give more */
        uint64_t lane;
        uint64_t rank; /* of the job that went out last */
    } bursts[BURST_LANES];
    size_t burst_count;
};

/* Appends a job in the wire's form. pace: its host's; NULL for other stages. */
static void
put_job(struct broker *broker, const struct job_key *key, struct slice record,
        const struct pace *pace)
{
    struct buf *reply = &broker->reply;
    job_key_encode(reply, key);
    (void)buf_append_slice(reply, record);
    const size_t at = reply->length;
    codec_put_u8(reply, 0); /* a length of less than 128 is one byte */
    if (pace != NULL) {
        pace_encode(reply, pace, broker->round.now_ms);
        reply->data[at] = (char)(reply->length - at - 1);
    }
}

/* Appends a ready job and leases it, unless its suspects' company forbids. The record is
 * already in the wire's form. */
static bool
hand_out(struct handout *handout, const struct job_key *key, struct slice record,
         const struct pace *pace)
{
    struct broker *broker = handout->broker;
    struct codec_reader reader = codec_reader_of(record);
    struct job job = {.key = *key};
    if (!job_decode(&reader, &job)) {
        handout->damaged = true;
        handout->full = true;
        return false;
    }
    const uint32_t company = leases_company(job.deaths);
    const uint32_t held = leases_worker(broker->leases, handout->parked->worker)->count;
    handout->full = handout->count >= handout->parked->most ||
                    broker->reply.length > MESSAGE_REPLY_ENOUGH || held >= handout->company ||
                    held >= company;
    if (handout->full) {
        return false;
    }
    handout->company = company < handout->company ? company : handout->company;
    handout->count++;
    put_job(broker, key, record, pace);
    troubles_left(broker->troubles, key);
    lease_to(broker, handout->parked->worker, handout->parked->request.id, &job);
    if (key->stage == STAGE_FETCH) {
        priority_spend(broker->priorities, job.uri, broker->round.now_ms);
        lanes_set_speed(broker->lanes, key->lane,
                        priority_speed(broker->priorities, job.uri, broker->round.now_ms));
    }
    return true;
}

static bool
sequence_visit(void *context, struct slice key_bytes, struct slice record)
{
    struct handout *handout = context;
    struct job_key key;
    job_key_read((const uint8_t *)key_bytes.at, &key);
    if (key.stage != handout->from.stage || key.lane != handout->from.lane) {
        return false;
    }
    if (leases_find(handout->broker->leases, key.id) == (uint32_t)LEASE_NONE &&
        !hand_out(handout, &key, record, NULL)) {
        return false;
    }
    handout->last = key;
    return handout->count < handout->parked->most;
}

static enum status
serve_returned(struct handout *handout, struct sequence *sequence, struct reason *why)
{
    struct broker *broker = handout->broker;
    struct job_key key;
    while (handout->count < handout->parked->most && sequence_returned(sequence, &key)) {
        struct slice record;
        uint8_t bytes[JOB_KEY_SIZE];
        if (leases_find(broker->leases, key.id) == (uint32_t)LEASE_NONE) {
            const enum status status =
                frontier_get(broker->frontier, TREE_JOBS, broker_key(bytes, &key), &record, why);
            if (status == STATUS_OK && !hand_out(handout, &key, record, NULL)) {
                return STATUS_OK;
            }
            if (status != STATUS_NOT_FOUND) {
                TRY(status);
            }
        }
        sequence_pop_returned(sequence);
    }
    return STATUS_OK;
}

static enum status
serve_sequence(struct handout *handout, struct reason *why)
{
    struct broker *broker = handout->broker;
    const uint8_t stage = handout->parked->stage;
    uint8_t bytes[JOB_KEY_SIZE];
    struct sequence *sequence = sequences_find(broker->sequences, stage, handout->parked->lane);
    if (leases_count(broker->leases, (enum stage)stage) >=
        broker->round.counters.stages[stage].jobs) {
        return STATUS_OK;
    }
    TRY(serve_returned(handout, sequence, why));
    if (handout->full || handout->count >= handout->parked->most) {
        return STATUS_OK;
    }
    handout->from = handout->last = sequence_cursor(sequence);
    handout->from.id++;
    TRY(frontier_scan(broker->frontier, TREE_JOBS, broker_key(bytes, &handout->from),
                      sequence_visit, handout, why));
    sequence_reach(sequence, &handout->last);
    return STATUS_OK;
}

static enum status
learn_lane(struct broker *broker, uint64_t lane, struct reason *why)
{
    const enum status status = broker_restore_lane(broker, lane, why);
    lanes_return(broker->lanes, lane);
    return status;
}

/* The next job of the lane: of sitemaps when it is their turn, or only they are there; what is more
 * urgent than usual goes before. */
static enum status
next_of_lane(struct broker *broker, uint64_t lane, struct job_key *key, struct slice *record,
             enum upcoming_class *class, struct reason *why)
{
    const struct upcoming_source source = {.frontier = broker->frontier, .leases = broker->leases};
    const bool sitemaps = lanes_turn(broker->lanes, lane);
    *class = UPCOMING_USUAL;
    TRY(upcoming_next(broker->upcoming, &source, lane, UPCOMING_USUAL, key, record, why));
    const bool usual = record->at != NULL;
    if (usual ? !sitemaps || key->rank < RANK_USUAL : !lanes_listed(broker->lanes, lane)) {
        return STATUS_OK;
    }
    *class = UPCOMING_SITEMAP;
    TRY(upcoming_next(broker->upcoming, &source, lane, UPCOMING_SITEMAP, key, record, why));
    if (record->at != NULL) {
        return STATUS_OK;
    }
    lanes_set_listed(broker->lanes, lane, false);
    *class = UPCOMING_USUAL;
    return upcoming_next(broker->upcoming, &source, lane, UPCOMING_USUAL, key, record, why);
}

/* Tells whether a job may be out together with one of its lane that goes before it. Pages may; what
 * is more urgent ends before anything that is less urgent begins. */
static bool
may_join(uint64_t before, uint64_t rank)
{
    return before >= RANK_USUAL || before == rank;
}

/* Hands out the lane's next job; *there: there is one, though it may not go to this worker. rank:
 * that of the job that went out before it; then its own. */
static enum status
serve_job(struct handout *handout, uint64_t lane, uint64_t *rank, bool *there, struct reason *why)
{
    struct broker *broker = handout->broker;
    enum upcoming_class class;
    struct job_key key;
    struct slice record;
    struct pace pace;
    TRY(broker_pace(broker, lane, &pace, why));
    TRY(next_of_lane(broker, lane, &key, &record, &class, why));
    *there = record.at != NULL;
    if (*there && may_join(*rank, key.rank) && hand_out(handout, &key, record, &pace)) {
        *rank = key.rank;
        if (upcoming_pop(broker->upcoming, lane, class)) {
            lanes_end_turn(broker->lanes, lane);
        }
    }
    return STATUS_OK;
}

static enum status
serve_lane(struct handout *handout, uint64_t lane, struct reason *why)
{
    struct broker *broker = handout->broker;
    const uint32_t count = handout->count;
    uint64_t rank = UINT64_MAX;
    bool there;
    TRY(serve_job(handout, lane, &rank, &there, why));
    if (!there) {
        lanes_forget(broker->lanes, lane);
    } else if (handout->count == count) {
        lanes_return(broker->lanes, lane);
    } else if (handout->burst_count < BURST_LANES) {
        handout->bursts[handout->burst_count].lane = lane;
        handout->bursts[handout->burst_count++].rank = rank;
    }
    return STATUS_OK;
}

/* The room that is left when every lane that is due has a job out goes to more jobs of the same
 * lanes, in turn, so that few hosts need not wait for a commit after every page. */
static enum status
serve_bursts(struct handout *handout, struct reason *why)
{
    struct lanes *lanes = handout->broker->lanes;
    while (handout->burst_count > 0) {
        size_t kept = 0;
        for (size_t i = 0; i < handout->burst_count; i++) {
            const uint64_t lane = handout->bursts[i].lane;
            const uint32_t count = handout->count;
            bool there;
            if (handout->full || count >= handout->parked->most) {
                return STATUS_OK;
            }
            if (!lanes_more(lanes, lane)) {
                continue;
            }
            TRY(serve_job(handout, lane, &handout->bursts[i].rank, &there, why));
            if (handout->count == count) {
                lanes_no_more(lanes, lane);
            } else {
                handout->bursts[kept++] = handout->bursts[i];
            }
        }
        handout->burst_count = kept;
    }
    return STATUS_OK;
}

static enum status
serve_lanes(struct handout *handout, struct reason *why)
{
    struct broker *broker = handout->broker;
    uint64_t lane;
    bool known;
    while (!handout->full && handout->count < handout->parked->most &&
           lanes_next(broker->lanes, broker->round.now_ms, &lane, &known)) {
        TRY(known ? serve_lane(handout, lane, why) : learn_lane(broker, lane, why));
    }
    return serve_bursts(handout, why);
}

/* ---- answers ---- */

bool
broker_is_throttled(struct broker *broker, uint8_t stage)
{
    if (stage == STAGE_EXTRACT) {
        return false;
    }
    const struct stage_counters *next = &broker->round.counters.stages[stage + 1];
    const uint64_t waiting =
        next->jobs +
        (broker_takes_in(broker) ? broker_outbox_moving(broker, stage + 1) : next->outbox);
    const uint64_t high = broker->options.high_water;
    const bool before = broker->throttle.on[stage];
    broker->throttle.on[stage] =
        before ? waiting > high * HIGH_WATER_RESUMES / PERCENT : waiting > high;
    if (before != broker->throttle.on[stage]) {
        log_debug(before ? "goes_on" : "held_back", "stage=%s waiting=%lu",
                  stage_name((enum stage)stage), (unsigned long)waiting);
    }
    return broker->throttle.on[stage];
}

/* The jobs that this very request got before, as far as they are still leased to its worker. */
static enum status
repeat_answer(struct handout *handout, struct reason *why)
{
    struct broker *broker = handout->broker;
    const struct worker *worker = leases_worker(broker->leases, handout->parked->worker);
    for (uint32_t at = worker->first; at != (uint32_t)LEASE_NONE;
         at = leases_at(broker->leases, at)->next) {
        const struct lease *lease = leases_at(broker->leases, at);
        uint8_t bytes[JOB_KEY_SIZE];
        struct slice record;
        struct pace pace = {0};
        if (lease->request != handout->parked->request.id) {
            continue;
        }
        if (lease->key.stage == STAGE_FETCH) {
            TRY(broker_pace(broker, lease->key.lane, &pace, why));
        }
        const enum status status = frontier_get(broker->frontier, broker_tree(lease->key.stage),
                                                broker_key(bytes, &lease->key), &record, why);
        if (status == STATUS_NOT_FOUND) {
            continue;
        }
        TRY(status);
        put_job(broker, &lease->key, record, &pace);
        handout->count++;
    }
    return STATUS_OK;
}

static bool
was_answered(struct broker *broker, const struct parked *parked)
{
    const struct worker *worker = leases_worker(broker->leases, parked->worker);
    for (int i = 0; i < WORKER_ANSWERS; i++) {
        if (worker->answered[i] == parked->request.id && parked->request.id != 0) {
            return true;
        }
    }
    return false;
}

static void
send_answer(struct broker *broker, size_t at, uint32_t count, size_t count_at)
{
    struct parked *parked = &broker->parked.all[at];
    struct worker *worker = leases_worker(broker->leases, parked->worker);
    codec_write_u32((uint8_t *)broker->reply.data + count_at, count);
    worker->answered[worker->answered_at++ % WORKER_ANSWERS] = parked->request.id;
    broker->answer(broker->context, parked->request.token, STATUS_OK, buf_slice(&broker->reply),
                   NULL);
    broker_unpark(broker, at);
}

static enum status
serve_one(struct broker *broker, size_t at, uint64_t now, bool *answered, struct reason *why)
{
    const struct parked *parked = &broker->parked.all[at];
    struct handout handout = {
        .broker = broker,
        .parked = parked,
        .company = leases_worker_company(broker->leases, parked->worker),
    };
    buf_reset(&broker->reply);
    codec_put_varint(&broker->reply, broker->options.lease_ms);
    codec_put_varint(&broker->reply, broker_scope(broker));
    const size_t count_at = broker->reply.length;
    codec_put_u32(&broker->reply, 0);
    bool repeated = was_answered(broker, parked);
    if (repeated) {
        TRY(repeat_answer(&handout, why));
    } else if (!broker_in_grace(broker) && !broker_is_throttled(broker, parked->stage)) {
        TRY(parked->stage == STAGE_FETCH ? serve_lanes(&handout, why)
                                         : serve_sequence(&handout, why));
    }
    if (handout.damaged) {
        return status_fail(why, STATUS_CORRUPT, "the record of a job is damaged");
    }
    *answered = repeated || handout.count > 0 || now >= parked->deadline_ms;
    if (*answered) {
        send_answer(broker, at, handout.count, count_at);
    }
    return STATUS_OK;
}

enum status
broker_serve(struct broker *broker, struct reason *why)
{
    const uint64_t now = clock_monotonic_ms();
    for (size_t i = 0; i < broker->parked.count;) {
        bool answered = false;
        TRY(serve_one(broker, i, now, &answered, why));
        i += !answered;
    }
    return STATUS_OK;
}
