#include "dumps/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/memory.h"

enum { BLOCK_BYTES = 32 << 10, LENGTH_SIZE = 10, BLOCK_MAXIMUM = LZ4_MAX_INPUT_SIZE, HASTE = 4 };

struct block {
    char *memory; /* NULL: at offset in the part's file */
    uint64_t offset;
    uint32_t packed, unpacked;
};

struct part {
    int descriptor; /* -1: no file yet */
    uint64_t written, bytes;
    char *open; /* the block that is being filled */
    size_t held;
    struct block *blocks;
    size_t count, capacity;
};

struct spool {
    struct spool_room *room;
    unsigned shift;
    struct buf packed;
    struct part parts[SPOOL_PARTS];
};

struct spool *
spool_new(struct spool_room *room, unsigned level)
{
    struct spool *spool = memory_zero(1, sizeof *spool);
    spool->room = room;
    spool->shift = 56 - 8 * level;
    buf_init(&spool->packed, SIZE_MAX / 2);
    for (size_t i = 0; i < SPOOL_PARTS; i++) {
        spool->parts[i].descriptor = -1;
    }
    return spool;
}

void
spool_forget(struct spool *spool, unsigned number)
{
    struct part *part = &spool->parts[number];
    for (size_t i = 0; i < part->count; i++) {
        if (part->blocks[i].memory != NULL) {
            atomic_fetch_sub(&spool->room->memory_used, part->blocks[i].packed);
            free(part->blocks[i].memory);
        }
    }
    if (part->descriptor >= 0) {
        close(part->descriptor);
    }
    atomic_fetch_sub(&spool->room->disk_used, part->written);
    free(part->blocks);
    free(part->open);
    *part = (struct part){.descriptor = -1};
}

void
spool_free(struct spool *spool)
{
    if (spool != NULL) {
        for (unsigned i = 0; i < SPOOL_PARTS; i++) {
            spool_forget(spool, i);
        }
        buf_release(&spool->packed);
        free(spool);
    }
}

/* ---- writing ---- */

static enum status
write_out(struct spool *spool, struct part *part, struct slice bytes, struct reason *why)
{
    struct spool_room *room = spool->room;
    const uint64_t used = atomic_fetch_add(&room->disk_used, bytes.length) + bytes.length;
    part->written += bytes.length;
    if (used > room->disk) {
        return status_fail(why, STATUS_LIMIT,
                           "temporary files in %s would take more than %llu bytes", room->folder,
                           (unsigned long long)room->disk);
    }
    if (used > atomic_load(&room->disk_peak)) {
        atomic_store(&room->disk_peak, used);
    }
    if (part->descriptor < 0) {
        part->descriptor = open(room->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (part->descriptor < 0) {
            return status_fail_errno(why, "cannot make a temporary file in %s", room->folder);
        }
    }
    while (bytes.length > 0) {
        const ssize_t n = write(part->descriptor, bytes.at, bytes.length);
        if (n < 0 && errno != EINTR) {
            return status_fail_errno(why, "cannot write a temporary file in %s", room->folder);
        }
        if (n > 0) {
            bytes = slice_of(bytes.at + n, bytes.length - (size_t)n);
        }
    }
    return STATUS_OK;
}

static enum status
close_block(struct spool *spool, struct part *part, struct slice bytes, struct reason *why)
{
    buf_reset(&spool->packed);
    const int bound = LZ4_compressBound((int)bytes.length);
    const int packed = LZ4_compress_fast(bytes.at, buf_reserve(&spool->packed, (size_t)bound),
                                         (int)bytes.length, bound, HASTE);
    if (part->count == part->capacity) {
        part->capacity = part->capacity ? 2 * part->capacity : 16;
        part->blocks = memory_resize(part->blocks, part->capacity, sizeof *part->blocks);
    }
    struct block *block = &part->blocks[part->count++];
    *block = (struct block){.packed = (uint32_t)packed, .unpacked = (uint32_t)bytes.length};
    part->bytes += bytes.length;
    if (atomic_fetch_add(&spool->room->memory_used, block->packed) + block->packed <=
        spool->room->memory) {
        block->memory = memory_alloc(block->packed);
        memcpy(block->memory, spool->packed.data, block->packed);
        return STATUS_OK;
    }
    atomic_fetch_sub(&spool->room->memory_used, block->packed);
    block->offset = part->written;
    return write_out(spool, part, slice_of(spool->packed.data, block->packed), why);
}

static size_t
put_length(char *at, size_t length)
{
    size_t n = 0;
    for (; length > 0x7f; length >>= 7) {
        at[n++] = (char)((length & 0x7f) | 0x80);
    }
    at[n++] = (char)length;
    return n;
}

/* A record that is larger than a block is one by itself. */
static enum status
add_alone(struct spool *spool, struct part *part, struct slice record, struct reason *why)
{
    if (record.length > BLOCK_MAXIMUM - LENGTH_SIZE) {
        return status_fail(why, STATUS_LIMIT, "a record of more than %d bytes", BLOCK_MAXIMUM);
    }
    char *bytes = memory_alloc(record.length + LENGTH_SIZE);
    const size_t n = put_length(bytes, record.length);
    memcpy(bytes + n, record.at, record.length);
    const enum status status = close_block(spool, part, slice_of(bytes, n + record.length), why);
    free(bytes);
    return status;
}

enum status
spool_add(struct spool *spool, uint64_t hash, struct slice record, struct reason *why)
{
    struct part *part = &spool->parts[(hash >> spool->shift) % SPOOL_PARTS];
    if (part->held + record.length + LENGTH_SIZE > BLOCK_BYTES) {
        if (part->held > 0) {
            TRY(close_block(spool, part, slice_of(part->open, part->held), why));
            part->held = 0;
        }
        if (record.length + LENGTH_SIZE > BLOCK_BYTES) {
            return add_alone(spool, part, record, why);
        }
    }
    if (part->open == NULL) {
        part->open = memory_alloc(BLOCK_BYTES);
    }
    part->held += put_length(part->open + part->held, record.length);
    memcpy(part->open + part->held, record.at, record.length);
    part->held += record.length;
    return STATUS_OK;
}

enum status
spool_flush(struct spool *spool, struct reason *why)
{
    for (size_t i = 0; i < SPOOL_PARTS; i++) {
        struct part *part = &spool->parts[i];
        if (part->held > 0) {
            TRY(close_block(spool, part, slice_of(part->open, part->held), why));
            part->held = 0;
        }
        free(part->open);
        part->open = NULL;
    }
    return STATUS_OK;
}

/* ---- reading ---- */

uint64_t
spool_part_bytes(const struct spool *spool, unsigned part)
{
    return spool->parts[part].bytes;
}

static enum status
read_at(const struct spool *spool, int descriptor, uint64_t offset, char *bytes, size_t length,
        struct reason *why)
{
    while (length > 0) {
        const ssize_t n = pread(descriptor, bytes, length, (off_t)offset);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return status_fail_errno(why, "cannot read a temporary file in %s",
                                     spool->room->folder);
        }
        if (n > 0) {
            offset += (uint64_t)n;
            bytes += n;
            length -= (size_t)n;
        }
    }
    return STATUS_OK;
}

