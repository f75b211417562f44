#include "tests/unit/query/expression_case.h"

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

static void
test_numbers_that_are_none(void **state)
{
    static const struct expression_case cases[] = {
        {"xsd:double(\"INF\")", DOUBLE("INF")},
        {"xsd:double(\"-INF\")", DOUBLE("-INF")},
        {"xsd:double(\"NaN\")", DOUBLE("NaN")},
        {"xsd:double(\"inf\")", ""},
        {"xsd:double(\"+NaN\")", ""},
        {"xsd:double(\"0x10\")", ""},
        {"xsd:double(\"1e\")", ""},
        {"xsd:double(\"\")", ""},
        {"xsd:double(\"-INF\") < -1e300", BOOL("true")},
        {"xsd:double(\"INF\") > 1e300", BOOL("true")},
        {"xsd:double(\"NaN\") = xsd:double(\"NaN\")", BOOL("false")},
        {"xsd:integer(xsd:double(\"NaN\"))", ""},
        {"xsd:decimal(xsd:double(\"-INF\"))", ""},
        {"-xsd:double(\"INF\")", DOUBLE("-INF")},
        {"xsd:string(xsd:double(\"-INF\"))", "\"-INF\""},
        {"xsd:string(xsd:double(\"INF\"))", "\"INF\""},
        {"xsd:string(xsd:float(\"NaN\"))", "\"NaN\""},
        {"xsd:string(xsd:double(\"-0\"))", "\"-0\""},
        {"xsd:string(0e0)", "\"0\""},
        {"xsd:string(5e-1)", "\"0.5\""},
        {"xsd:string(-125e-2)", "\"-1.25\""},
        {"xsd:string(1e0)", "\"1\""},
        {"xsd:string(999999e0)", "\"999999\""},
        {"xsd:string(1e6)", "\"1.0E6\""},
        {"xsd:string(1e-6)", "\"0.000001\""},
        {"xsd:string(9e-7)", "\"9.0E-7\""},
        {"xsd:string(xsd:float(\"0.1\"))", "\"0.1\""},
        {"xsd:string(1e0 / 3)", "\"0.3333333333333333\""},
        {"xsd:string(2.50)", "\"2.5\""},
    };
    (void)state;
    CHECK(cases);
}

static void
test_casts_between_types(void **state)
{
    static const struct expression_case cases[] = {
        {"xsd:integer(true)", "1"},
        {"xsd:integer(\" 12 \")", "12"},
        {"xsd:integer(\"1.5\")", ""},
        {"xsd:integer(-1.9)", "-1"},
        {"xsd:integer(<a:b>)", ""},
        {"xsd:decimal(false)", "\"0\"^^" XSD_IRI "decimal>"},
        {"xsd:decimal(\"x\")", ""},
        {"xsd:decimal(<a:b>)", ""},
        {"xsd:double(true)", "1.0E0"},
        {"xsd:double(<a:b>)", ""},
        {"xsd:float(false)", "\"0.0E0\"^^" XSD_IRI "float>"},
        {"xsd:boolean(\"1\")", BOOL("true")},
        {"xsd:boolean(\" false \")", BOOL("false")},
        {"xsd:boolean(\"yes\")", ""},
        {"xsd:boolean(0.0)", BOOL("false")},
        {"xsd:boolean(2)", BOOL("true")},
        {"xsd:boolean(xsd:double(\"NaN\"))", BOOL("false")},
        {"xsd:boolean(true)", BOOL("true")},
        {"xsd:boolean(<a:b>)", ""},
        {"xsd:string(true)", "\"true\""},
        {"xsd:string(1 > 2)", "\"false\""},
        {"xsd:string(<a:b>)", "\"a:b\""},
        {"xsd:string(BNODE())", ""},
        {"xsd:string(\"x\"@en)", ""},
        {"xsd:string(\"x\"^^<a:t>)", "\"x\""},
        {"xsd:dateTime(\"2020-01-02T03:04:05Z\")",
         "\"2020-01-02T03:04:05Z\"^^" XSD_IRI "dateTime>"},
        {"xsd:dateTime(\"2020-13-02T03:04:05Z\")", ""},
        {"xsd:dateTime(xsd:date(\"2020-01-02\"))", "\"2020-01-02T00:00:00\"^^" XSD_IRI "dateTime>"},
        {"xsd:dateTime(xsd:date(\"2020-01-02Z\"))",
         "\"2020-01-02T00:00:00Z\"^^" XSD_IRI "dateTime>"},
        {"xsd:dateTime(xsd:date(\"-0001-01-02-05:30\"))",
         "\"-0001-01-02T00:00:00-05:30\"^^" XSD_IRI "dateTime>"},
        {"xsd:date(\"2020-02-30\")", ""},
        {"xsd:date(xsd:dateTime(\"2020-01-02T03:04:05\"))", "\"2020-01-02\"^^" XSD_IRI "date>"},
        {"xsd:date(xsd:dateTime(\"2020-01-02T03:04:05.5Z\"))", "\"2020-01-02Z\"^^" XSD_IRI "date>"},
        {"xsd:date(xsd:dateTime(\"2020-01-02T03:04:05+02:00\"))",
         "\"2020-01-02+02:00\"^^" XSD_IRI "date>"},
        {"xsd:date(5)", ""},
        {"xsd:time(\"03:04:05\")", "\"03:04:05\"^^" XSD_IRI "time>"},
        {"xsd:time(\"25:04:05\")", ""},
        {"xsd:time(\"03:04:05\") < xsd:time(\"03:04:06\")", BOOL("true")},
    };
    (void)state;
    CHECK(cases);
}

