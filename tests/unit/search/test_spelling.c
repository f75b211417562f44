/* Corrections and completions, with an index of a few literals that is searched as the real one is:
 * word, word*, "word" OR "word". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/ascii.h"
#include "search/spelling.h"

enum { WORDS_OF_A_SEARCH = 64 };

static const char *const *literals; /* as lines have them, in quotation marks; ended by NULL */
static size_t searches, fails_at;   /* which search fails; 0: none */

static bool
has_word(const char *literal, struct slice word, bool begins)
{
    const char *start = NULL;
    for (const char *at = literal; *at != '\0'; at++) {
        const bool inside = ascii_is_letter(*at) || (unsigned char)*at >= 0x80;
        start = inside && start == NULL ? at : start;
        if (!inside && start != NULL) {
            const struct slice text = slice_of(start, (size_t)(at - start));
            if (begins ? slice_starts_nocase(text, word) : slice_equal_nocase(text, word)) {
                return true;
            }
            start = NULL;
        }
        at += *at != '\\' ? 0 : at[1] == 'u' ? 5 : 1; /* an escape */
    }
    return false;
}

static bool
matches(const char *literal, struct slice words)
{
    const bool begins = words.at[words.length - 1] == '*';
    if (words.at[0] != '"') {
        words.length -= begins;
        return has_word(literal, words, begins);
    }
    size_t count = 0;
    bool found = false;
    while (words.length > 0) {
        (void)slice_take(&words, '"');
        found |= has_word(literal, slice_take(&words, '"'), false);
        assert_true(++count <= WORDS_OF_A_SEARCH);
        assert_true(words.length == 0 || slice_starts(words, SLICE(" OR \"")));
    }
    return found;
}

enum status
index_search(struct index_client *client, struct slice words, uint32_t limit, index_piece *piece,
             void *context, struct reason *why)
{
    (void)client;
    if (++searches == fails_at) {
        return status_fail(why, STATUS_UNAVAILABLE, "the index is away");
    }
    for (size_t i = 0; literals[i] != NULL && limit > 0; i++) {
        if (matches(literals[i], words)) {
            char line[256];
            const int length =
                snprintf(line, sizeof line, "1.5\t%s\t<http://a.org/orangs>\t<http://a.org/p>\t\n",
                         literals[i]);
            TRY(piece(context, slice_of(line, (size_t)length), why));
            limit--;
        }
    }
    return STATUS_OK;
}

/* ---- corrections ---- */

static void
expect(const char *words, const char *corrected)
{
    struct buf out;
    struct reason why = {""};
    bool changed = strcmp(words, corrected) == 0;
    buf_init(&out, 4096);
    searches = 0;
    assert_int_equal(spelling_correct(NULL, slice_string(words), &out, &changed, &why), STATUS_OK);
    if (!slice_is(buf_slice(&out), corrected) || changed == (strcmp(words, corrected) == 0)) {
        fail_msg("%s became %.*s in place of %s", words, SLICE_PRINT(buf_slice(&out)), corrected);
    }
    buf_release(&out);
}

static void
test_every_word_with_one_error_is_corrected(void **state)
{
    static const char *const known[] = {"\"An Orange.\"@en", NULL};
    static const char word[] = "orange";
    enum { LENGTH = sizeof word - 1 };
    (void)state;
    literals = known;
    for (size_t i = 0; i <= LENGTH; i++) {
        char text[4 * LENGTH];
        for (char c = 'a'; c <= 'z'; c++) {
            (void)snprintf(text, sizeof text, "%.*s%c%s", (int)i, word, c, word + i);
            expect(text, word);
            if (i < LENGTH && c != word[i]) {
                (void)snprintf(text, sizeof text, "%.*s%c%s", (int)i, word, c, word + i + 1);
                expect(text, word);
            }
        }
        if (i < LENGTH) {
            (void)snprintf(text, sizeof text, "%.*s%s", (int)i, word, word + i + 1);
            expect(text, word);
        }
        if (i + 1 < LENGTH) {
            (void)snprintf(text, sizeof text, "%.*s%c%c%s", (int)i, word, word[i + 1], word[i],
                           word + i + 2);
            expect(text, word);
        }
    }
}

