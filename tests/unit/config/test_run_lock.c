/* Locks in a data directory of a file system that loses some, as CephFS does with those of a client
 * whose session ended: flock here fails with EIO on the files that a test names. */
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
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "config/run_lock.h"
#include "tests/unit/scratch.h"

enum { LOST_MOST = 8 };
static char folder[SCRATCH_SIZE];
static ino_t lost[LOST_MOST];
static int
    lost_files[LOST_MOST]; /* kept open, so that no new file has the number of a removed one */
static size_t lost_count;

int
flock(int file, int operation)
{
    struct stat info;
    if (fstat(file, &info) == 0) {
        for (size_t i = 0; i < lost_count; i++) {
            if (lost[i] == info.st_ino) {
                errno = EIO;
                return -1;
            }
        }
    }
    return (int)syscall(SYS_flock, file, operation);
}

static void
path_of(const char *name, char path[SCRATCH_SIZE + 64])
{
    (void)snprintf(path, SCRATCH_SIZE + 64, "%s/%s", folder, name);
}

static ino_t
number_of(const char *name)
{
    char path[SCRATCH_SIZE + 64];
    struct stat info;
    path_of(name, path);
    return stat(path, &info) == 0 ? info.st_ino : 0;
}

static void
make_file(const char *name)
{
    char path[SCRATCH_SIZE + 64];
    path_of(name, path);
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(file >= 0);
    close(file);
}

static void
lose(const char *name)
{
    char path[SCRATCH_SIZE + 64];
    assert_true(lost_count < LOST_MOST);
    path_of(name, path);
    lost_files[lost_count] = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(lost_files[lost_count] >= 0);
    lost[lost_count++] = number_of(name);
}

static int
make_folder(void **state)
{
    char path[SCRATCH_SIZE + 64];
    (void)state;
    lost_count = 0;
    if (!scratch_folder(folder, "test_run_lock")) {
        return -1;
    }
    path_of("run", path);
    if (mkdir(path, 0700) != 0) {
        return -1;
    }
    path_of("queue", path);
    return mkdir(path, 0700);
}

static int
remove_folder(void **state)
{
    char command[SCRATCH_SIZE + 16];
    (void)state;
    for (size_t i = 0; i < lost_count; i++) {
        (void)close(lost_files[i]);
    }
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* Only what cannot be locked at all is replaced: what somebody has stays his. */
static void
lost_locks_are_replaced(void **state)
{
    (void)state;
    make_file("run/fetch.1.lock");
    make_file("run/detect.1.lock");
    make_file("queue/lock");
    make_file("queue/records");
    make_file("settings");
    const int held = run_lock_open(folder, "supervisor.lock");
    assert_true(run_lock_try(held, LOCK_EX));
    lose("run/fetch.1.lock");
    lose("queue/lock");
    lose("queue/records");
    lose("settings");
    const int before = run_lock_open(folder, "fetch.1.lock");
    assert_false(run_lock_try(before, LOCK_EX));
    assert_int_equal(errno, EIO);
    close(before);

    assert_int_equal(run_locks_remove_lost(folder), 2);

    const int after = run_lock_open(folder, "fetch.1.lock");
    assert_true(run_lock_try(after, LOCK_EX));
    close(after);
    assert_int_equal(number_of("queue/lock"), 0);
    assert_true(number_of("queue/records") != 0 && number_of("settings") != 0);
    assert_true(number_of("run/detect.1.lock") != 0);
    const int other = run_lock_open(folder, "supervisor.lock");
    assert_false(run_lock_try(other, LOCK_EX));
    assert_int_equal(errno, EWOULDBLOCK);
    close(other);
    close(held);
    assert_int_equal(run_locks_remove_lost(folder), 0);
}

/* A file beside the directory is somebody else's. */
static void
locks_of_others_stay(void **state)
{
    char path[SCRATCH_SIZE + 64];
    (void)state;
    path_of("inner", path);
    assert_int_equal(mkdir(path, 0700), 0);
    make_file("lock");
    lose("lock");
    assert_int_equal(run_locks_remove_lost(path), 0);
    assert_int_not_equal(number_of("lock"), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lost_locks_are_replaced, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(locks_of_others_stay, make_folder, remove_folder),
    };
    return cmocka_run_group_tests_name("run_lock", tests, NULL, NULL);
}
