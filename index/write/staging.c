#include "index/write/staging.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/codec.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/system/file.h"
#include "index/statistics/statistics.h"

enum {
    PATH_SIZE = 4096,
    WRITE_BYTES = 1 << 20,
    READ_BYTES = 128 << 10,
    HEAD_SIZE = 2 + 8, /* of a block: length, checksum */
    RECORD_KIND = 'W',
    RECORD_NUMBERS = 4
};

struct run {
    uint64_t offset, bytes, rows, terms;
};

struct staging {
    struct tree *statistics;
    int file;
    struct run runs[WAITING_RUNS_MOST];
    size_t count;
    atomic_uint_fast64_t rows;

    struct run adding; /* the run under way */
    struct buf buffer; /* its bytes that are not in the file yet */
    struct rows_writer writer;
    uint8_t block[BLOCK_MAXIMUM + ROW_BYTES_MOST];
};

/* ---- life ---- */

static struct slice
record_key(size_t run, uint8_t key[STATISTIC_KEY_SIZE])
{
    return statistic_key((enum statistic)RECORD_KIND, run, key);
}

static enum status
read_records(struct staging *staging, struct reason *why)
{
    uint64_t end = 0;
    while (staging->count < WAITING_RUNS_MOST) {
        uint8_t key[STATISTIC_KEY_SIZE];
        uint64_t numbers[RECORD_NUMBERS];
        const enum status status = statistics_read(
            staging->statistics, record_key(staging->count, key), numbers, RECORD_NUMBERS, why);
        if (status == STATUS_NOT_FOUND) {
            break;
        }
        TRY(status);
        struct run *run = &staging->runs[staging->count++];
        *run = (struct run){numbers[0], numbers[1], numbers[2], numbers[3]};
        if (run->offset != end) {
            return status_fail(why, STATUS_CORRUPT, "quads that wait: a run is missing");
        }
        end += run->bytes;
        atomic_fetch_add(&staging->rows, run->rows);
    }
    return STATUS_OK;
}

enum status
staging_open(struct staging **result, const char *folder, struct tree *statistics,
             struct reason *why)
{
    char path[PATH_SIZE];
    struct staging *staging = memory_new(sizeof(*staging));
    staging->statistics = statistics;
    buf_init(&staging->buffer, 2 * WRITE_BYTES);
    snprintf(path, sizeof(path), "%s/waiting", folder);
    staging->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    enum status status = staging->file >= 0 ? read_records(staging, why)
                                            : status_fail_errno(why, "cannot open %s", path);
    if (status != STATUS_OK) {
        staging_close(staging);
        staging = NULL;
    }
    *result = staging;
    return status;
}

void
staging_close(struct staging *staging)
{
    if (staging != NULL) {
        file_close(staging->file);
        buf_release(&staging->buffer);
        free(staging);
    }
}

uint64_t
staging_rows(const struct staging *staging)
{
    return atomic_load(&staging->rows);
}

uint64_t
staging_terms(const struct staging *staging)
{
    return staging->count > 0 ? staging->runs[0].terms : UINT64_MAX;
}

size_t
staging_runs(const struct staging *staging)
{
    return staging->count;
}

/* ---- adding ---- */

void
staging_begin(struct staging *staging)
{
    const struct run *last = &staging->runs[staging->count > 0 ? staging->count - 1 : 0];
    staging->adding = (struct run){.offset = last->offset + last->bytes};
    buf_reset(&staging->buffer);
    rows_begin(&staging->writer, ORDER_CSPO, staging->block, BLOCK_MAXIMUM);
}

static enum status
flush(struct staging *staging, struct reason *why)
{
    struct run *run = &staging->adding;
    TRY(environment_write_file(staging->file, buf_slice(&staging->buffer), run->offset + run->bytes,
                               why));
    run->bytes += staging->buffer.length;
    buf_reset(&staging->buffer);
    return STATUS_OK;
}

