/* The writer. A record is formatted in memory and compressed into one gzip member. Members gather
 * until there are WRITE_BYTES of them or the file is synced, and are appended by one write(2) to a
 * file opened with O_APPEND, so a killed writer leaves whole members and at worst the head of one.
 * A write that fails half-way (disk full) is cut off again; its members wait for the next one.
 *
 * Records are whole in memory when they are written, so each is compressed in one call
 * (compress.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "warc/compress.h"
#include "warc/warc.h"

enum { KEPT_SIZE = 4 << 20, RANDOM_KEPT = 512, WRITE_BYTES = 64 << 10 };
#define RECORD_MAXIMUM ((size_t)4 << 30)

struct warc_writer {
    char *directory;
    char *prefix, *node, *process;
    char *operator_contact, *user_agent;
    uint64_t size;
    int descriptor; /* -1: no file open */
    int directory_descriptor;
    unsigned serial;
    char file[WARC_FILE_SIZE];
    char info_id[WARC_ID_SIZE];
    uint64_t offset; /* where the next record begins: end of the file and of what gathers */
    bool unsynced;   /* there are records that warc_sync has not seen on disk */
    bool torn;       /* a write failed, and what it left could not be cut off */
    struct compressor *compressor;
    struct buf record;           /* header and block, as they are compressed */
    struct buf members;          /* compressed, to be written */
    size_t kept;                 /* bytes of them that locations were given for */
    struct buf header;           /* of the record being written */
    struct buf block;            /* HTTP header as stored */
    uint8_t random[RANDOM_KEPT]; /* for identifiers; each byte is used once */
    size_t random_used;
};

/* A record about to be written: header fields are in writer->header already. */
struct record {
    struct slice parts[2]; /* the block */
    char id[WARC_ID_SIZE];
};

/* ---- identifiers and digests ---- */

static void
new_id(struct warc_writer *writer, char id[WARC_ID_SIZE])
{
    enum { UUID_SIZE = 16 };
    static const char scheme[] = "urn:uuid:";
    static const int groups[] = {4, 2, 2, 2, 6};
    if (writer->random_used == 0 || writer->random_used == RANDOM_KEPT) {
        randombytes_buf(writer->random, RANDOM_KEPT);
        writer->random_used = 0;
    }
    uint8_t *bytes = writer->random + writer->random_used;
    writer->random_used += UUID_SIZE;
    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
    memcpy(id, scheme, sizeof scheme - 1);
    id += sizeof scheme - 1;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        digest_hex(bytes, groups[i], id);
        bytes += groups[i];
        id += 2 * groups[i];
        *id++ = '-';
    }
    id[-1] = '\0';
}

/* There are a score of these in each exchange, so they are not printed by format. */
static void
put_line(struct buf *header, const char *before, struct slice value, const char *after)
{
    buf_append_string(header, before);
    buf_append_slice(header, value);
    buf_append_string(header, after);
}

static void
put_digest(struct buf *header, const char *name, const uint8_t digest[DIGEST_SHA1_SIZE])
{
    char text[33];
    digest_base32(digest, DIGEST_SHA1_SIZE, text);
    buf_append_string(header, name);
    put_line(header, ": sha1:", slice_string(text), "\r\n");
}

/* Header values must stay on their line, whatever a server or a link put into them. */
static void
put_field(struct buf *header, const char *name, struct slice value)
{
    buf_append_string(header, name);
    buf_append_string(header, ": ");
    const size_t start = header->length;
    buf_append_slice(header, value);
    for (size_t i = start; i < header->length; i++) {
        const unsigned char c = (unsigned char)header->data[i];
        header->data[i] = c < ' ' || c == 0x7f ? ' ' : (char)c;
    }
    buf_append_string(header, "\r\n");
}

static void
begin_header(struct warc_writer *writer, const char *type, uint64_t date_ms, struct record *record)
{
    char date[CLOCK_TEXT_SIZE];
    struct buf *header = &writer->header;
    new_id(writer, record->id);
    clock_text(date_ms, 1, date);
    buf_reset(header);
    put_line(header, "WARC/1.1\r\nWARC-Type: ", slice_string(type), "\r\n");
    put_line(header, "WARC-Record-ID: <", slice_string(record->id), ">\r\n");
    put_line(header, "WARC-Date: ", slice_string(date), "\r\n");
}

