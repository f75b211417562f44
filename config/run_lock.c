#include "config/run_lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/system/file.h"
#include "base/system/log.h"

enum { PATH_MAXIMUM = 1 << 16, TRIES = 20, PAUSE_US = 1000 };

int
run_lock_open(const char *directory, const char *name)
{
    struct buf path;
    buf_init(&path, PATH_MAXIMUM);
    buf_printf(&path, "%s/run", directory);
    (void)mkdir(path.data, 0700); /* the open below tells when it is not there */
    buf_printf(&path, "/%s", name);
    const int lock = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    buf_release(&path);
    return lock;
}

int
run_lock_open_users(const char *directory, const char *part)
{
    char name[64];
    snprintf(name, sizeof name, "%s.users", part);
    return run_lock_open(directory, name);
}

bool
run_lock_wait(int lock, int operation)
{
    while (flock(lock, operation) != 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

bool
run_lock_try(int lock, int operation)
{
    return run_lock_wait(lock, operation | LOCK_NB);
}

void
run_lock_sign(int lock, const char *text)
{
    const size_t length = strlen(text);
    if (ftruncate(lock, 0) != 0 || pwrite(lock, text, length, 0) != (ssize_t)length) {
        log_warning("lock_unsigned", "reason=%s", strerror(errno));
    }
}

pid_t
run_lock_signed(int lock)
{
    char text[32] = "";
    return pread(lock, text, sizeof text - 1, 0) > 0 ? (pid_t)atoi(text) : 0;
}

bool
run_lock_held(const char *directory, const char *name, pid_t *owner)
{
    const int lock = run_lock_open(directory, name);
    bool held;
    *owner = 0;
    for (int i = 0; i < TRIES; i++) {
        held = lock >= 0 && !run_lock_try(lock, LOCK_SH) && errno == EWOULDBLOCK;
        *owner = held ? run_lock_signed(lock) : 0;
        if (!held || *owner > 0) {
            break;
        }
        usleep(PAUSE_US); /* it has just been taken, or somebody else looks */
    }
    file_close(lock);
    return held;
}

/* Sockets and folders cannot be opened for writing, and no lock is one. */
static bool
remove_if_lost(const char *path)
{
    const int lock = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    const bool lost = lock >= 0 && !run_lock_try(lock, LOCK_SH) && errno == EIO;
    file_close(lock);
    if (lost) {
        log_warning("lock_lost", "file=%s", path);
    }
    return lost && unlink(path) == 0;
}

/* Not "..", which leads out: in a cluster to a folder that others use. */
static bool
is_entry(const char *name)
{
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Looks at each entry of the folder: at the entry itself where file is empty, else at the file of
 * that name in it. */
static size_t
remove_lost_in(const char *folder, const char *file)
{
    DIR *entries = opendir(folder);
    size_t removed = 0;
    struct buf path;
    buf_init(&path, PATH_MAXIMUM);
    for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        buf_reset(&path);
        buf_printf(&path, "%s/%s%s", folder, entry->d_name, file);
        removed += is_entry(entry->d_name) && remove_if_lost(path.data) ? 1 : 0;
    }
    if (entries != NULL) {
        closedir(entries);
    }
    buf_release(&path);
    return removed;
}

size_t
run_locks_remove_lost(const char *directory)
{
    struct buf run;
    buf_init(&run, PATH_MAXIMUM);
    buf_printf(&run, "%s/run", directory);
    const size_t removed = remove_lost_in(run.data, "") + remove_lost_in(directory, "/lock");
    buf_release(&run);
    return removed;
}
