#include "metastore/archive_link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/system/file.h"
#include "metastore/protocol.h"
#include "warc/remote.h"

enum { PAYLOAD_BYTES = 1 << 20, WAIT_MS = 5000 };

/* ---- the daemon's side ---- */

/* A regular file of that name in the folder itself. */
static enum status
open_file(const char *folder, struct slice name, int *file, struct reason *why)
{
    char path[PATH_MAX];
    struct stat info;
    *file = -1;
    if (snprintf(path, sizeof path, "%s/%.*s", folder, SLICE_PRINT(name)) < (int)sizeof path) {
        *file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    }
    if (*file >= 0 && (fstat(*file, &info) != 0 || !S_ISREG(info.st_mode))) {
        (void)close(*file);
        *file = -1;
    }
    return *file >= 0 ? STATUS_OK
                      : status_fail(why, STATUS_NOT_FOUND, "%.*s: no such file in this archive",
                                    SLICE_PRINT(name));
}

static enum status
read_range(int file, uint64_t offset, size_t length, struct buf *reply, struct reason *why)
{
    char *at = buf_reserve(reply, length);
    for (size_t done = 0; done < length;) {
        const ssize_t n = pread(file, at + done, length - done, (off_t)(offset + done));
        if (n < 0 && errno != EINTR) {
            return status_fail_errno(why, "cannot read the archive");
        }
        if (n == 0) {
            return status_fail(why, STATUS_CORRUPT, "the file is shorter than its record");
        }
        done += n > 0 ? (size_t)n : 0;
    }
    buf_commit(reply, length);
    return STATUS_OK;
}

enum status
archive_answer(const char *folder, struct slice payload, struct buf *reply, struct reason *why)
{
    struct codec_reader in = codec_reader_of(payload);
    struct slice opened = {0};
    enum status status = STATUS_OK;
    int file = -1;
    buf_reset(reply);
    do {
        const struct slice name = codec_get_slice(&in);
        const uint64_t offset = codec_get_varint(&in), length = codec_get_varint(&in);
        if (in.bad || !warc_file_name_valid(name) || length == 0 ||
            length > ARCHIVE_PIECE - reply->length || offset > INT64_MAX - ARCHIVE_PIECE) {
            status =
                status_fail(why, STATUS_PROTOCOL, "metastore: the archive request is malformed");
        } else if (file < 0 || !slice_equal(name, opened)) {
            file_close(file);
            opened = name;
            status = open_file(folder, name, &file, why);
        }
        if (status == STATUS_OK) {
            status = read_range(file, offset, (size_t)length, reply, why);
        }
    } while (status == STATUS_OK && !codec_at_end(&in));
    file_close(file);
    return status;
}

/* ---- the other node's ---- */

struct archive_link {
    struct rpc_client *rpc;
    struct buf request, piece;
    bool away; /* a question waits for its sign of life */
};

enum status
archive_link_open(struct archive_link **opened, const char *endpoint, const struct rpc_keys *keys,
                  struct reason *why)
{
    struct archive_link *link = memory_new(sizeof *link);
    const struct rpc_client_options options = {
        .endpoint = endpoint, .name = "archive", .keys = keys};
    buf_init(&link->request, PAYLOAD_BYTES);
    buf_init(&link->piece, ARCHIVE_PIECE);
    const enum status status = rpc_client_open(&link->rpc, &options, why);
    if (status != STATUS_OK) {
        link->rpc = NULL;
        archive_link_close(link);
        link = NULL;
    }
    *opened = link;
    return status;
}

void
archive_link_close(struct archive_link *link)
{
    if (link != NULL) {
        if (link->rpc != NULL) {
            rpc_client_close(link->rpc);
        }
        buf_release(&link->request);
        buf_release(&link->piece);
        free(link);
    }
}

static void
sign_of_life(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct archive_link *link = context;
    (void)payload;
    (void)why;
    link->away = status == STATUS_CANCELLED; /* then the link is closed */
}

static void
goes_away(struct archive_link *link)
{
    buf_reset(&link->request);
    codec_put_varint(&link->request, 0);
    link->away = true;
    rpc_client_post(link->rpc, METASTORE_GET, buf_slice(&link->request), 0, sign_of_life, link);
}

/* *bytes gets exactly what the ranges say, ARCHIVE_PIECE at most. */
static enum status
request_ranges(struct archive_link *link, const struct archive_range *ranges, size_t n,
               struct buf *bytes, struct reason *why)
{
    uint64_t wanted = 0;
    buf_reset(&link->request);
    buf_reset(bytes);
    for (size_t i = 0; i < n; i++) {
        codec_put_slice(&link->request, ranges[i].file);
        codec_put_varint(&link->request, ranges[i].offset);
        codec_put_varint(&link->request, ranges[i].length);
        wanted += ranges[i].length;
    }
    const enum status status =
        rpc_call(link->rpc, METASTORE_ARCHIVE, buf_slice(&link->request), WAIT_MS, bytes, why);
    if (status == STATUS_TIMEOUT) {
        goes_away(link);
        return STATUS_UNAVAILABLE;
    }
    TRY(status);
    return bytes->length == wanted
               ? STATUS_OK
               : status_fail(why, STATUS_PROTOCOL, "%.*s: not the bytes that were asked for",
                             SLICE_PRINT(ranges[0].file));
}

static enum status
is_there(struct archive_link *link, struct reason *why)
{
    if (link->away) {
        rpc_client_process(link->rpc);
    }
    return !link->away
               ? STATUS_OK
               : status_fail(why, STATUS_UNAVAILABLE, "the node of this archive does not answer");
}

enum status
archive_link_read_ranges(struct archive_link *link, const struct archive_range *ranges, size_t n,
                         struct buf *bytes, struct reason *why)
{
    TRY(is_there(link, why));
    return request_ranges(link, ranges, n, bytes, why);
}

enum status
archive_link_read(struct archive_link *link, const struct archive_range *range, struct buf *member,
                  struct reason *why)
{
    buf_reset(member);
    TRY(is_there(link, why));
    if (!warc_file_name_valid(range->file)) {
        return status_fail(why, STATUS_MISUSE, "not the name of a WARC file: %.*s",
                           SLICE_PRINT(range->file));
    }
    if (range->length == 0 || range->length > member->maximum) {
        return status_fail(why, STATUS_LIMIT, "%.*s: a record of %lu bytes",
                           SLICE_PRINT(range->file), (unsigned long)range->length);
    }
    while (member->length < range->length) {
        const uint64_t left = range->length - member->length;
        const struct archive_range piece = {.file = range->file,
                                            .offset = range->offset + member->length,
                                            .length = left < ARCHIVE_PIECE ? left : ARCHIVE_PIECE};
        TRY(request_ranges(link, &piece, 1, &link->piece, why));
        TRY(buf_append_slice(member, buf_slice(&link->piece)));
    }
    return STATUS_OK;
}
