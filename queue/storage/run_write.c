#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/codec.h"
#include "base/memory.h"
#include "base/system/file.h"
#include "queue/storage/run_filter.h"
#include "queue/storage/run_format.h"

enum { OUT_BYTES = 256 << 10, INDEX_MAXIMUM_SHIFT = 36 };

struct run_writer {
    char *path;
    int file;
    struct run_footer footer;
    run_fault *fault;
    void *fault_context;
    struct run_filter filter;
    struct buf block, out, index;
    uint64_t written; /* bytes handed to `out`, ever */
    uint8_t first[RUN_KEY_MAXIMUM], last[RUN_KEY_MAXIMUM], indexed[RUN_KEY_MAXIMUM];
    uint8_t *packed; /* room for a compressed block */
    ZSTD_CCtx *compressor;
};

static enum status
fail(const struct run_writer *writer, int error, struct reason *why)
{
    errno = error;
    const enum status status = status_fail_errno(why, "cannot write %s", writer->path);
    return error == ENOSPC || error == EDQUOT ? STATUS_FULL : status;
}

static int
strike(const struct run_writer *writer)
{
    return writer->fault == NULL ? 0 : writer->fault(writer->fault_context);
}

enum status
run_writer_open(struct run_writer **writer_out, const char *path, const struct run_shape *shape,
                uint64_t prefixes, run_fault *fault, void *fault_context, struct reason *why)
{
    struct run_writer *writer = memory_new(sizeof *writer);
    writer->path = memory_string(path);
    writer->footer.shape = *shape;
    writer->fault = fault;
    writer->fault_context = fault_context;
    buf_init(&writer->block, 2 * RUN_BLOCK_MAXIMUM);
    buf_init(&writer->out, OUT_BYTES + 2 * RUN_BLOCK_MAXIMUM);
    buf_init(&writer->index, (size_t)1 << INDEX_MAXIMUM_SHIFT);
    writer->filter.count = run_filter_blocks(prefixes);
    writer->filter.blocks = memory_zero(writer->filter.count, sizeof *writer->filter.blocks);
    if (shape->compress) {
        writer->compressor = ZSTD_createCCtx();
        writer->packed = memory_alloc(ZSTD_COMPRESSBOUND(2 * RUN_BLOCK_MAXIMUM));
    }
    *writer_out = writer;
    const int error = strike(writer);
    writer->file = error == 0 ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (writer->file < 0) {
        const enum status status = fail(writer, error != 0 ? error : errno, why);
        run_writer_drop(writer);
        *writer_out = NULL;
        return status;
    }
    return STATUS_OK;
}

void
run_writer_drop(struct run_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    file_close(writer->file);
    buf_release(&writer->block);
    buf_release(&writer->out);
    buf_release(&writer->index);
    ZSTD_freeCCtx(writer->compressor);
    free(writer->packed);
    free(writer->filter.blocks);
    free(writer->path);
    free(writer);
}

static enum status
flush(struct run_writer *writer, struct reason *why)
{
    const int error = strike(writer);
    if (error != 0 || !file_write_all(writer->file, buf_slice(&writer->out))) {
        return fail(writer, error != 0 ? error : errno, why);
    }
    buf_reset(&writer->out);
    return STATUS_OK;
}

static enum status
emit(struct run_writer *writer, const void *bytes, size_t n, struct reason *why)
{
    writer->written += n;
    (void)buf_append(&writer->out, bytes, n);
    return writer->out.length >= OUT_BYTES ? flush(writer, why) : STATUS_OK;
}

static size_t
shared_length(const uint8_t *a, const uint8_t *b, size_t most)
{
    size_t n = 0;
    while (n < most && a[n] == b[n]) {
        n++;
    }
    return n;
}

static enum status
close_block(struct run_writer *writer, struct reason *why)
{
    const size_t key_length = writer->footer.shape.key_length;
    uint8_t header[RUN_BLOCK_HEADER];
    struct slice body = buf_slice(&writer->block);
    if (body.length == 0) {
        return STATUS_OK;
    }
    header[4] = RUN_PLAIN;
    codec_write_u32(header + 5, (uint32_t)body.length);
    if (writer->compressor != NULL) {
        const size_t n =
            ZSTD_compressCCtx(writer->compressor, writer->packed, ZSTD_compressBound(body.length),
                              body.at, body.length, RUN_ZSTD_LEVEL);
        if (!ZSTD_isError(n) && n < body.length) {
            header[4] = RUN_ZSTD;
            body = slice_of((const char *)writer->packed, n);
        }
    }
    uLong check = crc32(0, header + 4, RUN_BLOCK_HEADER - 4);
    check = crc32(check, (const Bytef *)body.at, (uInt)body.length);
    codec_write_u32(header, (uint32_t)check);
    const size_t shared =
        writer->footer.blocks == 0 ? 0 : shared_length(writer->indexed, writer->first, key_length);
    codec_put_varint(&writer->index, shared);
    (void)buf_append(&writer->index, writer->first + shared, key_length - shared);
    codec_put_varint(&writer->index, RUN_BLOCK_HEADER + body.length);
    memcpy(writer->indexed, writer->first, key_length);
    writer->footer.blocks++;
    buf_reset(&writer->block);
    TRY(emit(writer, header, sizeof header, why));
    return emit(writer, body.at, body.length, why);
}

