#include "index/terms/term_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
    SHARDS = 16,
    WAYS = 4,        /* places of a bucket: together a line of the processor's cache */
    PLACE_SHARE = 3, /* this part of the memory is places, the rest rings */
    ENTRY_SHARE = 8, /* an entry larger than this part of a ring is not kept */
    /* The table of places grows with what is kept: each lookup touches another page of a large one,
     * and the first touch of a page costs more than what a small partition gains by the cache. */
    BUCKETS_FIRST = 64,
    BUCKETS_GROWTH = 4,
};

/* Positions count all bytes ever written to a ring, so an old one tells that it is overwritten. */
struct place {
    uint64_t number; /* 0: free */
    uint64_t position;
};

struct bucket {
    struct place ways[WAYS];
};

struct shard {
    pthread_mutex_t mutex;
    struct bucket *buckets;
    size_t bucket_count, kept; /* kept: places that are not free */
    char *ring;
    uint64_t written; /* where the next entry goes; an entry never goes over the ring's end */
};

struct term_cache {
    size_t bucket_maximum, ring_size; /* of each shard */
    struct shard shards[SHARDS];
};

struct term_cache *
term_cache_new(size_t memory)
{
    struct term_cache *cache = memory_new(sizeof(*cache));
    const size_t share = memory / SHARDS, places = share / PLACE_SHARE;
    cache->bucket_maximum = places / sizeof(struct bucket) + 1;
    cache->ring_size = share - places + 1;
    for (int i = 0; i < SHARDS; i++) {
        struct shard *shard = &cache->shards[i];
        pthread_mutex_init(&shard->mutex, NULL);
        shard->bucket_count =
            cache->bucket_maximum < BUCKETS_FIRST ? cache->bucket_maximum : BUCKETS_FIRST;
        shard->buckets = memory_zero(shard->bucket_count, sizeof(*shard->buckets));
        shard->ring = memory_alloc(cache->ring_size);
    }
    return cache;
}

size_t
term_cache_room(const struct term_cache *cache)
{
    return cache->ring_size * SHARDS;
}

void
term_cache_free(struct term_cache *cache)
{
    if (cache == NULL) {
        return;
    }
    for (int i = 0; i < SHARDS; i++) {
        pthread_mutex_destroy(&cache->shards[i].mutex);
        free(cache->shards[i].buckets);
        free(cache->shards[i].ring);
    }
    free(cache);
}

/* Numbers that follow each other, times anything, would share few of some counts of buckets. */
static uint64_t
hash_of(uint64_t number)
{
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9u;
    number = (number ^ number >> 27) * 0x94D049BB133111EBu;
    return number ^ number >> 31;
}

static struct shard *
shard_of(struct term_cache *cache, uint64_t number)
{
    return &cache->shards[hash_of(number) % SHARDS];
}

/* The number's place, or the one to give up for it. */
static struct place *
place_of(const struct shard *shard, uint64_t number)
{
    struct place *ways = shard->buckets[hash_of(number) / SHARDS % shard->bucket_count].ways;
    struct place *oldest = &ways[0];
    for (int i = 0; i < WAYS; i++) {
        if (ways[i].number == number) {
            return &ways[i];
        }
        oldest = ways[i].position < oldest->position ? &ways[i] : oldest;
    }
    return oldest;
}

static void
grow(const struct term_cache *cache, struct shard *shard)
{
    struct bucket *old = shard->buckets;
    const size_t old_count = shard->bucket_count, grown = old_count * BUCKETS_GROWTH;
    shard->bucket_count = grown < cache->bucket_maximum ? grown : cache->bucket_maximum;
    shard->buckets = memory_zero(shard->bucket_count, sizeof(*shard->buckets));
    shard->kept = 0;
    for (size_t i = 0; i < old_count * WAYS; i++) {
        const struct place *kept = &old[i / WAYS].ways[i % WAYS];
        if (kept->number != 0) {
            struct place *place = place_of(shard, kept->number);
            shard->kept += place->number == 0;
            *place = *kept;
        }
    }
    free(old);
}

/* entry may lie in the ring. */
static void
write_entry(const struct term_cache *cache, struct shard *shard, struct place *place,
            uint64_t number, struct slice entry)
{
    const size_t left = cache->ring_size - shard->written % cache->ring_size;
    shard->written += entry.length > left ? left : 0;
    memmove(shard->ring + shard->written % cache->ring_size, entry.at, entry.length);
    *place = (struct place){.number = number, .position = shard->written};
    shard->written += entry.length;
}

enum status
term_cache_find(struct term_cache *cache, uint64_t number, enum oid_kind kind, struct arena *arena,
                struct term *term, struct reason *why)
{
    struct shard *shard = shard_of(cache, number);
    enum status status = STATUS_NOT_FOUND;
    pthread_mutex_lock(&shard->mutex);
    struct place *place = place_of(shard, number);
    const uint64_t age = shard->written - place->position;
    if (place->number == number && age <= cache->ring_size) {
        const size_t at = place->position % cache->ring_size;
        struct slice entry = slice_of(shard->ring + at, cache->ring_size - at);
        status = node_block_entry_copy(&entry, number, kind, arena, term, why);
        if (status == STATUS_OK && age > cache->ring_size / 2) {
            write_entry(cache, shard, place, number, entry);
        }
    }
    pthread_mutex_unlock(&shard->mutex);
    return status;
}

bool
term_cache_put(struct term_cache *cache, uint64_t number, struct slice entry)
{
    if (entry.length > cache->ring_size / ENTRY_SHARE) {
        return false;
    }
    struct shard *shard = shard_of(cache, number);
    pthread_mutex_lock(&shard->mutex);
    struct place *place = place_of(shard, number);
    shard->kept += place->number == 0;
    write_entry(cache, shard, place, number, entry);
    if (shard->kept > shard->bucket_count * WAYS / 2 &&
        shard->bucket_count < cache->bucket_maximum) {
        grow(cache, shard);
    }
    pthread_mutex_unlock(&shard->mutex);
    return true;
}
