/* Opening and closing the broker: what a restart must find again. */
#include <sodium.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "config/scope_file.h"
#include "queue/broker/broker_private.h"

enum { SCRATCH_MAXIMUM = 4 << 20, LANE_WALK_JOBS = 64, PACES = 1 << 15 };

static enum status
load_counters(struct broker *broker, struct reason *why)
{
    struct slice value;
    uint64_t *numbers = (uint64_t *)&broker->counters;
    const enum status status =
        frontier_get(broker->frontier, TREE_ABOUT, SLICE("counters"), &value, why);
    if (status == STATUS_NOT_FOUND) {
        broker->counters.next_id = 1;
        return STATUS_OK;
    }
    TRY(status);
    if (value.length != sizeof broker->counters) {
        return status_fail(why, STATUS_CORRUPT, "the counters have %zu bytes", value.length);
    }
    for (size_t i = 0; i < COUNTERS_NUMBERS; i++) {
        numbers[i] = codec_read_u64((const uint8_t *)value.at + 8 * i);
    }
    return STATUS_OK;
}

static enum status
load_identity(struct broker *broker, struct reason *why)
{
    struct slice value;
    const enum status status =
        frontier_get(broker->frontier, TREE_ABOUT, SLICE("identity"), &value, why);
    if (status == STATUS_NOT_FOUND) {
        randombytes_buf(&broker->origin, sizeof broker->origin);
        return STATUS_OK;
    }
    TRY(status);
    if (value.length != IDENTITY_SIZE || value.at[0] != IDENTITY_VERSION) {
        return status_fail(why, STATUS_UNSUPPORTED,
                           "%s was written by another version of this program: begin a new "
                           "directory, or use the program that wrote it",
                           broker->options.store.folder);
    }
    broker->identity_stored = true;
    broker->origin = codec_read_u64((const uint8_t *)value.at + 1);
    return STATUS_OK;
}

struct lane_walk {
    const struct broker *broker;
    uint64_t now_ms;
    uint64_t lane;
    uint32_t jobs; /* met in the lane */
    bool any;
};

static bool
walk_lane(void *context, struct slice key_bytes, struct slice value)
{
    struct lane_walk *walk = context;
    struct codec_reader reader = codec_reader_of(value);
    struct job job;
    struct job_key key;
    job_key_read((const uint8_t *)key_bytes.at, &key);
    if (!walk->any || walk->lane != key.lane) {
        lanes_wake(walk->broker->lanes, key.lane);
        job.key = key;
        if (job_decode(&reader, &job)) {
            lanes_set_speed(walk->broker->lanes, key.lane,
                            priority_speed(walk->broker->priorities, job.uri, walk->now_ms));
        }
        walk->lane = key.lane;
        walk->jobs = 0;
        walk->any = true;
    }
    return ++walk->jobs < LANE_WALK_JOBS;
}

/* Jobs of most lanes are few and lie together, so they are read; of a long lane the rest is passed
 * over by a seek. */
static enum status
load_lanes(struct broker *broker, struct reason *why)
{
    struct job_key from = {.stage = STAGE_FETCH};
    struct lane_walk walk = {.broker = broker, .now_ms = broker->options.clock()};
    do {
        uint8_t bytes[JOB_KEY_SIZE];
        walk.jobs = 0;
        walk.any = false;
        TRY(frontier_scan(broker->frontier, TREE_FETCH, broker_key(bytes, &from), walk_lane, &walk,
                          why));
        from.lane = walk.lane + 1;
    } while (walk.jobs == LANE_WALK_JOBS && from.lane != 0);
    return STATUS_OK;
}

static bool
read_key(void *context, struct slice key, struct slice value)
{
    (void)value;
    job_key_read((const uint8_t *)key.at, context);
    return false;
}

static bool
read_worker(void *context, struct slice key, struct slice value)
{
    struct broker *broker = context;
    struct codec_reader reader = codec_reader_of(value);
    const struct slice name = codec_get_slice(&reader);
    (void)key;
    if (codec_at_end(&reader) && name.length > 0) {
        struct worker *worker =
            leases_worker(broker->leases, leases_worker_add(broker->leases, name));
        worker->stored = true;
        worker->heard_ms = clock_monotonic_ms();
    }
    return true;
}

static enum status
load_workers(struct broker *broker, struct reason *why)
{
    TRY(frontier_scan(broker->frontier, TREE_WORKERS, (struct slice){"", 0}, read_worker, broker,
                      why));
    if (leases_worker_end(broker->leases) > 0) {
        broker->grace_until_ms = clock_monotonic_ms() + broker->options.grace_ms;
    }
    return STATUS_OK;
}

static enum status
open_sequences(struct broker *broker, struct reason *why)
{
    uint8_t bytes[JOB_KEY_SIZE];
    const uint32_t partitions = broker->options.index_partitions;
    const struct job_key beyond = {.stage = STAGE_INDEX, .lane = partitions};
    struct job_key found = {.stage = STAGE_COUNT};
    for (int stage = STAGE_DETECT; stage < STAGE_COUNT; stage++) {
        const uint32_t count = stage == STAGE_INDEX ? partitions : 1;
        broker->sequence_counts[stage] = count;
        broker->sequences[stage] = memory_zero(count, sizeof(struct sequence));
        for (uint32_t lane = 0; lane < count; lane++) {
            broker->sequences[stage][lane].cursor =
                (struct job_key){.stage = (uint8_t)stage, .lane = lane};
        }
    }
    TRY(frontier_scan(broker->frontier, TREE_JOBS, broker_key(bytes, &beyond), read_key, &found,
                      why));
    if (found.stage == STAGE_INDEX) {
        return status_fail(why, STATUS_MISUSE,
                           "index.partitions is %u, but jobs wait for partition %llu", partitions,
                           (unsigned long long)found.lane);
    }
    return STATUS_OK;
}

