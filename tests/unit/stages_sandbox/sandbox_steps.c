/* These tests are of what the sandbox is built of (stages/sandbox/sandbox.c): privileges, limits,
 * Landlock and a filter, in this order; and that no cage is taken for closed of which one step
 * failed. While `pretending` the linker's functions below note what is asked for instead of doing
 * it, so that the test lives on; else they do it. Whether the cage holds is tried by
 * sandbox_selftest. */
#include "tests/unit/stages_sandbox/sandbox_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stages/sandbox/landlock.h"
#include "stages/sandbox/run_delay.h"
#include "stages/sandbox/sandbox.h"
#include "tests/unit/scratch.h"

enum { TEXT = 1024, MEMORY = 64 << 20, PARSER_RULES = 62 };

static bool pretending;
static int calls, failing; /* since; the one that fails, 0: none */
static unsigned rules;
static char said[TEXT]; /* what was asked for, in order */
static uint64_t address_space;
struct filter_rule filter_rules[FILTER_RULES];
size_t filter_rule_count;
static bool keeps_groups, keeps_death_signals; /* programs cannot leave or lose them */

/* Notes a call; true: it fails. */
static bool __attribute__((format(printf, 1, 2))) note(const char *format, ...)
{
    const size_t used = strlen(said);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said + used, sizeof said - used, format, arguments);
    va_end(arguments);
    errno = EPERM;
    return ++calls == failing;
}

int __real_setrlimit(int resource, const struct rlimit *limits);
int __wrap_setrlimit(int resource, const struct rlimit *limits);
int
__wrap_setrlimit(int resource, const struct rlimit *limits)
{
    if (!pretending) {
        return __real_setrlimit(resource, limits);
    }
    assert_int_equal(limits->rlim_cur, limits->rlim_max);
    if (resource == RLIMIT_AS) {
        address_space = limits->rlim_cur;
        return note("address space;") ? -1 : 0;
    }
    assert_int_equal(limits->rlim_cur, 0);
    return note(resource == RLIMIT_CORE    ? "core;"
                : resource == RLIMIT_FSIZE ? "files;"
                                           : "other;")
               ? -1
               : 0;
}

int __real_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);
int __wrap_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);
int
__wrap_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
    if (!pretending) {
        return __real_prctl(option, a, b, c, d);
    }
    assert_true(a == 1 && b == 0 && c == 0 && d == 0);
    return note(option == PR_SET_NO_NEW_PRIVS      ? "privileges;"
                : option == PR_SET_CHILD_SUBREAPER ? "adopts;"
                                                   : "other;")
               ? -1
               : 0;
}

enum status __real_landlock_enter(bool read_system, struct reason *why);
enum status __wrap_landlock_enter(bool read_system, struct reason *why);
enum status
__wrap_landlock_enter(bool read_system, struct reason *why)
{
    if (!pretending) {
        return __real_landlock_enter(read_system, why);
    }
    return note("landlock%s;", read_system ? " that reads" : "")
               ? status_fail(why, STATUS_SYSTEM, "no landlock")
               : STATUS_OK;
}

enum status __real_landlock_enter_alone(struct reason *why);
enum status __wrap_landlock_enter_alone(struct reason *why);
enum status
__wrap_landlock_enter_alone(struct reason *why)
{
    if (!pretending) {
        return __real_landlock_enter_alone(why);
    }
    return note("landlock alone;") ? STATUS_SYSTEM : STATUS_OK;
}

scmp_filter_ctx __real_seccomp_init(uint32_t action);
scmp_filter_ctx __wrap_seccomp_init(uint32_t action);
scmp_filter_ctx
__wrap_seccomp_init(uint32_t action)
{
    rules = 0;
    if (pretending && note("filter that %s;", action == SCMP_ACT_KILL_PROCESS   ? "kills"
                                              : action == SCMP_ACT_ERRNO(EPERM) ? "refuses"
                                              : action == SCMP_ACT_ALLOW        ? "allows"
                                                                                : "does else")) {
        return NULL;
    }
    return __real_seccomp_init(action);
}

int __wrap_seccomp_rule_add(scmp_filter_ctx filter, uint32_t action, int call, unsigned n, ...);
int
__wrap_seccomp_rule_add(scmp_filter_ctx filter, uint32_t action, int call, unsigned n, ...)
{
    struct scmp_arg_cmp comparisons[6];
    va_list arguments;
    va_start(arguments, n);
    for (unsigned i = 0; i < n; i++) {
        comparisons[i] = va_arg(arguments, struct scmp_arg_cmp);
    }
    va_end(arguments);
    rules++;
    if (filter_rule_count < FILTER_RULES) {
        struct filter_rule *rule = &filter_rules[filter_rule_count++];
        *rule = (struct filter_rule){.action = action, .call = call, .count = n};
        memcpy(rule->comparisons, comparisons, n * sizeof *comparisons);
    }
    if (action == SCMP_ACT_ERRNO(EPERM)) {
        keeps_groups |= call == SCMP_SYS(setpgid) && n == 0;
        keeps_death_signals |= call == SCMP_SYS(prctl) && n == 1 &&
                               comparisons[0].datum_a == UINT32_MAX &&
                               comparisons[0].datum_b == PR_SET_PDEATHSIG;
    }
    return pretending && ++calls == failing
               ? -EFAULT
               : seccomp_rule_add_array(filter, action, call, n, comparisons);
}

