/* The daemon in processes of its own, killed at random moments while clients put, reserve and
 * complete; two daemons that pass jobs to each other, killed alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "queue/client/queue_client.h"
#include "queue/daemon/queue_daemon.h"
#include "queue/storage/frontier_engine.h"
#include "tests/unit/brief.h"
#include "tests/unit/scratch.h"

enum { NODES = 2, PATIENCE_MS = 600000 };

struct site {
    char folder[SCRATCH_SIZE + 24], endpoint[SCRATCH_SIZE + 32];
    pid_t pid;
};

static char root[SCRATCH_SIZE];
static struct site sites[NODES];
static char cluster_text[512];
static size_t site_count;
static char min_free[32] = "0";
/* Is so long that no machine is too slow to renew it, but where the test is about its end. */
enum { LEASE_MS = 120000, SHORT_LEASE_MS = 5000, GRACE_MS = 3000 };
static char lease_ms[16];

/* ---- daemons ---- */

/* Runs in a process of its own, begun afresh: a fork of a process with threads must not go on
 * as if nothing were. Arguments: folder, endpoint, node, text of cluster.conf, descriptor,
 * room that the disk shall keep, length of leases. */
static int
serve(char **arguments)
{
    struct reason why = {""};
    struct cluster *cluster;
    const char *folder = arguments[0];
    const char *const endpoints[] = {arguments[1], NULL};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    log_open("test_queue_daemon", LOG_LEVEL_ERROR, false);
    if (cluster_parse(&cluster, slice_string(arguments[3]), arguments[2], folder, &why) !=
        STATUS_OK) {
        fprintf(stderr, "%s\n", why.text);
        return EXIT_MISUSE;
    }
    const struct queue_daemon_options options = {
        .broker = {.directory = folder,
                   .store = {.folder = folder,
                             .cache_bytes = 4 << 20,
                             .checkpoint_bytes = 1 << 20,
                             .checkpoint_ms = 200,
                             .sync = false,
                             .recent_bytes = 64 << 10,
                             .threads = true,
                             .lock_wait_ms = 5000},
                   .min_free = strtoull(arguments[5], NULL, 10),
                   .cluster = cluster,
                   .index_partitions = 1,
                   .lease_ms = strtoull(arguments[6], NULL, 10),
                   .grace_ms = GRACE_MS,
                   .attempts = 5,
                   .high_water = 100000,
                   .seen_cache_bytes = 64 << 10,
                   .upcoming_bytes = 64 << 20},
        .endpoints = endpoints,
        .ready_descriptor = atoi(arguments[4]),
    };
    const enum status status = queue_daemon_run(&options, &why);
    if (status != STATUS_OK) {
        fprintf(stderr, "daemon %s: %s\n", arguments[2], why.text);
    }
    cluster_close(cluster);
    return status_exit_code(status);
}

static void
set_lease(unsigned ms)
{
    (void)snprintf(lease_ms, sizeof lease_ms, "%u", ms);
}

