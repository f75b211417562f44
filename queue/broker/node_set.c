/* Tells which nodes a crawl was divided between when it began, and whose jobs these are: what must
 * not change under a queue that has had jobs. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "queue/broker/broker_state.h"

enum { PATH_SIZE = 4096, IDENTITY_VERSION = 3, IDENTITY_SIZE = 9 };

static void
put_number(struct broker *broker)
{
    uint8_t bytes[IDENTITY_SIZE] = {IDENTITY_VERSION};
    codec_write_u64(bytes + 1, broker->identity.origin);
    store_batch_put(&broker->round.batch, TREE_ABOUT, SLICE("identity"),
                    slice_of((const char *)bytes, sizeof bytes));
}

/* ---- whose jobs these are ---- */

static enum status
load_number(struct broker *broker, struct reason *why)
{
    struct slice value;
    const enum status status =
        frontier_get(broker->frontier, TREE_ABOUT, SLICE("identity"), &value, why);
    if (status == STATUS_NOT_FOUND) {
        randombytes_buf(&broker->identity.origin, sizeof broker->identity.origin);
        return STATUS_OK;
    }
    TRY(status);
    if (value.length != IDENTITY_SIZE || value.at[0] != IDENTITY_VERSION) {
        return status_fail(why, STATUS_UNSUPPORTED,
                           "%s was written by another version of this program: begin a new "
                           "directory, or use the program that wrote it",
                           broker->options.store.folder);
    }
    broker->identity.stored = true;
    broker->identity.origin = codec_read_u64((const uint8_t *)value.at + 1);
    return STATUS_OK;
}

/* Others know sequences of the old number that a restored queue gives anew to other jobs, and would
 * pass over these. */
static enum status
renew_number(struct broker *broker, const char *path, struct reason *why)
{
    randombytes_buf(&broker->identity.origin, sizeof broker->identity.origin);
    put_number(broker);
    const enum status status = broker_apply_changes(broker, why);
    store_batch_reset(&broker->round.batch);
    TRY(status);
    broker->identity.stored = true;
    return unlink(path) == 0 ? STATUS_OK : status_fail_errno(why, "cannot remove %s", path);
}

enum status
broker_identity_open(struct broker *broker, struct reason *why)
{
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/" QUEUE_RESTORED, broker->options.store.folder);
    TRY(load_number(broker, why));
    return access(path, F_OK) == 0 ? renew_number(broker, path, why) : STATUS_OK;
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
    while (names.length > 0) {
        if (slice_is(slice_take(&names, '\n'), name)) {
            return true;
        }
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
    bool any = broker->round.counters.next_id > 1 || broker->round.counters.sent > 0;
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        any = any || broker->round.counters.stages[stage].outbox > 0;
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
        broker->identity.stored = false;
        return STATUS_OK;
    }
    TRY(status);
    return check_names(broker, known, why);
}

void
broker_identity_write(struct broker *broker)
{
    if (!broker->identity.stored) {
        put_number(broker);
        buf_reset(&broker->scratch);
        put_names(broker, &broker->scratch);
        store_batch_put(&broker->round.batch, TREE_ABOUT, SLICE("nodes"),
                        buf_slice(&broker->scratch));
    }
}

void
broker_identity_settle(struct broker *broker)
{
    broker->identity.stored |= broker->round.batch.count > 0;
}
