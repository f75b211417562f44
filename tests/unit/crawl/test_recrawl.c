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

/* Shape 2 and rate 100 after 100 s with a change: the moments of the posterior by hand are 7/300
 * and 7.5e-4. */
static void
a_change_is_weighed_by_its_moments(void **state)
{
    struct recrawl_estimate estimate = {2, 100}, least = estimate;
    (void)state;
    recrawl_changed(&estimate, 100);
    assert_float_equal(estimate.changes, 98.0 / 37, 1e-9);
    assert_float_equal(estimate.seconds, 4200.0 / 37, 1e-9);
    recrawl_unchanged(&estimate, -5);
    recrawl_unchanged(&estimate, 0);
    assert_float_equal(estimate.seconds, 4200.0 / 37, 1e-9);
    recrawl_unchanged(&estimate, 0.25);
    assert_float_equal(estimate.seconds, 4200.0 / 37 + 0.25, 1e-9);
    assert_float_equal(estimate.changes, 98.0 / 37, 1e-9);

    recrawl_changed(&least, 1e-3);
    for (double elapsed = -1; elapsed < 1e-3; elapsed += 0.5) {
        struct recrawl_estimate other = {2, 100};
        recrawl_changed(&other, elapsed);
        assert_float_equal(other.changes, least.changes, 1e-12);
        assert_float_equal(other.seconds, least.seconds, 1e-12);
    }
}

/* An estimate never weighs more than 30 changes. Cutting it down to them keeps its rate. */
static void
the_past_is_forgotten(void **state)
{
    struct recrawl_estimate at_most = {30, 3000}, beyond = {40, 4000};
    (void)state;
    recrawl_changed(&at_most, 1e5); /* surely: it tells nothing */
    assert_float_equal(at_most.changes, 30, 1e-6);
    assert_float_equal(at_most.seconds, 3000, 1e-4);
    recrawl_changed(&beyond, 1e5);
    assert_float_equal(beyond.changes, 30, 1e-6);
    assert_float_equal(beyond.seconds, 3000, 1e-4);
    recrawl_changed(&beyond, 1);
    assert_float_equal(beyond.changes, 30, 1e-6);
    assert_true(beyond.seconds < 3000);
}

/* The integral of t E[rate exp(-rate t)], by Simpson's rule; also where the shape is 1. */
static void
worth_is_the_integral(void **state)
{
    static const double shapes[] = {0.5, 1, 1.5, 2, 3};
    enum { STEPS = 2000 };
    const double b = 700, interval = 2500, step = interval / STEPS;
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        const double a = shapes[s];
        double sum = 0;
        for (int i = 0; i <= STEPS; i++) {
            const double at = i * step, density = at * a * pow(b, a) / pow(b + at, a + 1);
            sum += density * (i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2);
        }
        const struct recrawl_estimate estimate = {a, b};
        const double known = sum * step / 3, value = recrawl_value(&estimate, interval);
        assert_true(fabs(value - known) < 1e-6 * known); /* which no NaN is */
    }
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

/* An interval is the one that is worth the threshold. Where none is, since the document changes too
 * fast, it is eight times the threshold, within the bounds. */
static void
intervals_are_worth_the_threshold(void **state)
{
    const struct recrawl_estimate usual = {3, 3 * 6000.0}, fast = {30, 30 * 600.0};
    (void)state;
    for (double threshold = 100; threshold < 2000; threshold *= 1.7) {
        const double interval = recrawl_interval(&usual, threshold, 60, 90 * day);
        assert_true(recrawl_value(&usual, interval) >= threshold);
        assert_true(recrawl_value(&usual, interval / 1.0002) < threshold);
    }
    const double worth = recrawl_value(&usual, 3000);
    assert_float_equal(recrawl_interval(&usual, worth, 3000, 90 * day), 3000, 0);
    assert_float_equal(recrawl_interval(&usual, worth * 0.999, 3000, 90 * day), 3000, 0);
    assert_float_equal(recrawl_interval(&usual, worth, 60, 3000), 3000, 0);
    assert_float_equal(recrawl_interval(&fast, 700, 60, 90 * day), 8 * 700, 0);
    assert_float_equal(recrawl_interval(&fast, 10000, 60, 90 * day), 8 * 10000, 0);
    assert_float_equal(recrawl_interval(&fast, 10000, 60, 5000), 5000, 0);
    assert_float_equal(recrawl_interval(&fast, 10000, 90000, 5000), 90000, 0);
}

