/* Scanning many bytes at a time against one at a time, at every length and alignment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdf/core/scan.h"
#include "tests/unit/brief.h"

enum { SIZE = 100, ROUNDS = 200000 };

static uint64_t seed = 1;

static unsigned
random_below(unsigned below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

/* Mostly letters, so that stops are at all distances; then any byte. */
static struct slice
random_text(char bytes[SIZE + 1])
{
    const size_t from = random_below(20), length = random_below(SIZE - 20);
    const unsigned rarity = 1 + random_below(60);
    for (size_t i = 0; i < SIZE; i++) {
        bytes[i] = (char)(random_below(rarity) == 0 ? random_below(256) : 'a' + random_below(26));
    }
    bytes[from + length] = '\n';
    return slice_of(bytes + from, length);
}

static size_t
find_stop(struct slice text, unsigned stops, bool *ascii)
{
    size_t at = 0;
    *ascii = true;
    for (; at < text.length && !lexical_is(text.at[at], stops); at++) {
        *ascii = *ascii && (unsigned char)text.at[at] < 0x80;
    }
    return at;
}

static void
stops_are_found(void **state)
{
    static const unsigned classes[2] = {LEXICAL_IRI_STOP, LEXICAL_STRING_STOP};
    char bytes[SIZE + 1];
    (void)state;
    for (unsigned round = 0; round < brief(ROUNDS, ROUNDS / 100); round++) {
        const struct slice text = random_text(bytes);
        const unsigned stops = classes[round % 2];
        unsigned char any = 0, any_within = 0;
        bool ascii;
        const size_t expected = find_stop(text, stops, &ascii);
        /* The line's end is a stop of both. */
        const char *end = bytes + (text.at - bytes) + text.length + 1;
        const char *at = stops == LEXICAL_IRI_STOP
                             ? scan_to(text.at, end, LEXICAL_IRI_STOP, &any)
                             : scan_to(text.at, end, LEXICAL_STRING_STOP, &any);
        assert_int_equal(at - text.at, expected);
        assert_int_equal(any < 0x80, ascii);
        assert_int_equal(stops == LEXICAL_IRI_STOP
                             ? scan_within(text, LEXICAL_IRI_STOP, &any_within)
                             : scan_within(text, LEXICAL_STRING_STOP, &any_within),
                         expected);
        assert_int_equal(any_within < 0x80, ascii);
    }
}

static bool
is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f && c != 0xEF;
}

static void
what_needs_no_escape_is_passed(void **state)
{
    char bytes[SIZE + 1];
    (void)state;
    for (unsigned round = 0; round < brief(ROUNDS, ROUNDS / 100); round++) {
        const struct slice text = random_text(bytes);
        const size_t plain = scan_plain(text);
        size_t first = 0;
        while (first < text.length && is_plain((unsigned char)text.at[first])) {
            first++;
        }
        assert_true(plain <= first);
#ifdef __SSE2__
        assert_int_equal(plain, first == text.length ? text.length / 16 * 16 : first / 16 * 16);
#endif
    }
}

static void
pairs_are_found(void **state)
{
    char bytes[SIZE + 1];
    (void)state;
    for (unsigned round = 0; round < brief(ROUNDS, ROUNDS / 100); round++) {
        struct slice text = random_text(bytes);
        if (round % 3 != 0 && text.length > 1) {
            const size_t at = random_below((unsigned)text.length - 1);
            bytes[(text.at - bytes) + (ptrdiff_t)at] = '/';
            bytes[(text.at - bytes) + (ptrdiff_t)at + 1] = round % 3 == 1 ? '.' : '/';
        }
        const bool expected = memmem(text.at, text.length, "/.", 2) != NULL;
        assert_int_equal(scan_has_pair(text, '/', '.'), expected);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops_are_found),
        cmocka_unit_test(what_needs_no_escape_is_passed),
        cmocka_unit_test(pairs_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
