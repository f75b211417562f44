/* The loop of quadrille-metastore: one thread, one store, one socket. */
#ifndef METASTORE_METASTORE_DAEMON_H
#define METASTORE_METASTORE_DAEMON_H

#include "base/rpc/rpc.h"
#include "metastore/store.h"
#include "warc/warc.h"

struct meta_daemon_options {
    struct meta_store_options store;
    const char *const *endpoints; /* NULL-terminated */
    const struct rpc_keys *keys;
    const char *archive;             /* folder of this node's WARC files */
    struct warc_writer_options keep; /* of those that KEEP adds to */
    int ready_descriptor;            /* a newline is written when requests are taken; -1: none */
};

/* Runs until SIGTERM or SIGINT (OK) or until the store is broken. */
enum status meta_daemon_run(const struct meta_daemon_options *options, struct reason *why);

#endif
