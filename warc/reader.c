#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "warc/record.h"

enum { OPEN_FILES = 8, KEPT_BYTES = 4 << 20, AHEAD_BYTES = 64 << 10 };

struct open_file {
    char name[WARC_FILE_SIZE];
    int descriptor; /* -1: a free place */
    uint64_t used;  /* the reading that it was last used for */
};

struct warc_reader {
    char *directory;
    struct warc_limits limits;
    struct buf bytes;             /* of a file, from `offset` on: records, perhaps a part of one */
    const struct open_file *from; /* that file; NULL: none */
    uint64_t offset, end;         /* end: of the record read last */
    struct open_file files[OPEN_FILES];
    uint64_t readings, rested; /* so many; how many there were at the last rest */
};

struct warc_reader *
warc_reader_open(const char *directory, const struct warc_limits *limits)
{
    struct warc_reader *reader = memory_new(sizeof *reader);
    reader->directory = memory_string(directory);
    reader->limits = warc_limits_of(limits);
    buf_init(&reader->bytes, reader->limits.record + AHEAD_BYTES);
    for (size_t i = 0; i < OPEN_FILES; i++) {
        reader->files[i].descriptor = -1;
    }
    return reader;
}

static void
close_file(struct open_file *file)
{
    if (file->descriptor >= 0) {
        close(file->descriptor);
        file->descriptor = -1;
    }
}

void
warc_reader_close(struct warc_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    for (size_t i = 0; i < OPEN_FILES; i++) {
        close_file(&reader->files[i]);
    }
    buf_release(&reader->bytes);
    free(reader->directory);
    free(reader);
}

bool
warc_reader_rest(struct warc_reader *reader)
{
    bool any = false;
    for (size_t i = 0; i < OPEN_FILES; i++) {
        struct open_file *file = &reader->files[i];
        if (file->used <= reader->rested) {
            close_file(file);
        }
        any = any || file->descriptor >= 0;
    }
    reader->rested = reader->readings;
    reader->from = NULL;
    return any;
}

/* A file's name comes from records that other nodes wrote: it must stay inside the directory. */
static bool
is_plain_name(struct slice file)
{
    return file.length > 0 && file.length < WARC_FILE_SIZE && file.at[0] != '.' &&
           slice_find(file, '/') == file.length && slice_find(file, '\0') == file.length;
}

/* The place that holds the file, or else the one that is free or was used longest ago, freed. A
 * file that was removed meanwhile is not there any more. */
static struct open_file *
find_file(struct warc_reader *reader, struct slice name)
{
    struct stat state;
    struct open_file *oldest = &reader->files[0];
    for (size_t i = 0; i < OPEN_FILES; i++) {
        struct open_file *file = &reader->files[i];
        if (file->descriptor >= 0 && slice_is(name, file->name)) {
            if (fstat(file->descriptor, &state) != 0 || state.st_nlink == 0) {
                close_file(file);
            }
            return file;
        }
        if (oldest->descriptor >= 0 && (file->descriptor < 0 || file->used < oldest->used)) {
            oldest = file;
        }
    }
    close_file(oldest);
    return oldest;
}

