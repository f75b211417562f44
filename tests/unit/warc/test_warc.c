#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/support/warc_scan.h"
#include "tests/unit/open_descriptors.h"
#include "tests/unit/scratch.h"
#include "tests/unit/warc/packed.h"
#include "tests/unit/warc/warc_writer.h"
#include "warc/record.h"
#include "warc/warc.h"

static char directory[SCRATCH_SIZE];

static int
make_directory(void **state)
{
    (void)state;
    return !scratch_folder(directory, "test_warc") ? -1 : 0;
}

static int
empty_directory(void **state)
{
    (void)state;
    DIR *open_directory = opendir(directory);
    for (struct dirent *entry; (entry = readdir(open_directory)) != NULL;) {
        if (entry->d_name[0] != '.') {
            unlinkat(dirfd(open_directory), entry->d_name, 0);
        }
    }
    closedir(open_directory);
    return 0;
}

static int
remove_directory(void **state)
{
    empty_directory(state);
    return rmdir(directory);
}

static struct warc_writer *
open_writer(uint64_t size)
{
    struct warc_writer *writer;
    struct reason why;
    const struct warc_writer_options options = {.prefix = "test",
                                                .node = "alpha",
                                                .process = "fetch.1",
                                                .size = size,
                                                .level = 1,
                                                .user_agent = "Quadrille test"};
    assert_int_equal(warc_writer_open(&writer, directory, &options, &why), STATUS_OK);
    return writer;
}

static struct warc_exchange
exchange_of(struct slice header, struct slice body)
{
    return (struct warc_exchange){
        .uri = SLICE("http://example.org/a"),
        .request = SLICE("GET /a HTTP/1.1\r\nHost: example.org\r\n\r\n"),
        .response_header = header,
        .body = body,
        .ip = SLICE("192.0.2.7"),
        .date_ms = 1700000000123,
    };
}

static struct warc_location
write_one(struct warc_writer *writer, struct slice header, struct slice body)
{
    struct warc_location location;
    struct reason why;
    const struct warc_exchange exchange = exchange_of(header, body);
    assert_int_equal(warc_write_exchange(writer, &exchange, &location, &why), STATUS_OK);
    return location;
}

static struct warc_record
read_at(const struct warc_location *location, const struct warc_limits *limits, struct buf *memory)
{
    struct warc_reader *reader = warc_reader_open(directory, limits);
    struct warc_record record;
    struct reason why = {""};
    const enum status status = warc_read(reader, slice_string(location->file), location->offset,
                                         location->length, memory, &record, &why);
    assert_string_equal(why.text, "");
    assert_int_equal(status, STATUS_OK);
    warc_reader_close(reader);
    return record;
}

