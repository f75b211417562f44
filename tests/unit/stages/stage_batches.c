/* How a stage's jobs end (stages/skeleton/stage_batch.c): the order flush, metadata, completion;
 * what each message says; what happens when one of the three is refused; when a batch leaves. The
 * linker puts the functions below in the place of queue, metadata store and clock, so nothing
 * waits. */
#include "tests/unit/stages/stage_batches.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "config/process_state.h"
#include "metastore/record.h"
#include "stages/skeleton/stage_private.h"
#include "tests/unit/memory_in_use.h"

enum { BATCH = 3, DELAY_MS = 50, GATHER_MS = 20, REST_MS = 100, REST_LEAST_MS = 30, TEXT = 4096 };

/* ---- queue, metadata store, clock and flush of the test ---- */

uint64_t now_ms;
static char said[TEXT]; /* what was done, in order */
static struct {
    queue_completed *done;
    void *context;
} completions_sent[8]; /* those not answered, the oldest first */
static size_t completions_count;
static metastore_put_done *put_done;
static void *put_context;
static enum status flush_status;
static bool quiet;               /* what is put is no record, and nobody reads it */
static bool waits[WAIT_COUNT];   /* as the process says of itself */
static enum status *told_at_end; /* of a child, in shared memory */

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

static const char *
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
        if (c->lane_delay_ms != 0 || c->group != 0 || c->share != 0) {
            say("{%lu,%lu,%u}", (unsigned long)c->lane_delay_ms, (unsigned long)c->group, c->share);
        }
        if (c->host != 0 || c->outcome != OUTCOME_NONE || c->scope != 0) {
            say("[%u %.*s %u %lu]", c->host, SLICE_PRINT(c->cause), c->outcome,
                (unsigned long)c->scope);
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

static const struct stage_spec index_spec = {.stage = STAGE_INDEX, .flush = flush};
static const struct stage_spec detect_spec = {.stage = STAGE_DETECT};
static const struct stage_spec extract_spec = {.stage = STAGE_EXTRACT};
static const struct stage_spec fetch_spec = {.stage = STAGE_FETCH};

static void
note_start(void *context, struct stage_job *job)
{
    (void)context;
    say("start %lu; ", (unsigned long)job->job.key.id);
}

static const struct stage_spec started_spec = {.stage = STAGE_EXTRACT, .start = note_start};

/* self: which node of the cluster's text it is; NULL: the only one. */
static void
open_run_in(struct stage_run *run, const struct stage_spec *spec, struct slice cluster,
            const char *self)
{
    struct reason why;
    *run = (struct stage_run){.spec = spec,
                              .batch_most = BATCH,
                              .batch_delay_ms = DELAY_MS,
                              .batch_gather_ms = GATHER_MS,
                              .job_memory = 1 << 20};
    run->ended_last = &run->ended;
    run->waiting_last = &run->waiting;
    assert_int_equal(events_open(&run->events, &why), STATUS_OK);
    now_ms = 1000000;
    said[0] = '\0';
    completions_count = 0;
    put_done = NULL;
    flush_status = STATUS_OK;
    assert_int_equal(cluster_parse(&run->cluster, cluster, self, "/", &why), STATUS_OK);
}

static void
open_run(struct stage_run *run, const struct stage_spec *spec)
{
    open_run_in(run, spec, SLICE("node local"), NULL);
}

static void
close_run(struct stage_run *run)
{
    cluster_close(run->cluster);
    assert_int_equal(run->batches_under_way, 0);
    assert_int_equal(run->ended_count, 0);
    assert_int_equal(run->running_count, 0);
    events_close(&run->events);
}

static struct stage_job *
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
    run->running_count++;
    return &held->public;
}

static void
end_some(struct stage_run *run, uint64_t first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        stage_done(start_job(run, first + i, 0));
    }
}

static void
expect(const char *text)
{
    assert_string_equal(said, text);
    said[0] = '\0';
}

