/* The query service of one partition: its own socket, in its own threads, beside the writer.
 *
 * One thread owns the socket. Small questions (links, estimates) are answered by a pool of
 * threads; answers of any length are cursors (cursor.h), each with a thread of which
 * `query_threads` run at a time. Every thread reads a snapshot. */
#ifndef INDEX_SERVE_INDEX_SERVICE_H
#define INDEX_SERVE_INDEX_SERVICE_H

#include "base/options/opt.h"
#include "base/rpc/rpc.h"
#include "index/read/links.h"
#include "metastore/metastore_client.h"

struct service;
struct service_options {
    const char *const *endpoints; /* NULL-terminated */
    const struct rpc_keys *keys;
    unsigned partition_number;
    const char *const *published; /* endpoints of the change stream; NULL: none */
    const struct rpc_keys *publish_keys;
    const char *scratch_folder; /* for sorting and large queries */
    const struct links *links;  /* outlives the service */
    /* Names the metadata store for q:provenance; it outlives the service. NULL: none. */
    const struct metastore_client_options *metastore;
    unsigned query_threads;
    unsigned cursors;          /* answers under way at a time */
    uint64_t query_timeout_ms; /* most that a query may ask for */
    uint64_t query_memory;     /* bytes of one query */
    uint64_t query_disk;       /* bytes of one query's temporary files */
    uint64_t answer_bytes;     /* of one query's answer */
    uint64_t sort_memory;
    uint64_t answer_memory; /* for answers to lookups that are kept */
};
/* Fills the options from index_options; what these do not say is left alone. */
void service_options_from(struct service_options *options, const struct opt_set *set);
void partition_options_from(struct partition_options *options, const char *folder,
                            const struct opt_set *set);

enum status service_start(struct service **service, struct partition *partition,
                          const struct service_options *options, struct reason *why);
/* Changes that clients ask for; the writer is to carry them out (index/write/patch.h). */
struct patch_queue *service_patches(struct service *service);
/* Cancels what is under way. */
void service_stop(struct service *service);

/* index.* and extract.queries */
extern const struct opt index_options[];

#endif
