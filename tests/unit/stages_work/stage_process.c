#include "tests/unit/stages_work/stage_process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/system/clock.h"
#include "config/process_state.h"
#include "tests/unit/stages_work/stage_steps.h"

enum { TRACE = 1 << 16 };

struct stage_process process;
int queue_there, store_there;

void
assert_trace(const char *text)
{
    assert_string_equal(process.trace.length > 0 ? process.trace.data : "", text);
    buf_reset(&process.trace);
}

STAND_IN(uint64_t, clock_monotonic_ms, (void))
{
    return process.now_ms;
}

int __real_signalfd(int descriptor, const sigset_t *set, int flags);

STAND_IN(int, signalfd, (int descriptor, const sigset_t *set, int flags))
{
    errno = EMFILE;
    return process.no_descriptors ? -1 : __real_signalfd(descriptor, set, flags);
}

/* ---- state, watchdog, wanted jobs ---- */

STAND_IN(void, process_state_open, (const char *directory, const char *name))
{
    assert_string_equal(directory, process.folder);
    buf_printf(&process.trace, "begins %s\n", name);
}

STAND_IN(void, process_state_ready, (void))
{
    buf_append_string(&process.trace, "ready\n");
}

STAND_IN(void, process_state_wait,
         (enum process_wait wait, enum status status, const struct reason *why))
{
    buf_printf(&process.trace, "waits %d %s %s\n", (int)wait, status_name(status), why->text);
}

STAND_IN(void, process_state_goes_on, (enum process_wait wait))
{
    assert_int_equal(wait, WAIT_QUEUE);
    buf_append_string(&process.trace, "goes on\n");
}

STAND_IN(void, process_state_end, (enum status status, const struct reason *why))
{
    (void)why;
    process.told = status;
}

STAND_IN(void, watchdog_start, (uint64_t limit_ms))
{
    buf_printf(&process.trace, "watchdog %llu\n", (unsigned long long)limit_ms);
}

STAND_IN(void, watchdog_feed, (void))
{
    process.fed++;
}

STAND_IN(int, watchdog_wait_ms, (int wait_ms))
{
    return wait_ms;
}

STAND_IN(enum status, wanted_jobs_open,
         (struct wanted_jobs * wanted, const char *directory, struct reason *why))
{
    (void)wanted, (void)why;
    assert_string_equal(directory, process.folder);
    buf_append_string(&process.trace, "open wanted\n");
    return STATUS_OK;
}

STAND_IN(bool, wanted_jobs_any, (const struct wanted_jobs *wanted))
{
    assert_non_null(wanted);
    return process.claimed;
}

STAND_IN(enum status, wanted_jobs_settings,
         (struct wanted_jobs * wanted, struct opt_set **options, struct reason *why))
{
    assert_non_null(wanted);
    if (process.settings_status != STATUS_OK) {
        return status_fail(why, process.settings_status, "unreadable");
    }
    *options = process.settings;
    process.settings = NULL;
    return STATUS_OK;
}

STAND_IN(void, wanted_jobs_close, (struct wanted_jobs * wanted))
{
    assert_non_null(wanted);
    buf_append_string(&process.trace, "close wanted\n");
}

/* ---- queue and metadata store ---- */

STAND_IN(enum status, queue_client_open,
         (struct queue_client * *client, const struct queue_client_options *options,
          struct reason *why))
{
    buf_printf(&process.trace, "open queue %s as %s%s\n",
               strncmp(options->endpoint, "ipc://", 6) == 0 ? strrchr(options->endpoint, '/')
                                                            : options->endpoint,
               options->name, options->keys != NULL ? " with keys" : "");
    if (process.queue_open_status != STATUS_OK) {
        return status_fail(why, process.queue_open_status, "no queue");
    }
    *client = (struct queue_client *)(void *)&queue_there;
    return STATUS_OK;
}

STAND_IN(void, queue_client_close, (struct queue_client * client))
{
    assert_ptr_equal(client, &queue_there);
    buf_append_string(&process.trace, "close queue\n");
}

STAND_IN(int, queue_client_descriptor, (struct queue_client * client))
{
    assert_ptr_equal(client, &queue_there);
    return 60;
}