int __real_seccomp_load(scmp_filter_ctx filter);
int __wrap_seccomp_load(scmp_filter_ctx filter);
int
__wrap_seccomp_load(scmp_filter_ctx filter)
{
    if (!pretending) {
        return __real_seccomp_load(filter);
    }
    return note("load") ? -ENOMEM : 0;
}

static enum status
pretend(enum sandbox_policy policy, size_t memory, int fails, struct reason *why)
{
    said[0] = '\0';
    calls = 0;
    failing = fails;
    pretending = true;
    const enum status status = sandbox_enter(policy, memory, why);
    pretending = false;
    failing = 0;
    return status;
}

/* Bytes of address space. */
static uint64_t
mapped(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void
each_policy_has_its_steps(void **state)
{
    struct reason why = {""};
    (void)state;
    if (!sandbox_is_complete()) {
        skip();
    }
    assert_int_equal(pretend(SANDBOX_PARSER, 0, 0, &why), STATUS_OK);
    assert_string_equal(said, "privileges;core;files;landlock;filter that kills;load");
    assert_int_equal(rules, PARSER_RULES);
    const uint64_t before = mapped();
    assert_int_equal(pretend(SANDBOX_PARSER, MEMORY, 0, &why), STATUS_OK);
    assert_string_equal(said,
                        "privileges;core;files;address space;landlock;filter that kills;load");
    assert_true(address_space >= before + MEMORY - (8 << 20));
    assert_true(address_space <= before + MEMORY + (8 << 20));
    assert_int_equal(pretend(SANDBOX_PROGRAM, MEMORY, 0, &why), STATUS_OK);
    assert_string_equal(said,
                        "privileges;adopts;core;landlock that reads;filter that refuses;load");
    assert_true(rules > PARSER_RULES);
    said[0] = '\0';
    keeps_groups = keeps_death_signals = false;
    pretending = true;
    assert_true(sandbox_enter_program());
    pretending = false;
    assert_true(keeps_groups && keeps_death_signals);
    assert_string_equal(said, "landlock alone;filter that allows;load");
    assert_true(rules > 0 && rules < PARSER_RULES);
}

/* Nothing goes on behind a step that failed, and the worker is told why. */
static void
a_cage_of_which_a_step_failed_is_not_closed(void **state)
{
    struct reason why = {""};
    (void)state;
    if (!sandbox_is_complete()) {
        skip();
    }
    for (int policy = SANDBOX_PARSER; policy <= SANDBOX_PROGRAM; policy++) {
        assert_int_equal(pretend((enum sandbox_policy)policy, MEMORY, 0, &why), STATUS_OK);
        const int all = calls;
        assert_true(all > PARSER_RULES);
        for (int step = 1; step <= all; step++) {
            why.text[0] = '\0';
            assert_int_equal(pretend((enum sandbox_policy)policy, MEMORY, step, &why),
                             STATUS_SYSTEM);
            assert_true(why.text[0] != '\0');
            assert_true(calls == step || policy == SANDBOX_PROGRAM);
            assert_true(step == all || strstr(said, "load") == NULL);
        }
        assert_non_null(strstr(why.text, strerror(ENOMEM)));
    }
    for (int step = 1;; step++) {
        calls = 0;
        failing = step;
        pretending = true;
        const bool entered = sandbox_enter_program();
        pretending = false;
        if (entered) {
            assert_true(step > 3 && calls < step);
            break;
        }
    }
    failing = 0;
}

/* ---- who waits for a processor ---- */

static void
write_line(int folder, const char *name, const char *line)
{
    const int file = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, line, strlen(line)), strlen(line));
    close(file);
}

/* The name of a process may have any characters, and its state stands behind it. */
static void
what_the_kernel_says_of_a_process_is_read(void **state)
{
    static const struct {
        const char *line;
        bool ready;
    } states[] = {{"12 (a) R 1", true},     {"12 (a) S 1", false},   {"12 (R) S 1", false},
                  {"12 (a) R) S 1", false}, {"12 (a) S) R 1", true}, {"12 (a)RR 1", false},
                  {"12 (a)", false},        {"12 a R", false},       {"", false}};
    static const struct {
        const char *line;
        uint64_t ms;
    } delays[] = {{"9000000000 5999999 7\n", 5},
                  {"1 6000000 1\n", 6},
                  {"1 999999 1\n", 0},
                  {"1", 0},
                  {"", 0}};
    char path[SCRATCH_SIZE];
    (void)state;
    assert_true(scratch_folder(path, "process"));
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder >= 0);
    assert_int_equal(run_delay_ms(folder), 0); /* there is no such file */
    assert_false(run_delay_is_ready(folder));
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        write_line(folder, "stat", states[i].line);
        assert_int_equal(run_delay_is_ready(folder), states[i].ready);
    }
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
        write_line(folder, "schedstat", delays[i].line);
        assert_int_equal(run_delay_ms(folder), delays[i].ms);
    }
    assert_int_equal(run_delay_ms(-1), 0);
    assert_false(run_delay_is_ready(-1));
    assert_int_equal(unlinkat(folder, "stat", 0), 0);
    assert_int_equal(unlinkat(folder, "schedstat", 0), 0);
    close(folder);
    assert_int_equal(rmdir(path), 0);
}