static void
start(size_t at)
{
    int ready[2];
    char byte;
    char name[32];
    char descriptor[16];
    assert_int_equal(pipe(ready), 0);
    snprintf(name, sizeof name, "n%zu", at);
    snprintf(descriptor, sizeof descriptor, "%d", ready[1]);
    char *const arguments[] = {"serve",    sites[at].folder, sites[at].endpoint, name, cluster_text,
                               descriptor, min_free,         lease_ms,           NULL};
    sites[at].pid = fork();
    if (sites[at].pid == 0) {
        execv("/proc/self/exe", arguments);
        _exit(EXIT_SYSTEM);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
}

static void
stop(size_t at, int signal_number)
{
    int status;
    kill(sites[at].pid, signal_number);
    assert_int_equal(waitpid(sites[at].pid, &status, 0), sites[at].pid);
    if (signal_number == SIGTERM) {
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static void
open_sites(size_t n, const char *first_stages, const char *second_stages)
{
    assert_true(scratch_folder(root, "test_queued"));
    site_count = n;
    cluster_text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        snprintf(sites[i].folder, sizeof sites[i].folder, "%s/n%zu", root, i);
        snprintf(sites[i].endpoint, sizeof sites[i].endpoint, "ipc://%s/s%zu", root, i);
        const size_t used = strlen(cluster_text);
        snprintf(cluster_text + used, sizeof cluster_text - used,
                 "node n%zu queue=%s metastore=tcp://127.0.0.1:1 stages=%s\n", i, sites[i].endpoint,
                 i == 0 ? first_stages : second_stages);
    }
    for (size_t i = 0; i < n; i++) {
        start(i);
    }
}

static void
close_sites(void)
{
    char command[96];
    for (size_t i = 0; i < site_count; i++) {
        stop(i, SIGTERM);
    }
    snprintf(command, sizeof command, "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

/* ---- a worker that passes jobs on ---- */

enum { URIS = 3000, BATCH = 40, KILLS = 25 };

/* The world has seen this of each URI in each stage. */
struct effects {
    uint16_t taken[STAGE_COUNT][URIS]; /* handed out */
    uint16_t ended[STAGE_COUNT][URIS]; /* its completion was confirmed */
};

struct client {
    struct queue_client *queue;
    struct effects *effects;
    bool reserving[STAGE_COUNT];
    size_t under_way, puts;
};

struct batch_sent {
    struct client *client;
    size_t count;
    uint8_t stage;
    uint16_t numbers[BATCH];
};

static int
number_of(struct slice uri)
{
    const size_t at = slice_find_slice(uri, SLICE("/p"));
    char text[16];
    snprintf(text, sizeof text, "%.*s", (int)(uri.length - at - 2), uri.at + at + 2);
    return atoi(text);
}

static size_t
uri_of(int number, char *text, size_t size)
{
    return (size_t)snprintf(text, size, "http://h%d.example/p%d", number % 50, number);
}

static void
completed(void *context, enum status status, const struct reason *why)
{
    struct batch_sent *sent = context;
    if (status == STATUS_OK) {
        for (size_t i = 0; i < sent->count; i++) {
            sent->client->effects->ended[sent->stage][sent->numbers[i]]++;
        }
    } else if (status != STATUS_CANCELLED) {
        fail_msg("%s: %s", status_name(status), why->text);
    }
    sent->client->under_way--;
    free(sent);
}

static void
reserved(void *context, enum status status, const struct job *jobs, size_t n,
         const struct reason *why)
{
    struct client *client = context;
    struct job outputs[BATCH + 1];
    struct completion completions[BATCH];
    static const char a_rest[] = {0, 1, 0, 0}; /* of a millisecond */
    char next[64];
    if (status == STATUS_CANCELLED) {
        return;
    }
    if (status != STATUS_OK) {
        fail_msg("%s: %s", status_name(status), why->text);
    }
    for (int i = 0; i < STAGE_COUNT && n == 0; i++) {
        client->reserving[i] = false;
    }
    if (n == 0) {
        return;
    }
    struct batch_sent *sent = memory_new(sizeof *sent);
    sent->client = client;
    sent->count = n;
    sent->stage = jobs[0].key.stage;
    client->reserving[sent->stage] = false;
    for (size_t i = 0; i < n; i++) {
        const int number = number_of(jobs[i].uri);
        const bool last = sent->stage == STAGE_EXTRACT;
        sent->numbers[i] = (uint16_t)number;
        client->effects->taken[sent->stage][number]++;
        outputs[i] = (struct job){.key.stage = last ? STAGE_FETCH : (uint8_t)(sent->stage + 1),
                                  .uri = jobs[i].uri,
                                  .via = jobs[i].uri,
                                  .priority = 128,
                                  .depth = jobs[i].depth,
                                  .generation = jobs[i].generation};
        completions[i] = (struct completion){.key = jobs[i].key,
                                             .outputs = &outputs[i],
                                             .output_count = 1,
                                             .report = slice_of(a_rest, sizeof a_rest)};
        if (last) { /* the web grows: each page leads to the next, and back to itself */
            outputs[i].uri = slice_of(next, uri_of((number + 1) % URIS, next, sizeof next));
        }
    }
    const bool extract = sent->stage == STAGE_EXTRACT;
    client->under_way++;
    queue_complete(client->queue, completions, extract ? 1 : n, completed, sent);
    if (extract) {
        sent->count = 1;
    }
}

static void
put_done(void *context, enum status status, const struct reason *why)
{
    struct client *client = context;
    if (status != STATUS_OK && status != STATUS_CANCELLED) {
        fail_msg("%s: %s", status_name(status), why->text);
    }
    client->puts--;
}

static void
put(struct client *client, int from, int to)
{
    struct job jobs[100];
    char texts[100][64];
    size_t n = 0;
    for (int number = from; number < to; number++, n++) {
        const size_t length = uri_of(number, texts[n], sizeof texts[n]);
        jobs[n] = (struct job){
            .key.stage = STAGE_FETCH, .uri = slice_of(texts[n], length), .priority = 128};
    }
    client->puts++;
    queue_put(client->queue, jobs, n, put_done, client);
}

static void
step(struct client *clients, size_t n, int wait)
{
    struct pollfd polls[NODES];
    for (size_t i = 0; i < n; i++) {
        polls[i] =
            (struct pollfd){.fd = queue_client_descriptor(clients[i].queue), .events = POLLIN};
        const int own = queue_client_wait_ms(clients[i].queue);
        wait = own >= 0 && own < wait ? own : wait;
    }
    (void)poll(polls, n, wait);
    for (size_t i = 0; i < n; i++) {
        queue_client_process(clients[i].queue);
    }
}

static void
ask(struct client *client)
{
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        if (!client->reserving[stage] && client->under_way < 10) {
            client->reserving[stage] = true;
            queue_reserve(client->queue, (enum stage)stage, 0, stage == STAGE_EXTRACT ? 1 : BATCH,
                          20, reserved, client);
        }
    }
}

static void
connect_to(struct client *client, size_t at, const char *name, struct effects *effects)
{
    struct reason why = {""};
    const struct queue_client_options options = {.endpoint = sites[at].endpoint, .name = name};
    *client = (struct client){.effects = effects};
    assert_int_equal(queue_client_open(&client->queue, &options, &why), STATUS_OK);
}

static uint64_t
waiting_of(struct queue_client *queue, struct queue_stats *stats)
{
    struct reason why = {""};
    uint64_t waiting = 0;
    assert_int_equal(queue_stats_get(queue, stats, PATIENCE_MS, &why), STATUS_OK);
    for (int i = 0; i < STAGE_COUNT; i++) {
        const struct queue_stage_stats *stage = &stats->stages[i];
        waiting += stage->ready + stage->leased + stage->delayed + stage->outbox;
    }
    return waiting;
}

/* Drives the crawl to its end; kills a daemon every now and then, `kills` times. */
static void
crawl(struct client *clients, size_t n, int kills)
{
    const uint64_t began = clock_monotonic_ms();
    uint64_t next_kill = began + 50;
    uint64_t next_look = 0;
    unsigned seed = 4711;
    for (;;) {
        const uint64_t now = clock_monotonic_ms();
        assert_true(now < began + PATIENCE_MS);
        if (kills > 0 && now >= next_kill) {
            const size_t victim = (size_t)rand_r(&seed) % site_count;
            stop(victim, SIGKILL);
            start(victim);
            next_kill = clock_monotonic_ms() + 20 + (uint64_t)rand_r(&seed) % 200;
            kills--;
        }
        if (now >= next_look && kills == 0) {
            uint64_t waiting = clients[0].puts + clients[0].under_way;
            for (size_t i = 0; i < n; i++) {
                struct queue_stats stats;
                waiting += waiting_of(clients[i].queue, &stats) + clients[i].under_way;
            }
            next_look = now + 100;
            if (waiting == 0) {
                return;
            }
        }
        for (size_t i = 0; i < n; i++) {
            ask(&clients[i]);
        }
        step(clients, n, 10);
    }
}

/* ---- cases ---- */

static void
check_all_once(const struct effects *effects, bool exactly)
{
    for (int stage = 0; stage <= STAGE_INDEX; stage++) {
        for (int i = 0; i < URIS; i++) {
            if (effects->ended[stage][i] != 1 || (exactly && effects->taken[stage][i] != 1)) {
                fail_msg("%s of %d: taken %u times, ended %u times", stage_name(stage), i,
                         effects->taken[stage][i], effects->ended[stage][i]);
            }
        }
    }
}

static void
test_every_job_once_in_spite_of_kills(void **state)
{
    static struct effects effects;
    struct client client;
    struct queue_stats stats;
    (void)state;
    open_sites(1, "fetch,detect,transform,index,extract", "");
    connect_to(&client, 0, "worker.1", &effects);
    for (int i = 0; i < URIS; i += 100) {
        put(&client, i, i + 100);
    }
    crawl(&client, 1, (int)brief(KILLS, KILLS / 3));
    check_all_once(&effects, true);
    assert_int_equal(waiting_of(client.queue, &stats), 0);
    for (int i = 0; i < STAGE_COUNT; i++) {
        assert_int_equal(stats.stages[i].put, URIS);
        assert_int_equal(stats.stages[i].done, URIS);
        assert_int_equal(stats.stages[i].buried, 0);
    }
    assert_int_equal(stats.seen, URIS);
    queue_client_close(client.queue);
    close_sites();
}

static void
test_two_nodes_pass_jobs_exactly_once(void **state)
{
    static struct effects effects;
    struct client clients[NODES];
    struct queue_stats stats[NODES];
    uint64_t done[STAGE_COUNT] = {0};
    (void)state;
    open_sites(2, "fetch,detect,transform,index", "fetch,detect,index,extract");
    connect_to(&clients[0], 0, "worker.1", &effects);
    connect_to(&clients[1], 1, "worker.1", &effects);
    for (int i = 0; i < URIS; i += 100) {
        put(&clients[i / 100 % 2], i, i + 100);
    }
    crawl(clients, 2, (int)brief(KILLS, KILLS / 3));
    check_all_once(&effects, true);
    for (int n = 0; n < NODES; n++) {
        assert_int_equal(waiting_of(clients[n].queue, &stats[n]), 0);
        assert_true(stats[n].sent > URIS / 4);
        for (int i = 0; i < STAGE_COUNT; i++) {
            done[i] += stats[n].stages[i].done;
        }
    }
    assert_int_equal(stats[0].sent, stats[1].received);
    assert_int_equal(stats[1].sent, stats[0].received);
    for (int i = 0; i < STAGE_COUNT; i++) {
        assert_int_equal(done[i], URIS);
    }
    assert_int_equal(stats[0].seen + stats[1].seen, URIS);
    assert_int_equal(stats[1].stages[STAGE_TRANSFORM].put, 0);
    assert_int_equal(stats[0].stages[STAGE_EXTRACT].put, 0);
    queue_client_close(clients[0].queue);
    queue_client_close(clients[1].queue);
    close_sites();
}

/* The latest reserve gave these. */
struct given {
    bool answered;
    size_t jobs;
};

static void
note_status(void *context, enum status status, const struct reason *why)
{
    (void)why;
    *(enum status *)context = status;
}

static void
note(void *context, enum status status, const struct job *jobs, size_t n, const struct reason *why)
{
    struct given *given = context;
    (void)jobs;
    (void)why;
    if (status != STATUS_CANCELLED) {
        assert_int_equal(status, STATUS_OK);
        *given = (struct given){true, n};
    }
}

static void
wait_for(struct client *clients, size_t n, const bool *flag, uint64_t most_ms)
{
    const uint64_t until = clock_monotonic_ms() + most_ms;
    while (!*flag && clock_monotonic_ms() < until) {
        step(clients, n, 50);
    }
}

/* A worker that only waits notices a restart, and keeps what it holds. */
static void
test_idle_worker_keeps_its_job_over_a_restart(void **state)
{
    static struct effects effects;
    struct client clients[NODES]; /* two workers of one node */
    struct given first = {false, 0};
    struct given second = {false, 0};
    struct queue_stats stats;
    const bool never = false;
    (void)state;
    set_lease(SHORT_LEASE_MS);
    open_sites(1, "fetch,detect,transform,index,extract", "");
    connect_to(&clients[0], 0, "worker.1", &effects);
    connect_to(&clients[1], 0, "worker.2", &effects);
    put(&clients[0], 0, 1);
    queue_reserve(clients[0].queue, STAGE_FETCH, 0, 1, PATIENCE_MS, note, &first);
    wait_for(clients, NODES, &first.answered, PATIENCE_MS);
    assert_int_equal(first.jobs, 1);
    stop(0, SIGKILL);
    start(0);
    queue_reserve(clients[1].queue, STAGE_FETCH, 0, 1, SHORT_LEASE_MS * 3 / 4, note, &second);
    wait_for(clients, NODES, &second.answered, PATIENCE_MS);
    assert_true(second.answered);
    assert_int_equal(second.jobs, 0);
    wait_for(clients, NODES, &never, SHORT_LEASE_MS * 5 / 4); /* it renews by itself */
    (void)waiting_of(clients[1].queue, &stats);
    assert_int_equal(stats.stages[STAGE_FETCH].leased, 1);
    assert_int_equal(stats.stages[STAGE_FETCH].dead, 0);
    queue_client_close(clients[0].queue);
    queue_client_close(clients[1].queue);
    close_sites();
    set_lease(LEASE_MS);
}

/* A disk of 24 MB: additions are refused in time, what is there goes through, and then there is
 * room again. Where even the reserve is gone nothing that was confirmed is lost. */
static void
put_until_refused(struct client *client, uint64_t *accepted)
{
    struct reason why = {""};
    struct queue_stats stats;
    char data[4000];
    memset(data, 'x', sizeof data);
    for (int i = 0; i < 20000; i++) {
        char uri[64];
        struct job job = {.key.stage = STAGE_DETECT, .priority = 128, .generation = 1};
        job.uri = slice_of(uri, uri_of(i % URIS, uri, sizeof uri));
        job.data = slice_of(data, sizeof data);
        enum status status = STATUS_COUNT;
        queue_put(client->queue, &job, 1, note_status, &status);
        while (status == STATUS_COUNT) {
            step(client, 1, 50);
        }
        if (status == STATUS_FULL) {
            assert_int_equal(queue_stats_get(client->queue, &stats, PATIENCE_MS, &why), STATUS_OK);
            assert_true(stats.intake_stopped);
            return;
        }
        assert_int_equal(status, STATUS_OK);
        ++*accepted;
    }
    fail_msg("24 MB took everything");
}

static void
test_full_disk_stops_intake_only(void **state)
{
    static struct effects effects;
    struct client client;
    struct queue_stats stats;
    uint64_t accepted = 0;
    (void)state;
    strcpy(min_free, "6000000");
    open_sites(1, "fetch,detect,transform,index,extract", "");
    stop(0, SIGTERM);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("queue", sites[0].folder, "tmpfs", 0, "size=24m") != 0) {
        start(0);
        close_sites();
        print_message("a disk of 24 MB can only be made by root\n");
        skip();
    }
    start(0);
    connect_to(&client, 0, "worker.1", &effects);
    put_until_refused(&client, &accepted);
    assert_true(accepted > URIS);
    stop(0, SIGKILL);
    start(0); /* recovery has room, too */
    /* What was answered late was sent again, and may be there twice, but nothing is lost. */
    const uint64_t held = waiting_of(client.queue, &stats);
    assert_in_range(held, accepted, 2 * accepted);
    crawl(&client, 1, 0);
    /* each page leads to another, so all were fetched as well */
    assert_int_equal(waiting_of(client.queue, &stats), 0);
    assert_int_equal(stats.stages[STAGE_DETECT].done, held + URIS);
    assert_int_equal(stats.stages[STAGE_EXTRACT].done, held + URIS);
    queue_client_close(client.queue);
    stop(0, SIGTERM);
    assert_int_equal(umount(sites[0].folder), 0);
    strcpy(min_free, "0");
    start(0);
    close_sites();
}

int
main(int argc, char **argv)
{
    if (strcmp(argv[0], "serve") == 0) {
        return argc == 8 ? serve(argv + 1) : EXIT_MISUSE;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_job_once_in_spite_of_kills),
        cmocka_unit_test(test_two_nodes_pass_jobs_exactly_once),
        cmocka_unit_test(test_idle_worker_keeps_its_job_over_a_restart),
        cmocka_unit_test(test_full_disk_stops_intake_only),
    };
    log_open("test_queue_daemon", LOG_LEVEL_WARNING, false);
    set_lease(LEASE_MS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
