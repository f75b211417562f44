#include "index/read/answer_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digest.h"
#include "base/map.h"
#include "base/memory.h"

enum { ENTRY_SHARE = 64 /* an entry larger than this part of the memory is not kept */ };

struct entry {
    char *bytes; /* the request, the answer, and its needs: of commits, then of words */
    size_t request_length, answer_length, commits_length, words_length;
    struct partition_version version;
};

struct answer_cache {
    size_t memory, used;
    struct answer_marks marks;
    struct map places; /* of requests, by their hash: base/map.h */
    struct entry *entries;
    size_t count, capacity;
};

struct answer_cache *
answer_cache_new(size_t memory, const struct answer_marks *marks)
{
    struct answer_cache *cache = memory_new(sizeof *cache);
    cache->memory = memory;
    cache->marks = *marks;
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
static struct entry *
entry_of(struct answer_cache *cache, struct slice request, uint64_t *hash)
{
    for (*hash = digest_local(request);; ++*hash) {
        const uint32_t place = map_get(&cache->places, *hash);
        if (place == (uint32_t)MAP_NONE) {
            return NULL;
        }
        struct entry *entry = &cache->entries[place];
        if (slice_equal(slice_of(entry->bytes, entry->request_length), request)) {
            return entry;
        }
    }
}

static size_t
length_of(const struct entry *entry)
{
    return entry->request_length + entry->answer_length + entry->commits_length +
           entry->words_length;
}

static bool
is_good(const struct answer_cache *cache, const struct entry *entry)
{
    const char *commits = entry->bytes + entry->request_length + entry->answer_length;
    return !change_marks_passed(cache->marks.commits, slice_of(commits, entry->commits_length),
                                entry->version.commits) &&
           !change_marks_passed(cache->marks.words,
                                slice_of(commits + entry->commits_length, entry->words_length),
                                entry->version.words);
}

bool
answer_cache_find(struct answer_cache *cache, struct slice request, struct slice *answer)
{
    uint64_t hash;
    struct entry *entry = entry_of(cache, request, &hash);
    if (entry == NULL || !is_good(cache, entry)) {
        return false;
    }
    *answer = slice_of(entry->bytes + entry->request_length, entry->answer_length);
    return true;
}

/* A place for the request: of its old answer, or a new one. */
static struct entry *
make_entry(struct answer_cache *cache, struct slice request, size_t size)
{
    uint64_t hash;
    struct entry *entry = entry_of(cache, request, &hash);
    if (entry != NULL) {
        cache->used -= length_of(entry) + sizeof *entry;
        free(entry->bytes);
        *entry = (struct entry){0};
    }
    if (cache->used + size > cache->memory) {
        forget(cache);
        entry = NULL;
        (void)entry_of(cache, request, &hash);
    }
    if (entry != NULL) {
        return entry;
    }
    cache->entries =
        array_grow(cache->entries, cache->count, &cache->capacity, sizeof *cache->entries);
    map_set(&cache->places, hash, (uint32_t)cache->count);
    return &cache->entries[cache->count++];
}

void
answer_cache_put(struct answer_cache *cache, const struct partition_version *version,
                 struct slice request, struct slice answer, const struct partition_needs *needs)
{
    const struct slice parts[] = {request, answer, buf_slice(&needs->commits),
                                  buf_slice(&needs->words)};
    struct entry entry = {.request_length = request.length,
                          .answer_length = answer.length,
                          .commits_length = needs->commits.length,
                          .words_length = needs->words.length,
                          .version = *version};
    const size_t size = length_of(&entry) + sizeof entry;
    if (size > cache->memory / ENTRY_SHARE || needs->commits.overflowed ||
        needs->words.overflowed) {
        return;
    }
    struct entry *place = make_entry(cache, request, size);
    entry.bytes = memory_alloc(length_of(&entry) + 1);
    char *at = entry.bytes;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].length > 0) {
            memcpy(at, parts[i].at, parts[i].length);
        }
        at += parts[i].length;
    }
    *place = entry;
    cache->used += size;
}
