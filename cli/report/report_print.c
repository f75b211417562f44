#include "cli/report/report_print.h"

#include <inttypes.h>
#include <string.h>

#include "cli/report/html_frame.h"
#include "cli/report/report_html.h"

/* ---- text ---- */

static bool
is_begin_of_character(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

/* Bytes of text that fill at most `columns`, up to a blank when there is one. */
static size_t
piece_of(struct slice text, size_t columns)
{
    size_t used = 0, blank = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (is_begin_of_character(text.at[i]) && used++ == columns) {
            return blank > 0 ? blank : i;
        }
        if (text.at[i] == ' ' && i > 0) {
            blank = i;
        }
    }
    return text.length;
}

/* In lines of REPORT_WIDTH columns, the first after `first`, the others as far to the right. What
 * has no blank is broken where the line ends. */
static void
wrap(struct report_printer *printer, const char *first, struct slice text)
{
    const size_t indent = strlen(first);
    fputs(first, printer->out);
    while (text.length > 0) {
        const size_t length = piece_of(text, REPORT_WIDTH - indent);
        fprintf(printer->out, "%.*s\n", (int)length, text.at);
        text = slice_of(text.at + length, text.length - length);
        while (text.length > 0 && text.at[0] == ' ') {
            text = slice_of(text.at + 1, text.length - 1);
        }
        if (text.length > 0) {
            fprintf(printer->out, "%*s", (int)indent, "");
        }
    }
}

static void
wrap_memory(struct report_printer *printer, const char *first)
{
    wrap(printer, first, buf_slice(&printer->memory));
    buf_reset(&printer->memory);
}

static void
text_advice(struct report_printer *printer, const char *first, const struct report_advice *advice)
{
    if (advice != NULL && advice->advice != NULL) {
        wrap(printer, first, slice_string(advice->advice));
    }
}

static void
text_kinds(struct report_printer *printer, const struct report_totals *totals)
{
    struct buf *memory = &printer->memory;
    for (size_t i = 0; i < totals->kind_count && i < REPORT_FREQUENT; i++) {
        const struct report_kind *kind = &totals->kinds[i];
        buf_printf(memory, "%" PRIu64 " page%s: %s: %s: %s", kind->pages,
                   kind->pages == 1 ? "" : "s", report_severity_name(kind->severity), kind->where,
                   kind->text);
        wrap_memory(printer, i == 0 ? "most frequent  " : "               ");
        text_advice(printer, "                 mend: ", kind->advice);
        buf_append_string(memory, kind->example);
        if (kind->line > 0) {
            buf_printf(memory, ", line %" PRIu64, kind->line);
        }
        wrap_memory(printer, "                 example: ");
    }
}

static void
text_totals(struct report_printer *printer, const char *const *sites, size_t count,
            const struct report_totals *totals)
{
    struct buf *memory = &printer->memory;
    for (size_t i = 0; i < count; i++) {
        buf_printf(memory, "%s%s", i > 0 ? ", " : "", sites[i]);
    }
    wrap_memory(printer, "sites          ");
    buf_printf(memory, "%" PRIu64 ":", totals->pages);
    for (int i = 0; i < REPORT_SEVERITIES; i++) {
        static const char *const names[REPORT_SEVERITIES] = {"with errors", "with warnings",
                                                             "with advice", "good"};
        buf_printf(memory, "%s %" PRIu64 " %s", i > 0 ? "," : "", totals->by_severity[i], names[i]);
    }
    wrap_memory(printer, "pages          ");
    for (size_t i = 0; i < totals->states.count; i++) {
        buf_printf(memory, "%s%s %" PRIu64, i > 0 ? ", " : "", totals->states.of[i].name,
                   totals->states.of[i].pages);
    }
    wrap_memory(printer, "states         ");
    for (size_t i = 0; i < totals->transforms.count; i++) {
        const struct report_tally *tally = &totals->transforms.of[i];
        buf_printf(memory, "%s%s %" PRIu64, i > 0 ? ", " : "", tally->name, tally->quads);
    }
    if (totals->transforms.count > 0) {
        wrap_memory(printer, "quads          ");
    }
    if (totals->without_data > 0) {
        buf_printf(memory, "%" PRIu64 " of %" PRIu64 " HTML pages", totals->without_data,
                   totals->html);
        wrap_memory(printer, "no data on     ");
    }
    if (totals->links_trapped + totals->trapped > 0) {
        buf_printf(memory,
                   "%" PRIu64 " links on %" PRIu64
                   " pages look endless and were not followed, %" PRIu64
                   " pages passed traps.queries",
                   totals->links_trapped, totals->with_traps, totals->trapped);
        wrap_memory(printer, "traps          ");
    }
    text_kinds(printer, totals);
}

