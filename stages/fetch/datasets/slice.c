/* A dataset's job: waits until its dumps are there and its samples are in the index, then has a
 * program of its own (`quadrille datasets`) prove, slice and put the documents. Its exit decides:
 * done; withdrawn, when the dumps are not what they are said to be; anything else is tried again.
 * The lane of the describing host stands still meanwhile. The program dies with this process, and
 * repeats itself harmlessly.
 *
 * When a dump has changed since (DATASET_CHANGED), those that have not, whose files are removed,
 * are fetched again, too, each of which puts this job; when all files are there, the samples are
 * fetched again (DATASET_SAMPLES); then all goes on as the first time. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "config/pass_settings.h"
#include "stages/fetch/datasets/dataset_tasks.h"

enum {
    LOOK_MS = 100,
    WAIT_MS = 500,
    REDIRECTS = 10,
    SOUGHT_MAXIMUM = EXECUTION_DUMPS + EXECUTION_SAMPLES,
    EXECUTION_BYTES = 64 << 20,
    ARGUMENTS = 16,
    PATH_BYTES = 4096
};

#define WITHDRAWN "withdrawn: "

struct sought {
    struct slice key; /* in the metadata store */
    bool dump, settled;
    unsigned hops;
};

struct slicing_job {
    struct task *task;
    struct arena arena;
    struct execution execution;
    struct sought *sought;
    size_t count;
    char failure[REASON_SIZE]; /* of a dump; "": none */
    char log[PATH_BYTES];      /* what the program says */
    pid_t pid;
    bool withdrawing;
};

static void
job_free(struct slicing_job *job)
{
    arena_release(&job->arena);
    free(job);
}

static void
wait_longer(struct slicing_job *job, const char *reason)
{
    stage_release(job->task->job, WAIT_MS, false, "%s", reason);
    task_free(job->task);
    job_free(job);
}

/* ---- the program ---- */

static void run(struct slicing_job *job);

static void
last_line(const struct slicing_job *job, char *line, size_t size)
{
    char text[4096];
    const int file = open(job->log, O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;
    if (file >= 0) {
        const off_t end = lseek(file, 0, SEEK_END);
        (void)lseek(file, end > (off_t)sizeof text - 1 ? end - (off_t)sizeof text + 1 : 0,
                    SEEK_SET);
        n = read(file, text, sizeof text - 1);
        close(file);
    }
    struct slice all = slice_trim(slice_of(text, n > 0 ? (size_t)n : 0));
    const char *from = all.length > 0 ? memrchr(all.at, '\n', all.length) : NULL;
    if (from != NULL) {
        all = slice_of(from + 1, (size_t)(all.at + all.length - from - 1));
    }
    snprintf(line, size, "%.*s", SLICE_PRINT(all));
}

static void
ended(struct slicing_job *job, int status)
{
    struct task *task = job->task;
    char line[REASON_SIZE];
    last_line(job, line, sizeof line);
    (void)unlink(job->log);
    log_info("dataset", "uri=%.*s status=%d said=\"%s\"", SLICE_PRINT(task->job->job.uri), status,
             line);
    struct host *host = hosts_find(task->fetch->hosts, task->origin, 0);
    if (host != NULL) {
        host->cover_read_ms = 0; /* it may have been withdrawn */
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        const size_t word = strlen(WITHDRAWN);
        const bool withdrawn = strncmp(line, WITHDRAWN, word) == 0;
        if ((withdrawn || job->execution.provisional) &&
            opt_integer(stage_options(task->job->run), "processes.fetch") > 1) {
            /* Until all processes know that it covers nothing any more. */
            task->report.rest_ms = COVER_AGE_MS;
        }
        task_done(task, withdrawn ? "withdrawn" : "sliced", withdrawn ? line + word : line);
    } else if (task->job->job.attempt >= task->fetch->attempts && !job->withdrawing) {
        snprintf(job->failure, sizeof job->failure, "%s", line);
        run(job);
        return;
    } else if (task->job->job.attempt >= task->fetch->attempts) {
        task_bury(task, line);
    } else {
        task_retry(task, 0, line);
    }
    job_free(job);
}

static void
check_child(void *context)
{
    struct slicing_job *job = context;
    int status;
    const pid_t pid = waitpid(job->pid, &status, WNOHANG);
    if (pid == 0 || (pid < 0 && errno == EINTR)) {
        stage_timer(job->task->job->run, LOOK_MS, check_child, job);
        return;
    }
    ended(job, pid > 0 ? status : -1);
}

static void
become(char **arguments, size_t n, const struct flag_list *assignments, const char *log)
{
    char settings[SETTINGS_ARGUMENT_SIZE];
    struct reason why;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0) {
        _exit(EXIT_SYSTEM);
    }
    if (assignments->count > 0) {
        if (settings_pass(assignments, settings, &why) != STATUS_OK) {
            dprintf(STDERR_FILENO, "%s\n", why.text);
            _exit(EXIT_SYSTEM);
        }
        arguments[n++] = (char *)(uintptr_t) "--set";
        arguments[n++] = settings;
    }
    arguments[n] = NULL;
    execv(arguments[0], arguments);
    _exit(EXIT_SYSTEM);
}

