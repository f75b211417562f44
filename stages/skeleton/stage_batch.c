/* Ends jobs: they are gathered, made durable, told to the metadata store, told to the queue.
 *
 * Group commit clocks itself: while a batch is under way the next gathers, until it is full or old
 * enough. When none is, a batch leaves at once if all that is in hand has ended (of fetch: most),
 * so a lone job does not wait; else it gathers for a moment.
 *
 * After a flush all stages but fetch rest: a trickle of jobs comes in a few batches a second, each
 * of which costs three syncs and six messages whatever its size. A stage for which few jobs cost
 * nearly what many cost (index: each batch goes through its trees) rests longer, in proportion to
 * the jobs flushed. So rests grow up to the longest while jobs come faster than that, and with them
 * the batches. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "config/process_state.h"
#include "stages/skeleton/stage_run.h"

enum { BATCHES_UNDER_WAY = 4, REST_PER_JOB_MS = 4, RETRY_MS = 1000 };

struct batch {
    struct stage_run *run;
    struct held_job **jobs;
    size_t count;
};

void
batching_init(struct batching *batching)
{
    batching->last = &batching->ended;
}

void
batch_add(struct stage_run *run, struct held_job *held)
{
    held->next = NULL;
    *run->batches.last = held;
    run->batches.last = &held->next;
    run->batches.ended_count++;
}

static void send_metadata(void *context);
static void send_completions(void *context);
static void flush_batch(struct batch *batch);

static void
batch_free(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        held_job_free(batch->jobs[i]);
    }
    free(batch->jobs);
    free(batch);
}

static void
batch_answered(void *context, enum status status, const struct reason *why)
{
    struct batch *batch = context;
    struct stage_run *run = batch->run;
    if (status != STATUS_OK) {
        log_warning("completion_refused", "jobs=%zu reason=%s", batch->count, why->text);
        process_state_wait(WAIT_QUEUE, status, why);
        events_timer(&run->events, RETRY_MS, send_completions, batch);
        return;
    }
    process_state_goes_on(WAIT_QUEUE);
    run->batches.under_way--;
    if (run->spec->stage == STAGE_FETCH) {
        reserve_hurry(run); /* lanes that rested may let out their next job */
    }
    batch_free(batch);
}

static void
send_completions(void *context)
{
    struct batch *batch = context;
    struct stage_run *run = batch->run;
    struct completion *completions = memory_zero(batch->count, sizeof *completions);
    for (size_t i = 0; i < batch->count; i++) {
        struct held_job *held = batch->jobs[i];
        struct completion *completion = &completions[i];
        *completion = (struct completion){
            .key = held->public.job.key,
            .verdict = held->verdict,
            .reason = held->reason,
            .delay_ms = held->delay_ms,
            .no_attempt = held->no_attempt,
            .report = held->report,
            .share = held->share,
            .outcome = held->outcome,
            .scope = held->scope,
            .outputs = held->outputs,
            .output_count = held->output_count,
        };
    }
    queue_complete(run->queue, completions, batch->count, batch_answered, batch);
    free(completions);
}

static void
metadata_answered(void *context, enum status status, const struct reason *why)
{
    struct batch *batch = context;
    if (status != STATUS_OK) {
        log_warning("metadata_refused", "jobs=%zu reason=%s", batch->count, why->text);
        process_state_wait(WAIT_METADATA, status, why);
        events_timer(&batch->run->events, RETRY_MS, send_metadata, batch);
        return;
    }
    process_state_goes_on(WAIT_METADATA);
    send_completions(batch);
}

static void
send_metadata(void *context)
{
    struct batch *batch = context;
    struct buf keys; /* reserved at once, so that slices into it stay */
    size_t puts_most = 0, bytes = 0, n = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct slice said = batch->jobs[i]->public.document.said, fields;
        puts_most += 1 + batch->jobs[i]->put_count;
        while (document_said(&said, &fields)) {
            puts_most++;
        }
        bytes += 1 + batch->jobs[i]->public.job.uri.length;
    }
    struct meta_put *puts = memory_zero(puts_most, sizeof *puts);
    buf_init(&keys, bytes + 1);
    buf_reserve(&keys, bytes);
    for (size_t i = 0; i < batch->count; i++) {
        struct held_job *held = batch->jobs[i];
        const struct slice own = buf_slice(&held->public.meta.fields);
        struct slice said = held->public.document.said, fields;
        if (own.length + said.length > 0) {
            const size_t start = keys.length;
            buf_append_char(&keys, 'u');
            buf_append_slice(&keys, held->public.job.uri);
            const struct slice key = slice_of(keys.data + start, keys.length - start);
            while (document_said(&said, &fields)) {
                puts[n++] = (struct meta_put){key, fields};
            }
            if (own.length > 0) {
                puts[n++] = (struct meta_put){key, own};
            }
        }
        for (size_t k = 0; k < held->put_count; k++) {
            puts[n++] = held->puts[k];
        }
    }
    if (n > 0) {
        metastore_put(batch->run->metastore, puts, n, metadata_answered, batch);
    } else {
        send_completions(batch);
    }
    buf_release(&keys);
    free(puts);
}

