/* A dataset's job (stages/fetch/datasets/slice.c): what it waits for, what it asks for again, and
 * what the end of its program comes to. The functions below stand in the place of the rest of the
 * fetch program, of the metadata store and of processes, and tell what was asked of them as lines
 * of a trace. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "config/pass_settings.h"
#include "stages/fetch/datasets/dataset_tasks.h"
#include "tests/unit/scratch.h"

#define ORIGIN "http://data.example"
#define DATASET ORIGIN "/#slice=0123456789abcdef"
#define FIRST_DUMP ORIGIN "/one.nt"
#define SECOND_DUMP ORIGIN "/two.nt"
#define SAMPLE ORIGIN "/thing/1"
enum {
    ATTEMPTS = 3,
    WAIT_MS = 500,
    LOOK_MS = 100,
    RECORDS = 8,
    LINE_BYTES = 512,
    WAIT_FOR_SAMPLES_MS = 60000,
    PROGRAM = 4711 /* its process number */
};

static char folder[SCRATCH_SIZE];
static struct fetch fetch;
static struct stage_job job;
static struct host host;
static struct task *task;
static struct buf trace, execution;
static struct {
    metastore_got *done;
    void *context;
    char keys[LINE_BYTES];
} asked;
static struct {
    stage_tick *tick;
    void *context;
} timer;
static int64_t processes;
static bool no_process, forget_host, real_process, settings_fail, no_program;
static struct flag_list assignments;
static uint64_t now_ms;
static pid_t ended; /* what waitpid says */
static int ended_with, ended_errno;
static pid_t own; /* the process of the test */

/* ---- in the place of others ---- */

void
task_free(struct task *one)
{
    free(one);
    task = NULL;
}

void
task_done(struct task *one, const char *state, const char *reason)
{
    if (one->report.rest_ms > 0) {
        assert_int_equal(one->report.rest_ms, COVER_AGE_MS);
        buf_append_string(&trace, "rest\n");
    }
    buf_printf(&trace, "done %s: %s\n", state != NULL ? state : "", reason != NULL ? reason : "");
    task_free(one);
}

void
task_retry(struct task *one, uint64_t delay_ms, const char *reason)
{
    buf_printf(&trace, "retry %llu: %s\n", (unsigned long long)delay_ms, reason);
    task_free(one);
}

void
task_bury(struct task *one, const char *reason)
{
    buf_printf(&trace, "bury: %s\n", reason);
    task_free(one);
}

void
task_put(struct task *one, struct slice uri, uint8_t priority, struct slice type,
         struct slice about)
{
    (void)one;
    buf_printf(&trace, "put %.*s %u %.*s %.*s\n", SLICE_PRINT(uri), priority, SLICE_PRINT(type),
               SLICE_PRINT(about));
}

void
task_put_sample(struct task *one, struct slice uri, uint8_t flags)
{
    (void)one;
    assert_int_equal(flags, JOB_RECRAWL);
    buf_printf(&trace, "sample %.*s\n", SLICE_PRINT(uri));
}

void __wrap_stage_release(struct stage_job *one, uint64_t delay_ms, bool counts, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));
void
__wrap_stage_release(struct stage_job *one, uint64_t delay_ms, bool counts, const char *format, ...)
{
    char text[LINE_BYTES];
    va_list list;
    assert_ptr_equal(one, &job);
    assert_false(counts);
    assert_int_equal(delay_ms, WAIT_MS);
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    buf_printf(&trace, "wait: %s\n", text);
}

void __wrap_stage_timer(struct stage_run *run, uint64_t delay_ms, stage_tick *tick, void *context);
void
__wrap_stage_timer(struct stage_run *run, uint64_t delay_ms, stage_tick *tick, void *context)
{
    (void)run;
    assert_int_equal(delay_ms, LOOK_MS);
    timer.tick = tick;
    timer.context = context;
}

const char *__wrap_stage_directory(struct stage_run *run);
const char *
__wrap_stage_directory(struct stage_run *run)
{
    (void)run;
    return folder;
}

