/* The life of a stage process (stages/skeleton/stage.c): its arguments, what it opens, when it asks
 * for jobs, how long it sleeps, how it ends. Queue, metadata store, clock, watchdog and the waiting
 * of the loop are stood in for; each turn of the loop is a step of the test. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "config/process_state.h"
#include "stages/skeleton/stage_run.h"
#include "tests/unit/scratch.h"

enum { TRACE = 1 << 16, WINDOW = 8, JOBS = 16, TEXT = 512 };

static struct buf trace;
static uint64_t now_ms;
static char folder[SCRATCH_SIZE];

#define STAND_IN(type, name, parameters) \
    type __wrap_##name parameters;       \
    type __wrap_##name parameters

static void
assert_trace(const char *text)
{
    assert_string_equal(trace.length > 0 ? trace.data : "", text);
    buf_reset(&trace);
}

STAND_IN(uint64_t, clock_monotonic_ms, (void))
{
    return now_ms;
}

static bool no_descriptors;
int __real_signalfd(int descriptor, const sigset_t *set, int flags);

STAND_IN(int, signalfd, (int descriptor, const sigset_t *set, int flags))
{
    errno = EMFILE;
    return no_descriptors ? -1 : __real_signalfd(descriptor, set, flags);
}

/* ---- state, watchdog, wanted jobs ---- */

static enum status told;
static bool claimed;
static enum status settings_status;
static struct opt_set *settings;

STAND_IN(void, process_state_open, (const char *directory, const char *name))
{
    assert_string_equal(directory, folder);
    buf_printf(&trace, "begins %s\n", name);
}

STAND_IN(void, process_state_ready, (void))
{
    buf_append_string(&trace, "ready\n");
}

STAND_IN(void, process_state_wait,
         (enum process_wait wait, enum status status, const struct reason *why))
{
    buf_printf(&trace, "waits %d %s %s\n", (int)wait, status_name(status), why->text);
}

STAND_IN(void, process_state_goes_on, (enum process_wait wait))
{
    assert_int_equal(wait, WAIT_QUEUE);
    buf_append_string(&trace, "goes on\n");
}

STAND_IN(void, process_state_end, (enum status status, const struct reason *why))
{
    (void)why;
    told = status;
}

STAND_IN(void, watchdog_start, (uint64_t limit_ms))
{
    buf_printf(&trace, "watchdog %llu\n", (unsigned long long)limit_ms);
}

STAND_IN(int, watchdog_wait_ms, (int wait_ms))
{
    return wait_ms;
}

STAND_IN(enum status, wanted_jobs_open,
         (struct wanted_jobs * wanted, const char *directory, struct reason *why))
{
    (void)wanted, (void)why;
    assert_string_equal(directory, folder);
    buf_append_string(&trace, "open wanted\n");
    return STATUS_OK;
}

STAND_IN(bool, wanted_jobs_any, (const struct wanted_jobs *wanted))
{
    assert_non_null(wanted);
    return claimed;
}

STAND_IN(enum status, wanted_jobs_settings,
         (struct wanted_jobs * wanted, struct opt_set **options, struct reason *why))
{
    assert_non_null(wanted);
    if (settings_status != STATUS_OK) {
        return status_fail(why, settings_status, "unreadable");
    }
    *options = settings;
    settings = NULL;
    return STATUS_OK;
}

STAND_IN(void, wanted_jobs_close, (struct wanted_jobs * wanted))
{
    assert_non_null(wanted);
    buf_append_string(&trace, "close wanted\n");
}

/* ---- queue and metadata store ---- */

static int queue_there, store_there;
static int queue_wait_ms, store_wait_ms;
static enum status queue_open_status, store_open_status;
static queue_reserved *reserved;
static void *reserved_context;

