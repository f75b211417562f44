/* Tokens and stems of the keyword index (index/words/tokenizer.c), each with its kind and with the
 * text where it stands: of all scripts, of words that are too long, and of runs that are longer
 * than what is looked at together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "index/words/tokenizer.h"

enum { LONG_KEPT = WORD_MOST - 16, RUN_MOST = 4096 };

/* ---- what is noted of tokens ---- */

struct noted {
    struct slice whole; /* the text that is split */
    struct buf out;
    size_t count, most; /* most: after so many no more are wanted */
};

static bool
note(void *context, const struct token *token)
{
    static const char kinds[] = {[TOKEN_WORD] = 'w', [TOKEN_PAIR] = 'p', [TOKEN_LAST] = 'l'};
    struct noted *noted = context;
    assert_true(noted->count < noted->most);
    (void)buf_printf(&noted->out, "%s%.*s:%c%s%zu-%zu", noted->count > 0 ? " " : "",
                     SLICE_PRINT(token->word), kinds[token->kind], token->ascii ? "a" : "",
                     (size_t)(token->text.at - noted->whole.at),
                     (size_t)(token->text.at - noted->whole.at) + token->text.length);
    return ++noted->count < noted->most;
}

static void
assert_noted(const char *text, size_t most, const char *expected)
{
    struct tokenizer *tokenizer = tokenizer_new();
    struct noted noted = {.whole = slice_string(text), .most = most};
    buf_init(&noted.out, 1 << 16);
    tokenizer_split(tokenizer, noted.whole, note, &noted);
    (void)buf_append_char(&noted.out, '\0');
    assert_string_equal(noted.out.data, expected);
    buf_release(&noted.out);
    tokenizer_free(tokenizer);
}

/* Each token is told with its kind, whether its text is plain ASCII, and from where to where it
 * stands. */
static void
tokens_have_kinds_and_places(void **state)
{
    (void)state;
    assert_noted("", 9, "");
    assert_noted(" .,\n", 9, "");
    assert_noted("a", 9, "a:wa0-1");
    assert_noted("Ab, 12!", 9, "ab:wa0-2 12:wa4-6");
    assert_noted("az AZ 09 /:@[`{", 9, "az:wa0-2 az:wa3-5 09:wa6-8");
    assert_noted("\xc3\x89t\xc3\xa9 x", 9, "ete:w0-5 x:wa6-7");
    assert_noted("x\xc3\xa9", 9, "xe:w0-3");
    assert_noted("\xc2\xabx\xc2\xbb", 9, "x:wa2-3");
    assert_noted("東京都", 9, "東京:p0-9 京都:p0-9 都:l0-9");
    assert_noted("a東b", 9, "a:wa0-1 東:l1-4 b:wa4-5");
    assert_noted("a東", 9, "a:wa0-1 東:l1-4");
    assert_noted("ภาษาไทย", 9, "ภาษา:w0-21 ไทย:w0-21");
    assert_noted("ไทย東", 9, "ไทย:w0-9 東:l9-12");
    assert_noted("x\xff\x79", 9, "x:wa0-1 y:wa2-3");
    assert_noted("\xe6\x9d\xb1\xffz", 9, "東:l0-3 z:wa4-5");
}

/* Who wants no more tokens gets none, whatever kind they are of. */
static void
tokens_end_when_no_more_are_wanted(void **state)
{
    (void)state;
    assert_noted("a b c", 1, "a:wa0-1");
    assert_noted("a b c", 2, "a:wa0-1 b:wa2-3");
    assert_noted("東京都 a", 1, "東京:p0-9");
    assert_noted("東京都 a", 2, "東京:p0-9 京都:p0-9");
    assert_noted("東京都 a", 3, "東京:p0-9 京都:p0-9 都:l0-9");
    assert_noted("ภาษาไทย a", 1, "ภาษา:w0-21");
    assert_noted("ภาษาไทย a", 2, "ภาษา:w0-21 ไทย:w0-21");
    assert_noted("\xc3\xa9 b", 1, "e:w0-2");
}

static bool
note_word(void *context, const struct token *token)
{
    struct buf *out = context;
    (void)buf_printf(out, "%s%.*s", out->length > 0 ? " " : "", SLICE_PRINT(token->word));
    return true;
}

