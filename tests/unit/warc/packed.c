#include "tests/unit/warc/packed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zlib.h>

struct slice
pack_zlib(struct slice text, int window, char *packed)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)text.at,
                       .avail_in = (uInt)text.length,
                       .next_out = (Bytef *)packed,
                       .avail_out = PACKED_SIZE};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return slice_of(packed, stream.total_out);
}
