#include "tests/unit/warc/warc_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/system/file.h"

enum { ID_BYTES = 16 };

/* ---- clock, random numbers and file system of the test ---- */

struct fault writes, cuts, data_syncs, folder_syncs, opens;
unsigned write_count, cut_count, data_sync_count, folder_sync_count;
uint8_t next_id;

uint64_t __wrap_clock_wall_ms(void);
void __wrap_randombytes_buf(void *bytes, size_t n);
bool __wrap_file_write_all(int descriptor, struct slice bytes);
bool __real_file_write_all(int descriptor, struct slice bytes);
int __wrap_ftruncate(int descriptor, off_t size);
int __real_ftruncate(int descriptor, off_t size);
int __wrap_fdatasync(int descriptor);
int __wrap_fsync(int descriptor);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __real_openat(int folder, const char *path, int flags, ...);

static bool
refused(struct fault *fault)
{
    if (fault->after > 0) {
        fault->after--;
        return false;
    }
    if (fault->times == 0) {
        return false;
    }
    fault->times--;
    errno = fault->error;
    return true;
}

uint64_t
__wrap_clock_wall_ms(void)
{
    return 1700000000007;
}

/* Identifiers whose first byte counts them. */
void
__wrap_randombytes_buf(void *bytes, size_t n)
{
    uint8_t *at = bytes;
    for (size_t i = 0; i < n; i++) {
        at[i] = i % ID_BYTES == 0 ? next_id++ : (uint8_t)(0xf0 + i % ID_BYTES);
    }
}

bool
__wrap_file_write_all(int descriptor, struct slice bytes)
{
    write_count++;
    const size_t leaves = writes.leaves;
    if (refused(&writes)) {
        const int error = errno;
        assert_true(__real_file_write_all(descriptor, slice_of(bytes.at, leaves)));
        errno = error;
        return false;
    }
    return __real_file_write_all(descriptor, bytes);
}

int
__wrap_ftruncate(int descriptor, off_t size)
{
    cut_count++;
    return refused(&cuts) ? -1 : __real_ftruncate(descriptor, size);
}

int
__wrap_fdatasync(int descriptor)
{
    assert_true(descriptor >= 0);
    data_sync_count++;
    return refused(&data_syncs) ? -1 : 0;
}

int
__wrap_fsync(int descriptor)
{
    assert_true(descriptor >= 0);
    folder_sync_count++;
    return refused(&folder_syncs) ? -1 : 0;
}

int
__wrap_openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return refused(&opens) ? -1 : __real_openat(folder, path, flags, mode);
}

/* ---- a folder for each test ---- */

char directory[SCRATCH_SIZE];

int
begin(void **state)
{
    (void)state;
    writes = cuts = data_syncs = folder_syncs = opens = (struct fault){0};
    write_count = cut_count = data_sync_count = folder_sync_count = 0;
    next_id = 0;
    return scratch_folder(directory, "warc_writer") ? 0 : -1;
}

size_t
each_file(bool remove)
{
    size_t n = 0;
    DIR *folder = opendir(directory);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] != '.') {
            n++;
            if (remove) {
                unlinkat(dirfd(folder), entry->d_name, 0);
            }
        }
    }
    closedir(folder);
    return n;
}

int
end(void **state)
{
    (void)state;
    each_file(true);
    return rmdir(directory);
}

struct warc_writer_options
options_of(uint64_t size)
{
    return (struct warc_writer_options){
        .prefix = "p", .node = "n", .process = "q", .size = size, .level = 0};
}

struct warc_writer *
open_with(const struct warc_writer_options *options)
{
    struct warc_writer *writer;
    assert_int_equal(warc_writer_open(&writer, directory, options, NULL), STATUS_OK);
    folder_sync_count = 0;
    return writer;
}

struct warc_writer *
open_writer(uint64_t size)
{
    const struct warc_writer_options options = options_of(size);
    return open_with(&options);
}

struct warc_exchange
exchange_of(struct slice body)
{
    return (struct warc_exchange){.uri = SLICE("http://example.org/a"),
                                  .request = SLICE("GET /a HTTP/1.1\r\n\r\n"),
                                  .response_header = OK_HEADER,
                                  .body = body,
                                  .date_ms = 1700000000123};
}

enum status
write_body(struct warc_writer *writer, struct slice body, struct warc_location *location,
           struct reason *why)
{
    const struct warc_exchange exchange = exchange_of(body);
    return warc_write_exchange(writer, &exchange, location, why);
}

struct warc_location
write_one(struct warc_writer *writer, struct slice body)
{
    struct warc_location location;
    struct reason why = {""};
    assert_int_equal(write_body(writer, body, &location, &why), STATUS_OK);
    return location;
}

void
path_of(const char *file, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s", directory, file);
}

uint64_t
file_size(const char *file)
{
    char path[PATH_SIZE];
    struct stat found;
    path_of(file, path);
    return stat(path, &found) == 0 ? (uint64_t)found.st_size : UINT64_MAX;
}

/* The text of all members from that offset on; every one of them is whole. */
void
text_from(const char *file, uint64_t offset, struct buf *text)
{
    char path[PATH_SIZE];
    path_of(file, path);
    const int descriptor = open(path, O_RDONLY);
    assert_int_equal(lseek(descriptor, (off_t)offset, SEEK_SET), offset);
    gzFile in = gzdopen(descriptor, "r");
    buf_init(text, 64 << 20);
    for (int n = 1; n > 0;) {
        n = gzread(in, buf_reserve(text, TEXT), TEXT);
        assert_true(n >= 0);
        buf_commit(text, (size_t)n);
    }
    assert_int_equal(gzclose(in), Z_OK);
    buf_append_char(text, '\0');
}

void
check_text(const char *file, uint64_t offset, const char *expected)
{
    struct buf text;
    text_from(file, offset, &text);
    assert_string_equal(text.data, expected);
    buf_release(&text);
}

/* How many records there are whose type is that. */
unsigned
count_records(const char *file, const char *type)
{
    char line[64];
    unsigned n = 0;
    struct buf text;
    text_from(file, 0, &text);
    snprintf(line, sizeof line, "\r\nWARC-Type: %s\r\n", type);
    for (const char *at = text.data; (at = strstr(at, line)) != NULL; at++) {
        n++;
    }
    buf_release(&text);
    return n;
}
