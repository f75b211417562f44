#include "cli/cluster/share_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "config/pass_settings.h"
#include "config/run_lock.h"

enum { MARGIN_MS = 50, SIGNAL_CODE = 128 };
/* The one order that is no time. */
static const uint64_t order_stop = 0;

uint64_t
share_clock_ms(void *unused)
{
    struct timespec now;
    (void)unused;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- in the child of the guard ---- */

static _Noreturn void
become_supervisor(const struct share_guard_settings *settings, pid_t parent)
{
    const char *argv[12];
    char after[32], passed[SETTINGS_ARGUMENT_SIZE];
    size_t n = 0;
    struct reason why = {""};
    struct buf path;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(EXIT_SYSTEM);
    }
    buf_init(&path, 1 << 16);
    buf_printf(&path, "%s/log", settings->directory);
    (void)mkdir(path.data, 0700); /* the open below tells when it is not there */
    buf_append_string(&path, "/supervisor.log");
    const int log = open(path.data, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0 || dup2(log, STDERR_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0) {
        _exit(EXIT_SYSTEM);
    }
    if (settings_pass(settings->assignments, passed, &why) != STATUS_OK) {
        dprintf(STDERR_FILENO, "quadrille: %s\n", why.text);
        _exit(EXIT_SYSTEM);
    }
    /* The claim is ours alone, so that nobody can have what the file system has no locks of. */
    (void)run_locks_remove_lost(settings->directory);
    snprintf(after, sizeof after, "%llu",
             (unsigned long long)((settings->fetch_after_ms + 999) / 1000));
    argv[n++] = "quadrille";
    argv[n++] = "up";
    argv[n++] = "--dir";
    argv[n++] = settings->directory;
    argv[n++] = "--fetch-after";
    argv[n++] = after;
    if (settings->only != NULL) {
        argv[n++] = "--only";
        argv[n++] = settings->only;
    }
    argv[n++] = "--set";
    argv[n++] = passed;
    argv[n] = NULL;
    execv("/proc/self/exe", (char *const *)argv);
    dprintf(STDERR_FILENO, "quadrille: cannot run quadrille up: %s\n", strerror(errno));
    _exit(EXIT_SYSTEM);
}

/* ---- the guard ---- */

static void
set_timer(timer_t timer, uint64_t until_ms)
{
    const struct itimerspec when = {.it_value = {.tv_sec = (time_t)(until_ms / 1000),
                                                 .tv_nsec = (long)(until_ms % 1000) * 1000000 + 1}};
    if (timer_settime(timer, TIMER_ABSTIME, &when, NULL) != 0) {
        (void)kill(0, SIGKILL);
    }
}

static int
watch_children(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_SETMASK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void
end_with_child(pid_t child)
{
    int how;
    if (waitpid(child, &how, WNOHANG) == child) {
        _exit(WIFEXITED(how) ? WEXITSTATUS(how) : SIGNAL_CODE + WTERMSIG(how));
    }
}

static _Noreturn void
guard(const struct share_guard_settings *settings, int orders, timer_t timer)
{
    uint64_t until = settings->until_ms, order;
    const int children = watch_children();
    const pid_t self = getpid();
    const pid_t child = fork();
    if (child == 0) {
        become_supervisor(settings, self);
    }
    if (child < 0 || children < 0) {
        _exit(EXIT_SYSTEM);
    }
    for (;;) {
        struct pollfd polls[] = {{.fd = orders, .events = POLLIN},
                                 {.fd = children, .events = POLLIN}};
        struct signalfd_siginfo info;
        const uint64_t now = share_clock_ms(NULL);
        if (now + MARGIN_MS >= until) {
            (void)kill(0, SIGKILL); /* ourselves, too */
        }
        (void)poll(polls, 2, (int)(until - MARGIN_MS - now));
        if (polls[0].revents != 0) {
            const ssize_t n = read(orders, &order, sizeof order);
            if (n == sizeof order && order != order_stop && share_clock_ms(NULL) < until) {
                until = order;
                set_timer(timer, until);
            } else if (n == sizeof order && order == order_stop) {
                (void)kill(child, SIGTERM);
            } else if (n == 0) {
                (void)kill(0, SIGKILL);
            }
        }
        while (read(children, &info, sizeof info) == sizeof info) {
        }
        end_with_child(child);
    }
}

static _Noreturn void
become_guard(const struct share_guard_settings *settings, int orders, pid_t parent)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (setpgid(0, 0) != 0 || timer_create(CLOCK_BOOTTIME, &event, &timer) != 0) {
        _exit(EXIT_SYSTEM);
    }
    set_timer(timer, settings->until_ms);
    if (getppid() != parent || dup2(orders, STDIN_FILENO) < 0) {
        _exit(EXIT_SYSTEM);
    }
    (void)close_range(STDERR_FILENO + 1, ~0U, 0);
    guard(settings, STDIN_FILENO, timer);
}

/* ---- in quadrille cluster run ---- */

enum status
share_guard_start(struct share_guard *guard, const struct share_guard_settings *settings,
                  struct reason *why)
{
    int ends[2];
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return status_fail_errno(why, "cannot make a pipe");
    }
    const pid_t self = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
        become_guard(settings, ends[0], self);
    }
    (void)close(ends[0]);
    if (pid < 0) {
        (void)close(ends[1]);
        return status_fail_errno(why, "cannot start a process");
    }
    (void)setpgid(pid, pid); /* whoever of both comes first */
    (void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
    *guard = (struct share_guard){.pid = pid, .orders = ends[1]};
    return STATUS_OK;
}

