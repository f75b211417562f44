/* Functions of SPARQL called one by one: what they make of values that are not of their kind, of
 * what identifiers say, and of given random numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "index/query/functions/functions.h"
#include "rdf/core/vocabulary.h"
#include "tests/unit/query_parts/expression_bed.h"

enum { MOST = 4, TEXT = 200 };

/* Writes a value as an N-Triples term, "error" for an error. */
static const char *
text_of(bool known, const struct value *value)
{
    static char text[TEXT];
    struct term term;
    if (!known) {
        return "error";
    }
    assert_true(value_term(value, &bed.evaluation.scratch, &term));
    if (term.kind == TERM_IRI) {
        snprintf(text, sizeof text, "<%.*s>", SLICE_PRINT(term.value));
    } else {
        const size_t hash = slice_find(term.datatype, '#');
        const struct slice type =
            term.datatype.length > 0
                ? slice_of(term.datatype.at + hash + 1, term.datatype.length - hash - 1)
                : SLICE("");
        snprintf(text, sizeof text, "%.*s%s%.*s%s%.*s", SLICE_PRINT(term.value),
                 type.length > 0 ? " " : "", SLICE_PRINT(type), term.language.length > 0 ? "@" : "",
                 SLICE_PRINT(term.language));
    }
    return text;
}

static struct value
typed(const char *text, const char *datatype)
{
    struct value value;
    struct term term = term_literal(slice_string(text));
    char iri[TEXT];
    snprintf(iri, sizeof iri, XSD "%s", datatype);
    term.datatype = arena_copy(&bed.evaluation.scratch, slice_string(iri));
    value_of_term(&term, &value);
    return value;
}

/* Calls the function of that name; rows have no variables. */
static const char *
called(const char *name, const struct value *arguments, size_t count)
{
    const struct function *function = function_find(slice_string(name));
    struct value out = {.kind = VALUE_OTHER};
    assert_non_null(function);
    assert_true(count >= function->least);
    if (function->apply != NULL) {
        return text_of(function->apply(&bed.evaluation, arguments, count, &out), &out);
    }
    struct expression constants[MOST], call = {.kind = EXPRESSION_CALL, .function = function};
    const struct expression *operands[MOST];
    oid ids[MOST] = {OID_NONE};
    assert_true(count <= MOST);
    for (size_t i = 0; i < count; i++) {
        constants[i] = (struct expression){.kind = EXPRESSION_CONSTANT, .number = (uint32_t)i};
        operands[i] = &constants[i];
    }
    call.arguments = operands;
    call.count = count;
    bed.evaluation.values = arguments;
    bed.evaluation.constants = ids;
    return text_of(function->form(&bed.evaluation, &call, NULL, &out), &out);
}

static const char *
called_with(const char *name, struct value argument)
{
    return called(name, &argument, 1);
}

