#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/system/file.h"
#include "queue/storage/run_filter.h"
#include "queue/storage/run_format.h"

struct run {
    char *path;
    int file;
    struct run_footer footer;
    struct run_filter filter;
    uint8_t *first;    /* key of each block, one behind the other */
    uint64_t *offsets; /* of each block, and the end of the last */
};

static enum status
damaged(const struct run *run, uint64_t offset, struct reason *why)
{
    return status_fail(why, STATUS_CORRUPT,
                       "%s is damaged at byte %llu; restore the queue's folder from a copy",
                       run->path, (unsigned long long)offset);
}

static enum status
read_at(const struct run *run, uint64_t offset, void *bytes, size_t n, struct reason *why)
{
    uint8_t *at = bytes;
    while (n > 0) {
        const ssize_t got = pread(run->file, at, n, (off_t)offset);
        if (got < 0 && errno != EINTR) {
            return status_fail_errno(why, "cannot read %s at byte %llu", run->path,
                                     (unsigned long long)offset);
        }
        if (got == 0) {
            return damaged(run, offset, why);
        }
        at += got > 0 ? got : 0;
        offset += got > 0 ? (uint64_t)got : 0;
        n -= got > 0 ? (size_t)got : 0;
    }
    return STATUS_OK;
}

/* ---- opening ---- */

static bool
read_footer(struct run *run, const uint8_t bytes[RUN_FOOTER], uint64_t length)
{
    struct run_footer *footer = &run->footer;
    struct codec_reader reader = codec_reader_of(slice_of((const char *)bytes, RUN_FOOTER));
    footer->totals.records = codec_get_u64(&reader);
    footer->totals.removed = codec_get_u64(&reader);
    footer->totals.prefixes = codec_get_u64(&reader);
    footer->totals.bytes = length;
    footer->blocks = codec_get_u64(&reader);
    footer->index_at = codec_get_u64(&reader);
    footer->index_length = codec_get_u64(&reader);
    footer->filter_at = codec_get_u64(&reader);
    footer->filter_blocks = codec_get_u64(&reader);
    footer->index_check = codec_get_u32(&reader);
    footer->filter_check = codec_get_u32(&reader);
    const uint8_t key_length = codec_get_u8(&reader);
    const uint8_t filter_length = codec_get_u8(&reader);
    const uint8_t version = codec_get_u8(&reader);
    (void)codec_get_u8(&reader);
    const uint32_t check = codec_get_u32(&reader);
    /* every block has at least a header, and a line of two bytes in the index */
    return memcmp(reader.at, RUN_MAGIC, 4) == 0 && version == RUN_VERSION &&
           check == crc32(0, bytes, RUN_FOOTER - 8) && key_length == footer->shape.key_length &&
           filter_length == footer->shape.filter_length && footer->index_at < length &&
           footer->index_length < length && footer->filter_at < length &&
           footer->filter_blocks <= length / sizeof(struct filter_block) &&
           footer->filter_blocks > 0 && footer->filter_blocks <= UINT32_MAX &&
           footer->index_at + footer->index_length == footer->filter_at &&
           footer->filter_at + footer->filter_blocks * sizeof(struct filter_block) + RUN_FOOTER ==
               length &&
           footer->blocks <= footer->index_length / 2 &&
           footer->totals.removed <= footer->totals.records;
}

