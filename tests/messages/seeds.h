/* Messages as they are meant, one of each kind, for each daemon. */
#ifndef TESTS_MESSAGES_SEEDS_H
#define TESTS_MESSAGES_SEEDS_H

#include "base/buf.h"

struct seed {
    uint8_t verb; /* of HTTP none */
    struct buf payload;
};

enum { SEEDS_MOST = 64 };

/* queue, metastore, index or http; *stats is the verb that a healthy daemon answers OK. The number
 * of seeds; 0: there is no such daemon. */
size_t seeds_of(const char *daemon, struct seed seeds[SEEDS_MOST], uint8_t *stats);

#endif
