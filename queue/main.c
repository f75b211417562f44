/* quadrille-queue: owns DIR/queue and answers for every job of this node. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "queue/daemon.h"
#include "queue/daemon_main.h"
#include "queue/frontier.h"

enum { LOCK_WAIT_MS = 30000, PATH_BYTES = 4096 };

static const struct program program = {
    .name = "quadrille-queue",
    .summary = "keeps the jobs of all stages, hands them out, and moves them between nodes",
    .description =
        "Owns the Berkeley DB environment DIR/queue and answers the other programs on "
        "DIR/run/queue.sock, and on the address that cluster.conf gives for this node. "
        "Requests that arrive together are committed in one transaction with one sync and "
        "answered after it, so everything confirmed survives kill -9. At most one runs on a "
        "directory: a second one waits until the first has ended.\n\n"
        "SIGTERM and SIGINT end it cleanly. Exit status: 0 after a signal, 100 for misuse, "
        "111 when the system failed; what was confirmed stays, and a new start recovers it. "
        "A full disk does not end it: additions are refused until there is room.\n\n"
        "For tests, QUADRILLE_FAULT in the environment holds \"POINT:N:WHAT\": at the N-th "
        "POINT (before, after: of a commit; checkpoint; run: a write of a run) it does WHAT: kill, "
        "full (as if the "
        "disk were full, this once) or full* (from then on).",
    .examples = "quadrille-queue --dir crawl\n"
                "quadrille-queue --dir crawl --set queue.cache=1G",
};

/* ---- faults for tests ---- */

struct fault {
    enum store_point point;
    uint64_t at, count;
    bool kill, stays;
};

static bool
read_fault(const char *text, struct fault *fault)
{
    static const char *const points[] = {"before:", "after:", "checkpoint:", "run:"};
    char *end;
    for (int i = 0; i < 4; i++) {
        const size_t length = strlen(points[i]);
        if (strncmp(text, points[i], length) == 0) {
            *fault = (struct fault){.point = (enum store_point)i,
                                    .at = strtoull(text + length, &end, 10)};
            fault->kill = strcmp(end, ":kill") == 0;
            fault->stays = strcmp(end, ":full*") == 0;
            return fault->kill || fault->stays || strcmp(end, ":full") == 0;
        }
    }
    return false;
}

static int
strike(void *context, enum store_point point)
{
    struct fault *fault = context;
    if (point != fault->point || ++fault->count < fault->at ||
        (fault->count > fault->at && !fault->stays)) {
        return 0;
    }
    if (fault->kill) {
        (void)raise(SIGKILL);
    }
    return ENOSPC;
}

/* ---- running ---- */

static struct broker_options
broker_options_of(const struct daemon_setting *setting)
{
    const struct opt_set *options = setting->options;
    return (struct broker_options){
        .directory = setting->directory,
        .store = {.cache_bytes = (uint64_t)opt_integer(options, "queue.cache"),
                  .checkpoint_bytes = (uint64_t)opt_integer(options, "queue.checkpoint_bytes"),
                  .checkpoint_ms = opt_duration_ms(options, "queue.checkpoint_time"),
                  .sync = opt_bool(options, "queue.sync"),
                  .lock_wait_ms = LOCK_WAIT_MS,
                  .recent_bytes = (uint64_t)opt_integer(options, "queue.recent"),
                  .threads = true},
        .index_partitions = (uint32_t)opt_integer(options, "index.partitions"),
        .lease_ms = opt_duration_ms(options, "queue.lease"),
        .grace_ms = opt_duration_ms(options, "queue.grace"),
        .attempts = (uint32_t)opt_integer(options, "queue.attempts"),
        .high_water = (uint64_t)opt_integer(options, "queue.high_water"),
        .maximum = (uint64_t)opt_integer(options, "queue.maximum"),
        .min_free = (uint64_t)opt_integer(options, "queue.min_free"),
        .group_parallel = (uint32_t)opt_integer(options, "queue.group_parallel"),
        .burst = (uint32_t)opt_integer(options, "queue.burst"),
        .group_delay_ms = opt_duration_ms(options, "queue.group_delay"),
        .domain_budget = (uint64_t)opt_integer(options, "queue.domain_budget"),
        .domain_period_ms = opt_duration_ms(options, "queue.domain_period"),
        .heads_bytes = (size_t)opt_integer(options, "queue.heads"),
        .troubles =
            {
                .failures = (uint32_t)opt_integer(options, "queue.host_failures"),
                .patience_ms = opt_duration_ms(options, "queue.host_patience"),
                .patience_new_ms = opt_duration_ms(options, "queue.host_patience_new"),
                .probe_ms = opt_duration_ms(options, "queue.host_probe"),
                .probe_most_ms = opt_duration_ms(options, "queue.host_probe_maximum"),
                .outage_hosts = (uint32_t)opt_integer(options, "queue.outage_hosts"),
                .outage_patience_ms = opt_duration_ms(options, "queue.outage_patience"),
            },
        .seen_cache_bytes = (size_t)opt_integer(options, "queue.seen_cache"),
    };
}

static enum status
run(const struct daemon_setting *setting, struct reason *why)
{
    struct fault fault;
    struct buf folder;
    struct buf local;
    const char *faults = getenv("QUADRILLE_FAULT");
    buf_init(&folder, PATH_BYTES);
    buf_init(&local, PATH_BYTES);
    config_path(setting->directory, "queue", &folder);
    config_endpoint(setting->directory, "queue", &local);
    const struct cluster_node *node =
        cluster_node(setting->cluster, cluster_self(setting->cluster));
    const char *const endpoints[] = {local.data, node->queue, NULL};
    struct queue_daemon_options daemon = {.broker = broker_options_of(setting),
                                          .configured = setting->options,
                                          .endpoints = endpoints,
                                          .ready_descriptor = setting->ready_descriptor};
    daemon.broker.cluster = setting->cluster;
    daemon.broker.store.folder = folder.data;
    enum status status = STATUS_OK;
    if (faults != NULL && faults[0] != '\0') {
        daemon.broker.store.fault = strike;
        daemon.broker.store.fault_context = &fault;
        if (!read_fault(faults, &fault)) {
            status = status_fail(why, STATUS_MISUSE, "QUADRILLE_FAULT is not POINT:N:WHAT");
        }
    }
    if (status == STATUS_OK) {
        status = queue_daemon_run(&daemon, why);
    }
    buf_release(&folder);
    buf_release(&local);
    return status;
}

int
main(int argc, char **argv)
{
    return daemon_main(&program, run, argc, argv);
}
