/* Parts of a query, from all partitions at once: rows as they come, of whichever has some. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "index/client/federation/federation_state.h"
#include "index/protocol/share_request.h"

struct share_scan {
    struct federation *federation;
    size_t columns;
    struct row_stream *streams; /* of each partition */
    size_t at;                  /* that is read */
};

/* Returns what is left of the call's time; 0 stands for no limit. */
static uint64_t
time_left(const struct index_client *client)
{
    const uint64_t now = clock_monotonic_ms();
    return client->deadline_ms == 0 ? 0 : client->deadline_ms > now ? client->deadline_ms - now : 1;
}

static enum status
start(struct row_stream *rows, const struct share_request *request, struct reason *why)
{
    struct buf bytes, keys;
    buf_init(&bytes, FEDERATION_REQUEST_MAXIMUM);
    buf_init(&keys, FEDERATION_REQUEST_MAXIMUM);
    if (request->partition_wise) {
        federation_put_shared(rows->federation, request->places, rows->partition, &keys);
    }
    codec_put_u8(&bytes, INDEX_STREAM_SHARE);
    codec_put_u64(&bytes, rows->federation->session);
    codec_put_u8(&bytes, row_stream_flags(rows));
    share_request_put(&bytes, request, buf_slice(&keys), time_left(rows->federation->client));
    const enum status status = row_stream_start(rows, &bytes, why);
    buf_release(&keys);
    buf_release(&bytes);
    return status;
}

enum status
federation_share(void *context, const struct share_request *request, struct share_scan **result,
                 struct reason *why)
{
    struct federation *federation = context;
    const struct index_client *client = federation->client;
    struct share_scan *scan = memory_new(sizeof(*scan));
    scan->federation = federation;
    scan->columns = request->columns;
    scan->streams = memory_zero(client->count, sizeof(*scan->streams));
    enum status status = STATUS_OK;
    for (size_t i = 0; i < client->count; i++) {
        row_stream_init(&scan->streams[i], federation, i);
        if (!client->partitions[i].missing && status == STATUS_OK) {
            status = start(&scan->streams[i], request, why);
        }
    }
    if (status != STATUS_OK) {
        federation_share_close(scan);
        scan = NULL;
    }
    *result = scan;
    return status;
}

void
federation_share_close(struct share_scan *scan)
{
    if (scan == NULL) {
        return;
    }
    for (size_t i = 0; i < scan->federation->client->count; i++) {
        row_stream_release(&scan->streams[i]);
    }
    free(scan->streams);
    free(scan);
}

/* Reads the next row if all its bytes are there. A row without columns is one that is unbound. */
static enum status
read_row(struct share_scan *scan, struct row_stream *rows, oid *row, bool *has_row,
         struct reason *why)
{
    *has_row = false;
    if (rows->at == rows->text.length) {
        return STATUS_OK;
    }
    struct codec_reader in = row_stream_reader(rows);
    const size_t names = rows->name_count;
    oid nothing;
    for (size_t i = 0; i < scan->columns && !in.bad; i++) {
        TRY(row_stream_name(rows, &in, true, &row[i], why));
    }
    if (scan->columns == 0) {
        TRY(row_stream_name(rows, &in, true, &nothing, why));
    }
    if (in.bad) {
        rows->name_count = names; /* the row is read again when there is more of it */
        return STATUS_OK;
    }
    rows->at = rows->text.length - (size_t)(in.end - in.at);
    *has_row = true;
    return STATUS_OK;
}

/* Up to `most` rows that are there of one partition. */
static enum status
read_rows(struct share_scan *scan, struct row_stream *rows, oid *out, size_t most, size_t *n,
          struct reason *why)
{
    bool waits = false;
    while (rows->open && *n < most && !waits) {
        bool has_row;
        TRY(read_row(scan, rows, out + *n * scan->columns, &has_row, why));
        *n += has_row;
        if (!has_row && *n > 0) {
            break;
        }
        if (!has_row) {
            TRY(row_stream_take(rows, &waits, why));
        }
    }
    return STATUS_OK;
}

enum status
federation_share_next(struct share_scan *scan, oid *rows, size_t most, size_t *n,
                      struct reason *why)
{
    struct index_client *client = scan->federation->client;
    *n = 0;
    for (;;) {
        bool open = false;
        for (size_t i = 0; i < client->count && *n == 0; i++) {
            struct row_stream *stream = &scan->streams[scan->at];
            TRY(read_rows(scan, stream, rows, most, n, why));
            open = open || stream->open;
            scan->at = *n > 0 ? scan->at : (scan->at + 1) % client->count;
        }
        if (*n > 0 || !open) {
            return STATUS_OK;
        }
        TRY(client_wait(client, why));
    }
}
