#include "cli/report/report_html.h"

#include <inttypes.h>

#include "base/html_text.h"

static void
pair(struct buf *out, const char *name, struct slice value)
{
    if (value.length > 0) {
        buf_printf(out, "<dt>%s</dt><dd>", name);
        html_text(out, value);
        buf_append_string(out, "</dd>\n");
    }
}

static void
pair_number(struct buf *out, const char *name, uint64_t number)
{
    if (number > 0) {
        buf_printf(out, "<dt>%s</dt><dd>%" PRIu64 "</dd>\n", name, number);
    }
}

static const char *
class_of(enum report_severity severity)
{
    return severity == REPORT_ERROR ? "bad" : severity == REPORT_GOOD ? "good" : "";
}

static void
advice(struct buf *out, const struct report_advice *given)
{
    if (given != NULL && given->advice != NULL) {
        buf_append_string(out, "<br>");
        html_text(out, slice_string(given->advice));
    }
}

/* ---- a page ---- */

static void
finding(struct buf *out, const struct report_finding *found)
{
    buf_printf(out, "<tr><td class=\"%s\">%s</td><td>", class_of(found->severity),
               report_severity_name(found->severity));
    html_text(out, found->where);
    buf_append_string(out, "</td><td class=\"number\">");
    if (found->line > 0) {
        buf_printf(out, "%" PRIu64, found->line);
    }
    buf_append_string(out, "</td><td>");
    html_text(out, found->text);
    if (found->times > 1) {
        buf_printf(out, ", %" PRIu64 " times", found->times);
    }
    advice(out, found->advice);
    buf_append_string(out, "</td></tr>\n");
}

static void
transforms(struct buf *out, const struct report_page *page)
{
    if (page->transform_count == 0) {
        return;
    }
    buf_append_string(out, "<dt>Quads</dt><dd>");
    for (size_t i = 0; i < page->transform_count; i++) {
        buf_append_string(out, i > 0 ? ", " : "");
        html_text(out, page->transforms[i].name);
        buf_append_char(out, '/');
        html_text(out, page->transforms[i].version);
        buf_printf(out, " %" PRIu64, page->transforms[i].quads);
    }
    buf_append_string(out, "</dd>\n");
}

void
report_html_page(struct buf *out, const struct report_page *page)
{
    buf_append_string(out, "<section class=\"hit\"><h3>");
    html_iri(out, page->uri);
    buf_append_string(out, "</h3>\n<dl class=\"pairs\">");
    pair(out, "State", page->state);
    pair_number(out, "HTTP status", page->http_status);
    pair(out, "Content-Type", page->content_type);
    pair(out, "Type found", page->type);
    pair(out, "Redirects to", page->redirect);
    pair(out, "Linked from", page->via);
    transforms(out, page);
    pair(out, "Made with", page->resources);
    buf_append_string(out, "</dl>\n");
    if (page->finding_count == 0) {
        buf_append_string(out, "<p class=\"good\">Nothing to mend.</p></section>\n");
        return;
    }
    buf_append_string(out, "<div class=\"wide\"><table><thead><tr><th>Severity</th><th>Where</th>"
                           "<th class=\"number\">Line</th><th>What, and how it is mended</th>"
                           "</tr></thead>\n");
    for (size_t i = 0; i < page->finding_count; i++) {
        finding(out, &page->findings[i]);
    }
    buf_append_string(out, "</table></div>\n");
    if (page->finding_left > 0) {
        buf_printf(out, "<p>and %zu more</p>\n", page->finding_left);
    }
    buf_append_string(out, "</section>\n");
}

/* ---- the whole ---- */

static void
tallies(struct buf *out, const char *title, const struct report_tallies *counted, bool quads)
{
    if (counted->count == 0) {
        return;
    }
    buf_printf(out, "<dt>%s</dt><dd>", title);
    for (size_t i = 0; i < counted->count; i++) {
        buf_append_string(out, i > 0 ? ", " : "");
        html_text(out, slice_string(counted->of[i].name));
        buf_printf(out, " %" PRIu64, quads ? counted->of[i].quads : counted->of[i].pages);
    }
    buf_append_string(out, "</dd>\n");
}

static void
frequent(struct buf *out, const struct report_totals *totals)
{
    if (totals->kind_count == 0) {
        return;
    }
    buf_append_string(out, "<h2>Most frequent</h2>\n<div class=\"wide\"><table><thead><tr>"
                           "<th class=\"number\">Pages</th><th>Severity</th><th>Where</th>"
                           "<th>What, and how it is mended</th><th>Example</th></tr></thead>\n");
    for (size_t i = 0; i < totals->kind_count && i < REPORT_FREQUENT; i++) {
        const struct report_kind *kind = &totals->kinds[i];
        buf_printf(out, "<tr><td class=\"number\">%" PRIu64 "</td><td class=\"%s\">%s</td><td>",
                   kind->pages, class_of(kind->severity), report_severity_name(kind->severity));
        html_text(out, slice_string(kind->where));
        buf_append_string(out, "</td><td>");
        html_text(out, slice_string(kind->text));
        advice(out, kind->advice);
        buf_append_string(out, "</td><td>");
        html_iri(out, slice_string(kind->example));
        if (kind->line > 0) {
            buf_printf(out, ", line %" PRIu64, kind->line);
        }
        buf_append_string(out, "</td></tr>\n");
    }
    buf_append_string(out, "</table></div>\n");
}

void
report_html_totals(struct buf *out, const char *const *sites, size_t count,
                   const struct report_totals *totals)
{
    buf_append_string(out, "<h1>Report of ");
    for (size_t i = 0; i < count; i++) {
        buf_append_string(out, i > 0 ? ", " : "");
        html_text(out, slice_string(sites[i]));
    }
    buf_append_string(out, "</h1>\n<dl class=\"pairs\">");
    pair_number(out, "Pages", totals->pages);
    for (int i = 0; i < REPORT_SEVERITIES; i++) {
        static const char *const names[REPORT_SEVERITIES] = {"with errors", "with warnings",
                                                             "with advice", "good"};
        pair_number(out, names[i], totals->by_severity[i]);
    }
    tallies(out, "States", &totals->states, false);
    tallies(out, "Quads", &totals->transforms, true);
    pair_number(out, "HTML pages without data", totals->without_data);
    pair_number(out, "Links that look endless", totals->links_trapped);
    buf_append_string(out, "</dl>\n");
    frequent(out, totals);
    buf_append_string(out, "<h2>Pages</h2>\n");
}
