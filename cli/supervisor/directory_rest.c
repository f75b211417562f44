#include "cli/supervisor/directory_rest.h"

#include <errno.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "cli/supervisor/supervisor.h"
#include "config/run_lock.h"

enum { LOOK_US = 20000, TRIES = 50, AWAIT_MS = 60000 };

/* Who looks whether somebody has it has the lock for a moment, too. */
enum status
directory_rest_ask(const char *directory, int *rest, struct reason *why)
{
    *rest = run_lock_open(directory, REST_LOCK);
    int error = *rest >= 0 ? EWOULDBLOCK : errno;
    for (int i = 0; i < TRIES && error == EWOULDBLOCK; i++) {
        if (run_lock_try(*rest, LOCK_EX)) {
            return STATUS_OK;
        }
        error = errno;
        (void)usleep(LOOK_US);
    }
    if (*rest >= 0) {
        (void)close(*rest);
        *rest = -1;
    }
    if (error == EWOULDBLOCK) {
        return status_fail(why, STATUS_DENIED, "another command has %s at rest", directory);
    }
    errno = error;
    return status_fail_errno(why, "cannot lock %s/run/" REST_LOCK, directory);
}

enum status
directory_rest_await(const char *directory, struct reason *why)
{
    const uint64_t until = clock_monotonic_ms() + AWAIT_MS;
    char name[32];
    int pid;
    while (supervisor_any_worker(directory, name, &pid)) {
        if (clock_monotonic_ms() > until) {
            return status_fail(why, STATUS_TIMEOUT,
                               "%s of %s (process %d) has not ended in %d s; another command may "
                               "use it",
                               name, directory, pid, AWAIT_MS / 1000);
        }
        (void)usleep(LOOK_US);
    }
    return STATUS_OK;
}

bool
directory_rest_pass(int rest)
{
    return run_lock_wait(rest, LOCK_SH) && run_lock_wait(rest, LOCK_UN);
}

bool
directory_rest_over(int rest)
{
    return run_lock_try(rest, LOCK_SH) && run_lock_wait(rest, LOCK_UN);
}
