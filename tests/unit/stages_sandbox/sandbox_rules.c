/* The rules of the cages as the kernel is given them: of files and of others by Landlock, for each
 * of its versions, and of the system calls of external programs; a part of test_worker. */
#include "tests/unit/stages_sandbox/sandbox_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stages/sandbox/landlock.h"
#include "stages/sandbox/sandbox_calls.h"
#include "tests/unit/stages_sandbox/worker_pools.h"

/* ---- a kernel with Landlock ---- */

enum {
    PATHS = 16,
    FS_READING = 0xD, /* execute, read a file, read a folder */
    FS_FIRST = 0x1FFF,
    FS_REFER = 1 << 13,
    FS_TRUNCATE = 1 << 14,
    FS_IOCTL = 1 << 15,
    NET_TCP = 3,
    SCOPES = 3,
    RULES = 100 /* the descriptor of the rules */
};

static struct {
    int version; /* -1: it has none */
    int rules;   /* the descriptor of the rules */
    bool refuses;
    uint64_t handled[3];
    unsigned made, entered, allowed;
    struct {
        dev_t device;
        ino_t file;
        uint64_t access;
    } paths[PATHS];
} kernel;

static long
pretend_landlock(long number, long a, long b, long c, long d)
{
    if (number == SYS_landlock_create_ruleset && a == 0) {
        assert_int_equal(b, 0);
        assert_int_equal(c, LANDLOCK_CREATE_RULESET_VERSION);
        errno = ENOSYS;
        return kernel.version;
    }
    if (number == SYS_landlock_create_ruleset) {
        assert_int_equal(b, sizeof kernel.handled);
        assert_int_equal(c, 0);
        memcpy(kernel.handled, (const void *)(uintptr_t)a, sizeof kernel.handled);
        kernel.made++;
        return kernel.rules;
    }
    assert_int_equal(a, kernel.rules);
    if (number == SYS_landlock_add_rule) {
        struct landlock_path_beneath_attr beneath;
        struct stat file;
        assert_int_equal(b, LANDLOCK_RULE_PATH_BENEATH);
        assert_int_equal(d, 0);
        memcpy(&beneath, (const void *)(uintptr_t)c, sizeof beneath);
        assert_int_equal(fstat(beneath.parent_fd, &file), 0);
        assert_true(kernel.allowed < PATHS);
        kernel.paths[kernel.allowed].device = file.st_dev;
        kernel.paths[kernel.allowed].file = file.st_ino;
        kernel.paths[kernel.allowed++].access = beneath.allowed_access;
        return 0;
    }
    assert_int_equal(b, 0);
    kernel.entered++;
    errno = EPERM;
    return kernel.refuses ? -1 : 0;
}

/* A kernel of this version, whose rules are a descriptor that can be closed. */
static void
begin_kernel(int version, int rules)
{
    memset(&kernel, 0, sizeof kernel);
    kernel.version = version;
    kernel.rules = rules;
    const int nowhere = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(nowhere >= 0);
    assert_int_equal(dup2(nowhere, rules), rules);
    if (nowhere != rules) {
        close(nowhere);
    }
    landlock_stand_in = pretend_landlock;
}

/* Whether the rules had been closed. */
static bool
end_kernel(void)
{
    landlock_stand_in = NULL;
    const bool closed = fcntl(kernel.rules, F_GETFD) < 0;
    if (!closed) {
        close(kernel.rules);
    }
    return closed;
}

static void
assert_handled(uint64_t files, uint64_t network, uint64_t scopes)
{
    assert_int_equal(kernel.handled[0], files);
    assert_int_equal(kernel.handled[1], network);
    assert_int_equal(kernel.handled[2], scopes);
}

