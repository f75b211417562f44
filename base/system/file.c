#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

static enum status
read_stream(FILE *file, const char *path, struct buf *bytes, struct reason *why)
{
    char piece[1 << 16];
    size_t n;
    while ((n = fread(piece, 1, sizeof piece, file)) > 0) {
        if (buf_append(bytes, piece, n) != STATUS_OK) {
            return status_fail(why, STATUS_LIMIT, "%s has more than %zu bytes", path,
                               bytes->maximum);
        }
    }
    return ferror(file) ? status_fail_errno(why, "cannot read %s", path) : STATUS_OK;
}

enum status
file_read(const char *path, struct buf *bytes, struct reason *why)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        const bool missing = errno == ENOENT;
        const enum status status = status_fail_errno(why, "cannot read %s", path);
        return missing ? STATUS_NOT_FOUND : status;
    }
    const enum status status = read_stream(file, path, bytes, why);
    fclose(file);
    return status;
}

enum status
file_read_or_input(const char *path, struct buf *bytes, struct reason *why)
{
    return strcmp(path, "-") == 0 ? read_stream(stdin, "standard input", bytes, why)
                                  : file_read(path, bytes, why);
}

static bool
write_all(int descriptor, struct slice bytes, bool at, uint64_t offset)
{
    for (size_t done = 0; done < bytes.length;) {
        const char *rest = bytes.at + done;
        const size_t length = bytes.length - done;
        const ssize_t n = at ? pwrite(descriptor, rest, length, (off_t)(offset + done))
                             : write(descriptor, rest, length);
        if (n == 0) {
            errno = ENOSPC; /* what takes nothing and says no more is full */
        }
        if (n <= 0 && errno != EINTR) {
            return false;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool
file_write_all(int descriptor, struct slice bytes)
{
    return write_all(descriptor, bytes, false, 0);
}

bool
file_write_all_at(int descriptor, struct slice bytes, uint64_t offset)
{
    return write_all(descriptor, bytes, true, offset);
}

static int
open_and_remove_name(const char *folder)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/unnamed-XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0 && unlink(path) != 0) {
        const int error = errno;
        close(descriptor);
        errno = error;
        return -1;
    }
    return descriptor;
}

enum status
file_open_unnamed(const char *folder, int *descriptor, struct reason *why)
{
    *descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    /* A file system that has no unnamed files answers with one of these errors; the last two are of
     * kernels that read the flag as O_DIRECTORY. */
    if (*descriptor < 0 &&
        (errno == EOPNOTSUPP || errno == EINVAL || errno == ENOENT || errno == EISDIR)) {
        *descriptor = open_and_remove_name(folder);
    }
    return *descriptor >= 0 ? STATUS_OK
                            : status_fail_errno(why, "cannot make a temporary file in %s", folder);
}

enum status
file_raise_limit(uint64_t *limit, struct reason *why)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
        return status_fail_errno(why, "cannot read the limit of open files");
    }
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) != 0) {
        return status_fail_errno(why, "cannot raise the limit of open files");
    }
    *limit = files.rlim_max;
    return STATUS_OK;
}

enum status
file_sync_folder(const char *folder, struct reason *why)
{
    const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = descriptor >= 0 && fsync(descriptor) == 0;
    const enum status status =
        synced ? STATUS_OK : status_fail_errno(why, "cannot sync the folder %s", folder);
    file_close(descriptor);
    return status;
}

/* Syncs the folder of the path, so that the file's name is durable. */
static int
sync_parent(const char *path)
{
    char *copy = memory_string(path);
    const int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int result = folder >= 0 ? fsync(folder) : -1;
    const int error = errno;
    file_close(folder);
    free(copy);
    errno = error;
    return result;
}

enum status
file_make_folder(const char *folder, mode_t mode, struct reason *why)
{
    struct stat there;
    const bool made = mkdir(folder, mode) == 0;
    if (!made && (errno != EEXIST || stat(folder, &there) != 0)) {
        return status_fail_errno(why, "cannot make %s", folder);
    }
    if (!made && !S_ISDIR(there.st_mode)) {
        return status_fail(why, STATUS_SYSTEM, "cannot make the folder %s: a file has its name",
                           folder);
    }
    /* Whoever made it before may not have lived to sync it. */
    if (sync_parent(folder) != 0 && made) {
        return status_fail_errno(why, "cannot sync the folder of %s", folder);
    }
    return STATUS_OK;
}

int
file_rename(const char *from, const char *to)
{
    const int renamed = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    const int result = renamed >= 0 && fsync(renamed) == 0 ? rename(from, to) : -1;
    const int error = errno;
    file_close(renamed);
    errno = error;
    return result == 0 ? sync_parent(to) : -1;
}

void
file_close(int descriptor)
{
    if (descriptor >= 0) {
        (void)close(descriptor);
    }
}

bool
file_close_synced(FILE *file, const char *path)
{
    struct stat status;
    const bool regular = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
    const bool written = fflush(file) == 0 && (!regular || fsync(fileno(file)) == 0);
    const int error = errno;
    if (fclose(file) != 0) {
        return false;
    }
    errno = error;
    return written && (!regular || sync_parent(path) == 0);
}

int
file_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    int file = -1;
    if ((flags & O_CREAT) == 0 || ((file = open(path, flags | O_EXCL, mode)) < 0 &&
                                   errno == EEXIST && (flags & O_EXCL) == 0)) {
        return open(path, flags & ~O_CREAT, mode);
    }
    if (file >= 0 && sync_parent(path) != 0) {
        const int error = errno;
        (void)unlink(path);
        (void)close(file);
        errno = error;
        file = -1;
    }
    return file;
}

/* Not every file system can refuse to replace at once. */
static bool
rename_to_new(const char *from, const char *to, bool *made)
{
    *made = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0;
    if (!*made && errno != EEXIST && access(to, F_OK) != 0) {
        *made = rename(from, to) == 0;
    }
    return *made || access(to, F_OK) == 0;
}

enum status
file_make(const char *path, struct slice bytes, mode_t mode, bool *made, struct reason *why)
{
    struct buf fresh;
    buf_init(&fresh, PATH_MAX);
    (void)buf_printf(&fresh, "%s.%d.new", path, (int)getpid());
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    const int file = fresh.overflowed ? -1 : open(fresh.data, flags, mode);
    bool good = file >= 0 && file_write_all(file, bytes) && fsync(file) == 0;
    *made = false;
    if (file >= 0) {
        good = close(file) == 0 && good;
        good = good && rename_to_new(fresh.data, path, made);
        const int error = errno;
        if (!*made) {
            (void)unlink(fresh.data);
        }
        errno = error;
    }
    good = good && sync_parent(path) == 0;
    const enum status status = good ? STATUS_OK : status_fail_errno(why, "cannot write %s", path);
    buf_release(&fresh);
    return status;
}
