/* Several nodes: whose jobs these are, and jobs that go to others and come from them.
 *
 *   node_set.c        which nodes there are; the number of this queue
 *   node_transfer.c   the outbox: jobs for other nodes
 *   node_receive.c    jobs that come from other outboxes
 *   node_forget.c     nodes that are gone for good */
#ifndef QUEUE_BROKER_NODES_H
#define QUEUE_BROKER_NODES_H

#include "queue/broker/requests.h"

enum { NODE_NAME_SIZE = 65 };

/* ---- node_set.c ---- */

/* node_set.c changes it. */
struct queue_identity {
    uint64_t origin; /* what other nodes know this queue by */
    bool stored;     /* with the nodes of the crawl */
};

/* Reads the number of this queue, or makes it. A queue that was restored by itself gets a new one:
 * others know sequences of the old one that it gives anew to other jobs, and would pass over these.
 */
enum status broker_identity_open(struct broker *broker, struct reason *why);
/* MISUSE when cluster.conf names a node that was not there when the first job came. */
enum status broker_node_set_open(struct broker *broker, struct reason *why);
/* Writes the number and the nodes, unless they are stored. */
void broker_identity_write(struct broker *broker);
/* The round was committed. */
void broker_identity_settle(struct broker *broker);

/* ---- node_transfer.c ---- */

enum { OUTBOX_KEY_SIZE = 16 };

struct peer {
    uint64_t fingerprint;  /* of the node's name */
    uint64_t next;         /* sequence of the next job for it */
    uint64_t first;        /* sequence of the first that it has not yet committed */
    uint64_t flight_last;  /* last one under way; 0: nothing is */
    uint64_t delivered;    /* last one committed there and not yet deleted here; 0: none */
    uint64_t delivered_ms; /* monotonic; since when */
    uint64_t retry_ms;     /* monotonic */
    uint32_t flight_stages[STAGE_COUNT];
    uint64_t waiting[STAGE_COUNT]; /* in the outbox; fetch: metadata, too */
    uint64_t down_since_ms;        /* wall; 0: it answers */
    bool changed;                  /* the row has to be stored */
};

/* node_transfer.c changes it. All by node. */
struct outbox {
    struct peer *peers, *committed;
    struct reason *troubles; /* empty: none */
};

enum status broker_outbox_open(struct broker *broker, struct reason *why);
void outbox_release(struct outbox *outbox);
void broker_to_node(struct broker *broker, const struct incoming *incoming);
/* Returns how many jobs of the stage wait for nodes that do not answer. */
uint64_t broker_outbox_standing(const struct broker *broker, uint8_t stage);
/* Returns whether cluster.conf names another node whose name has this fingerprint. */
bool broker_has_peer(const struct broker *broker, uint64_t fingerprint);
/* Deletes what other nodes have committed, if there is a commit anyway or it has waited for one for
 * long enough; writes the sequences that changed. The last of a round. */
void broker_outbox_write(struct broker *broker);
/* When that has waited for long enough (monotonic; UINT64_MAX: nothing waits). */
uint64_t broker_outbox_due_ms(const struct broker *broker);
void broker_outbox_settle(struct broker *broker, bool committed);
/* Tells of the node, as it was committed. */
void broker_view_peer(struct broker *broker, size_t node);
/* Reads what is stored of another node: name may be NULL, else it gets NODE_NAME_SIZE bytes at
 * most. */
enum status broker_peer_row(struct broker *broker, uint64_t fingerprint, uint64_t *next, char *name,
                            uint64_t *waiting, struct reason *why);
/* Stores what that reads. waiting: jobs of each stage. */
void broker_store_peer(struct broker *broker, uint64_t fingerprint, uint64_t next, const char *name,
                       const uint64_t *waiting);
struct slice broker_outbox_key(uint8_t bytes[OUTBOX_KEY_SIZE], uint64_t node, uint64_t sequence);

/* ---- node_receive.c ---- */

struct origin {
    uint64_t origin, last, epoch;
    uint64_t gap;    /* jobs that it had sent and are not here; 0: none, or never heard of */
    bool accept_gap; /* a person has said so */
    char name[NODE_NAME_SIZE]; /* of the node, while there is a gap */
};

/* node_receive.c changes it. */
struct origins {
    struct origin *all; /* those heard of, as stored */
    size_t count;
};

/* Reads what is stored of the outboxes of other nodes. */
enum status broker_origins_load(struct broker *broker, struct reason *why);
/* Returns the last sequence that has come from the outbox; 0: none. */
uint64_t broker_origin_last(const struct broker *broker, uint64_t origin);
/* Finds a node of which this one has lost what it had taken; accept: from now on what it sends is
 * taken although what came before it is missing. */
bool broker_find_loss(struct broker *broker, struct slice name, bool accept);
enum status broker_receive(struct broker *broker, struct pending *pending, struct reason *why);

/* ---- node_forget.c ---- */

/* A node that the outbox has something for and that cluster.conf does not name, or that is this one
 * now. */
struct stranger {
    uint64_t fingerprint;
    uint64_t next; /* sequence of the next job for it, should it be named again */
    uint64_t waiting[STAGE_COUNT];
    uint64_t leaving[STAGE_COUNT]; /* in this round */
    bool forgetting;               /* in this round */
    char name[NODE_NAME_SIZE];
};

/* node_forget.c changes it. */
struct strangers {
    struct stranger *all;
    size_t count;
};

enum status broker_strangers_open(struct broker *broker, struct reason *why);
/* Returns how many jobs of the stage wait for nodes that are named and answer. */
uint64_t broker_outbox_moving(const struct broker *broker, uint8_t stage);
void broker_strangers_settle(struct broker *broker, bool committed);
enum status broker_read_forget(struct broker *broker, struct pending *pending,
                               struct codec_reader *reader, struct reason *why);
enum status broker_forget(struct broker *broker, struct pending *pending, struct reason *why);
/* Puts the answer to NODES into broker->reply. */
enum status broker_view_nodes(struct broker *broker, struct slice payload, struct reason *why);

#endif
