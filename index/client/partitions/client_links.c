/* Links of documents, asynchronously. A message for each would cost both processes more than the
 * links do; so those that are asked for before the client works again travel together. */
#include <stdlib.h>

#include "base/array.h"
#include "base/memory.h"
#include "index/client/partitions/client_calls.h"

enum { DOCUMENTS_MOST = 64, REQUEST_MAXIMUM = 16 << 20, REQUEST_ENOUGH = 1 << 20 };

struct asked_document {
    index_linked *done;
    void *context;
};

/* The documents' names are in the request, in the same order. */
struct links_request {
    struct index_client *client;
    struct asked_document documents[DOCUMENTS_MOST];
    size_t count;
    struct buf payload;
};

/* ---- asking ---- */

static void links_answered(void *context, enum status status, struct slice payload,
                           const struct reason *why);

void
client_links_post(struct index_client *client, size_t partition)
{
    struct partition_client *owner = &client->partitions[partition];
    struct links_request *request = owner->links;
    if (request != NULL) {
        owner->links = NULL;
        rpc_client_post(owner->rpc, INDEX_VERB_LINKS, buf_slice(&request->payload),
                        client->timeout_ms, links_answered, request);
    }
}

void
index_links(struct index_client *client, struct slice document, index_linked *done, void *context)
{
    const size_t partition = client_owner(client, document);
    struct links_request **links = &client->partitions[partition].links;
    if (*links == NULL) {
        *links = memory_alloc(sizeof(**links));
        (*links)->client = client;
        (*links)->count = 0;
        buf_init(&(*links)->payload, REQUEST_MAXIMUM);
    }
    struct links_request *request = *links;
    request->documents[request->count++] = (struct asked_document){done, context};
    codec_put_slice(&request->payload, document);
    if (request->count == DOCUMENTS_MOST || request->payload.length >= REQUEST_ENOUGH) {
        client_links_post(client, partition);
    }
}

static void
request_free(struct links_request *request)
{
    buf_release(&request->payload);
    free(request);
}

void
client_links_cancel(struct index_client *client, size_t partition)
{
    const struct reason why = {"the client was closed"};
    struct links_request *request = client->partitions[partition].links;
    client->partitions[partition].links = NULL;
    for (size_t i = 0; request != NULL && i < request->count; i++) {
        request->documents[i].done(request->documents[i].context, STATUS_CANCELLED, NULL, 0, &why);
    }
    if (request != NULL) {
        request_free(request);
    }
    if (client->partitions[partition].links != NULL) { /* asked for by one of those */
        request_free(client->partitions[partition].links);
        client->partitions[partition].links = NULL;
    }
}

/* ---- answers ---- */

/* Hands what the index says of one document to whoever asked. False: it is malformed. */
static bool
tell_links(const struct asked_document *asked, struct codec_reader *answer)
{
    const enum status status = (enum status)codec_get_u8(answer);
    const struct slice said = codec_get_slice(answer);
    struct codec_reader in = codec_reader_of(said);
    struct index_link *links = NULL;
    struct reason why = {""};
    size_t count = 0, capacity = 0;
    if (!answer->bad && status != STATUS_OK) {
        (void)status_fail(&why, status, "%.*s", SLICE_PRINT(said));
        asked->done(asked->context, status, NULL, 0, &why);
        return true;
    }
    while (!answer->bad && !in.bad && in.at < in.end) {
        links = array_grow(links, count, &capacity, sizeof(*links));
        links[count].query = (uint32_t)codec_get_varint(&in);
        links[count].target = codec_get_slice(&in);
        count++;
    }
    const bool good = !answer->bad && !in.bad;
    if (good) {
        asked->done(asked->context, STATUS_OK, links, count, &why);
    }
    free(links);
    return good;
}

static void
links_answered(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct links_request *request = context;
    struct reason malformed = {""};
    struct codec_reader names = codec_reader_of(buf_slice(&request->payload));
    struct codec_reader in = codec_reader_of(payload);
    size_t i = 0;
    while (status == STATUS_OK && i < request->count && (i == 0 || in.at < in.end)) {
        (void)codec_get_slice(&names);
        if (!tell_links(&request->documents[i], &in)) {
            status = status_fail(&malformed, STATUS_PROTOCOL, "the index sent malformed links");
            why = &malformed;
        } else {
            i++;
        }
    }
    for (; i < request->count; i++) {
        const struct asked_document *asked = &request->documents[i];
        if (status == STATUS_OK) { /* the index stopped there */
            index_links(request->client, codec_get_slice(&names), asked->done, asked->context);
        } else {
            asked->done(asked->context, status, NULL, 0, why);
        }
    }
    request_free(request);
}
