/* The scope changes: what was filtered by older rules is considered again. docs/SCOPE.md. */
#include "queue/broker/broker_state.h"

#include "base/system/log.h"
#include "config/scope_file.h"

static const struct slice SCOPE_ROW = SLICE_INIT("scope");

void
scope_versions_init(struct scope_versions *scope)
{
    buf_init(&scope->change, 4 * (size_t)SCOPE_TEXT_MAXIMUM);
}

void
scope_versions_release(struct scope_versions *scope)
{
    buf_release(&scope->change);
}

enum status
broker_scope_open(struct broker *broker, struct reason *why)
{
    struct slice value;
    const enum status status = frontier_get(broker->frontier, TREE_ABOUT, SCOPE_ROW, &value, why);
    if (status == STATUS_OK && value.length != sizeof(uint64_t)) {
        return status_fail(why, STATUS_CORRUPT, "the version of the scope has %zu bytes",
                           value.length);
    }
    if (status == STATUS_OK) {
        broker->scope.current = codec_read_u64((const uint8_t *)value.at);
    }
    broker->scope.committed = broker->scope.told = broker->scope.current;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

void
broker_set_scope(struct broker *broker, uint64_t version, struct slice change)
{
    broker->scope.told = version;
    buf_reset(&broker->scope.change);
    buf_append_slice(&broker->scope.change, change);
}

uint64_t
broker_scope(const struct broker *broker)
{
    return broker->scope.committed;
}

/* ---- other nodes ---- */

/* Returns as many whole lines of the change as a job can hold. One that no job can hold is left
 * out. */
static struct slice
next_part(struct slice *change)
{
    size_t end = 0, left_out = 0;
    while (end < change->length && left_out == 0) {
        const struct slice rest = slice_of(change->at + end, change->length - end);
        const size_t newline = slice_find(rest, '\n');
        const size_t line = newline < rest.length ? newline + 1 : rest.length;
        if (end + line <= JOB_DATA_MAXIMUM) {
            end += line;
        } else if (line > JOB_DATA_MAXIMUM) {
            left_out = line;
            log_warning("scope_change", "bytes=%zu reason=%s", line,
                        "a line too long to be told to other nodes");
        } else {
            break;
        }
    }
    const struct slice part = slice_of(change->at, end);
    end += left_out;
    *change = slice_of(change->at + end, change->length - end);
    return part;
}

/* In the outbox it stands before all that is put under the new version. A node that has filtered
 * nothing yet, and knows nothing new, has nothing to say. */
static void
tell_nodes(struct broker *broker)
{
    const struct cluster *cluster = broker->options.cluster;
    if (broker->scope.change.length == 0 && broker->round.counters.next_id == 1) {
        return;
    }
    for (size_t i = 0; i < cluster_node_count(cluster); i++) {
        struct slice rest = buf_slice(&broker->scope.change);
        struct incoming word = {.job = {.key.stage = STAGE_EXTRACT,
                                        .uri = SLICE(JOB_SWEEP_URI),
                                        .priority = RANK_USUAL,
                                        .flags = JOB_REVISIT | JOB_REFILTER},
                                .node = (uint32_t)i};
        bool more = i != cluster_self(cluster);
        while (more) {
            word.job.data = next_part(&rest);
            broker_to_node(broker, &word);
            more = rest.length > 0;
        }
    }
}

bool
broker_is_scope_word(const struct job *job)
{
    return job->key.stage == STAGE_EXTRACT && slice_is(job->uri, JOB_SWEEP_URI);
}

/* All words of the message at once: each time the files are written whole. */
enum status
broker_take_scope(struct broker *broker, const struct pending *pending, uint64_t known,
                  struct reason *why)
{
    enum status status = STATUS_OK;
    struct buf change;
    buf_init(&change, ROUND_BYTES);
    for (size_t i = 0; i < pending->incoming_count; i++) {
        const struct job *job = &broker->requests.incoming[pending->first_incoming + i].job;
        if (broker_is_scope_word(job) && pending->transfer.first + i > known) {
            buf_append_slice(&change, job->data);
        }
    }
    if (change.length > 0 && broker->options.take_scope != NULL) {
        status =
            broker->options.take_scope(broker->options.take_scope_context, buf_slice(&change), why);
    }
    buf_release(&change);
    return status;
}

/* ---- this node ---- */

/* Not when nothing was ever put: there are no documents yet. */
void
broker_sweep(struct broker *broker)
{
    const struct incoming incoming = {
        .job = {.key.stage = STAGE_EXTRACT,
                .uri = SLICE(JOB_SWEEP_URI),
                .priority = RANK_USUAL,
                .flags = JOB_REVISIT | JOB_REFILTER,
                .generation = broker->scope.current},
        .node = (uint32_t)cluster_self(broker->options.cluster),
    };
    if (broker->round.counters.next_id > 1 && !broker->scope.sweep_begun &&
        cluster_serves(broker->options.cluster, STAGE_EXTRACT)) {
        broker->scope.sweep_begun = true;
        broker_enqueue(broker, &incoming);
        log_info("scope_changed", "version=%lu", (unsigned long)broker->scope.current);
    }
}

void
broker_adopt_scope(struct broker *broker)
{
    uint8_t value[sizeof(uint64_t)];
    broker->scope.sweep_begun = false;
    if (broker->scope.told == broker->scope.current) {
        return;
    }
    broker->scope.current = broker->scope.told;
    codec_write_u64(value, broker->scope.current);
    store_batch_put(&broker->round.batch, TREE_ABOUT, SCOPE_ROW,
                    slice_of((char *)value, sizeof value));
    if (broker->scope.current != 0) {
        tell_nodes(broker);
        broker_sweep(broker);
    }
}

void
broker_scope_settle(struct broker *broker, bool committed)
{
    if (committed && broker->scope.committed != broker->scope.current) {
        broker->scope.committed = broker->scope.current;
        scope_versions_release(&broker->scope);
        scope_versions_init(&broker->scope);
    } else if (!committed) {
        broker->scope.current = broker->scope.committed;
    }
}

/* Asked before the round's version is adopted, too. */
bool
broker_is_outdated(const struct broker *broker, const struct completion *completion)
{
    const uint8_t stage = completion->key.stage;
    return completion->verdict == VERDICT_DONE && completion->scope < broker->scope.told &&
           (stage == STAGE_FETCH || stage == STAGE_EXTRACT);
}

enum status
broker_refilter(struct broker *broker, const struct ending *ending, uint16_t lift,
                struct reason *why)
{
    struct job job;
    struct incoming incoming = {0};
    const enum status status = broker_record(broker, &ending->completion.key, &job, why);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    TRY(status);
    if (slice_starts(job.uri, SLICE(JOB_SWEEP_URI))) {
        return STATUS_OK; /* the newer version has its own */
    }
    const struct job again = {
        .key.stage = STAGE_EXTRACT,
        .uri = job.uri,
        .via = job.via,
        .priority = job.priority,
        .flags = JOB_REVISIT | JOB_REFILTER,
        .depth = job.depth > lift ? (uint16_t)(job.depth - lift) : 0,
    };
    memcpy(incoming.fingerprint, ending->fingerprint, sizeof incoming.fingerprint);
    broker_pass_on(broker, &incoming, &again);
    return STATUS_OK;
}
