/* A changing web and a fast clock: policies of recrawling beside each other, by the library's own
 * code. Documents change as Poisson processes whose rates are heavy-tailed: a quarter never
 * changes, a few change every hour. Deterministic for a seed. For the unit test and the bench. */
#ifndef TESTS_UNIT_CRAWL_RECRAWL_SIMULATION_H
#define TESTS_UNIT_CRAWL_RECRAWL_SIMULATION_H

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "crawl/recrawl.h"

enum policy { POLICY_FIXED, POLICY_PROPORTIONAL, POLICY_OURS, POLICY_ORACLE };
enum sitemaps { SITEMAPS_NONE, SITEMAPS_HONEST, SITEMAPS_LYING };

enum { SIMULATED_HOST_DOCUMENTS = 50 };
static const double simulated_day = 86400, simulated_least = 600, simulated_most = 60 * 86400.0;

struct simulation {
    unsigned documents;
    double days;    /* simulated */
    double per_day; /* visits of a document that the budget allows, on average */
    enum policy policy;
    enum sitemaps sitemaps;
    bool evidence; /* whether they are listened to */
    uint64_t seed;
};

struct simulated {
    double freshness;      /* share of time for which copies were as the web was */
    double last_freshness; /* the same of the last seventh */
    double age_hours; /* of copies, averaged over time: for how long they had been out of date */
    uint64_t requests, changed; /* visits; those that found a change */
    uint64_t spared;            /* visits that a sitemap's word made needless */
};

struct simulated_document {
    double rate, visited, changes_after; /* of the web; since the last visit */
    struct recrawl_estimate estimate;
    double due;
    bool claimed, says_unchanged; /* by its sitemap, read since the last visit */
    unsigned place;               /* in the heap */
};

struct simulated_host {
    uint64_t held, broken;                     /* of what was said to have changed */
    uint64_t unchanged_held, unchanged_broken; /* of what was said to have not */
    double read;                               /* when its sitemap was */
};

struct simulation_run {
    const struct simulation *of;
    struct simulated_document *documents;
    struct simulated_host *hosts;
    unsigned *heap, count;
    struct recrawl_budget budget;
    double threshold; /* of the oracle */
    double fresh, last_fresh, age;
    uint64_t random;
    struct simulated *result;
};

static double
simulated_random(struct simulation_run *run)
{
    run->random ^= run->random << 13;
    run->random ^= run->random >> 7;
    run->random ^= run->random << 17;
    return ((double)(run->random >> 11) + 0.5) / 9007199254740992.0;
}

static void
simulated_sift(struct simulation_run *run, unsigned at)
{
    unsigned *heap = run->heap;
    const unsigned moved = heap[at];
    const double due = run->documents[moved].due;
    while (at > 0 && run->documents[heap[(at - 1) / 2]].due > due) {
        heap[at] = heap[(at - 1) / 2];
        run->documents[heap[at]].place = at;
        at = (at - 1) / 2;
    }
    for (;;) {
        unsigned child = 2 * at + 1;
        if (child + 1 < run->count &&
            run->documents[heap[child + 1]].due < run->documents[heap[child]].due) {
            child++;
        }
        if (child >= run->count || run->documents[heap[child]].due >= due) {
            break;
        }
        heap[at] = heap[child];
        run->documents[heap[at]].place = at;
        at = child;
    }
    heap[at] = moved;
    run->documents[moved].place = at;
}

static void
simulated_due(struct simulation_run *run, struct simulated_document *document, double due)
{
    document->due = due;
    simulated_sift(run, document->place);
}

/* When the rate is known: 1 - exp(-x)(1 + x) = worth * rate for x = rate * interval. */
static double
simulated_known(double rate, double threshold)
{
    const struct recrawl_estimate known = {1e7, 1e7 / (rate > 1e-12 ? rate : 1e-12)};
    return recrawl_interval(&known, threshold, simulated_least, simulated_most);
}