/* ---- trials without a cage ---- */

static char succeeded[TEXT]; /* the trials that were not stopped, each in a line */

static void
note_success(void *context, const char *trial, bool stopped, const char *how)
{
    const size_t used = strlen(succeeded);
    (void)context;
    if (!stopped) {
        assert_string_equal(how, "it succeeded");
        snprintf(succeeded + used, sizeof succeeded - used, "%s\n", trial);
    }
}

/* Mounting, which a trial may be allowed to do, is forbidden to this process. */
static bool
forbid_mounts(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    const int error =
        seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(mount), 0, NULL);
    const bool forbidden = error == 0 && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return forbidden;
}

/* In a process of its own. The exit code: 0, or which part was not as it should be. */
static int
try_without_a_cage(const char *folder)
{
    static const char parser[] =
        "read a file\nwrite a file\nlist a folder\nmake a folder\nopen a network socket\n"
        "start a process\nexecute a program\nsignal another process\ntrace a process\n"
        "make memory executable\ntake more memory than allowed\n";
    /* Those that any user may do, whatever the trials before have done to the files. */
    static const char *const program[] = {"write to a file",
                                          "make a file",
                                          "truncate a file",
                                          "change a file's mode",
                                          "change a file's owner",
                                          "change a file's times",
                                          "rename a file",
                                          "kill another process",
                                          "signal the worker",
                                          "share memory",
                                          "begin a session",
                                          "leave the process group",
                                          "connect to a local socket",
                                          "connect to an abstract socket",
                                          "make a socket for local datagrams",
                                          "open a network socket",
                                          "open a socket to the kernel"};
    if (!forbid_mounts() || setenv("TMPDIR", folder, 1) != 0) {
        return 1;
    }
    pretending = true;
    if (sandbox_selftest(note_success, NULL) != 11 || strcmp(succeeded, parser) != 0) {
        return 2;
    }
    succeeded[0] = '\0';
    const unsigned failures = sandbox_selftest_program(note_success, NULL);
    pretending = false;
    for (size_t i = 0; i < sizeof program / sizeof *program; i++) {
        if (strstr(succeeded, program[i]) == NULL) {
            print_error("not found to succeed: %s\n", program[i]);
            return 3;
        }
    }
    unsigned lines = 0;
    for (const char *at = succeeded; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    if (lines != failures || strstr(succeeded, "mount\n") != NULL) {
        return 4;
    }
    /* Neither the process that was to be killed nor a file of the trials is left. */
    return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD && rmdir(folder) == 0 ? 0 : 5;
}

/* The trials find out that nothing stops them. */
static void
trials_succeed_without_a_cage(void **state)
{
    char folder[SCRATCH_SIZE];
    int status = 0;
    (void)state;
    if (!sandbox_is_complete()) {
        skip();
    }
    assert_true(scratch_folder(folder, "trials"));
    (void)rmdir("/tmp/quadrille-selftest.d");
    const pid_t child = fork();
    if (child == 0) {
        _exit(try_without_a_cage(folder));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    (void)unlink("/tmp/quadrille-selftest");
    (void)rmdir("/tmp/quadrille-selftest.d");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void
note_failure(void *context, const char *trial, bool stopped, const char *how)
{
    assert_false(stopped);
    snprintf(context, TEXT, "%s: %s", trial, how);
}

/* Nothing is tried, and nobody is told that all is well, where the trials cannot be prepared. */
static void
trials_that_cannot_be_prepared_fail(void **state)
{
    char text[TEXT] = "";
    (void)state;
    const char *const before = getenv("TMPDIR");
    char *const kept = before != NULL ? strdup(before) : NULL;
    assert_int_equal(setenv("TMPDIR", "/proc/no-such-folder", 1), 0);
    assert_int_equal(sandbox_selftest_program(note_failure, text), 1);
    assert_string_equal(text, "prepare for the trials: no folder or no process could be made");
    assert_int_equal(kept != NULL ? setenv("TMPDIR", kept, 1) : unsetenv("TMPDIR"), 0);
    free(kept);
}

int
sandbox_steps_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_policy_has_its_steps),
        cmocka_unit_test(a_cage_of_which_a_step_failed_is_not_closed),
        cmocka_unit_test(what_the_kernel_says_of_a_process_is_read),
        cmocka_unit_test(trials_succeed_without_a_cage),
        cmocka_unit_test(trials_that_cannot_be_prepared_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
