/* Jobs for other nodes: the outbox. */
#include "queue/broker/broker_state.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"

enum { TRANSFER_ROWS = 2000, TRANSFER_BYTES = 1 << 20, RETRY_MS = 200 };

struct slice
broker_outbox_key(uint8_t bytes[OUTBOX_KEY_SIZE], uint64_t node, uint64_t sequence)
{
    codec_write_u64(bytes, node);
    codec_write_u64(bytes + 8, sequence);
    return slice_of((const char *)bytes, OUTBOX_KEY_SIZE);
}

/* ---- opening ---- */

struct first_row {
    uint64_t node, sequence; /* node 0: there is none */
};

static bool
read_first(void *context, struct slice key, struct slice value)
{
    struct first_row *first = context;
    (void)value;
    first->node = codec_read_u64((const uint8_t *)key.at);
    first->sequence = codec_read_u64((const uint8_t *)key.at + 8);
    return false;
}

struct row_count {
    uint64_t fingerprint;
    uint64_t *waiting; /* by stage */
};

static bool
count_row(void *context, struct slice key, struct slice value)
{
    const struct row_count *count = context;
    if (codec_read_u64((const uint8_t *)key.at) != count->fingerprint) {
        return false;
    }
    if (value.length > 0 && (uint8_t)value.at[0] < STAGE_COUNT) {
        count->waiting[(uint8_t)value.at[0]]++;
    }
    return true;
}

/* Rows of an older version do not say how many wait. */
enum status
broker_peer_row(struct broker *broker, uint64_t fingerprint, uint64_t *next, char *name,
                uint64_t *waiting, struct reason *why)
{
    uint8_t bytes[OUTBOX_KEY_SIZE];
    struct slice value;
    codec_write_u64(bytes, fingerprint);
    *next = 1;
    const enum status status =
        frontier_get(broker->frontier, TREE_PEERS, slice_of((char *)bytes, 8), &value, why);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    TRY(status);
    struct codec_reader reader = codec_reader_of(value);
    *next = codec_get_u64(&reader);
    const struct slice text =
        codec_at_end(&reader) ? (struct slice){"", 0} : codec_get_slice(&reader);
    if (name != NULL) {
        (void)snprintf(name, NODE_NAME_SIZE, "%.*s", SLICE_PRINT(text));
    }
    const bool counted = !codec_at_end(&reader);
    for (int stage = 0; counted && stage < STAGE_COUNT; stage++) {
        waiting[stage] = codec_get_varint(&reader);
    }
    if (!codec_at_end(&reader)) {
        return status_fail(why, STATUS_CORRUPT, "the row of node %.*s is damaged",
                           SLICE_PRINT(text));
    }
    struct row_count count = {.fingerprint = fingerprint, .waiting = waiting};
    return counted
               ? STATUS_OK
               : frontier_scan(broker->frontier, TREE_OUTBOX,
                               broker_outbox_key(bytes, fingerprint, 0), count_row, &count, why);
}

void
broker_store_peer(struct broker *broker, uint64_t fingerprint, uint64_t next, const char *name,
                  const uint64_t *waiting)
{
    uint8_t key[8];
    codec_write_u64(key, fingerprint);
    buf_reset(&broker->scratch);
    codec_put_u64(&broker->scratch, next);
    codec_put_slice(&broker->scratch, slice_string(name));
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        codec_put_varint(&broker->scratch, waiting[stage]);
    }
    store_batch_put(&broker->round.batch, TREE_PEERS, slice_of((char *)key, sizeof key),
                    buf_slice(&broker->scratch));
}