const struct opt_set *__wrap_stage_options(struct stage_run *run);
const struct opt_set *
__wrap_stage_options(struct stage_run *run)
{
    (void)run;
    return NULL;
}

int64_t __wrap_opt_integer(const struct opt_set *options, const char *name);
int64_t
__wrap_opt_integer(const struct opt_set *options, const char *name)
{
    assert_null(options);
    assert_string_equal(name, "processes.fetch");
    return processes;
}

const struct flag_list *__wrap_stage_assignments(struct stage_run *run);
const struct flag_list *
__wrap_stage_assignments(struct stage_run *run)
{
    (void)run;
    return &assignments;
}

struct metastore_client *__wrap_stage_metastore(struct stage_run *run);
struct metastore_client *
__wrap_stage_metastore(struct stage_run *run)
{
    (void)run;
    return NULL;
}

void __wrap_metastore_get(struct metastore_client *client, const struct slice *keys, size_t n,
                          metastore_got *done, void *context);
void
__wrap_metastore_get(struct metastore_client *client, const struct slice *keys, size_t n,
                     metastore_got *done, void *context)
{
    size_t at = 0;
    (void)client;
    asked.done = done;
    asked.context = context;
    asked.keys[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        at += (size_t)snprintf(asked.keys + at, sizeof asked.keys - at, "%.*s\n",
                               SLICE_PRINT(keys[i]));
    }
}

struct host *__wrap_hosts_find(struct hosts *hosts, struct slice origin, uint64_t at);
struct host *
__wrap_hosts_find(struct hosts *hosts, struct slice origin, uint64_t at)
{
    (void)hosts;
    assert_true(slice_is(origin, ORIGIN));
    assert_int_equal(at, 0); /* however long ago it was heard of */
    return forget_host ? NULL : &host;
}

uint64_t __wrap_clock_wall_ms(void);
uint64_t
__wrap_clock_wall_ms(void)
{
    return now_ms;
}

pid_t __real_fork(void);
pid_t __wrap_fork(void);
pid_t
__wrap_fork(void)
{
    return real_process ? __real_fork() : no_process ? -1 : PROGRAM;
}

pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
pid_t
__wrap_waitpid(pid_t pid, int *status, int options)
{
    assert_int_equal(options, WNOHANG);
    if (real_process) {
        return __real_waitpid(pid, status, 0);
    }
    assert_int_equal(pid, PROGRAM);
    *status = ended_with;
    errno = ended_errno;
    return ended;
}

enum status __wrap_settings_pass(const struct flag_list *list,
                                 char argument[SETTINGS_ARGUMENT_SIZE], struct reason *why);
enum status
__wrap_settings_pass(const struct flag_list *list, char argument[SETTINGS_ARGUMENT_SIZE],
                     struct reason *why)
{
    snprintf(argument, SETTINGS_ARGUMENT_SIZE, "@%zu", list->count);
    return settings_fail ? status_fail(why, STATUS_MISUSE, "no settings") : STATUS_OK;
}

/* The program beside this one. */
static void
own_neighbour(char path[PATH_MAX])
{
    const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 16);
    path[n > 0 ? n : 0] = '\0';
    strcpy(strrchr(path, '/') + 1, "quadrille");
}

/* In the process that becomes the program: says how it is called, and what it has of the stage that
 * it should not have. */
