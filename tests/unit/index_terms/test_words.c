/* The keyword index: words of texts in many scripts, searches against a model that looks at every
 * literal, stems, ranking, and crashes while words are written. */
#include "tests/unit/index/index_fixture.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "index/words/literals_index.h"
#include "index/words/posting_lists.h"
#include "index/words/word_query.h"
#include "tests/unit/brief.h"

enum { MEMORY = 64 << 20, FOUND_MOST = 20000, CACHE = 4 << 20, SETTLE_S = 600 };

/* ---- tokens ---- */

static bool
note_token(void *context, const struct token *token)
{
    struct buf *out = context;
    (void)buf_printf(out, "%s%.*s", out->length > 0 ? " " : "", SLICE_PRINT(token->word));
    return true;
}

static void
assert_tokens(const char *text, const char *expected)
{
    struct tokenizer *tokenizer = tokenizer_new();
    struct buf out;
    buf_init(&out, 1 << 20);
    tokenizer_split(tokenizer, slice_string(text), note_token, &out);
    (void)buf_append_char(&out, '\0');
    assert_string_equal(out.data, expected);
    buf_release(&out);
    tokenizer_free(tokenizer);
}

static void
texts_of_all_scripts_have_words(void **state)
{
    (void)state;
    assert_tokens("", "");
    assert_tokens("The QUICK, brown-fox; 42 a_b", "the quick brown fox 42 a b");
    assert_tokens("Crème Brûlée don't", "creme brulee don t");
    assert_tokens("cre\u0300me e\u0301", "creme e");
    assert_tokens("Straße ŁÓDŹ ﬁne Ａｂ１ x²", "strasse łodz fine ab1 x2");
    assert_tokens("Ελλάδα ΣΊΣΥΦΟΣ", "ελλαδα σισυφοσ");
    assert_tokens("ёлка Йод", "елка йод");
    assert_tokens("co\u00adoperate \u2019til", "cooperate til");
    assert_tokens("שָׁלוֹם مُحَمَّد", "שלום محمد");
    assert_tokens("हिन्दी में", "हिन्दी में");
    assert_tokens("東京都 iPhone手机", "東京 京都 都 iphone 手机 机");
    assert_tokens("ｶﾞｷﾞ か\u3099", "ガギ ギ が");
    assert_tokens("서울에서", "서울 울에 에서 서");
    assert_tokens("\u1112\u1161\u11ab국", "한국 국");
    assert_tokens("ภาษาไทย", "ภาษา ไทย");
    assert_tokens("a\xff\xfe"
                  "b \xc3",
                  "a b");
    assert_tokens("𝐇ello 🎉 \U00020000\U00020001", "hello \U00020000\U00020001 \U00020001");
}

static bool
note_lengths(void *context, const struct token *token)
{
    size_t *longest = context;
    *longest = token->word.length > *longest ? token->word.length : *longest;
    return true;
}

static void
long_words_stay_apart(void **state)
{
    (void)state;
    enum { LENGTH = 5000 };
    struct tokenizer *tokenizer = tokenizer_new();
    struct buf one, two;
    char text[LENGTH];
    buf_init(&one, 1 << 16);
    buf_init(&two, 1 << 16);
    memset(text, 'x', LENGTH);
    tokenizer_split(tokenizer, slice_of(text, LENGTH), note_token, &one);
    text[LENGTH - 1] = 'y';
    tokenizer_split(tokenizer, slice_of(text, LENGTH), note_token, &two);
    assert_int_equal(one.length, two.length);
    assert_true(one.length <= WORD_MOST);
    assert_false(slice_equal(buf_slice(&one), buf_slice(&two)));
    /* A run of pairs that is longer than what is looked at together: none is lost. */
    struct buf han;
    buf_init(&han, 1 << 20);
    for (int i = 0; i < 10000; i++) {
        (void)buf_append_string(&han, "\u4e00\u4e01");
    }
    buf_reset(&one);
    tokenizer_split(tokenizer, buf_slice(&han), note_token, &one);
    assert_true(one.overflowed || one.length > 0);
    size_t longest = 0;
    tokenizer_split(tokenizer, buf_slice(&han), note_lengths, &longest);
    assert_int_equal(longest, 6);
    buf_release(&han);
    buf_release(&one);
    buf_release(&two);
    tokenizer_free(tokenizer);
}

/* ---- an index of literals alone ---- */

static size_t build_from; /* 1: trees are built anew */

struct world {
    char folder[64];
    struct environment *environment;
    struct nodes *nodes;
    struct literals *literals;
};

