/* The metadata store's daemon in a child process. */
#ifndef TESTS_UNIT_METASTORE_METASTORE_FIXTURE_H
#define TESTS_UNIT_METASTORE_METASTORE_FIXTURE_H

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/status.h"
#include "base/system/log.h"
#include "metastore/metastore_daemon.h"

/* The argument by which a test's program becomes the daemon. */
#define METASTORE_FIXTURE_SERVE "serve-metadata"

/* Runs the daemon and returns true when the program was started as one; main() asks this first. */
static inline bool
metastore_fixture_serves(int argc, char **argv, int *exit_code)
{
    if (argc != 5 || strcmp(argv[0], METASTORE_FIXTURE_SERVE) != 0) {
        return false;
    }
    log_open("test", LOG_LEVEL_ERROR, false);
    const char *const endpoints[] = {argv[1], NULL};
    const struct meta_daemon_options options = {
        .store = {.folder = argv[2],
                  .cache_bytes = 4 << 20,
                  .checkpoint_bytes = 1 << 20,
                  .checkpoint_ms = 50,
                  .disk_reserve = strtoull(argv[3], NULL, 10),
                  .sync = true,
                  .lock_wait_ms = 10000},
        .endpoints = endpoints,
        .ready_descriptor = (int)strtol(argv[4], NULL, 10)};
    struct reason why = {""};
    const enum status status = meta_daemon_run(&options, &why);
    if (status != STATUS_OK) {
        log_error("ended", "reason=%s", why.text);
    }
    *exit_code = status_exit_code(status);
    return true;
}

/* Starts the daemon; returns when it answers, or has ended. The program is run anew, since a child
 * of a program with threads finds locks of its allocator held for ever under the sanitizers. */
static inline pid_t
metastore_fixture_start(const char *endpoint, const char *store, uint64_t disk_reserve)
{
    int ready[2];
    char serve[] = METASTORE_FIXTURE_SERVE, address[256], folder[256], reserve[24], descriptor[16];
    assert_int_equal(pipe(ready), 0);
    snprintf(address, sizeof address, "%s", endpoint);
    snprintf(folder, sizeof folder, "%s", store);
    snprintf(reserve, sizeof reserve, "%" PRIu64, disk_reserve);
    snprintf(descriptor, sizeof descriptor, "%d", ready[1]);
    char *const arguments[] = {serve, address, folder, reserve, descriptor, NULL};
    const pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)close(ready[0]);
        execv("/proc/self/exe", arguments);
        _exit(EXIT_SYSTEM);
    }
    assert_true(pid > 0);
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
