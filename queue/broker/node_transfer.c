/* Jobs between nodes: the outbox, and what comes from the outboxes of others. */
#include "queue/broker/broker_private.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"

enum { OUTBOX_KEY_SIZE = 16, TRANSFER_ROWS = 2000, TRANSFER_BYTES = 1 << 20, RETRY_MS = 200 };

static struct slice
outbox_key(uint8_t bytes[OUTBOX_KEY_SIZE], uint64_t node, uint64_t sequence)
{
    codec_write_u64(bytes, node);
    codec_write_u64(bytes + 8, sequence);
    return slice_of((const char *)bytes, OUTBOX_KEY_SIZE);
}

/* ---- opening ---- */

struct first_row {
    uint64_t node, sequence;
    bool found;
};

static bool
read_first(void *context, struct slice key, struct slice value)
{
    struct first_row *first = context;
    (void)value;
    first->node = codec_read_u64((const uint8_t *)key.at);
    first->sequence = codec_read_u64((const uint8_t *)key.at + 8);
    first->found = true;
    return false;
}

static enum status
open_peer(struct broker *broker, size_t node, struct reason *why)
{
    struct peer *peer = &broker->peers[node];
    struct first_row first = {0};
    uint8_t bytes[OUTBOX_KEY_SIZE];
    struct slice value;
    peer->fingerprint =
        fingerprint64(slice_string(cluster_node(broker->options.cluster, node)->name));
    peer->next = 1;
    codec_write_u64(bytes, peer->fingerprint);
    const enum status status =
        frontier_get(broker->frontier, TREE_PEERS, slice_of((char *)bytes, 8), &value, why);
    if (status == STATUS_OK && value.length < 8) {
        return status_fail(why, STATUS_CORRUPT, "the row of node %s is damaged",
                           cluster_node(broker->options.cluster, node)->name);
    }
    if (status == STATUS_OK) {
        peer->next = codec_read_u64((const uint8_t *)value.at);
    } else if (status != STATUS_NOT_FOUND) {
        return status;
    }
    peer->first = peer->next;
    TRY(frontier_scan(broker->frontier, TREE_OUTBOX, outbox_key(bytes, peer->fingerprint, 0),
                      read_first, &first, why));
    if (first.found && first.node == peer->fingerprint) {
        peer->first = first.sequence;
    }
    return STATUS_OK;
}

struct strangers {
    struct broker *broker;
    size_t self;
    uint64_t node; /* the first that cluster.conf does not name; 0: none */
    bool any;
};

static bool
find_stranger(void *context, struct slice key, struct slice value)
{
    struct strangers *strangers = context;
    const struct broker *broker = strangers->broker;
    const uint64_t node = codec_read_u64((const uint8_t *)key.at);
    (void)value;
    for (size_t i = 0; i < cluster_node_count(broker->options.cluster); i++) {
        if (broker->peers[i].fingerprint == node && i != strangers->self) {
            strangers->node = node;
            return false;
        }
    }
    strangers->any = true;
    strangers->node = node;
    return false;
}

/* Walks the nodes that the outbox has rows for; all must be in cluster.conf. */
static enum status
check_outbox(struct broker *broker, struct reason *why)
{
    struct strangers strangers = {
        .broker = broker, .self = cluster_self(broker->options.cluster), .any = false};
    uint8_t bytes[OUTBOX_KEY_SIZE];
    uint64_t from = 0;
    for (;;) {
        strangers.node = 0;
        TRY(frontier_scan(broker->frontier, TREE_OUTBOX, outbox_key(bytes, from, 0), find_stranger,
                          &strangers, why));
        if (strangers.any) {
            return status_fail(why, STATUS_MISUSE,
                               "jobs wait for a node that cluster.conf does not name any more "
                               "(or that is this one now); put it back until it has them");
        }
        if (strangers.node == 0 || strangers.node == UINT64_MAX) {
            return STATUS_OK;
        }
        from = strangers.node + 1;
    }
}

static bool
read_origin(void *context, struct slice key, struct slice value)
{
    struct broker *broker = context;
    if (key.length == 8 && value.length == 16) {
        const uint8_t *at = (const uint8_t *)value.at;
        broker->origins =
            memory_resize(broker->origins, broker->origin_count + 1, sizeof *broker->origins);
        broker->origins[broker->origin_count++] = (struct origin){
            .origin = codec_read_u64((const uint8_t *)key.at),
            .last = codec_read_u64(at),
            .epoch = codec_read_u64(at + 8),
        };
    }
    return true;
}

