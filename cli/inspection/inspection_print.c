#include "cli/inspection/inspection_print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/html_text.h"
#include "base/memory.h"
#include "cli/inspection/graph_drawing.h"
#include "cli/report/html_frame.h"
#include "cli/report/report_html.h"
#include "cli/report/report_print.h"
#include "cli/shared/cli.h"
#include "index/query/results/result.h"
#include "rdf/core/writer.h"

enum { OUTPUT_MAXIMUM = 1 << 30, TERM_SHOWN = 400, LINE_MAXIMUM = 8 << 20 };

static void
append_statement(struct buf *out, const struct quad *quad)
{
    struct quad triple = *quad;
    triple.graph = (struct term){.kind = TERM_NONE};
    (void)nquads_write(out, &triple);
}

static void
print_page(const struct inspection *inspection, enum report_format format, FILE *out)
{
    struct report_printer printer = {.out = out, .format = format};
    buf_init(&printer.memory, LINE_MAXIMUM);
    report_print_page(&printer, &inspection->page);
    buf_release(&printer.memory);
}

/* ---- text ---- */

void
inspection_print_text(const struct inspection *inspection, FILE *out)
{
    struct buf line;
    buf_init(&line, OUTPUT_MAXIMUM);
    if (inspection->asked.length > 0) {
        fprintf(out, "redirected from %.*s\n", SLICE_PRINT(inspection->asked));
    }
    print_page(inspection, REPORT_TEXT, out);
    fprintf(out, "  type by: %.*s\n\n", SLICE_PRINT(inspection->evidence));
    for (size_t i = 0; i < inspection->count; i++) {
        const struct inspected_statement *statement = &inspection->statements[i];
        buf_printf(&line, "%.*s\t%" PRIu64 "\t", SLICE_PRINT(statement->transform),
                   statement->line);
        append_statement(&line, &statement->quad);
        html_flush(&line, out);
    }
    if (inspection->left_out > 0) {
        fprintf(out, "%" PRIu64 " more statements\n", inspection->left_out);
    }
    buf_release(&line);
}

/* ---- JSON ---- */

static void
json_member(struct buf *out, const char *before, const char *name, struct slice text)
{
    buf_printf(out, "%s\"%s\": \"", before, name);
    buf_append_json(out, text);
    buf_append_char(out, '"');
}

void
inspection_print_json(const struct inspection *inspection, FILE *out)
{
    struct buf line, statement;
    buf_init(&line, OUTPUT_MAXIMUM);
    buf_init(&statement, OUTPUT_MAXIMUM);
    fputs("{\"document\":", out);
    print_page(inspection, REPORT_JSON, out);
    if (inspection->asked.length > 0) {
        json_member(&line, ",\n ", "asked", inspection->asked);
    }
    json_member(&line, ",\n ", "evidence", inspection->evidence);
    buf_append_string(&line, ",\n \"statements\": [");
    for (size_t i = 0; i < inspection->count; i++) {
        const struct inspected_statement *at = &inspection->statements[i];
        buf_reset(&statement);
        append_statement(&statement, &at->quad);
        buf_append_string(&line, i > 0 ? ",\n  {" : "\n  {");
        json_member(&line, "", "transform", at->transform);
        buf_printf(&line, ", \"line\": %" PRIu64, at->line);
        json_member(&line, ", ", "statement", slice_trim(buf_slice(&statement)));
        buf_append_char(&line, '}');
        html_flush(&line, out);
    }
    buf_printf(&line, "],\n \"statementsLeftOut\": %" PRIu64 "}\n", inspection->left_out);
    html_flush(&line, out);
    buf_release(&line);
    buf_release(&statement);
}

/* ---- RDF ---- */

