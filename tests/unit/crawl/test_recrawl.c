/* crawl/recrawl.h: estimates, intervals, budget; and policies beside each other on a simulated
 * web. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/crawl/recrawl_simulation.h"

static const double day = 86400;

/* The posterior after visits is that of a fine grid of rates. */
static void
beliefs_are_those_of_bayes_rule(void **state)
{
    static const struct {
        double elapsed;
        bool changed;
    } visits[] = {{1, true}, {0.2, false}, {5, true},   {0.5, false},
                  {2, true}, {9, true},    {0.1, false}};
    enum { POINTS = 20000 };
    struct recrawl_estimate estimate = recrawl_prior(3 * day, 0.5);
    double sum = 0, mean = 0;
    (void)state;
    for (size_t v = 0; v < sizeof visits / sizeof visits[0]; v++) {
        (visits[v].changed ? recrawl_changed : recrawl_unchanged)(&estimate,
                                                                  visits[v].elapsed * day);
    }
    for (int i = 0; i < POINTS; i++) { /* equal steps of log(rate): its density has one rate more */
        const double rate = exp(-25 + 20.0 * i / POINTS);
        double density = pow(rate, 0.5) * exp(-1.5 * day * rate);
        for (size_t v = 0; v < sizeof visits / sizeof visits[0]; v++) {
            const double none = exp(-rate * visits[v].elapsed * day);
            density *= visits[v].changed ? 1 - none : none;
        }
        sum += density;
        mean += density * rate;
    }
    assert_float_equal(recrawl_rate(&estimate) * day, mean / sum * day, 0.03 * mean / sum * day);
}

static void
worth_is_what_is_known_of_certain_rates(void **state)
{
    const struct recrawl_estimate certain = {1e6, 1e6 * day};
    (void)state;
    for (double x = 0.1; x < 10; x *= 2) { /* (1/rate)(1 - exp(-x)(1 + x)) */
        const double known = day * (1 - exp(-x) * (1 + x));
        assert_float_equal(recrawl_value(&certain, x * day), known, 1e-3 * known + 1e-3);
    }
}

static void
intervals_are_bounded_and_follow_change(void **state)
{
    struct recrawl_estimate calm = recrawl_prior(day, 0.5), lively = calm;
    (void)state;
    for (int i = 0; i < 20; i++) {
        recrawl_unchanged(&calm, day);
        recrawl_changed(&lively, day);
    }
    const double seldom = recrawl_interval(&calm, 3600, 60, 90 * day);
    const double often = recrawl_interval(&lively, 3600, 60, 90 * day);
    assert_true(seldom > 4 * often);
    assert_float_equal(recrawl_interval(&lively, 3600, 2 * often, 90 * day), 2 * often, 1);
    assert_float_equal(recrawl_interval(&calm, 3600, 60, seldom / 2), seldom / 2, 1);
    /* One that was calm for long and is lively now is found out in a few visits. */
    for (int i = 0; i < 300; i++) {
        recrawl_unchanged(&calm, 10 * day);
    }
    for (int i = 0; i < 12; i++) {
        recrawl_changed(&calm, recrawl_interval(&calm, 3600, 60, 90 * day));
    }
    assert_true(recrawl_interval(&calm, 3600, 60, 90 * day) < 5 * day);
}

static void
budgets_hold(void **state)
{
    struct recrawl_budget budget = {
        .per_second = 2, .threshold_least = 60, .window = day, .patience = 30};
    double now = 0, wait;
    unsigned done = 0;
    (void)state;
    recrawl_budget_start(&budget, now);
    for (int i = 0; i < 100000; i++, now += 0.1) {
        done += recrawl_budget_take(&budget, now, &wait);
        assert_true(wait <= 32);
    }
    assert_in_range(done, 19900, 20100); /* of ten a second two */
    assert_true(budget.threshold > 61);
    for (int i = 0; i < 1000; i++, now += 100) {
        assert_true(recrawl_budget_take(&budget, now, &wait));
        assert_true(wait == 0 || i == 0);
    }
    assert_true(budget.threshold < 61);
    budget.per_second = 0;
    assert_true(recrawl_budget_take(&budget, now, &wait));
}

static struct simulated
run(enum policy policy, enum sitemaps sitemaps, double per_day)
{
    const struct simulation of = {.documents = 1000,
                                  .days = 28,
                                  .per_day = per_day,
                                  .policy = policy,
                                  .sitemaps = sitemaps,
                                  .evidence = sitemaps != SITEMAPS_NONE,
                                  .seed = 7};
    return simulate(&of);
}

/* Each is measured beside the fixed interval that takes as many requests. */
static void
a_simulated_web_is_kept_fresher(void **state)
{
    (void)state;
    const struct simulated ours = run(POLICY_OURS, SITEMAPS_NONE, 1);
    const double per_day = (double)ours.requests / 28 / 1000;
    const struct simulated fixed = run(POLICY_FIXED, SITEMAPS_NONE, per_day);
    const struct simulated best = run(POLICY_ORACLE, SITEMAPS_NONE, per_day);
    const struct simulated honest = run(POLICY_OURS, SITEMAPS_HONEST, 1);
    const struct simulated lying = run(POLICY_OURS, SITEMAPS_LYING, 1);
    print_message("freshness: fixed %.3f ours %.3f optimal %.3f honest %.3f lying %.3f\n",
                  fixed.freshness, ours.freshness, best.freshness, honest.freshness,
                  lying.freshness);
    assert_true(ours.requests <= 28000 * 1.01);
    assert_true(ours.freshness > fixed.freshness + 0.02);
    assert_true(ours.freshness > best.freshness - 0.05);
    assert_true(ours.age_hours < fixed.age_hours);
    assert_true(honest.freshness > ours.freshness + 0.02);
    assert_true(lying.freshness > ours.freshness - 0.03);
    assert_true(honest.spared > 1000 && lying.spared * 10 < honest.spared);
}

static void
names_of_periods_and_trust(void **state)
{
    (void)state;
    assert_float_equal(recrawl_period_named(SLICE("Daily")), day, 0);
    assert_float_equal(recrawl_period_named(SLICE("often")), 0, 0);
    assert_float_equal(recrawl_trust(0, 0), 0.5, 0);
    assert_true(recrawl_believes(recrawl_trust(0, 0), 1));
    assert_false(recrawl_believes(recrawl_trust(3, 9), 1));
    assert_true(recrawl_believes(recrawl_trust(3, 9), 64));
}

static void
what_sitemaps_say_is_weighed(void **state)
{
    unsigned spared = 0;
    (void)state;
    assert_false(recrawl_foretells(86400, 59000)); /* ln 2 days are 59,886 s */
    assert_true(recrawl_foretells(86400, 60000));
    for (uint64_t i = 0; i < 800; i++) {
        spared += recrawl_spares(18, 0, i); /* 19 of 20 */
        assert_false(recrawl_spares(17, 0, i));
        assert_false(recrawl_spares(100, 6, i));
    }
    assert_int_equal(spared, 700);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beliefs_are_those_of_bayes_rule),
        cmocka_unit_test(worth_is_what_is_known_of_certain_rates),
        cmocka_unit_test(intervals_are_bounded_and_follow_change),
        cmocka_unit_test(budgets_hold),
        cmocka_unit_test(a_simulated_web_is_kept_fresher),
        cmocka_unit_test(names_of_periods_and_trust),
        cmocka_unit_test(what_sitemaps_say_is_weighed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
