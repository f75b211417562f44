#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/status.h"
#include "tests/unit/memory_in_use.h"

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

/* Room is doubled until it suffices, and ends with the maximum; a buffer without one has an end,
 * too.
 */
static void
capacities_are_powers_of_two(void **state)
{
    static const struct {
        size_t maximum, length, capacity; /* each with a byte more for the end of the text */
    } cases[] = {{1000, 1, 64},    {1000, 63, 64},    {1000, 64, 128},    {1000, 400, 512},
                 {1000, 511, 512}, {1000, 512, 1001}, {1000, 1000, 1001}, {10, 1, 11},
                 {63, 1, 64},      {62, 62, 63},      {64, 64, 65},       {1024, 600, 1024},
                 {1023, 600, 1024}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf buf;
        buf_init(&buf, cases[i].maximum);
        assert_non_null(buf_reserve(&buf, cases[i].length));
        assert_int_equal(buf.capacity, cases[i].capacity);
        assert_string_equal(buf.data, "");
        buf_commit(&buf, cases[i].length);
        assert_null(buf_reserve(&buf, cases[i].maximum - cases[i].length + 1));
        assert_true(buf.overflowed);
        buf_release(&buf);
        assert_int_equal(buf.maximum, cases[i].maximum);
        assert_false(buf.overflowed);
    }
    struct buf endless;
    buf_init(&endless, SIZE_MAX);
    assert_null(buf_reserve(&endless, SIZE_MAX));
    assert_true(endless.overflowed);
    assert_int_equal(endless.length, 0);
    buf_release(&endless);
}

/* A character that the locale does not have cannot be printed. */
static void
what_cannot_be_printed_is_not(void **state)
{
    enum { EURO = 0x20AC };
    (void)state;
    struct buf buf;
    struct reason why = {"before"};
    buf_init(&buf, 100);
    assert_int_equal(buf_append_string(&buf, "kept"), STATUS_OK);
    assert_int_equal(buf_printf(&buf, "a%lc", (wint_t)EURO), STATUS_LIMIT);
    assert_string_equal(buf.data, "kept");
    assert_int_equal(buf.length, 4);
    assert_true(buf.overflowed);
    buf_release(&buf);
    assert_int_equal(status_fail(&why, STATUS_STALE, "%lc", (wint_t)EURO), STATUS_STALE);
    assert_string_equal(why.text, "");
}

/* The characters of a text in JSON: whether the first bytes are one (RFC 3629, by its definition).
 */
static size_t
character_length(const unsigned char *at, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = at[0] < 0x80             ? 1
                          : (at[0] & 0xe0) == 0xc0 ? 2
                          : (at[0] & 0xf0) == 0xe0 ? 3
                          : (at[0] & 0xf8) == 0xf0 ? 4
                                                   : 0;
    if (length == 0 || length > left) {
        return 0;
    }
    uint32_t code = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (at[i] & 0x3fu);
    }
    return code < least[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0
                                                                                         : length;
}

static void
json_text_is_utf8(void **state)
{
    static const unsigned char others[] = {0x20, 0x7e, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0};
    enum { OTHERS = sizeof others, MOST = 4 };
    struct buf buf;
    (void)state;
    buf_init(&buf, 100);
    for (unsigned first = 0x80; first < 0x100; first++) {
        for (size_t i = 0; i < OTHERS * OTHERS * OTHERS; i++) {
            const unsigned char text[MOST] = {(unsigned char)first, others[i % OTHERS],
                                              others[i / OTHERS % OTHERS],
                                              others[i / OTHERS / OTHERS]};
            const size_t left = 1 + i % MOST;
            const size_t length = character_length(text, left);
            buf_reset(&buf);
            assert_int_equal(buf_append_json(&buf, slice_of((const char *)text, left)), STATUS_OK);
            if (length > 0) {
                assert_memory_equal(buf.data, text, length);
            } else {
                assert_memory_equal(buf.data, "\xef\xbf\xbd", 3);
            }
        }
    }
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

/* Returns how many bytes malloc takes for blocks of so many bytes each. A block of a size that
 * malloc keeps free for its thread takes none. */
static size_t
taken_by(const size_t *blocks, size_t count)
{
    enum { HEAD = 32, OWN = 8, STEP = 16, KEPT = 960 }; /* of a block; of malloc */
    size_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        taken += blocks[i] == KEPT ? 0 : (HEAD + blocks[i] + OWN + STEP - 1) / STEP * STEP;
    }
    return taken;
}

/* Each block is twice as large as the one before, or as large as it must be, up to 32 KiB; what is
 * larger than half of that has a block of its own, and the block in use stays in use. */