enum status
inspection_print_rdf(const struct inspection *inspection, const char *format, FILE *out,
                     struct reason *why)
{
    enum result_format chosen;
    struct result_writer *writer;
    enum status status = STATUS_OK;
    TRY(result_format_find(slice_string(format), QUERY_CONSTRUCT, &chosen, why));
    result_writer_open(&writer, chosen, cli_print_piece, out);
    const struct query_sink *sink = result_writer_sink(writer);
    for (size_t i = 0; i < inspection->count && status == STATUS_OK; i++) {
        struct quad triple = inspection->statements[i].quad;
        if (i > 0 && quad_compare(&triple, &inspection->statements[i - 1].quad) == 0) {
            continue;
        }
        if (chosen != RESULT_NQUADS) {
            triple.graph = (struct term){.kind = TERM_NONE};
        }
        status = sink->quad(sink->context, &triple, why);
    }
    if (status == STATUS_OK) {
        status = result_writer_finish(writer, why);
    }
    result_writer_free(writer);
    return status;
}

/* ---- HTML ---- */

static size_t
append_drawing(const struct inspection *inspection, struct buf *out)
{
    const struct quad **quads = memory_zero(inspection->count + 1, sizeof *quads);
    for (size_t i = 0; i < inspection->count; i++) {
        quads[i] = &inspection->statements[i].quad;
    }
    const size_t left_out = graph_drawing(out, quads, inspection->count);
    free(quads);
    return left_out;
}

void
inspection_print_svg(const struct inspection *inspection, FILE *out)
{
    struct buf text;
    buf_init(&text, OUTPUT_MAXIMUM);
    (void)append_drawing(inspection, &text);
    html_flush(&text, out);
    buf_release(&text);
}

static void
html_term(struct buf *out, const struct term *term)
{
    const struct slice shown = html_text_start(term->value, TERM_SHOWN);
    const bool cut = shown.length < term->value.length;
    if (term->kind == TERM_IRI && !cut) {
        html_iri(out, shown);
        return;
    }
    buf_append_string(out, term->kind == TERM_BLANK ? "_:" : "");
    html_text(out, shown);
    buf_append_string(out, cut ? "…" : "");
    if (term->language.length > 0) {
        buf_append_string(out, " <span class=\"where\">");
        html_text(out, term->language);
        buf_append_string(out, "</span>");
    }
}

static void
html_statements(const struct inspection *inspection, struct buf *out)
{
    buf_append_string(out, "<h2>Statements</h2>\n<div class=\"wide\"><table><thead><tr>"
                           "<th class=\"number\">Line</th><th>Transform</th><th>Subject</th>"
                           "<th>Property</th><th>Value</th></tr></thead>\n");
    size_t i = 0;
    for (; i < inspection->count && i < INSPECTION_SHOWN; i++) {
        const struct inspected_statement *statement = &inspection->statements[i];
        const struct term *terms[] = {&statement->quad.subject, &statement->quad.predicate,
                                      &statement->quad.object};
        buf_append_string(out, "<tr><td class=\"number\">");
        if (statement->line > 0) {
            buf_printf(out, "%" PRIu64, statement->line);
        }
        buf_append_string(out, "</td><td>");
        html_text(out, statement->transform);
        for (size_t k = 0; k < sizeof terms / sizeof terms[0]; k++) {
            buf_append_string(out, "</td><td>");
            html_term(out, terms[k]);
        }
        buf_append_string(out, "</td></tr>\n");
    }
    buf_append_string(out, "</table></div>\n");
    const uint64_t more = inspection->count - i + inspection->left_out;
    if (more > 0) {
        buf_printf(out, "<p>%" PRIu64 " more statements are not shown here.</p>\n", more);
    }
}

void
inspection_print_html(const struct inspection *inspection, FILE *out)
{
    struct buf text;
    buf_init(&text, OUTPUT_MAXIMUM);
    if (inspection->asked.length > 0) {
        buf_append_string(&text, "<p class=\"where\">redirected from ");
        html_iri(&text, inspection->asked);
        buf_append_string(&text, "</p>\n");
    }
    report_html_page(&text, &inspection->page);
    buf_append_string(&text, "<p class=\"where\">The type was told by: ");
    html_text(&text, inspection->evidence);
    buf_append_string(&text, "</p>\n");
    if (inspection->count > 0) {
        buf_append_string(&text, "<h2>Graph</h2>\n");
        const size_t left_out = append_drawing(inspection, &text);
        if (left_out > 0) {
            buf_printf(&text, "<p>%zu more statements are not drawn.</p>\n", left_out);
        }
        html_statements(inspection, &text);
    }
    html_flush(&text, out);
    buf_release(&text);
}
