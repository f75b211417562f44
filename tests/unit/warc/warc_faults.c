/* When the archive writer (warc/writer.c) writes, and what it leaves when a call of the system
 * fails. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/unit/brief.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/warc/warc_files.h"
#include "tests/unit/warc/warc_writer.h"

enum { WRITE_BYTES = 64 << 10 };

/* ---- when it is written ---- */

/* What gathers is written when there is enough of it, in one call; a sync writes the rest. */
static void
members_gather(void **state)
{
    (void)state;
    char *noise = memory_zero(WRITE_BYTES, 1);
    struct warc_writer *writer = open_writer(1 << 30);
    const struct warc_location first = write_one(writer, SLICE(""));
    assert_int_equal(write_count, 1);
    assert_int_equal(folder_sync_count, 1);
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
    assert_int_equal(write_count, 2);
    assert_int_equal(data_sync_count, 1);
    const uint64_t pair = file_size(NAME_0) - first.offset;
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
    assert_int_equal(write_count, 2);
    assert_int_equal(data_sync_count, 1);
    /* At level 0 each byte of a body is one of the file; its length has five digits here. */
    const size_t digits = strlen("65000") - strlen("19");
    for (size_t lacking = 2; lacking-- > 0;) {
        const uint64_t before = file_size(NAME_0);
        const unsigned written = write_count;
        write_one(writer, slice_of(noise, WRITE_BYTES - pair - digits - lacking));
        assert_int_equal(write_count - written, lacking == 0);
        assert_int_equal(file_size(NAME_0) - before, lacking == 0 ? WRITE_BYTES : 0);
        assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
        assert_int_equal(file_size(NAME_0) - before, WRITE_BYTES - lacking);
    }
    assert_int_equal(data_sync_count, 3);
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
    assert_int_equal(data_sync_count, 3);
    free(noise);
}

static void
a_file_ends_at_its_size(void **state)
{
    (void)state;
    struct warc_writer *writer = open_writer(1 << 20);
    write_one(writer, SLICE(""));
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
    const uint64_t size = file_size(NAME_0);
    for (uint64_t more = 0; more < 2; more++) {
        each_file(true);
        writer = open_writer(size + more);
        write_one(writer, SLICE(""));
        data_sync_count = 0;
        assert_string_equal(write_one(writer, SLICE("")).file, more == 0 ? NAME_1 : NAME_0);
        assert_int_equal(data_sync_count, more == 0 ? 1 : 0);
        assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
    }
}

static void
a_large_record_does_not_hold_memory(void **state)
{
    if (!memory_is_counted()) {
        skip();
    }
    enum { LARGE = 16 << 20, SMALL = 1 << 20 };
    (void)state;
    char *zeros = memory_zero(LARGE, 1);
    struct warc_writer *writer = open_writer(1 << 30);
    write_one(writer, SLICE(""));
    const size_t before = memory_in_use();
    write_one(writer, slice_of(zeros, LARGE));
    assert_in_range(memory_in_use(), before - SMALL, before + SMALL);
    assert_int_equal(count_records(NAME_0, "response"), 2);
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
    free(zeros);
}

/* ---- what fails ---- */

static const struct {
    int error;
    enum status write, sync, create;
} errors[] = {
    {ENOSPC, STATUS_FULL, STATUS_FULL, STATUS_FULL},
    {EDQUOT, STATUS_FULL, STATUS_FULL, STATUS_FULL},
    {EFBIG, STATUS_FULL, STATUS_SYSTEM, STATUS_SYSTEM},
    {EIO, STATUS_SYSTEM, STATUS_SYSTEM, STATUS_SYSTEM},
};
enum { ERRORS = sizeof errors / sizeof *errors };