STAND_IN(enum status, queue_client_open,
         (struct queue_client * *client, const struct queue_client_options *options,
          struct reason *why))
{
    buf_printf(&trace, "open queue %s as %s%s\n",
               strncmp(options->endpoint, "ipc://", 6) == 0 ? strrchr(options->endpoint, '/')
                                                            : options->endpoint,
               options->name, options->keys != NULL ? " with keys" : "");
    if (queue_open_status != STATUS_OK) {
        return status_fail(why, queue_open_status, "no queue");
    }
    *client = (struct queue_client *)(void *)&queue_there;
    return STATUS_OK;
}

STAND_IN(void, queue_client_close, (struct queue_client * client))
{
    assert_ptr_equal(client, &queue_there);
    buf_append_string(&trace, "close queue\n");
}

STAND_IN(int, queue_client_descriptor, (struct queue_client * client))
{
    assert_ptr_equal(client, &queue_there);
    return 60;
}

STAND_IN(int, queue_client_wait_ms, (const struct queue_client *client))
{
    assert_ptr_equal(client, &queue_there);
    return queue_wait_ms;
}

STAND_IN(uint64_t, queue_client_scope, (const struct queue_client *client))
{
    assert_ptr_equal(client, &queue_there);
    return 17;
}

STAND_IN(void, queue_client_process, (struct queue_client * client))
{
    assert_ptr_equal(client, &queue_there);
    buf_append_string(&trace, "process\n");
}

STAND_IN(void, queue_reserve,
         (struct queue_client * client, enum stage stage, uint64_t lane, uint32_t most,
          uint32_t wait_ms, queue_reserved *done, void *context))
{
    assert_ptr_equal(client, &queue_there);
    buf_printf(&trace, "reserve %s %llu: %u in %u\n", stage_name(stage), (unsigned long long)lane,
               most, wait_ms);
    if (most > 0) {
        reserved = done;
        reserved_context = context;
    }
}

STAND_IN(enum status, metastore_client_open,
         (struct metastore_client * *client, const struct metastore_client_options *options,
          struct reason *why))
{
    buf_printf(&trace, "open %zu stores as %s\n", options->endpoint_count, options->name);
    assert_int_equal(options->silence_ms, 5000);
    if (store_open_status != STATUS_OK) {
        return status_fail(why, store_open_status, "no store");
    }
    *client = (struct metastore_client *)(void *)&store_there;
    return STATUS_OK;
}

STAND_IN(void, metastore_client_close, (struct metastore_client * client))
{
    assert_ptr_equal(client, &store_there);
    buf_append_string(&trace, "close stores\n");
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
    return store_wait_ms;
}

STAND_IN(void, metastore_process, (struct metastore_client * client))
{
    assert_ptr_equal(client, &store_there);
    buf_append_string(&trace, "process stores\n");
}

/* ---- a stage ---- */

static struct stage_run *running;
static struct stage_job *held[JOBS];
static size_t held_count;
static enum status open_status;
static bool ends_at_once;
static uint64_t start_takes_ms;

static enum status
open_stage(struct stage_run *run, void **context, struct reason *why)
{
    running = run;
    *context = &trace;
    buf_append_string(&trace, "open\n");
    return open_status == STATUS_OK ? STATUS_OK : status_fail(why, open_status, "cannot open");
}

static void
start_job(void *context, struct stage_job *job)
{
    assert_ptr_equal(context, &trace);
    buf_printf(&trace, "start %llu\n", (unsigned long long)job->job.key.id);
    now_ms += start_takes_ms;
    if (ends_at_once) {
        stage_done(job);
    } else {
        held[held_count++] = job;
    }
}

static void
close_stage(void *context)
{
    assert_ptr_equal(context, &trace);
    buf_append_string(&trace, "close\n");
}

static const struct program program = {.name = "quadrille-test", .summary = "tests"};

static struct stage_spec spec;

/* ---- the ends of jobs: they leave at once ---- */

static int batch_wait;

STAND_IN(int, batch_wait_ms, (const struct stage_run *run))
{
    assert_ptr_equal(run, running);
    return batch_wait;
}

