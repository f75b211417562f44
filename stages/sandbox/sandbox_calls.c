#include "stages/sandbox/sandbox_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "stages/sandbox/landlock.h"

/* Memory, threads and processes of its own, files that are read, pipes, waiting, clocks. Whatever
 * is not here fails with EPERM: writing to files by name (chmod, truncate, rename, xattr, ...),
 * System V IPC, io_uring, userfaultfd, tracing, namespaces, keys, sessions. */
static const int allowed[] = {
    /* files */
    SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(preadv), SCMP_SYS(write),
    SCMP_SYS(writev), SCMP_SYS(pwrite64), SCMP_SYS(pwritev), SCMP_SYS(close), SCMP_SYS(close_range),
    SCMP_SYS(stat), SCMP_SYS(fstat), SCMP_SYS(lstat), SCMP_SYS(newfstatat), SCMP_SYS(statx),
    SCMP_SYS(statfs), SCMP_SYS(fstatfs), SCMP_SYS(lseek), SCMP_SYS(access), SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getdents),
    SCMP_SYS(getdents64), SCMP_SYS(getcwd), SCMP_SYS(chdir), SCMP_SYS(fchdir), SCMP_SYS(umask),
    SCMP_SYS(dup), SCMP_SYS(dup2), SCMP_SYS(dup3), SCMP_SYS(pipe), SCMP_SYS(pipe2), SCMP_SYS(flock),
    SCMP_SYS(fsync), SCMP_SYS(fdatasync), SCMP_SYS(ftruncate), SCMP_SYS(fadvise64),
    SCMP_SYS(readahead), SCMP_SYS(memfd_create), SCMP_SYS(sendfile), SCMP_SYS(splice),
    SCMP_SYS(tee), SCMP_SYS(getxattr), SCMP_SYS(lgetxattr), SCMP_SYS(fgetxattr),
    /* its own sockets */
    SCMP_SYS(sendto), SCMP_SYS(recvfrom), SCMP_SYS(sendmsg), SCMP_SYS(recvmsg), SCMP_SYS(shutdown),
    SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(getsockopt), SCMP_SYS(setsockopt),
    /* memory */
    SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(mprotect), SCMP_SYS(munmap), SCMP_SYS(mremap),
    SCMP_SYS(madvise), SCMP_SYS(msync), SCMP_SYS(mincore), SCMP_SYS(mlock), SCMP_SYS(munlock),
    SCMP_SYS(membarrier), SCMP_SYS(arch_prctl),
    /* waiting and time */
    SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(select), SCMP_SYS(pselect6), SCMP_SYS(epoll_create),
    SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait),
    SCMP_SYS(eventfd), SCMP_SYS(eventfd2), SCMP_SYS(timerfd_create), SCMP_SYS(timerfd_settime),
    SCMP_SYS(timerfd_gettime), SCMP_SYS(signalfd), SCMP_SYS(signalfd4), SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep), SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres),
    SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(times), SCMP_SYS(alarm), SCMP_SYS(setitimer),
    SCMP_SYS(getitimer), SCMP_SYS(timer_create), SCMP_SYS(timer_settime), SCMP_SYS(timer_gettime),
    SCMP_SYS(timer_getoverrun), SCMP_SYS(timer_delete), SCMP_SYS(pause), SCMP_SYS(futex),
    SCMP_SYS(set_robust_list), SCMP_SYS(get_robust_list), SCMP_SYS(restart_syscall),
    /* signals; whom they reach Landlock or the refusals say */
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigpending), SCMP_SYS(rt_sigsuspend), SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(sigaltstack), SCMP_SYS(kill), SCMP_SYS(tkill), SCMP_SYS(tgkill),
    /* processes */
    SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(wait4),
    SCMP_SYS(waitid), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(set_tid_address),
    SCMP_SYS(rseq), SCMP_SYS(setpgid), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getparam), SCMP_SYS(sched_getscheduler), SCMP_SYS(sched_get_priority_max),
    SCMP_SYS(sched_get_priority_min), SCMP_SYS(getpriority), SCMP_SYS(getcpu),
    /* who and where it is */
    SCMP_SYS(getpid), SCMP_SYS(getppid), SCMP_SYS(gettid), SCMP_SYS(getpgrp), SCMP_SYS(getpgid),
    SCMP_SYS(getsid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
    SCMP_SYS(getresuid), SCMP_SYS(getresgid), SCMP_SYS(getgroups), SCMP_SYS(capget),
    SCMP_SYS(uname), SCMP_SYS(sysinfo), SCMP_SYS(getrusage), SCMP_SYS(getrlimit),
    SCMP_SYS(setrlimit), SCMP_SYS(getrandom),
    /* further cages within this one */
    SCMP_SYS(seccomp), SCMP_SYS(landlock_create_ruleset), SCMP_SYS(landlock_add_rule),
    SCMP_SYS(landlock_restrict_self)};

