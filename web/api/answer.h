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
    size_t page, per_page; /* page from 1 on */
};

/* By format= or Accept; -1 with the reply filled in. */
int answer_format(const struct web_request *request, struct web_reply *reply);
void answer_write(const struct answer *answer, int format, struct web_reply *reply);

#endif
