/* One gzip member whose bytes are all there (RFC 1952). Thread-safe. */
#ifndef WARC_GZIP_H
#define WARC_GZIP_H

#include <stddef.h>

#include "base/slice.h"
#include "base/status.h"

/* Returns the length of the member's content by its last four bytes (ISIZE); 0 when that cannot be.
 */
size_t gzip_length(struct slice member);
/* Writes the content to room. CORRUPT unless the bytes are one whole member of exactly this length.
 * The reason may be NULL. */
enum status gzip_inflate(struct slice member, char *room, size_t length, struct reason *why);

#endif