static void
answer(enum status status)
{
    const struct reason why = {"it was refused"};
    assert_true(completions_count > 0);
    queue_completed *const done = completions_sent[0].done;
    void *const context = completions_sent[0].context;
    memmove(completions_sent, completions_sent + 1, --completions_count * sizeof *completions_sent);
    done(context, status, &why);
}

static void
answer_metadata(enum status status)
{
    const struct reason why = {"it was refused"};
    metastore_put_done *const done = put_done;
    put_done = NULL;
    assert_non_null(done);
    done(put_context, status, &why);
}

/* ---- the order, and what is said ---- */

static void
test_flush_then_metadata_then_completion(void **state)
{
    struct stage_run run;
    (void)state;
    open_run(&run, &index_spec);
    struct stage_job *first = start_job(&run, 1, 0);
    struct stage_job *second = start_job(&run, 2, 0);
    struct meta_update host;
    meta_update_init(&host);
    meta_set_number(&host, META_HOST_DOCUMENTS, 1);
    meta_set_number(&first->meta, META_HTTP_STATUS, 200);
    stage_put_meta(second, SLICE("hhttp://h.example"), meta_update_fields(&host));
    stage_put_meta(second, SLICE("hhttp://i.example"), meta_update_fields(&host));
    stage_put_meta(second, SLICE("hhttp://j.example"), meta_update_fields(&host));
    meta_update_release(&host);
    stage_done(second);
    batch_advance(&run);
    expect(""); /* it gathers while another is worked on */
    assert_int_equal(batch_wait_ms(&run), GATHER_MS);
    stage_done(first);
    assert_int_equal(batch_wait_ms(&run), 0);
    batch_advance(&run);
    assert_int_equal(run.ended_count, 0);
    expect("flush 2 1; metadata hhttp://h.example.0 hhttp://i.example.0 hhttp://j.example.0 "
           "uhttp://h.example/1.7/4; ");
    answer_metadata(STATUS_OK);
    expect("complete 2:done 1:done; ");
    assert_int_equal(run.batches_under_way, 1);
    answer(STATUS_OK);
    assert_int_equal(run.totals[VERDICT_DONE], 2);
    close_run(&run);
}

static void
test_verdicts_and_outputs(void **state)
{
    struct stage_run run;
    const struct document document = {.type = SLICE("text/turtle")};
    (void)state;
    open_run(&run, &detect_spec);
    struct stage_job *done = start_job(&run, 1, JOB_SEED);
    struct stage_job *released = start_job(&run, 2, 0);
    struct stage_job *buried = start_job(&run, 3, 0);
    for (uint64_t i = 0; i < 6; i++) {
        stage_output_next(done, STAGE_TRANSFORM, &document);
    }
    stage_output_next(released, STAGE_TRANSFORM, &document); /* dropped */
    stage_set_lane_rest(done, 500, 9);
    stage_set_lane_share(done, 128);
    stage_done(done);
    stage_release(released, 300, false, "server %d", 5);
    stage_bury(buried, "a %s", "bomb");
    batch_advance(&run);
    expect("complete 1:done>21/4.7>21/4.7>21/4.7>21/4.7>21/4.7>21/4.7{500,9,128} "
           "2:release(server 5,300,no attempt) 3:bury(a bomb,0); ");
    assert_int_equal(run.totals[VERDICT_DONE], 1);
    assert_int_equal(run.totals[VERDICT_RELEASE], 1);
    assert_int_equal(run.totals[VERDICT_BURY], 1);
    answer(STATUS_OK);
    close_run(&run);
}

/* What fetch says of a host, under which scope links were judged, and as what a job counts. */
static void
test_words_for_the_queue(void **state)
{
    struct stage_run run;
    char cause[] = "refused";
    (void)state;
    open_run(&run, &fetch_spec);
    struct stage_job *job = start_job(&run, 1, 0);
    stage_set_host(job, HOST_FAILED | HOST_SILENT, slice_string(cause));
    memset(cause, 'x', sizeof cause - 1); /* the job has a copy */
    stage_set_scope(job, 9);
    stage_count_as(job, OUTCOME_GONE);
    stage_done(job);
    batch_advance(&run);
    char expected[64];
    snprintf(expected, sizeof expected, "complete 1:done[%d refused %d 9]; ",
             (int)(HOST_FAILED | HOST_SILENT), (int)OUTCOME_GONE);
    expect(expected);
    answer(STATUS_OK);
    close_run(&run);
}

