/* Buffers what a result writer has not handed on yet. */
#include "index/query/results/result_private.h"

enum { PIECE = 64 << 10 };

enum status
result_flush(struct result_writer *writer, bool all, struct reason *why)
{
    if (writer->buf.overflowed) {
        return status_fail(why, STATUS_LIMIT, "a row of the result is too long");
    }
    if (writer->buf.length >= (all ? 1 : PIECE)) {
        const enum status status = writer->piece(writer->context, buf_slice(&writer->buf), why);
        buf_reset(&writer->buf);
        return status;
    }
    return STATUS_OK;
}
