#include "transforms/common/unpack.h"

#include "warc/warc.h"

enum { RATIO = 1000 };

const char *
unpack_coding(struct slice bytes)
{
    if (slice_starts(bytes, SLICE("\x1f\x8b\x08"))) {
        return "gzip";
    }
    return slice_starts(bytes, SLICE("\x28\xb5\x2f\xfd")) ? "zstd" : NULL;
}

const char *
unpack_coding_inside(struct slice bytes, struct slice type)
{
    const bool itself = slice_is(type, "application/gzip") || slice_is(type, "application/zstd");
    return itself ? NULL : unpack_coding(bytes);
}

bool
unpack_head(const char *coding, struct slice bytes, struct buf *out, bool *damaged)
{
    struct reason ignored;
    buf_reset(out);
    *damaged = warc_decode(slice_string(coding), bytes, RATIO, out, &ignored) == STATUS_CORRUPT;
    return out->length > 0;
}

enum status
unpack(const char *coding, struct slice bytes, struct buf *out, struct reason *why)
{
    buf_reset(out);
    const enum status status = warc_decode(slice_string(coding), bytes, RATIO, out, why);
    if (status == STATUS_CORRUPT) {
        return status_fail(why, status,
                           "the %s around the document is damaged or cut off after %zu bytes",
                           coding, out->length);
    }
    if (status == STATUS_LIMIT) {
        return status_fail(why, status, "the %s around the document holds more than %zu bytes",
                           coding, out->length);
    }
    return status;
}
