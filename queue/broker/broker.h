/* The queue's mind, without sockets: takes requests, applies them round by round, answers.
 *
 * broker_submit() checks a request and keeps it (malformed ones are answered at once);
 * broker_work() does a round: one transaction for everything submitted, then the answers, then
 * jobs to those who wait for some. PROTOCOL.md is the contract. One thread.
 */
#ifndef QUEUE_BROKER_BROKER_H
#define QUEUE_BROKER_BROKER_H

#include "queue/client/counters.h"
#include "queue/cluster/cluster.h"
#include "queue/politeness/host_troubles.h"
#include "queue/politeness/pace.h"
#include "queue/storage/frontier_engine.h"

struct broker_options {
    const char *directory; /* the data directory, for the texts of reproducers */
    struct store_options store;
    const struct cluster *cluster;
    uint32_t index_partitions;
    uint64_t lease_ms, grace_ms;
    uint32_t attempts;
    uint64_t high_water, min_free;
    uint32_t burst; /* most jobs of a lane out at a time; 0: 1 */
    uint32_t group_parallel;
    uint64_t group_delay_ms;
    size_t seen_cache_bytes;
    uint64_t domain_budget, domain_period_ms; /* queue/frontier/priority.h */
    size_t upcoming_bytes;                    /* of the next jobs of lanes */
    uint32_t outbox_linger_ms;     /* how long what others have taken waits for another commit */
    struct trouble_rules troubles; /* when hosts are set aside; failures 0: never */
    struct pace_rules pace;        /* how long hosts rest */
    /* Puts what another node changed of the scope into this one's files. A failure refuses the
     * TRANSFER that brought it, which comes again. NULL: there are no other nodes. */
    enum status (*take_scope)(void *context, struct slice change, struct reason *why);
    void *take_scope_context;
    uint64_t (*clock)(void); /* wall time in milliseconds, for simulations; NULL: clock_wall_ms */
};

struct broker_request {
    uint8_t verb;
    uint64_t id, incarnation;
    struct slice client, payload; /* live until the token is given back */
    void *token;
};

/* Gives a token back with its answer; once for each submitted request. CANCELLED: no answer is
 * to be sent. payload and why live until it returns. */
typedef void broker_answer(void *context, void *token, enum status status, struct slice payload,
                           const struct reason *why);

struct broker;

enum status broker_open(struct broker **broker, const struct broker_options *options,
                        broker_answer *answer, void *context, struct reason *why);
/* Drops what is submitted, closes the store with a checkpoint. */
void broker_close(struct broker *broker);

/* The daemon's incarnation, as its answers bear it; before the first request. */
void broker_serve_as(struct broker *broker, uint64_t incarnation);
/* The version of the scope as it stands in the data directory, 0 for none. With the next round's
 * commit it is in force: that round's jobs are handed out under it. change: what other nodes are
 * told of it (config/scope_change.h), whole lines. */
void broker_set_scope(struct broker *broker, uint64_t version, struct slice change);
/* The version in force. */
uint64_t broker_scope(const struct broker *broker);
/* Returns whether this round takes another request; if not, call broker_work first. */
bool broker_has_room(const struct broker *broker);
void broker_submit(struct broker *broker, const struct broker_request *request);
/* Anything but OK: the store needs a new start, the process must end. */
enum status broker_work(struct broker *broker, struct reason *why);
/* Returns how long until broker_work has something to do by itself. */
uint64_t broker_wait_ms(const struct broker *broker);

/* ---- to other nodes ---- */

/* Payload of the next TRANSFER to the node; false: nothing to send, or one is under way. */
bool broker_outgoing(struct broker *broker, size_t node, struct buf *payload);
/* Takes the end of the TRANSFER: the last sequence that the node has committed, or a failure. */
void broker_delivered(struct broker *broker, size_t node, enum status status, uint64_t last);

/* Takes note of what is known of a node's link: since when it does not answer (wall time; 0: it
 * does), and why it takes nothing although it answers (empty: it does). What waits for a node that
 * is down holds nothing back while there is room on the disk. */
void broker_tell_node(struct broker *broker, size_t node, uint64_t down_since_ms,
                      struct slice trouble);

/* An update of this node's own metadata store that a request brings. */
struct broker_metadata {
    struct slice key, fields;
};
/* Those of a TRANSFER or FORGET, which must be in the store before it is submitted. The list is to
 * be freed; its slices live as long as the payload and *bytes, which is initialised. */
size_t broker_metadata_of(struct broker *broker, uint8_t verb, struct slice payload,
                          struct broker_metadata **list, struct buf *bytes);

const struct counters *broker_counters(const struct broker *broker);
const struct frontier *broker_frontier(const struct broker *broker);

#endif
