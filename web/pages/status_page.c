/* Tells where the crawl stands, for people. The page loads itself anew where there are no scripts;
 * with them assets/status.js exchanges the parts that live, and draws its figures over time.
 */
#include <stdio.h>

#include "web/html.h"
#include "web/pages/page_terms.h"
#include "web/pages/status_figures.h"

enum { REFRESH_SECONDS = 5 };

/* name: for scripts. */
static void
put_card(struct buf *out, const char *name, uint64_t figure, const char *label)
{
    (void)buf_printf(out,
                     "<div class=\"card\"><p class=\"figure\" data-figure=\"%s\" "
                     "data-value=\"%llu\">",
                     name, (unsigned long long)figure);
    page_number(out, figure);
    (void)buf_printf(out, "</p><p class=\"label\">%s</p></div>\n", label);
}

static void
put_cards(struct buf *out, const struct status_now *now)
{
    (void)buf_append_string(out, "<div class=\"cards\">\n");
    if (now->has_index) {
        put_card(out, "documents", now->index.documents, "documents with data");
        put_card(out, "quads", now->index.quads, "statements");
        put_card(out, "megabytes", now->index.bytes_on_disk >> 20, "MB of index");
    }
    if (now->has_queue) {
        put_card(out, "seen", now->queue.seen, "addresses seen");
        put_card(out, "hosts", now->queue.lanes, "hosts with work");
        put_card(out, "hosts-busy", now->queue.lanes_busy, "hosts asked just now");
        put_card(out, "disk-free", now->queue.disk_free >> 30, "GB of disk free");
    }
    (void)buf_append_string(out, "</div>\n");
}

static void
put_stage(struct buf *out, struct status_now *now, int stage)
{
    struct queue_stage_stats *figures = &now->queue.stages[stage];
    (void)buf_printf(out, "<tr data-stage=\"%s\"><th scope=\"row\">%s%s%s</th><td>",
                     stage_name((enum stage)stage), stage_name((enum stage)stage),
                     figures->throttled ? " <span class=\"tag\">waits for the next</span>" : "",
                     stage == now->bottleneck ? " <span class=\"tag bad\">bottleneck</span>" : "");
    (void)buf_printf(out, now->has_rates ? "%.1f" : "–", now->done_rate[stage]);
    (void)buf_append_string(out, "</td>");
    for (size_t i = 0; i < STATUS_FIGURES; i++) {
        const uint64_t figure = *status_figure_of(figures, &status_figures[i]);
        (void)buf_printf(out, "<td data-figure=\"%s\" data-value=\"%llu\">", status_figures[i].name,
                         (unsigned long long)figure);
        page_number(out, figure);
        (void)buf_append_string(out, "</td>");
    }
    (void)buf_append_string(out, "</tr>\n");
}

static void
put_stages(struct buf *out, struct status_now *now)
{
    (void)buf_append_string(out, "<h2>Stages</h2>\n<div class=\"wide\"><table class=\"figures\">"
                                 "<thead><tr><th scope=\"col\">stage</th>"
                                 "<th scope=\"col\">per second</th>");
    for (size_t i = 0; i < STATUS_FIGURES; i++) {
        (void)buf_printf(out, "<th scope=\"col\">%s</th>", status_figures[i].title);
    }
    (void)buf_append_string(out, "</tr></thead><tbody>\n");
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        put_stage(out, now, stage);
    }
    (void)buf_append_string(out, "</tbody></table></div>\n");
    if (now->queue.intake_stopped) {
        (void)buf_append_string(out, "<p class=\"bad\">Nothing new is taken in: the disk or a "
                                     "limit is full.</p>\n");
    }
    if (now->queue.cut_off) {
        (void)buf_append_string(out, "<p class=\"bad\">No host answers any more: it may be this "
                                     "machine's own network. What is to be fetched waits.</p>\n");
    }
}

