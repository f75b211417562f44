/* People look: stats, peek; and give buried jobs another try: kick. */
#include "queue/broker/broker_state.h"

#include <string.h>

struct view {
    struct broker *broker;
    uint8_t stage;
    uint32_t most, count;
    uint8_t state;    /* byte of a row of `later` */
    struct slice uri; /* empty: any */
    uint64_t oldest_ms;
};

/* ---- stats ---- */

static bool
first_queued(void *context, struct slice key_bytes, struct slice record)
{
    struct view *view = context;
    struct codec_reader reader = codec_reader_of(record);
    struct job job = {0};
    job_key_read((const uint8_t *)key_bytes.at, &job.key);
    if (job.key.stage == view->stage &&
        leases_find(view->broker->leases, job.key.id) != (uint32_t)LEASE_NONE) {
        return ++view->count < view->most;
    }
    if (job.key.stage == view->stage && job_decode(&reader, &job)) {
        view->oldest_ms = job.queued_ms > job.due_ms ? job.queued_ms : job.due_ms;
    }
    return false;
}

/* Returns how long the job that goes out next has been ready. For fetch: since its lane is due. */
static uint64_t
oldest_of(struct broker *broker, uint8_t stage)
{
    enum { LOOK_MOST = 20000 };
    const uint64_t now = broker->options.clock();
    struct view view = {.broker = broker, .stage = stage, .most = LOOK_MOST};
    uint8_t bytes[JOB_KEY_SIZE];
    const struct job_key from = {.stage = stage};
    if (stage == STAGE_FETCH) {
        const uint64_t due = lanes_due(broker->lanes);
        return due != 0 && due < now ? now - due : 0;
    }
    (void)frontier_scan(broker->frontier, TREE_JOBS, broker_key(bytes, &from), first_queued, &view,
                        NULL);
    return view.oldest_ms != 0 && view.oldest_ms < now ? now - view.oldest_ms : 0;
}

/* Jobs of hosts that are set aside which are out: probes, that nobody waits for. */
static uint64_t
count_probes(struct broker *broker)
{
    uint64_t n = 0;
    for (uint32_t at = 0; at < leases_worker_end(broker->leases); at++) {
        const struct worker *worker = leases_worker(broker->leases, at);
        for (uint32_t i = worker->used ? worker->first : (uint32_t)LEASE_NONE;
             i != (uint32_t)LEASE_NONE; i = leases_at(broker->leases, i)->next) {
            const struct job_key *key = &leases_at(broker->leases, i)->key;
            n += key->stage == STAGE_FETCH && troubles_aside(broker->troubles, key->lane);
        }
    }
    return n;
}

static void
view_stats(struct broker *broker)
{
    const struct counters *counters = &broker->round.committed;
    const struct troubles_totals troubles = troubles_totals(broker->troubles);
    struct queue_stats stats = {
        .seen = counters->seen,
        .lanes = lanes_count(broker->lanes),
        .lanes_busy = lanes_busy(broker->lanes),
        .sent = counters->sent,
        .received = counters->received,
        .incarnation = broker->incarnation,
        .disk_free = broker_disk_free(broker),
        .hosts_aside = troubles.aside,
        .hosts_failing = troubles.failing,
        .network_ms = counters->network_ms,
        .intake_stopped = !broker_takes_in(broker),
        .cut_off = troubles.doubted > 0,
    };
    for (uint32_t i = 0; i < leases_worker_end(broker->leases); i++) {
        stats.workers += leases_worker(broker->leases, i)->used;
    }
    for (int i = 0; i < STAGE_COUNT; i++) {
        const struct stage_counters *from = &counters->stages[i];
        const uint64_t probes = i == STAGE_FETCH && troubles.aside > 0 ? count_probes(broker) : 0;
        const uint64_t leased = leases_count(broker->leases, (enum stage)i) - probes;
        const uint64_t aside = i == STAGE_FETCH ? troubles.jobs + probes : 0;
        stats.stages[i] = (struct queue_stage_stats){
            .ready = from->jobs > leased + aside ? from->jobs - leased - aside : 0,
            .aside = aside,
            .leased = leased,
            .delayed = from->delayed,
            .scheduled = from->scheduled,
            .buried = from->buried,
            .outbox = from->outbox,
            .put = from->put,
            .done = from->done,
            .released = from->released,
            .dead = from->dead,
            .oldest_ms = from->jobs > leased + aside ? oldest_of(broker, (uint8_t)i) : 0,
            .throttled = broker_is_throttled(broker, (uint8_t)i),
        };
    }
    memcpy(stats.outcomes, counters->outcomes, sizeof stats.outcomes);
    message_put_stats(&broker->reply, &stats);
}

