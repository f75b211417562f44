#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "warc/warc_private.h"

struct warc_limits
warc_limits_of(const struct warc_limits *limits)
{
    struct warc_limits filled = limits != NULL ? *limits : (struct warc_limits){0};
    filled.record = filled.record > 0 ? filled.record : WARC_DEFAULT_LIMIT;
    filled.body = filled.body > 0 ? filled.body : filled.record;
    filled.ratio = filled.ratio > 0 ? filled.ratio : WARC_DEFAULT_RATIO;
    return filled;
}

/* ---- header blocks ---- */

size_t
warc_header_length(struct slice text)
{
    size_t at = 0;
    while (at < text.length) {
        const size_t line = slice_find(slice_of(text.at + at, text.length - at), '\n');
        if (at + line == text.length) {
            return 0;
        }
        if (line == 0 || (line == 1 && text.at[at] == '\r')) {
            return at + line + 1;
        }
        at += line + 1;
    }
    return 0;
}

struct slice
warc_http_header(struct slice header, const char *name)
{
    const struct slice wanted = slice_string(name);
    while (header.length > 0) {
        const size_t line = slice_find(header, '\n');
        const size_t colon = slice_find(slice_of(header.at, line), ':');
        if (colon < line && colon == wanted.length &&
            slice_equal_nocase(slice_of(header.at, colon), wanted)) {
            return slice_trim(slice_of(header.at + colon + 1, line - colon - 1));
        }
        const size_t next = line < header.length ? line + 1 : line;
        header = slice_of(header.at + next, header.length - next);
    }
    return (struct slice){0};
}

static struct slice
without_angles(struct slice id)
{
    return id.length >= 2 && id.at[0] == '<' && id.at[id.length - 1] == '>'
               ? slice_of(id.at + 1, id.length - 2)
               : id;
}

static bool
parse_length(struct slice text, uint64_t *length)
{
    *length = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] < '0' || text.at[i] > '9' || *length > UINT64_MAX / 16) {
            return false;
        }
        *length = *length * 10 + (uint64_t)(text.at[i] - '0');
    }
    return text.length > 0;
}

static uint16_t
status_of(struct slice http_header)
{
    unsigned code = 0;
    const size_t blank = slice_find(http_header, ' ');
    for (size_t i = blank + 1; i < http_header.length && i <= blank + 3; i++) {
        if (http_header.at[i] < '0' || http_header.at[i] > '9') {
            return 0;
        }
        code = code * 10 + (unsigned)(http_header.at[i] - '0');
    }
    return (uint16_t)code;
}

/* ---- the record ---- */

/* Offsets, because decoding may move the buffer. */
struct layout {
    size_t header, block, http, length;
    size_t body, body_length;
    bool decoded;
};

static void
publish(const struct buf *memory, const struct layout *layout, struct warc_record *record)
{
    const struct slice header = slice_of(memory->data, layout->header);
    const char *block = memory->data + layout->block;
    record->header = header;
    record->type = warc_http_header(header, "WARC-Type");
    record->uri = without_angles(warc_http_header(header, "WARC-Target-URI"));
    record->date = warc_http_header(header, "WARC-Date");
    record->id = without_angles(warc_http_header(header, "WARC-Record-ID"));
    record->refers_to = without_angles(warc_http_header(header, "WARC-Refers-To"));
    record->content_type = warc_http_header(header, "Content-Type");
    record->payload_digest = warc_http_header(header, "WARC-Payload-Digest");
    record->truncated = warc_http_header(header, "WARC-Truncated");
    record->http_header = slice_of(block, layout->http);
    record->payload = slice_of(block + layout->http, layout->length - layout->http);
    record->body = layout->decoded ? slice_of(memory->data + layout->body, layout->body_length)
                                   : record->payload;
}

