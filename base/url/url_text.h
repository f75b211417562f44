/* The pieces of text that the parser of URLs works on. Without state; thread-safe; slices that are
 * returned point into their argument unless something else is said. */
#ifndef BASE_URL_URL_TEXT_H
#define BASE_URL_URL_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

/* Returns whether the character ends a host: "/", "\\", "?" or "#". */
bool url_ends_host(char c);
/* Returns the length of the scheme at the front, 0 when there is none. */
size_t url_scheme_length(struct slice text);
/* Returns whether the text is "C:", or, unless it must be normalised, "C|". */
bool url_is_drive_letter(struct slice text, bool normalised);
bool url_starts_with_drive_letter(struct slice text);
/* Returns 1 for the segment ".", 2 for "..", each dot also as "%2e", and 0 for a name. */
int url_dot_count(struct slice segment);
/* Returns where the colon before the port stands, outside of brackets; the length: there is none.
 */
size_t url_find_port(struct slice authority);
/* Takes controls and blanks from both ends. */
struct slice url_trim(struct slice input);
/* Takes tabs and newlines out, wherever they stand: into the buffer when there are any. */
struct slice url_without_newlines(struct slice input, struct buf *copy_of);
/* Appends ":8080". */
void url_append_port(struct buf *out, int32_t port);

#endif
