/* Identifiers: what can be inline comes back byte by byte, all else does not go inline. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
                 {"42", ""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct term term = typed(cases[i].text, cases[i].datatype);
        assert_true(oid_inline_of(&term) == OID_NONE);
    }
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_literals_are_inline_and_come_back),
        cmocka_unit_test(other_forms_are_not_inline),
        cmocka_unit_test(inline_integers_are_ordered_as_numbers),
        cmocka_unit_test(kinds_of_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
