/* The headers of requests and replies, as any peer may send them. */
#include <stdlib.h>

#include "base/rpc_socket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct slice bytes = slice_of((const char *)data, size);
    struct rpc_request_header request;
    struct rpc_reply_header reply;
    if (rpc_request_header_decode(bytes, &request) &&
        (request.client.length > RPC_NAME_MAXIMUM || request.client.length >= size)) {
        abort();
    }
    if (rpc_reply_header_decode(bytes, &reply) && (unsigned)reply.status >= STATUS_COUNT) {
        abort();
    }
    return 0;
}
