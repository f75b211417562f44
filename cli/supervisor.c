/* See supervisor.h. One loop over a signal descriptor and the next restart's time. */
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
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "config/config.h"

enum {
    CHILDREN_MOST = 1200,
    PAUSE_FIRST_MS = 100,
    PAUSE_MOST_MS = 5000,
    STEADY_MS = 10000,
    LOG_CHECK_MS = 10000,
    STOP_GRACE_MS = 15000
};

/* Stopped from the last rank to the first, so that stages still find their daemons. */
enum rank { RANK_STORE, RANK_INDEX, RANK_STAGE, RANK_COUNT };

struct child {
    char name[32];
    const char *program;
    unsigned number; /* 0: the program takes no --number */
    enum rank rank;
    pid_t pid;
    uint64_t started_ms, start_at_ms; /* monotonic; start_at_ms 0: running or not wanted */
    uint32_t pause_ms, deaths;
};

struct supervisor {
    char *directory, *programs;
    const struct flag_list *assignments;
    struct child *children;
    size_t count;
    int signals, lock;
    uint64_t log_most, logs_checked_ms;
    bool stopping;
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
    *child = (struct child){.program = program, .number = number, .rank = rank, .start_at_ms = 1};
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

static void
child_path(const struct supervisor *supervisor, const char *folder, const char *name,
           const char *suffix, struct buf *out)
{
    buf_init(out, 1 << 16);
    buf_printf(out, "%s/%s/%s%s", supervisor->directory, folder, name, suffix);
}

static int
open_log(const struct supervisor *supervisor, const struct child *child)
{
    struct buf path;
    child_path(supervisor, "log", child->name, ".log", &path);
    const int log = open(path.data, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    buf_release(&path);
    return log;
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
    const int log = open_log(supervisor, child);
    const int null = open("/dev/null", O_RDONLY);
    if (log < 0 || null < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0 ||
        dup2(null, STDIN_FILENO) < 0) {
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

/* ---- logs ---- */

/* Copies and truncates: the child keeps its O_APPEND descriptor and writes on from 0. */
static void
bound_log(const struct supervisor *supervisor, const char *name)
{
    struct buf path, old;
    struct stat info;
    child_path(supervisor, "log", name, ".log", &path);
    child_path(supervisor, "log", name, ".log.1", &old);
    const int in = open(path.data, O_RDWR | O_CLOEXEC);
    if (in >= 0 && fstat(in, &info) == 0 && (uint64_t)info.st_size > supervisor->log_most) {
        const int out = open(old.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        while (out >= 0 && sendfile(out, in, NULL, 1 << 20) > 0) {
        }
        if (out >= 0) {
            close(out);
        }
        if (ftruncate(in, 0) != 0) {
            log_warning("log_kept", "file=%s reason=%s", path.data, strerror(errno));
        }
    }
    if (in >= 0) {
        close(in);
    }
    buf_release(&path);
    buf_release(&old);
}

static void
bound_logs(struct supervisor *supervisor)
{
    const uint64_t now = clock_monotonic_ms();
    if (now - supervisor->logs_checked_ms < LOG_CHECK_MS) {
        return;
    }
    supervisor->logs_checked_ms = now;
    for (size_t i = 0; i < supervisor->count; i++) {
        bound_log(supervisor, supervisor->children[i].name);
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
            supervisor->stopping = true;
        }
    }
    reap(supervisor);
}

static size_t
signal_rank(struct supervisor *supervisor, enum rank rank, int number)
{
    size_t alive = 0;
    for (size_t i = 0; i < supervisor->count; i++) {
        struct child *child = &supervisor->children[i];
        if (child->rank == rank && child->pid > 0) {
            if (number != 0) {
                kill(child->pid, number);
            }
            alive++;
        }
    }
    return alive;
}

static void
stop_rank(struct supervisor *supervisor, enum rank rank)
{
    const uint64_t until = clock_monotonic_ms() + STOP_GRACE_MS;
    size_t alive = signal_rank(supervisor, rank, SIGTERM);
    while (alive > 0 && clock_monotonic_ms() < until) {
        wait_for_signal(supervisor, 100);
        reap(supervisor);
        alive = signal_rank(supervisor, rank, 0);
    }
    if (alive > 0) {
        log_warning("killing", "processes=%zu reason=%s", alive, "they did not stop on SIGTERM");
        signal_rank(supervisor, rank, SIGKILL);
        while (signal_rank(supervisor, rank, 0) > 0) {
            wait_for_signal(supervisor, 100);
            reap(supervisor);
        }
    }
}

enum status
supervisor_run(struct supervisor *supervisor, struct reason *why)
{
    while (!supervisor->stopping) {
        const int wait = start_due(supervisor);
        bound_logs(supervisor);
        wait_for_signal(supervisor, wait);
    }
    for (int rank = RANK_COUNT - 1; rank >= 0; rank--) {
        stop_rank(supervisor, (enum rank)rank);
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

static int
open_lock(const char *directory)
{
    struct buf path;
    buf_init(&path, 1 << 16);
    buf_printf(&path, "%s/run/supervisor.lock", directory);
    const int lock = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    buf_release(&path);
    return lock;
}

int
supervisor_pid(const char *directory)
{
    char text[32] = "";
    int pid = 0;
    const int lock = open_lock(directory);
    if (lock < 0) {
        return 0;
    }
    if (flock(lock, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
        read(lock, text, sizeof text - 1) > 0) {
        pid = atoi(text);
    }
    close(lock);
    return pid;
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
static bool
take_lock(int lock, bool wait)
{
    enum { TRIES = 10, PAUSE_US = 10000 };
    if (wait) {
        return flock(lock, LOCK_EX) == 0;
    }
    for (int i = 0; i < TRIES; i++) {
        if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
            return true;
        }
        usleep(PAUSE_US);
    }
    return false;
}

enum status
supervisor_open(struct supervisor **out, const char *directory, const struct opt_set *options,
                const struct cluster *cluster, const struct flag_list *assignments,
                const char *only, bool wait, struct reason *why)
{
    sigset_t set;
    TRY(make_folders(directory, why));
    TRY(config_fix(directory, options, why));
    struct supervisor *supervisor = memory_zero(1, sizeof *supervisor);
    supervisor->directory = memory_string(directory);
    supervisor->programs = own_folder();
    supervisor->assignments = assignments;
    supervisor->children = memory_zero(CHILDREN_MOST, sizeof *supervisor->children);
    supervisor->log_most = (uint64_t)opt_integer(options, "log.size");
    supervisor->signals = -1;
    supervisor->lock = open_lock(directory);
    if (supervisor->lock < 0 || !take_lock(supervisor->lock, wait)) {
        const enum status status =
            status_fail(why, STATUS_DENIED, "another quadrille runs in %s", directory);
        supervisor_close(supervisor);
        return status;
    }
    if (ftruncate(supervisor->lock, 0) != 0 ||
        dprintf(supervisor->lock, "%d\n", (int)getpid()) < 0) {
        log_warning("lock_unwritten", "reason=%s", strerror(errno));
    }
    add_children(supervisor, options, cluster, only);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    supervisor->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
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
    if (supervisor->lock >= 0) {
        close(supervisor->lock); /* the lock goes with it */
    }
    free(supervisor->children);
    free(supervisor->directory);
    free(supervisor->programs);
    free(supervisor);
}
