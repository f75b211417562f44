/* The functions of base/system/file.c while one call that they make fails: which status and errno
 * they tell, which names are there afterwards, and that no descriptor stays open. All of it also
 * where the first free descriptor is 0. */
#include "tests/unit/base/file_faults.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/file.h"

enum { PATH = 512, HIGH = 100 };

static struct {
    const char *call; /* NULL: none fails */
    unsigned at;      /* the first of this name is 1 */
    int error;
    unsigned seen;
} fault;
static size_t most_written; /* of a write; 0: no bound */
static const char *folder;
static bool no_unnamed; /* open knows none */

static void
let_fail(const char *call, unsigned at, int error)
{
    fault.call = call;
    fault.at = at;
    fault.error = error;
    fault.seen = 0;
}

static void
let_all_work(void)
{
    let_fail(NULL, 0, 0);
}

static bool
fails(const char *call)
{
    if (fault.call == NULL || strcmp(fault.call, call) != 0 || ++fault.seen != fault.at) {
        return false;
    }
    errno = fault.error;
    return true;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_fsync(int file);
int __wrap_fsync(int file);
int __real_close(int file);
int __wrap_close(int file);
int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_renameat2(int a, const char *from, int b, const char *to, unsigned flags);
int __wrap_renameat2(int a, const char *from, int b, const char *to, unsigned flags);
int __real_mkostemp(char *path, int flags);
int __wrap_mkostemp(char *path, int flags);
int __real_getrlimit(int what, struct rlimit *limit);
int __wrap_getrlimit(int what, struct rlimit *limit);
int __real_setrlimit(int what, const struct rlimit *limit);
int __wrap_setrlimit(int what, const struct rlimit *limit);
ssize_t __real_write(int file, const void *bytes, size_t length);
ssize_t __wrap_write(int file, const void *bytes, size_t length);
ssize_t __real_pwrite(int file, const void *bytes, size_t length, off_t at);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t length, off_t at);

int
__wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode =
        (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (no_unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return fails("open") ? -1 : __real_open(path, flags, mode);
}

int
__wrap_fsync(int file)
{
    return fails("fsync") ? -1 : __real_fsync(file);
}

/* Closed it is, whatever it says. */
int
__wrap_close(int file)
{
    const int result = __real_close(file);
    return fails("close") ? -1 : result;
}

int
__wrap_fclose(FILE *file)
{
    const int result = __real_fclose(file);
    return fails("fclose") ? EOF : result;
}

int
__wrap_unlink(const char *path)
{
    return fails("unlink") ? -1 : __real_unlink(path);
}

int
__wrap_rename(const char *from, const char *to)
{
    return fails("rename") ? -1 : __real_rename(from, to);
}

int
__wrap_renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    return fails("renameat2") ? -1 : __real_renameat2(a, from, b, to, flags);
}

int
__wrap_mkostemp(char *path, int flags)
{
    return fails("mkostemp") ? -1 : __real_mkostemp(path, flags);
}

int
__wrap_getrlimit(int what, struct rlimit *limit)
{
    return fails("getrlimit") ? -1 : __real_getrlimit(what, limit);
}

int
__wrap_setrlimit(int what, const struct rlimit *limit)
{
    return fails("setrlimit") ? -1 : __real_setrlimit(what, limit);
}

/* An error of 0 stands for a file that takes nothing and says nothing. */
ssize_t
__wrap_write(int file, const void *bytes, size_t length)
{
    length = most_written > 0 && length > most_written ? most_written : length;
    return fails("write") ? (fault.error == 0 ? 0 : -1) : __real_write(file, bytes, length);
}

ssize_t
__wrap_pwrite(int file, const void *bytes, size_t length, off_t at)
{
    length = most_written > 0 && length > most_written ? most_written : length;
    return fails("pwrite") ? (fault.error == 0 ? 0 : -1) : __real_pwrite(file, bytes, length, at);
}

/* ---- what is there ---- */

static const char *
in_folder(const char *name)
{
    static char paths[4][PATH];
    static unsigned next;
    char *const path = paths[next++ % 4];
    snprintf(path, PATH, "%s/%s", folder, name);
    return path;
}

static unsigned
names_in(const char *path)
{
    unsigned names = 0;
    DIR *entries = opendir(path);
    assert_non_null(entries);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        names += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(entries);
    return names;
}

static void
make(const char *path, const char *text)
{
    const int file = __real_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(__real_write(file, text, strlen(text)), strlen(text));
    __real_close(file);
}

