/* Publishes what batches change on a ZeroMQ XPUB socket, in a thread of its own, while somebody is
 * subscribed. docs/CHANGE_FEED.md, "Publish and subscribe". */
#ifndef INDEX_SERVE_PUBLISHER_H
#define INDEX_SERVE_PUBLISHER_H

#include "base/rpc/rpc.h"
#include "index/write/partition.h"

struct publisher;
enum status publisher_start(struct publisher **publisher, struct partition *partition,
                            unsigned number, const char *const *endpoints,
                            const struct rpc_keys *keys, struct reason *why);
/* There may be new batches. NULL does nothing. */
void publisher_wake(struct publisher *publisher);
void publisher_stop(struct publisher *publisher);

#endif