static void
numbers_alone_are_rounded(void **state)
{
    static const char *const names[] = {"ABS", "CEIL", "FLOOR", "ROUND", "unary -"};
    static const struct {
        const char *text, *type;
        const char *results[5];
    } cases[] = {
        {"-7", "integer", {"7 integer", "-7 integer", "-7 integer", "-7 integer", "7 integer"}},
        {"0", "integer", {"0 integer", "0 integer", "0 integer", "0 integer", "0 integer"}},
        {"-2.5",
         "decimal",
         {"2.5 decimal", "-2 decimal", "-3 decimal", "-2 decimal", "2.5 decimal"}},
        {"2.5", "decimal", {"2.5 decimal", "3 decimal", "2 decimal", "3 decimal", "-2.5 decimal"}},
        {"-2.5",
         "double",
         {"2.5E0 double", "-2.0E0 double", "-3.0E0 double", "-2.0E0 double", "2.5E0 double"}},
        {"2.5",
         "float",
         {"2.5E0 float", "3.0E0 float", "2.0E0 float", "3.0E0 float", "-2.5E0 float"}},
        {"7", "string", {"error", "error", "error", "error", "error"}},
        {"true", "boolean", {"error", "error", "error", "error", "error"}},
        {"2020-01-01", "date", {"error", "error", "error", "error", "error"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t j = 0; j < 5; j++) {
            assert_string_equal(called_with(names[j], typed(cases[i].text, cases[i].type)),
                                cases[i].results[j]);
        }
    }
    assert_string_equal(called_with("ABS", (struct value){.kind = VALUE_IRI, .has_term = true}),
                        "error");
}

static void
time_zones_are_durations(void **state)
{
    static const struct {
        const char *text, *type, *zone, *name;
    } cases[] = {
        {"2020-01-01T00:00:00Z", "dateTime", "PT0S dayTimeDuration", "Z"},
        {"2020-01-01T00:00:00+00:00", "dateTime", "PT0S dayTimeDuration", "+00:00"},
        {"2020-01-01T00:00:00+00:59", "dateTime", "PT59M dayTimeDuration", "+00:59"},
        {"2020-01-01T00:00:00+01:00", "dateTime", "PT1H dayTimeDuration", "+01:00"},
        {"2020-01-01T00:00:00-01:01", "dateTime", "-PT1H1M dayTimeDuration", "-01:01"},
        {"2020-01-01T00:00:00-00:01", "dateTime", "-PT1M dayTimeDuration", "-00:01"},
        {"2020-01-01T00:00:00+14:00", "dateTime", "PT14H dayTimeDuration", "+14:00"},
        {"2020-01-01T00:00:00", "dateTime", "error", ""},
        {"2020-01-01-05:00", "date", "-PT5H dayTimeDuration", "-05:00"},
        {"00:00:00+02:00", "time", "PT2H dayTimeDuration", "+02:00"},
        {"PT2H", "dayTimeDuration", "error", "error"},
        {"2", "integer", "error", "error"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct value value = typed(cases[i].text, cases[i].type);
        assert_string_equal(called_with("TIMEZONE", value), cases[i].zone);
        assert_string_equal(called_with("TZ", value), cases[i].name);
    }
}

/* RFC 4647, section 3.3.1: a range is a tag or the beginning of one, up to a hyphen. */
static void
languages_match_ranges(void **state)
{
    static const struct {
        const char *tag, *range, *result;
    } cases[] = {
        {"de", "de", "true boolean"},     {"DE", "de", "true boolean"},
        {"de-at", "de", "true boolean"},  {"de-at", "de-AT", "true boolean"},
        {"de", "de-at", "false boolean"}, {"deu", "de", "false boolean"},
        {"d", "de", "false boolean"},     {"de", "*", "true boolean"},
        {"d", "*", "true boolean"},       {"", "*", "false boolean"},
        {"", "", "false boolean"},        {"de", "", "false boolean"},
        {"-de", "", "false boolean"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct value arguments[] = {value_string(slice_string(cases[i].tag)),
                                          value_string(slice_string(cases[i].range))};
        assert_string_equal(called("LANGMATCHES", arguments, 2), cases[i].result);
    }
    for (size_t other = 0; other < 2; other++) {
        struct value arguments[] = {value_string(SLICE("de")), value_string(SLICE("*"))};
        arguments[other] = value_integer(1);
        assert_string_equal(called("LANGMATCHES", arguments, 2), "error");
    }
}

static void
names_are_resolved_where_there_is_a_base(void **state)
{
    static const struct {
        const char *text, *base, *result;
    } cases[] = {
        {"z", "http://a/b", "<http://a/z>"},  {"z", "", "<z>"},
        {"", "http://a/b", "<http://a/b>"},   {"x:y", "http://a/b", "<x:y>"},
        {"x:../y", "http://a/b", "<x:../y>"}, {"a b", "http://a/b", "error"},
        {"x:a b", "http://a/b", "error"},     {"x:a>", "", "error"},
    };
    struct query query = {.form = QUERY_SELECT};
    (void)state;
    bed.evaluation.query = &query;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        query.base = slice_string(cases[i].base);
        assert_string_equal(called_with("IRI", value_string(slice_string(cases[i].text))),
                            cases[i].result);
    }
    query.base = SLICE("http://a/b");
    const struct value iri = {.kind = VALUE_IRI, .has_term = true, .term = term_iri(SLICE("z"))};
    assert_string_equal(called_with("IRI", iri), "<z>"); /* it is one already */
    assert_string_equal(called_with("IRI", value_integer(7)), "error");
}

/* xorshift128+ of Vigna with the shifts 23, 18 and 5; the numbers were computed apart. */
static void
random_numbers_are_those_of_their_state(void **state)
{
    static const double numbers[] = {4.547473508864641e-13, 1.8332002582610585e-12,
                                     3.814699127691057e-06, 1.1444093674595202e-05};
    static const uint64_t first[] = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)};
    struct value value;
    (void)state;
    bed.evaluation.random[0] = 1;
    bed.evaluation.random[1] = 2;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_true(apply_rand(&bed.evaluation, NULL, 0, &value));
        assert_int_equal(value.kind, VALUE_DOUBLE);
        assert_true(value.number == numbers[i]);
    }
    memcpy(bed.evaluation.random, first, sizeof first);
    assert_string_equal(called("UUID", NULL, 0), "<urn:uuid:4aaa9e0c-a641-43f5-91d0-84f2d134c195>");
    assert_string_equal(called("STRUUID", NULL, 0), "08e9e8af-0937-4761-bad5-86d5fb247251");
}

