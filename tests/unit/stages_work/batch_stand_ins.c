#include "tests/unit/stages_work/batch_stand_ins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "metastore/record.h"

uint64_t now_ms;
char said[TEXT]; /* what was done, in order */
static struct {
    queue_completed *done;
    void *context;
} completions_sent[8]; /* those not answered, the oldest first */
size_t completions_count;
metastore_put_done *put_done;
static void *put_context;
enum status flush_status;
bool quiet;               /* what is put is no record, and nobody reads it */
bool waits[WAIT_COUNT];   /* as the process says of itself */
enum status *told_at_end; /* of a child, in shared memory */

void __wrap_process_state_wait(enum process_wait wait, enum status status,
                               const struct reason *why);
void __wrap_process_state_goes_on(enum process_wait wait);
void __wrap_process_state_end(enum status status, const struct reason *why);
uint64_t __wrap_clock_monotonic_ms(void);
void __wrap_queue_complete(struct queue_client *client, const struct completion *completions,
                           size_t n, queue_completed *done, void *context);
void __wrap_metastore_put(struct metastore_client *client, const struct meta_put *puts, size_t n,
                          metastore_put_done *done, void *context);

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void
say(const char *format, ...)
{
    const size_t used = strlen(said);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said + used, sizeof said - used, format, arguments);
    va_end(arguments);
}

uint64_t
__wrap_clock_monotonic_ms(void)
{
    return now_ms;
}

void
__wrap_process_state_wait(enum process_wait wait, enum status status, const struct reason *why)
{
    assert_int_equal(status, STATUS_FULL);
    assert_string_equal(why->text, "it was refused");
    waits[wait] = true;
}

void
__wrap_process_state_goes_on(enum process_wait wait)
{
    waits[wait] = false;
}

void
__wrap_process_state_end(enum status status, const struct reason *why)
{
    (void)why;
    *told_at_end = status;
}

const char *
last_part(struct slice uri)
{
    static char text[64];
    snprintf(text, sizeof text, "%.*s", SLICE_PRINT(uri));
    const char *slash = strrchr(text, '/');
    return slash != NULL ? slash + 1 : text;
}

void
__wrap_queue_complete(struct queue_client *client, const struct completion *completions, size_t n,
                      queue_completed *done, void *context)
{
    static const char *const verdicts[] = {
        [VERDICT_DONE] = "done", [VERDICT_RELEASE] = "release", [VERDICT_BURY] = "bury"};
    (void)client;
    say("complete");
    for (size_t i = 0; i < n; i++) {
        const struct completion *c = &completions[i];
        say(" %lu:%s", (unsigned long)c->key.id, verdicts[c->verdict]);
        if (c->verdict != VERDICT_DONE) {
            say("(%.*s,%lu%s)", SLICE_PRINT(c->reason), (unsigned long)c->delay_ms,
                c->no_attempt ? ",no attempt" : "");
        }
        for (size_t k = 0; k < c->output_count; k++) {
            const struct job *output = &c->outputs[k];
            say(">%u%s/%u.%lu", output->key.stage, last_part(output->uri), output->depth,
                (unsigned long)output->generation);
        }
        if (c->report.length > 0 || c->share != 0) {
            say("{%.*s,%u}", SLICE_PRINT(c->report), c->share);
        }
        if (c->outcome != OUTCOME_NONE || c->scope != 0) {
            say("[%u %lu]", c->outcome, (unsigned long)c->scope);
        }
    }
    say("; ");
    completions_sent[completions_count].done = done;
    completions_sent[completions_count++].context = context;
}

void
__wrap_metastore_put(struct metastore_client *client, const struct meta_put *puts, size_t n,
                     metastore_put_done *done, void *context)
{
    (void)client;
    say("metadata");
    for (size_t i = 0; i < n && !quiet; i++) {
        uint64_t generation = 0, depth = 0;
        struct buf record;
        buf_init(&record, TEXT);
        assert_int_equal(meta_merge((struct slice){NULL, 0}, puts[i].fields, &record), META_MERGED);
        (void)meta_record_number(buf_slice(&record), META_GENERATION, &generation);
        say(" %.*s.%lu", SLICE_PRINT(puts[i].key), (unsigned long)generation);
        if (meta_record_number(buf_slice(&record), META_DEPTH, &depth)) {
            say("/%lu", (unsigned long)depth);
        }
        buf_release(&record);
    }
    say("; ");
    put_done = done;
    put_context = context;
}