/* Two a second, of which twenty may be saved up, and sixty booked ahead. */
static void
budgets_count(void **state)
{
    struct recrawl_budget budget = {
        .per_second = 2, .threshold_least = 60, .threshold = 100, .window = 40, .patience = 30};
    double wait;
    (void)state;
    recrawl_budget_start(&budget, 100);
    assert_float_equal(budget.threshold, 100, 0);
    assert_float_equal(budget.account, 1, 0);
    assert_float_equal(budget.rate, 2, 0);
    assert_true(recrawl_budget_take(&budget, 100, &wait));
    assert_float_equal(wait, 0, 0);
    assert_float_equal(budget.rate, 2.1, 1e-12);
    for (int i = 1; i <= 60; i++) {
        assert_true(recrawl_budget_take(&budget, 100, &wait));
        assert_float_equal(wait, 0.5 * i, 1e-9);
    }
    for (int i = 0; i < 3; i++) {
        assert_false(recrawl_budget_take(&budget, 100 - i, &wait)); /* a clock that goes back */
        assert_float_equal(wait, 30.5, 1e-9);
    }
    assert_float_equal(budget.rate, 2.1 + 60 * 0.1, 1e-9);
    assert_float_equal(budget.threshold, 100, 1e-9); /* no time has passed */
    budget.taken_at = 100;
    assert_true(recrawl_budget_take(&budget, 101, &wait));
    assert_float_equal(wait, 29.5, 1e-9);
    assert_float_equal(budget.threshold, 100 * exp(29.5 / 30 / 2 / 40), 1e-9);
    assert_float_equal(budget.rate, 8.1 * exp(-0.1) + 0.1, 1e-9);

    budget.rate = 1; /* half of what is allowed: the threshold falls by all that it may */
    budget.account = 1;
    budget.threshold = 100;
    budget.taken_at = 200;
    assert_true(recrawl_budget_take(&budget, 200.5, &wait));
    assert_float_equal(budget.threshold, 100 * exp(-0.5 / 40), 1e-9);
    assert_float_equal(budget.account, 1, 1e-9); /* one was saved up meanwhile */
    budget.threshold = 100;
    budget.rate = 1.9;
    assert_true(recrawl_budget_take(&budget, 200.5, &wait));
    assert_true(recrawl_budget_take(&budget, 201, &wait));
    assert_float_equal(budget.threshold, 100 * exp(-2 * (1 - 2 * exp(-0.05) / 2) * 0.5 / 40), 1e-9);

    budget.threshold = 100;
    assert_true(recrawl_budget_take(&budget, 1201, &wait)); /* as if ten seconds had passed */
    assert_float_equal(budget.threshold, 100 * exp(-0.25), 1e-9);
    for (int i = 1; i <= 21; i++) {
        assert_true(recrawl_budget_take(&budget, 1201, &wait));
        assert_float_equal(wait, i < 20 ? 0 : 0.5 * (i - 19), 1e-9);
    }
}

/* A slow budget saves up one visit, not ten seconds' worth; half a visit more is no debt. */
static void
slow_budgets_save_up_one_visit(void **state)
{
    struct recrawl_budget budget = {.per_second = 0.05, .window = 40, .patience = 30};
    double wait;
    (void)state;
    recrawl_budget_start(&budget, 0);
    assert_true(recrawl_budget_take(&budget, 1000, &wait));
    assert_float_equal(wait, 0, 0);
    assert_float_equal(budget.account, 0, 1e-9);
    assert_true(recrawl_budget_take(&budget, 1000, &wait));
    assert_float_equal(wait, 20, 1e-9);
    budget.per_second = 2;
    budget.account = 1.5;
    assert_true(recrawl_budget_take(&budget, 1000, &wait));
    assert_float_equal(wait, 0, 0);
}

