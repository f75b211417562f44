/* When to look at a document again: numbers only, no I/O, no clock. docs/RECRAWL.md has the why.
 *
 * A document changes as a Poisson process of unknown rate. What is believed of the rate is a gamma
 * distribution of shape `changes` and rate `seconds`: as if so many changes had been seen in so
 * many seconds. A visit tells only whether there was a change since the last one (Cho and
 * Garcia-Molina, Estimating Frequency of Change, 2003); the posterior is no gamma distribution
 * then, and is replaced by the one of equal mean and variance.
 *
 * A visit after t seconds is worth the time for which the copy is fresher by it (the marginal
 * freshness of Cho and Garcia-Molina, Effective Page Refresh Policies, 2003), here expected over
 * what is believed of the rate. A document is due when that reaches a threshold which is the same
 * for all documents and follows the budget. Times are seconds. */
#ifndef CRAWL_RECRAWL_H
#define CRAWL_RECRAWL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct recrawl_estimate {
    double changes, seconds; /* both greater than 0 */
};

/* A belief that changes come about every period seconds; weight: how many changes it is worth. */
struct recrawl_estimate recrawl_prior(double period, double weight);
/* Nothing had changed when it was visited elapsed seconds after the last visit. */
void recrawl_unchanged(struct recrawl_estimate *estimate, double elapsed);
/* Something had; at least once. */
void recrawl_changed(struct recrawl_estimate *estimate, double elapsed);
/* Changes a second that are expected. */
double recrawl_rate(const struct recrawl_estimate *estimate);

/* Seconds of freshness that a visit is expected to bring, interval seconds after the last one. */
double recrawl_value(const struct recrawl_estimate *estimate, double interval);
/* The time after which a visit is worth that much; never less than least or more than most. */
double recrawl_interval(const struct recrawl_estimate *estimate, double threshold, double least,
                        double most);

/* The period that a sitemap's changefreq names ("daily"); 0: none that is known. */
double recrawl_period_named(struct slice change_frequency);

/* Returns whether that period makes a change likelier than not, so long after the last visit. */
bool recrawl_foretells(double period, double elapsed);
/* Returns whether a visit may be left out because the sitemap says that there was no change: only
 * on a word that held nearly always, and never for all: one in eight is made. number: as below. */
bool recrawl_spares(uint64_t held, uint64_t broken, uint64_t number);

/* Tells whether to believe who said that a document had changed, from how often it held. */
double recrawl_trust(uint64_t held, uint64_t broken);
/* Returns whether one claim is followed: all while trust is good, else samples, by which it can be
 * won back. number: any that differs from claim to claim. */
bool recrawl_believes(double trust, uint64_t number);

/* Keeps visits within so many a second: an account that fills with time, and the threshold, which
 * rises while more is due than may be done and falls to its least otherwise. */
struct recrawl_budget {
    double per_second;        /* 0: no limit */
    double threshold_least;   /* threshold when there is budget to spare */
    double window;            /* seconds in which the threshold follows */
    double patience;          /* longest time that a visit is booked ahead */
    double threshold;         /* the threshold now */
    double rate;              /* visits a second of late */
    double account, taken_at; /* visits that may be done at once, or are booked ahead (below 0) */
};

void recrawl_budget_start(struct recrawl_budget *budget, double now);
/* A visit is due at now. True: it is to be done in *wait seconds, and booked; false: too many are
 * booked, ask again in about *wait seconds. */
bool recrawl_budget_take(struct recrawl_budget *budget, double now, double *wait);

#endif
