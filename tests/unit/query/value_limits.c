/* Values of integer types at their bounds, of different types beside each other, and what
 * index/query/values/ keeps and refuses; a part of test_query_value. */
#include "tests/unit/query/expression_case.h"

#include <float.h>
#include <math.h>

#include "index/query/values/regex.h"
#include "index/query/values/value.h"
#include "rdf/core/vocabulary.h"

static void
integers_are_within_their_bounds(void **state)
{
    static const struct {
        const char *type;
        const char *below, *least, *most, *above; /* NULL: there is no such bound */
    } cases[] = {{"byte", "-129", "-128", "127", "128"},
                 {"short", "-32769", "-32768", "32767", "32768"},
                 {"int", "-2147483649", "-2147483648", "2147483647", "2147483648"},
                 {"long", "-9223372036854775809", "-9223372036854775808", "9223372036854775807",
                  "9223372036854775808"},
                 {"unsignedByte", "-1", "0", "255", "256"},
                 {"unsignedShort", "-1", "0", "65535", "65536"},
                 {"unsignedInt", "-1", "0", "4294967295", "4294967296"},
                 {"unsignedLong", "-1", "0", "18446744073709551615", "18446744073709551616"},
                 {"nonNegativeInteger", "-1", "0", "99999999999999999999", NULL},
                 {"positiveInteger", "0", "1", "99999999999999999999", NULL},
                 {"nonPositiveInteger", NULL, "-99999999999999999999", "0", "1"},
                 {"negativeInteger", NULL, "-99999999999999999999", "-1", "0"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const texts[] = {cases[i].below, cases[i].least, cases[i].most, cases[i].above};
        char type[64];
        const int length = snprintf(type, sizeof type, XSD "%s", cases[i].type);
        for (size_t k = 0; k < 4; k++) {
            struct value value = {0};
            if (texts[k] == NULL) {
                continue;
            }
            struct term term = term_literal(slice_string(texts[k]));
            term.datatype = slice_of(type, (size_t)length);
            value_of_term(&term, &value);
            assert_int_equal(value.kind, k == 1 || k == 2 ? VALUE_INTEGER : VALUE_OTHER);
        }
    }
}

static void
numbers_of_different_types_are_compared(void **state)
{
    static const struct expression_case cases[] = {
        {"\"0.1\"^^xsd:float = 0.1", BOOL("true")},
        {"\"0.1\"^^xsd:float = 0.1e0", BOOL("false")},
        {"0.1 = \"0.1\"^^xsd:float", BOOL("true")},
        {"\"16777217\"^^xsd:float = 16777216", BOOL("true")},
        {"16777217 = 16777216e0", BOOL("false")},
        {"xsd:float(1) + 1e0", "2.0E0"},
        {"1e0 + xsd:float(1)", "2.0E0"},
        {"xsd:float(1) + 1", "\"2.0E0\"^^" XSD_IRI "float>"},
        {"xsd:float(5) - 3.0", "\"2.0E0\"^^" XSD_IRI "float>"},
        {"5e0 - 3", "2.0E0"},
        {"6e0 / 3", "2.0E0"},
        {"xsd:float(16777216) + 1", "\"1.6777216E7\"^^" XSD_IRI "float>"},
        {"xsd:double(\"+INF\")", DOUBLE("INF")},
        {"-xsd:double(\"+INF\")", DOUBLE("-INF")},
        {"0.000000000000001 * 0.000000000000001", "0.000000000000000000000000000001"},
        {"0.000000000000001 * 0.0000000000000001", "\"0\"^^" XSD_IRI "decimal>"},
        {"100000000000000000000000000000000000000 / 3",
         "\"33333333333333333333333333333333333333\"^^" XSD_IRI "decimal>"},
        {"100000000000000000000000000000000000000 / 0.5", ""},
        {"0.5 / 100000000000000000000000000000000000000", ""},
        {"IF(\"x\"^^xsd:float, 1, 2)", "2"},
        {"IF(\"x\"^^xsd:double, 1, 2)", "2"},
        {"IF(\"x\"^^xsd:decimal, 1, 2)", "2"},
        {"IF(\"x\"^^xsd:dateTime, 1, 2)", ""},
        {"IF(\"x\"^^xsd:string, 1, 2)", "1"},
    };
    (void)state;
    CHECK(cases);
}

static void
values_of_one_type_have_their_order(void **state)
{
    static const struct expression_case cases[] = {
        {"\"a\"@en < \"b\"@fr", ""},
        {"\"a\"@en = \"a\"@fr", BOOL("false")},
        {"\"a\"@en = \"a\"@en", BOOL("true")},
        {"\"a\"@en = \"a\"", BOOL("false")},
        {"\"a\"@en = \"a\"^^<a:t>", BOOL("false")},
        {"\"a\"^^<a:t> = \"a\"@en", BOOL("false")},
        {"\"a\"^^<a:t> = \"a\"", ""},
        {"\"a\" = \"a\"^^<a:t>", ""},
        {"<a:a> = \"a\"^^<a:t>", BOOL("false")},
        {"\"a\"^^<a:t> = <a:a>", BOOL("false")},
        {"<a:a> = <a:a>", BOOL("true")},
        {"<a:a> = <a:b>", BOOL("false")},
        {"<a:a> < <a:b>", ""},
        {"true = 1", BOOL("false")},
        {"true < 1", ""},
        {"false < true", BOOL("true")},
        {"\"P1M\"^^xsd:duration < \"P2MT1S\"^^xsd:duration", BOOL("true")},
        {"\"P1MT1S\"^^xsd:duration < \"P2MT1S\"^^xsd:duration", BOOL("true")},
        {"\"P1MT2S\"^^xsd:duration < \"P2MT1S\"^^xsd:duration", ""},
        {"\"P2MT1S\"^^xsd:duration > \"P1M\"^^xsd:duration", BOOL("true")},
        {"\"P2M\"^^xsd:duration > \"P1MT1S\"^^xsd:duration", ""},
        {"\"P1MT1S\"^^xsd:duration < \"P1MT2S\"^^xsd:duration", BOOL("true")},
        {"\"P1MT2S\"^^xsd:duration = \"P2MT1S\"^^xsd:duration", ""},
        {"\"P123456789012345678Y\"^^xsd:duration < \"P1M\"^^xsd:duration", BOOL("false")},
        {"\"P0000000000000000001Y\"^^xsd:duration < \"P1M\"^^xsd:duration", ""},
        {"\"2001-01-01\"^^xsd:date = \"2001-01-01T00:00:00\"^^xsd:dateTime", BOOL("false")},
        {"\"2001-01-01\"^^xsd:date < \"2001-01-01T00:00:00\"^^xsd:dateTime", ""},
        /* In ASCII "/" stands before "0" and ":" behind "9": neither is a digit. */
        {"MONTH(\"2001-1/-01T00:00:00Z\"^^xsd:dateTime)", ""},
        {"MONTH(\"2001-0:-01T00:00:00Z\"^^xsd:dateTime)", ""},
        {"YEAR(\"200:-01-01T00:00:00Z\"^^xsd:dateTime)", ""},
        {"YEAR(\"200/-01-01T00:00:00Z\"^^xsd:dateTime)", ""},
        {"SECONDS(\"2001-01-01T00:00:/1Z\"^^xsd:dateTime)", ""},
        {"SECONDS(\"2001-01-01T00:00:60.5Z\"^^xsd:dateTime)", ""},
    };
    (void)state;
    CHECK(cases);
}

/* Whatever has been kept of patterns before, the next one is found or compiled. */
static void
patterns_are_kept_by_what_they_are(void **state)
{
    enum { PATTERNS = REGEX_CACHE + 1 };
    struct regex_cache cache;
    (void)state;
    regex_cache_init(&cache);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(regex_match(&cache, SLICE("ab"), SLICE("a"), SLICE("")), 1);
        assert_int_equal(regex_match(&cache, SLICE("ab"), SLICE("b"), SLICE("")), 1);
        assert_int_equal(regex_match(&cache, SLICE("ab"), SLICE("A"), SLICE("")), 0);
        assert_int_equal(regex_match(&cache, SLICE("ab"), SLICE("A"), SLICE("i")), 1);
        assert_int_equal(regex_match(&cache, SLICE("ab"), SLICE("A"), SLICE("s")), 0);
        assert_int_equal(regex_match(&cache, SLICE("ab"), SLICE("AB"), SLICE("i")), 1);
        assert_int_equal(cache.next, 6); /* the second time all are there */
    }
    for (unsigned i = 0; i < 2 * PATTERNS; i++) {
        const char pattern[] = {'a', (char)('a' + i % PATTERNS)};
        assert_int_equal(
            regex_match(&cache, SLICE("ab"), slice_of(pattern, sizeof pattern), SLICE("")),
            pattern[1] == 'b');
    }
    assert_int_equal(cache.next, 6 + 2 * PATTERNS); /* one more than there is room for */
    regex_cache_release(&cache);
}