static void
each_version_of_landlock_forbids_what_it_can(void **state)
{
    static const struct {
        int version;
        uint64_t files, network, scopes;
    } cases[] = {
        {1, FS_FIRST, 0, 0},
        {2, FS_FIRST | FS_REFER, 0, 0},
        {3, FS_FIRST | FS_REFER | FS_TRUNCATE, 0, 0},
        {4, FS_FIRST | FS_REFER | FS_TRUNCATE, NET_TCP, 0},
        {5, FS_FIRST | FS_REFER | FS_TRUNCATE | FS_IOCTL, NET_TCP, 0},
        {6, FS_FIRST | FS_REFER | FS_TRUNCATE | FS_IOCTL, NET_TCP, SCOPES},
        {7, FS_FIRST | FS_REFER | FS_TRUNCATE | FS_IOCTL, NET_TCP, SCOPES},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_kernel(cases[i].version, RULES);
        assert_int_equal(landlock_version(), cases[i].version);
        assert_int_equal(landlock_enter(false, NULL), STATUS_OK);
        assert_true(end_kernel());
        assert_true(kernel.made == 1 && kernel.entered == 1 && kernel.allowed == 0);
        assert_handled(cases[i].files, cases[i].network, cases[i].scopes);

        /* A program that is started inside is kept from others besides. */
        begin_kernel(cases[i].version, RULES);
        assert_int_equal(landlock_enter_alone(NULL), STATUS_OK);
        const bool closed = end_kernel();
        assert_int_equal(closed, cases[i].scopes != 0);
        assert_true(kernel.made == closed && kernel.entered == closed && kernel.allowed == 0);
        assert_handled(0, 0, cases[i].scopes);
    }
}

static void
without_landlock_nothing_is_asked_of_it(void **state)
{
    (void)state;
    begin_kernel(-1, RULES);
    assert_int_equal(landlock_version(), LANDLOCK_NONE);
    assert_int_equal(landlock_enter(false, NULL), STATUS_OK);
    assert_int_equal(landlock_enter(true, NULL), STATUS_OK);
    assert_int_equal(landlock_enter_alone(NULL), STATUS_OK);
    assert_false(end_kernel());
    assert_true(kernel.made == 0 && kernel.entered == 0 && kernel.allowed == 0);
}

/* The next of the paths that were allowed is this one, if there is such a file. */
static void
expect_path(unsigned *next, const char *path, uint64_t access)
{
    struct stat file;
    if (stat(path, &file) == 0) {
        assert_true(*next < kernel.allowed);
        assert_true(kernel.paths[*next].device == file.st_dev);
        assert_true(kernel.paths[*next].file == file.st_ino);
        assert_int_equal(kernel.paths[*next].access, access);
        ++*next;
    }
}

static void
expect_paths_of_programs(void)
{
    static const char *const folders[] = {"/usr", "/bin", "/lib", "/lib64", "/etc", "/opt"};
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"};
    unsigned next = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        expect_path(&next, folders[i], FS_READING);
    }
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        expect_path(&next, devices[i], LANDLOCK_ACCESS_FS_READ_FILE);
    }
    expect_path(&next, "/dev/null", LANDLOCK_ACCESS_FS_WRITE_FILE);
    assert_int_equal(next, kernel.allowed);
}

/* What is opened for the rules is closed again. */
static void
programs_read_the_system_and_write_nowhere(void **state)
{
    (void)state;
    const int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(before);
    begin_kernel(LANDLOCK_SCOPES, RULES);
    assert_int_equal(landlock_enter(true, NULL), STATUS_OK);
    assert_true(end_kernel());
    assert_true(kernel.made == 1 && kernel.entered == 1);
    expect_paths_of_programs();
    const int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(after);
    assert_int_equal(after, before);
}

/* Where nothing is the standard input, the first descriptor that is opened is 0. */
static void
landlock_does_without_a_standard_input(void **state)
{
    (void)state;
    const int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, RULES + 1);
    close(STDIN_FILENO);
    begin_kernel(LANDLOCK_SCOPES, RULES);
    const enum status status = landlock_enter(true, NULL);
    const bool closed = end_kernel();
    begin_kernel(LANDLOCK_SCOPES, STDIN_FILENO);
    const enum status first = landlock_enter(false, NULL);
    const bool first_closed = end_kernel();
    const unsigned first_entered = kernel.entered;
    begin_kernel(LANDLOCK_SCOPES, STDIN_FILENO);
    const enum status second = landlock_enter_alone(NULL);
    const bool second_closed = end_kernel();
    const unsigned second_entered = kernel.entered;
    begin_kernel(LANDLOCK_SCOPES, RULES);
    (void)landlock_enter(true, NULL);
    (void)end_kernel();
    const bool free_again = fcntl(STDIN_FILENO, F_GETFD) < 0;
    if (input >= 0) {
        assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
        close(input);
    }
    assert_int_equal(status, STATUS_OK);
    assert_true(closed && free_again);
    expect_paths_of_programs();
    assert_int_equal(first, STATUS_OK);
    assert_true(first_closed && first_entered == 1);
    assert_int_equal(second, STATUS_OK);
    assert_true(second_closed && second_entered == 1);
}