static void
put_reference(struct warc_writer *writer, const char *name, struct slice id)
{
    buf_append_string(&writer->header, name);
    put_line(&writer->header, ": <", id, ">\r\n");
}

static void
end_header_with(struct warc_writer *writer, const char *content_type, const struct record *record,
                const uint8_t block_digest[DIGEST_SHA1_SIZE])
{
    put_digest(&writer->header, "WARC-Block-Digest", block_digest);
    put_field(&writer->header, "Content-Type", slice_string(content_type));
    buf_printf(&writer->header, "Content-Length: %zu\r\n\r\n",
               record->parts[0].length + record->parts[1].length);
}

static void
end_header(struct warc_writer *writer, const char *content_type, const struct record *record)
{
    uint8_t digest[DIGEST_SHA1_SIZE];
    digest_sha1_parts(record->parts[0], record->parts[1], digest);
    end_header_with(writer, content_type, record, digest);
}

/* ---- bytes into the file ---- */

static enum status
write_all(struct warc_writer *writer, const char *at, size_t n, struct reason *why)
{
    if (file_write_all(writer->descriptor, slice_of(at, n))) {
        return STATUS_OK;
    }
    const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
    const enum status status =
        status_fail_errno(why, "cannot write %s/%s", writer->directory, writer->file);
    return full ? STATUS_FULL : status;
}

/* Appends to writer->members. */
static enum status
compress(struct warc_writer *writer, const struct record *record, enum compressor_kind kind,
         struct reason *why)
{
    struct buf *whole = &writer->record;
    if (writer->header.overflowed || writer->block.overflowed) {
        return status_fail(why, STATUS_LIMIT, "header of a WARC record is too large");
    }
    buf_reset(whole);
    buf_append_slice(whole, buf_slice(&writer->header));
    buf_append_slice(whole, record->parts[0]);
    const size_t body_at = whole->length;
    buf_append_slice(whole, record->parts[1]);
    buf_append_slice(whole, SLICE("\r\n\r\n"));
    const size_t most = compressor_bound(writer->compressor, whole->length);
    char *room = whole->overflowed ? NULL : buf_reserve(&writer->members, most);
    if (room == NULL) {
        return status_fail(why, STATUS_LIMIT, "a WARC record of %zu bytes", whole->length);
    }
    const size_t packed_at = compressor_is_packed(record->parts[1]) ? body_at : whole->length;
    const size_t n = compressor_member(writer->compressor, kind, buf_slice(whole), packed_at, room);
    if (n == 0) {
        return status_fail(why, STATUS_SYSTEM, "a record could not be compressed");
    }
    buf_commit(&writer->members, n);
    return STATUS_OK;
}

/* One large record must not hold memory for ever. */
static void
shrink(struct buf *buf)
{
    if (buf->capacity > KEPT_SIZE) {
        const size_t maximum = buf->maximum;
        buf_release(buf);
        buf_init(buf, maximum);
    }
}

static void
drop_unkept(struct warc_writer *writer)
{
    if (writer->members.data != NULL) {
        writer->members.length = writer->kept;
        writer->members.overflowed = false;
    }
}

/* Writes what has gathered; on failure the file ends where it did before, and all of it waits. */
static enum status
flush(struct warc_writer *writer, struct reason *why)
{
    const off_t end = (off_t)(writer->offset - writer->kept);
    if (writer->kept == 0) {
        return STATUS_OK;
    }
    if (writer->torn && ftruncate(writer->descriptor, end) != 0) {
        return status_fail_errno(why, "cannot cut %s/%s", writer->directory, writer->file);
    }
    const enum status status = write_all(writer, writer->members.data, writer->kept, why);
    writer->torn = status != STATUS_OK && ftruncate(writer->descriptor, end) != 0;
    if (status == STATUS_OK) {
        writer->kept = 0;
        drop_unkept(writer);
        shrink(&writer->members);
    }
    return status;
}

/* Members made since the last time are the archive's, unless they cannot be written: then they are
 * not kept, and the next record drops them. */
