/* Ranks and budgets number by number (queue/frontier/priority.c): each part of a rank by its
 * formula, bounds of yields, poor hosts, and how levels leak. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "queue/frontier/priority.h"
#include "tests/unit/queue/queue_suites.h"

static struct job
job_of(const char *uri, uint16_t depth)
{
    return (struct job){
        .key.stage = STAGE_FETCH, .uri = slice_string(uri), .priority = 128, .depth = depth};
}

static void
is_nearly(double found, double expected)
{
    if (fabs(found - expected) > 1e-9) {
        fail_msg("%f, not %f", found, expected);
    }
}

/* The parts of a rank, each by its formula (docs and priority.h). */
static void
test_parts_of_ranks(void **state)
{
    enum { USUAL = 128, MIDDLE = 48 };
    static const struct {
        uint16_t depth;
        unsigned linking;
        double depth_cost, links_gain;
    } cases[] = {{0, 0, 0, 0},     {1, 1, 2, 6},     {3, 3, 6, 12},     {15, 7, 30, 18},
                 {16, 15, 32, 24}, {17, 16, 32, 24}, {999, 999, 32, 24}};
    struct priorities *priorities = priority_new(0, 1);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct job job = job_of("http://a.example/x/1", cases[i].depth);
        const struct priority_parts parts = priority_parts(priorities, &job, cases[i].linking);
        is_nearly(parts.depth_cost, cases[i].depth_cost);
        is_nearly(parts.links_gain, cases[i].links_gain);
        is_nearly(parts.yield_gain, 0);
        is_nearly(parts.mean_all + parts.mean_host + parts.mean_pattern, 0);
        is_nearly(parts.rank, USUAL + MIDDLE + cases[i].depth_cost - cases[i].links_gain);
        assert_int_equal(parts.fetches_host + parts.fetches_pattern, 0);
        assert_int_equal(priority_rank(priorities, &job, cases[i].linking), lround(parts.rank));
    }
    struct job job = job_of("http://a.example/x/1", 0);
    job.priority = 0;
    assert_int_equal(priority_rank(priorities, &job, 0), RANK_USUAL); /* none goes before it */
    /* Three quads are two doublings, none is none; here, on the host, and everywhere. */
    priority_yielded(priorities, SLICE("http://a.example/x/2"), 3);
    priority_yielded(priorities, SLICE("http://b.example/y/2"), 0);
    const double host = (8 * 1.0 + 2) / 9, here = (8 * host + 2) / 9;
    const struct priority_parts parts = priority_parts(priorities, &job, 0);
    is_nearly(parts.mean_all, 1);
    is_nearly(parts.mean_host, host);
    is_nearly(parts.mean_pattern, here);
    is_nearly(parts.yield_gain, 8 * (here - 1));
    is_nearly(parts.rank, MIDDLE - parts.yield_gain);
    assert_int_equal(parts.fetches_host, 1);
    assert_int_equal(parts.fetches_pattern, 1);
    priority_free(priorities);
}

/* What a pattern yields is worth four doublings at most; of many fetches the older ones weigh half.
 */
static void
test_yields_have_bounds(void **state)
{
    enum { MOST = 1024, GAIN_MOST = 32 };
    const struct job rich = job_of("http://a.example/x/1", 0);
    const struct job poor = job_of("http://b.example/x/1", 0);
    struct priorities *priorities = priority_new(0, 1);
    (void)state;
    for (unsigned i = 1; i <= MOST + 1; i++) {
        priority_yielded(priorities, SLICE("http://a.example/x/1"), 65535); /* 16 doublings */
        const struct priority_parts parts = priority_parts(priorities, &rich, 0);
        assert_int_equal(parts.fetches_pattern, i <= MOST ? i : MOST / 2 + 1);
        is_nearly(parts.mean_all, 16);
        is_nearly(parts.mean_pattern, 16);
    }
    for (unsigned i = 0; i < MOST; i++) {
        priority_yielded(priorities, SLICE("http://b.example/x/1"), 0);
        priority_yielded(priorities, SLICE("http://a.example/x/1"), 65535);
    }
    is_nearly(priority_parts(priorities, &rich, 0).yield_gain, GAIN_MOST);
    is_nearly(priority_parts(priorities, &poor, 0).yield_gain, -GAIN_MOST);
    priority_free(priorities);
}