static void
response_reads_back(void **state)
{
    (void)state;
    struct buf memory;
    buf_init(&memory, 1 << 20);
    struct warc_writer *writer = open_writer(1 << 20);
    const struct warc_location location = write_one(
        writer, SLICE("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"), SLICE("hello"));
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
    const struct warc_record record = read_at(&location, NULL, &memory);
    assert_slice(record.type, "response");
    assert_slice(record.uri, "http://example.org/a");
    assert_slice(record.date, "2023-11-14T22:13:20.123Z");
    assert_slice(record.content_type, "application/http;msgtype=response");
    assert_slice(record.id, location.id);
    assert_slice(record.payload_digest, "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N");
    assert_int_equal(record.http_status, 200);
    assert_slice(record.http_header, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
    assert_slice(record.body, "hello");
    assert_slice(warc_http_header(record.header, "warc-ip-address"), "192.0.2.7");
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
    buf_release(&memory);
}

static void
conversion_refers_to_its_original(void **state)
{
    (void)state;
    struct buf memory;
    struct warc_location location;
    buf_init(&memory, 1 << 20);
    struct warc_writer *writer = open_writer(1 << 20);
    const struct warc_conversion conversion = {.uri = SLICE("http://example.org/a"),
                                               .refers_to = SLICE("urn:uuid:1"),
                                               .content_type = SLICE("application/n-quads"),
                                               .body = SLICE("<a:> <b:> <c:> .\n"),
                                               .date_ms = 0};
    assert_int_equal(warc_write_conversion(writer, &conversion, &location, NULL), STATUS_OK);
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
    const struct warc_record record = read_at(&location, NULL, &memory);
    assert_slice(record.type, "conversion");
    assert_slice(record.refers_to, "urn:uuid:1");
    assert_slice(record.content_type, "application/n-quads");
    assert_slice(record.body, "<a:> <b:> <c:> .\n");
    warc_writer_close(writer, NULL);
    buf_release(&memory);
}

static void
transfer_coding_and_protocol_are_rewritten(void **state)
{
    (void)state;
    struct buf memory;
    buf_init(&memory, 1 << 20);
    struct warc_writer *writer = open_writer(1 << 20);
    const struct warc_location location = write_one(
        writer, SLICE("HTTP/2 200 \r\ntransfer-encoding: chunked\r\nx: y\r\n\r\n"), SLICE("b"));
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
    const struct warc_record record = read_at(&location, NULL, &memory);
    assert_slice(record.http_header,
                 "HTTP/1.1 200 \r\nX-Archive-Orig-transfer-encoding: chunked\r\nx: y\r\n\r\n");
    warc_writer_close(writer, NULL);
    buf_release(&memory);
}

static void
header_values_cannot_add_lines(void **state)
{
    (void)state;
    struct buf memory;
    buf_init(&memory, 1 << 20);
    struct warc_writer *writer = open_writer(1 << 20);
    struct warc_location location;
    struct warc_exchange exchange = exchange_of(SLICE("HTTP/1.1 200 OK\r\n\r\n"), SLICE(""));
    exchange.ip = SLICE("1\r\nWARC-Type: metadata");
    assert_int_equal(warc_write_exchange(writer, &exchange, &location, NULL), STATUS_OK);
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
    const struct warc_record record = read_at(&location, NULL, &memory);
    assert_slice(record.type, "response");
    assert_slice(warc_http_header(record.header, "WARC-IP-Address"), "1  WARC-Type: metadata");
    warc_writer_close(writer, NULL);
    buf_release(&memory);
}

struct seen {
    char types[512];
    uint64_t end;
};

static bool
note_type(void *context, const struct warc_record *record, uint64_t offset, uint64_t length)
{
    struct seen *seen = context;
    const size_t used = strlen(seen->types);
    assert_int_equal(offset, seen->end);
    seen->end = offset + length;
    snprintf(seen->types + used, sizeof seen->types - used, "%.*s ", SLICE_PRINT(record->type));
    return true;
}

static struct warc_scan_result
scan(const char *file, struct seen *seen)
{
    char path[512];
    struct warc_scan_result result;
    *seen = (struct seen){0};
    snprintf(path, sizeof path, "%s/%s", directory, file);
    assert_int_equal(warc_scan(path, NULL, note_type, seen, &result, NULL), STATUS_OK);
    return result;
}

static void
scan_finds_every_record_and_a_torn_tail(void **state)
{
    (void)state;
    struct seen seen;
    char path[512];
    struct warc_writer *writer = open_writer(1 << 20);
    const struct warc_location location =
        write_one(writer, SLICE("HTTP/1.1 200 OK\r\n\r\n"), SLICE("x"));
    warc_writer_close(writer, NULL);
    struct warc_scan_result result = scan(location.file, &seen);
    assert_string_equal(seen.types, "warcinfo response request ");
    assert_false(result.torn);
    const uint64_t whole = result.end;
    snprintf(path, sizeof path, "%s/%s", directory, location.file);
    assert_int_equal(truncate(path, (off_t)whole - 3), 0);
    result = scan(location.file, &seen);
    assert_string_equal(seen.types, "warcinfo response ");
    assert_true(result.torn);
    assert_int_equal(result.end, location.offset + location.length);
}

static void
files_rotate_at_their_size(void **state)
{
    (void)state;
    struct warc_writer *writer = open_writer(1);
    const struct warc_location a = write_one(writer, SLICE("HTTP/1.1 200 OK\r\n\r\n"), SLICE("x"));
    const struct warc_location b = write_one(writer, SLICE("HTTP/1.1 200 OK\r\n\r\n"), SLICE("x"));
    assert_string_not_equal(a.file, b.file);
    assert_non_null(strstr(a.file, "-00000-alpha-fetch.1.warc.gz"));
    assert_non_null(strstr(b.file, "-00001-alpha-fetch.1.warc.gz"));
    warc_writer_close(writer, NULL);
}

static void
full_disk_leaves_whole_records(void **state)
{
    (void)state;
    struct seen seen;
    struct buf noise;
    struct warc_location location;
    struct reason why;
    struct rlimit old;
    struct warc_writer *writer = open_writer(1 << 30);
    const struct warc_location first =
        write_one(writer, SLICE("HTTP/1.1 200 OK\r\n\r\n"), SLICE("x"));
    buf_init(&noise, 2 << 20);
    for (unsigned i = 1, value = 1; i < 1 << 20; i++) {
        value = value * 1664525 + 1013904223;
        buf_append_char(&noise, (char)(value >> 24));
    }
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){300000, old.rlim_max});
    const struct warc_exchange big =
        exchange_of(SLICE("HTTP/1.1 200 OK\r\n\r\n"), buf_slice(&noise));
    assert_int_equal(warc_write_exchange(writer, &big, &location, &why), STATUS_FULL);
    setrlimit(RLIMIT_FSIZE, &old);
    const struct warc_location after =
        write_one(writer, SLICE("HTTP/1.1 200 OK\r\n\r\n"), SLICE("y"));
    assert_string_equal(first.file, after.file);
    warc_writer_close(writer, NULL);
    assert_false(scan(first.file, &seen).torn);
    assert_string_equal(seen.types, "warcinfo response request response request ");
    buf_release(&noise);
}

