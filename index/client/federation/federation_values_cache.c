/* What values all partitions have together, kept until one of these commits. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/client/federation/federation_values.h"

enum { KEPT = 64, KEPT_BYTES = 32 << 20 };

struct value_cache {
    struct kept_values kept[KEPT];
    uint64_t uses;
    size_t bytes;
};

static void
forget(struct value_cache *cache, struct kept_values *kept)
{
    cache->bytes -= kept->bytes;
    free(kept->question);
    free(kept->versions);
    free(kept->list);
    *kept = (struct kept_values){.used = 0};
}

void
value_cache_free(struct value_cache *cache)
{
    for (size_t i = 0; cache != NULL && i < KEPT; i++) {
        forget(cache, &cache->kept[i]);
    }
    free(cache);
}

static struct kept_values *
find(struct value_cache *cache, struct slice question)
{
    for (size_t i = 0; i < KEPT; i++) {
        struct kept_values *kept = &cache->kept[i];
        if (kept->used > 0 && kept->length == question.length &&
            memcmp(kept->question, question.at, question.length) == 0) {
            return kept;
        }
    }
    return NULL;
}

const struct kept_values *
value_cache_find(struct index_client *client, struct slice question)
{
    struct value_cache *cache = client->values;
    struct kept_values *kept = cache ? find(cache, question) : NULL;
    if (kept) {
        kept->used = ++cache->uses;
    }
    return kept;
}

/* The entry that was used least lately. filled: of those that hold something. */
static struct kept_values *
oldest(struct value_cache *cache, bool filled)
{
    struct kept_values *found = NULL;
    for (size_t i = 0; i < KEPT; i++) {
        struct kept_values *kept = &cache->kept[i];
        if ((!filled || kept->used > 0) && (!found || kept->used < found->used)) {
            found = kept;
        }
    }
    return found;
}

void
value_cache_keep(struct index_client *client, struct slice question, const uint64_t *versions,
                 const struct value_count *list, size_t count, bool too_many)
{
    if (client->values == NULL) {
        client->values = memory_new(sizeof(*client->values));
    }
    struct value_cache *cache = client->values;
    const size_t of_versions = 2 * client->count * sizeof(*versions);
    const size_t bytes = question.length + of_versions + count * sizeof(*list);
    struct kept_values *kept = find(cache, question);
    if (kept) {
        forget(cache, kept);
    }
    if (bytes > KEPT_BYTES / 2) {
        return;
    }
    kept = kept ? kept : oldest(cache, false);
    forget(cache, kept);
    while (cache->bytes + bytes > KEPT_BYTES) {
        forget(cache, oldest(cache, true));
    }
    *kept = (struct kept_values){.question = memory_string_n(question.at, question.length),
                                 .length = question.length,
                                 .versions = memory_alloc(of_versions),
                                 .list = memory_alloc(count * sizeof(*list)),
                                 .count = count,
                                 .bytes = bytes,
                                 .too_many = too_many,
                                 .used = ++cache->uses};
    memcpy(kept->versions, versions, of_versions);
    if (count > 0) {
        memcpy(kept->list, list, count * sizeof(*list));
    }
    cache->bytes += bytes;
}
