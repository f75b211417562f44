/* Tells where the crawl stands, for programs: JSON, Prometheus, health. */
#include <stdio.h>

#include "base/system/clock.h"
#include "web/pages/status_figures.h"

static void
json_stages(struct buf *out, struct status_now *figures)
{
    (void)buf_append_string(out, ",\"stages\":{");
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        (void)buf_printf(out, "%s\"%s\":{", stage > 0 ? "," : "", stage_name((enum stage)stage));
        for (size_t i = 0; i < STATUS_FIGURES; i++) {
            (void)buf_printf(out, "\"%s\":%lu,", status_figures[i].name,
                             (unsigned long)*status_figure_of(&figures->queue.stages[stage],
                                                              &status_figures[i]));
        }
        if (figures->has_rates) {
            (void)buf_printf(out, "\"per_second\":%.3f,", figures->done_rate[stage]);
        }
        (void)buf_printf(out, "\"throttled\":%s}",
                         figures->queue.stages[stage].throttled ? "true" : "false");
    }
    (void)buf_printf(
        out,
        "},\"seen\":%lu,\"lanes\":%lu,\"lanes_busy\":%lu,\"disk_free\":%lu,"
        "\"intake_stopped\":%s,\"cut_off\":%s,\"hosts_failing\":%lu,"
        "\"hosts_aside\":%lu",
        (unsigned long)figures->queue.seen, (unsigned long)figures->queue.lanes,
        (unsigned long)figures->queue.lanes_busy, (unsigned long)figures->queue.disk_free,
        figures->queue.intake_stopped ? "true" : "false", figures->queue.cut_off ? "true" : "false",
        (unsigned long)figures->queue.hosts_failing, (unsigned long)figures->queue.hosts_aside);
    if (figures->bottleneck >= 0) {
        (void)buf_printf(out, ",\"bottleneck\":\"%s\"",
                         stage_name((enum stage)figures->bottleneck));
    }
}

/* Writes the numbers by stage, as `quadrille status --json` does. */
static void
json_outcomes(struct buf *out, const struct status_now *figures)
{
    (void)buf_append_string(out, ",\"outcomes\":{");
    for (int i = OUTCOME_NONE + 1, stage = -1; i < OUTCOME_COUNT; i++) {
        const bool same = (int)outcome_words[i].stage == stage;
        if (!same) {
            (void)buf_append_string(out, stage >= 0 ? "}," : "");
            stage = (int)outcome_words[i].stage;
            (void)buf_printf(out, "\"%s\":{", stage_name((enum stage)stage));
        }
        (void)buf_printf(out, "%s\"%s\":%lu", same ? "," : "", outcome_words[i].word,
                         (unsigned long)figures->queue.outcomes[i]);
    }
    (void)buf_append_string(out, "}}");
}

static void
json_hosts(struct buf *out, const struct status_now *figures)
{
    (void)buf_append_string(out, ",\"hosts\":[");
    for (size_t i = 0; i < figures->host_count; i++) {
        const struct queue_host *host = &figures->hosts[i];
        (void)buf_append_string(out, i > 0 ? ",\n{\"origin\":\"" : "\n{\"origin\":\"");
        (void)buf_append_json(out, host->origin);
        (void)buf_append_string(out, "\",\"cause\":\"");
        (void)buf_append_json(out, host->cause);
        (void)buf_printf(out, "\",\"aside\":%s,\"jobs\":%lu,\"failures\":%lu,\"next_ms\":%lu}",
                         host->aside ? "true" : "false", (unsigned long)host->jobs,
                         (unsigned long)host->failures, (unsigned long)host->next_ms);
    }
    (void)buf_append_string(out, "]");
}

void
web_status_json(struct web_service *service, const struct web_request *request,
                struct web_reply *reply)
{
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    struct status_now figures;
    char now[CLOCK_TEXT_SIZE];
    status_take(service, true, &figures);
    web_query_give(service, query);
    clock_text(clock_wall_ms(), 1, now);
    reply->content_type = "application/json";
    (void)buf_printf(&reply->body, "{\"time\":\"%s\"", now);
    if (figures.has_queue) {
        json_stages(&reply->body, &figures);
        json_outcomes(&reply->body, &figures);
        json_hosts(&reply->body, &figures);
    }
    if (figures.has_index) {
        (void)buf_printf(&reply->body,
                         ",\"index\":{\"documents\":%lu,\"quads\":%lu,\"terms\":%lu,"
                         "\"literals\":%lu,\"bytes_on_disk\":%lu}",
                         (unsigned long)figures.index.documents, (unsigned long)figures.index.quads,
                         (unsigned long)figures.index.terms, (unsigned long)figures.index.literals,
                         (unsigned long)figures.index.bytes_on_disk);
    }
    if (!figures.has_queue || !figures.has_index) {
        (void)buf_append_string(&reply->body, ",\"missing\":\"");
        (void)buf_append_json(&reply->body, slice_string(figures.why.text));
        (void)buf_append_string(&reply->body, "\"");
    }
    (void)buf_append_string(&reply->body, "}\n");
    reply->status = figures.has_queue || figures.has_index ? 200 : 503;
    status_release(&figures);
}