static void
patterns_and_replacements_have_their_limits(void **state)
{
    enum { PATTERN_MOST = 64 << 10 };
    static char pattern[PATTERN_MOST + 1];
    struct regex_cache cache;
    struct buf out;
    (void)state;
    regex_cache_init(&cache);
    for (size_t length = PATTERN_MOST; length <= PATTERN_MOST + 1; length++) {
        memset(pattern, 'x', sizeof pattern); /* a comment, since little can be compiled */
        memcpy(pattern, "b(?#", 4);
        pattern[length - 1] = ')';
        assert_int_equal(regex_match(&cache, SLICE("b"), slice_of(pattern, length), SLICE("")),
                         length > PATTERN_MOST ? -1 : 1);
    }
    assert_int_equal(regex_match(&cache, (struct slice){0}, SLICE("^$"), SLICE("")), 1);
    for (size_t most = 5; most <= 7; most++) { /* "-b-b" and so on have room, or not */
        buf_init(&out, most);
        assert_int_equal(
            regex_replace(&cache, SLICE("ababab"), SLICE("a"), SLICE("-"), SLICE(""), &out),
            most >= 6);
        buf_release(&out);
    }
    /* It matches the empty string, though in this one always a character. */
    buf_init(&out, 64);
    assert_false(regex_replace(&cache, SLICE("xx"), SLICE("^$|x"), SLICE("-"), SLICE(""), &out));
    assert_false(regex_replace(&cache, SLICE("xx"), SLICE("("), SLICE("-"), SLICE(""), &out));
    buf_release(&out);
    regex_cache_release(&cache);
}

