/* Batches of requests. A turn: receive all that is there; answer reads as they come; decode the
 * puts, sort their updates by key, read each record once, merge, write, sync once, answer.
 *
 * Reads are answered before the puts that arrived with them: nothing was promised about those.
 * Memory: one batch of requests (BATCH_BYTES) and merged records up to CHUNK_BYTES, after
 * which the batch is written in a further transaction.
 */
#include "metastore/metastore_service.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/codec.h"
#include "base/memory.h"
#include "base/system/log.h"
#include "config/process_state.h"
#include "metastore/archive_link.h"
#include "metastore/pack.h"
#include "metastore/protocol.h"
#include "metastore/record.h"

enum { BATCH_REQUESTS = 4096, BATCH_KEEPS = 256, BATCH_BYTES = 32 << 20, CHUNK_BYTES = 64 << 20 };

#define DICTIONARY_PREFIX "mdictionary" /* a byte follows: its number */

struct update {
    struct slice key, fields;
    uint32_t request; /* index in the batch */
    uint32_t order;   /* of arrival */
};

struct meta_service {
    struct meta_store *store;
    struct rpc_server *server;
    const char *archive;          /* folder of WARC files; NULL: none are served */
    struct archive_keep *keep;    /* NULL: none is added to */
    struct rpc_request *requests; /* of the batch: puts */
    size_t request_count;
    struct rpc_request keeps[BATCH_KEEPS];
    size_t keep_count;
    struct update *updates;
    size_t update_count, update_capacity;
    struct slice *keys;      /* distinct keys of the updates, ascending */
    uint32_t *first;         /* of keys[i]: index of its first update; one more at the end */
    struct meta_pair *pairs; /* merged records that wait to be written */
    size_t key_capacity;
    struct arena merged;
    struct packer *packer;
    struct buf work[2];
    struct buf plain, packed; /* a record on its way from the store, and to it */
    struct buf reply;
    uint64_t requests_put, requests_get, requests_scan, stale, unchanged;
};

/* ---- dictionaries ---- */

struct dictionaries {
    struct packer *packer;
    bool damaged;
};

static bool
take_dictionary(void *context, size_t index, struct slice key, struct slice value)
{
    enum { KEY_LENGTH = sizeof DICTIONARY_PREFIX };
    struct dictionaries *taken = context;
    taken->damaged = key.length != KEY_LENGTH || (uint8_t)key.at[KEY_LENGTH - 1] != index + 1 ||
                     !packer_add(taken->packer, value);
    return !taken->damaged;
}

static enum status
load_dictionaries(struct meta_service *service, struct reason *why)
{
    struct dictionaries taken = {.packer = service->packer};
    TRY(meta_store_scan(service->store, SLICE(DICTIONARY_PREFIX), slice_of(NULL, 0),
                        take_dictionary, &taken, why));
    return !taken.damaged
               ? STATUS_OK
               : status_fail(why, STATUS_CORRUPT, "dictionary %zu of the metadata is damaged",
                             packer_count(service->packer) + 1);
}

/* It is there, durably, before the first value that needs it. */
static enum status
store_dictionary(struct meta_service *service, struct reason *why)
{
    const struct slice learned = packer_learned(service->packer);
    if (learned.length == 0) {
        return STATUS_OK;
    }
    char key[sizeof DICTIONARY_PREFIX] = DICTIONARY_PREFIX;
    key[sizeof key - 1] = (char)(packer_count(service->packer) + 1);
    const struct meta_pair pair = {slice_of(key, sizeof key), learned};
    TRY(meta_store_put(service->store, &pair, 1, why));
    (void)packer_add(service->packer, learned);
    return STATUS_OK;
}

/* ---- life ---- */

enum status
meta_service_open(struct meta_service **opened, struct meta_store *store, struct rpc_server *server,
                  struct reason *why)
{
    struct meta_service *service = memory_new(sizeof *service);
    service->store = store;
    service->server = server;
    service->requests = memory_zero(BATCH_REQUESTS, sizeof *service->requests);
    service->packer = packer_new();
    arena_init(&service->merged, 0);
    buf_init(&service->work[0], METASTORE_REPLY_MAXIMUM);
    buf_init(&service->work[1], METASTORE_REPLY_MAXIMUM);
    buf_init(&service->plain, METASTORE_REPLY_MAXIMUM);
    buf_init(&service->packed, METASTORE_REPLY_MAXIMUM);
    buf_init(&service->reply, METASTORE_REPLY_MAXIMUM);
    const enum status status = load_dictionaries(service, why);
    if (status != STATUS_OK) {
        meta_service_free(service);
        service = NULL;
    }
    *opened = service;
    return status;
}