static enum status
end_block(struct staging *staging, struct reason *why)
{
    uint8_t head[HEAD_SIZE];
    const size_t length = rows_end(&staging->writer);
    const struct slice block = slice_of((const char *)staging->block, length);
    codec_write_u16(head, (uint16_t)length);
    codec_write_u64(head + 2, fingerprint64(block));
    (void)buf_append(&staging->buffer, head, sizeof(head));
    (void)buf_append_slice(&staging->buffer, block);
    rows_begin(&staging->writer, ORDER_CSPO, staging->block, BLOCK_MAXIMUM);
    return staging->buffer.length >= WRITE_BYTES ? flush(staging, why) : STATUS_OK;
}

enum status
staging_add(struct staging *staging, const struct row *row, struct reason *why)
{
    staging->adding.rows++;
    if (rows_add(&staging->writer, row)) {
        return STATUS_OK;
    }
    TRY(end_block(staging, why));
    (void)rows_add(&staging->writer, row);
    return STATUS_OK;
}

enum status
staging_end(struct staging *staging, struct transaction *transaction, uint64_t terms,
            struct reason *why)
{
    uint8_t key[STATISTIC_KEY_SIZE];
    struct run *run = &staging->adding;
    run->terms = terms;
    if (staging->writer.count > 0) {
        TRY(end_block(staging, why));
    }
    TRY(flush(staging, why));
    TRY(environment_sync_file(staging->file, why));
    const uint64_t numbers[RECORD_NUMBERS] = {run->offset, run->bytes, run->rows, run->terms};
    latch_enter_writing(tree_latch(staging->statistics));
    const enum status status =
        statistics_write(staging->statistics, transaction, record_key(staging->count, key), numbers,
                         RECORD_NUMBERS, why);
    latch_leave(tree_latch(staging->statistics));
    return status;
}

void
staging_committed(struct staging *staging)
{
    staging->runs[staging->count++] = staging->adding;
    atomic_fetch_add(&staging->rows, staging->adding.rows);
}

/* ---- taking ---- */

struct run_reader {
    uint64_t at, end;    /* in the file: what was not read yet */
    size_t used, filled; /* of bytes */
    struct row *rows;    /* of the block at hand; room for ROWS_BLOCK_MOST */
    size_t next, count;  /* next == count: the run has ended */
    uint8_t *bytes;      /* room for READ_BYTES */
};

struct staging_reader {
    int file;
    struct run_reader runs[WAITING_RUNS_MOST];
    size_t count;
    size_t least;            /* the run with the least next row, */
    const struct row *bound; /* which the others' next rows are not before; NULL: there is none */
    struct row last;
};

static enum status
is_damaged(struct reason *why)
{
    return status_fail(why, STATUS_CORRUPT, "quads that wait: the file is damaged");
}

/* At least `least` bytes, unless the run has fewer. */
static enum status
fill(const struct staging_reader *reader, struct run_reader *run, size_t least, struct reason *why)
{
    if (run->filled - run->used >= least) {
        return STATUS_OK;
    }
    memmove(run->bytes, run->bytes + run->used, run->filled - run->used);
    run->filled -= run->used;
    run->used = 0;
    while (run->filled < least && run->at < run->end) {
        const uint64_t left = run->end - run->at, room = READ_BYTES - run->filled;
        const ssize_t n = pread(reader->file, run->bytes + run->filled,
                                (size_t)(left < room ? left : room), (off_t)run->at);
        if (n < 0) {
            return status_fail_errno(why, "quads that wait: cannot read");
        }
        if (n == 0) {
            return is_damaged(why);
        }
        run->filled += (size_t)n;
        run->at += (uint64_t)n;
    }
    return STATUS_OK;
}