static void
numbers_of_many_characters_are_none(void **state)
{
    enum { MOST = 127 };
    char text[MOST + 2];
    double number = 0;
    (void)state;
    memset(text, '0', sizeof text);
    text[MOST - 1] = text[MOST] = '7';
    assert_true(number_parse(slice_of(text, MOST), &number));
    assert_true(number == 7);
    assert_false(number_parse(slice_of(text, MOST + 1), &number));
    assert_false(number_parse(SLICE("--1"), &number));
    assert_false(number_parse(SLICE("e"), &number));
}

static void
an_empty_text_is_one(void **state)
{
    const struct value value = value_string((struct slice){0});
    struct value of_term = {0};
    struct term term = term_literal((struct slice){0});
    (void)state;
    assert_non_null(value.term.value.at);
    assert_int_equal(value.kind, VALUE_STRING);
    value_of_term(&term, &of_term);
    assert_non_null(of_term.term.value.at);
    assert_int_equal(value_equals(&value, &of_term), 1);
}

static void
kinds_have_their_classes(void **state)
{
    static const enum value_kind ascending[] = {
        VALUE_BLANK, VALUE_IRI,      VALUE_BOOLEAN, VALUE_INTEGER,  VALUE_DATE_TIME, VALUE_DATE,
        VALUE_TIME,  VALUE_DURATION, VALUE_STRING,  VALUE_LANGUAGE, VALUE_OTHER};
    static const enum value_kind numbers[] = {VALUE_DECIMAL, VALUE_FLOAT, VALUE_DOUBLE};
    (void)state;
    for (size_t i = 0; i + 1 < sizeof ascending / sizeof *ascending; i++) {
        assert_true(value_class(ascending[i]) < value_class(ascending[i + 1]));
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_int_equal(value_class(numbers[i]), value_class(VALUE_INTEGER));
    }
}

/* The total order: of values that are equal or have no order their characters tell. */
static void
values_are_ordered_by_their_characters_at_last(void **state)
{
    static const struct {
        const char *text, *language, *type;
    } ascending[] = {
        {"01", "", XSD "integer"}, {"1", "", XSD "integer"}, {"1.0", "", XSD "decimal"},
        {"a", "", XSD "string"},   {"b", "", XSD "string"},  {"a", "en", ""},
        {"a", "fr", ""},           {"b", "en", ""},          {"a", "", "a:t"},
        {"a", "", "a:u"},          {"b", "", "a:t"}};
    enum { COUNT = sizeof ascending / sizeof *ascending };
    struct value values[COUNT] = {0};
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        struct term term = term_literal(slice_string(ascending[i].text));
        term.language = slice_string(ascending[i].language);
        term.datatype = i == 3 || i == 4 ? (struct slice){0} : slice_string(ascending[i].type);
        value_of_term(&term, &values[i]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < COUNT; k++) {
            const int order = value_order(&values[i], &values[k]);
            const int expected = (i > k) - (i < k);
            if ((order > 0) - (order < 0) != expected) {
                fail_msg("%zu beside %zu: %d", i, k, order);
            }
        }
    }
    /* NaN stands before all numbers; a number that is computed has no characters. */
    const struct value nan = value_double(NAN), least = value_double(-DBL_MAX),
                       one = value_integer(1);
    assert_true(value_order(&nan, &least) < 0 && value_order(&least, &nan) > 0);
    assert_int_equal(value_order(&nan, &nan), 0);
    assert_int_equal(value_order(&one, &values[0]), 0);
    assert_int_equal(value_order(&values[0], &one), 0);
}

int
value_limits_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_within_their_bounds),
        cmocka_unit_test(numbers_of_different_types_are_compared),
        cmocka_unit_test(values_of_one_type_have_their_order),
        cmocka_unit_test(patterns_are_kept_by_what_they_are),
        cmocka_unit_test(patterns_and_replacements_have_their_limits),
        cmocka_unit_test(numbers_of_many_characters_are_none),
        cmocka_unit_test(an_empty_text_is_one),
        cmocka_unit_test(kinds_have_their_classes),
        cmocka_unit_test(values_are_ordered_by_their_characters_at_last),
    };
    return cmocka_run_group_tests_name("value_limits", tests, NULL, NULL);
}