static enum status
keep_members(struct warc_writer *writer, struct reason *why)
{
    const size_t before = writer->kept;
    const size_t n = writer->members.length - before;
    writer->kept += n;
    writer->offset += n;
    shrink(&writer->record);
    const enum status status = writer->kept >= WRITE_BYTES ? flush(writer, why) : STATUS_OK;
    if (status != STATUS_OK) {
        writer->kept = before;
        writer->offset -= n;
        return status;
    }
    writer->unsynced = true;
    return STATUS_OK;
}

/* Finds where the member will be that is the only one which is not kept yet. */
static void
locate(const struct warc_writer *writer, const char *id, struct warc_location *location)
{
    memcpy(location->file, writer->file, sizeof location->file);
    memcpy(location->id, id, sizeof location->id);
    location->offset = writer->offset;
    location->length = writer->members.length - writer->kept;
}

static enum status
append(struct warc_writer *writer, const struct record *record, struct warc_location *location,
       struct reason *why)
{
    drop_unkept(writer);
    TRY(compress(writer, record, COMPRESSOR_CONTENT, why));
    if (location != NULL) {
        locate(writer, record->id, location);
    }
    return keep_members(writer, why);
}

/* ---- files ---- */

static enum status
write_info(struct warc_writer *writer, struct reason *why)
{
    struct record record;
    struct buf *block = &writer->block;
    buf_reset(block);
    buf_printf(block, "software: Quadrille/%s\r\n", QUADRILLE_VERSION);
    buf_append_string(block, "format: WARC File Format 1.1\r\n"
                             "conformsTo: http://iipc.github.io/warc-specifications/"
                             "specifications/warc-format/warc-1.1/\r\n");
    if (writer->user_agent[0] != '\0') {
        put_field(block, "http-header-user-agent", slice_string(writer->user_agent));
    }
    if (writer->operator_contact[0] != '\0') {
        put_field(block, "operator", slice_string(writer->operator_contact));
    }
    begin_header(writer, "warcinfo", clock_wall_ms(), &record);
    put_field(&writer->header, "WARC-Filename", slice_string(writer->file));
    record.parts[0] = buf_slice(block);
    record.parts[1] = SLICE("");
    end_header(writer, "application/warc-fields", &record);
    TRY(append(writer, &record, NULL, why));
    memcpy(writer->info_id, record.id, sizeof record.id);
    return STATUS_OK;
}