static void
assert_words(const char *text, const char *expected)
{
    struct tokenizer *tokenizer = tokenizer_new();
    struct buf out;
    buf_init(&out, 1 << 16);
    tokenizer_split(tokenizer, slice_string(text), note_word, &out);
    (void)buf_append_char(&out, '\0');
    assert_string_equal(out.data, expected);
    buf_release(&out);
    tokenizer_free(tokenizer);
}

/* Accents of Latin, Greek, Cyrillic, Hebrew, Arabic and Syriac fall away, inside of a word, at its
 * end, and as part of a character; vowel signs, viramas and length marks of other scripts stay. */
static void
accents_fall_away_and_signs_stay(void **state)
{
    (void)state;
    assert_words("a\u05b0b a\u05bd", "ab a"); /* points of Hebrew: classes 10 and 22 */
    assert_words("a\u0651b a\u0670b a\u0711b", "ab ab ab"); /* Arabic and Syriac: to class 36 */
    assert_words("a\u0321b a\u0327b a\u0345", "ab ab a");   /* attached below; iota below */
    assert_words("a\u0c55b", "a\u0c55b");                   /* a length mark: class 84 */
    assert_words("a\u094db a\u093cb", "a\u094db a\u093cb"); /* virama, nukta: classes 9 and 7 */
    assert_words("a\u0f71b", "a\u0f71b");                   /* a vowel of Tibetan: class 129 */
    assert_words("\u0301 \u0301a", "a");
    assert_words("a\u200db a\ufe0fb a\u00adb", "ab ab ab");
    assert_words("\u0439 \u0419 \u0451 \u0457 \u045e", "\u0439 \u0439 \u0435 \u0456 \u0443");
    assert_words("\u0929\u0439", "\u0929\u0439"); /* a nukta that is part of a letter stays, too */
    assert_words("\u0958", "\u0915\u093c");       /* a letter with a nukta is both */
    assert_words("\u1e69\u01d8\u1fb7", "su\u03b1\u03b9");
    assert_words("\u00c5\u00d8\u0141\u0110", "a\u00f8\u0142\u0111");
}

/* One character may fold to several; what folds to a letter of a script in pairs is of that
 * script. */
static void
characters_fold_to_others(void **state)
{
    (void)state;
    assert_words("\u00df\u1e9e \ufb03 \u0133", "ssss ffi ij");
    assert_words("\ufdfa", "\u0635\u0644\u0649\u0627\u0644\u0644\u0647\u0639\u0644\u064a\u0647"
                           "\u0648\u0633\u0644\u0645");
    assert_words("\u2460\u00bd\u2167", "112viii"); /* a fraction's bar is no letter */
    assert_words("x\u3280y \u3286\u3280", "x \u4e00 y \u4e03\u4e00 \u4e00");
    assert_words("\u0390 \U00010400\U0001d7d8", "\u03b9 \U000104280");
    assert_words("\u2126 \u212b \u017f", "\u03c9 a s");
    assert_words("a_b a\u203fb", "a b a b");
    assert_words("\ue000\u0660", "\ue000\u0660");
}

/* Scripts in pairs and scripts of dictionaries, by a character or two of each. */
static void
scripts_have_their_kinds(void **state)
{
    (void)state;
    static const char *const pairs[] = {"\u4e00\u4e01", "\u3042\u3044", "\u30a2\u30a4",
                                        "\uac00\uac01", "\u3105\u3106", "\ua000\ua001",
                                        "\u30a2\u30fc"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "%s:p0-6 %s:l0-6", pairs[i], pairs[i] + 3);
        assert_noted(pairs[i], 9, expected);
    }
    assert_noted("\u30a6\u3099", 9, "\u30f4:l0-6");
    assert_noted("\u30cf\u309a", 9, "\u30d1:l0-6");
    assert_noted("\uff71\uff70", 9, "\u30a2\u30fc:p0-6 \u30fc:l0-6");
    assert_noted("\uff73\uff9e", 9, "\u30f4:l0-6");
    assert_noted("\uff8a\uff9f", 9, "\u30d1:l0-6");
    /* Each is a run of its own beside a word of letters. */
    static const char *const words[] = {"\u0e01", "\u0e81", "\u1780", "\u1000"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char text[16], expected[64];
        snprintf(text, sizeof text, "a%sb", words[i]);
        snprintf(expected, sizeof expected, "a:wa0-1 %s:w1-4 b:wa4-5", words[i]);
        assert_noted(text, 9, expected);
    }
    assert_words("\u0915\u0916 \u10d0\u10d1", "\u0915\u0916 \u10d0\u10d1");
    /* What joins characters belongs to their run, and is no character of it. */
    assert_noted("\u4e00\u200d\u4e01", 9, "\u4e00\u4e01:p0-9 \u4e01:l0-9");
    assert_noted("\u4e00\u0301\u4e01", 9, "\u4e00\u4e01:p0-8 \u4e01:l0-8");
}

