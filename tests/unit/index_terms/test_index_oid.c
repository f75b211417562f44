/* Identifiers: what can be inline comes back byte by byte, all else does not go inline. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "index/query/values/value.h"
#include "index/terms/oid.h"
#include "rdf/core/vocabulary.h"

static struct term
typed(const char *text, const char *datatype)
{
    return (struct term){
        .kind = TERM_LITERAL, .value = slice_string(text), .datatype = slice_string(datatype)};
}

static const struct {
    const char *text, *datatype;
} inline_cases[] = {
    {"0", XSD_INTEGER},
    {"-1", XSD_INTEGER},
    {"42", XSD_INTEGER},
    {"36028797018963967", XSD_INTEGER},
    {"-9999999999999999", XSD_INTEGER},
    {"true", XSD_BOOLEAN},
    {"false", XSD_BOOLEAN},
    {"2026-11-20", XSD_NAMESPACE "date"},
    {"0000-15-31", XSD_NAMESPACE "date"},
    {"2026-11-20T10:00:00Z", XSD_NAMESPACE "dateTime"},
    {"2026-11-20T10:00:00", XSD_NAMESPACE "dateTime"},
    {"2026-11-20T10:00:00.000Z", XSD_NAMESPACE "dateTime"},
    {"2026-11-20T10:00:00.999", XSD_NAMESPACE "dateTime"},
};

static void
canonical_literals_are_inline_and_come_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(inline_cases) / sizeof(inline_cases[0]); i++) {
        const struct term term = typed(inline_cases[i].text, inline_cases[i].datatype);
        if (term.value.length > 16 && slice_is(term.datatype, XSD_INTEGER)) {
            continue;
        }
        const oid id = oid_inline_of(&term);
        assert_true(id != OID_NONE);
        assert_false(oid_is_stored(id));
        char text[OID_INLINE_TEXT];
        struct term back;
        assert_int_equal(oid_term_kind(id), TERM_LITERAL);
        assert_true(oid_inline_term(id, text, &back));
        assert_true(slice_equal(back.value, term.value));
        assert_true(slice_equal(back.datatype, term.datatype));
    }
}

static void
other_forms_are_not_inline(void **state)
{
    (void)state;
    static const struct {
        const char *text, *datatype;
    } cases[] = {{"", XSD_INTEGER},
                 {"-", XSD_INTEGER},
                 {"-0", XSD_INTEGER},
                 {"01", XSD_INTEGER},
                 {"+1", XSD_INTEGER},
                 {"1.0", XSD_INTEGER},
                 {"99999999999999999999", XSD_INTEGER},
                 {"36028797018963968", XSD_INTEGER},
                 {"1", XSD_BOOLEAN},
                 {"True", XSD_BOOLEAN},
                 {"2026-11-20Z", XSD_NAMESPACE "date"},
                 {"2026-1-2", XSD_NAMESPACE "date"},
                 {"-2026-11-20", XSD_NAMESPACE "date"},
                 {"2026-11-20T10:00:00+01:00", XSD_NAMESPACE "dateTime"},
                 {"2026-11-20T10:00:00.5Z", XSD_NAMESPACE "dateTime"},
                 {"2026-11-20T10:00:00ZZ", XSD_NAMESPACE "dateTime"},
                 {"42", XSD_NAMESPACE "int"},
                 /* In ASCII "/" stands before "0" and ":" behind "9": neither is a digit. */
                 {"1/", XSD_INTEGER},
                 {"1:", XSD_INTEGER},
                 {"2026-1/-20", XSD_NAMESPACE "date"},
                 {"2026-0:-20", XSD_NAMESPACE "date"},
                 {"10000000000000000", XSD_INTEGER},
                 {"2026-16-01", XSD_NAMESPACE "date"},
                 {"2026-01-32", XSD_NAMESPACE "date"},
                 {"2026/01-02", XSD_NAMESPACE "date"},
                 {"2026-01/02", XSD_NAMESPACE "date"},
                 {"2026-01-0", XSD_NAMESPACE "date"},
                 {"2026-01-", XSD_NAMESPACE "date"},
                 {"2026-01-02", XSD_NAMESPACE "dateTime"},
                 {"2026-01-02 10:00:00", XSD_NAMESPACE "dateTime"},
                 {"2026-01-02T32:00:00", XSD_NAMESPACE "dateTime"},
                 {"2026-01-02T10:64:00", XSD_NAMESPACE "dateTime"},
                 {"2026-01-02T10:00:64", XSD_NAMESPACE "dateTime"},
                 {"2026-01-02T10-00:00", XSD_NAMESPACE "dateTime"},
                 {"2026-01-02T10:00-00", XSD_NAMESPACE "dateTime"},
                 {"2026-01-02T10:00", XSD_NAMESPACE "dateTime"},
                 {"2026-01-02T10:00:0", XSD_NAMESPACE "dateTime"},
                 {"2026-01-02T10:00:00.", XSD_NAMESPACE "dateTime"},
                 {"2026-01-02T10:00:00.12Z", XSD_NAMESPACE "dateTime"},
                 {"2026-01-02T10:00:00.1234Z", XSD_NAMESPACE "dateTime"},
                 {"2026-01-02T10:00:00x", XSD_NAMESPACE "dateTime"},
                 {"42", ""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct term term = typed(cases[i].text, cases[i].datatype);
        if (oid_inline_of(&term) != OID_NONE) {
            fail_msg("inline: %s", cases[i].text);
        }
    }
    struct term term = typed("42", XSD_INTEGER);
    term.language = slice_string("en");
    assert_true(oid_inline_of(&term) == OID_NONE);
    term = typed("42", XSD_INTEGER);
    term.kind = TERM_IRI;
    assert_true(oid_inline_of(&term) == OID_NONE);
}

