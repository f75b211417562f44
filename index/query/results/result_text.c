/* Results as lines: CSV, TSV, a table for people, N-Triples, N-Quads, Turtle. */
#include <stdlib.h>

#include "base/memory.h"
#include "index/query/results/result_syntax.h"
#include "rdf/core/lexical.h"
#include "rdf/core/writer.h"
#include "rdf/turtle/turtle_writer.h"

#define XSD "http://www.w3.org/2001/XMLSchema#"

/* ---- CSV: values only, RFC 4180 ---- */

static void
csv_cell(struct buf *buf, const char *before, struct slice text)
{
    bool quoted = false;
    for (size_t i = 0; i < text.length && !quoted; i++) {
        const char c = text.at[i];
        quoted = c == '"' || c == ',' || c == '\n' || c == '\r';
    }
    (void)buf_append_string(buf, before);
    if (!quoted) {
        (void)buf_append_slice(buf, text);
        return;
    }
    (void)buf_append_char(buf, '"');
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] == '"') {
            (void)buf_append_char(buf, '"');
        }
        (void)buf_append_char(buf, text.at[i]);
    }
    (void)buf_append_char(buf, '"');
}

static enum status
csv_columns(struct result_writer *writer, struct reason *why)
{
    (void)why;
    for (size_t i = 0; i < writer->count; i++) {
        csv_cell(&writer->buf, i ? "," : "", writer->names[i]);
    }
    return buf_append_string(&writer->buf, "\r\n");
}

static enum status
csv_row(struct result_writer *writer, const struct term *terms, struct reason *why)
{
    (void)why;
    for (size_t i = 0; i < writer->count; i++) {
        if (terms[i].kind == TERM_BLANK) {
            (void)buf_printf(&writer->buf, "%s_:%.*s", i ? "," : "", SLICE_PRINT(terms[i].value));
        } else {
            csv_cell(&writer->buf, i ? "," : "", terms[i].value);
        }
    }
    return buf_append_string(&writer->buf, "\r\n");
}

static enum status
text_boolean(struct result_writer *writer, bool answer, struct reason *why)
{
    (void)why;
    return buf_append_string(&writer->buf, answer ? "true\n" : "false\n");
}

const struct result_syntax result_csv = {csv_columns, csv_row, text_boolean, NULL, NULL};

/* ---- TSV: terms as in Turtle ---- */

static enum status
tsv_columns(struct result_writer *writer, struct reason *why)
{
    (void)why;
    for (size_t i = 0; i < writer->count; i++) {
        (void)buf_printf(&writer->buf, "%s?%.*s", i ? "\t" : "", SLICE_PRINT(writer->names[i]));
    }
    return buf_append_char(&writer->buf, '\n');
}

static bool
digits_only(struct slice text, bool point)
{
    size_t digits = 0, points = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (lexical_is(text.at[i], LEXICAL_DIGIT)) {
            digits++;
        } else if (text.at[i] == '.') {
            points++;
        } else if (i || (text.at[i] != '-' && text.at[i] != '+')) {
            return false;
        }
    }
    return digits && points == point && (!point || text.at[text.length - 1] != '.');
}

/* Whether Turtle has a form without quotes for it. */
static bool
is_plain_number(const struct term *term)
{
    if (slice_is(term->datatype, XSD "integer")) {
        return digits_only(term->value, false);
    }
    if (slice_is(term->datatype, XSD "decimal")) {
        return digits_only(term->value, true);
    }
    const size_t mark = slice_find(term->value, 'e') < term->value.length
                            ? slice_find(term->value, 'e')
                            : slice_find(term->value, 'E');
    if (!slice_is(term->datatype, XSD "double") || mark == term->value.length) {
        return false;
    }
    const struct slice mantissa = slice_of(term->value.at, mark);
    return (digits_only(mantissa, true) || digits_only(mantissa, false)) &&
           digits_only(slice_of(term->value.at + mark + 1, term->value.length - mark - 1), false);
}

static enum status
tsv_row(struct result_writer *writer, const struct term *terms, struct reason *why)
{
    (void)why;
    for (size_t i = 0; i < writer->count; i++) {
        if (i) {
            (void)buf_append_char(&writer->buf, '\t');
        }
        if (terms[i].kind == TERM_LITERAL && is_plain_number(&terms[i])) {
            (void)buf_append_slice(&writer->buf, terms[i].value);
        } else {
            (void)nquads_write_term(&writer->buf, &terms[i]);
        }
    }
    return buf_append_char(&writer->buf, '\n');
}

const struct result_syntax result_tsv = {tsv_columns, tsv_row, text_boolean, NULL, NULL};

/* ---- table ---- */

enum { CELL_WIDTH = 60 };