/* A host is poor when 64 of its documents had a quarter of what is usual: it goes slower by one. */
static void
test_poor_hosts_go_slower(void **state)
{
    enum { FETCHES = 64, OTHERS = 900 };
    const struct slice poor = SLICE("http://poor.example/1");
    struct priorities *priorities = priority_new(0, 1);
    (void)state;
    for (int i = 0; i < OTHERS; i++) {
        priority_yielded(priorities, SLICE("http://rich.example/1"), 15); /* four doublings */
    }
    for (int i = 0; i < FETCHES; i++) {
        assert_false(priority_is_poor(priorities, poor));
        assert_int_equal(priority_speed(priorities, poor, 1000), 0);
        priority_yielded(priorities, poor, 0);
    }
    assert_true(priority_is_poor(priorities, poor));
    assert_int_equal(priority_speed(priorities, poor, 1000), 1);
    assert_false(priority_is_poor(priorities, SLICE("http://rich.example/1")));
    assert_false(priority_is_poor(priorities, SLICE("http://new.example/1")));
    assert_true(priority_level(priorities, poor, 1000) == 0);
    priority_free(priorities);
    /* Exactly two doublings fewer are poor, a little less is not. */
    for (uint64_t quads = 0; quads < 2; quads++) {
        priorities = priority_new(0, 1);
        for (int i = 0; i < FETCHES; i++) {
            priority_yielded(priorities, poor, quads);
            priority_yielded(priorities, SLICE("http://rich.example/1"), 15);
        }
        assert_int_equal(priority_is_poor(priorities, poor), quads == 0);
        priority_free(priorities);
    }
}

/* What was spent leaks at the rate of the budget; the hosts of a domain share it. */
static void
test_levels_of_budgets(void **state)
{
    enum { BUDGET = 10, PERIOD_S = 100 };
    const struct slice one = SLICE("http://one.spam.example/"),
                       two = SLICE("http://two.spam.example/");
    const uint64_t now_ms = 5000000000;
    struct priorities *priorities = priority_new(BUDGET, PERIOD_S * 1000);
    (void)state;
    for (int i = 0; i < 8 * BUDGET; i++) {
        is_nearly(priority_level(priorities, two, now_ms), i);
        priority_spend(priorities, i % 2 ? one : two, now_ms);
    }
    is_nearly(priority_level(priorities, SLICE("http://other.example/"), now_ms), 0);
    is_nearly(priority_level(priorities, one, now_ms - 5000), 8 * BUDGET); /* clocks may go back */
    is_nearly(priority_level(priorities, one, now_ms + 999), 8 * BUDGET);
    is_nearly(priority_level(priorities, one, now_ms + PERIOD_S * 1000), 7 * BUDGET);
    is_nearly(priority_level(priorities, one, now_ms + 8 * PERIOD_S * 1000), 0);
    is_nearly(priority_level(priorities, one, now_ms + 9 * PERIOD_S * 1000), 0);
    static const struct {
        unsigned periods;
        uint8_t speed;
    } speeds[] = {{0, 3}, {4, 3}, {5, 2}, {6, 2}, {7, 1}, {8, 0}};
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
        assert_int_equal(
            priority_speed(priorities, one, now_ms + (uint64_t)speeds[i].periods * PERIOD_S * 1000),
            speeds[i].speed);
    }
    priority_spend(priorities, one, now_ms + 9 * PERIOD_S * 1000);
    is_nearly(priority_level(priorities, two, now_ms + 9 * PERIOD_S * 1000), 1);
    priority_free(priorities);
    priorities = priority_new(0, 1000); /* without a budget nothing is counted */
    priority_spend(priorities, one, now_ms);
    is_nearly(priority_level(priorities, one, now_ms), 0);
    priority_free(priorities);
}

int
rank_parts_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_ranks),
        cmocka_unit_test(test_yields_have_bounds),
        cmocka_unit_test(test_poor_hosts_go_slower),
        cmocka_unit_test(test_levels_of_budgets),
    };
    return cmocka_run_group_tests_name("rank parts", tests, NULL, NULL);
}
