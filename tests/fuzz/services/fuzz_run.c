/* A run's file: whatever the bytes are, reading ends, stays inside them, and gives either records
 * or a reason. Read as they are, and once more with all checks made right, so that what is behind
 * them is reached. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string.h>
#include <zlib.h>

#include "base/codec.h"
#include "queue/storage/run_format.h"

static const struct run_shape shapes[] = {
    {.key_length = 16, .filter_length = 16, .block_length = 256},
    {.key_length = 25, .filter_length = 9, .compress = true, .block_length = 256},
};

static void
read_all(const struct run *run)
{
    struct run_cursor cursor;
    struct reason why = {""};
    run_cursor_init(&cursor);
    enum status status = run_seek(&cursor, run, (struct slice){"", 0}, &why);
    while (status == STATUS_OK && !cursor.ended) {
        (void)run_may_have(run, slice_of((const char *)cursor.key, run_key_length(run)));
        status = run_next(&cursor, &why);
    }
    if (status != STATUS_OK && why.text[0] == '\0') {
        abort();
    }
    run_cursor_release(&cursor);
}

static void
put_check(uint8_t *place, const uint8_t *bytes, size_t n)
{
    codec_write_u32(place, (uint32_t)crc32_z(0, bytes, n));
}

/* Places in the footer: see FORMAT.md. */
enum { AT_BLOCKS = 24, AT_INDEX = 32, AT_FILTER = 48, AT_CHECKS = 64, AT_KEY = 72, AT_CHECK = 76 };

static void
mend_blocks(uint8_t *data, struct slice index, size_t index_at, uint64_t blocks, size_t key_length)
{
    struct codec_reader reader = codec_reader_of(index);
    size_t at = 0;
    for (uint64_t i = 0; i < blocks && !reader.bad; i++) {
        const uint64_t shared = codec_get_varint(&reader);
        if (shared > key_length || (size_t)(reader.end - reader.at) < key_length - shared) {
            return;
        }
        reader.at += key_length - shared;
        const uint64_t length = codec_get_varint(&reader);
        if (length <= RUN_BLOCK_HEADER || length > index_at - at) {
            return;
        }
        put_check(data + at, data + at + 4, length - 4);
        at += length;
    }
}

static void
mend(uint8_t *data, size_t size)
{
    if (size < RUN_FOOTER) {
        return;
    }
    uint8_t *footer = data + size - RUN_FOOTER;
    const uint64_t index_at = codec_read_u64(footer + AT_INDEX);
    const uint64_t filter_at = codec_read_u64(footer + AT_FILTER);
    if (index_at < filter_at && filter_at < size - RUN_FOOTER) {
        mend_blocks(data, slice_of((const char *)data + index_at, filter_at - index_at), index_at,
                    codec_read_u64(footer + AT_BLOCKS), footer[AT_KEY]);
        put_check(footer + AT_CHECKS, data + index_at, filter_at - index_at);
        put_check(footer + AT_CHECKS + 4, data + filter_at, size - RUN_FOOTER - filter_at);
    }
    put_check(footer + AT_CHECK, footer, AT_CHECK);
}

static void
try_bytes(const uint8_t *data, size_t size)
{
    char path[64];
    struct reason why = {""};
    const int file = memfd_create("run", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size) {
        abort();
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct run *run;
        if (run_open(&run, path, &shapes[i], &why) == STATUS_OK) {
            read_all(run);
            run_close(run);
        }
    }
    (void)close(file);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *mended = malloc(size + 1);
    memcpy(mended, data, size);
    mend(mended, size);
    try_bytes(data, size);
    try_bytes(mended, size);
    free(mended);
    return 0;
}