void
meta_service_free(struct meta_service *service)
{
    if (service == NULL) {
        return;
    }
    packer_free(service->packer);
    arena_release(&service->merged);
    buf_release(&service->work[0]);
    buf_release(&service->work[1]);
    buf_release(&service->plain);
    buf_release(&service->packed);
    buf_release(&service->reply);
    free(service->requests);
    free(service->updates);
    free(service->keys);
    free(service->first);
    free(service->pairs);
    free(service);
}

/* ---- reads ---- */

struct answer {
    struct meta_service *service;
    struct buf *reply;
    size_t start; /* where the count stands */
    uint32_t count;
    uint32_t most;
    bool keys, full; /* keys: are sent too; full: ended early */
    struct slice damaged;
};

static void
answer_begin(struct answer *answer)
{
    answer->start = answer->reply->length;
    codec_put_u32(answer->reply, 0);
}

static void
answer_end(struct answer *answer)
{
    codec_write_u32((uint8_t *)answer->reply->data + answer->start, answer->count);
}

static bool
answer_visit(void *context, size_t index, struct slice key, struct slice value)
{
    struct answer *answer = context;
    struct meta_service *service = answer->service;
    struct slice record;
    if (!packer_unpack(service->packer, value, &service->plain, &record)) {
        answer->damaged = key;
        return false;
    }
    const bool enough = answer->reply->length > METASTORE_REPLY_ENOUGH;
    if (answer->keys && (enough || answer->count == answer->most)) {
        answer->full = true;
        return false;
    }
    while (!answer->keys && answer->count < index) {
        codec_put_varint(answer->reply, 0);
        answer->count++;
    }
    if (enough) { /* by what stands before it */
        answer->full = true;
        return false;
    }
    if (answer->keys) {
        codec_put_slice(answer->reply, key);
    }
    codec_put_slice(answer->reply, record);
    answer->count++;
    return true;
}

static enum status
answer_status(const struct answer *answer, struct reason *why)
{
    if (answer->damaged.length > 0) {
        return status_fail(why, STATUS_CORRUPT, "the record of %.*s is damaged",
                           SLICE_PRINT(answer->damaged));
    }
    return answer->reply->overflowed
               ? status_fail(why, STATUS_LIMIT, "the answer is longer than a message")
               : STATUS_OK;
}

static enum status
malformed(struct reason *why, const char *what)
{
    return status_fail(why, STATUS_PROTOCOL, "metastore: a malformed %s request", what);
}

static void
room_for_keys(struct meta_service *service, size_t n)
{
    if (n + 1 > service->key_capacity) {
        service->key_capacity = n + 1;
        service->keys = memory_resize(service->keys, n + 1, sizeof *service->keys);
        service->first = memory_resize(service->first, n + 1, sizeof *service->first);
        service->pairs = memory_resize(service->pairs, n + 1, sizeof *service->pairs);
    }
}

static enum status
read_get(struct meta_service *service, struct codec_reader *reader, struct buf *reply,
         struct reason *why)
{
    const uint64_t count = codec_get_varint(reader);
    if (reader->bad || count > METASTORE_ENTRIES_MAXIMUM) {
        return malformed(why, "get");
    }
    room_for_keys(service, (size_t)count);
    for (uint64_t i = 0; i < count; i++) {
        service->keys[i] = codec_get_slice(reader);
        if (!meta_key_valid(service->keys[i])) {
            return malformed(why, "get");
        }
    }
    if (!codec_at_end(reader)) {
        return malformed(why, "get");
    }
    struct answer answer = {.service = service, .reply = reply};
    answer_begin(&answer);
    TRY(meta_store_get(service->store, service->keys, (size_t)count, answer_visit, &answer, why));
    while (!answer.full && answer.count < count) {
        codec_put_varint(reply, 0);
        answer.count++;
    }
    answer_end(&answer);
    service->requests_get++;
    return answer_status(&answer, why);
}

