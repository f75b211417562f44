/* Jobs that come from the outboxes of other nodes. */
#include "base/memory.h"
#include "base/system/log.h"
#include "queue/broker/broker_state.h"

/* ---- the outboxes that were heard of ---- */

static struct origin *
find(const struct origins *origins, uint64_t id)
{
    for (size_t i = 0; i < origins->count; i++) {
        if (origins->all[i].origin == id) {
            return &origins->all[i];
        }
    }
    return NULL;
}

/* Nothing is stored of an outbox that is new. */
static struct origin *
find_or_add(struct origins *origins, uint64_t id)
{
    struct origin *origin = find(origins, id);
    if (origin == NULL) {
        origins->all = memory_resize(origins->all, origins->count + 1, sizeof *origins->all);
        origin = &origins->all[origins->count++];
        *origin = (struct origin){.origin = id};
    }
    return origin;
}

static bool
read_origin(void *context, struct slice key, struct slice value)
{
    struct broker *broker = context;
    if (key.length == 8 && value.length == 16) {
        const uint8_t *at = (const uint8_t *)value.at;
        struct origin *origin =
            find_or_add(&broker->origins, codec_read_u64((const uint8_t *)key.at));
        origin->last = codec_read_u64(at);
        origin->epoch = codec_read_u64(at + 8);
    }
    return true;
}

enum status
broker_origins_load(struct broker *broker, struct reason *why)
{
    broker->origins.count = 0;
    return frontier_scan(broker->frontier, TREE_ORIGINS, (struct slice){"", 0}, read_origin, broker,
                         why);
}

uint64_t
broker_origin_last(const struct broker *broker, uint64_t id)
{
    const struct origin *origin = find(&broker->origins, id);
    return origin != NULL ? origin->last : 0;
}

bool
broker_find_loss(struct broker *broker, struct slice name, bool accept)
{
    for (size_t i = 0; i < broker->origins.count; i++) {
        struct origin *origin = &broker->origins.all[i];
        if (origin->gap > 0 && slice_is(name, origin->name)) {
            origin->accept_gap |= accept;
            return true;
        }
    }
    return false;
}

/* ---- what they send ---- */

/* The sender deletes only what was acknowledged, so after a gap this node has lost what it had: its
 * disk, or all that came after a backup. A person must know, and says so by `cluster forget`. */
static bool
is_gap(struct origin *origin, const struct pending *pending)
{
    const struct slice client = pending->request.client; /* "queue@node" */
    const size_t at = slice_find(client, '@');
    const uint64_t first = pending->transfer.first;
    const uint64_t gap = first > origin->last + 1 ? first - origin->last - 1 : 0;
    if (gap == 0 || origin->accept_gap) {
        return false;
    }
    if (origin->gap != gap) {
        log_error("transfer_gap", "client=%.*s last=%lu first=%lu", SLICE_PRINT(client),
                  (unsigned long)origin->last, (unsigned long)first);
    }
    origin->gap = gap;
    (void)snprintf(origin->name, sizeof origin->name, "%.*s",
                   (int)(at < client.length ? client.length - at - 1 : client.length),
                   at < client.length ? client.at + at + 1 : client.at);
    return true;
}

enum status
broker_receive(struct broker *broker, struct pending *pending, struct reason *why)
{
    const struct transfer *transfer = &pending->transfer;
    struct origin *origin = find_or_add(&broker->origins, transfer->origin);
    uint8_t key[8];
    uint8_t value[16];
    (void)why;
    if (transfer->epoch < origin->epoch) {
        pending->status =
            status_fail(&pending->why, STATUS_STALE, "epoch %llu of the sender is over",
                        (unsigned long long)transfer->epoch);
        return STATUS_OK;
    }
    if (is_gap(origin, pending)) {
        pending->status = status_fail(
            &pending->why, STATUS_CORRUPT,
            "it has lost %llu jobs that it had taken; if they cannot be restored, `quadrille "
            "cluster forget %s` there goes on without them",
            (unsigned long long)origin->gap, origin->name);
        return STATUS_OK;
    }
    origin->gap = 0;
    uint64_t sequence = transfer->first;
    for (size_t i = 0; i < pending->incoming_count; i++, sequence++) {
        const struct incoming *incoming = &broker->requests.incoming[pending->first_incoming + i];
        if (sequence > origin->last) {
            if (broker_is_scope_word(&incoming->job)) {
                broker_sweep(broker);
            } else {
                broker_enqueue(broker, incoming);
            }
            origin->last = sequence;
            broker->round.counters.received++;
        }
    }
    origin->epoch = transfer->epoch;
    codec_write_u64(key, transfer->origin);
    codec_write_u64(value, origin->last);
    codec_write_u64(value + 8, origin->epoch);
    store_batch_put(&broker->round.batch, TREE_ORIGINS, slice_of((char *)key, sizeof key),
                    slice_of((char *)value, sizeof value));
    pending->number = origin->last;
    return STATUS_OK;
}
