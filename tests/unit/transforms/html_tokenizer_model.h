/* A second tokenizer of HTML, the state machine of the standard, byte by byte, and how tokens are
 * printed to be compared; for html_tokens.c. */
#ifndef TESTS_UNIT_TRANSFORMS_HTML_TOKENIZER_MODEL_H
#define TESTS_UNIT_TRANSFORMS_HTML_TOKENIZER_MODEL_H

#include "base/buf.h"
#include "transforms/html/token.h"

/* "T12'text'": a text from byte 12 of the page on; "T12*'text'": it had to be decoded. */
void print_text(struct buf *out, size_t offset, bool decoded, struct slice text);
void print_name(struct buf *out, enum html_token_kind kind, size_t offset, struct slice name,
                bool self_closing);
/* lowered: the name was. */
void print_attribute(struct buf *out, bool lowered, struct slice name, bool decoded,
                     struct slice value);
bool is_raw_text(enum html_element element);

/* Appends the tokens of the page to out. cdata: sections of CDATA are allowed. */
void model_tokens(struct slice page, bool cdata, struct buf *out);

#endif
