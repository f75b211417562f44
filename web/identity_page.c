/* Who is the same as a resource, with each reason: a page, or JSON when Accept or format= asks. */
#include "base/url/url.h"
#include "web/html.h"
#include "web/http/accept.h"
#include "web/web_service.h"

enum { ANSWER_BYTES = 16 << 20 };

static enum status
gather(void *context, struct slice bytes, struct reason *why)
{
    const enum status status = buf_append_slice(context, bytes);
    return status == STATUS_OK
               ? status
               : status_fail(why, status, "the reasons are longer than %d bytes", ANSWER_BYTES);
}

static enum status
ask(struct web_service *service, struct web_query *query, struct slice uri, bool json,
    struct buf *answer, struct reason *why)
{
    const bool blank = slice_starts(uri, SLICE("_:"));
    const struct term term =
        blank ? term_blank(slice_of(uri.at + 2, uri.length - 2)) : term_iri(uri);
    struct index_client *client;
    if (!blank && !iri_is_absolute(uri)) {
        return status_fail(why, STATUS_BAD_INPUT, "uri is an IRI, or a blank node as _:label");
    }
    TRY(web_index_take(service, &client, why));
    index_client_manner(client, INDEX_PARTIAL_ERROR, &query->cancelled);
    const enum status status = index_identity(
        client, &term, json, (uint32_t)opt_duration_ms(service->options, "web.query_timeout"),
        gather, answer, why);
    index_client_manner(client, INDEX_PARTIAL_ERROR, NULL);
    web_index_give(service, client, status == STATUS_OK);
    return web_query_status(query, status, why);
}

static void
page(struct buf *out, struct slice uri, struct slice answer)
{
    html_begin(out, "Who is the same", slice_of(NULL, 0));
    (void)buf_append_string(
        out, "<h1>Who is the same</h1><form action=\"/identity\"><p><label>URI <input name=\"uri\" "
             "size=\"60\" required value=\"");
    html_text(out, uri);
    (void)buf_append_string(out, "\"></label> <button>Show</button></p></form>");
    if (answer.length > 0) {
        (void)buf_append_string(out, "<pre>");
        html_text(out, answer);
        (void)buf_append_string(out, "</pre><p><a href=\"/identity?format=json&amp;uri=");
        url_append_value(out, uri);
        (void)buf_append_string(out, "\">as JSON</a></p>");
    }
    html_end(out);
}

void
web_identity(struct web_service *service, const struct web_request *request,
             struct web_reply *reply)
{
    static const char *const types[] = {"text/html", "application/json"};
    const char *format = web_parameter(request, "format", NULL);
    const struct slice uri = slice_string(web_parameter(request, "uri", NULL));
    const bool json = format != NULL
                          ? strcmp(format, "json") == 0
                          : web_accept_choose(web_header(request, "Accept"), types, 2) == 1;
    struct reason why = {""};
    struct buf answer;
    buf_init(&answer, ANSWER_BYTES);
    if (uri.length == 0) {
        page(&reply->body, uri, buf_slice(&answer));
        return;
    }
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    const enum status status = ask(service, query, uri, json, &answer, &why);
    reply->body.maximum = 2 * ANSWER_BYTES; /* escaped it is longer */
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    } else if (json) {
        reply->content_type = "application/json";
        (void)buf_append_slice(&reply->body, buf_slice(&answer));
    } else {
        page(&reply->body, uri, buf_slice(&answer));
    }
    buf_release(&answer);
    web_query_give(service, query);
}
