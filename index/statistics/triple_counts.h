/* Tells how many different triples have each value of a place, over all graphs together: what COUNT
 * and GROUP BY ask of one pattern, without a row for each triple.
 *
 * Where the graph is the last place of an order, a triple's repetitions stand side by side. With a
 * predicate and no subject the order has the graph before the subject; then the subjects of one
 * object are gathered, and sorted unless they ascend already. No order has a predicate's triples by
 * subject: these are put together from all objects, and worth it where the answer is kept.
 *
 * The cache keeps answers for one version of the index, for any thread; it lends them, so that a
 * list of a million is not copied for each query. */
#ifndef INDEX_STATISTICS_TRIPLE_COUNTS_H
#define INDEX_STATISTICS_TRIPLE_COUNTS_H

#include "index/quad_source.h"

/* Counts by the scans of the source: quad_source.count_triples for a source that keeps no answers.
 */
enum status triple_counts_read(const struct quad_source *source,
                               const struct count_request *request, struct triple_count **counts,
                               size_t *count, struct reason *why);

struct triple_count_cache;
struct triple_count_cache *triple_count_cache_new(size_t bytes); /* of lists, at most */
void triple_count_cache_free(struct triple_count_cache *cache);
/* Gives what the cache has, or else what triple_counts_read finds; versions grow. Release the
 * counts with triple_counts_release; they may outlive the cache. */
enum status triple_counts_cached(struct triple_count_cache *cache, uint64_t version,
                                 const struct quad_source *source,
                                 const struct count_request *request, struct triple_count **counts,
                                 size_t *count, struct reason *why);
void triple_counts_release(struct triple_count *counts); /* NULL is allowed */

#endif
