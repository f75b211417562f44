/* Completions of words while they are typed, as browsers ask for them (OpenSearch suggestions). */
#include "search/spelling.h"
#include "web/web_service.h"

struct completions {
    struct buf *out;
    struct slice before; /* words before the one that is completed */
    bool more;
};

static void
add_completion(void *context, struct slice word)
{
    struct completions *completions = context;
    (void)buf_append_string(completions->out, completions->more ? ",\"" : "\"");
    (void)buf_append_json(completions->out, completions->before);
    (void)buf_append_json(completions->out, word);
    (void)buf_append_char(completions->out, '"');
    completions->more = true;
}

void
web_suggest(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    const struct slice words = slice_string(web_parameter(request, "q", NULL));
    struct reason why = {""};
    struct index_client *client;
    size_t start = words.length;
    while (start > 0 && words.at[start - 1] != ' ') {
        start--;
    }
    struct completions completions = {.out = &reply->body, .before = slice_of(words.at, start)};
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    (void)buf_append_string(&reply->body, "[\"");
    (void)buf_append_json(&reply->body, words);
    (void)buf_append_string(&reply->body, "\",[");
    enum status status = web_index_take(service, &client, &why);
    if (status == STATUS_OK) {
        index_client_manner(client, INDEX_PARTIAL_ERROR, &query->cancelled);
        status = spelling_complete(client, slice_of(words.at + start, words.length - start),
                                   add_completion, &completions, &why);
        index_client_manner(client, INDEX_PARTIAL_ERROR, NULL);
        web_index_give(service, client, status == STATUS_OK || status == STATUS_BAD_INPUT);
    }
    status = web_query_status(query, status, &why);
    web_query_give(service, query);
    (void)buf_append_string(&reply->body, "]]\n");
    reply->content_type = "application/x-suggestions+json";
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    }
}
