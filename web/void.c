/* Describes what the index holds, as VoID, for those who look before they query. */
#include "web/web_service.h"

enum { DESCRIPTION_BYTES = 64 << 20 };

void
web_void(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    static const struct index_void_options options = {
        .dataset = "/void#index", .endpoint = "/sparql", .search = "/search"};
    struct index_client *client;
    struct reason why = {""};
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    enum status status = web_index_take(service, &client, &why);
    if (status == STATUS_OK) {
        reply->body.maximum = DESCRIPTION_BYTES;
        status = index_void(client, &options, &reply->body, &why);
        web_index_give(service, client, status == STATUS_OK);
    }
    web_query_give(service, query);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
        return;
    }
    reply->content_type = "text/turtle";
    web_reply_header(reply, "Cache-Control", "no-cache");
}