int __wrap_execv(const char *path, char *const *arguments);
int
__wrap_execv(const char *path, char *const *arguments)
{
    char wanted[PATH_MAX];
    sigset_t blocked;
    struct stat log;
    struct sigaction pipe;
    int at_parents_end = 0;
    if (getpid() == own) {
        fail_msg("the stage itself became the program");
    }
    if (no_program) {
        errno = ENOENT;
        return -1;
    }
    own_neighbour(wanted);
    dprintf(STDOUT_FILENO, "%s", strcmp(path, wanted) == 0 ? "quadrille" : "another program");
    for (size_t i = 1; arguments[i] != NULL; i++) {
        dprintf(STDERR_FILENO, " %s", arguments[i]);
    }
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (int signal = 1; signal < NSIG; signal++) {
        if (sigismember(&blocked, signal) == 1) {
            dprintf(STDOUT_FILENO, " deaf to %d", signal);
        }
    }
    sigaction(SIGPIPE, NULL, &pipe);
    prctl(PR_GET_PDEATHSIG, &at_parents_end);
    fstat(STDOUT_FILENO, &log);
    dprintf(STDOUT_FILENO, "%s%s%s", pipe.sa_handler == SIG_DFL ? "" : " ignores SIGPIPE",
            at_parents_end == SIGKILL ? "" : " outlives the stage",
            (log.st_mode & 0777) == 0600 ? "" : " others can read it");
    _exit(0);
}

/* ---- steps ---- */

static void
assert_trace(const char *text)
{
    assert_string_equal(trace.length > 0 ? trace.data : "", text);
    buf_reset(&trace);
}

/* Is what the metadata store has of a key: state, reason, whereto it redirects, when it was
 * fetched. */
struct known {
    const char *state, *reason, *to;
    uint64_t fetched_ms;
};

static void
answer(const struct known *known, size_t n)
{
    struct meta_update updates[RECORDS];
    struct buf bytes[RECORDS];
    struct slice records[RECORDS];
    for (size_t i = 0; i < n; i++) {
        meta_update_init(&updates[i]);
        if (known[i].state != NULL) {
            meta_set_text(&updates[i], META_STATE, slice_string(known[i].state));
            meta_set_number(&updates[i], META_FETCHED, known[i].fetched_ms);
        }
        if (known[i].reason != NULL) {
            meta_set_text(&updates[i], META_REASON, slice_string(known[i].reason));
        }
        if (known[i].to != NULL) {
            meta_set_text(&updates[i], META_REDIRECT_TO, slice_string(known[i].to));
        }
        buf_init(&bytes[i], 1 << 16);
        (void)meta_merge((struct slice){0}, meta_update_fields(&updates[i]), &bytes[i]);
        records[i] = buf_slice(&bytes[i]);
    }
    asked.done(asked.context, STATUS_OK, records, n, &(struct reason){""});
    for (size_t i = 0; i < n; i++) {
        meta_update_release(&updates[i]);
        buf_release(&bytes[i]);
    }
}

static void
answer_execution(struct slice text)
{
    struct meta_update update;
    struct buf record;
    meta_update_init(&update);
    buf_init(&record, 1 << 16);
    meta_set_text(&update, META_EXECUTION, text);
    (void)meta_merge((struct slice){0}, meta_update_fields(&update), &record);
    const struct slice records[] = {buf_slice(&record)};
    assert_string_equal(asked.keys, "u" DATASET "\n");
    asked.done(asked.context, STATUS_OK, records, 1, &(struct reason){""});
    meta_update_release(&update);
    buf_release(&record);
}

static void
begin_job(const char *type)
{
    job.document.type = slice_string(type);
    task = memory_new(sizeof *task);
    task->fetch = &fetch;
    task->job = &job;
    task->origin = SLICE(ORIGIN);
    timer.tick = NULL;
    host.cover_read_ms = 1;
    task_slice(task);
}

static void
begin(const char *type)
{
    begin_job(type);
    answer_execution(buf_slice(&execution));
}

static const char three_keys[] = "u" FIRST_DUMP "#dump\nu" SECOND_DUMP "#dump\nu" SAMPLE "\n";

/* Begins a slice job with all that it waits for. */
static void
begin_ready(void)
{
    static const struct known known[] = {{.state = "fetched"}, {.state = "fetched"}, {"indexed"}};
    begin("");
    assert_string_equal(asked.keys, three_keys);
    answer(known, 3);
    assert_non_null(timer.tick);
}

static void
log_path(char path[SCRATCH_SIZE + 40])
{
    snprintf(path, SCRATCH_SIZE + 40, "%s/dumps/%016llx.log", folder,
             (unsigned long long)fingerprint64(SLICE(DATASET)));
}

