/* Replies packed with gzip (RFC 9110, section 8.4.1.3) for who takes it. */
#ifndef WEB_HTTP_COMPRESS_H
#define WEB_HTTP_COMPRESS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

/* Chooses by an Accept-Encoding header; NULL: there is none. */
bool web_gzip_is_wanted(const char *accept_encoding);

struct web_gzip;
struct web_gzip *web_gzip_open(void); /* NULL: not possible */
void web_gzip_close(struct web_gzip *gzip);
/* Appends what can be unpacked to all of the bytes so far. end: nothing follows. False: past the
 * buffer's maximum. */
bool web_gzip_pack(struct web_gzip *gzip, struct slice bytes, bool end, struct buf *out);

#endif
