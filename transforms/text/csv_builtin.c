/* Tables to RDF, after the minimal mode of https://www.w3.org/TR/csv2rdf/: each row is a subject,
 * each column a property `D#name`, each cell that is not empty a string.
 *
 * Rows are `D#row=N` (RFC 7111) and not blank nodes: two equal rows stay two, no row's label hangs
 * on all others, and hundreds of thousands of them need no canonical labelling.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "transforms/core/builtins.h"
#include "transforms/text/csv.h"

enum { NAME_MAXIMUM = 1000, IRI_SIZE = 1 << 20 };

struct table {
    struct transformation *transformation;
    struct csv_reader reader;
    const char *properties[CSV_COLUMNS];
    size_t columns;
    struct buf subject;
};

/* ---- the header ---- */

static bool
is_number(struct slice cell)
{
    for (size_t i = 0; i < cell.length; i++) {
        if (!strchr("0123456789.,+-eE/:% ", cell.at[i]) || cell.at[i] == 0) {
            return false;
        }
    }
    return cell.length > 0;
}

static int
compare_cells(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

/* A first record whose cells are distinct names and no data. Columns without a title may be
 * among them. */
static bool
is_header(const struct csv_reader *reader)
{
    static _Thread_local struct slice sorted[CSV_COLUMNS];
    size_t n = 0, titles = 0;
    for (size_t i = 0; i < reader->count && i < CSV_COLUMNS; i++) {
        const struct slice cell = reader->cells[i];
        if (is_number(cell) || cell.length > NAME_MAXIMUM ||
            slice_find_slice(cell, SLICE("://")) < cell.length) {
            return false;
        }
        titles += cell.length > 0;
        if (cell.length > 0) {
            sorted[n++] = cell;
        }
    }
    qsort(sorted, n, sizeof *sorted, compare_cells);
    for (size_t i = 1; i < n; i++) {
        if (slice_equal(sorted[i - 1], sorted[i])) {
            return false;
        }
    }
    return titles * 2 >= reader->count;
}

/* "D#name", percent-encoded as URI templates do; "D#_col.N" for a column without a name. */
static const char *
property(struct table *table, struct slice name, size_t number)
{
    static const char hex[] = "0123456789ABCDEF";
    struct transformation *transformation = table->transformation;
    struct buf iri;
    buf_init(&iri, IRI_SIZE);
    buf_append_slice(&iri, buf_slice(&transformation->iri));
    buf_append_char(&iri, '#');
    for (size_t i = 0; i < name.length; i++) {
        const unsigned char c = (unsigned char)name.at[i];
        const bool kept = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9') ||
                          c == '-' || c == '.' || c == '_' || c == '~';
        if (kept) {
            buf_append_char(&iri, (char)c);
        } else {
            buf_append(&iri, (char[3]){'%', hex[c >> 4], hex[c & 15]}, 3);
        }
    }
    if (name.length == 0) {
        buf_printf(&iri, "_col.%zu", number);
    }
    const struct slice copy = arena_copy(&transformation->arena, buf_slice(&iri));
    buf_release(&iri);
    return copy.at;
}

static enum status
name_columns(struct table *table, bool header, struct reason *why)
{
    const struct csv_reader *reader = &table->reader;
    table->columns = reader->count;
    for (size_t i = 0; i < CSV_COLUMNS && i < reader->count; i++) {
        table->properties[i] =
            property(table, header ? reader->cells[i] : (struct slice){0}, i + 1);
        if (!table->properties[i]) {
            return status_fail(why, STATUS_LIMIT, "the names of columns are too long");
        }
    }
    if (reader->count > CSV_COLUMNS) {
        transformation_problem(table->transformation, reader->line,
                               "more than 1000 columns; those behind are left out");
        table->columns = CSV_COLUMNS;
    }
    return STATUS_OK;
}

/* ---- the rows ---- */

static void
take_row(struct table *table, struct emitter *emitter)
{
    const struct csv_reader *reader = &table->reader;
    char text[160];
    emitter->line = (uint32_t)reader->line;
    if (reader->count != table->columns && reader->count <= CSV_COLUMNS) {
        snprintf(text, sizeof text, "%zu cells, but the table has %zu columns; %s", reader->count,
                 table->columns,
                 reader->count < table->columns ? "those that lack are left out"
                                                : "those behind are left out");
        transformation_problem(table->transformation, reader->line, text);
    }
    if (reader->cut) {
        transformation_problem(table->transformation, reader->line,
                               "a cell of more than 256 KiB was cut");
    }
    buf_reset(&table->subject);
    buf_append_slice(&table->subject, buf_slice(&table->transformation->iri));
    buf_printf(&table->subject, "#row=%llu", (unsigned long long)reader->record);
    const struct term subject = term_iri(buf_slice(&table->subject));
    for (size_t i = 0; i < reader->count && i < table->columns; i++) {
        if (reader->cells[i].length > 0) {
            const struct term object = term_literal(reader->cells[i]);
            emit(emitter, &subject, table->properties[i], &object);
        }
    }
}

static enum status
read_table(struct table *table, struct slice text, char delimiter, struct reason *why)
{
    struct quad_sink sink;
    struct emitter emitter = transformation_emitter(table->transformation, &sink, why);
    struct csv_reader *reader = &table->reader;
    uint64_t rows = 0;
    csv_begin(reader, text, delimiter);
    if (!csv_read(reader)) {
        return STATUS_OK;
    }
    const bool header = is_header(reader);
    TRY(name_columns(table, header, why));
    if (!header) {
        transformation_problem(table->transformation, reader->line,
                               "the first line names no columns; they are called _col.1 and so on");
        take_row(table, &emitter);
    }
    while (emitter.status == STATUS_OK && csv_read(reader)) {
        if (++rows > CSV_ROWS) {
            transformation_problem(table->transformation, reader->line,
                                   "more than a million rows; those behind are left out");
            break;
        }
        take_row(table, &emitter);
    }
    if (reader->open_line > 0) {
        transformation_problem(table->transformation, reader->open_line,
                               "a quote that begins here never ends; it was taken for a character");
    }
    return emitter.status;
}

enum status
builtin_csv(struct transformation *transformation, struct reason *why)
{
    struct slice text;
    size_t skip = 0;
    TRY(transformation_text(transformation, TEXT_HTML, &text, why));
    const bool tabs = slice_is(transformation->request->type, "text/tab-separated-values");
    const char delimiter =
        tabs && slice_find(text, '\t') < text.length ? '\t' : csv_sniff(text, &skip);
    if (delimiter == 0) {
        transformation_problem(
            transformation, 0,
            "no table: its lines are not divided into the same number of cells by "
            "comma, semicolon, tab or |");
        return STATUS_OK;
    }
    struct table *table = memory_new(sizeof *table);
    table->transformation = transformation;
    buf_init(&table->subject, IRI_SIZE);
    const enum status status =
        read_table(table, slice_of(text.at + skip, text.length - skip), delimiter, why);
    csv_release(&table->reader);
    buf_release(&table->subject);
    free(table);
    return status;
}
