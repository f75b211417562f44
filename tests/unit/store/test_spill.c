/* Temporary files of queries (store/spill.c): what is written is read again over many extents, no
 * more is written than is allowed, and a disk without room is told as such. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/file.h"
#include "store/spill.h"
#include "tests/unit/scratch.h"

enum { BUFFER = 512, LISTS = 3, RECORDS = 2000, LARGE = 1 << 20 };

static char folder[SCRATCH_SIZE];
static int failing; /* errno of every write; 0: they do not fail */

/* The linker puts these in the place of what writes and what takes room. */
bool __real_file_write_all_at(int descriptor, struct slice bytes, uint64_t offset);
bool __wrap_file_write_all_at(int descriptor, struct slice bytes, uint64_t offset);
int __real_posix_fallocate(int descriptor, off_t offset, off_t length);
int __wrap_posix_fallocate(int descriptor, off_t offset, off_t length);

bool
__wrap_file_write_all_at(int descriptor, struct slice bytes, uint64_t offset)
{
    if (failing != 0) {
        errno = failing;
        return false;
    }
    return __real_file_write_all_at(descriptor, bytes, offset);
}

int
__wrap_posix_fallocate(int descriptor, off_t offset, off_t length)
{
    return failing != 0 ? failing : __real_posix_fallocate(descriptor, offset, length);
}

static size_t reads_most = SIZE_MAX; /* bytes that a read brings; 0: it fails */

ssize_t __real_pread(int descriptor, void *bytes, size_t n, off_t offset);
ssize_t __wrap_pread(int descriptor, void *bytes, size_t n, off_t offset);

ssize_t
__wrap_pread(int descriptor, void *bytes, size_t n, off_t offset)
{
    if (reads_most == 0) {
        errno = EIO;
        return -1;
    }
    return __real_pread(descriptor, bytes, n < reads_most ? n : reads_most, offset);
}

/* ---- lists ---- */

static uint32_t
record_of(size_t list, size_t i)
{
    return (uint32_t)((list + 1) * 2654435761u ^ i * 40503u);
}

/* Several lists share the file, and each is read as it was written, in pieces of any size. */
static void
lists_are_read_as_they_were_written(void **state)
{
    (void)state;
    struct memory_account account = {.maximum = 1 << 16};
    struct reason why = {""};
    struct spill spill;
    struct spill_list lists[LISTS];
    spill_init(&spill, &account, folder, 1 << 30);
    for (size_t l = 0; l < LISTS; l++) {
        spill_list_init(&lists[l], &spill, BUFFER);
    }
    for (size_t i = 0; i < RECORDS; i++) {
        for (size_t l = 0; l < LISTS; l++) {
            const uint32_t record = record_of(l, i);
            assert_int_equal(spill_list_write(&lists[l], &record, sizeof record, &why), STATUS_OK);
        }
    }
    for (size_t l = 0; l < LISTS; l++) {
        assert_int_equal(spill_list_finish(&lists[l], &why), STATUS_OK);
        assert_int_equal(lists[l].length, RECORDS * sizeof(uint32_t));
    }
    for (size_t l = 0; l < LISTS; l++) {
        struct spill_reader reader;
        bool end = false;
        spill_reader_init(&reader, &lists[l], 100);
        for (size_t i = 0; i < RECORDS; i++) {
            uint32_t record;
            end = true; /* as of another list */
            assert_int_equal(spill_read(&reader, &record, sizeof record, &end, &why), STATUS_OK);
            assert_false(end);
            assert_int_equal(record, record_of(l, i));
        }
        assert_int_equal(spill_read(&reader, &end, 1, &end, &why), STATUS_OK);
        assert_true(end);
        spill_reader_release(&reader);
    }
    assert_int_equal(spill.used, LISTS * RECORDS * sizeof(uint32_t));
    for (size_t l = 0; l < LISTS; l++) {
        spill_list_release(&lists[l]);
    }
    assert_int_equal(spill.used, 0); /* given back, and how much it once was is known */
    assert_int_equal(spill.highest, LISTS * RECORDS * sizeof(uint32_t));
    assert_int_equal(account.used, 0);
    spill_release(&spill);
}

