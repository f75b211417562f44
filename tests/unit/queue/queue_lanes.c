/* Lanes of hosts: one job at a time, rests, paces, the order of jobs, shares of sitemaps. */
#include "base/system/clock.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"

#define URI "http://example.org/"

static void
test_lane_lets_out_one_at_a_time(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI "a", 0);
    put_uri(bench, STAGE_FETCH, URI "b", 0);
    put_uri(bench, STAGE_FETCH, "http://example.com/", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 2);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);
    assert_int_equal(stats(bench).lanes_busy, 2);
}

static void
test_lane_rests_also_over_a_restart(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI "a", 0);
    put_uri(bench, STAGE_FETCH, URI "b", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    const struct completion completion = {.key = bench->jobs[0].key,
                                          .report = REPORT(.rest_ms = 60000, .address = 5)};
    complete(bench, "w", 1, &completion, 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);
    bench_restart(bench);
    touch(bench, "w", 1, NULL, 0);
    put_uri(bench, STAGE_FETCH, "http://example.com/", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    assert_true(slice_is(bench->jobs[0].uri, "http://example.com/"));
}

static void
test_priority_orders_a_lane(void **state)
{
    struct bench *bench = *state;
    struct job jobs[3] = {a_job(STAGE_FETCH, URI "a"), a_job(STAGE_FETCH, URI "b"),
                          a_job(STAGE_FETCH, URI "c")};
    jobs[1].priority = 1;
    assert_int_equal(put_jobs(bench, jobs, 3), STATUS_OK);
    static const char *const order[] = {URI "b", URI "a", URI "c"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
        assert_true(slice_is(bench->jobs[0].uri, order[i]));
        done(bench, "w", &bench->jobs[0]);
    }
}

/* Three of four jobs are a sitemap's, more urgent ones go before, and both kinds are used up. */
static void
test_share_divides_a_lane(void **state)
{
    struct bench *bench = *state;
    static const char *const order[] = {"r", "s1", "s2", "s3", "l1", "s4", "s5", "l2", "l3", "l4"};
    static const char *const uris[] = {URI "l1", URI "l2", URI "l3", URI "l4", URI "s1",
                                       URI "s2", URI "s3", URI "s4", URI "s5", URI "r"};
    struct job jobs[10];
    put_uri(bench, STAGE_FETCH, URI "first", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    const struct completion completion = {.key = bench->jobs[0].key, .share = 192};
    complete(bench, "w", 1, &completion, 1);
    for (int i = 0; i < 10; i++) {
        jobs[i] = a_job(STAGE_FETCH, uris[i]);
        jobs[i].flags = i >= 4 ? JOB_SITEMAP : 0;
        jobs[i].priority = i == 9 ? 1 : 130;
    }
    jobs[9].flags = 0;
    bench_restart(bench); /* the share is stored */
    touch(bench, "w", 1, NULL, 0);
    assert_int_equal(put_jobs(bench, jobs, 10), STATUS_OK);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
        assert_string_equal(bench->jobs[0].uri.at + strlen(URI), order[i]);
        done(bench, "w", &bench->jobs[0]);
    }
}

/* Groups and shares stay until others are told, also over a restart. */
static void
test_group_and_share_stay(void **state)
{
    struct bench *bench = *state;
    static const struct {
        uint64_t group;
        uint8_t share;
        uint64_t told_group;
        uint8_t told_share;
    } cases[] = {{5, 7, 5, 7}, {0, 0, 5, 7}, {6, 0, 6, 7}, {0, 8, 6, 8}};
    bench->options.group_parallel = 4; /* without a limit nobody needs to know groups */
    bench_restart(bench);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, URI "%zu", i);
        put_uri(bench, STAGE_FETCH, uri, 0);
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
        const struct completion completion = {
            .key = bench->jobs[0].key,
            .report = REPORT(.rest_ms = 1000, .address = cases[i].group),
            .share = cases[i].share};
        complete(bench, "w", 1, &completion, 1);
        clock_move(1000);
        for (int start = 0; start < 2; start++) {
            const struct queue_explanation found = look(bench, URI);
            assert_int_equal(found.group, cases[i].told_group);
            assert_int_equal(found.share, cases[i].told_share);
            bench_restart(bench);
            touch(bench, "w", 1, NULL, 0);
        }
    }
}