/* Those that said something, or those that said nothing; each after `before`. */
static bool
text_transforms_of(struct buf *memory, const struct report_page *page, bool silent,
                   const char *before)
{
    bool any = false;
    for (size_t i = 0; i < page->transform_count; i++) {
        const uint64_t quads = page->transforms[i].quads;
        if ((quads == 0) != silent) {
            continue;
        }
        buf_printf(memory, "%s%.*s/%.*s", any ? ", " : before,
                   SLICE_PRINT(page->transforms[i].name), SLICE_PRINT(page->transforms[i].version));
        if (!silent) {
            buf_printf(memory, " %" PRIu64, quads);
        }
        any = true;
    }
    return any;
}

static void
text_transforms(struct report_printer *printer, const struct report_page *page)
{
    struct buf *memory = &printer->memory;
    if (page->transform_count == 0) {
        return;
    }
    const bool any = text_transforms_of(memory, page, false, "quads: ");
    (void)text_transforms_of(memory, page, true, any ? "; none: " : "no quads: ");
    buf_printf(memory, "; %" PRIu64 " ms, %.1f MB", page->milliseconds,
               (double)page->memory_bytes / 1e6);
    wrap_memory(printer, "  ");
}

static void
text_state(struct report_printer *printer, const struct report_page *page)
{
    struct buf *memory = &printer->memory;
    buf_append_slice(memory, page->state);
    if (page->http_status > 0) {
        buf_printf(memory, ", HTTP %" PRIu64, page->http_status);
    }
    if (page->type.length > 0) {
        buf_printf(memory, ", %.*s", SLICE_PRINT(page->type));
    }
    if (page->content_type.length > 0) {
        buf_printf(memory, " (Content-Type: %.*s)", SLICE_PRINT(page->content_type));
    }
    if (page->redirect.length > 0) {
        buf_printf(memory, ", to %.*s", SLICE_PRINT(page->redirect));
    }
    if (page->via.length > 0 && page->severity == REPORT_ERROR) {
        buf_printf(memory, ", linked from %.*s", SLICE_PRINT(page->via));
    }
    wrap_memory(printer, "  ");
    text_transforms(printer, page);
    struct slice rest = page->resources;
    while (rest.length > 0) {
        const size_t end = slice_find(rest, '\n');
        wrap(printer, "  made with ", slice_of(rest.at, end));
        const size_t step = end < rest.length ? end + 1 : end;
        rest = slice_of(rest.at + step, rest.length - step);
    }
}

static void
text_page(struct report_printer *printer, const struct report_page *page)
{
    struct buf *memory = &printer->memory;
    fputc('\n', printer->out);
    wrap(printer, "", page->uri);
    text_state(printer, page);
    for (size_t i = 0; i < page->finding_count; i++) {
        const struct report_finding *finding = &page->findings[i];
        char first[16];
        snprintf(first, sizeof first, "  %-8s ", report_severity_name(finding->severity));
        buf_append_slice(memory, finding->where);
        if (finding->line > 0) {
            buf_printf(memory, ", line %" PRIu64, finding->line);
        }
        buf_printf(memory, ": %.*s", SLICE_PRINT(finding->text));
        if (finding->times > 1) {
            buf_printf(memory, ", %" PRIu64 " times", finding->times);
        }
        wrap_memory(printer, first);
        text_advice(printer, "           mend: ", finding->advice);
    }
    if (page->finding_left > 0) {
        fprintf(printer->out, "  and %zu more\n", page->finding_left);
    }
}

/* ---- rows ---- */