/* The threshold at which all documents together take the budget. */
static double
simulated_threshold(const struct simulation_run *run, double per_second)
{
    double low = 1, high = 1e7;
    for (int i = 0; i < 60; i++) {
        const double middle = sqrt(low * high);
        double sum = 0;
        for (unsigned k = 0; k < run->of->documents; k++) {
            sum += 1 / simulated_known(run->documents[k].rate, middle);
        }
        *(sum > per_second ? &low : &high) = middle;
    }
    return high;
}

static double
simulated_interval(struct simulation_run *run, const struct simulated_document *document)
{
    const struct simulation *of = run->of;
    const double fixed = simulated_day / of->per_day;
    double sum = 0;
    switch (of->policy) {
    case POLICY_FIXED:
        return fixed;
    case POLICY_PROPORTIONAL: /* as often as it changes, with the true rates */
        for (unsigned i = 0; i < of->documents; i++) {
            sum += run->documents[i].rate;
        }
        return fmin(simulated_most * 10, fixed * sum / of->documents / fmax(document->rate, 1e-12));
    case POLICY_ORACLE:
        return simulated_known(document->rate, run->threshold);
    case POLICY_OURS:
        break;
    }
    return recrawl_interval(&document->estimate, run->budget.threshold, simulated_least,
                            simulated_most);
}

/* The time since the last visit is judged, to the visit or the end. */
static bool
simulated_judge(struct simulation_run *run, const struct simulated_document *document, double now)
{
    const double elapsed = now - document->visited;
    const double fresh = fmin(elapsed, document->changes_after);
    const double last = run->of->days * simulated_day * 6 / 7;
    const double stale_at = document->visited + document->changes_after;
    run->fresh += fresh;
    run->last_fresh += fmax(0, fmin(now, stale_at) - fmax(last, document->visited));
    run->age += (elapsed - fresh) * (elapsed - fresh) / 2;
    return fresh < elapsed;
}

static void
simulated_visit(struct simulation_run *run, struct simulated_document *document, double now)
{
    struct simulated_host *host =
        &run->hosts[(unsigned)(document - run->documents) / SIMULATED_HOST_DOCUMENTS];
    const bool changed = simulated_judge(run, document, now);
    if (changed) {
        recrawl_changed(&document->estimate, now - document->visited);
    } else {
        recrawl_unchanged(&document->estimate, now - document->visited);
    }
    if (document->claimed) {
        *(changed ? &host->held : &host->broken) += 1;
    } else if (document->says_unchanged) {
        *(changed ? &host->unchanged_broken : &host->unchanged_held) += 1;
    }
    document->claimed = document->says_unchanged = false;
    document->visited = now;
    document->changes_after =
        document->rate > 0 ? -log(simulated_random(run)) / document->rate : INFINITY;
    run->result->requests++;
    run->result->changed += changed;
    simulated_due(run, document,
                  now + simulated_interval(run, document) * (0.9 + 0.2 * simulated_random(run)));
}

/* Puts the visit off if the sitemap says that there was no change, and may be believed. */
static bool
simulated_spares(struct simulation_run *run, struct simulated_document *document, double now)
{
    const struct simulated_host *host =
        &run->hosts[(unsigned)(document - run->documents) / SIMULATED_HOST_DOCUMENTS];
    if (!document->says_unchanged || !recrawl_spares(host->unchanged_held, host->unchanged_broken,
                                                     (uint64_t)(simulated_random(run) * 1e9))) {
        return false;
    }
    run->result->spared++;
    simulated_due(run, document,
                  now + simulated_interval(run, document) * (0.9 + 0.2 * simulated_random(run)));
    return true;
}

/* A host's sitemap, every few hours: what it says has changed is due now, as far as it is trusted.
 */
