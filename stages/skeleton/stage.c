/* The life of a stage process: start, loop, stop. stage.h says what it promises. */
#include "stages/skeleton/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "base/system/watchdog.h"
#include "config/access.h"
#include "config/config.h"
#include "config/process_state.h"
#include "stages/skeleton/services.h"
#include "stages/skeleton/stage_run.h"

enum {
    SILENCE_MS = 5000,         /* of another node, until what needs it is put off */
    STOP_TIMEOUT_MS = 10000,   /* for jobs in flight; the rest go back to the queue */
    REST_LEAST_MS = 250,       /* after a flush, of all but fetch, whose hosts wait for it */
    BATCH_DELAY_MS = 100,      /* for others, while an earlier batch is under way */
    BATCH_GATHER_MS = 100,     /* for others, while most jobs in hand have not ended */
    JOB_MEMORY = 64 << 20,     /* of the records of one job */
    JOBS_OF_PROCESS = 1000000, /* then it is started afresh, whatever it has leaked */
};

/* Options that others took the place of. */
struct options_before {
    struct opt_set *options;
    struct options_before *next;
};

/* ---- services for stages ---- */

const struct opt_set *
stage_options(struct stage_run *run)
{
    return run->options;
}

void
stage_take_options(struct stage_run *run, struct opt_set *options)
{
    struct options_before *before = memory_new(sizeof *before);
    *before = (struct options_before){.options = run->options, .next = run->options_before};
    run->options_before = before;
    run->options = options;
}

const char *
stage_directory(struct stage_run *run)
{
    return run->directory;
}

const char *
stage_worker_name(struct stage_run *run)
{
    return run->name;
}

const struct flag_list *
stage_assignments(struct stage_run *run)
{
    return run->assignments;
}

uint64_t
stage_scope(struct stage_run *run)
{
    return queue_client_scope(run->queue);
}

unsigned
stage_worker_number(struct stage_run *run)
{
    return run->number;
}

const struct cluster *
stage_cluster(struct stage_run *run)
{
    return run->cluster;
}

struct metastore_client *
stage_metastore(struct stage_run *run)
{
    return run->metastore;
}

void
stage_set_lane(struct stage_run *run, uint64_t lane)
{
    run->reserving.lane = lane;
}

void
stage_watch(struct stage_run *run, int descriptor, uint32_t epoll_events, stage_ready *ready,
            void *context)
{
    events_watch(&run->events, descriptor, epoll_events, ready, context);
}

void
stage_timer(struct stage_run *run, uint64_t delay_ms, stage_tick *tick, void *context)
{
    events_timer(&run->events, delay_ms, tick, context);
}

/* ---- signals ---- */

static void
on_signal(void *context, uint32_t epoll_events)
{
    struct stage_run *run = context;
    struct signalfd_siginfo info;
    (void)epoll_events;
    while (read(run->signals, &info, sizeof info) == sizeof info) {
        if (!run->stopping || run->stop_deadline_ms == UINT64_MAX) {
            log_info("stopping", "signal=%u running=%zu", info.ssi_signo, run->jobs.running);
            run->stop_deadline_ms = clock_monotonic_ms() + STOP_TIMEOUT_MS;
        }
        run->stopping = true;
    }
}

static enum status
take_signals(struct stage_run *run, struct reason *why)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (run->signals < 0) {
        return status_fail_errno(why, "cannot make a signal descriptor");
    }
    stage_watch(run, run->signals, EPOLLIN, on_signal, run);
    return STATUS_OK;
}

/* ---- loop ---- */

static void
client_ready(void *context, uint32_t epoll_events)
{
    struct stage_run *run = context;
    (void)epoll_events;
    run->clients_ready = true;
}

static void
watch_clients(struct stage_run *run)
{
    int descriptors[64];
    stage_watch(run, queue_client_descriptor(run->queue), EPOLLIN, client_ready, run);
    const size_t n = metastore_descriptors(run->metastore, descriptors, 64);
    for (size_t i = 0; i < n; i++) {
        stage_watch(run, descriptors[i], EPOLLIN, client_ready, run);
    }
}

static void
retire_when_due(struct stage_run *run)
{
    if (run->reserving.jobs_taken >= JOBS_OF_PROCESS && !run->stopping) {
        log_info("retiring", "jobs=%lu", (unsigned long)run->reserving.jobs_taken);
        run->stopping = true;
        run->stop_deadline_ms = UINT64_MAX; /* not urgent: let every job end */
    }
}

