#include "tests/unit/query/query_case.h"

#define XSD_IRI "<http://www.w3.org/2001/XMLSchema#"

struct expression_case {
    const char *expression;
    const char *output; /* as TSV; "" for an error */
};

static void
check_expressions(const struct expression_case *cases, size_t count)
{
    const struct query_options options = {.now_ms = 1700000000123};
    struct memory_source *source = query_case_source("");
    for (size_t i = 0; i < count; i++) {
        struct buf text, out;
        buf_init(&text, 1 << 16);
        buf_init(&out, 1 << 16);
        buf_printf(&text,
                   "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> SELECT ?x { BIND(%s AS ?x) }",
                   cases[i].expression);
        (void)query_case_output(source, text.data, "tsv", &options, &out);
        char expected[1024];
        snprintf(expected, sizeof expected, "?x\n%s\n", cases[i].output);
        if (strcmp(out.data, expected) != 0) {
            print_error("%s\n", cases[i].expression);
        }
        assert_string_equal(out.data, expected);
        buf_release(&text);
        buf_release(&out);
    }
    memory_source_free(source);
}

#define CHECK(cases) check_expressions(cases, sizeof(cases) / sizeof *(cases))

static void
test_arithmetic(void **state)
{
    static const struct expression_case cases[] = {
        {"1 + 2", "3"},
        {"0.1 + 0.2", "0.3"},
        {"1 / 3", "0.333333333333333333"},
        {"7 / 2", "3.5"},
        {"4 / 2", "\"2\"^^" XSD_IRI "decimal>"},
        {"1 / 0", ""},
        {"1e0 / 0", "\"INF\"^^" XSD_IRI "double>"},
        {"1.5 * 2e0", "3.0E0"},
        {"9223372036854775807 + 1", "9223372036854775808"},
        {"99999999999999999999999999999999999999 * 10", ""},
        {"-5 - -3", "-2"},
        {"\"1\" + 1", ""},
        {"xsd:float(0.1) + xsd:float(0.2)", "\"3.0E-1\"^^" XSD_IRI "float>"},
        {"ROUND(-2.5)", "\"-2\"^^" XSD_IRI "decimal>"},
        {"ROUND(2.5)", "\"3\"^^" XSD_IRI "decimal>"},
        {"CEIL(-1.5)", "\"-1\"^^" XSD_IRI "decimal>"},
        {"FLOOR(-1.5)", "\"-2\"^^" XSD_IRI "decimal>"},
        {"ABS(-3)", "3"},
        {"1 < 1.5 && 1.5 < 2e0", "\"true\"^^" XSD_IRI "boolean>"},
        {"1 = 1.0", "\"true\"^^" XSD_IRI "boolean>"},
    };
    (void)state;
    CHECK(cases);
}

static void
test_text(void **state)
{
    static const struct expression_case cases[] = {
        {"STRLEN(\"a\xC3\xA9\xF0\x9F\x98\x80\")", "3"},
        {"SUBSTR(\"a\xC3\xA9z\", 2, 1)", "\"\xC3\xA9\""},
        {"SUBSTR(\"motor car\", 6)", "\" car\""},
        {"SUBSTR(\"metadata\", 0, 3)", "\"me\""},
        {"SUBSTR(\"abc\"@en, 9)", "\"\"@en"},
        {"UCASE(\"stra\xC3\x9F"
         "e \xC3\xA9\"@de)",
         "\"STRASSE \xC3\x89\"@de"},
        {"STRBEFORE(\"abc\"@en, \"b\")", "\"a\"@en"},
        {"STRBEFORE(\"abc\"@en, \"x\")", "\"\""},
        {"STRAFTER(\"abc\"@en, \"b\"@fr)", ""},
        {"STRAFTER(\"abc\", \"\")", "\"abc\""},
        {"CONCAT(\"a\"@en, \"b\"@en)", "\"ab\"@en"},
        {"CONCAT(\"a\"@en, \"b\")", "\"ab\""},
        {"CONCAT(\"a\", 1)", ""},
        {"ENCODE_FOR_URI(\"a b/\xC3\xA9\")", "\"a%20b%2F%C3%A9\""},
        {"REPLACE(\"abcd\", \"b(c)\", \"[$1]\")", "\"a[c]d\""},
        {"REPLACE(\"abc\", \"x*\", \"-\")", ""},
        {"REPLACE(\"a.c\", \".\", \"\\\\$\", \"q\")", "\"a\\\\$c\""},
        {"REGEX(\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\", \"^(a+)+$\")", ""},
        {"REGEX(\"x\", \"(\")", ""},
        {"LANGMATCHES(\"en-us\", \"EN\")", "\"true\"^^" XSD_IRI "boolean>"},
        {"STRLANG(\"a\", \"en-US\")", "\"a\"@en-us"},
        {"STRDT(\"1\", xsd:integer)", "1"},
        {"STR(1.50)", "\"1.50\""},
        {"IRI(\"../x\")", "<http://example.org/x>"},
        {"MD5(\"abc\")", "\"900150983cd24fb0d6963f7d28e17f72\""},
        {"SHA1(\"abc\")", "\"a9993e364706816aba3e25717850c26c9cd0d89d\""},
    };
    (void)state;
    CHECK(cases);
}

