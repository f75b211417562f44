#include "web/ping/receipts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"

enum {
    VERSION = 1,
    PROOF_AT = 4,  /* in the head: behind the length */
    DIGEST_AT = 5, /* of the body */
    DIGEST_SIZE = 8,
    HEAD_SIZE = DIGEST_AT + DIGEST_SIZE,
    BODY_MOST = 4 << 20,
    PATH_BYTES = 4096
};

struct receipts {
    pthread_mutex_t lock;
    char *folder;
    struct receipts_limits limits;
    int owner;      /* locked while we write; -1: not yet */
    int last;       /* the file that is written; -1: none */
    uint32_t first; /* numbers of the files that there are: first .. number */
    uint32_t number;
    uint64_t length;
};

struct place {
    uint32_t number, offset;
    uint64_t token; /* chance, so that nobody finds the receipts of others */
};

struct receipts *
receipts_new(const char *directory, const struct receipts_limits *limits)
{
    struct receipts *receipts = memory_new(sizeof *receipts);
    struct buf folder;
    buf_init(&folder, PATH_BYTES);
    (void)buf_printf(&folder, "%s/pings", directory);
    receipts->folder = memory_string(folder.data != NULL ? folder.data : "");
    buf_release(&folder);
    receipts->limits = *limits;
    receipts->owner = receipts->last = -1;
    (void)pthread_mutex_init(&receipts->lock, NULL);
    return receipts;
}

void
receipts_free(struct receipts *receipts)
{
    if (receipts == NULL) {
        return;
    }
    file_close(receipts->last);
    file_close(receipts->owner);
    (void)pthread_mutex_destroy(&receipts->lock);
    free(receipts->folder);
    free(receipts);
}

/* ---- names ---- */

static void
name_of(const struct place *place, char name[RECEIPT_NAME_SIZE])
{
    (void)snprintf(name, RECEIPT_NAME_SIZE, "%08x%08x%016llx", place->number, place->offset,
                   (unsigned long long)place->token);
}

static bool
place_of(const char *name, struct place *place)
{
    unsigned long long token;
    if (strspn(name, "0123456789abcdef") != RECEIPT_NAME_SIZE - 1 ||
        name[RECEIPT_NAME_SIZE - 1] != '\0' ||
        sscanf(name, "%8x%8x%16llx", &place->number, &place->offset, &token) != 3) {
        return false;
    }
    place->token = token;
    return true;
}

static void
path_of(const struct receipts *receipts, uint32_t number, char path[PATH_BYTES])
{
    (void)snprintf(path, PATH_BYTES, "%s/%08x", receipts->folder, number);
}

/* ---- bytes ---- */

static void
digest_of(struct slice body, uint8_t digest[DIGEST_SIZE])
{
    codec_write_u64(digest, fingerprint64(body));
}

static void
encode(const struct receipt *receipt, uint64_t token, struct buf *out)
{
    struct buf body;
    uint8_t digest[DIGEST_SIZE];
    buf_init(&body, BODY_MOST);
    codec_put_u8(&body, VERSION);
    codec_put_u64(&body, token);
    codec_put_u64(&body, receipt->time_ms);
    codec_put_u8(&body, (uint8_t)receipt->way);
    codec_put_slice(&body, receipt->sender);
    codec_put_slice(&body, receipt->key);
    codec_put_slice(&body, receipt->key_location);
    codec_put_varint(&body, receipt->count);
    codec_put_slice(&body, receipt->uris);
    digest_of(buf_slice(&body), digest);
    codec_put_u32(out, (uint32_t)body.length);
    codec_put_u8(out, (uint8_t)receipt->proof);
    (void)buf_append(out, digest, sizeof digest);
    (void)buf_append_slice(out, buf_slice(&body));
    out->overflowed |= body.overflowed;
    buf_release(&body);
}

static bool
decode(struct slice body, uint64_t *token, struct receipt *receipt)
{
    struct codec_reader reader = codec_reader_of(body);
    const uint8_t version = codec_get_u8(&reader);
    *token = codec_get_u64(&reader);
    receipt->time_ms = codec_get_u64(&reader);
    const uint8_t way = codec_get_u8(&reader);
    receipt->way = (enum receipt_way)way;
    receipt->sender = codec_get_slice(&reader);
    receipt->key = codec_get_slice(&reader);
    receipt->key_location = codec_get_slice(&reader);
    receipt->count = (size_t)codec_get_varint(&reader);
    receipt->uris = codec_get_slice(&reader);
    return codec_at_end(&reader) && version == VERSION && way <= RECEIPT_INDEXNOW;
}