/* Columns on a terminal: characters, roughly. */
static size_t
text_width(struct slice text)
{
    size_t width = 0;
    for (size_t i = 0; i < text.length; i++) {
        width += ((unsigned char)text.at[i] & 0xC0) != 0x80;
    }
    return width;
}

/* Adds a cell. One that is wider than CELL_WIDTH characters is cut for a terminal; elsewhere it is
 * whole, and widens no column. */
static enum status
table_cell(struct result_writer *writer, size_t column, struct slice text, struct reason *why)
{
    const bool cut = writer->format == RESULT_CUT_TABLE;
    struct buf *cells = &writer->table.cells;
    size_t width = 0;
    for (size_t i = 0; i < text.length; i++) {
        const unsigned char c = (unsigned char)text.at[i];
        width += (c & 0xC0) != 0x80;
        if (cut && width > CELL_WIDTH) {
            (void)buf_append_string(cells, "…");
            break;
        }
        (void)buf_append_char(cells, c < 0x20 || c == 0x7F ? ' ' : (char)c);
    }
    const size_t widest = CELL_WIDTH + cut;
    width = width < widest ? width : widest;
    if (width > writer->table.widths[column]) {
        writer->table.widths[column] = width;
    }
    return buf_append_char(cells, '\0') == STATUS_OK
               ? STATUS_OK
               : status_fail(why, STATUS_LIMIT, "too many rows for a table; use csv or json");
}

static enum status
table_columns(struct result_writer *writer, struct reason *why)
{
    writer->table.widths = memory_zero(writer->count + 1, sizeof *writer->table.widths);
    (void)buf_append(&writer->table.cells, "", 0);
    for (size_t i = 0; i < writer->count; i++) {
        TRY(table_cell(writer, i, writer->names[i], why));
    }
    return STATUS_OK;
}

static enum status
table_row(struct result_writer *writer, const struct term *terms, struct reason *why)
{
    struct buf text;
    enum status status = STATUS_OK;
    buf_init(&text, RESULT_TABLE_MAXIMUM);
    for (size_t i = 0; status == STATUS_OK && i < writer->count; i++) {
        buf_reset(&text);
        const bool plain = terms[i].kind == TERM_LITERAL && !terms[i].language.length;
        if (plain) {
            (void)buf_append_slice(&text, terms[i].value);
        } else {
            (void)nquads_write_term(&text, &terms[i]);
        }
        status = text.overflowed ? status_fail(why, STATUS_LIMIT,
                                               "a term is too long for a table; use csv or json")
                                 : table_cell(writer, i, buf_slice(&text), why);
    }
    buf_release(&text);
    return status;
}

static void
table_line(struct result_writer *writer, const char **cell)
{
    for (size_t i = 0; i < writer->count; i++) {
        const struct slice text = slice_string(*cell);
        const bool last = i + 1 == writer->count;
        const size_t width = text_width(text);
        const size_t fill = last                              ? 0
                            : width < writer->table.widths[i] ? writer->table.widths[i] - width + 2
                                                              : 2;
        (void)buf_printf(&writer->buf, "%.*s%*s", SLICE_PRINT(text), (int)fill, "");
        *cell += text.length + 1;
    }
    (void)buf_append_char(&writer->buf, '\n');
}

static enum status
table_finish(struct result_writer *writer, struct reason *why)
{
    if (writer->answered || !writer->table.widths) {
        return STATUS_OK;
    }
    const char *cell = writer->table.cells.data;
    for (uint64_t line = 0; writer->count && line <= writer->rows; line++) {
        table_line(writer, &cell);
        for (size_t i = 0; line == 0 && i < writer->count; i++) {
            for (size_t k = 0; k < writer->table.widths[i]; k++) {
                (void)buf_append_char(&writer->buf, '-');
            }
            (void)buf_append_string(&writer->buf, i + 1 == writer->count ? "\n" : "  ");
        }
        TRY(result_flush(writer, false, why));
    }
    return buf_printf(&writer->buf, "(%llu row%s)\n", (unsigned long long)writer->rows,
                      writer->rows == 1 ? "" : "s");
}

const struct result_syntax result_table = {table_columns, table_row, text_boolean, NULL,
                                           table_finish};

/* ---- graphs ---- */

static enum status
lines_quad(struct result_writer *writer, const struct quad *quad, struct reason *why)
{
    (void)why;
    return nquads_write(&writer->buf, quad);
}

const struct result_syntax result_lines = {NULL, NULL, NULL, lines_quad, NULL};

static enum status
turtle_quad(struct result_writer *writer, const struct quad *quad, struct reason *why)
{
    return graph_add(&writer->graph, quad, why);
}

static enum status
turtle_finish(struct result_writer *writer, struct reason *why)
{
    return turtle_write(&writer->buf, &writer->graph, NULL, why);
}

const struct result_syntax result_turtle = {NULL, NULL, NULL, turtle_quad, turtle_finish};