/* A read may bring less than was asked for, and fail: then it is told. */
static void
reads_that_fail_are_told(void **state)
{
    struct memory_account account = {.maximum = 1 << 16};
    struct reason why = {""};
    struct spill spill;
    struct spill_list list;
    struct spill_reader reader;
    uint32_t record;
    bool end;
    (void)state;
    spill_init(&spill, &account, folder, 1 << 30);
    spill_list_init(&list, &spill, BUFFER);
    for (size_t i = 0; i < RECORDS; i++) {
        record = record_of(0, i);
        assert_int_equal(spill_list_write(&list, &record, sizeof record, &why), STATUS_OK);
    }
    assert_int_equal(spill_list_finish(&list, &why), STATUS_OK);
    const size_t used = account.used;
    spill_reader_init(&reader, &list, account.maximum - used + 1);
    assert_int_equal(spill_read(&reader, &record, sizeof record, &end, &why), STATUS_LIMIT);
    spill_reader_release(&reader);
    assert_int_equal(account.used, used);
    spill_reader_init(&reader, &list, account.maximum - used);
    for (size_t i = 0; i < RECORDS; i++) {
        reads_most = 1 + i % 7;
        assert_int_equal(spill_read(&reader, &record, sizeof record, &end, &why), STATUS_OK);
        assert_false(end);
        assert_int_equal(record, record_of(0, i));
    }
    assert_int_equal(account.used, account.maximum);
    spill_reader_release(&reader);
    assert_int_equal(account.used, used);
    reads_most = 0;
    assert_int_equal(spill_read(&reader, &record, sizeof record, &end, &why), STATUS_OK);
    assert_true(end); /* nothing is left to be read */
    spill_reader_release(&reader);
    spill_reader_init(&reader, &list, BUFFER);
    assert_int_equal(spill_read(&reader, &record, sizeof record, &end, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "a temporary file in "));
    assert_non_null(strstr(why.text, " cannot be read"));
    reads_most = SIZE_MAX;
    spill_reader_release(&reader);
    spill_list_release(&list);
    assert_int_equal(account.used, 0);
    assert_int_equal(account.highest, account.maximum);
    spill_release(&spill);
}

/* Extents take memory, too: a list that has none for one more is told so. */
static void
extents_take_memory(void **state)
{
    enum { FIRST_EXTENTS = 8 };
    struct memory_account account = {.maximum = 1 << 16};
    struct reason why = {""};
    struct spill spill;
    struct spill_list lists[2];
    static char zeros[BUFFER];
    (void)state;
    spill_init(&spill, &account, folder, 1 << 30);
    for (size_t l = 0; l < 2; l++) {
        spill_list_init(&lists[l], &spill, BUFFER);
    }
    for (size_t i = 0; i < FIRST_EXTENTS; i++) { /* in turn, so that none joins the one before */
        for (size_t l = 0; l < 2; l++) {
            assert_int_equal(spill_list_write(&lists[l], zeros, BUFFER, &why), STATUS_OK);
        }
    }
    assert_int_equal(lists[0].count, FIRST_EXTENTS);
    const size_t more = FIRST_EXTENTS * sizeof(struct spill_extent);
    account.maximum = account.used + more - 1;
    assert_int_equal(spill_list_write(&lists[0], zeros, BUFFER, &why), STATUS_LIMIT);
    account.maximum++;
    assert_int_equal(spill_list_write(&lists[1], zeros, BUFFER, &why), STATUS_OK);
    assert_int_equal(lists[1].count, FIRST_EXTENTS + 1);
    for (size_t l = 0; l < 2; l++) {
        spill_list_release(&lists[l]);
    }
    assert_int_equal(account.used, 0);
    spill_release(&spill);
}

/* ---- limits ---- */

static enum status
write_large(struct spill_list *list, size_t bytes, struct reason *why)
{
    static char zeros[BUFFER];
    for (; bytes > 0; bytes -= BUFFER) {
        TRY(spill_list_write(list, zeros, BUFFER, why));
    }
    return spill_list_finish(list, why);
}