STAND_IN(void, batch_advance, (struct stage_run * run))
{
    static const char *const verdicts[] = {
        [VERDICT_DONE] = "done", [VERDICT_RELEASE] = "release", [VERDICT_BURY] = "bury"};
    while (run->batches.ended != NULL) {
        struct held_job *ended = run->batches.ended;
        run->batches.ended = ended->next;
        run->batches.ended_count--;
        buf_printf(&trace, "%s %llu%s%.*s%s\n", verdicts[ended->verdict],
                   (unsigned long long)ended->public.job.key.id,
                   ended->reason.length > 0 ? ": " : "", SLICE_PRINT(ended->reason),
                   ended->no_attempt ? ", no attempt" : "");
        held_job_free(ended);
    }
    run->batches.last = &run->batches.ended;
}

/* ---- the loop ---- */

static stage_ready *signal_ready, *client_ready;
static void *signal_context, *client_context;
static const struct turn *turns;

/* One turn: how long the loop would wait, and what happens meanwhile. */
struct turn {
    int wait_ms;
    void (*happens)(void);
    const char *before; /* what was done since the turn before */
};

STAND_IN(void, events_watch,
         (struct events * events, int descriptor, uint32_t epoll_events, stage_ready *ready,
          void *context))
{
    (void)events;
    assert_true(epoll_events != 0);
    if (signal_ready == NULL) {
        signal_ready = ready; /* the first that is watched */
        signal_context = context;
    } else {
        buf_printf(&trace, "watch %d\n", descriptor);
        client_ready = ready;
        client_context = context;
    }
}

STAND_IN(void, events_round, (struct events * events, int wait_ms))
{
    (void)events;
    if (turns->happens == NULL) {
        fail_msg("a turn too many, wait %d: %s", wait_ms, trace.length > 0 ? trace.data : "");
    }
    assert_trace(turns->before);
    assert_int_equal(wait_ms, turns->wait_ms);
    (turns++)->happens();
}

static void
end_by_signal(void)
{
    assert_int_equal(raise(SIGTERM), 0); /* it is blocked */
    signal_ready(signal_context, 1);
}

static void
give_jobs(uint64_t first, size_t n, const char *data)
{
    struct job jobs[JOBS];
    for (size_t i = 0; i < n; i++) {
        jobs[i] = (struct job){.key = {.stage = (uint8_t)spec.stage, .id = first + i},
                               .uri = SLICE("http://a/"),
                               .generation = 1,
                               .data = slice_string(data)};
    }
    queue_reserved *const done = reserved;
    reserved = NULL;
    assert_non_null(done);
    done(reserved_context, STATUS_OK, jobs, n, NULL);
}

static int
run_main(const struct turn *script, const char *const *more)
{
    char *arguments[16] = {"quadrille-test", "--dir", folder};
    int n = 3;
    for (; more != NULL && *more != NULL; more++) {
        arguments[n++] = (char *)(uintptr_t)*more;
    }
    turns = script;
    signal_ready = NULL;
    return stage_main(&spec, n, arguments);
}

