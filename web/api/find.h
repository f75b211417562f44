/* Lookups on behalf of a request: an index client taken, asked and given back. */
#ifndef WEB_API_FIND_H
#define WEB_API_FIND_H

#include "search/find.h"
#include "web/web_service.h"

/* Tells which entries are described, and how much of them. */
struct find_page {
    size_t from, count;
    bool documents; /* their sizes and times, too */
    bool by_date;   /* the newest first */
    bool partial;   /* without partitions that are down; the reply says which */
};
/* Results must be released, also after a failure. reply may be NULL unless partial. */
enum status find_for(struct web_service *service, const struct web_query *query,
                     const struct find_request *request, const struct find_page *page,
                     struct web_reply *reply, struct find_results *results, struct reason *why);

/* find_ask() by a client that is taken for it. */
enum status find_select(struct web_service *service, const struct web_query *query,
                        struct slice sparql, json_t **bindings, struct reason *why);

/* Bytes that are no UTF-8 become an empty text. */
json_t *find_json_text(struct slice text);
/* Appends the object, which is taken; flags: of json_dumps. */
void find_put_json(struct buf *out, json_t *object, size_t flags);
/* Appends text as the inside of a literal of SPARQL. */
void find_quote(struct buf *out, struct slice text);

#endif