static void
holds(const char *path, const char *text)
{
    char bytes[64] = "";
    const int file = __real_open(path, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(read(file, bytes, sizeof bytes - 1), strlen(text));
    __real_close(file);
    assert_string_equal(bytes, text);
}

static bool
is_there(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

/* ---- folders ---- */

static void
folders(void)
{
    struct reason why = {""};
    const char *path = in_folder("folder");
    let_fail("fsync", 1, EIO);
    assert_int_equal(file_make_folder(path, 0700, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, path));
    assert_non_null(strstr(why.text, strerror(EIO)));
    /* One that was there before is as it was. */
    let_fail("fsync", 1, EIO);
    assert_int_equal(file_make_folder(path, 0700, &why), STATUS_OK);
    assert_int_equal(fault.seen, 1);
    let_fail("fsync", 2, EIO);
    assert_int_equal(file_sync_folder(path, &why), STATUS_OK);
    assert_int_equal(fault.seen, 1);
    let_fail("fsync", 1, EIO);
    assert_int_equal(file_sync_folder(path, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, strerror(EIO)));
    let_fail("open", 1, EMFILE);
    assert_int_equal(file_sync_folder(path, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, strerror(EMFILE)));
    let_all_work();
    rmdir(path);
    let_fail("open", 1, EMFILE);
    assert_int_equal(file_make_folder(path, 0700, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, strerror(EMFILE)));
    let_all_work();
    rmdir(path);
    make(path, "no folder");
    assert_int_equal(file_sync_folder(path, &why), STATUS_SYSTEM);
    unlink(path);
}

/* ---- names ---- */

static void
renames(void)
{
    char from[PATH], to[PATH], name[PATH];
    snprintf(from, sizeof from, "%s", in_folder("from"));
    snprintf(to, sizeof to, "%s", in_folder("to"));
    snprintf(name, sizeof name, "%s", in_folder("name"));
    make(from, "new");
    make(to, "old");
    static const struct {
        const char *call;
        unsigned at;
        int error;
    } before[] = {{"open", 1, EMFILE}, {"fsync", 1, EIO}, {"rename", 1, EXDEV}};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        let_fail(before[i].call, before[i].at, before[i].error);
        assert_int_equal(file_rename(from, to), -1);
        assert_int_equal(errno, before[i].error);
        holds(from, "new");
        holds(to, "old");
    }
    let_fail("open", 2, EMFILE);
    assert_int_equal(file_rename(from, to), -1);
    assert_int_equal(errno, EMFILE);
    holds(to, "new");
    make(from, "newer");
    let_fail("fsync", 2, EIO);
    assert_int_equal(file_rename(from, to), -1);
    assert_int_equal(errno, EIO);
    holds(to, "newer");
    make(from, "newest");
    let_fail("fsync", 3, EIO);
    assert_int_equal(file_rename(from, to), 0);
    assert_int_equal(fault.seen, 2); /* the bytes, then the name */
    let_all_work();
    assert_int_equal(symlink(to, name), 0);
    assert_int_equal(file_rename(name, from), -1);
    assert_int_equal(errno, ELOOP);
    unlink(name);
    unlink(to);
}

static void
new_files_have_lasting_names(void)
{
    const char *path = in_folder("opened");
    let_fail("fsync", 1, EIO);
    assert_int_equal(file_open(path, O_RDWR | O_CREAT, 0600), -1);
    assert_int_equal(errno, EIO);
    assert_false(is_there(path));
    let_fail("fsync", 2, EIO);
    int file = file_open(path, O_RDWR | O_CREAT, 0600);
    assert_true(file >= 0);
    assert_int_equal(fault.seen, 1);
    close(file);
    /* The name of a file that was there is not this call's. */
    let_fail("fsync", 1, EIO);
    file = file_open(path, O_RDWR | O_CREAT, 0600);
    assert_true(file >= 0);
    close(file);
    file = file_open(path, O_RDWR);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(fault.seen, 0);
    let_fail("open", 2, EMFILE);
    assert_int_equal(file_open(path, O_RDWR | O_CREAT, 0600), -1);
    assert_int_equal(errno, EMFILE);
    holds(path, "");
    let_all_work();
    unlink(path);
}

static void
files_are_made_whole_or_not(void)
{
    static const struct {
        const char *call;
        unsigned at;
        int error;
    } never[] = {
        {"open", 1, EMFILE}, {"write", 1, ENOSPC}, {"fsync", 1, EIO}, {"close", 1, EDQUOT}};
    struct reason why = {""};
    bool made;
    struct stat about;
    char path[PATH], other[2 * PATH];
    snprintf(path, sizeof path, "%s", in_folder("made"));
    snprintf(other, sizeof other, "%s.%d.new", path, (int)getpid());
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        made = true;
        let_fail(never[i].call, never[i].at, never[i].error);
        assert_int_equal(file_make(path, SLICE("text"), 0600, &made, &why), STATUS_SYSTEM);
        assert_non_null(strstr(why.text, path));
        assert_non_null(strstr(why.text, strerror(never[i].error)));
        assert_false(made);
        assert_int_equal(names_in(folder), 0);
    }
    /* What another process of this number left is not part of it. */
    let_all_work();
    make(other, "longer than the text");
    let_fail("fsync", 3, EIO);
    assert_int_equal(file_make(path, SLICE("text"), 0640, &made, &why), STATUS_OK);
    assert_int_equal(fault.seen, 2);
    assert_true(made);
    holds(path, "text");
    let_all_work();
    unlink(path);
    assert_int_equal(file_make(path, SLICE("text"), 0640, &made, &why), STATUS_OK);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0640);
    unlink(path);
    let_fail("fsync", 2, EIO);
    assert_int_equal(file_make(path, SLICE("text"), 0600, &made, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, strerror(EIO)));
    let_all_work();
    unlink(path);
}

