/* These tests are of what is known of URIs: put again, nearer, out of a dump, to be crawled again.
 */
#include "base/system/clock.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"

#define URI "http://example.org/"

static void
test_put_again_is_nothing(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI, 3);
    put_uri(bench, STAGE_FETCH, URI, 3);
    put_uri(bench, STAGE_FETCH, URI, 4);
    bench_restart(bench);
    put_uri(bench, STAGE_FETCH, URI, 3);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].put, 1);
    assert_int_equal(stats(bench).seen, 1);
}

static void
test_smaller_depth_before_the_fetch_is_done(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI, 5);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    const struct job job = bench->jobs[0];
    assert_int_equal(job.depth, 5);
    put_uri(bench, STAGE_FETCH, URI, 2);
    assert_int_equal(stats(bench).stages[STAGE_EXTRACT].ready, 0);
    pass_on(bench, "w", &job);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    assert_int_equal(bench->jobs[0].depth, 2);
}

static void
test_smaller_depth_after_the_fetch(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI, 5);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    pass_on(bench, "w", &bench->jobs[0]);
    put_uri(bench, STAGE_FETCH, URI, 2); /* while it waits for detect */
    assert_int_equal(reserve(bench, "w", 1, STAGE_EXTRACT, 10), 1);
    assert_int_equal(bench->jobs[0].flags, JOB_REVISIT);
    assert_int_equal(bench->jobs[0].depth, 2);
    done(bench, "w", &bench->jobs[0]);
    /* the ordinary extract job comes later and has the small depth */
    put_uri(bench, STAGE_EXTRACT, URI, 5);
    assert_int_equal(reserve(bench, "w", 1, STAGE_EXTRACT, 10), 1);
    assert_int_equal(bench->jobs[0].depth, 2);
}

static void
test_depths_in_one_round(void **state)
{
    struct bench *bench = *state;
    struct job jobs[3] = {a_job(STAGE_FETCH, URI), a_job(STAGE_FETCH, URI),
                          a_job(STAGE_FETCH, URI)};
    jobs[0].depth = 5;
    jobs[1].depth = 3;
    jobs[2].depth = 4;
    assert_int_equal(put_jobs(bench, jobs, 3), STATUS_OK);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    pass_on(bench, "w", &bench->jobs[0]);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 10), 1);
    assert_int_equal(bench->jobs[0].depth, 3);
}

/* A document out of a dump goes to the index in its order among fetches of the same URI. */
static void
test_slices_take_the_next_generation(void **state)
{
    struct bench *bench = *state;
    struct job slice = a_job(STAGE_FETCH, URI);
    slice.flags = JOB_SLICE;
    slice.depth = 7;
    slice.data = SLICE("where its quads are");
    assert_int_equal(put_jobs(bench, &slice, 1), STATUS_OK);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_INDEX, 10), 1);
    assert_int_equal(bench->jobs[0].generation, 1);
    assert_int_equal(bench->jobs[0].depth, 7);
    assert_true(slice_is(bench->jobs[0].data, "where its quads are"));
    done(bench, "w", &bench->jobs[0]);
    put_uri(bench, STAGE_FETCH, URI, 7); /* known, and fetched in a way */
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);

    /* A fetch that began before the slice came is older than it. */
    struct job again = a_job(STAGE_FETCH, URI);
    again.flags = JOB_RECRAWL;
    assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    assert_int_equal(bench->jobs[0].generation, 2);
    const struct job fetch = bench->jobs[0];
    assert_int_equal(put_jobs(bench, &slice, 1), STATUS_OK);
    done(bench, "w", &fetch);
    assert_int_equal(reserve(bench, "w", 1, STAGE_INDEX, 10), 1);
    assert_int_equal(bench->jobs[0].generation, 3);
    done(bench, "w", &bench->jobs[0]);

    /* The URI is free to be fetched again. */
    assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    assert_int_equal(bench->jobs[0].generation, 4);
}

