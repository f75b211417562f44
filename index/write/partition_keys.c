#include "index/write/partition_keys.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/codec.h"
#include "base/memory.h"
#include "index/terms/oid.h"
#include "index/write/partition_state.h"

enum { SCANNED = 1024, WORD_BITS = 64 };

/* The nodes at some places of quads. */
struct key_log {
    bool begun, full; /* full: there are too many, and nothing is kept */
    oid *ids;
    uint32_t *hashes; /* of the first `hashed` */
    size_t count, room, hashed, hash_room;
    uint64_t *seen; /* by number */
    size_t words;
};

struct partition_keys {
    pthread_mutex_t asking; /* held by who fills a log; guards hashes */
    pthread_mutex_t mutex;  /* guards the rest, for moments */
    struct key_log logs[KEY_PLACES];
};

struct partition_keys *
partition_keys_new(void)
{
    struct partition_keys *keys = memory_new(sizeof(*keys));
    pthread_mutex_init(&keys->asking, NULL);
    pthread_mutex_init(&keys->mutex, NULL);
    return keys;
}

static void
empty(struct key_log *log)
{
    free(log->ids);
    free(log->hashes);
    free(log->seen);
    *log = (struct key_log){.begun = log->begun};
}

void
partition_keys_free(struct partition_keys *keys)
{
    for (size_t i = 0; i < KEY_PLACES; i++) {
        empty(&keys->logs[i]);
    }
    pthread_mutex_destroy(&keys->asking);
    pthread_mutex_destroy(&keys->mutex);
    free(keys);
}

/* ---- nodes ---- */

static void
add(struct key_log *log, oid id)
{
    const uint64_t number = oid_number(id), word = number / WORD_BITS;
    if (log->full || (oid_kind(id) != OID_KIND_IRI && oid_kind(id) != OID_KIND_BLANK)) {
        return;
    }
    if (word >= log->words) {
        const size_t words = word + word / 2 + 64;
        log->seen = memory_resize(log->seen, words, sizeof(*log->seen));
        memset(log->seen + log->words, 0, (words - log->words) * sizeof(*log->seen));
        log->words = words;
    }
    const uint64_t bit = UINT64_C(1) << number % WORD_BITS;
    if (log->seen[word] & bit) {
        return;
    }
    if (log->count == PARTITION_KEYS_MOST) {
        empty(log);
        log->full = true;
        return;
    }
    log->seen[word] |= bit;
    log->ids = array_grow(log->ids, log->count, &log->room, sizeof(*log->ids));
    log->ids[log->count++] = id;
}

static void
add_quad(struct key_log *log, enum key_places places, const struct quad_oids *quad)
{
    add(log, quad->subject);
    if (places == KEYS_NODES) {
        add(log, quad->object);
    }
}

void
partition_keys_note(struct partition_keys *keys, const struct change_set *set)
{
    pthread_mutex_lock(&keys->mutex);
    for (size_t places = 0; places < KEY_PLACES; places++) {
        struct key_log *log = &keys->logs[places];
        for (size_t i = 0; i < set->count && log->begun && !log->full; i++) {
            if (!set->changes[i].removed) {
                add_quad(log, (enum key_places)places, &set->changes[i].quad);
            }
        }
    }
    pthread_mutex_unlock(&keys->mutex);
}

/* ---- the first asking ---- */

static enum status
add_all(struct partition_keys *keys, const struct keys_request *request,
        struct partition_reader *reader, struct reason *why)
{
    const struct quad_source *source = partition_reader_source(reader);
    const struct quad_oids any = {0};
    struct key_log *log = &keys->logs[request->places];
    struct quad_oids rows[SCANNED];
    struct quad_scan *scan;
    TRY(source->scan(source->context, &any, ORDER_SPOC, &scan, why));
    enum status status = STATUS_OK;
    for (size_t n = 1; n > 0 && status == STATUS_OK;) {
        status = request->check(request->check_context, why);
        if (status == STATUS_OK) {
            status = source->scan_next(scan, rows, SCANNED, &n, why);
        }
        pthread_mutex_lock(&keys->mutex);
        for (size_t i = 0; i < n && status == STATUS_OK; i++) {
            add_quad(log, request->places, &rows[i]);
        }
        pthread_mutex_unlock(&keys->mutex);
    }
    source->scan_close(scan);
    return status;
}

/* Begins to note keys: the reader sees what was committed before it is opened, and the writer notes
 * the rest. */
static enum status
begin(struct partition *partition, const struct keys_request *request, struct reason *why)
{
    struct partition_keys *keys = partition->keys;
    struct key_log *log = &keys->logs[request->places];
    struct partition_reader *reader;
    partition_lock_writer(partition);
    pthread_mutex_lock(&keys->mutex);
    log->begun = true;
    pthread_mutex_unlock(&keys->mutex);
    enum status status = partition_reader_open(&reader, partition, why);
    pthread_mutex_unlock(&partition->writer);
    if (status == STATUS_OK) {
        status = add_all(keys, request, reader, why);
        partition_reader_close(reader);
    }
    if (status != STATUS_OK) {
        pthread_mutex_lock(&keys->mutex);
        log->begun = false;
        empty(log);
        pthread_mutex_unlock(&keys->mutex);
    }
    return status;
}

/* ---- hashes ---- */

