/* See supervisor.h and docs/PROCESSES.md. One loop over a signal descriptor and the next restart's
 * time. */
#include "cli/supervisor/supervisor.h"

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
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "base/system/log.h"
#include "cli/supervisor/directory_rest.h"
#include "cli/supervisor/process_log.h"
#include "cli/supervisor/scope_keeper.h"
#include "cli/supervisor/supervisor_child.h"
#include "config/access.h"
#include "config/config.h"
#include "config/process_state.h"
#include "config/run_lock.h"
#include "config/wanted_jobs.h"

enum {
    LOG_CHECK_MS = 10000,
    LOG_BYTES = 64 << 20, /* a larger log is kept once, as NAME.log.1 */
    SCOPE_CHECK_MS = 1000,
    STOP_GRACE_MS = 15000,
    STAY_MS = 50, /* between looks whether a part is still used */
    REST_LOOK_MS = 50
};

struct supervisor {
    struct child_settings settings;
    struct children children;
    int staying; /* where to say so once; -1: said */
    int signals, lock;
    int claim; /* on the jobs being done */
    uint64_t log_most, logs_checked_ms;
    struct scope_keeper scope;
    bool stopping, crawl_over;
    char misused[32];  /* name of a child that refused its configuration */
    char lockless[32]; /* of one whose lock the file system has lost */
};

/* ---- logs ---- */

static void
bound_logs(struct supervisor *supervisor)
{
    const uint64_t now = clock_monotonic_ms();
    if (now - supervisor->logs_checked_ms < LOG_CHECK_MS) {
        return;
    }
    supervisor->logs_checked_ms = now;
    for (size_t i = 0; i < supervisor->children.count; i++) {
        if (child_runs(&supervisor->settings, &supervisor->children.list[i])) {
            process_log_bound(supervisor->settings.directory, supervisor->children.list[i].name,
                              supervisor->log_most);
        }
    }
}

/* ---- loop ---- */

/* Notes the end of a child; nothing is to be learnt of those that we bring about ourselves. */
static void
note_end(struct supervisor *supervisor, struct child *child, int how)
{
    if (supervisor->stopping) {
        child->pid = 0;
        return;
    }
    const enum child_end end = child_ended(child, how);
    if (end != CHILD_AGAIN) {
        char *name = end == CHILD_MISUSED ? supervisor->misused : supervisor->lockless;
        memcpy(name, child->name, sizeof child->name);
        supervisor->stopping = true;
    }
}

static void
reap(struct supervisor *supervisor)
{
    int how;
    pid_t pid;
    while ((pid = waitpid(-1, &how, WNOHANG)) > 0) {
        for (size_t i = 0; i < supervisor->children.count; i++) {
            if (supervisor->children.list[i].pid == pid) {
                note_end(supervisor, &supervisor->children.list[i], how);
            }
        }
    }
}