/* Reads a record. END: there is none, or the end of the file is no whole one. */
static enum status
read_record(int file, uint64_t offset, struct buf *body, enum receipt_proof *proof)
{
    uint8_t head[HEAD_SIZE], digest[DIGEST_SIZE];
    if (pread(file, head, sizeof head, (off_t)offset) != (ssize_t)sizeof head) {
        return STATUS_END;
    }
    const uint32_t length = codec_read_u32(head);
    buf_reset(body);
    char *room = length <= BODY_MOST ? buf_reserve(body, length) : NULL;
    if (room == NULL || pread(file, room, length, (off_t)(offset + HEAD_SIZE)) != (ssize_t)length) {
        return STATUS_END;
    }
    buf_commit(body, length);
    digest_of(buf_slice(body), digest);
    if (memcmp(digest, head + DIGEST_AT, DIGEST_SIZE) != 0 || head[PROOF_AT] >= PROOF_COUNT) {
        return STATUS_END;
    }
    *proof = (enum receipt_proof)head[PROOF_AT];
    return STATUS_OK;
}

/* ---- files ---- */

/* The lowest and the highest number; false: there is no file. */
static bool
find_files(const struct receipts *receipts, uint32_t *first, uint32_t *last)
{
    DIR *folder = opendir(receipts->folder);
    bool any = false;
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        if (strlen(entry->d_name) != 8 || strspn(entry->d_name, "0123456789abcdef") != 8) {
            continue;
        }
        const uint32_t number = (uint32_t)strtoul(entry->d_name, NULL, 16);
        *first = !any || number < *first ? number : *first;
        *last = !any || number > *last ? number : *last;
        any = true;
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return any;
}

/* Removes what is too old or too much, but never the file that is written. */
static void
expire(struct receipts *receipts)
{
    const uint64_t now_ms = clock_wall_ms();
    char path[PATH_BYTES];
    struct stat file;
    for (; receipts->first < receipts->number; receipts->first++) {
        path_of(receipts, receipts->first, path);
        if (stat(path, &file) == 0) {
            const uint64_t changed_ms = (uint64_t)file.st_mtim.tv_sec * 1000;
            if (receipts->number - receipts->first < receipts->limits.files &&
                changed_ms + receipts->limits.age_ms > now_ms) {
                return;
            }
            (void)unlink(path);
        }
    }
}

static enum status
open_file(struct receipts *receipts, uint32_t number, struct reason *why)
{
    char path[PATH_BYTES];
    struct stat file;
    path_of(receipts, number, path);
    const int opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (opened < 0 || fstat(opened, &file) != 0) {
        const enum status status = status_fail_errno(why, "cannot open %s", path);
        file_close(opened);
        return status;
    }
    file_close(receipts->last);
    receipts->last = opened;
    receipts->number = number;
    receipts->length = (uint64_t)file.st_size;
    return file_sync_folder(receipts->folder, why);
}

/* Cuts off what a process that died has left at the end of the last file, which is no receipt. */
static enum status
cut_tail(struct receipts *receipts, struct reason *why)
{
    struct buf body;
    enum receipt_proof proof;
    uint64_t at = 0;
    buf_init(&body, BODY_MOST);
    while (read_record(receipts->last, at, &body, &proof) == STATUS_OK) {
        at += HEAD_SIZE + body.length;
    }
    buf_release(&body);
    if (at < receipts->length && ftruncate(receipts->last, (off_t)at) != 0) {
        return status_fail_errno(why, "cannot shorten a file of %s", receipts->folder);
    }
    receipts->length = at;
    return STATUS_OK;
}

/* Becomes the one process that writes. */
static enum status
take_over(struct receipts *receipts, struct reason *why)
{
    char path[PATH_BYTES];
    uint32_t last = 0;
    if (receipts->owner >= 0) {
        return STATUS_OK;
    }
    TRY(file_make_folder(receipts->folder, 0700, why));
    (void)snprintf(path, sizeof path, "%s/lock", receipts->folder);
    const int owner = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (owner < 0) {
        return status_fail_errno(why, "cannot open %s", path);
    }
    if (flock(owner, LOCK_EX | LOCK_NB) != 0) {
        (void)close(owner);
        return status_fail(why, STATUS_AGAIN,
                           "another quadrille-web takes the pings of this directory");
    }
    receipts->first = 1;
    enum status status = STATUS_OK;
    if (find_files(receipts, &receipts->first, &last)) {
        status = open_file(receipts, last, why);
        status = status == STATUS_OK ? cut_tail(receipts, why) : status;
    } else {
        status = open_file(receipts, receipts->first, why);
    }
    if (status != STATUS_OK) {
        (void)close(owner);
        return status;
    }
    receipts->owner = owner;
    expire(receipts);
    return STATUS_OK;
}

/* ---- adding and reading ---- */

static enum status
write_record(struct receipts *receipts, struct slice record, struct reason *why)
{
    if (!file_write_all_at(receipts->last, record, receipts->length) ||
        fdatasync(receipts->last) != 0) {
        const enum status status = status_fail_errno(why, "cannot write a receipt");
        (void)ftruncate(receipts->last, (off_t)receipts->length);
        return status;
    }
    receipts->length += record.length;
    return STATUS_OK;
}

