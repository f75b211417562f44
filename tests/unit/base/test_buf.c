#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/status.h"

static void
append_keeps_text_terminated(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 100);
    assert_int_equal(buf_append_string(&buf, "ab"), STATUS_OK);
    assert_int_equal(buf_append_char(&buf, 'c'), STATUS_OK);
    assert_int_equal(buf_printf(&buf, "-%d", 12), STATUS_OK);
    assert_string_equal(buf.data, "abc-12");
    assert_int_equal(buf.length, 6);
    buf_reset(&buf);
    assert_string_equal(buf.data, "");
    buf_release(&buf);
    assert_null(buf.data);
}

static void
append_past_maximum_changes_nothing(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 4);
    assert_int_equal(buf_append_string(&buf, "abcd"), STATUS_OK);
    assert_false(buf.overflowed);
    assert_int_equal(buf_append_char(&buf, 'e'), STATUS_LIMIT);
    assert_int_equal(buf_printf(&buf, "%s", "f"), STATUS_LIMIT);
    assert_null(buf_reserve(&buf, (size_t)-1));
    assert_string_equal(buf.data, "abcd");
    assert_true(buf.overflowed);
    buf_reset(&buf);
    assert_false(buf.overflowed);
    buf_release(&buf);
}

/* Into room that is there, just enough of it, too little of it and none at all. */
static void
printing_grows_when_it_must(void **state)
{
    (void)state;
    for (int start = 0; start < 140; start++) {
        char expected[200];
        struct buf buf;
        buf_init(&buf, 1000);
        for (int i = 0; i < start; i++) {
            assert_int_equal(buf_append_char(&buf, 'a'), STATUS_OK);
        }
        assert_int_equal(buf_printf(&buf, "%s-%d", "text", 1234567), STATUS_OK);
        snprintf(expected, sizeof expected, "%.*stext-1234567", start, start > 0 ? buf.data : "");
        assert_string_equal(buf.data, expected);
        assert_int_equal(buf.length, start + 12);
        buf_release(&buf);
    }
}

static void
empty_append_to_empty_buf(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 0);
    assert_int_equal(buf_append(&buf, NULL, 0), STATUS_OK);
    assert_int_equal(buf_append_slice(&buf, slice_of(NULL, 0)), STATUS_OK);
    assert_int_equal(buf_append_char(&buf, 'x'), STATUS_LIMIT);
    assert_int_equal(buf.length, 0);
    buf_release(&buf);
}

static void
reserve_and_commit(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    for (int i = 0; i < 1000; i++) {
        char *room = buf_reserve(&buf, 1000);
        assert_non_null(room);
        memset(room, 'a' + i % 26, 1000);
        buf_commit(&buf, 1000);
    }
    assert_int_equal(buf.length, 1000000);
    assert_int_equal(buf.data[999999], 'a' + 999 % 26);
    assert_int_equal(buf.data[1000000], 0);
    buf_release(&buf);
}