/* The program ends, having said something. */
static void
end_program(int status, const char *words)
{
    char path[SCRATCH_SIZE + 40];
    stage_tick *tick = timer.tick;
    log_path(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(words, file);
    fclose(file);
    ended = PROGRAM;
    ended_with = status;
    timer.tick = NULL;
    tick(timer.context);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(host.cover_read_ms, forget_host ? 1 : 0);
}

static void
touch_dump(struct slice uri)
{
    struct buf path;
    buf_init(&path, 300);
    buf_printf(&path, "%s/dumps", folder);
    (void)mkdir(path.data, 0700);
    buf_append_string(&path, "/");
    execution_file_name(uri, &path);
    FILE *file = fopen(path.data, "w");
    assert_non_null(file);
    fclose(file);
    buf_release(&path);
}

static void
encode(bool provisional, bool endpoint)
{
    struct slice dumps[] = {SLICE(FIRST_DUMP), SLICE(SECOND_DUMP)};
    struct slice samples[] = {SLICE(SAMPLE)};
    const struct execution all = {.dataset = SLICE(ORIGIN "/set"),
                                  .way = SLICE("dump"),
                                  .dumps = {dumps, 2},
                                  .samples = {samples, 1},
                                  .provisional = provisional,
                                  .endpoint = endpoint};
    buf_reset(&execution);
    execution_encode(&all, &execution);
}

static int
set_up(void **state)
{
    (void)state;
    buf_init(&trace, 1 << 16);
    buf_init(&execution, 1 << 16);
    encode(false, false);
    fetch = (struct fetch){.attempts = ATTEMPTS, .datasets.wait_ms = WAIT_FOR_SAMPLES_MS};
    job = (struct stage_job){.job = {.uri = SLICE(DATASET), .attempt = 1, .queued_ms = 5000}};
    processes = 1;
    no_process = forget_host = real_process = settings_fail = no_program = false;
    own = getpid();
    ended_errno = EINTR;
    assignments = (struct flag_list){0};
    now_ms = 5000;
    return scratch_folder(folder, "slice-job") ? 0 : -1;
}

static int
tear_down(void **state)
{
    char command[SCRATCH_SIZE + 16];
    (void)state;
    buf_release(&trace);
    buf_release(&execution);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* ---- cases ---- */

static void
the_programs_end_decides(void **state)
{
    enum { EXITED = 0, FAILED = 1 << 8, KILLED = 9 };
    static const struct {
        int status;
        unsigned attempt;
        int64_t processes;
        bool provisional;
        const char *words, *trace;
    } cases[] = {
        {EXITED, 1, 2, false, "one\nquads=3\n", "done sliced: quads=3\n"},
        {EXITED, 1, 1, true, "quads=3", "done sliced: quads=3\n"},
        {EXITED, 1, 2, true, "quads=3", "rest\ndone sliced: quads=3\n"},
        {EXITED, 1, 1, false, "withdrawn: it lies\n", "done withdrawn: it lies\n"},
        {EXITED, 1, 2, false, "withdrawn: it lies\n", "rest\ndone withdrawn: it lies\n"},
        {EXITED, 1, 2, false, "not withdrawn: it lies", "done sliced: not withdrawn: it lies\n"},
        {EXITED, ATTEMPTS, 1, false, "", "done sliced: \n"},
        {FAILED, ATTEMPTS - 1, 1, false, "no memory", "retry 0: no memory\n"},
        {KILLED, 1, 1, false, "withdrawn: half", "retry 0: withdrawn: half\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        processes = cases[i].processes;
        job.job.attempt = (uint16_t)cases[i].attempt;
        encode(cases[i].provisional, false);
        begin_ready();
        end_program(cases[i].status, cases[i].words);
        assert_trace(cases[i].trace);
        assert_null(task);
    }
    forget_host = true;
    begin_ready();
    end_program(EXITED, "");
    assert_trace("done sliced: \n");
}

/* When enough was tried, what the dumps were to bring is withdrawn, and that is tried once. */
static void
what_fails_too_often_is_withdrawn(void **state)
{
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        job.job.attempt = ATTEMPTS;
        begin_ready();
        end_program(1 << 8, "first\nno memory\n");
        assert_trace("");
        assert_non_null(timer.tick);
        host.cover_read_ms = 1;
        end_program(fails << 8, fails ? "nor now" : "withdrawn: no memory");
        assert_trace(fails ? "bury: nor now\n" : "done withdrawn: no memory\n");
        assert_null(task);
    }
}

static void
the_last_line_is_what_it_said(void **state)
{
    static const size_t lengths[] = {5, 4094, 4095, 4096, 4097, 4098, 5999};
    char words[6000];
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(words, 'a', sizeof words);
        memcpy(words + lengths[i] - 5, "\nlast", 6);
        begin_ready();
        end_program(0, words);
        assert_trace("done sliced: last\n");
    }
}

static void
run_program(const char *words)
{
    char expected[LINE_BYTES];
    assert_non_null(timer.tick);
    timer.tick(timer.context);
    snprintf(expected, sizeof expected,
             "done sliced: quadrille datasets --dir %s --execute " DATASET "%s\n", folder, words);
    assert_trace(expected);
}

static void
the_program_is_told_what_to_do(void **state)
{
    static const struct known bad[] = {{.state = "gone"}, {.state = "fetched"}, {"indexed"}};
    static const struct known failed[] = {
        {.state = "fetched"}, {"failed", "too large", 0, 0}, {"indexed"}};
    char path[SCRATCH_SIZE + 40];
    struct stat about;
    sigset_t end, before;
    void (*at_pipe)(int) = signal(SIGPIPE, SIG_IGN);
    (void)state;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigprocmask(SIG_BLOCK, &end, &before); /* as in a stage, which reads its signals */
    real_process = true;
    begin_ready();
    run_program("");
    snprintf(path, sizeof path, "%s/dumps", folder);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & S_IRWXU, S_IRWXU);
    for (size_t i = 1; i <= 2; i++) {
        char words[16];
        assignments.count = i;
        begin_ready();
        snprintf(words, sizeof words, " --set @%zu", i);
        run_program(words);
    }
    begin("");
    answer(bad, 3);
    run_program(" --withdraw " FIRST_DUMP "#dump: gone --set @2");
    begin("");
    answer(failed, 3);
    run_program(" --withdraw " SECOND_DUMP "#dump: failed: too large --set @2");
    settings_fail = true;
    begin_ready();
    timer.tick(timer.context);
    assert_trace("retry 0: no settings\n");
    sigprocmask(SIG_SETMASK, &before, NULL);
    signal(SIGPIPE, at_pipe);
}

