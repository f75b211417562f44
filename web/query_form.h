/* Tells which of the four forms a SPARQL query has, found without parsing it: the result formats to
 * choose from depend on it. */
#ifndef WEB_QUERY_FORM_H
#define WEB_QUERY_FORM_H

#include "base/slice.h"

enum web_query_form {
    WEB_FORM_TABLE,  /* SELECT, ASK */
    WEB_FORM_GRAPH,  /* CONSTRUCT, DESCRIBE */
    WEB_FORM_UPDATE, /* INSERT, DELETE, LOAD, ...: not a query */
    WEB_FORM_UNKNOWN
};

/* Skips comments, BASE and PREFIX declarations (SPARQL 1.1 section 19.8, Prologue). */
enum web_query_form web_query_form_of(struct slice query);

#endif