static void
who_cannot_enter_landlock_is_told(void **state)
{
    char wanted[REASON_SIZE];
    (void)state;
    snprintf(wanted, sizeof wanted, "cannot enter Landlock: %s", strerror(EPERM));
    for (int alone = 0; alone < 2; alone++) {
        struct reason why = {""};
        begin_kernel(LANDLOCK_SCOPES, RULES);
        kernel.refuses = true;
        assert_int_equal(alone ? landlock_enter_alone(&why) : landlock_enter(true, &why),
                         STATUS_SYSTEM);
        assert_true(end_kernel());
        assert_string_equal(why.text, wanted);
    }
}

/* ---- the calls of programs ---- */

/* The only rule of that action and call, or the one whose first comparison is with this value. */
static const struct filter_rule *
rule_of(uint32_t action, int call, const uint64_t *value)
{
    const struct filter_rule *found = NULL;
    for (size_t i = 0; i < filter_rule_count; i++) {
        const struct filter_rule *rule = &filter_rules[i];
        if (rule->call == call &&
            (value == NULL || (rule->count > 0 && rule->comparisons[0].datum_b == *value))) {
            assert_null(found);
            assert_int_equal(rule->action, action);
            found = rule;
        }
    }
    return found;
}

/* Its argument, of which only the bits of the mask count, has this value. */
static void
expect_comparison(const struct filter_rule *rule, unsigned number, unsigned argument, uint64_t mask,
                  uint64_t value)
{
    assert_non_null(rule);
    assert_true(number < rule->count);
    assert_int_equal(rule->comparisons[number].arg, argument);
    assert_int_equal(rule->comparisons[number].op, SCMP_CMP_MASKED_EQ);
    assert_int_equal(rule->comparisons[number].datum_a, mask);
    assert_int_equal(rule->comparisons[number].datum_b, value);
}

static void
begin_filter(scmp_filter_ctx *filter)
{
    *filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    assert_non_null(*filter);
    filter_rule_count = 0;
}

/* What Landlock does not forbid to open the filter does. */
static void
opening_is_forbidden_by_one_of_both(void **state)
{
    static const struct {
        int landlock;
        uint64_t forbidden;
    } cases[] = {{LANDLOCK_NONE, O_ACCMODE | O_CREAT | O_TRUNC},
                 {1, O_TRUNC},
                 {LANDLOCK_TRUNCATES - 1, O_TRUNC},
                 {LANDLOCK_TRUNCATES, 0},
                 {LANDLOCK_SCOPES, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scmp_filter_ctx filter;
        begin_filter(&filter);
        assert_int_equal(sandbox_add_program_calls(filter, cases[i].landlock), 0);
        const struct filter_rule *by_name = rule_of(SCMP_ACT_ALLOW, SCMP_SYS(open), NULL);
        const struct filter_rule *in_folder = rule_of(SCMP_ACT_ALLOW, SCMP_SYS(openat), NULL);
        expect_comparison(by_name, 0, 1, cases[i].forbidden, 0);
        expect_comparison(in_folder, 0, 2, cases[i].forbidden, 0);
        assert_true(by_name->count == 1 && in_folder->count == 1);
        seccomp_release(filter);
    }
}

/* Calls that no argument makes harmful or harmless, calls with values, and those that libraries do
 * without. */
static void
programs_have_the_calls_they_need(void **state)
{
    static const int whole[] = {SCMP_SYS(read),
                                SCMP_SYS(write),
                                SCMP_SYS(execve),
                                SCMP_SYS(mmap),
                                SCMP_SYS(kill),
                                SCMP_SYS(setpgid),
                                SCMP_SYS(landlock_restrict_self)};
    static const struct {
        int call;
        unsigned argument;
        uint64_t value;
    } valued[] = {{SCMP_SYS(ioctl), 1, TCGETS},
                  {SCMP_SYS(ioctl), 1, FIONBIO},
                  {SCMP_SYS(fcntl), 1, F_DUPFD},
                  {SCMP_SYS(fcntl), 1, F_GET_SEALS},
                  {SCMP_SYS(prctl), 0, PR_SET_NAME},
                  {SCMP_SYS(prctl), 0, PR_SET_PDEATHSIG},
                  {SCMP_SYS(prctl), 0, PR_SET_NO_NEW_PRIVS},
                  {SCMP_SYS(prlimit64), 0, 0}};
    static const int unknown[] = {SCMP_SYS(clone3), SCMP_SYS(openat2)};
    static const int none[] = {SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(ptrace),
                               SCMP_SYS(mount),  SCMP_SYS(unlink),  SCMP_SYS(setsid)};
    scmp_filter_ctx filter;
    (void)state;
    begin_filter(&filter);
    assert_int_equal(sandbox_add_program_calls(filter, LANDLOCK_SCOPES), 0);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        const struct filter_rule *rule = rule_of(SCMP_ACT_ALLOW, whole[i], NULL);
        assert_non_null(rule);
        assert_int_equal(rule->count, 0);
    }
    for (size_t i = 0; i < sizeof valued / sizeof *valued; i++) {
        const struct filter_rule *rule = rule_of(SCMP_ACT_ALLOW, valued[i].call, &valued[i].value);
        expect_comparison(rule, 0, valued[i].argument, UINT32_MAX, valued[i].value);
        assert_int_equal(rule->count, 1);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const struct filter_rule *rule = rule_of(SCMP_ACT_ERRNO(ENOSYS), unknown[i], NULL);
        assert_non_null(rule);
        assert_int_equal(rule->count, 0);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_null(rule_of(SCMP_ACT_ALLOW, none[i], NULL));
    }
    seccomp_release(filter);
}