static uint64_t
file_size(const char *file)
{
    char path[512];
    struct stat found;
    snprintf(path, sizeof path, "%s/%s", directory, file);
    assert_int_equal(stat(path, &found), 0);
    return (uint64_t)found.st_size;
}

/* Records gather in memory; those that have a location wait for room, the others are refused. */
static void
full_disk_loses_nothing_that_gathered(void **state)
{
    (void)state;
    enum { RECORDS = 2000 };
    struct warc_location location, last = {0};
    struct buf memory;
    struct rlimit old;
    struct seen seen;
    unsigned kept = 0;
    const struct warc_exchange one = exchange_of(SLICE("HTTP/1.1 200 OK\r\n\r\n"), SLICE("x"));
    buf_init(&memory, 1 << 20);
    struct warc_writer *writer = open_writer(1 << 30);
    const struct warc_location first = write_one(writer, one.response_header, one.body);
    assert_int_equal(file_size(first.file), first.offset);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){100000, old.rlim_max});
    for (unsigned i = 0; i < RECORDS; i++) {
        const enum status status = warc_write_exchange(writer, &one, &location, NULL);
        assert_true(status == STATUS_OK || status == STATUS_FULL);
        last = status == STATUS_OK ? location : last;
        kept += status == STATUS_OK;
    }
    assert_true(kept > 0 && kept < RECORDS);
    assert_int_equal(warc_sync(writer, NULL), STATUS_FULL);
    assert_false(scan(first.file, &seen).torn);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
    const struct warc_scan_result result = scan(first.file, &seen);
    assert_false(result.torn);
    assert_int_equal(result.records, 1 + 2 * (1 + kept));
    const struct warc_record record = read_at(&last, NULL, &memory);
    assert_slice(record.id, last.id);
    warc_writer_close(writer, NULL);
    buf_release(&memory);
}

