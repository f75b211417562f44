#include "cli/shared/reading_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/file.h"

enum { TRIES = 5, PAUSE_US = 300000, DEPTH = 16, PIECE = 64 << 20 };

bool
reading_copy_needed(const char *directory)
{
    return access(directory, W_OK) != 0 && (errno == EACCES || errno == EROFS);
}

/* ---- what is copied ---- */

/* Walks over the files and notes how they change, so that two states which differ are told
 * apart. */
struct walk {
    const char *from; /* the data directory */
    const char *to;   /* NULL: only looks */
    uint64_t bytes, state;
};

static enum status
join(char path[PATH_MAX], const char *folder, const char *name, struct reason *why)
{
    return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE, "%.200s: the name is too long", folder);
}

static void
note_state(struct walk *walk, const struct stat *info)
{
    const uint64_t numbers[] = {(uint64_t)info->st_ino, (uint64_t)info->st_size,
                                (uint64_t)info->st_mtim.tv_sec, (uint64_t)info->st_mtim.tv_nsec};
    walk->bytes += (uint64_t)info->st_size;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        walk->state = (walk->state ^ numbers[i]) * UINT64_C(0x100000001B3) + 1;
    }
}

static void
ending_signals(sigset_t *set)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGINT);
    (void)sigaddset(set, SIGTERM);
    (void)sigaddset(set, SIGHUP);
}

/* Returns whether somebody would end the command, which waits until what was copied is removed. */
static bool
is_to_end(void)
{
    sigset_t pending;
    (void)sigpending(&pending);
    return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
           sigismember(&pending, SIGHUP) == 1;
}

static bool
copy_bytes(int from, int to)
{
    if (ioctl(to, FICLONE, from) == 0) {
        return true;
    }
    ssize_t n;
    while ((n = is_to_end() ? 0 : copy_file_range(from, NULL, to, NULL, PIECE, 0)) > 0) {
    }
    if (n == 0) {
        return true;
    }
    char bytes[1 << 16];
    if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) {
        return false;
    }
    while ((n = is_to_end() ? 0 : read(from, bytes, sizeof bytes)) > 0) {
        if (write(to, bytes, (size_t)n) != n) {
            return false;
        }
    }
    return n == 0;
}

static enum status
copy_file(const char *from, const char *to, struct reason *why)
{
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out = in >= 0 ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    enum status status = STATUS_OK;
    if (in < 0 && errno == EACCES) {
        status = status_fail(why, STATUS_DENIED, "%s may not be read by this user (files.readers)",
                             from);
    } else if (in < 0) {
        status = status_fail_errno(why, "cannot read %s", from);
        status = errno == ENOENT ? STATUS_AGAIN : status; /* its owner has just removed it */
    } else if (out < 0 || !copy_bytes(in, out)) {
        status = errno == ENOSPC ? STATUS_FULL : STATUS_SYSTEM;
        (void)status_fail_errno(why, "cannot copy %s to %s", from, to);
    }
    file_close(in);
    file_close(out);
    return status;
}

static enum status walk_folder(struct walk *walk, const char *name, int depth, struct reason *why);

static enum status
walk_entry(struct walk *walk, const char *name, int depth, struct reason *why)
{
    char from[PATH_MAX], to[PATH_MAX];
    struct stat info;
    TRY(join(from, walk->from, name, why));
    if (lstat(from, &info) != 0) {
        return errno == ENOENT ? STATUS_OK : status_fail_errno(why, "cannot read %s", from);
    }
    if (S_ISDIR(info.st_mode)) {
        return walk_folder(walk, name, depth + 1, why);
    }
    const char *slash = strrchr(name, '/');
    if (!S_ISREG(info.st_mode) || strcmp(slash != NULL ? slash + 1 : name, "lock") == 0) {
        return STATUS_OK; /* each copy has a lock of its own */
    }
    note_state(walk, &info);
    if (walk->to == NULL) {
        return STATUS_OK;
    }
    TRY(join(to, walk->to, name, why));
    return copy_file(from, to, why);
}