static void
json_text(void **state)
{
    (void)state;
    static const struct {
        struct slice input;
        const char *output;
    } cases[] = {
        {SLICE_INIT("plain"), "plain"},
        {SLICE_INIT("a\"b\\c"), "a\\\"b\\\\c"},
        {SLICE_INIT("\b\t\n\f\r\x01\x7f"), "\\b\\t\\n\\f\\r\\u0001\\u007f"},
        {SLICE_INIT("a\0b"), "a\\u0000b"},
        {SLICE_INIT("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f"},
        {SLICE_INIT("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80"},
        {SLICE_INIT("\xc3"), "\xef\xbf\xbd"},
        {SLICE_INIT("\xc0\x80"), "\xef\xbf\xbd\xef\xbf\xbd"},
        {SLICE_INIT("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate */
        {SLICE_INIT("\xf4\x90\x80\x80!"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd!"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf buf;
        buf_init(&buf, 1000);
        assert_int_equal(buf_append_json(&buf, cases[i].input), STATUS_OK);
        assert_string_equal(buf.data, cases[i].output);
        buf_release(&buf);
    }
}

static void
json_text_past_maximum_appends_nothing(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 8);
    assert_int_equal(buf_append_string(&buf, "x"), STATUS_OK);
    assert_int_equal(buf_append_json(&buf, SLICE("abcdef\n\n")), STATUS_LIMIT);
    assert_string_equal(buf.data, "x");
    assert_true(buf.overflowed);
    buf_release(&buf);
}

static void
slices(void **state)
{
    (void)state;
    assert_true(slice_compare(SLICE("a"), SLICE("b")) < 0);
    assert_true(slice_compare(SLICE("a"), SLICE("aa")) < 0);
    assert_true(slice_compare(SLICE("\xff"), SLICE("a")) > 0);
    assert_int_equal(slice_compare(SLICE(""), slice_of(NULL, 0)), 0);
    assert_true(slice_equal_nocase(SLICE("Content-TYPE"), SLICE("content-type")));
    assert_false(slice_equal_nocase(SLICE("\xc3\x84"), SLICE("\xc3\xa4")));
    assert_true(slice_is(slice_trim(SLICE(" \t\r\na b\v ")), "a b"));
    assert_int_equal(slice_trim(SLICE("  ")).length, 0);
    assert_true(slice_number(SLICE("18446744073709551615")) == UINT64_MAX);
    assert_true(slice_number(SLICE("42 bytes")) == 42);
    assert_true(slice_number(SLICE("many")) == 0 && slice_number(slice_of(NULL, 0)) == 0);
    assert_true(slice_number(SLICE("000000000000000000000001")) == 0);
    assert_int_equal(slice_find(SLICE("abc"), 'c'), 2);
    assert_int_equal(slice_find(SLICE("abc"), 'd'), 3);
    assert_int_equal(slice_find(slice_of(NULL, 0), 'd'), 0);
    assert_int_equal(slice_find_slice(SLICE("abcabd"), SLICE("abd")), 3);
    assert_int_equal(slice_find_slice(SLICE("abc"), SLICE("")), 0);
    assert_int_equal(slice_find_slice(SLICE("abc"), SLICE("abcd")), 3);
    assert_true(slice_starts(SLICE("abc"), SLICE("ab")));
    assert_false(slice_starts(SLICE("a"), SLICE("ab")));
}

static void
arena_keeps_to_its_maximum(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 100000);
    for (int i = 0; i < 50; i++) {
        char *memory = arena_alloc(&arena, 1000);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 16, 0);
        memset(memory, i, 1000);
    }
    char *large = arena_alloc(&arena, 45000);
    assert_non_null(large);
    memset(large, 1, 45000);
    assert_null(arena_alloc(&arena, 5000));
    assert_null(arena_copy(&arena, slice_of(large, 45000)).at);
    assert_null(arena_alloc(&arena, (size_t)-1));
    arena_reset(&arena);
    assert_int_equal(arena.used, 0);
    const char *zeroed = arena_zero(&arena, 64);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(zeroed[i], 0);
    }
    assert_string_equal(arena_copy(&arena, SLICE("copy")).at, "copy");
    const struct slice made = arena_printf(&arena, "%s-%d", "x", 7);
    assert_true(slice_is(made, "x-7"));
    arena_release(&arena);
    assert_null(arena.head);
}

/* Thousands of jobs are in memory together. */
static void
arena_of_a_small_job_is_small(void **state)
{
    (void)state;
    enum { JOBS = 1000 };
    static struct arena arenas[JOBS];
    const size_t before = mallinfo2().uordblks;
    for (size_t i = 0; i < JOBS; i++) {
        arena_init(&arenas[i], 0);
        for (size_t k = 0; k < 8; k++) {
            memset(arena_alloc(&arenas[i], 100), 1, 100);
        }
    }
    assert_true(mallinfo2().uordblks < before + (size_t)JOBS * 2000);
    for (size_t i = 0; i < JOBS; i++) {
        arena_release(&arenas[i]);
    }
}

static void
arena_reuse_after_only_large_blocks(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++) {
            memset(arena_alloc(&arena, 100000), 2, 100000);
            memset(arena_alloc(&arena, 10), 3, 10);
        }
        arena_reset(&arena);
    }
    arena_release(&arena);
}

static void
reasons_are_one_line(void **state)
{
    (void)state;
    struct reason why;
    assert_int_equal(status_fail(&why, STATUS_LIMIT, "a\nb\x01%s \n", "c"), STATUS_LIMIT);
    assert_string_equal(why.text, "a b c");
    assert_int_equal(status_prefix(&why, STATUS_LIMIT, "file %d", 3), STATUS_LIMIT);
    assert_string_equal(why.text, "file 3: a b c");
    errno = ENOENT;
    assert_int_equal(status_fail_errno(&why, "open"), STATUS_SYSTEM);
    assert_string_equal(why.text, "open: No such file or directory");
    assert_int_equal(status_fail(NULL, STATUS_STALE, "ignored"), STATUS_STALE);
}