/* Processes stay in their namespaces, and pairs of sockets with each other. */
static void
processes_and_pairs_of_programs_stay_inside(void **state)
{
    scmp_filter_ctx filter;
    (void)state;
    begin_filter(&filter);
    assert_int_equal(sandbox_add_program_calls(filter, LANDLOCK_SCOPES), 0);
    const struct filter_rule *process = rule_of(SCMP_ACT_ALLOW, SCMP_SYS(clone), NULL);
    expect_comparison(process, 0, 0,
                      CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                          CLONE_NEWPID | CLONE_NEWNET,
                      0);
    assert_int_equal(process->count, 1);
    const struct filter_rule *pair = rule_of(SCMP_ACT_ALLOW, SCMP_SYS(socketpair), NULL);
    expect_comparison(pair, 0, 0, UINT32_MAX, AF_UNIX);
    expect_comparison(pair, 1, 1, 0xF, SOCK_STREAM);
    assert_int_equal(pair->count, 2);
    seccomp_release(filter);
}

/* A worker's program signals whom Landlock lets it, or nobody. */
static void
programs_are_refused_what_their_worker_has(void **state)
{
    static const int signals[] = {SCMP_SYS(kill), SCMP_SYS(tkill), SCMP_SYS(tgkill)};
    static const int versions[] = {LANDLOCK_NONE, LANDLOCK_SCOPES - 1, LANDLOCK_SCOPES,
                                   LANDLOCK_SCOPES + 1};
    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        const bool refused = versions[i] < LANDLOCK_SCOPES;
        scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
        assert_non_null(filter);
        filter_rule_count = 0;
        assert_int_equal(sandbox_add_program_refusals(filter, versions[i]), 0);
        assert_int_equal(filter_rule_count, refused ? 5 : 2);
        const struct filter_rule *group = rule_of(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(setpgid), NULL);
        assert_non_null(group);
        assert_int_equal(group->count, 0);
        const struct filter_rule *death = rule_of(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), NULL);
        expect_comparison(death, 0, 0, UINT32_MAX, PR_SET_PDEATHSIG);
        assert_int_equal(death->count, 1);
        for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) {
            const struct filter_rule *rule = rule_of(SCMP_ACT_ERRNO(EPERM), signals[k], NULL);
            assert_true(refused ? rule != NULL && rule->count == 0 : rule == NULL);
        }
        seccomp_release(filter);
    }
}

static int
tear_down(void **state)
{
    (void)state;
    landlock_stand_in = NULL;
    return 0;
}

int
sandbox_rules_run(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(each_version_of_landlock_forbids_what_it_can),
        CASE(without_landlock_nothing_is_asked_of_it),
        CASE(programs_read_the_system_and_write_nowhere),
        CASE(landlock_does_without_a_standard_input),
        CASE(who_cannot_enter_landlock_is_told),
        CASE(opening_is_forbidden_by_one_of_both),
        CASE(programs_have_the_calls_they_need),
        CASE(processes_and_pairs_of_programs_stay_inside),
        CASE(programs_are_refused_what_their_worker_has),
    };
    return cmocka_run_group_tests_name("sandbox_rules", tests, NULL, NULL);
}
