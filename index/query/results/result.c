#include <stdlib.h>

#include "base/memory.h"
#include "index/query/results/result_syntax.h"

enum { BUFFER_MAXIMUM = 256 << 20, PIECE = 64 << 10 };

static const struct format_row {
    enum result_format format;
    bool rows; /* SELECT and ASK; else CONSTRUCT and DESCRIBE */
    const char *name, *media_type;
    const struct result_syntax *syntax;
} formats[] = {
    {RESULT_TABLE, true, "table", "text/plain", &result_table},
    {RESULT_CUT_TABLE, true, "terminal", "", &result_table},
    {RESULT_JSON, true, "json", "application/sparql-results+json", &result_json},
    {RESULT_XML, true, "xml", "application/sparql-results+xml", &result_xml},
    {RESULT_CSV, true, "csv", "text/csv", &result_csv},
    {RESULT_TSV, true, "tsv", "text/tab-separated-values", &result_tsv},
    {RESULT_TURTLE, false, "ttl", "text/turtle", &result_turtle},
    {RESULT_TURTLE, false, "terminal", "", &result_turtle},
    {RESULT_NTRIPLES, false, "nt", "application/n-triples", &result_lines},
    {RESULT_NQUADS, false, "nq", "application/n-quads", &result_lines},
    {RESULT_TURTLE, false, "trig", "application/trig", &result_turtle}, /* the default graph */
    {RESULT_RDFXML, false, "rdf", "application/rdf+xml", &result_rdfxml},
    {RESULT_JSONLD, false, "jsonld", "application/ld+json", &result_jsonld},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const struct format_row *
format_row(enum result_format format)
{
    for (int i = 0; i < FORMATS; i++) {
        if (formats[i].format == format) {
            return &formats[i];
        }
    }
    return &formats[0];
}

enum status
result_format_find(struct slice name, enum query_form form, enum result_format *format,
                   struct reason *why)
{
    const bool rows = form == QUERY_SELECT || form == QUERY_ASK;
    name = slice_trim(slice_of(name.at, name.length ? slice_find(name, ';') : 0));
    for (int i = 0; i < FORMATS; i++) {
        if (formats[i].rows == rows &&
            (!name.length || slice_equal_nocase(name, slice_string(formats[i].name)) ||
             slice_equal_nocase(name, slice_string(formats[i].media_type)))) {
            *format = formats[i].format;
            return STATUS_OK;
        }
    }
    return status_fail(why, STATUS_UNSUPPORTED,
                       rows ? "'%.*s' is no format of SELECT and ASK: table, json, xml, csv, tsv"
                            : "'%.*s' is no format of CONSTRUCT and DESCRIBE: ttl, nt, nq, trig, "
                              "rdf, jsonld",
                       SLICE_PRINT(name));
}

enum status
result_flush(struct result_writer *writer, bool all, struct reason *why)
{
    if (writer->buf.overflowed) {
        return status_fail(why, STATUS_LIMIT, "a row of the result is too long");
    }
    if (writer->buf.length >= (all ? 1 : PIECE)) {
        const enum status status = writer->piece(writer->context, buf_slice(&writer->buf), why);
        buf_reset(&writer->buf);
        return status;
    }
    return STATUS_OK;
}

static enum status
sink_columns(void *context, const struct slice *names, size_t n, struct reason *why)
{
    struct result_writer *writer = context;
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += names[i].length;
    }
    writer->names = memory_zero(n + 1, sizeof *writer->names);
    writer->name_bytes = memory_alloc(bytes + 1);
    writer->count = n;
    bytes = 0;
    for (size_t i = 0; i < n; i++) {
        memcpy(writer->name_bytes + bytes, names[i].at, names[i].length);
        writer->names[i] = slice_of(writer->name_bytes + bytes, names[i].length);
        bytes += names[i].length;
    }
    TRY(writer->syntax->columns(writer, why));
    return result_flush(writer, false, why);
}

/* After a row or quad was written. Where the buffer was too small for it, the reason is added. */
static enum status
pass_on(struct result_writer *writer, enum status written, struct reason *why)
{
    return written == STATUS_OK || writer->buf.overflowed ? result_flush(writer, false, why)
                                                          : written;
}

static enum status
sink_row(void *context, const struct term *terms, size_t n, struct reason *why)
{
    struct result_writer *writer = context;
    (void)n;
    const enum status status = writer->syntax->row(writer, terms, why);
    writer->rows++;
    return pass_on(writer, status, why);
}

static enum status
sink_boolean(void *context, bool answer, struct reason *why)
{
    struct result_writer *writer = context;
    writer->answered = true;
    return writer->syntax->boolean(writer, answer, why);
}

static enum status
sink_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct result_writer *writer = context;
    return pass_on(writer, writer->syntax->quad(writer, quad, why), why);
}

void
result_writer_open(struct result_writer **writer, enum result_format format, result_piece *piece,
                   void *context)
{
    struct result_writer *made = memory_new(sizeof *made);
    const struct format_row *row = format_row(format);
    made->syntax = row->syntax;
    made->format = format;
    made->piece = piece;
    made->context = context;
    buf_init(&made->buf, BUFFER_MAXIMUM);
    buf_init(&made->table.cells, RESULT_TABLE_MAXIMUM);
    graph_init(&made->graph, BUFFER_MAXIMUM);
    buf_init(&made->run.subject, BUFFER_MAXIMUM);
    buf_init(&made->run.property, BUFFER_MAXIMUM);
    made->sink.context = made;
    if (row->rows) {
        made->sink.columns = sink_columns;
        made->sink.row = sink_row;
        made->sink.boolean = sink_boolean;
    } else {
        made->sink.quad = sink_quad;
    }
    *writer = made;
}

const struct query_sink *
result_writer_sink(struct result_writer *writer)
{
    return &writer->sink;
}

enum status
result_writer_finish(struct result_writer *writer, struct reason *why)
{
    if (writer->syntax->finish) {
        TRY(writer->syntax->finish(writer, why));
    }
    return result_flush(writer, true, why);
}

void
result_writer_free(struct result_writer *writer)
{
    if (writer) {
        buf_release(&writer->buf);
        buf_release(&writer->table.cells);
        graph_release(&writer->graph);
        buf_release(&writer->run.subject);
        buf_release(&writer->run.property);
        free(writer->names);
        free(writer->name_bytes);
        free(writer->table.widths);
        free(writer);
    }
}