/* Batches that were answered leave nothing in memory. */
static void
test_answered_batches_are_freed(void **state)
{
    enum { BATCHES = 100, BYTES = 20000 };
    struct stage_run run;
    size_t before = 0;
    (void)state;
    if (!memory_is_counted()) {
        skip();
    }
    char *bytes = memory_zero(BYTES, 1);
    open_run(&run, &detect_spec);
    for (uint64_t i = 0; i < BATCHES; i++) {
        before = i == 1 ? memory_in_use() : before;
        for (uint64_t k = 0; k < BATCH; k++) {
            struct stage_job *job = start_job(&run, k, 0);
            stage_put_meta(job, SLICE("hhttp://h.example"), slice_of(bytes, BYTES));
            job->meta.fields.length = 0;
            stage_done(job);
        }
        put_done = NULL;
        run.batch_most = BATCH;
        quiet = true;
        batch_advance(&run);
        answer_metadata(STATUS_OK);
        answer(STATUS_OK);
        quiet = false;
    }
    assert_true(memory_in_use() < before + (size_t)BATCH * BYTES);
    said[0] = '\0';
    close_run(&run);
    free(bytes);
}

/* What a later stage gets: the same document, of the headers only what has room. */
static void
test_document_travels_in_the_job(void **state)
{
    enum { LONG = 70000 };
    struct stage_run run;
    char *header = memory_alloc(LONG);
    (void)state;
    memset(header, 'h', LONG);
    open_run(&run, &detect_spec);
    struct document document = {.type = SLICE("text/turtle"),
                                .content_type = SLICE("text/turtle;q=1"),
                                .fetched_ms = 12,
                                .link_header = slice_of(header, 10)};
    struct stage_job *job = start_job(&run, 1, JOB_SEED | JOB_SITEMAP);
    struct held_job *held = (struct held_job *)job;
    stage_output_later(job, STAGE_TRANSFORM, &document, 99);
    document.link_header = slice_of(header, LONG);
    stage_output_next(job, STAGE_TRANSFORM, &document);
    free(header);
    for (size_t i = 0; i < 2; i++) {
        struct document found;
        const struct job *output = &held->outputs[i];
        assert_true(document_decode(output->data, &found));
        assert_true(slice_is(found.type, "text/turtle"));
        assert_int_equal(found.fetched_ms, 12);
        assert_int_equal(found.link_header.length, i == 0 ? 10 : 0);
        assert_int_equal(found.content_type.length, i == 0 ? 15 : 0);
        assert_int_equal(output->due_ms, i == 0 ? 99 : 0);
        assert_int_equal(output->flags, JOB_SEED); /* that a sitemap listed it is fetch's */
        assert_int_equal(output->priority, 100);
        assert_true(slice_is(output->via, "http://v.example/v"));
    }
    stage_done(job);
    batch_advance(&run);
    answer(STATUS_OK);
    close_run(&run);
}

static void
test_yield_is_told_of_first_visits_of_documents(void **state)
{
    struct stage_run run;
    (void)state;
    open_run(&run, &index_spec);
    static const struct {
        uint64_t generation;
        uint8_t flags;
        size_t outputs;
    } rows[] = {{1, 0, 1}, {2, 0, 0}, {1, JOB_RESOURCE, 0}};
    for (size_t i = 0; i < 3; i++) {
        struct stage_job *job = start_job(&run, i, rows[i].flags);
        job->job.generation = rows[i].generation;
        stage_yield(job, 300);
        const struct held_job *held = (const struct held_job *)job;
        assert_int_equal(held->output_count, rows[i].outputs);
        if (rows[i].outputs > 0) {
            struct codec_reader reader = codec_reader_of(held->outputs[0].data);
            assert_int_equal(held->outputs[0].flags, JOB_YIELD);
            assert_int_equal(held->outputs[0].key.stage, STAGE_FETCH);
            assert_string_equal(last_part(held->outputs[0].uri), "0");
            assert_int_equal(held->outputs[0].priority, 100);
            assert_int_equal(held->outputs[0].generation, 1);
            assert_int_equal(codec_get_varint(&reader), 300);
        }
        stage_done(job);
    }
    batch_advance(&run);
    answer(STATUS_OK);
    close_run(&run);
}