/* A file system that cannot refuse to replace at once. */
static void
files_are_made_without_renameat2(void)
{
    struct reason why = {""};
    bool made = false;
    const char *path = in_folder("made");
    let_fail("renameat2", 1, EINVAL);
    assert_int_equal(file_make(path, SLICE("first"), 0600, &made, &why), STATUS_OK);
    assert_true(made);
    holds(path, "first");
    let_fail("renameat2", 1, EINVAL);
    assert_int_equal(file_make(path, SLICE("second"), 0600, &made, &why), STATUS_OK);
    assert_false(made);
    holds(path, "first");
    let_all_work();
    assert_int_equal(file_make(path, SLICE("third"), 0600, &made, &why), STATUS_OK);
    assert_false(made);
    holds(path, "first");
    assert_int_equal(names_in(folder), 1);
    unlink(path);
    /* Said to be there, and gone since. */
    let_fail("renameat2", 1, EEXIST);
    assert_int_equal(file_make(path, SLICE("first"), 0600, &made, &why), STATUS_SYSTEM);
    assert_false(made);
    let_all_work();
    assert_int_equal(names_in(folder), 0);
    char endless[PATH_MAX + 2];
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    assert_int_equal(file_make(endless, SLICE("text"), 0600, &made, &why), STATUS_SYSTEM);
    assert_false(made);
}

/* ---- descriptors ---- */

static void
streams_are_closed_synced(void)
{
    static const struct {
        const char *call;
        unsigned at;
        int error;
    } each[] = {{"fsync", 1, EIO}, {"fsync", 2, EIO}, {"fclose", 1, EDQUOT}, {"open", 1, EMFILE}};
    const char *path = in_folder("closed");
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        FILE *file = fopen(path, "we");
        assert_non_null(file);
        assert_true(fputs("text", file) >= 0);
        let_fail(each[i].call, each[i].at, each[i].error);
        assert_false(file_close_synced(file, path));
        assert_int_equal(errno, each[i].error);
        let_all_work();
        holds(path, "text");
        unlink(path);
    }
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    FILE *file = fdopen(ends[1], "w");
    assert_true(fputs("text", file) >= 0);
    let_fail("fsync", 1, EIO);
    assert_true(file_close_synced(file, path));
    assert_int_equal(fault.seen, 0);
    char text[8] = "";
    assert_int_equal(read(ends[0], text, sizeof text), 4);
    assert_string_equal(text, "text");
    let_all_work();
    close(ends[0]);
}

static void
unnamed_files(void)
{
    static const int unknown[] = {EOPNOTSUPP, EINVAL, ENOENT, EISDIR};
    struct reason why = {""};
    struct stat about;
    int file;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        let_fail("open", 1, unknown[i]);
        assert_int_equal(file_open_unnamed(folder, &file, &why), STATUS_OK);
        assert_int_equal(names_in(folder), 0);
        assert_int_equal(fstat(file, &about), 0);
        assert_true(S_ISREG(about.st_mode));
        assert_int_equal(fcntl(file, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        close(file);
    }
    let_fail("open", 1, EACCES);
    assert_int_equal(file_open_unnamed(folder, &file, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, folder));
    let_all_work();
    assert_int_equal(file_open_unnamed(in_folder("none"), &file, &why), STATUS_SYSTEM);
    char endless[PATH_MAX];
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    no_unnamed = true;
    let_fail("mkostemp", 1, EACCES);
    assert_int_equal(file_open_unnamed(endless, &file, &why), STATUS_SYSTEM);
    assert_int_equal(fault.seen, 0);
    no_unnamed = false;
    let_all_work();
}

/* A name that cannot be made or removed is told, and the file closed. */
static void
unnamed_files_that_had_names(void)
{
    struct reason why = {""};
    int file;
    no_unnamed = true;
    let_fail("mkostemp", 1, ENOSPC);
    assert_int_equal(file_open_unnamed(folder, &file, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, strerror(ENOSPC)));
    let_fail("unlink", 1, EROFS);
    assert_int_equal(file_open_unnamed(folder, &file, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, strerror(EROFS)));
    assert_int_equal(names_in(folder), 1);
    no_unnamed = false;
    let_all_work();
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        (void)unlinkat(dirfd(entries), entry->d_name, 0);
    }
    closedir(entries);
}