static enum status
open_peer(struct broker *broker, size_t node, struct reason *why)
{
    struct peer *peer = &broker->outbox.peers[node];
    struct first_row first = {0};
    uint8_t bytes[OUTBOX_KEY_SIZE];
    peer->fingerprint =
        fingerprint64(slice_string(cluster_node(broker->options.cluster, node)->name));
    const enum status status =
        broker_peer_row(broker, peer->fingerprint, &peer->next, NULL, peer->waiting, why);
    if (status == STATUS_CORRUPT) {
        return status_fail(why, status, "the row of node %s is damaged",
                           cluster_node(broker->options.cluster, node)->name);
    }
    TRY(status);
    peer->first = peer->next;
    TRY(frontier_scan(broker->frontier, TREE_OUTBOX, broker_outbox_key(bytes, peer->fingerprint, 0),
                      read_first, &first, why));
    if (first.node == peer->fingerprint) {
        peer->first = first.sequence;
    }
    return STATUS_OK;
}

void
outbox_release(struct outbox *outbox)
{
    free(outbox->peers);
    free(outbox->committed);
    free(outbox->troubles);
}

enum status
broker_outbox_open(struct broker *broker, struct reason *why)
{
    const size_t n = cluster_node_count(broker->options.cluster);
    broker->outbox.peers = memory_zero(n, sizeof *broker->outbox.peers);
    broker->outbox.committed = memory_zero(n, sizeof *broker->outbox.committed);
    broker->outbox.troubles = memory_zero(n, sizeof *broker->outbox.troubles);
    for (size_t i = 0; i < n; i++) {
        TRY(open_peer(broker, i, why));
    }
    memcpy(broker->outbox.committed, broker->outbox.peers, n * sizeof *broker->outbox.peers);
    return STATUS_OK;
}

/* ---- out ---- */

void
broker_to_node(struct broker *broker, const struct incoming *incoming)
{
    struct peer *peer = &broker->outbox.peers[incoming->node];
    uint8_t bytes[OUTBOX_KEY_SIZE];
    buf_reset(&broker->scratch);
    message_put_new(&broker->scratch, &incoming->job);
    store_batch_put(&broker->round.batch, TREE_OUTBOX,
                    broker_outbox_key(bytes, peer->fingerprint, peer->next++),
                    buf_slice(&broker->scratch));
    peer->changed = true;
    peer->waiting[incoming->job.key.stage]++;
    broker->round.counters.stages[incoming->job.key.stage].outbox++;
}

void
broker_tell_node(struct broker *broker, size_t node, uint64_t down_since_ms, struct slice trouble)
{
    broker->outbox.peers[node].down_since_ms = broker->outbox.committed[node].down_since_ms =
        down_since_ms;
    (void)snprintf(broker->outbox.troubles[node].text, REASON_SIZE, "%.*s", SLICE_PRINT(trouble));
}

uint64_t
broker_outbox_standing(const struct broker *broker, uint8_t stage)
{
    uint64_t standing = 0;
    for (size_t i = 0; i < cluster_node_count(broker->options.cluster); i++) {
        const struct peer *peer = &broker->outbox.peers[i];
        standing += peer->down_since_ms != 0 ? peer->waiting[stage] : 0;
    }
    return standing;
}

bool
broker_has_peer(const struct broker *broker, uint64_t fingerprint)
{
    const struct cluster *cluster = broker->options.cluster;
    bool found = false;
    for (size_t i = 0; i < cluster_node_count(cluster); i++) {
        found |= broker->outbox.peers[i].fingerprint == fingerprint && i != cluster_self(cluster);
    }
    return found;
}

static void
delete_delivered(struct broker *broker, struct peer *peer)
{
    uint8_t bytes[OUTBOX_KEY_SIZE];
    for (uint64_t at = peer->first; at <= peer->delivered; at++) {
        store_batch_remove(&broker->round.batch, TREE_OUTBOX,
                           broker_outbox_key(bytes, peer->fingerprint, at));
    }
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        broker->round.counters.stages[stage].outbox -= peer->flight_stages[stage];
        peer->waiting[stage] -= peer->flight_stages[stage];
        broker->round.counters.sent += peer->flight_stages[stage];
        peer->flight_stages[stage] = 0;
    }
    peer->first = peer->delivered + 1;
    peer->delivered = peer->flight_last = 0;
    peer->changed = true;
}

