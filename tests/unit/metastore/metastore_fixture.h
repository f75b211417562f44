/* The metadata store's daemon in a child process. */
#ifndef TESTS_UNIT_METASTORE_METASTORE_FIXTURE_H
#define TESTS_UNIT_METASTORE_METASTORE_FIXTURE_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/system/log.h"
#include "metastore/metastore_daemon.h"

/* Returns when it answers, or has ended. */
static inline pid_t
metastore_fixture_start(const char *endpoint, const char *store, uint64_t disk_reserve)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)close(ready[0]);
        log_open("test", LOG_LEVEL_ERROR, false);
        const char *const endpoints[] = {endpoint, NULL};
        const struct meta_daemon_options options = {.store = {.folder = store,
                                                              .cache_bytes = 4 << 20,
                                                              .checkpoint_bytes = 1 << 20,
                                                              .checkpoint_ms = 50,
                                                              .disk_reserve = disk_reserve,
                                                              .sync = true,
                                                              .lock_wait_ms = 10000},
                                                    .endpoints = endpoints,
                                                    .ready_descriptor = ready[1]};
        struct reason why = {""};
        const enum status status = meta_daemon_run(&options, &why);
        if (status != STATUS_OK) {
            log_error("ended", "reason=%s", why.text);
        }
        _exit(status_exit_code(status));
    }
    (void)close(ready[1]);
    char byte;
    (void)!read(ready[0], &byte, 1);
    (void)close(ready[0]);
    return pid;
}

/* The exit code, or -1. */
static inline int
metastore_fixture_stop(pid_t pid, int signal_number)
{
    int code = 0;
    assert_int_equal(kill(pid, signal_number), 0);
    assert_int_equal(waitpid(pid, &code, 0), pid);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

#endif
