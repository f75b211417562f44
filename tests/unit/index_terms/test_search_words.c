/* What a search wants (index/words/search_words.c): which keys of the keyword index its words stand
 * for, what each weighs, which phrases have to stand in the text, and what the answer rests on. */
#include <math.h>

#include "index/words/literal_words.h"
#include "index/words/search_words.h"
#include "tests/unit/index_terms/words_world.h"

enum { ROOM = 4096, EXPANSIONS = 4096 };

static struct words_world world;
static uint64_t count; /* literals */

/* Returns what a key weighs that so many literals have. */
static double
weight(uint64_t literals)
{
    const double with = (double)(literals < count ? literals : count);
    return log(1 + ((double)count - with + 0.5) / (with + 0.5));
}

/* word:literals@n: the weight is that of n literals; behind a stem's s, 0: it is none. */
static void
put_key(struct buf *out, const struct words_key *key)
{
    char word[64];
    assert_true(key->word.length < sizeof word);
    for (size_t i = 0; i < key->word.length; i++) {
        const char byte = key->word.at[i];
        word[i] = (char)(byte == KEY_STEM ? '~' : byte == KEY_TAG ? '^' : byte);
    }
    buf_printf(out, " %.*s:%u@", (int)key->word.length, word, (unsigned)key->literals);
    if (key->weight == 0) {
        buf_append_string(out, "0");
        return;
    }
    for (uint64_t n = 0; n <= count; n++) {
        const double ratio = key->weight / weight(n);
        if (fabs(ratio - 1) < 1e-12 || fabs(ratio - 0.9) < 1e-12) {
            buf_printf(out, "%u%s", (unsigned)n, ratio < 0.95 ? "s" : "");
        }
    }
}

static void
put_phrase(struct buf *out, const struct query_phrase *phrase)
{
    for (size_t i = 0; i < phrase->count; i++) {
        buf_printf(out, "%s%.*s", i > 0 ? "+" : "", SLICE_PRINT(phrase->words[i].word));
    }
}

static void
put_groups(struct buf *out, const char *mark, const struct word_groups *groups)
{
    for (size_t g = 0; g < groups->count; g++) {
        const struct word_group *group = &groups->at[g];
        uint64_t literals = 0;
        buf_printf(out, "%s%s", out->length > 0 ? " " : "", mark);
        for (size_t i = 0; i < group->count; i++) {
            put_key(out, group->keys[i]);
            literals += group->keys[i]->literals;
            if (group->keys[i]->condition != NULL) {
                buf_append_string(out, "?");
                put_phrase(out, group->keys[i]->condition);
            }
        }
        assert_int_equal(group->literals, literals);
    }
}

/* Keys: * stands for any. */
static void
check_needs(const struct word_wants *wants, const char *text)
{
    const char *const keys = text;
    struct buf expected;
    char key[64];
    buf_init(&expected, ROOM);
    for (int length; sscanf(text, " %63s%n", key, &length) == 1; text += length) {
        if (strcmp(key, "*") == 0) {
            change_needs_add(&expected, LITERALS_ANY);
            continue;
        }
        key[0] = (char)(key[0] == '~' ? KEY_STEM : key[0] == '^' ? KEY_TAG : key[0]);
        change_needs_add(&expected, literals_mark_of(slice_string(key)));
    }
    if (wants->needs.length != expected.length ||
        memcmp(wants->needs.data, expected.data, expected.length) != 0) {
        fail_msg("the answer does not rest on %s", keys);
    }
    buf_release(&expected);
}

