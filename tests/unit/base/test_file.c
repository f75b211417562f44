/* Temporary files where the file system has no unnamed ones: a filter of this process answers
 * O_TMPFILE as CephFS does, so whoever needs such a file must get one all the same, which leaves no
 * name behind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/system/file.h"
#include "dumps/spool.h"
#include "index/query/memory/row_table.h"
#include "store/line_sort.h"
#include "store/spill.h"
#include "tests/unit/scratch.h"
#include "web/http/body_spool.h"

enum { BLOCK = 4096, BYTES = 3 << 20 };

static char folder[SCRATCH_SIZE];
static char block[BLOCK];

static int
refuse_unnamed_files(void **state)
{
    (void)state;
    const uint64_t flag = O_TMPFILE & ~O_DIRECTORY;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    const int code = filter == NULL
                         ? -1
                         : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EOPNOTSUPP), SCMP_SYS(openat), 1,
                                            SCMP_A2(SCMP_CMP_MASKED_EQ, flag, flag)) |
                               seccomp_rule_add(filter, SCMP_ACT_ERRNO(EOPNOTSUPP), SCMP_SYS(open),
                                                1, SCMP_A1(SCMP_CMP_MASKED_EQ, flag, flag)) |
                               seccomp_load(filter);
    seccomp_release(filter);
    memset(block, 'x', sizeof block);
    return code == 0 && scratch_folder(folder, "file") ? 0 : -1;
}

static int
remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails when a file has kept its name */
}

static void
test_unnamed(void **state)
{
    (void)state;
    struct reason why = {""};
    struct stat about;
    char bytes[5] = "";
    int descriptor = -1;
    assert_int_equal(open(folder, O_TMPFILE | O_RDWR, 0600), -1);
    assert_int_equal(errno, EOPNOTSUPP);
    assert_int_equal(file_open_unnamed(folder, &descriptor, &why), STATUS_OK);
    assert_int_equal(fstat(descriptor, &about), 0);
    assert_int_equal(about.st_nlink, 0);
    assert_int_equal(about.st_mode & 07777, 0600);
    assert_int_equal(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_true(file_write_all(descriptor, SLICE("bytes")));
    assert_int_equal(pread(descriptor, bytes, 5, 0), 5);
    assert_memory_equal(bytes, "bytes", 5);
    close(descriptor);
    assert_int_equal(file_open_unnamed("/nonexistent", &descriptor, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "/nonexistent"));
}

static void
test_sorted_lines(void **state)
{
    (void)state;
    struct reason why = {""};
    struct slice line;
    struct line_sort *sort = line_sort_new(folder, 1 << 20);
    size_t n = 0;
    for (size_t i = 0; i < BYTES / BLOCK; i++) {
        assert_int_equal(line_sort_add(sort, slice_of(block, BLOCK), &why), STATUS_OK);
    }
    assert_int_equal(line_sort_finish(sort, &why), STATUS_OK);
    while (line_sort_next(sort, &line, &why) == STATUS_OK) {
        assert_int_equal(line.length, BLOCK);
        n++;
    }
    assert_int_equal(n, BYTES / BLOCK);
    line_sort_free(sort);
}

static void
test_records_by_part(void **state)
{
    (void)state;
    struct reason why = {""};
    struct spool_room room = {.folder = folder, .disk = 1 << 28, .block = BLOCK};
    struct spool *spool = spool_new(&room, 0);
    struct spool_writer *writer = spool_writer_new(spool);
    for (uint64_t i = 0; i < BYTES / BLOCK; i++) {
        assert_int_equal(spool_add(writer, i << 56, slice_of(block, BLOCK), &why), STATUS_OK);
    }
    assert_int_equal(spool_flush(writer, &why), STATUS_OK);
    assert_true(room.disk_used > 0);
    spool_writer_free(writer);
    spool_free(spool);
}

static void
test_query_rows(void **state)
{
    (void)state;
    struct reason why = {""};
    struct memory_account account = {.maximum = 1 << 16};
    struct spill spill;
    struct spill_list list;
    spill_init(&spill, &account, folder, 1 << 30);
    spill_list_init(&list, &spill, BLOCK);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(spill_list_write(&list, block, BLOCK, &why), STATUS_OK);
    }
    assert_int_equal(spill_list_finish(&list, &why), STATUS_OK);
    assert_true(spill.end >= (uint64_t)8 * BLOCK);
    spill_list_release(&list);
    spill_release(&spill);
}

static void
test_web_result(void **state)
{
    (void)state;
    struct reason why = {""};
    struct web_spool spool;
    web_spool_init(&spool, folder, UINT64_MAX);
    for (size_t i = 0; i < BYTES / BLOCK; i++) {
        assert_int_equal(web_spool_piece(&spool, slice_of(block, BLOCK), &why), STATUS_OK);
    }
    assert_true(spool.file >= 0);
    web_spool_release(&spool);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unnamed),         cmocka_unit_test(test_sorted_lines),
        cmocka_unit_test(test_records_by_part), cmocka_unit_test(test_query_rows),
        cmocka_unit_test(test_web_result),
    };
    return cmocka_run_group_tests(tests, refuse_unnamed_files, remove_folder);
}
