#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "datasets/execution.h"

static struct arena arena;
static struct execution execution;
static struct buf text;

static int
set_up(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    buf_init(&text, 1 << 20);
    execution = (struct execution){0};
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    buf_release(&text);
    arena_release(&arena);
    return 0;
}

static void
test_what_is_written_is_read(void **state)
{
    static const char *const names[] = {"http://a.example/1.nt", "http://a.example/2.nt",
                                        "http://a.example/3.nt"};
    struct execution read;
    (void)state;
    execution.dataset = SLICE("http://a.example/all");
    execution.label = SLICE("All of it, \xc3\xa4lso");
    execution.depth = 7;
    for (size_t i = 0; i < 3; i++) {
        assert_true(slices_add(&execution.dumps, slice_string(names[i]), &arena));
    }
    assert_true(slices_add(&execution.samples, SLICE("http://a.example/r/1"), &arena));
    assert_true(execution_add_space(&execution, SLICE("http://a.example/r/"),
                                    SLICING_SUBJECT_OBJECT, &arena));
    assert_true(
        execution_add_space(&execution, SLICE("http://a.example/x#"), SLICING_NONE, &arena));
    execution_encode(&execution, &text);
    assert_true(execution_decode(buf_slice(&text), &arena, &read));
    assert_true(slice_equal(read.dataset, execution.dataset));
    assert_true(slice_equal(read.label, execution.label));
    assert_int_equal(read.depth, 7);
    assert_int_equal(read.dumps.count, 3);
    assert_true(slice_is(read.dumps.items[2], names[2]));
    assert_int_equal(read.samples.count, 1);
    assert_int_equal(read.space_count, 2);
    assert_int_equal(read.spaces[0].slicing, SLICING_SUBJECT_OBJECT);
    assert_int_equal(read.spaces[1].slicing, SLICING_NONE);
    assert_true(slice_is(read.spaces[1].prefix, "http://a.example/x#"));
}

/* A publisher's label with a line end must not become a line of its own. */
static void
test_no_value_makes_a_line(void **state)
{
    struct execution read;
    (void)state;
    execution.label = SLICE("nice\nown http://victim.example/");
    assert_true(execution_add_space(
        &execution, SLICE("http://a.example/\nown http://victim.example/"), SLICING_NONE, &arena));
    execution_encode(&execution, &text);
    assert_true(execution_decode(buf_slice(&text), &arena, &read));
    assert_int_equal(read.own.count, 0);
    assert_int_equal(read.label.length, 0);
    assert_int_equal(read.space_count, 0);
}

static void
test_unknown_and_empty_lines(void **state)
{
    (void)state;
    assert_true(execution_decode(SLICE(""), &arena, &execution));
    assert_true(execution_decode(SLICE("\n\nword\nlater things\nspace\ndepth\ndump http://a/"),
                                 &arena, &execution));
    assert_int_equal(execution.dumps.count, 1);
    assert_int_equal(execution.depth, 0);
}

static void
test_owns_what_is_its_own_and_nobody_elses(void **state)
{
    (void)state;
    assert_false(execution_owns(&execution, SLICE("http://a.example/r/1")));
    slices_add(&execution.own, SLICE("http://a.example/"), &arena);
    slices_add(&execution.other, SLICE("http://a.example/~alice/"), &arena);
    assert_true(execution_owns(&execution, SLICE("http://a.example/r/1")));
    assert_false(execution_owns(&execution, SLICE("http://a.example/~alice/1")));
    assert_false(execution_owns(&execution, SLICE("http://a.example.evil/")));
}

static void
test_files_have_safe_names(void **state)
{
    static const struct {
        const char *uri, *end;
    } cases[] = {
        {"http://a.example/data/dump.nt.gz", "-dump.nt.gz"},
        {"http://a.example/data/dump.nt?v=1/2", "-dump.nt_v_1_2"},
        {"http://a.example/../..", "-.."},
        {"http://a.example/", "-"},
        {"http://a.example/%2e%2e%2f;rm", "-_2e_2e_2f_rm"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_reset(&text);
        execution_file_name(slice_string(cases[i].uri), &text);
        assert_int_equal(slice_find(buf_slice(&text), '/'), text.length);
        assert_int_equal(slice_find(buf_slice(&text), '-'), 16);
        if (strchr(cases[i].uri, '?') == NULL) {
            assert_string_equal(text.data + 16, cases[i].end);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_written_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_value_makes_a_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_and_empty_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_owns_what_is_its_own_and_nobody_elses, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_files_have_safe_names, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
