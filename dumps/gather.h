/* Records of a spool brought together by their hashes, part by part, in bounded memory. A record
 * begins with its u64 hash. A part that does not fit is spread over a spool of its own by the next
 * byte of its hash. */
#ifndef DUMPS_GATHER_H
#define DUMPS_GATHER_H

#include "dumps/spool.h"

enum { GATHER_SLACK = 64 };

struct gathered {
    uint64_t hash;
    struct slice record; /* with the hash; GATHER_SLACK bytes behind it may be read */
};

struct gather {
    struct spool_room *room;
    struct buf bytes;
    size_t most; /* of them */
    struct gathered *records, *sorted;
    uint32_t *ends; /* of buckets */
    size_t count, capacity;
};

void gather_init(struct gather *gather, struct spool_room *room, uint64_t memory);
void gather_release(struct gather *gather);

/* A function that is called with the records of one hash. ahead: how many others lie behind them,
 * which will be next; to look at them early spares waiting for memory. cut: there may be more of
 * this hash. */
typedef enum status gather_group(void *context, const struct gathered *records, size_t count,
                                 size_t ahead, bool cut, struct reason *why);
/* All groups of a part, which is forgotten. */
enum status gather_part(struct gather *gather, struct spool *spool, unsigned part,
                        gather_group *group, void *context, struct reason *why);

#endif
