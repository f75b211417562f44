/* Calls of the routed client that wait: a get, a scan that merges what the endpoints have in order
 * of their keys, and what they tell of themselves.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "metastore/client_links.h"
#include "metastore/protocol.h"

enum { SCAN_PAGE = 512 };

enum status
metastore_get_wait(struct metastore_client *client, struct slice key, struct buf *record,
                   uint32_t timeout_ms, struct reason *why)
{
    if (!meta_key_valid(key)) {
        return status_fail(why, STATUS_MISUSE, "not a key of the metadata store: %.*s",
                           SLICE_PRINT(key));
    }
    struct buf payload;
    struct buf reply;
    buf_init(&payload, REQUEST_MAXIMUM);
    buf_init(&reply, RPC_PAYLOAD_MAXIMUM);
    codec_put_varint(&payload, 1);
    codec_put_slice(&payload, key);
    enum status status = rpc_call(client->rpcs[metastore_owner(client, key)], METASTORE_GET,
                                  buf_slice(&payload), timeout_ms, &reply, why);
    if (status == STATUS_OK) {
        struct codec_reader reader = codec_reader_of(buf_slice(&reply));
        const uint32_t count = codec_get_u32(&reader);
        const struct slice found = codec_get_slice(&reader);
        if (count != 1 || !codec_at_end(&reader)) {
            status = status_fail(why, STATUS_PROTOCOL, "metastore: a malformed answer to a get");
        } else if (found.length == 0) {
            status = status_fail(why, STATUS_NOT_FOUND, "nothing is known of %.*s",
                                 (int)key.length - 1, key.at + 1);
        } else {
            buf_reset(record);
            status = buf_append_slice(record, found);
        }
    }
    buf_release(&payload);
    buf_release(&reply);
    return status;
}

/* Holds what one endpoint has sent of a scan. */
struct scan_page {
    struct buf reply, after;
    struct codec_reader reader;
    uint32_t left;
    bool more, have;
    struct slice key, record; /* the present entry, when have */
};

struct scan {
    struct metastore_client *client;
    struct scan_page *pages;
    struct slice prefix;
    uint32_t timeout_ms;
};

static enum status
scan_fetch(struct scan *scan, size_t endpoint, struct reason *why)
{
    struct scan_page *page = &scan->pages[endpoint];
    struct buf payload;
    buf_init(&payload, REQUEST_MAXIMUM);
    codec_put_slice(&payload, scan->prefix);
    codec_put_slice(&payload, buf_slice(&page->after));
    codec_put_varint(&payload, SCAN_PAGE);
    buf_reset(&page->reply);
    const enum status status = rpc_call(scan->client->rpcs[endpoint], METASTORE_SCAN,
                                        buf_slice(&payload), scan->timeout_ms, &page->reply, why);
    buf_release(&payload);
    TRY(status);
    const struct slice reply = buf_slice(&page->reply);
    page->reader = codec_reader_of(reply);
    page->left = codec_get_u32(&page->reader);
    page->more = reply.length > 0 && reply.at[reply.length - 1] != 0;
    return page->reader.bad
               ? status_fail(why, STATUS_PROTOCOL, "metastore: a malformed answer to a scan")
               : STATUS_OK;
}

/* Moves to the next entry of an endpoint; page->have tells whether there is one. */
static enum status
scan_advance(struct scan *scan, size_t endpoint, struct reason *why)
{
    struct scan_page *page = &scan->pages[endpoint];
    if (page->have) {
        buf_reset(&page->after);
        (void)buf_append_slice(&page->after, page->key);
    }
    page->have = false;
    if (page->left == 0 && page->more) {
        TRY(scan_fetch(scan, endpoint, why));
    }
    if (page->left == 0) {
        return STATUS_OK;
    }
    page->key = codec_get_slice(&page->reader);
    page->record = codec_get_slice(&page->reader);
    page->left--;
    page->have = !page->reader.bad;
    return page->have
               ? STATUS_OK
               : status_fail(why, STATUS_PROTOCOL, "metastore: a malformed answer to a scan");
}

static enum status
scan_run(struct scan *scan, uint32_t most, metastore_visit *visit, void *context,
         struct reason *why)
{
    for (size_t i = 0; i < scan->client->count; i++) {
        scan->pages[i].more = true;
        TRY(scan_advance(scan, i, why));
    }
    for (uint32_t count = 0; count < most; count++) {
        size_t least = scan->client->count;
        for (size_t i = 0; i < scan->client->count; i++) {
            if (scan->pages[i].have &&
                (least == scan->client->count ||
                 slice_compare(scan->pages[i].key, scan->pages[least].key) < 0)) {
                least = i;
            }
        }
        if (least == scan->client->count ||
            !visit(context, scan->pages[least].key, scan->pages[least].record)) {
            break;
        }
        TRY(scan_advance(scan, least, why));
    }
    return STATUS_OK;
}

enum status
metastore_scan(struct metastore_client *client, struct slice prefix, struct slice after,
               uint32_t most, metastore_visit *visit, void *context, uint32_t timeout_ms,
               struct reason *why)
{
    struct scan scan = {.client = client, .prefix = prefix, .timeout_ms = timeout_ms};
    scan.pages = memory_zero(client->count, sizeof *scan.pages);
    for (size_t i = 0; i < client->count; i++) {
        buf_init(&scan.pages[i].reply, RPC_PAYLOAD_MAXIMUM);
        buf_init(&scan.pages[i].after, META_KEY_MAXIMUM);
        (void)buf_append_slice(&scan.pages[i].after, after);
    }
    const enum status status = scan_run(&scan, most, visit, context, why);
    for (size_t i = 0; i < client->count; i++) {
        buf_release(&scan.pages[i].reply);
        buf_release(&scan.pages[i].after);
    }
    free(scan.pages);
    return status;
}

enum status
metastore_stats(struct metastore_client *client, size_t endpoint, struct buf *lines,
                uint32_t timeout_ms, struct reason *why)
{
    if (endpoint >= client->count) {
        return status_fail(why, STATUS_END, "there are %zu metastores", client->count);
    }
    return rpc_call(client->rpcs[endpoint], METASTORE_STATS, slice_of(NULL, 0), timeout_ms, lines,
                    why);
}
