#include "cli/supervisor/supervisor_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/options/nearest.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "base/system/log.h"
#include "cli/supervisor/directory_rest.h"
#include "cli/supervisor/process_log.h"
#include "config/pass_settings.h"
#include "config/run_lock.h"

enum {
    CHILDREN_MOST = 1200,
    PAUSE_FIRST_MS = 100,
    PAUSE_MOST_MS = 5000,
    STEADY_MS = 10000,
    EXIT_LOCKLESS = 101 /* of a child that has not become its program yet */
};

/* ---- which processes ---- */

static void
add_child(struct children *children, const char *program, const char *name, unsigned number,
          enum rank rank)
{
    if (children->count == CHILDREN_MOST) {
        return;
    }
    children->list = memory_resize(children->list, children->count + 1, sizeof *children->list);
    struct child *child = &children->list[children->count++];
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

enum status
children_check_parts(const char *only, struct reason *why)
{
    for (const char *at = only; at != NULL && *at != '\0';) {
        const struct slice word = slice_of(at, strcspn(at, ","));
        struct nearest nearest = nearest_to(word);
        char near[NEAREST_TEXT_SIZE];
        bool known = word.length == 0;
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            known = known || slice_is(word, parts[i].name);
            nearest_offer(&nearest, parts[i].name);
        }
        if (!known) {
            return status_fail(why, STATUS_MISUSE, "--only: there is no process %.*s%s",
                               SLICE_PRINT(word), nearest_text(&nearest, "", near));
        }
        at += word.length + (at[word.length] == ',');
    }
    return STATUS_OK;
}

void
children_add(struct children *children, const struct opt_set *options,
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
            add_child(children, part->program, part->name, 0, part->rank);
            continue;
        }
        const int64_t count = opt_integer(options, part->count_option);
        for (int64_t n = 1; n <= count; n++) {
            add_child(children, part->program, part->name, part->stage >= 0 ? (unsigned)n : 0,
                      part->rank);
        }
    }
}

/* ---- starting one ---- */

static int
open_lock(const struct child_settings *settings, const struct child *child)
{
    char name[sizeof child->name + 8];
    snprintf(name, sizeof name, "%s.lock", child->name);
    return run_lock_open(settings->directory, name);
}

void
child_sign_lock(int lock)
{
    char text[32];
    snprintf(text, sizeof text, "%d\n", (int)getpid());
    run_lock_sign(lock, text);
}

/* The lock is the program's from here on: it goes with the process. */
static bool
keep_lock(int lock)
{
    child_sign_lock(lock);
    return fcntl(lock, F_SETFD, 0) == 0;
}

/* In the child: until nobody else runs what it is to be, nobody has the directory at rest and, of a
 * helper's, there is no supervisor. It has its name's lock before it looks at the others: who has
 * one of these and then finds no name locked knows that nothing runs. */
static bool
stand_by(const struct child_settings *settings, const struct child *child)
{
    const int lock = open_lock(settings, child);
    const int rest = run_lock_open(settings->directory, REST_LOCK);
    const int up = settings->helper ? run_lock_open(settings->directory, SUPERVISOR_LOCK) : rest;
    bool good = lock >= 0 && rest >= 0 && up >= 0;
    for (bool free = false; good && !free;) {
        good = directory_rest_pass(up) && directory_rest_pass(rest) && run_lock_wait(lock, LOCK_EX);
        free = good && directory_rest_over(up) && directory_rest_over(rest);
        good = good && (free || run_lock_wait(lock, LOCK_UN));
    }
    return good && keep_lock(lock);
}

static void
become(const struct child_settings *settings, const struct child *child, pid_t parent)
{
    const char *argv[16];
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
    const int log = process_log_open(settings->directory, child->name);
    const int null = open("/dev/null", O_RDONLY);
    if (log < 0 || null < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0 ||
        dup2(null, STDIN_FILENO) < 0) {
        _exit(EXIT_SYSTEM);
    }
    if (!stand_by(settings, child)) {
        const int code = errno == EIO ? EXIT_LOCKLESS : EXIT_SYSTEM;
        dprintf(STDERR_FILENO, "%s: cannot lock its name: %s\n", child->name, strerror(errno));
        _exit(code);
    }
    buf_init(&path, 1 << 16);
    buf_printf(&path, "%s/%s", settings->programs, child->program);
    argv[n++] = child->program;
    if (strcmp(child->program, "quadrille") == 0) {
        argv[n++] = child->name;
        argv[n++] = "--repeat";
    }
    argv[n++] = "--dir";
    argv[n++] = settings->directory;
    if (child->number > 0) {
        snprintf(number, sizeof number, "%u", child->number);
        argv[n++] = "--number";
        argv[n++] = number;
    }
    if (child->number > 0 && settings->helper) {
        argv[n++] = "--when-wanted";
    }
    struct reason why;
    char assignments[SETTINGS_ARGUMENT_SIZE];
    if (settings->assignments->count > 0) {
        if (settings_pass(settings->assignments, assignments, &why) != STATUS_OK) {
            dprintf(STDERR_FILENO, "%s: %s\n", child->name, why.text);
            _exit(EXIT_SYSTEM);
        }
        argv[n++] = "--set";
        argv[n++] = assignments;
    }
    argv[n] = NULL;
    execv(path.data, (char *const *)argv);
    dprintf(STDERR_FILENO, "%s: cannot run %s: %s\n", child->name, path.data, strerror(errno));
    _exit(EXIT_SYSTEM);
}

void
child_start(const struct child_settings *settings, struct child *child)
{
    const pid_t self = getpid();
    const pid_t pid = fork();
    child->start_at_ms = 0;
    if (pid == 0) {
        become(settings, child, self);
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

enum child_end
child_ended(struct child *child, int how)
{
    const uint64_t now = clock_monotonic_ms();
    const bool retired = WIFEXITED(how) && WEXITSTATUS(how) == EXIT_DONE;
    child->pid = 0;
    if (WIFEXITED(how) && WEXITSTATUS(how) == EXIT_MISUSE) {
        return CHILD_MISUSED;
    }
    if (WIFEXITED(how) && WEXITSTATUS(how) == EXIT_LOCKLESS) {
        return CHILD_LOCKLESS;
    }
    if (retired) {
        child->start_at_ms = now;
        return CHILD_AGAIN;
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
    return CHILD_AGAIN;
}

bool
child_runs(const struct child_settings *settings, const struct child *child)
{
    const int lock = child->pid > 0 ? open_lock(settings, child) : -1;
    const bool own = lock >= 0 && run_lock_signed(lock) == child->pid;
    file_close(lock);
    return own;
}