/* A file that cannot be begun is no file, and the next try takes another name. */
static void
a_file_that_cannot_be_begun_is_removed(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * ERRORS; i++) {
        struct warc_location location;
        struct reason why = {""};
        const int kind = i / ERRORS;
        const struct fault fault = {.times = 1, .error = errors[i % ERRORS].error, .leaves = 5};
        struct warc_writer *writer = open_writer(1 << 20);
        *(kind == 0 ? &opens : kind == 1 ? &writes : &folder_syncs) = fault;
        const size_t before = open_descriptors();
        assert_int_equal(write_body(writer, SLICE("lost"), &location, &why),
                         kind == 0   ? errors[i % ERRORS].create
                         : kind == 1 ? errors[i % ERRORS].write
                                     : STATUS_SYSTEM);
        assert_non_null(strstr(why.text, kind == 0   ? "cannot create "
                                         : kind == 1 ? "cannot write "
                                                     : "cannot sync "));
        assert_non_null(strstr(why.text, directory));
        assert_non_null(strstr(why.text, strerror(fault.error)));
        assert_int_equal(open_descriptors(), before);
        assert_int_equal(each_file(false), 0);
        assert_int_equal(warc_sync(writer, &why), STATUS_OK);
        assert_string_equal(write_one(writer, SLICE("kept")).file, NAME_1);
        assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
        assert_int_equal(count_records(NAME_1, "warcinfo"), 1);
        assert_int_equal(count_records(NAME_1, "response"), 1);
        each_file(true);
    }
}

static void
a_name_that_is_taken_is_passed_over(void **state)
{
    (void)state;
    opens = (struct fault){.times = 2, .error = EEXIST};
    struct warc_writer *writer = open_writer(1 << 20);
    assert_non_null(strstr(write_one(writer, SLICE("")).file, "-00002-"));
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
}

/* What a failed write left is cut off, at once or, where that fails too, before the next one. */
static void
what_a_failed_write_leaves_is_cut_off(void **state)
{
    (void)state;
    for (int i = 0; i < ERRORS; i++) {
        struct reason why = {""};
        struct warc_writer *writer = open_writer(1 << 20);
        const uint64_t begins = write_one(writer, SLICE("one")).offset;
        cut_count = 0;
        writes = (struct fault){.times = 1, .error = errors[i].error, .leaves = 10};
        cuts = (struct fault){.times = 2, .error = EIO};
        assert_int_equal(warc_sync(writer, &why), errors[i].write);
        assert_non_null(strstr(why.text, "cannot write "));
        assert_int_equal(file_size(NAME_0), begins + 10);
        assert_int_equal(cut_count, 1);
        assert_int_equal(warc_sync(writer, &why), STATUS_SYSTEM);
        assert_non_null(strstr(why.text, "cannot cut "));
        assert_non_null(strstr(why.text, NAME_0));
        assert_int_equal(cut_count, 2);
        writes = (struct fault){.times = 1, .error = errors[i].error, .leaves = 10};
        assert_int_equal(warc_sync(writer, &why), errors[i].write);
        assert_int_equal(file_size(NAME_0), begins);
        assert_int_equal(cut_count, 4);
        assert_int_equal(warc_sync(writer, &why), STATUS_OK);
        assert_int_equal(cut_count, 4);
        write_one(writer, SLICE("two"));
        assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
        assert_int_equal(cut_count, 4);
        assert_int_equal(count_records(NAME_0, "response"), 2);
        each_file(true);
    }
}

/* A record that makes a write due which fails is refused, and what gathered before it waits. */
static void
a_refused_record_is_not_in_the_archive(void **state)
{
    (void)state;
    char *zeros = memory_zero(WRITE_BYTES, 1);
    struct warc_location location;
    struct warc_writer *writer = open_writer(1 << 20);
    const struct warc_location first = write_one(writer, SLICE("one"));
    writes = (struct fault){.times = 1, .error = ENOSPC, .leaves = 100};
    assert_int_equal(write_body(writer, slice_of(zeros, WRITE_BYTES), &location, NULL),
                     STATUS_FULL);
    assert_int_equal(file_size(NAME_0), first.offset);
    const struct warc_location second = write_one(writer, SLICE("two"));
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
    assert_int_equal(file_size(NAME_0) - second.offset, second.offset - first.offset);
    assert_int_equal(count_records(NAME_0, "response"), 2);
    assert_int_equal(count_records(NAME_0, "request"), 2);
    free(zeros);
}

