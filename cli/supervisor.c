/* See supervisor.h and docs/PROCESSES.md. One loop over a signal descriptor and the next restart's
 * time. A child waits for its name's lock before it runs its program. */
#include "cli/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/process_log.h"
#include "cli/run_lock.h"
#include "config/config.h"
#include "config/wanted_jobs.h"

enum {
    CHILDREN_MOST = 1200,
    PAUSE_FIRST_MS = 100,
    PAUSE_MOST_MS = 5000,
    STEADY_MS = 10000,
    LOG_CHECK_MS = 10000,
    STOP_GRACE_MS = 15000,
    STAY_MS = 50 /* between looks whether a part is still used */
};

/* Stopped from the last rank to the first, so that stages still find their daemons. */
enum rank { RANK_STORE, RANK_INDEX, RANK_STAGE, RANK_COUNT };

struct child {
    char name[32];
    const char *part; /* its name without a number */
    const char *program;
    unsigned number; /* 0: the program takes no --number */
    enum rank rank;
    pid_t pid;
    uint64_t started_ms, start_at_ms; /* monotonic; start_at_ms 0: running or not wanted */
    uint32_t pause_ms, deaths;
};

struct supervisor {
    char *directory, *programs;
    bool helper;
    int staying; /* where to say so once; -1: said */
    const struct flag_list *assignments;
    struct child *children;
    size_t count;
    int signals, lock;
    int claim; /* on the jobs being done */
    uint64_t log_most, logs_checked_ms;
    bool stopping, crawl_over;
    char misused[32]; /* name of a child that refused its configuration */
};

/* ---- which processes ---- */

static void
add_child(struct supervisor *supervisor, const char *program, const char *name, unsigned number,
          enum rank rank)
{
    if (supervisor->count == CHILDREN_MOST) {
        return;
    }
    struct child *child = &supervisor->children[supervisor->count++];
    *child = (struct child){
        .part = name, .program = program, .number = number, .rank = rank, .start_at_ms = 1};
    if (number > 0) {
        snprintf(child->name, sizeof child->name, "%s.%u", name, number);
    } else {
        snprintf(child->name, sizeof child->name, "%s", name);
    }
}

struct part {
    const char *name, *program, *count_option;
    enum rank rank;
    int stage; /* enum stage, -1: none */
};

static const struct part parts[] = {
    {"queue", "quadrille-queue", NULL, RANK_STORE, -1},
    {"metastore", "quadrille-metastore", NULL, RANK_STORE, -1},
    {"index", "quadrille-index", "index.partitions", RANK_INDEX, STAGE_INDEX},
    {"extract", "quadrille-extract", "processes.extract", RANK_STAGE, STAGE_EXTRACT},
    {"transform", "quadrille-transform", "processes.transform", RANK_STAGE, STAGE_TRANSFORM},
    {"detect", "quadrille-detect", "processes.detect", RANK_STAGE, STAGE_DETECT},
    {"fetch", "quadrille-fetch", "processes.fetch", RANK_STAGE, STAGE_FETCH},
    {"web", "quadrille-web", "processes.web", RANK_STAGE, -1},
    {"retain", "quadrille", NULL, RANK_STAGE, -1}, /* quadrille retain --repeat */
};

static bool
is_listed(const char *only, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = only; at != NULL && *at != '\0';) {
        const size_t word = strcspn(at, ",");
        if (word == length && strncmp(at, name, length) == 0) {
            return true;
        }
        at += word + (at[word] == ',');
    }
    return only == NULL;
}

static void
add_children(struct supervisor *supervisor, const struct opt_set *options,
             const struct cluster *cluster, const char *only)
{
    const bool limited = opt_integer(options, "warc.keep_bytes") > 0 ||
                         opt_duration_ms(options, "warc.keep_age") > 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const struct part *part = &parts[i];
        if (!is_listed(only, part->name) || (strcmp(part->name, "retain") == 0 && !limited) ||
            (part->stage >= 0 && !cluster_serves(cluster, (enum stage)part->stage))) {
            continue;
        }
        if (part->count_option == NULL) {
            add_child(supervisor, part->program, part->name, 0, part->rank);
            continue;
        }
        const int64_t count = opt_integer(options, part->count_option);
        for (int64_t n = 1; n <= count; n++) {
            add_child(supervisor, part->program, part->name, part->stage >= 0 ? (unsigned)n : 0,
                      part->rank);
        }
    }
}