static void
test_time(void **state)
{
    static const struct expression_case cases[] = {
        {"NOW()", "\"2023-11-14T22:13:20.123Z\"^^" XSD_IRI "dateTime>"},
        {"SECONDS(\"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "13.815"},
        {"TIMEZONE(\"2011-01-10T14:45:13-05:30\"^^xsd:dateTime)",
         "\"-PT5H30M\"^^" XSD_IRI "dayTimeDuration>"},
        {"TZ(\"2011-01-10T14:45:13Z\"^^xsd:dateTime)", "\"Z\""},
        {"TIMEZONE(\"2011-01-10T14:45:13\"^^xsd:dateTime)", ""},
        {"\"2011-01-10T23:00:00-02:00\"^^xsd:dateTime = \"2011-01-11T01:00:00Z\"^^xsd:dateTime",
         "\"true\"^^" XSD_IRI "boolean>"},
        {"\"2011-01-10T00:00:00\"^^xsd:dateTime < \"2011-01-10T12:00:00Z\"^^xsd:dateTime", ""},
        {"\"2011-01-10T00:00:00\"^^xsd:dateTime < \"2011-01-12T12:00:00Z\"^^xsd:dateTime",
         "\"true\"^^" XSD_IRI "boolean>"},
        {"YEAR(\"2011-02-29T00:00:00Z\"^^xsd:dateTime)", ""},
        {"YEAR(\"2012-02-29T00:00:00Z\"^^xsd:dateTime)", "2012"},
        {"\"P1Y\"^^xsd:duration = \"P12M\"^^xsd:duration", "\"true\"^^" XSD_IRI "boolean>"},
    };
    (void)state;
    CHECK(cases);
}

static void
test_casts_and_logic(void **state)
{
    static const struct expression_case cases[] = {
        {"xsd:integer(\" 12 \")", "12"},
        {"xsd:integer(\"1.5\")", ""},
        {"xsd:integer(-1.9)", "-1"},
        {"xsd:decimal(1e-3)", "0.001"},
        {"xsd:double(\"1\")", "1.0E0"},
        {"xsd:double(123456789.25)", "1.2345678925E8"},
        {"xsd:string(1e6)", "\"1.0E6\""},
        {"xsd:string(12.50)", "\"12.5\""},
        {"xsd:boolean(\"maybe\")", ""},
        {"xsd:boolean(0)", "\"false\"^^" XSD_IRI "boolean>"},
        {"xsd:dateTime(\"2011-01-10\")", ""},
        {"?u || true", "\"true\"^^" XSD_IRI "boolean>"},
        {"?u && true", ""},
        {"!?u", ""},
        {"IF(true, 1, 1/0)", "1"},
        {"COALESCE(?u, 1/0, 2)", "2"},
        {"2 IN (1, 1/0, 2)", "\"true\"^^" XSD_IRI "boolean>"},
        {"2 IN (1, 1/0)", ""},
        {"2 NOT IN ()", "\"true\"^^" XSD_IRI "boolean>"},
        {"\"a\" = 1", "\"false\"^^" XSD_IRI "boolean>"},
        {"\"a\"^^<a:t> = \"b\"^^<a:t>", ""},
        {"<a:f>(1)", ""},
        {"SAMETERM(1, 01)", "\"false\"^^" XSD_IRI "boolean>"},
        {"ISNUMERIC(\"x\"^^xsd:integer)", "\"false\"^^" XSD_IRI "boolean>"},
    };
    (void)state;
    CHECK(cases);
}

static void
test_formats(void **state)
{
    static const char data[] =
        "@prefix : <http://example.org/> . :a :p \"x\\\"<,\\n\"@en , _:b , 1 .";
    static const char query[] = "SELECT ?o ?u { <a> <p> ?o OPTIONAL { ?o <q> ?u } } ORDER BY ?o";
    static const struct {
        const char *format, *output;
    } cases[] = {
        {"json", "{\"head\":{\"vars\":[\"o\",\"u\"]},\"results\":{\"bindings\":[\n"
                 "{\"o\":{\"type\":\"bnode\",\"value\":\"b\"}},\n"
                 "{\"o\":{\"type\":\"literal\",\"value\":\"1\",\"datatype\":"
                 "\"http://www.w3.org/2001/XMLSchema#integer\"}},\n"
                 "{\"o\":{\"type\":\"literal\",\"value\":\"x\\\"<,\\n\",\"xml:lang\":\"en\"}}\n"
                 "]}}\n"},
        {"xml", "<?xml version=\"1.0\"?>\n"
                "<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\">\n"
                "<head><variable name=\"o\"/><variable name=\"u\"/></head>\n<results>\n"
                "<result><binding name=\"o\"><bnode>b</bnode></binding></result>\n"
                "<result><binding name=\"o\"><literal datatype=\"http://www.w3.org/2001/"
                "XMLSchema#integer\">1</literal></binding></result>\n"
                "<result><binding name=\"o\"><literal xml:lang=\"en\">x&quot;&lt;,\n</literal>"
                "</binding></result>\n</results>\n</sparql>\n"},
        {"csv", "o,u\r\n_:b,\r\n1,\r\n\"x\"\"<,\n\",\r\n"},
        {"tsv", "?o\t?u\n_:b\t\n1\t\n\"x\\\"<,\\n\"@en\t\n"},
        {"table", "o             u\n------------  -\n_:b           \n1             \n"
                  "\"x\\\"<,\\n\"@en  \n(3 rows)\n"},
    };
    const struct query_options options = {0};
    struct memory_source *source = query_case_source(data);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out;
        buf_init(&out, 1 << 16);
        (void)query_case_output(source, query, cases[i].format, &options, &out);
        assert_string_equal(out.data, cases[i].output);
        buf_release(&out);
    }
    memory_source_free(source);
}