/* ---- metadata that travel in the job ---- */

/* A job of a first visit to which something was said before, and that says one thing itself. */
static struct stage_job *
start_first_visit(struct stage_run *run, struct slice data)
{
    struct stage_job *job = start_job(run, 1, 0);
    job->job.generation = 1;
    job->job.data = arena_copy(&job->arena, data);
    assert_true(document_decode(job->job.data, &job->document));
    meta_set_number(&job->meta, META_QUADS, run->spec->stage);
    return job;
}

/* Ends it with the document in the next stage; what that job is given is copied. */
static void
hand_on(struct stage_run *run, struct stage_job *job, enum stage next, struct buf *data)
{
    const struct document document = {.type = SLICE("text/turtle")};
    stage_output_next(job, next, &document);
    stage_done(job);
    batch_advance(run);
    buf_reset(data);
    buf_append_slice(data, ((const struct held_job *)job)->outputs[0].data);
    answer(STATUS_OK);
}

static void
assert_says_quads(struct slice fields, uint64_t quads)
{
    uint64_t found = 0, content = 0;
    struct buf record;
    buf_init(&record, TEXT);
    assert_int_equal(meta_merge((struct slice){NULL, 0}, fields, &record), META_MERGED);
    assert_true(meta_record_number(buf_slice(&record), META_QUADS, &found));
    assert_true(meta_record_number(buf_slice(&record), META_CONTENT, &content));
    assert_int_equal(found, quads);
    assert_int_equal(content, 1);
    buf_release(&record);
}

/* Detect and index say nothing to the store; extract, behind which no job of the document comes,
 * says what all three found, in their order. */
static void
test_metadata_go_with_the_job_that_follows(void **state)
{
    struct stage_run run;
    struct document found;
    struct slice fields;
    struct buf data;
    (void)state;
    buf_init(&data, TEXT);
    open_run(&run, &detect_spec);
    hand_on(&run, start_first_visit(&run, SLICE("")), STAGE_INDEX, &data);
    expect("complete 1:done>31/4.1; ");
    close_run(&run);

    open_run(&run, &index_spec);
    hand_on(&run, start_first_visit(&run, buf_slice(&data)), STAGE_EXTRACT, &data);
    expect("flush 1; complete 1:done>41/4.1; ");
    close_run(&run);

    assert_true(document_decode(buf_slice(&data), &found));
    assert_true(slice_is(found.type, "text/turtle"));
    assert_true(document_said(&found.said, &fields));
    assert_says_quads(fields, STAGE_DETECT);
    assert_true(document_said(&found.said, &fields));
    assert_says_quads(fields, STAGE_INDEX);
    assert_false(document_said(&found.said, &fields));

    open_run(&run, &extract_spec);
    stage_done(start_first_visit(&run, buf_slice(&data)));
    batch_advance(&run);
    expect("metadata uhttp://h.example/1.1/4 uhttp://h.example/1.1/4 uhttp://h.example/1.1/4; ");
    answer_metadata(STATUS_OK);
    expect("complete 1:done; ");
    answer(STATUS_OK);
    close_run(&run);
    buf_release(&data);
}

/* Of several nodes the metadata go with the job if it goes to the node that keeps them, by itself
 * or because it stays there; else they leave beside the job, for the node that keeps them. */
