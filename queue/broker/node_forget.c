/* Nodes that are gone for good: what waits for one that cluster.conf does not name any more goes to
 * whoever has its part now, some rows in a round, when a person says so. And who looks at nodes. */
#include "queue/broker/broker_state.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/system/log.h"

enum { FORGET_ROWS = 2000, FORGET_BYTES = 4 << 20, ROWS_MAXIMUM = 16 << 20 };

/* ---- opening ---- */

static bool
take_node(void *context, struct slice key, struct slice value)
{
    uint64_t *node = context;
    (void)value;
    *node = codec_read_u64((const uint8_t *)key.at);
    return false;
}

static uint64_t
jobs_of(const struct stranger *stranger)
{
    uint64_t jobs = 0;
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        jobs += stranger->waiting[stage];
    }
    return jobs;
}

/* Walks the nodes that the outbox has rows for. Those of strangers stay until somebody puts the
 * node back or has it forgotten; nobody waits for them. */
enum status
broker_strangers_open(struct broker *broker, struct reason *why)
{
    uint64_t from = 0, node = 0;
    for (;; from = node + 1) {
        uint8_t bytes[OUTBOX_KEY_SIZE];
        node = 0;
        TRY(frontier_scan(broker->frontier, TREE_OUTBOX, broker_outbox_key(bytes, from, 0),
                          take_node, &node, why));
        if (node == 0) {
            return STATUS_OK;
        }
        if (!broker_has_peer(broker, node)) {
            struct stranger stranger = {.fingerprint = node};
            TRY(broker_peer_row(broker, node, &stranger.next, stranger.name, stranger.waiting,
                                why));
            struct strangers *list = &broker->strangers;
            list->all = memory_resize(list->all, list->count + 1, sizeof *list->all);
            list->all[list->count++] = stranger;
            log_warning("node_unknown", "node=%s jobs=%lu do=%s", stranger.name,
                        (unsigned long)jobs_of(&stranger),
                        "name it in cluster.conf again, or `quadrille cluster forget` it");
        }
        if (node == UINT64_MAX) {
            return STATUS_OK;
        }
    }
}

static struct stranger *
find_stranger(const struct broker *broker, struct slice name)
{
    for (size_t i = 0; i < broker->strangers.count; i++) {
        if (slice_is(name, broker->strangers.all[i].name)) {
            return &broker->strangers.all[i];
        }
    }
    return NULL;
}

/* ---- forgetting ---- */

struct row {
    uint64_t sequence;
    struct slice value;
};

struct rows {
    uint64_t fingerprint;
    struct row *rows;
    size_t count;
    struct buf *bytes;
};

static bool
take_row(void *context, struct slice key, struct slice value)
{
    struct rows *rows = context;
    if (codec_read_u64((const uint8_t *)key.at) != rows->fingerprint) {
        return false;
    }
    const size_t start = rows->bytes->length;
    (void)buf_append_slice(rows->bytes, value);
    rows->rows[rows->count++] = (struct row){codec_read_u64((const uint8_t *)key.at + 8),
                                             slice_of(rows->bytes->data + start, value.length)};
    return rows->count < FORGET_ROWS && rows->bytes->length < FORGET_BYTES;
}

/* The first rows for the node, in *bytes, which must have its room reserved: slices stay. */
static enum status
first_rows(struct broker *broker, const struct stranger *stranger, struct rows *rows,
           struct buf *bytes, struct reason *why)
{
    uint8_t key[OUTBOX_KEY_SIZE];
    (void)buf_reserve(bytes, FORGET_BYTES + 2 * (size_t)JOB_METADATA_MAXIMUM);
    *rows = (struct rows){.fingerprint = stranger->fingerprint,
                          .rows = memory_zero(FORGET_ROWS, sizeof(struct row)),
                          .bytes = bytes};
    return frontier_scan(broker->frontier, TREE_OUTBOX,
                         broker_outbox_key(key, stranger->fingerprint, 0), take_row, rows, why);
}

