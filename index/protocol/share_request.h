/* The request of the stream SHARE as bytes: PROTOCOL.md. */
#ifndef INDEX_PROTOCOL_SHARE_REQUEST_H
#define INDEX_PROTOCOL_SHARE_REQUEST_H

#include "base/codec.h"
#include "index/quad_source.h"

/* Appends the part of the request that says what is asked for, which follows the session and its
 * flags. keys: for a request with a key, the list of nodes that others have too. */
void share_request_put(struct buf *out, const struct share_request *request, struct slice keys,
                       uint64_t timeout_ms);
/* False: malformed. Slices point into the reader's bytes. */
bool share_request_get(struct codec_reader *in, struct share_request *request, struct slice *keys,
                       uint64_t *timeout_ms);

#endif
