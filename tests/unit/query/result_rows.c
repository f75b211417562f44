/* Rows of all kinds of terms in each format of SELECT, and how results leave: in pieces. */
#include "tests/unit/query/expression_case.h"

#include "base/memory.h"
#include "rdf/core/term.h"

#define XSD_TEXT "http://www.w3.org/2001/XMLSchema#"
#define ROWS_QUERY                                                                            \
    "PREFIX xsd: <" XSD_TEXT "> SELECT ?a ?b { VALUES (?a ?b) { (<http://e/?x&y> \"plain\") " \
    "(\"<&>'\\\"\" \"a,b\") (\"l\\nm\" \"r\\r\") (\"\\u0001\\uFFFF\\uFFFD\\t\" \"\\u007F\") " \
    "(UNDEF "                                                                                 \
    "\"x\"@en-us) (\"y\"^^<http://e/t&> UNDEF) (\"\" \"\xC3\xA9\xE2\x82\xAC\") } }"

struct rows_case {
    const char *format, *output;
};

static void
check_rows(const char *query, const struct rows_case *cases, size_t count)
{
    const struct query_options options = {0};
    struct memory_source *source = query_case_source("");
    for (size_t i = 0; i < count; i++) {
        struct buf out;
        buf_init(&out, 1 << 16);
        (void)query_case_output(source, query, cases[i].format, &options, &out);
        assert_string_equal(out.data, cases[i].output);
        buf_release(&out);
    }
    memory_source_free(source);
}

static void
terms_of_all_kinds_in_rows(void **state)
{
    static const struct rows_case cases[] = {
        {"json", "{\"head\":{\"vars\":[\"a\",\"b\"]},\"results\":{\"bindings\":[\n"
                 "{\"a\":{\"type\":\"uri\",\"value\":\"http://e/"
                 "?x&y\"},\"b\":{\"type\":\"literal\",\"value\":\"plain\"}},\n"
                 "{\"a\":{\"type\":\"literal\",\"value\":\"<&>'\\\"\"},\"b\":{\"type\":\"literal\","
                 "\"value\":\"a,b\"}},\n"
                 "{\"a\":{\"type\":\"literal\",\"value\":\"l\\nm\"},\"b\":{\"type\":\"literal\","
                 "\"value\":\"r\\r\"}},\n"
                 "{\"a\":{\"type\":\"literal\",\"value\":\"\\u0001\357\277\277\357\277\275\\t\"},"
                 "\"b\":{\"type\":\"literal\",\"value\":\"\\u007f\"}},\n"
                 "{\"b\":{\"type\":\"literal\",\"value\":\"x\",\"xml:lang\":\"en-us\"}},\n"
                 "{\"a\":{\"type\":\"literal\",\"value\":\"y\",\"datatype\":\"http://e/t&\"}},\n"
                 "{\"a\":{\"type\":\"literal\",\"value\":\"\"},\"b\":{\"type\":\"literal\","
                 "\"value\":\"\303\251\342\202\254\"}}\n"
                 "]}}\n"},
        {"xml",
         "<?xml version=\"1.0\"?>\n"
         "<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\">\n"
         "<head><variable name=\"a\"/><variable name=\"b\"/></head>\n"
         "<results>\n"
         "<result><binding name=\"a\"><uri>http://e/?x&amp;y</uri></binding><binding "
         "name=\"b\"><literal>plain</literal></binding></result>\n"
         "<result><binding name=\"a\"><literal>&lt;&amp;&gt;'&quot;</literal></binding><binding "
         "name=\"b\"><literal>a,b</literal></binding></result>\n"
         "<result><binding name=\"a\"><literal>l\n"
         "m</literal></binding><binding name=\"b\"><literal>r&#13;</literal></binding></result>\n"
         "<result><binding "
         "name=\"a\"><literal>\357\277\275\357\277\275\357\277\275\t</literal></binding><binding "
         "name=\"b\"><literal>\177</literal></binding></result>\n"
         "<result><binding name=\"b\"><literal xml:lang=\"en-us\">x</literal></binding></result>\n"
         "<result><binding name=\"a\"><literal "
         "datatype=\"http://e/t&amp;\">y</literal></binding></result>\n"
         "<result><binding name=\"a\"><literal></literal></binding><binding "
         "name=\"b\"><literal>\303\251\342\202\254</literal></binding></result>\n"
         "</results>\n"
         "</sparql>\n"},
        {"csv", "a,b\r\n"
                "http://e/?x&y,plain\r\n"
                "\"<&>'\"\"\",\"a,b\"\r\n"
                "\"l\n"
                "m\",\"r\r\"\r\n"
                "\001\357\277\277\357\277\275\t,\177\r\n"
                ",x\r\n"
                "y,\r\n"
                ",\303\251\342\202\254\r\n"},
        {"tsv", "?a\t?b\n"
                "<http://e/?x&y>\t\"plain\"\n"
                "\"<&>'\\\"\"\t\"a,b\"\n"
                "\"l\\nm\"\t\"r\\r\"\n"
                "\"\\u0001\\uFFFF\357\277\275\\t\"\t\"\\u007F\"\n"
                "\t\"x\"@en-us\n"
                "\"y\"^^<http://e/t&>\t\n"
                "\"\"\t\"\303\251\342\202\254\"\n"},
        {"table", "a                b\n"
                  "---------------  ---------\n"
                  "<http://e/?x&y>  plain\n"
                  "<&>'\"            a,b\n"
                  "l m              r \n"
                  " \357\277\277\357\277\275               \n"
                  "                 \"x\"@en-us\n"
                  "y                \n"
                  "                 \303\251\342\202\254\n"
                  "(7 rows)\n"},
        {"terminal", "a                b\n"
                     "---------------  ---------\n"
                     "<http://e/?x&y>  plain\n"
                     "<&>'\"            a,b\n"
                     "l m              r \n"
                     " \357\277\277\357\277\275               \n"
                     "                 \"x\"@en-us\n"
                     "y                \n"
                     "                 \303\251\342\202\254\n"
                     "(7 rows)\n"}};
    (void)state;
    check_rows(ROWS_QUERY, cases, sizeof cases / sizeof *cases);
}

