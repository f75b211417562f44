#include "tests/unit/stages_work/stage_steps.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "config/config.h"
#include "queue/client/outcomes.h"
#include "stages/skeleton/content.h"

enum { TRACE = 1 << 20, ARENA = 4 << 20 };

struct stage_steps steps;
static jmp_buf at_exit_of_process;
static bool exit_is_caught;

int __real_main(int argc, char **argv);
void __real_exit(int code) __attribute__((noreturn));

/* ---- in the place of the skeleton ---- */

STAND_IN(int, stage_main, (const struct stage_spec *spec, int argc, char **argv))
{
    (void)argc, (void)argv;
    steps.spec = spec;
    return 0;
}

void __wrap_exit(int code) __attribute__((noreturn));
void
__wrap_exit(int code)
{
    if (exit_is_caught) {
        assert_int_equal(code, EXIT_SYSTEM);
        longjmp(at_exit_of_process, 1);
    }
    __real_exit(code);
}

STAND_IN(const struct opt_set *, stage_options, (struct stage_run * run))
{
    (void)run;
    return steps.options;
}

STAND_IN(const char *, stage_directory, (struct stage_run * run))
{
    (void)run;
    return steps.directory;
}

STAND_IN(const char *, stage_worker_name, (struct stage_run * run))
{
    (void)run;
    return "worker.1";
}

STAND_IN(const struct cluster *, stage_cluster, (struct stage_run * run))
{
    (void)run;
    return steps.cluster;
}

STAND_IN(struct metastore_client *, stage_metastore, (struct stage_run * run))
{
    (void)run;
    return NULL;
}

STAND_IN(uint64_t, stage_scope, (struct stage_run * run))
{
    (void)run;
    return steps.scope;
}

STAND_IN(void, stage_watch,
         (struct stage_run * run, int descriptor, uint32_t events, stage_ready *ready,
          void *context))
{
    (void)run;
    assert_true(events != 0 && steps.watched_count < STEPS_WATCHED);
    steps.watched[steps.watched_count].descriptor = descriptor;
    steps.watched[steps.watched_count].ready = ready;
    steps.watched[steps.watched_count++].context = context;
}

STAND_IN(void, stage_timer,
         (struct stage_run * run, uint64_t delay_ms, stage_tick *tick, void *context))
{
    size_t i = 0;
    (void)run;
    while (i < steps.timer_count && steps.timers[i].tick != tick) {
        i++;
    }
    assert_true(i < STEPS_TIMERS);
    steps.timers[i].tick = tick;
    steps.timers[i].context = context;
    steps.timers[i].delay_ms = delay_ms;
    steps.timer_count += i == steps.timer_count;
}

STAND_IN(void, stage_done, (struct stage_job * job))
{
    assert_ptr_equal(job, &steps.job);
    buf_append_string(&steps.trace, "done\n");
}

