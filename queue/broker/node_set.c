/* Tells which nodes a crawl was divided between when it began, and whose jobs these are: what must
 * not change under a queue that has had jobs. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "queue/broker/broker_private.h"

enum { PATH_SIZE = 4096 };

static enum status
write_about(struct broker *broker, struct slice key, struct slice value, struct reason *why)
{
    store_batch_reset(&broker->batch);
    store_batch_put(&broker->batch, TREE_ABOUT, key, value);
    store_batch_sort(&broker->batch);
    const enum status status = frontier_apply(
        broker->frontier, (const struct store_operation *const *)broker->batch.operations,
        broker->batch.count, why);
    store_batch_reset(&broker->batch);
    return status;
}

/* ---- whose jobs these are ---- */

enum status
broker_origin_renew(struct broker *broker, struct reason *why)
{
    char path[PATH_SIZE];
    uint8_t identity[IDENTITY_SIZE] = {IDENTITY_VERSION};
    (void)snprintf(path, sizeof path, "%s/" QUEUE_RESTORED, broker->options.store.folder);
    if (access(path, F_OK) != 0) {
        return STATUS_OK;
    }
    randombytes_buf(&broker->origin, sizeof broker->origin);
    codec_write_u64(identity + 1, broker->origin);
    TRY(write_about(broker, SLICE("identity"), slice_of((char *)identity, sizeof identity), why));
    broker->identity_stored = true;
    return unlink(path) == 0 ? STATUS_OK : status_fail_errno(why, "cannot remove %s", path);
}

/* ---- the nodes ---- */

/* Names, each with a line end. */
static void
put_names(const struct broker *broker, struct buf *names)
{
    const size_t n = cluster_node_count(broker->options.cluster);
    for (size_t i = 0; i < n; i++) {
        buf_printf(names, "%s\n", cluster_node(broker->options.cluster, i)->name);
    }
}

static size_t
count_names(struct slice names)
{
    size_t count = 0;
    for (size_t i = 0; i < names.length; i++) {
        count += names.at[i] == '\n';
    }
    return count;
}

static bool
has_name(struct slice names, const char *name)
{
    for (size_t at = 0; at < names.length;) {
        const char *end = memchr(names.at + at, '\n', names.length - at);
        const size_t length = end != NULL ? (size_t)(end - names.at) - at : names.length - at;
        if (slice_is(slice_of(names.at + at, length), name)) {
            return true;
        }
        at += length + 1;
    }
    return false;
}

static enum status
check_names(const struct broker *broker, struct slice known, struct reason *why)
{
    const size_t n = cluster_node_count(broker->options.cluster);
    for (size_t i = 0; i < n; i++) {
        const char *name = cluster_node(broker->options.cluster, i)->name;
        if (!has_name(known, name)) {
            return status_fail(
                why, STATUS_MISUSE,
                "cluster.conf names node %s, which was not there when this crawl began: documents "
                "that would be its own have their graphs here, and would be doubled. Take its line "
                "out again; a crawl on machines that come and go is one of shares, docs/CLUSTER.md",
                name);
        }
    }
    return STATUS_OK;
}

/* Its own, or of which it had others take theirs. */
static bool
has_had_jobs(const struct broker *broker)
{
    bool any = broker->counters.next_id > 1 || broker->counters.sent > 0;
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        any = any || broker->counters.stages[stage].outbox > 0;
    }
    return any;
}

/* Without jobs, or as one alone that gets another name, the nodes are noted anew with the next
 * commit. So they are for a queue that an earlier version of this program made. */
enum status
broker_node_set_open(struct broker *broker, struct reason *why)
{
    struct slice known;
    const size_t n = cluster_node_count(broker->options.cluster);
    const enum status status =
        frontier_get(broker->frontier, TREE_ABOUT, SLICE("nodes"), &known, why);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && n == 1 && count_names(known) == 1) ||
        (status == STATUS_OK && !has_had_jobs(broker))) {
        broker->identity_stored = false;
        return STATUS_OK;
    }
    TRY(status);
    return check_names(broker, known, why);
}

void
broker_node_set_write(struct broker *broker)
{
    buf_reset(&broker->scratch);
    put_names(broker, &broker->scratch);
    store_batch_put(&broker->batch, TREE_ABOUT, SLICE("nodes"), buf_slice(&broker->scratch));
}
