/* How a stage's jobs end (stages/skeleton/stage_batch.c): the order flush, metadata, completion;
 * what each message says; what happens when one of the three is refused; when a batch leaves. */
#include "tests/unit/stages_work/stage_batches.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "metastore/record.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/stages_work/batch_stand_ins.h"

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
    assert_int_equal(run.batches.ended_count, 0);
    expect("flush 2 1; metadata hhttp://h.example.0 hhttp://i.example.0 hhttp://j.example.0 "
           "uhttp://h.example/1.7/4; ");
    answer_metadata(STATUS_OK);
    expect("complete 2:done 1:done; ");
    assert_int_equal(run.batches.under_way, 1);
    answer(STATUS_OK);
    assert_int_equal(run.jobs.totals[VERDICT_DONE], 2);
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
    stage_report_host(done, SLICE("busy"));
    stage_set_lane_share(done, 128);
    stage_done(done);
    stage_release(released, 300, false, "server %d", 5);
    stage_bury(buried, "a %s", "bomb");
    batch_advance(&run);
    expect("complete 1:done>21/4.7>21/4.7>21/4.7>21/4.7>21/4.7>21/4.7{busy,128} "
           "2:release(server 5,300,no attempt) 3:bury(a bomb,0); ");
    assert_int_equal(run.jobs.totals[VERDICT_DONE], 1);
    assert_int_equal(run.jobs.totals[VERDICT_RELEASE], 1);
    assert_int_equal(run.jobs.totals[VERDICT_BURY], 1);
    answer(STATUS_OK);
    close_run(&run);
}

/* The queue is told what fetch says of a host, under which scope links were judged, and as what a
 * job counts. */