enum status
broker_read_forget(struct broker *broker, struct pending *pending, struct codec_reader *reader,
                   struct reason *why)
{
    size_t node;
    pending->kick_uri = codec_get_slice(reader);
    if (find_stranger(broker, pending->kick_uri) != NULL ||
        broker_find_loss(broker, pending->kick_uri, false)) {
        return STATUS_OK;
    }
    if (cluster_find(broker->options.cluster, pending->kick_uri, &node)) {
        return status_fail(why, STATUS_MISUSE,
                           "cluster.conf names node %.*s: take it out there, on every node, and "
                           "start them again",
                           SLICE_PRINT(pending->kick_uri));
    }
    return status_fail(why, STATUS_NOT_FOUND, "nothing waits for a node %.*s",
                       SLICE_PRINT(pending->kick_uri));
}

/* False: it is nobody's any more, as word of this node's scope to the other. */
static bool
read_row(struct broker *broker, struct slice value, struct incoming *incoming)
{
    struct codec_reader reader = codec_reader_of(value);
    if (!message_get_new(&reader, &incoming->job) || broker_is_scope_word(&incoming->job)) {
        return false;
    }
    broker_prepare(broker, incoming, false);
    return true;
}

static enum status
move_rows(struct broker *broker, struct stranger *stranger, const struct rows *rows,
          struct pending *pending, struct reason *why)
{
    struct incoming *moved = memory_zero(rows->count + 1, sizeof *moved);
    for (size_t i = 0; i < rows->count; i++) {
        const struct slice value = rows->rows[i].value;
        const bool moves = read_row(broker, value, &moved[pending->number]);
        pending->number += moves;
        pending->jobs += !moves;
        if (value.length > 0 && (uint8_t)value.at[0] < STAGE_COUNT) {
            stranger->leaving[(uint8_t)value.at[0]]++;
            broker->round.counters.stages[(uint8_t)value.at[0]].outbox--;
        }
    }
    enum status status = seen_load(broker->seen, broker->frontier, why);
    if (status == STATUS_OK) {
        status = seen_load(broker->revisits, broker->frontier, why);
    }
    for (size_t i = 0; status == STATUS_OK && i < pending->number; i++) {
        broker_enqueue(broker, &moved[i]);
    }
    free(moved);
    return status;
}

/* Its row says what is left. */
static void
store_rest(struct broker *broker, const struct stranger *stranger)
{
    uint64_t rest[STAGE_COUNT];
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        rest[stage] = stranger->waiting[stage] - stranger->leaving[stage];
    }
    broker_store_peer(broker, stranger->fingerprint, stranger->next, stranger->name, rest);
}

/* Rows that leave are read as they were committed, so of two requests in a round one is put off. */
enum status
broker_forget(struct broker *broker, struct pending *pending, struct reason *why)
{
    struct stranger *stranger = find_stranger(broker, pending->kick_uri);
    struct rows rows = {0};
    struct buf bytes;
    if (broker_find_loss(broker, pending->kick_uri, true) || stranger == NULL) {
        return STATUS_OK;
    }
    pending->left = 1;
    if (stranger->forgetting) {
        return STATUS_OK;
    }
    stranger->forgetting = true;
    buf_init(&bytes, ROWS_MAXIMUM);
    enum status status = first_rows(broker, stranger, &rows, &bytes, why);
    if (status == STATUS_OK) {
        status = move_rows(broker, stranger, &rows, pending, why);
    }
    for (size_t i = 0; status == STATUS_OK && i < rows.count; i++) {
        uint8_t key[OUTBOX_KEY_SIZE];
        store_batch_remove(&broker->round.batch, TREE_OUTBOX,
                           broker_outbox_key(key, stranger->fingerprint, rows.rows[i].sequence));
    }
    store_rest(broker, stranger);
    pending->left = rows.count == FORGET_ROWS || bytes.length >= FORGET_BYTES;
    free(rows.rows);
    buf_release(&bytes);
    return status;
}

void
broker_strangers_settle(struct broker *broker, bool committed)
{
    size_t kept = 0;
    for (size_t i = 0; i < broker->strangers.count; i++) {
        struct stranger *stranger = &broker->strangers.all[i];
        for (int stage = 0; stage < STAGE_COUNT; stage++) {
            stranger->waiting[stage] -= committed ? stranger->leaving[stage] : 0;
            stranger->leaving[stage] = 0;
        }
        stranger->forgetting = false;
        if (jobs_of(stranger) > 0) {
            broker->strangers.all[kept++] = *stranger;
        }
    }
    broker->strangers.count = kept;
}