static enum status
read_index(struct run *run, struct reason *why)
{
    const struct run_footer *footer = &run->footer;
    const size_t key_length = footer->shape.key_length;
    uint8_t *bytes = memory_alloc(footer->index_length + 1);
    const enum status status = read_at(run, footer->index_at, bytes, footer->index_length, why);
    if (status != STATUS_OK) {
        free(bytes);
        return status;
    }
    bool good = crc32_z(0, bytes, footer->index_length) == footer->index_check;
    struct codec_reader reader =
        codec_reader_of(slice_of((const char *)bytes, good ? footer->index_length : 0));
    run->first = memory_zero(footer->blocks + 1, key_length);
    run->offsets = memory_zero(footer->blocks + 1, sizeof *run->offsets);
    uint64_t offset = 0;
    for (uint64_t i = 0; i < footer->blocks && good; i++) {
        uint8_t *key = run->first + i * key_length;
        const uint64_t shared = codec_get_varint(&reader);
        good = shared <= key_length && !reader.bad &&
               (size_t)(reader.end - reader.at) >= key_length - shared && (i > 0 || shared == 0);
        if (good) {
            memcpy(key, key - (i > 0 ? key_length : 0), shared);
            memcpy(key + shared, reader.at, key_length - shared);
            reader.at += key_length - shared;
            const uint64_t length = codec_get_varint(&reader);
            run->offsets[i] = offset;
            offset += length;
            good = length > RUN_BLOCK_HEADER && length <= 2 * RUN_BLOCK_MAXIMUM &&
                   offset <= footer->index_at;
        }
    }
    run->offsets[footer->blocks] = offset;
    good = good && codec_at_end(&reader) && offset == footer->index_at;
    free(bytes);
    return good ? STATUS_OK : damaged(run, footer->index_at, why);
}

static enum status
read_filter(struct run *run, struct reason *why)
{
    const struct run_footer *footer = &run->footer;
    const size_t length = footer->filter_blocks * sizeof(struct filter_block);
    run->filter.count = footer->filter_blocks;
    run->filter.blocks = memory_alloc(length);
    TRY(read_at(run, footer->filter_at, run->filter.blocks, length, why));
    if (crc32_z(0, (const Bytef *)run->filter.blocks, length) != footer->filter_check) {
        return damaged(run, footer->filter_at, why);
    }
    uint32_t *words = run->filter.blocks[0].words;
    for (size_t i = 0; i < length / sizeof *words; i++) {
        words[i] = codec_read_u32((const uint8_t *)&words[i]);
    }
    return STATUS_OK;
}

static enum status
open_run(struct run *run, struct reason *why)
{
    uint8_t footer[RUN_FOOTER];
    struct stat status;
    run->file = open(run->path, O_RDONLY | O_CLOEXEC);
    if (run->file < 0 && errno == ENOENT) {
        return status_fail(why, STATUS_CORRUPT,
                           "%s is missing; restore the queue's folder from a copy", run->path);
    }
    if (run->file < 0 || fstat(run->file, &status) != 0) {
        return status_fail_errno(why, "cannot open %s", run->path);
    }
    const uint64_t length = (uint64_t)status.st_size;
    if (length < RUN_FOOTER) {
        return damaged(run, 0, why);
    }
    TRY(read_at(run, length - RUN_FOOTER, footer, RUN_FOOTER, why));
    if (!read_footer(run, footer, length)) {
        return damaged(run, length - RUN_FOOTER, why);
    }
    TRY(read_index(run, why));
    return read_filter(run, why);
}

enum status
run_open(struct run **run_out, const char *path, const struct run_shape *shape, struct reason *why)
{
    struct run *run = memory_new(sizeof *run);
    run->path = memory_string(path);
    run->file = -1;
    run->footer.shape = *shape;
    const enum status status = open_run(run, why);
    if (status != STATUS_OK) {
        run_close(run);
        run = NULL;
    }
    *run_out = run;
    return status;
}

void
run_close(struct run *run)
{
    if (run != NULL) {
        file_close(run->file);
        free(run->filter.blocks);
        free(run->first);
        free(run->offsets);
        free(run->path);
        free(run);
    }
}

struct run_totals
run_totals(const struct run *run)
{
    return run->footer.totals;
}

size_t
run_key_length(const struct run *run)
{
    return run->footer.shape.key_length;
}

size_t
run_memory(const struct run *run)
{
    return run->filter.count * sizeof(struct filter_block) +
           run->footer.blocks * (run->footer.shape.key_length + sizeof *run->offsets);
}

bool
run_may_have(const struct run *run, struct slice key)
{
    return run_filter_has(
        &run->filter, run_filter_hash((const uint8_t *)key.at, run->footer.shape.filter_length));
}

/* ---- cursors ---- */

void
run_cursor_init(struct run_cursor *cursor)
{
    *cursor = (struct run_cursor){.block = SIZE_MAX, .ended = true};
}

void
run_cursor_release(struct run_cursor *cursor)
{
    free(cursor->stored);
    free(cursor->plain);
    run_cursor_init(cursor);
}

