#include "dumps/spool.h"

#include <errno.h>
#include <lz4.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/system/file.h"

enum { LENGTH_SIZE = 10, RECORD_MAXIMUM = 1 << 30, HASTE = 16 };

struct block {
    char *memory; /* NULL: at offset in the part's file, packed */
    uint64_t offset;
    uint32_t size, packed;
};

struct part {
    pthread_mutex_t lock; /* of all that follows, while it is written to */
    int descriptor;       /* -1: no file yet */
    uint64_t written, bytes;
    struct block *blocks;
    size_t count, capacity;
};

struct spool {
    struct spool_room *room;
    unsigned shift;
    struct part parts[SPOOL_PARTS];
};

/* A block that is being filled. */
struct filling {
    char *bytes;
    size_t held;
};

struct spool_writer {
    struct spool *spool;
    struct buf packed;
    struct filling fillings[SPOOL_PARTS];
};

struct spool *
spool_new(struct spool_room *room, unsigned level)
{
    struct spool *spool = memory_new(sizeof *spool);
    spool->room = room;
    spool->shift = 56 - 8 * level;
    for (size_t i = 0; i < SPOOL_PARTS; i++) {
        spool->parts[i].descriptor = -1;
        pthread_mutex_init(&spool->parts[i].lock, NULL);
    }
    return spool;
}

void
spool_forget(struct spool *spool, unsigned number)
{
    struct part *part = &spool->parts[number];
    for (size_t i = 0; i < part->count; i++) {
        if (part->blocks[i].memory != NULL) {
            atomic_fetch_sub(&spool->room->memory_used, part->blocks[i].size);
            free(part->blocks[i].memory);
        }
    }
    file_close(part->descriptor);
    atomic_fetch_sub(&spool->room->disk_used, part->written);
    free(part->blocks);
    part->blocks = NULL;
    part->descriptor = -1;
    part->written = part->bytes = part->count = part->capacity = 0;
}

void
spool_free(struct spool *spool)
{
    if (spool != NULL) {
        for (unsigned i = 0; i < SPOOL_PARTS; i++) {
            spool_forget(spool, i);
            pthread_mutex_destroy(&spool->parts[i].lock);
        }
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
        TRY(file_open_unnamed(room->folder, &part->descriptor, why));
    }
    if (!file_write_all(part->descriptor, bytes)) {
        return status_fail_errno(why, "cannot write a temporary file in %s", room->folder);
    }
    return STATUS_OK;
}

struct spool_writer *
spool_writer_new(struct spool *spool)
{
    struct spool_writer *writer = memory_new(sizeof *writer);
    writer->spool = spool;
    buf_init(&writer->packed, SIZE_MAX / 2);
    return writer;
}

void
spool_writer_free(struct spool_writer *writer)
{
    if (writer != NULL) {
        for (size_t i = 0; i < SPOOL_PARTS; i++) {
            free(writer->fillings[i].bytes);
        }
        buf_release(&writer->packed);
        free(writer);
    }
}

static void
append_block(struct part *part, struct block block)
{
    if (part->count == part->capacity) {
        part->capacity = part->capacity ? 2 * part->capacity : 16;
        part->blocks = memory_resize(part->blocks, part->capacity, sizeof *part->blocks);
    }
    part->blocks[part->count++] = block;
    part->bytes += block.size;
}

/* Packed, to the part's file. */
static enum status
put_out(struct spool_writer *writer, struct part *part, struct slice bytes, struct reason *why)
{
    buf_reset(&writer->packed);
    const int bound = LZ4_compressBound((int)bytes.length);
    const int packed = LZ4_compress_fast(bytes.at, buf_reserve(&writer->packed, (size_t)bound),
                                         (int)bytes.length, bound, HASTE);
    pthread_mutex_lock(&part->lock);
    const struct block block = {
        .offset = part->written, .size = (uint32_t)bytes.length, .packed = (uint32_t)packed};
    const enum status status =
        write_out(writer->spool, part, slice_of(writer->packed.data, block.packed), why);
    if (status == STATUS_OK) {
        append_block(part, block);
    }
    pthread_mutex_unlock(&part->lock);
    return status;
}