static void
tsv_page(struct report_printer *printer, const struct report_page *page)
{
    for (size_t i = 0; i < page->finding_count; i++) {
        const struct report_finding *finding = &page->findings[i];
        const char *advice = finding->advice != NULL ? finding->advice->advice : NULL;
        fprintf(printer->out, "%.*s\t%s\t%.*s\t", SLICE_PRINT(page->uri),
                report_severity_name(finding->severity), SLICE_PRINT(finding->where));
        if (finding->line > 0) {
            fprintf(printer->out, "%" PRIu64, finding->line);
        }
        fprintf(printer->out, "\t%.*s", SLICE_PRINT(finding->text));
        if (finding->times > 1) {
            fprintf(printer->out, ", %" PRIu64 " times", finding->times);
        }
        fprintf(printer->out, "\t%s\n", advice != NULL ? advice : "");
    }
}

/* ---- JSON ---- */

static void
json_text(struct buf *out, const char *before, struct slice text)
{
    buf_printf(out, "%s\"", before);
    buf_append_json(out, text);
    buf_append_char(out, '"');
}

/* Left out when there is none. */
static void
json_member(struct buf *out, const char *name, struct slice text)
{
    if (text.length > 0) {
        buf_printf(out, ", \"%s\": ", name);
        json_text(out, "", text);
    }
}

static void
json_number(struct buf *out, const char *name, uint64_t number)
{
    buf_printf(out, ", \"%s\": %" PRIu64, name, number);
}

static void
json_advice(struct buf *out, const struct report_advice *advice)
{
    if (advice != NULL && advice->advice != NULL) {
        json_member(out, "advice", slice_string(advice->advice));
    }
}

static void
json_kinds(struct buf *out, const struct report_totals *totals)
{
    buf_append_string(out, ",\n \"frequent\": [");
    for (size_t i = 0; i < totals->kind_count && i < REPORT_FREQUENT; i++) {
        const struct report_kind *kind = &totals->kinds[i];
        buf_printf(out, "%s\n  {\"pages\": %" PRIu64 ", \"severity\": \"%s\"", i > 0 ? "," : "",
                   kind->pages, report_severity_name(kind->severity));
        json_member(out, "transform", slice_string(kind->where));
        json_member(out, "text", slice_string(kind->text));
        json_advice(out, kind->advice);
        json_member(out, "example", slice_string(kind->example));
        if (kind->line > 0) {
            json_number(out, "line", kind->line);
        }
        buf_append_char(out, '}');
    }
    buf_append_string(out, "]");
}

static void
json_totals(struct report_printer *printer, const char *const *sites, size_t count,
            const struct report_totals *totals)
{
    struct buf *out = &printer->memory;
    buf_append_string(out, "{\"sites\": [");
    for (size_t i = 0; i < count; i++) {
        json_text(out, i > 0 ? ", " : "", slice_string(sites[i]));
    }
    buf_printf(out, "],\n \"count\": %" PRIu64 ", \"severities\": {", totals->pages);
    for (int i = 0; i < REPORT_SEVERITIES; i++) {
        buf_printf(out, "%s\"%s\": %" PRIu64, i > 0 ? ", " : "", report_severity_name(i),
                   totals->by_severity[i]);
    }
    buf_append_string(out, "}, \"states\": {");
    for (size_t i = 0; i < totals->states.count; i++) {
        json_text(out, i > 0 ? ", " : "", slice_string(totals->states.of[i].name));
        buf_printf(out, ": %" PRIu64, totals->states.of[i].pages);
    }
    buf_append_string(out, "}, \"quads\": {");
    for (size_t i = 0; i < totals->transforms.count; i++) {
        json_text(out, i > 0 ? ", " : "", slice_string(totals->transforms.of[i].name));
        buf_printf(out, ": %" PRIu64, totals->transforms.of[i].quads);
    }
    buf_append_char(out, '}');
    json_number(out, "html", totals->html);
    json_number(out, "htmlWithoutData", totals->without_data);
    json_number(out, "linksTrapped", totals->links_trapped);
    json_number(out, "pagesWithTraps", totals->with_traps);
    json_number(out, "pagesTrapped", totals->trapped);
    json_kinds(out, totals);
    buf_append_string(out, ",\n \"pages\": [");
    fwrite(out->data, 1, out->length, printer->out);
    buf_reset(out);
}

