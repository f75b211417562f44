#include "queue/broker/broker_state.h"

#include <stdlib.h>

#include "base/array.h"

void
round_changes_init(struct round_changes *round)
{
    store_batch_init(&round->batch);
    map_init(&round->touched);
}

void
round_changes_release(struct round_changes *round)
{
    store_batch_release(&round->batch);
    map_release(&round->touched);
    free(round->effects);
}

/* ---- counters, and the transaction ---- */

enum status
broker_load_counters(struct broker *broker, struct reason *why)
{
    struct slice value;
    uint64_t *numbers = (uint64_t *)&broker->round.counters;
    const enum status status =
        frontier_get(broker->frontier, TREE_ABOUT, SLICE("counters"), &value, why);
    if (status == STATUS_NOT_FOUND) {
        broker->round.counters.next_id = broker->round.committed.next_id = 1;
        return STATUS_OK;
    }
    TRY(status);
    if (value.length != sizeof broker->round.counters) {
        return status_fail(why, STATUS_CORRUPT, "the counters have %zu bytes", value.length);
    }
    for (size_t i = 0; i < COUNTERS_NUMBERS; i++) {
        numbers[i] = codec_read_u64((const uint8_t *)value.at + 8 * i);
    }
    broker->round.committed = broker->round.counters;
    return STATUS_OK;
}

void
broker_write_counters(struct broker *broker)
{
    uint8_t bytes[sizeof(uint64_t) * COUNTERS_NUMBERS];
    const uint64_t *numbers = (const uint64_t *)&broker->round.counters;
    for (size_t i = 0; i < COUNTERS_NUMBERS; i++) {
        codec_write_u64(bytes + 8 * i, numbers[i]);
    }
    store_batch_put(&broker->round.batch, TREE_ABOUT, SLICE("counters"),
                    slice_of((const char *)bytes, sizeof bytes));
}

enum status
broker_apply_changes(struct broker *broker, struct reason *why)
{
    struct store_batch *batch = &broker->round.batch;
    if (batch->count == 0) {
        return STATUS_OK;
    }
    store_batch_sort(batch);
    return frontier_apply(broker->frontier,
                          (const struct store_operation *const *)batch->operations, batch->count,
                          why);
}

void
broker_settle_changes(struct broker *broker, bool committed)
{
    struct round_changes *round = &broker->round;
    if (committed) {
        round->committed = round->counters;
    } else {
        round->counters = round->committed;
    }
    round->effect_count = 0;
    store_batch_reset(&round->batch);
}

void
broker_end_changes(struct broker *broker)
{
    map_clear(&broker->round.touched);
}

/* ---- records of jobs ---- */

enum store_tree
broker_tree(uint8_t stage)
{
    return stage == STAGE_FETCH ? TREE_FETCH : TREE_JOBS;
}

struct slice
broker_key(uint8_t bytes[JOB_KEY_SIZE], const struct job_key *key)
{
    job_key_write(key, bytes);
    return slice_of((const char *)bytes, JOB_KEY_SIZE);
}

void
broker_effect(struct broker *broker, const struct effect *effect)
{
    struct round_changes *round = &broker->round;
    round->effects = array_grow(round->effects, round->effect_count, &round->effect_capacity,
                                sizeof *round->effects);
    round->effects[round->effect_count++] = *effect;
}

enum status
broker_record(struct broker *broker, const struct job_key *key, struct job *job, struct reason *why)
{
    uint8_t bytes[JOB_KEY_SIZE];
    struct slice value;
    TRY(frontier_get(broker->frontier, broker_tree(key->stage), broker_key(bytes, key), &value,
                     why));
    struct codec_reader reader = codec_reader_of(value);
    *job = (struct job){.key = *key};
    if (!job_decode(&reader, job)) {
        return status_fail(why, STATUS_CORRUPT, "the record of job %llu is damaged",
                           (unsigned long long)key->id);
    }
    return STATUS_OK;
}

bool
broker_touched(const struct broker *broker, uint64_t id)
{
    return map_get(&broker->round.touched, id) != (uint32_t)MAP_NONE;
}

void
broker_touch(struct broker *broker, uint64_t id)
{
    (void)map_add(&broker->round.touched, id);
}
