/* Tells how far the shares of a cluster are behind: what their queues say of themselves and of each
 * other. */
#ifndef CLI_CLUSTER_SHARE_LAG_H
#define CLI_CLUSTER_SHARE_LAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct share_lag {
    bool answers;
    uint64_t jobs;      /* ready, leased or to be tried again; of all stages */
    uint64_t oldest_ms; /* age of the oldest that is ready */
    uint64_t outbox; /* in the outboxes of the shares that answer: jobs, and updates of metadata */
};
/* Asks the shares that are marked. One that does not answer is no failure. */
enum status share_lag_ask(const char *root, const bool *marked, struct share_lag *lags,
                          size_t shares, struct reason *why);

#endif