/* ---- starting one ---- */

static int
open_lock(const struct supervisor *supervisor, const struct child *child)
{
    char name[sizeof child->name + 8];
    snprintf(name, sizeof name, "%s.lock", child->name);
    return run_lock_open(supervisor->directory, name);
}

static void
sign_lock(int lock)
{
    char text[32];
    snprintf(text, sizeof text, "%d\n", (int)getpid());
    run_lock_sign(lock, text);
}

/* The lock is the program's from here on: it goes with the process. */
static bool
keep_lock(int lock)
{
    sign_lock(lock);
    return fcntl(lock, F_SETFD, 0) == 0;
}

/* In the child: until nobody else runs what it is to be. */
static bool
stand_by(const struct supervisor *supervisor, const struct child *child)
{
    const int lock = open_lock(supervisor, child);
    if (!supervisor->helper) {
        return lock >= 0 && run_lock_wait(lock, LOCK_EX) && keep_lock(lock);
    }
    const int up = run_lock_open(supervisor->directory, SUPERVISOR_LOCK);
    bool good = lock >= 0 && up >= 0;
    for (bool alone = false; good && !alone;) {
        good = run_lock_wait(up, LOCK_SH) && run_lock_wait(up, LOCK_UN) &&
               run_lock_wait(lock, LOCK_EX);
        alone = run_lock_try(up, LOCK_SH);
        good = good && run_lock_wait(alone ? up : lock, LOCK_UN);
    }
    return good && keep_lock(lock);
}

static void
become(const struct supervisor *supervisor, const struct child *child, pid_t parent)
{
    const char *argv[2 * FLAG_LIST_MAXIMUM + 12];
    char number[16];
    struct buf path;
    size_t n = 0;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) { /* it died before the line above */
        _exit(EXIT_SYSTEM);
    }
    const int log = process_log_open(supervisor->directory, child->name);
    const int null = open("/dev/null", O_RDONLY);
    if (log < 0 || null < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0 ||
        dup2(null, STDIN_FILENO) < 0) {
        _exit(EXIT_SYSTEM);
    }
    if (!stand_by(supervisor, child)) {
        dprintf(STDERR_FILENO, "%s: cannot lock its name: %s\n", child->name, strerror(errno));
        _exit(EXIT_SYSTEM);
    }
    buf_init(&path, 1 << 16);
    buf_printf(&path, "%s/%s", supervisor->programs, child->program);
    argv[n++] = child->program;
    if (strcmp(child->program, "quadrille") == 0) {
        argv[n++] = child->name;
        argv[n++] = "--repeat";
    }
    argv[n++] = "--dir";
    argv[n++] = supervisor->directory;
    if (child->number > 0) {
        snprintf(number, sizeof number, "%u", child->number);
        argv[n++] = "--number";
        argv[n++] = number;
    }
    if (child->number > 0 && supervisor->helper) {
        argv[n++] = "--when-wanted";
    }
    for (size_t i = 0; i < supervisor->assignments->count; i++) {
        argv[n++] = "--set";
        argv[n++] = supervisor->assignments->items[i];
    }
    argv[n] = NULL;
    execv(path.data, (char *const *)argv);
    dprintf(STDERR_FILENO, "%s: cannot run %s: %s\n", child->name, path.data, strerror(errno));
    _exit(EXIT_SYSTEM);
}

