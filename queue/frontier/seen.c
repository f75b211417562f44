#include "queue/frontier/seen.h"

#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "base/map.h"
#include "base/memory.h"

struct cached {
    uint8_t fingerprint[FINGERPRINT_SIZE];
    uint32_t generation; /* larger ones are not cached */
    uint16_t depth;
    uint16_t domains;
    uint8_t flags, rank;
    bool used;
    uint64_t job;
};

struct seen {
    enum store_tree tree;
    struct cached *cache;
    size_t cache_mask;
    /* this round's entries */
    struct seen_entry *entries;
    uint32_t count, capacity;
    struct map by_fingerprint; /* first 64 bits of the fingerprint -> first entry of a chain */
    uint32_t *missing;         /* entries that only the store knows */
    uint32_t missing_count, missing_capacity;
};

struct seen *
seen_new(enum store_tree tree, size_t cache_bytes)
{
    struct seen *seen = memory_new(sizeof *seen);
    size_t slots = 1;
    while (2 * slots * sizeof(struct cached) <= cache_bytes) {
        slots *= 2;
    }
    seen->tree = tree;
    seen->cache = memory_zero(slots, sizeof *seen->cache);
    seen->cache_mask = slots - 1;
    map_init(&seen->by_fingerprint);
    return seen;
}

void
seen_free(struct seen *seen)
{
    if (seen != NULL) {
        map_release(&seen->by_fingerprint);
        free(seen->cache);
        free(seen->entries);
        free(seen->missing);
        free(seen);
    }
}

static struct cached *
cached_slot(const struct seen *seen, const uint8_t *fingerprint)
{
    return &seen->cache[codec_read_u64(fingerprint + 8) & seen->cache_mask];
}

static struct seen_entry *
find(struct seen *seen, const uint8_t *fingerprint)
{
    uint32_t at = map_get(&seen->by_fingerprint, codec_read_u64(fingerprint));
    while (at != (uint32_t)MAP_NONE &&
           memcmp(seen->entries[at].fingerprint, fingerprint, FINGERPRINT_SIZE) != 0) {
        at = seen->entries[at].next;
    }
    return at == (uint32_t)MAP_NONE ? NULL : &seen->entries[at];
}

static void
note_missing(struct seen *seen, uint32_t at)
{
    if (seen->missing_count == seen->missing_capacity) {
        seen->missing_capacity = seen->missing_capacity == 0 ? 256 : 2 * seen->missing_capacity;
        seen->missing = memory_resize(seen->missing, seen->missing_capacity, sizeof *seen->missing);
    }
    seen->missing[seen->missing_count++] = at;
}

void
seen_want(struct seen *seen, const uint8_t fingerprint[FINGERPRINT_SIZE])
{
    if (find(seen, fingerprint) != NULL) {
        return;
    }
    if (seen->count == seen->capacity) {
        seen->capacity = seen->capacity == 0 ? 256 : 2 * seen->capacity;
        seen->entries = memory_resize(seen->entries, seen->capacity, sizeof *seen->entries);
    }
    const uint32_t at = seen->count++;
    const uint64_t hash = codec_read_u64(fingerprint);
    struct seen_entry *entry = &seen->entries[at];
    *entry = (struct seen_entry){.next = map_get(&seen->by_fingerprint, hash)};
    memcpy(entry->fingerprint, fingerprint, FINGERPRINT_SIZE);
    map_set(&seen->by_fingerprint, hash, at);
    const struct cached *cached = cached_slot(seen, fingerprint);
    if (cached->used && memcmp(cached->fingerprint, fingerprint, FINGERPRINT_SIZE) == 0) {
        entry->exists = true;
        entry->depth = cached->depth;
        entry->generation = cached->generation;
        entry->flags = cached->flags;
        entry->domains = cached->domains;
        entry->rank = cached->rank;
        entry->job = cached->job;
    } else if (seen->tree != TREE_COUNT) {
        note_missing(seen, at);
    }
}

static int
compare_missing(const void *left, const void *right, void *entries)
{
    const struct seen_entry *all = entries;
    return memcmp(all[*(const uint32_t *)left].fingerprint,
                  all[*(const uint32_t *)right].fingerprint, FINGERPRINT_SIZE);
}

enum status
seen_load(struct seen *seen, struct frontier *frontier, struct reason *why)
{
    if (seen->missing_count > 1) {
        qsort_r(seen->missing, seen->missing_count, sizeof *seen->missing, compare_missing,
                seen->entries);
    }
    for (uint32_t i = 0; i < seen->missing_count; i++) {
        struct seen_entry *entry = &seen->entries[seen->missing[i]];
        struct slice value;
        const struct slice key = {(const char *)entry->fingerprint, FINGERPRINT_SIZE};
        const enum status status = frontier_get(frontier, seen->tree, key, &value, why);
        if (status == STATUS_NOT_FOUND) {
            continue;
        }
        TRY(status);
        if (!seen_entry_decode(value, entry)) {
            return status_fail(why, STATUS_CORRUPT, "a record of %s is damaged",
                               store_tree_name(seen->tree));
        }
        entry->exists = true;
    }
    seen->missing_count = 0;
    return STATUS_OK;
}

struct seen_entry *
seen_entry(struct seen *seen, const uint8_t fingerprint[FINGERPRINT_SIZE])
{
    return find(seen, fingerprint);
}

