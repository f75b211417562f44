/* The stream SHARE: rows of a part of a query (query/share.h). PROTOCOL.md has the bytes. */
#ifndef INDEX_ANSWER_SHARE_H
#define INDEX_ANSWER_SHARE_H

#include "base/codec.h"
#include "index/cursor.h"
#include "index/query/query.h"
#include "index/source.h"

/* What is asked for, in front of the session and its flags; NULL slices are left alone. */
void share_request_put(struct buf *out, const struct share_request *request, uint64_t timeout_ms);
/* False: malformed. Slices point into the reader's bytes. */
bool share_request_get(struct codec_reader *in, struct share_request *request,
                       uint64_t *timeout_ms);

/* options: limits; the dataset and the time are the request's. */
enum status answer_share(const struct quad_source *source, const struct share_request *request,
                         const struct query_options *options, struct cursor *cursor,
                         struct reason *why);

#endif