/* Only what Turtle has without quotes is written without. */
static void
numbers_without_quotes(void **state)
{
    static const struct {
        const char *value, *type;
        bool plain;
    } rows[] = {
        {"1", "integer", true},     {"-01", "integer", true},   {"+1", "integer", true},
        {"1-", "integer", false},   {"-", "integer", false},    {"", "integer", false},
        {"1.0", "integer", false},  {"1", "decimal", false},    {"1.5", "decimal", true},
        {".5", "decimal", true},    {"5.", "decimal", false},   {"1.2.3", "decimal", false},
        {".", "decimal", false},    {"-1.5", "decimal", true},  {"1e5", "decimal", false},
        {"1e5", "double", true},    {"1E5", "double", true},    {"1.5e-3", "double", true},
        {"-.5E+3", "double", true}, {"1.e5", "double", false},  {"e5", "double", false},
        {"1e", "double", false},    {"1e5.0", "double", false}, {"1", "double", false},
        {"INF", "double", false},   {"1e5e5", "double", false}, {"1e5", "float", false},
        {"1", "string", false},     {"1", "byte", false},
    };
    const struct query_options options = {0};
    struct memory_source *source = query_case_source("");
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256], expected[256];
        struct buf out;
        buf_init(&out, 1 << 16);
        snprintf(text, sizeof text, "SELECT ?a { VALUES ?a { \"%s\"^^<" XSD_TEXT "%s> } }",
                 rows[i].value, rows[i].type);
        if (strcmp(rows[i].type, "string") == 0) {
            snprintf(expected, sizeof expected, "?a\n\"%s\"\n", rows[i].value);
        } else if (rows[i].plain) {
            snprintf(expected, sizeof expected, "?a\n%s\n", rows[i].value);
        } else {
            snprintf(expected, sizeof expected, "?a\n\"%s\"^^<" XSD_TEXT "%s>\n", rows[i].value,
                     rows[i].type);
        }
        (void)query_case_output(source, text, "tsv", &options, &out);
        assert_string_equal(out.data, expected);
        buf_release(&out);
    }
    memory_source_free(source);
}