void __wrap_stage_release(struct stage_job *job, uint64_t delay_ms, bool counts_as_attempt,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));
void
__wrap_stage_release(struct stage_job *job, uint64_t delay_ms, bool counts_as_attempt,
                     const char *format, ...)
{
    char why[REASON_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    assert_ptr_equal(job, &steps.job);
    buf_printf(&steps.trace, "release %llu%s: %s\n", (unsigned long long)delay_ms,
               counts_as_attempt ? " counted" : "", why);
}

STAND_IN(void, stage_put_off, (struct stage_job * job, const struct reason *why))
{
    assert_ptr_equal(job, &steps.job);
    buf_printf(&steps.trace, "put off: %s\n", why->text);
}

void __wrap_stage_bury(struct stage_job *job, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void
__wrap_stage_bury(struct stage_job *job, const char *format, ...)
{
    char why[REASON_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    assert_ptr_equal(job, &steps.job);
    buf_printf(&steps.trace, "bury: %s\n", why);
}

STAND_IN(void, stage_output, (struct stage_job * job, const struct job *output))
{
    struct document document = {0};
    assert_ptr_equal(job, &steps.job);
    buf_printf(&steps.trace, "put %s %.*s lane %.*s via %.*s priority %u flags %u depth %u",
               stage_name((enum stage)output->key.stage), SLICE_PRINT(output->uri),
               SLICE_PRINT(output->lane_name), SLICE_PRINT(output->via), output->priority,
               output->flags, output->depth);
    if (output->hops > 0) {
        buf_printf(&steps.trace, " hops %u", output->hops);
    }
    if (output->data.length > 0 && document_decode(output->data, &document)) {
        buf_printf(&steps.trace, " type %.*s", SLICE_PRINT(document.type));
    }
    buf_append_char(&steps.trace, '\n');
}

/* The document outlives what it was made of. */
static void
keep_next(const struct document *document)
{
    buf_reset(&steps.next_bytes);
    document_encode(&steps.next_bytes, document);
    assert_true(document_decode(buf_slice(&steps.next_bytes), &steps.next));
}

STAND_IN(void, stage_output_next,
         (struct stage_job * job, enum stage next, const struct document *document))
{
    assert_ptr_equal(job, &steps.job);
    keep_next(document);
    buf_printf(&steps.trace, "next %s\n", stage_name(next));
}

STAND_IN(void, stage_output_later,
         (struct stage_job * job, enum stage next, const struct document *document,
          uint64_t due_ms))
{
    assert_ptr_equal(job, &steps.job);
    keep_next(document);
    buf_printf(&steps.trace, "later %s %llu\n", stage_name(next),
               (unsigned long long)(due_ms - steps.now_ms));
}

STAND_IN(void, stage_yield, (struct stage_job * job, uint64_t quads))
{
    assert_ptr_equal(job, &steps.job);
    buf_printf(&steps.trace, "yield %llu\n", (unsigned long long)quads);
}

STAND_IN(void, stage_count_as, (struct stage_job * job, enum job_outcome outcome))
{
    assert_ptr_equal(job, &steps.job);
    assert_true(outcome == OUTCOME_NONE || steps.spec == NULL ||
                outcome_words[outcome].stage == steps.spec->stage);
    buf_printf(&steps.trace, "counts as %s\n",
               outcome == OUTCOME_NONE ? "none" : outcome_words[outcome].word);
}

STAND_IN(void, stage_set_scope, (struct stage_job * job, uint64_t version))
{
    assert_ptr_equal(job, &steps.job);
    buf_printf(&steps.trace, "scope %llu\n", (unsigned long long)version);
}

/* Fields are told by number. */
STAND_IN(void, stage_put_meta, (struct stage_job * job, struct slice key, struct slice fields))
{
    struct meta_value value;
    struct buf record;
    assert_ptr_equal(job, &steps.job);
    buf_init(&record, TRACE);
    buf_printf(&steps.trace, "meta %.*s", SLICE_PRINT(key));
    (void)meta_merge((struct slice){0}, fields, &record);
    for (size_t at = 0; meta_record_next(buf_slice(&record), &at, &value);) {
        if (value.is_text) {
            buf_printf(&steps.trace, " %d=%.*s", (int)value.field, SLICE_PRINT(value.text));
        } else {
            buf_printf(&steps.trace, " %d=%llu", (int)value.field,
                       (unsigned long long)value.number);
        }
    }
    buf_append_char(&steps.trace, '\n');
    buf_release(&record);
}

STAND_IN(uint64_t, clock_wall_ms, (void))
{
    return steps.now_ms;
}

/* ---- in the place of the archive that is read ---- */

STAND_IN(enum status, content_open,
         (struct content * *content, const char *directory, const struct cluster *cluster,
          const struct warc_limits *limits, struct reason *why))
{
    (void)why;
    assert_ptr_equal(directory, steps.directory);
    assert_ptr_equal(cluster, steps.cluster);
    steps.limits = *limits;
    *content = NULL;
    return STATUS_OK;
}

STAND_IN(void, content_close, (struct content * content))
{
    (void)content;
}

STAND_IN(void, content_read_ahead, (struct content * content, content_wanted *wanted))
{
    (void)content;
    steps.reads_ahead = wanted;
}

STAND_IN(void, content_close_files, (struct content * content, struct stage_run *run))
{
    (void)content, (void)run;
    steps.closes_files = true;
}

STAND_IN(enum status, content_read,
         (struct content * content, const struct document_record *where, struct buf *memory,
          struct warc_record *record, struct reason *why))
{
    (void)content;
    assert_ptr_equal(where, &steps.job.document.response);
    steps.room = memory->maximum;
    buf_reset(memory);
    buf_append_slice(memory, steps.record.body);
    assert_false(memory->overflowed);
    *record = steps.record;
    record->body = buf_slice(memory); /* as long as the memory lives */
    return steps.read_status == STATUS_OK ? STATUS_OK
                                          : status_fail(why, steps.read_status, "unreadable");
}

STAND_IN(void, content_refused,
         (struct stage_job * job, enum status status, const struct reason *why))
{
    assert_ptr_equal(job, &steps.job);
    assert_int_equal(status, steps.read_status);
    buf_printf(&steps.trace, "refused: %s\n", why->text);
}

/* ---- steps ---- */

static int
remove_entry(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
    (void)facts, (void)kind, (void)place;
    return remove(path);
}

static void
release_job(void)
{
    arena_release(&steps.job.arena);
    meta_update_release(&steps.job.meta);
}

void
steps_prepare(const char *cluster, const char *const *settings)
{
    struct reason why = {""};
    steps = (struct stage_steps){.now_ms = STEPS_WALL_MS, .arena = ARENA};
    buf_init(&steps.trace, TRACE);
    buf_init(&steps.next_bytes, JOB_DATA_MAXIMUM);
    arena_init(&steps.job.arena, steps.arena);
    meta_update_init(&steps.job.meta);
    assert_true(scratch_folder(steps.directory, "quadrille-stage"));
    steps.options = opt_set_new(config_tables);
    for (; settings != NULL && *settings != NULL; settings++) {
        assert_int_equal(opt_set_assign(steps.options, *settings, &why), STATUS_OK);
    }
    const enum status status =
        cluster != NULL
            ? cluster_parse(&steps.cluster, slice_string(cluster), "here", steps.directory, &why)
            : cluster_open(&steps.cluster, steps.directory, steps.options, &why);
    if (status != STATUS_OK) {
        fail_msg("%s", why.text);
    }
    assert_int_equal(__real_main(0, NULL), 0);
}

enum status
steps_open(struct reason *why)
{
    return steps.spec->open(NULL, &steps.stage, why);
}

void
steps_begin(const char *cluster, const char *const *settings)
{
    struct reason why = {""};
    steps_prepare(cluster, settings);
    assert_int_equal(steps_open(&why), STATUS_OK);
}

void
steps_end(void)
{
    if (steps.spec != NULL) {
        steps.spec->close(steps.stage);
    }
    release_job();
    cluster_close(steps.cluster);
    opt_set_free(steps.options);
    buf_release(&steps.trace);
    buf_release(&steps.next_bytes);
    assert_int_equal(nftw(steps.directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

void
steps_take(const struct job *job, const struct document *document)
{
    release_job();
    arena_init(&steps.job.arena, steps.arena);
    meta_update_init(&steps.job.meta);
    steps.job.job = *job;
    steps.job.document = document != NULL ? *document : (struct document){0};
    steps.job.state = NULL;
    steps.next = (struct document){0};
    buf_reset(&steps.trace);
}

void
steps_start(const struct job *job, const struct document *document)
{
    steps_take(job, document);
    steps.spec->start(steps.stage, &steps.job);
}

void
steps_turn(void)
{
    for (size_t i = 0; i < steps.timer_count; i++) {
        if (steps.timers[i].delay_ms == 0) {
            steps.timers[i].delay_ms = UINT64_MAX;
            steps.timers[i].tick(steps.timers[i].context);
        }
    }
}

void
assert_trace(const char *text)
{
    assert_string_equal(steps.trace.length > 0 ? steps.trace.data : "", text);
    buf_reset(&steps.trace);
}

static void
told(struct buf *record)
{
    buf_init(record, TRACE);
    (void)meta_merge((struct slice){0}, meta_update_fields(&steps.job.meta), record);
}

void
assert_text(enum meta_field field, const char *text)
{
    struct slice found = {0};
    struct buf record;
    told(&record);
    (void)meta_record_text(buf_slice(&record), field, &found);
    if (!slice_is(found, text)) {
        fail_msg("field %d is \"%.*s\", not \"%s\"", (int)field, SLICE_PRINT(found), text);
    }
    buf_release(&record);
}

void
assert_number(enum meta_field field, uint64_t number)
{
    uint64_t found = UINT64_MAX;
    struct buf record;
    told(&record);
    (void)meta_record_number(buf_slice(&record), field, &found);
    if (found != number) {
        fail_msg("field %d is %llu, not %llu", (int)field, (unsigned long long)found,
                 (unsigned long long)number);
    }
    buf_release(&record);
}

bool
steps_ends_process(void (*call)(void))
{
    bool ended = true;
    exit_is_caught = true;
    if (setjmp(at_exit_of_process) == 0) {
        call();
        ended = false;
    }
    exit_is_caught = false;
    return ended;
}
