/* transforms/encoding_labels.h: names of encodings as documents write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "transforms/encoding_labels.h"

static const char *
name_of(struct slice label)
{
    const struct encoding_entry *entry = encoding_entry_of(label);
    return entry != NULL ? entry->name : NULL;
}

static void
labels_are_known_in_any_case_and_between_blanks(void **state)
{
    (void)state;
    assert_string_equal(name_of(SLICE("UTF-8")), "utf-8");
    assert_string_equal(name_of(SLICE(" Latin1\n")), "windows-1252");
    assert_string_equal(name_of(SLICE("l9")), "iso-8859-15");
}

static void
parts_and_more_than_a_label_are_not(void **state)
{
    (void)state;
    assert_null(name_of(SLICE("utf-")));
    assert_null(name_of(SLICE("utf-8x")));
    assert_null(name_of(SLICE("utf-8 utf8")));
    assert_null(name_of(SLICE("")));
}

/* A label that goes on with NUL where the last known label ends must not be followed further. */
static void
a_nul_ends_nothing(void **state)
{
    (void)state;
    assert_null(name_of(SLICE("l9\0x")));
    assert_null(name_of(SLICE("l9\0\0\0\0\0\0\0\0\0\0\0\0")));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_known_in_any_case_and_between_blanks),
        cmocka_unit_test(parts_and_more_than_a_label_are_not),
        cmocka_unit_test(a_nul_ends_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