static enum status
open_file(struct warc_reader *reader, struct slice name, struct open_file **result,
          struct reason *why)
{
    struct open_file *file = find_file(reader, name);
    *result = file;
    reader->from = NULL;
    file->used = ++reader->readings;
    if (file->descriptor >= 0) {
        return STATUS_OK;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/%.*s", reader->directory, SLICE_PRINT(name));
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (file->descriptor < 0) {
        const bool missing = errno == ENOENT;
        const enum status status = status_fail_errno(why, "cannot open %s", path);
        return missing ? STATUS_NOT_FOUND : status;
    }
    snprintf(file->name, sizeof file->name, "%.*s", SLICE_PRINT(name));
    return STATUS_OK;
}

/* Reads at least `length` bytes into reader->bytes, up to `most` when the file has them. */
static enum status
read_range(struct warc_reader *reader, const struct open_file *file, uint64_t offset,
           uint64_t length, uint64_t most, struct reason *why)
{
    buf_reset(&reader->bytes);
    char *room = buf_reserve(&reader->bytes, (size_t)most);
    if (room == NULL) {
        return status_fail(why, STATUS_LIMIT, "%s: a WARC record of %llu bytes", file->name,
                           (unsigned long long)length);
    }
    uint64_t done = 0;
    while (done < length) {
        const ssize_t n = pread(file->descriptor, room + done, most - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return status_fail_errno(why, "cannot read %s", file->name);
        }
        if (n == 0) {
            return status_fail(why, STATUS_CORRUPT, "%s ends before offset %llu", file->name,
                               (unsigned long long)(offset + length));
        }
        done += (uint64_t)n;
    }
    buf_commit(&reader->bytes, (size_t)done);
    reader->from = file;
    reader->offset = offset;
    return STATUS_OK;
}

/* Tells whether the record is among the bytes that were read with an earlier one. Only forward: who
 * reads a record again wants to know what the file has now. */
static bool
was_read_ahead(const struct warc_reader *reader, struct slice name, uint64_t offset,
               uint64_t length)
{
    return reader->from != NULL && slice_is(name, reader->from->name) && offset >= reader->end &&
           length <= reader->bytes.length &&
           offset - reader->offset <= reader->bytes.length - length;
}

/* Stages read one record after the other, so what follows is read as well when this one follows the
 * last. */
static enum status
find_member(struct warc_reader *reader, struct slice name, uint64_t offset, uint64_t length,
            bool again, struct slice *member, struct reason *why)
{
    struct open_file *file;
    if (again || !was_read_ahead(reader, name, offset, length)) {
        const bool follows = reader->from != NULL && slice_is(name, reader->from->name) &&
                             offset >= reader->end && offset - reader->end < AHEAD_BYTES / 4;
        const uint64_t most = follows && length < AHEAD_BYTES ? AHEAD_BYTES : length;
        TRY(open_file(reader, name, &file, why));
        TRY(read_range(reader, file, offset, length, most, why));
    }
    reader->end = offset + length;
    *member = slice_of(reader->bytes.data + (offset - reader->offset), (size_t)length);
    return STATUS_OK;
}

enum status
warc_read(struct warc_reader *reader, struct slice name, uint64_t offset, uint64_t length,
          struct buf *memory, struct warc_record *record, struct reason *why)
{
    *record = (struct warc_record){0};
    if (!is_plain_name(name) || offset > INT64_MAX / 2) {
        return status_fail(why, STATUS_BAD_INPUT, "\"%.*s\" names no WARC file",
                           (int)(name.length < 100 ? name.length : 100), name.at ? name.at : "");
    }
    if (length == 0 || length > reader->limits.record) {
        return status_fail(why, STATUS_LIMIT, "%s/%.*s: a WARC record of %llu bytes",
                           reader->directory, SLICE_PRINT(name), (unsigned long long)length);
    }
    const uint64_t readings = reader->readings;
    struct slice member;
    TRY(find_member(reader, name, offset, length, false, &member, why));
    enum status status = warc_read_member(member, &reader->limits, memory, record, why);
    if (status != STATUS_OK && reader->readings == readings) {
        /* It was read ahead, perhaps while a write was cut off that is repeated now. */
        TRY(find_member(reader, name, offset, length, true, &member, why));
        status = warc_read_member(member, &reader->limits, memory, record, why);
    }
    if (reader->bytes.capacity > KEPT_BYTES) {
        buf_release(&reader->bytes);
        reader->from = NULL;
    }
    return status == STATUS_OK ? status
                               : status_prefix(why, status, "%s/%.*s at %llu", reader->directory,
                                               SLICE_PRINT(name), (unsigned long long)offset);
}