void
seen_write(struct seen *seen, struct store_batch *batch)
{
    struct buf value;
    if (seen->tree == TREE_COUNT) {
        return;
    }
    buf_init(&value, 64);
    for (uint32_t i = 0; i < seen->count; i++) {
        const struct seen_entry *entry = &seen->entries[i];
        if (entry->changed) {
            buf_reset(&value);
            seen_entry_encode(&value, entry);
            store_batch_put(batch, seen->tree,
                            slice_of((const char *)entry->fingerprint, FINGERPRINT_SIZE),
                            buf_slice(&value));
        }
    }
    buf_release(&value);
}

static void
settle_entry(struct seen *seen, const struct seen_entry *entry)
{
    struct cached *cached = cached_slot(seen, entry->fingerprint);
    if (!entry->exists || entry->generation > UINT32_MAX) {
        if (cached->used &&
            memcmp(cached->fingerprint, entry->fingerprint, FINGERPRINT_SIZE) == 0) {
            cached->used = false;
        }
        return;
    }
    memcpy(cached->fingerprint, entry->fingerprint, FINGERPRINT_SIZE);
    cached->generation = (uint32_t)entry->generation;
    cached->depth = entry->depth;
    cached->flags = entry->flags;
    cached->domains = entry->domains;
    cached->rank = entry->rank;
    cached->job = entry->job;
    cached->used = true;
}

void
seen_settle(struct seen *seen, bool committed)
{
    for (uint32_t i = 0; committed && i < seen->count; i++) {
        settle_entry(seen, &seen->entries[i]);
    }
    map_clear(&seen->by_fingerprint);
    seen->count = 0;
    seen->missing_count = 0;
}

unsigned
seen_put(struct seen_entry *entry, uint16_t depth, enum seen_again again)
{
    unsigned actions = 0;
    if (!entry->exists) {
        entry->exists = entry->changed = true;
        entry->depth = depth;
        entry->generation = 1;
        entry->flags = again == SEEN_LATER ? SEEN_WAITING | SEEN_SCHEDULED : SEEN_WAITING;
        return SEEN_QUEUE;
    }
    if (depth < entry->depth) {
        entry->depth = depth;
        entry->changed = true;
        actions |= entry->flags & SEEN_FETCHED ? SEEN_REVISIT : 0;
    }
    const bool waits = entry->flags & SEEN_WAITING;
    if (again != SEEN_NOT_AGAIN &&
        (!waits || (again == SEEN_AGAIN && entry->flags & SEEN_SCHEDULED))) {
        entry->generation++;
        entry->flags = (uint8_t)((entry->flags & SEEN_FETCHED) | SEEN_WAITING |
                                 (again == SEEN_LATER ? SEEN_SCHEDULED : 0));
        entry->changed = true;
        actions |= SEEN_QUEUE;
    }
    return actions;
}

void
seen_came(struct seen_entry *entry, uint16_t depth)
{
    entry->depth = entry->exists && entry->depth < depth ? entry->depth : depth;
    entry->generation = entry->exists ? entry->generation + 1 : 1;
    entry->flags = SEEN_FETCHED;
    entry->exists = entry->changed = true;
}

uint16_t
seen_fetched(struct seen_entry *entry, uint64_t generation, uint16_t depth)
{
    if (!entry->exists) {
        return 0;
    }
    const uint8_t flags = (uint8_t)((entry->flags | SEEN_FETCHED) &
                                    (entry->generation == generation ? SEEN_FETCHED : 0xff));
    entry->changed |= flags != entry->flags;
    entry->flags = flags;
    return entry->depth < depth ? (uint16_t)(depth - entry->depth) : 0;
}

void
seen_entry_encode(struct buf *out, const struct seen_entry *entry)
{
    codec_put_varint(out, entry->depth);
    codec_put_varint(out, entry->generation);
    const bool placed = entry->flags & SEEN_WAITING && entry->rank != 0;
    codec_put_u8(out, (uint8_t)(entry->flags | (entry->domains != 0 ? SEEN_HAS_DOMAINS : 0) |
                                (placed ? SEEN_HAS_PLACE : 0)));
    if (entry->domains != 0) {
        codec_put_u8(out, (uint8_t)(entry->domains >> 8));
        codec_put_u8(out, (uint8_t)entry->domains);
    }
    if (placed) {
        codec_put_u8(out, entry->rank);
        codec_put_varint(out, entry->job);
    }
}

bool
seen_entry_decode(struct slice bytes, struct seen_entry *entry)
{
    struct codec_reader reader = codec_reader_of(bytes);
    const uint64_t depth = codec_get_varint(&reader);
    entry->depth = (uint16_t)depth;
    entry->generation = codec_get_varint(&reader);
    const uint8_t flags = codec_get_u8(&reader);
    entry->flags = (uint8_t)(flags & ~SEEN_EXTRAS);
    entry->domains = 0;
    entry->rank = 0;
    if (flags & SEEN_HAS_DOMAINS) {
        entry->domains = (uint16_t)(codec_get_u8(&reader) << 8);
        entry->domains |= codec_get_u8(&reader);
    }
    if (flags & SEEN_HAS_PLACE) {
        entry->rank = codec_get_u8(&reader);
        entry->job = codec_get_varint(&reader);
    }
    return codec_at_end(&reader) && depth <= UINT16_MAX;
}
