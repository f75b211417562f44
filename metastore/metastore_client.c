/* The routed client: a batch is split by owner and by size, and its answers are joined.
 *
 * One join lives per call and one part per owner and size; the last part to be answered calls back.
 * A put's part is a message. Of gets one message at a time is under way to each owner: parts that
 * come meanwhile travel together in the next, since small messages cost as much as large. What a
 * full reply left out goes first into the next. When a message of several parts fails, each part is
 * asked for alone, so that only the get whose key or record is at fault fails.
 */
#include "metastore/metastore_client.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/memory.h"
#include "metastore/protocol.h"
#include "queue/cluster/cluster.h"

enum { PART_BYTES = 4 << 20, PART_ENTRIES = 16384, REQUEST_MAXIMUM = 32 << 20, SCAN_PAGE = 512 };

struct get_part;
struct gets;
static void end_waiting(struct gets *gets);

/* Gets of one endpoint. */
struct gets {
    struct metastore_client *client;
    size_t endpoint;
    struct get_part *waiting, *under_way; /* first of a list; under way: one message */
    uint32_t silence_ms;                  /* 0: it is waited for as long as it takes */
    bool away;                            /* a question without keys waits for its sign of life */
};

struct metastore_client {
    struct rpc_client **rpcs;
    struct gets *gets; /* by endpoint */
    size_t count;
    uint16_t *owners; /* NULL: all partitions at rpcs[0] */
    bool closing;
};

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
    struct metastore_client *client = memory_zero(1, sizeof *client);
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
        end_waiting(&client->gets[i]);
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
            end_waiting(&client->gets[i]);
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

