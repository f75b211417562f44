#include "tests/support/warc_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <zlib.h>

#include "base/memory.h"
#include "warc/record.h"

enum { CHUNK = 256 << 10, PIECE = 64 << 10, GZIP_WINDOW = 15 + 16 };

struct scanner {
    const char *path;
    int descriptor;
    char *chunk;     /* CHUNK bytes of the file from `offset` on */
    size_t at, have; /* unread part of the chunk */
    uint64_t offset; /* of chunk[0] in the file */
    struct warc_limits limits;
    struct buf memory; /* the record */
    bool skip;         /* the record is larger than the limit */
};

static uint64_t
position(const struct scanner *scanner)
{
    return scanner->offset + scanner->at;
}

/* Makes sure that the chunk has an unread byte; END at the end of the file. */
static enum status
fill(struct scanner *scanner, struct reason *why)
{
    if (scanner->at < scanner->have) {
        return STATUS_OK;
    }
    scanner->offset += scanner->have;
    scanner->at = 0;
    scanner->have = 0;
    ssize_t n;
    do {
        n = pread(scanner->descriptor, scanner->chunk, CHUNK, (off_t)scanner->offset);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return status_fail_errno(why, "cannot read %s", scanner->path);
    }
    scanner->have = (size_t)n;
    return n == 0 ? STATUS_END : STATUS_OK;
}

/* Keeps bytes of the record unless it has become too large. */
static void
keep(struct scanner *scanner, const char *bytes, size_t n)
{
    if (scanner->memory.length + n > scanner->limits.record ||
        buf_append(&scanner->memory, bytes, n) != STATUS_OK) {
        scanner->skip = true;
    }
}

/* END: torn. */
static enum status
read_member(struct scanner *scanner, struct reason *why)
{
    char piece[PIECE];
    z_stream stream = {0};
    int code = Z_OK;
    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK) {
        return status_fail(why, STATUS_SYSTEM, "zlib could not start");
    }
    enum status status = STATUS_OK;
    while (code == Z_OK && (status = fill(scanner, why)) == STATUS_OK) {
        stream.next_in = (Bytef *)scanner->chunk + scanner->at;
        stream.avail_in = (uInt)(scanner->have - scanner->at);
        do {
            stream.next_out = (Bytef *)piece;
            stream.avail_out = sizeof piece;
            code = inflate(&stream, Z_NO_FLUSH);
            keep(scanner, piece, sizeof piece - stream.avail_out);
        } while (code == Z_OK && (stream.avail_in > 0 || stream.avail_out == 0));
        scanner->at = scanner->have - stream.avail_in;
        code = code == Z_BUF_ERROR && stream.avail_in == 0 ? Z_OK : code;
    }
    inflateEnd(&stream);
    if (status != STATUS_OK) {
        return status;
    }
    return code == Z_STREAM_END ? STATUS_OK : STATUS_END;
}

/* n more bytes of a plain record; END when the file ends before. */
static enum status
read_plain(struct scanner *scanner, uint64_t n, struct reason *why)
{
    while (n > 0) {
        TRY(fill(scanner, why));
        const size_t ready = scanner->have - scanner->at;
        const size_t piece = n < ready ? (size_t)n : ready;
        keep(scanner, scanner->chunk + scanner->at, piece);
        scanner->at += piece;
        n -= piece;
    }
    return STATUS_OK;
}

static enum status
read_plain_record(struct scanner *scanner, struct reason *why)
{
    size_t header = 0;
    while (header == 0) {
        if (scanner->memory.length >= WARC_HEADER_MAXIMUM) {
            return STATUS_END;
        }
        TRY(read_plain(scanner, 1, why));
        if (scanner->memory.data[scanner->memory.length - 1] == '\n') {
            header = warc_header_length(buf_slice(&scanner->memory));
        }
    }
    const struct slice length = warc_http_header(buf_slice(&scanner->memory), "Content-Length");
    uint64_t n = 0;
    for (size_t i = 0; i < length.length && length.at[i] >= '0' && length.at[i] <= '9'; i++) {
        n = n < INT64_MAX / 16 ? n * 10 + (uint64_t)(length.at[i] - '0') : n;
    }
    TRY(read_plain(scanner, n, why));
    return read_plain(scanner, 4, why);
}

static enum status
read_record(struct scanner *scanner, struct reason *why)
{
    buf_reset(&scanner->memory);
    scanner->skip = false;
    TRY(fill(scanner, why));
    return (unsigned char)scanner->chunk[scanner->at] == 0x1f ? read_member(scanner, why)
                                                              : read_plain_record(scanner, why);
}

static enum status
walk(struct scanner *scanner, warc_visit *visit, void *context, struct warc_scan_result *result,
     struct reason *why)
{
    for (;;) {
        struct warc_record record;
        const uint64_t start = position(scanner);
        enum status status = read_record(scanner, why);
        if (status == STATUS_END) {
            result->torn = position(scanner) > start;
            return STATUS_OK;
        }
        if (status != STATUS_OK) {
            return status;
        }
        if (scanner->skip) {
            result->skipped++;
        } else if (warc_record_parse(&scanner->memory, &scanner->limits, &record, why) !=
                   STATUS_OK) {
            result->torn = true;
            return STATUS_OK;
        } else {
            result->records++;
            if (!visit(context, &record, start, position(scanner) - start)) {
                result->end = position(scanner);
                return STATUS_OK;
            }
        }
        result->end = position(scanner);
    }
}

enum status
warc_scan(const char *path, const struct warc_limits *limits, warc_visit *visit, void *context,
          struct warc_scan_result *result, struct reason *why)
{
    struct scanner scanner = {.path = path, .limits = warc_limits_of(limits)};
    *result = (struct warc_scan_result){0};
    scanner.descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (scanner.descriptor < 0) {
        const bool missing = errno == ENOENT;
        const enum status status = status_fail_errno(why, "cannot open %s", path);
        return missing ? STATUS_NOT_FOUND : status;
    }
    scanner.chunk = memory_alloc(CHUNK);
    buf_init(&scanner.memory, scanner.limits.record + scanner.limits.body + PIECE);
    const enum status status = walk(&scanner, visit, context, result, why);
    buf_release(&scanner.memory);
    free(scanner.chunk);
    close(scanner.descriptor);
    return status;
}
