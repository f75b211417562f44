#include "index/protocol/share_request.h"

#include "index/query/plan/share_parts.h"

void
share_request_put(struct buf *out, const struct share_request *request, struct slice keys,
                  uint64_t timeout_ms)
{
    codec_put_slice(out, request->text);
    codec_put_slice(out, request->default_graph);
    codec_put_slice(out, request->graphs);
    codec_put_slice(out, request->named_graphs);
    codec_put_u8(out, (uint8_t)request->form);
    codec_put_varint(out, request->node);
    codec_put_varint(out, request->most);
    codec_put_varint(out, request->now_ms);
    codec_put_varint(out, request->columns);
    codec_put_varint(out, timeout_ms);
    codec_put_varint(out, request->partition_wise ? (uint64_t)request->key + 1 : 0);
    codec_put_u8(out, (uint8_t)request->places);
    codec_put_slice(out, keys);
}

bool
share_request_get(struct codec_reader *in, struct share_request *request, struct slice *keys,
                  uint64_t *timeout_ms)
{
    request->text = codec_get_slice(in);
    request->default_graph = codec_get_slice(in);
    request->graphs = codec_get_slice(in);
    request->named_graphs = codec_get_slice(in);
    request->form = (enum share_form)codec_get_u8(in);
    const uint64_t node = codec_get_varint(in);
    request->node = (uint32_t)node;
    request->most = codec_get_varint(in);
    request->now_ms = codec_get_varint(in);
    request->columns = codec_get_varint(in);
    *timeout_ms = codec_get_varint(in);
    const uint64_t key = codec_get_varint(in);
    request->partition_wise = key > 0;
    request->key = request->partition_wise ? (uint32_t)(key - 1) : 0;
    request->places = (enum key_places)codec_get_u8(in);
    *keys = codec_get_slice(in);
    return !in->bad && key <= SLOTS_MAXIMUM && request->places < KEY_PLACES &&
           request->form <= SHARE_PARTS && node < NUMBER_NONE;
}