/* A guard that does not read is stopped or gone: its time runs out. */
static void
give_order(const struct share_guard *guard, uint64_t order)
{
    if (guard->pid > 0 && !guard->gone && write(guard->orders, &order, sizeof order) < 0 &&
        errno != EAGAIN) {
        share_guard_kill(guard);
    }
}

void
share_guard_extend(const struct share_guard *guard, uint64_t until_ms)
{
    give_order(guard, until_ms);
}

void
share_guard_stop(const struct share_guard *guard)
{
    give_order(guard, order_stop);
}

void
share_guard_kill(const struct share_guard *guard)
{
    if (guard->pid > 0) {
        (void)kill(-guard->pid, SIGKILL);
    }
}

/* Takes over what the guard has guarded: it is ours to wait for now. */
static void
take_end(struct share_guard *guard)
{
    siginfo_t info = {0};
    int how;
    if (waitid(P_PID, (id_t)guard->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != guard->pid) {
        return;
    }
    share_guard_kill(guard);
    (void)waitpid(guard->pid, &how, 0);
    (void)close(guard->orders);
    guard->gone = true;
    guard->code = WIFEXITED(how) ? WEXITSTATUS(how) : SIGNAL_CODE + WTERMSIG(how);
}

/* The group's number is nobody else's before the last of it was waited for. */
bool
share_guard_has_ended(struct share_guard *guard, int *code)
{
    pid_t ended = 1;
    if (guard->pid > 0 && !guard->gone) {
        take_end(guard);
    }
    if (guard->pid <= 0 || !guard->gone) {
        return false;
    }
    while (ended > 0) {
        ended = waitpid(-guard->pid, NULL, WNOHANG);
    }
    if (ended == 0) {
        share_guard_kill(guard);
        return false;
    }
    *code = guard->code;
    *guard = (struct share_guard){0};
    return true;
}

void
share_guard_reap_strays(share_guard_is_group *is_of_a_guard, const void *context)
{
    siginfo_t info = {0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid > 0 &&
           !is_of_a_guard(context, getpgid(info.si_pid))) {
        (void)waitpid(info.si_pid, NULL, WNOHANG);
        info = (siginfo_t){0};
    }
}
