/* What a round changes: rows of the store, counters, records of jobs, and effects, which reach
 * leases, lanes and sequences when the round has been committed. */
#ifndef QUEUE_BROKER_ROUND_CHANGES_H
#define QUEUE_BROKER_ROUND_CHANGES_H

#include "base/map.h"
#include "queue/broker/broker.h"
#include "queue/client/job.h"
#include "queue/storage/store_batch.h"

enum effect_kind { EFFECT_APPEARED, EFFECT_GONE, EFFECT_BACK };
struct effect {
    struct job_key key;
    enum effect_kind kind;
    bool moved; /* BACK: the record is not in `jobs` any more */
    uint64_t lane_due_ms, group;
    uint8_t share; /* of the lane; 0: as before */
    uint8_t speed; /* of the lane and 1; 0: as before */
    bool answered; /* the lane's host; so it is stored now */
};

/* round_changes.c changes it; but whoever has something happen counts it, and adds its rows to the
 * batch by the functions of that. */
struct round_changes {
    uint64_t now_ms;                     /* wall */
    struct counters counters, committed; /* of this round; of the last commit */
    struct store_batch batch;
    struct effect *effects;
    size_t effect_count, effect_capacity;
    struct map touched; /* ids whose record was changed in this round */
};

void round_changes_init(struct round_changes *round);
void round_changes_release(struct round_changes *round);
/* Reads the counters as they were committed last. */
enum status broker_load_counters(struct broker *broker, struct reason *why);
void broker_write_counters(struct broker *broker);
/* Writes what the batch has in one transaction, unless it is nothing. */
enum status broker_apply_changes(struct broker *broker, struct reason *why);
/* The round was committed, and its effects were applied; or it was not, and has changed nothing. */
void broker_settle_changes(struct broker *broker, bool committed);
/* The round's requests have been answered. */
void broker_end_changes(struct broker *broker);

void broker_effect(struct broker *broker, const struct effect *effect);
bool broker_touched(const struct broker *broker, uint64_t id);
void broker_touch(struct broker *broker, uint64_t id);

/* ---- records of jobs ---- */

/* Finds where records of jobs of the stage are: fetch has a tree of its own. */
enum store_tree broker_tree(uint8_t stage);
struct slice broker_key(uint8_t bytes[JOB_KEY_SIZE], const struct job_key *key);
/* Reads the record of a job that is ready or out; slices of *job live until the next call of the
 * store. */
enum status broker_record(struct broker *broker, const struct job_key *key, struct job *job,
                          struct reason *why);

#endif
