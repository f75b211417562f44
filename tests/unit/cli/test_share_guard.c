/* When the processes of a share have ended: not before the last of them has, whatever keeps it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/cluster/share_guard.h"
#include "tests/unit/scratch.h"

enum { LEASE_MS = 600000, LOOK_US = 10000 };

static int
setup(void **state)
{
    static char folder[SCRATCH_SIZE];
    *state = folder;
    return scratch_folder(folder, "test_share_guard") ? 0 : -1;
}

static int
teardown(void **state)
{
    char command[SCRATCH_SIZE + 16];
    (void)snprintf(command, sizeof command, "rm -rf %s", (const char *)*state);
    return system(command);
}

static void
nap(void)
{
    (void)usleep(LOOK_US);
}

/* The guard runs this program as `quadrille up --dir DIR`: it starts a process, says which in the
 * folder, and both wait for their end. */
static int
be_supervisor(const char *folder)
{
    char path[4096], done[4096];
    const pid_t worker = fork();
    while (worker == 0) {
        (void)pause();
    }
    (void)snprintf(path, sizeof path, "%s/.worker", folder);
    (void)snprintf(done, sizeof done, "%s/worker", folder);
    FILE *file = fopen(path, "w");
    if (file == NULL || fprintf(file, "%d\n", (int)worker) < 0 || fclose(file) != 0 ||
        rename(path, done) != 0) {
        return 1;
    }
    for (;;) {
        (void)pause();
    }
}

static pid_t
await_worker(const char *folder)
{
    char path[4096];
    int worker = 0;
    (void)snprintf(path, sizeof path, "%s/worker", folder);
    FILE *file = NULL;
    while ((file = fopen(path, "r")) == NULL) {
        nap();
    }
    assert_int_equal(fscanf(file, "%d", &worker), 1);
    (void)fclose(file);
    return worker;
}

/* A process of which a tracer that does not wait holds the end back, as the kernel does when it is
 * in a call that nothing interrupts. It says by a byte whether it has it. */
static pid_t
hold_end_of(pid_t process, int *release)
{
    int ready[2], orders[2];
    char byte = 'n';
    assert_int_equal(pipe(ready) + pipe(orders), 0);
    const pid_t tracer = fork();
    if (tracer == 0) {
        (void)close(orders[1]);
        const bool has = ptrace(PTRACE_SEIZE, process, NULL, NULL) == 0;
        _exit(write(ready[1], has ? "y" : "n", 1) == 1 && read(orders[0], &byte, 1) >= 0 ? 0 : 1);
    }
    (void)close(orders[0]);
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    *release = orders[1];
    if (byte == 'y') {
        return tracer;
    }
    (void)close(orders[1]);
    (void)waitpid(tracer, NULL, 0);
    return 0;
}

static void
test_a_process_that_cannot_end_is_waited_for(void **state)
{
    const char *folder = *state;
    const struct flag_list none = {0};
    const struct share_guard_settings settings = {
        .directory = folder, .assignments = &none, .until_ms = share_clock_ms(NULL) + LEASE_MS};
    struct share_guard guard;
    struct reason why;
    int release, code = 0;
    assert_int_equal(share_guard_start(&guard, &settings, &why), STATUS_OK);
    const pid_t worker = await_worker(folder);
    assert_false(share_guard_has_ended(&guard, &code));
    const pid_t tracer = hold_end_of(worker, &release);
    if (tracer == 0) {
        share_guard_kill(&guard);
        skip();
    }
    const pid_t first = guard.pid;
    share_guard_kill(&guard);
    siginfo_t info = {0};
    assert_int_equal(waitid(P_PID, (id_t)first, &info, WEXITED | WNOWAIT), 0);
    for (int i = 0; i < 10; i++) {
        assert_false(share_guard_has_ended(&guard, &code));
        nap();
    }
    assert_int_equal(close(release), 0);
    assert_int_equal(waitpid(tracer, NULL, 0), tracer);
    while (!share_guard_has_ended(&guard, &code)) {
        nap();
    }
    assert_int_equal(code, 128 + SIGKILL);
    assert_int_equal(kill(worker, 0), -1);
    assert_false(share_guard_has_ended(&guard, &code));
}

int
main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[1], "up") == 0 && strcmp(argv[i], "--dir") == 0) {
            return be_supervisor(argv[i + 1]);
        }
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        test_a_process_that_cannot_end_is_waited_for, setup, teardown)};
    return cmocka_run_group_tests_name("share guard", tests, NULL, NULL);
}
