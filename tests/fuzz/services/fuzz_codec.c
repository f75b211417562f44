/* The input is a program for the decoder: one byte chooses a read. Nothing may be read outside
 * of the input, and what is read must encode to what was there. */
#include <stdlib.h>

#include "base/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
expect(bool condition)
{
    if (!condition) {
        abort();
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct codec_reader reader = codec_reader_of(slice_of((const char *)data, size));
    while (!reader.bad && reader.at < reader.end) {
        struct buf again;
        buf_init(&again, size + 16);
        const uint8_t choice = codec_get_u8(&reader);
        const uint8_t *before = reader.at;
        switch (choice & 7) {
        case 1:
            codec_put_u32(&again, codec_get_u32(&reader));
            break;
        case 2:
            codec_put_u64(&again, codec_get_u64(&reader));
            break;
        case 3: {
            const struct slice slice = codec_get_slice(&reader);
            expect(reader.bad || slice.length <= size);
            before = reader.at - slice.length;
            (void)buf_append_slice(&again, slice);
            break;
        }
        default: {
            /* Not every encoding of a varint is the shortest one: the value must survive. */
            const uint64_t value = codec_get_varint(&reader);
            codec_put_varint(&again, value);
            struct codec_reader copy = codec_reader_of(buf_slice(&again));
            expect(codec_get_varint(&copy) == value && codec_at_end(&copy));
            buf_reset(&again);
            before = reader.at;
            break;
        }
        }
        if (!reader.bad) {
            expect(slice_equal(buf_slice(&again),
                               slice_of((const char *)before, (size_t)(reader.at - before))));
        }
        buf_release(&again);
    }
    struct buf json;
    buf_init(&json, 6 * size + 1);
    expect(buf_append_json(&json, slice_of((const char *)data, size)) == STATUS_OK);
    buf_release(&json);
    return 0;
}
