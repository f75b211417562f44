/* quadrille-metastore: owns DIR/metastore and answers for what is known of URIs and hosts. */
#include <stdio.h>

#include "base/log.h"
#include "config/config.h"
#include "metastore/daemon.h"
#include "queue/cluster.h"

enum { LOCK_WAIT_MS = 30000, PATH_BYTES = 4096 };

static const char *directory = ".";
static struct flag_list assignments;
static int64_t ready_descriptor = -1;

static const struct flag flags[] = {
    {"dir", 'd', FLAG_STRING, "DIR", &directory, "The data directory (default: here)."},
    {"set", 's', FLAG_REPEATED, "NAME=VALUE", &assignments,
     "Overrides an option of DIR/quadrille.conf."},
    {"ready-fd", 0, FLAG_INTEGER, "N", &ready_descriptor,
     "Writes a newline to this descriptor and closes it when requests are taken."},
    {.name = NULL}};

static const struct program program = {
    .name = "quadrille-metastore",
    .synopsis = "[--dir DIR] [--set NAME=VALUE]... [--ready-fd N]",
    .summary = "keeps what is known of every URI and host",
    .description =
        "Owns the Berkeley DB environment DIR/metastore and answers the other programs on "
        "DIR/run/metastore.sock, and on the address that cluster.conf gives for this node. "
        "Requests that arrive together are committed with one sync and answered after it, so "
        "every confirmed write survives kill -9. At most one runs on a directory: a second "
        "one waits until the first has ended.\n\n"
        "SIGTERM and SIGINT end it cleanly. Exit status: 0 after a signal, 100 for misuse, "
        "111 when the system failed (a full disk, for one); what was confirmed stays.",
    .examples = "quadrille-metastore --dir crawl\n"
                "quadrille-metastore --dir crawl --set metastore.cache=1G",
    .flags = flags,
};

static enum status
run(const struct opt_set *options, const struct cluster *cluster, struct reason *why)
{
    struct buf folder;
    struct buf local;
    buf_init(&folder, PATH_BYTES);
    buf_init(&local, PATH_BYTES);
    config_path(directory, "metastore", &folder);
    config_endpoint(directory, "metastore", &local);
    const struct cluster_node *node = cluster_node(cluster, cluster_self(cluster));
    const char *const endpoints[] = {local.data, node->metastore, NULL};
    const struct meta_daemon_options daemon = {
        .store = {.folder = folder.data,
                  .cache_bytes = (uint64_t)opt_integer(options, "metastore.cache"),
                  .checkpoint_bytes = (uint64_t)opt_integer(options, "metastore.checkpoint"),
                  .checkpoint_ms = opt_duration_ms(options, "metastore.checkpoint_interval"),
                  .disk_reserve = (uint64_t)opt_integer(options, "metastore.disk_reserve"),
                  .sync = opt_bool(options, "metastore.sync"),
                  .lock_wait_ms = LOCK_WAIT_MS},
        .endpoints = endpoints,
        .keys = cluster_keys(cluster),
        .ready_descriptor = (int)ready_descriptor};
    const enum status status = meta_daemon_run(&daemon, why);
    buf_release(&folder);
    buf_release(&local);
    return status;
}

int
main(int argc, char **argv)
{
    struct reason why = {""};
    char **operands;
    int operand_count;
    struct opt_set *options = NULL;
    struct cluster *cluster = NULL;
    enum status status = program_parse(&program, argc, argv, &operands, &operand_count, &why);
    if (status == STATUS_OK && operand_count > 0) {
        status = status_fail(&why, STATUS_MISUSE, "takes no operands: %s", operands[0]);
    }
    if (status == STATUS_OK) {
        status = config_load(directory, &assignments, &options, &why);
    }
    if (status == STATUS_OK) {
        config_open_log(options, program.name);
        status = cluster_open(&cluster, directory, options, &why);
    }
    if (status == STATUS_OK) {
        status = run(options, cluster, &why);
    }
    if (status != STATUS_OK && status != STATUS_END) {
        fprintf(stderr, "%s: %s\n", program.name, why.text);
    }
    if (cluster != NULL) {
        cluster_close(cluster);
    }
    opt_set_free(options);
    return status_exit_code(status);
}