static void
run(struct slicing_job *job)
{
    struct task *task = job->task;
    struct stage_run *run = task->job->run;
    const struct flag_list *assignments = stage_assignments(run);
    char program[PATH_BYTES] = "";
    char *arguments[ARGUMENTS];
    size_t n = 0;
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 16);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    snprintf(slash != NULL ? slash + 1 : program, 16, "quadrille");
    const struct slice uri =
        arena_printf(&job->arena, "%.*s%c", SLICE_PRINT(task->job->job.uri), '\0');
    const char *const words[] = {program,     "datasets", "--dir", stage_directory(run),
                                 "--execute", uri.at};
    for (; n < sizeof words / sizeof *words; n++) {
        arguments[n] = (char *)(uintptr_t)words[n];
    }
    job->withdrawing = job->failure[0] != '\0';
    if (job->withdrawing) {
        arguments[n++] = (char *)(uintptr_t) "--withdraw";
        arguments[n++] = job->failure;
    }
    char folder[PATH_BYTES];
    snprintf(folder, sizeof folder, "%.3900s/dumps", stage_directory(run));
    (void)mkdir(folder, 0777); /* no download may have made it */
    snprintf(job->log, sizeof job->log, "%.3900s/%016llx.log", folder,
             (unsigned long long)fingerprint64(task->job->job.uri));
    job->pid = fork();
    if (job->pid == 0) {
        become(arguments, n, assignments, job->log);
    }
    if (job->pid < 0) {
        wait_longer(job, "no process to be had");
        return;
    }
    stage_timer(run, LOOK_MS, check_child, job);
}

/* ---- waiting for dumps and samples ---- */

static void read_seen(struct slicing_job *job);

static bool
is_told(const struct slicing_job *job, const char *what)
{
    return slice_is(job->task->job->document.type, what);
}

/* A sample is on its way to the index until it has another state, or a reason for this one, since
 * it was last asked for. */
static bool
is_final(const struct slicing_job *job, const struct sought *sought, struct slice state,
         struct slice record)
{
    static const char *const passing[] = {"fetched", "detected", "transformed"};
    struct slice reason = {0};
    uint64_t fetched_ms = 0;
    meta_record_text(record, META_REASON, &reason);
    meta_record_number(record, META_FETCHED, &fetched_ms);
    if (!sought->dump && is_told(job, DATASET_SAMPLES) &&
        fetched_ms < job->task->job->job.queued_ms) {
        return false;
    }
    for (size_t i = 0; !sought->dump && reason.length == 0 && i < sizeof passing / sizeof *passing;
         i++) {
        if (slice_is(state, passing[i])) {
            return false;
        }
    }
    return true;
}

static void
take_record(struct slicing_job *job, struct sought *sought, struct slice record)
{
    struct slice state, target, reason = {0};
    if (!meta_record_text(record, META_STATE, &state) || !is_final(job, sought, state, record)) {
        return;
    }
    if (slice_is(state, "redirected") && sought->hops < REDIRECTS &&
        meta_record_text(record, META_REDIRECT_TO, &target)) {
        sought->hops++;
        sought->key = arena_printf(&job->arena, "u%.*s%s", SLICE_PRINT(target),
                                   sought->dump ? DUMP_FRAGMENT : "");
        return;
    }
    sought->settled = true;
    if (sought->dump && !slice_is(state, "fetched")) {
        meta_record_text(record, META_REASON, &reason);
        snprintf(job->failure, sizeof job->failure, "%.*s: %.*s%s%.*s", (int)sought->key.length - 1,
                 sought->key.at + 1, SLICE_PRINT(state), reason.length > 0 ? ": " : "",
                 SLICE_PRINT(reason));
    }
}

/* ---- again ---- */

static bool
has_file(const struct slicing_job *job, const struct sought *dump)
{
    struct buf path;
    const struct slice uri =
        slice_of(dump->key.at + 1, dump->key.length - 1 - (sizeof DUMP_FRAGMENT - 1));
    buf_init(&path, PATH_BYTES);
    buf_printf(&path, "%s/dumps/", stage_directory(job->task->job->run));
    execution_file_name(uri, &path);
    const bool has = access(path.data, F_OK) == 0;
    buf_release(&path);
    return has;
}

