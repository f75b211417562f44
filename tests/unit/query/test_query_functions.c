/* Every function and operator of section 17 of the query language, mostly by its own examples. */
#include <string.h>

#include "tests/unit/query/query_case.h"

#define XSD_IRI "http://www.w3.org/2001/XMLSchema#"

/* An expression and its value as in TSV; empty: an error. <xsd:x> is a datatype of XML Schema, true
 * and false are booleans. */
static const struct {
    const char *expression, *value;
} cases[] = {
    {"IF(true, 1, 2)", "1"},
    {"IF(1/0, 1, 2)", ""},
    {"COALESCE(1/0, 5)", "5"},
    {"COALESCE(1/0)", ""},
    {"2 IN (1, 2, 3)", "true"},
    {"2 IN ()", "false"},
    {"2 IN (<http://example/iri>, \"str\", 2.0)", "true"},
    {"2 IN (1/0, 2)", "true"},
    {"2 IN (2, 1/0)", "true"},
    {"2 IN (3, 1/0)", ""},
    {"2 NOT IN (1, 2, 3)", "false"},
    {"2 NOT IN ()", "true"},
    {"2 NOT IN (3, 1/0)", ""},
    {"2 NOT IN (1/0, 2)", "false"},
    {"sameTerm(1, 1.0)", "false"},
    {"1 = 1.0", "true"},
    {"isNumeric(12)", "true"},
    {"isNumeric(\"12\")", "false"},
    {"isNumeric(\"12\"^^xsd:nonNegativeInteger)", "true"},
    {"isNumeric(\"1200\"^^xsd:byte)", "false"},
    {"isNumeric(<http://example/>)", "false"},
    {"STR(<http://a/>)", "\"http://a/\""},
    {"STR(\"x\"@en)", "\"x\""},
    {"LANG(\"Robert\"@en)", "\"en\""},
    {"LANG(\"Roberto\")", "\"\""},
    {"DATATYPE(\"x\"@en)", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>"},
    {"DATATYPE(\"x\")", "<xsd:string>"},
    {"IRI(\"http://e/x\")", "<http://e/x>"},
    {"STRDT(\"123\", xsd:integer)", "123"},
    {"STRDT(\"iiii\", <http://example/romanNumeral>)", "\"iiii\"^^<http://example/romanNumeral>"},
    {"STRLANG(\"chat\", \"en\")", "\"chat\"@en"},
    {"STRDT(\"a\"@en, xsd:integer)", ""},
    {"STRLEN(\"chat\")", "4"},
    {"STRLEN(\"chat\"@en)", "4"},
    {"STRLEN(\"chat\"^^xsd:string)", "4"},
    {"STRLEN(\"食べる\")", "3"},
    {"SUBSTR(\"foobar\", 4)", "\"bar\""},
    {"SUBSTR(\"foobar\"@en, 4)", "\"bar\"@en"},
    {"SUBSTR(\"foobar\", 4, 1)", "\"b\""},
    {"SUBSTR(\"foobar\", 0, 3)", "\"fo\""},
    {"SUBSTR(\"foobar\", -1, 4)", "\"fo\""},
    {"SUBSTR(\"12345\", 1.5, 2.6)", "\"234\""},
    {"UCASE(\"foo\")", "\"FOO\""},
    {"UCASE(\"foo\"@en)", "\"FOO\"@en"},
    {"LCASE(\"BAR\")", "\"bar\""},
    {"STRSTARTS(\"foobar\", \"foo\")", "true"},
    {"STRSTARTS(\"foobar\"@en, \"foo\"@en)", "true"},
    {"STRSTARTS(\"foobar\"@en, \"foo\")", "true"},
    {"STRSTARTS(\"foobar\", \"foo\"@en)", ""},
    {"STRSTARTS(\"foobar\"@en, \"foo\"@fr)", ""},
    {"STRENDS(\"foobar\", \"bar\")", "true"},
    {"STRENDS(\"foobar\"@en, \"bar\")", "true"},
    {"CONTAINS(\"foobar\", \"bar\")", "true"},
    {"CONTAINS(\"foobar\"@en, \"foo\")", "true"},
    {"STRBEFORE(\"abc\",\"b\")", "\"a\""},
    {"STRBEFORE(\"abc\"@en,\"bc\")", "\"a\"@en"},
    {"STRBEFORE(\"abc\"@en,\"b\"@cy)", ""},
    {"STRBEFORE(\"abc\",\"\")", "\"\""},
    {"STRBEFORE(\"abc\",\"xyz\")", "\"\""},
    {"STRBEFORE(\"abc\"@en, \"z\"@en)", "\"\""},
    {"STRBEFORE(\"abc\"@en, \"z\")", "\"\""},
    {"STRBEFORE(\"abc\"@en, \"\"@en)", "\"\"@en"},
    {"STRBEFORE(\"abc\"@en, \"\")", "\"\"@en"},
    {"STRAFTER(\"abc\",\"b\")", "\"c\""},
    {"STRAFTER(\"abc\"@en,\"ab\")", "\"c\"@en"},
    {"STRAFTER(\"abc\"@en,\"b\"@cy)", ""},
    {"STRAFTER(\"abc\",\"\")", "\"abc\""},
    {"STRAFTER(\"abc\",\"xyz\")", "\"\""},
    {"STRAFTER(\"abc\"@en, \"z\"@en)", "\"\""},
    {"STRAFTER(\"abc\"@en, \"\"@en)", "\"abc\"@en"},
    {"ENCODE_FOR_URI(\"Los Angeles\")", "\"Los%20Angeles\""},
    {"ENCODE_FOR_URI(\"Los Angeles\"@en)", "\"Los%20Angeles\""},
    {"CONCAT(\"foo\", \"bar\")", "\"foobar\""},
    {"CONCAT(\"foo\"@en, \"bar\"@en)", "\"foobar\"@en"},
    {"CONCAT(\"foo\", \"bar\"@en)", "\"foobar\""},
    {"CONCAT(\"foo\"@en, \"bar\"@fr)", "\"foobar\""},
    {"CONCAT()", "\"\""},
    {"LANGMATCHES(\"en-gb\", \"EN\")", "true"},
    {"LANGMATCHES(\"\", \"*\")", "false"},
    {"LANGMATCHES(\"de\", \"*\")", "true"},
    {"REGEX(\"Alice\", \"^ali\", \"i\")", "true"},
    {"REGEX(\"Alice\"@en, \"^Ali\")", "true"},
    {"REPLACE(\"abcd\", \"b\", \"Z\")", "\"aZcd\""},
    {"REPLACE(\"abab\", \"B\", \"Z\",\"i\")", "\"aZaZ\""},
    {"REPLACE(\"abab\", \"B.\", \"Z\",\"i\")", "\"aZb\""},
    {"REPLACE(\"abracadabra\", \"bra\", \"*\")", "\"a*cada*\""},
    {"REPLACE(\"abracadabra\", \"a(.)\", \"a$1$1\")", "\"abbraccaddabbra\""},
    {"REPLACE(\"abracadabra\", \".*?\", \"$1\")", ""},
    {"REPLACE(\"AAAA\", \"A+?\", \"b\")", "\"bbbb\""},
    {"REPLACE(\"x\"@en, \"x\", \"y\")", "\"y\"@en"},
    {"ABS(1)", "1"},
    {"ABS(-1.5)", "1.5"},
    {"ROUND(2.4999)", "\"2\"^^<xsd:decimal>"},
    {"ROUND(2.5)", "\"3\"^^<xsd:decimal>"},
    {"ROUND(-2.5)", "\"-2\"^^<xsd:decimal>"},
    {"CEIL(10.5)", "\"11\"^^<xsd:decimal>"},
    {"CEIL(-10.5)", "\"-10\"^^<xsd:decimal>"},
    {"FLOOR(10.5)", "\"10\"^^<xsd:decimal>"},
    {"FLOOR(-10.5)", "\"-11\"^^<xsd:decimal>"},
    {"YEAR(\"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "2011"},
    {"MONTH(\"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "1"},
    {"DAY(\"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "10"},
    {"HOURS(\"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "14"},
    {"MINUTES(\"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "45"},
    {"SECONDS(\"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "13.815"},
    {"TIMEZONE(\"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)",
     "\"-PT5H\"^^<xsd:dayTimeDuration>"},
    {"TIMEZONE(\"2011-01-10T14:45:13.815Z\"^^xsd:dateTime)", "\"PT0S\"^^<xsd:dayTimeDuration>"},
    {"TIMEZONE(\"2011-01-10T14:45:13.815\"^^xsd:dateTime)", ""},
    {"TZ(\"2011-01-10T14:45:13.815-05:00\"^^xsd:dateTime)", "\"-05:00\""},
    {"TZ(\"2011-01-10T14:45:13.815Z\"^^xsd:dateTime)", "\"Z\""},
    {"TZ(\"2011-01-10T14:45:13.815\"^^xsd:dateTime)", "\"\""},
    {"MD5(\"abc\")", "\"900150983cd24fb0d6963f7d28e17f72\""},
    {"SHA1(\"abc\")", "\"a9993e364706816aba3e25717850c26c9cd0d89d\""},
    {"SHA256(\"abc\")", "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\""},
    {"xsd:integer(\"12\")", "12"},
    {"xsd:integer(\"1.5\")", ""},
    {"xsd:integer(1.9)", "1"},
    {"xsd:integer(-1.9)", "-1"},
    {"xsd:integer(true)", "1"},
    {"xsd:boolean(\"true\")", "true"},
    {"xsd:boolean(\"1\")", "true"},
    {"xsd:boolean(\"x\")", ""},
    {"xsd:boolean(0.0)", "false"},
    {"xsd:decimal(\"1.50\")", "1.5"},
    {"xsd:double(\"1e3\")", "1.0E3"},
    {"xsd:string(1)", "\"1\""},
    {"xsd:string(<http://a/>)", "\"http://a/\""},
    {"xsd:dateTime(\"2011-01-10T14:45:13Z\")", "\"2011-01-10T14:45:13Z\"^^<xsd:dateTime>"},
    {"xsd:dateTime(\"x\")", ""},
    {"xsd:float(\"1.5\")", "\"1.5E0\"^^<xsd:float>"},
    {"1 + 2.0", "\"3\"^^<xsd:decimal>"},
    {"1 / 2", "0.5"},
    {"1/0", ""},
    {"1e0/0", "\"INF\"^^<xsd:double>"},
    {"\"a\" < \"b\"", "true"},
    {"\"a\" = \"a\"@en", "false"},
    {"true && 1/0", ""},
    {"false && 1/0", "false"},
    {"true || 1/0", "true"},
    {"false || 1/0", ""},
    {"! 1/0", ""},
    {"!\"\"", "true"},
    {"!\"x\"", "false"},
    {"! \"x\"@en", "false"},
    {"-(-1)", "1"},
    {"+1", "+1"},
    {"1 = \"x\"^^<http://unknown/>", ""},
    {"\"2011-01-10T14:45:13Z\"^^xsd:dateTime = \"2011-01-10T15:45:13+01:00\"^^xsd:dateTime",
     "true"},
    {"BOUND(?nothing)", "false"},
    {"STRUUID() = STRUUID()", "false"},
    {"isIRI(UUID())", "true"},
    {"isBlank(BNODE())", "true"},
    {"BNODE(\"a\") = BNODE(\"a\")", "true"},
    {"BNODE(\"a\") = BNODE(\"b\")", "false"},
    {"isLiteral(\"x\")", "true"},
    {"isURI(<http://a/>)", "true"},
    {"RAND() < 1", "true"},
    {"NOW() = NOW()", "true"},
    {"EXISTS { }", "true"},
    {"NOT EXISTS { ?s ?p ?o }", "false"},
};

/* Writes the header and the value as the answer has them. */
static void
write_expected(const char *value, struct buf *out)
{
    const bool boolean = strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
    const char *datatype = strstr(value, "<xsd:");
    buf_reset(out);
    if (boolean) {
        buf_printf(out, "?x\n\"%s\"^^<" XSD_IRI "boolean>\n", value);
    } else if (datatype) {
        buf_printf(out, "?x\n%.*s<" XSD_IRI "%s\n", (int)(datatype - value), value,
                   datatype + strlen("<xsd:"));
    } else {
        buf_printf(out, "?x\n%s\n", value);
    }
}

static void
test_functions(void **state)
{
    struct memory_source *source = query_case_source("<a:s> <a:p> 1 .");
    const struct query_options options = {0};
    struct buf text, expected, out;
    (void)state;
    buf_init(&text, 1 << 12);
    buf_init(&expected, 1 << 12);
    buf_init(&out, 1 << 16);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_reset(&text);
        buf_reset(&out);
        buf_printf(&text, "PREFIX xsd: <" XSD_IRI "> SELECT (%s AS ?x) {}", cases[i].expression);
        (void)query_case_output(source, text.data, "tsv", &options, &out);
        write_expected(cases[i].value, &expected);
        if (strcmp(out.data, expected.data) != 0) {
            fail_msg("%s: %s", cases[i].expression, out.data);
        }
    }
    buf_release(&text);
    buf_release(&expected);
    buf_release(&out);
    memory_source_free(source);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
