/* Shared by the parts of the WHATWG parser; not for others. */
#ifndef BASE_URL_INTERNAL_H
#define BASE_URL_INTERNAL_H

#include "base/url.h"

/* Percent-encode sets of the URL standard, section 1.3, as bits of one table. */
enum encode_set {
    ENCODE_CONTROL = 1,
    ENCODE_FRAGMENT = 2,
    ENCODE_QUERY = 4,
    ENCODE_SPECIAL_QUERY = 8,
    ENCODE_PATH = 16,
    ENCODE_USERINFO = 32
};

bool url_must_encode(unsigned char c, enum encode_set set);
/* Appends bytes, percent-encoding the set; what is no UTF-8 becomes U+FFFD first. */
void url_append_encoded(struct buf *out, struct slice bytes, enum encode_set set);
void url_append_percent(struct buf *out, unsigned char c);
int url_hex_digit(char c); /* -1 when none */

/* The host parser; appends the serialised host. BAD_INPUT on failure. */
enum status url_host_parse(struct slice text, bool special, struct buf *out, struct reason *why);

#endif