/* Monotonic; UINT64_MAX: never. */
uint64_t
broker_outbox_due_ms(const struct broker *broker)
{
    uint64_t due = UINT64_MAX;
    for (size_t i = 0; i < cluster_node_count(broker->options.cluster); i++) {
        const struct peer *peer = &broker->outbox.peers[i];
        const uint64_t end = peer->delivered_ms + broker->options.outbox_linger_ms;
        due = peer->delivered != 0 && end < due ? end : due;
    }
    return due;
}

void
broker_outbox_write(struct broker *broker)
{
    const bool now =
        broker->round.batch.count > 0 || clock_monotonic_ms() >= broker_outbox_due_ms(broker);
    for (size_t i = 0; i < cluster_node_count(broker->options.cluster); i++) {
        struct peer *peer = &broker->outbox.peers[i];
        if (peer->delivered != 0 && now) {
            delete_delivered(broker, peer);
        }
        if (peer->changed) {
            broker_store_peer(broker, peer->fingerprint, peer->next,
                              cluster_node(broker->options.cluster, i)->name, peer->waiting);
            peer->changed = false;
        }
    }
}

void
broker_outbox_settle(struct broker *broker, bool committed)
{
    const size_t n = cluster_node_count(broker->options.cluster);
    if (committed) {
        memcpy(broker->outbox.committed, broker->outbox.peers, n * sizeof *broker->outbox.peers);
    } else {
        memcpy(broker->outbox.peers, broker->outbox.committed, n * sizeof *broker->outbox.peers);
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
    struct peer *peer = &broker->outbox.peers[node];
    struct outgoing outgoing = {.peer = peer};
    struct reason why = {""};
    uint8_t bytes[OUTBOX_KEY_SIZE];
    if (node == cluster_self(broker->options.cluster) || peer->flight_last != 0 ||
        peer->first == peer->next || clock_monotonic_ms() < peer->retry_ms) {
        return false;
    }
    buf_init(&outgoing.rows, 4 * TRANSFER_BYTES);
    const enum status status = frontier_scan(
        broker->frontier, TREE_OUTBOX, broker_outbox_key(bytes, peer->fingerprint, peer->first),
        take_row, &outgoing, &why);
    if (status == STATUS_OK && outgoing.count > 0) {
        codec_put_u64(payload, broker->identity.origin);
        codec_put_u64(payload, broker->epoch);
        codec_put_u64(payload, outgoing.first);
        codec_put_varint(payload, outgoing.count);
        (void)buf_append_slice(payload, buf_slice(&outgoing.rows));
        peer->flight_last = outgoing.last;
        memcpy(peer->flight_stages, outgoing.stages, sizeof peer->flight_stages);
        broker->outbox.committed[node] = *peer;
    } else if (status != STATUS_OK) {
        log_error("outbox", "reason=%s", why.text);
    }
    buf_release(&outgoing.rows);
    return peer->flight_last != 0;
}

void
broker_delivered(struct broker *broker, size_t node, enum status status, uint64_t last)
{
    struct peer *peer = &broker->outbox.peers[node];
    if (peer->flight_last == 0) {
        return;
    }
    if (status == STATUS_OK && last >= peer->flight_last) {
        peer->delivered = peer->flight_last;
        peer->delivered_ms = clock_monotonic_ms();
    } else {
        peer->flight_last = 0;
        memset(peer->flight_stages, 0, sizeof peer->flight_stages);
        peer->retry_ms = clock_monotonic_ms() + RETRY_MS;
    }
    broker->outbox.committed[node] = *peer;
}

void
broker_view_peer(struct broker *broker, size_t at)
{
    const struct peer *peer = &broker->outbox.committed[at];
    struct queue_node node = {
        .name = slice_string(cluster_node(broker->options.cluster, at)->name),
        .trouble = slice_string(broker->outbox.troubles[at].text),
        .down = peer->down_since_ms != 0,
        .since_ms = peer->down_since_ms,
    };
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        node.jobs += peer->waiting[stage];
    }
    message_put_node(&broker->reply, &node);
}