static enum status
read_scan(struct meta_service *service, struct codec_reader *reader, struct buf *reply,
          struct reason *why)
{
    const struct slice prefix = codec_get_slice(reader);
    const struct slice after = codec_get_slice(reader);
    const uint64_t most = codec_get_varint(reader);
    if (!codec_at_end(reader) || prefix.length == 0 || memchr("uhs", prefix.at[0], 3) == NULL ||
        prefix.length > META_KEY_MAXIMUM || after.length > META_KEY_MAXIMUM) {
        return malformed(why, "scan");
    }
    struct answer answer = {.service = service,
                            .reply = reply,
                            .most = most < METASTORE_ENTRIES_MAXIMUM ? (uint32_t)most
                                                                     : METASTORE_ENTRIES_MAXIMUM,
                            .keys = true};
    answer_begin(&answer);
    TRY(meta_store_scan(service->store, prefix, after, answer_visit, &answer, why));
    answer_end(&answer);
    codec_put_u8(reply, answer.full);
    service->requests_scan++;
    return answer_status(&answer, why);
}

static void
write_stats(struct meta_service *service, struct buf *reply)
{
    struct meta_store_stats stats;
    meta_store_stats(service->store, &stats);
    const struct {
        const char *name;
        uint64_t value;
    } lines[] = {{"epoch", stats.epoch},
                 {"put_requests", service->requests_put},
                 {"get_requests", service->requests_get},
                 {"scan_requests", service->requests_scan},
                 {"records_written", stats.puts},
                 {"keys_read", stats.gets},
                 {"transactions", stats.transactions},
                 {"updates_stale", service->stale},
                 {"updates_unchanged", service->unchanged},
                 {"dictionaries", packer_count(service->packer)},
                 {"disk_free", stats.disk_free}};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        (void)buf_printf(reply, "%s %lu\n", lines[i].name, (unsigned long)lines[i].value);
    }
}

void
meta_service_serve_archive(struct meta_service *service, const char *folder,
                           struct archive_keep *keep)
{
    service->archive = folder;
    service->keep = keep;
}

enum status
meta_service_read(struct meta_service *service, uint8_t verb, struct slice payload,
                  struct buf *reply, struct reason *why)
{
    struct codec_reader reader = codec_reader_of(payload);
    buf_reset(reply);
    if (verb == METASTORE_GET) {
        return read_get(service, &reader, reply, why);
    }
    if (verb == METASTORE_SCAN) {
        return read_scan(service, &reader, reply, why);
    }
    if (verb == METASTORE_STATS && payload.length == 0) {
        write_stats(service, reply);
        return STATUS_OK;
    }
    if (verb == METASTORE_ARCHIVE) {
        return service->archive != NULL
                   ? archive_answer(service->archive, payload, reply, why)
                   : status_fail(why, STATUS_NOT_FOUND, "metastore: it serves no archive");
    }
    return status_fail(why, STATUS_PROTOCOL, "metastore: verb %u is not known", verb);
}

/* ---- writes ---- */

/* Decodes one PUT to updates; on errors none of it stays. */
static enum status
decode_put(struct meta_service *service, struct slice payload, uint32_t request, struct reason *why)
{
    struct codec_reader reader = codec_reader_of(payload);
    const uint64_t count = codec_get_varint(&reader);
    if (reader.bad || count > METASTORE_ENTRIES_MAXIMUM) {
        return malformed(why, "put");
    }
    const size_t before = service->update_count;
    if (before + count > service->update_capacity) {
        service->update_capacity = (before + (size_t)count) * 2;
        service->updates =
            memory_resize(service->updates, service->update_capacity, sizeof *service->updates);
    }
    for (uint64_t i = 0; i < count; i++) {
        struct update *update = &service->updates[service->update_count];
        *update = (struct update){.request = request, .order = (uint32_t)service->update_count};
        update->key = codec_get_slice(&reader);
        update->fields = codec_get_slice(&reader);
        if (reader.bad || !meta_key_valid(update->key) || !meta_update_valid(update->fields)) {
            service->update_count = before;
            return malformed(why, "put");
        }
        service->update_count++;
    }
    if (!codec_at_end(&reader)) {
        service->update_count = before;
        return malformed(why, "put");
    }
    service->requests_put++;
    return STATUS_OK;
}

