#include "stages/skeleton/visit_schedule.h"

#include <math.h>
#include <stdio.h>

#include "base/digest.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "crawl/recrawl.h"

enum { FAILURES_DOUBLED = 16 };

static double
seconds_of(const struct opt_set *options, const char *name)
{
    return (double)opt_duration_ms(options, name) / 1000;
}

/* Documents found together shall not all come due together: a tenth to either side. */
static double
spread(const struct stage_job *job, double seconds)
{
    const uint64_t fingerprint =
        fingerprint64(job->job.uri) + job->job.generation * 0x9e3779b97f4a7c15u;
    return seconds * (0.9 + 0.2 * (double)(fingerprint >> 11) / 9007199254740992.0);
}

/* Says whether what its sitemap stated was right, in words that the next visit counts for the host.
 */
static void
judge_claims(struct stage_job *job, const struct document_visit *visit, bool changed)
{
    const bool said_changed = visit->claimed == CLAIM_CHANGED;
    const char *claim = visit->claimed == CLAIM_NONE ? ""
                        : said_changed               ? (changed ? "held" : "broken")
                        : changed                    ? "unchanged broken"
                                                     : "unchanged held";
    const bool foretold = recrawl_foretells((double)visit->named_seconds,
                                            (double)visit->elapsed_ms / 1000) == changed;
    const char *frequency = visit->named_seconds == 0 ? ""
                            : foretold                ? "changefreq held"
                                                      : "changefreq broken";
    char text[64];
    const int n = snprintf(text, sizeof text, "%s%s%s", claim,
                           claim[0] != '\0' && frequency[0] != '\0' ? "," : "", frequency);
    if (n > 0) {
        meta_set_text(&job->meta, META_CLAIM, slice_of(text, (size_t)n));
    }
}

static void
learn(struct stage_job *job, const struct document_visit *visit, bool changed,
      struct recrawl_estimate *estimate, uint64_t now_ms)
{
    struct meta_update *meta = &job->meta;
    const bool first = visit->visits == 0;
    if (!first && changed) {
        recrawl_changed(estimate, (double)visit->elapsed_ms / 1000);
    } else if (!first) {
        recrawl_unchanged(estimate, (double)visit->elapsed_ms / 1000);
    }
    meta_set_number(meta, META_VISITED, now_ms);
    meta_set_number(meta, META_VISITS, visit->visits + 1);
    meta_set_number(meta, META_VISITS_CHANGED, visit->changed + (changed && !first));
    if (changed || first) {
        meta_set_number(meta, META_CHANGED, now_ms);
    }
    if (!first) {
        judge_claims(job, visit, changed);
    }
    meta_clear(meta, META_FAILURES);
}

uint64_t
schedule_confirm_ms(const struct opt_set *options)
{
    enum { LEAST_TIMES = 4 };
    return LEAST_TIMES * opt_duration_ms(options, "recrawl.least");
}

static double
next_in(struct stage_job *job, const struct document_visit *visit, enum visit_outcome outcome,
        const struct recrawl_estimate *estimate)
{
    const struct opt_set *options = stage_options(job->run);
    const double most = seconds_of(options, "recrawl.most");
    const double least =
        fmin(most, fmax(seconds_of(options, "recrawl.least"), (double)visit->fresh_seconds));
    const double usual =
        recrawl_interval(estimate, (double)visit->threshold_ms / 1000, least, most);
    switch (outcome) {
    case VISIT_GONE_MAYBE:
        return (double)schedule_confirm_ms(options) / 1000;
    case VISIT_GONE:
    case VISIT_NOTHING:
        return most;
    case VISIT_FAILED:
        return fmin(most, ldexp(usual, (int)fmin((double)visit->failures + 1, FAILURES_DOUBLED)));
    case VISIT_CHANGED:
    case VISIT_UNCHANGED:
    case VISIT_PUT_OFF:
        break;
    }
    return usual;
}

void
schedule_visit(struct stage_job *job, const struct document_visit *visit,
               enum visit_outcome outcome, struct slice data)
{
    struct meta_update *meta = &job->meta;
    const uint64_t now_ms = clock_wall_ms();
    struct recrawl_estimate estimate = {(double)visit->changes_milli / 1000,
                                        (double)visit->seconds_milli / 1000};
    if (outcome == VISIT_FAILED) {
        meta_set_number(meta, META_FAILURES, visit->failures + 1);
    } else if (outcome != VISIT_GONE_MAYBE && outcome != VISIT_PUT_OFF) {
        learn(job, visit, outcome == VISIT_CHANGED, &estimate, now_ms);
    }
    const double wait = spread(job, next_in(job, visit, outcome, &estimate));
    const uint64_t due_ms = now_ms + (uint64_t)(wait * 1000) + 1;
    meta_set_number(meta, META_RATE_CHANGES, (uint64_t)fmax(1, estimate.changes * 1000));
    meta_set_number(meta, META_RATE_SECONDS, (uint64_t)fmax(1, estimate.seconds * 1000));
    meta_set_number(meta, META_WORTH_MS, visit->threshold_ms);
    meta_set_number(meta, META_DUE, due_ms);
    const struct job next = {
        .key.stage = STAGE_FETCH,
        .uri = job->job.uri,
        .lane_name = url_origin(job->job.uri),
        .via = job->job.via,
        .priority = job->job.priority,
        .flags = (uint8_t)(JOB_RECRAWL | (job->job.flags & JOB_SEED)),
        .depth = job->job.depth,
        .due_ms = due_ms,
        .data = data,
    };
    stage_output(job, &next);
}
