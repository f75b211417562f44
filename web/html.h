/* The frame of our pages; base/html_text.h makes text safe inside them. */
#ifndef WEB_HTML_H
#define WEB_HTML_H

#include "base/html_text.h"
#include "web/http/server.h"

/* The style sheet has these classes: hit (one of a list), where (small and grey), bad, good, note
 * (aside, coloured), tag (a word in a frame), card and cards (boxes side by side), facets, pager,
 * pairs (a list of names and values), row (a form in a line), plain (a button of less weight),
 * number (a cell), figures (a table of numbers), statements and triples (tables of three columns
 * that become lines on a phone), wide (around what may be wider than a phone).
 *
 * title: text. words: what stands in the search field. */
void html_begin(struct buf *out, const char *title, struct slice words);
/* Without the field for words above, since the page itself has one. */
void html_begin_front(struct buf *out, const char *title);
/* Loaded anew every so often where there are no scripts to do better. */
void html_begin_live(struct buf *out, const char *title, unsigned seconds);
/* Without the navigation, for a page in a frame. */
void html_begin_bare(struct buf *out, const char *title);
void html_end(struct buf *out);
/* Loads a script of web/assets/ once the page is there. */
void html_script(struct buf *out, const char *name);
/* Replies with a page that says what failed. */
void html_problem(struct web_reply *reply, const char *title);

#endif