STAND_IN(int, queue_client_wait_ms, (const struct queue_client *client))
{
    assert_ptr_equal(client, &queue_there);
    return process.queue_wait_ms;
}

STAND_IN(uint64_t, queue_client_scope, (const struct queue_client *client))
{
    assert_ptr_equal(client, &queue_there);
    return 17;
}

STAND_IN(void, queue_client_process, (struct queue_client * client))
{
    assert_ptr_equal(client, &queue_there);
    buf_append_string(&process.trace, "process\n");
}

STAND_IN(void, queue_reserve,
         (struct queue_client * client, enum stage stage, uint64_t lane, uint32_t most,
          uint32_t wait_ms, queue_reserved *done, void *context))
{
    assert_ptr_equal(client, &queue_there);
    buf_printf(&process.trace, "reserve %s %llu: %u in %u\n", stage_name(stage),
               (unsigned long long)lane, most, wait_ms);
    if (most > 0) {
        process.reserved = done;
        process.reserved_context = context;
    }
}

STAND_IN(enum status, metastore_client_open,
         (struct metastore_client * *client, const struct metastore_client_options *options,
          struct reason *why))
{
    buf_printf(&process.trace, "open %zu stores as %s\n", options->endpoint_count, options->name);
    assert_int_equal(options->silence_ms, 5000);
    if (process.store_open_status != STATUS_OK) {
        return status_fail(why, process.store_open_status, "no store");
    }
    *client = (struct metastore_client *)(void *)&store_there;
    return STATUS_OK;
}

STAND_IN(void, metastore_client_close, (struct metastore_client * client))
{
    assert_ptr_equal(client, &store_there);
    buf_append_string(&process.trace, "close stores\n");
}

STAND_IN(size_t, metastore_descriptors,
         (struct metastore_client * client, int *descriptors, size_t most))
{
    assert_ptr_equal(client, &store_there);
    assert_true(most >= 2);
    descriptors[0] = 61;
    descriptors[1] = 62;
    return 2;
}

STAND_IN(int, metastore_wait_ms, (const struct metastore_client *client))
{
    assert_ptr_equal(client, &store_there);
    return process.store_wait_ms;
}

STAND_IN(void, metastore_process, (struct metastore_client * client))
{
    assert_ptr_equal(client, &store_there);
    buf_append_string(&process.trace, "process stores\n");
}

/* ---- a stage ---- */

static enum status
open_stage(struct stage_run *run, void **context, struct reason *why)
{
    process.running = run;
    *context = &process.trace;
    buf_append_string(&process.trace, "open\n");
    return process.open_status == STATUS_OK ? STATUS_OK
                                            : status_fail(why, process.open_status, "cannot open");
}

static void
start_job(void *context, struct stage_job *job)
{
    assert_ptr_equal(context, &process.trace);
    buf_printf(&process.trace, "start %llu\n", (unsigned long long)job->job.key.id);
    process.now_ms += process.start_takes_ms;
    if (process.ends_at_once) {
        stage_done(job);
    } else {
        process.held[process.held_count++] = job;
    }
}

static void
close_stage(void *context)
{
    assert_ptr_equal(context, &process.trace);
    buf_append_string(&process.trace, "close\n");
}

static const struct program program = {.name = "quadrille-test", .summary = "tests"};

/* ---- the ends of jobs: they leave at once ---- */

STAND_IN(int, batch_wait_ms, (const struct stage_run *run))
{
    assert_ptr_equal(run, process.running);
    return process.batch_wait;
}

STAND_IN(void, batch_advance, (struct stage_run * run))
{
    static const char *const verdicts[] = {
        [VERDICT_DONE] = "done", [VERDICT_RELEASE] = "release", [VERDICT_BURY] = "bury"};
    while (run->batches.ended != NULL) {
        struct held_job *ended = run->batches.ended;
        run->batches.ended = ended->next;
        run->batches.ended_count--;
        assert_int_equal(ended->delay_ms, 0);
        buf_printf(&process.trace, "%s %llu%s%.*s%s\n", verdicts[ended->verdict],
                   (unsigned long long)ended->public.job.key.id,
                   ended->reason.length > 0 ? ": " : "", SLICE_PRINT(ended->reason),
                   ended->no_attempt ? ", no attempt" : "");
        held_job_free(ended);
    }
    run->batches.last = &run->batches.ended;
}