static void
test_which_words_are_corrected(void **state)
{
    static const char *const known[] = {
        "\"peach beach Beach\"", "\"reach peach peach teach teach\"",
        "\"four fiver\"@fours",  "\"encyclopedia\\nchapter\"",
        "\"longs\"^^<fiverr>",   "\"abcdefghijklmnopqrst abcdefghijklmnopqrstu\"",
        "\"na\xC3\xAFve\"",      "\"a \\u000Bvexed\"",
        "\"longest longish\"",   NULL};
    static const char *const cases[][2] = {
        {"foux", "foux"}, /* four letters */
        {"fourx", "four"},
        {"fivar", "fiver"},
        {"xeach", "peach"},           /* the most frequent, and of the same frequency the first */
        {"PEACHX \t OR", "peach OR"}, /* one blank between words */
        {"teach xeach teach", "teach peach teach"},
        {"encyclopadai", "encyclopedia"}, /* two errors of twelve letters */
        {"encyklopadia", "encyclopedia"},
        {"enccylopedai", "enccylopedai"}, /* none may be in the first four */
        {"enciclopedai", "enciclopedai"},
        {"incyclopedia", "encyclopedia"}, /* one may */
        {"incyclopedai", "incyclopedai"},
        {"encyclopdai", "encyclopedia"},
        {"encylxpedja", "encylxpedja"}, /* three errors */
        {"chapt", "chapt"},
        {"chaptxyz", "chaptxyz"},
        {"chapted", "chapter"}, /* the n of an escape is no letter of it */
        {"nchapter", "chapter"},
        {"vexid", "vexed"},
        {"abcdefghijklmnopqrsx", "abcdefghijklmnopqrst"}, /* twenty letters */
        {"abcdefghijklmnopqrstx", "abcdefghijklmnopqrstx"},
        {"peachx1 -peachx \xC3\xA4peach", "peachx1 -peachx \xC3\xA4peach"}, /* not only letters */
        {"\"peachx\" beachx", "\"peachx\" beachx"},
        {"longext", "longest"},
        {"", ""},
    };
    (void)state;
    literals = known;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect(cases[i][0], cases[i][1]);
    }
    /* So many words at most; those without an error, and those that are too short, cost little. */
    expect("beacx beacx beacx beacx beacx beacx beacx beacx beacx",
           "beach beach beach beach beach beach beach beach beacx");
    expect("foux four foux four foux four foux four foux beacx",
           "foux four foux four foux four foux four foux beach");
    assert_true(searches > 1);
    expect("peach teach", "peach teach");
    assert_int_equal(searches, 2);
}

static void
test_errors_that_are_borne(void **state)
{
    (void)state;
    for (size_t letters = 0; letters < 30; letters++) {
        assert_int_equal(spelling_errors_borne(letters), letters < 5 ? 0 : letters < 9 ? 1 : 2);
    }
    /* Words of twenty letters may have two more in what was meant. */
    assert_int_equal(
        spelling_distance(SLICE("abcdefghijklmnopqrst"), SLICE("abcdefghijklmnopqrstuv"), 2), 2);
    assert_int_equal(
        spelling_distance(SLICE("abcdefghijklmnopqrst"), SLICE("abcdefghijklmnopqrstuvw"), 4), 5);
    assert_int_equal(spelling_distance(SLICE("abcd"), SLICE("wxyz"), 1), 2);
}

/* ---- completions ---- */

static char completions[1024];

static void
take(void *context, struct slice word)
{
    (void)context;
    (void)snprintf(completions + strlen(completions), sizeof completions - strlen(completions),
                   "%.*s ", SLICE_PRINT(word));
}

