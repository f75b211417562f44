#include "index/read/answer_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/map.h"
#include "base/memory.h"

enum { ENTRY_SHARE = 64 /* an entry larger than this part of the memory is not kept */ };

struct entry {
    char *bytes; /* the request, then the answer */
    size_t request_length, length;
};

struct answer_cache {
    size_t memory, used;
    struct partition_version version; /* of all entries */
    struct map places;                /* of requests, by their hash: base/map.h */
    struct entry *entries;
    size_t count, capacity;
};

struct answer_cache *
answer_cache_new(size_t memory)
{
    struct answer_cache *cache = memory_zero(1, sizeof *cache);
    cache->memory = memory;
    map_init(&cache->places);
    return cache;
}

static void
forget(struct answer_cache *cache)
{
    for (size_t i = 0; i < cache->count; i++) {
        free(cache->entries[i].bytes);
    }
    cache->count = cache->used = 0;
    map_clear(&cache->places);
}

void
answer_cache_free(struct answer_cache *cache)
{
    if (cache != NULL) {
        forget(cache);
        map_release(&cache->places);
        free(cache->entries);
        free(cache);
    }
}

/* The request's entry, or NULL; *hash: under which it stands, or is to stand. */
static const struct entry *
entry_of(const struct answer_cache *cache, struct slice request, uint64_t *hash)
{
    for (*hash = digest_local(request);; ++*hash) {
        const uint32_t place = map_get(&cache->places, *hash);
        if (place == (uint32_t)MAP_NONE) {
            return NULL;
        }
        const struct entry *entry = &cache->entries[place];
        if (slice_equal(slice_of(entry->bytes, entry->request_length), request)) {
            return entry;
        }
    }
}

static bool
is_version(const struct answer_cache *cache, const struct partition_version *version)
{
    return cache->version.commits == version->commits && cache->version.words == version->words;
}

bool
answer_cache_find(struct answer_cache *cache, const struct partition_version *version,
                  struct slice request, struct slice *answer)
{
    uint64_t hash;
    const struct entry *entry = is_version(cache, version) ? entry_of(cache, request, &hash) : NULL;
    if (entry != NULL) {
        *answer =
            slice_of(entry->bytes + entry->request_length, entry->length - entry->request_length);
    }
    return entry != NULL;
}

void
answer_cache_put(struct answer_cache *cache, const struct partition_version *version,
                 struct slice request, struct slice answer)
{
    const struct entry entry = {.request_length = request.length,
                                .length = request.length + answer.length};
    const size_t size = entry.length + sizeof entry;
    uint64_t hash;
    if (size > cache->memory / ENTRY_SHARE) {
        return;
    }
    if (!is_version(cache, version) || cache->used + size > cache->memory) {
        forget(cache);
        cache->version = *version;
    }
    if (entry_of(cache, request, &hash) != NULL) {
        return;
    }
    if (cache->count == cache->capacity) {
        cache->capacity = cache->capacity ? 2 * cache->capacity : 64;
        cache->entries = memory_resize(cache->entries, cache->capacity, sizeof *cache->entries);
    }
    cache->entries[cache->count] = entry;
    cache->entries[cache->count].bytes = memory_alloc(entry.length + 1);
    memcpy(cache->entries[cache->count].bytes, request.at, request.length);
    memcpy(cache->entries[cache->count].bytes + request.length, answer.at, answer.length);
    map_set(&cache->places, hash, (uint32_t)cache->count++);
    cache->used += size;
}
