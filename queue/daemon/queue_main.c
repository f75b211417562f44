/* quadrille-queue: owns DIR/queue and answers for every job of this node. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "queue/cluster/daemon_main.h"
#include "queue/daemon/queue_daemon.h"

enum { LOCK_WAIT_MS = 30000, PATH_BYTES = 4096 };

enum {
    LEASE_MS = 60 * 1000, /* workers report every third of it; a stopped one loses its jobs */
    GRACE_MS = 1500,      /* after a restart workers say what they still hold, in one round trip */
    CHECKPOINT_MS = 60 * 1000,
    CHECKPOINT_MOST = 256 << 20, /* bytes of log, which a start after a crash reads */
    BURST = 32,                  /* jobs of a host without rests; more only wait at the worker */
    OUTBOX_LINGER_MS = 250,
    SPARE_ATTEMPTS = 2, /* beyond those that fetch.attempts counts: a process may die of a job */
    DOMAIN_PERIOD_MS = 24 * 60 * 60 * 1000,
    OUTAGE_HOSTS = 5,           /* fewer silent hosts cannot be told from dead ones */
    OUTAGE_MS = 60 * 60 * 1000, /* a crawl that ends meanwhile has to be begun again by hand */
};

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
        "A full disk does not end it: additions are refused until there is room.",
    .examples = "quadrille-queue --dir crawl\n"
                "quadrille-queue --dir crawl --set queue.cache=1G",
};

static struct broker_options
broker_options_of(const struct daemon_setting *setting)
{
    const struct opt_set *options = setting->options;
    const uint64_t cache = (uint64_t)opt_integer(options, "queue.cache");
    return (struct broker_options){
        .directory = setting->directory,
        .store = {.cache_bytes = cache,
                  .checkpoint_bytes = cache < CHECKPOINT_MOST / 2 ? 2 * cache : CHECKPOINT_MOST,
                  .checkpoint_ms = CHECKPOINT_MS,
                  .sync = true,
                  .lock_wait_ms = LOCK_WAIT_MS,
                  .recent_bytes = cache / 2,
                  .threads = true},
        .index_partitions = (uint32_t)opt_integer(options, "index.partitions"),
        .lease_ms = LEASE_MS,
        .grace_ms = GRACE_MS,
        .attempts = (uint32_t)opt_integer(options, "fetch.attempts") + SPARE_ATTEMPTS,
        .high_water = (uint64_t)opt_integer(options, "queue.high_water"),
        .min_free = (uint64_t)opt_integer(options, "queue.min_free"),
        .group_parallel = (uint32_t)opt_integer(options, "queue.group_parallel"),
        .burst = BURST,
        .group_delay_ms = opt_duration_ms(options, "queue.group_delay"),
        .domain_budget = (uint64_t)opt_integer(options, "queue.domain_budget"),
        .domain_period_ms = DOMAIN_PERIOD_MS,
        .upcoming_bytes = (size_t)(cache / 2),
        .outbox_linger_ms = OUTBOX_LINGER_MS,
        .troubles =
            {
                .failures = (uint32_t)opt_integer(options, "queue.host_failures"),
                .patience_ms = opt_duration_ms(options, "queue.host_patience"),
                .probe_ms = opt_duration_ms(options, "queue.host_probe"),
                .probe_most_ms = opt_duration_ms(options, "queue.host_probe_maximum"),
                .outage_hosts = OUTAGE_HOSTS,
                .outage_patience_ms = OUTAGE_MS,
            },
        .pace = pace_rules_from(options),
        .seen_cache_bytes = (size_t)(cache / 8),
    };
}

static enum status
run(const struct daemon_setting *setting, struct reason *why)
{
    struct buf folder;
    struct buf local, metastore;
    buf_init(&folder, PATH_BYTES);
    buf_init(&local, PATH_BYTES);
    config_path(setting->directory, "queue", &folder);
    buf_init(&metastore, PATH_BYTES);
    config_endpoint(setting->directory, "queue", &local);
    config_endpoint(setting->directory, "metastore", &metastore);
    const struct cluster_node *node =
        cluster_node(setting->cluster, cluster_self(setting->cluster));
    const char *const endpoints[] = {local.data, node->queue, NULL};
    struct queue_daemon_options daemon = {.broker = broker_options_of(setting),
                                          .configured = setting->options,
                                          .endpoints = endpoints,
                                          .metastore = metastore.data,
                                          .ready_descriptor = setting->ready_descriptor};
    daemon.broker.cluster = setting->cluster;
    daemon.broker.store.folder = folder.data;
    const enum status status = queue_daemon_run(&daemon, why);
    buf_release(&folder);
    buf_release(&local);
    buf_release(&metastore);
    return status;
}

int
main(int argc, char **argv)
{
    return daemon_main(&program, run, argc, argv);
}