static void
expect_completions(const char *prefix, const char *words)
{
    struct reason why = {""};
    completions[0] = '\0';
    searches = 0;
    assert_int_equal(spelling_complete(NULL, slice_string(prefix), take, NULL, &why), STATUS_OK);
    assert_string_equal(completions, words);
}

static void
test_completions(void **state)
{
    static const char *const known[] = {"\"Red reduces\"@re",
                                        "\"redder red \\red\"^^<http://a.org/reddest>",
                                        "\"reduces\\nred\"@red",
                                        "\"abcdefghijklmnopqrstuv abcdefghijklmnopqrstuvw\"",
                                        "\"ze zf zg zh zi zj zk zl za zb zc zd\"",
                                        "\"zj zk zl\"",
                                        "\"\xC3\xA4hnlich\"",
                                        NULL};
    (void)state;
    literals = known;
    expect_completions("re", "red reduces redder ");
    expect_completions("RED", "red reduces redder ");
    expect_completions("redu", "reduces ");
    expect_completions("blue", "");
    assert_int_equal(searches, 1);
    expect_completions("z", "zj zk zl za zb zc zd ze zf zg "); /* SPELLING_COMPLETIONS of them */
    expect_completions("\xC3\xA4", "\xC3\xA4hnlich ");
    expect_completions("abcdefghijklmnopqrst", "abcdefghijklmnopqrstuv ");
    expect_completions("", "");
    expect_completions("re1", "");
    expect_completions("abcdefghijklmnopqrstu", "");
    assert_int_equal(searches, 0); /* nothing is asked that cannot be answered */
}

/* Only so many different words are counted. */
static void
test_more_words_than_are_counted(void **state)
{
    enum { COUNTED = 512, WORDS = COUNTED + 1 };
    static char texts[WORDS + 6][32];
    static const char *known[WORDS + 7];
    (void)state;
    for (unsigned i = 0; i < WORDS + 6; i++) {
        const unsigned word = i < WORDS ? i : i % 2 == 0 ? COUNTED : COUNTED - 1;
        (void)snprintf(texts[i], sizeof texts[i], "\"w%c%c%c\"", 'a' + word / 26 / 26,
                       'a' + word / 26 % 26, 'a' + word % 26);
        known[i] = texts[i];
    }
    literals = known;
    struct reason why = {""};
    completions[0] = '\0';
    assert_int_equal(spelling_complete(NULL, SLICE("w"), take, NULL, &why), STATUS_OK);
    assert_int_equal(strncmp(completions, "watr waaa waab ", 15), 0); /* watr is the 512th */
    assert_null(strstr(completions, "wats"));
}

/* An index that does not answer is told, whichever search it is. */
static void
test_an_index_that_fails(void **state)
{
    static const char *const known[] = {"\"encyclopedia\"", NULL};
    (void)state;
    literals = known;
    expect("encyclopdai", "encyclopedia");
    const size_t all = searches;
    assert_true(all > 3);
    for (fails_at = 1; fails_at <= all; fails_at++) {
        struct buf out;
        struct reason why = {""};
        bool changed;
        buf_init(&out, 4096);
        searches = 0;
        assert_int_equal(spelling_correct(NULL, SLICE("encyclopdai"), &out, &changed, &why),
                         STATUS_UNAVAILABLE);
        assert_int_equal(searches, fails_at); /* and is not asked on */
        buf_release(&out);
    }
    fails_at = 1;
    searches = 0;
    struct reason why = {""};
    completions[0] = '\0';
    assert_int_equal(spelling_complete(NULL, SLICE("ency"), take, NULL, &why), STATUS_UNAVAILABLE);
    assert_string_equal(completions, "");
    fails_at = 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_word_with_one_error_is_corrected),
        cmocka_unit_test(test_which_words_are_corrected),
        cmocka_unit_test(test_errors_that_are_borne),
        cmocka_unit_test(test_completions),
        cmocka_unit_test(test_more_words_than_are_counted),
        cmocka_unit_test(test_an_index_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