static void
json_findings(struct buf *out, const struct report_page *page)
{
    buf_append_string(out, ", \"findings\": [");
    for (size_t i = 0; i < page->finding_count; i++) {
        const struct report_finding *finding = &page->findings[i];
        buf_printf(out, "%s{\"severity\": \"%s\"", i > 0 ? ", " : "",
                   report_severity_name(finding->severity));
        json_member(out, "transform", finding->where);
        if (finding->line > 0) {
            json_number(out, "line", finding->line);
        }
        json_number(out, "times", finding->times);
        json_member(out, "text", finding->text);
        json_advice(out, finding->advice);
        buf_append_char(out, '}');
    }
    buf_append_string(out, "]");
    if (page->finding_left > 0) {
        json_number(out, "findingsLeftOut", page->finding_left);
    }
}

static void
json_page(struct report_printer *printer, const struct report_page *page)
{
    struct buf *out = &printer->memory;
    json_text(out, printer->pages > 0 ? ",\n  {\"uri\": " : "\n  {\"uri\": ", page->uri);
    json_member(out, "severity", slice_string(report_severity_name(page->severity)));
    json_member(out, "state", page->state);
    json_member(out, "reason", page->reason);
    if (page->http_status > 0) {
        json_number(out, "httpStatus", page->http_status);
    }
    json_member(out, "type", page->type);
    json_member(out, "contentType", page->content_type);
    json_member(out, "truncated", page->truncated);
    json_member(out, "redirect", page->redirect);
    json_member(out, "via", page->via);
    if (page->transformed) {
        json_number(out, "milliseconds", page->milliseconds);
        json_number(out, "memoryBytes", page->memory_bytes);
    }
    buf_append_string(out, ", \"transforms\": [");
    for (size_t i = 0; i < page->transform_count; i++) {
        json_text(out, i > 0 ? ", {\"name\": " : "{\"name\": ", page->transforms[i].name);
        json_member(out, "version", page->transforms[i].version);
        json_number(out, "quads", page->transforms[i].quads);
        buf_append_char(out, '}');
    }
    buf_append_string(out, "], \"resources\": [");
    struct slice rest = page->resources;
    for (const char *before = ""; rest.length > 0; before = ", ") {
        const size_t end = slice_find(rest, '\n');
        json_text(out, before, slice_of(rest.at, end));
        const size_t step = end < rest.length ? end + 1 : end;
        rest = slice_of(rest.at + step, rest.length - step);
    }
    buf_append_char(out, ']');
    json_findings(out, page);
    buf_append_char(out, '}');
    fwrite(out->data, 1, out->length, printer->out);
    buf_reset(out);
}

/* ---- by format ---- */

static void
html_page(struct report_printer *printer, const struct report_page *page)
{
    report_html_page(&printer->memory, page);
    html_flush(&printer->memory, printer->out);
}

void
report_print_begin(struct report_printer *printer, const char *const *sites, size_t count,
                   const struct report_totals *totals)
{
    if (printer->format == REPORT_TEXT) {
        text_totals(printer, sites, count, totals);
    } else if (printer->format == REPORT_JSON) {
        json_totals(printer, sites, count, totals);
    } else if (printer->format == REPORT_HTML) {
        report_html_totals(&printer->memory, sites, count, totals);
        html_flush(&printer->memory, printer->out);
    }
}

void
report_print_page(struct report_printer *printer, const struct report_page *page)
{
    static void (*const print[])(struct report_printer *,
                                 const struct report_page *) = {[REPORT_TEXT] = text_page,
                                                                [REPORT_TSV] = tsv_page,
                                                                [REPORT_JSON] = json_page,
                                                                [REPORT_HTML] = html_page};
    print[printer->format](printer, page);
    printer->pages++;
}

void
report_print_end(struct report_printer *printer, uint64_t left_out)
{
    if (printer->format == REPORT_JSON) {
        fprintf(printer->out, "],\n \"pagesLeftOut\": %" PRIu64 "}\n", left_out);
    } else if (printer->format == REPORT_TEXT && left_out > 0) {
        fprintf(printer->out, "\n%" PRIu64 " more pages; --limit 0 shows all\n", left_out);
    } else if (printer->format == REPORT_HTML && left_out > 0) {
        fprintf(printer->out, "<p>%" PRIu64 " more pages are not shown.</p>\n", left_out);
    }
}
