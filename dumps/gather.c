#include "dumps/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { BUCKET_BITS = 16, INSERTION_MAXIMUM = 32, HASH_SIZE = 8, FIRST_RECORDS = 4096 };

static uint64_t
hash_of(struct slice record)
{
    uint64_t hash = 0;
    memcpy(&hash, record.at, record.length < HASH_SIZE ? record.length : HASH_SIZE);
    return hash;
}

static int
compare_hashes(const void *a, const void *b)
{
    const struct gathered *left = a, *right = b;
    return (left->hash > right->hash) - (left->hash < right->hash);
}

/* Few at a time, but for documents that have much, or if a dataset is made so that many hashes
 * begin alike. */
static void
sort_bucket(struct gathered *records, size_t count)
{
    size_t alike = 0;
    while (alike < count && records[alike].hash == records->hash) {
        alike++;
    }
    if (alike == count) {
        return;
    }
    if (count > INSERTION_MAXIMUM) {
        qsort(records, count, sizeof *records, compare_hashes);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const struct gathered record = records[i];
        size_t at = i;
        for (; at > 0 && records[at - 1].hash > record.hash; at--) {
            records[at] = records[at - 1];
        }
        records[at] = record;
    }
}

/* In order of their hashes. The first `shift` bits are the same in all of them; about as many as
 * tell the records apart, next to these, choose buckets. */
static void
sort_records(struct gather *gather, unsigned shift)
{
    unsigned bits = 1;
    while (bits < BUCKET_BITS && (size_t)1 << bits < gather->count) {
        bits++;
    }
    const size_t buckets = (size_t)1 << bits;
    const struct gathered *records = gather->records;
    uint32_t *ends = gather->ends;
    memset(ends, 0, (buckets + 1) * sizeof *ends);
    for (size_t i = 0; i < gather->count; i++) {
        ends[((records[i].hash << shift) >> (64 - bits)) + 1]++;
    }
    for (size_t i = 0; i < buckets; i++) {
        ends[i + 1] += ends[i];
    }
    for (size_t i = 0; i < gather->count; i++) {
        gather->sorted[ends[(records[i].hash << shift) >> (64 - bits)]++] = records[i];
    }
    for (size_t i = 0, start = 0; i < buckets; start = ends[i++]) {
        sort_bucket(&gather->sorted[start], ends[i] - start);
    }
}

/* Records of a part in order of their hashes. *whole: false: the buffer took only some of them. */
static enum status
load_part(struct gather *gather, const struct spool *spool, unsigned part, unsigned level,
          bool *whole, struct reason *why)
{
    TRY(spool_load(spool, part, &gather->bytes, gather->most, whole, why));
    buf_reserve(&gather->bytes, GATHER_SLACK);
    struct slice rest = buf_slice(&gather->bytes), record;
    gather->count = 0;
    while (spool_next(&rest, &record)) {
        if (gather->count == gather->capacity) {
            gather->capacity = gather->capacity ? 2 * gather->capacity : FIRST_RECORDS;
            gather->records =
                memory_resize(gather->records, gather->capacity, sizeof *gather->records);
            gather->sorted =
                memory_resize(gather->sorted, gather->capacity, sizeof *gather->sorted);
        }
        gather->records[gather->count++] = (struct gathered){hash_of(record), record};
    }
    sort_records(gather, 8 * (level + 1));
    return STATUS_OK;
}

struct respread {
    struct spool *spool;
    struct spool_writer *writer;
};

static enum status
respread_record(void *context, struct slice record, struct reason *why)
{
    const struct respread *respread = context;
    return spool_add(respread->writer, hash_of(record), record, why);
}

static enum status walk_level(struct gather *gather, struct spool *spool, unsigned part,
                              unsigned level, gather_group *group, void *context,
                              struct reason *why);

static enum status
walk_respread(struct gather *gather, struct spool *spool, unsigned part, unsigned level,
              gather_group *group, void *context, struct reason *why)
{
    struct respread respread = {.spool = spool_new(gather->room, level)};
    respread.writer = spool_writer_new(respread.spool);
    enum status status = spool_walk(spool, part, respread_record, &respread, why);
    if (status == STATUS_OK) {
        status = spool_flush(respread.writer, why);
    }
    spool_writer_free(respread.writer);
    spool_forget(spool, part);
    for (unsigned i = 0; i < SPOOL_PARTS && status == STATUS_OK; i++) {
        status = walk_level(gather, respread.spool, i, level, group, context, why);
    }
    spool_free(respread.spool);
    return status;
}

static enum status
walk_level(struct gather *gather, struct spool *spool, unsigned part, unsigned level,
           gather_group *group, void *context, struct reason *why)
{
    bool whole = true;
    if (spool_part_bytes(spool, part) > gather->most && level + 1 < SPOOL_LEVELS) {
        return walk_respread(gather, spool, part, level + 1, group, context, why);
    }
    TRY(load_part(gather, spool, part, level, &whole, why));
    for (size_t i = 0, end; i < gather->count; i = end) {
        for (end = i + 1; end < gather->count && gather->sorted[end].hash == gather->sorted[i].hash;
             end++) {
        }
        TRY(group(context, &gather->sorted[i], end - i, gather->count - end, !whole, why));
    }
    spool_forget(spool, part);
    return STATUS_OK;
}

enum status
gather_part(struct gather *gather, struct spool *spool, unsigned part, gather_group *group,
            void *context, struct reason *why)
{
    return walk_level(gather, spool, part, 0, group, context, why);
}

void
gather_init(struct gather *gather, struct spool_room *room, uint64_t memory)
{
    *gather = (struct gather){.room = room};
    gather->ends = memory_alloc(((1 << BUCKET_BITS) + 1) * sizeof *gather->ends);
    gather->most = (size_t)memory;
    buf_init(&gather->bytes, SIZE_MAX / 2);
}

void
gather_release(struct gather *gather)
{
    buf_release(&gather->bytes);
    free(gather->records);
    free(gather->sorted);
    free(gather->ends);
}
