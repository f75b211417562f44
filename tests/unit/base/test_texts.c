/* Small functions over bytes, each at its boundaries or beside the plainest code that does the
 * same: pieces of text, foreign text inside of HTML, mistyped words, arenas, times and digests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/arena.h"
#include "base/ascii.h"
#include "base/digest.h"
#include "base/edit_distance.h"
#include "base/html_text.h"
#include "base/memory.h"
#include "base/options/nearest.h"
#include "base/outcome.h"
#include "base/system/clock.h"

/* ---- pieces of text ---- */

static void
characters_of_ascii(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        const char *const digits = "0123456789abcdef";
        const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
        const char low = (char)(upper ? c + 'a' - 'A' : c);
        const char *digit = c != 0 ? strchr(digits, low) : NULL;
        assert_int_equal(ascii_lower((char)c), low);
        assert_int_equal(ascii_is_letter((char)c), upper || lower);
        assert_int_equal(ascii_is_digit((char)c), digit != NULL && digit - digits < 10);
        assert_int_equal(ascii_hex_value((char)c), digit != NULL ? digit - digits : -1);
        assert_int_equal(ascii_is_space((char)c), c != 0 && strchr(" \t\n\r\f", c) != NULL);
        /* What is trimmed also has the vertical tab. */
        const char text[] = {(char)c, 'x', (char)c};
        const bool blank = c != 0 && strchr(" \t\n\v\r\f", c) != NULL;
        assert_int_equal(slice_trim(slice_of(text, 3)).length, blank ? 1 : 3);
        assert_int_equal(slice_trim(slice_of(text, 1)).length, blank ? 0 : 1);
    }
}

static void
words_and_parts(void **state)
{
    (void)state;
    struct slice list = SLICE("\f one\ttwo\r\nthree");
    assert_true(slice_is(slice_next_word(&list), "one"));
    assert_true(slice_is(slice_next_word(&list), "two"));
    assert_true(slice_is(slice_next_word(&list), "three"));
    assert_int_equal(slice_next_word(&list).length, 0);
    list = SLICE("a ");
    assert_true(slice_is(slice_next_word(&list), "a"));
    assert_int_equal(slice_next_word(&list).length, 0);
    assert_int_equal(list.length, 0);
    list = SLICE(",a,,b");
    assert_true(slice_is(slice_take(&list, ','), ""));
    assert_true(slice_is(slice_take(&list, ','), "a"));
    assert_true(slice_is(slice_take(&list, ','), ""));
    assert_true(slice_is(list, "b"));
    assert_true(slice_is(slice_take(&list, ','), "b"));
    assert_true(slice_is(slice_take(&list, ','), "") && list.length == 0);
    list = SLICE("a,");
    assert_true(slice_is(slice_take(&list, ','), "a") && list.length == 0);
    assert_true(slice_starts_nocase(SLICE("HTTP:"), SLICE("http")));
    assert_true(slice_starts_nocase(SLICE("http"), SLICE("HTTP")));
    assert_false(slice_starts_nocase(SLICE("htt"), SLICE("http")));
    assert_false(slice_starts_nocase(SLICE("hxtp"), SLICE("http")));
    assert_false(slice_equal_nocase(SLICE("http"), SLICE("https")));
    assert_int_equal(slice_find_slice(slice_of(NULL, 0), SLICE("a")), 0);
    assert_int_equal(slice_find_slice(SLICE("ab"), SLICE("ab")), 0);
    assert_int_equal(slice_find_slice(SLICE("ab"), SLICE("b")), 1);
    assert_true(slice_number(SLICE("00000000000000000000012")) == 12); /* as long as it may be */
    assert_true(slice_number(SLICE("7")) == 7);
    assert_int_equal(slice_string(NULL).length, 0);
    assert_true(slice_compare(SLICE("ab"), SLICE("a")) > 0);
    assert_int_equal(slice_compare(SLICE("ab"), SLICE("ab")), 0);
    assert_true(slice_equal(SLICE("ab"), SLICE("ab")) && !slice_equal(SLICE("ab"), SLICE("ac")) &&
                !slice_equal(SLICE("ab"), SLICE("a")));
    assert_true(slice_starts(SLICE("ab"), SLICE("ab")) && slice_starts(SLICE("ab"), SLICE("")));
}