static void
searches_want_keys(void **state)
{
    static const struct {
        const char *words, *wants, *needs;
    } cases[] = {
        {"red", "& red:5@5 ~enred:3@5s", "red ~dered ~enred"},
        {"\"red\"", "& red:5@5", "red"},
        {"red blue", "& red:5@5 ~enred:3@5s & blue:2@2 ~enblue:2@2s",
         "red ~dered ~enred blue ~deblue ~enblue"},
        {"absent", "&", "absent ~deabsent ~enabsent"},
        {"house", "& house:2@2 ~enhous:2@2s", "house ~dehous ~enhous"},
        {"houses", "& houses:1@1 ~enhous:2@2s", "houses ~dehous ~enhous"},
        {"red OR blue", "& red:5@5 ~enred:3@5s blue:2@2 ~enblue:2@2s",
         "red ~dered ~enred blue ~deblue ~enblue"},
        {"red OR housing", "& red:5@5 ~enred:3@5s ~enhous:2@2s",
         "red ~dered ~enred housing ~dehousing ~enhous"},
        {"re*", "& re:1@7 red:5@7 redder:1@7", "*"},
        {"r*", "& ra:1@9 rb:1@9 rc:1@9 re:1@9 red:5@9 redder:1@9", "*"},
        {"zz*", "&", "*"},
        {"re* OR zz*", "& re:1@7 red:5@7 redder:1@7", "* *"},
        {"\"red blue\"", "& red:5@5 & blue:2@2 if red+blue", "red blue"},
        {"\"red re\"*", "& red:5@5 & re:1@7 red:5@7 redder:1@7 if red+re", "red *"},
        {"\"red blue\" OR \"blue green\"", "& blue:2@2?red+blue blue:2@2?blue+green",
         "red blue blue green"},
        {"green OR \"blue red green\"", "& green:3@3 ~engreen:1@3s blue:2@2?blue+red+green",
         "green ~degreen ~engreen blue red green"},
        {"x OR \"re gr\"*", "& re:1@1?re+gr", "x ~dex ~enx re *"},
        {"red -blue", "& red:5@5 ~enred:3@5s - blue:2@2 ~enblue:2@2s",
         "red ~dered ~enred blue ~deblue ~enblue"},
        {"red -\"green blue\"", "& red:5@5 ~enred:3@5s - blue:2@2?green+blue",
         "red ~dered ~enred green blue"},
        {"red -gr*", "& red:5@5 ~enred:3@5s - gr:1@4 green:3@4", "red ~dered ~enred *"},
        {"red lang:en", "& red:5@5 ~enred:3@5s & ^en:4@0 ^en-gb:1@0", "red ~dered ~enred ^en *"},
        {"red lang:EN -lang:de", "& red:5@5 ~enred:3@5s & ^en:4@0 ^en-gb:1@0 - ^de:1@0",
         "red ~dered ~enred ^en * ^de *"},
        {"red lang:none", "& red:5@5 ~enred:3@5s untagged", "red ~dered ~enred"},
        {"red -lang:NONE", "& red:5@5 ~enred:3@5s tagged", "red ~dered ~enred"},
        {"red lang:none -lang:none", "& red:5@5 ~enred:3@5s tagged untagged", "red ~dered ~enred"},
        {"\"absent red\" OR green", "& green:3@3 ~engreen:1@3s",
         "absent red green ~degreen ~engreen"},
        {"\"red absent\" OR green", "& green:3@3 ~engreen:1@3s",
         "red absent green ~degreen ~engreen"},
        {"\"redder houses\" OR x", "& redder:1@1?redder+houses", "redder houses x ~dex ~enx"},
        {"\"houses redder\" OR x", "& houses:1@1?houses+redder", "houses redder x ~dex ~enx"},
        {"haus", "& haus:1@1 ~dehaus:1@1s", "haus ~dehaus ~enhaus"},
        {"häuser", "& hauser:1@1 ~dehaus:1@1s", "hauser ~dehaus ~enhauser"},
        {"blue -lang:de", "& blue:2@2 ~enblue:2@2s - ^de:1@0", "blue ~deblue ~enblue ^de *"},
        {"red -house", "& red:5@5 ~enred:3@5s - house:2@2 ~enhous:2@2s",
         "red ~dered ~enred house ~dehous ~enhous"},
        {"red green blue",
         "& red:5@5 ~enred:3@5s & green:3@3 ~engreen:1@3s & blue:2@2 ~enblue:2@2s",
         "red ~dered ~enred green ~degreen ~engreen blue ~deblue ~enblue"},
    };
    static const char *const texts[][2] = {{"red green ra rb rc", NULL},
                                           {"red blue", "en"},
                                           {"red redder", "en"},
                                           {"house red green", NULL},
                                           {"houses", "en"},
                                           {"house", "en"},
                                           {"Haus Häuser", "de"},
                                           {"blue red green", "en-GB"},
                                           {"re gr", "english"}};
    (void)state;
    words_build_from = 0;
    words_new(&world);
    count = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        words_add(&world, texts[i][0], texts[i][1]);
        count++;
    }
    const size_t all = sizeof cases / sizeof *cases;
    for (size_t k = 0; k < 2 * all; k++) {
        const size_t i = k % all;
        struct reason why = {""};
        struct word_wants wants = {.tagged = false};
        struct buf out;
        buf_init(&out, ROOM);
        word_wants_open(&wants, world.literals);
        must(word_wants_read(&wants, slice_string(cases[i].words), &why), &why);
        put_groups(&out, "&", &wants.wanted);
        put_groups(&out, "-", &wants.excluded);
        for (size_t c = 0; c < wants.condition_count; c++) {
            buf_append_string(&out, " if ");
            put_phrase(&out, wants.conditions[c]);
        }
        buf_append_string(&out, wants.tagged ? " tagged" : "");
        buf_append_string(&out, wants.untagged ? " untagged" : "");
        buf_append_char(&out, '\0');
        if (strcmp(out.data, cases[i].wants) != 0) {
            fail_msg("%s: %s, not %s", cases[i].words, out.data, cases[i].wants);
        }
        check_needs(&wants, cases[i].needs);
        word_wants_close(&wants);
        buf_release(&out);
        if (k + 1 == all) { /* then the same from the tree */
            words_write_all(&world);
        }
    }
    words_end(&world);
}

