/* gzip and zstd around a document: bounded, and what the head gives is how the whole begins. */
#include <stdlib.h>

#include "transforms/common/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { HEAD = 4096, WHOLE = 4 << 20 };
    const struct slice bytes = {(const char *)data, size};
    const char *coding = unpack_coding(bytes);
    struct buf head, whole;
    struct reason why;
    bool damaged;
    if (!coding) {
        return 0;
    }
    buf_init(&head, HEAD);
    buf_init(&whole, WHOLE);
    const bool any = unpack_head(coding, bytes, &head, &damaged);
    const enum status status = unpack(coding, bytes, &whole, &why);
    if (status != STATUS_OK && status != STATUS_CORRUPT && status != STATUS_LIMIT) {
        abort();
    }
    /* When zstd is damaged, the smaller room sometimes gets more than the larger one. */
    if (any != (head.length > 0) ||
        (status == STATUS_OK && !slice_starts(buf_slice(&whole), buf_slice(&head)))) {
        abort();
    }
    buf_release(&head);
    buf_release(&whole);
    return 0;
}