/* It is tried again, and nothing goes on in its place. */
static void
a_program_that_does_not_start_has_failed(void **state)
{
    char path[SCRATCH_SIZE + 40];
    (void)state;
    real_process = no_program = true;
    begin_ready();
    timer.tick(timer.context);
    assert_trace("retry 0: \n");
    no_program = false;
    log_path(path); /* what it says has no place */
    assert_int_equal(mkdir(path, 0700), 0);
    begin_ready();
    timer.tick(timer.context);
    assert_trace("retry 0: \n");
}

static void
it_is_looked_for_until_it_ends(void **state)
{
    (void)state;
    begin_ready();
    stage_tick *tick = timer.tick;
    for (int i = 0; i < 2; i++) { /* it runs; a signal came */
        timer.tick = NULL;
        ended = -i;
        tick(timer.context);
        assert_ptr_equal(timer.tick, tick);
        assert_trace("");
    }
    end_program(0, "");
    assert_trace("done sliced: \n");
    begin_ready(); /* of how it ended nothing is known */
    tick = timer.tick;
    ended = -1;
    ended_with = 0;
    ended_errno = ECHILD;
    tick(timer.context);
    assert_trace("retry 0: \n");
    no_process = true;
    static const struct known known[] = {{.state = "fetched"}, {.state = "fetched"}, {"indexed"}};
    begin("");
    answer(known, 3);
    assert_null(timer.tick);
    assert_trace("wait: no process to be had\n");
}

