/* Answers to lookups, as of one commit: the same words and resources are asked for again and again.
 * Forgotten all at once, when there is another commit and when the memory is full, since most of
 * what is asked for often is soon there again. For one thread. */
#ifndef INDEX_READ_ANSWER_CACHE_H
#define INDEX_READ_ANSWER_CACHE_H

#include "base/buf.h"
#include "index/write/partition.h"

struct answer_cache;
struct answer_cache *answer_cache_new(size_t memory);
void answer_cache_free(struct answer_cache *cache);
/* The answer to a request that was kept as of the version; lives until the next put or find. */
bool answer_cache_find(struct answer_cache *cache, const struct partition_version *version,
                       struct slice request, struct slice *answer);
/* version: read before the answer was begun. What is large is not kept. */
void answer_cache_put(struct answer_cache *cache, const struct partition_version *version,
                      struct slice request, struct slice answer);

#endif