/* ---- long words ---- */

struct one_word {
    char bytes[2 * WORD_MOST];
    size_t length, count;
};

static bool
take_one(void *context, const struct token *token)
{
    struct one_word *one = context;
    assert_true(token->word.length <= WORD_MOST);
    memcpy(one->bytes, token->word.at, token->word.length);
    one->length = token->word.length;
    one->count++;
    return true;
}

/* A word as it must become: longer ones are cut where a character begins, and the bytes from
 * LONG_KEPT on go into a hash (FNV-1a). */
static size_t
long_word(const char *word, size_t length, char out[2 * WORD_MOST])
{
    if (length <= WORD_MOST) {
        memcpy(out, word, length);
        return length;
    }
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = LONG_KEPT; i < length; i++) {
        hash = (hash ^ (uint8_t)word[i]) * UINT64_C(1099511628211);
    }
    size_t kept = LONG_KEPT;
    while (((uint8_t)word[kept] & 0xc0) == 0x80) {
        kept--;
    }
    memcpy(out, word, kept);
    snprintf(out + kept, 17, "%016llx", (unsigned long long)hash);
    return kept + 16;
}

static void
check_long_word(struct tokenizer *tokenizer, const char *word, size_t length)
{
    char expected[2 * WORD_MOST];
    struct one_word one = {.count = 0};
    const size_t expected_length = long_word(word, length, expected);
    tokenizer_split(tokenizer, slice_of(word, length), take_one, &one);
    assert_int_equal(one.count, 1);
    assert_int_equal(one.length, expected_length);
    assert_memory_equal(one.bytes, expected, expected_length);
}

static void
long_words_end_in_a_hash(void **state)
{
    (void)state;
    struct tokenizer *tokenizer = tokenizer_new();
    char word[4 * WORD_MOST];
    for (size_t length = 1; length <= 2 * WORD_MOST; length++) {
        for (size_t i = 0; i < length; i++) {
            word[i] = (char)('a' + (i * 7 + length) % 26);
        }
        check_long_word(tokenizer, word, length);
    }
    /* Letters of two and of three bytes, one of which stands across LONG_KEPT. */
    for (size_t before = 0; before < 3; before++) {
        for (size_t letters = 30; letters < 75; letters++) {
            memset(word, 'x', before);
            for (size_t i = 0; i < letters; i++) {
                memcpy(word + before + 2 * i, "\xd0\xb0", 2);
            }
            check_long_word(tokenizer, word, before + 2 * letters);
            for (size_t i = 0; i < letters; i++) {
                memcpy(word + before + 3 * i, "\xe1\x83\x90", 3);
            }
            check_long_word(tokenizer, word, before + 3 * letters);
        }
    }
    tokenizer_free(tokenizer);
}

/* ---- long runs ---- */

struct pairs {
    const char *text;
    size_t each, count, lasts; /* bytes of a character; tokens, and those of a last one */
};

static bool
take_pair(void *context, const struct token *token)
{
    struct pairs *pairs = context;
    const char *const at = pairs->text + pairs->count * pairs->each;
    const size_t characters = token->kind == TOKEN_LAST ? 1 : 2;
    assert_true(token->kind != TOKEN_WORD);
    assert_int_equal(token->word.length, characters * pairs->each);
    assert_memory_equal(token->word.at, at, token->word.length);
    assert_true(token->text.at <= at &&
                at + token->word.length <= token->text.at + token->text.length);
    pairs->lasts += token->kind == TOKEN_LAST;
    pairs->count++;
    return true;
}