/* A page that waits, since a link led to it before its slice came, is not fetched any more. */
static void
test_slices_spare_the_fetch_that_waits(void **state)
{
    struct bench *bench = *state;
    struct job slice = a_job(STAGE_FETCH, URI);
    slice.flags = JOB_SLICE;
    slice.depth = 7;
    put_uri(bench, STAGE_FETCH, URI, 2);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].ready, 1);
    assert_int_equal(put_jobs(bench, &slice, 1), STATUS_OK);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].ready, 0);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].done, 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_INDEX, 10), 1);
    assert_int_equal(bench->jobs[0].generation, 2);
    assert_int_equal(bench->jobs[0].depth, 2);
    assert_int_equal(put_jobs(bench, &slice, 1), STATUS_OK); /* a repetition */
    assert_int_equal(stats(bench).stages[STAGE_FETCH].done, 1);
    /* The same when a sitemap lists it, also after a restart; links do not move that one. */
    struct job listed = a_job(STAGE_FETCH, "http://host/listed");
    listed.flags = JOB_SITEMAP;
    listed.priority = 140;
    assert_int_equal(put_jobs(bench, &listed, 1), STATUS_OK);
    struct job link = a_job(STAGE_FETCH, "http://host/listed");
    for (int i = 0; i < 8; i++) {
        char via[64];
        snprintf(via, sizeof via, "http://www.domain%d.example/", i);
        link.via = slice_string(via);
        assert_int_equal(put_jobs(bench, &link, 1), STATUS_OK);
    }
    bench_close(bench);
    bench_open(bench);
    touch(bench, "w", 1, NULL, 0);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].ready, 1);
    slice.uri = listed.uri;
    assert_int_equal(put_jobs(bench, &slice, 1), STATUS_OK);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].ready, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);
}

/* Two slices of a page that waits, and a link to it, come together: its fetch is spared once, and
 * nothing brings it back. */
static void
test_slices_that_come_together_spare_a_fetch_once(void **state)
{
    struct bench *bench = *state;
    struct job jobs[3];
    put_uri(bench, STAGE_FETCH, URI, 2);
    put_uri(bench, STAGE_FETCH, "http://host/other", 2);
    for (size_t i = 0; i < 3; i++) {
        jobs[i] = a_job(STAGE_FETCH, URI);
        jobs[i].flags = i < 2 ? JOB_SLICE : 0;
        jobs[i].depth = 2;
        jobs[i].via = i < 2 ? SLICE("") : SLICE("http://linking.example/");
    }
    assert_int_equal(put_jobs(bench, jobs, 3), STATUS_OK);
    const struct queue_stats now = stats(bench);
    assert_int_equal(now.stages[STAGE_FETCH].ready, 1);
    assert_int_equal(now.stages[STAGE_FETCH].done, 1);
    assert_int_equal(now.stages[STAGE_INDEX].ready, 2);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    assert_true(slice_is(bench->jobs[0].uri, "http://host/other"));
    assert_int_equal(reserve(bench, "w", 1, STAGE_INDEX, 10), 2);
    assert_int_equal(bench->jobs[0].generation, 2);
    assert_int_equal(bench->jobs[1].generation, 3);
}

/* A broker that was started anew knows of no lease: the slice of a page that is out, and word of
 * how its fetch ended, come in one round. The fetch ends once, whatever became of it. */
static void
test_a_spared_fetch_ends_once(void **state)
{
    static const enum verdict verdicts[] = {VERDICT_DONE, VERDICT_RELEASE, VERDICT_BURY};
    struct bench *bench = *state;
    bench->options.grace_ms = 0;
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, "http://host/%zu", i);
        struct job slice = a_job(STAGE_FETCH, uri);
        slice.flags = JOB_SLICE;
        put_uri(bench, STAGE_FETCH, uri, 2);
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
        const struct completion end = {.key = bench->jobs[0].key, .verdict = verdicts[i]};
        bench_restart(bench);
        bench_work(bench);
        struct buf *payload = bench_payload(bench);
        codec_put_varint(payload, 1);
        message_put_new(payload, &slice);
        (void)bench_submit(bench, "test", 1, QUEUE_PUT, 0);
        submit_complete(bench, "w", 1, &end, 1);
        bench_work(bench);
        assert_int_equal(bench->answers[bench->tokens - 1].status, STATUS_OK);
        const struct queue_stats now = stats(bench);
        assert_int_equal(now.stages[STAGE_FETCH].ready, 0);
        assert_int_equal(now.stages[STAGE_FETCH].delayed, 0);
        assert_int_equal(now.stages[STAGE_FETCH].leased, 0);
        assert_int_equal(now.stages[STAGE_FETCH].buried, 0);
        assert_int_equal(now.stages[STAGE_FETCH].released, 0);
        assert_int_equal(now.stages[STAGE_FETCH].done, i + 1);
        assert_int_equal(now.stages[STAGE_INDEX].ready, i + 1);
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);
    }
}