/* Calls that are allowed with one value of an argument. */
static const struct {
    int call;
    unsigned argument;
    scmp_datum_t value;
} with_value[] = {{SCMP_SYS(ioctl), 1, TCGETS},
                  {SCMP_SYS(ioctl), 1, TIOCGWINSZ},
                  {SCMP_SYS(ioctl), 1, TIOCGPGRP},
                  {SCMP_SYS(ioctl), 1, FIONREAD},
                  {SCMP_SYS(ioctl), 1, FIOCLEX},
                  {SCMP_SYS(ioctl), 1, FIONCLEX},
                  {SCMP_SYS(ioctl), 1, FIONBIO},
                  {SCMP_SYS(fcntl), 1, F_DUPFD},
                  {SCMP_SYS(fcntl), 1, F_DUPFD_CLOEXEC},
                  {SCMP_SYS(fcntl), 1, F_GETFD},
                  {SCMP_SYS(fcntl), 1, F_SETFD},
                  {SCMP_SYS(fcntl), 1, F_GETFL},
                  {SCMP_SYS(fcntl), 1, F_SETFL},
                  {SCMP_SYS(fcntl), 1, F_GETLK},
                  {SCMP_SYS(fcntl), 1, F_SETLK},
                  {SCMP_SYS(fcntl), 1, F_SETLKW},
                  {SCMP_SYS(fcntl), 1, F_GETPIPE_SZ},
                  {SCMP_SYS(fcntl), 1, F_SETPIPE_SZ},
                  {SCMP_SYS(fcntl), 1, F_ADD_SEALS},
                  {SCMP_SYS(fcntl), 1, F_GET_SEALS},
                  {SCMP_SYS(prctl), 0, PR_SET_NAME},
                  {SCMP_SYS(prctl), 0, PR_GET_NAME},
                  {SCMP_SYS(prctl), 0, PR_GET_DUMPABLE},
                  {SCMP_SYS(prctl), 0, PR_SET_DUMPABLE},
                  {SCMP_SYS(prctl), 0, PR_CAPBSET_READ},
                  {SCMP_SYS(prctl), 0, PR_GET_SECCOMP},
                  {SCMP_SYS(prctl), 0, PR_SET_SECCOMP},
                  {SCMP_SYS(prctl), 0, PR_SET_NO_NEW_PRIVS},
                  {SCMP_SYS(prctl), 0, PR_SET_PDEATHSIG},
                  {SCMP_SYS(prctl), 0, PR_SET_VMA},
                  {SCMP_SYS(prlimit64), 0, 0}}; /* of itself */

/* Their arguments are in memory, where no filter sees them; libraries then use the older call. */
static const int unknown[] = {SCMP_SYS(clone3), SCMP_SYS(openat2)};

enum {
    NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                 CLONE_NEWPID | CLONE_NEWNET
};

/* Opening, for what Landlock does not forbid in this kernel. */
static int
add_opening(scmp_filter_ctx filter, int landlock)
{
    const scmp_datum_t forbidden = landlock == LANDLOCK_NONE       ? O_ACCMODE | O_CREAT | O_TRUNC
                                   : landlock < LANDLOCK_TRUNCATES ? O_TRUNC
                                                                   : 0;
    const int error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(open), 1,
                                       SCMP_A1(SCMP_CMP_MASKED_EQ, forbidden, 0));
    return error != 0 ? error
                      : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
                                         SCMP_A2(SCMP_CMP_MASKED_EQ, forbidden, 0));
}

int
sandbox_add_program_calls(scmp_filter_ctx filter, int landlock)
{
    int error = add_opening(filter, landlock);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    }
    for (size_t i = 0; i < sizeof with_value / sizeof *with_value && error == 0; i++) {
        error = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, with_value[i].call, 1,
            SCMP_CMP(with_value[i].argument, SCMP_CMP_MASKED_EQ, UINT32_MAX, with_value[i].value));
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), unknown[i], 0);
    }
    if (error == 0) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, NAMESPACES, 0));
    }
    /* Pairs that stay with each other: datagrams could be sent to any address. */
    if (error == 0) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), 2,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, UINT32_MAX, AF_UNIX),
                                 SCMP_A1(SCMP_CMP_MASKED_EQ, 0xF, SOCK_STREAM));
    }
    return error;
}

int
sandbox_add_program_refusals(scmp_filter_ctx filter, int landlock)
{
    static const int signals[] = {SCMP_SYS(kill), SCMP_SYS(tkill), SCMP_SYS(tgkill)};
    /* Its processes end with its group, which nobody leaves, and with the worker. */
    int error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(setpgid), 0);
    if (error == 0) {
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, UINT32_MAX, PR_SET_PDEATHSIG));
    }
    for (size_t i = 0;
         landlock < LANDLOCK_SCOPES && i < sizeof signals / sizeof *signals && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), signals[i], 0);
    }
    return error;
}