static void
test_metadata_go_with_jobs_to_the_node_that_keeps_them(void **state)
{
    static const char nodes[] = "node a queue=tcp://127.0.0.1:1 metastore=tcp://127.0.0.1:2\n"
                                "node b queue=tcp://127.0.0.1:3 metastore=tcp://127.0.0.1:4\n";
    static const struct {
        bool kept_here;
        enum stage next;
        bool goes_along;
        const char *expected;
    } rows[] = {{true, STAGE_INDEX, true, "complete 1:done>31/4.1; "},
                {true, STAGE_TRANSFORM, true, "complete 1:done>21/4.1; "},
                {false, STAGE_INDEX, true, "complete 1:done>31/4.1; "},
                {false, STAGE_TRANSFORM, false, "complete 1:done>21/4.1>0metadata:/0.0; "}};
    struct stage_run run;
    struct buf data;
    (void)state;
    buf_init(&data, TEXT);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        open_run_in(&run, &detect_spec, slice_string(nodes), "a");
        const bool a_keeps = cluster_key_owner(run.cluster, SLICE("uhttp://h.example/1")) ==
                             cluster_self(run.cluster);
        close_run(&run);
        open_run_in(&run, &detect_spec, slice_string(nodes),
                    a_keeps == rows[i].kept_here ? "a" : "b");
        hand_on(&run, start_first_visit(&run, SLICE("")), rows[i].next, &data);
        expect(rows[i].expected);
        close_run(&run);
        struct document found;
        struct slice fields;
        assert_true(document_decode(buf_slice(&data), &found));
        assert_int_equal(document_said(&found.said, &fields), rows[i].goes_along);
    }
    buf_release(&data);
}

/* What may be looked for in the store before the job that follows has ended is put at once, with
 * what was brought: of later visits, with a visit that is due, with a job at once that may read it
 * (a host's plan reads what transform made of a description), of a job that fails, what is long;
 * and all that fetch says. */
static void
test_other_metadata_are_put_at_once(void **state)
{
    enum { LONG = 900 };
    static const struct {
        const struct stage_spec *spec;
        uint64_t generation, due_ms;
        bool released;
        size_t length;
        const char *expected;
        bool plans;
    } rows[] = {
        {&detect_spec, 2, 0, false, 0,
         "metadata uhttp://h.example/1.1/4 uhttp://h.example/1.2/4; "},
        {&detect_spec, 1, 9, false, 0,
         "metadata uhttp://h.example/1.1/4 uhttp://h.example/1.1/4; "},
        {&detect_spec, 1, 0, true, 0, "metadata uhttp://h.example/1.1/4 uhttp://h.example/1.1/4; "},
        {&detect_spec, 1, 0, false, LONG,
         "metadata uhttp://h.example/1.1/4 uhttp://h.example/1.1/4; "},
        {&detect_spec, 1, 0, false, 0, "metadata uhttp://h.example/1.1/4 uhttp://h.example/1.1/4; ",
         true},
        {&fetch_spec, 1, 0, false, 0,
         "metadata uhttp://h.example/1.1/4 uhttp://h.example/1.1/4; "}};
    const struct job plan = {.key.stage = STAGE_FETCH,
                             .uri = SLICE("http://h.example/#plan"),
                             .lane_name = SLICE("http://h.example")};
    const struct document document = {.type = SLICE("text/turtle")};
    char text[LONG];
    struct stage_run run;
    struct buf data;
    (void)state;
    memset(text, 't', LONG);
    buf_init(&data, TEXT);
    open_run(&run, &detect_spec);
    hand_on(&run, start_first_visit(&run, SLICE("")), STAGE_TRANSFORM, &data);
    close_run(&run);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        open_run(&run, rows[i].spec);
        struct stage_job *job = start_first_visit(&run, buf_slice(&data));
        job->job.generation = rows[i].generation;
        meta_set_text(&job->meta, META_REASON, slice_of(text, rows[i].length));
        stage_output_next(job, STAGE_INDEX, &document);
        if (rows[i].due_ms > 0) {
            stage_output_later(job, STAGE_FETCH, &document, rows[i].due_ms);
        }
        if (rows[i].plans) {
            stage_output(job, &plan);
        }
        if (rows[i].released) {
            stage_release(job, 0, false, "later");
        } else {
            stage_done(job);
        }
        batch_advance(&run);
        expect(rows[i].expected);
        answer_metadata(STATUS_OK);
        said[0] = '\0';
        answer(STATUS_OK);
        close_run(&run);
    }
    buf_release(&data);
}