static void
arena_blocks_grow(void **state)
{
    static const struct {
        size_t pieces[4], blocks[4], count;
    } cases[] = {
        {{1, 944, 1, 1900}, {960, 1920}, 2}, /* they have 16 bytes at least */
        {{960, 1, 1904}, {960, 1920}, 2},
        {{961}, {1920}, 1},
        {{2000, 1841, 2000}, {3840, 7680}, 2},
        {{16384, 16384}, {30720, 32768}, 2},
        {{16384, 14336, 16}, {30720, 32768}, 2},
        {{16385, 16385}, {16400, 16400}, 2},
        {{16, 16385, 944, 16}, {960, 16400, 1920}, 3},
    };
    (void)state;
    if (!memory_is_counted()) {
        skip();
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena;
        arena_init(&arena, 0);
        assert_non_null(arena_alloc(&arena, 1));
        arena_release(&arena); /* malloc keeps such a block from here on */
        const size_t expected = taken_by(cases[i].blocks, cases[i].count);
        const size_t before = memory_in_use();
        for (size_t k = 0; k < 4 && cases[i].pieces[k] > 0; k++) {
            assert_non_null(arena_alloc(&arena, cases[i].pieces[k]));
        }
        assert_int_equal(memory_in_use() - before, expected);
        arena_release(&arena);
        assert_int_equal(memory_in_use(), before);
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
    errno = ENOENT;
    assert_int_equal(status_fail_errno(&why, "open %s%d", "x", 7), STATUS_SYSTEM);
    assert_string_equal(why.text, "open x7: No such file or directory");
    assert_int_equal(status_fail(NULL, STATUS_STALE, "ignored"), STATUS_STALE);
    assert_int_equal(status_fail_errno(NULL, "ignored"), STATUS_SYSTEM);
    assert_int_equal(status_prefix(NULL, STATUS_STALE, "ignored"), STATUS_STALE);
    (void)status_fail(&why, STATUS_LIMIT, "\x1f!\x7f~\x80 \t");
    assert_string_equal(why.text, " ! ~\x80");
}

/* A tail has what room the front leaves, to the last byte. */
static void
tails_of_reasons_fill_the_room(void **state)
{
    static const char tail[] = "0123456789";
    enum { WHOLE = REASON_SIZE - 1 - (sizeof ": 0123456789" - 1) }; /* a front beside all of it */
    (void)state;
    for (size_t front = WHOLE - 1; front <= REASON_SIZE; front++) {
        char text[REASON_SIZE + 1], expected[2 * REASON_SIZE];
        struct reason why;
        memset(text, 'x', front);
        text[front] = '\0';
        (void)snprintf(expected, sizeof expected, "%s: %s", text, tail);
        expected[REASON_SIZE - 1] = '\0';
        if (expected[REASON_SIZE - 2] == ' ') {
            expected[REASON_SIZE - 2] = '\0';
        }
        (void)status_fail(&why, STATUS_LIMIT, "%s", tail);
        (void)status_prefix(&why, STATUS_LIMIT, "%s", text);
        assert_string_equal(why.text, expected);
    }
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
    assert_string_equal(status_text(STATUS_BAD_INPUT), "input is malformed");
    for (unsigned beyond = STATUS_COUNT; beyond < STATUS_COUNT + 2; beyond++) {
        assert_string_equal(status_name((enum status)beyond), "UNKNOWN");
        assert_string_equal(status_text((enum status)beyond), "unknown status");
    }
    assert_string_not_equal(status_name((enum status)(STATUS_COUNT - 1)), "UNKNOWN");
    assert_string_equal(status_name((enum status) - 1), "UNKNOWN");
    assert_int_equal(status_exit_code(STATUS_OK), 0);
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

static void
test_arrays_grow_by_doubling(void **state)
{
    enum { COUNT = 1000 };
    size_t *numbers = NULL, capacity = 0, moves = 0;
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        const size_t before = capacity;
        numbers = array_grow(numbers, i, &capacity, sizeof *numbers);
        assert_true(capacity > i && (capacity == before || before == i));
        assert_true(capacity == before || before == 0 || capacity == 2 * before);
        moves += capacity != before;
        numbers[i] = i;
    }
    assert_in_range(moves, 1, 6);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(numbers[i], i);
    }
    free(numbers);
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
        cmocka_unit_test(capacities_are_powers_of_two),
        cmocka_unit_test(what_cannot_be_printed_is_not),
        cmocka_unit_test(json_text_is_utf8),
        cmocka_unit_test(json_text),
        cmocka_unit_test(json_text_past_maximum_appends_nothing),
        cmocka_unit_test(slices),
        cmocka_unit_test(arena_keeps_to_its_maximum),
        cmocka_unit_test(arena_of_a_small_job_is_small),
        cmocka_unit_test(arena_blocks_grow),
        cmocka_unit_test(arena_reuse_after_only_large_blocks),
        cmocka_unit_test(reasons_are_one_line),
        cmocka_unit_test(long_reasons_are_cut),
        cmocka_unit_test(tails_of_reasons_fill_the_room),
        cmocka_unit_test(statuses_have_names_and_exit_codes),
        cmocka_unit_test(memory_copies),
        cmocka_unit_test(memory_that_is_not_there_ends_the_process),
        cmocka_unit_test(test_arrays_grow_by_doubling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