static void
simulated_sitemap(struct simulation_run *run, unsigned number, double now)
{
    struct simulated_host *host = &run->hosts[number];
    const unsigned first = number * SIMULATED_HOST_DOCUMENTS;
    const bool lying = run->of->sitemaps == SITEMAPS_LYING;
    host->read = now;
    run->result->requests++;
    run->budget.account -= 1;
    for (unsigned i = first; i < first + SIMULATED_HOST_DOCUMENTS && i < run->of->documents; i++) {
        struct simulated_document *document = &run->documents[i];
        const bool stale = document->visited + document->changes_after < now;
        const bool says = lying ? simulated_random(run) < 0.3 : stale;
        const double trust = recrawl_trust(host->held, host->broken);
        document->says_unchanged = !says && document->visited > 0;
        /* A sitemap with less trust is believed in samples only, by which trust can be won back. */
        if (says && !document->claimed &&
            recrawl_believes(trust, (uint64_t)(simulated_random(run) * 1e9))) {
            document->claimed = true;
            simulated_due(run, document, now);
        }
    }
}

static void
simulated_start(struct simulation_run *run)
{
    const struct simulation *of = run->of;
    run->random = of->seed * 0x9e3779b97f4a7c15u + 1;
    for (unsigned i = 0; i < of->documents; i++) {
        struct simulated_document *document = &run->documents[i];
        /* Periods from an hour to a year, equally often at each order of magnitude. */
        const double period = 3600 * exp(simulated_random(run) * log(8766));
        document->rate = simulated_random(run) < 0.25 ? 0 : 1 / period;
        document->changes_after =
            document->rate > 0 ? -log(simulated_random(run)) / document->rate : INFINITY;
        document->estimate = recrawl_prior(3 * simulated_day, 0.5);
        run->heap[i] = document->place = i;
    }
    run->count = of->documents;
    const double per_second = of->documents * of->per_day / simulated_day;
    run->budget = (struct recrawl_budget){.per_second = per_second,
                                          .threshold_least = 60,
                                          .threshold = simulated_day / 8,
                                          .window = simulated_day,
                                          .patience = 600};
    recrawl_budget_start(&run->budget, 0);
    run->threshold = of->policy == POLICY_ORACLE ? simulated_threshold(run, per_second) : 0;
    for (unsigned i = 0; i < of->documents; i++) {
        struct simulated_document *document = &run->documents[i];
        simulated_due(run, document, simulated_interval(run, document) * simulated_random(run));
    }
}

static struct simulated
simulate(const struct simulation *of)
{
    struct simulated result = {0};
    struct simulation_run run = {.of = of, .result = &result};
    const double end = of->days * simulated_day;
    const unsigned hosts = of->documents / SIMULATED_HOST_DOCUMENTS + 1;
    unsigned next_host = 0;
    run.documents = memory_zero(of->documents, sizeof *run.documents);
    run.hosts = memory_zero(hosts, sizeof *run.hosts);
    run.heap = memory_zero(of->documents, sizeof *run.heap);
    simulated_start(&run);
    for (;;) {
        struct simulated_document *document = &run.documents[run.heap[0]];
        const double now = document->due;
        double wait;
        if (of->evidence && run.hosts[next_host].read + simulated_day / 8 <= fmin(now, end)) {
            simulated_sitemap(&run, next_host, run.hosts[next_host].read + simulated_day / 8);
            next_host = (next_host + 1) % hosts;
            continue;
        }
        if (now >= end) {
            break;
        }
        if (of->evidence && simulated_spares(&run, document, now)) {
            continue;
        }
        if (of->policy != POLICY_OURS || recrawl_budget_take(&run.budget, now, &wait)) {
            simulated_visit(&run, document, now);
        } else {
            simulated_due(&run, document, now + wait * (1 + simulated_random(&run)));
        }
    }
    for (unsigned i = 0; i < of->documents; i++) {
        (void)simulated_judge(&run, &run.documents[i], end);
    }
    result.freshness = run.fresh / end / of->documents;
    result.last_freshness = run.last_fresh / (end / 7) / of->documents;
    result.age_hours = run.age / end / of->documents / 3600;
    free(run.documents);
    free(run.hosts);
    free(run.heap);
    return result;
}

#endif
