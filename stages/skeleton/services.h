/* Tells where the daemons of a crawl are reached: this node's by ipc, other nodes' as cluster.conf
 * says. A client of a cluster has none of its own. All results are freed by
 * cluster_services_release. */
#ifndef STAGES_SKELETON_SERVICES_H
#define STAGES_SKELETON_SERVICES_H

#include "base/options/opt.h"
#include "queue/cluster/cluster.h"

/* One endpoint per node, with the owner of each partition. */
enum status services_metastores(const struct cluster *cluster, const char *directory,
                                struct cluster_services *services, struct reason *why);
/* Finds which of these is the one of the node that we are, or work for. */
size_t services_own_metastore(const struct cluster *cluster);
/* One endpoint per node that has a queue. */
enum status services_queues(const struct cluster *cluster, const char *directory,
                            struct cluster_services *services, struct reason *why);
/* The query services of this node's index partitions, in order. */
enum status services_own_indexes(const char *directory, const struct opt_set *options,
                                 struct cluster_services *services, struct reason *why);
/* Those of all nodes that serve index: this node's first. A node's partition k answers at the
 * port of its index= endpoint plus k; every node has the same index.partitions. */
enum status services_all_indexes(const struct cluster *cluster, const char *directory,
                                 const struct opt_set *options, struct cluster_services *services,
                                 struct reason *why);

#endif