static void
start_child(struct supervisor *supervisor, struct child *child)
{
    const pid_t self = getpid();
    const pid_t pid = fork();
    child->start_at_ms = 0;
    if (pid == 0) {
        become(supervisor, child, self);
    }
    if (pid < 0) {
        log_warning("fork_failed", "name=%s reason=%s", child->name, strerror(errno));
        child->start_at_ms = clock_monotonic_ms() + PAUSE_MOST_MS;
        return;
    }
    child->pid = pid;
    child->started_ms = clock_monotonic_ms();
    log_info("started", "name=%s pid=%d deaths=%u", child->name, (int)pid, child->deaths);
}

static void
child_ended(struct supervisor *supervisor, struct child *child, int how)
{
    const uint64_t now = clock_monotonic_ms();
    const bool retired = WIFEXITED(how) && WEXITSTATUS(how) == EXIT_DONE;
    child->pid = 0;
    if (supervisor->stopping) {
        return;
    }
    if (WIFEXITED(how) && WEXITSTATUS(how) == EXIT_MISUSE) {
        memcpy(supervisor->misused, child->name, sizeof child->name);
        supervisor->stopping = true;
        return;
    }
    if (retired) {
        child->start_at_ms = now;
        return;
    }
    child->deaths++;
    if (now - child->started_ms >= STEADY_MS || child->pause_ms == 0) {
        child->pause_ms = PAUSE_FIRST_MS;
    } else {
        child->pause_ms *= 2;
    }
    if (child->pause_ms > PAUSE_MOST_MS) {
        child->pause_ms = PAUSE_MOST_MS;
    }
    child->start_at_ms = now + child->pause_ms;
    log_warning("died", "name=%s how=%s code=%d deaths=%u again_in_ms=%u", child->name,
                WIFSIGNALED(how) ? "signal" : "exit",
                WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how), child->deaths,
                child->pause_ms);
}

/* Whether it runs its program and does not stand by. */
static bool
runs(const struct supervisor *supervisor, const struct child *child)
{
    const int lock = child->pid > 0 ? open_lock(supervisor, child) : -1;
    const bool own = lock >= 0 && run_lock_signed(lock) == child->pid;
    if (lock >= 0) {
        close(lock);
    }
    return own;
}

/* ---- logs ---- */

static void
bound_logs(struct supervisor *supervisor)
{
    const uint64_t now = clock_monotonic_ms();
    if (now - supervisor->logs_checked_ms < LOG_CHECK_MS) {
        return;
    }
    supervisor->logs_checked_ms = now;
    for (size_t i = 0; i < supervisor->count; i++) {
        if (runs(supervisor, &supervisor->children[i])) {
            process_log_bound(supervisor->directory, supervisor->children[i].name,
                              supervisor->log_most);
        }
    }
}

/* ---- loop ---- */

static void
reap(struct supervisor *supervisor)
{
    int how;
    pid_t pid;
    while ((pid = waitpid(-1, &how, WNOHANG)) > 0) {
        for (size_t i = 0; i < supervisor->count; i++) {
            if (supervisor->children[i].pid == pid) {
                child_ended(supervisor, &supervisor->children[i], how);
            }
        }
    }
}

static int
start_due(struct supervisor *supervisor)
{
    int wait = LOG_CHECK_MS;
    for (size_t i = 0; i < supervisor->count; i++) {
        struct child *child = &supervisor->children[i];
        const uint64_t now = clock_monotonic_ms();
        if (child->start_at_ms != 0 && child->start_at_ms <= now) {
            start_child(supervisor, child);
        }
        if (child->start_at_ms != 0) {
            const uint64_t left = child->start_at_ms > now ? child->start_at_ms - now : 0;
            wait = left < (uint64_t)wait ? (int)left : wait;
        }
    }
    return wait;
}

static void
wait_for_signal(struct supervisor *supervisor, int wait_ms)
{
    struct pollfd descriptor = {.fd = supervisor->signals, .events = POLLIN};
    struct signalfd_siginfo info;
    if (poll(&descriptor, 1, wait_ms) <= 0) {
        return;
    }
    while (read(supervisor->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo != SIGCHLD) {
            supervisor->crawl_over |= info.ssi_signo == SIGUSR1;
            supervisor->stopping = true;
        }
    }
    reap(supervisor);
}

