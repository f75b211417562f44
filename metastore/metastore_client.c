/* The routed client: a batch is split by owner and by size, and its answers are joined.
 *
 * One join lives per call and one part per owner and size; the last part to be answered calls back.
 * A put's part is a message.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "metastore/client_links.h"
#include "metastore/protocol.h"
#include "queue/cluster/cluster.h"

struct metastore_client_options *
metastore_client_options_copy(const struct metastore_client_options *options)
{
    const size_t owners = options->owner_of_partition != NULL ? PARTITIONS * sizeof(uint16_t) : 0;
    size_t texts = strlen(options->name) + 1;
    for (size_t i = 0; i < options->endpoint_count; i++) {
        texts += strlen(options->endpoints[i]) + 1;
    }
    struct metastore_client_options *copy =
        memory_alloc(sizeof *copy + options->endpoint_count * sizeof(char *) + owners + texts);
    const char **endpoints = (const char **)(copy + 1);
    uint16_t *owner = (uint16_t *)(endpoints + options->endpoint_count);
    char *text = (char *)owner + owners;
    *copy = *options;
    copy->endpoints = endpoints;
    for (size_t i = 0; i < options->endpoint_count; i++) {
        endpoints[i] = text;
        text = stpcpy(text, options->endpoints[i]) + 1;
    }
    if (owners > 0) {
        copy->owner_of_partition = memcpy(owner, options->owner_of_partition, owners);
    }
    copy->name = text;
    (void)stpcpy(text, options->name);
    return copy;
}

enum status
metastore_client_open(struct metastore_client **opened,
                      const struct metastore_client_options *options, struct reason *why)
{
    *opened = NULL;
    if (options->endpoint_count == 0) {
        return status_fail(why, STATUS_MISUSE, "no metastore endpoint is configured");
    }
    struct metastore_client *client = memory_new(sizeof *client);
    client->rpcs = memory_zero(options->endpoint_count, sizeof(struct rpc_client *));
    client->gets = memory_zero(options->endpoint_count, sizeof *client->gets);
    if (options->owner_of_partition != NULL && options->endpoint_count > 1) {
        client->owners = memory_zero(PARTITIONS, sizeof *client->owners);
        for (size_t i = 0; i < PARTITIONS; i++) {
            client->owners[i] = options->owner_of_partition[i];
            if (client->owners[i] >= options->endpoint_count) {
                metastore_client_close(client);
                return status_fail(why, STATUS_MISUSE, "partition %zu has no metastore", i);
            }
        }
    }
    for (size_t i = 0; i < options->endpoint_count; i++) {
        const struct rpc_client_options rpc = {
            .endpoint = options->endpoints[i], .name = options->name, .keys = options->keys};
        const enum status status = rpc_client_open(&client->rpcs[i], &rpc, why);
        if (status != STATUS_OK) {
            metastore_client_close(client);
            return status;
        }
        const bool here = strncmp(options->endpoints[i], "ipc:", 4) == 0;
        client->gets[i] = (struct gets){
            .client = client, .endpoint = i, .silence_ms = here ? 0 : options->silence_ms};
        client->count++;
    }
    *opened = client;
    return STATUS_OK;
}

void
metastore_client_close(struct metastore_client *client)
{
    if (client == NULL) {
        return;
    }
    client->closing = true;
    for (size_t i = 0; i < client->count; i++) {
        rpc_client_close(client->rpcs[i]);
    }
    for (size_t i = 0; i < client->count; i++) {
        metastore_end_gets(&client->gets[i]);
    }
    free(client->gets);
    free(client->rpcs);
    free(client->owners);
    free(client);
}

size_t
metastore_descriptors(struct metastore_client *client, int *descriptors, size_t most)
{
    const size_t count = client->count < most ? client->count : most;
    for (size_t i = 0; i < count; i++) {
        descriptors[i] = rpc_client_descriptor(client->rpcs[i]);
    }
    return count;
}

void
metastore_process(struct metastore_client *client)
{
    for (size_t i = 0; i < client->count; i++) {
        rpc_client_process(client->rpcs[i]);
        if (client->gets[i].away && client->gets[i].waiting != NULL) {
            metastore_end_gets(&client->gets[i]);
        }
    }
}

int
metastore_wait_ms(const struct metastore_client *client)
{
    int least = -1;
    for (size_t i = 0; i < client->count; i++) {
        const bool ends = client->gets[i].away && client->gets[i].waiting != NULL;
        const int wait = ends ? 0 : rpc_client_wait_ms(client->rpcs[i]);
        if (wait >= 0 && (least < 0 || wait < least)) {
            least = wait;
        }
    }
    return least;
}

void
metastore_wait(struct metastore_client *client, int most_ms)
{
    const int due = metastore_wait_ms(client);
    struct pollfd *polled = memory_zero(client->count, sizeof *polled);
    for (size_t i = 0; i < client->count; i++) {
        polled[i] = (struct pollfd){.fd = rpc_client_descriptor(client->rpcs[i]), .events = POLLIN};
    }
    (void)poll(polled, (nfds_t)client->count, due < 0 || due > most_ms ? most_ms : due);
    free(polled);
    metastore_process(client);
}

size_t
metastore_owner(const struct metastore_client *client, struct slice key)
{
    if (client->owners == NULL || key.length < 2) {
        return 0;
    }
    return client->owners[cluster_key_partition(key)];
}

/* ---- put ---- */