static void
inline_integers_are_ordered_as_numbers(void **state)
{
    (void)state;
    static const char *const ascending[] = {"-9999999999999999", "-100", "-7", "0", "3", "20"};
    for (size_t i = 1; i < sizeof(ascending) / sizeof(ascending[0]); i++) {
        const struct term a = typed(ascending[i - 1], XSD_INTEGER);
        const struct term b = typed(ascending[i], XSD_INTEGER);
        assert_true(oid_inline_of(&a) < oid_inline_of(&b));
    }
}

static void
kinds_of_terms(void **state)
{
    (void)state;
    struct term term = typed("x", XSD_STRING);
    assert_int_equal(oid_kind_of(&term), OID_KIND_STRING);
    term.datatype = slice_string("");
    assert_int_equal(oid_kind_of(&term), OID_KIND_STRING);
    term.language = slice_string("en");
    assert_int_equal(oid_kind_of(&term), OID_KIND_LANGUAGE);
    const oid id = oid_stored(12345, OID_KIND_TYPED);
    assert_int_equal(oid_number(id), 12345);
    assert_int_equal(oid_kind(id), OID_KIND_TYPED);
    assert_true(oid_is_stored(id));
    assert_false(oid_is_stored(id | OID_LOCAL));
}

/* Moments around the turns of minutes, days, months and years, some of them none. */
static const char *const moments[] = {
    "0000-12-31T23:59:59",     "2019-12-31T23:59:59.999", "2019-12-31T24:00:00",
    "2020-01-01T00:00:00",     "2020-01-01T00:00:00.000", "2020-01-01T00:00:00.001",
    "2020-01-31T24:00:00.000", "2020-02-01T00:00:00",     "2020-02-28T24:00:00",
    "2020-02-29T00:00:00",     "2020-02-29T24:00:00",     "2020-03-01T00:00:00",
    "2020-03-01T00:00:60",     "2020-03-01T00:01:00",     "2020-06-31T00:00:00",
    "2020-07-00T00:00:00",     "2020-12-31T23:60:00",     "2020-13-01T00:00:00",
    "2020-15-31T31:63:63",     "2021-01-01T00:00:00",     "9999-12-31T24:00:00"};
enum { MOMENTS = sizeof moments / sizeof *moments, LITERALS = 3 * MOMENTS + 8 };

static struct {
    oid id;
    char text[OID_INLINE_TEXT];
    struct value value;
} literals[LITERALS];

static void
make_literal(size_t at, const char *datatype)
{
    const struct term term = typed(literals[at].text, datatype);
    literals[at].id = oid_inline_of(&term);
    assert_true(literals[at].id != OID_NONE);
    value_of_term(&term, &literals[at].value);
}

