/* Streams of partitions, without a thread: what was asked for comes in while others are read. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "index/client/partitions/client_calls.h"

/* ---- requests of streams ---- */

/* One request. The stream is NULL when it was closed meanwhile. */
struct stream_call {
    struct index_stream_reader *stream;
    struct rpc_client *rpc;
    uint64_t asked_ms;
    uint32_t silence_ms;
    bool opening;
};

static void
nothing_done(void *context, enum status status, struct slice payload, const struct reason *why)
{
    (void)context, (void)status, (void)payload, (void)why;
}

static void
post_close(struct rpc_client *rpc, uint64_t cursor, uint32_t silence_ms)
{
    uint8_t request[8];
    codec_write_u64(request, cursor);
    rpc_client_post(rpc, INDEX_VERB_CLOSE, slice_of((char *)request, 8), silence_ms, nothing_done,
                    NULL);
}

/* The stream was closed before the answer to its OPEN came. */
static void
close_late(const struct stream_call *call, struct slice payload)
{
    struct codec_reader in = codec_reader_of(payload);
    const uint8_t flags = codec_get_u8(&in);
    const uint64_t cursor = codec_get_u64(&in);
    if (call->opening && !in.bad && !(flags & INDEX_PIECE_END)) {
        post_close(call->rpc, cursor, call->silence_ms);
    }
}

static void
answered(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct stream_call *call = context;
    struct index_stream_reader *stream = call->stream;
    if (stream != NULL) {
        stream->call = NULL;
        stream->status = status;
        stream->why = *why;
        if (status == STATUS_TIMEOUT && clock_monotonic_ms() - call->asked_ms >= call->silence_ms) {
            stream->status = status_fail(&stream->why, STATUS_AGAIN, "no answer for %.1f s",
                                         call->silence_ms / 1000.0);
        }
        buf_reset(&stream->incoming);
        if (status == STATUS_OK) {
            (void)buf_append_slice(&stream->incoming, payload);
        }
    } else if (status == STATUS_OK) {
        close_late(call, payload);
    }
    free(call);
}

static void
request_piece(struct index_stream_reader *stream, enum index_verb verb, struct slice request)
{
    struct stream_call *call = memory_alloc(sizeof(*call));
    *call = (struct stream_call){.stream = stream,
                                 .rpc = stream->client->partitions[stream->partition].rpc,
                                 .asked_ms = clock_monotonic_ms(),
                                 .silence_ms = stream->client->silence_ms,
                                 .opening = verb == INDEX_VERB_OPEN};
    stream->call = call;
    stream->taken = false;
    rpc_client_post(call->rpc, verb, request, call->silence_ms, answered, call);
}

/* ---- streams ---- */

void
stream_start(struct index_stream_reader *stream, struct index_client *client, size_t partition,
             struct slice request)
{
    *stream = (struct index_stream_reader){.client = client, .partition = partition};
    buf_init(&stream->incoming, RPC_PAYLOAD_MAXIMUM);
    buf_init(&stream->current, RPC_PAYLOAD_MAXIMUM);
    request_piece(stream, INDEX_VERB_OPEN, request);
}

static void
ask_next(struct index_stream_reader *stream)
{
    uint8_t request[16];
    codec_write_u64(request, stream->cursor);
    codec_write_u64(request + 8, stream->offset);
    request_piece(stream, INDEX_VERB_NEXT, slice_of((char *)request, sizeof(request)));
}

/* Takes the piece that came, and asks for the one after it; after the first piece that waits until
 * somebody wants more. */
static enum status
take_piece(struct index_stream_reader *stream, struct slice *bytes, struct reason *why)
{
    const struct buf piece = stream->incoming;
    stream->incoming = stream->current;
    stream->current = piece;
    struct codec_reader in = codec_reader_of(buf_slice(&piece));
    const uint8_t flags = codec_get_u8(&in);
    const uint64_t cursor = codec_get_u64(&in);
    const uint64_t offset = codec_get_u64(&in);
    if (in.bad || offset != stream->offset) {
        return status_fail(why, STATUS_PROTOCOL, "the index sent a piece that was not asked for");
    }
    *bytes = slice_of((const char *)in.at, (size_t)(in.end - in.at));
    stream->cursor = cursor;
    stream->opened = stream->taken = true;
    stream->pieces++;
    stream->ended = flags & INDEX_PIECE_END;
    stream->offset += bytes->length;
    if (!stream->ended && (stream->pieces > 1 || bytes->length == 0)) {
        ask_next(stream);
    }
    return bytes->length > 0 ? STATUS_OK : stream->ended ? STATUS_END : STATUS_AGAIN;
}

enum status
stream_take(struct index_stream_reader *stream, struct slice *bytes, struct reason *why)
{
    if (stream->ended) {
        return STATUS_END;
    }
    if (stream->call == NULL && stream->taken) {
        ask_next(stream);
    }
    if (stream->call != NULL) {
        return STATUS_AGAIN;
    }
    if (stream->status != STATUS_OK) {
        return status_fail(why, stream->status, "%s", stream->why.text);
    }
    return take_piece(stream, bytes, why);
}

enum status
stream_next(struct index_stream_reader *stream, struct slice *bytes, struct reason *why)
{
    enum status status;
    while ((status = stream_take(stream, bytes, why)) == STATUS_AGAIN && stream_waits(stream)) {
        TRY(client_wait(stream->client, why));
    }
    return status; /* AGAIN: the partition does not answer */
}

enum status
client_next_bytes(struct index_stream_reader *stream, struct slice *bytes, struct reason *why)
{
    struct reason what = {""};
    const enum status status = stream_next(stream, bytes, &what);
    if (status == STATUS_OK || status == STATUS_END) {
        return status;
    }
    if (client_ended(stream->client)) {
        return status_fail(why, status, "%s", what.text);
    }
    TRY(client_miss(stream->client, stream->partition, status, &what, why));
    return STATUS_END;
}

void
stream_close(struct index_stream_reader *stream)
{
    if (stream->call != NULL) {
        stream->call->stream = NULL;
    }
    /* An answer that came whole in its first piece has no cursor any more. */
    if (stream->opened && !(stream->ended && stream->pieces == 1)) {
        post_close(stream->client->partitions[stream->partition].rpc, stream->cursor,
                   stream->client->silence_ms);
    }
    buf_release(&stream->incoming);
    buf_release(&stream->current);
}

enum status
stream_pass_on(struct index_client *client, size_t partition, struct slice request,
               index_piece *piece, void *context, struct reason *why)
{
    struct index_stream_reader stream;
    struct slice bytes;
    struct reason what = {""};
    enum status status;
    stream_start(&stream, client, partition, request);
    while ((status = stream_next(&stream, &bytes, &what)) == STATUS_OK) {
        status = piece(context, bytes, why);
        if (status != STATUS_OK) {
            stream_close(&stream);
            return status == STATUS_END ? STATUS_OK : status;
        }
    }
    stream_close(&stream);
    if (status == STATUS_END) {
        return STATUS_OK;
    }
    return status == STATUS_AGAIN || status == STATUS_NOT_FOUND
               ? client_fail(client, partition, status, &what, why)
               : status_fail(why, status, "%s", what.text);
}