/* The queue buries a job whose workers die without asking one of them, so what the job brought is
 * in the store before it is tried again. */
static void
test_what_a_suspect_brought_is_put_before_it_starts(void **state)
{
    static const enum status answers[] = {STATUS_OK, STATUS_FULL};
    struct stage_run run;
    struct buf data;
    (void)state;
    buf_init(&data, TEXT);
    open_run(&run, &detect_spec);
    hand_on(&run, start_first_visit(&run, SLICE("")), STAGE_TRANSFORM, &data);
    close_run(&run);
    for (size_t i = 0; i < 2; i++) {
        open_run(&run, &started_spec);
        struct stage_job *job = start_first_visit(&run, buf_slice(&data));
        meta_update_reset(&job->meta);
        assert_false(stage_tells_first((struct held_job *)job)); /* nobody has died of it */
        job->job.deaths = 1;
        assert_true(stage_tells_first((struct held_job *)job));
        expect("metadata uhttp://h.example/1.1/4; ");
        answer_metadata(answers[i]);
        if (answers[i] == STATUS_OK) {
            expect("start 1; ");
            assert_false(stage_tells_first((struct held_job *)job));
            stage_done(job);
        }
        said[0] = '\0';
        batch_advance(&run);
        expect("metadata uhttp://h.example/1.1/4; ");
        answer_metadata(STATUS_OK);
        expect(i == 0 ? "complete 1:done; "
                      : "complete 1:release(it was refused,1000,no attempt); ");
        answer(STATUS_OK);
        close_run(&run);
    }
    buf_release(&data);
}

/* A document that is only gone through again has no new generation in the metadata. */
static void
test_revisits_stamp_no_generation(void **state)
{
    struct stage_run run;
    (void)state;
    open_run(&run, &detect_spec);
    struct stage_job *job = start_job(&run, 1, JOB_REVISIT);
    meta_set_number(&job->meta, META_HTTP_STATUS, 200);
    stage_done(job);
    batch_advance(&run);
    expect("metadata uhttp://h.example/1.0; ");
    answer_metadata(STATUS_OK);
    answer(STATUS_OK);
    close_run(&run);
}

/* ---- refusals ---- */

static void
pass_time(struct stage_run *run, uint64_t ms)
{
    now_ms += ms;
    events_round(&run->events, 0);
}

static void
test_refused_messages_are_sent_again(void **state)
{
    struct stage_run run;
    (void)state;
    open_run(&run, &index_spec);
    struct stage_job *job = start_job(&run, 1, 0);
    meta_set_number(&job->meta, META_HTTP_STATUS, 200);
    stage_done(job);
    batch_advance(&run);
    expect("flush 1; metadata uhttp://h.example/1.7/4; ");
    assert_false(waits[WAIT_METADATA]);
    answer_metadata(STATUS_FULL);
    assert_true(waits[WAIT_METADATA]);
    expect("");
    pass_time(&run, 999);
    expect("");
    pass_time(&run, 1);
    expect("metadata uhttp://h.example/1.7/4; ");
    answer_metadata(STATUS_OK);
    expect("complete 1:done; ");
    assert_false(waits[WAIT_METADATA] || waits[WAIT_QUEUE]);
    answer(STATUS_FULL);
    assert_true(waits[WAIT_QUEUE]);
    pass_time(&run, 999);
    expect("");
    assert_int_equal(run.batches_under_way, 1);
    pass_time(&run, 1);
    expect("complete 1:done; "); /* neither flushed nor told to the metadata store again */
    answer(STATUS_OK);
    assert_false(waits[WAIT_QUEUE]);
    close_run(&run);
}

