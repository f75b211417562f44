/* A page of results of a lookup, in every syntax: HTML, JSON in three shapes, Atom, plain text (one
 * document a line), and RDF in the vocabulary http://sindice.com/vocab/search#. */
#ifndef WEB_API_ANSWER_H
#define WEB_API_ANSWER_H

#include "web/api/find.h"

enum answer_shape {
    ANSWER_PLAIN,     /* our own members */
    ANSWER_SINDICE_2, /* title: array of strings */
    ANSWER_SINDICE_3  /* title: array of objects with value */
};

struct answer {
    const struct web_request *request;
    struct slice question; /* for people */
    enum answer_shape shape;
    const struct find_results *results;
    struct slice filters;  /* fq=, each ended by a newline */
    size_t page, per_page; /* page from 1 on */
};

/* Chooses by format= or Accept; -1 with the reply filled in. */
int answer_format(const struct web_request *request, struct web_reply *reply);
void answer_write(const struct answer *answer, int format, struct web_reply *reply);
/* Returns whether a format shows facets (a page does) and the sizes and times of documents. */
bool answer_shows_facets(int format);
bool answer_shows_documents(int format);

/* ---- what the writers share ---- */

size_t answer_first(const struct answer *answer);
size_t answer_end(const struct answer *answer);
/* Appends the address of the same request with another page, and with a filter more or one less
 * (empty: none). */
struct answer_change {
    size_t page;
    struct slice with, without;
};
void answer_address(const struct answer *answer, const struct answer_change *change,
                    struct buf *out);
struct slice answer_title(const struct find_entry *entry);
/* "class" of class:. */
const char *answer_filter_name(enum find_filter_kind kind);
void answer_write_page(const struct answer *answer, struct web_reply *reply);

#endif