static void
open_world(struct world *w, uint64_t cache)
{
    struct reason why = {""};
    const struct environment_options options = {
        .folder = w->folder, .cache_bytes = cache, .checkpoint_bytes = 1 << 20, .no_sync = true};
    must(environment_open(&w->environment, &options, &why), &why);
    must(nodes_open(&w->nodes, w->environment, 1 << 20, &why), &why);
    must(literals_open(&w->literals, w->environment, MEMORY, build_from, &why), &why);
}

static void
close_world(struct world *w)
{
    literals_close(w->literals);
    nodes_close(w->nodes);
    environment_close(w->environment);
}

static void
new_world(struct world *w)
{
    assert_true(scratch_folder(w->folder, "test_words"));
    open_world(w, CACHE);
}

static void
end_world(struct world *w)
{
    close_world(w);
    fixture_run("rm -r %s%s", w->folder, "");
}

static const struct term *
term_at(void *context, size_t i)
{
    return (const struct term *)context + i;
}

static struct term
literal_of(struct slice text, const char *language)
{
    struct term term = term_literal(text);
    term.language = language ? slice_string(language) : term.language;
    return term;
}

/* Does what a batch does, as far as it matters here. */
static void
commit_terms(struct world *w, const struct term *terms, size_t count)
{
    struct reason why = {""};
    struct transaction *transaction;
    must(transaction_begin(&transaction, w->environment, 0, &why), &why);
    must(nodes_append(w->nodes, transaction, term_at, (void *)terms, count, &why), &why);
    must(transaction_commit(transaction, &why), &why);
}

static void
follow(struct world *w)
{
    struct reason why = {""};
    const uint64_t limit = nodes_next(w->nodes);
    while (literals_next(w->literals) < limit) {
        must(literals_catch_up(w->literals, w->nodes, limit, &why), &why);
        if (literals_to_write(w->literals, false)) {
            must(literals_write_step(w->literals, false, &why), &why);
        }
    }
}

static void
write_all(struct world *w)
{
    struct reason why = {""};
    while (literals_to_write(w->literals, true)) {
        must(literals_write_step(w->literals, false, &why), &why);
    }
    assert_int_equal(literals_written(w->literals), literals_next(w->literals));
}

static uint64_t
check(struct world *w)
{
    struct reason why = {""};
    uint64_t count;
    const atomic_bool cancel = false;
    must(literals_check(w->literals, w->nodes, &cancel, &count, &why), &why);
    return count;
}

static void
add(struct world *w, const char *text, const char *language)
{
    const struct term term = literal_of(slice_string(text), language);
    commit_terms(w, &term, 1);
    follow(w);
}

struct found {
    uint64_t numbers[FOUND_MOST];
    double scores[FOUND_MOST];
    size_t count;
};

static void
search(struct world *w, const char *words, uint32_t most, struct found *found)
{
    struct reason why = {""};
    struct literals_search *search;
    oid literal;
    found->count = 0;
    must(literals_search_open(&search, w->literals, w->nodes, slice_string(words), most, &why),
         &why);
    while (found->count < most && found->count < FOUND_MOST &&
           literals_search_next(search, &literal, &found->scores[found->count], &why) ==
               STATUS_OK) {
        const size_t i = found->count++;
        found->numbers[i] = oid_number(literal);
        assert_true(i == 0 || found->scores[i] < found->scores[i - 1] ||
                    (found->scores[i] == found->scores[i - 1] &&
                     found->numbers[i] > found->numbers[i - 1]));
    }
    literals_search_close(search);
}

/* The numbers found, as text: "1 3". */
static void
assert_found(struct world *w, const char *words, const char *expected)
{
    static struct found found;
    char text[256] = "";
    size_t length = 0;
    search(w, words, 20, &found);
    for (size_t i = 0; i < found.count; i++) {
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%lu", i ? " " : "",
                                   (unsigned long)found.numbers[i]);
    }
    if (strcmp(text, expected) != 0) {
        fail_msg("%s: found %s, not %s", words, text, expected);
    }
}

/* Both from memory and from the tree. */
static void
assert_found_twice(struct world *w, const char *const queries[][2], size_t count)
{
    for (int written = 0; written < 2; written++) {
        for (size_t i = 0; i < count; i++) {
            assert_found(w, queries[i][0], queries[i][1]);
        }
        write_all(w);
        check(w);
    }
    close_world(w);
    open_world(w, CACHE);
    for (size_t i = 0; i < count; i++) {
        assert_found(w, queries[i][0], queries[i][1]);
    }
}