/* Of the first and the last language, too, stems are looked for. */
static void
words_are_stemmed_in_all_languages_there_are(void **state)
{
    (void)state;
    struct reason why = {""};
    int last = 0;
    words_new(&world);
    while (stem_language_name(last + 1) != NULL) {
        last++;
    }
    for (int i = 0; i <= 2; i++) {
        static const char *const needs[] = {"x", "x ~arx", "x ~arx ~yix"};
        struct word_wants wants = {.tagged = false};
        word_wants_open(&wants, world.literals);
        must(word_wants_read(&wants, SLICE("x"), &why), &why);
        check_needs(&wants, needs[i]);
        word_wants_close(&wants);
        words_add(&world, "y", stem_language_name(i == 0 ? 0 : last));
    }
    words_end(&world);
}

/* Of words that begin alike the most are taken that may be. */
static void
a_beginning_stands_for_so_many_words(void **state)
{
    (void)state;
    struct reason why = {""};
    struct word_wants wants = {.tagged = false};
    struct buf text;
    words_new(&world);
    buf_init(&text, 1 << 20);
    for (unsigned i = 0; i < EXPANSIONS + 50; i++) {
        (void)buf_printf(&text, "x%u ", i);
    }
    (void)buf_append_char(&text, '\0');
    words_add(&world, text.data, NULL);
    word_wants_open(&wants, world.literals);
    must(word_wants_read(&wants, SLICE("x*"), &why), &why);
    assert_int_equal(wants.wanted.count, 1);
    assert_int_equal(wants.wanted.at[0].count, EXPANSIONS);
    word_wants_close(&wants);
    buf_release(&text);
    words_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_want_keys),
        cmocka_unit_test(words_are_stemmed_in_all_languages_there_are),
        cmocka_unit_test(a_beginning_stands_for_so_many_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
