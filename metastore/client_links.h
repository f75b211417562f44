/* What the sources of the client share: metastore_client.c (links, puts, records kept),
 * metastore_get.c (gets that call back), metastore_scan.c (calls that wait). Its users see
 * metastore_client.h alone.
 */
#ifndef METASTORE_CLIENT_LINKS_H
#define METASTORE_CLIENT_LINKS_H

#include "metastore/metastore_client.h"

/* Of a message to an endpoint: about so many bytes and entries, and the most bytes of a request. */
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
