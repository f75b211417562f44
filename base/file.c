#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

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
    /* What a file system says that has none; the last two are of kernels that read the flag as
     * O_DIRECTORY. */
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
    if (descriptor >= 0) {
        close(descriptor);
    }
    return status;
}
