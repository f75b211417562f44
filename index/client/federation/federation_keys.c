/* Tells which nodes several partitions have: the logs of all partitions' nodes are merged by their
 * hashes (SEVERAL.md, "Keys of several partitions"). What was read is kept by the client and only
 * read on, since logs only grow. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/client/federation/federation_state.h"
#include "index/protocol/triples_request.h"

enum { NODES_MOST = 1 << 22, SHARED_MOST = 1 << 18, SHARED_PART = 4 };

/* The first node with a hash. */
struct node {
    uint32_t hash, place;
    uint16_t partition; /* + 1; 0: free */
    bool shared;
};

struct key_member {
    uint64_t epoch;
    uint32_t count;   /* nodes read of its log */
    uint64_t *shared; /* a bit for each of them */
    size_t words;
};

struct node_keys {
    struct key_member *members;
    size_t member_count;
    struct node *nodes;
    size_t mask, count;   /* of nodes */
    uint64_t all, shared; /* in logs */
};

static void
forget(struct node_keys *keys)
{
    for (size_t i = 0; i < keys->member_count; i++) {
        free(keys->members[i].shared);
        keys->members[i] = (struct key_member){0};
    }
    free(keys->nodes);
    keys->nodes = NULL;
    keys->mask = keys->count = 0;
    keys->all = keys->shared = 0;
}

void
node_keys_free(struct node_keys *keys)
{
    if (keys != NULL) {
        forget(keys);
        free(keys->members);
        free(keys);
    }
}

static struct node_keys *
keys_of(struct index_client *client, enum key_places places)
{
    if (client->keys[places] == NULL) {
        struct node_keys *keys = memory_new(sizeof(*keys));
        keys->member_count = client->count;
        keys->members = memory_zero(client->count, sizeof(*keys->members));
        client->keys[places] = keys;
    }
    return client->keys[places];
}

/* ---- nodes ---- */

static struct node *
find(struct node *nodes, size_t mask, uint32_t hash)
{
    size_t at = hash * UINT32_C(0x9E3779B1) & mask;
    while (nodes[at].partition != 0 && nodes[at].hash != hash) {
        at = (at + 1) & mask;
    }
    return &nodes[at];
}

static void
grow(struct node_keys *keys)
{
    const size_t mask = keys->nodes == NULL ? 1023 : 2 * keys->mask + 1;
    struct node *nodes = memory_zero(mask + 1, sizeof(*nodes));
    for (size_t i = 0; keys->nodes != NULL && i <= keys->mask; i++) {
        if (keys->nodes[i].partition != 0) {
            *find(nodes, mask, keys->nodes[i].hash) = keys->nodes[i];
        }
    }
    free(keys->nodes);
    keys->nodes = nodes;
    keys->mask = mask;
}

static void
share(struct node_keys *keys, size_t partition, uint32_t place)
{
    struct key_member *member = &keys->members[partition];
    const size_t word = place / 64;
    if (word >= member->words) {
        const size_t words = word + word / 2 + 16;
        member->shared = memory_resize(member->shared, words, sizeof(*member->shared));
        memset(member->shared + member->words, 0,
               (words - member->words) * sizeof(*member->shared));
        member->words = words;
    }
    keys->shared += !(member->shared[word] >> place % 64 & 1);
    member->shared[word] |= UINT64_C(1) << place % 64;
}

/* Two nodes with one hash count as one that several have, also where they are one partition's. */
static void
add(struct node_keys *keys, size_t partition, uint32_t hash)
{
    if (keys->nodes == NULL || keys->count > keys->mask / 2) {
        grow(keys);
    }
    const uint32_t place = keys->members[partition].count++;
    struct node *node = find(keys->nodes, keys->mask, hash);
    keys->all++;
    if (node->partition == 0) {
        *node = (struct node){hash, place, (uint16_t)(partition + 1), false};
        keys->count++;
        return;
    }
    if (!node->shared) {
        share(keys, node->partition - 1u, node->place);
        node->shared = true;
    }
    share(keys, partition, place);
}

/* ---- reading the logs ---- */

static enum status
start(struct row_stream *stream, enum key_places places, const struct key_member *member,
      struct reason *why)
{
    struct buf request;
    buf_init(&request, FEDERATION_REQUEST_MAXIMUM);
    codec_put_u8(&request, INDEX_STREAM_KEYS);
    codec_put_u64(&request, stream->federation->session);
    codec_put_u8(&request, row_stream_flags(stream));
    codec_put_u8(&request, (uint8_t)places);
    codec_put_u64(&request, member->epoch);
    codec_put_varint(&request, member->count);
    const enum status status = row_stream_start(stream, &request, why);
    buf_release(&request);
    return status;
}