static uint8_t *
room(uint8_t **memory, size_t *capacity, size_t n)
{
    if (*capacity < n) {
        free(*memory);
        *memory = memory_alloc(n);
        *capacity = n;
    }
    return *memory;
}

/* `at` and `end` are what the block holds when it is not compressed. */
static bool
unpack(struct run_cursor *cursor, size_t length)
{
    const uint8_t *stored = cursor->stored;
    const uint32_t plain = codec_read_u32(stored + 5);
    const uint8_t *body = stored + RUN_BLOCK_HEADER;
    const size_t body_length = length - RUN_BLOCK_HEADER;
    if (codec_read_u32(stored) != crc32(0, stored + 4, (uInt)(length - 4)) ||
        plain > 2 * RUN_BLOCK_MAXIMUM) {
        return false;
    }
    if (stored[4] == RUN_PLAIN) {
        cursor->at = body;
        cursor->end = body + body_length;
        return plain == body_length;
    }
    cursor->at = room(&cursor->plain, &cursor->plain_capacity, plain + 1);
    cursor->end = cursor->at + plain;
    return stored[4] == RUN_ZSTD &&
           ZSTD_decompress(cursor->plain, plain, body, body_length) == plain;
}

static enum status
load_block(struct run_cursor *cursor, size_t block, struct reason *why)
{
    const struct run *run = cursor->run;
    const uint64_t offset = run->offsets[block];
    const size_t length = (size_t)(run->offsets[block + 1] - offset);
    uint8_t *stored = room(&cursor->stored, &cursor->stored_capacity, length);
    cursor->block = SIZE_MAX;
    TRY(read_at(run, offset, stored, length, why));
    if (!unpack(cursor, length)) {
        return damaged(run, offset, why);
    }
    cursor->block = block;
    return STATUS_OK;
}

/* The next record of the block; false: it is damaged. */
static bool
decode(struct run_cursor *cursor)
{
    const size_t key_length = cursor->run->footer.shape.key_length;
    struct codec_reader reader = {.at = cursor->at, .end = cursor->end};
    const uint64_t shared = codec_get_varint(&reader);
    if (reader.bad || shared > key_length ||
        (size_t)(reader.end - reader.at) < key_length - shared) {
        return false;
    }
    memcpy(cursor->key + shared, reader.at, key_length - shared);
    reader.at += key_length - shared;
    const uint64_t length = codec_get_varint(&reader);
    if (reader.bad || length >> 1 > (uint64_t)(reader.end - reader.at)) {
        return false;
    }
    cursor->value = slice_of((const char *)reader.at, length >> 1);
    cursor->removed = length & 1;
    cursor->at = reader.at + (length >> 1);
    return true;
}

enum status
run_next(struct run_cursor *cursor, struct reason *why)
{
    if (cursor->at == cursor->end) {
        if (cursor->block + 1 >= cursor->run->footer.blocks) {
            cursor->ended = true;
            return STATUS_OK;
        }
        TRY(load_block(cursor, cursor->block + 1, why));
    }
    return decode(cursor) ? STATUS_OK
                          : damaged(cursor->run, cursor->run->offsets[cursor->block], why);
}

/* The last block whose first key is at most the sought one; 0 when there is none. */
static size_t
block_of(const struct run *run, struct slice key)
{
    const size_t key_length = run->footer.shape.key_length;
    const size_t n = key.length < key_length ? key.length : key_length;
    size_t low = 0;
    size_t high = run->footer.blocks;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const int order = memcmp(run->first + middle * key_length, key.at, n);
        if (order < 0 || (order == 0 && key.length >= key_length)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? low - 1 : 0;
}

enum status
run_seek(struct run_cursor *cursor, const struct run *run, struct slice key, struct reason *why)
{
    const size_t key_length = run->footer.shape.key_length;
    cursor->run = run;
    cursor->ended = run->footer.blocks == 0;
    if (cursor->ended) {
        return STATUS_OK;
    }
    TRY(load_block(cursor, block_of(run, key), why));
    do {
        TRY(run_next(cursor, why));
    } while (!cursor->ended &&
             slice_compare(slice_of((const char *)cursor->key, key_length), key) < 0);
    return STATUS_OK;
}