/* ---- inside of HTML ---- */

static void
html_is(struct slice text, const char *expected)
{
    struct buf out;
    buf_init(&out, 1000);
    html_text(&out, text);
    assert_true(slice_is(buf_slice(&out), expected));
    buf_release(&out);
}

static void
foreign_text_is_escaped(void **state)
{
    (void)state;
#define BAD "\xEF\xBF\xBD"
    static const struct {
        const char *text, *html;
    } cases[] = {
        {"", ""},
        {"a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"},
        {"\x01 \t\n\r\x1f\x7f~", " \t\n\x7f~"},
        {"\x7f\x80", "\x7f" BAD},
        {"\xc1\xbf", BAD BAD},
        {"\xc2\x80", "\xc2\x80"},
        {"\xdf\xbf", "\xdf\xbf"},
        {"\xc2", BAD},
        {"\xc2"
         "a",
         BAD "a"},
        {"\xc2\xc0", BAD BAD},
        {"\xe0\xa0\x80x", "\xe0\xa0\x80x"},
        {"\xef\xbf\xbf", "\xef\xbf\xbf"},
        {"\xe2\x82", BAD BAD},
        {"\xe2\x82"
         "a",
         BAD BAD "a"},
        {"\xf0\x90\x80\x80", "\xf0\x90\x80\x80"},
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
        {"\xf0\x90\x80", BAD BAD BAD},
        {"\xf5\x80\x80\x80", BAD BAD BAD BAD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        html_is(slice_string(cases[i].text), cases[i].html);
    }
    html_is(SLICE("a\0b"), "ab");
}

static void
beginnings_part_no_character(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 1, 3, 3, 3, 6, 7, 7, 7};
    const struct slice text = SLICE("a\xc2\x80\xe2\x82\xac"
                                    "b");
    for (size_t most = 0; most < sizeof lengths / sizeof *lengths; most++) {
        assert_int_equal(html_text_start(text, most).length, lengths[most]);
        assert_ptr_equal(html_text_start(text, most).at, text.at);
    }
    assert_int_equal(html_text_start(SLICE("\x80\x80"), 1).length, 0);
}

static void
links_are_to_the_web(void **state)
{
    (void)state;
    static const struct {
        const char *iri, *html;
    } cases[] = {
        {"http://a/?b&c", "<a rel=\"noreferrer\" href=\"http://a/?b&amp;c\">http://a/?b&amp;c</a>"},
        {"https://a/", "<a rel=\"noreferrer\" href=\"https://a/\">https://a/</a>"},
        {"javascript:\"http://", "javascript:&quot;http://"},
        {"http:/a", "http:/a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out;
        buf_init(&out, 1000);
        html_iri(&out, slice_string(cases[i].iri));
        assert_true(slice_is(buf_slice(&out), cases[i].html));
        buf_release(&out);
    }
}

/* ---- mistyped words ---- */

/* The expected value is computed by its definition. */
static size_t
distance(const char *a, size_t n, const char *b, size_t m)
{
    if (n == 0 || m == 0) {
        return n + m;
    }
    size_t best = distance(a, n - 1, b, m - 1) + (a[n - 1] != b[m - 1]);
    const size_t left_out = distance(a, n - 1, b, m) + 1, inserted = distance(a, n, b, m - 1) + 1;
    best = left_out < best ? left_out : best;
    best = inserted < best ? inserted : best;
    if (n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1]) {
        const size_t swapped = distance(a, n - 2, b, m - 2) + 1;
        best = swapped < best ? swapped : best;
    }
    return best;
}