static void
test_flush_that_cannot_now_is_tried_again(void **state)
{
    struct stage_run run;
    (void)state;
    open_run(&run, &index_spec);
    flush_status = STATUS_AGAIN;
    end_some(&run, 1, 1);
    batch_advance(&run);
    expect("flush 1; ");
    assert_int_equal(run.held_batches, 1);
    pass_time(&run, 999);
    expect("");
    pass_time(&run, 1);
    expect("flush 1; ");
    assert_int_equal(run.held_batches, 1);
    flush_status = STATUS_OK;
    pass_time(&run, 1000);
    expect("flush 1; complete 1:done; ");
    assert_int_equal(run.held_batches, 0);
    answer(STATUS_OK);
    close_run(&run);
}

/* What cannot go on ends the process; the lease brings the jobs back. */
static void
end_twice(struct stage_run *run)
{
    struct stage_job *job = start_job(run, 1, 0);
    stage_done(job);
    stage_done(job);
}

static void
fail_flush(struct stage_run *run)
{
    flush_status = STATUS_SYSTEM;
    end_some(run, 1, 1);
    batch_advance(run);
}

static void
exceed_memory(struct stage_run *run)
{
    run->job_memory = 16;
    (void)start_job(run, 1, 0);
}

static void
test_what_cannot_go_on_ends_the_process(void **state)
{
    static void (*const acts[])(struct stage_run *) = {end_twice, fail_flush, exceed_memory};
    (void)state;
    told_at_end =
        mmap(NULL, sizeof *told_at_end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        *told_at_end = STATUS_OK;
        int code;
        const pid_t pid = fork();
        if (pid == 0) {
            struct stage_run run;
            open_run(&run, &index_spec);
            acts[i](&run);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &code, 0), pid);
        assert_true(WIFEXITED(code) && WEXITSTATUS(code) == EXIT_SYSTEM);
        assert_int_equal(*told_at_end, acts[i] == fail_flush ? STATUS_SYSTEM : STATUS_OK);
    }
}

/* ---- when a batch leaves ---- */

static void
test_full_batches_leave_at_once(void **state)
{
    struct stage_run run;
    (void)state;
    open_run(&run, &detect_spec);
    struct stage_job *other = start_job(&run, 9, 0);
    end_some(&run, 1, BATCH - 1);
    batch_advance(&run);
    expect("");
    end_some(&run, 3, BATCH + 1);
    batch_advance(&run);
    expect("complete 1:done 2:done 3:done; complete 4:done 5:done 6:done; ");
    assert_int_equal(run.batches_under_way, 2);
    assert_int_equal(batch_wait_ms(&run), -1);
    end_some(&run, 7, 1); /* while others are under way it waits longer */
    assert_int_equal(batch_wait_ms(&run), DELAY_MS);
    now_ms += DELAY_MS - 1;
    batch_advance(&run);
    expect("");
    assert_int_equal(batch_wait_ms(&run), 1);
    now_ms++;
    assert_int_equal(batch_wait_ms(&run), 0);
    batch_advance(&run);
    expect("complete 7:done; ");
    end_some(&run, 11, BATCH);
    batch_advance(&run);
    expect("complete 11:done 12:done 13:done; ");
    end_some(&run, 14, BATCH); /* four are under way: the fifth waits */
    batch_advance(&run);
    expect("");
    assert_int_equal(batch_wait_ms(&run), -1);
    assert_int_equal(run.batches_under_way, 4);
    answer(STATUS_OK);
    batch_advance(&run);
    expect("complete 14:done 15:done 16:done; ");
    stage_done(other);
    while (completions_count > 0) {
        answer(STATUS_OK);
    }
    batch_advance(&run);
    expect("complete 9:done; ");
    answer(STATUS_OK);
    close_run(&run);
}

/* Fetch waits for others only while less than half of what it has in hand has ended. */
static void
test_fetch_leaves_when_most_has_ended(void **state)
{
    struct stage_run run;
    (void)state;
    open_run(&run, &fetch_spec);
    run.batch_most = 10;
    run.reserve_again_ms = 77;
    struct stage_job *jobs[4];
    for (uint64_t i = 0; i < 4; i++) {
        jobs[i] = start_job(&run, i + 1, 0);
    }
    stage_done(jobs[0]);
    assert_int_equal(batch_wait_ms(&run), GATHER_MS); /* one of four */
    run.waiting_count = 1;
    stage_done(jobs[1]);
    assert_int_equal(batch_wait_ms(&run), GATHER_MS); /* two, and two are worked on and one waits */
    run.waiting_count = 0;
    assert_int_equal(batch_wait_ms(&run), 0);
    batch_advance(&run);
    expect("complete 1:done 2:done; ");
    answer(STATUS_OK);
    assert_int_equal(run.reserve_again_ms, 0); /* lanes may have more */
    stage_done(jobs[2]);
    stage_done(jobs[3]);
    batch_advance(&run);
    answer(STATUS_OK);
    close_run(&run);
}