static void
one_row_is_not_called_rows(void **state)
{
    static const struct rows_case cases[] = {{"table", "a\n-\n1\n(1 row)\n"}};
    static const struct rows_case none[] = {{"table", "a  bcd\n-  ---\n(0 rows)\n"},
                                            {"json", "{\"head\":{\"vars\":[\"a\",\"bcd\"]},"
                                                     "\"results\":{\"bindings\":[\n]}}\n"},
                                            {"csv", "a,bcd\r\n"}};
    (void)state;
    check_rows("SELECT ?a { VALUES ?a { 1 } }", cases, 1);
    check_rows("SELECT ?a ?bcd { FILTER(false) }", none, sizeof none / sizeof *none);
}

/* A cell of CSV is quoted for one sign, wherever it stands; what XML has not is replaced at the end
 * of a text, too. */
static void
signs_count_wherever_they_stand(void **state)
{
    static const struct rows_case cases[] = {
        {"csv",
         "a,b\r\n\",x\",\"x,\"\r\n\"\"\"x\",\"x\"\"\"\r\n\"\nx\",\"x\n\"\r\n\"\rx\",\"x\r\"\r\n"
         "\",\",\"\"\"\"\r\nx\xEF\xBF\xBF,\xEF\xBF\xBE\r\n\xEF\xBF\xBD,\xEF\xBE\xBF\r\n"},
        {"xml", "<?xml version=\"1.0\"?>\n"
                "<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\">\n"
                "<head><variable name=\"a\"/><variable name=\"b\"/></head>\n<results>\n"
#define PAIR(a, b)                            \
    "<result><binding name=\"a\"><literal>" a \
    "</literal></binding><binding name=\"b\"><literal>" b "</literal></binding></result>\n"
         PAIR(",x", "x,") PAIR("&quot;x", "x&quot;") PAIR("\nx", "x\n") PAIR("&#13;x", "x&#13;")
             PAIR(",", "&quot;") PAIR("x\xEF\xBF\xBD", "\xEF\xBF\xBD")
                 PAIR("\xEF\xBF\xBD", "\xEF\xBE\xBF") "</results>\n</sparql>\n"},
    };
    (void)state;
    check_rows("SELECT ?a ?b { VALUES (?a ?b) { (',x' 'x,') ('\"x' 'x\"') ('\\nx' 'x\\n') "
               "('\\rx' 'x\\r') (',' '\"') ('x\\uFFFF' '\\uFFFE') ('\\uFFFD' '\\uFFBF') } }",
               cases, 2);
}