static void
it_waits_for_what_has_not_come(void **state)
{
    enum verdict { WAITS, RUNS };
    static const struct {
        struct known known[3];
        uint64_t now_ms;
        enum verdict verdict;
    } cases[] = {
        {{{"fetched", 0, 0, 0}, {NULL, 0, 0, 0}, {"indexed", 0, 0, 0}}, 5000, WAITS},
        {{{"fetched", 0, 0, 0}, {NULL, 0, 0, 0}, {"indexed", 0, 0, 0}}, 1 << 30, WAITS},
        {{{"fetched", 0, 0, 0}, {"fetched", 0, 0, 0}, {NULL, 0, 0, 0}}, 5000, WAITS},
        {{{"fetched", 0, 0, 0}, {"fetched", 0, 0, 0}, {"fetched", 0, 0, 0}}, 64999, WAITS},
        {{{"fetched", 0, 0, 0}, {"fetched", 0, 0, 0}, {"fetched", 0, 0, 0}}, 65000, RUNS},
        {{{"fetched", 0, 0, 0}, {"fetched", 0, 0, 0}, {"detected", 0, 0, 0}}, 5000, WAITS},
        {{{"fetched", 0, 0, 0}, {"fetched", 0, 0, 0}, {"transformed", 0, 0, 0}}, 5000, WAITS},
        {{{"fetched", 0, 0, 0}, {"fetched", 0, 0, 0}, {"fetched", "too long", 0, 0}}, 5000, RUNS},
        {{{"fetched", 0, 0, 0}, {"fetched", 0, 0, 0}, {"failed", 0, 0, 0}}, 5000, RUNS},
        {{{"redirected", 0, 0, 0}, {"fetched", 0, 0, 0}, {"indexed", 0, 0, 0}}, 5000, RUNS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        now_ms = cases[i].now_ms;
        begin("");
        answer(cases[i].known, 3);
        assert_int_equal(timer.tick != NULL, cases[i].verdict == RUNS);
        if (timer.tick != NULL) {
            end_program(0, "");
            assert_trace("done sliced: \n");
        } else {
            assert_trace("wait: dumps or samples have not come yet\n");
        }
    }
}

/* One that failed is enough: the program withdraws what it was for, whatever else is missing. */
static void
a_dump_that_failed_is_not_waited_for(void **state)
{
    static const struct known known[] = {
        {"gone", "the server answered 404", 0, 0}, {NULL, 0, 0, 0}, {NULL, 0, 0, 0}};
    (void)state;
    begin("");
    answer(known, 3);
    assert_non_null(timer.tick);
    job.job.attempt = ATTEMPTS;
    end_program(1 << 8, "nor now");
    assert_trace("bury: nor now\n"); /* it was asked to withdraw, at once */
    begin(DATASET_CHANGED);
    answer(known, 3);
    assert_non_null(timer.tick);
    end_program(0, "withdrawn: x");
    assert_trace("done withdrawn: x\n");
}

static void
redirects_are_followed_so_far(void **state)
{
    enum { HOPS = 10 };
    struct known known[] = {{.state = "redirected", .to = SECOND_DUMP},
                            {.state = "fetched"},
                            {.state = "redirected", .to = ORIGIN "/data/1"}};
    (void)state;
    begin("");
    answer(known, 3); /* what is settled is not asked for again */
    assert_string_equal(asked.keys, "u" SECOND_DUMP "#dump\nu" ORIGIN "/data/1\n");
    answer((struct known[]){{.state = "fetched"}, {.state = "indexed"}}, 2);
    assert_non_null(timer.tick);
    end_program(0, "");
    assert_trace("done sliced: \n");
    begin("");
    answer((struct known[]){{.state = "fetched"}, {.state = "fetched"}, known[2]}, 3);
    for (int i = 1; i < HOPS; i++) {
        assert_string_equal(asked.keys, "u" ORIGIN "/data/1\n");
        answer(&known[2], 1);
        assert_null(timer.tick);
    }
    answer(&known[2], 1); /* that is enough */
    assert_non_null(timer.tick);
    end_program(0, "");
    assert_trace("done sliced: \n");
}

static void
what_changed_is_fetched_again(void **state)
{
    static const struct known known[] = {
        {.state = "fetched"}, {.state = "fetched"}, {"redirected", 0, ORIGIN "/data/1", 0}};
    static const struct known moved[] = {{.state = "indexed"}};
    (void)state;
    encode(false, false);
    begin(DATASET_CHANGED);
    answer(known, 3);
    answer(moved, 1);
    assert_trace("put " FIRST_DUMP "#dump 99 whole " DATASET "\nput " SECOND_DUMP
                 "#dump 99 whole " DATASET "\ndone : \n");
    touch_dump(SLICE(SECOND_DUMP)); /* the one that has changed is here */
    for (int endpoint = 0; endpoint < 2; endpoint++) {
        encode(false, endpoint == 1);
        begin(DATASET_CHANGED);
        answer(known, 3);
        answer(moved, 1);
        assert_trace(endpoint ? "put " FIRST_DUMP "#dump 99 pages-again " DATASET "\ndone : \n"
                              : "put " FIRST_DUMP "#dump 99 whole " DATASET "\ndone : \n");
        assert_null(task);
    }
    touch_dump(SLICE(FIRST_DUMP)); /* now all are */
    begin(DATASET_CHANGED);
    answer(known, 3);
    answer(moved, 1);
    assert_trace("sample " SAMPLE "\nsample " ORIGIN "/data/1\nput " DATASET
                 " 100 samples \ndone : \n");
    begin(DATASET_CHANGED);
    answer((struct known[]){{.state = "fetched"}, {.state = "fetched"}, {.state = "indexed"}}, 3);
    assert_trace("sample " SAMPLE "\nput " DATASET " 100 samples \ndone : \n");
}

/* A sample that was fetched before it was asked for again says nothing. */
static void
samples_are_those_since(void **state)
{
    static const struct known known[] = {
        {.state = "fetched"}, {.state = "fetched"}, {.state = "indexed", .fetched_ms = 4999}};
    (void)state;
    begin(DATASET_SAMPLES);
    answer(known, 3);
    assert_trace("wait: dumps or samples have not come yet\n");
    begin(DATASET_SAMPLES);
    answer((struct known[]){known[0], known[1], {.state = "indexed", .fetched_ms = 5000}}, 3);
    assert_non_null(timer.tick);
    end_program(0, "");
    assert_trace("done sliced: \n");
}

static void
without_the_metadata_store_it_waits(void **state)
{
    const struct reason why = {"nobody answers"};
    (void)state;
    begin_job("");
    asked.done(asked.context, STATUS_TIMEOUT, NULL, 0, &why);
    assert_trace("wait: nobody answers\n");
    begin("");
    asked.done(asked.context, STATUS_TIMEOUT, NULL, 0, &why);
    assert_trace("wait: nobody answers\n");
    begin_job("");
    asked.done(asked.context, STATUS_OK, NULL, 0, &why);
    assert_trace("bury: the metadata store does not know this dataset\n");
    begin_job("");
    answer_execution((struct slice){0});
    assert_trace("bury: the metadata store does not know this dataset\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_programs_end_decides, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_fails_too_often_is_withdrawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_last_line_is_what_it_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_program_is_told_what_to_do, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_program_that_does_not_start_has_failed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(it_is_looked_for_until_it_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_waits_for_what_has_not_come, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_dump_that_failed_is_not_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(redirects_are_followed_so_far, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_changed_is_fetched_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(samples_are_those_since, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_the_metadata_store_it_waits, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("slice_job", tests, NULL, NULL);
}
