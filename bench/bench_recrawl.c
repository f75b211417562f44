/* Policies of recrawling at equal requests, on a simulated web: docs/RECRAWL.md. */
#include <inttypes.h>
#include <stdio.h>

#include "tests/unit/crawl/recrawl_simulation.h"

enum { DOCUMENTS = 10000 };

static struct simulated
row(const char *name, double days, double per_day, enum policy policy, enum sitemaps sitemaps)
{
    const struct simulation of = {.documents = DOCUMENTS,
                                  .days = days,
                                  .per_day = per_day,
                                  .policy = policy,
                                  .sitemaps = sitemaps,
                                  .evidence = sitemaps != SITEMAPS_NONE,
                                  .seed = 1};
    const struct simulated got = simulate(&of);
    printf("%s\t%.0f\t%" PRIu64 "\t%.3f\t%.3f\t%.3f\t%.1f\n", name, days, got.requests,
           (double)got.changed / (double)got.requests, got.freshness, got.last_freshness,
           got.age_hours);
    return got;
}

/* The others get as many requests as ours took of the budget: one a day for each document. */
int
main(void)
{
    printf("policy\tdays\trequests\tuseful\tfreshness\tfreshness at the end\tage in hours\n");
    for (int days = 7; days <= 28; days += 21) {
        const struct simulated ours = row("ours", days, 1, POLICY_OURS, SITEMAPS_NONE);
        const double per_day = (double)ours.requests / days / DOCUMENTS;
        row("fixed interval", days, per_day, POLICY_FIXED, SITEMAPS_NONE);
        row("proportional to true rates", days, per_day, POLICY_PROPORTIONAL, SITEMAPS_NONE);
        row("optimal for true rates", days, per_day, POLICY_ORACLE, SITEMAPS_NONE);
        row("ours, honest sitemaps", days, 1, POLICY_OURS, SITEMAPS_HONEST);
        row("ours, lying sitemaps", days, 1, POLICY_OURS, SITEMAPS_LYING);
    }
    return 0;
}
