/* Gets of the routed client, that call back.
 *
 * One message at a time is under way to each owner: parts that come meanwhile travel together in
 * the next, since small messages cost as much as large. What a full reply left out goes first into
 * the next. When a message of several parts fails, each part is asked for alone, so that only the
 * get whose key or record is at fault fails.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "metastore/client_links.h"
#include "metastore/protocol.h"

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
void
metastore_end_gets(struct gets *gets)
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
        metastore_end_gets(gets);
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
    struct get_join *join = memory_new(sizeof *join);
    join->done = done;
    join->context = context;
    join->status = STATUS_OK;
    join->n = n;
    join->keys = memory_zero(n + 1, sizeof *join->keys);
    join->records = memory_zero(n + 1, sizeof *join->records);
    arena_init(&join->arena, 0);
    struct get_part **parts = memory_zero(client->count, sizeof(struct get_part *));
    for (size_t i = 0; i < n; i++) {
        const size_t owner = metastore_owner(client, keys[i]);
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
