/* A record as it may come from another node or another program, plain or as a gzip member, and
 * its body through every content coding. */
#include <stdlib.h>

#include "warc/warc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_inside(const struct buf *memory, struct slice part)
{
    if (part.length > 0 &&
        (part.at < memory->data || part.at + part.length > memory->data + memory->length)) {
        abort();
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const codings[] = {"gzip", "deflate", "br", "zstd", "gzip, br", "x"};
    const struct warc_limits limits = {.record = 1 << 20, .body = 1 << 20, .ratio = 100};
    const struct slice bytes = slice_of((const char *)data, size);
    struct warc_record record;
    struct buf memory;
    buf_init(&memory, 4 << 20);
    if (warc_read_member(bytes, &limits, &memory, &record, NULL) == STATUS_OK) {
        check_inside(&memory, record.header);
        check_inside(&memory, record.http_header);
        check_inside(&memory, record.payload);
        check_inside(&memory, record.body);
    }
    for (size_t i = 0; i < sizeof codings / sizeof codings[0]; i++) {
        buf_reset(&memory);
        (void)warc_decode(slice_string(codings[i]), bytes, 100, &memory, NULL);
        if (memory.length > memory.maximum) {
            abort();
        }
    }
    buf_release(&memory);
    return 0;
}
