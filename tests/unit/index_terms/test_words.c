/* The keyword index: queries and ranking. words_world.h has the other parts: words of texts in many
 * scripts, searches against a model, crashes while words are written. */
#include <unistd.h>

#include "base/memory.h"
#include "index/words/word_query.h"
#include "tests/unit/index_terms/words_world.h"

enum { SETTLE_S = 600 };

/* ---- queries ---- */

static void
queries_mean_what_is_documented(void **state)
{
    (void)state;
    struct words_world w;
    words_new(&w);
    words_add(&w, "The Roman Republic", NULL);                        /* 1 */
    words_add(&w, "republic of the Roman empire and its army", NULL); /* 2 */
    words_add(&w, "Roman; republic!", "en");                          /* 3 */
    words_add(&w, "don't panic", NULL);                               /* 4 */
    words_add(&w, "Don Quijote, T. S. Eliot, panic", NULL);           /* 5 */
    words_add(&w, "", NULL);                                          /* 6 */
    words_add(&w, "römische Republik", "de-AT");                      /* 7 */
    static const char *const queries[][2] = {
        {"roman republic", "3 1 2"},
        {"REPUBLIC", "3 1 2"},
        {"\"roman republic\"", "3 1"},
        {"\"republic of the\"", "2"},
        {"\"roman repub\"*", "3 1"},
        {"repub*", "3 7 1 2"},
        {"rom*", "3 7 1 2"},
        {"römisch*", "7"},
        {"ROMISCH*", "7"},
        {"roman -empire", "3 1"},
        {"roman -\"roman republic\"", "2"},
        {"empire OR romische", "7 2"},
        {"empire OR \"the roman republic\"", "2 1"},
        {"roman OR römische republic OR republik", "7 3 1 2"},
        {"roman lang:en", "3"},
        {"rom* lang:de", "7"},
        {"rom* lang:de-at", "7"},
        {"rom* lang:d", ""},
        {"rom* -lang:en", "7 1 2"},
        {"rom* lang:none", "1 2"},
        {"rom* -lang:None", "3 7"},
        {"rom* lang:none lang:en", ""},
        {"don't", "4"},
        {"don t panic", "4 5"},
        {"nothing", ""},
        {"roman nothing", ""},
        {"-nothing roman", "3 1 2"},
        {"( roman ) & republic", "3 1 2"},
        {"OR", ""},
        {"roman OR", ""},
    };
    words_assert_found_twice(&w, queries, sizeof(queries) / sizeof(queries[0]));
    static const char *const empty[] = {"", "  ", "()", "-roman", "lang:en", "\"\""};
    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
        struct literals_search *search;
        assert_int_equal(
            literals_search_open(&search, w.literals, w.nodes, slice_string(empty[i]), 10, NULL),
            STATUS_BAD_INPUT);
    }
    words_end(&w);
}

static void
stems_are_those_of_the_language(void **state)
{
    (void)state;
    struct words_world w;
    words_new(&w);
    words_add(&w, "houses by the sea", "en");  /* 1 */
    words_add(&w, "house by the sea", NULL);   /* 2 */
    words_add(&w, "Häuser am Meer", "de");     /* 3 */
    words_add(&w, "des études longues", "fr"); /* 4 */
    words_add(&w, "большими домами", "ru");    /* 5 */
    words_add(&w, "houses by the sea", NULL);  /* 6 */
    words_add(&w, "casas", "ES-mx");           /* 7 */
    static const char *const queries[][2] = {
        {"house", "2 1"},        {"houses", "1 6"}, {"\"house\"", "2"},     {"housing", "1"},
        {"haus", "3"},           {"hauser", "3"},   {"etude", "4"},         {"étude longue", "4"},
        {"большой", "5"},        {"casa", "7"},     {"house -houses", "2"}, {"house lang:en", "1"},
        {"house -lang:en", "2"},
    };
    words_assert_found_twice(&w, queries, sizeof(queries) / sizeof(queries[0]));
    words_end(&w);
}

static void
scripts_without_blanks_are_searched(void **state)
{
    (void)state;
    struct words_world w;
    words_new(&w);
    words_add(&w, "東京都に行く", "ja");     /* 1 */
    words_add(&w, "京都", NULL);             /* 2 */
    words_add(&w, "北京大学", "zh");         /* 3 */
    words_add(&w, "ภาษาไทยง่ายนิดเดียว", "th"); /* 4 */
    words_add(&w, "서울에서 만나요", "ko");  /* 5 */
    static const char *const queries[][2] = {
        {"京都", "2 1"},    {"東京都", "1"},  {"都", "2 1"},      {"京", "2 3 1"},  {"行く", "1"},
        {"東京に", ""},     {"く", "1"},      {"ไทย", "4"},       {"ภาษาไทย", "4"}, {"서울", "5"},
        {"에서 만나", "5"}, {"서울만나", ""}, {"北京 大学", "3"},
    };
    words_assert_found_twice(&w, queries, sizeof(queries) / sizeof(queries[0]));
    words_end(&w);
}