static enum status
open_file(struct warc_writer *writer, struct reason *why)
{
    char stamp[32];
    const uint64_t now = clock_wall_ms();
    const time_t seconds = (time_t)(now / 1000);
    struct tm calendar;
    gmtime_r(&seconds, &calendar);
    strftime(stamp, sizeof stamp, "%Y%m%d%H%M%S", &calendar);
    do {
        const int n = snprintf(writer->file, sizeof writer->file, "%s-%s%03u-%05u-%s-%s.warc.gz",
                               writer->prefix, stamp, (unsigned)(now % 1000), writer->serial++,
                               writer->node, writer->process);
        if (n < 0 || (size_t)n >= sizeof writer->file) {
            return status_fail(why, STATUS_MISUSE, "the name of the WARC file is too long");
        }
        writer->descriptor = openat(writer->directory_descriptor, writer->file,
                                    O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
    } while (writer->descriptor < 0 && errno == EEXIST);
    if (writer->descriptor < 0) {
        const bool full = errno == ENOSPC || errno == EDQUOT;
        const enum status status =
            status_fail_errno(why, "cannot create %s/%s", writer->directory, writer->file);
        return full ? STATUS_FULL : status;
    }
    writer->offset = writer->kept = 0;
    writer->torn = false;
    enum status status = write_info(writer, why);
    if (status == STATUS_OK) {
        status = flush(writer, why);
    }
    if (status == STATUS_OK && fsync(writer->directory_descriptor) != 0) {
        status = status_fail_errno(why, "cannot sync %s", writer->directory);
    }
    if (status != STATUS_OK && writer->descriptor >= 0) {
        (void)unlinkat(writer->directory_descriptor, writer->file, 0);
        close(writer->descriptor);
        writer->descriptor = -1;
        writer->kept = 0;
    }
    return status;
}

static enum status
close_file(struct warc_writer *writer, struct reason *why)
{
    TRY(warc_sync(writer, why));
    if (writer->descriptor >= 0) {
        close(writer->descriptor);
        writer->descriptor = -1;
    }
    return STATUS_OK;
}

/* A file to write to: the open one unless it has its size. */
static enum status
ready_file(struct warc_writer *writer, struct reason *why)
{
    if (writer->descriptor >= 0 && writer->offset >= writer->size) {
        TRY(close_file(writer, why));
    }
    return writer->descriptor >= 0 ? STATUS_OK : open_file(writer, why);
}

/* Returns the text with only such characters as may stand in a file's name. */
static char *
name_part(const char *text)
{
    char *part = memory_string(text != NULL && text[0] != '\0' ? text : "node");
    for (char *c = part; *c != '\0'; c++) {
        const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                           (*c >= '0' && *c <= '9') || *c == '.' || *c == '_';
        *c = plain ? *c : '_';
    }
    return part;
}

enum status
warc_writer_open(struct warc_writer **result, const char *directory,
                 const struct warc_writer_options *options, struct reason *why)
{
    *result = NULL;
    if (sodium_init() < 0) {
        return status_fail(why, STATUS_SYSTEM, "libsodium could not start");
    }
    TRY(file_make_folder(directory, 0777, why));
    const int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return status_fail_errno(why, "cannot open %s", directory);
    }
    struct warc_writer *writer = memory_new(sizeof *writer);
    writer->compressor = compressor_open(options->level);
    if (writer->compressor == NULL) {
        close(descriptor);
        free(writer);
        return status_fail(why, STATUS_SYSTEM, "there is no compression level %d", options->level);
    }
    writer->directory = memory_string(directory);
    writer->prefix = name_part(options->prefix);
    writer->node = name_part(options->node);
    writer->process = name_part(options->process);
    writer->operator_contact =
        memory_string(options->operator_contact ? options->operator_contact : "");
    writer->user_agent = memory_string(options->user_agent ? options->user_agent : "");
    writer->size = options->size;
    writer->descriptor = -1;
    writer->directory_descriptor = descriptor;
    buf_init(&writer->record, RECORD_MAXIMUM);
    buf_init(&writer->members, 2 * RECORD_MAXIMUM);
    buf_init(&writer->header, WARC_HEADER_MAXIMUM);
    buf_init(&writer->block, WARC_HTTP_HEADER_MAXIMUM * 2);
    *result = writer;
    return STATUS_OK;
}

enum status
warc_writer_close(struct warc_writer *writer, struct reason *why)
{
    if (writer == NULL) {
        return STATUS_OK;
    }
    const enum status status = close_file(writer, why);
    file_close(writer->descriptor);
    close(writer->directory_descriptor);
    compressor_close(writer->compressor);
    buf_release(&writer->header);
    buf_release(&writer->block);
    free(writer->directory);
    free(writer->prefix);
    free(writer->node);
    free(writer->process);
    free(writer->operator_contact);
    free(writer->user_agent);
    buf_release(&writer->record);
    buf_release(&writer->members);
    free(writer);
    return status;
}

enum status
warc_sync(struct warc_writer *writer, struct reason *why)
{
    if (!writer->unsynced || writer->descriptor < 0) {
        return STATUS_OK;
    }
    TRY(flush(writer, why));
    if (fdatasync(writer->descriptor) != 0) {
        const bool full = errno == ENOSPC || errno == EDQUOT;
        const enum status status =
            status_fail_errno(why, "cannot sync %s/%s", writer->directory, writer->file);
        return full ? STATUS_FULL : status;
    }
    writer->unsynced = false;
    return STATUS_OK;
}

/* ---- records ---- */

/* The response's header as it is stored: the body stands behind it without its transfer coding,
 * so that header is renamed; a status line of HTTP/2 or 3 is written in the form that readers of
 * application/http know, with WARC-Protocol saying what it was. */
