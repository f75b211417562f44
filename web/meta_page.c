/* What the metadata store knows of a URI: Turtle, or a page that asks for one. */
#include "base/url/url.h"
#include "metastore/metastore_client.h"
#include "metastore/record_rdf.h"
#include "web/html.h"
#include "web/web_service.h"

enum { ANSWER_MS = 10000, RECORD_BYTES = 32 << 20, KEY_BYTES = URL_MAXIMUM + 1 };

static enum status
look_up(struct web_service *service, struct slice key, struct buf *record, struct reason *why)
{
    const struct cluster_services *services = &service->metastores;
    const struct metastore_client_options options = {.endpoints = services->endpoints,
                                                     .endpoint_count = services->count,
                                                     .owner_of_partition =
                                                         services->owner_of_partition,
                                                     .name = "web",
                                                     .keys = services->keys};
    struct metastore_client *client;
    TRY(web_check_part(service, "metastore", why));
    enum status status = metastore_client_open(&client, &options, why);
    if (status == STATUS_OK) {
        status = metastore_get_wait(client, key, record, ANSWER_MS, why);
        metastore_client_close(client);
    }
    return status;
}

enum status
web_document_record(struct web_service *service, struct slice uri, struct buf *turtle,
                    struct reason *why)
{
    struct buf record;
    struct buf key;
    buf_init(&record, RECORD_BYTES);
    buf_init(&key, KEY_BYTES);
    (void)buf_append_char(&key, 'u');
    enum status status = url_crawl_key(uri, slice_of(NULL, 0), &key, why);
    if (status == STATUS_OK) {
        status = look_up(service, buf_slice(&key), &record, why);
    }
    if (status == STATUS_NOT_FOUND) {
        const struct slice origin = url_origin(slice_of(key.data + 1, key.length - 1));
        struct buf host;
        buf_init(&host, KEY_BYTES);
        (void)buf_append_char(&host, 'h');
        (void)buf_append_slice(&host, origin);
        if (origin.length + 1 >= key.length - 1) {
            status = look_up(service, buf_slice(&host), &record, why);
            buf_reset(&key);
            (void)buf_append_slice(&key, buf_slice(&host));
        }
        buf_release(&host);
    }
    if (status == STATUS_OK) {
        status = meta_turtle(buf_slice(&key), buf_slice(&record), turtle, why);
    }
    buf_release(&record);
    buf_release(&key);
    return status;
}

static void
form(struct web_reply *reply)
{
    html_begin(&reply->body, "Documents", slice_of(NULL, 0));
    (void)buf_append_string(
        &reply->body,
        "<h1>What is known of a document</h1><form action=\"/meta\">"
        "<p><label>URI <input name=\"uri\" size=\"60\" type=\"url\" required></label> "
        "<button>Show</button></p></form>"
        "<p>The answer is Turtle: state, HTTP exchange, provenance, where its bytes lie.</p>");
    html_end(&reply->body);
}

void
web_meta(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    struct reason why = {""};
    const char *uri = web_parameter(request, "uri", NULL);
    if (uri == NULL || uri[0] == 0) {
        form(reply);
        return;
    }
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    reply->content_type = "text/turtle; charset=utf-8";
    const enum status status = web_document_record(service, slice_string(uri), &reply->body, &why);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    }
    web_query_give(service, query);
}