static void
distances_are_those_of_the_definition(void **state)
{
    (void)state;
    enum { LETTERS = 3, MOST = 4, WORDS = 121 }; /* all words of up to four letters */
    char words[WORDS][MOST + 1] = {""};
    size_t count = 1;
    for (size_t i = 0; strlen(words[i]) < MOST; i++) {
        for (int c = 0; c < LETTERS; c++) {
            memcpy(words[count], words[i], sizeof words[0]);
            words[count++][strlen(words[i])] = (char)('a' + c);
        }
    }
    assert_int_equal(count, WORDS);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = i % 3; k < count; k += 3) {
            assert_int_equal(edit_distance(slice_string(words[i]), slice_string(words[k])),
                             distance(words[i], strlen(words[i]), words[k], strlen(words[k])));
        }
    }
    char longest[2][EDIT_DISTANCE_MOST];
    memset(longest[0], 'x', EDIT_DISTANCE_MOST);
    memset(longest[1], 'y', EDIT_DISTANCE_MOST);
    assert_int_equal(edit_distance(slice_of(longest[0], EDIT_DISTANCE_MOST),
                                   slice_of(longest[1], EDIT_DISTANCE_MOST)),
                     EDIT_DISTANCE_MOST);
}

static void
the_nearest_word_is_offered(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *first, *second, *text;
    } cases[] = {
        {"crwal", "crawl", "crawler", "; is it --crawl?"}, /* one mistake, a swap */
        {"crwla", "crawl", "zzz", ""},                     /* two of five letters */
        {"serach", "search", "zzz", "; is it --search?"},  /* of six letters two may be wrong */
        {"seracx", "search", "zzz", "; is it --search?"},
        {"seaxyz", "search", "zzz", ""},
        {"abcdefghx", "abcdefxyz", "zzz", "; is it --abcdefxyz?"}, /* a third */
        {"abcdefwvu", "abcdeqxyz", "zzz", ""},
        {"st", "statistics", "zzz", "; is it --statistics?"}, /* cut short */
        {"s", "statistics", "zzz", ""},
        {"stat", "statistics", "stats", "; is it --stats?"}, /* a single mistake is nearer */
        {"stat", "stats", "statistics", "; is it --stats?"},
        {"ab", "abcdef", "abxyz", "; is it --abcdef?"}, /* the first of equals */
        {"x", "x", "z", "; is it --x?"},
        {"x", "y", "z", ""}, /* nothing of the word is right */
        {"", "a", "b", ""},
        {"word", "word", "ward", "; is it --word?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[NEAREST_TEXT_SIZE];
        struct nearest nearest = nearest_to(slice_string(cases[i].typed));
        nearest_offer(&nearest, cases[i].first);
        nearest_offer(&nearest, cases[i].second);
        assert_string_equal(nearest_text(&nearest, "--", text), cases[i].text);
    }
    /* Texts of the greatest length, and of one more, are tried. */
    char word[EDIT_DISTANCE_MOST + 2], text[NEAREST_TEXT_SIZE];
    for (size_t length = EDIT_DISTANCE_MOST; length <= EDIT_DISTANCE_MOST + 1; length++) {
        memset(word, 'w', length);
        word[length] = '\0';
        struct nearest nearest = nearest_to(slice_string(word));
        nearest_offer(&nearest, word);
        assert_int_equal(*nearest_text(&nearest, "", text) != '\0', length == EDIT_DISTANCE_MOST);
        nearest = nearest_to(slice_of(word, EDIT_DISTANCE_MOST));
        nearest_offer(&nearest, word);
        assert_int_equal(*nearest_text(&nearest, "", text) != '\0', length == EDIT_DISTANCE_MOST);
    }
}

/* ---- memory ---- */

static void
arenas_at_their_maximum(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 64);
    assert_null(arena_alloc(&arena, 65));
    assert_non_null(arena_alloc(&arena, 64));
    assert_int_equal(arena.used, 64);
    assert_null(arena_alloc(&arena, 0));
    assert_null(arena_zero(&arena, 1));
    const struct slice none = arena_copy(&arena, SLICE("")), text = arena_printf(&arena, "%d", 1);
    assert_true(none.at == NULL && none.length == 0);
    assert_true(text.at == NULL && text.length == 0);
    const struct slice endless = arena_copy(&arena, slice_of("", SIZE_MAX));
    assert_true(endless.at == NULL && endless.length == 0);
    arena_reset(&arena);
    const struct slice empty = arena_copy(&arena, slice_of(NULL, 0));
    assert_true(empty.at != NULL && empty.length == 0 && *empty.at == '\0');
    assert_int_equal(arena.used, 16);
    assert_non_null(arena_alloc(&arena, 33));
    assert_int_equal(arena.used, 64);
    arena_reset(&arena);
    assert_true(slice_is(arena_printf(&arena, "%015d", 7), "000000000000007"));
    assert_int_equal(arena.used, 16); /* with the end of the text */
    assert_true(slice_is(arena_printf(&arena, "%016d", 7), "0000000000000007"));
    assert_int_equal(arena.used, 48);
    arena_release(&arena);
    assert_int_equal(arena.used, 0);
}

