/* Results that are too large for who writes them: a row, a table, a graph. Its memory is bounded to
 * much less here, so that little reaches the bounds. */
#include <string.h>

#include "rdf/core/graph.h"
#include "tests/unit/query/query_case.h"

enum {
    BUFFER = 256 << 20, /* what a writer asks for, */
    ROOM = 192 << 10,   /* and what it gets */
    TABLE_ROOM = 32 << 10,
    GRAPH_ROOM = 96 << 10
};

void __real_buf_init(struct buf *buf, size_t maximum);
void __wrap_buf_init(struct buf *buf, size_t maximum);
void
__wrap_buf_init(struct buf *buf, size_t maximum)
{
    __real_buf_init(buf, maximum == BUFFER                 ? ROOM
                         : maximum == RESULT_TABLE_MAXIMUM ? TABLE_ROOM
                                                           : maximum);
}

void __real_graph_init(struct graph *graph, size_t maximum);
void __wrap_graph_init(struct graph *graph, size_t maximum);
void
__wrap_graph_init(struct graph *graph, size_t maximum)
{
    __real_graph_init(graph, maximum == BUFFER ? GRAPH_ROOM : maximum);
}

static const char *const row_formats[] = {"json", "xml", "csv", "tsv"};
static const char *const quad_formats[] = {"nt", "nq", "rdf", "jsonld"};
static const char *const table_formats[] = {"table", "terminal"};

struct opened {
    struct result_writer *writer;
    const struct query_sink *sink;
    struct buf out;
};

static void
open_writer(struct opened *opened, const char *name, enum query_form form)
{
    enum result_format format;
    struct reason why = {""};
    buf_init(&opened->out, 32 << 20);
    assert_int_equal(result_format_find(slice_string(name), form, &format, &why), STATUS_OK);
    result_writer_open(&opened->writer, format, query_case_piece, &opened->out);
    opened->sink = result_writer_sink(opened->writer);
}

static void
close_writer(struct opened *opened)
{
    result_writer_free(opened->writer);
    buf_release(&opened->out);
}

static struct term
literal_of(char *memory, size_t length)
{
    memset(memory, 'v', length);
    return (struct term){.kind = TERM_LITERAL, .value = slice_of(memory, length)};
}

/* A row that does not fit ends the result; those before it have left, and many that fit are no
 * matter. */
static void
rows_that_are_too_long_fail(void **state)
{
    const struct slice names[] = {SLICE("a"), SLICE("b")};
    char *memory = malloc(ROOM);
    (void)state;
    assert_non_null(memory);
    for (size_t i = 0; i < sizeof row_formats / sizeof *row_formats; i++) {
        struct opened opened;
        struct reason why = {""};
        open_writer(&opened, row_formats[i], QUERY_SELECT);
        const struct query_sink *sink = opened.sink;
        assert_int_equal(sink->columns(sink->context, names, 2, &why), STATUS_OK);
        const struct term some[] = {literal_of(memory, ROOM / 2), {.kind = TERM_NONE}};
        for (unsigned k = 0; k < 4; k++) {
            assert_int_equal(sink->row(sink->context, some, 2, &why), STATUS_OK);
        }
        const size_t length = opened.out.length;
        assert_true(length > 4 * (ROOM / 2));
        const struct term most[] = {literal_of(memory, ROOM), {.kind = TERM_NONE}};
        assert_int_equal(sink->row(sink->context, most, 2, &why), STATUS_LIMIT);
        assert_string_equal(why.text, "a row of the result is too long");
        assert_int_equal(opened.out.length, length);
        close_writer(&opened);
    }
    for (size_t i = 0; i < sizeof quad_formats / sizeof *quad_formats; i++) {
        struct opened opened;
        struct reason why = {""};
        open_writer(&opened, quad_formats[i], QUERY_CONSTRUCT);
        const struct query_sink *sink = opened.sink;
        struct quad quad = {.subject = term_iri(SLICE("e:s")),
                            .predicate = term_iri(SLICE("e:p")),
                            .object = literal_of(memory, ROOM / 2)};
        for (unsigned k = 0; k < 4; k++) {
            assert_int_equal(sink->quad(sink->context, &quad, &why), STATUS_OK);
        }
        const size_t length = opened.out.length;
        assert_true(length > 4 * (ROOM / 2));
        quad.object = literal_of(memory, ROOM);
        assert_int_equal(sink->quad(sink->context, &quad, &why), STATUS_LIMIT);
        assert_string_equal(why.text, "a row of the result is too long");
        assert_int_equal(opened.out.length, length);
        close_writer(&opened);
    }
    free(memory);
}

