/* Opening and closing the broker: what a restart must find again. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "queue/broker/broker_state.h"

enum { SCRATCH_MAXIMUM = 4 << 20, LANE_WALK_JOBS = 64, PACES = 1 << 15 };

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

/* Jobs wait for no other partitions than there are. */
static enum status
check_partitions(struct broker *broker, struct reason *why)
{
    uint8_t bytes[JOB_KEY_SIZE];
    const uint32_t partitions = broker->options.index_partitions;
    const struct job_key beyond = {.stage = STAGE_INDEX, .lane = partitions};
    struct job_key found = {.stage = STAGE_COUNT};
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
    broker->upcoming = upcoming_new(options->upcoming_bytes);
    broker->priorities = priority_new(options->domain_budget, options->domain_period_ms);
    broker->leases = leases_new();
    broker->sequences = sequences_new(options->index_partitions);
    broker->troubles = troubles_new();
    broker->paces = paces_new(PACES);
    TRY(broker_load_counters(broker, why));
    TRY(broker_identity_open(broker, why));
    TRY(broker_node_set_open(broker, why));
    TRY(broker_scope_open(broker, why));
    TRY(priority_load(broker->priorities, broker->frontier, why));
    TRY(broker_troubles_load(broker, why));
    TRY(load_lanes(broker, why));
    TRY(broker_workers_open(broker, why));
    TRY(check_partitions(broker, why));
    TRY(broker_outbox_open(broker, why));
    TRY(broker_origins_load(broker, why));
    return broker_strangers_open(broker, why);
}

enum status
broker_open(struct broker **broker_out, const struct broker_options *options, broker_answer *answer,
            void *context, struct reason *why)
{
    struct broker *broker = memory_new(sizeof *broker);
    broker->options = *options;
    broker->options.clock = options->clock != NULL ? options->clock : clock_wall_ms;
    broker->answer = answer;
    broker->context = context;
    round_changes_init(&broker->round);
    round_troubles_init(&broker->round_troubles);
    scope_versions_init(&broker->scope);
    buf_init(&broker->scratch, SCRATCH_MAXIMUM);
    buf_init(&broker->reply, MESSAGE_REPLY_MAXIMUM);
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
    store_batch_reset(&broker->round.batch);
    priority_write(broker->priorities, &broker->round.batch, true);
    (void)broker_apply_changes(broker, &why);
}

void
broker_close(struct broker *broker)
{
    if (broker == NULL) {
        return;
    }
    broker_requests_close(broker);
    broker_parked_close(broker);
    keep_priority(broker);
    frontier_close(broker->frontier);
    seen_free(broker->seen);
    seen_free(broker->revisits);
    seen_free(broker->sent);
    lanes_free(broker->lanes);
    upcoming_free(broker->upcoming);
    priority_free(broker->priorities);
    leases_free(broker->leases);
    troubles_free(broker->troubles);
    paces_free(broker->paces);
    sequences_free(broker->sequences);
    round_changes_release(&broker->round);
    round_troubles_release(&broker->round_troubles);
    scope_versions_release(&broker->scope);
    worker_watch_release(&broker->workers);
    outbox_release(&broker->outbox);
    free(broker->origins.all);
    free(broker->strangers.all);
    buf_release(&broker->scratch);
    buf_release(&broker->reply);
    free(broker);
}

const struct counters *
broker_counters(const struct broker *broker)
{
    return &broker->round.committed;
}

const struct frontier *
broker_frontier(const struct broker *broker)
{
    return broker->frontier;
}

void
broker_serve_as(struct broker *broker, uint64_t incarnation)
{
    broker->incarnation = incarnation;
}