/* No two pieces share a byte, whatever their sizes, and a reset keeps a block. */
static void
pieces_of_an_arena_are_apart(void **state)
{
    (void)state;
    enum { PIECES = 600 };
    static char *pieces[PIECES];
    static size_t sizes[PIECES];
    struct arena arena;
    arena_init(&arena, 0);
    for (unsigned round = 0; round < 2; round++) {
        size_t used = 0;
        for (size_t i = 0; i < PIECES; i++) {
            sizes[i] = i * i * 7919 % (i % 50 == 49 ? 70000 : 997);
            pieces[i] = i % 2 ? arena_alloc(&arena, sizes[i]) : arena_zero(&arena, sizes[i]);
            for (size_t k = 0; i % 2 == 0 && k < sizes[i]; k++) {
                assert_int_equal(pieces[i][k], 0);
            }
            memset(pieces[i], (int)(i % 251 + 1), sizes[i]);
            used += sizes[i] ? (sizes[i] + 15) / 16 * 16 : 16;
        }
        assert_int_equal(arena.used, used);
        for (size_t i = 0; i < PIECES; i++) {
            for (size_t k = 0; k < sizes[i]; k++) {
                assert_int_equal((unsigned char)pieces[i][k], i % 251 + 1);
            }
        }
        arena_reset(&arena);
    }
    const void *first = arena_alloc(&arena, 8);
    arena_reset(&arena);
    assert_ptr_equal(arena_alloc(&arena, 8), first);
    arena_release(&arena);
}

static void
memory_is_there_for_nothing_too(void **state)
{
    (void)state;
    void *none = memory_alloc(0);
    assert_non_null(none);
    none = memory_resize(none, 0, 8);
    assert_non_null(none);
    free(none);
    none = memory_zero(0, 8);
    assert_non_null(none);
    free(none);
    char *numbers = memory_zero(3, 5);
    for (size_t i = 0; i < 15; i++) {
        assert_int_equal(numbers[i], 0);
    }
    free(numbers);
    char *text = memory_string_n("abc", 2);
    assert_string_equal(text, "ab");
    free(text);
    text = memory_string("a");
    assert_string_equal(text, "a");
    free(text);
    text = memory_string_n(NULL, 0);
    assert_string_equal(text, "");
    free(text);
}

static struct {
    unsigned calls;
    uintptr_t from;
    size_t length;
} advice;

int __wrap_madvise(void *memory, size_t length, int kind);

int
__wrap_madvise(void *memory, size_t length, int kind)
{
    assert_int_equal(kind, MADV_HUGEPAGE);
    advice.calls++;
    advice.from = (uintptr_t)memory;
    advice.length = length;
    return 0;
}

/* Large pages are asked for only where they lie wholly in a piece of memory, and only for a piece
 * of at least four of them. */
