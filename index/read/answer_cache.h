/* Answers to lookups: the same words and resources are asked for again and again. Each is given
 * until something changes that it rests on. All are forgotten at once when the memory is full,
 * since most of what is asked for often is soon there again. For one thread. */
#ifndef INDEX_READ_ANSWER_CACHE_H
#define INDEX_READ_ANSWER_CACHE_H

#include "base/buf.h"
#include "index/write/partition.h"

struct answer_marks {
    const struct change_marks *commits, *words;
};
struct answer_cache;
struct answer_cache *answer_cache_new(size_t memory, const struct answer_marks *marks);
void answer_cache_free(struct answer_cache *cache);
/* The answer to a request that one made now would be, too; lives until the next put. */
bool answer_cache_find(struct answer_cache *cache, struct slice request, struct slice *answer);
/* version: read before the answer was begun. What is large, or rests on too much, is not kept. */
void answer_cache_put(struct answer_cache *cache, const struct partition_version *version,
                      struct slice request, struct slice answer,
                      const struct partition_needs *needs);

#endif
