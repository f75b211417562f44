#include "base/system/file.h"
#include "index/maintenance/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/digest.h"
#include "base/memory.h"

enum { PATH_SIZE = 4096, NAME_MOST = 200, COPY_BYTES = 1 << 18, WAITING_MOST = 16 << 20 };

/* A file being written, with its digest. */
struct copy {
    int file; /* -1: none */
    char path[PATH_SIZE], name[PATH_SIZE];
    struct sha256_ctx sha;
    uint64_t bytes;
};

static enum status
copy_open(struct copy *copy, const char *path, const char *name, struct reason *why)
{
    snprintf(copy->path, sizeof(copy->path), "%s", path);
    snprintf(copy->name, sizeof(copy->name), "%s", name);
    copy->bytes = 0;
    sha256_init(&copy->sha);
    copy->file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return copy->file >= 0 ? STATUS_OK : status_fail_errno(why, "cannot make %s", path);
}

static enum status
write_failed(const struct copy *copy, struct reason *why)
{
    const enum status status = errno == ENOSPC || errno == EDQUOT ? STATUS_FULL : STATUS_SYSTEM;
    return status_fail(why, status, "cannot write %s: %s", copy->path, strerror(errno));
}

static enum status
copy_write(struct copy *copy, struct slice bytes, struct reason *why)
{
    sha256_update(&copy->sha, bytes.length, (const uint8_t *)bytes.at);
    copy->bytes += bytes.length;
    return file_write_all(copy->file, bytes) ? STATUS_OK : write_failed(copy, why);
}

static enum status
copy_end(struct copy *copy, FILE *manifest, char *digest, struct reason *why)
{
    uint8_t sum[SHA256_DIGEST_SIZE];
    char text[2 * SHA256_DIGEST_SIZE + 1];
    const bool synced = fsync(copy->file) == 0;
    const bool closed = close(copy->file) == 0;
    copy->file = -1;
    if (!synced || !closed) {
        return write_failed(copy, why);
    }
    sha256_digest(&copy->sha, sizeof(sum), sum);
    digest_hex(sum, sizeof(sum), text);
    if (digest != NULL) {
        memcpy(digest, text, sizeof(text));
    }
    if (manifest != NULL &&
        fprintf(manifest, "%s\t%" PRIu64 "\t%s\n", text, copy->bytes, copy->name) < 0) {
        return status_fail_errno(why, "cannot write the manifest");
    }
    return STATUS_OK;
}

enum status
backup_copy_file(const char *from, const char *to, const char *name, FILE *manifest,
                 char digest[65], uint64_t *bytes, struct reason *why)
{
    struct copy *copy = memory_new(sizeof(*copy));
    char *piece = memory_alloc(COPY_BYTES);
    copy->file = -1;
    FILE *in = fopen(from, "re");
    enum status status = in != NULL ? copy_open(copy, to, name, why)
                                    : status_fail_errno(why, "cannot read %s", from);
    size_t n;
    while (status == STATUS_OK && (n = fread(piece, 1, COPY_BYTES, in)) > 0) {
        status = copy_write(copy, slice_of(piece, n), why);
    }
    if (status == STATUS_OK && ferror(in)) {
        status = status_fail_errno(why, "cannot read %s", from);
    }
    if (status == STATUS_OK) {
        status = copy_end(copy, manifest, digest, why);
    }
    file_close(copy->file);
    if (in != NULL) {
        fclose(in);
    }
    *bytes = copy->bytes;
    free(copy);
    free(piece);
    return status;
}

/* ---- streams ---- */

struct backup_receiver {
    char *folder, *name;
    FILE *manifest;
    struct buf waiting; /* the beginning of a frame */
    struct copy copy;
    uint64_t bytes;
    bool whole;
};

struct backup_receiver *
backup_receiver_new(const char *folder, const char *name, FILE *manifest)
{
    struct backup_receiver *receiver = memory_new(sizeof(*receiver));
    receiver->folder = memory_string(folder);
    receiver->name = memory_string(name);
    receiver->manifest = manifest;
    receiver->copy.file = -1;
    buf_init(&receiver->waiting, WAITING_MOST);
    return receiver;
}

void
backup_receiver_free(struct backup_receiver *receiver)
{
    if (receiver != NULL) {
        file_close(receiver->copy.file);
        buf_release(&receiver->waiting);
        free(receiver->folder);
        free(receiver->name);
        free(receiver);
    }
}

static enum status
malformed(struct reason *why)
{
    return status_fail(why, STATUS_PROTOCOL, "the index sent a malformed copy");
}

/* Names come from the index, which may be another machine's. */
static bool
is_plain(struct slice name)
{
    for (size_t i = 0; i < name.length; i++) {
        const char c = name.at[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
              (c == '.' && i > 0))) {
            return false;
        }
    }
    return name.length > 0 && name.length <= NAME_MOST;
}

static enum status
begin_file(struct backup_receiver *r, struct slice name, struct reason *why)
{
    char path[PATH_SIZE];
    char listed[PATH_SIZE];
    if (r->copy.file >= 0 || !is_plain(name)) {
        return malformed(why);
    }
    if (mkdir(r->folder, 0700) != 0 && errno != EEXIST) {
        return status_fail_errno(why, "cannot make %s", r->folder);
    }
    snprintf(path, sizeof(path), "%s/%.*s", r->folder, SLICE_PRINT(name));
    snprintf(listed, sizeof(listed), "%s/%.*s", r->name, SLICE_PRINT(name));
    return copy_open(&r->copy, path, listed, why);
}

static enum status
take_frame(struct backup_receiver *r, uint8_t kind, struct slice bytes, struct reason *why)
{
    if (r->whole) {
        return malformed(why);
    }
    switch ((enum backup_frame)kind) {
    case BACKUP_FILE:
        return begin_file(r, bytes, why);
    case BACKUP_BYTES:
        r->bytes += bytes.length;
        return r->copy.file >= 0 ? copy_write(&r->copy, bytes, why) : malformed(why);
    case BACKUP_END:
        return r->copy.file >= 0 ? copy_end(&r->copy, r->manifest, NULL, why) : malformed(why);
    case BACKUP_WHOLE:
        r->whole = r->copy.file < 0;
        return r->whole ? STATUS_OK : malformed(why);
    }
    return malformed(why);
}

enum status
backup_receive(void *context, struct slice bytes, struct reason *why)
{
    struct backup_receiver *r = context;
    (void)buf_append_slice(&r->waiting, bytes);
    if (r->waiting.overflowed) {
        return malformed(why);
    }
    struct codec_reader in = codec_reader_of(buf_slice(&r->waiting));
    const uint8_t *taken = in.at;
    while (in.at < in.end) {
        const uint8_t kind = codec_get_u8(&in);
        const bool has_bytes = kind == BACKUP_FILE || kind == BACKUP_BYTES;
        const struct slice argument = has_bytes ? codec_get_slice(&in) : SLICE("");
        if (in.bad) {
            break; /* the rest is still to come */
        }
        TRY(take_frame(r, kind, argument, why));
        taken = in.at;
    }
    const size_t rest = (size_t)(in.end - taken);
    memmove(r->waiting.data, taken, rest);
    r->waiting.length = rest;
    return STATUS_OK;
}

enum status
backup_receiver_end(struct backup_receiver *receiver, uint64_t *bytes, struct reason *why)
{
    if (!receiver->whole || receiver->waiting.length > 0) {
        return status_fail(why, STATUS_CORRUPT, "the copy of %s is not whole", receiver->name);
    }
    if (bytes != NULL) {
        *bytes = receiver->bytes;
    }
    return file_sync_folder(receiver->folder, why);
}