static void
test_tables_are_cut_for_terminals_only(void **state)
{
    static const char query[] =
        "SELECT * { VALUES (?a ?b) { (\"0123456789012345678901234567890123456789"
        "0123456789012345678901234567890123456789\" 1) (\"x\" 2) } } ORDER BY ?b";
    static const struct {
        const char *format, *output;
    } cases[] = {
        {"table", "a                                                             b\n"
                  "------------------------------------------------------------  -\n"
                  "01234567890123456789012345678901234567890123456789012345678901234567890123456789"
                  "  1\n"
                  "x                                                             2\n(2 rows)\n"},
        {"terminal", "a                                                              b\n"
                     "-------------------------------------------------------------  -\n"
                     "012345678901234567890123456789012345678901234567890123456789…  1\n"
                     "x                                                              2\n"
                     "(2 rows)\n"},
    };
    const struct query_options options = {0};
    struct memory_source *source = query_case_source("");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out;
        buf_init(&out, 1 << 16);
        (void)query_case_output(source, query, cases[i].format, &options, &out);
        assert_string_equal(out.data, cases[i].output);
        buf_release(&out);
    }
    memory_source_free(source);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_text),
        cmocka_unit_test(test_time),       cmocka_unit_test(test_casts_and_logic),
        cmocka_unit_test(test_formats),    cmocka_unit_test(test_tables_are_cut_for_terminals_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
