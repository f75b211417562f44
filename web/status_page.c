/* Where the crawl stands: a page, and the same as JSON and for Prometheus. Figures are sums over
 * all nodes. */
#include <stdio.h>

#include "base/system/clock.h"
#include "queue/client/queue_client.h"
#include "web/html.h"
#include "web/web_service.h"

enum { ANSWER_MS = 3000 };

struct figures {
    struct queue_stats queue;
    struct index_stats index;
    bool has_queue, has_index;
    struct reason why; /* why one of them is missing */
};

/* One name and place for each figure of a stage: JSON, page, metrics. */
struct stage_figure {
    const char *name, *title;
    size_t offset;
};
#define FIGURE(field, title)                                     \
    {                                                            \
#field, title, offsetof(struct queue_stage_stats, field) \
    }
static const struct stage_figure stage_figures[] = {
    FIGURE(ready, "waiting"),     FIGURE(leased, "at work"),       FIGURE(delayed, "retry"),
    FIGURE(scheduled, "recrawl"), FIGURE(outbox, "other node"),    FIGURE(done, "done"),
    FIGURE(buried, "set aside"),  FIGURE(released, "tried again"), FIGURE(oldest_ms, "oldest, ms")};
enum { STAGE_FIGURES = sizeof stage_figures / sizeof stage_figures[0] };

static uint64_t *
figure_of(struct queue_stage_stats *stage, const struct stage_figure *figure)
{
    return (uint64_t *)(void *)((char *)stage + figure->offset);
}

static void
add_queue(struct queue_stats *sum, struct queue_stats *one)
{
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        for (size_t i = 0; i < STAGE_FIGURES; i++) {
            uint64_t *total = figure_of(&sum->stages[stage], &stage_figures[i]);
            const uint64_t value = *figure_of(&one->stages[stage], &stage_figures[i]);
            if (stage_figures[i].offset == offsetof(struct queue_stage_stats, oldest_ms)) {
                *total = value > *total ? value : *total;
            } else {
                *total += value;
            }
        }
        sum->stages[stage].throttled |= one->stages[stage].throttled;
    }
    for (size_t i = 0; i < OUTCOME_COUNT; i++) {
        sum->outcomes[i] += one->outcomes[i];
    }
    sum->hosts_aside += one->hosts_aside;
    sum->hosts_failing += one->hosts_failing;
    sum->seen += one->seen;
    sum->lanes += one->lanes;
    sum->lanes_busy += one->lanes_busy;
    sum->intake_stopped |= one->intake_stopped;
    sum->disk_free =
        sum->disk_free == 0 || one->disk_free < sum->disk_free ? one->disk_free : sum->disk_free;
}

static enum status
ask_queues(struct web_service *service, struct queue_stats *sum, struct reason *why)
{
    TRY(web_check_part(service, "queue", why));
    for (size_t i = 0; i < service->queues.count; i++) {
        const struct queue_client_options options = {
            .endpoint = service->queues.endpoints[i], .name = "web", .keys = service->queues.keys};
        struct queue_client *client;
        struct queue_stats one = {.seen = 0};
        TRY(queue_client_open(&client, &options, why));
        const enum status status = queue_stats_get(client, &one, ANSWER_MS, why);
        queue_client_close(client);
        TRY(status);
        add_queue(sum, &one);
    }
    return STATUS_OK;
}

static void
gather(struct web_service *service, struct figures *figures)
{
    *figures = (struct figures){.has_queue = false};
    figures->has_queue = ask_queues(service, &figures->queue, &figures->why) == STATUS_OK;
    struct index_client *client;
    if (web_index_take(service, &client, &figures->why) == STATUS_OK) {
        figures->has_index = index_stats_get(client, &figures->index, &figures->why) == STATUS_OK;
        web_index_give(service, client, figures->has_index);
    }
}

static void
json_stages(struct buf *out, struct figures *figures)
{
    (void)buf_append_string(out, ",\"stages\":{");
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        (void)buf_printf(out, "%s\"%s\":{", stage > 0 ? "," : "", stage_name((enum stage)stage));
        for (size_t i = 0; i < STAGE_FIGURES; i++) {
            (void)buf_printf(
                out, "\"%s\":%lu,", stage_figures[i].name,
                (unsigned long)*figure_of(&figures->queue.stages[stage], &stage_figures[i]));
        }
        (void)buf_printf(out, "\"throttled\":%s}",
                         figures->queue.stages[stage].throttled ? "true" : "false");
    }
    (void)buf_printf(out,
                     "},\"seen\":%lu,\"lanes\":%lu,\"lanes_busy\":%lu,\"disk_free\":%lu,"
                     "\"intake_stopped\":%s",
                     (unsigned long)figures->queue.seen, (unsigned long)figures->queue.lanes,
                     (unsigned long)figures->queue.lanes_busy,
                     (unsigned long)figures->queue.disk_free,
                     figures->queue.intake_stopped ? "true" : "false");
}