static void
test_truth_and_order(void **state)
{
    static const struct expression_case cases[] = {
        {"IF(\"x\"^^xsd:integer, 1, 2)", "2"},
        {"IF(\"maybe\"^^xsd:boolean, 1, 2)", "2"},
        {"IF(\"x\"^^<a:t>, 1, 2)", ""},
        {"IF(\"2020-01-01\"^^xsd:date, 1, 2)", ""},
        {"IF(<a:b>, 1, 2)", ""},
        {"IF(\"\"@en, 1, 2)", "2"},
        {"IF(\"0\", 1, 2)", "1"},
        {"IF(0.0, 1, 2)", "2"},
        {"IF(1e-300, 1, 2)", "1"},
        {"IF(xsd:double(\"NaN\"), 1, 2)", "2"},
        {"true > false", BOOL("true")},
        {"true <= false", BOOL("false")},
        {"\"a\"@en < \"b\"@en", BOOL("true")},
        {"\"P1Y\"^^xsd:duration < \"P2Y\"^^xsd:duration", BOOL("true")},
        {"\"P13M\"^^xsd:duration = \"P1Y1M\"^^xsd:duration", BOOL("true")},
        {"\"P1M\"^^xsd:duration < \"P30D\"^^xsd:duration", ""},
    };
    static const struct query_case orders[] = {
        {"PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> SELECT ?x { VALUES ?x { 2 "
         "\"NaN\"^^xsd:double -1 <a:b> \"b\" \"a\" true false UNDEF "
         "\"-INF\"^^xsd:double \"x\"@fr \"x\"@en \"a\"^^<a:u> \"a\"^^<a:t> } } ORDER BY ?x",
         "?x\n\n<a:b>\n" BOOL("false") "\n" BOOL("true") "\n" DOUBLE("NaN") "\n" DOUBLE(
             "-INF") "\n-1\n2\n\"a\"\n\"b\"\n\"x\"@en\n\"x\"@fr\n\"a\"^^<a:t>\n\"a\"^^<a:u>\n"},
    };
    (void)state;
    CHECK(cases);
    QUERY_CASES("", NULL, orders);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_casts_and_logic),
        cmocka_unit_test(test_numbers_that_are_none),
        cmocka_unit_test(test_casts_between_types),
        cmocka_unit_test(test_truth_and_order),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_tables_are_cut_for_terminals_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + value_edges_run() + value_limits_run() +
           result_rows_run();
}