/* The memory becomes the block's where there is room. */
static enum status
close_block(struct spool_writer *writer, struct part *part, struct filling *filling,
            struct reason *why)
{
    struct spool_room *room = writer->spool->room;
    const uint64_t size = filling->held;
    enum status status = STATUS_OK;
    if (atomic_fetch_add(&room->memory_used, size) + size <= room->memory) {
        pthread_mutex_lock(&part->lock);
        append_block(part, (struct block){.memory = filling->bytes, .size = (uint32_t)size});
        pthread_mutex_unlock(&part->lock);
        filling->bytes = NULL;
    } else {
        atomic_fetch_sub(&room->memory_used, size);
        status = put_out(writer, part, slice_of(filling->bytes, filling->held), why);
    }
    filling->held = 0;
    return status;
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

enum status
spool_make(struct spool_writer *writer, uint64_t hash, size_t length, char **at, struct reason *why)
{
    const size_t block = writer->spool->room->block;
    const size_t number = (hash >> writer->spool->shift) % SPOOL_PARTS;
    struct filling *filling = &writer->fillings[number];
    if (length > RECORD_MAXIMUM) {
        return status_fail(why, STATUS_LIMIT, "a record of more than %d bytes", RECORD_MAXIMUM);
    }
    if (filling->held > 0 && filling->held + length + LENGTH_SIZE > block) {
        TRY(close_block(writer, &writer->spool->parts[number], filling, why));
    }
    if (length + LENGTH_SIZE > block) { /* a block by itself */
        free(filling->bytes);
        filling->bytes = memory_alloc(length + LENGTH_SIZE);
    } else if (filling->bytes == NULL) {
        filling->bytes = memory_alloc(block);
    }
    filling->held += put_length(filling->bytes + filling->held, length);
    *at = filling->bytes + filling->held;
    filling->held += length;
    return STATUS_OK;
}

enum status
spool_add(struct spool_writer *writer, uint64_t hash, struct slice record, struct reason *why)
{
    char *at;
    TRY(spool_make(writer, hash, record.length, &at, why));
    memcpy(at, record.at, record.length);
    return STATUS_OK;
}

enum status
spool_flush(struct spool_writer *writer, struct reason *why)
{
    for (size_t i = 0; i < SPOOL_PARTS; i++) {
        struct filling *filling = &writer->fillings[i];
        if (filling->held > 0) {
            TRY(close_block(writer, &writer->spool->parts[i], filling, why));
        }
        free(filling->bytes);
        filling->bytes = NULL;
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
    char *to = buf_reserve(bytes, block->size);
    if (block->memory != NULL) {
        memcpy(to, block->memory, block->size);
        buf_commit(bytes, block->size);
        return STATUS_OK;
    }
    buf_reset(packed);
    char *from = buf_reserve(packed, block->packed);
    TRY(read_at(spool, part->descriptor, block->offset, from, block->packed, why));
    if (LZ4_decompress_safe(from, to, (int)block->packed, (int)block->size) != (int)block->size) {
        return status_fail(why, STATUS_CORRUPT, "a temporary file in %s was changed",
                           spool->room->folder);
    }
    buf_commit(bytes, block->size);
    return STATUS_OK;
}

enum status
spool_load(const struct spool *spool, unsigned number, struct buf *bytes, size_t most, bool *whole,
           struct reason *why)
{
    const struct part *part = &spool->parts[number];
    enum status status = STATUS_OK;
    struct buf packed;
    size_t i = 0;
    buf_init(&packed, SIZE_MAX / 2);
    buf_reset(bytes);
    for (; i < part->count && bytes->length + part->blocks[i].size <= most && status == STATUS_OK;
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