static void
a_bomb_stops_at_the_ratio(void **state)
{
    (void)state;
    char *zeros = memory_zero(8 << 20, 1);
    char packed[PACKED_SIZE];
    struct buf memory;
    buf_init(&memory, 64 << 20);
    const struct slice bomb = pack_zlib(slice_of(zeros, 8 << 20), 31, packed);
    struct warc_writer *writer = open_writer(1 << 20);
    const struct warc_location location =
        write_one(writer, SLICE("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"), bomb);
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
    const struct warc_limits limits = {.record = 32 << 20, .body = 16 << 20, .ratio = 200};
    struct warc_record record = read_at(&location, &limits, &memory);
    assert_true(record.body_truncated);
    assert_true(record.encoding_problem.length > 0);
    assert_true(record.body.length <= bomb.length * 200);
    assert_int_equal(record.payload.length, bomb.length);
    record = read_at(&location, &(struct warc_limits){.record = 32 << 20, .ratio = 2000}, &memory);
    assert_false(record.body_truncated);
    assert_int_equal(record.body.length, 8 << 20);
    warc_writer_close(writer, NULL);
    buf_release(&memory);
    free(zeros);
}

static void
wrong_places_are_errors(void **state)
{
    (void)state;
    struct buf memory;
    struct warc_record record;
    buf_init(&memory, 1 << 20);
    struct warc_writer *writer = open_writer(1 << 20);
    const struct warc_location at = write_one(writer, SLICE("HTTP/1.1 200 OK\r\n\r\n"), SLICE("x"));
    const struct slice file = slice_string(at.file);
    warc_sync(writer, NULL);
    struct warc_reader *reader = warc_reader_open(directory, NULL);
    errno = EINTR; /* what an earlier call left does not count */
    assert_int_equal(warc_read(reader, SLICE("../x"), 0, 9, &memory, &record, NULL),
                     STATUS_BAD_INPUT);
    assert_int_equal(warc_read(reader, SLICE("none"), 0, 9, &memory, &record, NULL),
                     STATUS_NOT_FOUND);
    errno = EINTR;
    assert_int_equal(warc_read(reader, file, at.offset + 1, at.length, &memory, &record, NULL),
                     STATUS_CORRUPT);
    assert_int_equal(warc_read(reader, file, at.offset, at.length - 1, &memory, &record, NULL),
                     STATUS_CORRUPT);
    assert_int_equal(warc_read(reader, file, at.offset, 1 << 20, &memory, &record, NULL),
                     STATUS_CORRUPT);
    warc_reader_close(reader);
    warc_writer_close(writer, NULL);
    buf_release(&memory);
}

/* A file is read on under the name that it was opened by, while it is anywhere. */
static void
test_file_that_is_moved(void **state)
{
    (void)state;
    struct buf memory;
    struct warc_record record;
    char from[1024], to[1024];
    buf_init(&memory, 1 << 20);
    struct warc_writer *writer = open_writer(1 << 20);
    const struct warc_location at = write_one(writer, SLICE("HTTP/1.1 200 OK\r\n\r\n"), SLICE("x"));
    const struct slice file = slice_string(at.file);
    warc_sync(writer, NULL);
    struct warc_reader *reader = warc_reader_open(directory, NULL);
    snprintf(from, sizeof from, "%s/%s", directory, at.file);
    snprintf(to, sizeof to, "%s/elsewhere", directory);
    assert_int_equal(warc_read(reader, file, at.offset, at.length, &memory, &record, NULL),
                     STATUS_OK);
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(warc_read(reader, file, at.offset, at.length, &memory, &record, NULL),
                     STATUS_OK);
    assert_int_equal(unlink(to), 0);
    assert_int_equal(warc_read(reader, file, at.offset, at.length, &memory, &record, NULL),
                     STATUS_NOT_FOUND);
    warc_reader_close(reader);
    warc_writer_close(writer, NULL);
    buf_release(&memory);
}

