/* Numbers about very many things in a table of fixed size: what is asked for seldom is forgotten
 * for what comes. Rows go to the store a few at a time beside other commits, so that a start knows
 * them again; they are estimates, and the latest may be lost.
 */
#ifndef QUEUE_FRONTIER_ESTIMATE_TABLE_H
#define QUEUE_FRONTIER_ESTIMATE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "queue/storage/store_batch.h"

/* 16 bytes. Of the four places where a thing may be, the one with the smallest weight is taken. */
struct estimate {
    uint64_t fingerprint; /* of the thing; 0: free */
    uint32_t weight, value;
};

struct estimates;

enum { ESTIMATES_ROW = 64 /* in a row of the store */ };

/* count: a power of two, at least ESTIMATES_ROW. letter: in the rows' keys. */
struct estimates *estimates_new(uint32_t count, uint8_t letter);
void estimates_free(struct estimates *estimates);

/* NULL: nothing is known. Lives until the next estimates_change. */
const struct estimate *estimates_find(const struct estimates *estimates, uint64_t fingerprint);
/* Returns the entry, to be changed in place; its weight and value are 0 when it is new. */
struct estimate *estimates_change(struct estimates *estimates, uint64_t fingerprint);

/* Adds up to `most` rows that have changed to the batch; they count as written. */
void estimates_write(struct estimates *estimates, struct store_batch *batch, uint32_t most);
/* A row of the store. False: it is not one of this table. */
bool estimates_read(struct estimates *estimates, struct slice key, struct slice value);

#endif