/* ---- queries ---- */

static void
queries_mean_what_is_documented(void **state)
{
    (void)state;
    struct world w;
    new_world(&w);
    add(&w, "The Roman Republic", NULL);                        /* 1 */
    add(&w, "republic of the Roman empire and its army", NULL); /* 2 */
    add(&w, "Roman; republic!", "en");                          /* 3 */
    add(&w, "don't panic", NULL);                               /* 4 */
    add(&w, "Don Quijote, T. S. Eliot, panic", NULL);           /* 5 */
    add(&w, "", NULL);                                          /* 6 */
    add(&w, "römische Republik", "de-AT");                      /* 7 */
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
    assert_found_twice(&w, queries, sizeof(queries) / sizeof(queries[0]));
    static const char *const empty[] = {"", "  ", "()", "-roman", "lang:en", "\"\""};
    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
        struct literals_search *search;
        assert_int_equal(
            literals_search_open(&search, w.literals, w.nodes, slice_string(empty[i]), 10, NULL),
            STATUS_BAD_INPUT);
    }
    end_world(&w);
}

static void
stems_are_those_of_the_language(void **state)
{
    (void)state;
    struct world w;
    new_world(&w);
    add(&w, "houses by the sea", "en");  /* 1 */
    add(&w, "house by the sea", NULL);   /* 2 */
    add(&w, "Häuser am Meer", "de");     /* 3 */
    add(&w, "des études longues", "fr"); /* 4 */
    add(&w, "большими домами", "ru");    /* 5 */
    add(&w, "houses by the sea", NULL);  /* 6 */
    add(&w, "casas", "ES-mx");           /* 7 */
    static const char *const queries[][2] = {
        {"house", "2 1"},        {"houses", "1 6"}, {"\"house\"", "2"},     {"housing", "1"},
        {"haus", "3"},           {"hauser", "3"},   {"etude", "4"},         {"étude longue", "4"},
        {"большой", "5"},        {"casa", "7"},     {"house -houses", "2"}, {"house lang:en", "1"},
        {"house -lang:en", "2"},
    };
    assert_found_twice(&w, queries, sizeof(queries) / sizeof(queries[0]));
    end_world(&w);
}

static void
scripts_without_blanks_are_searched(void **state)
{
    (void)state;
    struct world w;
    new_world(&w);
    add(&w, "東京都に行く", "ja");     /* 1 */
    add(&w, "京都", NULL);             /* 2 */
    add(&w, "北京大学", "zh");         /* 3 */
    add(&w, "ภาษาไทยง่ายนิดเดียว", "th"); /* 4 */
    add(&w, "서울에서 만나요", "ko");  /* 5 */
    static const char *const queries[][2] = {
        {"京都", "2 1"},    {"東京都", "1"},  {"都", "2 1"},      {"京", "2 3 1"},  {"行く", "1"},
        {"東京に", ""},     {"く", "1"},      {"ไทย", "4"},       {"ภาษาไทย", "4"}, {"서울", "5"},
        {"에서 만나", "5"}, {"서울만나", ""}, {"北京 大学", "3"},
    };
    assert_found_twice(&w, queries, sizeof(queries) / sizeof(queries[0]));
    end_world(&w);
}

static void
large_literals_are_found_by_their_first_mebibyte(void **state)
{
    (void)state;
    struct world w;
    struct buf text;
    new_world(&w);
    buf_init(&text, 8 << 20);
    for (int i = 0; text.length < 3 << 19; i++) {
        (void)buf_printf(&text, "word%d ", i);
    }
    (void)buf_append_char(&text, '\0');
    add(&w, text.data, "en");
    add(&w, "word77", NULL);
    static const char *const queries[][2] = {
        {"word77", "2 1"}, {"\"word77 word78\"", "1"}, {"word99999", "1"}, {"word140000", ""}};
    assert_found_twice(&w, queries, sizeof(queries) / sizeof(queries[0]));
    buf_release(&text);
    end_world(&w);
}

/* ---- against a model ---- */

enum { LITERALS = 6000, LENGTH_MOST = 30, VOCABULARY = 400, SCORES_MOST = 20 };

struct model {
    uint16_t words[LITERALS][LENGTH_MOST];
    size_t lengths[LITERALS];
    bool tagged[LITERALS];
    size_t count, total; /* literals, words of them */
};

/* Low numbers often. */
static unsigned
random_word(void)
{
    const uint64_t x = random_number() % VOCABULARY;
    return (unsigned)(x * (random_number() % VOCABULARY) / VOCABULARY);
}

