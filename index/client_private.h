/* Shared by client.c and federation.c: streams from one partition's service. */
#ifndef INDEX_CLIENT_PRIVATE_H
#define INDEX_CLIENT_PRIVATE_H

#include "index/client.h"
#include "index/service_protocol.h"

struct index_client {
    struct rpc_client **partitions;
    size_t count;
    uint32_t timeout_ms;
};

struct index_stream_reader {
    struct rpc_client *rpc;
    uint32_t timeout_ms;
    struct buf reply;
    uint64_t cursor, offset, pieces;
    bool opened, ended;
};

/* request: kind of stream and its arguments. Waits for the first answer. */
enum status stream_open(struct index_stream_reader *stream, struct index_client *client,
                        size_t partition, struct slice request, struct reason *why);
/* The next bytes, living until the next call; END. */
enum status stream_next(struct index_stream_reader *stream, struct slice *bytes,
                        struct reason *why);
/* Tells the service when the stream has not ended. */
void stream_close(struct index_stream_reader *stream);

/* All bytes of one partition's stream to piece. */
enum status stream_pass_on(struct index_client *client, size_t partition, struct slice request,
                           index_piece *piece, void *context, struct reason *why);

#endif
