/* bench_queue [jobs=N] [batch=N] [hosts=N] [window=N] [sync=0|1]: the queue daemon in a process of
 * its own, driven by one client over ipc. Prints TSV: what, batch, jobs, jobs per second, jobs
 * per second of the daemon's CPU, microseconds per commit round trip.
 *
 *   put         fetch jobs, all URIs new
 *   put-seen    the same again: all known
 *   fetch       reserve and done with one output (detect), lanes of one job at a time
 *   detect      reserve and done with one output (transform): plain order
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "bench/scratch.h"
#include "queue/client/queue_client.h"
#include "queue/daemon/queue_daemon.h"
#include "queue/politeness/host_report.h"
#include "queue/storage/frontier_engine.h"

struct settings {
    uint64_t jobs, batch, hosts, window, sync;
};

struct run {
    struct queue_client *client;
    const struct settings *settings;
    enum stage stage;
    pid_t daemon;
    size_t under_way, ended, failed;
    bool reserving, empty;
};

static char folder[BENCH_SCRATCH_SIZE];

static void
fail(const char *what, const struct reason *why)
{
    fprintf(stderr, "bench_queue: %s: %s\n", what, why->text);
    exit(EXIT_SYSTEM);
}

static double
cpu_seconds(pid_t pid)
{
    char path[64];
    char text[1024];
    unsigned long user = 0;
    unsigned long kernel = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file != NULL && fgets(text, sizeof text, file) != NULL) {
        const char *after = strrchr(text, ')');
        (void)sscanf(after + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                     &kernel);
    }
    if (file != NULL) {
        fclose(file);
    }
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

static pid_t
start_daemon(const char *endpoint, bool sync)
{
    const pid_t pid = fork();
    if (pid != 0) {
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct reason why = {""};
    struct cluster *cluster;
    const char *const endpoints[] = {endpoint, NULL};
    (void)cluster_parse(&cluster, SLICE("node local"), NULL, folder, &why);
    const struct queue_daemon_options options = {
        .broker = {.directory = folder,
                   .store = {.folder = folder,
                             .cache_bytes = 256 << 20,
                             .checkpoint_bytes = 256 << 20,
                             .checkpoint_ms = 60000,
                             .sync = sync,
                             .recent_bytes = 64 << 20,
                             .threads = true,
                             .lock_wait_ms = 1000},
                   .cluster = cluster,
                   .index_partitions = 1,
                   .lease_ms = 60000,
                   .attempts = 5,
                   .high_water = UINT64_MAX / 2,
                   .group_parallel = 16,
                   .seen_cache_bytes = 16 << 20,
                   .upcoming_bytes = 64 << 20},
        .endpoints = endpoints,
        .ready_descriptor = -1,
    };
    log_open("bench_queue", LOG_LEVEL_ERROR, false);
    const enum status status = queue_daemon_run(&options, &why);
    if (status != STATUS_OK) {
        fail("daemon", &why);
    }
    cluster_close(cluster);
    exit(EXIT_DONE);
}

static void
process(struct run *run)
{
    struct pollfd poll_one = {.fd = queue_client_descriptor(run->client), .events = POLLIN};
    (void)poll(&poll_one, 1, queue_client_wait_ms(run->client));
    queue_client_process(run->client);
}

static void
ended(void *context, enum status status, const struct reason *why)
{
    struct run *run = context;
    if (status != STATUS_OK) {
        fail("refused", why);
    }
    run->under_way--;
}

static void
put_all(struct run *run, enum stage stage)
{
    const struct settings *settings = run->settings;
    struct job *jobs = memory_zero(settings->batch, sizeof *jobs);
    char *texts = memory_alloc(settings->batch * 96);
    for (uint64_t at = 0; at < settings->jobs;) {
        size_t n = 0;
        for (; n < settings->batch && at < settings->jobs; n++, at++) {
            const int length =
                snprintf(texts + n * 96, 96, "http://host%llu.example.org/some/path/page%llu.html",
                         (unsigned long long)(at % settings->hosts), (unsigned long long)at);
            jobs[n] = (struct job){.key.stage = (uint8_t)stage,
                                   .uri = slice_of(texts + n * 96, (size_t)length),
                                   .via = SLICE("http://host1.example.org/some/path/index.html"),
                                   .priority = 128,
                                   .generation = 1};
        }
        while (run->under_way >= settings->window) {
            process(run);
        }
        run->under_way++;
        queue_put(run->client, jobs, n, ended, run);
    }
    while (run->under_way > 0) {
        process(run);
    }
    free(jobs);
    free(texts);
}

static void
got(void *context, enum status status, const struct job *jobs, size_t n, const struct reason *why)
{
    static const char data[200];
    struct run *run = context;
    run->reserving = false;
    run->empty = n == 0;
    if (status != STATUS_OK) {
        fail("reserve", why);
    }
    if (n == 0) {
        return;
    }
    struct completion *completions = memory_zero(n, sizeof *completions);
    struct job *outputs = memory_zero(n, sizeof *outputs);
    struct buf *reports = memory_zero(n, sizeof *reports);
    for (size_t i = 0; i < n; i++) {
        outputs[i] = (struct job){.key.stage = (uint8_t)(jobs[i].key.stage + 1),
                                  .uri = jobs[i].uri,
                                  .via = jobs[i].via,
                                  .priority = 128,
                                  .generation = jobs[i].generation,
                                  .data = slice_of(data, sizeof data)};
        const struct host_report told = {.address = jobs[i].key.lane | 1};
        buf_init(&reports[i], 64);
        host_report_encode(&reports[i], &told);
        completions[i] = (struct completion){.key = jobs[i].key,
                                             .outputs = &outputs[i],
                                             .output_count = 1,
                                             .report = buf_slice(&reports[i])};
    }
    run->under_way++;
    run->ended += n;
    queue_complete(run->client, completions, n, ended, run);
    for (size_t i = 0; i < n; i++) {
        buf_release(&reports[i]);
    }
    free(reports);
    free(completions);
    free(outputs);
}

static void
work_all(struct run *run, enum stage stage)
{
    const struct settings *settings = run->settings;
    run->ended = 0;
    while (run->ended < settings->jobs || run->under_way > 0) {
        if (!run->reserving && run->under_way < settings->window && run->ended < settings->jobs) {
            run->reserving = true;
            queue_reserve(run->client, stage, 0, (uint32_t)settings->batch, 1000, got, run);
        }
        process(run);
    }
}

static void
put_fetch(struct run *run)
{
    put_all(run, STAGE_FETCH);
}

static void
put_detect(struct run *run)
{
    put_all(run, STAGE_DETECT);
}

static void
work_fetch(struct run *run)
{
    work_all(run, STAGE_FETCH);
}

static void
work_detect(struct run *run)
{
    work_all(run, STAGE_DETECT);
}

static void
measure(struct run *run, const char *what, void (*act)(struct run *))
{
    const uint64_t jobs = run->settings->jobs;
    const double cpu = cpu_seconds(run->daemon);
    const uint64_t began = clock_monotonic_us();
    act(run);
    const double seconds = (double)(clock_monotonic_us() - began) / 1e6;
    const double used = cpu_seconds(run->daemon) - cpu;
    printf("%s\t%llu\t%llu\t%.0f\t%.0f\n", what, (unsigned long long)run->settings->batch,
           (unsigned long long)jobs, (double)jobs / seconds, used > 0 ? (double)jobs / used : 0.0);
    fflush(stdout);
}

static void
read_settings(struct settings *settings, int argc, char **argv)
{
    const struct {
        const char *name;
        uint64_t *place;
    } names[] = {{"jobs=", &settings->jobs},
                 {"batch=", &settings->batch},
                 {"hosts=", &settings->hosts},
                 {"window=", &settings->window},
                 {"sync=", &settings->sync}};
    for (int i = 1; i < argc; i++) {
        bool known = false;
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
            const size_t length = strlen(names[n].name);
            if (strncmp(argv[i], names[n].name, length) == 0) {
                *names[n].place = strtoull(argv[i] + length, NULL, 10);
                known = true;
            }
        }
        if (!known) {
            fprintf(stderr, "bench_queue: what is %s?\n", argv[i]);
            exit(EXIT_MISUSE);
        }
    }
}

int
main(int argc, char **argv)
{
    struct settings settings = {200000, 1000, 20000, 4, 1};
    struct reason why = {""};
    char endpoint[BENCH_SCRATCH_SIZE + 16];
    char command[BENCH_SCRATCH_SIZE + 16];
    read_settings(&settings, argc, argv);
    if (mkdtemp(bench_scratch(folder, "bench_queue")) == NULL) {
        return EXIT_SYSTEM;
    }
    snprintf(endpoint, sizeof endpoint, "ipc://%s/socket", folder);
    struct run run = {.settings = &settings};
    run.daemon = start_daemon(endpoint, settings.sync != 0);
    const struct queue_client_options options = {.endpoint = endpoint, .name = "bench"};
    if (queue_client_open(&run.client, &options, &why) != STATUS_OK) {
        fail("client", &why);
    }
    printf("what\tbatch\tjobs\tjobs/s\tjobs/cpu-s\n");
    measure(&run, "put", put_fetch);
    measure(&run, "put-seen", put_fetch);
    measure(&run, "fetch", work_fetch);
    measure(&run, "detect", work_detect);
    measure(&run, "put-detect", put_detect);
    measure(&run, "detect", work_detect);
    queue_client_close(run.client);
    kill(run.daemon, SIGTERM);
    waitpid(run.daemon, NULL, 0);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}
