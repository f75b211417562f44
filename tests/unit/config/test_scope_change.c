/* config/scope_change.h: what changed in scope.conf, told and taken. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/system/file.h"
#include "config/config.h"
#include "config/scope_change.h"
#include "config/scope_file.h"
#include "tests/unit/scratch.h"

#define HEAD "# a comment stays\n"
enum { MANY = 5000 };

static void
between(const char *before, const char *after, const char *expected)
{
    struct buf change;
    buf_init(&change, 1 << 20);
    scope_change_between(slice_string(before), slice_string(after), &change);
    buf_append_char(&change, '\0');
    assert_string_equal(change.data, expected);
    buf_release(&change);
}

static void
apply(const char *text, const struct opt_set *configured, const char *change, const char *expected)
{
    struct reason why = {""};
    struct buf out;
    buf_init(&out, 1 << 20);
    assert_int_equal(
        scope_change_apply(slice_string(text), configured, slice_string(change), &out, &why),
        STATUS_OK);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, expected);
    buf_release(&out);
}

static void
test_what_changed(void **state)
{
    (void)state;
    between("", "", "");
    between("", "scope.hosts = a, b\tc\n", "+scope.hosts=a,b,c\n");
    between("scope.hosts=a,b\n", "scope.hosts=c,b\n", "+scope.hosts=c\n-scope.hosts=a\n");
    between("scope.depth=3\nscope.hosts=a.example\n", "scope.depth=4\nscope.hosts=a.example",
            "=scope.depth=4\n");
    between("scope.hosts=a\nscope.depth=3\n", HEAD "scope.prefixes=http://a/\n",
            "+scope.prefixes=http://a/\n");
    between("scope.hosts=a\n", "scope.hosts=\n", "-scope.hosts=a\n");
    between("", "scope.hosts=a\nscope.hosts=b\n", "+scope.hosts=b\n"); /* the last line counts */
    between("", "fetch.delay=1\nscope.include=^x{1}$ a|b\n", "+scope.include=^x{1}$,a|b\n");
}

static void
test_what_it_does(void **state)
{
    (void)state;
    apply(HEAD "scope.depth=3\nscope.hosts=a\n", NULL, "+scope.hosts=b,a\n=scope.depth=5\n",
          HEAD "scope.hosts=a,b\nscope.depth=5\n");
    apply(HEAD "scope.hosts = a,b\n", NULL, "+scope.hosts=a\n-scope.hosts=c\n",
          HEAD "scope.hosts = a,b\n");                       /* nothing that is new */
    apply("", NULL, "+scope.hosts=a\n-scope.hosts=a\n", ""); /* of several words the last counts */
    apply("scope.hosts=a\n", NULL, "-scope.hosts=a\n+scope.hosts=a\n", "scope.hosts=a\n");
    apply("scope.exclude=x,y\n", NULL, "-scope.exclude=x\n", "scope.exclude=y\n");
    apply("scope.hosts=a\n", NULL, "+scope.other=b\n?\n+\n", "scope.hosts=a\n");
}

/* A node whose scope stands in its configuration keeps that, too. */
static void
test_configured_entries_are_kept(void **state)
{
    struct reason why = {""};
    struct opt_set *options = opt_set_new(config_tables);
    (void)state;
    assert_int_equal(opt_set_assign(options, "scope.hosts=a,b", &why), STATUS_OK);
    assert_int_equal(opt_set_assign(options, "scope.depth=7", &why), STATUS_OK);
    apply("", options, "+scope.hosts=b\n=scope.depth=7\n", "");
    apply("", options, "+scope.hosts=c\n", "scope.hosts=a,b,c\n");
    apply("scope.hosts=d\n", options, "+scope.hosts=c\n", "scope.hosts=d,c\n");
    opt_set_free(options);
}

/* Each line fits into a job, and all of them together make the same list. */
static void
test_long_lists_are_many_lines(void **state)
{
    struct buf text, change, out;
    struct reason why = {""};
    size_t lines = 0;
    (void)state;
    buf_init(&text, 1 << 20);
    buf_init(&change, 1 << 20);
    buf_init(&out, 1 << 20);
    buf_append_string(&text, "scope.hosts=");
    for (int i = 0; i < MANY; i++) {
        buf_printf(&text, "%shost-%d.example", i > 0 ? "," : "", i);
    }
    buf_append_char(&text, '\n');
    scope_change_between(SLICE(""), buf_slice(&text), &change);
    for (struct slice rest = buf_slice(&change); rest.length > 0; lines++) {
        const size_t end = slice_find(rest, '\n') + 1;
        assert_true(end <= SCOPE_CHANGE_LINE);
        rest = slice_of(rest.at + end, rest.length - end);
    }
    assert_true(lines > 1 && lines < 5);
    assert_int_equal(scope_change_apply(SLICE(""), NULL, buf_slice(&change), &out, &why),
                     STATUS_OK);
    assert_true(slice_equal(buf_slice(&out), buf_slice(&text)));
    buf_release(&text);
    buf_release(&change);
    buf_release(&out);
}

