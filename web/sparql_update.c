/* SPARQL 1.1 Update over HTTP, when web.update allows it. */
#include <sodium.h>
#include <stdlib.h>

#include "web/web_service.h"

bool
web_is_foreign(const struct web_request *request)
{
    const char *origin = web_header(request, "Origin");
    const char *host = web_header(request, "Host");
    const char *site = web_header(request, "Sec-Fetch-Site");
    const char *name = origin != NULL ? strstr(origin, "://") : NULL;
    return (origin != NULL && (name == NULL || host == NULL || strcmp(name + 3, host) != 0)) ||
           (site != NULL && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0);
}

bool
web_has_token(const struct web_service *service, const struct web_request *request)
{
    static const char scheme[] = "Bearer ";
    const char *token = opt_string(service->options, "web.update_token");
    const char *given = web_header(request, "Authorization");
    const size_t length = strlen(token);
    return length > 0 && given != NULL && strncmp(given, scheme, sizeof scheme - 1) == 0 &&
           strlen(given + sizeof scheme - 1) == length &&
           sodium_memcmp(given + sizeof scheme - 1, token, length) == 0;
}

bool
web_may_write(const struct web_service *service, const struct web_request *request)
{
    const char *who = opt_string(service->options, "web.update");
    if (web_has_token(service, request)) {
        return strcmp(who, "no") != 0;
    }
    return strcmp(who, "loopback") == 0 && web_is_local(request) && !web_is_foreign(request);
}

static void
run(struct web_service *service, const struct web_request *request, const char *text,
    struct web_reply *reply)
{
    struct reason why = {""};
    struct buf graphs, named_graphs;
    struct index_client *client;
    struct index_update_report report = {0};
    buf_init(&graphs, WEB_BODY_MAXIMUM);
    buf_init(&named_graphs, WEB_BODY_MAXIMUM);
    web_parameters(request, "using-graph-uri", web_add_line, &graphs);
    web_parameters(request, "using-named-graph-uri", web_add_line, &named_graphs);
    const struct index_update_options options = {
        .timeout_ms = (uint32_t)opt_duration_ms(service->options, "web.query_timeout"),
        .graphs = buf_slice(&graphs),
        .named_graphs = buf_slice(&named_graphs)};
    enum status status = web_index_take(service, &client, &why);
    if (status == STATUS_OK) {
        status = index_update(client, slice_string(text), &options, &report, &why);
        web_index_give(service, client, status == STATUS_OK || status == STATUS_BAD_INPUT);
    }
    buf_release(&graphs);
    buf_release(&named_graphs);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
        return;
    }
    reply->content_type = "text/plain; charset=utf-8";
    (void)buf_printf(&reply->body, "%llu operations done, %llu quads removed, %llu added\n",
                     (unsigned long long)report.operations, (unsigned long long)report.removed,
                     (unsigned long long)report.added);
}

void
web_update(struct web_service *service, const struct web_request *request, bool direct,
           struct web_reply *reply)
{
    size_t count;
    const char *parameter = web_parameter(request, "update", &count);
    if (!web_may_write(service, request)) {
        web_reply_error(reply, 403, "Updates are not allowed here: see web.update.");
        return;
    }
    if (direct ? count > 0 : count != 1) {
        web_reply_error(reply, 400, "There must be one update.");
        return;
    }
    char *text =
        direct ? strndup(request->body.at != NULL ? request->body.at : "", request->body.length)
               : strdup(parameter);
    struct web_query *query = web_query_take(service, request, reply);
    if (query != NULL) {
        run(service, request, text, reply);
        web_query_give(service, query);
    }
    free(text);
}
