/* Queries answered over HTTP, and the types that their results have. */
#ifndef WEB_SPARQL_ANSWER_H
#define WEB_SPARQL_ANSWER_H

#include "web/web_service.h"

enum { WEB_RESULT_TYPES = 8 };
/* Media types in order of preference; `formats` may be given by ?format= as well. */
struct web_result_types {
    const char *types[WEB_RESULT_TYPES], *formats[WEB_RESULT_TYPES];
    size_t count;
    int usual; /* of the form, which says nothing of the query's form: format= */
};
extern const struct web_result_types web_graph_types;

/* The place in types, by ?format= or Accept; -1 with the reply filled in. */
int web_choose_type(const struct web_request *request, const struct web_result_types *types,
                    struct web_reply *reply);
/* Takes the text. */
void web_answer_query(struct web_service *service, const struct web_request *request, char *text,
                      const struct web_result_types *types, int chosen, struct web_reply *reply);

#endif
