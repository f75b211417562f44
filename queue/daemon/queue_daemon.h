/* The loop of quadrille-queue: sockets and signals around the broker. */
#ifndef QUEUE_DAEMON_QUEUE_DAEMON_H
#define QUEUE_DAEMON_QUEUE_DAEMON_H

#include "queue/broker/broker.h"

struct queue_daemon_options {
    struct broker_options broker;
    const struct opt_set *configured; /* what scope.conf overrides; NULL: nothing */
    const char *const *endpoints;     /* NULL-terminated */
    const char *metastore; /* the node's own, which other nodes' jobs bring updates for */
    int ready_descriptor;  /* gets a newline and is closed when requests are taken; -1 */
};

/* Returns OK after SIGTERM or SIGINT, with everything closed. */
enum status queue_daemon_run(const struct queue_daemon_options *options, struct reason *why);

#endif