/* An entry or a number that is too long for a line of a change is not told to other nodes. */
static void
test_what_no_line_holds_is_not_told(void **state)
{
    const char *const names[] = {"scope.hosts", "scope.depth"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        for (size_t beyond = 0; beyond <= 1; beyond++) {
            const size_t longest = SCOPE_CHANGE_LINE - strlen(names[i]) - 3; /* sign, "=", end */
            struct buf text, change;
            buf_init(&text, 1 << 20);
            buf_init(&change, 1 << 20);
            buf_printf(&text, "%s=", names[i]);
            for (size_t n = 0; n < longest + beyond; n++) {
                buf_append_char(&text, '7');
            }
            scope_change_between(SLICE(""), buf_slice(&text), &change);
            assert_int_equal(change.length, beyond == 0 ? SCOPE_CHANGE_LINE : 0);
            buf_release(&text);
            buf_release(&change);
        }
    }
}

/* ---- in a data directory ---- */

static int
set_up(void **state)
{
    static char folder[SCRATCH_SIZE];
    assert_true(scratch_folder(folder, "test_scope_change"));
    *state = folder;
    return 0;
}

static int
tear_down(void **state)
{
    char command[2 * SCRATCH_SIZE];
    snprintf(command, sizeof command, "rm -rf %s", (const char *)*state);
    return system(command);
}

static void
expect_file(const char *folder, const char *name, const char *expected)
{
    struct reason why;
    struct buf path, text;
    buf_init(&path, 4096);
    buf_init(&text, 4096);
    config_path(folder, name, &path);
    assert_int_equal(file_read(path.data, &text, &why), STATUS_OK);
    buf_append_char(&text, '\0');
    assert_string_equal(text.data, expected);
    buf_release(&path);
    buf_release(&text);
}

static void
test_a_change_is_taken_once(void **state)
{
    struct scope_edition first, second;
    struct reason why = {""};
    const char *folder = *state;
    assert_int_equal(scope_change_take(folder, NULL, SLICE("+scope.hosts=a\n"), &why), STATUS_OK);
    assert_true(scope_edition_read(folder, &first));
    expect_file(folder, "scope.conf", "scope.hosts=a\n");
    expect_file(folder, "scope.told", "scope.hosts=a\n"); /* so nobody is told what he has told */
    assert_int_equal(scope_change_take(folder, NULL, SLICE("+scope.hosts=a\n"), &why), STATUS_OK);
    assert_true(scope_edition_read(folder, &second));
    assert_int_equal(first.version, second.version);
    assert_int_equal(scope_change_take(folder, NULL, SLICE("+scope.hosts=b\n"), &why), STATUS_OK);
    assert_true(scope_edition_read(folder, &second));
    assert_true(first.version < second.version);
    expect_file(folder, "scope.conf", "scope.hosts=a,b\n");
}

/* The queue does not wait for others; the change comes again. */
static void
test_nothing_is_taken_while_others_write(void **state)
{
    struct scope_edition edition;
    struct reason why = {""};
    const char *folder = *state;
    int lock;
    assert_int_equal(scope_file_lock(folder, &lock, &why), STATUS_OK);
    assert_int_equal(scope_change_take(folder, NULL, SLICE("+scope.hosts=a\n"), &why),
                     STATUS_AGAIN);
    assert_int_equal(scope_file_replace(folder, "scope.conf", SLICE("scope.ho"), &why), STATUS_OK);
    close(lock); /* an editor has no lock, and is not done */
    const struct timespec later[2] = {{.tv_sec = time(NULL) + 3600}, {.tv_sec = time(NULL) + 3600}};
    struct buf path;
    buf_init(&path, 4096);
    config_path(folder, "scope.conf", &path);
    assert_int_equal(utimensat(AT_FDCWD, path.data, later, 0), 0);
    buf_release(&path);
    assert_int_equal(scope_change_take(folder, NULL, SLICE("+scope.hosts=a\n"), &why),
                     STATUS_AGAIN);
    assert_false(scope_edition_read(folder, &edition));
    expect_file(folder, "scope.conf", "scope.ho");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_changed),
        cmocka_unit_test(test_what_it_does),
        cmocka_unit_test(test_configured_entries_are_kept),
        cmocka_unit_test(test_long_lists_are_many_lines),
        cmocka_unit_test(test_what_no_line_holds_is_not_told),
        cmocka_unit_test_setup_teardown(test_a_change_is_taken_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_is_taken_while_others_write, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