static enum status
load_origins(struct broker *broker, struct reason *why)
{
    broker->origin_count = 0;
    return frontier_scan(broker->frontier, TREE_ORIGINS, (struct slice){"", 0}, read_origin, broker,
                         why);
}

enum status
broker_nodes_open(struct broker *broker, struct reason *why)
{
    const size_t n = cluster_node_count(broker->options.cluster);
    broker->peers = memory_zero(n, sizeof *broker->peers);
    broker->peers_committed = memory_zero(n, sizeof *broker->peers_committed);
    for (size_t i = 0; i < n; i++) {
        TRY(open_peer(broker, i, why));
    }
    memcpy(broker->peers_committed, broker->peers, n * sizeof *broker->peers);
    TRY(check_outbox(broker, why));
    return load_origins(broker, why);
}

/* ---- out ---- */

void
broker_to_node(struct broker *broker, const struct incoming *incoming)
{
    struct peer *peer = &broker->peers[incoming->node];
    uint8_t bytes[OUTBOX_KEY_SIZE];
    buf_reset(&broker->scratch);
    message_put_new(&broker->scratch, &incoming->job);
    store_batch_put(&broker->batch, TREE_OUTBOX, outbox_key(bytes, peer->fingerprint, peer->next++),
                    buf_slice(&broker->scratch));
    peer->changed = true;
    broker->counters.stages[incoming->job.key.stage].outbox++;
}

static void
delete_delivered(struct broker *broker, struct peer *peer)
{
    uint8_t bytes[OUTBOX_KEY_SIZE];
    for (uint64_t at = peer->first; at <= peer->delivered; at++) {
        store_batch_remove(&broker->batch, TREE_OUTBOX, outbox_key(bytes, peer->fingerprint, at));
    }
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        broker->counters.stages[stage].outbox -= peer->flight_stages[stage];
        broker->counters.sent += peer->flight_stages[stage];
        peer->flight_stages[stage] = 0;
    }
    peer->first = peer->delivered + 1;
    peer->delivered = peer->flight_last = 0;
}

void
broker_nodes_write(struct broker *broker)
{
    for (size_t i = 0; i < cluster_node_count(broker->options.cluster); i++) {
        struct peer *peer = &broker->peers[i];
        if (peer->delivered != 0) {
            delete_delivered(broker, peer);
        }
        if (peer->changed) {
            uint8_t key[8];
            codec_write_u64(key, peer->fingerprint);
            buf_reset(&broker->scratch);
            codec_put_u64(&broker->scratch, peer->next);
            codec_put_slice(&broker->scratch,
                            slice_string(cluster_node(broker->options.cluster, i)->name));
            store_batch_put(&broker->batch, TREE_PEERS, slice_of((char *)key, sizeof key),
                            buf_slice(&broker->scratch));
            peer->changed = false;
        }
    }
}

void
broker_nodes_settle(struct broker *broker, bool committed)
{
    const size_t n = cluster_node_count(broker->options.cluster);
    if (committed) {
        memcpy(broker->peers_committed, broker->peers, n * sizeof *broker->peers);
    } else {
        memcpy(broker->peers, broker->peers_committed, n * sizeof *broker->peers);
        (void)load_origins(broker, NULL);
    }
}

struct outgoing {
    const struct peer *peer;
    struct buf rows;
    uint32_t count, stages[STAGE_COUNT];
    uint64_t first, last;
};

static bool
take_row(void *context, struct slice key, struct slice value)
{
    struct outgoing *outgoing = context;
    const uint64_t node = codec_read_u64((const uint8_t *)key.at);
    const uint64_t sequence = codec_read_u64((const uint8_t *)key.at + 8);
    if (node != outgoing->peer->fingerprint || value.length == 0 ||
        (uint8_t)value.at[0] >= STAGE_COUNT) {
        return false;
    }
    if (outgoing->count == 0) {
        outgoing->first = sequence;
    } else if (sequence != outgoing->last + 1) {
        return false;
    }
    outgoing->last = sequence;
    outgoing->stages[(uint8_t)value.at[0]]++;
    outgoing->count++;
    (void)buf_append_slice(&outgoing->rows, value);
    return outgoing->count < TRANSFER_ROWS && outgoing->rows.length < TRANSFER_BYTES;
}