/* ---- peek ---- */

static bool
show(struct view *view, const struct job_key *key, struct slice record, struct slice reason,
     struct slice reproducer)
{
    struct buf *reply = &view->broker->reply;
    job_key_encode(reply, key);
    (void)buf_append_slice(reply, record);
    codec_put_slice(reply, reason);
    codec_put_slice(reply, reproducer);
    view->count++;
    return view->count < view->most && reply->length < MESSAGE_REPLY_ENOUGH;
}

/* Neither leased nor, unless these are looked for, of a host that is set aside. */
static bool
peek_waiting(struct view *view, struct slice key_bytes, struct slice value, bool aside)
{
    struct job_key key;
    job_key_read((const uint8_t *)key_bytes.at, &key);
    if (key.stage != view->stage) {
        return false;
    }
    if (leases_find(view->broker->leases, key.id) != (uint32_t)LEASE_NONE ||
        aside != (key.stage == STAGE_FETCH && troubles_aside(view->broker->troubles, key.lane))) {
        return true;
    }
    return show(view, &key, value, (struct slice){NULL, 0}, (struct slice){NULL, 0});
}

static bool
peek_ready(void *context, struct slice key, struct slice value)
{
    return peek_waiting(context, key, value, false);
}

static bool
peek_aside(void *context, struct slice key, struct slice value)
{
    return peek_waiting(context, key, value, true);
}

/* Ready or leased. */
static bool
peek_job(void *context, struct slice key_bytes, struct slice value)
{
    struct view *view = context;
    struct job_key key;
    job_key_read((const uint8_t *)key_bytes.at, &key);
    return key.stage == view->stage &&
           show(view, &key, value, (struct slice){NULL, 0}, (struct slice){NULL, 0});
}

static bool
peek_later(void *context, struct slice key_bytes, struct slice value)
{
    struct view *view = context;
    struct job_key key;
    job_key_read((const uint8_t *)key_bytes.at + 8, &key);
    if (key.stage != view->stage || value.length == 0 || (uint8_t)value.at[0] != view->state) {
        return true;
    }
    return show(view, &key, slice_of(value.at + 1, value.length - 1), (struct slice){NULL, 0},
                (struct slice){NULL, 0});
}

static bool
peek_buried(void *context, struct slice key_bytes, struct slice value)
{
    struct view *view = context;
    struct job_key key;
    struct codec_reader reader = codec_reader_of(value);
    job_key_read((const uint8_t *)key_bytes.at, &key);
    (void)codec_get_varint(&reader);
    const struct slice reason = codec_get_slice(&reader);
    const struct slice reproducer = codec_get_slice(&reader);
    if (key.stage != view->stage || reader.bad) {
        return false;
    }
    const struct slice record = {(const char *)reader.at, (size_t)(reader.end - reader.at)};
    return show(view, &key, record, reason, reproducer);
}

static bool
peek_outbox(void *context, struct slice key_bytes, struct slice value)
{
    struct view *view = context;
    const struct job_key key = {
        .stage = view->stage,
        .lane = codec_read_u64((const uint8_t *)key_bytes.at),
        .id = codec_read_u64((const uint8_t *)key_bytes.at + 8),
    };
    if (value.length == 0 || (uint8_t)value.at[0] != view->stage) {
        return true;
    }
    return show(view, &key, slice_of(value.at + 1, value.length - 1), (struct slice){NULL, 0},
                (struct slice){NULL, 0});
}

struct peek {
    const char *state;
    enum store_tree tree;
    store_visit *visit;
    bool by_stage; /* keys begin with the job's */
    uint8_t of_later;
};

static const struct peek peeks[] = {
    {"ready", TREE_JOBS, peek_ready, true, 0},       {"delayed", TREE_LATER, peek_later, false, 0},
    {"scheduled", TREE_LATER, peek_later, false, 1}, {"buried", TREE_BURIED, peek_buried, true, 0},
    {"outbox", TREE_OUTBOX, peek_outbox, false, 0},  {"jobs", TREE_JOBS, peek_job, true, 0},
    {"aside", TREE_JOBS, peek_aside, true, 0},
};

