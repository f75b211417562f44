/* Records that processes without an archive of their own have kept in this node's: verb KEEP of the
 * metadata daemon, FORMAT.md, "Messages". One thread per object. */
#ifndef METASTORE_ARCHIVE_KEEP_H
#define METASTORE_ARCHIVE_KEEP_H

#include "base/rpc/rpc.h"
#include "warc/warc.h"

struct archive_keep;
/* folder: DIR/warc; it and the texts of options must live as long. Nothing is opened before the
 * first record comes. */
struct archive_keep *archive_keep_new(const char *folder,
                                      const struct warc_writer_options *options);
void archive_keep_free(struct archive_keep *keep); /* NULL is allowed */

struct archive_kept {
    enum status status;
    struct reason why;
    struct warc_location location; /* OK: where the record is, durably */
};
/* Archives the records of n payloads and syncs once. Each ends by itself: PROTOCOL: malformed;
 * FULL, SYSTEM: it is not there, or nothing will refer to it. A record whose id is among the latest
 * 1,024 is where it was put before. */
void archive_keep_all(struct archive_keep *keep, const struct slice *payloads, size_t n,
                      struct archive_kept *kept);

#endif