static enum status
open_all(struct broker *broker, struct reason *why)
{
    const struct broker_options *options = &broker->options;
    TRY(frontier_open(&broker->frontier, &options->store, why));
    broker->epoch = frontier_epoch(broker->frontier);
    broker->seen = seen_new(TREE_SEEN, options->seen_cache_bytes);
    broker->revisits = seen_new(TREE_REVISITS, options->seen_cache_bytes / 8);
    broker->sent = seen_new(
        TREE_COUNT, cluster_node_count(options->cluster) > 1 ? options->seen_cache_bytes : 0);
    broker->lanes = lanes_new(options->group_parallel, options->group_delay_ms,
                              options->burst > 0 ? options->burst : 1);
    broker->lane_heads = lane_heads_new(options->lane_heads_bytes);
    broker->priorities = priority_new(options->domain_budget, options->domain_period_ms);
    broker->leases = leases_new();
    broker->troubles = troubles_new();
    broker->paces = paces_new(PACES);
    map_init(&broker->round_troubles.by_lane);
    TRY(load_counters(broker, why));
    broker->committed = broker->counters;
    TRY(load_identity(broker, why));
    TRY(broker_origin_renew(broker, why));
    TRY(broker_node_set_open(broker, why));
    TRY(broker_scope_open(broker, why));
    TRY(priority_load(broker->priorities, broker->frontier, why));
    TRY(broker_troubles_load(broker, why));
    TRY(load_lanes(broker, why));
    TRY(load_workers(broker, why));
    TRY(open_sequences(broker, why));
    TRY(broker_nodes_open(broker, why));
    return broker_strangers_open(broker, why);
}

enum status
broker_open(struct broker **broker_out, const struct broker_options *options, broker_answer *answer,
            void *context, struct reason *why)
{
    struct broker *broker = memory_zero(1, sizeof *broker);
    broker->options = *options;
    broker->options.clock = options->clock != NULL ? options->clock : clock_wall_ms;
    broker->answer = answer;
    broker->context = context;
    store_batch_init(&broker->batch);
    map_init(&broker->touched);
    buf_init(&broker->scratch, SCRATCH_MAXIMUM);
    buf_init(&broker->reply, MESSAGE_REPLY_MAXIMUM);
    buf_init(&broker->scope_change, 4 * (size_t)SCOPE_TEXT_MAXIMUM);
    const enum status status = open_all(broker, why);
    if (status != STATUS_OK) {
        broker_close(broker);
        *broker_out = NULL;
        return status;
    }
    *broker_out = broker;
    return STATUS_OK;
}

/* Keeps what was learned since it was last written; a failure to do so is not worth ending for. */
static void
keep_priority(struct broker *broker)
{
    struct reason why;
    if (broker->priorities == NULL ||
        frontier_broken(broker->frontier)) { /* NULL: there is no store */
        return;
    }
    store_batch_reset(&broker->batch);
    priority_write(broker->priorities, &broker->batch, true);
    if (broker->batch.count > 0) {
        store_batch_sort(&broker->batch);
        (void)frontier_apply(broker->frontier,
                             (const struct store_operation *const *)broker->batch.operations,
                             broker->batch.count, &why);
    }
}

void
broker_close(struct broker *broker)
{
    if (broker == NULL) {
        return;
    }
    for (size_t i = 0; i < broker->pending_count; i++) {
        broker->answer(broker->context, broker->pending[i].request.token, STATUS_CANCELLED,
                       (struct slice){NULL, 0}, NULL);
    }
    while (broker->parked_count > 0) {
        broker->answer(broker->context, broker->parked[0].request.token, STATUS_CANCELLED,
                       (struct slice){NULL, 0}, NULL);
        broker_unpark(broker, 0);
    }
    keep_priority(broker);
    frontier_close(broker->frontier);
    seen_free(broker->seen);
    seen_free(broker->revisits);
    seen_free(broker->sent);
    lanes_free(broker->lanes);
    lane_heads_free(broker->lane_heads);
    priority_free(broker->priorities);
    leases_free(broker->leases);
    troubles_free(broker->troubles);
    paces_free(broker->paces);
    free(broker->round_troubles.changes);
    map_release(&broker->round_troubles.by_lane);
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        for (uint32_t lane = 0; lane < broker->sequence_counts[stage]; lane++) {
            free(broker->sequences[stage][lane].returned);
        }
        free(broker->sequences[stage]);
    }
    store_batch_release(&broker->batch);
    map_release(&broker->touched);
    buf_release(&broker->scratch);
    buf_release(&broker->reply);
    buf_release(&broker->scope_change);
    free(broker->peers);
    free(broker->peers_committed);
    free(broker->peer_troubles);
    free(broker->origins);
    free(broker->strangers);
    free(broker->pending);
    free(broker->incoming);
    free(broker->endings);
    free(broker->effects);
    free(broker->dying);
    free(broker->parked);
    free(broker);
}
