/* Several partitions as one quad_source. Identifiers are numbers in a dictionary of terms that
 * lives as long as the source: one query. Every scan asks all partitions by terms, so joins
 * between documents of different partitions are right; a term that no partition has gets an
 * identifier all the same and simply matches nothing. One thread. */
#ifndef INDEX_FEDERATION_H
#define INDEX_FEDERATION_H

#include "index/client.h"
#include "index/source.h"

struct federation;

/* memory: bytes of the dictionary; past it scans are LIMIT. */
struct federation *federation_new(struct index_client *client, size_t memory);
void federation_free(struct federation *federation);
const struct quad_source *federation_source(struct federation *federation);

#endif