static void
store_response_header(struct buf *block, struct slice header)
{
    buf_reset(block);
    if (slice_starts(header, SLICE("HTTP/2")) || slice_starts(header, SLICE("HTTP/3"))) {
        const size_t blank = slice_find(header, ' ');
        buf_append_string(block, "HTTP/1.1");
        header = slice_of(header.at + blank, header.length - blank);
    }
    while (header.length > 0) {
        size_t line = slice_find(header, '\n');
        line += line < header.length ? 1 : 0;
        if (line > 18 && slice_equal_nocase(slice_of(header.at, 18), SLICE("Transfer-Encoding:"))) {
            buf_append_string(block, "X-Archive-Orig-");
        }
        buf_append(block, header.at, line);
        header = slice_of(header.at + line, header.length - line);
    }
}

static void
put_origin_fields(struct warc_writer *writer, struct slice uri, struct slice ip)
{
    put_field(&writer->header, "WARC-Target-URI", uri);
    put_reference(writer, "WARC-Warcinfo-ID", slice_string(writer->info_id));
    if (ip.length > 0) {
        put_field(&writer->header, "WARC-IP-Address", ip);
    }
}

static void
put_exchange_fields(struct warc_writer *writer, const struct warc_exchange *exchange)
{
    struct buf *header = &writer->header;
    put_origin_fields(writer, exchange->uri, exchange->ip);
    if (exchange->protocol.length > 0) {
        put_field(header, "WARC-Protocol", exchange->protocol);
    }
}

static enum status
add_request(struct warc_writer *writer, const struct warc_exchange *exchange,
            struct slice response_id, struct reason *why)
{
    struct record record = {.parts = {exchange->request, SLICE("")}};
    begin_header(writer, "request", exchange->date_ms, &record);
    put_exchange_fields(writer, exchange);
    put_reference(writer, "WARC-Concurrent-To", response_id);
    end_header(writer, "application/http;msgtype=request", &record);
    return compress(writer, &record, COMPRESSOR_REQUEST, why);
}

enum status
warc_write_exchange(struct warc_writer *writer, const struct warc_exchange *exchange,
                    struct warc_location *location, struct reason *why)
{
    struct record record;
    TRY(ready_file(writer, why));
    store_response_header(&writer->block, exchange->response_header);
    record.parts[0] = buf_slice(&writer->block);
    record.parts[1] = exchange->body;
    begin_header(writer, "response", exchange->date_ms, &record);
    put_exchange_fields(writer, exchange);
    if (exchange->truncated.length > 0) {
        put_field(&writer->header, "WARC-Truncated", exchange->truncated);
    }
    uint8_t block[DIGEST_SHA1_SIZE], payload[DIGEST_SHA1_SIZE];
    digest_sha1_pair(record.parts[0], record.parts[1], block, payload);
    put_digest(&writer->header, "WARC-Payload-Digest", payload);
    end_header_with(writer, "application/http;msgtype=response", &record, block);
    drop_unkept(writer);
    TRY(compress(writer, &record, COMPRESSOR_CONTENT, why));
    locate(writer, record.id, location);
    TRY(add_request(writer, exchange, slice_string(record.id), why));
    return keep_members(writer, why);
}

static enum status
add_dialogue(struct warc_writer *writer, const struct warc_resource *resource,
             struct slice resource_id, struct reason *why)
{
    struct record record = {.parts = {resource->dialogue, SLICE("")}};
    begin_header(writer, "metadata", resource->date_ms, &record);
    put_origin_fields(writer, resource->uri, resource->ip);
    put_reference(writer, "WARC-Concurrent-To", resource_id);
    end_header(writer, "text/x-ftp-control", &record);
    return compress(writer, &record, COMPRESSOR_REQUEST, why);
}

enum status
warc_write_resource(struct warc_writer *writer, const struct warc_resource *resource,
                    struct warc_location *location, struct reason *why)
{
    char type[256];
    struct record record = {.parts = {resource->body, SLICE("")}};
    TRY(ready_file(writer, why));
    begin_header(writer, "resource", resource->date_ms, &record);
    put_origin_fields(writer, resource->uri, resource->ip);
    if (resource->truncated.length > 0) {
        put_field(&writer->header, "WARC-Truncated", resource->truncated);
    }
    snprintf(type, sizeof type, "%.*s", SLICE_PRINT(resource->content_type));
    end_header(writer, type, &record);
    drop_unkept(writer);
    TRY(compress(writer, &record, COMPRESSOR_CONTENT, why));
    locate(writer, record.id, location);
    TRY(add_dialogue(writer, resource, slice_string(record.id), why));
    return keep_members(writer, why);
}

