#include "stages/skeleton/held_job.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "stages/skeleton/stage_run.h"

enum { REASON_TEXT = 1024, DOCUMENT_ROOM = 500 };

static struct held_job *
held_of(struct stage_job *job)
{
    return (struct held_job *)job;
}

static struct slice
keep(struct held_job *held, struct slice bytes)
{
    const struct slice copy = arena_copy(&held->public.arena, bytes);
    if (bytes.length > 0 && copy.at == NULL) {
        log_error("job_memory", "uri=%.*s reason=%s", SLICE_PRINT(held->public.job.uri),
                  "this job's records need too much memory");
        _exit(EXIT_SYSTEM); /* the lease brings the job back, and in the end buries it */
    }
    return copy;
}

static void
copy_job(struct held_job *held, const struct job *from, struct job *to)
{
    *to = *from;
    to->uri = keep(held, from->uri);
    to->lane_name = keep(held, from->lane_name);
    to->via = keep(held, from->via);
    to->data = keep(held, from->data);
    to->pace = keep(held, from->pace);
}

struct held_job *
held_job_new(struct stage_run *run, const struct job *job)
{
    struct held_job *held = memory_new(sizeof *held);
    arena_init(&held->public.arena, run->job_memory);
    meta_update_init(&held->public.meta);
    held->public.run = run;
    copy_job(held, job, &held->public.job);
    return held;
}

void
held_job_free(struct held_job *held)
{
    arena_release(&held->public.arena);
    meta_update_release(&held->public.meta);
    free(held->outputs);
    free(held->puts);
    free(held);
}

void
held_jobs_free(struct held_job *first)
{
    while (first != NULL) {
        struct held_job *next = first->next;
        held_job_free(first);
        first = next;
    }
}

void
stage_output(struct stage_job *job, const struct job *output)
{
    struct held_job *held = held_of(job);
    if (held->output_count == held->output_capacity) {
        held->output_capacity = held->output_capacity * 2 + 4;
        held->outputs = memory_resize(held->outputs, held->output_capacity, sizeof *held->outputs);
    }
    copy_job(held, output, &held->outputs[held->output_count++]);
}

void
stage_output_next(struct stage_job *job, enum stage next, const struct document *document)
{
    stage_output_later(job, next, document, 0);
}

void
stage_output_later(struct stage_job *job, enum stage next, const struct document *document,
                   uint64_t due_ms)
{
    struct buf data;
    buf_init(&data, JOB_DATA_MAXIMUM);
    (void)buf_reserve(&data, DOCUMENT_ROOM);
    document_encode(&data, document);
    if (data.overflowed) { /* only the headers can be so long; the archive has them */
        struct document shorter = *document;
        shorter.link_header = shorter.content_type = (struct slice){NULL, 0};
        buf_reset(&data);
        document_encode(&data, &shorter);
    }
    struct job output = {
        .key.stage = (uint8_t)next,
        .uri = job->job.uri,
        .via = job->job.via,
        .priority = job->job.priority,
        .flags = job->job.flags & JOB_SEED,
        .depth = job->job.depth,
        .generation = job->job.generation,
        .due_ms = due_ms,
        .data = buf_slice(&data),
    };
    stage_output(job, &output);
    buf_release(&data);
}

void
stage_yield(struct stage_job *job, uint64_t quads)
{
    struct buf data;
    if (job->job.generation > 1 || job->job.flags & JOB_RESOURCE) {
        return;
    }
    buf_init(&data, 16);
    codec_put_varint(&data, quads);
    const struct job output = {.key.stage = STAGE_FETCH,
                               .uri = job->job.uri,
                               .priority = job->job.priority,
                               .flags = JOB_YIELD,
                               .generation = job->job.generation,
                               .data = buf_slice(&data)};
    stage_output(job, &output);
    buf_release(&data);
}

void
stage_set_lane_share(struct stage_job *job, uint8_t share)
{
    held_of(job)->share = share;
}

void
stage_report_host(struct stage_job *job, struct slice report)
{
    held_of(job)->report = keep(held_of(job), report);
}

void
stage_set_scope(struct stage_job *job, uint64_t version)
{
    held_of(job)->scope = version;
}

void
stage_put_meta(struct stage_job *job, struct slice key, struct slice fields)
{
    struct held_job *held = held_of(job);
    if (held->put_count == held->put_capacity) {
        held->put_capacity = held->put_capacity * 2 + 2;
        held->puts = memory_resize(held->puts, held->put_capacity, sizeof *held->puts);
    }
    held->puts[held->put_count++] = (struct meta_put){keep(held, key), keep(held, fields)};
}

static void
end_job(struct stage_job *job, enum verdict verdict)
{
    struct held_job *held = held_of(job);
    struct stage_run *run = job->run;
    if (held->ended) {
        log_error("job_ended_twice", "uri=%.*s", SLICE_PRINT(job->job.uri));
        _exit(EXIT_SYSTEM);
    }
    held->ended = true;
    held->ended_ms = clock_monotonic_ms();
    held->verdict = verdict;
    if (verdict != VERDICT_DONE) {
        held->output_count = 0;
    }
    batch_add(run, held);
    run->jobs.running--;
    run->jobs.aside -= held->aside;
    run->jobs.totals[verdict]++;
}

void
stage_set_aside(struct stage_job *job, bool aside)
{
    struct held_job *held = held_of(job);
    job->run->jobs.aside += (size_t)aside - (size_t)held->aside;
    held->aside = aside;
}

void
stage_count_as(struct stage_job *job, enum job_outcome outcome)
{
    held_of(job)->outcome = outcome;
}

void
stage_done(struct stage_job *job)
{
    end_job(job, VERDICT_DONE);
}

static struct slice
reason_text(struct stage_job *job, const char *format, va_list arguments)
{
    char text[REASON_TEXT];
    vsnprintf(text, sizeof text, format, arguments);
    return keep(held_of(job), slice_string(text));
}

void
stage_release(struct stage_job *job, uint64_t delay_ms, bool counts_as_attempt, const char *format,
              ...)
{
    struct held_job *held = held_of(job);
    va_list arguments;
    va_start(arguments, format);
    held->reason = reason_text(job, format, arguments);
    va_end(arguments);
    held->delay_ms = delay_ms;
    held->no_attempt = !counts_as_attempt;
    log_debug("released", "uri=%.*s reason=%.*s", SLICE_PRINT(job->job.uri),
              SLICE_PRINT(held->reason));
    end_job(job, VERDICT_RELEASE);
}

void
stage_bury(struct stage_job *job, const char *format, ...)
{
    struct held_job *held = held_of(job);
    va_list arguments;
    va_start(arguments, format);
    held->reason = reason_text(job, format, arguments);
    va_end(arguments);
    log_warning("buried", "uri=%.*s reason=%.*s", SLICE_PRINT(job->job.uri),
                SLICE_PRINT(held->reason));
    end_job(job, VERDICT_BURY);
}
