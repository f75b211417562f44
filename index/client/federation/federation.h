/* Several partitions as one quad_source. Identifiers are numbers in a dictionary of terms that
 * lives as long as the source, one query; inline ones are the partitions' own. A term that no
 * partition has gets an identifier all the same and simply matches nothing.
 *
 * A scan asks all partitions at once, or the one that has the graph when the graph is bound;
 * joins hand in many patterns at a time (scan_many), one request for each partition. All scans of
 * one federation see one version of each partition, from the first scan on.
 *
 * What happens when a partition fails is the client's manner (client_calls.h). One thread. */
#ifndef INDEX_CLIENT_FEDERATION_FEDERATION_H
#define INDEX_CLIENT_FEDERATION_FEDERATION_H

#include "index/quad_source.h"

struct federation;
struct index_client;
struct node_keys;
struct repeated_cache;
struct value_cache;

/* memory: bytes of the dictionary; past it scans are LIMIT. */
struct federation *federation_new(struct index_client *client, size_t memory);
void federation_free(struct federation *federation);
const struct quad_source *federation_source(struct federation *federation);

/* Caches that a client keeps from one federation to the next; NULL is allowed. */
void repeated_cache_free(struct repeated_cache *cache);
void value_cache_free(struct value_cache *cache);
void node_keys_free(struct node_keys *keys);

#endif
