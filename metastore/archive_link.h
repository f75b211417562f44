/* Bytes of a node's WARC files for other nodes, over the links that have the cluster's keys: verb
 * ARCHIVE of the metadata daemon, which every node runs. FORMAT.md, "Messages". */
#ifndef METASTORE_ARCHIVE_LINK_H
#define METASTORE_ARCHIVE_LINK_H

#include "base/rpc/rpc.h"

/* ---- the daemon's side ---- */

/* payload: of the request. reply (buf_init'ed; reset here) gets exactly what is asked for.
 * PROTOCOL: malformed, or more than ARCHIVE_PIECE; NOT_FOUND: there is no such file; CORRUPT: it is
 * shorter. */
enum status archive_answer(const char *folder, struct slice payload, struct buf *reply,
                           struct reason *why);

/* ---- the other node's ---- */

struct archive_link;
/* endpoint: the metadata daemon of the node whose archive it is. */
enum status archive_link_open(struct archive_link **link, const char *endpoint,
                              const struct rpc_keys *keys, struct reason *why);
void archive_link_close(struct archive_link *link); /* NULL is allowed */
struct archive_range {
    struct slice file; /* name in the node's DIR/warc */
    uint64_t offset, length;
};
/* *member (buf_init'ed; reset here) gets exactly the range's bytes. NOT_FOUND: no such file there;
 * UNAVAILABLE: the node does not answer; CORRUPT: the file has no such range; LIMIT: more than
 * the buffer's maximum. */
enum status archive_link_read(struct archive_link *link, const struct archive_range *range,
                              struct buf *member, struct reason *why);
/* Reads n ranges, ARCHIVE_PIECE bytes together at most, by one message: *bytes (buf_init'ed; reset
 * here) gets them one after the other. A failure of one is that of all. */
enum status archive_link_read_ranges(struct archive_link *link, const struct archive_range *ranges,
                                     size_t n, struct buf *bytes, struct reason *why);

#endif
