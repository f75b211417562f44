/* quadrille-metastore: owns DIR/metastore and answers for what is known of URIs and hosts. */
#include "config/config.h"
#include "metastore/metastore_daemon.h"
#include "queue/cluster/daemon_main.h"

enum {
    LOCK_WAIT_MS = 30000,
    PATH_BYTES = 4096,
    CHECKPOINT_MS = 60 * 1000,
    CHECKPOINT_MOST = 128 << 20 /* bytes of log, which a start after a crash reads */
};

static const struct program program = {
    .name = "quadrille-metastore",
    .summary = "keeps what is known of every URI and host",
    .description =
        "Owns the Berkeley DB environment DIR/metastore and answers the other programs on "
        "DIR/run/metastore.sock, and on the address that cluster.conf gives for this node, where "
        "it "
        "also hands other nodes the bytes of this node's WARC files. "
        "Requests that arrive together are committed with one sync and answered after it, so "
        "every confirmed write survives kill -9. At most one runs on a directory: a second "
        "one waits until the first has ended.\n\n"
        "SIGTERM and SIGINT end it cleanly. Exit status: 0 after a signal, 100 for misuse, "
        "111 when the system failed (a full disk, for one); what was confirmed stays.",
    .examples = "quadrille-metastore --dir crawl\n"
                "quadrille-metastore --dir crawl --set metastore.cache=1G",
};

static enum status
run(const struct daemon_setting *setting, struct reason *why)
{
    const struct opt_set *options = setting->options;
    const struct cluster *cluster = setting->cluster;
    const uint64_t cache = (uint64_t)opt_integer(options, "metastore.cache");
    struct buf folder, archive;
    struct buf local;
    buf_init(&folder, PATH_BYTES);
    buf_init(&local, PATH_BYTES);
    buf_init(&archive, PATH_BYTES);
    config_path(setting->directory, "warc", &archive);
    config_path(setting->directory, "metastore", &folder);
    config_endpoint(setting->directory, "metastore", &local);
    const struct cluster_node *node = cluster_node(cluster, cluster_self(cluster));
    const char *const endpoints[] = {local.data, node->metastore, NULL};
    struct warc_writer_options keep = {.node = node->name, .process = "helpers"};
    warc_writer_options_from(&keep, options);
    const struct meta_daemon_options daemon = {
        .store = {.folder = folder.data,
                  .cache_bytes = cache,
                  .checkpoint_bytes = cache < CHECKPOINT_MOST ? cache : CHECKPOINT_MOST,
                  .checkpoint_ms = CHECKPOINT_MS,
                  .disk_reserve = (uint64_t)opt_integer(options, "metastore.disk_reserve"),
                  .sync = true,
                  .lock_wait_ms = LOCK_WAIT_MS},
        .endpoints = endpoints,
        .keys = cluster_keys(cluster),
        .archive = archive.data,
        .keep = keep,
        .ready_descriptor = setting->ready_descriptor};
    const enum status status = meta_daemon_run(&daemon, why);
    buf_release(&folder);
    buf_release(&local);
    buf_release(&archive);
    return status;
}

int
main(int argc, char **argv)
{
    return daemon_main(&program, run, argc, argv);
}
