/* Looks up what the metadata store knows of a URI. */
#include "base/url/url.h"
#include "metastore/metastore_client.h"
#include "metastore/record_rdf.h"
#include "web/web_service.h"

enum { ANSWER_MS = 10000, RECORD_BYTES = 32 << 20, KEY_BYTES = URL_MAXIMUM + 1 };

enum status
web_metastore_open(struct web_service *service, struct metastore_client **client,
                   struct reason *why)
{
    const struct cluster_services *services = &service->metastores;
    const struct metastore_client_options options = {.endpoints = services->endpoints,
                                                     .endpoint_count = services->count,
                                                     .owner_of_partition =
                                                         services->owner_of_partition,
                                                     .name = "web",
                                                     .keys = services->keys};
    TRY(web_check_part(service, "metastore", why));
    return metastore_client_open(client, &options, why);
}

static enum status
look_up(struct web_service *service, struct slice key, struct buf *record, struct reason *why)
{
    struct metastore_client *client;
    enum status status = web_metastore_open(service, &client, why);
    if (status == STATUS_OK) {
        status = metastore_get_wait(client, key, record, ANSWER_MS, why);
        metastore_client_close(client);
    }
    return status;
}

enum status
web_document_fields(struct web_service *service, struct slice uri, struct buf *key,
                    struct buf *record, struct reason *why)
{
    buf_reset(key);
    (void)buf_append_char(key, 'u');
    enum status status = url_crawl_key(uri, slice_of(NULL, 0), key, why);
    if (status == STATUS_OK) {
        status = look_up(service, buf_slice(key), record, why);
    }
    if (status == STATUS_NOT_FOUND) {
        const struct slice origin = url_origin(slice_of(key->data + 1, key->length - 1));
        struct buf host;
        buf_init(&host, KEY_BYTES);
        (void)buf_append_char(&host, 'h');
        (void)buf_append_slice(&host, origin);
        if (origin.length + 1 >= key->length - 1) {
            status = look_up(service, buf_slice(&host), record, why);
            buf_reset(key);
            (void)buf_append_slice(key, buf_slice(&host));
        }
        buf_release(&host);
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
    enum status status = web_document_fields(service, uri, &key, &record, why);
    if (status == STATUS_OK) {
        status = meta_turtle(buf_slice(&key), buf_slice(&record), turtle, why);
    }
    buf_release(&record);
    buf_release(&key);
    return status;
}