static void
test_words_for_the_queue(void **state)
{
    struct stage_run run;
    char cause[] = "refused";
    (void)state;
    open_run(&run, &fetch_spec);
    struct stage_job *job = start_job(&run, 1, 0);
    stage_report_host(job, slice_string(cause));
    memset(cause, 'x', sizeof cause - 1); /* the job has a copy */
    stage_set_scope(job, 9);
    stage_count_as(job, OUTCOME_GONE);
    stage_done(job);
    batch_advance(&run);
    char expected[64];
    snprintf(expected, sizeof expected, "complete 1:done{refused,0}[%d 9]; ", (int)OUTCOME_GONE);
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
        run.batches.most = BATCH;
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

/* A later stage gets the same document, and of the headers only what has room. */
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
    assert_int_equal(run.batches.under_way, 1);
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
    assert_int_equal(run.batches.held, 1);
    pass_time(&run, 999);
    expect("");
    pass_time(&run, 1);
    expect("flush 1; ");
    assert_int_equal(run.batches.held, 1);
    flush_status = STATUS_OK;
    pass_time(&run, 1000);
    expect("flush 1; complete 1:done; ");
    assert_int_equal(run.batches.held, 0);
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
    assert_int_equal(run.batches.under_way, 2);
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
    assert_int_equal(run.batches.under_way, 4);
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

/* What a full batch leaves behind gathers with what comes, for longer while that batch is under
 * way. */
static void
test_what_a_batch_leaves_waits_for_the_next(void **state)
{
    struct stage_run run;
    (void)state;
    open_run(&run, &detect_spec);
    end_some(&run, 1, BATCH + 1);
    batch_advance(&run);
    expect("complete 1:done 2:done 3:done; ");
    assert_int_equal(run.batches.ended_count, 1);
    assert_int_equal(batch_wait_ms(&run), DELAY_MS);
    end_some(&run, 5, 1);
    now_ms += DELAY_MS;
    batch_advance(&run);
    expect("complete 4:done 5:done; ");
    answer(STATUS_OK);
    answer(STATUS_OK);
    end_some(&run, 6, 1); /* none is under way */
    assert_int_equal(batch_wait_ms(&run), 0);
    batch_advance(&run);
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
    run.batches.most = 10;
    run.reserving.again_ms = 77;
    struct stage_job *jobs[4];
    for (uint64_t i = 0; i < 4; i++) {
        jobs[i] = start_job(&run, i + 1, 0);
    }
    stage_done(jobs[0]);
    assert_int_equal(batch_wait_ms(&run), GATHER_MS); /* one of four */
    run.reserving.waiting_count = 1;
    stage_done(jobs[1]);
    assert_int_equal(batch_wait_ms(&run), GATHER_MS); /* two, and two are worked on and one waits */
    run.reserving.waiting_count = 0;
    assert_int_equal(batch_wait_ms(&run), 0);
    batch_advance(&run);
    expect("complete 1:done 2:done; ");
    answer(STATUS_OK);
    assert_int_equal(run.reserving.again_ms, 0); /* lanes may have more */
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
    run.batches.rest_most_ms = REST_MS;
    run.reserving.again_ms = 77;
    end_some(&run, 1, 2);
    batch_advance(&run);
    expect("flush 1 2; complete 1:done 2:done; ");
    answer(STATUS_OK);
    end_some(&run, 3, 1);
    assert_int_equal(batch_wait_ms(&run), 8);     /* four for each job */
    assert_int_equal(run.reserving.again_ms, 77); /* only lanes of fetch wait for the queue */
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
    run.batches.rest_least_ms = REST_LEAST_MS; /* at least, however few they are */
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

/* What a job says of its document carries how deep that lies, and the generation of the visit, of
 * the content or of both: fetch tells of each visit, and of content only where it hands something
 * on. A job that says nothing, or goes through the document again, adds none. */
static void
test_words_carry_generations(void **state)
{
    static const struct {
        const struct stage_spec *spec;
        uint8_t flags;
        bool says, hands_on, later, visit, content;
    } rows[] = {{&fetch_spec, 0, true, false, false, true, false},
                {&fetch_spec, 0, true, false, true, true, false},
                {&fetch_spec, 0, true, true, false, true, true},
                {&fetch_spec, 0, true, true, true, true, true},
                {&fetch_spec, JOB_REVISIT, true, true, false, false, false},
                {&fetch_spec, 0, false, true, false, false, false},
                {&index_spec, 0, true, false, false, false, true},
                {&extract_spec, JOB_SEED, true, true, false, false, true},
                {&extract_spec, JOB_REVISIT, true, false, false, false, false},
                {&extract_spec, 0, false, false, false, false, false}};
    const struct document document = {.type = SLICE("text/turtle")};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stage_run run;
        struct meta_update wanted;
        meta_update_init(&wanted);
        open_run(&run, rows[i].spec);
        struct stage_job *job = start_job(&run, 1, rows[i].flags);
        if (rows[i].says) {
            meta_set_number(&job->meta, META_HTTP_STATUS, 200);
            meta_set_number(&wanted, META_HTTP_STATUS, 200);
        }
        if (rows[i].later) {
            stage_output_later(job, STAGE_FETCH, &document, 99);
        }
        if (rows[i].hands_on) {
            stage_output_next(job, STAGE_DETECT, &document);
        }
        if (rows[i].visit) {
            meta_set_number(&wanted, META_GENERATION, 7);
        }
        if (rows[i].content) {
            meta_set_number(&wanted, META_CONTENT, 7);
        }
        if (rows[i].visit || rows[i].content) {
            meta_set_number(&wanted, META_DEPTH, 4);
        }
        stage_done(job);
        quiet = true;
        batch_advance(&run);
        quiet = false;
        assert_true(slice_equal(buf_slice(&job->meta.fields), meta_update_fields(&wanted)));
        meta_update_release(&wanted);
        if (rows[i].says) {
            answer_metadata(STATUS_OK);
        }
        answer(STATUS_OK);
        close_run(&run);
    }
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
    assert_int_equal(run.jobs.aside, 2);
    stage_set_aside(other, false);
    assert_int_equal(run.jobs.aside, 1);
    stage_done(job);
    assert_int_equal(run.jobs.aside, 0);
    stage_done(other);
    assert_int_equal(run.jobs.aside, 0);
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
        cmocka_unit_test(test_refused_messages_are_sent_again),
        cmocka_unit_test(test_flush_that_cannot_now_is_tried_again),
        cmocka_unit_test(test_what_cannot_go_on_ends_the_process),
        cmocka_unit_test(test_full_batches_leave_at_once),
        cmocka_unit_test(test_what_a_batch_leaves_waits_for_the_next),
        cmocka_unit_test(test_fetch_leaves_when_most_has_ended),
        cmocka_unit_test(test_stage_rests_after_a_flush),
        cmocka_unit_test(test_words_carry_generations),
        cmocka_unit_test(test_jobs_aside_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