static enum status
view_peek(struct broker *broker, struct slice payload, struct reason *why)
{
    struct codec_reader reader = codec_reader_of(payload);
    struct view view = {.broker = broker, .stage = codec_get_u8(&reader)};
    const struct slice state = codec_get_slice(&reader);
    const uint64_t most = codec_get_varint(&reader);
    const struct peek *peek = NULL;
    for (size_t i = 0; i < sizeof peeks / sizeof peeks[0]; i++) {
        peek = slice_is(state, peeks[i].state) ? &peeks[i] : peek;
    }
    if (!codec_at_end(&reader) || peek == NULL || view.stage >= STAGE_COUNT) {
        return status_fail(why, STATUS_BAD_INPUT, "a peek that makes no sense");
    }
    uint8_t bytes[JOB_KEY_SIZE];
    const struct job_key from = {.stage = view.stage};
    view.most = most < MESSAGE_ENTRIES_MAXIMUM ? (uint32_t)most : MESSAGE_ENTRIES_MAXIMUM;
    view.state = peek->of_later;
    codec_put_u32(&broker->reply, 0);
    if (view.most > 0) {
        const enum store_tree tree = peek->tree == TREE_JOBS ? broker_tree(view.stage) : peek->tree;
        TRY(frontier_scan(broker->frontier, tree,
                          peek->by_stage ? broker_key(bytes, &from) : (struct slice){"", 0},
                          peek->visit, &view, why));
    }
    codec_write_u32((uint8_t *)broker->reply.data, view.count);
    return STATUS_OK;
}

void
broker_view(struct broker *broker, const struct broker_request *request)
{
    struct reason why = {""};
    enum status status = STATUS_OK;
    buf_reset(&broker->reply);
    if (request->verb == QUEUE_PEEK) {
        status = view_peek(broker, request->payload, &why);
    } else if (request->verb == QUEUE_LOOK) {
        status = broker_explain(broker, request->payload, &why);
    } else if (request->verb == QUEUE_HOSTS) {
        status = broker_view_hosts(broker, request->payload, &why);
    } else if (request->verb == QUEUE_NODES) {
        status = broker_view_nodes(broker, request->payload, &why);
    } else if (request->payload.length == 0) {
        view_stats(broker);
    } else {
        status = status_fail(&why, STATUS_BAD_INPUT, "stats takes nothing");
    }
    broker->answer(broker->context, request->token, status, buf_slice(&broker->reply), &why);
}

/* ---- kick ---- */

static bool
kick_one(void *context, struct slice key_bytes, struct slice value)
{
    struct view *view = context;
    struct broker *broker = view->broker;
    struct codec_reader reader = codec_reader_of(value);
    struct job job = {0};
    job_key_read((const uint8_t *)key_bytes.at, &job.key);
    (void)codec_get_varint(&reader);
    (void)codec_get_slice(&reader);
    (void)codec_get_slice(&reader);
    if (job.key.stage != view->stage || view->count == view->most || !job_decode(&reader, &job)) {
        return false;
    }
    if ((view->uri.length > 0 && !slice_equal(view->uri, job.uri)) ||
        broker_touched(broker, job.key.id)) {
        return true;
    }
    job.attempt = 1;
    job.due_ms = 0;
    job.queued_ms = broker->round.now_ms;
    store_batch_remove(&broker->round.batch, TREE_BURIED, key_bytes);
    broker_store_job(broker, &job, false);
    broker->round.counters.stages[job.key.stage].buried--;
    broker_touch(broker, job.key.id);
    broker_effect(broker, &(struct effect){.key = job.key, .kind = EFFECT_APPEARED});
    view->count++;
    return true;
}

enum status
broker_kick(struct broker *broker, struct pending *pending, struct reason *why)
{
    uint8_t bytes[JOB_KEY_SIZE];
    const struct job_key from = {.stage = pending->kick_stage};
    struct view view = {
        .broker = broker,
        .stage = pending->kick_stage,
        .most = MESSAGE_KICK_MOST,
        .uri = pending->kick_uri,
    };
    TRY(frontier_scan(broker->frontier, TREE_BURIED, broker_key(bytes, &from), kick_one, &view,
                      why));
    pending->number = view.count;
    return STATUS_OK;
}