static void
add_random(struct world *w, struct model *model, size_t count)
{
    static struct term terms[LITERALS];
    static char texts[LITERALS][LENGTH_MOST * 6];
    for (size_t i = 0; i < count; i++) {
        const size_t l = model->count++;
        size_t at = 0;
        model->lengths[l] = 1 + random_number() % (random_number() % 4 ? 6 : LENGTH_MOST - 1);
        model->total += model->lengths[l];
        model->tagged[l] = random_number() % 3 == 0;
        for (size_t n = 0; n < model->lengths[l]; n++) {
            model->words[l][n] = (uint16_t)random_word();
            at += (size_t)sprintf(texts[i] + at, "w%u ", model->words[l][n]);
        }
        terms[i] = literal_of(slice_of(texts[i], at), model->tagged[l] ? "en" : NULL);
    }
    commit_terms(w, terms, count);
}

static bool
model_has(const struct model *model, size_t l, unsigned word)
{
    for (size_t i = 0; i < model->lengths[l]; i++) {
        if (model->words[l][i] == word) {
            return true;
        }
    }
    return false;
}

static bool
model_begins(const struct model *model, size_t l, const char *prefix)
{
    for (size_t i = 0; i < model->lengths[l]; i++) {
        char word[8];
        sprintf(word, "w%u", model->words[l][i]);
        if (strncmp(word, prefix, strlen(prefix)) == 0) {
            return true;
        }
    }
    return false;
}

static bool
model_phrase(const struct model *model, size_t l, unsigned a, unsigned b)
{
    for (size_t i = 0; i + 1 < model->lengths[l]; i++) {
        if (model->words[l][i] == a && model->words[l][i + 1] == b) {
            return true;
        }
    }
    return false;
}

static bool
matches(const struct model *m, size_t l, unsigned kind, unsigned a, unsigned b, unsigned c)
{
    char prefix[8];
    sprintf(prefix, "w%u", a % 40);
    switch (kind) {
    case 0:
        return model_has(m, l, a);
    case 1:
        return model_has(m, l, a) && model_has(m, l, b);
    case 2:
        return model_has(m, l, a) && model_has(m, l, b) && model_has(m, l, c);
    case 3:
        return model_phrase(m, l, a, b);
    case 4:
        return model_begins(m, l, prefix);
    case 5:
        return model_begins(m, l, prefix) && model_has(m, l, b);
    case 6:
        return model_has(m, l, a) && !model_has(m, l, b) && !model_phrase(m, l, a, c);
    case 7:
        return (model_has(m, l, a) || model_phrase(m, l, b, c)) && m->tagged[l];
    default:
        return (model_has(m, l, a) || model_has(m, l, b)) && !m->tagged[l];
    }
}

enum { KINDS = 9 };
static const char *const forms[KINDS] = {"w%u",
                                         "w%u w%u",
                                         "w%u w%u w%u",
                                         "\"w%u w%u\"",
                                         "w%u*",
                                         "w%u* w%u",
                                         "w%1$u -w%2$u -\"w%1$u w%3$u\"",
                                         "lang:en w%u OR \"w%u w%u\"",
                                         "w%u OR w%u -lang:en"};

/* A key of a search as KEYWORDS.md weighs it: by BM25 of classes; of several for one the best
 * counts. */
struct model_key {
    unsigned word;
    bool prefix;
    double weight;
};

static bool
model_is(const struct model_key *key, unsigned word)
{
    while (key->prefix && word > key->word && word >= 10) {
        word /= 10;
    }
    return word == key->word;
}

/* Returns the weight of all words with a prefix together: a literal that has several counts for
 * each. */
static double
model_weight(const struct model *model, const struct model_key *key)
{
    double with = 0;
    for (size_t l = 0; l < model->count; l++) {
        for (size_t i = 0; i < model->lengths[l]; i++) {
            bool again = !model_is(key, model->words[l][i]);
            for (size_t k = 0; k < i && !again; k++) {
                again = model->words[l][k] == model->words[l][i];
            }
            with += !again;
        }
    }
    const double count = (double)model->count;
    with = with < count ? with : count;
    return log(1 + (count - with + 0.5) / (with + 0.5));
}

static struct model_key
model_key(const struct model *model, unsigned word, bool prefix)
{
    struct model_key key = {.word = word, .prefix = prefix};
    key.weight = model_weight(model, &key);
    return key;
}