static void
make_literals(void)
{
    static const char *const numbers[] = {"-9999999999999999", "-2", "-1", "0", "1", "2", "7",
                                          "9999999999999999"};
    for (size_t i = 0; i < MOMENTS; i++) {
        snprintf(literals[3 * i].text, OID_INLINE_TEXT, "%s", moments[i]);
        make_literal(3 * i, XSD_NAMESPACE "dateTime");
        snprintf(literals[3 * i + 1].text, OID_INLINE_TEXT, "%sZ", moments[i]);
        make_literal(3 * i + 1, XSD_NAMESPACE "dateTime");
        snprintf(literals[3 * i + 2].text, OID_INLINE_TEXT, "%.10s", moments[i]);
        make_literal(3 * i + 2, XSD_NAMESPACE "date");
    }
    for (size_t i = 0; i < LITERALS - 3 * MOMENTS; i++) {
        snprintf(literals[3 * MOMENTS + i].text, OID_INLINE_TEXT, "%s", numbers[i]);
        make_literal(3 * MOMENTS + i, XSD_INTEGER);
    }
}

/* Whether two identifiers alone tell that the value of a is less than that of b. They do for two
 * values of one type, numbers or moments; of moments they do not if the identifiers follow each
 * other, since those may be one moment with and without its milliseconds. */
static bool
are_ordered(oid a, oid b)
{
    struct oid_value first, second;
    return oid_inline_value(a, &first) && oid_inline_value(b, &second) &&
           a >> OID_INLINE_BITS == b >> OID_INLINE_BITS && a < b &&
           (first.kind == OID_VALUE_INTEGER || b - a > 1);
}

/* What identifiers say of the order of values is what the values say, whatever the pair. */
static void
identifiers_tell_the_order_of_values(void **state)
{
    size_t told = 0, spans = 0;
    (void)state;
    make_literals();
    for (size_t i = 0; i < LITERALS; i++) {
        struct oid_span span;
        const bool spanned = oid_inline_span(literals[i].id, &span);
        spans += spanned;
        for (size_t k = 0; k < LITERALS; k++) {
            const oid id = literals[k].id;
            const int order = value_compare(&literals[k].value, &literals[i].value);
            assert_int_equal(oid_inline_before(id, literals[i].id),
                             are_ordered(id, literals[i].id));
            if (oid_inline_before(literals[k].id, literals[i].id)) {
                told++;
                assert_int_equal(order, -1);
                assert_int_equal(value_order(&literals[k].value, &literals[i].value), -1);
            }
            if (spanned && id >= span.first && id < span.low) {
                assert_true(order != 0 && order != 1);
            }
            if (spanned && id > span.high && id <= span.last) {
                assert_true(order != 0 && order != -1);
            }
        }
    }
    assert_true(told > LITERALS && spans > LITERALS / 2);
}

/* Equal values are found within five months of a midnight, which the hour 24 of another day may be,
 * and beside all else; never past the identifiers of the type. */
static void
spans_are_narrow(void **state)
{
    static const oid integers = (oid)OID_INLINE_INTEGER << OID_INLINE_BITS;
    const uint64_t months = ((uint64_t)5) << 32;
    struct oid_span span;
    (void)state;
    make_literals();
    for (size_t i = 0; i < LITERALS; i++) {
        const oid id = literals[i].id;
        struct oid_value said;
        const bool spanned = oid_inline_span(id, &span);
        assert_int_equal(spanned, oid_inline_value(id, &said));
        if (spanned) {
            const bool midnight = said.kind == OID_VALUE_DATE_TIME && said.hour == 0;
            assert_int_equal(span.first, id & ~OID_INLINE_MASK);
            assert_int_equal(span.last, id | OID_INLINE_MASK);
            assert_int_equal(span.low, midnight ? id - months : id - 1);
            assert_int_equal(span.high, id + 1);
        }
    }
    assert_true(oid_inline_span(integers, &span));
    assert_int_equal(span.low, integers);
    assert_true(oid_inline_span(integers | OID_INLINE_MASK, &span));
    assert_int_equal(span.high, integers | OID_INLINE_MASK);
}

/* Tells whether two values of one kind, one of them with its term, say the same. */
static bool
says(const struct oid_value *said, const struct value *value)
{
    if (said->kind == OID_VALUE_INTEGER) {
        return value->kind == VALUE_INTEGER && value->decimal.scale == 0 &&
               value->decimal.digits == said->integer;
    }
    const struct moment *moment = &value->moment;
    const struct decimal second = {said->milliseconds, 3};
    return value->kind == (said->kind == OID_VALUE_DATE ? VALUE_DATE : VALUE_DATE_TIME) &&
           moment->year == said->year && moment->month == said->month && moment->day == said->day &&
           moment->hour == said->hour && moment->minute == said->minute &&
           decimal_compare(moment->second, second) == 0 && moment->has_zone == said->utc &&
           moment->zone == 0;
}

