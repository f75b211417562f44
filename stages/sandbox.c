#include "stages/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sanitizers need more address space and more calls than any cage would give. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

bool
sandbox_is_complete(void)
{
    return !SANITIZED;
}

/* ---- limits ---- */

static enum status
limit(int resource, rlim_t value, struct reason *why)
{
    const struct rlimit limits = {value, value};
    if (setrlimit(resource, &limits) != 0) {
        return status_fail_errno(why, "cannot set a limit of the sandbox");
    }
    return STATUS_OK;
}

/* Address space in use, from /proc while it can still be read. */
static size_t
mapped_now(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file) {
        if (fscanf(file, "%lu", &pages) != 1) {
            pages = 0;
        }
        fclose(file);
    }
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static enum status
set_limits(enum sandbox_policy policy, size_t memory, struct reason *why)
{
    TRY(limit(RLIMIT_CORE, 0, why));
    if (policy == SANDBOX_PROGRAM) {
        return STATUS_OK; /* each program gets its own */
    }
    TRY(limit(RLIMIT_FSIZE, 0, why));
    if (memory > 0 && !SANITIZED) {
        TRY(limit(RLIMIT_AS, mapped_now() + memory, why));
    }
    return STATUS_OK;
}

/* ---- Landlock ---- */

static int
landlock_version(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

bool
sandbox_has_landlock(void)
{
    return landlock_version() > 0;
}

/* Rights of version 1, which every kernel with Landlock knows. */
static const uint64_t reading =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t writing = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

static void
allow_reading(int rules, const char *folder)
{
    const int parent = open(folder, O_PATH | O_CLOEXEC);
    if (parent >= 0) {
        const struct landlock_path_beneath_attr beneath = {.allowed_access = reading,
                                                           .parent_fd = parent};
        syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
        close(parent);
    }
}

static enum status
enter_landlock(enum sandbox_policy policy, struct reason *why)
{
    static const char *const folders[] = {"/usr", "/bin", "/lib", "/lib64", "/etc", "/opt"};
    if (!sandbox_has_landlock()) {
        return STATUS_OK;
    }
    const struct landlock_ruleset_attr handled = {.handled_access_fs = reading | writing};
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
    if (rules < 0) {
        return status_fail_errno(why, "cannot make Landlock rules");
    }
    for (size_t i = 0; policy == SANDBOX_PROGRAM && i < sizeof folders / sizeof *folders; i++) {
        allow_reading(rules, folders[i]);
    }
    const long result = syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
    return result == 0 ? STATUS_OK : status_fail_errno(why, "cannot enter Landlock");
}

/* ---- seccomp ---- */

/* What parsing needs. */
static const int allowed[] = {
    SCMP_SYS(read),           SCMP_SYS(write),
    SCMP_SYS(recvmsg),        SCMP_SYS(sendmsg),
    SCMP_SYS(recvfrom),       SCMP_SYS(sendto),
    SCMP_SYS(close),          SCMP_SYS(lseek),
    SCMP_SYS(fstat),          SCMP_SYS(brk),
    SCMP_SYS(munmap),         SCMP_SYS(mremap),
    SCMP_SYS(madvise),        SCMP_SYS(futex),
    SCMP_SYS(clock_gettime),  SCMP_SYS(gettimeofday),
    SCMP_SYS(time),           SCMP_SYS(getrusage),
    SCMP_SYS(setitimer),      SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigprocmask), SCMP_SYS(exit),
    SCMP_SYS(exit_group),     SCMP_SYS(getrandom),
    SCMP_SYS(getpid),         SCMP_SYS(gettid),
    SCMP_SYS(sched_yield),    SCMP_SYS(restart_syscall),
    SCMP_SYS(poll),
};

/* What libraries try in passing and can do without. */
static const int refused[] = {
    SCMP_SYS(open),       SCMP_SYS(openat),    SCMP_SYS(stat),         SCMP_SYS(lstat),
    SCMP_SYS(newfstatat), SCMP_SYS(statx),     SCMP_SYS(access),       SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2), SCMP_SYS(readlink),  SCMP_SYS(readlinkat),   SCMP_SYS(getcwd),
    SCMP_SYS(socket),     SCMP_SYS(connect),   SCMP_SYS(ioctl),        SCMP_SYS(fcntl),
    SCMP_SYS(clone),      SCMP_SYS(clone3),    SCMP_SYS(fork),         SCMP_SYS(vfork),
    SCMP_SYS(execve),     SCMP_SYS(prlimit64), SCMP_SYS(sysinfo),      SCMP_SYS(uname),
    SCMP_SYS(getuid),     SCMP_SYS(geteuid),   SCMP_SYS(memfd_create), SCMP_SYS(pipe2),
};

static enum status
seccomp_failed(struct reason *why, int error)
{
    return status_fail(why, STATUS_SYSTEM, "cannot build the filter of system calls: %s",
                       strerror(error < 0 ? -error : error));
}

static int
add_parser_rules(scmp_filter_ctx filter)
{
    int error = 0;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
    }
    /* Memory, but never memory to execute. */
    const int mapping[] = {SCMP_SYS(mmap), SCMP_SYS(mprotect)};
    for (size_t i = 0; i < 2 && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, mapping[i], 1,
                                 SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
        if (error == 0) {
            error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), mapping[i], 1,
                                     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC));
        }
    }
    /* abort(): a signal to itself only. */
    if (error == 0) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                                 SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
    }
    return error;
}

static int
add_program_rules(scmp_filter_ctx filter)
{
    static const int dangerous[] = {
        SCMP_SYS(ptrace),          SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
        SCMP_SYS(mount),           SCMP_SYS(umount2),          SCMP_SYS(setns),
        SCMP_SYS(unshare),         SCMP_SYS(keyctl),           SCMP_SYS(bpf),
        SCMP_SYS(perf_event_open), SCMP_SYS(init_module),      SCMP_SYS(reboot)};
    int error = 0;
    for (size_t i = 0; i < sizeof dangerous / sizeof *dangerous && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), dangerous[i], 0);
    }
    if (error == 0) {
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
                                 SCMP_A0(SCMP_CMP_NE, AF_UNIX, 0));
    }
    return error;
}

static enum status
enter_seccomp(enum sandbox_policy policy, struct reason *why)
{
    const bool parser = policy == SANDBOX_PARSER;
    scmp_filter_ctx filter = seccomp_init(parser ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ALLOW);
    if (!filter) {
        return seccomp_failed(why, ENOMEM);
    }
    int error = parser ? add_parser_rules(filter) : add_program_rules(filter);
    if (error == 0) {
        error = seccomp_load(filter);
    }
    seccomp_release(filter);
    return error == 0 ? STATUS_OK : seccomp_failed(why, error);
}

enum status
sandbox_enter(enum sandbox_policy policy, size_t memory, struct reason *why)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return status_fail_errno(why, "cannot give up privileges");
    }
    TRY(set_limits(policy, memory, why));
    TRY(enter_landlock(policy, why));
    return SANITIZED ? STATUS_OK : enter_seccomp(policy, why);
}