/* ---- metrics: https://prometheus.io/docs/instrumenting/exposition_formats/ ---- */

static void
metric_head(struct buf *out, const char *name, const char *type, const char *help)
{
    (void)buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void
metric(struct buf *out, const char *name, const char *type, const char *help, uint64_t value)
{
    metric_head(out, name, type, help);
    (void)buf_printf(out, "%s %llu\n", name, (unsigned long long)value);
}

static bool
is_counter(const struct status_figure *figure)
{
    return figure->offset == offsetof(struct queue_stage_stats, done) ||
           figure->offset == offsetof(struct queue_stage_stats, released);
}

/* Jobs of each stage: those there are now, or those that ended since the beginning. */
static void
metric_jobs(struct buf *out, struct status_now *figures, const char *name, bool counters)
{
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        for (size_t i = 0; i < STATUS_FIGURES; i++) {
            const struct status_figure *figure = &status_figures[i];
            if (is_counter(figure) == counters &&
                figure->offset != offsetof(struct queue_stage_stats, oldest_ms)) {
                (void)buf_printf(
                    out, "%s{stage=\"%s\",%s=\"%s\"} %llu\n", name, stage_name((enum stage)stage),
                    counters ? "end" : "state", figure->name,
                    (unsigned long long)*status_figure_of(&figures->queue.stages[stage], figure));
            }
        }
    }
}

static void
metrics_queue(struct buf *out, struct status_now *figures)
{
    const struct queue_stats *queue = &figures->queue;
    metric_head(out, "quadrille_jobs", "gauge", "Jobs of each stage, by what they wait for.");
    metric_jobs(out, figures, "quadrille_jobs", false);
    metric_head(out, "quadrille_jobs_ended_total", "counter", "Attempts of jobs that ended.");
    metric_jobs(out, figures, "quadrille_jobs_ended_total", true);
    metric_head(out, "quadrille_oldest_job_seconds", "gauge", "Age of the oldest waiting job.");
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        (void)buf_printf(out, "quadrille_oldest_job_seconds{stage=\"%s\"} %.3f\n",
                         stage_name((enum stage)stage),
                         (double)queue->stages[stage].oldest_ms / 1000);
    }
    metric_head(out, "quadrille_outcomes_total", "counter", "Jobs that ended, by what came out.");
    for (int i = OUTCOME_NONE + 1; i < OUTCOME_COUNT; i++) {
        (void)buf_printf(out, "quadrille_outcomes_total{outcome=\"%s\"} %llu\n",
                         outcome_words[i].word, (unsigned long long)queue->outcomes[i]);
    }
    metric(out, "quadrille_uris_seen_total", "counter", "URIs ever put.", queue->seen);
    metric(out, "quadrille_hosts", "gauge", "Hosts with jobs.", queue->lanes);
    metric(out, "quadrille_hosts_busy", "gauge", "Hosts being fetched from.", queue->lanes_busy);
    metric(out, "quadrille_hosts_aside", "gauge", "Hosts that are set aside.", queue->hosts_aside);
    metric(out, "quadrille_disk_free_bytes", "gauge", "Free on the queue's disk.",
           queue->disk_free);
    metric(out, "quadrille_intake_stopped", "gauge", "1: nothing new is taken in.",
           queue->intake_stopped);
}

static void
metrics_index(struct buf *out, const struct index_stats *index)
{
    metric(out, "quadrille_index_documents", "gauge", "Documents with quads.", index->documents);
    metric(out, "quadrille_index_quads", "gauge", "Quads.", index->quads);
    metric(out, "quadrille_index_terms", "gauge", "Terms of the lexicon.", index->terms);
    metric(out, "quadrille_index_literals", "gauge", "Literals found by their words.",
           index->literals);
    metric(out, "quadrille_index_disk_bytes", "gauge", "On disk.", index->bytes_on_disk);
    metric(out, "quadrille_index_partitions_full", "gauge", "Partitions without room to write.",
           index->full);
    metric(out, "quadrille_index_partitions_damaged", "gauge", "Partitions with a damaged page.",
           index->damaged);
}

void
web_metrics(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    uint64_t answered[WEB_STATUS_CLASSES];
    struct buf *out = &reply->body;
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    struct status_now figures;
    status_take(service, false, &figures);
    web_query_give(service, query);
    metric_head(out, "quadrille_up", "gauge", "1: this part of the service answers.");
    (void)buf_printf(out, "quadrille_up{part=\"queue\"} %d\nquadrille_up{part=\"index\"} %d\n",
                     figures.has_queue, figures.has_index);
    if (figures.has_queue) {
        metrics_queue(out, &figures);
    }
    if (figures.has_index) {
        metrics_index(out, &figures.index);
    }
    status_release(&figures);
    web_answered(answered);
    metric_head(out, "quadrille_http_replies_total", "counter", "Requests that were answered.");
    for (size_t i = 0; i < WEB_STATUS_CLASSES; i++) {
        (void)buf_printf(out, "quadrille_http_replies_total{status=\"%zuxx\"} %llu\n", i + 2,
                         (unsigned long long)answered[i]);
    }
    reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
}
