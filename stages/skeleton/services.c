#include "stages/skeleton/services.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/memory.h"
#include "config/config.h"

enum { ENDPOINT_MAXIMUM = 4096 };

static char *
own_endpoint(const char *directory, const char *service)
{
    struct buf endpoint;
    buf_init(&endpoint, ENDPOINT_MAXIMUM);
    config_endpoint(directory, service, &endpoint);
    char *copy = memory_string(endpoint.data);
    buf_release(&endpoint);
    return copy;
}

static void
append(struct cluster_services *services, char *endpoint)
{
    services->endpoints =
        memory_resize(services->endpoints, services->count + 1, sizeof *services->endpoints);
    services->endpoints[services->count++] = endpoint;
}

enum status
services_metastores(const struct cluster *cluster, const char *directory,
                    struct cluster_services *services, struct reason *why)
{
    const bool elsewhere = cluster_is_client(cluster) || cluster_helper(cluster) != NULL;
    char *own = elsewhere ? NULL : own_endpoint(directory, "metastore");
    const enum status status = cluster_metastore_services(cluster, own, services, why);
    free(own);
    return status;
}

size_t
services_own_metastore(const struct cluster *cluster)
{
    size_t number = 0;
    for (size_t i = 0; i < cluster_self(cluster); i++) {
        number += cluster_node(cluster, i)->metastore != NULL;
    }
    return number;
}

enum status
services_queues(const struct cluster *cluster, const char *directory,
                struct cluster_services *services, struct reason *why)
{
    *services = (struct cluster_services){.keys = cluster_keys(cluster)};
    for (size_t i = 0; i < cluster_node_count(cluster); i++) {
        const struct cluster_node *node = cluster_node(cluster, i);
        if (i == cluster_self(cluster)) {
            append(services, own_endpoint(directory, "queue"));
        } else if (node->queue != NULL) {
            append(services, memory_string(node->queue));
        } else {
            cluster_services_release(services);
            return status_fail(why, STATUS_MISUSE,
                               "cluster.conf: node %s has no queue=", node->name);
        }
    }
    return STATUS_OK;
}

enum status
services_own_indexes(const char *directory, const struct opt_set *options,
                     struct cluster_services *services, struct reason *why)
{
    (void)why;
    *services = (struct cluster_services){0};
    const int64_t partitions = opt_integer(options, "index.partitions");
    for (int64_t k = 0; k < partitions; k++) {
        char service[32];
        snprintf(service, sizeof service, "index-%d", (int)k);
        append(services, own_endpoint(directory, service));
    }
    return STATUS_OK;
}

/* "tcp://host:port" with k added to the port. */
static enum status
remote_index(const struct cluster_node *node, int64_t k, char **endpoint, struct reason *why)
{
    const char *colon = node->index == NULL ? NULL : strrchr(node->index, ':');
    if (colon == NULL || atoi(colon + 1) <= 0) {
        return status_fail(why, STATUS_MISUSE,
                           "cluster.conf: node %s serves index and has no index=tcp://host:port",
                           node->name);
    }
    struct buf text;
    buf_init(&text, ENDPOINT_MAXIMUM);
    buf_printf(&text, "%.*s:%d", (int)(colon - node->index), node->index, atoi(colon + 1) + (int)k);
    *endpoint = memory_string(text.data);
    buf_release(&text);
    return STATUS_OK;
}

/* Finds which service has the documents of a virtual partition. first: each node's, SIZE_MAX:
 * none. */
static void
index_owners(const struct cluster *cluster, const size_t *first, int64_t partitions,
             struct cluster_services *services)
{
    services->own_table = memory_zero(PARTITIONS, sizeof *services->own_table);
    services->owner_of_partition = services->own_table;
    for (unsigned i = 0; i < PARTITIONS; i++) {
        const size_t node = first[cluster_owner_of(cluster, STAGE_INDEX, i)];
        services->own_table[i] =
            (uint16_t)((node == SIZE_MAX ? 0 : node) + i * (size_t)partitions / PARTITIONS);
    }
}

enum status
services_all_indexes(const struct cluster *cluster, const char *directory,
                     const struct opt_set *options, struct cluster_services *services,
                     struct reason *why)
{
    const int64_t partitions = opt_integer(options, "index.partitions");
    size_t first[CLUSTER_NODES_MAXIMUM];
    *services = (struct cluster_services){0};
    memset(first, 0xff, sizeof first);
    if (cluster_serves(cluster, STAGE_INDEX)) {
        first[cluster_self(cluster)] = 0;
        TRY(services_own_indexes(directory, options, services, why));
    }
    services->keys = cluster_keys(cluster);
    for (size_t i = 0; i < cluster_node_count(cluster); i++) {
        const struct cluster_node *node = cluster_node(cluster, i);
        if (i == cluster_self(cluster) || !(node->stages & (1u << STAGE_INDEX))) {
            continue;
        }
        first[i] = services->count;
        for (int64_t k = 0; k < partitions; k++) {
            char *endpoint = NULL;
            const enum status status = remote_index(node, k, &endpoint, why);
            if (status != STATUS_OK) {
                cluster_services_release(services);
                return status;
            }
            append(services, endpoint);
        }
    }
    index_owners(cluster, first, partitions, services);
    return STATUS_OK;
}