static double
model_score(const struct model *model, size_t l, const struct model_key *key)
{
    const double average = (double)model->total / (double)model->count;
    double best = -1;
    for (size_t i = 0; i < model->lengths[l]; i++) {
        uint64_t count = 0;
        for (size_t k = 0; k < model->lengths[l]; k++) {
            count += model->words[l][k] == model->words[l][i];
        }
        const unsigned class = word_class(model->lengths[l], count);
        const double times = count_class_times[class % COUNT_CLASSES];
        const double norm =
            1.2 * (0.25 + 0.75 * length_class_words[class / COUNT_CLASSES] / average);
        const double score = key->weight * times * 2.2 / (times + norm);
        best = model_is(key, model->words[l][i]) && score > best ? score : best;
    }
    return best;
}

static double
best_of(double a, double b)
{
    return a > b ? a : b;
}

static void
compare_scores(const struct model *m, unsigned kind, const unsigned words[3],
               const struct found *all)
{
    struct model_key keys[3];
    for (int i = 0; i < 3; i++) {
        keys[i] = i == 0 && (kind == 4 || kind == 5) ? model_key(m, words[0] % 40, true)
                                                     : model_key(m, words[i], false);
    }
    /* Of a phrase that is an alternative its rarest word counts. */
    const struct model_key *rarest = keys[1].weight >= keys[2].weight ? &keys[1] : &keys[2];
    for (size_t f = 0; f < all->count && f < SCORES_MOST; f++) {
        const size_t l = all->numbers[f] - 1;
        const double a = model_score(m, l, &keys[0]), b = model_score(m, l, &keys[1]),
                     c = model_score(m, l, &keys[2]);
        const bool phrase = kind == 7 && model_phrase(m, l, words[1], words[2]);
        const double expected[KINDS] = {a,
                                        a + b,
                                        a + b + c,
                                        a + b,
                                        a,
                                        a + b,
                                        a,
                                        phrase ? best_of(a, model_score(m, l, rarest)) : a,
                                        best_of(a, b)};
        if (fabs(all->scores[f] - expected[kind]) > 1e-9) {
            fail_msg("query of kind %u: %zu scores %g, not %g", kind, l + 1, all->scores[f],
                     expected[kind]);
        }
    }
}

static unsigned frequencies[VOCABULARY]; /* literals with the word */

static int
compare_frequencies(const void *a, const void *b)
{
    const unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;
    char texts[2][8];
    sprintf(texts[0], "w%u", left);
    sprintf(texts[1], "w%u", right);
    return frequencies[left] != frequencies[right]
               ? (frequencies[left] < frequencies[right] ? 1 : -1)
               : strcmp(texts[0], texts[1]);
}

/* When more words are there than are wanted, the most frequent are found, whether they stand in the
 * tree, in memory, or in both. */
static void
compare_prefix(struct world *w, const struct model *model, unsigned first)
{
    enum { MOST = 7 };
    struct words_view view;
    struct words_key **keys;
    struct arena arena;
    struct reason why = {""};
    const struct model_key prefix = {.word = first, .prefix = true};
    unsigned expected[VOCABULARY];
    size_t count = 0, found;
    char text[8];
    for (unsigned word = 0; word < VOCABULARY; word++) {
        frequencies[word] = 0;
        for (size_t l = 0; l < model->count && model_is(&prefix, word); l++) {
            frequencies[word] += model_has(model, l, word);
        }
        if (frequencies[word] > 0) {
            expected[count++] = word;
        }
    }
    qsort(expected, count, sizeof *expected, compare_frequencies);
    arena_init(&arena, 0);
    words_view_open(&view, w->literals);
    sprintf(text, "w%u", first);
    must(words_find_prefix(&view, slice_string(text), MOST, &arena, &keys, &found, &why), &why);
    assert_int_equal(found, count < MOST ? count : MOST);
    for (size_t i = 0; i < found; i++) {
        size_t at = 0;
        sprintf(text, "w%u", expected[i]);
        while (count > MOST ? at < i : at < found && !slice_is(keys[at]->word, text)) {
            at++;
        }
        assert_true(at < found && slice_is(keys[at]->word, text));
        assert_int_equal(keys[at]->literals, frequencies[expected[i]]);
    }
    free(keys);
    words_view_close(&view);
    arena_release(&arena);
}