bool
broker_outgoing(struct broker *broker, size_t node, struct buf *payload)
{
    struct peer *peer = &broker->peers[node];
    struct outgoing outgoing = {.peer = peer};
    struct reason why = {""};
    uint8_t bytes[OUTBOX_KEY_SIZE];
    if (node == cluster_self(broker->options.cluster) || peer->flight_last != 0 ||
        peer->first == peer->next || clock_monotonic_ms() < peer->retry_ms) {
        return false;
    }
    buf_init(&outgoing.rows, 4 * TRANSFER_BYTES);
    const enum status status =
        frontier_scan(broker->frontier, TREE_OUTBOX,
                      outbox_key(bytes, peer->fingerprint, peer->first), take_row, &outgoing, &why);
    if (status == STATUS_OK && outgoing.count > 0) {
        codec_put_u64(payload, broker->origin);
        codec_put_u64(payload, broker->epoch);
        codec_put_u64(payload, outgoing.first);
        codec_put_varint(payload, outgoing.count);
        (void)buf_append_slice(payload, buf_slice(&outgoing.rows));
        peer->flight_last = outgoing.last;
        memcpy(peer->flight_stages, outgoing.stages, sizeof peer->flight_stages);
        broker->peers_committed[node] = *peer;
    } else if (status != STATUS_OK) {
        log_error("outbox", "reason=%s", why.text);
    }
    buf_release(&outgoing.rows);
    return peer->flight_last != 0;
}

void
broker_delivered(struct broker *broker, size_t node, enum status status, uint64_t last)
{
    struct peer *peer = &broker->peers[node];
    if (peer->flight_last == 0) {
        return;
    }
    if (status == STATUS_OK && last >= peer->flight_last) {
        peer->delivered = peer->flight_last;
    } else {
        peer->flight_last = 0;
        memset(peer->flight_stages, 0, sizeof peer->flight_stages);
        peer->retry_ms = clock_monotonic_ms() + RETRY_MS;
    }
    broker->peers_committed[node] = *peer;
}

/* ---- in ---- */

static struct origin *
origin_of(struct broker *broker, uint64_t id)
{
    for (size_t i = 0; i < broker->origin_count; i++) {
        if (broker->origins[i].origin == id) {
            return &broker->origins[i];
        }
    }
    broker->origins =
        memory_resize(broker->origins, broker->origin_count + 1, sizeof *broker->origins);
    broker->origins[broker->origin_count] = (struct origin){.origin = id};
    return &broker->origins[broker->origin_count++];
}

uint64_t
broker_received(struct broker *broker, uint64_t origin)
{
    return origin_of(broker, origin)->last;
}

/* A gap cannot be: the sender deletes only what was acknowledged. If it is, rows were lost on
 * the sender's side, and silence about it would be worse than the gap. */
enum status
broker_receive(struct broker *broker, struct pending *pending, struct reason *why)
{
    const struct transfer *transfer = &pending->transfer;
    struct origin *origin = origin_of(broker, transfer->origin);
    uint8_t key[8];
    uint8_t value[16];
    (void)why;
    if (transfer->epoch < origin->epoch) {
        pending->status =
            status_fail(&pending->why, STATUS_STALE, "epoch %llu of the sender is over",
                        (unsigned long long)transfer->epoch);
        return STATUS_OK;
    }
    if (transfer->first > origin->last + 1 && origin->last != 0) {
        log_error("transfer_gap", "last=%lu first=%lu", (unsigned long)origin->last,
                  (unsigned long)transfer->first);
    }
    uint64_t sequence = transfer->first;
    for (size_t i = 0; i < pending->incoming_count; i++, sequence++) {
        const struct incoming *incoming = &broker->incoming[pending->first_incoming + i];
        if (sequence > origin->last) {
            if (broker_is_scope_word(&incoming->job)) {
                broker_sweep(broker);
            } else {
                broker_enqueue(broker, incoming);
            }
            origin->last = sequence;
            broker->counters.received++;
        }
    }
    origin->epoch = transfer->epoch;
    codec_write_u64(key, transfer->origin);
    codec_write_u64(value, origin->last);
    codec_write_u64(value + 8, origin->epoch);
    store_batch_put(&broker->batch, TREE_ORIGINS, slice_of((char *)key, sizeof key),
                    slice_of((char *)value, sizeof value));
    pending->number = origin->last;
    return STATUS_OK;
}
