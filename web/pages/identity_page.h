/* Tells who is the same as a resource. */
#ifndef WEB_PAGES_IDENTITY_PAGE_H
#define WEB_PAGES_IDENTITY_PAGE_H

#include "web/web_service.h"

/* A part of the page of a resource: the others that are the same; nothing where there are none. */
void identity_put_members(struct web_service *service, struct web_query *query, struct slice uri,
                          struct buf *out);

#endif
