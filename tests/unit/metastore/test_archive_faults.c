/* What the metadata store's daemon does of WARC files when the layer below fails: records that it
 * keeps for others (the writer is stood in for), and ranges that it reads for them (so is pread).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/codec.h"
#include "base/system/log.h"
#include "metastore/archive_keep.h"
#include "metastore/archive_link.h"
#include "metastore/protocol.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/open_descriptors.h"
#include "tests/unit/scratch.h"

/* ---- the writer ---- */

enum { TRACE_BYTES = 256, RECORDS = 3, ID_BYTES = 16 };

static struct {
    enum status open, append, sync, close;
    int append_at; /* the append that fails, from 0 */
    int appends;
    uint64_t offset;
    char trace[TRACE_BYTES]; /* o(pen), a(ppend), s(ync), c(lose), in the order of the calls */
} stands_in;

enum status __wrap_warc_writer_open(struct warc_writer **writer, const char *directory,
                                    const struct warc_writer_options *options, struct reason *why);
enum status __wrap_warc_writer_close(struct warc_writer *writer, struct reason *why);
enum status __wrap_warc_append_member(struct warc_writer *writer, struct slice member,
                                      struct slice id, struct warc_location *location,
                                      struct reason *why);
enum status __wrap_warc_sync(struct warc_writer *writer, struct reason *why);

static enum status
note(char call, enum status status, struct reason *why)
{
    const size_t length = strlen(stands_in.trace);
    assert_true(length + 1 < TRACE_BYTES);
    stands_in.trace[length] = call;
    return status == STATUS_OK ? STATUS_OK : status_fail(why, status, "call %c failed", call);
}

enum status
__wrap_warc_writer_open(struct warc_writer **writer, const char *directory,
                        const struct warc_writer_options *options, struct reason *why)
{
    assert_string_equal(directory, "/the/archive");
    assert_string_equal(options->process, "helpers");
    *writer = stands_in.open == STATUS_OK ? (struct warc_writer *)&stands_in : NULL;
    return note('o', stands_in.open, why);
}

enum status
__wrap_warc_writer_close(struct warc_writer *writer, struct reason *why)
{
    return writer == NULL ? STATUS_OK : note('c', stands_in.close, why);
}

enum status
__wrap_warc_append_member(struct warc_writer *writer, struct slice member, struct slice id,
                          struct warc_location *location, struct reason *why)
{
    assert_ptr_equal(writer, &stands_in);
    assert_true(member.length <= METASTORE_KEEP_MAXIMUM);
    const bool fails = stands_in.appends++ == stands_in.append_at;
    snprintf(location->id, sizeof location->id, "%.*s", SLICE_PRINT(id));
    location->offset = stands_in.offset += 100;
    return note('a', fails ? stands_in.append : STATUS_OK, why);
}

enum status
__wrap_warc_sync(struct warc_writer *writer, struct reason *why)
{
    assert_ptr_equal(writer, &stands_in);
    return note('s', stands_in.sync, why);
}

/* ---- records that are kept ---- */

static struct archive_keep *keep;
static struct buf payloads[RECORDS];
static struct archive_kept kept[RECORDS];

static int
keep_begin(void **state)
{
    const struct warc_writer_options options = {.process = "helpers"};
    (void)state;
    memset(&stands_in, 0, sizeof stands_in);
    stands_in.append_at = -1;
    keep = archive_keep_new("/the/archive", &options);
    for (int i = 0; i < RECORDS; i++) {
        char id[ID_BYTES];
        snprintf(id, sizeof id, "urn:uuid:%d", i);
        buf_init(&payloads[i], 64);
        codec_put_slice(&payloads[i], slice_string(id));
        codec_put_slice(&payloads[i], SLICE("a member"));
    }
    return 0;
}

static int
keep_end(void **state)
{
    (void)state;
    archive_keep_free(keep);
    for (int i = 0; i < RECORDS; i++) {
        buf_release(&payloads[i]);
    }
    return 0;
}

/* Keeps all records at once; the calls of the writer are these, and the records end so. */
static void
keeps(const char *trace, enum status first, enum status second, enum status third)
{
    const enum status expected[RECORDS] = {first, second, third};
    struct slice slices[RECORDS];
    memset(stands_in.trace, 0, sizeof stands_in.trace);
    memset(kept, 0xff, sizeof kept);
    stands_in.appends = 0;
    for (int i = 0; i < RECORDS; i++) {
        slices[i] = buf_slice(&payloads[i]);
    }
    archive_keep_all(keep, slices, RECORDS, kept);
    assert_string_equal(stands_in.trace, trace);
    for (int i = 0; i < RECORDS; i++) {
        assert_int_equal(kept[i].status, expected[i]);
    }
}

static void
reason_is(int record, const char *text)
{
    assert_string_equal(kept[record].why.text, text);
}