static int
compare_updates(const void *left, const void *right)
{
    const struct update *a = left;
    const struct update *b = right;
    const int order = slice_compare(a->key, b->key);
    if (order != 0) {
        return order;
    }
    return a->order < b->order ? -1 : 1;
}

/* Sorts the updates, finds the distinct keys; returns how many. */
static size_t
group_by_key(struct meta_service *service)
{
    if (service->update_count > 1) {
        qsort(service->updates, service->update_count, sizeof *service->updates, compare_updates);
    }
    room_for_keys(service, service->update_count);
    size_t count = 0;
    for (size_t i = 0; i < service->update_count; i++) {
        if (count == 0 || !slice_equal(service->keys[count - 1], service->updates[i].key)) {
            service->first[count] = (uint32_t)i;
            service->keys[count++] = service->updates[i].key;
        }
    }
    service->first[count] = (uint32_t)service->update_count;
    return count;
}

/* One pass over keys[from ..]: merges until CHUNK_BYTES are gathered. */
struct pass {
    struct meta_service *service;
    size_t from;       /* index of the first key of the pass */
    size_t next;       /* key to be merged next */
    size_t pair_count; /* in service->pairs */
    enum status *statuses;
    struct reason *reasons;
};

/* Merges all updates of key i into value (empty: none stored); a changed record joins pairs. */
static void
merge_key(struct pass *pass, size_t i, struct slice value)
{
    struct meta_service *service = pass->service;
    struct slice record = slice_of(NULL, 0);
    bool changed = false;
    bool damaged =
        value.length > 0 && !packer_unpack(service->packer, value, &service->plain, &record);
    size_t spare = 0; /* the work buffer that `record` is not in */
    for (uint32_t u = service->first[i]; u < service->first[i + 1]; u++) {
        const struct update *update = &service->updates[u];
        struct buf *work = &service->work[spare];
        const enum meta_merged merged =
            damaged ? META_DAMAGED_RECORD : meta_merge(record, update->fields, work);
        if (merged == META_MERGED) {
            record = buf_slice(work);
            spare = 1 - spare;
            changed = true;
        } else if (merged == META_STALE) {
            service->stale++;
        } else if (merged == META_UNCHANGED) {
            service->unchanged++;
        } else {
            damaged = merged == META_DAMAGED_RECORD;
            pass->statuses[update->request] = status_fail(
                &pass->reasons[update->request], STATUS_CORRUPT,
                "the record of %.*s is damaged or has too many fields", SLICE_PRINT(update->key));
        }
    }
    if (changed) {
        buf_reset(&service->packed);
        packer_pack(service->packer, record, &service->packed);
        service->pairs[pass->pair_count++] = (struct meta_pair){
            service->keys[i], arena_copy(&service->merged, buf_slice(&service->packed))};
    }
}

static bool
merge_visit(void *context, size_t index, struct slice key, struct slice value)
{
    (void)key;
    struct pass *pass = context;
    while (pass->next < pass->from + index) {
        merge_key(pass, pass->next++, slice_of(NULL, 0));
    }
    merge_key(pass, pass->next++, value);
    return pass->service->merged.used < CHUNK_BYTES;
}

static enum status
write_pass(struct pass *pass, size_t count, struct reason *why)
{
    struct meta_service *service = pass->service;
    TRY(store_dictionary(service, why));
    arena_reset(&service->merged);
    pass->from = pass->next;
    pass->pair_count = 0;
    TRY(meta_store_get(service->store, service->keys + pass->from, count - pass->from, merge_visit,
                       pass, why));
    while (pass->next < count && service->merged.used < CHUNK_BYTES) {
        merge_key(pass, pass->next++, slice_of(NULL, 0));
    }
    if (pass->pair_count == 0) {
        return STATUS_OK;
    }
    return meta_store_put(service->store, service->pairs, pass->pair_count, why);
}