/* Undoes the content coding into memory, behind the record; from a copy, because that may move. */
static void
decode_body(struct buf *memory, const struct warc_limits *limits, struct layout *layout,
            struct warc_record *record)
{
    struct buf encoded;
    struct reason why = {""};
    const char *block = memory->data + layout->block;
    const struct slice payload = slice_of(block + layout->http, layout->length - layout->http);
    struct slice coding = warc_http_header(slice_of(block, layout->http), "Content-Encoding");
    if (coding.length == 0 || payload.length == 0 || limits->encoded) {
        return;
    }
    buf_init(&encoded, coding.length + payload.length);
    buf_append_slice(&encoded, coding);
    buf_append_slice(&encoded, payload);
    coding.at = encoded.data;
    const struct buf before = *memory;
    if (limits->body < memory->maximum - memory->length) {
        memory->maximum = memory->length + limits->body;
    }
    const enum status status =
        warc_decode(coding, slice_of(encoded.data + coding.length, payload.length), limits->ratio,
                    memory, &why);
    memory->maximum = before.maximum;
    memory->overflowed = before.overflowed;
    buf_release(&encoded);
    record->body_truncated = status != STATUS_OK && status != STATUS_UNSUPPORTED;
    layout->decoded = status != STATUS_UNSUPPORTED;
    layout->body = before.length;
    layout->body_length = memory->length - before.length;
    if (why.text[0] != '\0') {
        const size_t n = strlen(why.text);
        record->encoding_problem = buf_append(memory, why.text, n) == STATUS_OK
                                       ? slice_of(memory->data + memory->length - n, n)
                                       : SLICE("the body could not be decoded");
    }
}

enum status
warc_record_parse(struct buf *memory, const struct warc_limits *limits, struct warc_record *record,
                  struct reason *why)
{
    struct layout layout = {0};
    uint64_t length;
    *record = (struct warc_record){0};
    const struct slice text = buf_slice(memory);
    if (!slice_starts(text, SLICE("WARC/1."))) {
        return status_fail(why, STATUS_CORRUPT, "no WARC record begins there");
    }
    layout.header = warc_header_length(text);
    layout.block = layout.header;
    const struct slice header = slice_of(text.at, layout.header);
    if (layout.header == 0 || !parse_length(warc_http_header(header, "Content-Length"), &length) ||
        length > text.length - layout.header) {
        return status_fail(why, STATUS_CORRUPT, "a WARC record is not whole");
    }
    layout.length = (size_t)length;
    const struct slice type = warc_http_header(header, "Content-Type");
    if (slice_starts(type, SLICE("application/http"))) {
        const struct slice block = slice_of(text.at + layout.block, layout.length);
        layout.http = warc_header_length(block);
        layout.http = layout.http > 0 ? layout.http : layout.length;
        record->http_status =
            slice_starts(block, SLICE("HTTP/")) ? status_of(slice_of(block.at, layout.http)) : 0;
        if (record->http_status > 0) {
            decode_body(memory, limits, &layout, record);
        }
    }
    const struct slice problem = record->encoding_problem;
    publish(memory, &layout, record);
    record->encoding_problem = problem;
    return STATUS_OK;
}

/* ---- one member ---- */

static enum status
inflate_member(struct slice member, size_t most, struct buf *memory, struct reason *why)
{
    const size_t length = gzip_length(member);
    if (length > most || (length > 0 && buf_reserve(memory, length) == NULL)) {
        return status_fail(why, STATUS_LIMIT, "a WARC record larger than %zu bytes",
                           most < memory->maximum ? most : memory->maximum);
    }
    if (length == 0) {
        return status_fail(why, STATUS_CORRUPT, "a WARC record's gzip member is damaged or torn");
    }
    TRY(gzip_inflate(member, memory->data, length, why));
    buf_commit(memory, length);
    return STATUS_OK;
}

enum status
warc_read_member(struct slice member, const struct warc_limits *given, struct buf *memory,
                 struct warc_record *record, struct reason *why)
{
    const struct warc_limits limits = warc_limits_of(given);
    buf_reset(memory);
    if (!slice_starts(member, SLICE("\x1f\x8b"))) {
        if (member.length > limits.record || buf_append_slice(memory, member) != STATUS_OK) {
            return status_fail(why, STATUS_LIMIT, "a WARC record of %zu bytes", member.length);
        }
        return warc_record_parse(memory, &limits, record, why);
    }
    TRY(inflate_member(member, limits.record, memory, why));
    return warc_record_parse(memory, &limits, record, why);
}

/* ---- files ---- */

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
    struct warc_reader *reader = memory_zero(1, sizeof *reader);
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

/* At least `length` bytes into reader->bytes, up to `most` when the file has them. */
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
