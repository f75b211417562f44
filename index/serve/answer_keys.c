#include "index/serve/answer_keys.h"

#include "base/codec.h"
#include "index/protocol/triples_request.h"
#include "index/write/partition_keys.h"

enum { ANSWER_MOST = 8 * PARTITION_KEYS_MOST };

static enum status
check(const void *context, struct reason *why)
{
    struct cursor *cursor = *(struct cursor *const *)context;
    cursor_step(cursor);
    return atomic_load(cursor_cancelled(cursor)) ? status_fail(why, STATUS_CANCELLED, "cancelled")
                                                 : STATUS_OK;
}

enum status
answer_keys(struct partition *partition, struct slice request, struct cursor *cursor,
            struct reason *why)
{
    struct codec_reader in = codec_reader_of(request);
    struct keys_request wanted = {.check = check, .check_context = &cursor};
    wanted.places = (enum key_places)codec_get_u8(&in);
    wanted.epoch = codec_get_u64(&in);
    wanted.from = codec_get_varint(&in);
    if (!codec_at_end(&in) || wanted.places >= KEY_PLACES) {
        return status_fail(why, STATUS_PROTOCOL, "a request for keys is malformed");
    }
    struct buf out;
    buf_init(&out, ANSWER_MOST);
    codec_put_u8(&out, TRIPLES_KNOWN);
    enum status status = partition_keys_read(partition, &wanted, &out, why);
    if (status == STATUS_LIMIT) {
        buf_reset(&out);
        codec_put_u8(&out, TRIPLES_UNKNOWN);
        status = STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = cursor_write(cursor, buf_slice(&out), why);
    }
    buf_release(&out);
    return status;
}
