/* Unit tests in one program: unit_tests GROUP SECONDS FOLDER TEST...
 *
 * Runs each TEST in a process of its own, one after the other, and prints a line for each:
 * GROUP/TEST, its exit code, its seconds and its processor seconds, set apart by tabs. What the
 * test prints is FOLDER/GROUP-TEST.log. A test that takes longer than SECONDS is ended: its code is
 * 124.
 *
 * To link a test takes as long as most of them run, and to start one under a checker far longer:
 * this program is linked and started once for many. The processes are forked before any test has
 * begun, so that none sees what another has done. The Makefile makes joined_tests.h, with a line
 * TEST(name) for each test, whose main it renames to name_main. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMED_OUT = 124, GRACE_SECONDS = 5, SIGNALLED = 128 };

#define TEST(name) int name##_main(int argc, char **argv);
#include "joined_tests.h"
#undef TEST

#define TEST(name) {#name, name##_main},
static const struct test {
    const char *name;
    int (*run)(int argc, char **argv);
} tests[] = {
#include "joined_tests.h"
};
#undef TEST

static const struct test *
find_test(const char *name)
{
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (strcmp(tests[i].name, name) == 0) {
            return &tests[i];
        }
    }
    return NULL;
}

/* In the child. The test finds the folder of programs by the name that it would have if it were
 * linked alone. */
static _Noreturn void
run_test(const struct test *test, const char *self, const char *log)
{
    char name[4096];
    const char *slash = strrchr(self, '/');
    (void)snprintf(name, sizeof name, "%.*s%s", slash == NULL ? 0 : (int)(slash - self + 1), self,
                   test->name);
    const int output = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int input = open("/dev/null", O_RDONLY);
    if (output < 0 || input < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(output, STDERR_FILENO) < 0 || dup2(input, STDIN_FILENO) < 0) {
        _exit(111);
    }
    (void)close(output);
    (void)close(input);
    (void)setpgid(0, 0); /* what it has started is ended with it */
    char *arguments[] = {name, NULL};
    exit(test->run(1, arguments));
}

/* Waits for a child, and ends it and what it has started if it takes longer. */
static int
wait_for(pid_t child, unsigned seconds, struct rusage *used)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    const time_t began = time(NULL);
    int status = 0, ended_by = 0;
    while (wait4(child, &status, WNOHANG, used) == 0) {
        const time_t taken = time(NULL) - began;
        if (taken > (time_t)seconds + GRACE_SECONDS) {
            (void)kill(-child, SIGKILL);
            ended_by = SIGKILL;
        } else if (taken > (time_t)seconds && ended_by == 0) {
            (void)kill(-child, SIGTERM);
            ended_by = SIGTERM;
        }
        (void)nanosleep(&pause, NULL);
    }
    return ended_by != 0       ? TIMED_OUT
           : WIFEXITED(status) ? WEXITSTATUS(status)
                               : SIGNALLED + WTERMSIG(status);
}

static double
processor_seconds(const struct rusage *used)
{
    return (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
           (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1e6;
}

int
main(int argc, char **argv)
{
    const unsigned seconds = argc > 4 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    if (seconds == 0) {
        (void)fprintf(stderr, "Usage: %s GROUP SECONDS FOLDER TEST...\n", argv[0]);
        return 100;
    }
    for (int i = 4; i < argc; i++) {
        const struct test *test = find_test(argv[i]);
        if (test == NULL) {
            (void)fprintf(stderr, "%s: there is no test %s\n", argv[0], argv[i]);
            return 100;
        }
        char log[4096];
        (void)snprintf(log, sizeof log, "%s/%s-%s.log", argv[3], argv[1], test->name);
        const time_t began = time(NULL);
        const pid_t child = fork();
        if (child < 0) {
            (void)fprintf(stderr, "%s: fork: %s\n", argv[0], strerror(errno));
            return 111;
        }
        if (child == 0) {
            run_test(test, argv[0], log);
        }
        struct rusage used = {0};
        const int code = wait_for(child, seconds, &used);
        (void)printf("%s/%s\t%d\t%ld\t%.2f\n", argv[1], test->name, code,
                     (long)(time(NULL) - began), processor_seconds(&used));
        (void)fflush(stdout);
    }
    return 0;
}