static void
compare_with_model(struct world *w, const struct model *model)
{
    compare_prefix(w, model, 1 + (unsigned)(random_number() % 3));
    compare_prefix(w, model, 10 + (unsigned)(random_number() % 40));
    static struct found all, some;
    for (unsigned i = 0; i < 60; i++) {
        const unsigned kind = i % KINDS;
        const unsigned a = random_word(), b = random_word(), c = random_word();
        char words[100];
        snprintf(words, sizeof(words), forms[kind], kind == 4 || kind == 5 ? a % 40 : a, b, c);
        search(w, words, FOUND_MOST, &all);
        size_t expected = 0;
        for (size_t l = 0; l < model->count; l++) {
            expected += matches(model, l, kind, a, b, c);
        }
        for (size_t f = 0; f < all.count; f++) {
            if (!matches(model, all.numbers[f] - 1, kind, a, b, c)) {
                fail_msg("%s finds %lu", words, (unsigned long)all.numbers[f]);
            }
        }
        if (all.count != expected) {
            fail_msg("%s finds %zu of %zu", words, all.count, expected);
        }
        compare_scores(model, kind, (const unsigned[]){a, b, c}, &all);
        search(w, words, 7, &some);
        assert_int_equal(some.count, expected < 7 ? expected : 7);
        assert_memory_equal(some.numbers, all.numbers, some.count * sizeof(some.numbers[0]));
    }
}

static void
searches_agree_with_the_model(void **state)
{
    (void)state;
    static struct model model;
    struct world w;
    struct reason why = {""};
    new_world(&w);
    model.count = model.total = 0;
    while (model.count + 600 < brief(LITERALS, LITERALS / 3)) {
        add_random(&w, &model, 1 + random_number() % 600);
        follow(&w);
        compare_with_model(&w, &model);
        if (random_number() % 2) {
            must(literals_write_step(w.literals, false, &why), &why); /* the first of some */
            add_random(&w, &model, 20);
            follow(&w);
            compare_with_model(&w, &model);
            check(&w);
            write_all(&w);
            compare_with_model(&w, &model);
        }
        if (random_number() % 4 == 0) {
            close_world(&w);
            open_world(&w, CACHE);
            follow(&w);
            compare_with_model(&w, &model);
        }
        check(&w);
    }
    end_world(&w);
}

static void
better_literals_come_first(void **state)
{
    (void)state;
    struct world w;
    new_world(&w);
    for (int i = 0; i < 50; i++) {
        add(&w, "common filler words in a text of some length that all have", NULL);
    }
    add(&w, "common", NULL);                        /* 51 */
    add(&w, "common common rare", NULL);            /* 52 */
    add(&w, "common other rare", NULL);             /* 53 */
    add(&w, "rare other other", NULL);              /* 54 */
    add(&w, "runs rare in a longer text", "en");    /* 55 */
    add(&w, "running fast in a longer text", "en"); /* 56 */
    for (int written = 0; written < 2; written++) {
        static struct found found;
        search(&w, "common", 3, &found);
        assert_int_equal(found.numbers[0], 52);
        assert_int_equal(found.numbers[1], 51);
        assert_int_equal(found.numbers[2], 53);
        assert_found(&w, "common rare", "52 53");
        assert_found(&w, "running", "56 55"); /* the very word before its stem */
        write_all(&w);
    }
    end_world(&w);
}

/* A search may be as long, and of as many words, as is allowed, and not by one more. */
static void
searches_are_bounded(void **state)
{
    (void)state;
    enum { LONGEST = 64 << 10 };
    struct world w;
    struct reason why = {""};
    struct literals_search *search;
    char *text = memory_alloc(LONGEST + 1);
    new_world(&w);
    add(&w, "a b", NULL);
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
    end_world(&w);
}

/* ---- a new tree ---- */

static void
add_many(struct world *w, struct model *model)
{
    static struct term terms[LITERALS];
    static char texts[LITERALS][200];
    model->count = 0;
    for (size_t i = 0; i < LITERALS; i++) {
        int at = 0;
        for (int n = 0; n < 12; n++) {
            const uint64_t word = i == 0 && n == 0 ? 77 : random_number() % 30000;
            at += sprintf(texts[i] + at, "w%lu ", (unsigned long)word);
        }
        terms[i] = term_literal(slice_of(texts[i], (size_t)at));
    }
    commit_terms(w, terms, LITERALS);
}