static enum status
flush(void *context, struct stage_job *const *jobs, size_t n, struct reason *why)
{
    (void)context;
    say("flush");
    for (size_t i = 0; i < n; i++) {
        say(" %lu", (unsigned long)jobs[i]->job.key.id);
    }
    say("; ");
    return flush_status == STATUS_OK ? STATUS_OK : status_fail(why, flush_status, "it cannot");
}

/* ---- a stage ---- */

const struct stage_spec index_spec = {.stage = STAGE_INDEX, .flush = flush};
const struct stage_spec detect_spec = {.stage = STAGE_DETECT};
const struct stage_spec extract_spec = {.stage = STAGE_EXTRACT};
const struct stage_spec fetch_spec = {.stage = STAGE_FETCH};

static void
note_start(void *context, struct stage_job *job)
{
    (void)context;
    say("start %lu; ", (unsigned long)job->job.key.id);
}

const struct stage_spec started_spec = {.stage = STAGE_EXTRACT, .start = note_start};

/* self: which node of the cluster's text it is; NULL: the only one. */
void
open_run_in(struct stage_run *run, const struct stage_spec *spec, struct slice cluster,
            const char *self)
{
    struct reason why;
    *run =
        (struct stage_run){.spec = spec,
                           .batches = {.most = BATCH, .delay_ms = DELAY_MS, .gather_ms = GATHER_MS},
                           .job_memory = 1 << 20};
    batching_init(&run->batches);
    reserving_init(&run->reserving);
    assert_int_equal(events_open(&run->events, &why), STATUS_OK);
    now_ms = 1000000;
    said[0] = '\0';
    completions_count = 0;
    put_done = NULL;
    flush_status = STATUS_OK;
    assert_int_equal(cluster_parse(&run->cluster, cluster, self, "/", &why), STATUS_OK);
}

void
open_run(struct stage_run *run, const struct stage_spec *spec)
{
    open_run_in(run, spec, SLICE("node local"), NULL);
}

void
close_run(struct stage_run *run)
{
    cluster_close(run->cluster);
    assert_int_equal(run->batches.under_way, 0);
    assert_int_equal(run->batches.ended_count, 0);
    assert_int_equal(run->jobs.running, 0);
    events_close(&run->events);
}

struct stage_job *
start_job(struct stage_run *run, uint64_t id, uint8_t flags)
{
    char uri[64], lane[32] = "http://h.example", via[32] = "http://v.example/v";
    snprintf(uri, sizeof uri, "http://h.example/%lu", (unsigned long)id);
    struct job job = {.key = {.stage = (uint8_t)run->spec->stage, .id = id},
                      .uri = slice_string(uri),
                      .lane_name = slice_string(lane),
                      .via = slice_string(via),
                      .priority = 100,
                      .flags = flags,
                      .depth = 4,
                      .generation = 7};
    struct held_job *held = held_job_new(run, &job);
    memset(uri, 'x', sizeof uri); /* the job has copies */
    memset(lane, 'x', sizeof lane);
    memset(via, 'x', sizeof via);
    run->jobs.running++;
    return &held->public;
}

void
end_some(struct stage_run *run, uint64_t first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        stage_done(start_job(run, first + i, 0));
    }
}

void
expect(const char *text)
{
    assert_string_equal(said, text);
    said[0] = '\0';
}

void
answer(enum status status)
{
    const struct reason why = {"it was refused"};
    assert_true(completions_count > 0);
    queue_completed *const done = completions_sent[0].done;
    void *const context = completions_sent[0].context;
    memmove(completions_sent, completions_sent + 1, --completions_count * sizeof *completions_sent);
    done(context, status, &why);
}

void
answer_metadata(enum status status)
{
    const struct reason why = {"it was refused"};
    metastore_put_done *const done = put_done;
    put_done = NULL;
    assert_non_null(done);
    done(put_context, status, &why);
}
