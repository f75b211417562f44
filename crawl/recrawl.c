#include "crawl/recrawl.h"

#include <math.h>

enum {
    BISECTIONS = 48,
    SHAPE_MOST = 30, /* more would make a document's past outweigh that it is another now */
    ACCOUNT_SECONDS = 10,
    SAMPLE = 32,       /* of claims that are not believed, one is looked at */
    SPARED_SAMPLE = 8, /* of visits that may be left out, one is made */
    TRUST_BEFORE = 2   /* a claimant of whom nothing is known is believed half-way */
};
/* The best for freshness alone is never to visit what changes too fast. Such documents are visited
 * after so many times the threshold (others after 3.4 at the least), but not before so many of
 * their periods have passed: seldom, yet so that they come back when they calm down. */
static const double CHASED = 8, CHASED_PERIODS = 2;
static const double TRUSTED = 0.5, SPARING = 0.95;
static const double THRESHOLD_MOST = 10 * 86400.0, SPARE = 2;

struct recrawl_estimate
recrawl_prior(double period, double weight)
{
    return (struct recrawl_estimate){weight, weight * period};
}

static void
forget(struct recrawl_estimate *estimate)
{
    if (estimate->changes > SHAPE_MOST) {
        estimate->seconds *= SHAPE_MOST / estimate->changes;
        estimate->changes = SHAPE_MOST;
    }
}

void
recrawl_unchanged(struct recrawl_estimate *estimate, double elapsed)
{
    estimate->seconds += elapsed > 0 ? elapsed : 0;
}

/* The likelihood 1 - exp(-rate t) makes the posterior the difference of two gamma densities, whose
 * moments are known. */
void
recrawl_changed(struct recrawl_estimate *estimate, double elapsed)
{
    const double a = estimate->changes;
    const double b = estimate->seconds;
    const double t = elapsed > 1e-3 ? elapsed : 1e-3;
    const double none = exp(-a * log1p(t / b)); /* probability of no change in t */
    const double some = -expm1(-a * log1p(t / b));
    const double later = b + t;
    const double mean = (a / b - none * a / later) / some;
    const double square = a * (a + 1) * (1 / (b * b) - none / (later * later)) / some;
    const double variance = square - mean * mean;
    if (some > 0 && variance > 0 && isfinite(mean)) {
        *estimate = (struct recrawl_estimate){mean * mean / variance, mean / variance};
    }
    forget(estimate);
}

double
recrawl_rate(const struct recrawl_estimate *estimate)
{
    return estimate->changes / estimate->seconds;
}

/* The integral from 0 to the interval of t E[rate exp(-rate t)]. It has no bound for shapes up to
 * 1: what little is known of is visited in the end, whatever the threshold. */
double
recrawl_value(const struct recrawl_estimate *estimate, double interval)
{
    const double a = estimate->changes;
    const double b = estimate->seconds;
    const double l = log1p(interval / b);
    const double part = fabs(1 - a) < 1e-6 ? l : expm1((1 - a) * l) / (1 - a);
    return b * (a * part + expm1(-a * l));
}

double
recrawl_interval(const struct recrawl_estimate *estimate, double threshold, double least,
                 double most)
{
    const double chased = fmax(CHASED * threshold, CHASED_PERIODS / recrawl_rate(estimate));
    double low = least, high = fmax(least, fmin(most, chased));
    if (recrawl_value(estimate, high) <= threshold) {
        return high;
    }
    if (recrawl_value(estimate, least) >= threshold) {
        return least;
    }
    for (int i = 0; i < BISECTIONS && high > low * 1.0001; i++) {
        const double middle = sqrt(low * high);
        if (recrawl_value(estimate, middle) < threshold) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

double
recrawl_period_named(struct slice change_frequency)
{
    static const struct {
        const char *name;
        double period;
    } names[] = {{"always", 600},           {"hourly", 3600},     {"daily", 86400},
                 {"weekly", 604800},        {"monthly", 2629800}, {"yearly", 31557600},
                 {"never", 10 * 31557600.0}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (slice_equal_nocase(change_frequency, slice_string(names[i].name))) {
            return names[i].period;
        }
    }
    return 0;
}

double
recrawl_trust(uint64_t held, uint64_t broken)
{
    return ((double)held + TRUST_BEFORE / 2.0) / ((double)(held + broken) + TRUST_BEFORE);
}

bool
recrawl_foretells(double period, double elapsed)
{
    return elapsed >= period * log(2);
}

bool
recrawl_spares(uint64_t held, uint64_t broken, uint64_t number)
{
    return recrawl_trust(held, broken) >= SPARING && number % SPARED_SAMPLE != 0;
}

bool
recrawl_believes(double trust, uint64_t number)
{
    return trust >= TRUSTED || number % SAMPLE == 0;
}

void
recrawl_budget_start(struct recrawl_budget *budget, double now)
{
    if (budget->threshold < budget->threshold_least) {
        budget->threshold = budget->threshold_least;
    }
    budget->account = 1;
    budget->rate = budget->per_second;
    budget->taken_at = now;
}

/* The threshold falls as visits done fall short of those allowed, and rises while visits wait;
 * never faster than by e in a window, since documents answer to it only at their next visit. */
static void
follow(struct recrawl_budget *budget, double passed, double wait)
{
    const double memory = budget->window / 4;
    budget->rate *= exp(-passed / memory);
    const double spare = 1 - budget->rate / budget->per_second;
    const double late = fmin(1, wait / budget->patience) / 2;
    const double turn = fmin(fmax(late - SPARE * fmax(0, spare), -1), 1);
    budget->threshold *= exp(turn * fmin(passed, memory) / budget->window);
    budget->threshold = fmin(fmax(budget->threshold, budget->threshold_least), THRESHOLD_MOST);
}

bool
recrawl_budget_take(struct recrawl_budget *budget, double now, double *wait)
{
    *wait = 0;
    if (budget->per_second <= 0) {
        return true;
    }
    const double passed = fmax(0, now - budget->taken_at);
    budget->taken_at = now;
    budget->account = fmin(fmax(1, budget->per_second * ACCOUNT_SECONDS),
                           budget->account + passed * budget->per_second);
    if (budget->account < 1) {
        *wait = (1 - budget->account) / budget->per_second;
    }
    follow(budget, passed, *wait);
    if (*wait > budget->patience) {
        return false;
    }
    budget->account -= 1;
    budget->rate += 4 / budget->window;
    return true;
}