/* Words of a new tree are found in memory until it is in place; it waits for a copy's end. */
static void
a_new_tree_waits_for_copies(void **state)
{
    (void)state;
    static struct model model;
    static struct found found;
    struct world w;
    struct reason why = {""};
    new_world(&w);
    add_many(&w, &model);
    follow(&w);
    search(&w, "w77", 10, &found);
    const size_t count = found.count;
    assert_true(count > 0);
    must(literals_write_step(w.literals, false, &why), &why);
    assert_int_equal(w.literals->progress.build != NULL, build_from > 0);
    enum status status = STATUS_OK;
    while (w.literals->writing != NULL && status == STATUS_OK) {
        status = literals_write_step(w.literals, true, &why);
        search(&w, "w77", 10, &found);
        assert_int_equal(found.count, count);
    }
    assert_int_equal(status, build_from > 0 ? STATUS_AGAIN : STATUS_OK);
    check(&w);
    write_all(&w);
    search(&w, "w77", 10, &found);
    assert_int_equal(found.count, count);
    assert_int_equal(check(&w), LITERALS);
    const atomic_bool cancel = true;
    uint64_t literals;
    assert_int_equal(literals_check(w.literals, w.nodes, &cancel, &literals, &why),
                     STATUS_CANCELLED);
    end_world(&w);
}

/* ---- what is wrong is found ---- */

static enum status
checked(struct world *w)
{
    struct reason why = {""};
    uint64_t count;
    const atomic_bool cancel = false;
    return literals_check(w->literals, w->nodes, &cancel, &count, &why);
}

static void
put_block(struct world *w, struct slice fence, struct slice block)
{
    struct reason why = {""};
    struct transaction *transaction;
    must(transaction_begin(&transaction, w->environment, 0, &why), &why);
    must(block.length > 0 ? tree_put(w->literals->tree, transaction, fence, block, &why)
                          : tree_delete(w->literals->tree, transaction, fence, &why),
         &why);
    must(transaction_commit_unsynced(transaction, &why), &why);
}

/* Each byte of the block in turn, and the block under other fences, without its end, and gone. */
static void
damage_block(struct world *w, struct slice fence, const uint8_t *block, size_t length)
{
    uint8_t bytes[BLOCK_MAXIMUM];
    char other[FENCE_SIZE_MAXIMUM];
    memcpy(bytes, block, length);
    for (size_t i = 0; i < length; i++) {
        bytes[i] ^= i % 3 == 0 ? 0x80 : 0x01;
        put_block(w, fence, slice_of((char *)bytes, length));
        if (checked(w) != STATUS_CORRUPT) {
            fail_msg("a change of byte %zu of %zu is not found", i, length);
        }
        for (int k = 0; i == 0 && k < 2; k++) { /* whoever searches is told */
            struct literals_search *search;
            assert_int_equal(literals_search_open(&search, w->literals, w->nodes,
                                                  k == 0 ? SLICE("zzz") : SLICE("zz*"), 10, NULL),
                             STATUS_CORRUPT);
        }
        bytes[i] = block[i];
        if (i % 16 == 15) {
            put_block(w, fence, slice_of((char *)bytes, i));
            assert_int_equal(checked(w), STATUS_CORRUPT);
        }
    }
    put_block(w, fence, slice_of(NULL, 0));
    assert_int_equal(checked(w), STATUS_CORRUPT);
    other[0] = 1; /* before all words */
    put_block(w, slice_of(other, 1), slice_of((char *)bytes, length));
    assert_int_equal(checked(w), STATUS_CORRUPT);
    put_block(w, slice_of(other, 1), slice_of(NULL, 0));
    put_block(w, fence, slice_of((char *)bytes, length));
    assert_int_equal(checked(w), STATUS_OK);
}