static void
thresholds_are_bounded(void **state)
{
    struct recrawl_budget budget = {
        .per_second = 2, .threshold_least = 60, .threshold = 10, .window = 40, .patience = 30};
    double wait;
    (void)state;
    recrawl_budget_start(&budget, 0);
    assert_float_equal(budget.threshold, 60, 0);
    assert_true(recrawl_budget_take(&budget, 1000, &wait));
    assert_float_equal(budget.threshold, 60, 0);
    budget.threshold = 100;
    budget.account = -150;
    budget.rate = 2000;                                      /* nothing to spare */
    assert_false(recrawl_budget_take(&budget, 1001, &wait)); /* it waits too long by far */
    assert_float_equal(budget.threshold, 100 * exp(0.5 / 40), 1e-9);
    budget.threshold = 10 * day;
    budget.account = -50;
    budget.rate = 2000;
    assert_true(recrawl_budget_take(&budget, 1002, &wait));
    assert_float_equal(budget.threshold, 10 * day, 0);
}

static void
no_budget_is_no_limit(void **state)
{
    struct recrawl_budget budget = {.per_second = 0, .window = 40, .patience = 30};
    double wait = 5;
    (void)state;
    recrawl_budget_start(&budget, 0);
    for (int i = 0; i < 10; i++) {
        assert_true(recrawl_budget_take(&budget, 0, &wait));
        assert_float_equal(wait, 0, 0);
    }
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
    assert_float_equal(recrawl_period_named(SLICE("always")), 600, 0);
    assert_float_equal(recrawl_period_named(SLICE("hourly")), 3600, 0);
    assert_float_equal(recrawl_period_named(SLICE("Daily")), day, 0);
    assert_float_equal(recrawl_period_named(SLICE("WEEKLY")), 7 * day, 0);
    assert_float_equal(recrawl_period_named(SLICE("monthly")), 2629800, 0);
    assert_float_equal(recrawl_period_named(SLICE("yearly")), 31557600, 0);
    assert_float_equal(recrawl_period_named(SLICE("never")), 315576000, 0);
    assert_float_equal(recrawl_period_named(SLICE("often")), 0, 0);
    assert_float_equal(recrawl_trust(0, 0), 0.5, 0);
    assert_float_equal(recrawl_trust(3, 0), 0.8, 1e-12);
    assert_float_equal(recrawl_trust(0, 3), 0.2, 1e-12);
    assert_true(recrawl_believes(recrawl_trust(0, 0), 1));
    assert_false(recrawl_believes(0.49, 31));
    assert_true(recrawl_believes(0.49, 32));
    assert_false(recrawl_believes(0.49, 33));
    assert_false(recrawl_believes(recrawl_trust(3, 9), 1));
    assert_true(recrawl_believes(recrawl_trust(3, 9), 64));
}

static void
what_sitemaps_say_is_weighed(void **state)
{
    unsigned spared = 0;
    (void)state;
    assert_false(recrawl_foretells(86400, 59000)); /* ln 2 days are 59,886 s */
    assert_true(recrawl_foretells(86400, 86400 * log(2)));
    assert_true(recrawl_foretells(86400, 60000));
    for (uint64_t i = 0; i < 800; i++) {
        spared += recrawl_spares(18, 0, i); /* 19 of 20 */
        assert_int_equal(recrawl_spares(18, 0, i), i % 8 != 0);
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
        cmocka_unit_test(a_change_is_weighed_by_its_moments),
        cmocka_unit_test(the_past_is_forgotten),
        cmocka_unit_test(worth_is_the_integral),
        cmocka_unit_test(worth_is_what_is_known_of_certain_rates),
        cmocka_unit_test(intervals_are_bounded_and_follow_change),
        cmocka_unit_test(intervals_are_worth_the_threshold),
        cmocka_unit_test(budgets_count),
        cmocka_unit_test(slow_budgets_save_up_one_visit),
        cmocka_unit_test(thresholds_are_bounded),
        cmocka_unit_test(no_budget_is_no_limit),
        cmocka_unit_test(budgets_hold),
        cmocka_unit_test(a_simulated_web_is_kept_fresher),
        cmocka_unit_test(names_of_periods_and_trust),
        cmocka_unit_test(what_sitemaps_say_is_weighed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
