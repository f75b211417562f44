/* Requests and replies, as any peer may send them. */
#include <stdlib.h>

#include "base/rpc/rpc_socket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct slice bytes = slice_of((const char *)data, size);
    struct rpc_request_header request;
    struct rpc_reply_header reply;
    struct slice payload;
    if (rpc_request_decode(bytes, &request, &payload) &&
        (request.client.length > RPC_NAME_MAXIMUM ||
         request.client.length + payload.length >= size ||
         payload.at + payload.length != bytes.at + size)) {
        abort();
    }
    if (rpc_reply_decode(bytes, &reply, &payload) &&
        ((unsigned)reply.status >= STATUS_COUNT || payload.length >= size)) {
        abort();
    }
    return 0;
}