/* Fetch tells of a visit, the other stages of the answer that a visit handed on. */
static void
stamp_generation(const struct stage_run *run, struct held_job *held)
{
    struct stage_job *job = &held->public;
    if (job->meta.fields.length > 0 && !(job->job.flags & JOB_REVISIT)) {
        bool content = run->spec->stage != STAGE_FETCH;
        if (!content) {
            meta_set_number(&job->meta, META_GENERATION, job->job.generation);
        }
        for (size_t i = 0; i < held->output_count && !content; i++) {
            content = held->outputs[i].key.stage != STAGE_FETCH;
        }
        if (content) {
            meta_set_number(&job->meta, META_CONTENT, job->job.generation);
        }
        meta_set_number(&job->meta, META_DEPTH, job->job.depth);
    }
}

static void
flush_again(void *context)
{
    struct batch *batch = context;
    batch->run->batches.held--;
    flush_batch(batch);
}

/* The rest begins. The log says how long the one before was and how long it was to be. */
static void
note_flush(struct stage_run *run, const struct batch *batch, uint64_t begun_ms)
{
    const uint64_t now = clock_monotonic_ms();
    const uint64_t rest =
        batch_rest_ms(batch->count, run->batches.rest_least_ms, run->batches.rest_most_ms);
    if (run->batches.flushed_ms > 0) {
        log_debug("rested", "ms=%lu of=%lu full=%d stopping=%d", begun_ms - run->batches.flushed_ms,
                  run->batches.rest_until_ms - run->batches.flushed_ms,
                  batch->count == run->batches.most, run->stopping);
    }
    log_debug("flushed", "jobs=%zu ms=%lu rest_ms=%lu", batch->count, now - begun_ms, rest);
    run->batches.flushed_ms = now;
    run->batches.rest_until_ms = now + rest;
}

static void
flush_batch(struct batch *batch)
{
    struct stage_run *run = batch->run;
    struct reason why = {""};
    enum status status = STATUS_OK;
    const uint64_t begun_ms = clock_monotonic_ms();
    if (run->spec->flush != NULL) {
        struct stage_job **jobs = memory_zero(batch->count, sizeof *jobs);
        for (size_t i = 0; i < batch->count; i++) {
            jobs[i] = &batch->jobs[i]->public;
        }
        status = run->spec->flush(run->context, jobs, batch->count, &why);
        free(jobs);
    }
    if (status == STATUS_AGAIN) {
        run->batches.held++;
        events_timer(&run->events, RETRY_MS, flush_again, batch);
        return;
    }
    if (status != STATUS_OK) {
        log_error("flush_failed", "jobs=%zu reason=%s", batch->count, why.text);
        process_state_end(status, &why);
        _exit(EXIT_SYSTEM);
    }
    note_flush(run, batch, begun_ms);
    for (size_t i = 0; i < batch->count; i++) {
        stage_hand_metadata(batch->jobs[i]);
        if (cluster_node_count(run->cluster) > 1) {
            stage_post_metadata(batch->jobs[i]);
        }
    }
    send_metadata(batch);
}

static void
batch_send(struct stage_run *run)
{
    const size_t count =
        run->batches.ended_count < run->batches.most ? run->batches.ended_count : run->batches.most;
    struct batch *batch = memory_new(sizeof *batch);
    batch->run = run;
    batch->count = count;
    batch->jobs = memory_zero(count, sizeof *batch->jobs);
    for (size_t i = 0; i < count; i++) {
        struct held_job *held = run->batches.ended;
        run->batches.ended = held->next;
        stamp_generation(run, held);
        batch->jobs[i] = held;
    }
    run->batches.ended_count -= count;
    if (run->batches.ended == NULL) {
        run->batches.last = &run->batches.ended;
    }
    run->batches.under_way++;
    flush_batch(batch);
}

/* Returns how long what has ended waits for others. While no batch is under way that costs time,
 * but a batch costs three syncs and six messages whatever its size, and the same again in each
 * stage behind: it pays while others are being worked on. Fetch waits while they are most of what
 * is in hand: each of its hosts waits for what has ended to be told. */
static uint64_t
patience_ms(const struct stage_run *run)
{
    const size_t worked_on = run->jobs.running + run->reserving.waiting_count;
    const size_t few = run->spec->stage == STAGE_FETCH ? run->batches.ended_count : 0;
    if (run->batches.under_way > 0) {
        return run->batches.delay_ms;
    }
    return worked_on > few ? run->batches.gather_ms : 0;
}

uint64_t
batch_rest_ms(size_t jobs, uint64_t least_ms, uint64_t most_ms)
{
    const uint64_t by_jobs = (uint64_t)jobs * REST_PER_JOB_MS;
    const uint64_t rest = by_jobs < most_ms ? by_jobs : most_ms;
    return rest > least_ms ? rest : least_ms;
}

/* When what has ended is to leave, by the monotonic clock. */
static uint64_t
due_ms(const struct stage_run *run)
{
    const uint64_t due = run->batches.ended->ended_ms + patience_ms(run);
    return run->stopping || due > run->batches.rest_until_ms ? due : run->batches.rest_until_ms;
}

static bool
batch_is_due(const struct stage_run *run)
{
    if (run->batches.ended_count == 0 || run->batches.under_way >= BATCHES_UNDER_WAY) {
        return false;
    }
    return run->batches.ended_count >= run->batches.most || clock_monotonic_ms() >= due_ms(run);
}

void
batch_advance(struct stage_run *run)
{
    while (batch_is_due(run)) {
        batch_send(run);
    }
}

int
batch_wait_ms(const struct stage_run *run)
{
    if (run->batches.ended_count == 0 || run->batches.under_way >= BATCHES_UNDER_WAY) {
        return -1;
    }
    const uint64_t now = clock_monotonic_ms();
    const uint64_t due = due_ms(run);
    return now >= due ? 0 : (int)(due - now);
}