static void
begin_conversion(struct warc_writer *writer, const struct warc_conversion *conversion,
                 struct record *record)
{
    char type[256];
    *record = (struct record){.parts = {conversion->body, SLICE("")}};
    buf_reset(&writer->block);
    begin_header(writer, "conversion", conversion->date_ms, record);
    put_field(&writer->header, "WARC-Target-URI", conversion->uri);
    if (writer->info_id[0] != '\0') {
        put_reference(writer, "WARC-Warcinfo-ID", slice_string(writer->info_id));
    }
    if (conversion->refers_to.length > 0) {
        put_reference(writer, "WARC-Refers-To", conversion->refers_to);
    }
    snprintf(type, sizeof type, "%.*s", SLICE_PRINT(conversion->content_type));
    end_header(writer, type, record);
}

enum status
warc_write_conversion(struct warc_writer *writer, const struct warc_conversion *conversion,
                      struct warc_location *location, struct reason *why)
{
    struct record record;
    TRY(ready_file(writer, why));
    begin_conversion(writer, conversion, &record);
    return append(writer, &record, location, why);
}

enum status
warc_pack_conversion(struct warc_writer *writer, const struct warc_conversion *conversion,
                     char id[WARC_ID_SIZE], struct slice *member, struct reason *why)
{
    struct record record;
    drop_unkept(writer);
    begin_conversion(writer, conversion, &record);
    TRY(compress(writer, &record, COMPRESSOR_CONTENT, why));
    shrink(&writer->record);
    memcpy(id, record.id, WARC_ID_SIZE);
    *member = slice_of(writer->members.data + writer->kept, writer->members.length - writer->kept);
    return STATUS_OK;
}

/* Tells whether the bytes begin as a gzip member, so that they may be a record. */
static bool
may_be_member(const char *bytes, uint64_t length)
{
    return length >= 2 && (uint8_t)bytes[0] == 0x1f && (uint8_t)bytes[1] == 0x8b;
}

enum status
warc_append_member(struct warc_writer *writer, struct slice member, struct slice id,
                   struct warc_location *location, struct reason *why)
{
    char text[WARC_ID_SIZE];
    if (id.length >= sizeof text || !may_be_member(member.at, member.length)) {
        return status_fail(why, STATUS_CORRUPT, "not a record to be archived");
    }
    snprintf(text, sizeof text, "%.*s", SLICE_PRINT(id));
    TRY(ready_file(writer, why));
    drop_unkept(writer);
    TRY(buf_append_slice(&writer->members, member));
    locate(writer, text, location);
    return keep_members(writer, why);
}

enum status
warc_copy_record(struct warc_writer *writer, struct slice file, uint64_t offset, uint64_t length,
                 struct slice id, struct warc_location *location, struct reason *why)
{
    char name[WARC_FILE_SIZE], text[WARC_ID_SIZE];
    TRY(ready_file(writer, why));
    TRY(flush(writer, why)); /* it may be the file that is open */
    drop_unkept(writer);
    char *room = length <= RECORD_MAXIMUM ? buf_reserve(&writer->members, length) : NULL;
    if (room == NULL || file.length >= sizeof name || slice_find(file, '/') < file.length) {
        return status_fail(why, STATUS_MISUSE, "no record to copy");
    }
    snprintf(name, sizeof name, "%.*s", SLICE_PRINT(file));
    snprintf(text, sizeof text, "%.*s", SLICE_PRINT(id));
    const int from = openat(writer->directory_descriptor, name, O_RDONLY | O_CLOEXEC);
    const ssize_t n = from >= 0 ? pread(from, room, length, (off_t)offset) : -1;
    file_close(from);
    if (n != (ssize_t)length || !may_be_member(room, length)) {
        return status_fail(why, STATUS_CORRUPT, "no record in %s at %llu", name,
                           (unsigned long long)offset);
    }
    buf_commit(&writer->members, length);
    locate(writer, text, location);
    return keep_members(writer, why);
}
