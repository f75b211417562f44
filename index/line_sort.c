#include "index/line_sort.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/memory.h"
#include "index/varint.h"

enum {
    RUNS_MOST = 64, /* then they are merged into one */
    READ_BYTES = 256 << 10,
    WRITE_BYTES = 1 << 20,
    MEMORY_LEAST = 1 << 20
};

/* A run in a file while it is read back. A record is a varint length and its bytes. */
struct run {
    int descriptor;
    struct buf bytes; /* what is read ahead */
    size_t at;
    struct slice line;
    bool ended;
};

struct line_sort {
    char *folder;
    size_t memory;
    struct buf text; /* lines in memory, end to end */
    size_t *ends;
    size_t count, capacity;
    struct slice *sorted;
    size_t next; /* of sorted, when all fits in memory */
    struct run runs[RUNS_MOST];
    size_t run_count;
    struct run *heap[RUNS_MOST];
    size_t heap_count;
    bool advance; /* the heap's first was handed out */
};

struct line_sort *
line_sort_new(const char *folder, size_t memory)
{
    struct line_sort *sort = memory_zero(1, sizeof(*sort));
    sort->folder = memory_string(folder);
    sort->memory = memory < MEMORY_LEAST ? MEMORY_LEAST : memory;
    buf_init(&sort->text, SIZE_MAX / 2);
    return sort;
}

static void
run_release(struct run *run)
{
    if (run->descriptor >= 0) {
        close(run->descriptor);
    }
    buf_release(&run->bytes);
}

void
line_sort_free(struct line_sort *sort)
{
    if (sort != NULL) {
        for (size_t i = 0; i < sort->run_count; i++) {
            run_release(&sort->runs[i]);
        }
        buf_release(&sort->text);
        free(sort->ends);
        free(sort->sorted);
        free(sort->folder);
        free(sort);
    }
}

/* ---- in memory ---- */

static int
compare_lines(const void *a, const void *b)
{
    const struct slice *left = a;
    const struct slice *right = b;
    return slice_compare(*left, *right);
}

static void
sort_memory(struct line_sort *sort)
{
    sort->sorted = memory_resize(sort->sorted, sort->count, sizeof(*sort->sorted));
    size_t start = 0;
    for (size_t i = 0; i < sort->count; i++) {
        sort->sorted[i] = slice_of(sort->text.data + start, sort->ends[i] - start);
        start = sort->ends[i];
    }
    qsort(sort->sorted, sort->count, sizeof(*sort->sorted), compare_lines);
}

/* ---- runs ---- */

static enum status
write_all(int descriptor, struct buf *bytes, struct reason *why)
{
    if (!file_write_all(descriptor, buf_slice(bytes))) {
        const enum status status = errno == ENOSPC ? STATUS_FULL : STATUS_SYSTEM;
        (void)status_fail_errno(why, "cannot write a sorted run");
        return status;
    }
    buf_reset(bytes);
    return STATUS_OK;
}

static enum status
put_line(int descriptor, struct buf *bytes, struct slice line, struct reason *why)
{
    uint8_t length[VARINT_MAXIMUM];
    (void)buf_append(bytes, length, (size_t)(varint_put(length, line.length) - length));
    (void)buf_append_slice(bytes, line);
    return bytes->length >= WRITE_BYTES ? write_all(descriptor, bytes, why) : STATUS_OK;
}

static enum status
open_run(struct line_sort *sort, int *descriptor, struct reason *why)
{
    if (mkdir(sort->folder, 0700) != 0 && errno != EEXIST) {
        return status_fail_errno(why, "cannot make the folder %s", sort->folder);
    }
    return file_open_unnamed(sort->folder, descriptor, why);
}

static enum status
start_reading(struct run *run, int descriptor, struct reason *why)
{
    *run = (struct run){.descriptor = descriptor};
    buf_init(&run->bytes, SIZE_MAX / 2);
    return lseek(descriptor, 0, SEEK_SET) == 0 ? STATUS_OK
                                               : status_fail_errno(why, "cannot read a run");
}

/* At least n bytes from run->at on, fewer only at the end of the file. */
static enum status
read_ahead(struct run *run, size_t n, struct reason *why)
{
    if (run->bytes.length - run->at >= n || run->ended) {
        return STATUS_OK;
    }
    if (run->at > 0) {
        memmove(run->bytes.data, run->bytes.data + run->at, run->bytes.length - run->at);
        run->bytes.length -= run->at;
        run->at = 0;
    }
    while (run->bytes.length < n && !run->ended) {
        const size_t room = n > READ_BYTES ? n : READ_BYTES;
        char *target = buf_reserve(&run->bytes, room);
        const ssize_t got = read(run->descriptor, target, room);
        if (got < 0 && errno != EINTR) {
            return status_fail_errno(why, "cannot read a sorted run");
        }
        run->ended = got == 0;
        buf_commit(&run->bytes, got > 0 ? (size_t)got : 0);
    }
    return STATUS_OK;
}

