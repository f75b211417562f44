/* All that Berkeley DB writes goes through here: pages are kept from being written while some are
 * copied from a file; and tests make writes fail at a chosen count.
 *
 * Pages that it reads are checked here as well. Berkeley DB's own answer to a wrong checksum is to
 * stop working and to write so to the log, after which no usual recovery succeeds any more: one
 * damaged page would take the whole index. So it gets to see a failed read instead, which leaves
 * all other pages usable. Its way of reading is pread(2) and, when that fails, lseek(2) and
 * read(2): the seek has to fail, too. Functions for read(2) and write(2) would make it seek always,
 * so they are not set, except the latter when faults are wanted. */
#include "index/trees/environment_state.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "store/page.h"

static struct {
    enum fault_action action;
    uint64_t at;
    atomic_uint_fast64_t writes;
} fault;

/* Page writes share it; copying pages has it alone. */
static pthread_rwlock_t page_writes = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

enum verdict { GO_ON, FAIL /* with errno */ };

enum { PATH_SIZE = 4096 };

static bool
is_log(int descriptor)
{
    char link[64];
    char path[PATH_SIZE];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
    const ssize_t length = readlink(link, path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    return strstr(path, "/log.") != NULL;
}

static enum verdict
count_write(int descriptor, const void *bytes, size_t length, off_t offset)
{
    const uint64_t number = atomic_fetch_add(&fault.writes, 1) + 1;
    if (fault.action == FAULT_NONE || number < fault.at) {
        return GO_ON;
    }
    switch (fault.action) {
    case FAULT_KILL_TORN:
        if (bytes != NULL && offset < 0 && is_log(descriptor)) {
            const ssize_t written = write(descriptor, bytes, length / 2);
            (void)written;
        }
        raise(SIGKILL);
        break;
    case FAULT_KILL:
        raise(SIGKILL);
        break;
    case FAULT_FULL:
        errno = ENOSPC;
        return FAIL;
    case FAULT_ONCE:
        errno = EIO;
        return number == fault.at ? FAIL : GO_ON;
    case FAULT_NONE:
        break;
    }
    return GO_ON;
}

static ssize_t
counted_write(int descriptor, const void *bytes, size_t length)
{
    pthread_rwlock_rdlock(&page_writes);
    const ssize_t written =
        count_write(descriptor, bytes, length, -1) == FAIL ? -1 : write(descriptor, bytes, length);
    pthread_rwlock_unlock(&page_writes);
    return written;
}

static ssize_t
counted_pwrite(int descriptor, const void *bytes, size_t length, off_t offset)
{
    pthread_rwlock_rdlock(&page_writes);
    const ssize_t written = count_write(descriptor, bytes, length, offset) == FAIL
                                ? -1
                                : pwrite(descriptor, bytes, length, offset);
    pthread_rwlock_unlock(&page_writes);
    return written;
}

/* Returns the error, which is what Berkeley DB takes of such a function. What the disk has after a
 * sync that failed nobody knows, so want of room is no reason to go on either: it is EIO, too. */
static int
counted_fsync(int descriptor)
{
    if (count_write(descriptor, NULL, 0, -1) != FAIL && fdatasync(descriptor) == 0) {
        return 0;
    }
    return errno == ENOSPC || errno == EDQUOT ? EIO : errno;
}

ssize_t
environment_read_pages(int descriptor, void *bytes, size_t length, off_t offset)
{
    pthread_rwlock_wrlock(&page_writes);
    const ssize_t n = pread(descriptor, bytes, length, offset);
    pthread_rwlock_unlock(&page_writes);
    return n;
}

enum status
environment_write_file(int descriptor, struct slice bytes, uint64_t offset, struct reason *why)
{
    for (size_t done = 0; done < bytes.length;) {
        const ssize_t n = counted_pwrite(descriptor, bytes.at + done, bytes.length - done,
                                         (off_t)(offset + done));
        if (n < 0 && errno != EINTR) {
            return errno == ENOSPC || errno == EDQUOT
                       ? status_fail(why, STATUS_FULL, "no room on the disk")
                       : status_fail_errno(why, "cannot write");
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return STATUS_OK;
}

enum status
environment_sync_file(int descriptor, struct reason *why)
{
    errno = counted_fsync(descriptor);
    return errno == 0 ? STATUS_OK : status_fail_errno(why, "cannot sync");
}

/* ---- damaged pages ---- */

static struct {
    pthread_mutex_t mutex;
    struct environment *first;
} opened = {PTHREAD_MUTEX_INITIALIZER, NULL};

/* Holds, for this thread, what the last failed read met, and whether its seek is still to fail. */
static _Thread_local struct {
    char text[160];
    bool pending;
} damage;

void
environment_io_add(struct environment *environment)
{
    struct stat folder;
    if (stat(environment->database.folder, &folder) == 0) {
        environment->opened.device = folder.st_dev;
        environment->opened.inode = folder.st_ino;
    }
    pthread_mutex_lock(&opened.mutex);
    environment->opened.next = opened.first;
    opened.first = environment;
    pthread_mutex_unlock(&opened.mutex);
}

void
environment_io_remove(struct environment *environment)
{
    pthread_mutex_lock(&opened.mutex);
    for (struct environment **link = &opened.first; *link != NULL; link = &(*link)->opened.next) {
        if (*link == environment) {
            *link = environment->opened.next;
            break;
        }
    }
    pthread_mutex_unlock(&opened.mutex);
}

/* The file's name when it is a tree of an environment here: logs, and other environments of this
 * process, have no such checksums. */
static bool
is_ours(int descriptor, char path[PATH_SIZE], const char **name)
{
    char link[64];
    struct stat folder;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
    const ssize_t length = readlink(link, path, PATH_SIZE - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL || strstr(slash, ".db") == NULL) {
        return false;
    }
    *slash = '\0';
    *name = slash + 1;
    bool found = false;
    if (stat(path, &folder) == 0) {
        pthread_mutex_lock(&opened.mutex);
        for (struct environment *e = opened.first; e != NULL && !found; e = e->opened.next) {
            found = e->opened.device == folder.st_dev && e->opened.inode == folder.st_ino;
        }
        pthread_mutex_unlock(&opened.mutex);
    }
    return found;
}

/* ---- copying ---- */

static ssize_t
checked_pread(int descriptor, void *bytes, size_t length, off_t offset)
{
    const ssize_t n = pread(descriptor, bytes, length, offset);
    if (n < PAGE_LEAST || (size_t)n != length || (uint64_t)offset % length != 0) {
        return n;
    }
    const uint32_t page = (uint32_t)((uint64_t)offset / length);
    char path[PATH_SIZE];
    const char *name;
    if (page_is_sound(bytes, length, page) || !is_ours(descriptor, path, &name)) {
        return n;
    }
    snprintf(damage.text, sizeof(damage.text), "%.100s: page %u is damaged", name, page);
    damage.pending = true;
    errno = EBADMSG;
    return -1;
}

static int
checked_seek(int descriptor, off_t offset, int whence)
{
    if (damage.pending) {
        damage.pending = false;
        return EBADMSG;
    }
    return lseek(descriptor, offset, whence) == -1 ? errno : 0;
}

/* ---- faults ---- */

void
environment_fault(enum fault_action action, uint64_t at)
{
    db_env_set_func_write(counted_write);
    fault.action = action;
    fault.at = at;
    atomic_store(&fault.writes, 0);
}

uint64_t
environment_writes(void)
{
    return atomic_load(&fault.writes);
}

static void
set_functions(void)
{
    db_env_set_func_pwrite(counted_pwrite);
    db_env_set_func_fsync(counted_fsync);
    db_env_set_func_pread(checked_pread);
    db_env_set_func_seek(checked_seek);
}

void
environment_io_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_functions);
}

/* ---- failures ---- */

enum status
environment_failed(struct environment *environment, bool writing, int code, struct reason *why,
                   const char *what)
{
    if (code == EBADMSG) { /* what was written so far can be undone */
        return status_fail(why, STATUS_CORRUPT, "%s: %s: %s", environment->database.folder, what,
                           damage.text);
    }
    environment->database.broken |= writing;
    return database_failed(&environment->database, code, why, what);
}

enum status
tree_failed(struct tree *tree, bool writing, int code, struct reason *why, const char *what)
{
    const enum status status = environment_failed(tree->environment, writing, code, why, what);
    return status_prefix(why, status, "tree %s", tree->name);
}