static void
test_record_of_another_version(void **state)
{
    struct buf memory;
    struct warc_record record;
    struct reason why = {""};
    (void)state;
    buf_init(&memory, 1 << 10);
    buf_append_string(&memory, "WARC/2.0\r\nWARC-Type: metadata\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(warc_record_parse(&memory, NULL, &record, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "no WARC record begins there");
    buf_release(&memory);
}

static enum status
read_again(struct warc_reader *reader, const struct warc_location *at, struct buf *memory,
           struct warc_record *record)
{
    return warc_read(reader, slice_string(at->file), at->offset, at->length, memory, record, NULL);
}

/* Files that grow are read on; removed ones are not found and hold no space for long. */
static void
open_files_follow_the_folder(void **state)
{
    (void)state;
    enum { FILES = 12 };
    const struct slice header = SLICE("HTTP/1.1 200 OK\r\n\r\n");
    struct warc_location at[FILES];
    struct warc_reader *reader = warc_reader_open(directory, NULL);
    struct warc_record record;
    struct buf memory;
    buf_init(&memory, 1 << 20);
    const size_t before = open_descriptors();
    assert_false(warc_reader_rest(reader));
    for (size_t i = 0; i < FILES; i++) { /* each writer has a file of its own */
        struct warc_writer *writer = open_writer(1 << 20);
        at[i] = write_one(writer, header, SLICE("one"));
        warc_sync(writer, NULL);
        assert_int_equal(read_again(reader, &at[i], &memory, &record), STATUS_OK);
        at[i] = write_one(writer, header, SLICE("two"));
        warc_sync(writer, NULL);
        assert_int_equal(read_again(reader, &at[i], &memory, &record), STATUS_OK);
        assert_slice(record.body, "two");
        warc_writer_close(writer, NULL);
    }
    assert_in_range(open_descriptors() - before, 1, FILES - 1);
    for (size_t i = 0; i < FILES; i++) {
        assert_int_equal(read_again(reader, &at[i], &memory, &record), STATUS_OK);
    }
    empty_directory(NULL);
    assert_int_equal(read_again(reader, &at[FILES - 1], &memory, &record), STATUS_NOT_FOUND);
    assert_true(warc_reader_rest(reader));
    assert_false(warc_reader_rest(reader));
    assert_int_equal(open_descriptors(), before);
    for (size_t i = 0; i < 3; i++) {
        struct warc_writer *writer = open_writer(1 << 20);
        at[i] = write_one(writer, header, SLICE("three"));
        warc_writer_close(writer, NULL);
        assert_int_equal(read_again(reader, &at[i], &memory, &record), STATUS_OK);
    }
    assert_int_equal(open_descriptors(), before + 3);
    warc_reader_close(reader);
    assert_int_equal(open_descriptors(), before);
    buf_release(&memory);
}

/* Records that follow each other are read together, also when the file changes behind the first. */
static void
records_are_read_ahead(void **state)
{
    (void)state;
    enum { RECORDS = 300, LATE = 100 };
    char body[64], path[sizeof directory + WARC_FILE_SIZE], late[4096];
    struct warc_location at[RECORDS];
    struct warc_reader *reader = warc_reader_open(directory, NULL);
    struct warc_record record;
    struct buf memory;
    buf_init(&memory, 1 << 20);
    struct warc_writer *writer = open_writer(1 << 20);
    for (int i = 0; i < RECORDS; i++) {
        snprintf(body, sizeof body, "record %d", i);
        at[i] = write_one(writer, SLICE("HTTP/1.1 200 OK\r\n\r\n"), slice_string(body));
    }
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
    /* This is what a write leaves that fails and is repeated later. */
    snprintf(path, sizeof path, "%s/%s", directory, at[0].file);
    const int file = open(path, O_RDWR);
    assert_true(at[LATE].length <= sizeof late);
    assert_int_equal(pread(file, late, at[LATE].length, (off_t)at[LATE].offset), at[LATE].length);
    static const char torn[100];
    assert_int_equal(pwrite(file, torn, sizeof torn, (off_t)at[LATE].offset), sizeof torn);
    for (int i = 0; i < RECORDS; i++) {
        if (i == LATE) {
            assert_int_equal(read_again(reader, &at[i], &memory, &record), STATUS_CORRUPT);
            assert_int_equal(read_again(reader, &at[i - 2], &memory, &record), STATUS_OK);
            assert_int_equal(read_again(reader, &at[i - 1], &memory, &record), STATUS_OK);
            assert_int_equal(pwrite(file, late, at[i].length, (off_t)at[i].offset), at[i].length);
        }
        snprintf(body, sizeof body, "record %d", i);
        assert_int_equal(read_again(reader, &at[i], &memory, &record), STATUS_OK);
        assert_slice(record.body, body);
    }
    assert_int_equal(read_again(reader, &at[0], &memory, &record), STATUS_OK);
    assert_slice(record.body, "record 0");
    close(file);
    warc_writer_close(writer, NULL);
    warc_reader_close(reader);
    buf_release(&memory);
}

/* The limit holds also when the memory has more room from an earlier record. */
static void
bodies_end_at_their_limit(void **state)
{
    (void)state;
    static const char *const codings[] = {"identity", "gzip"};
    char packed[PACKED_SIZE], header[100];
    struct buf memory;
    struct warc_writer *writer = open_writer(1 << 20);
    buf_init(&memory, 1 << 20);
    (void)buf_reserve(&memory, 1 << 19);
    for (size_t i = 0; i < 2; i++) {
        const struct slice body = SLICE("a hundred and more bytes, all of which are read");
        snprintf(header, sizeof header, "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n\r\n",
                 codings[i]);
        const struct warc_location at =
            write_one(writer, slice_string(header), i == 0 ? body : pack_zlib(body, 31, packed));
        assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
        struct warc_limits limits = {.record = 1 << 19, .body = body.length - 1};
        struct warc_record record = read_at(&at, &limits, &memory);
        assert_true(record.body_truncated);
        assert_true(record.body.length < body.length);
        assert_slice(record.encoding_problem, "the decoded body is larger than allowed");
        assert_false(memory.overflowed);
        assert_int_equal(memory.maximum, 1 << 20);
        limits.body++;
        record = read_at(&at, &limits, &memory);
        assert_false(record.body_truncated);
        assert_true(slice_equal(record.body, body));
        assert_false(memory.overflowed);
        assert_int_equal(memory.maximum, 1 << 20);
        /* Nor do they get more memory than there is, whatever their limit. */
        const size_t whole = memory.length;
        for (size_t round = 0; round < 4; round++) {
            const size_t less = round % 2;
            struct buf small;
            limits.body = round < 2 ? body.length : 1 << 19;
            buf_init(&small, whole - less);
            record = read_at(&at, &limits, &small);
            assert_int_equal(record.body_truncated, less > 0);
            assert_int_equal(slice_equal(record.body, body), less == 0);
            assert_true(small.length <= whole - less);
            assert_int_equal(small.maximum, whole - less);
            buf_release(&small);
        }
    }
    warc_writer_close(writer, NULL);
    buf_release(&memory);
}

static enum status
copy(struct warc_writer *writer, const char *file, const struct warc_location *of,
     struct warc_location *location, struct reason *why)
{
    return warc_copy_record(writer, slice_string(file), of->offset, of->length,
                            slice_string(of->id), location, why);
}

/* A record is copied byte for byte out of another file, or the one that is being written. */
static void
records_are_copied(void **state)
{
    (void)state;
    struct buf memory;
    struct reason why = {""};
    struct warc_location copies[2];
    buf_init(&memory, 1 << 20);
    struct warc_writer *writer = open_writer(1 << 20);
    const struct warc_location of =
        write_one(writer, SLICE("HTTP/1.1 200 OK\r\n\r\n"), SLICE("hello"));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(copy(writer, of.file, &of, &copies[i], &why), STATUS_OK);
        assert_string_equal(copies[i].id, of.id);
        assert_int_equal(copies[i].length, of.length);
    }
    const struct warc_location after =
        write_one(writer, SLICE("HTTP/1.1 200 OK\r\n\r\n"), SLICE("x"));
    assert_int_equal(copies[1].offset, copies[0].offset + of.length);
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
    for (int i = 0; i < 2; i++) {
        const struct warc_record record = read_at(&copies[i], NULL, &memory);
        assert_slice(record.id, of.id);
        assert_slice(record.body, "hello");
    }
    assert_slice(read_at(&after, NULL, &memory).body, "x");
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
    buf_release(&memory);
}

