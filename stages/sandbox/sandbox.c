#include "stages/sandbox/sandbox.h"

#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stages/sandbox/landlock.h"
#include "stages/sandbox/sandbox_calls.h"

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

/* ---- seccomp ---- */

/* System calls that parsing needs. */
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

/* System calls that libraries try in passing and can do without. */
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

/* Loads and frees the filter, unless its rules failed. */
static enum status
load(scmp_filter_ctx filter, int error, struct reason *why)
{
    if (error == 0) {
        error = seccomp_load(filter);
    }
    seccomp_release(filter);
    return error == 0 ? STATUS_OK : seccomp_failed(why, error);
}

static enum status
enter_seccomp(enum sandbox_policy policy, struct reason *why)
{
    const bool parser = policy == SANDBOX_PARSER;
    scmp_filter_ctx filter = seccomp_init(parser ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO(EPERM));
    if (!filter) {
        return seccomp_failed(why, ENOMEM);
    }
    return load(filter,
                parser ? add_parser_rules(filter)
                       : sandbox_add_program_calls(filter, landlock_version()),
                why);
}

bool
sandbox_has_landlock(void)
{
    return landlock_version() != LANDLOCK_NONE;
}

enum status
sandbox_enter(enum sandbox_policy policy, size_t memory, struct reason *why)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return status_fail_errno(why, "cannot give up privileges");
    }
    /* A process that a program leaves behind becomes a child of the worker, which ends it. */
    if (policy == SANDBOX_PROGRAM && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
        return status_fail_errno(why, "cannot adopt what programs leave behind");
    }
    TRY(set_limits(policy, memory, why));
    TRY(landlock_enter(policy == SANDBOX_PROGRAM, why));
    return SANITIZED ? STATUS_OK : enter_seccomp(policy, why);
}

bool
sandbox_enter_program(void)
{
    if (landlock_enter_alone(NULL) != STATUS_OK) {
        return false;
    }
    scmp_filter_ctx filter = SANITIZED ? NULL : seccomp_init(SCMP_ACT_ALLOW);
    return filter ? load(filter, sandbox_add_program_refusals(filter, landlock_version()), NULL) ==
                        STATUS_OK
                  : SANITIZED;
}