static enum status
next_block(const struct staging_reader *reader, struct run_reader *run, struct reason *why)
{
    run->next = run->count = 0;
    TRY(fill(reader, run, HEAD_SIZE + BLOCK_MAXIMUM, why));
    const size_t left = run->filled - run->used;
    if (left == 0) {
        return STATUS_OK;
    }
    const uint8_t *head = run->bytes + run->used;
    const size_t length = left >= HEAD_SIZE ? codec_read_u16(head) : 0;
    if (length == 0 || left - HEAD_SIZE < length ||
        fingerprint64(slice_of((const char *)head + HEAD_SIZE, length)) !=
            codec_read_u64(head + 2)) {
        return is_damaged(why);
    }
    run->used += HEAD_SIZE + length;
    return rows_read(ORDER_CSPO, head + HEAD_SIZE, length, run->rows, &run->count, why);
}

static const struct row *
head_of(const struct run_reader *run)
{
    return run->next < run->count ? &run->rows[run->next] : NULL;
}

/* Runs mostly come one after the other, so what is least is looked for only when it may change. */
static void
choose(struct staging_reader *reader)
{
    const struct row *least = NULL;
    reader->bound = NULL;
    for (size_t i = 0; i < reader->count; i++) {
        const struct row *head = head_of(&reader->runs[i]);
        if (head == NULL) {
            continue;
        }
        if (least == NULL || row_compare(head, least) < 0) {
            reader->bound = least;
            least = head;
            reader->least = i;
        } else if (reader->bound == NULL || row_compare(head, reader->bound) < 0) {
            reader->bound = head;
        }
    }
}

enum status
staging_reader_open(struct staging_reader **result, struct staging *staging, struct reason *why)
{
    struct staging_reader *reader = memory_new(sizeof(*reader));
    reader->file = staging->file;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < staging->count && status == STATUS_OK; i++) {
        const struct run *run = &staging->runs[i];
        reader->runs[i] =
            (struct run_reader){.at = run->offset,
                                .end = run->offset + run->bytes,
                                .rows = memory_alloc(ROWS_BLOCK_MOST * sizeof(struct row)),
                                .bytes = memory_alloc(READ_BYTES)};
        reader->count = i + 1;
        status = next_block(reader, &reader->runs[i], why);
    }
    if (status != STATUS_OK) {
        staging_reader_close(reader);
        reader = NULL;
    } else {
        choose(reader);
    }
    *result = reader;
    return status;
}

void
staging_reader_close(struct staging_reader *reader)
{
    if (reader != NULL) {
        for (size_t i = 0; i < reader->count; i++) {
            free(reader->runs[i].rows);
            free(reader->runs[i].bytes);
        }
        free(reader);
    }
}

static enum status
advance(struct staging_reader *reader, struct run_reader *run, struct reason *why)
{
    if (++run->next == run->count) {
        TRY(next_block(reader, run, why));
    }
    const struct row *head = head_of(run);
    if (head == NULL || (reader->bound != NULL && row_compare(head, reader->bound) > 0)) {
        choose(reader);
    }
    return STATUS_OK;
}

enum status
staging_reader_next(struct staging_reader *reader, struct row *row, struct reason *why)
{
    do {
        struct run_reader *run = &reader->runs[reader->least];
        const struct row *head = head_of(run);
        if (head == NULL) {
            return STATUS_END;
        }
        *row = *head;
        TRY(advance(reader, run, why));
    } while (row_compare(row, &reader->last) == 0);
    reader->last = *row;
    return STATUS_OK;
}

enum status
staging_forget(struct staging *staging, struct transaction *transaction, struct reason *why)
{
    enum status status = STATUS_OK;
    latch_enter_writing(tree_latch(staging->statistics));
    for (size_t i = 0; i < staging->count && status == STATUS_OK; i++) {
        uint8_t key[STATISTIC_KEY_SIZE];
        status = tree_delete(staging->statistics, transaction, record_key(i, key), why);
    }
    latch_leave(tree_latch(staging->statistics));
    return status;
}

void
staging_forgotten(struct staging *staging)
{
    staging->count = 0;
    staging->runs[0] = (struct run){0};
    atomic_store(&staging->rows, 0);
    if (ftruncate(staging->file, 0) != 0) {
        return; /* it is written over */
    }
}