static void
large_pages_are_whole(void **state)
{
    enum { PAGE = 2 << 20 };
    static const struct {
        uintptr_t at;
        size_t size, first, pages;
    } cases[] = {
        {PAGE, 4 * PAGE, 1, 4},
        {PAGE, 4 * PAGE - 1, 0, 0},
        {PAGE + 1, 4 * PAGE, 2, 3},
        {PAGE - 1, 4 * PAGE, 1, 3},
        {PAGE + 1, 5 * PAGE - 2, 2, 3},
        {PAGE + 1, 5 * PAGE - 1, 2, 4},
        {2 * PAGE - 1, 4 * PAGE + 1, 2, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(&advice, 0, sizeof advice);
        /* Nobody reads or writes there. */
        memory_prefer_large_pages((void *)cases[i].at, cases[i].size);
        assert_int_equal(advice.calls, cases[i].pages > 0 ? 1 : 0);
        assert_int_equal(advice.from, cases[i].first * PAGE);
        assert_int_equal(advice.length, cases[i].pages * PAGE);
    }
}

/* ---- times ---- */

static void
times_are_those_of_the_calendar(void **state)
{
    enum { DAY_S = 86400, DAYS = 160000 }; /* until 2408: each kind of leap year */
    (void)state;
    for (uint64_t day = 0; day < DAYS; day++) {
        char text[CLOCK_TEXT_SIZE], expected[64];
        struct tm calendar;
        const time_t seconds = (time_t)(day * DAY_S + day * 7919 % DAY_S);
        const unsigned ms = (unsigned)(day % 1000);
        if (day > 1500 && day % 5 != 0 && day % 365 > 60) {
            continue; /* around the leap days each, else some */
        }
        assert_non_null(gmtime_r(&seconds, &calendar));
        const size_t n = strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S", &calendar);
        clock_text((uint64_t)seconds * 1000 + ms, 0, text);
        assert_memory_equal(text, expected, n);
        assert_string_equal(text + n, "Z");
        (void)snprintf(expected + n, sizeof expected - n, ".%03uZ", ms);
        clock_text((uint64_t)seconds * 1000 + ms, 1, text);
        assert_string_equal(text, expected);
    }
}

static void
times_end_with_the_last_of_four_digits(void **state)
{
    static const uint64_t last_ms = UINT64_C(253402300799999);
    static const struct {
        uint64_t ms;
        const char *text;
    } cases[] = {{last_ms - 1, "9999-12-31T23:59:59.998Z"},
                 {last_ms, "9999-12-31T23:59:59.999Z"},
                 {last_ms + 1, "9999-12-31T23:59:59.999Z"},
                 {UINT64_MAX, "9999-12-31T23:59:59.999Z"}};
    char text[CLOCK_TEXT_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clock_text(cases[i].ms, 1, text);
        assert_string_equal(text, cases[i].text);
    }
}

static uint64_t
us_of(clockid_t clock)
{
    struct timespec now;
    assert_int_equal(clock_gettime(clock, &now), 0);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void
clocks_are_those_of_the_machine(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        const uint64_t wall = us_of(CLOCK_REALTIME), wall_ms = clock_wall_ms();
        assert_in_range(wall_ms, wall / 1000, us_of(CLOCK_REALTIME) / 1000);
        const uint64_t monotonic = us_of(CLOCK_MONOTONIC), ms = clock_monotonic_ms();
        const uint64_t us = clock_monotonic_us(), after = us_of(CLOCK_MONOTONIC);
        assert_in_range(ms, monotonic / 1000, after / 1000);
        assert_in_range(us, monotonic, after);
    }
}

static void
waits_are_until_what_is_due_first(void **state)
{
    static const struct {
        uint64_t wait, due, now, until;
    } cases[] = {{10, 105, 100, 5}, {10, 110, 100, 10}, {10, 111, 100, 10}, {10, 100, 100, 0},
                 {10, 99, 100, 0},  {10, 101, 100, 1},  {0, 105, 100, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t wait = cases[i].wait;
        clock_wait_until(&wait, cases[i].due, cases[i].now);
        assert_int_equal(wait, cases[i].until);
    }
}

static void
ends_of_calls(void **state)
{
    (void)state;
    struct outcome outcome = {0};
    struct reason why = {"before"}, because = {"because"};
    outcome_take(&outcome, STATUS_OK, &because);
    assert_true(outcome.given);
    assert_int_equal(outcome_status(&outcome, &why), STATUS_OK);
    assert_string_equal(why.text, "before");
    assert_string_equal(outcome.why.text, "");
    outcome_take(&outcome, STATUS_LIMIT, &because);
    assert_int_equal(outcome_status(&outcome, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "because");
    outcome_take(&outcome, STATUS_AGAIN, NULL);
    assert_int_equal(outcome_status(&outcome, NULL), STATUS_AGAIN);
}

/* ---- digests ---- */

static void
known_digests(void **state)
{
    (void)state;
    uint8_t digest[DIGEST_SHA256_SIZE];
    char text[2 * DIGEST_SHA256_SIZE + 1];
    digest_sha256(SLICE("abc"), digest);
    digest_hex(digest, sizeof digest, text);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_sha1_parts(SLICE("a"), SLICE("bc"), digest);
    digest_hex(digest, DIGEST_SHA1_SIZE, text);
    assert_string_equal(text, "a9993e364706816aba3e25717850c26c9cd0d89d");
    digest_base32(digest, DIGEST_SHA1_SIZE, text);
    assert_string_equal(text, "VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
    /* RFC 4648, 10, without padding */
    static const char *const coded[] = {"",        "MY",       "MZXQ",      "MZXW6",
                                        "MZXW6YQ", "MZXW6YTB", "MZXW6YTBOI"};
    for (int i = 0; i <= 6; i++) {
        digest_base32((const uint8_t *)"foobar", i, text);
        assert_string_equal(text, coded[i]);
    }
    /* BLAKE2b-128 of "abc" */
    uint8_t fingerprint[FINGERPRINT_SIZE];
    fingerprint_of(SLICE("abc"), fingerprint);
    digest_hex(fingerprint, sizeof fingerprint, text);
    assert_string_equal(text, "cf4ab791c62b8d2b2109c90275287816");
    assert_true(fingerprint64(SLICE("abc")) == UINT64_C(0xcf4ab791c62b8d2b));
    assert_int_equal(partition_of(SLICE("abc")), 0x7816 % PARTITIONS);
    assert_true(digest_local(SLICE("abc")) == digest_local(SLICE("abc")));
    assert_true(digest_local(SLICE("abc")) != digest_local(SLICE("abd")));
}

/* The digest of a whole and of its second part, computed together, are those computed apart. */
static void
pairs_of_digests(void **state)
{
    (void)state;
    enum { FIRST = 130, SECOND = 330 };
    char bytes[FIRST + SECOND];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(i * i * 31 + i);
    }
    for (size_t first = 0; first <= FIRST; first++) {
        for (size_t second = 0; second <= SECOND;
             second += second % 64 > 3 && second % 64 < 52 ? 7 : 1) {
            uint8_t both[DIGEST_SHA1_SIZE], alone[DIGEST_SHA1_SIZE], whole[DIGEST_SHA1_SIZE],
                part[DIGEST_SHA1_SIZE];
            const struct slice a = slice_of(bytes, first), b = slice_of(bytes + first, second);
            digest_sha1_pair(a, b, both, alone);
            digest_sha1_parts(slice_of(bytes, first + second), SLICE(""), whole);
            digest_sha1_parts(b, SLICE(""), part);
            assert_memory_equal(both, whole, DIGEST_SHA1_SIZE);
            assert_memory_equal(alone, part, DIGEST_SHA1_SIZE);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_of_ascii),
        cmocka_unit_test(words_and_parts),
        cmocka_unit_test(foreign_text_is_escaped),
        cmocka_unit_test(beginnings_part_no_character),
        cmocka_unit_test(links_are_to_the_web),
        cmocka_unit_test(distances_are_those_of_the_definition),
        cmocka_unit_test(the_nearest_word_is_offered),
        cmocka_unit_test(arenas_at_their_maximum),
        cmocka_unit_test(pieces_of_an_arena_are_apart),
        cmocka_unit_test(memory_is_there_for_nothing_too),
        cmocka_unit_test(large_pages_are_whole),
        cmocka_unit_test(times_are_those_of_the_calendar),
        cmocka_unit_test(times_end_with_the_last_of_four_digits),
        cmocka_unit_test(clocks_are_those_of_the_machine),
        cmocka_unit_test(waits_are_until_what_is_due_first),
        cmocka_unit_test(ends_of_calls),
        cmocka_unit_test(known_digests),
        cmocka_unit_test(pairs_of_digests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
