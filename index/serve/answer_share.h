/* The stream SHARE: rows of a part of a query (query/share.h). PROTOCOL.md has the bytes. */
#ifndef INDEX_SERVE_ANSWER_SHARE_H
#define INDEX_SERVE_ANSWER_SHARE_H

#include "index/quad_source.h"
#include "index/query/query.h"
#include "index/serve/cursor.h"

/* options: limits; the dataset and the time are the request's. */
enum status answer_share(const struct quad_source *source, const struct share_request *request,
                         const struct query_options *options, struct cursor *cursor,
                         struct reason *why);

#endif