/* Answers of ASK, and what a writer says that nobody has told anything. */
static void
answers_without_rows(void **state)
{
    static const struct {
        const char *format, *yes, *no, *untold;
    } cases[] = {
        {"table", "true\n", "false\n", ""},
        {"terminal", "true\n", "false\n", ""},
        {"csv", "true\n", "false\n", ""},
        {"tsv", "true\n", "false\n", ""},
        {"json", "{\"head\":{},\"boolean\":true}\n", "{\"head\":{},\"boolean\":false}\n", NULL},
        {"xml",
         "<?xml version=\"1.0\"?>\n<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\">\n"
         "<head/>\n<boolean>true</boolean>\n</sparql>\n",
         "<?xml version=\"1.0\"?>\n<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\">\n"
         "<head/>\n<boolean>false</boolean>\n</sparql>\n",
         NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct rows_case yes = {cases[i].format, cases[i].yes};
        const struct rows_case no = {cases[i].format, cases[i].no};
        enum result_format format;
        struct result_writer *writer;
        struct reason why = {""};
        struct buf out;
        check_rows("ASK {}", &yes, 1);
        check_rows("ASK { FILTER(false) }", &no, 1);
        if (cases[i].untold == NULL) {
            continue;
        }
        buf_init(&out, 1 << 16);
        assert_int_equal(
            result_format_find(slice_string(cases[i].format), QUERY_ASK, &format, &why), STATUS_OK);
        result_writer_open(&writer, format, query_case_piece, &out);
        assert_int_equal(result_writer_finish(writer, &why), STATUS_OK);
        assert_int_equal(out.length, 0);
        result_writer_free(writer);
        buf_release(&out);
    }
}

/* ---- pieces ---- */

enum { PIECE = 64 << 10 };

struct pieces {
    size_t count, bytes, least; /* of all but the last */
    size_t last;
    unsigned lines;
};

static enum status
take_piece(void *context, struct slice bytes, struct reason *why)
{
    struct pieces *pieces = context;
    (void)why;
    assert_true(bytes.length > 0);
    if (pieces->count++ > 0 && pieces->last < pieces->least) {
        pieces->least = pieces->last;
    }
    pieces->last = bytes.length;
    pieces->bytes += bytes.length;
    for (size_t i = 0; i < bytes.length; i++) {
        pieces->lines += bytes.at[i] == '\n';
    }
    return STATUS_OK;
}

static enum status
refuse_piece(void *context, struct slice bytes, struct reason *why)
{
    (void)context, (void)bytes;
    return status_fail(why, STATUS_SYSTEM, "the reader is gone");
}

static enum status
write_rows(enum result_format format, size_t rows, result_piece *piece, void *context,
           struct reason *why)
{
    char value[101];
    const struct slice names[] = {SLICE("first"), SLICE("second")};
    struct result_writer *writer;
    memset(value, 'v', 100);
    value[100] = '\0';
    const struct term terms[] = {{.kind = TERM_LITERAL, .value = slice_string(value)},
                                 {.kind = TERM_NONE}};
    result_writer_open(&writer, format, piece, context);
    const struct query_sink *sink = result_writer_sink(writer);
    enum status status = sink->columns(sink->context, names, 2, why);
    for (size_t i = 0; i < rows && status == STATUS_OK; i++) {
        status = sink->row(sink->context, terms, 2, why);
    }
    if (status == STATUS_OK) {
        status = result_writer_finish(writer, why);
    }
    result_writer_free(writer);
    return status;
}

/* Results leave when there are 64 KiB of them, and the rest at the end; the end of who reads them
 * is the end of the query. */
static void
results_leave_in_pieces(void **state)
{
    enum { HEAD = 14, ROW = 103, MANY = 5000 };
    struct reason why = {""};
    struct pieces few = {.least = SIZE_MAX}, many = {.least = SIZE_MAX};
    (void)state;
    assert_int_equal(write_rows(RESULT_CSV, 3, take_piece, &few, &why), STATUS_OK);
    assert_int_equal(few.count, 1);
    assert_int_equal(few.bytes, HEAD + 3 * ROW);
    assert_int_equal(few.lines, 4);
    assert_int_equal(write_rows(RESULT_CSV, MANY, take_piece, &many, &why), STATUS_OK);
    assert_int_equal(many.bytes, HEAD + MANY * ROW);
    assert_int_equal(many.lines, 1 + MANY);
    assert_in_range(many.least, PIECE, PIECE + ROW - 1);
    assert_int_equal(many.count, many.bytes / (PIECE + ROW) + 1);
    assert_int_equal(write_rows(RESULT_CSV, 3, refuse_piece, NULL, &why), STATUS_SYSTEM);
    assert_int_equal(write_rows(RESULT_CSV, MANY, refuse_piece, NULL, &why), STATUS_SYSTEM);
    assert_string_equal(why.text, "the reader is gone");
    result_writer_free(NULL);
}

/* Tables leave likewise, once all rows are there. */
static void
tables_leave_in_pieces(void **state)
{
    /* A line has its cell whole, two spaces where the wide cell widens no column, and the end. */
    enum { MANY = 5000, LINE = 103, HEAD = 5 + 57 + 6 + 1 + 60 + 2 + 6 + 1, END = 12 };
    struct reason why = {""};
    struct pieces many = {.least = SIZE_MAX};
    (void)state;
    assert_int_equal(write_rows(RESULT_TABLE, MANY, take_piece, &many, &why), STATUS_OK);
    assert_int_equal(many.lines, MANY + 3);
    assert_int_equal(many.bytes, HEAD + MANY * LINE + END);
    assert_in_range(many.least, PIECE, PIECE + LINE - 1);
    assert_int_equal(write_rows(RESULT_TABLE, MANY, refuse_piece, NULL, &why), STATUS_SYSTEM);
    assert_string_equal(why.text, "the reader is gone");
}

/* A piece leaves when it has 64 KiB and not a byte less; at the end a single byte does. */
static void
pieces_are_full(void **state)
{
    enum { HEAD = 3, END = 2 }; /* of CSV: the name of the column, and each line's end */
    const struct slice name = SLICE("a");
    char *value = memory_alloc(PIECE);
    (void)state;
    memset(value, 'v', PIECE);
    for (size_t length = PIECE - HEAD - END - 1; length <= PIECE - HEAD - END + 1; length++) {
        struct reason why = {""};
        struct pieces pieces = {.least = SIZE_MAX};
        struct result_writer *writer;
        const struct term term = {.kind = TERM_LITERAL, .value = slice_of(value, length)};
        const size_t whole = HEAD + length + END;
        result_writer_open(&writer, RESULT_CSV, take_piece, &pieces);
        const struct query_sink *sink = result_writer_sink(writer);
        assert_int_equal(sink->columns(sink->context, &name, 1, &why), STATUS_OK);
        assert_int_equal(pieces.count, 0);
        assert_int_equal(sink->row(sink->context, &term, 1, &why), STATUS_OK);
        assert_int_equal(pieces.count, whole >= PIECE);
        assert_int_equal(result_writer_finish(writer, &why), STATUS_OK);
        assert_int_equal(pieces.count, 1);
        assert_int_equal(pieces.bytes, whole);
        result_writer_free(writer);
    }
    struct reason why = {""};
    struct pieces pieces = {.least = SIZE_MAX};
    struct result_writer *writer;
    result_writer_open(&writer, RESULT_TSV, take_piece, &pieces);
    const struct query_sink *sink = result_writer_sink(writer);
    assert_int_equal(sink->columns(sink->context, NULL, 0, &why), STATUS_OK);
    assert_int_equal(result_writer_finish(writer, &why), STATUS_OK);
    assert_int_equal(pieces.count, 1);
    assert_int_equal(pieces.bytes, 1);
    result_writer_free(writer);
    free(value);
}

/* ---- names of formats ---- */

static void
formats_have_names_and_media_types(void **state)
{
    static const struct {
        const char *name;
        enum query_form form;
        int format; /* -1: none */
    } rows[] = {{"", QUERY_SELECT, RESULT_TABLE},
                {"", QUERY_CONSTRUCT, RESULT_TURTLE},
                {"JSON", QUERY_SELECT, RESULT_JSON},
                {" json ", QUERY_ASK, RESULT_JSON},
                {"application/sparql-results+xml; charset=utf-8", QUERY_SELECT, RESULT_XML},
                {"text/csv", QUERY_SELECT, RESULT_CSV},
                {"text/tab-separated-values", QUERY_SELECT, RESULT_TSV},
                {"terminal", QUERY_SELECT, RESULT_CUT_TABLE},
                {"terminal", QUERY_DESCRIBE, RESULT_TURTLE},
                {"application/n-triples", QUERY_DESCRIBE, RESULT_NTRIPLES},
                {"nq", QUERY_CONSTRUCT, RESULT_NQUADS},
                {"rdf", QUERY_CONSTRUCT, RESULT_RDFXML},
                {"application/ld+json", QUERY_CONSTRUCT, RESULT_JSONLD},
                {"json", QUERY_CONSTRUCT, -1},
                {"ttl", QUERY_ASK, -1},
                {"jso", QUERY_SELECT, -1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum result_format format;
        struct reason why = {""};
        const enum status status =
            result_format_find(slice_string(rows[i].name), rows[i].form, &format, &why);
        assert_int_equal(status, rows[i].format < 0 ? STATUS_UNSUPPORTED : STATUS_OK);
        if (rows[i].format >= 0) {
            assert_int_equal((int)format, rows[i].format);
        } else {
            assert_non_null(
                strstr(why.text, rows[i].form == QUERY_CONSTRUCT ? "CONSTRUCT and" : "SELECT and"));
        }
    }
}

int
result_rows_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_of_all_kinds_in_rows),
        cmocka_unit_test(numbers_without_quotes),
        cmocka_unit_test(one_row_is_not_called_rows),
        cmocka_unit_test(signs_count_wherever_they_stand),
        cmocka_unit_test(answers_without_rows),
        cmocka_unit_test(results_leave_in_pieces),
        cmocka_unit_test(tables_leave_in_pieces),
        cmocka_unit_test(pieces_are_full),
        cmocka_unit_test(formats_have_names_and_media_types),
    };
    return cmocka_run_group_tests_name("result_rows", tests, NULL, NULL);
}
