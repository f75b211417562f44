/* Percent-encoding by the URL standard, section 1.3: which characters each part of a URL must have
 * encoded. Without state; thread-safe. */
#ifndef BASE_URL_URL_PERCENT_H
#define BASE_URL_URL_PERCENT_H

#include "base/buf.h"
#include "base/slice.h"

/* The sets of characters that are encoded, as bits of one table. */
enum encode_set {
    ENCODE_CONTROL = 1,
    ENCODE_FRAGMENT = 2,
    ENCODE_QUERY = 4,
    ENCODE_SPECIAL_QUERY = 8,
    ENCODE_PATH = 16,
    ENCODE_USERINFO = 32
};

/* Appends bytes, percent-encoding those of the set; what is no UTF-8 becomes U+FFFD first. */
void url_append_encoded(struct buf *out, struct slice bytes, enum encode_set set);
/* Appends one byte, percent-encoded: "%2F". */
void url_append_percent(struct buf *out, unsigned char c);

#endif