/* The end of this job: others put the next one. */
static void
begin_again(struct slicing_job *job)
{
    struct task *task = job->task;
    const struct execution *execution = &job->execution;
    size_t missing = 0;
    for (size_t i = 0; i < execution->dumps.count; i++) {
        if (!has_file(job, &job->sought[i])) {
            const struct slice dump = arena_printf(&job->arena, "%.*s" DUMP_FRAGMENT,
                                                   SLICE_PRINT(execution->dumps.items[i]));
            task_put(task, dump, DUMP_PRIORITY,
                     execution->endpoint ? SLICE(DUMP_PAGES_AGAIN) : SLICE(DUMP_WHOLE),
                     task->job->job.uri);
            missing++;
        }
    }
    for (size_t i = execution->dumps.count; missing == 0 && i < job->count; i++) {
        const struct slice named = execution->samples.items[i - execution->dumps.count];
        const struct slice last =
            slice_of(job->sought[i].key.at + 1, job->sought[i].key.length - 1);
        task_put_sample(task, named, JOB_RECRAWL);
        if (!slice_equal(named, last)) { /* it redirects */
            task_put_sample(task, last, JOB_RECRAWL);
        }
    }
    if (missing == 0) {
        task_put(task, task->job->job.uri, SLICE_PRIORITY, SLICE(DATASET_SAMPLES),
                 (struct slice){0});
    }
    task_done(task, NULL, NULL);
    job_free(job);
}

static void
answered(void *context, enum status status, const struct slice *records, size_t n,
         const struct reason *why)
{
    struct slicing_job *job = context;
    const struct task *task = job->task;
    size_t at = 0, waits = 0, moved = 0;
    if (status != STATUS_OK) {
        wait_longer(job, why->text);
        return;
    }
    for (size_t i = 0; i < job->count && at < n; i++) {
        struct sought *sought = &job->sought[i];
        const unsigned hops = sought->hops;
        if (!sought->settled) {
            take_record(job, sought, records[at++]);
            moved += sought->hops > hops ? 1 : 0;
            /* Samples are waited for so long and no longer. */
            waits += !sought->settled && (sought->dump ||
                                          task->job->job.queued_ms + task->fetch->datasets.wait_ms >
                                              clock_wall_ms())
                         ? 1
                         : 0;
        }
    }
    if (moved > 0) {
        read_seen(job);
    } else if (job->failure[0] == '\0' && is_told(job, DATASET_CHANGED)) {
        begin_again(job);
    } else if (waits > 0 && job->failure[0] == '\0') {
        wait_longer(job, "dumps or samples have not come yet");
    } else {
        run(job);
    }
}

static void
read_seen(struct slicing_job *job)
{
    struct slice *keys = memory_zero(job->count + 1, sizeof *keys);
    size_t n = 0;
    for (size_t i = 0; i < job->count; i++) {
        if (!job->sought[i].settled) {
            keys[n++] = job->sought[i].key;
        }
    }
    metastore_get(stage_metastore(job->task->job->run), keys, n, answered, job);
    free(keys);
}

static void
seek(struct slicing_job *job, const struct slices *uris, bool dump)
{
    for (size_t i = 0; i < uris->count && job->count < SOUGHT_MAXIMUM; i++) {
        job->sought[job->count++] =
            (struct sought){.key = arena_printf(&job->arena, "u%.*s%s", SLICE_PRINT(uris->items[i]),
                                                dump ? DUMP_FRAGMENT : ""),
                            .dump = dump};
    }
}

static void
execution_read(void *context, enum status status, const struct slice *records, size_t n,
               const struct reason *why)
{
    struct slicing_job *job = context;
    struct slice text = {0};
    if (status != STATUS_OK) {
        wait_longer(job, why->text);
        return;
    }
    if (n > 0) {
        (void)meta_record_text(records[0], META_EXECUTION, &text);
    }
    job->sought = arena_zero(&job->arena, SOUGHT_MAXIMUM * sizeof *job->sought);
    if (text.length == 0 || job->sought == NULL ||
        !execution_decode(arena_copy(&job->arena, text), &job->arena, &job->execution)) {
        task_bury(job->task, "the metadata store does not know this dataset");
        job_free(job);
        return;
    }
    seek(job, &job->execution.dumps, true);
    seek(job, &job->execution.samples, false);
    read_seen(job);
}

void
task_slice(struct task *task)
{
    struct slicing_job *job = memory_new(sizeof *job);
    job->task = task;
    arena_init(&job->arena, EXECUTION_BYTES);
    const struct slice key = arena_printf(&job->arena, "u%.*s", SLICE_PRINT(task->job->job.uri));
    metastore_get(stage_metastore(task->job->run), &key, 1, execution_read, job);
}
