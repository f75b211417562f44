/* The queue's store as the broker calls it, whose calls fail or answer as the test says, and which
 * notes what is written: for tests whose test_x_PARTS names told_frontier.o and whose test_x_WRAPS
 * names its functions. */
#ifndef TESTS_UNIT_QUEUE_TOLD_FRONTIER_H
#define TESTS_UNIT_QUEUE_TOLD_FRONTIER_H

#include "queue/storage/frontier_engine.h"

struct told_frontier {
    int calls;          /* gets, scans, applies and ticks until one fails; below 0: none does */
    enum status status; /* of that one */
    enum status apply, tick, room; /* of every one; OK: as it is */
    bool scans_fail, broken;
    struct slice missing;   /* key that no get finds; empty: none */
    uint64_t free, wait_ms; /* what room and tick tell; 0: as it is */
    size_t written;         /* operations */
    char wrote[2000];       /* trees of the latest batch, + for puts and - for removals */
};
extern struct told_frontier told_frontier;
void told_frontier_reset(void);

__typeof__(frontier_apply) __real_frontier_apply;

#endif