static void
test_stage_rests_after_a_flush(void **state)
{
    struct stage_run run;
    (void)state;
    open_run(&run, &index_spec);
    run.rest_most_ms = REST_MS;
    end_some(&run, 1, 2);
    batch_advance(&run);
    expect("flush 1 2; complete 1:done 2:done; ");
    answer(STATUS_OK);
    end_some(&run, 3, 1);
    assert_int_equal(batch_wait_ms(&run), 8); /* four for each job */
    now_ms += 7;
    batch_advance(&run);
    expect("");
    run.stopping = true; /* who ends does not rest */
    assert_int_equal(batch_wait_ms(&run), 0);
    run.stopping = false;
    now_ms += 1;
    batch_advance(&run);
    expect("flush 3; complete 3:done; ");
    answer(STATUS_OK);
    run.rest_least_ms = REST_LEAST_MS; /* at least, however few they are */
    end_some(&run, 4, 1);
    now_ms += REST_MS;
    batch_advance(&run);
    expect("flush 4; complete 4:done; ");
    answer(STATUS_OK);
    end_some(&run, 5, 1);
    assert_int_equal(batch_wait_ms(&run), REST_LEAST_MS);
    end_some(&run, 6, BATCH - 1); /* a full batch does not rest */
    batch_advance(&run);
    expect("flush 5 6 7; complete 5:done 6:done 7:done; ");
    answer(STATUS_OK);
    close_run(&run);
}

static void
test_jobs_aside_are_counted(void **state)
{
    struct stage_run run;
    (void)state;
    open_run(&run, &fetch_spec);
    struct stage_job *job = start_job(&run, 1, 0);
    struct stage_job *other = start_job(&run, 2, 0);
    stage_set_aside(job, true);
    stage_set_aside(job, true);
    stage_set_aside(other, true);
    assert_int_equal(run.aside_count, 2);
    stage_set_aside(other, false);
    assert_int_equal(run.aside_count, 1);
    stage_done(job);
    assert_int_equal(run.aside_count, 0);
    stage_done(other);
    assert_int_equal(run.aside_count, 0);
    batch_advance(&run);
    answer(STATUS_OK);
    close_run(&run);
}

int
stage_batches_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flush_then_metadata_then_completion),
        cmocka_unit_test(test_verdicts_and_outputs),
        cmocka_unit_test(test_words_for_the_queue),
        cmocka_unit_test(test_answered_batches_are_freed),
        cmocka_unit_test(test_document_travels_in_the_job),
        cmocka_unit_test(test_yield_is_told_of_first_visits_of_documents),
        cmocka_unit_test(test_metadata_go_with_the_job_that_follows),
        cmocka_unit_test(test_metadata_go_with_jobs_to_the_node_that_keeps_them),
        cmocka_unit_test(test_other_metadata_are_put_at_once),
        cmocka_unit_test(test_what_a_suspect_brought_is_put_before_it_starts),
        cmocka_unit_test(test_revisits_stamp_no_generation),
        cmocka_unit_test(test_refused_messages_are_sent_again),
        cmocka_unit_test(test_flush_that_cannot_now_is_tried_again),
        cmocka_unit_test(test_what_cannot_go_on_ends_the_process),
        cmocka_unit_test(test_full_batches_leave_at_once),
        cmocka_unit_test(test_fetch_leaves_when_most_has_ended),
        cmocka_unit_test(test_stage_rests_after_a_flush),
        cmocka_unit_test(test_jobs_aside_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