/* ---- the loop ---- */

STAND_IN(void, events_watch,
         (struct events * events, int descriptor, uint32_t epoll_events, stage_ready *ready,
          void *context))
{
    (void)events;
    assert_true(epoll_events != 0);
    if (process.signal_ready == NULL) {
        process.signal_ready = ready; /* the first that is watched */
        process.signal_context = context;
    } else {
        buf_printf(&process.trace, "watch %d\n", descriptor);
        process.client_ready = ready;
        process.client_context = context;
    }
}

STAND_IN(void, events_round, (struct events * events, int wait_ms))
{
    (void)events;
    if (process.turns->happens == NULL) {
        fail_msg("a turn too many, wait %d: %s", wait_ms,
                 process.trace.length > 0 ? process.trace.data : "");
    }
    if (process.turns->before != NULL) {
        assert_trace(process.turns->before);
        assert_int_equal(wait_ms, process.turns->wait_ms);
    }
    (process.turns++)->happens();
}

void
end_by_signal(void)
{
    assert_int_equal(raise(SIGTERM), 0); /* it is blocked */
    process.signal_ready(process.signal_context, 1);
}

void
give_jobs(uint64_t first, size_t n, const char *data)
{
    struct job jobs[JOBS];
    for (size_t i = 0; i < n; i++) {
        jobs[i] = (struct job){.key = {.stage = (uint8_t)process.spec.stage, .id = first + i},
                               .uri = SLICE("http://a/"),
                               .generation = 1,
                               .data = slice_string(data)};
    }
    queue_reserved *const done = process.reserved;
    process.reserved = NULL;
    assert_non_null(done);
    done(process.reserved_context, STATUS_OK, jobs, n, NULL);
}

int
run_main(const struct turn *script, const char *const *more)
{
    char *arguments[16] = {"quadrille-test", "--dir", process.folder};
    int n = 3;
    for (; more != NULL && *more != NULL; more++) {
        arguments[n++] = (char *)(uintptr_t)*more;
    }
    process.turns = script;
    process.signal_ready = NULL;
    const int code = stage_main(&process.spec, n, arguments);
    assert_true(script == NULL || process.turns->happens == NULL); /* it did not end early */
    return code;
}

void
write_cluster(const char *text)
{
    char path[SCRATCH_SIZE + 16];
    snprintf(path, sizeof path, "%s/cluster.conf", process.folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    snprintf(path, sizeof path, "%s/quadrille.conf", process.folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

int
process_set_up(void **state)
{
    (void)state;
    buf_init(&process.trace, TRACE);
    assert_true(scratch_folder(process.folder, "test_stage_main"));
    process.spec = (struct stage_spec){.stage = STAGE_DETECT,
                                       .program = &program,
                                       .open = open_stage,
                                       .start = start_job,
                                       .close = close_stage,
                                       .window = WINDOW,
                                       .batch = 4};
    process.now_ms = 1000;
    process.told = STATUS_COUNT;
    process.claimed = false;
    process.settings_status = process.queue_open_status = process.store_open_status =
        process.open_status = STATUS_OK;
    process.queue_wait_ms = process.store_wait_ms = process.batch_wait = -1;
    process.start_takes_ms = 0;
    process.fed = 0;
    process.reserved = NULL;
    process.running = NULL;
    process.held_count = 0;
    process.ends_at_once = true;
    return 0;
}

int
process_tear_down(void **state)
{
    char command[SCRATCH_SIZE + 16];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", process.folder);
    assert_int_equal(system(command), 0);
    buf_release(&process.trace);
    return 0;
}

/* ---- what happens in a turn ---- */

void
nothing(void)
{
}

void
give_two(void)
{
    give_jobs(1, 2, "");
}

void
a_millisecond(void)
{
    process.now_ms++;
}

void
end_one(void)
{
    process.now_ms += 1000;
    stage_done(process.held[--process.held_count]);
}
