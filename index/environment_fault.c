/* Deliberate failures at counted writes, so that tests can stop a batch at each of them. */
#include "index/environment.h"

#include <db.h>
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
    case FAULT_NONE:
        break;
    }
    return GO_ON;
}

static ssize_t
faulty_write(int descriptor, const void *bytes, size_t length)
{
    return count_write(descriptor, bytes, length, -1) == FAIL ? -1
                                                              : write(descriptor, bytes, length);
}

static ssize_t
faulty_pwrite(int descriptor, const void *bytes, size_t length, off_t offset)
{
    return count_write(descriptor, bytes, length, offset) == FAIL
               ? -1
               : pwrite(descriptor, bytes, length, offset);
}

static int
faulty_fsync(int descriptor)
{
    return count_write(descriptor, NULL, 0, -1) == FAIL ? -1 : fdatasync(descriptor);
}

bool
environment_fault_active(void)
{
    return fault.action != FAULT_NONE;
}

long
environment_fault_pwrite(int descriptor, const void *bytes, size_t length, long offset)
{
    return faulty_pwrite(descriptor, bytes, length, offset);
}

void
environment_fault(enum fault_action action, uint64_t at)
{
    fault.action = action;
    fault.at = at;
    db_env_set_func_write(faulty_write);
    db_env_set_func_pwrite(faulty_pwrite);
    db_env_set_func_fsync(faulty_fsync);
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
    } words[] = {{"kill:", FAULT_KILL}, {"torn:", FAULT_KILL_TORN}, {"full:", FAULT_FULL}};
    const char *text = getenv("QUADRILLE_INDEX_FAULT");
    for (size_t i = 0; text != NULL && i < sizeof(words) / sizeof(words[0]); i++) {
        const size_t length = strlen(words[i].prefix);
        if (strncmp(text, words[i].prefix, length) == 0) {
            environment_fault(words[i].action, strtoull(text + length, NULL, 10));
        }
    }
}

void
environment_fault_from_process(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_variable);
}