typedef bool chosen(const struct supervisor *supervisor, const struct child *child,
                    const void *what);

static size_t
signal_chosen(struct supervisor *supervisor, chosen *is_chosen, const void *what, int number)
{
    size_t alive = 0;
    for (size_t i = 0; i < supervisor->count; i++) {
        struct child *child = &supervisor->children[i];
        if (child->pid > 0 && is_chosen(supervisor, child, what)) {
            if (number != 0) {
                kill(child->pid, number);
            }
            alive++;
        }
    }
    return alive;
}

static void
stop_chosen(struct supervisor *supervisor, chosen *is_chosen, const void *what)
{
    const uint64_t until = clock_monotonic_ms() + STOP_GRACE_MS;
    size_t alive = signal_chosen(supervisor, is_chosen, what, SIGTERM);
    while (alive > 0 && clock_monotonic_ms() < until) {
        wait_for_signal(supervisor, 100);
        reap(supervisor);
        alive = signal_chosen(supervisor, is_chosen, what, 0);
    }
    if (alive > 0) {
        log_warning("killing", "processes=%zu reason=%s", alive, "they did not stop on SIGTERM");
        signal_chosen(supervisor, is_chosen, what, SIGKILL);
        while (signal_chosen(supervisor, is_chosen, what, 0) > 0) {
            wait_for_signal(supervisor, 100);
            reap(supervisor);
        }
    }
}

static bool
is_of_rank(const struct supervisor *supervisor, const struct child *child, const void *rank)
{
    (void)supervisor;
    return child->rank == *(const enum rank *)rank;
}

static void
stop_all(struct supervisor *supervisor)
{
    for (int rank = RANK_COUNT - 1; rank >= 0; rank--) {
        const enum rank present = (enum rank)rank;
        stop_chosen(supervisor, is_of_rank, &present);
    }
}

/* ---- the end of a helper ---- */

static bool
stands_by(const struct supervisor *supervisor, const struct child *child, const void *nothing)
{
    (void)nothing;
    return !runs(supervisor, child);
}

static bool
is_of_part(const struct supervisor *supervisor, const struct child *child, const void *part)
{
    (void)supervisor;
    return strcmp(child->part, part) == 0;
}

/* Who comes to use it meanwhile waits. */
static void
stop_unused(struct supervisor *supervisor, const char *part)
{
    const int users = run_lock_open_users(supervisor->directory, part);
    if (users < 0 || run_lock_try(users, LOCK_EX)) {
        stop_chosen(supervisor, is_of_part, part);
    }
    if (users >= 0) {
        close(users);
    }
}

/* From here on its user may end without it, and nobody waits for what it says. */
static void
stay(struct supervisor *supervisor)
{
    if (supervisor->staying < 0) {
        return;
    }
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        (void)dup2(null, STDERR_FILENO);
        close(null);
    }
    (void)prctl(PR_SET_PDEATHSIG, 0);
    if (write(supervisor->staying, "", 1) != 1) {
        log_warning("stays_untold", "reason=%s", strerror(errno));
    }
    close(supervisor->staying);
    supervisor->staying = -1;
}

static void
leave(struct supervisor *supervisor)
{
    stop_chosen(supervisor, stands_by, NULL);
    for (;;) {
        size_t left = 0;
        for (int rank = RANK_COUNT - 1; rank >= 0; rank--) {
            for (size_t i = 0; i < supervisor->count; i++) {
                struct child *child = &supervisor->children[i];
                if (child->rank == (enum rank)rank && child->pid > 0) {
                    stop_unused(supervisor, child->part);
                }
                left += child->rank == (enum rank)rank && child->pid > 0;
            }
        }
        if (left == 0) {
            return;
        }
        stay(supervisor);
        bound_logs(supervisor);
        wait_for_signal(supervisor, STAY_MS);
        reap(supervisor);
    }
}

