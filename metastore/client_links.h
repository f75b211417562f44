/* The routed client as its sources see it: metastore_client.c has the links, puts and what is kept,
 * metastore_get.c the gets that call back, metastore_scan.c the calls that wait. Its users see
 * metastore_client.h alone.
 */
#ifndef METASTORE_CLIENT_LINKS_H
#define METASTORE_CLIENT_LINKS_H

#include "metastore/metastore_client.h"

/* A message to an endpoint has about so many bytes and entries, and a request never more bytes. */
enum { PART_BYTES = 4 << 20, PART_ENTRIES = 16384, REQUEST_MAXIMUM = 32 << 20 };

struct get_part;

/* Gets of one endpoint. */
struct gets {
    struct metastore_client *client;
    size_t endpoint;
    struct get_part *waiting, *under_way; /* first of a list; under way: one message */
    uint32_t silence_ms;                  /* 0: it is waited for as long as it takes */
    bool away;                            /* a question without keys waits for its sign of life */
};

struct metastore_client {
    struct rpc_client **rpcs;
    struct gets *gets; /* by endpoint */
    size_t count;
    uint16_t *owners; /* NULL: all partitions at rpcs[0] */
    bool closing;
};

/* The endpoint that owns a key. */
size_t metastore_owner(const struct metastore_client *client, struct slice key);
/* Ends the gets that wait for an endpoint, which is away. */
void metastore_end_gets(struct gets *gets);

#endif