static void
what_is_kept_is_written_once(void **state)
{
    (void)state;
    keeps("oaaas", STATUS_OK, STATUS_OK, STATUS_OK);
    for (int time = 0; time < 2; time++) {
        for (int i = 0; i < RECORDS; i++) {
            char id[ID_BYTES];
            snprintf(id, sizeof id, "urn:uuid:%d", i);
            assert_string_equal(kept[i].location.id, id);
            assert_int_equal(kept[i].location.offset, 100 * (i + 1));
        }
        keeps("s", STATUS_OK, STATUS_OK, STATUS_OK);
        reason_is(0, "");
    }
    memset(stands_in.trace, 0, sizeof stands_in.trace);
    archive_keep_free(keep);
    keep = NULL;
    assert_string_equal(stands_in.trace, "c");
}

static void
make_and_free(void)
{
    const struct warc_writer_options options = {.process = "helpers"};
    archive_keep_free(archive_keep_new("/the/archive", &options));
}

static void
nothing_is_left_of_it(void **state)
{
    (void)state;
    assert_true(leaves_no_memory(make_and_free));
}

static void
a_writer_that_cannot_be_opened_is_tried_again(void **state)
{
    (void)state;
    stands_in.open = STATUS_SYSTEM;
    keeps("ooo", STATUS_SYSTEM, STATUS_SYSTEM, STATUS_SYSTEM);
    reason_is(2, "call o failed");
    stands_in.open = STATUS_OK;
    keeps("oaaas", STATUS_OK, STATUS_OK, STATUS_OK);
}

/* Those that were written before the failure and after it are kept, and so is the one that failed,
 * in another file, when it comes again: with the others, since that file has none of them. */
static void
after_a_failed_write_another_file_is_begun(void **state)
{
    (void)state;
    stands_in.append = STATUS_SYSTEM;
    for (int at = 0; at < RECORDS; at++) {
        stands_in.append_at = at;
        keeps("oaaasc", at == 0 ? STATUS_SYSTEM : STATUS_OK, at == 1 ? STATUS_SYSTEM : STATUS_OK,
              at == 2 ? STATUS_SYSTEM : STATUS_OK);
        reason_is(at, "call a failed");
    }
    stands_in.append_at = -1;
    stands_in.close = STATUS_SYSTEM; /* of which nobody is told but the log */
    keeps("oaaas", STATUS_OK, STATUS_OK, STATUS_OK);
    keeps("s", STATUS_OK, STATUS_OK, STATUS_OK);
}

/* Records that are none, or for which there is no room, are refused alone. */
static void
what_is_refused_alone_ends_no_file(void **state)
{
    (void)state;
    stands_in.append_at = 1;
    stands_in.append = STATUS_CORRUPT;
    keeps("oaaas", STATUS_OK, STATUS_PROTOCOL, STATUS_OK);
    reason_is(1, "call a failed");
    stands_in.append_at = 0; /* the second record's: the others are known */
    stands_in.append = STATUS_FULL;
    keeps("as", STATUS_OK, STATUS_FULL, STATUS_OK);
    reason_is(1, "call a failed");
    stands_in.append_at = -1;
    keeps("as", STATUS_OK, STATUS_OK, STATUS_OK);
}

/* What waits for room waits in the writer: nothing more goes to it before there is some, and then
 * everything is where it was put. */
static void
without_room_all_wait(void **state)
{
    (void)state;
    stands_in.sync = STATUS_FULL;
    keeps("oaaas", STATUS_FULL, STATUS_FULL, STATUS_FULL);
    for (int i = 0; i < RECORDS; i++) {
        reason_is(i, "call s failed");
    }
    for (int time = 0; time < 2; time++) {
        keeps("s", STATUS_FULL, STATUS_FULL, STATUS_FULL);
        reason_is(0, "call s failed");
        reason_is(2, "call s failed");
    }
    stands_in.sync = STATUS_OK;
    keeps("ss", STATUS_OK, STATUS_OK, STATUS_OK);
    assert_int_equal(kept[2].location.offset, 300);
    keeps("s", STATUS_OK, STATUS_OK, STATUS_OK); /* nothing waits any more */
}

/* Nobody knows what of the file is on the disk: none is said to be kept, and all come anew. */
static void
after_a_failed_sync_all_are_written_again(void **state)
{
    (void)state;
    stands_in.sync = STATUS_SYSTEM;
    for (int time = 0; time < 2; time++) {
        keeps("oaaasc", STATUS_SYSTEM, STATUS_SYSTEM, STATUS_SYSTEM);
        reason_is(0, "call s failed");
        reason_is(2, "call s failed");
    }
    stands_in.sync = STATUS_FULL;
    keeps("oaaas", STATUS_FULL, STATUS_FULL, STATUS_FULL);
    stands_in.sync = STATUS_SYSTEM; /* while they wait */
    keeps("sc", STATUS_SYSTEM, STATUS_SYSTEM, STATUS_SYSTEM);
    stands_in.sync = STATUS_OK;
    keeps("oaaas", STATUS_OK, STATUS_OK, STATUS_OK);
    keeps("s", STATUS_OK, STATUS_OK, STATUS_OK);
}

