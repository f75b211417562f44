/* Jobs end: done, released, buried, or given back by the dead. */
#include "queue/broker/broker_state.h"

#include <limits.h>
#include <stdlib.h>

#include "base/system/clock.h"
#include "base/system/log.h"

enum { DEATH_REST_MS = 1000 }; /* of a host whose fetcher died: it may just have been asked */

static bool
same_key(const struct job_key *a, const struct job_key *b)
{
    return a->stage == b->stage && a->lane == b->lane && a->rank == b->rank && a->id == b->id;
}

/* Finds out what an ending needs of `seen`, before the round is applied. */
enum status
broker_prepare_ending(struct broker *broker, struct ending *ending, struct reason *why)
{
    const struct job_key *key = &ending->completion.key;
    const uint32_t at = leases_find(broker->leases, key->id);
    if (at != (uint32_t)LEASE_NONE) {
        const struct lease *lease = leases_at(broker->leases, at);
        ending->known = same_key(&lease->key, key);
        ending->depth = lease->depth;
        ending->generation = lease->generation;
        memcpy(ending->fingerprint, lease->fingerprint, FINGERPRINT_SIZE);
    } else {
        struct job job;
        const enum status status = broker_record(broker, key, &job, why);
        if (status == STATUS_NOT_FOUND) {
            return STATUS_OK;
        }
        TRY(status);
        ending->known = true;
        ending->depth = job.depth;
        ending->generation = job.generation;
        fingerprint_of(job.uri, ending->fingerprint);
    }
    if (key->stage == STAGE_FETCH) {
        seen_want(broker->seen, ending->fingerprint);
    }
    if (broker_is_outdated(broker, &ending->completion) && broker->round.counters.revisits > 0) {
        seen_want(broker->revisits, ending->fingerprint);
    }
    return STATUS_OK;
}

/* ---- leaving `jobs` ---- */

static void
remove_record(struct broker *broker, const struct job_key *key)
{
    uint8_t bytes[JOB_KEY_SIZE];
    store_batch_remove(&broker->round.batch, broker_tree(key->stage), broker_key(bytes, key));
    broker->round.counters.stages[key->stage].jobs--;
}

/* A word of a shell command. */
static void
append_quoted(struct buf *out, struct slice text)
{
    buf_append_char(out, '\'');
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] == '\'') {
            buf_append_string(out, "'\\'");
        }
        buf_append_char(out, text.at[i]);
    }
    buf_append_char(out, '\'');
}

/* Detection and transforming can be repeated by hand, out of the archive; what asks servers or
 * changes the index is repeated by the crawl. */
static void
make_reproducer(const struct broker *broker, const struct job *job, struct buf *out)
{
    char whole[PATH_MAX];
    const char *directory = realpath(broker->options.directory, whole);
    const char *stage = stage_name((enum stage)job->key.stage);
    const bool offline_transform =
        job->key.stage == STAGE_DETECT || job->key.stage == STAGE_TRANSFORM;
    buf_printf(out, "quadrille %s --dir ", offline_transform ? stage : "queue");
    append_quoted(out, slice_string(directory != NULL ? directory : broker->options.directory));
    if (offline_transform) {
        buf_append_string(out, " --uri ");
    } else {
        buf_printf(out, " --stage %s kick ", stage);
    }
    append_quoted(out, job->uri);
}

static void
bury(struct broker *broker, const struct job *job, struct slice reason, struct slice reproducer)
{
    uint8_t bytes[JOB_KEY_SIZE];
    struct buf made;
    buf_init(&made, MESSAGE_TEXT_MAXIMUM + 2 * 8192);
    if (reproducer.length == 0) {
        make_reproducer(broker, job, &made);
        reproducer = buf_slice(&made);
    }
    buf_reset(&broker->scratch);
    codec_put_varint(&broker->scratch, broker->round.now_ms);
    codec_put_slice(&broker->scratch, reason);
    codec_put_slice(&broker->scratch, reproducer);
    job_encode(&broker->scratch, job);
    store_batch_put(&broker->round.batch, TREE_BURIED, broker_key(bytes, &job->key),
                    buf_slice(&broker->scratch));
    remove_record(broker, &job->key);
    broker->round.counters.stages[job->key.stage].buried++;
    log_warning("buried", "stage=%s uri=%.*s reason=%.*s", stage_name((enum stage)job->key.stage),
                SLICE_PRINT(job->uri), SLICE_PRINT(reason));
    buf_release(&made);
}

/* ---- the three verdicts ---- */

