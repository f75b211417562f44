#include "cli/validation/validation_print.h"

#include <inttypes.h>
#include <string.h>

#include "base/html_text.h"
#include "cli/report/html_frame.h"

enum { OUTPUT_MAXIMUM = 1 << 30 };

static struct validation_totals
validation_count(const struct term_survey *survey)
{
    struct validation_totals totals = {.untold = 0};
    for (size_t i = 0; i < survey->count; i++) {
        totals.by_severity[survey->terms[i].severity]++;
        totals.untold += survey->terms[i].untold;
    }
    return totals;
}

static const char *
kind_of(const struct term_facts *facts)
{
    return facts->as_property && facts->as_class ? "property and class"
           : facts->as_class                     ? "class"
           : facts->as_property                  ? "property"
                                                 : "term";
}

static bool
is_told(const struct rule_verdict *verdict)
{
    return verdict->outcome == RULE_FAILED || verdict->outcome == RULE_UNTOLD;
}

struct slice
validation_since(const struct surveyed_term *term, size_t rule)
{
    return strcmp(term_rules[rule].name, "resolves") == 0 &&
                   term->verdicts[rule].outcome == RULE_FAILED
               ? term->facts.at->since
               : slice_of(NULL, 0);
}

/* ---- text ---- */

static void
text_term(struct buf *out, const struct surveyed_term *term)
{
    buf_printf(out, "\n<%.*s>\n  %s, %" PRIu64 " uses", SLICE_PRINT(term->facts.iri),
               kind_of(&term->facts), term->uses);
    if (term->uses > 0) {
        buf_printf(out, ", first in %.*s", SLICE_PRINT(term->document));
    }
    if (term->line > 0) {
        buf_printf(out, ", line %" PRIu64, term->line);
    }
    buf_append_char(out, '\n');
    for (size_t i = 0; i < TERM_RULES; i++) {
        const struct rule_verdict *verdict = &term->verdicts[i];
        const struct slice since = validation_since(term, i);
        if (!is_told(verdict)) {
            continue;
        }
        buf_printf(out, "  %-8s %s: %.*s", report_severity_name(verdict->severity),
                   term_rules[i].name, SLICE_PRINT(verdict->text));
        if (since.length > 0) {
            buf_printf(out, ", since %.*s", SLICE_PRINT(since));
        }
        buf_printf(out, "\n           mend: %s\n", verdict->remedy);
    }
}

void
validation_print_text(const struct term_survey *survey, const char *asked, bool good, FILE *out)
{
    const struct validation_totals totals = validation_count(survey);
    struct buf text;
    buf_init(&text, OUTPUT_MAXIMUM);
    buf_printf(&text,
               "terms of %s: %zu, in %zu documents: %zu with errors, %zu with warnings, %zu with "
               "advice, %zu good; %zu are not fetched yet\n",
               asked, survey->count, survey->documents, totals.by_severity[REPORT_ERROR],
               totals.by_severity[REPORT_WARNING], totals.by_severity[REPORT_ADVICE],
               totals.by_severity[REPORT_GOOD], totals.untold);
    if (survey->cut) {
        buf_append_string(&text, "There are more documents or terms than are looked at.\n");
    }
    for (size_t i = 0; i < survey->count; i++) {
        if (good || survey->terms[i].severity != REPORT_GOOD) {
            text_term(&text, &survey->terms[i]);
        }
    }
    html_flush(&text, out);
    buf_release(&text);
}

/* ---- JSON ---- */

static void
json_text(struct buf *out, const char *name, struct slice text)
{
    if (text.length > 0) {
        buf_printf(out, ", \"%s\": \"", name);
        buf_append_json(out, text);
        buf_append_char(out, '"');
    }
}

static void
json_verdicts(struct buf *out, const struct surveyed_term *term)
{
    static const char *const outcomes[] = {
        [RULE_PASSED] = "passed", [RULE_FAILED] = "failed", [RULE_UNTOLD] = "cantTell"};
    bool first = true;
    buf_append_string(out, ", \"rules\": [");
    for (size_t i = 0; i < TERM_RULES; i++) {
        const struct rule_verdict *verdict = &term->verdicts[i];
        if (verdict->outcome == RULE_INAPPLICABLE) {
            continue;
        }
        buf_printf(out, "%s\n   {\"rule\": \"%s\", \"outcome\": \"%s\"", first ? "" : ",",
                   term_rules[i].name, outcomes[verdict->outcome]);
        first = false;
        if (is_told(verdict)) {
            json_text(out, "severity", slice_string(report_severity_name(verdict->severity)));
            json_text(out, "text", verdict->text);
            json_text(out, "since", validation_since(term, i));
            json_text(out, "advice", slice_string(verdict->remedy));
        }
        buf_append_char(out, '}');
    }
    buf_append_char(out, ']');
}