static void
writes(void)
{
    static const char *const calls[] = {"write", "pwrite"};
    const char *path = in_folder("written");
    for (unsigned i = 0; i < 2; i++) {
        const bool at = i == 1;
        const int file = __real_open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        assert_true(file >= 0);
        most_written = 3;
        let_fail(calls[i], 2, EINTR);
        assert_true(at ? file_write_all_at(file, SLICE("abcdefgh"), 2)
                       : file_write_all(file, SLICE("--abcdefgh")));
        assert_int_equal(fault.seen, at ? 4 : 5);
        let_fail(calls[i], 2, EIO);
        assert_false(at ? file_write_all_at(file, SLICE("abcdefgh"), 2)
                        : file_write_all(file, SLICE("abcdefgh")));
        assert_int_equal(errno, EIO);
        assert_int_equal(fault.seen, 2);
        let_fail(calls[i], 1, 0);
        assert_false(at ? file_write_all_at(file, SLICE("abcdefgh"), 2)
                        : file_write_all(file, SLICE("abcdefgh")));
        assert_int_equal(errno, ENOSPC);
        assert_int_equal(fault.seen, 1);
        let_all_work();
        most_written = 0;
        char bytes[16] = "";
        assert_int_equal(pread(file, bytes, sizeof bytes, 0), at ? 10 : 13);
        assert_memory_equal(bytes + 2, "abcdefgh", 8);
        assert_true(file_write_all(file, SLICE("")));
        most_written = 1; /* byte after byte is well, too, whatever an earlier call left */
        errno = 0;
        assert_true(at ? file_write_all_at(file, SLICE("xy"), 0)
                       : file_write_all(file, SLICE("xy")));
        most_written = 0;
        close(file);
    }
    unlink(path);
}

static void
the_limit_of_files(void)
{
    struct rlimit before, after;
    struct reason why = {""};
    uint64_t limit = 0;
    assert_int_equal(__real_getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit low = {before.rlim_max > 300 ? 300 : before.rlim_max, before.rlim_max};
    assert_int_equal(__real_setrlimit(RLIMIT_NOFILE, &low), 0);
    let_fail("getrlimit", 1, EPERM);
    assert_int_equal(file_raise_limit(&limit, &why), STATUS_SYSTEM);
    let_fail("setrlimit", 1, EPERM);
    assert_int_equal(file_raise_limit(&limit, &why), STATUS_SYSTEM);
    assert_int_equal(limit, 0);
    let_all_work();
    assert_int_equal(file_raise_limit(&limit, &why), STATUS_OK);
    assert_int_equal(limit, before.rlim_max);
    assert_int_equal(__real_getrlimit(RLIMIT_NOFILE, &after), 0);
    assert_int_equal(after.rlim_cur, before.rlim_max);
    assert_int_equal(__real_setrlimit(RLIMIT_NOFILE, &before), 0);
}

void
file_faults(const char *empty_folder)
{
    static void (*const checks[])(void) = {folders,
                                           renames,
                                           new_files_have_lasting_names,
                                           files_are_made_whole_or_not,
                                           files_are_made_without_renameat2,
                                           streams_are_closed_synced,
                                           unnamed_files,
                                           unnamed_files_that_had_names,
                                           writes,
                                           the_limit_of_files};
    folder = empty_folder;
    (void)umask(022);
    const int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, HIGH);
    assert_true(input >= HIGH);
    for (unsigned from_zero = 0; from_zero < 2; from_zero++) {
        if (from_zero) {
            close(STDIN_FILENO);
        }
        for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
            const unsigned descriptors = names_in("/proc/self/fd");
            checks[i]();
            assert_int_equal(names_in("/proc/self/fd"), descriptors);
            assert_int_equal(names_in(folder), 0);
        }
    }
    assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
    close(input);
}