static size_t
owner_of(const struct metastore_client *client, struct slice key)
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
    struct put_join *join = memory_zero(1, sizeof *join);
    join->done = done;
    join->context = context;
    join->status = STATUS_OK;
    struct part *parts = parts_new(client);
    for (size_t i = 0; i < n; i++) {
        const size_t owner = owner_of(client, puts[i].key);
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
        if (codec_at_end(&reader) && !reader.bad && file.length < sizeof location.file) {
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
    struct keep_join *join = memory_zero(1, sizeof *join);
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

/* ---- get ---- */

struct get_join {
    size_t pending;
    enum status status;
    struct reason why;
    struct slice *keys, *records; /* as asked; bytes in arena */
    size_t n;
    struct arena arena;
    metastore_got *done;
    void *context;
};

struct get_part {
    struct get_join *join;
    struct get_part *next_part;
    size_t count, next; /* places[next] is the first not answered */
    bool alone;         /* travels in a message of its own */
    uint32_t places[];  /* indexes into the join */
};

static void gets_answered(void *context, enum status status, struct slice payload,
                          const struct reason *why);

static void
get_part_ended(struct get_part *part, enum status status, const struct reason *why)
{
    struct get_join *join = part->join;
    if (status != STATUS_OK && join->status == STATUS_OK) {
        join->status = status;
        if (why != NULL) {
            join->why = *why;
        }
    }
    free(part);
    if (--join->pending == 0) {
        join->done(join->context, join->status, join->records, join->n, &join->why);
        arena_release(&join->arena);
        free(join->keys);
        free(join->records);
        free(join);
    }
}

static void
append_parts(struct get_part **list, struct get_part *parts)
{
    while (*list != NULL) {
        list = &(*list)->next_part;
    }
    *list = parts;
}

static struct get_part *
first_part(struct get_part **list)
{
    struct get_part *part = *list;
    *list = part->next_part;
    part->next_part = NULL;
    return part;
}

/* Sends what waits, as much as a message may have, unless one is under way. */
static void
gets_send(struct gets *gets)
{
    struct buf keys;
    struct buf payload;
    size_t count = 0;
    if (gets->under_way != NULL || gets->waiting == NULL || gets->away || gets->client->closing) {
        return;
    }
    buf_init(&keys, RPC_PAYLOAD_MAXIMUM);
    do {
        struct get_part *part = first_part(&gets->waiting);
        append_parts(&gets->under_way, part);
        for (size_t i = part->next; i < part->count; i++) {
            codec_put_slice(&keys, part->join->keys[part->places[i]]);
        }
        count += part->count - part->next;
    } while (gets->waiting != NULL && !gets->under_way->alone && !gets->waiting->alone &&
             keys.length < PART_BYTES &&
             count + gets->waiting->count - gets->waiting->next <= PART_ENTRIES);
    buf_init(&payload, RPC_PAYLOAD_MAXIMUM);
    codec_put_varint(&payload, count);
    (void)buf_append_slice(&payload, buf_slice(&keys));
    rpc_client_post(gets->client->rpcs[gets->endpoint], METASTORE_GET, buf_slice(&payload),
                    gets->silence_ms, gets_answered, gets);
    buf_release(&keys);
    buf_release(&payload);
}

/* Takes the records of one reply, for one part after the other; false when it is malformed. */
static bool
take_records(struct get_part *parts, struct slice payload)
{
    struct codec_reader reader = codec_reader_of(payload);
    uint32_t count = codec_get_u32(&reader);
    size_t asked = 0;
    for (const struct get_part *part = parts; part != NULL; part = part->next_part) {
        asked += part->count - part->next;
    }
    if (count == 0 && asked > 0) {
        return false;
    }
    for (struct get_part *part = parts; part != NULL; part = part->next_part) {
        struct get_join *join = part->join;
        for (; part->next < part->count && count > 0; part->next++, count--) {
            const struct slice record = codec_get_slice(&reader);
            if (!reader.bad && record.length > 0) {
                join->records[part->places[part->next]] = arena_copy(&join->arena, record);
            }
        }
    }
    return count == 0 && codec_at_end(&reader);
}

/* ---- a node that is away ---- */

static void
sign_of_life(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct gets *gets = context;
    (void)payload;
    (void)why;
    if (status != STATUS_CANCELLED) { /* else the client is closed */
        gets->away = false;
        gets_send(gets);
    }
}

static void
goes_away(struct gets *gets)
{
    struct buf nothing;
    buf_init(&nothing, 16);
    codec_put_varint(&nothing, 0);
    gets->away = true;
    rpc_client_post(gets->client->rpcs[gets->endpoint], METASTORE_GET, buf_slice(&nothing), 0,
                    sign_of_life, gets);
    buf_release(&nothing);
}

/* Callbacks may ask for more, which waits for the next call of this. */
static void
end_waiting(struct gets *gets)
{
    struct get_part *parts = gets->waiting;
    struct reason why;
    gets->waiting = NULL;
    (void)status_fail(&why, STATUS_UNAVAILABLE, "the node of this metadata store does not answer");
    while (parts != NULL) {
        get_part_ended(first_part(&parts), STATUS_UNAVAILABLE, &why);
    }
}

/* Callbacks may ask for more, which waits until all of these have ended. */
static void
gets_answered(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct gets *gets = context;
    struct get_part *parts = gets->under_way;
    struct get_part *left = NULL; /* to be asked again */
    struct reason malformed = {""};
    if (status == STATUS_OK && !take_records(parts, payload)) {
        status = status_fail(&malformed, STATUS_PROTOCOL, "metastore: a malformed answer to a get");
        why = &malformed;
    }
    if (status == STATUS_TIMEOUT) {
        goes_away(gets);
        append_parts(&parts, gets->waiting);
        gets->waiting = parts;
        gets->under_way = NULL;
        end_waiting(gets);
        return;
    }
    const bool apart = status != STATUS_OK && !gets->client->closing && parts->next_part != NULL;
    if (gets->client->closing) {
        append_parts(&parts, gets->waiting);
        gets->waiting = NULL;
    }
    while (parts != NULL) {
        struct get_part *part = first_part(&parts);
        part->alone |= apart;
        if (apart || (status == STATUS_OK && part->next < part->count)) {
            append_parts(&left, part);
        } else {
            get_part_ended(part, status, why);
        }
    }
    if (left != NULL) {
        append_parts(&left, gets->waiting);
        gets->waiting = left;
    }
    gets->under_way = NULL;
    gets_send(gets);
}

static struct get_part *
get_part_new(struct get_join *join)
{
    const size_t room = join->n < PART_ENTRIES ? join->n : PART_ENTRIES;
    struct get_part *part = memory_alloc(sizeof *part + room * sizeof part->places[0]);
    *part = (struct get_part){.join = join};
    return part;
}

static void
get_part_post(struct metastore_client *client, size_t endpoint, struct get_part **part)
{
    (*part)->join->pending++;
    append_parts(&client->gets[endpoint].waiting, *part);
    *part = NULL;
    gets_send(&client->gets[endpoint]);
}

void
metastore_get(struct metastore_client *client, const struct slice *keys, size_t n,
              metastore_got *done, void *context)
{
    struct get_join *join = memory_zero(1, sizeof *join);
    join->done = done;
    join->context = context;
    join->status = STATUS_OK;
    join->n = n;
    join->keys = memory_zero(n + 1, sizeof *join->keys);
    join->records = memory_zero(n + 1, sizeof *join->records);
    arena_init(&join->arena, 0);
    struct get_part **parts = memory_zero(client->count, sizeof(struct get_part *));
    for (size_t i = 0; i < n; i++) {
        const size_t owner = owner_of(client, keys[i]);
        join->keys[i] = arena_copy(&join->arena, keys[i]);
        if (parts[owner] == NULL) {
            parts[owner] = get_part_new(join);
        }
        parts[owner]->places[parts[owner]->count++] = (uint32_t)i;
        if (parts[owner]->count == PART_ENTRIES) {
            get_part_post(client, owner, &parts[owner]);
        }
    }
    if (n == 0) {
        parts[0] = get_part_new(join);
    }
    for (size_t i = 0; i < client->count; i++) {
        if (parts[i] != NULL) {
            get_part_post(client, i, &parts[i]);
        }
    }
    free(parts);
}

/* ---- blocking calls ---- */

enum status
metastore_get_wait(struct metastore_client *client, struct slice key, struct buf *record,
                   uint32_t timeout_ms, struct reason *why)
{
    if (!meta_key_valid(key)) {
        return status_fail(why, STATUS_MISUSE, "not a key of the metadata store: %.*s",
                           SLICE_PRINT(key));
    }
    struct buf payload;
    struct buf reply;
    buf_init(&payload, REQUEST_MAXIMUM);
    buf_init(&reply, RPC_PAYLOAD_MAXIMUM);
    codec_put_varint(&payload, 1);
    codec_put_slice(&payload, key);
    enum status status = rpc_call(client->rpcs[owner_of(client, key)], METASTORE_GET,
                                  buf_slice(&payload), timeout_ms, &reply, why);
    if (status == STATUS_OK) {
        struct codec_reader reader = codec_reader_of(buf_slice(&reply));
        const uint32_t count = codec_get_u32(&reader);
        const struct slice found = codec_get_slice(&reader);
        if (count != 1 || !codec_at_end(&reader)) {
            status = status_fail(why, STATUS_PROTOCOL, "metastore: a malformed answer to a get");
        } else if (found.length == 0) {
            status = status_fail(why, STATUS_NOT_FOUND, "nothing is known of %.*s",
                                 (int)key.length - 1, key.at + 1);
        } else {
            buf_reset(record);
            status = buf_append_slice(record, found);
        }
    }
    buf_release(&payload);
    buf_release(&reply);
    return status;
}

/* Holds what one endpoint has sent of a scan. */
struct scan_page {
    struct buf reply, after;
    struct codec_reader reader;
    uint32_t left;
    bool more, have;
    struct slice key, record; /* the present entry, when have */
};

struct scan {
    struct metastore_client *client;
    struct scan_page *pages;
    struct slice prefix;
    uint32_t timeout_ms;
};

static enum status
scan_fetch(struct scan *scan, size_t endpoint, struct reason *why)
{
    struct scan_page *page = &scan->pages[endpoint];
    struct buf payload;
    buf_init(&payload, REQUEST_MAXIMUM);
    codec_put_slice(&payload, scan->prefix);
    codec_put_slice(&payload, buf_slice(&page->after));
    codec_put_varint(&payload, SCAN_PAGE);
    buf_reset(&page->reply);
    const enum status status = rpc_call(scan->client->rpcs[endpoint], METASTORE_SCAN,
                                        buf_slice(&payload), scan->timeout_ms, &page->reply, why);
    buf_release(&payload);
    TRY(status);
    const struct slice reply = buf_slice(&page->reply);
    page->reader = codec_reader_of(reply);
    page->left = codec_get_u32(&page->reader);
    page->more = reply.length > 0 && reply.at[reply.length - 1] != 0;
    return page->reader.bad
               ? status_fail(why, STATUS_PROTOCOL, "metastore: a malformed answer to a scan")
               : STATUS_OK;
}

/* Moves to the next entry of an endpoint; page->have tells whether there is one. */
static enum status
scan_advance(struct scan *scan, size_t endpoint, struct reason *why)
{
    struct scan_page *page = &scan->pages[endpoint];
    if (page->have) {
        buf_reset(&page->after);
        (void)buf_append_slice(&page->after, page->key);
    }
    page->have = false;
    if (page->left == 0 && page->more) {
        TRY(scan_fetch(scan, endpoint, why));
    }
    if (page->left == 0) {
        return STATUS_OK;
    }
    page->key = codec_get_slice(&page->reader);
    page->record = codec_get_slice(&page->reader);
    page->left--;
    page->have = !page->reader.bad;
    return page->have
               ? STATUS_OK
               : status_fail(why, STATUS_PROTOCOL, "metastore: a malformed answer to a scan");
}

static enum status
scan_run(struct scan *scan, uint32_t most, metastore_visit *visit, void *context,
         struct reason *why)
{
    for (size_t i = 0; i < scan->client->count; i++) {
        scan->pages[i].more = true;
        TRY(scan_advance(scan, i, why));
    }
    for (uint32_t count = 0; count < most; count++) {
        size_t least = scan->client->count;
        for (size_t i = 0; i < scan->client->count; i++) {
            if (scan->pages[i].have &&
                (least == scan->client->count ||
                 slice_compare(scan->pages[i].key, scan->pages[least].key) < 0)) {
                least = i;
            }
        }
        if (least == scan->client->count ||
            !visit(context, scan->pages[least].key, scan->pages[least].record)) {
            break;
        }
        TRY(scan_advance(scan, least, why));
    }
    return STATUS_OK;
}

enum status
metastore_scan(struct metastore_client *client, struct slice prefix, struct slice after,
               uint32_t most, metastore_visit *visit, void *context, uint32_t timeout_ms,
               struct reason *why)
{
    struct scan scan = {.client = client, .prefix = prefix, .timeout_ms = timeout_ms};
    scan.pages = memory_zero(client->count, sizeof *scan.pages);
    for (size_t i = 0; i < client->count; i++) {
        buf_init(&scan.pages[i].reply, RPC_PAYLOAD_MAXIMUM);
        buf_init(&scan.pages[i].after, META_KEY_MAXIMUM);
        (void)buf_append_slice(&scan.pages[i].after, after);
    }
    const enum status status = scan_run(&scan, most, visit, context, why);
    for (size_t i = 0; i < client->count; i++) {
        buf_release(&scan.pages[i].reply);
        buf_release(&scan.pages[i].after);
    }
    free(scan.pages);
    return status;
}

enum status
metastore_stats(struct metastore_client *client, size_t endpoint, struct buf *lines,
                uint32_t timeout_ms, struct reason *why)
{
    if (endpoint >= client->count) {
        return status_fail(why, STATUS_END, "there are %zu metastores", client->count);
    }
    return rpc_call(client->rpcs[endpoint], METASTORE_STATS, slice_of(NULL, 0), timeout_ms, lines,
                    why);
}
