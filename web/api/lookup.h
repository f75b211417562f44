/* Declarations that the handlers which look something up share. */
#ifndef WEB_API_LOOKUP_H
#define WEB_API_LOOKUP_H

#include "web/api/answer.h"

/* Runs what is wanted and answers with the page that the request asks for (page=, per_page=). */
void lookup_answer(struct web_service *service, const struct web_request *request,
                   struct find_request *wanted, struct slice question, enum answer_shape shape,
                   struct web_reply *reply);
/* Reads property= and object=. False: the reply says what is wrong. */
bool lookup_by_property(const struct web_request *request, struct find_request *wanted,
                        struct buf *memory, struct web_reply *reply);

#endif
