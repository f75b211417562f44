/* Between DIR/scope.* and the broker: which version stands there, and on a node of several, what
 * changed since other nodes were told (docs/SCOPE.md). One thread. */
#ifndef QUEUE_DAEMON_DAEMON_SCOPE_H
#define QUEUE_DAEMON_DAEMON_SCOPE_H

#include <sys/stat.h>

#include "base/options/opt.h"
#include "queue/broker/broker.h"

struct daemon_scope {
    const char *directory;
    const struct opt_set *configured;
    bool alone;       /* the only node */
    struct stat seen; /* of scope.version, as read last */
    uint64_t telling; /* the version whose change the broker is to tell; 0: none */
    struct buf rules; /* scope.conf as of then */
};

/* configured: see scope_change_take. */
void daemon_scope_open(struct daemon_scope *scope, const struct broker_options *options,
                       const struct opt_set *configured);
void daemon_scope_close(struct daemon_scope *scope);
/* Between taking requests and applying them: who changes the scope and then puts a URI has that URI
 * fetched under the new one. */
void daemon_scope_look(struct daemon_scope *scope, struct broker *broker);
/* After applying them: notes what other nodes will be told now. */
void daemon_scope_settle(struct daemon_scope *scope, const struct broker *broker);
/* Another node's change: broker_scope_take of queue/broker/broker.h. */
enum status daemon_scope_take(void *scope, struct slice change, struct reason *why);

#endif