/* Only a lane that a sitemap has put something in is looked through for it. */
static void
test_lanes_know_of_sitemaps(void **state)
{
    struct bench *bench = *state;
    struct job listed = a_job(STAGE_FETCH, URI "listed");
    put_uri(bench, STAGE_FETCH, URI "first", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1); /* its row is read now */
    const struct job first = bench->jobs[0];
    put_uri(bench, STAGE_FETCH, URI "second", 0);
    done(bench, "w", &first);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    const struct job second = bench->jobs[0];
    put_uri(bench, STAGE_FETCH, URI "third", 0);
    const uint64_t before = look(bench, URI).listed;
    listed.flags = JOB_SITEMAP;
    listed.priority = 130;
    assert_int_equal(before, 0);
    assert_int_equal(put_jobs(bench, &listed, 1), STATUS_OK);
    assert_int_equal(look(bench, URI).listed, 1);
    done(bench, "w", &second);
}

/* Only so many jobs of a lane that a worker says it holds count as may be out. */
static void
test_a_lane_is_taken_once_after_a_restart(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI "a", 0);
    put_uri(bench, STAGE_FETCH, URI "b", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    struct job jobs[2] = {bench->jobs[0], bench->jobs[0]};
    jobs[1].key.id++; /* it has the other's */
    bench_restart(bench);
    touch(bench, "w", 1, jobs, 2);
    const struct answer *answer = &bench->answers[bench->tokens - 1];
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    assert_int_equal(codec_get_varint(&reader), 1); /* it is to drop one of them */
    assert_int_equal(stats(bench).stages[STAGE_FETCH].leased, 1);
    assert_int_equal(stats(bench).lanes_busy, 1);
}

/* ---- the pace of hosts ---- */

static struct pace
pace_of_next(struct bench *bench, const char *worker)
{
    struct pace pace;
    put_uri(bench, STAGE_FETCH, URI "next", 0);
    assert_int_equal(reserve(bench, worker, 1, STAGE_FETCH, 1), 1);
    assert_true(pace_decode(bench->jobs[0].pace, clock_wall_ms(), &pace));
    return pace;
}

static void
end_with(struct bench *bench, const struct host_report *report)
{
    const struct completion completion = {.key = bench->jobs[0].key,
                                          .verdict = VERDICT_RELEASE,
                                          .no_attempt = true,
                                          .report = report_of(report)};
    complete(bench, "w", 1, &completion, bench->jobs[0].attempt);
}

/* A report changes the pace by the rules; the lane rests so long; the next job has it, also after a
 * restart and for another worker. */