/* Detect may have done what is transform's, too. */
static void
count_outcome(struct broker *broker, enum stage stage, enum job_outcome outcome)
{
    if (outcome == OUTCOME_NONE) {
        return;
    }
    broker->round.counters.outcomes[outcome]++;
    if (stage == STAGE_DETECT && outcome_words[outcome].stage == STAGE_TRANSFORM) {
        broker->round.counters.outcomes[OUTCOME_DETECTED]++;
        broker->round.counters.stages[STAGE_TRANSFORM].put++;
        broker->round.counters.stages[STAGE_TRANSFORM].done++;
    }
}

static enum status
done(struct broker *broker, const struct ending *ending, struct reason *why)
{
    const struct job_key *key = &ending->completion.key;
    uint16_t lift = 0;
    if (key->stage == STAGE_FETCH) {
        lift = seen_fetched(seen_entry(broker->seen, ending->fingerprint), ending->generation,
                            ending->depth);
    }
    for (size_t i = 0; i < ending->completion.output_count; i++) {
        struct incoming *output = &broker->requests.incoming[ending->first + i];
        output->job.depth = output->job.depth > lift ? (uint16_t)(output->job.depth - lift) : 0;
        broker_enqueue(broker, output);
    }
    if (broker_is_outdated(broker, &ending->completion)) {
        TRY(broker_refilter(broker, ending, lift, why));
    }
    remove_record(broker, key);
    broker->round.counters.stages[key->stage].done++;
    count_outcome(broker, (enum stage)key->stage, ending->completion.outcome);
    return STATUS_OK;
}

/* Returns the rank of a job that goes back. One that failed goes behind those that were not tried:
 * each good answer between two failures shortens the host's rests, and pages that are well do not
 * wait for those that may never be. What is more urgent than usual keeps its place. */
static uint64_t
rank_again(const struct job *job)
{
    if (job->key.stage != STAGE_FETCH || job->attempt <= 1 || job->key.rank < RANK_USUAL) {
        return job->key.rank;
    }
    return job->key.rank >= RANK_SITEMAP ? RANK_SITEMAP + UINT8_MAX : UINT8_MAX;
}

static void
release(struct broker *broker, const struct ending *ending, struct job *job, struct effect *effect)
{
    const struct completion *completion = &ending->completion;
    broker->round.counters.stages[job->key.stage].released++;
    if (!completion->no_attempt) {
        job->attempt++;
    }
    if (job->attempt > broker->options.attempts) {
        bury(broker, job, completion->reason, completion->reproducer);
        effect->kind = EFFECT_GONE;
        return;
    }
    /* With its host set aside it waits there. */
    const bool aside = broker_trouble(broker, job->key.lane).flags & TROUBLE_ASIDE;
    const bool later = completion->delay_ms > 0 && !(job->key.stage == STAGE_FETCH && aside);
    job->due_ms = later ? broker->round.now_ms + completion->delay_ms : 0;
    effect->kind = EFFECT_BACK;
    remove_record(broker, &job->key);
    const uint64_t rank = rank_again(job);
    effect->moved = later || rank != job->key.rank;
    job->key.rank = rank;
    broker_store_job(broker, job, false);
    if (effect->moved && !later) {
        broker_effect(broker, &(struct effect){.key = job->key, .kind = EFFECT_APPEARED});
    }
}

/* Keeps what is known of a document although its job goes back. */
static void
keep_metadata(struct broker *broker, const struct ending *ending)
{
    for (size_t i = 0; i < ending->completion.output_count; i++) {
        const struct incoming *output = &broker->requests.incoming[ending->first + i];
        if (job_is_metadata(&output->job)) {
            broker_enqueue(broker, output);
        }
    }
}

/* RELEASE and BURY: only from who has the lease, or nobody has; only of the attempt that was
 * given out, so that a repetition finds nothing to do. */
static bool
may_give_back(struct broker *broker, uint32_t worker, const struct ending *ending)
{
    const uint32_t at = leases_find(broker->leases, ending->completion.key.id);
    return at == (uint32_t)LEASE_NONE || leases_at(broker->leases, at)->worker == worker;
}

/* Takes what the job tells of its host, and how long that rests now. */
static enum status
hear(struct broker *broker, const struct completion *completion, struct host_report *report,
     uint64_t *rest_ms, struct reason *why)
{
    *rest_ms = 0;
    (void)host_report_decode(completion->report, report);
    if (completion->key.stage != STAGE_FETCH) {
        return STATUS_OK;
    }
    TRY(broker_hear_of_host(broker, completion->key.lane, report, rest_ms, why));
    return broker_note_host(broker, &completion->key, report, *rest_ms, why);
}