static enum status
run_next(struct run *run, struct reason *why)
{
    TRY(read_ahead(run, VARINT_MAXIMUM, why));
    const uint8_t *at = (const uint8_t *)run->bytes.data + run->at;
    const uint8_t *end = (const uint8_t *)run->bytes.data + run->bytes.length;
    if (run->at == run->bytes.length) {
        return STATUS_END;
    }
    uint64_t length;
    const uint8_t *text = varint_get(at, end, &length);
    if (text == NULL) {
        return status_fail(why, STATUS_CORRUPT, "a sorted run is damaged");
    }
    const size_t prefix = (size_t)(text - at);
    TRY(read_ahead(run, prefix + length, why));
    if (run->bytes.length - run->at < prefix + length) {
        return status_fail(why, STATUS_CORRUPT, "a sorted run is cut off");
    }
    run->line = slice_of(run->bytes.data + run->at + prefix, length);
    run->at += prefix + length;
    return STATUS_OK;
}

/* ---- merging ---- */

static void
sift_down(struct line_sort *sort, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < sort->heap_count; child++) {
            if (slice_compare(sort->heap[child]->line, sort->heap[least]->line) < 0) {
                least = child;
            }
        }
        if (least == i) {
            return;
        }
        struct run *swap = sort->heap[i];
        sort->heap[i] = sort->heap[least];
        sort->heap[least] = swap;
        i = least;
    }
}

static enum status
start_merge(struct line_sort *sort, struct reason *why)
{
    sort->heap_count = 0;
    sort->advance = false;
    for (size_t i = 0; i < sort->run_count; i++) {
        const enum status status = run_next(&sort->runs[i], why);
        if (status == STATUS_OK) {
            sort->heap[sort->heap_count++] = &sort->runs[i];
        } else if (status != STATUS_END) {
            return status;
        }
    }
    for (size_t i = sort->heap_count; i-- > 0;) {
        sift_down(sort, i);
    }
    return STATUS_OK;
}

static enum status
merge_next(struct line_sort *sort, struct slice *line, struct reason *why)
{
    if (sort->advance) {
        const enum status status = run_next(sort->heap[0], why);
        if (status == STATUS_END) {
            sort->heap[0] = sort->heap[--sort->heap_count];
        } else {
            TRY(status);
        }
        sift_down(sort, 0);
    }
    sort->advance = sort->heap_count > 0;
    if (sort->heap_count == 0) {
        return STATUS_END;
    }
    *line = sort->heap[0]->line;
    return STATUS_OK;
}

/* All runs become one. */
static enum status
merge_runs(struct line_sort *sort, struct reason *why)
{
    int descriptor;
    TRY(open_run(sort, &descriptor, why));
    struct buf bytes;
    buf_init(&bytes, SIZE_MAX / 2);
    enum status status = start_merge(sort, why);
    struct slice line;
    while (status == STATUS_OK && (status = merge_next(sort, &line, why)) == STATUS_OK) {
        status = put_line(descriptor, &bytes, line, why);
    }
    if (status == STATUS_END) {
        status = write_all(descriptor, &bytes, why);
    }
    buf_release(&bytes);
    for (size_t i = 0; i < sort->run_count; i++) {
        run_release(&sort->runs[i]);
    }
    sort->run_count = 1;
    const enum status started = start_reading(&sort->runs[0], descriptor, why);
    return status == STATUS_OK ? started : status;
}

/* The lines in memory become a run. */
static enum status
spill(struct line_sort *sort, struct reason *why)
{
    if (sort->run_count == RUNS_MOST) {
        TRY(merge_runs(sort, why));
    }
    int descriptor;
    TRY(open_run(sort, &descriptor, why));
    sort_memory(sort);
    struct buf bytes;
    buf_init(&bytes, SIZE_MAX / 2);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sort->count && status == STATUS_OK; i++) {
        status = put_line(descriptor, &bytes, sort->sorted[i], why);
    }
    if (status == STATUS_OK) {
        status = write_all(descriptor, &bytes, why);
    }
    buf_release(&bytes);
    sort->count = 0;
    buf_reset(&sort->text);
    const enum status started = start_reading(&sort->runs[sort->run_count++], descriptor, why);
    return status == STATUS_OK ? started : status;
}

/* ---- use ---- */

enum status
line_sort_add(struct line_sort *sort, struct slice line, struct reason *why)
{
    const size_t used = sort->text.length + sort->count * (sizeof(size_t) + sizeof(struct slice));
    if (sort->count > 0 && used + line.length > sort->memory) {
        TRY(spill(sort, why));
    }
    if (sort->count == sort->capacity) {
        sort->capacity = sort->capacity ? 2 * sort->capacity : 4096;
        sort->ends = memory_resize(sort->ends, sort->capacity, sizeof(*sort->ends));
    }
    (void)buf_append_slice(&sort->text, line);
    sort->ends[sort->count++] = sort->text.length;
    return STATUS_OK;
}

enum status
line_sort_finish(struct line_sort *sort, struct reason *why)
{
    if (sort->run_count == 0) {
        sort_memory(sort);
        sort->next = 0;
        return STATUS_OK;
    }
    if (sort->count > 0) {
        TRY(spill(sort, why));
    }
    return start_merge(sort, why);
}

enum status
line_sort_next(struct line_sort *sort, struct slice *line, struct reason *why)
{
    if (sort->run_count > 0) {
        return merge_next(sort, line, why);
    }
    if (sort->next == sort->count) {
        return STATUS_END;
    }
    *line = sort->sorted[sort->next++];
    return STATUS_OK;
}