static void
test_recrawl(void **state)
{
    struct bench *bench = *state;
    struct job again = a_job(STAGE_FETCH, URI);
    again.flags = JOB_RECRAWL;
    put_uri(bench, STAGE_FETCH, URI, 0);
    assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK); /* one is on its way */
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    pass_on(bench, "w", &bench->jobs[0]);
    again.due_ms = clock_wall_ms() + 100000;
    assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK);
    assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK); /* a repetition */
    assert_int_equal(stats(bench).stages[STAGE_FETCH].scheduled, 1);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].delayed, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);
    char text[1024] = "";
    assert_int_equal(peek(bench, STAGE_FETCH, "scheduled", text), 1);
    assert_int_equal(peek(bench, STAGE_FETCH, "delayed", text), 0);
}

static void
test_recrawl_has_a_larger_generation(void **state)
{
    struct bench *bench = *state;
    struct job again = a_job(STAGE_FETCH, URI);
    again.flags = JOB_RECRAWL;
    put_uri(bench, STAGE_FETCH, URI, 0);
    for (uint64_t generation = 1; generation < 5; generation++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
        assert_int_equal(bench->jobs[0].generation, generation);
        const struct completion completion = {
            .key = bench->jobs[0].key, .outputs = &again, .output_count = 1};
        complete(bench, "w", 1, &completion, 1);
    }
}

/* A depth that was once known is not forgotten by a visit that was asked for from further away. */
static void
test_recrawl_keeps_the_smaller_depth(void **state)
{
    struct bench *bench = *state;
    struct job again = a_job(STAGE_FETCH, URI);
    again.flags = JOB_RECRAWL;
    again.depth = 9;
    put_uri(bench, STAGE_FETCH, URI, 2);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    done(bench, "w", &bench->jobs[0]);
    assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    assert_int_equal(bench->jobs[0].depth, 2);
}

/* The daemon was restarted and has not heard who holds what. */
static void
test_recrawl_ends_without_a_lease(void **state)
{
    struct bench *bench = *state;
    struct job again = a_job(STAGE_FETCH, URI);
    again.flags = JOB_RECRAWL;
    put_uri(bench, STAGE_FETCH, URI, 0);
    for (uint64_t generation = 1; generation < 4; generation++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
        assert_int_equal(bench->jobs[0].generation, generation);
        const struct job job = bench->jobs[0];
        bench_restart(bench);
        done(bench, "w", &job);
        touch(bench, "w", 1, NULL, 0);
        assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK);
    }
}

int
queue_seen_run(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_CASE(test_put_again_is_nothing),
        BENCH_CASE(test_smaller_depth_before_the_fetch_is_done),
        BENCH_CASE(test_smaller_depth_after_the_fetch),
        BENCH_CASE(test_depths_in_one_round),
        BENCH_CASE(test_slices_take_the_next_generation),
        BENCH_CASE(test_slices_spare_the_fetch_that_waits),
        BENCH_CASE(test_slices_that_come_together_spare_a_fetch_once),
        BENCH_CASE(test_a_spared_fetch_ends_once),
        BENCH_CASE(test_recrawl),
        BENCH_CASE(test_recrawl_has_a_larger_generation),
        BENCH_CASE(test_recrawl_keeps_the_smaller_depth),
        BENCH_CASE(test_recrawl_ends_without_a_lease),
    };
    return cmocka_run_group_tests_name("queue seen", tests, NULL, NULL);
}