static int
start_due(struct supervisor *supervisor)
{
    int wait = supervisor->settings.helper ? LOG_CHECK_MS : SCOPE_CHECK_MS;
    for (size_t i = 0; i < supervisor->children.count; i++) {
        struct child *child = &supervisor->children.list[i];
        const uint64_t now = clock_monotonic_ms();
        if (child->start_at_ms != 0 && child->start_at_ms <= now) {
            child_start(&supervisor->settings, child);
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
    for (size_t i = 0; i < supervisor->children.count; i++) {
        struct child *child = &supervisor->children.list[i];
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

/* While somebody has the directory at rest nothing runs; then all that was to run starts anew. */
static void
stop_while_at_rest(struct supervisor *supervisor)
{
    const int lock = run_lock_open(supervisor->settings.directory, REST_LOCK);
    if (lock >= 0 && !directory_rest_over(lock) && errno == EWOULDBLOCK) {
        log_info("rests", "directory=%s", supervisor->settings.directory);
        stop_all(supervisor);
        while (!supervisor->stopping && !directory_rest_over(lock) && errno == EWOULDBLOCK) {
            wait_for_signal(supervisor, REST_LOOK_MS);
        }
        log_info("goes_on", "stopping=%d", supervisor->stopping);
    }
    file_close(lock);
}

/* ---- the end of a helper ---- */

static bool
stands_by(const struct supervisor *supervisor, const struct child *child, const void *nothing)
{
    (void)nothing;
    return !child_runs(&supervisor->settings, child);
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
    const int users = run_lock_open_users(supervisor->settings.directory, part);
    if (users < 0 || run_lock_try(users, LOCK_EX)) {
        stop_chosen(supervisor, is_of_part, part);
    }
    file_close(users);
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
            for (size_t i = 0; i < supervisor->children.count; i++) {
                struct child *child = &supervisor->children.list[i];
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
    if (!supervisor->settings.helper) {
        child_sign_lock(
            supervisor->lock); /* the process may be a child of the one that opened it */
    }
    while (!supervisor->stopping) {
        if (!supervisor->settings.helper) {
            stop_while_at_rest(supervisor);
        }
        scope_keeper_look(&supervisor->scope); /* before any process reads the scope */
        const int wait = start_due(supervisor);
        bound_logs(supervisor);
        wait_for_signal(supervisor, wait);
    }
    if (supervisor->settings.helper) {
        leave(supervisor);
    } else {
        stop_all(supervisor);
        run_lock_sign(supervisor->lock, supervisor->crawl_over ? "" : SUPERVISOR_STOPPED);
    }
    if (supervisor->lockless[0] != '\0') {
        return status_fail(why, STATUS_SYSTEM, "the file system has lost the lock of %s",
                           supervisor->lockless);
    }
    if (supervisor->misused[0] != '\0') {
        struct process_state state;
        const bool said =
            process_state_read(supervisor->settings.directory, supervisor->misused, &state) &&
            state.phase == PROCESS_FAILED;
        return status_fail(why, STATUS_MISUSE, "%s refused its configuration: %s",
                           supervisor->misused, said ? state.why.text : "DIR/log says why");
    }
    return STATUS_OK;
}

/* ---- open and close ---- */

static enum status
make_folders(const char *directory, struct reason *why)
{
    static const struct {
        const char *name;
        mode_t mode;
    } folders[] = {{"run", 0700}, {"log", 0700}, {"warc", 0777}, {"tmp", 0700}};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        struct buf path;
        buf_init(&path, 1 << 16);
        buf_printf(&path, "%s/%s", directory, folders[i].name);
        const enum status status = file_make_folder(path.data, folders[i].mode, why);
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
    supervisor->lock = run_lock_open(supervisor->settings.directory, SUPERVISOR_LOCK);
    int error = supervisor->lock >= 0 ? EWOULDBLOCK : errno;
    for (int i = 0; i < TRIES && error == EWOULDBLOCK; i++) {
        if (run_lock_try(supervisor->lock, LOCK_EX)) {
            child_sign_lock(supervisor->lock);
            return STATUS_OK;
        }
        error = errno;
        usleep(PAUSE_US);
    }
    if (error != EWOULDBLOCK) {
        errno = error;
        return status_fail_errno(why, "cannot lock %s/run/" SUPERVISOR_LOCK,
                                 supervisor->settings.directory);
    }
    return status_fail(why, STATUS_DENIED, "another quadrille runs in %s",
                       supervisor->settings.directory);
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

static bool
has_part(const struct supervisor *supervisor, const char *part)
{
    bool any = false;
    for (size_t i = 0; i < supervisor->children.count; i++) {
        any |= strcmp(supervisor->children.list[i].part, part) == 0;
    }
    return any;
}

static void
delay_fetch(struct supervisor *supervisor, uint64_t ms)
{
    for (size_t i = 0; i < supervisor->children.count && ms > 0; i++) {
        if (strcmp(supervisor->children.list[i].part, "fetch") == 0) {
            supervisor->children.list[i].start_at_ms = clock_monotonic_ms() + ms;
        }
    }
}

bool
supervisor_fetches(const struct supervisor *supervisor)
{
    return has_part(supervisor, "fetch");
}

enum status
supervisor_open(struct supervisor **out, const struct supervisor_settings *settings,
                struct reason *why)
{
    TRY(children_check_parts(settings->only, why));
    access_restrict(settings->options);
    access_narrow(settings->directory);
    TRY(make_folders(settings->directory, why));
    TRY(config_fix(settings->directory, settings->options, why));
    struct supervisor *supervisor = memory_new(sizeof *supervisor);
    supervisor->settings.directory = memory_string(settings->directory);
    supervisor->settings.programs = own_folder();
    supervisor->settings.helper = settings->helper;
    supervisor->staying = settings->helper ? settings->staying : -1;
    supervisor->settings.assignments = settings->assignments;
    supervisor->log_most = LOG_BYTES;
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
    children_add(&supervisor->children, settings->options, settings->cluster, settings->only);
    delay_fetch(supervisor, settings->fetch_after_ms);
    if (!settings->helper && (has_part(supervisor, "fetch") || has_part(supervisor, "extract"))) {
        scope_keeper_open(&supervisor->scope, supervisor->settings.directory, settings->options);
    }
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
    file_close(supervisor->signals);
    file_close(supervisor->claim);
    if (supervisor->lock >= 0) {
        close(supervisor->lock); /* the lock goes with it */
    }
    free(supervisor->children.list);
    free(supervisor->settings.directory);
    free(supervisor->settings.programs);
    free(supervisor);
}