static void
test_paces_follow_reports_and_stay(void **state)
{
    struct bench *bench = *state;
    const struct host_report told = {
        .asked = true,
        .rules_known = true,
        .crawl_delay_ms = 1500,
        .address = 77,
        .observations = {{.what = OBSERVED_ANSWER, .milliseconds = 400},
                         {.what = OBSERVED_ANSWER | OBSERVED_TROUBLE, .retry_after_ms = 60000}},
        .count = 2};
    bench->options.pace = (struct pace_rules){.least_ms = 1000,
                                              .most_ms = 30000,
                                              .factor = 2,
                                              .crawl_delay_most_ms = 30000,
                                              .backoff_ms = 2000,
                                              .backoff_most_ms = 60000,
                                              .retry_after_most_ms = 50000};
    clock_stop();
    bench_restart(bench);
    assert_int_equal(pace_of_next(bench, "w").response_ms, 0);
    assert_int_equal(bench->jobs[0].pace.length, 0); /* nothing is known */
    end_with(bench, &told);
    const uint64_t ended_ms = clock_wall_ms();
    struct queue_explanation at = look(bench, URI);
    assert_int_equal(at.due_ms, ended_ms + 50000);
    assert_int_equal(at.group, 77);
    clock_move(40000);
    bench_restart(bench);
    touch(bench, "w", 1, NULL, 0);
    at = look(bench, URI);
    assert_int_equal(at.due_ms, ended_ms + 50000);
    assert_int_equal(at.response_ms, 400);
    assert_int_equal(at.crawl_delay_ms, 1500);
    assert_int_equal(at.troubles, 1);
    assert_int_equal(at.failures, 0);
    assert_int_equal(at.address_troubles, 0); /* that is not stored */
    assert_int_equal(at.quiet_until_ms, ended_ms + 50000);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 0);
    clock_move(10000);
    const struct pace pace = pace_of_next(bench, "v");
    assert_int_equal(pace.response_ms, 400);
    assert_int_equal(pace.crawl_delay_ms, 1500);
    assert_int_equal(pace.troubles, 1);
    assert_true(pace.answered);
    assert_int_equal(pace.until_ms, 0);
    assert_int_equal(pace.address, 77);
    clock_go();
}

/* Another host of the address rests for the troubles of the first. */
static void
test_troubles_of_an_address_go_out_with_its_hosts(void **state)
{
    struct bench *bench = *state;
    const struct host_report fails = {
        .asked = true,
        .address = 77,
        .observations = {{.what = OBSERVED_SILENCE | OBSERVED_TROUBLE}},
        .count = 1};
    const struct host_report is_there = {.address = 77};
    struct pace pace;
    bench->options.pace = (struct pace_rules){.backoff_ms = 2000, .backoff_most_ms = 60000};
    bench_restart(bench);
    (void)pace_of_next(bench, "w");
    end_with(bench, &fails);
    put_uri(bench, STAGE_FETCH, "http://other.example/", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 2), 1);
    assert_int_equal(bench->jobs[0].pace.length, 0); /* its address is not known */
    end_with(bench, &is_there);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 2), 1);
    assert_true(pace_decode(bench->jobs[0].pace, clock_wall_ms(), &pace));
    assert_int_equal(pace.address_troubles, 1);
    assert_int_equal(pace.troubles, 0);
    const struct host_report answers = {
        .asked = true, .address = 77, .observations = {{.what = OBSERVED_ANSWER}}, .count = 1};
    end_with(bench, &answers);
    assert_int_equal(look(bench, URI).address_troubles, 0);
    assert_int_equal(look(bench, URI).failures, 1);
}

/* Reports that are no such are refused with their completion. */
static void
test_damaged_reports_are_refused(void **state)
{
    struct bench *bench = *state;
    (void)pace_of_next(bench, "w");
    const struct completion damaged = {.key = bench->jobs[0].key, .report = SLICE("x")};
    submit_complete(bench, "w", 1, &damaged, 1);
    bench_work(bench);
    assert_int_equal(bench->answers[bench->tokens - 1].status, STATUS_BAD_INPUT);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].leased, 1);
}

int
queue_lanes_run(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_CASE(test_lane_lets_out_one_at_a_time),
        BENCH_CASE(test_lane_rests_also_over_a_restart),
        BENCH_CASE(test_priority_orders_a_lane),
        BENCH_CASE(test_share_divides_a_lane),
        BENCH_CASE(test_group_and_share_stay),
        BENCH_CASE(test_lanes_know_of_sitemaps),
        BENCH_CASE(test_a_lane_is_taken_once_after_a_restart),
        BENCH_CASE(test_paces_follow_reports_and_stay),
        BENCH_CASE(test_troubles_of_an_address_go_out_with_its_hosts),
        BENCH_CASE(test_damaged_reports_are_refused),
    };
    return cmocka_run_group_tests_name("queue lanes", tests, NULL, NULL);
}