enum status
meta_service_write(struct meta_service *service, const struct slice *payloads, size_t n,
                   enum status *statuses, struct reason *reasons, struct reason *why)
{
    service->update_count = 0;
    for (size_t i = 0; i < n; i++) {
        statuses[i] = decode_put(service, payloads[i], (uint32_t)i, &reasons[i]);
    }
    const size_t count = group_by_key(service);
    struct pass pass = {.service = service, .statuses = statuses, .reasons = reasons};
    enum status status = STATUS_OK;
    while (pass.next < count && status == STATUS_OK) {
        status = write_pass(&pass, count, why);
    }
    arena_reset(&service->merged);
    for (size_t i = 0; i < n && status != STATUS_OK; i++) {
        if (statuses[i] == STATUS_OK) {
            statuses[i] = status;
            reasons[i] = *why;
        }
    }
    return status;
}

/* ---- turns ---- */

/* Answers reads at once, gathers what is written. True when the batch is full. */
static bool
receive(struct meta_service *service)
{
    size_t bytes = 0;
    while (service->request_count < BATCH_REQUESTS && service->keep_count < BATCH_KEEPS &&
           bytes < BATCH_BYTES) {
        struct rpc_request *request = &service->requests[service->request_count];
        if (rpc_server_receive(service->server, request) != STATUS_OK) {
            return false;
        }
        if (request->verb == METASTORE_PUT) {
            bytes += request->payload.length;
            service->request_count++;
            continue;
        }
        if (request->verb == METASTORE_KEEP && service->keep != NULL) {
            bytes += request->payload.length;
            service->keeps[service->keep_count++] = *request;
            continue;
        }
        struct reason why = {""};
        const enum status status =
            meta_service_read(service, request->verb, request->payload, &service->reply, &why);
        rpc_reply(service->server, request, status, buf_slice(&service->reply), &why);
    }
    return true;
}

/* A failure is of the archive, and ends nothing but the requests. */
static void
keep_records(struct meta_service *service)
{
    const size_t n = service->keep_count;
    if (n == 0) {
        return;
    }
    struct slice payloads[BATCH_KEEPS];
    struct archive_kept *kept = memory_zero(n, sizeof *kept);
    for (size_t i = 0; i < n; i++) {
        payloads[i] = service->keeps[i].payload;
    }
    archive_keep_all(service->keep, payloads, n, kept);
    for (size_t i = 0; i < n; i++) {
        buf_reset(&service->reply);
        codec_put_slice(&service->reply, slice_string(kept[i].location.file));
        codec_put_varint(&service->reply, kept[i].location.offset);
        codec_put_varint(&service->reply, kept[i].location.length);
        rpc_reply(service->server, &service->keeps[i], kept[i].status, buf_slice(&service->reply),
                  &kept[i].why);
    }
    service->keep_count = 0;
    free(kept);
}

enum status
meta_service_turn(struct meta_service *service, bool *more, struct reason *why)
{
    *more = receive(service);
    keep_records(service);
    const size_t n = service->request_count;
    if (n == 0) {
        return STATUS_OK;
    }
    struct slice *payloads = memory_zero(n, sizeof *payloads);
    enum status *statuses = memory_zero(n, sizeof *statuses);
    struct reason *reasons = memory_zero(n, sizeof *reasons);
    for (size_t i = 0; i < n; i++) {
        payloads[i] = service->requests[i].payload;
    }
    enum status status = meta_service_write(service, payloads, n, statuses, reasons, why);
    const bool broken = meta_store_broken(service->store);
    if (status != STATUS_OK && !broken) {
        log_warning("put_refused", "reason=%s", why->text);
        process_state_wait(WAIT_WRITE, status, why);
        status = STATUS_OK;
    } else if (status == STATUS_OK) {
        process_state_goes_on(WAIT_WRITE);
    }
    for (size_t i = 0; i < n && !broken; i++) {
        rpc_reply(service->server, &service->requests[i], statuses[i], slice_of(NULL, 0),
                  &reasons[i]);
    }
    for (size_t i = 0; i < n && broken; i++) {
        rpc_request_drop(&service->requests[i]);
    }
    service->request_count = 0;
    free(payloads);
    free(statuses);
    free(reasons);
    return status;
}