/* A sync that failed is tried again, also when there is nothing to write. */
static void
a_failed_sync_is_repeated(void **state)
{
    (void)state;
    for (int i = 0; i < ERRORS; i++) {
        struct reason why = {""};
        struct warc_writer *writer = open_writer(1 << 20);
        const size_t before = open_descriptors();
        write_one(writer, SLICE("one"));
        data_sync_count = 0;
        data_syncs = (struct fault){.times = 2, .error = errors[i].error};
        assert_int_equal(warc_sync(writer, &why), errors[i].sync);
        assert_non_null(strstr(why.text, "cannot sync "));
        assert_non_null(strstr(why.text, NAME_0));
        assert_int_equal(warc_sync(writer, &why), errors[i].sync);
        assert_int_equal(warc_sync(writer, &why), STATUS_OK);
        assert_int_equal(data_sync_count, 3);
        write_one(writer, SLICE("two"));
        data_syncs = (struct fault){.times = 1, .error = errors[i].error};
        assert_int_equal(warc_writer_close(writer, &why), errors[i].sync);
        assert_int_equal(open_descriptors(), before - 1); /* the folder's is closed too */
        each_file(true);
    }
    assert_int_equal(warc_writer_close(NULL, NULL), STATUS_OK);
}

/* A full file whose sync fails stays the file. */
static void
no_file_is_left_unsynced(void **state)
{
    (void)state;
    struct warc_location location;
    struct warc_writer *writer = open_writer(1);
    write_one(writer, SLICE("one"));
    data_syncs = (struct fault){.times = 1, .error = EIO};
    assert_int_equal(write_body(writer, SLICE("two"), &location, NULL), STATUS_SYSTEM);
    assert_int_equal(each_file(false), 1);
    assert_string_equal(write_one(writer, SLICE("two")).file, NAME_1);
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
    assert_int_equal(count_records(NAME_0, "response"), 1);
    assert_int_equal(count_records(NAME_1, "response"), 1);
}

/* Headers have limits. Where the response's still fits and its request's does not, neither is
 * written: the lengths tried have both. */
static void
too_large_headers_are_refused(void **state)
{
    enum { FROM = WARC_HEADER_MAXIMUM - 600 };
    (void)state;
    struct reason why = {""};
    struct warc_location location;
    char *name = memory_zero(4 << 20, 1);
    memset(name, 'a', 4 << 20);
    struct warc_writer *writer = open_writer(1 << 30);
    unsigned written = 0;
    /* Odd steps, so that records with and without a header take turns. */
    for (size_t length = FROM; length < WARC_HEADER_MAXIMUM; length += brief(1, 7)) {
        struct warc_exchange exchange = exchange_of(SLICE(""));
        exchange.uri = slice_of(name, length);
        exchange.response_header = length % 2 == 0 ? OK_HEADER : SLICE("");
        const enum status status = warc_write_exchange(writer, &exchange, &location, &why);
        assert_true(status == STATUS_OK || status == STATUS_LIMIT);
        written += status == STATUS_OK;
    }
    assert_in_range(written, 1, 599);
    assert_string_equal(why.text, "header of a WARC record is too large");
    struct warc_exchange exchange = exchange_of(SLICE(""));
    exchange.response_header = slice_of(name, 4 << 20);
    assert_int_equal(warc_write_exchange(writer, &exchange, &location, NULL), STATUS_LIMIT);
    /* A refused block is no hindrance to what has none. */
    const struct warc_conversion conversion = {.uri = SLICE("a:b"), .content_type = SLICE("a/b")};
    assert_int_equal(warc_write_conversion(writer, &conversion, &location, NULL), STATUS_OK);
    write_one(writer, SLICE(""));
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
    assert_int_equal(count_records(NAME_0, "response"), written + 1);
    assert_int_equal(count_records(NAME_0, "request"), written + 1);
    assert_int_equal(count_records(NAME_0, "conversion"), 1);
    free(name);
}