static int
shorter(int a, int b)
{
    return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

static int
loop_wait_ms(const struct stage_run *run)
{
    int wait = reserve_wait_ms(run);
    if (wait == 0) {
        return 0;
    }
    wait = shorter(wait, queue_client_wait_ms(run->queue));
    wait = shorter(wait, metastore_wait_ms(run->metastore));
    wait = shorter(wait, batch_wait_ms(run));
    return run->stopping ? shorter(wait, 50) : wait;
}

static bool
finished(const struct stage_run *run)
{
    if (!run->stopping) {
        return false;
    }
    const bool idle = run->reserving.waiting_count + run->jobs.running + run->batches.ended_count +
                          run->batches.under_way ==
                      0;
    return (idle && !reserve_is_awaited(run)) || clock_monotonic_ms() >= run->stop_deadline_ms;
}

/* Asking takes eight calls of the kernel, so only when there is something, which their descriptors
 * tell also of what came while something was sent. */
static void
process_clients(struct stage_run *run)
{
    if (run->clients_ready || metastore_wait_ms(run->metastore) == 0 ||
        queue_client_wait_ms(run->queue) == 0) {
        run->clients_ready = false;
        metastore_process(run->metastore);
        queue_client_process(run->queue);
    }
}

static void
loop(struct stage_run *run)
{
    while (!finished(run)) {
        events_round(&run->events, watchdog_wait_ms(loop_wait_ms(run)));
        reserve_start(run);
        batch_advance(run);
        retire_when_due(run);
        reserve_more(run);
        reserve_recall(run);
        process_clients(run);
        watchdog_feed();
    }
}

/* ---- start and stop ---- */

struct arguments {
    const char *directory;
    struct flag_list assignments;
    int64_t number, ready_descriptor;
    bool when_wanted;
};

static void
read_options(struct stage_run *run)
{
    const struct stage_spec *spec = run->spec;
    run->reserving.window = spec->window_option != NULL
                                ? (size_t)opt_integer(run->options, spec->window_option)
                                : spec->window;
    run->batches.most = spec->batch > 0 ? spec->batch : run->reserving.window;
    run->batches.rest_least_ms = spec->stage == STAGE_FETCH ? 0 : REST_LEAST_MS;
    run->batches.rest_most_ms = spec->rest_ms;
    run->batches.delay_ms = BATCH_DELAY_MS;
    run->batches.gather_ms = BATCH_GATHER_MS;
    run->job_memory = JOB_MEMORY;
}

static enum status
open_metastore(struct stage_run *run, struct reason *why)
{
    struct cluster_services services;
    TRY(services_metastores(run->cluster, run->directory, &services, why));
    const struct metastore_client_options options = {
        .endpoints = services.endpoints,
        .endpoint_count = services.count,
        .owner_of_partition = services.owner_of_partition,
        .name = run->name,
        .keys = services.keys,
        .silence_ms = SILENCE_MS,
    };
    const enum status status = metastore_client_open(&run->metastore, &options, why);
    cluster_services_release(&services);
    return status;
}

/* A helper's worker has its machine in its name, which is its own among all that ask the queue. */
static enum status
open_queue(struct stage_run *run, struct reason *why)
{
    const char *helper = cluster_helper(run->cluster);
    struct queue_client_options queue = {0};
    struct buf text;
    buf_init(&text, 4096);
    buf_printf(&text, "%s.%u", stage_name(run->spec->stage), run->number);
    if (helper != NULL) {
        buf_printf(&text, "@%s", helper);
    }
    run->name = memory_string(text.data);
    buf_reset(&text);
    config_endpoint(run->directory, "queue", &text);
    queue.name = run->name;
    queue.endpoint = text.data;
    if (helper != NULL) {
        queue.endpoint = cluster_node(run->cluster, cluster_self(run->cluster))->queue;
        queue.keys = cluster_keys(run->cluster);
    }
    const bool helps = run->spec->stage == STAGE_DETECT || run->spec->stage == STAGE_TRANSFORM;
    const enum status status =
        helper == NULL || (helps && queue.endpoint != NULL)
            ? queue_client_open(&run->queue, &queue, why)
            : status_fail(why, STATUS_MISUSE, "%s cannot be done for another node",
                          stage_name(run->spec->stage));
    buf_release(&text);
    return status;
}

static enum status
open_run(struct stage_run *run, const struct arguments *arguments, struct reason *why)
{
    run->directory = memory_string(arguments->directory);
    run->number = (unsigned)arguments->number;
    reserving_init(&run->reserving);
    batching_init(&run->batches);
    TRY(config_check_place(run->directory, why));
    TRY(config_load(run->directory, &arguments->assignments, &run->options, why));
    config_open_log(run->options, run->spec->program->name);
    access_restrict(run->options);
    read_options(run);
    if (arguments->when_wanted) {
        run->reserving.wanted = memory_new(sizeof *run->reserving.wanted);
        TRY(wanted_jobs_open(run->reserving.wanted, run->directory, why));
    }
    TRY(cluster_open(&run->cluster, run->directory, run->options, why));

    TRY(events_open(&run->events, why));
    TRY(take_signals(run, why));
    TRY(open_queue(run, why));
    TRY(open_metastore(run, why));
    watch_clients(run);
    return run->spec->open(run, &run->context, why);
}

static void
close_run(struct stage_run *run)
{
    if (run->context != NULL && run->spec->close != NULL) {
        run->spec->close(run->context);
    }
    if (run->queue != NULL) {
        queue_client_close(run->queue);
    }
    if (run->metastore != NULL) {
        metastore_client_close(run->metastore);
    }
    reserving_release(&run->reserving);
    held_jobs_free(run->batches.ended);
    cluster_close(run->cluster);
    events_close(&run->events);
    if (run->signals > 0) {
        close(run->signals);
    }
    opt_set_free(run->options);
    while (run->options_before != NULL) {
        struct options_before *before = run->options_before;
        run->options_before = before->next;
        opt_set_free(before->options);
        free(before);
    }
    free(run->directory);
    free(run->name);
}

static struct program
program_of(const struct stage_spec *spec, const struct flag *flags)
{
    struct program program = *spec->program;
    program.flags = flags;
    return program;
}

int
stage_main(const struct stage_spec *spec, int argc, char **argv)
{
    struct arguments arguments = {.number = 1, .ready_descriptor = -1};
    const struct flag flags[] = {
        {"dir", 'd', FLAG_STRING, "DIR", &arguments.directory, "The data directory."},
        {"set", 's', FLAG_REPEATED, "NAME=VALUE", &arguments.assignments,
         "Sets an option of quadrille.conf for this run; @FILE: those of the file's lines, so that "
         "what is secret stands in no list of processes."},
        {"number", 'n', FLAG_INTEGER, "N", &arguments.number,
         "Number of this process among those of its stage, from 1; it names the worker."},
        {"when-wanted", 0, FLAG_SWITCH, NULL, &arguments.when_wanted,
         "Takes jobs only while `quadrille up` runs or a command wants them done, and with its "
         "--set: so commands run it."},
        {"ready-fd", 0, FLAG_INTEGER, "FD", &arguments.ready_descriptor,
         "Writes a newline to this descriptor when the first job can be taken."},
        {0},
    };
    const struct program program = program_of(spec, flags);
    struct stage_run run = {
        .spec = spec, .assignments = &arguments.assignments, .events.epoll = -1, .signals = -1};
    struct reason why = {""};
    char **operands;
    int operand_count;

    enum status status = program_parse(&program, argc, argv, &operands, &operand_count, &why);
    if (status == STATUS_END) {
        return EXIT_DONE;
    }
    if (status == STATUS_OK && (arguments.directory == NULL || operand_count > 0 ||
                                arguments.number < 1 || arguments.number > 4096)) {
        status = status_fail(&why, STATUS_MISUSE,
                             "--dir is needed, --number is 1 to 4096, and no operands are taken");
    }
    if (status == STATUS_OK) {
        char name[32];
        snprintf(name, sizeof name, "%s.%u", stage_name(spec->stage), (unsigned)arguments.number);
        process_state_open(arguments.directory, name);
        status = open_run(&run, &arguments, &why);
    }
    if (status != STATUS_OK) {
        process_state_end(status, &why);
        fprintf(stderr, "%s: %s\n", spec->program->name, why.text);
        close_run(&run);
        return status_exit_code(status);
    }
    log_info("ready", "worker=%s window=%zu batch=%zu", run.name, run.reserving.window,
             run.batches.most);
    if (arguments.ready_descriptor >= 0) {
        (void)!write((int)arguments.ready_descriptor, "\n", 1);
        close((int)arguments.ready_descriptor);
    }
    watchdog_start(opt_duration_ms(run.options, "stage.watchdog"));
    process_state_ready();
    loop(&run);
    watchdog_start(0);
    log_info("stopped", "worker=%s done=%lu released=%lu buried=%lu left=%zu", run.name,
             (unsigned long)run.jobs.totals[VERDICT_DONE],
             (unsigned long)run.jobs.totals[VERDICT_RELEASE],
             (unsigned long)run.jobs.totals[VERDICT_BURY], run.jobs.running);
    close_run(&run);
    process_state_end(STATUS_OK, NULL);
    return EXIT_DONE;
}