static void
files_are_bounded(void **state)
{
    (void)state;
    struct memory_account account = {.maximum = 1 << 16};
    struct reason why = {""};
    struct spill spill;
    struct spill_list list;
    spill_init(&spill, &account, folder, LARGE);
    spill_list_init(&list, &spill, BUFFER);
    assert_int_equal(write_large(&list, LARGE, &why), STATUS_OK);
    spill_list_release(&list);
    spill_list_init(&list, &spill, BUFFER);
    assert_int_equal(write_large(&list, LARGE + BUFFER, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "the query needs more than its 1 MiB of temporary files");
    spill_list_release(&list);
    spill_release(&spill);
}

static void
a_full_disk_is_told(void **state)
{
    static const struct {
        int error;
        enum status status;
    } cases[] = {{ENOSPC, STATUS_FULL}, {EIO, STATUS_SYSTEM}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct memory_account account = {.maximum = 1 << 16};
        struct reason why = {""};
        struct spill spill;
        struct spill_list list;
        struct spill_area area;
        spill_init(&spill, &account, folder, 1 << 30);
        spill_list_init(&list, &spill, BUFFER);
        failing = cases[i].error;
        assert_int_equal(write_large(&list, 4 * BUFFER, &why), cases[i].status);
        assert_non_null(strstr(why.text, folder));
        assert_int_equal(strstr(why.text, "no room") != NULL, cases[i].error == ENOSPC);
        assert_int_equal(spill_area_new(&spill, LARGE, "a table", &area, &why), cases[i].status);
        assert_non_null(strstr(why.text, folder));
        spill_list_release(&list);
        const uint32_t record = 7; /* that waits in memory until the list is finished */
        why.text[0] = '\0';
        assert_int_equal(spill_list_write(&list, &record, sizeof record, &why), STATUS_OK);
        assert_int_equal(spill_list_finish(&list, &why), cases[i].status);
        assert_non_null(strstr(why.text, folder));
        failing = 0;
        spill_list_release(&list);
        assert_int_equal(account.used, 0);
        spill_release(&spill);
    }
    struct memory_account account = {.maximum = 1 << 16};
    struct reason why = {""};
    struct spill spill;
    struct spill_list list;
    spill_init(&spill, &account, "/nonexistent", 1 << 30);
    spill_list_init(&list, &spill, BUFFER);
    assert_int_equal(write_large(&list, 4 * BUFFER, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "/nonexistent"));
    spill_list_release(&list);
    spill_release(&spill);
}

/* ---- areas ---- */

/* Pages are of memory while half of the account has room for them, else of the file; they are zeros
 * at first. */
static void
areas_are_memory_first(void **state)
{
    (void)state;
    struct memory_account account = {.maximum = 4 * LARGE};
    struct reason why = {""};
    struct spill spill;
    struct spill_area areas[4];
    spill_init(&spill, &account, folder, 1 << 30);
    assert_int_equal(spill.share, 2 * LARGE);
    assert_true(spill_may_take(&spill, 2 * LARGE));
    assert_false(spill_may_take(&spill, 2 * LARGE + 1));
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(spill_may_take(&spill, LARGE), i < 2);
        assert_int_equal(spill_area_new(&spill, LARGE, "a table", &areas[i], &why), STATUS_OK);
        assert_int_equal(areas[i].offset == UINT64_MAX, i < 2);
        assert_int_equal(areas[i].size, LARGE);
        for (size_t at = 0; at < LARGE; at += 4096) {
            assert_int_equal(((char *)areas[i].memory)[at], 0);
        }
        memset(areas[i].memory, (int)(i + 1), LARGE);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(((char *)areas[i].memory)[0], i + 1);
        assert_int_equal(((char *)areas[i].memory)[LARGE - 1], i + 1);
    }
    assert_int_equal(account.used, 2 * LARGE);
    assert_int_equal(spill.used, 2 * LARGE);
    for (size_t i = 0; i < 4; i++) {
        spill_area_free(&spill, &areas[i]);
        assert_null(areas[i].memory);
    }
    assert_int_equal(account.used, 0);
    spill_release(&spill);
    /* Without a folder nothing is spilled: the account says when it is over. */
    spill_init(&spill, &account, NULL, 0);
    assert_true(spill_may_take(&spill, SIZE_MAX));
    assert_int_equal(spill_area_new(&spill, 8 * LARGE, "a table", &areas[0], &why), STATUS_LIMIT);
    assert_non_null(strstr(why.text, "a table"));
    spill_release(&spill);
}

static uint64_t
bytes_on_disk(const struct spill *spill)
{
    struct stat info;
    assert_int_equal(fstat(spill->descriptor, &info), 0);
    return (uint64_t)info.st_blocks * 512;
}