static void
long_reasons_are_cut(void **state)
{
    (void)state;
    char text[2000];
    struct reason why;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)status_fail(&why, STATUS_LIMIT, "%s", text);
    assert_int_equal(strlen(why.text), REASON_SIZE - 1);
    (void)status_prefix(&why, STATUS_LIMIT, "front");
    assert_int_equal(strlen(why.text), REASON_SIZE - 1);
    assert_memory_equal(why.text, "front: xxx", 10);
    (void)status_prefix(&why, STATUS_LIMIT, "%s", text);
    assert_int_equal(strlen(why.text), REASON_SIZE - 1);
}

static void
statuses_have_names_and_exit_codes(void **state)
{
    (void)state;
    assert_string_equal(status_name(STATUS_BAD_INPUT), "BAD_INPUT");
    assert_string_equal(status_text(STATUS_OK), "done");
    assert_string_equal(status_name((enum status)99), "UNKNOWN");
    assert_int_equal(status_exit_code(STATUS_END), 0);
    assert_int_equal(status_exit_code(STATUS_MISUSE), 100);
    assert_int_equal(status_exit_code(STATUS_CORRUPT), 111);
}

static void
memory_copies(void **state)
{
    (void)state;
    char *copy = memory_string_n("abcdef", 3);
    assert_string_equal(copy, "abc");
    copy = memory_resize(copy, 100, 2);
    assert_string_equal(copy, "abc");
    free(copy);
    free(memory_alloc(0));
    free(memory_zero(0, 5));
    copy = memory_string("");
    assert_string_equal(copy, "");
    free(copy);
}

static void
take_all(void)
{
    (void)memory_alloc(SIZE_MAX / 2);
}

static void
take_all_zeroed(void)
{
    (void)memory_zero(SIZE_MAX / 2, 3); /* the product does not fit */
}

static void
take_all_resized(void)
{
    (void)memory_resize(NULL, SIZE_MAX / 2, 3);
}

/* Who asks for more memory than there is has no answer to handle: the process ends, and says why.
 */
static void
memory_that_is_not_there_ends_the_process(void **state)
{
    static void (*const takers[])(void) = {take_all, take_all_zeroed, take_all_resized};
    (void)state;
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++) {
        int ends[2], how;
        char said[8192] = ""; /* sanitizers have much to say, too */
        assert_int_equal(pipe(ends), 0);
        const pid_t pid = fork();
        if (pid == 0) {
            (void)dup2(ends[1], STDERR_FILENO);
            takers[i]();
            _exit(0);
        }
        close(ends[1]);
        size_t length = 0;
        for (ssize_t n = 1; n > 0; length += (size_t)n) {
            n = read(ends[0], said + length, sizeof said - 1 - length);
            assert_true(n >= 0);
        }
        assert_int_equal(waitpid(pid, &how, 0), pid);
        assert_true(WIFEXITED(how));
        assert_int_equal(WEXITSTATUS(how), EXIT_SYSTEM);
        assert_non_null(strstr(said, "out of memory\n"));
        close(ends[0]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(append_keeps_text_terminated),
        cmocka_unit_test(append_past_maximum_changes_nothing),
        cmocka_unit_test(printing_grows_when_it_must),
        cmocka_unit_test(empty_append_to_empty_buf),
        cmocka_unit_test(reserve_and_commit),
        cmocka_unit_test(json_text),
        cmocka_unit_test(json_text_past_maximum_appends_nothing),
        cmocka_unit_test(slices),
        cmocka_unit_test(arena_keeps_to_its_maximum),
        cmocka_unit_test(arena_of_a_small_job_is_small),
        cmocka_unit_test(arena_reuse_after_only_large_blocks),
        cmocka_unit_test(reasons_are_one_line),
        cmocka_unit_test(long_reasons_are_cut),
        cmocka_unit_test(statuses_have_names_and_exit_codes),
        cmocka_unit_test(memory_copies),
        cmocka_unit_test(memory_that_is_not_there_ends_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