enum status
run_writer_add(struct run_writer *writer, struct slice key, struct slice value, bool removed,
               struct reason *why)
{
    const struct run_shape *shape = &writer->footer.shape;
    struct run_totals *totals = &writer->footer.totals;
    const uint8_t *bytes = (const uint8_t *)key.at;
    if (key.length != shape->key_length || value.length > RUN_VALUE_MAXIMUM) {
        return status_fail(why, STATUS_MISUSE, "%s: a record of %zu and %zu bytes", writer->path,
                           key.length, value.length);
    }
    if (totals->records == 0 || memcmp(writer->last, bytes, shape->filter_length) != 0) {
        run_filter_add(&writer->filter, run_filter_hash(bytes, shape->filter_length));
        totals->prefixes++;
    }
    size_t shared = 0;
    if (writer->block.length == 0) {
        memcpy(writer->first, bytes, key.length);
    } else {
        shared = shared_length(writer->last, bytes, key.length);
    }
    codec_put_varint(&writer->block, shared);
    (void)buf_append(&writer->block, bytes + shared, key.length - shared);
    codec_put_varint(&writer->block, value.length << 1 | removed);
    (void)buf_append_slice(&writer->block, value);
    memcpy(writer->last, bytes, key.length);
    totals->records++;
    totals->removed += removed;
    return writer->block.length >= shape->block_length ? close_block(writer, why) : STATUS_OK;
}

static enum status
emit_filter(struct run_writer *writer, struct reason *why)
{
    uLong check = 0;
    for (uint64_t i = 0; i < writer->filter.count; i++) {
        uint8_t bytes[sizeof(struct filter_block)];
        for (int word = 0; word < 8; word++) {
            codec_write_u32(bytes + 4 * word, writer->filter.blocks[i].words[word]);
        }
        check = crc32(check, bytes, sizeof bytes);
        TRY(emit(writer, bytes, sizeof bytes, why));
    }
    writer->footer.filter_check = (uint32_t)check;
    return STATUS_OK;
}

static enum status
emit_footer(struct run_writer *writer, struct reason *why)
{
    const struct run_footer *footer = &writer->footer;
    struct buf bytes;
    buf_init(&bytes, RUN_FOOTER);
    codec_put_u64(&bytes, footer->totals.records);
    codec_put_u64(&bytes, footer->totals.removed);
    codec_put_u64(&bytes, footer->totals.prefixes);
    codec_put_u64(&bytes, footer->blocks);
    codec_put_u64(&bytes, footer->index_at);
    codec_put_u64(&bytes, footer->index_length);
    codec_put_u64(&bytes, footer->filter_at);
    codec_put_u64(&bytes, footer->filter_blocks);
    codec_put_u32(&bytes, footer->index_check);
    codec_put_u32(&bytes, footer->filter_check);
    codec_put_u8(&bytes, footer->shape.key_length);
    codec_put_u8(&bytes, footer->shape.filter_length);
    codec_put_u8(&bytes, RUN_VERSION);
    codec_put_u8(&bytes, 0);
    codec_put_u32(&bytes, (uint32_t)crc32(0, (const Bytef *)bytes.data, (uInt)bytes.length));
    (void)buf_append_string(&bytes, RUN_MAGIC);
    const enum status status = emit(writer, bytes.data, bytes.length, why);
    buf_release(&bytes);
    return status;
}

static uint32_t
check_of(struct slice bytes)
{
    return (uint32_t)crc32_z(0, (const Bytef *)bytes.at, bytes.length);
}

static enum status
write_end(struct run_writer *writer, struct reason *why)
{
    struct run_footer *footer = &writer->footer;
    TRY(close_block(writer, why));
    footer->index_at = writer->written;
    footer->index_length = writer->index.length;
    footer->index_check = check_of(buf_slice(&writer->index));
    for (size_t at = 0; at < writer->index.length; at += OUT_BYTES) {
        const size_t left = writer->index.length - at;
        TRY(emit(writer, writer->index.data + at, left < OUT_BYTES ? left : OUT_BYTES, why));
    }
    footer->filter_at = writer->written;
    footer->filter_blocks = writer->filter.count;
    TRY(emit_filter(writer, why));
    TRY(emit_footer(writer, why));
    return flush(writer, why);
}

/* The file's name is safe when its folder is. */
static enum status
sync_all(struct run_writer *writer, struct reason *why)
{
    char *path = memory_string(writer->path);
    int error = strike(writer);
    if (error == 0 && fsync(writer->file) != 0) {
        error = errno;
    }
    error = error == 0 ? strike(writer) : error;
    const int folder = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (error == 0 && (folder < 0 || fsync(folder) != 0)) {
        error = errno;
    }
    file_close(folder);
    free(path);
    return error == 0 ? STATUS_OK : fail(writer, error, why);
}

enum status
run_writer_finish(struct run_writer *writer, struct run_totals *totals, struct reason *why)
{
    enum status status = write_end(writer, why);
    if (status == STATUS_OK) {
        status = sync_all(writer, why);
    }
    writer->footer.totals.bytes = writer->written;
    *totals = writer->footer.totals;
    run_writer_drop(writer);
    return status;
}