void
web_status_json(struct web_service *service, const struct web_request *request,
                struct web_reply *reply)
{
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    struct figures figures;
    char now[CLOCK_TEXT_SIZE];
    gather(service, &figures);
    web_query_give(service, query);
    clock_text(clock_wall_ms(), 1, now);
    reply->content_type = "application/json";
    (void)buf_printf(&reply->body, "{\"time\":\"%s\"", now);
    if (figures.has_queue) {
        json_stages(&reply->body, &figures);
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
}

static void
page_stages(struct buf *out, struct figures *figures)
{
    (void)buf_append_string(out, "<table><tr><th scope=\"col\">stage");
    for (size_t i = 0; i < STAGE_FIGURES; i++) {
        (void)buf_printf(out, "<th scope=\"col\">%s", stage_figures[i].title);
    }
    (void)buf_append_string(out, "</tr>\n");
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        (void)buf_printf(out, "<tr><td>%s%s", stage_name((enum stage)stage),
                         figures->queue.stages[stage].throttled ? " (held back)" : "");
        for (size_t i = 0; i < STAGE_FIGURES; i++) {
            (void)buf_printf(
                out, "<td>%lu",
                (unsigned long)*figure_of(&figures->queue.stages[stage], &stage_figures[i]));
        }
        (void)buf_append_string(out, "</tr>\n");
    }
    (void)buf_printf(out,
                     "</table>\n<p>%lu URIs seen, %lu hosts, %lu of them being fetched from; "
                     "%lu MB of disk free.</p>\n",
                     (unsigned long)figures->queue.seen, (unsigned long)figures->queue.lanes,
                     (unsigned long)figures->queue.lanes_busy,
                     (unsigned long)(figures->queue.disk_free >> 20));
    if (figures->queue.intake_stopped) {
        (void)buf_append_string(out, "<p class=\"bad\">Nothing new is taken in: the disk or a "
                                     "limit is full.</p>\n");
    }
}

void
web_status(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    struct figures figures;
    gather(service, &figures);
    web_query_give(service, query);
    web_reply_header(reply, "Refresh", "5");
    html_begin(&reply->body, "Status of the crawl", slice_of(NULL, 0));
    (void)buf_append_string(&reply->body, "<h1>Status of the crawl</h1>\n");
    if (figures.has_queue) {
        page_stages(&reply->body, &figures);
    }
    if (figures.has_index) {
        (void)buf_printf(&reply->body,
                         "<p>Index: %lu quads of %lu documents, %lu terms, %lu literals, "
                         "%lu MB.</p>\n",
                         (unsigned long)figures.index.quads, (unsigned long)figures.index.documents,
                         (unsigned long)figures.index.terms, (unsigned long)figures.index.literals,
                         (unsigned long)(figures.index.bytes_on_disk >> 20));
    }
    if (!figures.has_queue || !figures.has_index) {
        (void)buf_append_string(&reply->body, "<p class=\"bad\">");
        html_text(&reply->body, slice_string(figures.why.text));
        (void)buf_append_string(&reply->body, "</p>\n");
    }
    html_end(&reply->body);
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
is_counter(const struct stage_figure *figure)
{
    return figure->offset == offsetof(struct queue_stage_stats, done) ||
           figure->offset == offsetof(struct queue_stage_stats, released);
}

/* Jobs of each stage: those there are now, or those that ended since the beginning. */
static void
metric_jobs(struct buf *out, struct figures *figures, const char *name, bool counters)
{
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        for (size_t i = 0; i < STAGE_FIGURES; i++) {
            const struct stage_figure *figure = &stage_figures[i];
            if (is_counter(figure) == counters &&
                figure->offset != offsetof(struct queue_stage_stats, oldest_ms)) {
                (void)buf_printf(
                    out, "%s{stage=\"%s\",%s=\"%s\"} %llu\n", name, stage_name((enum stage)stage),
                    counters ? "end" : "state", figure->name,
                    (unsigned long long)*figure_of(&figures->queue.stages[stage], figure));
            }
        }
    }
}

static void
metrics_queue(struct buf *out, struct figures *figures)
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
    struct figures figures;
    gather(service, &figures);
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
    web_answered(answered);
    metric_head(out, "quadrille_http_replies_total", "counter", "Requests that were answered.");
    for (size_t i = 0; i < WEB_STATUS_CLASSES; i++) {
        (void)buf_printf(out, "quadrille_http_replies_total{status=\"%zuxx\"} %llu\n", i + 2,
                         (unsigned long long)answered[i]);
    }
    reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
}

/* The service is well when its index answers: without a queue nothing is crawled, but all is found.
 */
void
web_health(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    struct figures figures;
    (void)request;
    gather(service, &figures);
    reply->content_type = "application/json";
    reply->status = figures.has_index ? 200 : 503;
    (void)buf_printf(&reply->body, "{\"status\":\"%s\",\"index\":%s,\"queue\":%s}\n",
                     figures.has_index ? "pass" : "fail", figures.has_index ? "true" : "false",
                     figures.has_queue ? "true" : "false");
}
