/* The nodes of a crawl and who owns what: DIR/cluster.conf. Same file on every node.
 *
 *   # a comment has its own line
 *   node alpha weight=2 host=10.0.0.1 queue=tcp://10.0.0.1:7001 metastore=tcp://10.0.0.1:7002 \
 *        (one line) web=http://10.0.0.1:7080 stages=fetch,detect,transform
 *   curve public=Z85 secret_file=curve.secret
 *
 * weight (1 .. 1000, default 1) is the node's share; stages (default: all) what it serves;
 * index=tcp://host:port the first of its index services. `curve` gives one key pair to the whole
 * cluster (RFC 26/CurveZMQ); the secret is in a file of mode 0600, relative to DIR. Without
 * cluster.conf there is one node, "local", which serves everything.
 *
 * An address at://PATH:OFFSET (base/rpc/rpc.h) stands in a file, PATH relative to DIR, because the
 * node moves: so it is with the shares of a cluster (docs/CLUSTER.md), whose ROOT/cluster.conf also
 * has the line `client`: DIR is none of the nodes and only asks them. The line `helper MACHINE`
 * says that DIR is not the node either, and its processes only work for it: they reach it as others
 * do.
 *
 * Work is spread by PARTITIONS virtual partitions: of the host for fetch, of the URI for all
 * else; but the queue leaves jobs of detect and transform where the document's archive is, if that
 * node serves the stage (cluster_worker). Partitions go to the nodes that serve the stage by
 * weighted rendezvous hashing (Thaler and Ravishankar 1998): a new node takes only its share.
 * Read-only after opening, thread-safe.
 */
#ifndef QUEUE_CLUSTER_CLUSTER_H
#define QUEUE_CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options/opt.h"
#include "base/rpc/rpc.h"
#include "base/slice.h"
#include "queue/client/job.h"

enum { CLUSTER_NODES_MAXIMUM = 256 };
#define CLUSTER_CLIENT SIZE_MAX

struct cluster;
/* A file in DIR/queue: the queue is an older state than what other nodes had from it. It has a new
 * origin when it is opened, and the file is gone. */
#define QUEUE_RESTORED "restored"

struct cluster_node {
    const char *name;
    const char *host, *queue, *metastore, *index, *web; /* NULL: not given */
    unsigned weight;
    unsigned stages; /* bit 1 << stage */
};

/* Reads DIR/cluster.conf. Who we are is the option cluster.node, or the only node there is.
 * MISUSE names file and line. */
enum status cluster_open(struct cluster **cluster, const char *directory,
                         const struct opt_set *options, struct reason *why);
/* Reads a cluster from text; self may be NULL as above. directory is where secret_file is looked
 * for. */
enum status cluster_parse(struct cluster **cluster, struct slice text, const char *self,
                          const char *directory, struct reason *why);
void cluster_close(struct cluster *cluster);

size_t cluster_node_count(const struct cluster *cluster);
const struct cluster_node *cluster_node(const struct cluster *cluster, size_t node);
/* CLUSTER_CLIENT: we are none of them. */
size_t cluster_self(const struct cluster *cluster);
bool cluster_is_client(const struct cluster *cluster);
/* The machine whose processes work for the node that we are, without being on it; NULL: it is ours.
 */
const char *cluster_helper(const struct cluster *cluster);
/* False: no such node. */
bool cluster_find(const struct cluster *cluster, struct slice name, size_t *node);
/* Returns whether this node serves the stage. */
bool cluster_serves(const struct cluster *cluster, enum stage stage);
/* The node that owns the URI's work in the stage. */
size_t cluster_owner(const struct cluster *cluster, enum stage stage, struct slice uri);
/* The node that works on a job which is put here: detect and transform stay where the content is,
 * if this node serves them; its archive has it, and reading it over a link costs more than the
 * work. All else goes to its owner. */
size_t cluster_worker(const struct cluster *cluster, enum stage stage, struct slice uri);
/* Returns the node that owns a virtual partition. */
size_t cluster_owner_of(const struct cluster *cluster, enum stage stage, unsigned partition);
/* The virtual partition of a key of the metadata store ("u" + URI, "s" + URI, "h" + origin). What
 * is known of a host or was seen on it belongs to who fetches from it, what is known of a document
 * to who works on it. */
unsigned cluster_key_partition(struct slice key);
/* The node that keeps the key. */
size_t cluster_key_owner(const struct cluster *cluster, struct slice key);
/* NULL: links are not encrypted. */
const struct rpc_keys *cluster_keys(const struct cluster *cluster);

/* The arguments of metastore_client_open. local: how this node's own metadata store is reached. The
 * endpoints are copies; count of them stand in the array. */
struct cluster_services {
    const char **endpoints;
    size_t count;
    const uint16_t *owner_of_partition; /* NULL: all 0 */
    uint16_t *own_table; /* freed with the rest; NULL: owner_of_partition is not ours */
    const struct rpc_keys *keys;
};
enum status cluster_metastore_services(const struct cluster *cluster, const char *local,
                                       struct cluster_services *services, struct reason *why);
void cluster_services_release(struct cluster_services *services);

#endif
