/* Metadata of a stage's jobs (stages/skeleton/stage_metadata.c): which travel in the job that
 * follows, which go to another node, and which are put at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "metastore/record.h"
#include "tests/unit/stages_work/batch_stand_ins.h"
#include "tests/unit/stages_work/stage_batches.h"

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

/* So do those of all jobs of a batch, here and beside others that another node keeps. */
static void
test_metadata_go_with_every_job_of_a_batch(void **state)
{
    static const char *const nodes[] = {
        "node local", "node a queue=tcp://127.0.0.1:1 metastore=tcp://127.0.0.1:2\n"
                      "node b queue=tcp://127.0.0.1:3 metastore=tcp://127.0.0.1:4\n"};
    const struct document document = {.type = SLICE("text/turtle")};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct stage_run run;
        open_run_in(&run, &detect_spec, slice_string(nodes[i]), i == 0 ? NULL : "a");
        for (uint64_t id = 1; id <= BATCH; id++) {
            struct stage_job *job = start_job(&run, id, 0);
            job->job.generation = 1;
            meta_set_number(&job->meta, META_QUADS, id);
            stage_output_next(job, STAGE_INDEX, &document);
            stage_done(job);
        }
        batch_advance(&run);
        expect("complete 1:done>31/4.1 2:done>32/4.1 3:done>33/4.1; ");
        answer(STATUS_OK);
        close_run(&run);
    }
}

/* When there are several nodes, the metadata go with the job if it goes to the node that keeps
 * them, by itself or because it stays there; else they leave beside the job, for the node that
 * keeps them. */
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

/* What the stages before have found leaves beside the job, too, each as a job of its own. */
static void
test_what_was_brought_leaves_for_the_node_that_keeps_it(void **state)
{
    static const char nodes[] = "node a queue=tcp://127.0.0.1:1 metastore=tcp://127.0.0.1:2\n"
                                "node b queue=tcp://127.0.0.1:3 metastore=tcp://127.0.0.1:4\n";
    struct stage_run run;
    struct buf data;
    (void)state;
    buf_init(&data, TEXT);
    open_run(&run, &detect_spec);
    hand_on(&run, start_first_visit(&run, SLICE("")), STAGE_INDEX, &data);
    close_run(&run);
    open_run_in(&run, &detect_spec, slice_string(nodes), "a");
    const bool a_keeps =
        cluster_key_owner(run.cluster, SLICE("uhttp://h.example/1")) == cluster_self(run.cluster);
    close_run(&run);
    said[0] = '\0';
    struct buf unused;
    buf_init(&unused, TEXT);
    open_run_in(&run, &detect_spec, slice_string(nodes), a_keeps ? "b" : "a");
    hand_on(&run, start_first_visit(&run, buf_slice(&data)), STAGE_TRANSFORM, &unused);
    expect("complete 1:done>21/4.1>0metadata:/0.0>0metadata:/0.0; ");
    close_run(&run);
    buf_release(&unused);
    buf_release(&data);
}

/* Jobs that wait when the process ends are let go together. */
static void
test_jobs_that_wait_are_freed(void **state)
{
    const struct job job = {.uri = SLICE("http://h.example/1")};
    struct stage_run run;
    (void)state;
    open_run(&run, &detect_spec);
    struct held_job *first = held_job_new(&run, &job);
    first->next = held_job_new(&run, &job);
    first->next->next = NULL;
    held_jobs_free(first);
    held_jobs_free(NULL);
    close_run(&run);
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

/* A job that waits is started, but a suspect that brought something only when the store has that.
 */
static void
test_suspects_are_started_when_their_words_are_kept(void **state)
{
    struct stage_run run;
    struct buf data;
    (void)state;
    buf_init(&data, TEXT);
    open_run(&run, &detect_spec);
    hand_on(&run, start_first_visit(&run, SLICE("")), STAGE_TRANSFORM, &data);
    close_run(&run);
    open_run(&run, &started_spec);
    struct job jobs[2];
    for (size_t i = 0; i < 2; i++) {
        jobs[i] = (struct job){.key = {.stage = STAGE_EXTRACT, .id = 1 + i},
                               .uri = SLICE("http://h.example/1"),
                               .generation = 1,
                               .data = buf_slice(&data),
                               .deaths = i == 0};
        struct held_job *held = held_job_new(&run, &jobs[i]);
        *run.reserving.last = held;
        run.reserving.last = &held->next;
        run.reserving.waiting_count++;
    }
    struct held_job *suspect = run.reserving.waiting, *other = suspect->next;
    reserve_start(&run);
    expect("metadata uhttp://h.example/1.1/4; start 2; ");
    assert_int_equal(run.reserving.waiting_count, 0);
    assert_null(run.reserving.waiting);
    assert_ptr_equal(run.reserving.last, &run.reserving.waiting);
    assert_int_equal(run.jobs.running, 2);
    answer_metadata(STATUS_OK);
    expect("start 1; ");
    stage_done(&suspect->public);
    stage_done(&other->public);
    quiet = true;
    batch_advance(&run);
    quiet = false;
    answer_metadata(STATUS_OK);
    answer(STATUS_OK);
    close_run(&run);
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

int
stage_metadata_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metadata_go_with_the_job_that_follows),
        cmocka_unit_test(test_metadata_go_with_every_job_of_a_batch),
        cmocka_unit_test(test_metadata_go_with_jobs_to_the_node_that_keeps_them),
        cmocka_unit_test(test_what_was_brought_leaves_for_the_node_that_keeps_it),
        cmocka_unit_test(test_jobs_that_wait_are_freed),
        cmocka_unit_test(test_other_metadata_are_put_at_once),
        cmocka_unit_test(test_what_a_suspect_brought_is_put_before_it_starts),
        cmocka_unit_test(test_suspects_are_started_when_their_words_are_kept),
        cmocka_unit_test(test_revisits_stamp_no_generation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
