/* Updates of this node's metadata store that other nodes' jobs bring: they are in the store before
 * the queue commits what came with them. Requests wait here meanwhile, and for each other, so that
 * those of many nodes are one message to the store and one round of the queue. */
#ifndef QUEUE_DAEMON_METADATA_INTAKE_H
#define QUEUE_DAEMON_METADATA_INTAKE_H

#include "base/rpc/rpc.h"
#include "queue/broker/broker.h"

struct metadata_intake;
/* The store has what the request brings, or the request is refused. */
typedef void metadata_taken(void *context, struct rpc_request *request, enum status status,
                            const struct reason *why);

/* endpoint: of the node's own store; NULL: it has none, and such requests are refused. */
struct metadata_intake *metadata_intake_new(const char *endpoint, metadata_taken *taken,
                                            void *context);
/* Drops what waits. */
void metadata_intake_free(struct metadata_intake *intake);
/* Has the request wait until metadata_taken gets it back, which may be at once. A repetition takes
 * the place of what it repeats. */
void metadata_intake_hold(struct metadata_intake *intake, struct broker *broker,
                          struct rpc_request *request);
/* Returns whether a request with the verb waits. */
bool metadata_intake_holds(const struct metadata_intake *intake, uint8_t verb);
void metadata_intake_process(struct metadata_intake *intake, struct broker *broker);
/* Returns a descriptor for poll; -1: there is nothing to wait for. */
int metadata_intake_descriptor(const struct metadata_intake *intake);
int metadata_intake_wait_ms(const struct metadata_intake *intake);

#endif