/* Nothing but a record of a file in the folder is copied, and a refusal leaves the archive whole.
 */
static void
only_records_are_copied(void **state)
{
    (void)state;
    struct buf memory;
    struct reason why = {""};
    struct warc_location location;
    char path[WARC_FILE_SIZE + 8], outside[WARC_FILE_SIZE + 64], longest[WARC_FILE_SIZE + 8];
    buf_init(&memory, 1 << 20);
    struct warc_writer *writer = open_writer(1 << 20);
    const struct warc_location of =
        write_one(writer, SLICE("HTTP/1.1 200 OK\r\n\r\n"), SLICE("hello"));
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
    snprintf(path, sizeof path, "./%s", of.file);
    snprintf(outside, sizeof outside, "%s/%s", directory, of.file);
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(copy(writer, path, &of, &location, &why), STATUS_MISUSE);
    assert_int_equal(copy(writer, outside, &of, &location, &why), STATUS_MISUSE);
    assert_int_equal(copy(writer, longest, &of, &location, &why), STATUS_MISUSE);
    assert_int_equal(copy(writer, "none", &of, &location, &why), STATUS_CORRUPT);
    struct warc_location wrong = of;
    wrong.length = UINT64_MAX;
    assert_int_equal(copy(writer, of.file, &wrong, &location, &why), STATUS_MISUSE);
    wrong.length = 1;
    assert_int_equal(copy(writer, of.file, &wrong, &location, &why), STATUS_CORRUPT);
    wrong = of;
    wrong.offset++;
    wrong.length--;
    assert_int_equal(copy(writer, of.file, &wrong, &location, &why), STATUS_CORRUPT);
    wrong = of;
    wrong.length = 1 << 19; /* beyond the end */
    assert_int_equal(copy(writer, of.file, &wrong, &location, &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, of.file));
    const struct warc_location after =
        write_one(writer, SLICE("HTTP/1.1 200 OK\r\n\r\n"), SLICE("x"));
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
    assert_slice(read_at(&after, NULL, &memory).body, "x");
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
    buf_release(&memory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(response_reads_back, empty_directory),
        cmocka_unit_test_teardown(conversion_refers_to_its_original, empty_directory),
        cmocka_unit_test_teardown(transfer_coding_and_protocol_are_rewritten, empty_directory),
        cmocka_unit_test_teardown(header_values_cannot_add_lines, empty_directory),
        cmocka_unit_test_teardown(scan_finds_every_record_and_a_torn_tail, empty_directory),
        cmocka_unit_test_teardown(files_rotate_at_their_size, empty_directory),
        cmocka_unit_test_teardown(full_disk_leaves_whole_records, empty_directory),
        cmocka_unit_test_teardown(full_disk_loses_nothing_that_gathered, empty_directory),
        cmocka_unit_test_teardown(a_bomb_stops_at_the_ratio, empty_directory),
        cmocka_unit_test_teardown(wrong_places_are_errors, empty_directory),
        cmocka_unit_test_teardown(open_files_follow_the_folder, empty_directory),
        cmocka_unit_test_teardown(records_are_read_ahead, empty_directory),
        cmocka_unit_test_teardown(bodies_end_at_their_limit, empty_directory),
        cmocka_unit_test_teardown(records_are_copied, empty_directory),
        cmocka_unit_test_teardown(only_records_are_copied, empty_directory),
        cmocka_unit_test_teardown(test_file_that_is_moved, empty_directory),
        cmocka_unit_test(test_record_of_another_version),
    };
    return cmocka_run_group_tests_name("warc", tests, make_directory, remove_directory) +
           warc_records_run() + warc_members_run() + warc_faults_run();
}
