#include "cli/cluster/share_lag.h"

#include "cli/shared/cli.h"
#include "stages/skeleton/services.h"

enum { ANSWER_MS = 2000 };

struct asking {
    const struct cli *cli;
    struct share_lag *lags;
    size_t shares;
};

static void
add_outbox(void *context, const struct queue_node *node)
{
    const struct asking *asking = context;
    for (size_t i = 0; i < cluster_node_count(asking->cli->cluster); i++) {
        const size_t share = cli_share_number(asking->cli, i);
        if (share < asking->shares &&
            slice_is(node->name, cluster_node(asking->cli->cluster, i)->name)) {
            asking->lags[share].outbox += node->jobs;
        }
    }
}

static void
ask_share(struct asking *asking, struct queue_client *queue, struct share_lag *lag)
{
    struct queue_stats stats = {0};
    struct reason why;
    if (queue_stats_get(queue, &stats, ANSWER_MS, &why) != STATUS_OK) {
        return;
    }
    lag->answers = true;
    for (int i = 0; i < STAGE_COUNT; i++) {
        const struct queue_stage_stats *stage = &stats.stages[i];
        lag->jobs += stage->ready + stage->leased + stage->delayed;
        lag->oldest_ms = stage->oldest_ms > lag->oldest_ms ? stage->oldest_ms : lag->oldest_ms;
    }
    (void)queue_nodes(queue, add_outbox, asking, ANSWER_MS, &why);
}

static enum status
ask_all(struct asking *asking, const bool *marked, struct reason *why)
{
    const struct cli *cli = asking->cli;
    struct cluster_services services;
    TRY(services_queues(cli->cluster, cli->directory, &services, why));
    enum status status = STATUS_OK;
    for (size_t i = 0; i < services.count && status == STATUS_OK; i++) {
        const size_t share = cli_share_number(cli, i);
        const struct queue_client_options options = {
            .endpoint = services.endpoints[i], .name = "cli.lag", .keys = services.keys};
        struct queue_client *queue;
        if (share >= asking->shares || !marked[share]) {
            continue;
        }
        status = queue_client_open(&queue, &options, why);
        if (status == STATUS_OK) {
            ask_share(asking, queue, &asking->lags[share]);
            queue_client_close(queue);
        }
    }
    cluster_services_release(&services);
    return status;
}

enum status
share_lag_ask(const char *root, const bool *marked, struct share_lag *lags, size_t shares,
              struct reason *why)
{
    const struct cli_common common = {.directory = root, .takes_root = true};
    struct cli cli = {0};
    struct asking asking = {.cli = &cli, .lags = lags, .shares = shares};
    enum status status = cli_open_reading(&cli, &common, why);
    for (size_t i = 0; i < shares; i++) {
        lags[i] = (struct share_lag){0};
    }
    if (status == STATUS_OK) {
        status = ask_all(&asking, marked, why);
    }
    cli_close(&cli);
    return status;
}
