/* Recrawling in the fetch stage: what is known of a document's changes goes into its job, and ends
 * that no later stage hears of schedule the next visit themselves. docs/RECRAWL.md.
 *
 * A host's jobs come one at a time, so what is counted of it is read and written in turn. */
#include <math.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/system/clock.h"
#include "crawl/recrawl.h"
#include "datasets/sitemap.h"
#include "stages/fetch/task/fetch_task.h"

enum { HOST_DOCUMENTS_MOST = 200 };
static const double PRIOR_WEIGHT = 0.5; /* changes: a visit or two outweigh it */
static const double FREQUENCY_TRUSTED = 0.4;
enum { BUDGET_WINDOW_SECONDS = 24 * 60 * 60 }; /* in which the worth of a visit follows it */

static double
wall_seconds(void)
{
    return (double)clock_wall_ms() / 1000;
}

void
fetch_read_recrawl(struct fetch *fetch, const struct opt_set *options)
{
    fetch->recrawl.on = opt_bool(options, "recrawl.enabled");
    fetch->recrawl.first_seconds = (double)opt_duration_ms(options, "recrawl.first") / 1000;
    fetch->recrawl.confirm_ms = schedule_confirm_ms(options);
    fetch->recrawl.budget = (struct recrawl_budget){
        .per_second = (double)opt_integer(options, "recrawl.budget") / 3600,
        .threshold_least = fmax(0.001, (double)opt_duration_ms(options, "recrawl.worth") / 1000),
        .window = BUDGET_WINDOW_SECONDS,
        .patience = 30,
    };
    recrawl_budget_start(&fetch->recrawl.budget, wall_seconds());
}

/* ---- what is known ---- */

static void
set_estimate(struct document_visit *visit, const struct recrawl_estimate *estimate)
{
    visit->changes_milli = (uint64_t)fmax(1, estimate->changes * 1000);
    visit->seconds_milli = (uint64_t)fmax(1, estimate->seconds * 1000);
}

/* The words that may stand in META_CLAIM. */
static const struct {
    const char *word;
    enum meta_field field;
} verdicts[] = {{"held", META_CLAIMS_HELD},
                {"broken", META_CLAIMS_BROKEN},
                {"unchanged held", META_UNCHANGED_HELD},
                {"unchanged broken", META_UNCHANGED_BROKEN},
                {"changefreq held", META_FREQUENCY_HELD},
                {"changefreq broken", META_FREQUENCY_BROKEN}};

static void
count_claims(struct task *task, struct slice host, struct slice words, struct meta_update *update)
{
    while (words.length > 0) {
        const struct slice word = slice_take(&words, ',');
        for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
            if (slice_is(word, verdicts[i].word)) {
                meta_set_number(update, verdicts[i].field,
                                meta_record_count(host, verdicts[i].field) + 1);
            }
        }
    }
    meta_clear(&task->job->meta, META_CLAIM);
}

/* Counts whether the host's sitemap was right, and how often its documents change. */
static void
count_for_host(struct task *task, struct slice host, struct slice record)
{
    struct slice claim = {0};
    struct meta_update update;
    const double rate = (double)meta_record_count(record, META_RATE_CHANGES) /
                        (double)meta_record_count(record, META_RATE_SECONDS);
    const uint64_t n = meta_record_count(host, META_HOST_DOCUMENTS);
    const double before = log((double)meta_record_count(host, META_HOST_PERIOD) + 1);
    const double period = n == 0 ? -log(rate) : before + (-log(rate) - before) / (double)(n + 1);
    meta_update_init(&update);
    meta_set_number(&update, META_HOST_PERIOD, (uint64_t)exp(fmin(period, 25)));
    meta_set_number(&update, META_HOST_DOCUMENTS, n < HOST_DOCUMENTS_MOST ? n + 1 : n);
    if (meta_record_text(record, META_CLAIM, &claim) && claim.length > 0) {
        count_claims(task, host, claim, &update);
    }
    stage_put_meta(task->job, arena_printf(&task->job->arena, "h%.*s", SLICE_PRINT(task->origin)),
                   meta_update_fields(&update));
    meta_update_release(&update);
}

/* Takes what the sitemap says, if one was read since the last visit. */
static void
take_sighting(struct task *task, struct slice host, struct slice sighting)
{
    struct document_visit *visit = &task->visit.document;
    const uint64_t modified_ms = meta_record_count(sighting, META_SITEMAP_LASTMOD);
    struct slice frequency = {0};
    (void)meta_record_text(sighting, META_SITEMAP_CHANGEFREQ, &frequency);
    visit->named_seconds = (uint64_t)recrawl_period_named(frequency);
    if (modified_ms > 0 && task->visit.visited_ms > 0 && visit->visits > 0 &&
        meta_record_count(host, META_SITEMAP_READ) > task->visit.visited_ms &&
        sitemap_latest(modified_ms) <= task->visit.visited_ms) {
        visit->claimed = CLAIM_UNCHANGED;
        task->visit.spared =
            (task->job->job.flags & JOB_RECRAWL) != 0 && task->job->job.due_ms > 0 &&
            recrawl_spares(meta_record_count(host, META_UNCHANGED_HELD),
                           meta_record_count(host, META_UNCHANGED_BROKEN),
                           fingerprint64(task->job->job.uri) + task->job->job.generation);
    }
}

/* Tells whether the state tells of an answer with content, not of what a visit met with. */
static bool
is_of_content(struct slice state)
{
    static const char *const states[] = {"fetched", "unknown", "noindex", "broken", "indexed"};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        if (slice_is(state, states[i])) {
            return true;
        }
    }
    return false;
}

