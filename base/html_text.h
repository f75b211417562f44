/* Foreign text inside of HTML and SVG. */
#ifndef BASE_HTML_TEXT_H
#define BASE_HTML_TEXT_H

#include "base/buf.h"
#include "base/slice.h"

/* &, <, >, ", ' as references; bytes that are no UTF-8 as U+FFFD; control characters left out. */
void html_text(struct buf *out, struct slice text);
/* The beginning of a text in UTF-8: at most so many bytes, and no part of a character. */
struct slice html_text_start(struct slice text, size_t most);
/* A link when the IRI is http or https, else plain text. */
void html_iri(struct buf *out, struct slice iri);

#endif
