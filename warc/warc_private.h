/* Shared by reader, decoder and scanner; not for others. */
#ifndef WARC_WARC_PRIVATE_H
#define WARC_WARC_PRIVATE_H

#include "warc/warc.h"

enum { WARC_DEFAULT_LIMIT = 256 << 20, WARC_DEFAULT_RATIO = 1000 };

/* The limits with defaults filled in. */
struct warc_limits warc_limits_of(const struct warc_limits *limits);

/* memory holds one record from its "WARC/" on; fills *record and decodes the body behind it. */
enum status warc_record_parse(struct buf *memory, const struct warc_limits *limits,
                              struct warc_record *record, struct reason *why);

/* Returns the length of the content of a gzip member by its last four bytes (RFC 1952, ISIZE); 0
 * when that cannot be. */
size_t gzip_length(struct slice member);
/* CORRUPT unless the bytes are one whole member of exactly this content. The reason may be NULL. */
enum status gzip_inflate(struct slice member, char *room, size_t length, struct reason *why);

/* Finds the end of a header block that begins at text: after the first empty line; 0: none. */
size_t warc_header_length(struct slice text);

#endif