static void
json_term(struct buf *out, const struct surveyed_term *term)
{
    const struct document_facts *at = term->facts.at;
    buf_append_string(out, "{\"term\": \"");
    buf_append_json(out, term->facts.iri);
    buf_printf(out, "\", \"property\": %s, \"class\": %s, \"uses\": %" PRIu64 ", \"depth\": %u",
               term->facts.as_property ? "true" : "false", term->facts.as_class ? "true" : "false",
               term->uses, term->depth);
    json_text(out, "severity", slice_string(report_severity_name(term->severity)));
    json_text(out, "usedIn", term->document);
    if (term->line > 0) {
        buf_printf(out, ", \"line\": %" PRIu64, term->line);
    }
    json_text(out, "definedIn", at->document);
    if (at->http_status > 0) {
        buf_printf(out, ", \"httpStatus\": %" PRIu64, at->http_status);
    }
    buf_append_string(out, ", \"redirects\": [");
    for (size_t i = 0; i < at->hop_count; i++) {
        buf_append_string(out, i > 0 ? ", {\"uri\": \"" : "{\"uri\": \"");
        buf_append_json(out, at->hops[i].uri);
        buf_printf(out, "\", \"status\": %" PRIu64 "}", at->hops[i].status);
    }
    buf_append_char(out, ']');
    json_verdicts(out, term);
    buf_append_char(out, '}');
}

void
validation_print_json(const struct term_survey *survey, const char *asked, FILE *out)
{
    const struct validation_totals totals = validation_count(survey);
    struct buf text;
    buf_init(&text, OUTPUT_MAXIMUM);
    buf_append_string(&text, "{\"asked\": \"");
    buf_append_json(&text, slice_string(asked));
    buf_printf(&text, "\", \"documents\": %zu, \"count\": %zu, \"cut\": %s, \"severities\": {",
               survey->documents, survey->count, survey->cut ? "true" : "false");
    for (int i = 0; i < REPORT_SEVERITIES; i++) {
        buf_printf(&text, "%s\"%s\": %zu", i > 0 ? ", " : "", report_severity_name(i),
                   totals.by_severity[i]);
    }
    buf_printf(&text, "}, \"notFetched\": %zu,\n \"terms\": [", totals.untold);
    for (size_t i = 0; i < survey->count; i++) {
        buf_append_string(&text, i > 0 ? ",\n  " : "\n  ");
        json_term(&text, &survey->terms[i]);
        html_flush(&text, out);
    }
    buf_append_string(&text, "]}\n");
    html_flush(&text, out);
    buf_release(&text);
}

/* ---- HTML ---- */

static void
html_term(struct buf *out, const struct surveyed_term *term)
{
    buf_append_string(out, "<section class=\"hit\"><h3>");
    html_iri(out, term->facts.iri);
    buf_printf(out, "</h3>\n<p class=\"where\">%s, %" PRIu64 " uses", kind_of(&term->facts),
               term->uses);
    if (term->uses > 0) {
        buf_append_string(out, ", first in ");
        html_iri(out, term->document);
    }
    if (term->line > 0) {
        buf_printf(out, ", line %" PRIu64, term->line);
    }
    buf_append_string(out, "</p>\n");
    if (term->severity == REPORT_GOOD) {
        buf_append_string(out, "<p class=\"good\">Nothing to mend.</p></section>\n");
        return;
    }
    buf_append_string(out, "<table><thead><tr><th>Severity</th><th>What, and how it is mended</th>"
                           "</tr></thead>\n");
    for (size_t i = 0; i < TERM_RULES; i++) {
        const struct rule_verdict *verdict = &term->verdicts[i];
        const struct slice since = validation_since(term, i);
        if (!is_told(verdict)) {
            continue;
        }
        buf_printf(out, "<tr><td class=\"%s\">%s</td><td><span class=\"tag\">%s</span> ",
                   verdict->severity == REPORT_ERROR ? "bad" : "",
                   report_severity_name(verdict->severity), term_rules[i].name);
        html_text(out, verdict->text);
        if (since.length > 0) {
            buf_append_string(out, ", since ");
            html_text(out, since);
        }
        buf_append_string(out, "<br>");
        html_text(out, slice_string(verdict->remedy));
        buf_append_string(out, "</td></tr>\n");
    }
    buf_append_string(out, "</table></section>\n");
}

void
validation_print_html(const struct term_survey *survey, const char *asked, bool good, FILE *out)
{
    const struct validation_totals totals = validation_count(survey);
    struct buf text;
    buf_init(&text, OUTPUT_MAXIMUM);
    buf_append_string(&text, "<h2>Properties and classes of ");
    html_text(&text, slice_string(asked));
    buf_printf(&text,
               "</h2>\n<p>%zu terms in %zu documents: %zu with errors, %zu with warnings, %zu with "
               "advice, %zu good; %zu are not fetched yet.</p>\n",
               survey->count, survey->documents, totals.by_severity[REPORT_ERROR],
               totals.by_severity[REPORT_WARNING], totals.by_severity[REPORT_ADVICE],
               totals.by_severity[REPORT_GOOD], totals.untold);
    if (survey->cut) {
        buf_append_string(&text, "<p>There are more documents or terms than are looked at.</p>\n");
    }
    for (size_t i = 0; i < survey->count; i++) {
        if (good || survey->terms[i].severity != REPORT_GOOD) {
            html_term(&text, &survey->terms[i]);
            html_flush(&text, out);
        }
    }
    html_flush(&text, out);
    buf_release(&text);
}
