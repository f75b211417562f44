#include "store/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/file.h"

#define DISK_DEFAULT ((uint64_t)8 << 30)

void
spill_init(struct spill *spill, struct memory_account *account, const char *folder,
           uint64_t maximum)
{
    *spill = (struct spill){.account = account,
                            .share = account->maximum / 2,
                            .folder = folder,
                            .descriptor = -1,
                            .maximum = maximum ? maximum : DISK_DEFAULT};
}

void
spill_release(struct spill *spill)
{
    file_close(spill->descriptor);
}

bool
spill_may_take(const struct spill *spill, size_t bytes)
{
    const struct memory_account *account = spill->account;
    return !spill->folder ||
           (account->used <= spill->share && bytes <= spill->share - account->used);
}

enum status
spill_may_go_on(const struct spill *spill, struct reason *why)
{
    return spill->check != NULL ? spill->check(spill->check_context, why) : STATUS_OK;
}

static enum status
no_room(const struct spill *spill, struct reason *why)
{
    return status_fail(why, STATUS_FULL, "no room for temporary files in %s", spill->folder);
}

/* Counts bytes more at the end of the file. */
static enum status
extend(struct spill *spill, size_t length, struct reason *why)
{
    if (spill->descriptor < 0) {
        TRY(file_open_unnamed(spill->folder, &spill->descriptor, why));
    }
    if (length > spill->maximum - spill->used) {
        return status_fail(why, STATUS_LIMIT,
                           "the query needs more than its %llu MiB of temporary files",
                           (unsigned long long)(spill->maximum >> 20));
    }
    spill->end += length;
    spill->used += length;
    spill->highest = spill->used > spill->highest ? spill->used : spill->highest;
    return STATUS_OK;
}

static void
give_back(struct spill *spill, uint64_t offset, size_t length)
{
    (void)fallocate(spill->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                    (off_t)length);
    spill->used -= length;
}

/* ---- areas ---- */

enum status
spill_area_new(struct spill *spill, size_t size, const char *what, struct spill_area *area,
               struct reason *why)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (spill_may_take(spill, size)) {
        TRY(memory_take(spill->account, size, what, why));
        *area = (struct spill_area){memory_zero(size, 1), size, UINT64_MAX};
        return STATUS_OK;
    }
    const uint64_t offset = (spill->end + page - 1) / page * page;
    TRY(extend(spill, (size_t)(offset - spill->end) + size, why));
    void *memory = MAP_FAILED;
    errno = posix_fallocate(spill->descriptor, (off_t)offset, (off_t)size);
    if (errno == 0) {
        memory =
            mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, spill->descriptor, (off_t)offset);
    }
    if (memory == MAP_FAILED) {
        return errno == ENOSPC ? no_room(spill, why)
                               : status_fail_errno(why, "a temporary file in %s cannot be mapped",
                                                   spill->folder);
    }
    *area = (struct spill_area){memory, size, offset};
    return STATUS_OK;
}

void
spill_area_free(struct spill *spill, struct spill_area *area)
{
    if (area->memory && area->offset == UINT64_MAX) {
        memory_give(spill->account, area->size);
        free(area->memory);
    } else if (area->memory) {
        munmap(area->memory, area->size);
        give_back(spill, area->offset, area->size);
    }
    *area = (struct spill_area){0};
}

/* ---- lists ---- */

static enum status
append(struct spill *spill, const char *bytes, size_t length, struct reason *why)
{
    const uint64_t offset = spill->end;
    TRY(extend(spill, length, why));
    if (!file_write_all_at(spill->descriptor, slice_of(bytes, length), offset)) {
        return errno == ENOSPC ? no_room(spill, why)
                               : status_fail_errno(why, "a temporary file in %s", spill->folder);
    }
    return spill_may_go_on(spill, why);
}

void
spill_list_init(struct spill_list *list, struct spill *spill, size_t buffer_size)
{
    *list = (struct spill_list){.spill = spill, .buffer_size = buffer_size};
}

static void
free_buffer(struct spill_list *list)
{
    if (list->buffer) {
        memory_give(list->spill->account, list->buffer_size);
        free(list->buffer);
        list->buffer = NULL;
    }
}