/* ---- ranges that are read ---- */

static struct {
    int interrupted; /* calls to come that a signal ends */
    int fails_at;    /* calls until one fails; -1: none does */
    size_t most;     /* bytes at once; 0: as many as are asked for */
    int calls;
} reads;

ssize_t __wrap_pread(int file, void *bytes, size_t length, off_t offset);
ssize_t __real_pread(int file, void *bytes, size_t length, off_t offset);

ssize_t
__wrap_pread(int file, void *bytes, size_t length, off_t offset)
{
    reads.calls++;
    if (reads.interrupted > 0) {
        reads.interrupted--;
        errno = EINTR;
        return -1;
    }
    if (reads.fails_at >= 0 && reads.fails_at-- == 0) {
        errno = EIO;
        return -1;
    }
    const size_t most = reads.most > 0 && reads.most < length ? reads.most : length;
    return __real_pread(file, bytes, most, offset);
}

static const char content[] = "0123456789abcdef";
static char folder[SCRATCH_SIZE];

static int
reads_begin(void **state)
{
    char path[SCRATCH_SIZE + 8];
    (void)state;
    reads.interrupted = reads.calls = 0;
    reads.fails_at = -1;
    reads.most = 0;
    if (!scratch_folder(folder, "test_archive_faults")) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s/a.warc", folder);
    FILE *file = fopen(path, "w");
    return file == NULL || fputs(content, file) < 0 || fclose(file) != 0 ? -1 : 0;
}

static int
reads_end(void **state)
{
    char command[SCRATCH_SIZE + 16];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* Asks for two ranges of the file, of 10 bytes and of 6. */
static enum status
ask(struct buf *reply, struct reason *why)
{
    struct buf payload;
    buf_init(&payload, 100);
    for (uint64_t range = 0; range < 2; range++) {
        codec_put_slice(&payload, SLICE("a.warc"));
        codec_put_varint(&payload, 10 * range);
        codec_put_varint(&payload, range == 0 ? 10 : 6);
    }
    const enum status status = archive_answer(folder, buf_slice(&payload), reply, why);
    buf_release(&payload);
    return status;
}

static void
reads_go_on_where_they_were_ended(void **state)
{
    static const struct {
        int interrupted;
        size_t most;
        int calls;
    } cases[] = {{0, 0, 2}, {1, 0, 3}, {5, 0, 7}, {0, 4, 5}, {2, 3, 8}, {0, 1, 16}};
    struct buf reply;
    struct reason why = {""};
    (void)state;
    buf_init(&reply, ARCHIVE_PIECE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reads.interrupted = cases[i].interrupted;
        reads.most = cases[i].most;
        reads.calls = 0;
        assert_int_equal(ask(&reply, &why), STATUS_OK);
        assert_true(slice_is(buf_slice(&reply), content));
        assert_int_equal(reads.calls, cases[i].calls);
    }
    buf_release(&reply);
}

static void
reads_that_fail_are_told(void **state)
{
    struct buf reply;
    (void)state;
    buf_init(&reply, ARCHIVE_PIECE);
    reads.most = 4;
    for (int at = 0; at < 5; at++) {
        struct reason why = {""};
        reads.fails_at = at;
        assert_int_equal(ask(&reply, &why), STATUS_SYSTEM);
        assert_non_null(strstr(why.text, "cannot read the archive"));
        assert_non_null(strstr(why.text, strerror(EIO)));
        assert_int_equal(open_files(folder), 0);
    }
    buf_release(&reply);
}

int
main(void)
{
#define KEEP(name) cmocka_unit_test_setup_teardown(name, keep_begin, keep_end)
#define READ(name) cmocka_unit_test_setup_teardown(name, reads_begin, reads_end)
    const struct CMUnitTest tests[] = {
        KEEP(what_is_kept_is_written_once),
        KEEP(nothing_is_left_of_it),
        KEEP(a_writer_that_cannot_be_opened_is_tried_again),
        KEEP(after_a_failed_write_another_file_is_begun),
        KEEP(what_is_refused_alone_ends_no_file),
        KEEP(without_room_all_wait),
        KEEP(after_a_failed_sync_all_are_written_again),
        READ(reads_go_on_where_they_were_ended),
        READ(reads_that_fail_are_told),
    };
    log_open("test_archive_faults", LOG_LEVEL_ERROR, false);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