static void
write_cluster(const char *text)
{
    char path[SCRATCH_SIZE + 16];
    snprintf(path, sizeof path, "%s/cluster.conf", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    snprintf(path, sizeof path, "%s/quadrille.conf", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static int
set_up(void **state)
{
    (void)state;
    buf_init(&trace, TRACE);
    assert_true(scratch_folder(folder, "test_stage_main"));
    spec = (struct stage_spec){.stage = STAGE_DETECT,
                               .program = &program,
                               .open = open_stage,
                               .start = start_job,
                               .close = close_stage,
                               .window = WINDOW,
                               .batch = 4};
    now_ms = 1000;
    told = STATUS_COUNT;
    claimed = false;
    settings_status = queue_open_status = store_open_status = open_status = STATUS_OK;
    queue_wait_ms = store_wait_ms = batch_wait = -1;
    start_takes_ms = 0;
    reserved = NULL;
    running = NULL;
    held_count = 0;
    ends_at_once = true;
    return 0;
}

static int
tear_down(void **state)
{
    char command[SCRATCH_SIZE + 16];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    buf_release(&trace);
    return 0;
}

#define OPENED                                                                         \
    "begins detect.1\nopen queue /queue.sock as detect.1\nopen 1 stores as detect.1\n" \
    "watch 60\nwatch 61\nwatch 62\nopen\n"
#define ENDED "watchdog 0\nclose\nclose queue\nclose stores\n"

/* ---- arguments and opening ---- */

static void
arguments_are_checked(void **state)
{
    static const char *const wrong[][3] = {{"--number", "0"},    {"--number", "4097"},
                                           {"--number", "-1"},   {"operand", NULL},
                                           {"--nonsense", NULL}, {"--set", "no.such=1"}};
    char *without[] = {"quadrille-test", NULL};
    char *help[] = {"quadrille-test", "--version", NULL};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        told = STATUS_OK;
        assert_int_equal(run_main(NULL, wrong[i]), EXIT_MISUSE);
        assert_int_equal(told, STATUS_MISUSE);
        assert_null(running);
        buf_reset(&trace);
    }
    assert_int_equal(stage_main(&spec, 1, without), EXIT_MISUSE);
    assert_trace("");
    assert_int_equal(stage_main(&spec, 2, help), EXIT_DONE);
    assert_trace("");
}

static void
what_cannot_be_opened_ends_it(void **state)
{
    static const struct {
        enum status queue, store, stage;
        const char *trace;
    } cases[] = {{STATUS_SYSTEM, 0, 0, "begins detect.1\nopen queue /queue.sock as detect.1\n"},
                 {0, STATUS_SYSTEM, 0,
                  "begins detect.1\nopen queue /queue.sock as detect.1\nopen 1 stores as "
                  "detect.1\nclose queue\n"},
                 {0, 0, STATUS_SYSTEM, OPENED "close\nclose queue\nclose stores\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        queue_open_status = cases[i].queue;
        store_open_status = cases[i].store;
        open_status = cases[i].stage;
        assert_int_equal(run_main(NULL, NULL), EXIT_SYSTEM);
        assert_int_equal(told, STATUS_SYSTEM);
        assert_trace(cases[i].trace);
    }
}

static void
a_process_that_cannot_hear_signals_does_not_begin(void **state)
{
    (void)state;
    no_descriptors = true;
    assert_int_equal(run_main(NULL, NULL), EXIT_SYSTEM);
    no_descriptors = false;
    assert_int_equal(told, STATUS_SYSTEM);
    buf_reset(&trace);
}

static void
it_says_that_it_is_ready(void **state)
{
    int pipes[2];
    char number[16], bytes[4];
    (void)state;
    assert_int_equal(pipe(pipes), 0);
    snprintf(number, sizeof number, "%d", pipes[1]);
    const char *const more[] = {"--ready-fd", number, "--set", "stage.watchdog=7", NULL};
    static const struct turn script[] = {{16, end_by_signal, OPENED "watchdog 7000\nready\n"},
                                         {0, NULL, NULL}};
    assert_int_equal(run_main(script, more), EXIT_DONE);
    assert_int_equal(told, STATUS_OK);
    assert_trace(ENDED);
    assert_int_equal(read(pipes[0], bytes, sizeof bytes), 1); /* and its other end is closed */
    assert_int_equal(bytes[0], '\n');
    assert_int_equal(read(pipes[0], bytes, sizeof bytes), 0);
    close(pipes[0]);
}

static void
check_settings(void)
{
    assert_int_equal(running->reserving.window, 77);
    assert_int_equal(running->batches.most, 77);
    assert_int_equal(running->batches.rest_least_ms, 0);
    assert_int_equal(running->batches.rest_most_ms, 9);
    assert_int_equal(stage_worker_number(running), 4096);
    assert_string_equal(stage_worker_name(running), "fetch.4096");
    assert_string_equal(stage_directory(running), folder);
    assert_int_equal(stage_assignments(running)->count, 1);
    assert_int_equal(stage_scope(running), 17);
    assert_ptr_equal(stage_metastore(running), &store_there);
    assert_int_equal(cluster_node_count(stage_cluster(running)), 1);
    assert_ptr_equal(stage_options(running), running->options);
    end_by_signal();
}

static void
check_own_settings(void)
{
    assert_int_equal(running->reserving.window, WINDOW);
    assert_int_equal(running->batches.most, 4);
    assert_int_equal(running->batches.rest_least_ms, 250);
    assert_int_equal(running->batches.rest_most_ms, 0);
    assert_int_equal(running->batches.delay_ms, 100);
    assert_int_equal(running->batches.gather_ms, 100);
    assert_int_equal(running->job_memory, 64 << 20);
    end_by_signal();
}

static void
settings_are_those_of_the_stage(void **state)
{
    static const char *const more[] = {"--number", "4096", "--set", "fetch.window=77", NULL};
    static const struct turn fetch[] = {
        {16, check_settings,
         "begins fetch.4096\nopen queue /queue.sock as fetch.4096\nopen 1 stores as fetch.4096\n"
         "watch 60\nwatch 61\nwatch 62\nopen\nwatchdog 300000\nready\n"},
        {0, NULL, NULL}};
    static const struct turn detect[] = {
        {16, check_own_settings, OPENED "watchdog 300000\nready\n"}, {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(detect, NULL), EXIT_DONE);
    buf_reset(&trace);
    spec.stage = STAGE_FETCH;
    spec.window_option = "fetch.window";
    spec.batch = 0;
    spec.rest_ms = 9;
    assert_int_equal(run_main(fetch, more), EXIT_DONE);
    assert_trace(ENDED);
}

/* Detect and transform may work for a node from another machine. */
static void
helpers_ask_the_queue_of_their_node(void **state)
{
    static const struct {
        enum stage stage;
        const char *queue;
        bool may;
    } cases[] = {{STAGE_FETCH, "queue=tcp://127.0.0.1:7", false},
                 {STAGE_DETECT, "queue=tcp://127.0.0.1:7", true},
                 {STAGE_TRANSFORM, "queue=tcp://127.0.0.1:7", true},
                 {STAGE_INDEX, "queue=tcp://127.0.0.1:7", false},
                 {STAGE_EXTRACT, "queue=tcp://127.0.0.1:7", false},
                 {STAGE_DETECT, "", false}};
    (void)state;
    open_status = STATUS_SYSTEM; /* that is far enough */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[TEXT], wanted[TEXT];
        snprintf(text, sizeof text, "node a %s metastore=tcp://127.0.0.1:8\nhelper m2\n",
                 cases[i].queue);
        write_cluster(text);
        spec.stage = cases[i].stage;
        assert_int_equal(run_main(NULL, NULL), cases[i].may ? EXIT_SYSTEM : EXIT_MISUSE);
        const char *const name = stage_name(cases[i].stage);
        snprintf(wanted, sizeof wanted, "begins %s.1\nopen queue tcp://127.0.0.1:7 as %s.1@m2\n",
                 name, name);
        assert_true(trace.length > 0);
        assert_int_equal(strstr(trace.data, wanted) == trace.data, cases[i].may);
        buf_reset(&trace);
    }
}

/* ---- asking for jobs ---- */

#define READY OPENED "watchdog 300000\nready\n"
#define ASKED "reserve detect 0: 8 in 10000\n"

static void
nothing(void)
{
}

static void
give_two(void)
{
    give_jobs(1, 2, "");
}

static void
give_all(void)
{
    give_jobs(11, WINDOW, "");
}

static void
clients_have_something(void)
{
    client_ready(client_context, 1);
}

static void
almost_a_tenth(void)
{
    now_ms += 99;
}

static void
a_millisecond(void)
{
    now_ms++;
}

static void
sixteen(void)
{
    now_ms += 16;
}

#define TWO "goes on\nstart 1\nstart 2\ndone 1\ndone 2\n"
#define EIGHT                                                                         \
    "goes on\nstart 11\nstart 12\nstart 13\nstart 14\nstart 15\nstart 16\nstart 17\n" \
    "start 18\n"

/* What came is started in the same turn. Who got less than he asked for waits longer. */
static void
jobs_are_asked_for_at_a_pace(void **state)
{
    static const struct turn script[] = {
        {16, nothing, READY},
        {-1, give_two, ASKED}, /* the queue tells when there are some */
        {100, almost_a_tenth, TWO},
        {16, a_millisecond, ""},
        {-1, give_all, ASKED},
        {16, sixteen,
         EIGHT "done 11\ndone 12\ndone 13\ndone 14\ndone 15\ndone 16\ndone 17\ndone 18\n"},
        {-1, end_by_signal, ASKED},
        {50, give_two, "reserve detect 0: 0 in 0\n"},
        {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace("goes on\nrelease 1: the process is stopping, no attempt\n"
                 "release 2: the process is stopping, no attempt\n" ENDED);
}

static void
end_two(void)
{
    now_ms += 1000;
    stage_done(held[--held_count]);
    stage_done(held[--held_count]);
}

static void
end_one(void)
{
    now_ms += 1000;
    stage_done(held[--held_count]);
}

static void
one_aside(void)
{
    now_ms += 1000;
    stage_set_aside(held[0], true);
}

static void
two_aside(void)
{
    now_ms += 1000;
    stage_set_aside(held[1], true);
}

/* Fewer than a quarter of the window are asked for only when nothing is in hand. */
static void
requests_are_not_small(void **state)
{
    static const struct turn script[] = {
        {16, nothing, READY},
        {-1, give_all, ASKED},
        {-1, end_one, EIGHT}, /* the window is full */
        {16, one_aside, "done 18\n"},
        {-1, end_by_signal, "reserve detect 0: 2 in 10000\n"},
        {50, give_two, "reserve detect 0: 0 in 0\n"},
        {50, end_two,
         "goes on\nrelease 1: the process is stopping, no attempt\n"
         "release 2: the process is stopping, no attempt\n"},
        {50, two_aside, "done 17\ndone 16\n"},
        {50, end_two, ""},
        {50, end_two, "done 15\ndone 14\n"},
        {50, end_one, "done 13\ndone 12\n"},
        {0, NULL, NULL}};
    (void)state;
    ends_at_once = false;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace("done 11\n" ENDED);
}

static void
set_lane(void)
{
    running->reserving.window = 1;
    stage_set_lane(running, 5);
}

static void
give_one(void)
{
    now_ms += 16;
    give_jobs(1, 1, "");
}

static void
a_window_of_one_is_filled(void **state)
{
    static const struct turn script[] = {{16, set_lane, READY},
                                         {-1, give_one, "reserve detect 5: 1 in 10000\n"},
                                         {16, sixteen, "goes on\nstart 1\ndone 1\n"},
                                         {-1, end_by_signal, "reserve detect 5: 1 in 10000\n"},
                                         {50, give_one, "reserve detect 5: 0 in 0\n"},
                                         {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
}

static void
hold_batch(void)
{
    running->batches.held = 1;
}

static void
let_batch_go(void)
{
    running->batches.held = 0;
}

static void
many_ended(void)
{
    running->batches.ended_count = 4 * WINDOW;
}

static void
fewer_ended(void)
{
    running->batches.ended_count = 4 * WINDOW - 1;
}

static void
none_ended(void)
{
    running->batches.ended_count = 0;
    end_by_signal();
}

/* While a batch waits for room, or too many jobs wait to leave, no more are asked for. */
static void
what_cannot_leave_stops_requests(void **state)
{
    static const struct turn script[] = {
        {16, hold_batch, READY},
        {-1, let_batch_go, ""},
        {-1, nothing, ASKED},
        {-1, hold_batch, ""},
        {-1, give_two, ""},
        {-1, let_batch_go, "goes on\n"}, /* nor is anything started */
        {100, many_ended, "start 1\nstart 2\ndone 1\ndone 2\n"},
        {100, almost_a_tenth, ""},
        {16, a_millisecond, ""},
        {16, fewer_ended, ""},
        {-1, none_ended, ASKED},
        {50, give_two, "reserve detect 0: 0 in 0\n"},
        {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
}

static void
refuse_reserve(void)
{
    const struct reason why = {"the disk is full"};
    reserved(reserved_context, STATUS_FULL, NULL, 0, &why);
}

static void
cancel_reserve(void)
{
    const struct reason why = {"closed"};
    now_ms += 1;
    reserved(reserved_context, STATUS_CANCELLED, NULL, 0, &why);
}

static void
half_a_second(void)
{
    now_ms += 499;
}

static void
refused_reserves_are_repeated(void **state)
{
    static const struct turn script[] = {{16, nothing, READY},
                                         {-1, refuse_reserve, ASKED},
                                         {500, half_a_second, "waits 2 FULL the disk is full\n"},
                                         {16, a_millisecond, ""},
                                         {-1, cancel_reserve, ASKED},
                                         {500, end_by_signal, ""},
                                         {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace(ENDED);
}

static void
clients_are_due(void)
{
    now_ms += 100;
    queue_wait_ms = 7;
    store_wait_ms = 9;
}

static void
stores_have_something(void)
{
    queue_wait_ms = -1;
    store_wait_ms = 0;
}

static void
queue_has_something(void)
{
    queue_wait_ms = 0;
    store_wait_ms = 3;
}

static void
batch_is_due(void)
{
    queue_wait_ms = store_wait_ms = 20;
    batch_wait = 6;
}

/* It sleeps until the first of all has something to do, and asks only who has. */
static void
it_wakes_for_whoever_is_first(void **state)
{
    static const struct turn script[] = {{16, clients_are_due, READY},
                                         {7, stores_have_something, ASKED},
                                         {0, queue_has_something, "process stores\nprocess\n"},
                                         {0, clients_have_something, "process stores\nprocess\n"},
                                         {0, batch_is_due, "process stores\nprocess\n"},
                                         {6, clients_have_something, ""},
                                         {6, nothing, "process stores\nprocess\n"},
                                         {6, end_by_signal, ""},
                                         {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace(ENDED); /* the queue never answered: it is not waited for */
}

/* ---- starting jobs ---- */

static bool
see(void *context, const struct job *job)
{
    buf_printf(&trace, "waits %llu\n", (unsigned long long)job->key.id);
    return job->key.id < *(const uint64_t *)context;
}

static void
look_at_waiting(void)
{
    uint64_t last = 3;
    stage_waiting(running, see, &last);
    last = 99;
    stage_waiting(running, see, &last);
}

static void
give_four(void)
{
    start_takes_ms = 11;
    give_jobs(1, 4, "");
}

/* Jobs are started for twenty milliseconds at a time, so that others are served. */
static void
jobs_are_started_for_a_slice_of_time(void **state)
{
    static const struct turn script[] = {
        {16, nothing, READY},
        {-1, give_four, ASKED},
        {0, look_at_waiting, "goes on\nstart 1\nstart 2\ndone 1\ndone 2\n"},
        {56, end_by_signal, "waits 3\nwaits 3\nwaits 4\nstart 3\nstart 4\ndone 3\ndone 4\n"},
        {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace(ENDED);
}

static void
give_damaged(void)
{
    give_jobs(1, 1, "\177");
}

static void
damaged_documents_are_buried(void **state)
{
    static const struct turn script[] = {
        {16, nothing, READY},
        {-1, give_damaged, ASKED},
        {100, end_by_signal,
         "goes on\nbury 1: the job's data is not a document record of a known version\n"},
        {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
}

/* ---- the end ---- */

static void
give_one_more(void)
{
    running->reserving.jobs_taken = 1000000 - 2;
    give_jobs(1, 1, "");
}

static void
the_last(void)
{
    now_ms += 100;
}

static void
after_hours(void)
{
    now_ms += 10000000;
    end_one();
}

static void
give_last(void)
{
    give_jobs(2, 2, "");
}

/* After a million jobs a process ends, when all that it has has ended. */
static void
processes_retire(void **state)
{
    static const struct turn script[] = {{16, nothing, READY},
                                         {-1, give_one_more, ASKED},
                                         {100, the_last, "goes on\nstart 1\n"},
                                         {-1, give_last, "reserve detect 0: 7 in 10000\n"},
                                         {50, after_hours, "goes on\nstart 2\nstart 3\n"},
                                         {50, after_hours, "done 3\n"},
                                         {50, after_hours, "done 2\n"},
                                         {0, NULL, NULL}};
    (void)state;
    ends_at_once = false;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace("done 1\n" ENDED);
}

static void
almost_ten_seconds(void)
{
    now_ms += 9999;
    end_by_signal(); /* a second one makes it no later */
}

/* A job that does not end is left to its lease. */
static void
ends_are_waited_for_ten_seconds(void **state)
{
    static const struct turn script[] = {{16, nothing, READY},
                                         {-1, give_two, ASKED},
                                         {100, end_by_signal, "goes on\nstart 1\nstart 2\n"},
                                         {50, almost_ten_seconds, ""},
                                         {50, a_millisecond, ""},
                                         {0, NULL, NULL}};
    (void)state;
    ends_at_once = false;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace(ENDED);
    for (size_t i = 0; i < held_count; i++) {
        held_job_free((struct held_job *)held[i]);
    }
}

/* ---- run by a command ---- */

static void
fifty(void)
{
    now_ms += 50;
    assert_int_equal(running->reserving.window, WINDOW);
}

static void
somebody_wants(void)
{
    now_ms += 50;
    claimed = true;
    settings_status = STATUS_BAD_INPUT;
}

static void
with_settings(void)
{
    static const struct opt *const tables[] = {stage_option_table, NULL};
    now_ms += 50;
    settings_status = STATUS_OK;
    settings = opt_set_new(tables);
}

static void
nobody_wants(void)
{
    now_ms += 100;
    claimed = false;
}

static void
jobs_are_taken_while_somebody_wants_them(void **state)
{
    static const char *const more[] = {"--when-wanted", NULL};
    static const struct turn script[] = {
        {16, nothing,
         "begins detect.1\nopen wanted\nopen queue /queue.sock as detect.1\n"
         "open 1 stores as detect.1\nwatch 60\nwatch 61\nwatch 62\nopen\n"
         "watchdog 300000\nready\n"},
        {50, fifty, ""},
        {50, somebody_wants, ""},
        {50, with_settings, ""}, /* which could not be read */
        {-1, give_two, "reserve detect 0: 8 in 1000\n"},
        {100, nobody_wants, TWO},
        {50, end_by_signal, ""},
        {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, more), EXIT_DONE);
    assert_trace("watchdog 0\nclose\nclose queue\nclose stores\nclose wanted\n");
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(arguments_are_checked),
        CASE(what_cannot_be_opened_ends_it),
        CASE(a_process_that_cannot_hear_signals_does_not_begin),
        CASE(it_says_that_it_is_ready),
        CASE(settings_are_those_of_the_stage),
        CASE(helpers_ask_the_queue_of_their_node),
        CASE(jobs_are_asked_for_at_a_pace),
        CASE(requests_are_not_small),
        CASE(a_window_of_one_is_filled),
        CASE(what_cannot_leave_stops_requests),
        CASE(refused_reserves_are_repeated),
        CASE(it_wakes_for_whoever_is_first),
        CASE(jobs_are_started_for_a_slice_of_time),
        CASE(damaged_documents_are_buried),
        CASE(processes_retire),
        CASE(ends_are_waited_for_ten_seconds),
        CASE(jobs_are_taken_while_somebody_wants_them),
    };
    return cmocka_run_group_tests_name("stage_main", tests, NULL, NULL);
}