static void
large_literals_are_found_by_their_first_mebibyte(void **state)
{
    (void)state;
    struct words_world w;
    struct buf text;
    words_new(&w);
    buf_init(&text, 8 << 20);
    for (int i = 0; text.length < 3 << 19; i++) {
        (void)buf_printf(&text, "word%d ", i);
    }
    (void)buf_append_char(&text, '\0');
    words_add(&w, text.data, "en");
    words_add(&w, "word77", NULL);
    static const char *const queries[][2] = {
        {"word77", "2 1"}, {"\"word77 word78\"", "1"}, {"word99999", "1"}, {"word140000", ""}};
    words_assert_found_twice(&w, queries, sizeof(queries) / sizeof(queries[0]));
    buf_release(&text);
    words_end(&w);
}

static void
better_literals_come_first(void **state)
{
    (void)state;
    struct words_world w;
    words_new(&w);
    for (int i = 0; i < 50; i++) {
        words_add(&w, "common filler words in a text of some length that all have", NULL);
    }
    words_add(&w, "common", NULL);                        /* 51 */
    words_add(&w, "common common rare", NULL);            /* 52 */
    words_add(&w, "common other rare", NULL);             /* 53 */
    words_add(&w, "rare other other", NULL);              /* 54 */
    words_add(&w, "runs rare in a longer text", "en");    /* 55 */
    words_add(&w, "running fast in a longer text", "en"); /* 56 */
    for (int written = 0; written < 2; written++) {
        static struct words_found found;
        words_search(&w, "common", 3, &found);
        assert_int_equal(found.numbers[0], 52);
        assert_int_equal(found.numbers[1], 51);
        assert_int_equal(found.numbers[2], 53);
        words_assert_found(&w, "common rare", "52 53");
        words_assert_found(&w, "running", "56 55"); /* the very word before its stem */
        words_write_all(&w);
    }
    words_end(&w);
}

/* A search may be as long, and of as many words, as is allowed, and not by one more. */
static void
searches_are_bounded(void **state)
{
    (void)state;
    enum { LONGEST = 64 << 10 };
    struct words_world w;
    struct reason why = {""};
    struct literals_search *search;
    char *text = memory_alloc(LONGEST + 1);
    words_new(&w);
    words_add(&w, "a b", NULL);
    for (unsigned phrase = 0; phrase < 2; phrase++) {
        for (size_t more = 0; more < 2; more++) {
            struct slice words = slice_of(text, LONGEST + more);
            memset(text, ' ', LONGEST + 1);
            text[0] = 'a';
            assert_int_equal(literals_search_open(&search, w.literals, w.nodes, words, 10, &why),
                             more ? STATUS_LIMIT : STATUS_OK);
            literals_search_close(search);
            for (size_t i = 0; i < QUERY_WORDS_MOST + more; i++) {
                text[2 * i + 1] = 'b';
                text[2 * i + 2] = ' ';
            }
            text[0] = phrase ? '"' : ' ';
            words.length = 1 + 2 * (QUERY_WORDS_MOST + more);
            assert_int_equal(literals_search_open(&search, w.literals, w.nodes, words, 10, &why),
                             more ? STATUS_LIMIT : STATUS_OK);
            literals_search_close(search);
        }
    }
    free(text);
    words_end(&w);
}

/* ---- little memory ---- */

/* Less than a memory takes that has no word yet: the keeper settles all the same. */
static void
an_empty_memory_is_not_full(void **state)
{
    (void)state;
    struct partition_options options;
    struct partition *partition;
    struct reason why = {""};
    char folder[SCRATCH_SIZE], command[SCRATCH_SIZE + 16];
    struct buf quads;
    const uint64_t seed = fixture_seed; /* of the tests that follow */
    assert_true(scratch_folder(folder, "test_words"));
    fixture_options(&options, folder);
    options.cache_bytes = WORDS_CACHE;
    options.words_memory = 32 << 10;
    buf_init(&quads, 1 << 20);
    must(partition_open(&partition, &options, &why), &why);
    struct index_batch *batch = index_batch_new(partition);
    (void)alarm(SETTLE_S);
    for (unsigned document = 0; document < 20; document++) {
        buf_reset(&quads);
        index_batch_reset(batch);
        fixture_document(document, 20, &quads);
        (void)fixture_add(batch, document, document + 1, &quads);
        must(index_batch_commit(batch, &why), &why);
        must(partition_settle(partition, &why), &why);
    }
    (void)alarm(0);
    index_batch_free(batch);
    fixture_verify(partition, folder);
    partition_close(partition);
    buf_release(&quads);
    fixture_seed = seed;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stems_leave_a_run_alone),
        cmocka_unit_test(texts_of_all_scripts_have_words),
        cmocka_unit_test(long_words_stay_apart),
        cmocka_unit_test(queries_mean_what_is_documented),
        cmocka_unit_test(stems_are_those_of_the_language),
        cmocka_unit_test(scripts_without_blanks_are_searched),
        cmocka_unit_test(large_literals_are_found_by_their_first_mebibyte),
        cmocka_unit_test(searches_agree_with_the_model),
        cmocka_unit_test(better_literals_come_first),
        cmocka_unit_test(searches_are_bounded),
        cmocka_unit_test(an_empty_memory_is_not_full),
        cmocka_unit_test(a_new_tree_waits_for_copies),
        cmocka_unit_test(crashes_between_steps_lose_and_double_nothing),
    };
    const struct CMUnitTest damage[] = {cmocka_unit_test(every_change_of_a_block_is_found)};
    const int failed =
        cmocka_run_group_tests(tests, NULL, NULL) + cmocka_run_group_tests(damage, NULL, NULL);
    words_build_from = 1;
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