/* ---- limits of text ---- */

/* A text that a function makes has at most 64 MiB. */
static void
text_has_a_limit(void **state)
{
    enum { TEXT_MAXIMUM = 64 << 20 };
    struct value out, whole, parts[2];
    char *bytes = memory_zero(TEXT_MAXIMUM + 1, 1);
    (void)state;
    memset(bytes, 'a', TEXT_MAXIMUM + 1);
    for (size_t more = 0; more < 2; more++) {
        parts[0] = value_string(slice_of(bytes, TEXT_MAXIMUM - 1));
        parts[1] = value_string(slice_of(bytes, 1 + more));
        arena_reset(&bed.evaluation.scratch);
        assert_int_equal(apply_concat(&bed.evaluation, parts, 2, &out), more == 0);
        assert_int_equal(more == 0 ? out.term.value.length : 0, more == 0 ? TEXT_MAXIMUM : 0);
    }
    whole = value_string(slice_of(bytes, TEXT_MAXIMUM + 1));
    arena_reset(&bed.evaluation.scratch);
    assert_false(apply_ucase(&bed.evaluation, &whole, 1, &out));
    free(bytes);
}

/* ---- what identifiers say ---- */

static const struct expression *
call_of(const char *name)
{
    static struct expression variable, call;
    static const struct expression *operands[] = {&variable};
    variable = (struct expression){.kind = EXPRESSION_VARIABLE, .number = 0};
    call = (struct expression){.kind = EXPRESSION_CALL,
                               .function = function_find(slice_string(name)),
                               .arguments = operands,
                               .count = 1};
    assert_non_null(call.function);
    return &call;
}

/* Parts of a date are known without its term where its identifier says them; a date has no hours,
 * an integer no parts at all. */
static void
parts_of_moments_are_said(void **state)
{
    static const struct {
        const char *name;
        int of_date, of_moment; /* -1: an error */
    } cases[] = {
        {"YEAR", 20, 21}, {"MONTH", 3, 4}, {"DAY", 9, 10}, {"HOURS", -1, 5}, {"MINUTES", -1, 6}};
    (void)state;
    for (unsigned source_says = 0; source_says < 2; source_says++) {
        bed.source.value = source_says ? value_said : NULL;
        bed.source.integer = id_of_integer;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            const struct expression *call = call_of(cases[i].name);
            const int parts[] = {cases[i].of_date, cases[i].of_moment};
            for (size_t j = 0; j < 2; j++) {
                const unsigned before = bed.resolved;
                const oid row[] = {j == 0 ? A_DATE : A_MOMENT};
                assert_int_equal(expression_id(&bed.evaluation, call, row),
                                 parts[j] < 0 ? OID_NONE : FIRST_INTEGER + (oid)parts[j]);
                if (source_says && parts[j] >= 0) {
                    assert_int_equal(bed.resolved, before);
                }
            }
            assert_int_equal(expression_id(&bed.evaluation, call, (const oid[]){7}), OID_NONE);
            assert_int_equal(expression_id(&bed.evaluation, call, (const oid[]){IRIS}), OID_NONE);
            assert_int_equal(expression_id(&bed.evaluation, call, (const oid[]){OID_NONE}),
                             OID_NONE);
        }
    }
    /* Without identifiers of integers the number is a term of the query's own. */
    bed.source.integer = NULL;
    assert_true(expression_id(&bed.evaluation, call_of("YEAR"), (const oid[]){A_DATE}) >=
                OID_LOCAL);
    assert_int_equal(bed.evaluation.status, STATUS_OK);
}

