/* The cluster.conf of a share, for its processes wherever their directory lies. */
#ifndef CLI_CLUSTER_DISKS_SHARE_NODES_H
#define CLI_CLUSTER_DISKS_SHARE_NODES_H

#include <stddef.h>

#include "base/buf.h"
#include "base/status.h"

#define SHARE_NODES_PREFIX "../../" /* in ROOT/shares/N/cluster.conf: it leads to ROOT */

/* Appends it for a directory elsewhere, from which `prefix` ("../" or an absolute path, with a
 * slash at its end) leads to ROOT. */
enum status share_nodes_read(const char *root, size_t share, const char *prefix, struct buf *out,
                             struct reason *why);

#endif