static void
put_outcomes(struct buf *out, const struct status_now *now)
{
    int stage = -1;
    (void)buf_append_string(out, "<h2>What became of documents</h2>\n<div class=\"cards middle\">");
    for (int i = OUTCOME_NONE + 1; i < OUTCOME_COUNT; i++) {
        if (now->queue.outcomes[i] == 0) {
            continue;
        }
        if ((int)outcome_words[i].stage != stage) {
            (void)buf_append_string(out, stage >= 0 ? "</dl></div>\n" : "\n");
            stage = (int)outcome_words[i].stage;
            (void)buf_printf(out, "<div class=\"card\"><h3>%s</h3><dl class=\"counts\">",
                             stage_name((enum stage)stage));
        }
        (void)buf_printf(out, "<dt>%s</dt><dd>", outcome_words[i].text);
        page_number(out, now->queue.outcomes[i]);
        (void)buf_append_string(out, "</dd>");
    }
    (void)buf_append_string(out, stage >= 0 ? "</dl></div>\n</div>\n"
                                            : "</div><p class=\"where\">Nothing yet.</p>\n");
}

static void
put_hosts(struct buf *out, const struct status_now *now)
{
    const uint64_t waiting = now->queue.lanes - now->queue.lanes_busy;
    (void)buf_append_string(out, "<h2>Hosts that wait</h2>\n<p>");
    page_number(out, now->queue.lanes >= now->queue.lanes_busy ? waiting : 0);
    (void)buf_append_string(out, " wait for their turn (fetch.delay, Crawl-delay, Retry-After), ");
    page_number(out, now->queue.hosts_failing);
    (void)buf_append_string(out, " are in trouble, ");
    page_number(out, now->queue.hosts_aside);
    (void)buf_append_string(out, " of them set aside.</p>\n");
    if (now->host_count == 0) {
        return;
    }
    (void)buf_append_string(
        out, "<div class=\"wide\"><table><thead><tr><th scope=\"col\">Host</th>"
             "<th scope=\"col\">Why</th><th scope=\"col\" class=\"number\">Failures</th>"
             "<th scope=\"col\" class=\"number\">Waiting</th><th scope=\"col\">Asked again</th>"
             "</tr></thead><tbody>\n");
    for (size_t i = 0; i < now->host_count; i++) {
        const struct queue_host *host = &now->hosts[i];
        (void)buf_append_string(out, "<tr><td>");
        page_document_link(out, host->origin);
        (void)buf_append_string(out, host->aside ? " <span class=\"tag\">set aside</span></td><td>"
                                                 : "</td><td>");
        html_text(out, host->cause);
        (void)buf_append_string(out, "</td><td class=\"number\">");
        page_number(out, host->failures);
        (void)buf_append_string(out, "</td><td class=\"number\">");
        page_number(out, host->jobs);
        (void)buf_append_string(out, "</td><td>");
        page_time(out, host->next_ms);
        (void)buf_append_string(out, "</td></tr>\n");
    }
    (void)buf_append_string(out, "</tbody></table></div>\n");
}

void
web_status(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    struct buf *out = &reply->body;
    struct status_now now;
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    status_take(service, true, &now);
    web_query_give(service, query);
    html_begin_live(out, "Status of the crawl", REFRESH_SECONDS);
    (void)buf_append_string(out,
                            "<h1>Status of the crawl</h1>\n<div id=\"live\" class=\"live\">\n");
    if (!now.has_queue || !now.has_index) {
        (void)buf_append_string(out, "<p class=\"bad\" role=\"alert\">");
        html_text(out, slice_string(now.why.text));
        (void)buf_append_string(out, "</p>\n");
    }
    put_cards(out, &now);
    if (now.has_queue) {
        put_stages(out, &now);
    }
    (void)buf_append_string(out, "</div>\n<section id=\"plots\" hidden><h2>Over time</h2>"
                                 "<p class=\"row\"><button class=\"plain\" data-span=\"hour\" "
                                 "aria-pressed=\"true\">An hour</button>"
                                 "<button class=\"plain\" data-span=\"day\" "
                                 "aria-pressed=\"false\">A day</button>"
                                 "<button class=\"plain\" data-span=\"month\" "
                                 "aria-pressed=\"false\">30 days</button></p>"
                                 "<div class=\"cards broad\"></div></section>\n"
                                 "<div id=\"live-hosts\" class=\"live\">\n");
    if (now.has_queue) {
        put_outcomes(out, &now);
        put_hosts(out, &now);
    }
    (void)buf_append_string(out, "</div>\n");
    html_script(out, "views.js");
    html_script(out, "status.js");
    html_end(out);
    status_release(&now);
}
