/* The HTML standard's tokenizer (https://html.spec.whatwg.org/#tokenization) over a document
 * in memory. Every input is read; errors are mended as the standard says. */
#ifndef TRANSFORMS_HTML_TOKEN_H
#define TRANSFORMS_HTML_TOKEN_H

#include "transforms/html/html.h"

enum html_token_kind {
    HTML_TOKEN_END_OF_INPUT,
    HTML_TOKEN_TEXT,
    HTML_TOKEN_START,
    HTML_TOKEN_END,
    HTML_TOKEN_DOCTYPE
};

struct html_token {
    enum html_token_kind kind;
    enum html_element element;
    struct slice name; /* of tags, as written */
    struct slice text; /* DOCTYPE: what stands after that word */
    uint32_t offset;
    uint32_t attribute, attribute_count; /* START: appended to the tree's attributes */
    bool self_closing;
    bool cut_off; /* DOCTYPE: the input ends in it */
};

struct html_tokenizer {
    struct html_tree *tree; /* takes attributes; its arena takes decoded text */
    const char *start, *at, *end;
    bool cdata;       /* set by the caller: CDATA sections are allowed here (SVG, MathML) */
    bool shows_nuls;  /* set by the caller: NULs of text are shown, as SVG and MathML want it */
    bool odd;         /* the input has carriage returns or NULs, which text must not keep */
    bool titles_over; /* no more end tag of a title follows: not to be searched again */
    bool full;        /* the arena was full: text is missing */
};

void html_tokenizer_init(struct html_tokenizer *tokenizer, struct html_tree *tree,
                         struct slice input);
void html_token_next(struct html_tokenizer *tokenizer, struct html_token *token);
/* After the start tag of pre, listing, textarea: a line end there is not text. */
void html_token_skip_newline(struct html_tokenizer *tokenizer);
/* After the start tag of a raw text element: its text up to its end tag, which is consumed.
 * name: as in the start tag. PLAINTEXT: all that is left. True: there was an end tag. */
bool html_token_raw(struct html_tokenizer *tokenizer, const struct html_token *start,
                    struct slice *text);

#endif