static void
identifiers_tell_values(void **state)
{
    size_t told = 0;
    struct oid_value said;
    (void)state;
    make_literals();
    for (size_t i = 0; i < LITERALS; i++) {
        /* Those that a moment has alone: no hour 24, no leap day, no year 0. */
        const char *const written = literals[i].text;
        const bool tells = literals[i].value.kind != VALUE_OTHER &&
                           strstr(written, "T24") == NULL && strstr(written, "-02-29") == NULL &&
                           strncmp(written, "0000", 4) != 0;
        assert_int_equal(oid_inline_value(literals[i].id, &said), tells);
        if (tells) {
            told++;
            assert_true(says(&said, &literals[i].value));
            assert_true(said.kind != OID_VALUE_INTEGER ||
                        oid_inline_integer(said.integer) == literals[i].id);
        }
    }
    assert_true(told > LITERALS / 3);
    assert_false(oid_inline_value(oid_stored(77, OID_KIND_TYPED), &said));
    assert_false(oid_inline_value(OID_LOCAL, &said));
    const struct term truth = typed("true", XSD_BOOLEAN);
    assert_false(oid_inline_value(oid_inline_of(&truth), &said));
    assert_int_equal(oid_inline_integer(INT64_C(10000000000000000)), OID_NONE);
    assert_int_equal(oid_inline_integer(INT64_C(-10000000000000000)), OID_NONE);
}

static void
stored_ones_say_what_they_are_of(void **state)
{
    static const enum term_kind kinds[] = {[OID_KIND_IRI] = TERM_IRI,
                                           [OID_KIND_BLANK] = TERM_BLANK,
                                           [OID_KIND_STRING] = TERM_LITERAL,
                                           [OID_KIND_TYPED] = TERM_LITERAL,
                                           [OID_KIND_LANGUAGE] = TERM_LITERAL};
    (void)state;
    for (enum oid_kind kind = OID_KIND_IRI; kind <= OID_KIND_LANGUAGE; kind++) {
        assert_int_equal(oid_term_kind(oid_stored(77, kind)), kinds[kind]);
    }
}

static bool
datatype_is(oid id, const char *expected)
{
    struct slice iri;
    return oid_datatype(id, &iri) && slice_is(iri, expected);
}

static void
identifiers_tell_datatypes(void **state)
{
    static const char *inlines[] = {XSD_INTEGER, XSD_BOOLEAN, XSD_NAMESPACE "date",
                                    XSD_NAMESPACE "dateTime", XSD_NAMESPACE "dateTime"};
    static const char *values[] = {"-7", "true", "2015-02-03", "2015-02-03T04:05:06",
                                   "2015-02-03T04:05:06Z"};
    struct slice iri;
    (void)state;
    for (size_t i = 0; i < sizeof inlines / sizeof *inlines; i++) {
        const struct term term = typed(values[i], inlines[i]);
        assert_true(datatype_is(oid_inline_of(&term), inlines[i]));
    }
    assert_true(datatype_is(oid_stored(77, OID_KIND_STRING), XSD_STRING));
    assert_true(datatype_is(oid_stored(77, OID_KIND_LANGUAGE), RDF_LANG_STRING));
    assert_false(oid_datatype(oid_stored(77, OID_KIND_TYPED), &iri));
    assert_false(oid_datatype(oid_stored(77, OID_KIND_IRI), &iri));
    assert_false(oid_datatype(oid_stored(77, OID_KIND_BLANK), &iri));
    assert_false(oid_datatype(OID_LOCAL, &iri));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_ones_say_what_they_are_of),
        cmocka_unit_test(identifiers_tell_values),
        cmocka_unit_test(identifiers_tell_datatypes),
        cmocka_unit_test(canonical_literals_are_inline_and_come_back),
        cmocka_unit_test(other_forms_are_not_inline),
        cmocka_unit_test(inline_integers_are_ordered_as_numbers),
        cmocka_unit_test(identifiers_tell_the_order_of_values),
        cmocka_unit_test(spans_are_narrow),
        cmocka_unit_test(kinds_of_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
