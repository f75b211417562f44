/* Functions that the parts of a round share: records of jobs, what the round changes, who waits. */
#include "queue/broker/broker_private.h"

#include "base/memory.h"

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
    if (broker->effect_count == broker->effect_capacity) {
        broker->effect_capacity = broker->effect_capacity == 0 ? 256 : 2 * broker->effect_capacity;
        broker->effects =
            memory_resize(broker->effects, broker->effect_capacity, sizeof *broker->effects);
    }
    broker->effects[broker->effect_count++] = *effect;
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
    return map_get(&broker->touched, id) != (uint32_t)MAP_NONE;
}

void
broker_touch(struct broker *broker, uint64_t id)
{
    (void)map_add(&broker->touched, id);
}

struct sequence *
broker_sequence(struct broker *broker, uint8_t stage, uint64_t lane)
{
    return lane < broker->sequence_counts[stage] ? &broker->sequences[stage][lane] : NULL;
}

void
broker_unpark(struct broker *broker, size_t at)
{
    memmove(&broker->parked[at], &broker->parked[at + 1],
            (--broker->parked_count - at) * sizeof *broker->parked);
}

const struct counters *
broker_counters(const struct broker *broker)
{
    return &broker->committed;
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