/* However long a run is, all its pairs are there, each once, and one last character. */
static void
long_runs_keep_all_pairs(void **state)
{
    (void)state;
    static const char *const alphabets[] = {"\u4e00\u4e01\u4e03\u4e07\u4e08",
                                            "\U00020000\U00020001\U00020002\U00020003\U00020004"};
    static const size_t lengths[] = {1,
                                     2,
                                     RUN_MOST / 2 - 1,
                                     RUN_MOST / 2,
                                     RUN_MOST / 2 + 1,
                                     RUN_MOST - 2,
                                     RUN_MOST - 1,
                                     RUN_MOST,
                                     RUN_MOST + 1,
                                     2 * RUN_MOST - 3,
                                     2 * RUN_MOST - 2,
                                     2 * RUN_MOST,
                                     10000};
    struct tokenizer *tokenizer = tokenizer_new();
    for (size_t a = 0; a < 2; a++) {
        const size_t each = strlen(alphabets[a]) / 5;
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            char *text = memory_alloc(lengths[i] * each);
            for (size_t k = 0; k < lengths[i]; k++) {
                memcpy(text + k * each, alphabets[a] + k * k % 5 * each, each);
            }
            struct pairs pairs = {.text = text, .each = each};
            tokenizer_split(tokenizer, slice_of(text, lengths[i] * each), take_pair, &pairs);
            assert_int_equal(pairs.count, lengths[i]);
            assert_int_equal(pairs.lasts, 1);
            free(text);
        }
    }
    tokenizer_free(tokenizer);
}

static bool
take_part(void *context, const struct token *token)
{
    struct buf *out = context;
    assert_int_equal(token->kind, TOKEN_WORD);
    buf_append_slice(out, token->word);
    return true;
}

/* Words of a dictionary, put together, are the whole run, however long it is. */
static void
long_runs_keep_all_characters(void **state)
{
    (void)state;
    struct tokenizer *tokenizer = tokenizer_new();
    struct buf text, out;
    buf_init(&text, 1 << 20);
    buf_init(&out, 1 << 20);
    for (int i = 0; i < 3000; i++) {
        buf_append_slice(&text, SLICE("ไทย"));
    }
    tokenizer_split(tokenizer, buf_slice(&text), take_part, &out);
    assert_true(slice_equal(buf_slice(&text), buf_slice(&out)));
    buf_release(&text);
    buf_release(&out);
    tokenizer_free(tokenizer);
}

/* ---- stems ---- */

static void
languages_have_numbers(void **state)
{
    (void)state;
    static const char *const names[] = {"ar", "ca", "da", "de", "el", "en", "es", "eu", "fi", "fr",
                                        "ga", "hi", "hu", "hy", "id", "it", "lt", "ne", "nl", "no",
                                        "pt", "ro", "ru", "sr", "sv", "ta", "tr", "yi"};
    enum { NAMES = sizeof names / sizeof *names };
    for (int i = 0; i < NAMES; i++) {
        char tag[16];
        assert_string_equal(stem_language_name(i), names[i]);
        assert_int_equal(stem_language(slice_string(names[i])), i);
        snprintf(tag, sizeof tag, "%s-x", names[i]);
        assert_int_equal(stem_language(slice_string(tag)), i);
    }
    assert_null(stem_language_name(-1));
    assert_null(stem_language_name(NAMES));
    assert_int_equal(stem_language(SLICE("nb")), stem_language(SLICE("no")));
    assert_int_equal(stem_language(SLICE("nn-NO")), stem_language(SLICE("no")));
    assert_int_equal(stem_language(SLICE("NB")), stem_language(SLICE("no")));
    assert_int_equal(stem_language(SLICE("EN-Latn-us")), stem_language(SLICE("en")));
    static const char *const none[] = {"", "e", "eng", "-en", "xx", "nbb", "x-en"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(stem_language(slice_string(none[i])), -1);
    }
}

struct stemming {
    struct tokenizer *tokenizer;
    int language;
    char stem[2 * WORD_MOST];
    size_t length;
};

static bool
take_stem(void *context, const struct token *token)
{
    struct stemming *s = context;
    const struct slice stem = tokenizer_stem(s->tokenizer, s->language, token);
    assert_true(stem.length <= WORD_MOST);
    memcpy(s->stem, stem.at, stem.length);
    s->length = stem.length;
    return true;
}