static void
every_change_of_a_block_is_found(void **state)
{
    (void)state;
    struct world w;
    struct reason why = {""};
    new_world(&w);
    for (int i = 0; i < 12; i++) {
        char text[100];
        snprintf(text, sizeof text, "all words%d alpha beta%d gamma%d alpha", i % 9, i % 5, i);
        add(&w, text, i % 3 == 0 ? "en" : NULL);
    }
    add(&w, "", NULL);
    write_all(&w);
    assert_int_equal(check(&w), 13);
    struct fence_cursor cursor;
    unsigned blocks = 0;
    char fence[FENCE_SIZE_MAXIMUM] = "\1";
    size_t length = 1;
    for (bool last = false; !last; blocks++) {
        fence_open(&cursor, w.literals->tree, NULL);
        must(fence_seek(&cursor, slice_of(fence, length), &why), &why);
        if (blocks > 0) {
            must(fence_next(&cursor, &why), &why);
        }
        fence_close(&cursor);
        length = cursor.fence_length;
        memcpy(fence, cursor.fence, length);
        last = fence_is_last(&cursor);
        damage_block(&w, slice_of(fence, length), cursor.block, cursor.block_length);
    }
    end_world(&w);
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
    partition_options_default(&options, folder);
    options.cache_bytes = CACHE;
    options.words_memory = 32 << 10;
    options.disk_reserve = 0;
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

/* ---- crashes ---- */

static void
child_writes(const struct world *parent, enum fault_action action, uint64_t at, unsigned steps)
{
    struct world w = *parent;
    struct reason why = {""};
    open_world(&w, action == FAULT_NONE ? CACHE : 512 << 10);
    follow(&w);
    if (action != FAULT_NONE) {
        environment_fault(action, at);
    }
    for (unsigned i = 0; i < steps && literals_to_write(w.literals, true); i++) {
        if (literals_write_step(w.literals, false, &why) != STATUS_OK) {
            _exit(9);
        }
    }
    if (environment_checkpoint(w.environment, true, &why) != STATUS_OK) {
        _exit(9);
    }
    _exit(literals_to_write(w.literals, true) ? 1 : 0);
}

/* A crash in the child; then all is as it must be. The child's exit status, or -1: killed.
 * *halves: how often some words were written and others not. */
static int
crash(struct world *base, enum fault_action action, uint64_t at, unsigned steps, unsigned *halves)
{
    struct world w = *base;
    strcat(w.folder, ".copy");
    fixture_run("cp -r %s %s.copy", base->folder, base->folder);
    const pid_t child = fork();
    if (child == 0) {
        child_writes(&w, action, at, steps);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    open_world(&w, CACHE);
    *halves += w.literals->state.until != 0;
    check(&w);
    follow(&w);
    write_all(&w);
    assert_int_equal(check(&w), LITERALS);
    close_world(&w);
    fixture_run("rm -r %s.copy%s", base->folder, "");
    return WIFSIGNALED(result) ? -1 : WEXITSTATUS(result);
}

static void
crashes_between_steps_lose_and_double_nothing(void **state)
{
    (void)state;
    static struct model model;
    struct world w;
    new_world(&w);
    add_many(&w, &model);
    close_world(&w);
    unsigned halves = 0;
    unsigned steps = 0;
    while (crash(&w, FAULT_NONE, 0, ++steps, &halves) != 0) {
    }
    print_message("%u steps; %u times in the middle of the words\n", steps, halves);
    assert_true(steps > 1 && (halves > 0) == (build_from == 0));
    halves = 0;
    uint64_t at = 1;
    while (crash(&w, FAULT_KILL, at, 1000, &halves) == -1) {
        at += brief(13, 97);
    }
    print_message("%lu writes; %u times in the middle of the words\n", (unsigned long)at, halves);
    assert_true(at > 50);
    open_world(&w, CACHE);
    end_world(&w);
}

/* Words of a run are taken while stems of earlier ones are made. */
struct words_and_stems {
    struct tokenizer *tokenizer;
    bool stems;
    struct buf words;
};

static bool
take_with_stem(void *context, const struct token *token)
{
    struct words_and_stems *all = context;
    const struct token accented = {
        .word = SLICE("etes"), .text = SLICE("\xc3\xaates"), .kind = TOKEN_WORD};
    buf_append_slice(&all->words, token->word);
    buf_append_char(&all->words, ' ');
    if (all->stems) {
        (void)tokenizer_stem(all->tokenizer, stem_language(SLICE("fr")), &accented);
    }
    return true;
}

static void
stems_leave_a_run_alone(void **state)
{
    (void)state;
    const struct slice text = SLICE("\xe6\xad\xa3\xe5\xbc\x8f\xe3\x81\xab\xe5\xbc\x95\xe3\x81\x8d"
                                    "\xe7\xb6\x99\xe3\x81\x8e \xe0\xb8\xa0\xe0\xb8\xb2\xe0\xb8\xa9"
                                    "\xe0\xb8\xb2\xe0\xb9\x84\xe0\xb8\x97\xe0\xb8\xa2 abc");
    struct words_and_stems with = {.tokenizer = tokenizer_new(), .stems = true}, without = with;
    without.stems = false;
    buf_init(&with.words, 4096);
    buf_init(&without.words, 4096);
    tokenizer_split(with.tokenizer, text, take_with_stem, &with);
    tokenizer_split(with.tokenizer, text, take_with_stem, &without);
    assert_true(without.words.length > 10);
    assert_string_equal(with.words.data, without.words.data);
    buf_release(&with.words);
    buf_release(&without.words);
    tokenizer_free(with.tokenizer);
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
    build_from = 1;
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