enum status
broker_complete(struct broker *broker, uint32_t worker, const struct ending *ending,
                struct reason *why)
{
    const struct completion *completion = &ending->completion;
    struct effect effect = {.key = completion->key, .kind = EFFECT_GONE};
    struct host_report report;
    uint64_t rest_ms;
    struct job job;
    if (!ending->known || broker_touched(broker, completion->key.id)) {
        return STATUS_OK;
    }
    if (completion->verdict == VERDICT_DONE) {
        TRY(hear(broker, completion, &report, &rest_ms, why));
        TRY(done(broker, ending, why));
    } else {
        const enum status status = broker_record(broker, &completion->key, &job, why);
        if (status == STATUS_NOT_FOUND || !may_give_back(broker, worker, ending)) {
            return STATUS_OK;
        }
        TRY(status);
        if (job.attempt != ending->attempt) {
            return STATUS_OK;
        }
        TRY(hear(broker, completion, &report, &rest_ms, why));
        TRY(broker_record(broker, &completion->key, &job,
                          why)); /* once more: it lived until then */
        keep_metadata(broker, ending);
        if (completion->verdict == VERDICT_BURY) {
            bury(broker, &job, completion->reason, completion->reproducer);
        } else {
            release(broker, ending, &job, &effect);
        }
    }
    broker_touch(broker, completion->key.id);
    if (completion->key.stage == STAGE_FETCH) {
        TRY(broker_keep_lane(broker, completion, &report, rest_ms, &effect, why));
    }
    broker_effect(broker, &effect);
    return STATUS_OK;
}

/* ---- dead and stalled workers ---- */

static enum status
give_back(struct broker *broker, const struct lease *lease, bool alone, struct reason *why)
{
    struct effect effect = {
        .key = lease->key,
        .kind = EFFECT_BACK,
        .lane_due_ms = broker->round.now_ms + DEATH_REST_MS,
    };
    struct job job;
    if (broker_touched(broker, lease->key.id)) {
        return STATUS_OK;
    }
    const enum status status = broker_record(broker, &lease->key, &job, why);
    if (status == STATUS_NOT_FOUND) {
        effect.kind = EFFECT_GONE;
        broker_effect(broker, &effect);
        return STATUS_OK;
    }
    TRY(status);
    job.deaths += job.deaths < UINT16_MAX;
    job.attempt += alone;
    broker->round.counters.stages[job.key.stage].dead++;
    if (job.attempt > broker->options.attempts) {
        char reason[64];
        const int n = snprintf(reason, sizeof reason, "worker died or stalled %u times",
                               (unsigned)job.deaths);
        bury(broker, &job, slice_of(reason, (size_t)n), (struct slice){NULL, 0});
        effect.kind = EFFECT_GONE;
    } else {
        remove_record(broker, &job.key);
        broker_store_job(broker, &job, false);
    }
    broker_touch(broker, job.key.id);
    broker_effect(broker, &effect);
    return STATUS_OK;
}

/* deadline_ms: leases that end at or before it; UINT64_MAX: all. */
static enum status
give_back_of(struct broker *broker, uint32_t at, uint64_t deadline_ms, struct reason *why)
{
    const struct worker *worker = leases_worker(broker->leases, at);
    const bool alone = worker->count == 1;
    uint32_t ended = 0;
    for (uint32_t i = worker->first; i != (uint32_t)LEASE_NONE;
         i = leases_at(broker->leases, i)->next) {
        const struct lease *lease = leases_at(broker->leases, i);
        if (lease->deadline_ms <= deadline_ms) {
            TRY(give_back(broker, lease, alone, why));
            ended++;
        }
    }
    if (ended > 0) {
        log_warning("leases_ended", "worker=%s jobs=%u because=%s", worker->name, ended,
                    deadline_ms == UINT64_MAX ? "worker died" : "worker stalled");
    }
    return STATUS_OK;
}

enum status
broker_bury_the_dead(struct broker *broker, struct reason *why)
{
    const uint64_t now = clock_monotonic_ms();
    for (size_t i = 0; i < broker->workers.dying_count; i++) {
        TRY(give_back_of(broker, broker->workers.dying[i], UINT64_MAX, why));
    }
    if (!broker_stall_check(broker, now)) {
        return STATUS_OK;
    }
    for (uint32_t at = 0; at < leases_worker_end(broker->leases); at++) {
        if (leases_worker(broker->leases, at)->used) {
            TRY(give_back_of(broker, at, now, why));
        }
    }
    return STATUS_OK;
}