/* STALE: the log is another one than the one that was read. */
static enum status
read_head(struct node_keys *keys, struct row_stream *stream, struct reason *why)
{
    struct key_member *member = &keys->members[stream->partition];
    for (;;) {
        struct codec_reader in = row_stream_reader(stream);
        const uint8_t known = codec_get_u8(&in);
        if (!in.bad && known == TRIPLES_UNKNOWN) {
            return status_fail(why, STATUS_LIMIT, "a partition has too many nodes");
        }
        const uint64_t epoch = codec_get_u64(&in), from = codec_get_varint(&in);
        if (!in.bad) {
            const bool same = member->count == 0 || member->epoch == epoch;
            if (same && from != member->count) {
                return row_stream_malformed(why);
            }
            member->epoch = epoch;
            stream->at = stream->text.length - (size_t)(in.end - in.at);
            return same ? STATUS_OK : status_fail(why, STATUS_STALE, "a partition was opened anew");
        }
        if (!stream->open) {
            return stream->federation->client->partitions[stream->partition].missing
                       ? STATUS_OK
                       : row_stream_malformed(why);
        }
        TRY(row_stream_more(stream, why));
    }
}

static enum status
read_hashes(struct node_keys *keys, struct row_stream *stream, struct reason *why)
{
    for (;;) {
        struct codec_reader in = row_stream_reader(stream);
        for (size_t left = (size_t)(in.end - in.at) / sizeof(uint32_t); left > 0; left--) {
            if (keys->all == NODES_MOST) {
                return status_fail(why, STATUS_LIMIT, "the partitions have too many nodes");
            }
            add(keys, stream->partition, codec_get_u32(&in));
        }
        stream->at = stream->text.length - (size_t)(in.end - in.at);
        if (!stream->open) {
            return STATUS_OK;
        }
        TRY(row_stream_more(stream, why));
    }
}

static enum status
read_logs(struct federation *federation, enum key_places places, struct row_stream *streams,
          struct reason *why)
{
    struct index_client *client = federation->client;
    struct node_keys *keys = keys_of(client, places);
    for (size_t i = 0; i < client->count; i++) {
        if (!client->partitions[i].missing) {
            TRY(start(&streams[i], places, &keys->members[i], why));
        }
    }
    for (size_t i = 0; i < client->count; i++) {
        if (!client->partitions[i].missing) {
            TRY(read_head(keys, &streams[i], why));
            TRY(read_hashes(keys, &streams[i], why));
        }
    }
    return STATUS_OK;
}

/* Reads all logs once. What was read before something failed is no whole answer of any
 * partition. */
static enum status
read_once(struct federation *federation, enum key_places places, struct reason *why)
{
    const size_t count = federation->client->count;
    struct row_stream *streams = memory_zero(count, sizeof(*streams));
    for (size_t i = 0; i < count; i++) {
        row_stream_init(&streams[i], federation, i);
    }
    const enum status status = read_logs(federation, places, streams, why);
    for (size_t i = 0; i < count; i++) {
        row_stream_release(&streams[i]);
    }
    free(streams);
    if (status != STATUS_OK) {
        forget(keys_of(federation->client, places));
    }
    return status;
}

enum status
federation_part(void *context, enum key_places places, bool *any, struct reason *why)
{
    struct federation *federation = context;
    struct nodes_asked *nodes = &federation->nodes[places];
    if (!nodes->asked) {
        enum status status = read_once(federation, places, why);
        if (status == STATUS_STALE) {
            status = read_once(federation, places, why);
        }
        if (status != STATUS_OK && status != STATUS_LIMIT) {
            return status;
        }
        nodes->asked = true;
        nodes->limit = status != STATUS_OK;
    }
    const struct node_keys *keys = keys_of(federation->client, places);
    *any = keys->shared > 0;
    return nodes->limit || keys->shared > SHARED_MOST || keys->shared > keys->all / SHARED_PART
               ? status_fail(why, STATUS_LIMIT, "the partitions have too much in common")
               : STATUS_OK;
}

void
federation_put_shared(const struct federation *federation, enum key_places places, size_t partition,
                      struct buf *out)
{
    const struct key_member *member = &keys_of(federation->client, places)->members[partition];
    uint64_t count = 0, last = 0;
    for (size_t i = 0; i < member->words; i++) {
        count += (uint64_t)__builtin_popcountll(member->shared[i]);
    }
    codec_put_u64(out, member->epoch);
    codec_put_varint(out, count);
    for (size_t i = 0; i < member->words; i++) {
        for (uint64_t bits = member->shared[i]; bits != 0; bits &= bits - 1) {
            const uint64_t place = 64 * i + (uint64_t)__builtin_ctzll(bits);
            codec_put_varint(out, place - last);
            last = place;
        }
    }
}