/* A table holds all rows until its end. */
static void
tables_that_are_too_large_fail(void **state)
{
    const struct slice names[] = {SLICE("a"), SLICE("b")};
    char memory[100];
    (void)state;
    for (size_t i = 0; i < sizeof table_formats / sizeof *table_formats; i++) {
        struct opened opened;
        struct reason why = {""};
        unsigned rows = 0;
        enum status status = STATUS_OK;
        open_writer(&opened, table_formats[i], QUERY_SELECT);
        const struct query_sink *sink = opened.sink;
        assert_int_equal(sink->columns(sink->context, names, 2, &why), STATUS_OK);
        const struct term some[] = {literal_of(memory, 39), literal_of(memory, 39)};
        while ((status = sink->row(sink->context, some, 2, &why)) == STATUS_OK) {
            rows++;
        }
        assert_int_equal(status, STATUS_LIMIT);
        assert_string_equal(why.text, "too many rows for a table; use csv or json");
        assert_int_equal(rows, (TABLE_ROOM - 4) / 80);
        assert_int_equal(opened.out.length, 0);
        close_writer(&opened);
        /* So does a term, and the name of a column. */
        char *large = malloc(TABLE_ROOM + 1);
        assert_non_null(large);
        const struct term much[] = {literal_of(large, TABLE_ROOM + 1), {.kind = TERM_NONE}};
        open_writer(&opened, table_formats[i], QUERY_SELECT);
        sink = opened.sink;
        memset(&why, 0, sizeof why);
        assert_int_equal(sink->columns(sink->context, names, 2, &why), STATUS_OK);
        assert_int_equal(sink->row(sink->context, much, 2, &why), STATUS_LIMIT);
        assert_string_equal(why.text, "a term is too long for a table; use csv or json");
        close_writer(&opened);
        const struct slice long_names[] = {SLICE("a"), slice_of(large, TABLE_ROOM)};
        open_writer(&opened, "table", QUERY_SELECT);
        sink = opened.sink;
        memset(&why, 0, sizeof why);
        assert_int_equal(sink->columns(sink->context, long_names, 2, &why), STATUS_LIMIT);
        assert_string_equal(why.text, "too many rows for a table; use csv or json");
        close_writer(&opened);
        free(large);
    }
}

/* Turtle is written from the whole graph. */
static void
graphs_that_are_too_large_fail(void **state)
{
    struct opened opened;
    struct reason why = {""};
    char memory[1000];
    unsigned quads = 0;
    enum status status = STATUS_OK;
    (void)state;
    open_writer(&opened, "ttl", QUERY_DESCRIBE);
    const struct query_sink *sink = opened.sink;
    while (status == STATUS_OK) {
        struct quad quad = {.subject = term_iri(SLICE("e:s")),
                            .predicate = term_iri(SLICE("e:p")),
                            .object = literal_of(memory, sizeof memory)};
        memory[0] = (char)('a' + quads % 26);
        memory[1] = (char)('a' + quads / 26);
        status = sink->quad(sink->context, &quad, &why);
        quads += status == STATUS_OK;
    }
    assert_int_equal(status, STATUS_LIMIT);
    assert_true(why.text[0] != '\0');
    assert_in_range(quads, 50, GRAPH_ROOM / sizeof memory);
    assert_int_equal(opened.out.length, 0);
    close_writer(&opened);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_are_too_long_fail),
        cmocka_unit_test(tables_that_are_too_large_fail),
        cmocka_unit_test(graphs_that_are_too_large_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