static enum status
walk_folder(struct walk *walk, const char *name, int depth, struct reason *why)
{
    char path[PATH_MAX], to[PATH_MAX];
    struct dirent **entries;
    TRY(join(path, walk->from, name, why));
    if (walk->to != NULL) {
        TRY(join(to, walk->to, name, why));
        if (mkdir(to, 0700) != 0) {
            return status_fail_errno(why, "cannot make %s", to);
        }
    }
    const int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        const bool denied = errno == EACCES;
        const enum status status = status_fail_errno(why, "cannot read %s", path);
        return denied ? STATUS_DENIED : status;
    }
    enum status status =
        depth > DEPTH ? status_fail(why, STATUS_LIMIT, "%s: folders in folders", path) : STATUS_OK;
    for (int i = 0; i < count; i++) {
        const char *entry = entries[i]->d_name;
        if (status == STATUS_OK && strcmp(entry, ".") != 0 && strcmp(entry, "..") != 0) {
            status = join(path, name, entry, why);
            status = status == STATUS_OK ? walk_entry(walk, path, depth, why) : status;
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

static bool
is_wanted(const char *parts, const char *folder)
{
    const size_t length = strncmp(folder, "index-", 6) == 0 ? 5 : strlen(folder);
    for (const char *at = parts; *at != '\0';) {
        const size_t word = strcspn(at, ",");
        if (word == length && strncmp(at, folder, length) == 0) {
            return true;
        }
        at += word + (at[word] == ',');
    }
    return false;
}

/* Which is its owner's alone, always; what is asked is mostly about other things. */
static bool
is_closed_queue(const struct walk *walk, const char *folder)
{
    char path[PATH_MAX];
    struct reason why;
    if (strcmp(folder, "queue") != 0 || join(path, walk->from, folder, &why) != STATUS_OK ||
        access(path, R_OK | X_OK) == 0) {
        return false;
    }
    if (walk->to != NULL) {
        fprintf(stderr, "%s may not be read by this user: waiting and buried jobs are not known\n",
                path);
    }
    return true;
}

static enum status
walk_parts(struct walk *walk, const char *parts, struct reason *why)
{
    static const char *const settings[] = {"fixed.conf", "scope.conf", "quadrille.conf"};
    enum status status = STATUS_OK;
    struct dirent **entries;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0] && status == STATUS_OK; i++) {
        status = walk_entry(walk, settings[i], 0, why);
        /* The owner's alone, so defaults must do. */
        status = status == STATUS_DENIED ? STATUS_OK : status;
    }
    const int count = scandir(walk->from, &entries, NULL, alphasort);
    if (count < 0) {
        return status_fail_errno(why, "cannot read %s", walk->from);
    }
    for (int i = 0; i < count; i++) {
        const char *folder = entries[i]->d_name;
        if (status == STATUS_OK && is_wanted(parts, folder) &&
            (strcmp(parts, folder) == 0 || !is_closed_queue(walk, folder))) {
            status = walk_folder(walk, folder, 0, why);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* ---- the copy ---- */

static enum status
check_room(const char *copy, uint64_t bytes, struct reason *why)
{
    struct statvfs disk;
    const uint64_t room =
        statvfs(copy, &disk) == 0 ? (uint64_t)disk.f_bavail * disk.f_frsize : UINT64_MAX;
    /* A quarter more for what recovery and keyword index may write. */
    return bytes / 4 + bytes <= room
               ? STATUS_OK
               : status_fail(why, STATUS_FULL,
                             "a directory that may only be read is read from a private copy, for "
                             "whose %" PRIu64 " MiB there is no room in %s: set TMPDIR",
                             bytes >> 20, copy);
}

/* Copies the directory once. Files that did not change meanwhile are as a crash would leave them,
 * and starting on the copy recovers them. */
static enum status
copy_once(const char *directory, const char *parts, const char *copy, struct reason *why)
{
    struct walk before = {.from = directory}, taken = {.from = directory, .to = copy};
    struct walk after = {.from = directory};
    char archive[PATH_MAX], whole[PATH_MAX], link[PATH_MAX];
    TRY(walk_parts(&before, parts, why));
    TRY(check_room(copy, before.bytes, why));
    TRY(walk_parts(&taken, parts, why));
    if (is_to_end()) {
        return status_fail(why, STATUS_CANCELLED, "ended while %s was copied", directory);
    }
    TRY(walk_parts(&after, parts, why));
    if (before.state != after.state || before.state != taken.state) {
        return status_fail(why, STATUS_AGAIN,
                           "%s is being written by another process: ask as its owner, or when it "
                           "is at rest",
                           directory);
    }
    TRY(join(archive, directory, "warc", why));
    TRY(join(link, copy, "warc", why));
    if (realpath(archive, whole) != NULL && symlink(whole, link) != 0) {
        return status_fail_errno(why, "cannot make %s", link);
    }
    return STATUS_OK;
}

static int
remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

void
reading_copy_remove(char *copy)
{
    if (copy != NULL) {
        (void)nftw(copy, remove_entry, DEPTH, FTW_DEPTH | FTW_PHYS);
        free(copy);
    }
}

enum status
reading_copy_make(const char *directory, const char *parts, char **copy, struct reason *why)
{
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX], nodes[PATH_MAX];
    sigset_t ending, before;
    enum status status = STATUS_AGAIN;
    *copy = NULL;
    TRY(join(nodes, directory, "cluster.conf", why));
    if (access(nodes, F_OK) == 0) {
        return status_fail(why, STATUS_UNSUPPORTED,
                           "%s may only be read and is a node of a cluster: ask a node of it",
                           directory);
    }
    ending_signals(&ending);
    (void)sigprocmask(SIG_BLOCK, &ending, &before);
    for (int i = 0; i < TRIES && status == STATUS_AGAIN; i++) {
        TRY(join(path, folder != NULL && folder[0] == '/' ? folder : "/tmp", "quadrille-XXXXXX",
                 why));
        if (mkdtemp(path) == NULL) {
            return status_fail_errno(why, "cannot make %s", path);
        }
        *copy = memory_string(path);
        status = copy_once(directory, parts, *copy, why);
        if (status != STATUS_OK) {
            reading_copy_remove(*copy);
            *copy = NULL;
        }
        if (status == STATUS_AGAIN && i + 1 < TRIES) {
            usleep(PAUSE_US);
        }
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return status == STATUS_AGAIN ? STATUS_DENIED : status;
}