/* Lists that are written one after the other are one extent each, an area begins at a page behind
 * them, and what is released takes no room of the disk any more. */
static void
released_room_is_given_back(void **state)
{
    enum { WRITTEN = 100 * BUFFER };
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct memory_account account = {.maximum = 2 * LARGE};
    struct reason why = {""};
    struct spill spill;
    struct spill_list first, second;
    struct spill_area area;
    spill_init(&spill, &account, folder, 1 << 30);
    assert_int_equal(memory_take(&account, LARGE, "the test", &why), STATUS_OK);
    spill_list_init(&first, &spill, BUFFER);
    spill_list_init(&second, &spill, BUFFER);
    static const struct {
        bool first;
        size_t buffers;
    } writes[] = {{true, 101}, {false, 2}, {true, 2}};
    static const char zeros[BUFFER];
    for (size_t i = 0; i < 3; i++) {
        for (size_t n = 0; n < writes[i].buffers; n++) {
            assert_int_equal(
                spill_list_write(writes[i].first ? &first : &second, zeros, BUFFER, &why),
                STATUS_OK);
        }
        assert_int_equal(spill_list_finish(writes[i].first ? &first : &second, &why), STATUS_OK);
        assert_int_equal(first.count, i < 2 ? 1 : 2); /* the second's extent lies between */
        assert_int_equal(second.count, i > 0);
    }
    const uint64_t end = spill.end;
    assert_int_equal(end % page != 0, 1);
    assert_int_equal(spill_area_new(&spill, LARGE, "a table", &area, &why), STATUS_OK);
    assert_int_equal(area.offset, (end / page + 1) * page);
    assert_int_equal(spill.end, area.offset + LARGE);
    memset(area.memory, 1, LARGE);
    const uint64_t before = bytes_on_disk(&spill);
    assert_true(before >= LARGE + WRITTEN);
    const uint64_t used = spill.used;
    const bool gives = fallocate(spill.descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                 (off_t)spill.end, (off_t)page) == 0;
    spill_area_free(&spill, &area);
    assert_int_equal(spill.used, used - LARGE);
    assert_true(!gives || bytes_on_disk(&spill) <= before - LARGE);
    spill_list_release(&first);
    assert_true(!gives || bytes_on_disk(&spill) <= before - LARGE - WRITTEN + 2 * page);
    spill_list_release(&second);
    memory_give(&account, LARGE);
    assert_int_equal(account.used, 0);
    spill_release(&spill);
}

static enum status
stop(const void *context, struct reason *why)
{
    return *(const bool *)context ? status_fail(why, STATUS_CANCELLED, "stopped") : STATUS_OK;
}

/* Whoever writes much asks whether to go on. */
static void
writing_ends_when_it_is_to(void **state)
{
    (void)state;
    struct memory_account account = {.maximum = 1 << 16};
    struct reason why = {""};
    struct spill spill;
    struct spill_list list;
    bool stopped = false;
    spill_init(&spill, &account, folder, 1 << 30);
    assert_int_equal(spill_may_go_on(&spill, &why), STATUS_OK);
    spill.check = stop;
    spill.check_context = &stopped;
    spill_list_init(&list, &spill, BUFFER);
    assert_int_equal(write_large(&list, 4 * BUFFER, &why), STATUS_OK);
    stopped = true;
    assert_int_equal(spill_may_go_on(&spill, &why), STATUS_CANCELLED);
    spill_list_release(&list);
    spill_list_init(&list, &spill, BUFFER);
    assert_int_equal(write_large(&list, 4 * BUFFER, &why), STATUS_CANCELLED);
    spill_list_release(&list);
    spill_release(&spill);
}

static int
make_folder(void **state)
{
    (void)state;
    return scratch_folder(folder, "test_spill") ? 0 : -1;
}

static int
remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails when a file has kept its name */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read_as_they_were_written),
        cmocka_unit_test(reads_that_fail_are_told),
        cmocka_unit_test(extents_take_memory),
        cmocka_unit_test(files_are_bounded),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(areas_are_memory_first),
        cmocka_unit_test(released_room_is_given_back),
        cmocka_unit_test(writing_ends_when_it_is_to),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
