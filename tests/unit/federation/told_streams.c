#include "tests/unit/federation/told_streams.h"

#include <string.h>

struct index_client client;
size_t piece, sessions_ended, told_open;
uint8_t told_flags;
bool told_waits[PARTITIONS_ASKED];
static struct partition_client links[PARTITIONS_ASKED];

void
told_begin(void)
{
    memset(links, 0, sizeof links);
    memset(told_waits, 0, sizeof told_waits);
    client = (struct index_client){.partitions = links, .count = PARTITIONS_ASKED};
    piece = 5;
    sessions_ended = 0;
}

void __wrap_stream_start(struct index_stream_reader *stream, struct index_client *of,
                         size_t partition, struct slice request);
enum status __wrap_stream_take(struct index_stream_reader *stream, struct slice *bytes,
                               struct reason *why);
void __wrap_stream_close(struct index_stream_reader *stream);
void __wrap_rpc_client_post(struct rpc_client *to, uint8_t verb, struct slice request,
                            uint32_t timeout_ms, rpc_done *done, void *context);

void
__wrap_stream_start(struct index_stream_reader *stream, struct index_client *of, size_t partition,
                    struct slice request)
{
    struct codec_reader in = codec_reader_of(request);
    *stream = (struct index_stream_reader){.client = of, .partition = partition};
    buf_init(&stream->incoming, TOLD_ANSWER);
    told_open++;
    const uint8_t kind = codec_get_u8(&in);
    (void)codec_get_u64(&in);
    told_flags = codec_get_u8(&in);
    stream->status = told_answer(partition, kind, &in, &stream->incoming);
    assert_true(codec_at_end(&in));
    assert_false(stream->incoming.overflowed);
}

enum status
__wrap_stream_take(struct index_stream_reader *stream, struct slice *bytes, struct reason *why)
{
    const size_t left = stream->incoming.length - stream->offset;
    stream->call = told_waits[stream->partition] ? (struct stream_call *)(void *)stream : NULL;
    if (stream->call != NULL) {
        return status_fail(why, STATUS_AGAIN, "nothing has come");
    }
    *bytes = slice_of(stream->incoming.data + stream->offset, left < piece ? left : piece);
    stream->offset += bytes->length;
    return bytes->length > 0             ? STATUS_OK
           : stream->status != STATUS_OK ? status_fail(why, stream->status, "it broke off")
                                         : STATUS_END;
}

void
__wrap_stream_close(struct index_stream_reader *stream)
{
    buf_release(&stream->incoming);
    told_open--;
}

void
__wrap_rpc_client_post(struct rpc_client *to, uint8_t verb, struct slice request,
                       uint32_t timeout_ms, rpc_done *done, void *context)
{
    (void)to, (void)request, (void)timeout_ms, (void)done, (void)context;
    assert_int_equal(verb, INDEX_VERB_END);
    sessions_ended++;
}
