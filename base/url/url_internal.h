/* Shared by the parts of the WHATWG parser; not for others. */
#ifndef BASE_URL_URL_INTERNAL_H
#define BASE_URL_URL_INTERNAL_H

#include "base/url/url.h"

/* Percent-encode sets of the URL standard, section 1.3, as bits of one table. */
enum encode_set {
    ENCODE_CONTROL = 1,
    ENCODE_FRAGMENT = 2,
    ENCODE_QUERY = 4,
    ENCODE_SPECIAL_QUERY = 8,
    ENCODE_PATH = 16,
    ENCODE_USERINFO = 32
};

/* Appends bytes, percent-encoding the set; what is no UTF-8 becomes U+FFFD first. */
void url_append_encoded(struct buf *out, struct slice bytes, enum encode_set set);
void url_append_percent(struct buf *out, unsigned char c);
void url_append_port(struct buf *out, int32_t port); /* ":8080" */

/* Questions that the parser asks of its input, without any state. */
bool url_ends_host(char c);                  /* "/", "\\", "?", "#" */
size_t url_scheme_length(struct slice text); /* 0: no scheme at the front */
bool url_is_drive_letter(struct slice text, bool normalised);
bool url_starts_with_drive_letter(struct slice text);
int url_dot_count(struct slice segment);      /* 1 or 2 for dot segments, else 0 */
size_t url_find_port(struct slice authority); /* its colon, or the length */
struct slice url_trim(struct slice input);
struct slice url_without_newlines(struct slice input, struct buf *copy_of);

/* The host parser; appends the serialised host. BAD_INPUT on failure. */
enum status url_host_parse(struct slice text, bool special, struct buf *out, struct reason *why);

#endif
