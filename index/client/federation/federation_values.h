/* Values by their digests over all partitions: how they are found (federation_values.c), and what
 * of them is kept for the next time (federation_values_cache.c). */
#ifndef INDEX_CLIENT_FEDERATION_FEDERATION_VALUES_H
#define INDEX_CLIENT_FEDERATION_FEDERATION_VALUES_H

#include "index/client/federation/federation_counts.h"

/* Digests mean the same in every federation, so a list is good as long as all partitions have the
 * versions that it is of. */
struct kept_values {
    char *question; /* the pattern, the place, whether only different values were asked */
    size_t length;
    uint64_t *versions; /* two of each partition */
    struct value_count *list;
    size_t count, bytes;
    bool too_many; /* nothing is kept but that it is scanned each time */
    uint64_t used;
};

/* Returns what is kept of the question, of whatever versions, or NULL. Until the next keeping. */
const struct kept_values *value_cache_find(struct index_client *client, struct slice question);
/* Keeps a copy, unless it is too long. */
void value_cache_keep(struct index_client *client, struct slice question, const uint64_t *versions,
                      const struct value_count *list, size_t count, bool too_many);

#endif