void
spill_list_release(struct spill_list *list)
{
    struct spill *spill = list->spill;
    for (size_t i = 0; i < list->count; i++) {
        give_back(spill, list->extents[i].offset, list->extents[i].length);
    }
    free_buffer(list);
    memory_give(spill->account, list->room * sizeof *list->extents);
    free(list->extents);
    spill_list_init(list, spill, list->buffer_size);
}

static enum status
write_buffer(struct spill_list *list, struct reason *why)
{
    struct spill *spill = list->spill;
    const uint64_t offset = spill->end;
    TRY(append(spill, list->buffer, list->filled, why));
    struct spill_extent *last = list->count ? &list->extents[list->count - 1] : NULL;
    if (last && last->offset + last->length == offset) {
        last->length += list->filled;
    } else {
        if (list->count == list->room) {
            const size_t room = list->room ? list->room * 2 : 8;
            TRY(memory_take(spill->account, (room - list->room) * sizeof *list->extents,
                            "temporary files", why));
            list->extents = memory_resize(list->extents, room, sizeof *list->extents);
            list->room = room;
        }
        list->extents[list->count++] = (struct spill_extent){offset, list->filled};
    }
    list->filled = 0;
    return STATUS_OK;
}

enum status
spill_list_write(struct spill_list *list, const void *bytes, size_t length, struct reason *why)
{
    const char *from = bytes;
    if (!list->buffer) {
        TRY(memory_take(list->spill->account, list->buffer_size, "temporary files", why));
        list->buffer = memory_alloc(list->buffer_size);
    }
    list->length += length;
    while (length) {
        const size_t room = list->buffer_size - list->filled;
        const size_t part = length < room ? length : room;
        memcpy(list->buffer + list->filled, from, part);
        list->filled += part;
        from += part;
        length -= part;
        if (list->filled == list->buffer_size) {
            TRY(write_buffer(list, why));
        }
    }
    return STATUS_OK;
}

enum status
spill_list_finish(struct spill_list *list, struct reason *why)
{
    const enum status status = list->filled ? write_buffer(list, why) : STATUS_OK;
    free_buffer(list);
    return status;
}

/* ---- reading ---- */

void
spill_reader_init(struct spill_reader *reader, const struct spill_list *list, size_t buffer_size)
{
    *reader = (struct spill_reader){.list = list, .buffer_size = buffer_size};
}

void
spill_reader_release(struct spill_reader *reader)
{
    if (reader->buffer) {
        memory_give(reader->list->spill->account, reader->buffer_size);
        free(reader->buffer);
        reader->buffer = NULL;
    }
}

static enum status
read_buffer(struct spill_reader *reader, bool *end, struct reason *why)
{
    const struct spill *spill = reader->list->spill;
    if (!reader->buffer) {
        TRY(memory_take(spill->account, reader->buffer_size, "temporary files", why));
        reader->buffer = memory_alloc(reader->buffer_size);
    }
    reader->at = reader->filled = 0;
    *end = reader->extent == reader->list->count;
    if (*end) {
        return STATUS_OK;
    }
    const struct spill_extent *extent = &reader->list->extents[reader->extent];
    const size_t left = extent->length - reader->at_extent;
    const size_t wanted = left < reader->buffer_size ? left : reader->buffer_size;
    const ssize_t n = pread(spill->descriptor, reader->buffer, wanted,
                            (off_t)(extent->offset + reader->at_extent));
    if (n <= 0) {
        return status_fail_errno(why, "a temporary file in %s cannot be read", spill->folder);
    }
    reader->filled = (size_t)n;
    reader->at_extent += (size_t)n;
    if (reader->at_extent == extent->length) {
        reader->extent++;
        reader->at_extent = 0;
    }
    return spill_may_go_on(spill, why);
}

enum status
spill_read(struct spill_reader *reader, void *bytes, size_t length, bool *end, struct reason *why)
{
    char *to = bytes;
    *end = false;
    while (length) {
        if (reader->at == reader->filled) {
            TRY(read_buffer(reader, end, why));
            if (*end) {
                return STATUS_OK;
            }
        }
        const size_t here = reader->filled - reader->at;
        const size_t part = length < here ? length : here;
        memcpy(to, reader->buffer + reader->at, part);
        reader->at += part;
        to += part;
        length -= part;
    }
    return STATUS_OK;
}