static void
what_cannot_be_opened_is_refused(void **state)
{
    (void)state;
    char path[PATH_SIZE];
    struct reason why = {""};
    struct warc_writer *writer = (struct warc_writer *)path;
    struct warc_writer_options options = options_of(1);
    const size_t before = open_descriptors();
    options.level = 99;
    assert_int_equal(warc_writer_open(&writer, directory, &options, &why), STATUS_SYSTEM);
    assert_string_equal(why.text, "there is no compression level 99");
    assert_null(writer);
    path_of("file", path);
    close(open(path, O_WRONLY | O_CREAT, 0644));
    options.level = 1;
    assert_int_equal(warc_writer_open(&writer, path, &options, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, path));
    assert_int_equal(open_descriptors(), before);
}

/* ---- copies ---- */

static void
only_whole_members_are_copied(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        uint64_t offset, length;
        enum status status;
    } cases[] = {
        {"\x1f\x8b", 0, 2, STATUS_OK},        {"\x1f\x8b", 0, 1, STATUS_CORRUPT},
        {"\x1f\x8c", 0, 2, STATUS_CORRUPT},   {"\x1e\x8b", 0, 2, STATUS_CORRUPT},
        {"\x1f\x8b", 0, 3, STATUS_CORRUPT},   {"x\x1f\x8bx", 1, 2, STATUS_OK},
        {"x\x1f\x8bx", 0, 2, STATUS_CORRUPT}, {"\x1f\x8b", 9, 2, STATUS_CORRUPT},
    };
    char path[PATH_SIZE], longest[WARC_FILE_SIZE];
    struct warc_location location;
    struct reason why = {""};
    struct warc_writer *writer = open_writer(1 << 20);
    write_one(writer, SLICE(""));
    path_of("other", path);
    const size_t before = open_descriptors();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *other = fopen(path, "w");
        fputs(cases[i].bytes, other);
        fclose(other);
        assert_int_equal(warc_copy_record(writer, SLICE("other"), cases[i].offset, cases[i].length,
                                          SLICE("urn:x"), &location, &why),
                         cases[i].status);
        if (cases[i].status == STATUS_OK) {
            assert_string_equal(location.id, "urn:x");
            assert_int_equal(location.length, 2);
            assert_int_equal(location.offset, file_size(NAME_0));
            assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
            assert_int_equal(file_size(NAME_0), location.offset + 2);
        }
    }
    assert_string_equal(why.text, "no record in other at 9");
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(
        warc_copy_record(writer, slice_string(longest), 0, 2, SLICE(""), &location, &why),
        STATUS_CORRUPT);
    assert_int_equal(warc_copy_record(writer, SLICE("other/"), 0, 2, SLICE(""), &location, &why),
                     STATUS_MISUSE);
    assert_string_equal(why.text, "no record to copy");
    assert_int_equal(open_descriptors(), before);
    write_one(writer, SLICE(""));
    writes = (struct fault){.times = 1, .error = ENOSPC};
    assert_int_equal(warc_copy_record(writer, SLICE("other"), 0, 2, SLICE(""), &location, &why),
                     STATUS_FULL);
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
}

int
warc_faults_run(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
        CASE(members_gather),
        CASE(a_file_ends_at_its_size),
        CASE(a_large_record_does_not_hold_memory),
        CASE(a_file_that_cannot_be_begun_is_removed),
        CASE(a_name_that_is_taken_is_passed_over),
        CASE(what_a_failed_write_leaves_is_cut_off),
        CASE(a_refused_record_is_not_in_the_archive),
        CASE(a_failed_sync_is_repeated),
        CASE(no_file_is_left_unsynced),
        CASE(too_large_headers_are_refused),
        CASE(what_cannot_be_opened_is_refused),
        CASE(only_whole_members_are_copied),
    };
    return cmocka_run_group_tests_name("warc faults", tests, NULL, NULL);
}
