/* transforms/common/encoding_labels.h and transforms/common/encoding.h: names of encodings, and
 * what a document is in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/brief.h"
#include "transforms/common/encoding.h"
#include "transforms/common/encoding_labels.h"

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

/* Text is looked at in blocks, so what is wrong in it is put at each place. */
static void
bad_bytes_are_found_wherever_they_are(void **state)
{
    (void)state;
    enum { MOST = 150 };
    char text[MOST];
    for (size_t length = 1; length <= MOST; length++) {
        for (size_t at = 0; at < length; at += brief(1, 7)) {
            memset(text, 'a', length);
            assert_true(encoding_is_utf8(slice_of(text, length)));
            text[at] = '\x80';
            assert_false(encoding_is_utf8(slice_of(text, length)));
            text[at] = '\xc3';
            assert_false(encoding_is_utf8(slice_of(text, length)));
            if (at + 1 < length) {
                text[at + 1] = '\xa9';
                assert_true(encoding_is_utf8(slice_of(text, length)));
            }
        }
    }
}

static void
meta_elements_declare_late_and_in_any_case(void **state)
{
    (void)state;
    static char page[70000];
    static const char meta[] = "<METa\tcharset=koi8-r>";
    memset(page, '<', sizeof page);
    for (size_t at = 0; at < brief(3000, 300); at++) {
        memcpy(page + at, meta, sizeof meta - 1);
        assert_string_equal(encoding_prescan(slice_of(page, sizeof page)), "koi8-r");
        page[at] = '<';
    }
    assert_null(encoding_prescan(slice_of(page, 0)));
    assert_null(encoding_prescan(SLICE("<p><met charset=koi8-r><metal charset=koi8-r>")));
    assert_null(encoding_prescan(SLICE("<meta")));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_known_in_any_case_and_between_blanks),
        cmocka_unit_test(parts_and_more_than_a_label_are_not),
        cmocka_unit_test(a_nul_ends_nothing),
        cmocka_unit_test(bad_bytes_are_found_wherever_they_are),
        cmocka_unit_test(meta_elements_declare_late_and_in_any_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