static uint32_t
hash_of(const struct term *term)
{
    uint64_t hash = term->kind;
    for (size_t i = 0; i < term->value.length; i++) {
        hash = (hash ^ (uint8_t)term->value.at[i]) * UINT64_C(0x100000001B3);
    }
    return (uint32_t)((hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

/* Hashes up to so many nodes more. *some: there were any. */
static enum status
hash_more(struct partition_keys *keys, struct key_log *log, const struct quad_source *source,
          struct arena *arena, bool *some, struct reason *why)
{
    oid ids[SCANNED];
    pthread_mutex_lock(&keys->mutex);
    const size_t left = log->full ? 0 : log->count - log->hashed;
    const size_t n = left < SCANNED ? left : SCANNED;
    if (n > 0) {
        memcpy(ids, log->ids + log->hashed, n * sizeof(*ids));
        if (log->hashed + n > log->hash_room) {
            log->hash_room = log->room;
            log->hashes = memory_resize(log->hashes, log->hash_room, sizeof(*log->hashes));
        }
    }
    pthread_mutex_unlock(&keys->mutex);
    *some = n > 0;
    uint32_t hashes[SCANNED];
    for (size_t i = 0; i < n; i++) {
        struct term term;
        arena_reset(arena);
        TRY(source->resolve(source->context, ids[i], arena, &term, why));
        hashes[i] = hash_of(&term);
    }
    pthread_mutex_lock(&keys->mutex);
    if (n > 0 && !log->full) {
        memcpy(log->hashes + log->hashed, hashes, n * sizeof(*hashes));
        log->hashed += n;
    }
    pthread_mutex_unlock(&keys->mutex);
    return STATUS_OK;
}

static enum status
hash_all(struct partition *partition, const struct keys_request *request, struct reason *why)
{
    struct partition_keys *keys = partition->keys;
    struct partition_reader *reader;
    struct arena arena;
    TRY(partition_reader_open(&reader, partition, why));
    arena_init(&arena, 0);
    enum status status = STATUS_OK;
    for (bool some = true; some && status == STATUS_OK;) {
        status = request->check(request->check_context, why);
        if (status == STATUS_OK) {
            status = hash_more(keys, &keys->logs[request->places], partition_reader_source(reader),
                               &arena, &some, why);
        }
    }
    arena_release(&arena);
    partition_reader_close(reader);
    return status;
}

/* ---- answers ---- */

static enum status
put(const struct partition *partition, const struct keys_request *request, struct buf *out,
    struct reason *why)
{
    struct partition_keys *keys = partition->keys;
    const struct key_log *log = &keys->logs[request->places];
    pthread_mutex_lock(&keys->mutex);
    const bool full = log->full;
    const size_t count = log->hashed;
    const size_t from =
        request->epoch == partition->incarnation && request->from <= count ? request->from : 0;
    codec_put_u64(out, partition->incarnation);
    codec_put_varint(out, from);
    for (size_t i = from; i < count; i++) {
        codec_put_u32(out, log->hashes[i]);
    }
    pthread_mutex_unlock(&keys->mutex);
    return full ? status_fail(why, STATUS_LIMIT, "there are too many nodes") : STATUS_OK;
}

/* Another one that asks may be reading all quads. */
static enum status
wait_turn(struct partition_keys *keys, const struct keys_request *request, struct reason *why)
{
    enum { STEP_NS = 20 * 1000 * 1000, SECOND_NS = 1000 * 1000 * 1000 };
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += STEP_NS;
        until.tv_sec += until.tv_nsec / SECOND_NS;
        until.tv_nsec %= SECOND_NS;
        if (pthread_mutex_timedlock(&keys->asking, &until) == 0) {
            return STATUS_OK;
        }
        TRY(request->check(request->check_context, why));
    }
}

enum status
partition_keys_read(struct partition *partition, const struct keys_request *request,
                    struct buf *out, struct reason *why)
{
    struct partition_keys *keys = partition->keys;
    const struct key_log *log = &keys->logs[request->places];
    TRY(wait_turn(keys, request, why));
    pthread_mutex_lock(&keys->mutex);
    const bool begun = log->begun;
    pthread_mutex_unlock(&keys->mutex);
    enum status status = begun ? STATUS_OK : begin(partition, request, why);
    status = status == STATUS_OK ? hash_all(partition, request, why) : status;
    status = status == STATUS_OK ? put(partition, request, out, why) : status;
    pthread_mutex_unlock(&keys->asking);
    return status;
}

enum status
partition_keys_set(struct partition *partition, enum key_places places, struct slice list,
                   struct oid_set *set, struct reason *why)
{
    struct partition_keys *keys = partition->keys;
    struct codec_reader in = codec_reader_of(list);
    const uint64_t epoch = codec_get_u64(&in), count = codec_get_varint(&in);
    uint64_t place = 0;
    if (in.bad || count > (uint64_t)(in.end - in.at)) {
        return status_fail(why, STATUS_PROTOCOL, "a list of keys is malformed");
    }
    if (epoch != partition->incarnation) {
        return status_fail(why, STATUS_STALE, "the partition was opened anew");
    }
    oid_set_init(set, count);
    pthread_mutex_lock(&keys->mutex);
    const struct key_log *log = &keys->logs[places];
    for (uint64_t i = 0; i < count && !in.bad; i++) {
        const uint64_t step = codec_get_varint(&in);
        in.bad = in.bad || step > log->count || place + step >= log->count;
        place += step;
        if (!in.bad) {
            oid_set_add(set, log->ids[place]);
        }
    }
    pthread_mutex_unlock(&keys->mutex);
    if (!codec_at_end(&in)) {
        oid_set_release(set);
        return status_fail(why, STATUS_PROTOCOL, "a list of keys is malformed");
    }
    return STATUS_OK;
}
