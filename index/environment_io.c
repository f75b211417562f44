/* All that Berkeley DB writes goes through here: pages are kept from being written while some are
 * copied from a file; and tests make writes fail at a chosen count. */
#include "index/environment_private.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static struct {
    enum fault_action action;
    uint64_t at;
    atomic_uint_fast64_t writes;
} fault;

/* Page writes share it; copying pages has it alone. */
static pthread_rwlock_t page_writes = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

enum verdict { GO_ON, FAIL /* with errno */ };

static bool
is_log(int descriptor)
{
    char link[64];
    char path[4096];
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
    return count_write(descriptor, bytes, length, -1) == FAIL ? -1
                                                              : write(descriptor, bytes, length);
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

static int
counted_fsync(int descriptor)
{
    return count_write(descriptor, NULL, 0, -1) == FAIL ? -1 : fdatasync(descriptor);
}

ssize_t
environment_read_pages(int descriptor, void *bytes, size_t length, off_t offset)
{
    pthread_rwlock_wrlock(&page_writes);
    const ssize_t n = pread(descriptor, bytes, length, offset);
    pthread_rwlock_unlock(&page_writes);
    return n;
}

/* ---- faults ---- */

void
environment_fault(enum fault_action action, uint64_t at)
{
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
read_variable(void)
{
    static const struct {
        const char *prefix;
        enum fault_action action;
    } words[] = {{"kill:", FAULT_KILL},
                 {"torn:", FAULT_KILL_TORN},
                 {"full:", FAULT_FULL},
                 {"once:", FAULT_ONCE}};
    const char *text = getenv("QUADRILLE_INDEX_FAULT");
    for (size_t i = 0; text != NULL && i < sizeof(words) / sizeof(words[0]); i++) {
        const size_t length = strlen(words[i].prefix);
        if (strncmp(text, words[i].prefix, length) == 0) {
            environment_fault(words[i].action, strtoull(text + length, NULL, 10));
        }
    }
}

static void
set_functions(void)
{
    read_variable();
    db_env_set_func_write(counted_write);
    db_env_set_func_pwrite(counted_pwrite);
    db_env_set_func_fsync(counted_fsync);
}

void
environment_io_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_functions);
}