/* Whether something is an IRI or a literal is known without its term where identifiers say it. */
static void
kinds_of_terms_are_said(void **state)
{
    static const char *const names[] = {"ISIRI", "ISBLANK", "ISLITERAL"};
    (void)state;
    for (unsigned source_says = 0; source_says < 2; source_says++) {
        bed.source.kind = source_says ? kind_said : NULL;
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            const struct expression *call = call_of(names[i]);
            const unsigned before = bed.resolved;
            assert_int_equal(expression_test(&bed.evaluation, call, (const oid[]){7}), i == 2);
            assert_int_equal(expression_test(&bed.evaluation, call, (const oid[]){IRIS}), i == 0);
            assert_true(bed.resolved == before || !source_says);
            assert_int_equal(expression_test(&bed.evaluation, call, (const oid[]){OID_NONE}), -1);
        }
    }
    assert_true(bed.resolved > 0);
}

static bool
datatype_of(oid id, struct slice *iri)
{
    *iri = id == 1 ? SLICE(RDF_NAMESPACE "langString") : SLICE(XSD "integer");
    return id < IRIS;
}

static void
datatypes_are_said(void **state)
{
    struct value value;
    (void)state;
    bed.source.datatype = datatype_of;
    const struct expression *call = call_of("DATATYPE");
    assert_string_equal(
        text_of(expression_value(&bed.evaluation, call, (const oid[]){7}, &value), &value),
        "<" XSD "integer>");
    assert_string_equal(
        text_of(expression_value(&bed.evaluation, call, (const oid[]){1}, &value), &value),
        "<" RDF_NAMESPACE "langString>");
    call = call_of("LANG");
    assert_string_equal(
        text_of(expression_value(&bed.evaluation, call, (const oid[]){7}, &value), &value), "");
    assert_int_equal(bed.resolved, 0);
    assert_string_equal(
        text_of(expression_value(&bed.evaluation, call, (const oid[]){1}, &value), &value), "");
    assert_int_equal(bed.resolved, 1); /* which language it is only the term says */
    assert_false(expression_value(&bed.evaluation, call, (const oid[]){IRIS}, &value));
    assert_false(expression_value(&bed.evaluation, call, (const oid[]){OID_NONE}, &value));
    bed.source.datatype = NULL;
    assert_string_equal(
        text_of(expression_value(&bed.evaluation, call, (const oid[]){7}, &value), &value), "");
    assert_int_equal(bed.evaluation.status, STATUS_OK);
}

/* ---- IN ---- */

/* A list has a value when one of its items is equal; it has none when an item that could not be
 * compared might have been. */
static void
lists_have_what_is_equal(void **state)
{
    const struct value one = value_integer(1), two = value_integer(2);
    const struct value odd = typed("x", "anyURI"), other = typed("y", "anyURI");
    const struct {
        struct value sought, items[3];
        size_t count;
        const char *in, *not_in;
    } cases[] = {
        {one, {two, one, two}, 3, "true boolean", "false boolean"},
        {one, {two, two, two}, 3, "false boolean", "true boolean"},
        {one, {two}, 0, "false boolean", "true boolean"},
        {odd, {other, odd, other}, 3, "true boolean", "false boolean"},
        {odd, {other, other, other}, 3, "error", "error"},
        {odd, {odd, other, other}, 2, "true boolean", "false boolean"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct value arguments[MOST] = {cases[i].sought};
        memcpy(arguments + 1, cases[i].items, sizeof cases[i].items);
        assert_string_equal(called("in list", arguments, 1 + cases[i].count), cases[i].in);
        assert_string_equal(called("not in list", arguments, 1 + cases[i].count), cases[i].not_in);
    }
}

int
told_functions_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_alone_are_rounded, begin, end),
        cmocka_unit_test_setup_teardown(time_zones_are_durations, begin, end),
        cmocka_unit_test_setup_teardown(languages_match_ranges, begin, end),
        cmocka_unit_test_setup_teardown(names_are_resolved_where_there_is_a_base, begin, end),
        cmocka_unit_test_setup_teardown(random_numbers_are_those_of_their_state, begin, end),
        cmocka_unit_test_setup_teardown(text_has_a_limit, begin, end),
        cmocka_unit_test_setup_teardown(parts_of_moments_are_said, begin, end),
        cmocka_unit_test_setup_teardown(kinds_of_terms_are_said, begin, end),
        cmocka_unit_test_setup_teardown(datatypes_are_said, begin, end),
        cmocka_unit_test_setup_teardown(lists_have_what_is_equal, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