static enum status
add_locked(struct receipts *receipts, const struct receipt *receipt, struct place *place,
           struct reason *why)
{
    struct buf record;
    TRY(take_over(receipts, why));
    if (receipts->length >= receipts->limits.file_bytes) {
        TRY(open_file(receipts, receipts->number + 1, why));
        expire(receipts);
    }
    place->number = receipts->number;
    place->offset = (uint32_t)receipts->length;
    randombytes_buf(&place->token, sizeof place->token);
    buf_init(&record, BODY_MOST + HEAD_SIZE);
    encode(receipt, place->token, &record);
    const enum status status =
        record.overflowed
            ? status_fail(why, STATUS_LIMIT, "the URLs of one ping are too long together")
            : write_record(receipts, buf_slice(&record), why);
    buf_release(&record);
    return status;
}

enum status
receipts_add(struct receipts *receipts, const struct receipt *receipt, char name[RECEIPT_NAME_SIZE],
             struct reason *why)
{
    struct place place;
    (void)pthread_mutex_lock(&receipts->lock);
    const enum status status = add_locked(receipts, receipt, &place, why);
    (void)pthread_mutex_unlock(&receipts->lock);
    if (status == STATUS_OK) {
        name_of(&place, name);
    }
    return status;
}

static enum status
no_receipt(struct reason *why)
{
    return status_fail(why, STATUS_NOT_FOUND, "There is no such receipt, or it has expired.");
}

/* Reading needs no lock: files are only added to. */
static enum status
read_at(const struct receipts *receipts, int flags, const struct place *place, int *file,
        struct receipt *receipt, struct buf *memory, struct reason *why)
{
    char path[PATH_BYTES];
    uint64_t token = 0;
    path_of(receipts, place->number, path);
    *file = open(path, flags | O_CLOEXEC);
    if (*file < 0) {
        return errno == ENOENT ? no_receipt(why) : status_fail_errno(why, "cannot open %s", path);
    }
    if (read_record(*file, place->offset, memory, &receipt->proof) != STATUS_OK ||
        !decode(buf_slice(memory), &token, receipt) || token != place->token ||
        receipt->time_ms + receipts->limits.age_ms < clock_wall_ms()) {
        (void)close(*file);
        return no_receipt(why);
    }
    return STATUS_OK;
}

enum status
receipts_read(struct receipts *receipts, const char *name, struct receipt *receipt,
              struct buf *memory, struct reason *why)
{
    struct place place;
    int file;
    if (!place_of(name, &place)) {
        return no_receipt(why);
    }
    TRY(read_at(receipts, O_RDONLY, &place, &file, receipt, memory, why));
    (void)close(file);
    return STATUS_OK;
}

enum status
receipts_prove(struct receipts *receipts, const char *name, enum receipt_proof proof,
               struct reason *why)
{
    struct place place;
    struct receipt receipt;
    struct buf memory;
    int file = -1;
    const char byte = (char)proof;
    if (!place_of(name, &place)) {
        return no_receipt(why);
    }
    buf_init(&memory, BODY_MOST);
    enum status status = read_at(receipts, O_RDWR, &place, &file, &receipt, &memory, why);
    if (status == STATUS_OK) {
        if (!file_write_all_at(file, slice_of(&byte, 1), (uint64_t)place.offset + PROOF_AT) ||
            fdatasync(file) != 0) {
            status = status_fail_errno(why, "cannot write a receipt");
        }
        (void)close(file);
    }
    buf_release(&memory);
    return status;
}

/* False: visit wants no more. */
static bool
visit_file(const struct receipts *receipts, uint32_t number, struct buf *memory,
           receipts_visit *visit, void *context)
{
    char path[PATH_BYTES], name[RECEIPT_NAME_SIZE];
    struct place place = {.number = number};
    struct receipt receipt;
    bool go_on = true;
    path_of(receipts, number, path);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && go_on &&
           read_record(file, place.offset, memory, &receipt.proof) == STATUS_OK) {
        if (receipt.proof == PROOF_AWAITED && decode(buf_slice(memory), &place.token, &receipt) &&
            receipt.time_ms + receipts->limits.age_ms >= clock_wall_ms()) {
            name_of(&place, name);
            go_on = visit(context, name);
        }
        place.offset += (uint32_t)(HEAD_SIZE + memory->length);
    }
    file_close(file);
    return go_on;
}

enum status
receipts_awaiting(struct receipts *receipts, receipts_visit *visit, void *context,
                  struct reason *why)
{
    uint32_t first = 0, last = 0;
    struct buf memory;
    if (!find_files(receipts, &first, &last)) {
        return STATUS_OK;
    }
    (void)pthread_mutex_lock(&receipts->lock);
    const enum status status = take_over(receipts, why);
    (void)pthread_mutex_unlock(&receipts->lock);
    TRY(status);
    buf_init(&memory, BODY_MOST);
    for (uint32_t number = first; number <= last; number++) {
        if (!visit_file(receipts, number, &memory, visit, context)) {
            break;
        }
    }
    buf_release(&memory);
    return STATUS_OK;
}
