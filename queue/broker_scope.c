/* The scope changes: what was filtered by older rules is considered again. docs/SCOPE.md. */
#include "queue/broker_private.h"

#include "base/log.h"

static const struct slice SCOPE_ROW = SLICE_INIT("scope");

enum status
broker_scope_open(struct broker *broker, struct reason *why)
{
    struct slice value;
    const enum status status =
        broker->options.engine->get(broker->store, TREE_ABOUT, SCOPE_ROW, &value, why);
    if (status == STATUS_OK && value.length != sizeof(uint64_t)) {
        return status_fail(why, STATUS_CORRUPT, "the version of the scope has %zu bytes",
                           value.length);
    }
    if (status == STATUS_OK) {
        broker->scope = codec_read_u64((const uint8_t *)value.at);
    }
    broker->scope_committed = broker->scope_told = broker->scope;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

void
broker_set_scope(struct broker *broker, uint64_t version)
{
    broker->scope_told = version;
}

/* Not when nothing was ever put: there are no documents yet. */
static void
begin_sweep(struct broker *broker)
{
    const struct incoming incoming = {
        .job = {.key.stage = STAGE_EXTRACT,
                .uri = SLICE(JOB_SWEEP_URI),
                .priority = RANK_USUAL,
                .flags = JOB_REVISIT | JOB_REFILTER,
                .generation = broker->scope},
        .node = (uint32_t)cluster_self(broker->options.cluster),
    };
    if (broker->counters.next_id > 1) {
        broker_enqueue(broker, &incoming);
        log_info("scope_changed", "version=%lu", (unsigned long)broker->scope);
    }
}

void
broker_adopt_scope(struct broker *broker)
{
    uint8_t value[sizeof(uint64_t)];
    if (broker->scope_told == broker->scope) {
        return;
    }
    broker->scope = broker->scope_told;
    codec_write_u64(value, broker->scope);
    store_batch_put(&broker->batch, TREE_ABOUT, SCOPE_ROW, slice_of((char *)value, sizeof value));
    if (broker->scope != 0) {
        begin_sweep(broker);
    }
}

void
broker_scope_settle(struct broker *broker, bool committed)
{
    if (committed) {
        broker->scope_committed = broker->scope;
    } else {
        broker->scope = broker->scope_committed;
    }
}

/* Asked before the round's version is adopted, too. */
bool
broker_is_outdated(const struct broker *broker, const struct completion *completion)
{
    const uint8_t stage = completion->key.stage;
    return completion->verdict == VERDICT_DONE && completion->scope < broker->scope_told &&
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
    memcpy(incoming.print, ending->print, sizeof incoming.print);
    broker_pass_on(broker, &incoming, &again);
    return STATUS_OK;
}
