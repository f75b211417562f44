/* Documents of Turtle, TriG and N3: whole, or piece by piece. */
#include <stdlib.h>
#include <string.h>

#include "rdf/core/lexical.h"
#include "rdf/turtle/turtle.h"
#include "rdf/turtle/turtle_cut.h"
#include "rdf/turtle/turtle_reader.h"

enum { NAMES_SIZE = 64 << 20, PIECE_BYTES = 256 << 10 };

enum dialect { DIALECT_TURTLE, DIALECT_TRIG, DIALECT_N3 };

static enum status
open_reader(struct turtle_reader *reader, const struct parse_options *options, enum dialect dialect,
            const struct quad_sink *sink, struct reason *why)
{
    static const struct parse_options defaults;
    options = options != NULL ? options : &defaults;
    *reader = (struct turtle_reader){
        .lines = options->lines,
        .line = 1,
        .trig = dialect == DIALECT_TRIG,
        .n3 = dialect == DIALECT_N3,
        .depth_maximum = options->depth > 0 ? options->depth : PARSE_DEPTH,
        .term_size = options->term_size > 0 ? options->term_size : (size_t)PARSE_TERM_SIZE,
        .sink = *sink,
        .why = why,
    };
    if (reader->depth_maximum > PARSE_DEPTH_MAXIMUM) {
        reader->depth_maximum = PARSE_DEPTH_MAXIMUM;
    }
    problems_init(&reader->problems, options);
    arena_init(&reader->names, NAMES_SIZE);
    scratch_init(&reader->scratch);
    buf_init(&reader->resolved, reader->term_size);
    buf_init(&reader->graph_label, reader->term_size);
    if (options->base.length == 0) {
        return STATUS_OK;
    }
    const enum status status = turtle_set_base(reader, options->base);
    if (status == STATUS_BAD_INPUT) {
        return status_fail(why, status, "%s", reader->message);
    }
    return status == STATUS_OK && reader->n3 ? n3_begin(reader, options->base) : status;
}

static void
close_reader(struct turtle_reader *reader)
{
    buf_release(&reader->graph_label);
    buf_release(&reader->resolved);
    scratch_release(&reader->scratch);
    arena_release(&reader->names);
    free(reader->namespaces);
    map_release(&reader->namespace_places);
}

/* Whole statements; the next piece begins on a new line. */
static enum status
read_piece(struct turtle_reader *reader, struct slice bytes, bool last)
{
    reader->start = reader->at = reader->counted = reader->line_start = bytes.at;
    reader->end = bytes.at + bytes.length;
    reader->first_line = reader->line;
    const size_t valid = lexical_utf8_prefix(bytes.at, bytes.length);
    reader->utf8 = valid == bytes.length;
    if (!reader->utf8) {
        turtle_fail(reader, bytes.at + valid, "not UTF-8");
        TRY(turtle_report(reader));
        reader->message = NULL;
    }
    TRY(turtle_read_statements(reader, last));
    if (!last) {
        turtle_line_at(reader, reader->end);
    }
    return STATUS_OK;
}

static struct slice
without_mark(struct slice bytes)
{
    return slice_starts(bytes, SLICE("\xEF\xBB\xBF")) ? slice_of(bytes.at + 3, bytes.length - 3)
                                                      : bytes;
}

static enum status
parse(struct slice bytes, const struct parse_options *options, enum dialect dialect,
      const struct quad_sink *sink, struct reason *why)
{
    struct turtle_reader reader;
    bytes = without_mark(bytes);
    if (bytes.length == 0) {
        return STATUS_OK;
    }
    enum status status = open_reader(&reader, options, dialect, sink, why);
    if (status == STATUS_OK) {
        status = read_piece(&reader, bytes, true);
    }
    close_reader(&reader);
    return status;
}

/* Fills the buffer until it holds a place to cut. *whole: up to there. */
static enum status
fill(struct buf *input, struct turtle_cut *cut, const struct rdf_source *source, size_t *whole,
     bool *end, struct reason *why)
{
    for (*whole = 0, *end = false; *whole == 0 && !*end;) {
        size_t length = 0;
        char *room = buf_reserve(input, PIECE_BYTES);
        if (room == NULL) {
            return status_fail(why, STATUS_LIMIT, "a statement of more than %d bytes",
                               RDF_STATEMENT_MAXIMUM);
        }
        TRY(source->read(source->context, room, PIECE_BYTES, &length, why));
        const size_t found = turtle_cut_find(cut, slice_of(room, length));
        *whole = found > 0 ? input->length + found : 0;
        *end = length == 0;
        buf_commit(input, length);
    }
    return STATUS_OK;
}

static enum status
read_pieces(struct turtle_reader *reader, const struct rdf_source *source, struct buf *input,
            struct reason *why)
{
    struct turtle_cut cut = {0};
    bool first = true;
    for (bool end = false; !end; first = false) {
        size_t whole;
        TRY(fill(input, &cut, source, &whole, &end, why));
        whole = end ? input->length : whole;
        const struct slice piece = slice_of(input->data, whole);
        TRY(read_piece(reader, first ? without_mark(piece) : piece, end));
        memmove(input->data, input->data + whole, input->length - whole);
        input->length -= whole;
    }
    return STATUS_OK;
}

static enum status
read_source(const struct rdf_source *source, const struct parse_options *options,
            enum dialect dialect, const struct quad_sink *sink, struct reason *why)
{
    struct turtle_reader reader;
    struct buf input;
    buf_init(&input, RDF_STATEMENT_MAXIMUM);
    enum status status = open_reader(&reader, options, dialect, sink, why);
    if (status == STATUS_OK) {
        status = read_pieces(&reader, source, &input, why);
    }
    close_reader(&reader);
    buf_release(&input);
    return status;
}

enum status
turtle_read(const struct rdf_source *source, const struct parse_options *options,
            const struct quad_sink *sink, struct reason *why)
{
    return read_source(source, options, DIALECT_TURTLE, sink, why);
}

enum status
trig_read(const struct rdf_source *source, const struct parse_options *options,
          const struct quad_sink *sink, struct reason *why)
{
    return read_source(source, options, DIALECT_TRIG, sink, why);
}

enum status
turtle_parse(struct slice bytes, const struct parse_options *options, const struct quad_sink *sink,
             struct reason *why)
{
    return parse(bytes, options, DIALECT_TURTLE, sink, why);
}

enum status
trig_parse(struct slice bytes, const struct parse_options *options, const struct quad_sink *sink,
           struct reason *why)
{
    return parse(bytes, options, DIALECT_TRIG, sink, why);
}

enum status
n3_parse(struct slice bytes, const struct parse_options *options, const struct quad_sink *sink,
         struct reason *why)
{
    return parse(bytes, options, DIALECT_N3, sink, why);
}
