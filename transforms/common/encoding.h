/* Character encodings of documents. Source: https://encoding.spec.whatwg.org/ (labels) and
 * https://html.spec.whatwg.org/#determining-the-character-encoding (order of evidence).
 *
 * Conversion is by iconv, whose modules are loaded by encoding_open, before any sandbox.
 */
#ifndef TRANSFORMS_COMMON_ENCODING_H
#define TRANSFORMS_COMMON_ENCODING_H

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

enum encoding_source {
    ENCODING_BY_BOM,
    ENCODING_BY_HTTP,
    ENCODING_BY_META,
    ENCODING_BY_CONTENT, /* valid UTF-8 that is not ASCII */
    ENCODING_BY_DEFAULT
};

/* The encoding's name as the standard writes it in lower case; NULL for unknown labels. */
const char *encoding_of_label(struct slice label);
/* "utf-8", "utf-16le", "utf-16be" or NULL. *length: bytes of the mark. */
const char *encoding_of_mark(struct slice bytes, size_t *length);
/* "utf-16le" or "utf-16be" of text without a mark whose every other byte is zero, or NULL. */
const char *encoding_of_zeros(struct slice bytes);
/* For HTML. http: the charset parameter of Content-Type, empty for none. source may be NULL. */
const char *encoding_of_html(struct slice bytes, struct slice http, enum encoding_source *source);
/* For XML: mark, zero bytes of UTF-16, charset parameter (RFC 7303), declaration; else UTF-8,
 * or windows-1252 when the bytes are not that. */
const char *encoding_of_xml(struct slice bytes, struct slice http);
/* Returns the encoding that a meta element names, by the standard's prescan of the first 1024
 * bytes, or one that comes later within 64 KiB; NULL when there is none. */
const char *encoding_prescan(struct slice bytes);
bool encoding_is_utf8(struct slice bytes); /* valid UTF-8, ASCII included */
/* Appends the bytes, bad sequences as U+FFFD. */
void encoding_repair(struct slice bytes, struct buf *out);

struct encodings; /* loaded converters; one thread */
struct encodings *encodings_open(void);
void encodings_close(struct encodings *encodings);
/* *text: valid UTF-8 without byte order mark; points into bytes when these are that already,
 * else into out (reset first). Bad sequences become U+FFFD. LIMIT past out's maximum. */
enum status encoding_convert(struct encodings *encodings, const char *name, struct slice bytes,
                             struct buf *out, struct slice *text, struct reason *why);

#endif
