/* Documents that are compressed as files ("data.ttl.gz", "sitemap.xml.gz"): HTTP's
 * Content-Encoding says nothing of it, and the detected type is that of what is inside.
 *
 * Decompression is warc_decode's, which keeps what could be decoded of damaged bytes.
 */
#ifndef TRANSFORMS_COMMON_UNPACK_H
#define TRANSFORMS_COMMON_UNPACK_H

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

/* "gzip" or "zstd" by the first bytes; NULL: not packed. */
const char *unpack_coding(struct slice bytes);
/* Finds the coding as above, but returns NULL when the packed file is itself what `type` says
 * (application/gzip). */
const char *unpack_coding_inside(struct slice bytes, struct slice type);

/* The first bytes of what is inside, as many as out (reset here) may hold. False: nothing comes
 * out. *damaged: the packed bytes at hand are damaged or end too soon. */
bool unpack_head(const char *coding, struct slice bytes, struct buf *out, bool *damaged);

/* All of it into out (reset here). CORRUPT: damaged or cut off, what could be unpacked is in
 * out. LIMIT: more than out's maximum, or than a thousand times what was packed. */
enum status unpack(const char *coding, struct slice bytes, struct buf *out, struct reason *why);

#endif
