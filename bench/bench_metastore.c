/* Batched puts and gets of small records against one metastore daemon, over ipc.
 *
 *   bench_metastore [RECORDS [BATCH]]
 *
 * Prints lines: what TAB count TAB wall seconds TAB CPU seconds of the daemon TAB per second. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "bench/scratch.h"
#include "metastore/metastore_client.h"
#include "metastore/metastore_daemon.h"

enum { IN_FLIGHT = 8 };

static char folder[BENCH_SCRATCH_SIZE];
static char endpoint[BENCH_SCRATCH_SIZE + 16];

static pid_t
daemon_start(void)
{
    int ready[2];
    if (pipe(ready) != 0) {
        exit(EXIT_SYSTEM);
    }
    const pid_t pid = fork();
    if (pid == 0) {
        const char *const endpoints[] = {endpoint, NULL};
        const struct meta_daemon_options options = {.store = {.folder = folder,
                                                              .cache_bytes = 128 << 20,
                                                              .checkpoint_bytes = 128 << 20,
                                                              .checkpoint_ms = 60000,
                                                              .sync = true},
                                                    .endpoints = endpoints,
                                                    .ready_descriptor = ready[1]};
        struct reason why = {""};
        const enum status status = meta_daemon_run(&options, &why);
        if (status != STATUS_OK) {
            log_error("ended", "reason=%s", why.text);
        }
        _exit(status_exit_code(status));
    }
    char byte;
    (void)!read(ready[0], &byte, 1);
    return pid;
}

static double
cpu_of(pid_t pid)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) {
        return 0;
    }
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static size_t outstanding;

static void
put_done(void *context, enum status status, const struct reason *why)
{
    (void)context;
    outstanding--;
    if (status != STATUS_OK) {
        log_error("put", "reason=%s", why->text);
    }
}

static void
got(void *context, enum status status, const struct slice *records, size_t n,
    const struct reason *why)
{
    size_t *found = context;
    outstanding--;
    if (status != STATUS_OK) {
        log_error("get", "reason=%s", why->text);
    }
    for (size_t i = 0; i < n; i++) {
        *found += records[i].length > 0;
    }
}

static void
wait_below(struct metastore_client *client, size_t most)
{
    metastore_process(client);
    while (outstanding > most) {
        struct pollfd polled = {.events = POLLIN};
        (void)metastore_descriptors(client, &polled.fd, 1);
        const int wait = metastore_wait_ms(client);
        (void)poll(&polled, 1, wait);
        metastore_process(client);
    }
}

/* The URI of record i: hosts in turn, so that a batch touches many places of the tree. */
static struct slice
name(char *text, size_t size, uint64_t i)
{
    const uint64_t mixed = i * 0x9E3779B97F4A7C15U;
    return slice_of(text, (size_t)snprintf(text, size, "uhttp://host%lu.example/page/%lu",
                                           (unsigned long)(mixed >> 48), (unsigned long)i));
}

/* What fetch says of a page, without the headers. */
static void
fill(struct meta_update *update, uint64_t i, uint64_t generation)
{
    meta_update_reset(update);
    meta_set_number(update, META_GENERATION, generation);
    meta_set_text(update, META_STATE, SLICE("fetched"));
    meta_set_number(update, META_DEPTH, i % 7);
    meta_set_number(update, META_FETCHED, 1790000000000 + i);
    meta_set_number(update, META_HTTP_STATUS, 200);
    meta_set_text(update, META_CONTENT_TYPE, SLICE("text/html; charset=utf-8"));
    meta_set_text(update, META_WARC_FILE, SLICE("quadrille-20261120-00001.warc.gz"));
    meta_set_number(update, META_WARC_OFFSET, i * 7000);
    meta_set_number(update, META_WARC_LENGTH, 7000);
}

struct batch {
    char (*names)[64];
    struct meta_update *updates;
    struct meta_put *puts;
    struct slice *keys;
};

static void
run(struct metastore_client *client, const struct batch *batch, uint64_t records, size_t size,
    uint64_t generation, size_t *found)
{
    for (uint64_t from = 0; from < records; from += size) {
        const size_t n = records - from < size ? (size_t)(records - from) : size;
        for (size_t i = 0; i < n; i++) {
            batch->keys[i] = name(batch->names[i], sizeof batch->names[i], from + i);
            if (found == NULL) {
                fill(&batch->updates[i], from + i, generation);
                batch->puts[i] =
                    (struct meta_put){batch->keys[i], meta_update_fields(&batch->updates[i])};
            }
        }
        outstanding++;
        if (found == NULL) {
            metastore_put(client, batch->puts, n, put_done, NULL);
        } else {
            metastore_get(client, batch->keys, n, got, found);
        }
        wait_below(client, IN_FLIGHT - 1);
    }
    wait_below(client, 0);
}

int
main(int argc, char **argv)
{
    const uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000;
    const size_t size = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    log_open("bench_metastore", LOG_LEVEL_WARNING, false);
    if (mkdtemp(bench_scratch(folder, "bench_metastore")) == NULL) {
        return EXIT_SYSTEM;
    }
    snprintf(endpoint, sizeof endpoint, "ipc://%s/socket", folder);
    const pid_t pid = daemon_start();
    struct metastore_client *client;
    const char *const endpoints[] = {endpoint};
    const struct metastore_client_options options = {
        .endpoints = endpoints, .endpoint_count = 1, .name = "bench"};
    struct reason why;
    if (metastore_client_open(&client, &options, &why) != STATUS_OK) {
        return EXIT_SYSTEM;
    }
    const struct batch batch = {
        memory_zero(size, sizeof *batch.names), memory_zero(size, sizeof *batch.updates),
        memory_zero(size, sizeof *batch.puts), memory_zero(size, sizeof *batch.keys)};
    for (size_t i = 0; i < size; i++) {
        meta_update_init(&batch.updates[i]);
    }
    static const char *const phases[] = {"put new", "put again", "get"};
    size_t found = 0;
    for (uint64_t phase = 0; phase < 3; phase++) {
        const double cpu = cpu_of(pid);
        const uint64_t start = clock_monotonic_us();
        run(client, &batch, records, size, phase + 1, phase == 2 ? &found : NULL);
        const double wall = (double)(clock_monotonic_us() - start) / 1e6;
        const double used = cpu_of(pid) - cpu;
        printf("metastore %s\t%lu\t%.3f\t%.3f\t%.0f\n", phases[phase], (unsigned long)records, wall,
               used, (double)records / wall);
    }
    metastore_client_close(client);
    (void)kill(pid, SIGTERM);
    (void)waitpid(pid, NULL, 0);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && found == records ? EXIT_DONE : EXIT_SYSTEM;
}
