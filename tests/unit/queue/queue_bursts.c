/* Which jobs of one lane go out together (queue/ORDER.md, "Bursts"). */
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"

static int
setup(void **state)
{
    struct bench *bench = bench_new(NULL, NULL);
    bench_close(bench);
    bench->options.burst = 8;
    bench_open(bench);
    *state = bench;
    return 0;
}

static int
teardown(void **state)
{
    bench_free(*state);
    return 0;
}

static void
put_with(struct bench *bench, const char *uri, uint8_t priority)
{
    struct job job = a_job(STAGE_FETCH, uri);
    job.priority = priority;
    assert_int_equal(put_jobs(bench, &job, 1), STATUS_OK);
}

/* Reserves all that goes out, which must be so many, the first of them this one, and ends them. */
static void
check_burst(struct bench *bench, uint32_t count, const char *first)
{
    struct job jobs[16];
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), count);
    assert_true(slice_is(bench->jobs[0].uri, first));
    for (uint32_t i = 0; i < count; i++) {
        jobs[i] = bench->jobs[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        done(bench, "w", &jobs[i]);
    }
}

/* A plan must find what all sitemaps of its host have left, whichever ended first. */
static void
test_what_is_urgent_ends_before_what_is_less(void **state)
{
    struct bench *bench = *state;
    put_with(bench, "http://a.example/first", 128);
    check_burst(bench, 1, "http://a.example/first");
    put_with(bench, "http://a.example/p1", 128);
    put_with(bench, "http://a.example/plan", 97);
    put_with(bench, "http://a.example/p2", 200);
    put_with(bench, "http://a.example/s1", 96);
    put_with(bench, "http://a.example/s2", 96);
    check_burst(bench, 2, "http://a.example/s1");
    check_burst(bench, 1, "http://a.example/plan");
    check_burst(bench, 2, "http://a.example/p1");
}

/* Jobs that failed go behind others, so that pages that are well do not wait for those that may
 * never be; what went back without an attempt keeps its place. */
static void
test_what_failed_goes_behind_what_was_not_tried(void **state)
{
    struct bench *bench = *state;
    put_with(bench, "http://a.example/p1", 128);
    put_with(bench, "http://a.example/p2", 128);
    put_with(bench, "http://a.example/p3", 128);
    put_with(bench, "http://a.example/urgent", 97);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    give_back(bench, "w", &bench->jobs[0], 0, false);
    check_burst(bench, 1, "http://a.example/urgent");
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    assert_true(slice_is(bench->jobs[0].uri, "http://a.example/p1"));
    give_back(bench, "w", &bench->jobs[0], 0, true);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    assert_true(slice_is(bench->jobs[0].uri, "http://a.example/p1"));
    give_back(bench, "w", &bench->jobs[0], 0, false);
    check_burst(bench, 1, "http://a.example/p2");
    check_burst(bench, 2, "http://a.example/p3");
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);
}

/* Each lane that is due has a job out; no more go out than are asked for. */
static void
test_bursts_end_at_what_was_asked_for(void **state)
{
    enum { LANES = 3, PAGES = 4 };
    struct bench *bench = *state;
    char uri[64];
    for (int lane = 0; lane < LANES; lane++) {
        snprintf(uri, sizeof uri, "http://h%d.example/first", lane);
        put_with(bench, uri, 128);
        check_burst(bench, 1, uri);
    }
    for (int i = 0; i < LANES * PAGES; i++) {
        snprintf(uri, sizeof uri, "http://h%d.example/p%d", i % LANES, i / LANES);
        put_with(bench, uri, 128);
    }
    static const uint32_t asked[] = {5, 4, 3};
    for (size_t round = 0; round < sizeof asked / sizeof *asked; round++) {
        const uint32_t most = asked[round];
        struct job jobs[16];
        unsigned of_lane[LANES] = {0};
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, most), most);
        for (uint32_t i = 0; i < most; i++) {
            jobs[i] = bench->jobs[i];
            of_lane[jobs[i].uri.at[8] - '0']++;
        }
        for (int lane = 0; lane < LANES; lane++) {
            assert_true(of_lane[lane] > 0 || round > 0);
        }
        for (uint32_t i = 0; i < most; i++) {
            done(bench, "w", &jobs[i]);
        }
    }
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 16), 0);
}

int
queue_bursts_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_failed_goes_behind_what_was_not_tried, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_what_is_urgent_ends_before_what_is_less, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_bursts_end_at_what_was_asked_for, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