static void
assert_stem(struct tokenizer *tokenizer, const char *language, struct slice word,
            struct slice expected)
{
    struct stemming s = {.tokenizer = tokenizer, .language = stem_language(slice_string(language))};
    tokenizer_split(tokenizer, word, take_stem, &s);
    if (!slice_equal(slice_of(s.stem, s.length), expected)) {
        fail_msg("%s: %.*s has the stem %.*s, not %.*s", language, SLICE_PRINT(word), (int)s.length,
                 s.stem, SLICE_PRINT(expected));
    }
}

/* The stemmer sees the accents; the stem has none. Pairs of characters, and what is left of words
 * that are too long, are their own stems. */
static void
words_have_stems(void **state)
{
    (void)state;
    static const char *const stems[][3] = {
        {"en", "Houses", "hous"},
        {"en", "running", "run"},
        {"de", "Häusern", "haus"},
        {"de", "Straßen", "strass"},
        {"fr", "Nationalités", "national"},
        {"fr", "nationalites", "nationalit"},
        {"es", "canciones", "cancion"},
        {"ru", "большими", "больш"},
        {"sv", "flickorna", "flick"},
        {"en", "東京", "京"},
        {"en", "ไทย", "ไทย"},
    };
    struct tokenizer *tokenizer = tokenizer_new();
    for (int twice = 0; twice < 2; twice++) {
        for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
            assert_stem(tokenizer, stems[i][0], slice_string(stems[i][1]),
                        slice_string(stems[i][2]));
        }
    }
    char word[2 * WORD_MOST];
    memset(word, 'x', sizeof word);
    word[0] = 'a';
    for (size_t length = LONG_KEPT - 2; length < LONG_KEPT + 2; length++) {
        word[length - 1] = 's';
        assert_stem(tokenizer, "en", slice_of(word, length),
                    slice_of(word, length < LONG_KEPT ? length - 1 : length));
        word[length - 1] = 'x';
    }
    /* Soft hyphens make a text longer than its word: a text that is too long is stemmed as the
     * word without accents. */
    for (size_t length = WORD_MOST - 2; length < WORD_MOST + 2; length++) {
        static const char end[] = "nationalit\xc3\xa9";
        const size_t rest = sizeof end - 1, letters = 2 - (length - rest) % 2;
        size_t at = 0;
        memset(word, 'x', letters);
        for (at = letters; at < length - rest; at += 2) {
            memcpy(word + at, "\xc2\xad", 2);
        }
        memcpy(word + at, end, rest);
        char expected[32];
        snprintf(expected, sizeof expected, "%s%s", letters > 1 ? "xx" : "x",
                 length < WORD_MOST ? "national" : "nationalit");
        assert_stem(tokenizer, "fr", slice_of(word, length), slice_string(expected));
    }
    tokenizer_free(tokenizer);
}

/* A word of whose letters the stemmer leaves none, or none that is a letter, is its own stem. */
static void
empty_stems_are_the_word(void **state)
{
    (void)state;
    struct tokenizer *tokenizer = tokenizer_new();
    const struct token token = {
        .word = SLICE("word"), .text = SLICE("\xcc\x81"), .kind = TOKEN_WORD, .ascii = false};
    assert_true(slice_is(tokenizer_stem(tokenizer, stem_language(SLICE("en")), &token), "word"));
    const struct token malformed = {
        .word = SLICE("houses"), .text = SLICE("\xff\xfe"), .kind = TOKEN_WORD, .ascii = false};
    assert_true(
        slice_is(tokenizer_stem(tokenizer, stem_language(SLICE("en")), &malformed), "hous"));
    const struct token pair = {
        .word = SLICE("houses"), .text = SLICE("houses"), .kind = TOKEN_PAIR, .ascii = true};
    assert_true(slice_is(tokenizer_stem(tokenizer, stem_language(SLICE("en")), &pair), "houses"));
    tokenizer_free(tokenizer);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_have_kinds_and_places),
        cmocka_unit_test(tokens_end_when_no_more_are_wanted),
        cmocka_unit_test(accents_fall_away_and_signs_stay),
        cmocka_unit_test(characters_fold_to_others),
        cmocka_unit_test(scripts_have_their_kinds),
        cmocka_unit_test(long_words_end_in_a_hash),
        cmocka_unit_test(long_runs_keep_all_pairs),
        cmocka_unit_test(long_runs_keep_all_characters),
        cmocka_unit_test(languages_have_numbers),
        cmocka_unit_test(words_have_stems),
        cmocka_unit_test(empty_stems_are_the_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
