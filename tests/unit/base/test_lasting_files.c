/* These tests are of what must outlast the machine (base/system/file.c): files that are made,
 * renamed, written to the end, and folders; each failure is told. */
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
#include "tests/unit/base/file_faults.h"
#include "tests/unit/scratch.h"

enum { PATH = SCRATCH_SIZE + 64 };

static char folder[SCRATCH_SIZE];

static const char *
in_folder(const char *name)
{
    static char paths[4][PATH];
    static unsigned next;
    char *const path = paths[next++ % 4];
    snprintf(path, PATH, "%s/%s", folder, name);
    return path;
}

static void
holds(const char *path, const char *text)
{
    struct buf bytes;
    struct reason why = {""};
    buf_init(&bytes, 1 << 20);
    assert_int_equal(file_read(path, &bytes, &why), STATUS_OK);
    assert_true(slice_is(buf_slice(&bytes), text));
    buf_release(&bytes);
}

static void
opened_files_are_as_open_has_them(void **state)
{
    (void)state;
    struct stat about;
    const char *path = in_folder("opened");
    (void)umask(022);
    assert_int_equal(file_open(path, O_RDWR), -1);
    assert_int_equal(errno, ENOENT);
    int file = file_open(path, O_RDWR | O_CREAT, 0640);
    assert_true(file >= 0);
    assert_int_equal(fstat(file, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0640);
    assert_true(file_write_all(file, SLICE("bytes")));
    close(file);
    holds(path, "bytes");
    file = file_open(path, O_RDWR | O_CREAT, 0600); /* there is one */
    assert_true(file >= 0);
    assert_int_equal(fstat(file, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0640);
    close(file);
    holds(path, "bytes");
    assert_int_equal(file_open(path, O_RDWR | O_CREAT | O_EXCL, 0600), -1);
    assert_int_equal(errno, EEXIST);
    file = file_open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    close(file);
    holds(path, "");
    assert_int_equal(file_open(in_folder("none/opened"), O_RDWR | O_CREAT, 0600), -1);
    assert_int_equal(errno, ENOENT);
    unlink(path);
}

/* Number 0 is a file as others are; -1 is none, and an error number of before stays. */
static void
closing_takes_every_number(void **state)
{
    (void)state;
    const int input = dup(0);
    if (input >= 0) {
        close(0);
    }
    const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    file_close(file);
    const int was_closed = fcntl(file, F_GETFD);
    if (input >= 0) {
        (void)dup2(input, 0);
        close(input);
    }
    assert_int_equal(file, 0);
    assert_int_equal(was_closed, -1);
    errno = EXDEV;
    file_close(-1);
    assert_int_equal(errno, EXDEV);
}

static void
closing_says_whether_all_is_written(void **state)
{
    (void)state;
    const char *path = in_folder("closed");
    FILE *file = fopen(path, "w");
    assert_true(fputs("text", file) >= 0);
    assert_true(file_close_synced(file, path));
    holds(path, "text");
    unlink(path);
    /* What was read only cannot be written, and no device has room that is full. */
    file = fopen("/dev/full", "w");
    assert_true(fputs("text", file) >= 0);
    assert_false(file_close_synced(file, "/dev/full"));
    assert_int_equal(errno, ENOSPC);
    file = fopen("/dev/null", "w");
    assert_true(fputs("text", file) >= 0);
    assert_true(file_close_synced(file, "/dev/null"));
    /* The folder of its name must be there, for the name to last. */
    file = fopen(path, "w");
    assert_false(file_close_synced(file, in_folder("none/closed")));
    unlink(path);
}

static void
renaming_is_that_of_rename(void **state)
{
    (void)state;
    char from[PATH], to[PATH];
    bool made;
    struct reason why = {""};
    snprintf(from, sizeof from, "%s", in_folder("from"));
    snprintf(to, sizeof to, "%s", in_folder("to"));
    assert_int_equal(file_make(from, SLICE("new"), 0600, &made, &why), STATUS_OK);
    assert_true(made);
    assert_int_equal(file_make(to, SLICE("old"), 0600, &made, &why), STATUS_OK);
    assert_int_equal(file_make(to, SLICE("other"), 0600, &made, &why), STATUS_OK);
    assert_false(made); /* the first stays */
    holds(to, "old");
    assert_int_equal(file_rename(from, to), 0);
    holds(to, "new");
    assert_int_equal(access(from, F_OK), -1);
    assert_int_equal(file_rename(from, to), -1);
    assert_int_equal(errno, ENOENT);
    holds(to, "new");
    unlink(to);
}

static void
writes_go_to_their_place_or_fail(void **state)
{
    (void)state;
    const char *path = in_folder("written");
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(file_write_all_at(file, SLICE("cd"), 2));
    assert_true(file_write_all_at(file, SLICE("ab"), 0));
    holds(path, "abcd");
    close(file);
    const int read_only = open(path, O_RDONLY | O_CLOEXEC);
    assert_false(file_write_all(read_only, SLICE("x")));
    assert_false(file_write_all_at(read_only, SLICE("x"), 0));
    close(read_only);
    holds(path, "abcd");
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_false(file_write_all(full, SLICE("x")));
    assert_int_equal(errno, ENOSPC);
    close(full);
    unlink(path);
}

static void
reading_is_bounded(void **state)
{
    (void)state;
    struct buf bytes;
    struct reason why = {""};
    bool made;
    const char *path = in_folder("read");
    assert_int_equal(file_make(path, SLICE("0123456789"), 0600, &made, &why), STATUS_OK);
    buf_init(&bytes, 10);
    assert_int_equal(file_read(path, &bytes, &why), STATUS_OK);
    assert_int_equal(bytes.length, 10);
    buf_release(&bytes);
    buf_init(&bytes, 9);
    assert_int_equal(file_read(path, &bytes, &why), STATUS_LIMIT);
    assert_non_null(strstr(why.text, path));
    assert_int_not_equal(file_read(in_folder("none"), &bytes, &why), STATUS_OK);
    assert_non_null(strstr(why.text, "none"));
    assert_int_not_equal(file_read(folder, &bytes, &why), STATUS_OK);
    buf_release(&bytes);
    unlink(path);
}

static void
folders_are_made_once(void **state)
{
    (void)state;
    struct stat about;
    struct reason why = {""};
    const char *path = in_folder("folder");
    (void)umask(022);
    assert_int_equal(file_make_folder(path, 0700, &why), STATUS_OK);
    assert_int_equal(stat(path, &about), 0);
    assert_true(S_ISDIR(about.st_mode));
    assert_int_equal(about.st_mode & 07777, 0700);
    assert_int_equal(file_make_folder(path, 0700, &why), STATUS_OK);
    assert_int_equal(file_sync_folder(path, &why), STATUS_OK);
    rmdir(path);
    assert_int_equal(file_sync_folder(path, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, path));
    assert_int_equal(file_make_folder(in_folder("none/folder"), 0700, &why), STATUS_SYSTEM);
    const int file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(file_make_folder(path, 0700, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "a file has its name"));
    char other[sizeof folder + 16];
    snprintf(other, sizeof other, "%s/link", folder);
    assert_int_equal(symlink(path, other), 0); /* to a file, to nothing, to a folder */
    assert_int_equal(file_make_folder(other, 0700, &why), STATUS_SYSTEM);
    unlink(path);
    assert_int_equal(file_make_folder(other, 0700, &why), STATUS_SYSTEM);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(file_make_folder(other, 0700, &why), STATUS_OK);
    unlink(other);
    rmdir(path);
}

static void
calls_that_fail_are_told(void **state)
{
    (void)state;
    file_faults(folder);
}

static void
input_is_a_file_like_others(void **state)
{
    (void)state;
    struct buf bytes;
    struct reason why = {""};
    int ends[2];
    buf_init(&bytes, 5);
    assert_int_equal(file_read_or_input(in_folder("-"), &bytes, &why), STATUS_NOT_FOUND);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(file_write_all(ends[1], SLICE("input")));
    close(ends[1]);
    const int input = dup(STDIN_FILENO);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(file_read_or_input("-", &bytes, &why), STATUS_OK);
    assert_true(slice_is(buf_slice(&bytes), "input"));
    assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
    close(input);
    close(ends[0]);
    buf_release(&bytes);
}

static int
make_folder(void **state)
{
    (void)state;
    return scratch_folder(folder, "files") ? 0 : -1;
}

static int
remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails when something is left in it */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opened_files_are_as_open_has_them),
        cmocka_unit_test(closing_says_whether_all_is_written),
        cmocka_unit_test(closing_takes_every_number),
        cmocka_unit_test(renaming_is_that_of_rename),
        cmocka_unit_test(writes_go_to_their_place_or_fail),
        cmocka_unit_test(reading_is_bounded),
        cmocka_unit_test(folders_are_made_once),
        cmocka_unit_test(input_is_a_file_like_others),
        cmocka_unit_test(calls_that_fail_are_told),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