/* Appends a block's records; packed: memory for one that lies in the file. */
static enum status
unpack(const struct spool *spool, const struct part *part, const struct block *block,
       struct buf *packed, struct buf *bytes, struct reason *why)
{
    const char *from = block->memory;
    if (from == NULL) {
        buf_reset(packed);
        char *into = buf_reserve(packed, block->packed);
        TRY(read_at(spool, part->descriptor, block->offset, into, block->packed, why));
        from = into;
    }
    if (LZ4_decompress_safe(from, buf_reserve(bytes, block->unpacked), (int)block->packed,
                            (int)block->unpacked) != (int)block->unpacked) {
        return status_fail(why, STATUS_CORRUPT, "a temporary file in %s was changed",
                           spool->room->folder);
    }
    buf_commit(bytes, block->unpacked);
    return STATUS_OK;
}

enum status
spool_load(const struct spool *spool, unsigned number, struct buf *bytes, bool *whole,
           struct reason *why)
{
    const struct part *part = &spool->parts[number];
    enum status status = STATUS_OK;
    struct buf packed;
    size_t i = 0;
    buf_init(&packed, SIZE_MAX / 2);
    buf_reset(bytes);
    for (; i < part->count && bytes->length + part->blocks[i].unpacked <= bytes->maximum &&
           status == STATUS_OK;
         i++) {
        status = unpack(spool, part, &part->blocks[i], &packed, bytes, why);
    }
    *whole = i == part->count;
    buf_release(&packed);
    return status;
}

bool
spool_next(struct slice *bytes, struct slice *record)
{
    struct codec_reader reader = codec_reader_of(*bytes);
    *record = codec_get_slice(&reader);
    if (reader.bad || bytes->length == 0) {
        return false;
    }
    *bytes = slice_of((const char *)reader.at, (size_t)(reader.end - reader.at));
    return true;
}

enum status
spool_walk(struct spool *spool, unsigned number, spool_visit *visit, void *context,
           struct reason *why)
{
    const struct part *part = &spool->parts[number];
    struct buf bytes, packed;
    enum status status = STATUS_OK;
    buf_init(&bytes, SIZE_MAX / 2);
    buf_init(&packed, SIZE_MAX / 2);
    for (size_t i = 0; i < part->count && status == STATUS_OK; i++) {
        buf_reset(&bytes);
        status = unpack(spool, part, &part->blocks[i], &packed, &bytes, why);
        struct slice rest = buf_slice(&bytes), record;
        while (status == STATUS_OK && spool_next(&rest, &record)) {
            status = visit(context, record, why);
        }
    }
    buf_release(&bytes);
    buf_release(&packed);
    return status;
}