struct put_join {
    size_t pending; /* parts not answered, and one while posting */
    enum status status;
    struct reason why;
    metastore_put_done *done;
    void *context;
};

static void
put_part_ended(struct put_join *join)
{
    if (--join->pending == 0) {
        join->done(join->context, join->status, &join->why);
        free(join);
    }
}

static void
put_answered(void *context, enum status status, struct slice payload, const struct reason *why)
{
    (void)payload;
    struct put_join *join = context;
    if (status != STATUS_OK && join->status == STATUS_OK) {
        join->status = status;
        if (why != NULL) {
            join->why = *why;
        }
    }
    put_part_ended(join);
}

/* A message under construction for one endpoint. */
struct part {
    struct buf entries;
    uint32_t count;
};

static void
post_put(struct metastore_client *client, size_t endpoint, struct part *part, struct put_join *join)
{
    struct buf payload;
    buf_init(&payload, REQUEST_MAXIMUM);
    codec_put_varint(&payload, part->count);
    (void)buf_append_slice(&payload, buf_slice(&part->entries));
    join->pending++;
    rpc_client_post(client->rpcs[endpoint], METASTORE_PUT, buf_slice(&payload), 0, put_answered,
                    join);
    buf_release(&payload);
    buf_reset(&part->entries);
    part->count = 0;
}

static struct part *
parts_new(const struct metastore_client *client)
{
    struct part *parts = memory_zero(client->count, sizeof *parts);
    for (size_t i = 0; i < client->count; i++) {
        buf_init(&parts[i].entries, REQUEST_MAXIMUM);
    }
    return parts;
}

static void
parts_free(const struct metastore_client *client, struct part *parts)
{
    for (size_t i = 0; i < client->count; i++) {
        buf_release(&parts[i].entries);
    }
    free(parts);
}

void
metastore_put(struct metastore_client *client, const struct meta_put *puts, size_t n,
              metastore_put_done *done, void *context)
{
    struct put_join *join = memory_new(sizeof *join);
    join->done = done;
    join->context = context;
    join->status = STATUS_OK;
    struct part *parts = parts_new(client);
    for (size_t i = 0; i < n; i++) {
        const size_t owner = metastore_owner(client, puts[i].key);
        struct part *part = &parts[owner];
        codec_put_slice(&part->entries, puts[i].key);
        codec_put_slice(&part->entries, puts[i].fields);
        if (++part->count == PART_ENTRIES || part->entries.length > PART_BYTES) {
            post_put(client, owner, part, join);
        }
    }
    for (size_t i = 0; i < client->count; i++) {
        /* An empty batch is sent, too: callbacks run inside metastore_process. */
        if (parts[i].count > 0 || (i == 0 && join->pending == 0 && n == 0)) {
            post_put(client, i, &parts[i], join);
        }
    }
    parts_free(client, parts);
}

/* ---- keep ---- */

struct keep_join {
    metastore_kept *done;
    void *context;
    char id[WARC_ID_SIZE];
};

static void
keep_answered(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct keep_join *join = context;
    struct warc_location location = {.offset = 0};
    struct reason malformed = {""};
    if (status == STATUS_OK) {
        struct codec_reader reader = codec_reader_of(payload);
        const struct slice file = codec_get_slice(&reader);
        location.offset = codec_get_varint(&reader);
        location.length = codec_get_varint(&reader);
        memcpy(location.id, join->id, sizeof location.id);
        if (codec_at_end(&reader) && file.length < sizeof location.file) {
            snprintf(location.file, sizeof location.file, "%.*s", SLICE_PRINT(file));
        } else {
            why = &malformed;
            status = status_fail(&malformed, STATUS_PROTOCOL, "metastore: a malformed answer");
        }
    }
    join->done(join->context, status, &location, why);
    free(join);
}

void
metastore_keep(struct metastore_client *client, size_t endpoint, const char *id,
               struct slice member, metastore_kept *done, void *context)
{
    struct keep_join *join = memory_new(sizeof *join);
    struct buf payload;
    join->done = done;
    join->context = context;
    snprintf(join->id, sizeof join->id, "%s", id);
    buf_init(&payload, RPC_PAYLOAD_MAXIMUM);
    codec_put_slice(&payload, slice_string(join->id));
    codec_put_slice(&payload, member);
    rpc_client_post(client->rpcs[endpoint], METASTORE_KEEP, buf_slice(&payload), 0, keep_answered,
                    join);
    buf_release(&payload);
}