enum status
supervisor_run(struct supervisor *supervisor, struct reason *why)
{
    if (!supervisor->helper) {
        sign_lock(supervisor->lock); /* the process may be a child of the one that opened it */
    }
    while (!supervisor->stopping) {
        const int wait = start_due(supervisor);
        bound_logs(supervisor);
        wait_for_signal(supervisor, wait);
    }
    if (supervisor->helper) {
        leave(supervisor);
    } else {
        stop_all(supervisor);
        run_lock_sign(supervisor->lock, supervisor->crawl_over ? "" : SUPERVISOR_STOPPED);
    }
    if (supervisor->misused[0] != '\0') {
        return status_fail(why, STATUS_MISUSE, "%s refused its configuration; see %s/log/%s.log",
                           supervisor->misused, supervisor->directory, supervisor->misused);
    }
    return STATUS_OK;
}

/* ---- open and close ---- */

static enum status
make_folders(const char *directory, struct reason *why)
{
    static const char *const folders[] = {"run", "log", "warc", "tmp"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        struct buf path;
        buf_init(&path, 1 << 16);
        buf_printf(&path, "%s/%s", directory, folders[i]);
        const bool made = mkdir(path.data, 0755) == 0 || errno == EEXIST;
        const enum status status =
            made ? STATUS_OK : status_fail_errno(why, "cannot make %s", path.data);
        buf_release(&path);
        TRY(status);
    }
    return STATUS_OK;
}

static char *
own_folder(void)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    return memory_string(path);
}

/* Who looks whether there is a supervisor has the lock for a moment, too. */
static enum status
take_lock(struct supervisor *supervisor, struct reason *why)
{
    enum { TRIES = 50, PAUSE_US = 10000 };
    supervisor->lock = run_lock_open(supervisor->directory, SUPERVISOR_LOCK);
    for (int i = 0; i < TRIES && supervisor->lock >= 0; i++) {
        if (run_lock_try(supervisor->lock, LOCK_EX)) {
            sign_lock(supervisor->lock);
            return STATUS_OK;
        }
        usleep(PAUSE_US);
    }
    return status_fail(why, STATUS_DENIED, "another quadrille runs in %s", supervisor->directory);
}

static void
take_signals(struct supervisor *supervisor)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        sigaddset(&set, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    supervisor->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

enum status
supervisor_open(struct supervisor **out, const struct supervisor_settings *settings,
                struct reason *why)
{
    TRY(make_folders(settings->directory, why));
    TRY(config_fix(settings->directory, settings->options, why));
    struct supervisor *supervisor = memory_zero(1, sizeof *supervisor);
    supervisor->directory = memory_string(settings->directory);
    supervisor->programs = own_folder();
    supervisor->helper = settings->helper;
    supervisor->staying = settings->helper ? settings->staying : -1;
    supervisor->assignments = settings->assignments;
    supervisor->children = memory_zero(CHILDREN_MOST, sizeof *supervisor->children);
    supervisor->log_most = (uint64_t)opt_integer(settings->options, "log.size");
    supervisor->signals = -1;
    supervisor->lock = -1;
    supervisor->claim = -1;
    enum status status = settings->helper ? STATUS_OK : take_lock(supervisor, why);
    if (status == STATUS_OK && !settings->helper) {
        status =
            wanted_jobs_claim(settings->directory, settings->assignments, &supervisor->claim, why);
    }
    if (status != STATUS_OK) {
        supervisor_close(supervisor);
        return status;
    }
    add_children(supervisor, settings->options, settings->cluster, settings->only);
    take_signals(supervisor);
    *out = supervisor;
    return STATUS_OK;
}

void
supervisor_close(struct supervisor *supervisor)
{
    if (supervisor == NULL) {
        return;
    }
    if (supervisor->signals >= 0) {
        close(supervisor->signals);
    }
    if (supervisor->claim >= 0) {
        close(supervisor->claim);
    }
    if (supervisor->lock >= 0) {
        close(supervisor->lock); /* the lock goes with it */
    }
    free(supervisor->children);
    free(supervisor->directory);
    free(supervisor->programs);
    free(supervisor);
}
