/* Jobs that wait for their time. */
#include "queue/broker/broker_state.h"

enum { LATER_DELAYED = 0, LATER_SCHEDULED = 1, LATER_KEY_SIZE = 8 + JOB_KEY_SIZE };
enum { ROUND_MOVES = 5000 };

static struct slice
later_key(uint8_t bytes[LATER_KEY_SIZE], uint64_t due_ms, const struct job_key *key)
{
    codec_write_u64(bytes, due_ms);
    job_key_write(key, bytes + 8);
    return slice_of((const char *)bytes, LATER_KEY_SIZE);
}

void
broker_store_job(struct broker *broker, const struct job *job, bool scheduled)
{
    uint8_t bytes[LATER_KEY_SIZE];
    struct stage_counters *counters = &broker->round.counters.stages[job->key.stage];
    buf_reset(&broker->scratch);
    if (job->due_ms <= broker->round.now_ms) {
        job_encode(&broker->scratch, job);
        store_batch_put(&broker->round.batch, broker_tree(job->key.stage),
                        broker_key(bytes, &job->key), buf_slice(&broker->scratch));
        counters->jobs++;
        return;
    }
    codec_put_u8(&broker->scratch, scheduled ? LATER_SCHEDULED : LATER_DELAYED);
    job_encode(&broker->scratch, job);
    store_batch_put(&broker->round.batch, TREE_LATER, later_key(bytes, job->due_ms, &job->key),
                    buf_slice(&broker->scratch));
    if (scheduled) {
        counters->scheduled++;
    } else {
        counters->delayed++;
    }
    if (job->due_ms < broker->later.due_ms) {
        broker->later.due_ms = job->due_ms;
    }
}

struct move {
    struct broker *broker;
    uint64_t moved, next_due_ms;
    bool damaged;
};

static bool
move_one(void *context, struct slice key, struct slice value)
{
    struct move *move = context;
    struct broker *broker = move->broker;
    struct job_key job_key;
    if (key.length != LATER_KEY_SIZE || value.length < 1) {
        move->damaged = true;
        return false;
    }
    const uint64_t due_ms = codec_read_u64((const uint8_t *)key.at);
    if (due_ms > broker->round.now_ms || move->moved == ROUND_MOVES) {
        move->next_due_ms = due_ms;
        return false;
    }
    job_key_read((const uint8_t *)key.at + 8, &job_key);
    if (job_key.stage >= STAGE_COUNT) {
        move->damaged = true;
        return false;
    }
    struct stage_counters *counters = &broker->round.counters.stages[job_key.stage];
    store_batch_remove(&broker->round.batch, TREE_LATER, key);
    store_batch_put(&broker->round.batch, broker_tree(job_key.stage),
                    slice_of(key.at + 8, JOB_KEY_SIZE), slice_of(value.at + 1, value.length - 1));
    if (value.at[0] == LATER_SCHEDULED) {
        counters->scheduled--;
    } else {
        counters->delayed--;
    }
    counters->jobs++;
    broker_effect(broker, &(struct effect){.key = job_key, .kind = EFFECT_APPEARED});
    broker_touch(broker, job_key.id);
    move->moved++;
    return true;
}

enum status
broker_move_due(struct broker *broker, struct reason *why)
{
    struct move move = {.broker = broker, .next_due_ms = UINT64_MAX};
    if (broker->later.due_ms > broker->round.now_ms) {
        return STATUS_OK;
    }
    TRY(frontier_scan(broker->frontier, TREE_LATER, (struct slice){"", 0}, move_one, &move, why));
    if (move.damaged) {
        return status_fail(why, STATUS_CORRUPT, "a delayed job is damaged");
    }
    broker->later.due_ms = move.next_due_ms;
    return STATUS_OK;
}

void
broker_later_unsettle(struct broker *broker)
{
    broker->later.due_ms = 0;
}

uint64_t
broker_later_due_ms(const struct broker *broker)
{
    return broker->later.due_ms;
}
