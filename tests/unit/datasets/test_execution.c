#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
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
add_all(struct slices *slices, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_true(slices_add(slices, slice_string(texts[i]), &arena));
    }
}

static const char written[] = "dataset http://a.example/all\n"
                              "label All of it, \xc3\xa4lso\n"
                              "description more words\n"
                              "way dumps\n"
                              "why it is cheaper\n"
                              "authority http://a.example\n"
                              "endpoint yes\n"
                              "graphs yes\n"
                              "dump http://a.example/1.nt\n"
                              "dump http://a.example/2.nt\n"
                              "dump http://a.example/3.nt\n"
                              "sample http://a.example/r/1\n"
                              "own http://a.example/\n"
                              "own http://b.example/\n"
                              "other http://a.example/~alice/\n"
                              "space subject-object http://a.example/r/\n"
                              "space - http://a.example/x#\n"
                              "depth 7\n"
                              "provisional yes\n";

/* The text is that of docs/DATASETS.md; reading it and writing it again gives it again. */
static void
test_what_is_written_is_read(void **state)
{
    static const char *const dumps[] = {"http://a.example/1.nt", "http://a.example/2.nt",
                                        "http://a.example/3.nt"};
    static const char *const own[] = {"http://a.example/", "http://b.example/"};
    struct execution read;
    (void)state;
    execution = (struct execution){.dataset = SLICE("http://a.example/all"),
                                   .label = SLICE("All of it, \xc3\xa4lso"),
                                   .description = SLICE("more words"),
                                   .way = SLICE("dumps"),
                                   .why = SLICE("it is cheaper"),
                                   .authority = SLICE("http://a.example"),
                                   .depth = 7,
                                   .provisional = true,
                                   .endpoint = true,
                                   .graphs = true,
                                   .owner = SLICE("http://not.written.example")};
    add_all(&execution.dumps, dumps, 3);
    add_all(&execution.own, own, 2);
    assert_true(slices_add(&execution.samples, SLICE("http://a.example/r/1"), &arena));
    assert_true(slices_add(&execution.other, SLICE("http://a.example/~alice/"), &arena));
    assert_true(execution_add_space(&execution, SLICE("http://a.example/r/"),
                                    SLICING_SUBJECT_OBJECT, &arena));
    assert_true(
        execution_add_space(&execution, SLICE("http://a.example/x#"), SLICING_NONE, &arena));
    execution_encode(&execution, &text);
    assert_true(slice_is(buf_slice(&text), written));
    assert_true(execution_decode(SLICE(written), &arena, &read));
    assert_int_equal(read.owner.length, 0);
    buf_reset(&text);
    execution_encode(&read, &text);
    assert_true(slice_is(buf_slice(&text), written));
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

/* The fingerprint of the whole URI, and of its path what is safe in a file's name. */
static void
test_files_have_safe_names(void **state)
{
    static const struct {
        const char *uri, *end;
    } cases[] = {
        {"http://a.example/data/dump.nt.gz", "dump.nt.gz"},
        {"http://a.example/data/dump.nt?v=1/2", "dump.nt"},
        {"http://a.example/data/dump.nt?v=12", "dump.nt"},
        {"http://a.example/../..", ".."},
        {"http://a.example/", ""},
        {"http://a.example/%2e%2e%2f;rm", "_2e_2e_2f_rm"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[80];
        buf_reset(&text);
        execution_file_name(slice_string(cases[i].uri), &text);
        snprintf(expected, sizeof expected, "%016llx-%s",
                 (unsigned long long)fingerprint64(slice_string(cases[i].uri)), cases[i].end);
        assert_true(slice_is(buf_slice(&text), expected));
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