uint64_t
broker_outbox_moving(const struct broker *broker, uint8_t stage)
{
    uint64_t standing = broker_outbox_standing(broker, stage);
    for (size_t i = 0; i < broker->strangers.count; i++) {
        standing += broker->strangers.all[i].waiting[stage];
    }
    return broker->round.counters.stages[stage].outbox - standing;
}

/* ---- metadata that come with a request ---- */

static void
add_metadata(struct broker_metadata **list, size_t *n, const struct job *job)
{
    struct broker_metadata metadata;
    if (job_is_metadata(job) && job_metadata(job, &metadata.key, &metadata.fields)) {
        if ((*n & (*n - 1)) == 0) {
            *list = memory_resize(*list, *n == 0 ? 1 : 2 * *n, sizeof **list);
        }
        (*list)[(*n)++] = metadata;
    }
}

static void
metadata_of_transfer(struct broker *broker, struct slice payload, struct broker_metadata **list,
                     size_t *n)
{
    struct codec_reader reader = codec_reader_of(payload);
    const uint64_t known = broker_origin_last(broker, codec_get_u64(&reader));
    (void)codec_get_u64(&reader);
    const uint64_t first = codec_get_u64(&reader);
    const uint64_t count = codec_get_varint(&reader);
    struct job job;
    for (uint64_t i = 0; i < count && message_get_new(&reader, &job); i++) {
        if (first + i > known) {
            add_metadata(list, n, &job);
        }
    }
}

static void
metadata_of_forget(struct broker *broker, struct slice payload, struct broker_metadata **list,
                   size_t *n, struct buf *bytes)
{
    struct codec_reader reader = codec_reader_of(payload);
    const struct stranger *stranger = find_stranger(broker, codec_get_slice(&reader));
    struct rows rows = {0};
    struct reason why;
    if (stranger == NULL || first_rows(broker, stranger, &rows, bytes, &why) != STATUS_OK) {
        free(rows.rows);
        return;
    }
    for (size_t i = 0; i < rows.count; i++) {
        struct codec_reader row = codec_reader_of(rows.rows[i].value);
        struct job job;
        struct slice key, fields;
        if (message_get_new(&row, &job) && job_is_metadata(&job) &&
            job_metadata(&job, &key, &fields) &&
            cluster_key_owner(broker->options.cluster, key) ==
                cluster_self(broker->options.cluster)) {
            add_metadata(list, n, &job);
        }
    }
    free(rows.rows);
}

size_t
broker_metadata_of(struct broker *broker, uint8_t verb, struct slice payload,
                   struct broker_metadata **list, struct buf *bytes)
{
    size_t n = 0;
    *list = NULL;
    if (verb == QUEUE_TRANSFER) {
        metadata_of_transfer(broker, payload, list, &n);
    } else if (verb == QUEUE_FORGET) {
        metadata_of_forget(broker, payload, list, &n, bytes);
    }
    return n;
}

/* ---- looking ---- */

enum status
broker_view_nodes(struct broker *broker, struct slice payload, struct reason *why)
{
    const struct cluster *cluster = broker->options.cluster;
    if (payload.length > 0) {
        return status_fail(why, STATUS_BAD_INPUT, "nodes takes nothing");
    }
    codec_put_u32(&broker->reply,
                  (uint32_t)(cluster_node_count(cluster) - 1 + broker->strangers.count));
    for (size_t i = 0; i < cluster_node_count(cluster); i++) {
        if (i != cluster_self(cluster)) {
            broker_view_peer(broker, i);
        }
    }
    for (size_t i = 0; i < broker->strangers.count; i++) {
        const struct stranger *stranger = &broker->strangers.all[i];
        const struct queue_node node = {
            .name = slice_string(stranger->name), .unknown = true, .jobs = jobs_of(stranger)};
        message_put_node(&broker->reply, &node);
    }
    return STATUS_OK;
}