void
task_take_visit(struct task *task, struct slice host, struct slice record, struct slice sighting)
{
    struct document_visit *visit = &task->visit.document;
    const uint64_t now_ms = clock_wall_ms();
    const uint64_t visited_ms = meta_record_count(record, META_VISITED);
    struct slice text = {0};
    task->visit.frequency_trust = recrawl_trust(meta_record_count(host, META_FREQUENCY_HELD),
                                                meta_record_count(host, META_FREQUENCY_BROKEN));
    task->visit.host_period = (double)meta_record_count(host, META_HOST_PERIOD);
    if (record.length == 0) {
        return;
    }
    if (meta_record_count(record, META_INDEXED) > 0 || meta_record_count(record, META_DUE) > 0) {
        task->unverified = false; /* it has its place in the crawl, whoever speaks of it */
    }
    task->visit.content_stands = meta_record_text(record, META_STATE, &text) && is_of_content(text);
    task->visit.gone_since_ms = meta_record_count(record, META_GONE_SINCE);
    task->visit.visited_ms = visited_ms;
    if (meta_record_text(record, META_PAYLOAD_DIGEST, &text)) {
        task->visit.digest = arena_copy(&task->job->arena, text);
    }
    if (meta_record_text(record, META_REDIRECT_TO, &text)) {
        task->visit.redirect = arena_copy(&task->job->arena, text);
    }
    visit->failures = meta_record_count(record, META_FAILURES);
    visit->visits = meta_record_count(record, META_VISITS);
    visit->changed = meta_record_count(record, META_VISITS_CHANGED);
    visit->elapsed_ms = visited_ms > 0 && now_ms > visited_ms ? now_ms - visited_ms : 0;
    visit->changes_milli = meta_record_count(record, META_RATE_CHANGES);
    visit->seconds_milli = meta_record_count(record, META_RATE_SECONDS);
    /* A process that begins takes its threshold from the documents. */
    if (!task->fetch->recrawl.threshold_known && meta_record_count(record, META_WORTH_MS) > 0) {
        task->fetch->recrawl.threshold_known = true;
        task->fetch->recrawl.budget.threshold =
            fmax(task->fetch->recrawl.budget.threshold_least,
                 (double)meta_record_count(record, META_WORTH_MS) / 1000);
    }
    if (visit->visits > 1 && visit->seconds_milli > 0 && visit->changes_milli > 0) {
        count_for_host(task, host, record);
    }
    take_sighting(task, host, sighting);
}

bool
task_is_superseded(const struct task *task, struct slice record)
{
    return meta_record_count(record, META_GENERATION) > task->job->job.generation;
}

/* max-age in seconds; 0: not said. */
static uint64_t
fresh_seconds(struct slice header)
{
    static const char name[] = "max-age=";
    const struct slice value = warc_http_header(header, "Cache-Control");
    const size_t at = slice_find_slice(value, slice_string(name));
    uint64_t seconds = 0;
    for (size_t i = at + sizeof name - 1; at < value.length && i < value.length; i++) {
        if (value.at[i] < '0' || value.at[i] > '9' || seconds > UINT32_MAX) {
            break;
        }
        seconds = seconds * 10 + (uint64_t)(value.at[i] - '0');
    }
    return seconds;
}

void
task_learn(struct task *task, const struct fetch_result *result)
{
    struct fetch *fetch = task->fetch;
    struct document_visit *visit = &task->visit.document;
    const struct document *document = &task->job->document;
    const double stated = recrawl_period_named(document->change_frequency);
    const double named = task->visit.frequency_trust >= FREQUENCY_TRUSTED ? stated : 0;
    if (!fetch->recrawl.on || task->resource) {
        return;
    }
    visit->threshold_ms = (uint64_t)fmax(1, fetch->recrawl.budget.threshold * 1000);
    if (document->claimed_ms > 0 && visit->visits > 0) {
        visit->claimed = CLAIM_CHANGED;
    }
    if (result != NULL) {
        const double fresh = (double)fresh_seconds(result->response_header);
        visit->fresh_seconds = (uint64_t)fmin(fresh, fetch->recrawl.first_seconds);
    }
    if (visit->changes_milli > 0 && visit->seconds_milli > 0) {
        return;
    }
    struct recrawl_estimate estimate =
        recrawl_prior(named > 0                     ? named
                      : task->visit.host_period > 0 ? task->visit.host_period
                                                    : fetch->recrawl.first_seconds,
                      PRIOR_WEIGHT);
    if (result != NULL) { /* unchanged for so long, if it is to be believed: half of it */
        const uint64_t modified_ms =
            sitemap_date(warc_http_header(result->response_header, "Last-Modified"));
        if (modified_ms > 0 && modified_ms < result->started_ms) {
            recrawl_unchanged(&estimate, (double)(result->started_ms - modified_ms) / 2000);
        }
    }
    set_estimate(visit, &estimate);
}

void
task_schedule(struct task *task)
{
    const bool dropped =
        task->unverified && (task->end.visit == VISIT_FAILED || task->end.visit == VISIT_GONE);
    task_learn(task, NULL);
    if (!dropped && task->visit.document.threshold_ms > 0 && !task->end.handed_on) {
        schedule_visit(task->job, &task->visit.document, task->end.visit,
                       task_is_sitemap(task) ? task->job->job.data : (struct slice){0});
    }
}
